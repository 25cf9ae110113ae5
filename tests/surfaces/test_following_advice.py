"""Who does no more than the advice says passes no gate, and ends where somebody has to know, do or decide something."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.core import events as ev
from holdfast.errors import HoldfastError
from holdfast.machine import settings
from holdfast.project.project import Project, open_project
from holdfast.surfaces import tools
from holdfast.surfaces.mcp import replies
from tests import forked
from tests.golden.desk import Desk
from tests.golden.drive import Answer
from tests.golden.scenarios import CHECK, SCENARIOS, Scenario, _with_tests
from tests.surfaces.advice import DeadEnd, Suggestion, follow, read
from tests.workbench import Bench

GATES = """\
name = "gates"

[bounds]
max_cost = "$2"
max_iterations = 5

[[step]]
id = "write"
outputs = ["text"]

[[step]]
id = "verify"
checks = [{ name = "built", run = ["sh", "check.sh"], run_by = "engine" }, { name = "read" }]
retry = { max = 2 }

[[step]]
id = "look"
review = { by = ["reviewer"], max = 2 }

[[step]]
id = "pick"
choice = { options = ["A", "B"], by = "relayed" }

[[step]]
id = "relayed"
approval = { by = "relayed" }

[[step]]
id = "human"
approval = { by = "human" }

[[step]]
id = "built"
checks = [{ name = "tests", run = ["sh", "check.sh"], run_by = "engine" }]

[[step]]
id = "signed"
approval = { by = "signed" }
"""


def gates(desk: Follower) -> None:
    """Every kind of gate; each is passed by those whose it is, and then comes the next."""
    desk.write(".holdfast/workflows/gates.toml", GATES)
    desk.write("check.sh", CHECK)
    desk.write("text.md", "It is written.\n")
    desk.save("Gates")
    desk.does("start", "gates", "it's here")
    desk.look("fresh")
    desk.refused("done", "verify")
    for command in ("submit", "approve", "done", "begin"):
        desk.behind(command, "verify")
    desk.does("begin", "write")
    desk.refused("done", "write", "--artifact", "text=nowhere.md")
    desk.does("done", "write", "--artifact", "text=text.md")
    desk.look("not trusted")
    desk.does("begin", "verify")
    desk.look("a command that nobody trusted")
    desk.behind("check", "built", "--passed")
    desk.refused("done", "verify")
    desk.refused("begin", "look")
    desk.person("trust", "gates")
    desk.look("a check that fails")
    desk.write("built", "yes\n")
    desk.look("a check that passes")
    desk.does("check", "built")
    desk.does("fail", "verify", "--reason", "nobody read it")
    desk.does("fail", "verify", "--reason", "again")
    desk.look("the tries are used up")
    for command in ("done", "begin", "reopen", "unblock"):
        desk.refused(command, "verify")
    desk.refused("begin", "write")
    desk.person("resume", "--from", "verify")
    desk.does("check", "built")
    desk.does("check", "read", "--passed")
    desk.does("done", "verify")
    desk.does("begin", "look")
    desk.does("submit", "look")
    desk.refused("review", "look", "--verdict", "approved")
    desk.refused("done", "look")
    desk.does("review", "look", "--verdict", "approved", "--as", "reviewer")
    for step, *answer in (("pick", "--variant", "A"), ("relayed",), ("human",)):
        desk.look(f"before {step}")
        if step != "relayed":  # an agent may pass on a person's answer, also before the step begins
            desk.refused("approve", step)
        desk.does("begin", step)
        desk.does("done", step)
        desk.look(f"at {step}")
        desk.refused("done", step)
        if step == "human":
            desk.refused("approve", step)
            desk.refused("reject", step, "--feedback", "no")
        desk.person("approve", step, *answer)
    desk.does("agent", "spend", "2")
    desk.look("the money is spent")
    desk.refused("begin", "built")
    desk.person("extend", "--cost", "5")
    desk.look("a check that passes, then a signature")


LATER = (
    *(("begin",), ("done",), ("block", "--reason", "x"), ("fail", "--reason", "x"), ("unblock",), ("reopen",)),
    *(("attach", "--artifact", "a=README.md"), ("reject",), ("review", "--verdict", "approved"), ("submit",)),
)


def unfinished(desk: Follower, *, trusted: bool) -> None:
    """In the first phase of the first task, what is said of a later step leads to that phase."""
    _with_tests(desk)
    given = ["--set", "test_command=sh run-tests.sh"] if trusted else []
    if not trusted:
        desk.write(".holdfast/config.toml", '[commands]\ntest = ["sh", "run-tests.sh"]\n')
        desk.save("Commands")
    desk.does("start", "dev", "features/user-login.md", *given)
    for command, *more in LATER:
        desk.behind(command, "pr_creation", *more)
    for words in (("begin", "verification"), ("done", "task_execution/1"), ("resume", "--from", "pr_creation")):
        desk.behind(*words)
    if not trusted:
        desk.behind("check", "test_fails", "--passed")
    desk.behind_by_tools("pr_creation")


KEPT = (
    *("skill-dev", "skill-dev-commit", "skill-tdd", "story-generation-plan", "story-generation-retry"),
    *("story-planning", "orchestrator", "compaction-custom", "compaction-qa-loop", "gated-feature"),
    *("gated-feature-later", "own-keep-going", "two-workflows"),
)
PLAYED: dict[str, Callable[[Any], None]] = {**{name: SCENARIOS[name] for name in KEPT}, "every-gate": gates}


class Follower(Desk):
    """Plays a scenario, and from each of its moments follows the advice of every surface; then all is as before."""

    def __init__(self, folder: Path, *, held: bool = False) -> None:
        self._all, self._held = folder / "all", held
        self.ends: list[str] = []
        self._looks = 1
        super().__init__(self._all)
        self._person["PAGER"] = "cat"
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            self._person[f"XDG_{name}_HOME"] = self._agent[f"XDG_{name}_HOME"] = f"{self._all}/home/{name}"

    def record(self, header: str, text: str) -> None:
        """Nothing is kept."""

    def served(self, moment: str, tool: str, **arguments: Any) -> None:
        """Tools are called where their advice is followed."""

    def person(self, *words: str, says: str = "y", code: int = 0) -> Answer:
        answer = Bench(self.root).person(*words, says=says, env=self._person)
        assert answer.code == code, answer
        return Answer(answer.code, answer.out)

    def refused(self, *words: str, code: int = 3) -> None:
        answer = self._asked(*words)
        assert answer.code == code, (words, answer.text)
        error = json.loads(self._asked(*words, "--json").out)["error"]
        assert error["remedy"].replace(" --json", "") == _of_answer(answer)
        _leaves_people_alone(error["remedy"] + json.dumps(error["facts"]), error["remedies"])
        if error["code"] == "gate_unmet":
            told = json.loads(self._asked("next", "-w", self._id(words), "--json").out)
            assert error["facts"]["step"] != told["step"] or error["remedy"] == told["required_action"]
        with self._put_back():
            self._walked(self._id(words), line=_of_answer(answer), refused=shlex.join(["holdfast", *words]))

    def behind(self, *words: str) -> None:
        """A command that is refused because something else comes first: what leads on is what `next` says."""
        answer = self._asked(*words)
        assert answer.code == 3, (words, answer.text)
        action = json.loads(self._asked("next", "--json").out)["required_action"]
        assert _of_answer(answer) == action, words

    def behind_by_tools(self, step: str) -> None:
        id = self._id(())
        action = self._called(id, "get_next_step", workflow_id=id)["required_action"]
        for status in ("in_progress", "completed", "failed"):
            error = self._called(id, "update_workflow_state", workflow_id=id, step=step, status=status)["error"]
            assert error["remedy"] == action, status

    def look(self, moment: str, workflow: str = "") -> None:
        id = workflow or self._id(())
        if self._held:
            self.hook("PreCompact", trigger="auto")
        self._agree(id)
        with self._put_back():
            self._walked(id)
        with self._put_back():
            self._walked_by_tools(id)
        self._looks += 1
        if self._looks % 2:
            return
        with self._put_back():
            self.does("start", "custom", "Something else", "--phases", "Sort,Sweep")
            below = self.root / "deep/down"
            below.mkdir(parents=True)
            self._walked(id, cwd=below, most=1)

    def _asked(self, *words: str, cwd: Path | None = None) -> Answer:
        return Answer(*forked.run(*words, env=self._agent, cwd=cwd or self.root))

    def _host(self, command: str, given: dict[str, Any]) -> str:
        return forked.run(command, env=self._person, cwd=self.root, stdin=json.dumps(given).encode())[1]

    def _learn_commits(self) -> None: ...

    def _id(self, words: tuple[str, ...]) -> str:
        if "-w" in words:
            return words[words.index("-w") + 1]
        found = json.loads(self._asked("list", "--json").out)["workflows"]
        return found[0]["workflow_id"] if found else self.workflows()[0] if self.workflows() else ""

    @contextlib.contextmanager
    def _put_back(self) -> Iterator[None]:
        kept = self._all.with_name("kept")
        shutil.copytree(self._all, kept, symlinks=True)
        yield
        shutil.rmtree(self._all)
        kept.rename(self._all)

    def _agree(self, id: str) -> None:
        """Every surface suggests the same first; nowhere does a person's command are among an agent's."""
        told = json.loads(self._asked("next", "-w", id, "--json").out)
        action = told["required_action"]
        if not action:
            return
        _leaves_people_alone(action, told["blockers"][0]["remedies"])
        lines = {
            "next": _after(self._asked("next", "-w", id).out, r"^Now\n  (.*)$"),
            "packet": _after(self._asked("resume-packet", "-w", id).out, r"^Next command: (.*)$"),
        }
        if self._held:
            lines["stop"] = _after(self.hook("Stop", stop_hook_active=False), r" Continue: (.*)\"$") or action
        for surface, line in lines.items():
            assert _plain(line) == _plain(action), surface
        assert action in self._asked("status", "-w", id).out

    def _walked(self, id: str, *, cwd: Path | None = None, **how: Any) -> None:
        def ask() -> str:
            answer = self._asked("next", *(["-w", id] if id else []), "--json", cwd=cwd)
            assert answer.code == 0, answer.text
            return json.loads(answer.out)["required_action"] or ""

        def run(one: Suggestion) -> tuple[int, str]:
            return self._typed(one, cwd)

        self._followed(id, ask, run, **how)

    def _typed(self, one: Suggestion, cwd: Path | None = None) -> tuple[int, str]:
        if one.argv[0] != "holdfast":
            return subprocess.run(one.command, shell=True, cwd=self.root, capture_output=True).returncode, ""
        answer = self._asked(*one.argv[1:], cwd=cwd)
        return answer.code, _of_answer(answer)

    def _walked_by_tools(self, id: str) -> None:
        def ask() -> str:
            return self._called(id, "get_next_step", workflow_id=id)["required_action"] or ""

        def run(one: Suggestion) -> tuple[int, str]:
            if not one.tool:
                return self._typed(one)
            said = self._called(id, one.tool, **one.given).get("error", {})
            assert "holdfast " not in json.dumps(
                [own.get("remedy", "") for own in said.get("facts", {}).get("unmet", ())]
            )
            return (3 if said else 0), said.get("remedy", "")

        self._followed(id, ask, run)

    def _called(self, id: str, tool: str, **given: Any) -> dict[str, Any]:
        project = self._opened()
        try:
            return dict(tools.call(project, tool, given))
        except HoldfastError as error:
            (said,) = replies.refusal(error, project.scope(id)).content
            return json.loads(said.text)

    def _opened(self) -> Project:
        return open_project(str(self.root), settings=settings.read(self._agent, terminal=False, surface="mcp"))

    def _followed(self, id: str, *how: Any, **more: Any) -> None:
        before = self._opened().workflow(id).state.revision if id else 0
        self.ends.append(follow(*how, **more))
        for record in self._opened().workflow(id).history(before) if id else ():
            assert not [event for event in record.events if _passes_a_gate(event)], record


def _passes_a_gate(event: object) -> bool:
    """What is somebody's word and not a check that Holdfast ran; and marks that only somebody takes away."""
    match event:
        case ev.Checked():
            return event.evidence.passed and event.evidence.run_by != "engine"
        case ev.Moved():
            return event.move == "skipped"
        case ev.Marked():
            return not event.on
    return isinstance(event, (ev.Granted, ev.Reviewed, ev.Extended, ev.Amended))


def _of_answer(answer: Answer) -> str:
    """What a command's answer suggests: in the line that a change is told in, or behind the arrow of a refusal."""
    refusal = _after(answer.err, r"^→ (.*)$")
    return refusal or _after(answer.out, r"  \((.*)\)$")


def _after(text: str, pattern: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1] if found else ""


def _plain(line: str) -> str:
    """Without the workflow's name, which is not needed everywhere."""
    return re.sub(r" -w \S+", "", line)


def _leaves_people_alone(line: str, remedies: list[dict[str, Any]]) -> None:
    for one in remedies:
        assert one["who"] != "person" or one["command"] not in line, line


@pytest.mark.parametrize("scenario", PLAYED.values(), ids=PLAYED)
def test_following_the_advice_passes_no_gate_and_ends_where_somebody_is_asked(tmp_path, scenario: Scenario):
    desk = Follower(tmp_path, held=scenario is SCENARIOS["own-keep-going"])
    scenario(desk)
    assert desk.ends


@pytest.mark.parametrize("trusted", [True, False])
def test_what_is_refused_until_something_else_is_done_leads_to_what_next_says(tmp_path, trusted):
    unfinished(Follower(tmp_path), trusted=trusted)


@pytest.mark.parametrize(
    ("line", "ends"),
    [
        ("holdfast begin a", [""]),
        ("holdfast done 'a · or b' --artifact text=PATH", ["blank"]),
        ("fix it, then: holdfast check tests --run", ["work"]),
        ("show a to a person and stop, or holdfast wait --for person", ["person", "person"]),
        ('run_check {"check": "a · or b"} · or in a shell: holdfast next', ["", ""]),
        ("holdfast check lint --PASSED-OR-FAILED", ["blank"]),
        ("write a.md", ["work"]),
    ],
)
def test_the_client_reads_what_is_printed(line, ends):
    assert [one.end for one in read(line)] == ends


def test_the_client_finds_dead_ends():
    def advice(*answers: tuple[int, str], **how: str) -> str:
        told = iter(answers)
        return follow(lambda: "holdfast next", lambda _: next(told), **how)

    for answers, why in (
        (((3, "holdfast next"),), "suggested again"),
        (((0, "holdfast done a"), (0, "holdfast next")), "again and again"),
        (((2, ""),), "not well formed"),
        (((0, "holdfast begin a, or holdfast next"),), "touches"),
        (((0, "show a to a person and stop, or holdfast approve a"),), "a decision"),
        (((0, 'run_check {"check": "lint", "passed": true}'),), "a decision"),
        (((0, "holdfast check lint --passed|--failed"),), "a shell"),
        (((0, "holdfast fail a --reason TEXT"), (0, "")), "a blank"),
        (((0, "holdfast review a --verdict approved"),), "a decision"),
    ):
        with pytest.raises(DeadEnd, match=why):
            advice(*answers)
