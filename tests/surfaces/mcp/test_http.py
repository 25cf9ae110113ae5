"""The server over HTTP: who is let in, how much is taken, and that many clients get along."""

from __future__ import annotations

import http.client
import json
import os
import stat
import subprocess
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest

from tests.surfaces.mcp.house import EXAMPLES, LEGACY, MODERN, House, Person, Served, beyond, running, told
from tests.surfaces.mcp.meanwhile import LONG, Heard, all_gone, elsewhere, pids

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def posted(served: Served, body: bytes | None = None, path: str = "", **headers: str | None) -> tuple[int, bytes]:
    """A request as a program would send it that knows nothing of MCP."""
    where = urlsplit(served.url)
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **served.headers,
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    told = {name: value for name, value in sent.items() if value is not None}
    try:
        connection.request("POST", path or where.path, body if body is not None else json.dumps(PING).encode(), told)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_clients_of_both_eras_use_it(house, era):
    id = house.at("draft")

    async def story(served: Served) -> dict[str, Any]:
        async with served.client(era) as client:
            return await told(client, "get_workflow_status", workflow_id=id)

    with house.listening() as served:
        said = running(story, served)
    more = beyond("get_workflow_status", said, EXAMPLES["get_workflow_status"]["output"])
    assert list(more) == ["finished_percentage", "title", "step", "turn", "blockers"]
    assert said["workflow_id"] == id


def test_a_person_is_asked_over_http_too(house, era):
    id = house.waiting()

    async def story(served: Served) -> dict[str, Any]:
        async with served.client(era, elicitation_callback=Person(decision="approve")) as client:
            return await told(client, "approve_step", workflow_id=id, step="sign-off", approved=True)

    with house.listening() as served:
        assert running(story, served)["status"] == "completed"
    assert house.step(id, "sign-off").grant.how == "elicitation"


@pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed")
def test_changes_are_told_over_http_to_sessions_of_the_older_protocol(house):
    id = house.at("draft")
    plan = f"holdfast://workflow/{id}/plan"

    async def story(served: Served) -> None:
        heard = Heard()
        async with served.client(LEGACY, message_handler=heard) as client:
            assert client.server_capabilities.resources.list_changed is True
            assert client.server_capabilities.resources.subscribe is True
            await client.session.subscribe_resource(plan)
            await anyio.to_thread.run_sync(elsewhere, house, "note", "a decision", "-w", id)
            await heard.until("notifications/resources/updated", plan)
            await anyio.to_thread.run_sync(elsewhere, house, "start", "release", "2.0.0")
            await heard.until("notifications/resources/list_changed")

    with house.listening() as served:
        running(story, served)


def test_changes_are_told_over_http_to_listeners_of_the_newer_protocol(house):
    id = house.at("draft")
    log = f"holdfast://workflow/{id}/log"

    async def story(served: Served) -> None:
        async with served.client() as client, client.listen(resource_subscriptions=[log]) as stream:
            await anyio.to_thread.run_sync(elsewhere, house, "note", "a decision", "-w", id)
            with anyio.fail_after(60):
                assert (await anext(stream)).uri == log

    with house.listening() as served:
        running(story, served)


def test_it_listens_on_loopback_and_its_token_is_its_owners_alone(house):
    with house.listening() as served:
        assert urlsplit(served.url).hostname == "127.0.0.1"
        assert len(served.token) == 64
        file = house.root / ".holdfast" / "mcp" / "token"
        assert file.read_text().strip() == served.token
        assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
        assert stat.S_IMODE(os.stat(file.parent).st_mode) == 0o700
    with house.listening() as again:
        assert again.token == served.token


def test_without_the_token_nobody_gets_in(house):
    with house.listening() as served:
        assert posted(served)[0] != 401
        assert posted(served, Authorization=f"bearer  {served.token}")[0] != 401
        for wrong in (
            None,
            "",
            "Bearer",
            "Bearer x",
            f"Token {served.token}",
            f"Bearer {served.token}x",
            "Basic eDp5",
        ):
            status, body = posted(served, Authorization=wrong)
            assert status == 401, wrong
            assert json.loads(body)["error"]["code"] == "token_needed"


def test_a_page_elsewhere_and_a_name_that_is_not_ours_are_turned_away(house):
    with house.listening() as served:
        port = urlsplit(served.url).port
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"):
            assert posted(served, Host=host)[0] < 420
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1:1", f"127.0.0.1.evil.example:{port}"):
            assert posted(served, Host=host)[0] == 421, host
        assert posted(served, Origin=f"http://localhost:{port}")[0] != 403
        for origin in ("https://evil.example", "null", f"http://evil.example:{port}", "http://localhost:1"):
            assert posted(served, Origin=origin)[0] == 403, origin


def test_names_and_pages_that_were_allowed_are_let_in(house):
    options = ("--allow-host", "proxy.example", "--allow-origin", "https://page.example")
    with house.listening(*options) as served:
        assert posted(served, Host="proxy.example")[0] not in (403, 421)
        assert posted(served, Origin="https://page.example")[0] not in (403, 421)


def test_a_body_that_is_too_large_is_not_read_to_its_end(house):
    with house.listening() as served:
        assert posted(served, b" " * ((1 << 20) + 1))[0] == 413
        assert posted(served, b"{")[0] == 400
        assert posted(served, b"\xff\xfe")[0] == 400
        assert posted(served, path="/elsewhere")[0] == 404


def test_only_on_loopback_the_token_may_be_left_out(house):
    answer = house.bench.agent("mcp", "--http", "--host", "0.0.0.0", "--no-token", "--json")
    assert (answer.code, answer.error["code"]) == (3, "token_needed")
    with house.listening("--no-token") as served:
        assert posted(served)[0] != 401


def test_a_port_that_is_taken_is_said_in_a_sentence(house):
    with house.listening() as served:
        port = str(urlsplit(served.url).port)
        answer = house.bench.agent("mcp", "--http", "--port", port, "--json")
    assert (answer.code, answer.error["code"]) == (1, "cannot_listen")


@pytest.mark.parametrize("options", [["--no-token"], ["--allow-host", "x"], ["--allow-origin", "x"]])
def test_options_of_http_alone_are_refused(house, options):
    answer = house.bench.agent("mcp", *options, "--json")
    assert (answer.code, answer.error["code"]) == (2, "bad_usage")


def test_a_folder_that_is_not_there_is_said(house):
    answer = house.bench.agent("mcp", "--root", "nowhere", "--json")
    assert (answer.code, answer.error["code"]) == (4, "no_folder")


def test_a_client_that_goes_away_takes_its_check_with_it(house, era):
    house.bench.write("check.py", LONG)
    id = house.at("verify")

    async def story(served: Served) -> None:
        async with served.client(era) as client, anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "run_check", {"workflow_id": id, "check": "tests"})
            started = await pids(house)
            group.cancel_scope.cancel()
        await all_gone(started)

    with house.listening() as served:
        running(story, served)
    assert house.step(id, "verify").evidence == {}


def test_a_server_that_is_told_to_end_ends_its_checks_first(house):
    house.bench.write("check.py", LONG)
    id = house.at("verify")

    async def story(served: Served, process: subprocess.Popen) -> None:
        async with served.client() as client, anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "run_check", {"workflow_id": id, "check": "tests"})
            started = await pids(house)
            process.terminate()
            await all_gone([*started, process.pid])
            group.cancel_scope.cancel()

    with house.listening() as served:
        running(story, served, served.process)


def eight(house: House, served: Served, id: str, calls: int) -> None:
    """Eight clients at once: four share the server over HTTP, four have one of their own."""

    async def noted(client: Any, who: int) -> None:
        for number in range(calls):
            await told(client, "record_work", workflow_id=id, cost_usd=0.01, note=f"{who} {number}")

    async def shared(who: int) -> None:
        async with served.client((LEGACY, MODERN)[who % 2]) as client:
            await noted(client, who)

    async def alone(who: int) -> None:
        async with house.client((LEGACY, MODERN)[who % 2]) as client:
            await noted(client, who)

    async def story() -> None:
        async with anyio.create_task_group() as group:
            for who in range(8):
                group.start_soon(shared if who < 4 else alone, who)

    running(story)


def test_of_eight_clients_with_two_hundred_calls_each_none_is_lost(house):
    id = house.at("draft")
    with house.listening() as served:
        eight(house, served, id, 200)
    workflow = house.bench.open().workflow(id)
    said = [event.text for record in workflow.history() for event in record.events if type(event).__name__ == "Noted"]
    assert sorted(said) == sorted(f"{who} {number}" for who in range(8) for number in range(200))
    for who in range(8):
        assert [text for text in said if text.startswith(f"{who} ")] == [f"{who} {number}" for number in range(200)]
    assert workflow.state.spent == 8 * 200 * 10_000


def test_a_request_that_never_comes_to_its_end_is_cut_off_and_a_long_answer_is_not(house):
    """Each connection but one stays open forever by itself: nobody sends the rest of it."""
    house.bench.write("check.py", "import os, time\nwhile not os.path.exists('enough'):\n    time.sleep(0.1)\n")
    id = house.at("verify")

    async def cut_off(served: Served, begun: bytes, *, drips: bool = False) -> None:
        where = urlsplit(served.url)
        async with await anyio.connect_tcp(where.hostname, where.port) as stream:
            await stream.send(begun)
            async with anyio.create_task_group() as group:
                group.start_soon(dripping, stream, drips)
                try:
                    while True:
                        await stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    group.cancel_scope.cancel()

    async def dripping(stream: Any, drips: bool) -> None:
        while drips:
            await anyio.sleep(1)
            await stream.send(b"x")

    async def story(served: Served) -> None:
        request = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
        whole = request + b"Content-Length: 2\r\n\r\n{}"
        async with served.client() as client, anyio.create_task_group() as calls:
            calls.start_soon(client.call_tool, "run_check", {"workflow_id": id, "check": "tests"})
            with anyio.fail_after(60):
                async with anyio.create_task_group() as group:
                    group.start_soon(cut_off, served, b"")
                    group.start_soon(cut_off, served, request)
                    group.start_soon(cut_off, served, whole[:-1])
                    group.start_soon(cut_off, served, whole + request)
                    group.start_soon(lambda: cut_off(served, request + b"X-Slow: ", drips=True))
            house.bench.write("enough", "")

    with house.listening() as served:
        running(story, served)
    assert house.step(id, "verify").evidence["tests"].passed
