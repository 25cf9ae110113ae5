"""A temporary git repository in which a scenario is played, and the record of what every surface said there."""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.golden import drive
from tests.golden.drive import Answer, Server
from tests.golden.normal import Normaliser

SESSION, STRANGER = "golden-one", "golden-two"
HOOK_LIMIT_SECONDS = 1.7
"""A hook that took longer gave up without an answer, and is asked again."""


class Desk:
    """What is typed here is an agent's in the session `golden-one`, unless it is a person's."""

    def __init__(self, folder: Path) -> None:
        self.root, home = folder / "project", folder / "home"
        self.root.mkdir(parents=True)
        home.mkdir()
        self._person = {**os.environ, "HOME": str(home), "PAGER": "cat"}
        self._agent = {**self._person, "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION}
        self._normal = Normaliser({str(self.root): "<root>", str(home): "<home>", str(folder): "<folder>"})
        self._parts: list[str] = []
        self._server: Server | None = None
        self._commits: list[str] = []
        self.git("init", "-q", "-b", "main")
        self.write("README.md", "A project.\n")
        self.save("Begin")

    # The way there

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout

    def save(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def write(self, name: str, text: str) -> str:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return name

    def edit(self, name: str, text: str) -> None:
        """A change by hand, so long ago that nobody takes it for one that is still being written."""
        self.write(name, text)
        then = time.time() - 60
        os.utime(self.root / name, (then, then))

    def found(self, pattern: str) -> str:
        """The only path that fits, relative to the top."""
        (path,) = self.root.glob(pattern)
        return str(path.relative_to(self.root))

    def does(self, *words: str, code: int = 0) -> Answer:
        """An agent's command that changes something; its answer is recorded."""
        answer = self._asked(*words)
        assert answer.code == code, (words, answer.text)
        self._learn_commits()
        self.record(f"agent$ holdfast {self._shown(words)}", answer.text)
        return answer

    def person(self, *words: str, says: str = "y", code: int = 0) -> Answer:
        """The same, of a person at a terminal."""
        answer = drive.typed(list(words), self.root, self._person, says)
        assert answer.code == code, (words, answer.text)
        self._learn_commits()
        self.record(f"person$ holdfast {self._shown(words)}", answer.text)
        return answer

    def refused(self, *words: str, code: int = 3) -> None:
        """What an agent is told that may not do this: in words and as JSON."""
        self.does(*words, code=code)
        self.does(*words, "--json", code=code)

    def workflows(self) -> list[str]:
        """The ids of all workflows, finished ones too."""
        return [one["workflow_id"] for one in json.loads(self._asked("list", "--all", "--json").out)["workflows"]]

    def packet(self) -> str:
        """The id of this session's resume packet."""
        return str(json.loads(self._asked("resume-packet", "--json").out)["packet_id"])

    # The record

    def record(self, header: str, text: str) -> None:
        shown = self._normal(f"== {header} ==\n{text}", self._commits).rstrip("\n")
        shown += "" if text.strip() else "\n(nothing)"
        self._parts.append(shown + "\n")

    def text(self) -> str:
        """Everything that was recorded."""
        return "\n".join(self._parts)

    def look(self, moment: str, workflow: str = "") -> None:
        """What every surface says now. `workflow` is named to those that take a name, where there are several."""
        named = ["-w", workflow] if workflow else []
        said = {}
        for words in ("next", "next --json", "status", "status --json", "resume-packet"):
            said[words] = self._asked(*words.split(), *named).text
            self.record(f"{moment}: {words}", said[words])
        self._hooks(moment, said["resume-packet"])
        self._tools(moment, said, workflow or self.workflows()[0])

    def served(self, moment: str, tool: str, **arguments: Any) -> None:
        """A call of a tool over MCP, and what a person was asked by form, who declined."""
        server = self._serving()
        answer = server.call(tool, **arguments)
        for asked in server.asked:
            message = asked.pop("message")
            self.record(f"{moment}: mcp {tool} asks", f"{message}\n{_pretty(asked)}")
        self.record(f"{moment}: mcp {tool}", _pretty(answer))

    def hook(self, event: str, session: str = SESSION, **fields: Any) -> str:
        """What a host hears back from its hook: the text in the answer, or all of it where it has another form."""
        given = {"hook_event_name": event, "session_id": session, "cwd": str(self.root), **fields}
        said = self._host("hook", given)
        if not said.startswith("{"):
            return said
        answer = json.loads(said)
        inner = answer.get("hookSpecificOutput", {})
        if set(answer) == {"hookSpecificOutput"} and set(inner) == {"hookEventName", "additionalContext"}:
            return str(inner["additionalContext"])
        return _pretty(answer)

    def close(self) -> None:
        if self._server:
            self._server.close()

    def _hooks(self, moment: str, packet: str) -> None:
        """As hosts send their events: a status line, starts of sessions, a compaction."""
        given = {"session_id": SESSION, "cwd": str(self.root), "workspace": {"project_dir": str(self.root)}}
        self.record(f"{moment}: statusline", self._host("statusline", given))
        for source, session in (("startup", SESSION), ("resume", SESSION), ("clear", SESSION), ("startup", STRANGER)):
            told = self.hook("SessionStart", session, source=source)
            whose = "this session" if session == SESSION else "another session"
            self._record_like(f"{moment}: hook SessionStart {source}, {whose}", told, packet)
        self.record(f"{moment}: hook PreCompact", self.hook("PreCompact", trigger="auto"))
        told = self.hook("SessionStart", source="compact")
        self._record_like(f"{moment}: hook SessionStart compact, this session", told, packet)
        self.record(f"{moment}: hook Stop", self.hook("Stop", stop_hook_active=False))

    def _tools(self, moment: str, said: dict[str, str], id: str) -> None:
        for tool in ("get_next_step", "get_workflow_status"):
            self.served(moment, tool, workflow_id=id)
        server = self._serving()
        told = server.call("get_resume_packet", workflow_id=id)
        text = told.pop("text", "")
        self.record(f"{moment}: mcp get_resume_packet", _pretty(told))
        self._record_like(f"{moment}: mcp get_resume_packet, its text", text, said["resume-packet"])
        for name, like in (("resume", "resume-packet"), ("next", "next"), ("status", "status")):
            prompt = server.request("prompts/get", {"name": name, "arguments": {"workflow_id": id}})
            texts = [message["content"]["text"] for message in prompt.get("messages", [])]
            answer = "\n".join(texts) if texts else _pretty(prompt)
            self._record_like(f"{moment}: mcp prompt {name}", answer, said[like], like)

    def _record_like(self, header: str, text: str, base: str, like: str = "resume-packet") -> None:
        """Only what is different where the text is mostly one that was recorded before it, but for its width."""
        old, new = (self._squeezed(one) for one in (base, text))
        if old == new:
            self.record(header, f"(as {like})")
            return
        changed = [line for line in difflib.ndiff(old, new) if line[0] in "+-"]
        if len(changed) < len(new) / 2:
            text = "\n".join([f"(as {like}, but:)", *changed])
        self.record(header, text)

    def _squeezed(self, text: str) -> list[str]:
        lines = self._normal(text, self._commits).strip("\n").split("\n")
        return [re.sub(r"(?<=\S) {2,}", "  ", line).rstrip() for line in lines]

    def _learn_commits(self) -> None:
        self._commits = self.git("rev-list", "--all").split()

    def _host(self, command: str, given: dict[str, Any]) -> str:
        for _ in range(5):
            began = time.monotonic()
            answer = drive.command([command], self.root, self._person, json.dumps(given))
            assert (answer.code, answer.err) == (0, ""), answer.text
            if time.monotonic() - began < HOOK_LIMIT_SECONDS:
                return answer.out
        raise AssertionError(f"the machine is too busy for {command}")

    def _serving(self) -> Server:
        if not self._server:
            self._server = Server(self.root, self._agent)
        return self._server

    def _asked(self, *words: str) -> Answer:
        return drive.command(list(words), self.root, self._agent)

    def _shown(self, words: tuple[str, ...]) -> str:
        return re.sub(r"'(\S+)'", r"\1", shlex.join(words))


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
