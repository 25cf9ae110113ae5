"""A project that is served by MCP, and real clients of both eras that talk to it through real processes."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, ElicitResult

from tests import forked
from tests.workbench import Bench

LEGACY, MODERN = "legacy", "auto"
"""How a client finds out what to speak: by a handshake, or by asking what the server knows, as newer ones do."""
ERAS = (LEGACY, MODERN)
SESSION = "work-on-chapter-02"
BLUEPRINT = "acts/act-1/chapters/chapter-02/scenes/scene-0204-blueprint.md"
EXAMPLES: dict[str, Any] = json.loads((Path(__file__).parents[2] / "systems/story/data/tools.json").read_text())
_STANDING = (
    *("finished_percentage", "title", "step", "try", "turn", "blockers", "skipped", "decided"),
    *("failures", "reminders", "alerts", "signal"),
)
MORE = {
    "get_workflow_status": _STANDING,
    "start_workflow": _STANDING,
    "get_next_step": (
        *(
            "until_decided",
            "step",
            "agents",
            "turn",
            "task",
            "try",
            "conditions",
            "outputs",
            "hand_in",
            "inputs",
            "skipped",
        ),
        *("decisions", "asked_for", "failures", "avoid", "reminders", "signal", "for_person", "tries", "notes", "rest"),
    ),
}
"""Which keys of Holdfast may follow those that the convention shows, tool by tool and in this order."""
PATIENCE = 60
RELEASE = """\
name = "release"
title = "Release {subject}"

[[step]]
id = "draft"
name = "Write the draft"
outputs = ["draft"]

[[step]]
id = "verify"
checks = [ { name = "tests", run = ["@PYTHON@", "check.py"], run_by = "engine" }, { name = "lint" } ]

[[step]]
id = "look"
review = { by = ["reviewer"], max = 2 }

[[step]]
id = "sign-off"
outputs = ["notes"]
approval = { by = "human" }

[[step]]
id = "pick"
choice = { options = ["A", "B"] }

[[step]]
id = "publish"
"""


class House:
    """A folder with a definition of its own and a scene to write."""

    def __init__(self, root: Path) -> None:
        self.bench = Bench(root)
        self.root = root
        self.bench.write(BLUEPRINT, "# Scene\n\n## Constraints\n\n- no rain\n")
        self.bench.write(".holdfast/workflows/release.toml", RELEASE.replace("@PYTHON@", sys.executable))
        self.bench.write("check.py", "print('all good')\n")

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", "holdfast", "mcp", "--root", str(self.root)]

    def client(self, era: str = MODERN, toolset: str = "", **how: Any) -> Client:
        """A client of its own server, which is a fork, over standard input and output."""
        more = ["--toolset", toolset] if toolset else []
        words = forked.command("mcp", "--root", str(self.root), *more)
        return self.client_of(words, era, **how)

    def client_of(self, words: list[str], era: str = MODERN, **how: Any) -> Client:
        server = StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))
        return Client(server, mode=era, read_timeout_seconds=PATIENCE, **how)

    def trusted(self) -> House:
        from tests.trusted import trust_file

        project = self.bench.open("human")
        path = str(self.root / ".holdfast/workflows/release.toml")
        trust_file(project, path)
        return self

    def at(self, step: str, **how: Any) -> str:
        """A release that has come to a step; its id."""
        project = self.trusted().bench.open()
        workflow = project.start("release", "1.4.0", **how)
        for path in ("draft", "verify", "look", "sign-off", "pick", "publish"):
            workflow.begin(path)
            if path == step:
                break
            if path == "draft":
                workflow.done(path, {"draft": str(self.bench.write("draft.md", "a draft\n"))})
            elif path == "verify":
                workflow.check("lint", passed=True)
                workflow.check("tests")
                workflow.done(path)
            elif path == "look":
                workflow.submit(path)
                self.bench.open("human").workflow(workflow.id).review(path, "approved")
            elif path == "sign-off":
                workflow.done(path, {"notes": str(self.bench.write("notes.md", "notes\n"))})
                self.bench.open("human").workflow(workflow.id).approve(path)
            elif path == "pick":
                workflow.submit(path).approve(path, "A")
        return workflow.id

    def waiting(self, text: str = "# Notes\n\nall is well\n") -> str:
        """A release whose sign-off waits for a person; its id."""
        id = self.at("sign-off")
        notes = self.bench.write("notes.md", text)
        self.bench.open().workflow(id).done("sign-off", {"notes": str(notes)})
        return id

    def step(self, id: str, path: str) -> Any:
        return self.bench.open().workflow(id).state.step(path)

    @contextlib.contextmanager
    def listening(self, *options: str) -> Iterator[Served]:
        """A server over HTTP, on a port that is free."""
        words = forked.command("mcp", "--root", str(self.root), "--http", "--port", "0", "--json", *options)
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            said = "".join(iter(process.stdout.readline, "}\n")) + "}"
            yield Served(json.loads(said), process)
        finally:
            process.terminate()
            _, complaint = process.communicate(timeout=PATIENCE)
            assert "Traceback" not in complaint, complaint


class Served:
    """A server that listens: where, and with which token."""

    def __init__(self, said: dict[str, Any], process: subprocess.Popen) -> None:
        self.process = process
        self.url: str = said["url"]
        self.token = Path(said["token_file"]).read_text().strip() if said["token_file"] else ""

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    @contextlib.asynccontextmanager
    async def client(self, era: str = MODERN, **how: Any) -> AsyncIterator[Client]:
        from mcp.shared._httpx_utils import create_mcp_http_client

        async with create_mcp_http_client(headers=self.headers) as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport, mode=era, read_timeout_seconds=PATIENCE, **how) as client:
                yield client


def running(story: Callable[..., Any], *given: Any) -> Any:
    """Runs a story to its end."""
    return anyio.run(story, *given)


async def told(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """A call that succeeds: what it said, the same as values and as text."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert result.structured_content == json.loads(text_of(result))
    return result.structured_content


async def refused(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """A call that a tool refuses: the error it gave."""
    result = await client.call_tool(name, arguments)
    assert result.is_error, result.content
    assert result.structured_content is None
    error = json.loads(text_of(result))["error"]
    assert list(error) == ["code", "message", "remedy", "remedies", "facts"]
    assert error["message"]
    assert error["remedy"]
    return error


async def follow(client: Client, remedy: str) -> CallToolResult:
    """Does what a remedy says: the name of a tool, then its arguments."""
    name, _, arguments = remedy.partition(" ")
    return await client.call_tool(name, json.loads(arguments))


def beyond(tool: str, answer: dict[str, Any], fixed: Iterable[str]) -> dict[str, Any]:
    """What an answer has after its fixed keys: only what is listed, in that order, and nothing that is empty."""
    shown = list(fixed)
    assert list(answer)[: len(shown)] == shown
    more = {name: answer[name] for name in list(answer)[len(shown) :]}
    assert list(more) == [name for name in MORE.get(tool, ()) if name in more]
    assert not [name for name, value in more.items() if value in ("", [], {}, None)]
    return more


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert content.type == "text"
    return content.text


class Person:
    """Who answers the questions of a host, and what they were shown."""

    def __init__(self, action: str = "accept", meanwhile: Callable[[], object] = lambda: None, **content: Any) -> None:
        self.action, self.content, self.meanwhile = action, content, meanwhile
        self.asked: list[Any] = []

    async def __call__(self, _: Any, params: Any) -> ElicitResult:
        self.asked.append(params)
        self.meanwhile()
        return ElicitResult(action=self.action, content=self.content or None)
