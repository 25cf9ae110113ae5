"""The first three hosts: how each is set up and started here, and how its model calls tools and hears of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.hosts_e2e.scene import Request, Run, Scene, Turn, call

PLUGIN = "1.18.33"
KEY = "sk-ant-nobody"


class Host:
    """One host in a scene. Whatever is written here is what a person would have of their own, before Holdfast comes."""

    name: str
    busy: tuple[str, ...] = ()
    """Files that the host itself keeps writing."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    def settle(self) -> None:
        """The person's settings, and files of the host that the project has already."""
        raise NotImplementedError

    def run(self, prompt: str, turns: list[Turn], *, session: str = "", known: str = "") -> Run:
        """One process of the host, from the prompt to its end; with the context of a session or a fresh one."""
        raise NotImplementedError

    def command(self, name: str, given: str, turns: list[Turn], *, known: str = "") -> Run:
        """The same, and the prompt is a command that was installed."""
        return self.run(f"/{name} {given}", turns, known=known)

    def session(self, run: Run) -> str:
        """What the host calls the session of a run."""
        raise NotImplementedError

    def shell(self, command: str) -> Turn:
        raise NotImplementedError

    def edit(self, path: str, text: str) -> Turn:
        """The host's own tool makes a file of the project again."""
        raise NotImplementedError

    def change(self, path: str, old: str, new: str) -> list[Turn]:
        """The host's own tools read a file of the project and replace a part of it."""
        raise NotImplementedError

    def tool(self, name: str, **given: Any) -> Turn:
        """A tool of Holdfast's server."""
        raise NotImplementedError

    def agent(self, name: str, task: str) -> Turn:
        """A subagent is given a task, and does it before the model is asked again."""
        raise NotImplementedError

    def skill(self, name: str) -> Turn:
        """The model reads a skill."""
        raise NotImplementedError

    def read(self, path: str) -> Turn:
        """The host's own tool shows a file of the project."""
        raise NotImplementedError

    def results(self, request: Request) -> list[str]:
        """What came of the tools that were called, as the model is told it."""
        raise NotImplementedError

    def outcomes(self, run: Run) -> list[str]:
        """What came of each call, in order; the context may be lost in between."""
        return [found[-1] for request in run.turns[1:] if (found := self.results(request))]

    def _put(self, name: str, value: Any) -> None:
        path = self.scene.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))


def _said(content: Any) -> str:
    """A text, or the texts of its parts."""
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content or [])


class ClaudeCode(Host):
    name = "claude-code"
    busy = (".claude.json",)
    SETTINGS = """{
\t"env": {"EDITOR": "true"},
\t"hooks": {
\t\t"PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]
\t}
}
"""

    @property
    def program(self) -> Path:
        return self.scene.clients / "@anthropic-ai/claude-code-linux-x64/claude"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": self.scene.model,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
        }

    def settle(self) -> None:
        """Without trust in the folder, what its settings allow does not count. What a newcomer is asked is answered."""
        own = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY], "rejected": []},
            "projects": {str(self.scene.project): {"hasTrustDialogAccepted": True}},
        }
        self._put(".claude.json", own)
        allowed = ["Bash", "Edit", "Write", "mcp__holdfast", "mcp__plugin_holdfast_holdfast"]
        self._put(".claude/settings.json", {"permissions": {"allow": allowed}, "enableAllProjectMcpServers": True})
        self.scene.write(".claude/settings.json", self.SETTINGS)

    def run(
        self, prompt: str, turns: list[Turn], *, session: str = "", known: str = "", more: tuple[str, ...] = ()
    ) -> Run:
        again = ("--resume", session) if session else ()
        words = ("-p", prompt, "--output-format", "json", *again, *more)
        return self.scene.run(self.program, *words, turns=turns, known=known, env=self.environment)

    def talk(self, prompts: list[str], turns: list[Turn], *, session: str = "") -> Run:
        """Several prompts to one process, each when the one before is answered."""
        lines = [json.dumps({"type": "user", "message": {"role": "user", "content": one}}) + "\n" for one in prompts]
        words = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        words += ["--resume", session] if session else []
        answered = '"type":"result"'
        return self.scene.run(self.program, *words, turns=turns, env=self.environment, lines=lines, answered=answered)

    def session(self, run: Run) -> str:
        return str(json.loads(run.out.splitlines()[-1])["session_id"])

    def shell(self, command: str) -> Turn:
        return call("Bash", command=command, description="as asked")

    def edit(self, path: str, text: str) -> Turn:
        return call("Write", file_path=f"{self.scene.project}/{path}", content=text)

    def change(self, path: str, old: str, new: str) -> list[Turn]:
        full = f"{self.scene.project}/{path}"
        return [call("Read", file_path=full), call("Edit", file_path=full, old_string=old, new_string=new)]

    def tool(self, name: str, **given: Any) -> Turn:
        return call(f"mcp__holdfast__{name}", **given)

    def agent(self, name: str, task: str) -> Turn:
        return call("Agent", description="a task", prompt=task, subagent_type=name, run_in_background=False)

    def skill(self, name: str) -> Turn:
        return call("Skill", skill=name)

    def read(self, path: str) -> Turn:
        return call("Read", file_path=f"{self.scene.project}/{path}")

    def results(self, request: Request) -> list[str]:
        told = [
            part for one in request["body"]["messages"] if isinstance(one["content"], list) for part in one["content"]
        ]
        return [_said(part["content"]) for part in told if part["type"] == "tool_result"]


class Opencode(Host):
    name = "opencode"
    CONFIG = """{
  "$schema": "https://opencode.ai/config.json",
  // what this project's people like
  "username": "tester"
}
"""

    @property
    def program(self) -> Path:
        return self.scene.clients / "opencode-linux-x64/bin/opencode"

    @property
    def environment(self) -> dict[str, str]:
        switched_off = ("AUTOUPDATE", "DEFAULT_PLUGINS", "LSP_DOWNLOAD", "MODELS_FETCH")
        return {f"OPENCODE_DISABLE_{name}": "1" for name in switched_off}

    def settle(self) -> None:
        """Its folders have the package that it would otherwise fetch, and wait for, when it starts."""
        model = {"name": "scripted", "tool_call": True, "limit": {"context": 100_000, "output": 8_000}}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "loop",
            "options": {"baseURL": f"{self.scene.model}/v1", "apiKey": "nobody"},
            "models": {"scripted": model},
        }
        config = {
            "$schema": "https://opencode.ai/config.json",
            "provider": {"loop": provider},
            "model": "loop/scripted",
            "small_model": "loop/scripted",
            "autoupdate": False,
            "share": "disabled",
            "snapshot": False,
            "lsp": False,
            "formatter": False,
            "permission": {"*": "allow"},
        }
        self._put(".config/opencode/opencode.json", config)
        self.scene.write("opencode.jsonc", self.CONFIG)
        for folder in (self.scene.home / ".config/opencode", self.scene.project / ".opencode"):
            for name, text in self._plugin_package().items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)

    @staticmethod
    def _plugin_package() -> dict[str, str]:
        name = "@opencode-ai/plugin"
        wanted = {"dependencies": {name: PLUGIN}}
        lock = {"lockfileVersion": 3, "packages": {"": wanted, f"node_modules/{name}": {"version": PLUGIN}}}
        return {
            ".gitignore": "node_modules\n",
            "package.json": json.dumps(wanted),
            "package-lock.json": json.dumps(lock),
            f"node_modules/{name}/package.json": json.dumps({"name": name, "version": PLUGIN, "main": "index.js"}),
            f"node_modules/{name}/index.js": "",
        }

    def run(self, prompt: str, turns: list[Turn], *, session: str = "", known: str = "") -> Run:
        return self._ran(["--session", session] if session else [], [prompt], turns, known)

    def command(self, name: str, given: str, turns: list[Turn], *, known: str = "") -> Run:
        return self._ran(["--command", name], given.split(), turns, known)

    def _ran(self, how: list[str], words: list[str], turns: list[Turn], known: str) -> Run:
        argv = (self.program, "run", "--format", "json", *how, *words)
        return self.scene.run(*argv, turns=turns, known=known, env=self.environment)

    def session(self, run: Run) -> str:
        return str(json.loads(run.out.splitlines()[0])["sessionID"])

    def shell(self, command: str) -> Turn:
        return call("bash", command=command, description="as asked")

    def edit(self, path: str, text: str) -> Turn:
        return call("write", filePath=f"{self.scene.project}/{path}", content=text)

    def change(self, path: str, old: str, new: str) -> list[Turn]:
        full = f"{self.scene.project}/{path}"
        return [call("read", filePath=full), call("edit", filePath=full, oldString=old, newString=new)]

    def tool(self, name: str, **given: Any) -> Turn:
        return call(f"holdfast_{name}", **given)

    def agent(self, name: str, task: str) -> Turn:
        return call("task", description="a task", prompt=task, subagent_type=name)

    def skill(self, name: str) -> Turn:
        """By the file that it is told of: its own tool for skills needs a ripgrep, which it would have to fetch."""
        return self.read(f".opencode/skills/{name}/SKILL.md")

    def read(self, path: str) -> Turn:
        return call("read", filePath=f"{self.scene.project}/{path}")

    def results(self, request: Request) -> list[str]:
        return [_said(one["content"]) for one in request["body"]["messages"] if one["role"] == "tool"]


class Codex(Host):
    name = "codex"
    CONFIG = """# what this project's people like
project_doc_max_bytes = 65536  # all of it
"""
    OWN = "# How we work\n\nTests first.\n"
    AGENTS = "multi_agent_v1"
    """The namespace of its tools for subagents."""

    @property
    def program(self) -> Path:
        return self.scene.clients / "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"

    def settle(self) -> None:
        """Its shells are login shells, so the profile says where programs are. The model's name decides about tools."""
        self._put(".bash_profile", f"export PATH={self.scene.environment['PATH']}\n")
        self._put(
            ".codex/config.toml",
            f"""model = "gpt-5.5"
model_provider = "loop"
model_auto_compact_token_limit = 50000
check_for_update_on_startup = false
approval_policy = "never"
sandbox_mode = "danger-full-access"

[analytics]
enabled = false

[model_providers.loop]
name = "loop"
base_url = "{self.scene.model}/v1"
wire_api = "responses"
env_key = "LOOP_KEY"
request_max_retries = 0
stream_max_retries = 0

[projects."{self.scene.project}"]
trust_level = "trusted"
""",
        )
        self.scene.write(".codex/config.toml", self.CONFIG)
        self.scene.write("AGENTS.md", self.OWN)

    def run(self, prompt: str, turns: list[Turn], *, session: str = "", known: str = "", trusting: bool = True) -> Run:
        """A person has to trust new hooks in its terminal; the option stands for that. Where a server is not required,
        its tools come when it has started, and this model is faster than any."""
        again = ("resume", session) if session else ()
        trust = ("--dangerously-bypass-hook-trust",) if trusting else ()
        words = ("exec", *again, "--json", *trust, "--config", "mcp_servers.holdfast.required=true", prompt)
        return self.scene.run(self.program, *words, turns=turns, known=known, env={"LOOP_KEY": "nobody"})

    def command(self, name: str, given: str, turns: list[Turn], *, known: str = "") -> Run:
        """It has none that a project could bring: a person says it in their own words."""
        words = {"workflow": f"Start the workflow {given}.", "resume-workflow": "Continue with the workflow."}
        return self.run(words[name], turns, known=known)

    def session(self, run: Run) -> str:
        return str(json.loads(run.out.splitlines()[0])["thread_id"])

    def shell(self, command: str) -> Turn:
        return call("exec_command", cmd=command)

    def edit(self, path: str, text: str) -> Turn:
        """It has one tool for all edits."""
        patch = f"*** Begin Patch\n*** Add File: {path}\n+{text}\n*** End Patch\n"
        return {"custom": "apply_patch", "with": patch}

    def change(self, path: str, old: str, new: str) -> list[Turn]:
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"
        return [self.shell(f"cat {path}"), {"custom": "apply_patch", "with": patch}]

    def tool(self, name: str, **given: Any) -> Turn:
        return {**call(name, **given), "namespace": "mcp__holdfast"}

    def agent(self, name: str, task: str) -> Turn:
        """It works on beside the session, which has to wait for it."""
        return {**call("spawn_agent", agent_type=name, message=task), "namespace": self.AGENTS}

    def results(self, request: Request) -> list[str]:
        outputs = ("function_call_output", "custom_tool_call_output")
        return [_said(one["output"]) for one in request["body"]["input"] if one["type"] in outputs]
