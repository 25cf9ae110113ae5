"""Who is let in: by which name, from which page, with which cookie; and who may open the door."""

from __future__ import annotations

import json
import os
import re
import socket
import sys

import pytest

from tests import forked
from tests.surfaces.web.site import Site
from tests.workbench import conversation


def test_a_link_lets_one_browser_in_once(site):
    with site.serving() as served:
        path = served.link.removeprefix(served.origin)
        first = served.get(path)
        assert first.code == 200
        cookie = first.headers["set-cookie"]
        assert re.fullmatch(
            rf"holdfast-{served.port}=[\w-]{{43}}; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200", cookie
        )
        again = served.get(path)
        assert again.code == 401
        assert "set-cookie" not in again.headers
        assert "does not work" in again.text


def test_the_code_can_be_typed_and_wrong_ones_use_it_up(site):
    with site.serving() as served:
        code = served.link.partition("=")[2]
        assert served.post("/login", {"code": "abcd-efgh-jkmn"}).code == 401
        typed = served.post("/login", {"code": f" {code.upper()} "})
        assert typed.code == 200
        assert "set-cookie" in typed.headers
    with site.serving() as served:
        for _ in range(20):
            served.post("/login", {"code": "abcd-efgh-jkmn"})
        assert served.post("/login", {"code": served.link.partition("=")[2]}).code == 401


def test_without_a_cookie_nothing_of_the_project_is_told(site):
    id = site.waiting()
    with site.serving() as served:
        for path in ("/", f"/w/{site.ulid(id)}", "/learnings", "/agents", "/events", "/nowhere"):
            answer = served.get(path)
            assert answer.code == 401
            assert "project" not in answer.text
            assert "1.4.0" not in answer.text
        assert served.post(f"/w/{site.ulid(id)}/do/cancel").code == 401
        served.cookie = f"holdfast-{served.port}=forged"
        assert served.get("/").code == 401


def test_who_logs_out_has_to_come_by_a_new_link(site):
    with site.serving() as served:
        served.enter()
        assert served.get("/").code == 200
        left = served.post("/logout")
        assert left.code == 200
        assert "Max-Age=0" in left.headers["set-cookie"]
        assert served.get("/").code == 401


def test_every_answer_has_the_headers_that_keep_other_pages_out(site):
    with site.serving() as served:
        for path in ("/", "/login", "/style.css", "/page.js"):
            headers = served.get(path).headers
            assert headers["cache-control"] == "no-store"
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "same-origin"
            assert headers["cross-origin-opener-policy"] == "same-origin"
            assert headers["cross-origin-resource-policy"] == "same-origin"
            assert "require-trusted-types-for 'script'" in headers["content-security-policy"]
            assert "frame-ancestors 'none'" in headers["content-security-policy"]
            assert "unsafe" not in headers["content-security-policy"]
            assert "server" not in headers


@pytest.mark.parametrize("host", ["127.0.0.1:{}", "localhost:{}", "evil.example", "holdfast.localhost", "x:{}"])
def test_a_request_to_another_name_is_not_answered(site, host):
    with site.serving() as served:
        served.enter()
        assert served.get("/", Host=host.format(served.port)).code == 421
        assert served.get("/").code == 200


def test_a_change_comes_from_this_page_only(site):
    id = site.waiting()
    with site.serving() as served:
        served.enter()
        before = site.journal(id)
        path, fields = f"/w/{site.ulid(id)}/do/cancel", served.form(f"/w/{site.ulid(id)}", "form-cancel")
        other = served.origin.replace(str(served.port), str(served.port + 1))
        for origin in (None, "null", other, "http://evil.example", served.origin.replace("http:", "https:")):
            assert served.post(path, fields, Origin=origin).code == 403
        for where in ("cross-site", "same-site"):
            assert served.post(path, fields, Sec_Fetch_Site=where).code == 403
            assert served.get("/", Sec_Fetch_Site=where, Sec_Fetch_Mode="cors").code == 403
        assert served.post(path, fields, Content_Type="text/plain").code == 415
        assert served.ask("POST", path, b"x" * (1 << 20 | 1)).code == 413
        assert served.ask("DELETE", path).code == 405
        assert site.journal(id) == before
        assert served.post(path, fields, Sec_Fetch_Site="same-origin").code == 303
        assert site.state(id).cancelled.by == "human ada"


def test_a_read_only_page_has_no_form_and_takes_no_change(site):
    path = site.waits()
    with site.serving("--read-only") as served:
        served.enter()
        for page in ("/", path.partition("/approve")[0], path):
            assert "<form" not in served.get(page).text
        for post in ("cancel", "decide"):
            assert served.post(f"{path.partition('/approve')[0]}/do/{post}", {"step": "sign-off"}).code == 405


def test_an_agent_may_only_look(site):
    refused = site.bench.agent("web", "--port", "0")
    assert refused.code == 3
    assert "only a person" in refused.err
    assert "holdfast web --read-only" in refused.err
    hosted = site.bench.person("web", "--port", "0", env={"CLAUDECODE": "1"})
    assert hosted.code == 3
    assert "login?code" not in hosted.out


def test_a_new_link_goes_to_a_person_at_a_terminal_only(site):
    with site.serving() as served:
        assert served.get("/login").code == 200  # it is up
        mine = site.bench.person("web", "--link", "--port", str(served.port))
        assert mine.code == 0
        link = mine.out.split()[0]
        assert served.get(served.link.removeprefix(served.origin)).code == 401  # the newest counts
        assert served.get(link.removeprefix(served.origin)).code == 200
        theirs = site.bench.agent("web", "--link", "--port", str(served.port))
        assert theirs.code == 3
        assert "login?code" not in theirs.out
        record = next((site.root / ".holdfast" / "web").iterdir())
        assert record.stat().st_mode & 0o777 == 0o600
        with socket.socket(socket.AF_UNIX) as asked:  # an agent that asks the server itself
            asked.connect(json.loads(record.read_text())["socket"])
            assert b"refused" in asked.recv(4096)
    assert not record.exists()
    gone = site.bench.person("web", "--link", "--port", str(served.port))
    assert "no page of this project is served on port" in gone.out


_ASKS = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print(s.recv(4096).decode())"


def test_a_program_that_an_agents_host_runs_gets_no_link_even_at_a_terminal(site):
    with site.serving() as served:
        assert served.get("/login").code == 200  # it is up
        where = json.loads((site.root / ".holdfast" / "web" / f"{served.port}.json").read_text())["socket"]
        for env, said in (({"CLAUDECODE": "1"}, "an agent's host runs it"), ({}, "login?code=")):
            primary, secondary = forked.terminal()
            program = [sys.executable, "-c", _ASKS, where]
            ends, own = (secondary, secondary, secondary), {**os.environ, **env}
            asking = forked.Process([], ends, env=own, cwd=site.root, session=True, program=program)
            os.close(secondary)
            assert said in conversation(primary, None)
            asking.wait()
            os.close(primary)


def test_a_project_that_is_served_already_is_named_with_the_command_for_a_link(site):
    with site.serving() as served:
        assert served.get("/login").code == 200  # it is up
        again = site.bench.person("web", "--port", str(served.port), "--no-open")
        assert again.code == 1
        assert f"this project is served at {served.origin} already" in again.out
        assert f"→ holdfast web --port {served.port} --no-open --link" in again.out
        assert "--port 0" not in again.out
        looks = site.bench.agent("web", "--port", str(served.port), "--read-only", "--json")
        assert looks.error["code"] == "already_served"
        assert "holdfast web --port 0 --read-only" in looks.error["remedy"]


def test_a_port_that_another_project_has_is_said_to_be_its_and_passkeys_to_belong_to_ports(site, tmp_path):
    other = Site(tmp_path / "other")
    for options in ((), ("--read-only",)):
        with other.serving(*options) as served:
            assert served.get("/login").code == 200  # it is up
            taken = site.bench.person("web", "--port", str(served.port), "--no-open")
            assert (
                f"another page of Holdfast, of another project or a read-only one, has 127.0.0.1 port {served.port}"
                in (" ".join(taken.out.split()))
            )
            assert "passkeys belong to the port" in " ".join(taken.out.split())
            assert "--port 0" not in taken.out
            other_one = re.search(r"to the port: holdfast web --port (\d+)", " ".join(taken.out.split()))
            assert other_one
            assert int(other_one[1]) != served.port


def test_the_page_of_one_workflow_is_opened_and_where_the_page_runs_its_address_is_the_advice(site):
    site.bench.write(".holdfast/workflows/signed.toml", PASSKEY)
    workflow, _ = (site.bench.open().start("signed", subject).begin("only").done("only") for subject in "12")
    for words in (("status", "-w", workflow.id), ("approve", "only", "-w", workflow.id)):
        assert f"approve it on the page: holdfast web -w {workflow.id}\n" in site.bench.person(*words).out
    own = f"/w/{workflow.ulid}"
    with site.serving("-w", workflow.id) as served:
        assert f"{served.origin}{own} shows {workflow.id} of ".encode() in served.said
        answer = served.get(f"{served.link.removeprefix(served.origin)}")
        assert f'content="0; url={own}"' in answer.text
        for words in (("status", "-w", workflow.id), ("approve", "only", "-w", workflow.id)):
            said = " ".join(site.bench.person(*words).out.split())
            assert f"{served.origin}{own}" in said
            assert "holdfast web" not in said
        again = site.bench.person("web", "-w", workflow.id, "--port", str(served.port), "--no-open")
        assert f"served at {served.origin}{own} already" in " ".join(again.out.split())
        assert f"--link -w {workflow.id}" in " ".join(again.out.split())
    assert site.bench.person("web", "-w", "none").code == 4


PASSKEY = """\
name = "signed"

[[step]]
id = "only"
approval = { by = "passkey" }
"""


def test_a_port_that_is_taken_is_an_error_also_on_the_other_address(site):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = site.bench.person("web", "--port", str(other.getsockname()[1]), "--no-open")
        assert "nothing can listen on 127.0.0.1" in taken.out
        assert "passkeys belong to the port" in " ".join(taken.out.split())
    with socket.socket(socket.AF_INET6) as other:
        try:
            other.bind(("::1", 0))
        except OSError:
            pytest.skip("no IPv6 here")
        other.listen()
        taken = site.bench.person("web", "--port", str(other.getsockname()[1]), "--no-open")
        assert "nothing can listen on ::1" in taken.out


@pytest.mark.parametrize(
    "origin", ["http://example.org", "https://", "https://x/path", "http://localhost:1", "https://a b", "ftp://x"]
)
def test_an_address_that_is_not_ours_is_refused(site, origin):
    said = site.bench.person("web", "--port", "0", "--no-open", "--origin", origin)
    assert said.code == 2
    assert "cannot be the address of the page" in said.out


def test_through_a_tunnel_the_cookie_is_for_its_name_and_encrypted(site):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with site.serving("--origin", "https://page.example.org", port=port) as served:
        path, served.port = served.link.partition("page.example.org")[2], port
        answer = served.get(path)
        assert answer.code == 200
        assert answer.headers["set-cookie"].startswith("__Host-holdfast=")
        assert answer.headers["set-cookie"].endswith("; Secure")
        assert served.get("/", Host=f"holdfast.localhost:{served.port}").code == 421
