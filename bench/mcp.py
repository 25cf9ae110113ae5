"""The MCP server against the smallest one its SDK can make: starting, a look, and a call with its durable write."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from bench.measure import heading, interleaved, p50, row
from bench.project import repository
from holdfast.machine.settings import read
from holdfast.project.project import open_project

HELLO = """\
from mcp.server import MCPServer

server = MCPServer("hello")


@server.tool()
def hello(name: str) -> dict[str, str]:
    return {"said": f"hello {name}"}


server.run()
"""
VERSION = "2025-11-25"


class Talk:
    """A conversation with a server over its standard input and output, without the cost of a client."""

    def __init__(self, command: list[str], cwd: str) -> None:
        self._process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._number = 0
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while True:
            said = json.loads(self._process.stdout.readline())
            if said.get("id") == self._number:
                return said["result"]

    def call(self, tool: str, **arguments: Any) -> None:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(result)

    def end(self) -> None:
        self._process.stdin.close()
        self._process.wait(20)
        self._process.stdout.close()

    def _send(self, message: dict[str, Any]) -> None:
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


def run(folder: str) -> None:
    repository(folder)
    script = os.path.join(folder, "hello.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(HELLO)
    settings = read(os.environ, terminal=False, surface="python")
    workflow = open_project(folder, settings=settings).start("implementation", "A feature")
    hello, ours = [sys.executable, script], [sys.executable, "-m", "holdfast", "mcp"]
    started = interleaved({"hello": lambda: Talk(hello, folder).end(), "ours": lambda: Talk(ours, folder).end()}, 8)
    other, own = Talk(hello, folder), Talk(ours, folder)
    named = {"workflow_id": workflow.id}
    taken = interleaved(
        {
            "hello": lambda: other.call("hello", name="you"),
            "look": lambda: own.call("get_workflow_status", **named),
            "write": lambda: own.call("record_work", **named, note="a decision"),
        },
        300,
    )
    other.end()
    own.end()
    bare, once = p50(started["hello"]), p50(taken["hello"])
    heading(f"The MCP server ÷ the SDK's hello world (start {bare * 1e3:.0f} ms, call {once * 1e3:.2f} ms)")
    row("start, first answer and end", p50(started["ours"]) / bare, "≤ 1.3")
    row("a call that looks: get_workflow_status", p50(taken["look"]) / once, "≤ 1.3")
    row("a call with its durable write: record_work", p50(taken["write"]) / once, "≤ 2")
