"""Random stories: a definition, and commands by all sorts of actors in a world that changes under their hands.

A story is spelled by bytes, one or a few for each choice, so that a long story costs Hypothesis a single draw and still
shrinks. Half of the commands are sensible ones for the state of the work: pure chance would never finish a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from holdfast.core import commands as cmd
from holdfast.core import lifecycle, queries
from holdfast.core.apply import Record
from holdfast.core.decide import decide
from holdfast.core.definition import Step
from holdfast.core.events import Event
from holdfast.core.facts import Facts
from holdfast.core.state import Actor, Alert, State
from holdfast.core.value import Value
from holdfast.errors import HoldfastError
from holdfast.systems.seam.registry import conduct_of, rules
from tests.core.chance import IDS, Chance, gated, random_definition
from tests.core.play import AGENT, FILE, OTHER_AGENT, PERSON, REVIEWER, Play, failed, held, passed

OTHERS = (AGENT, AGENT, AGENT, OTHER_AGENT, REVIEWER, FILE, Actor("engine"), Actor("hook"))
EVERYBODY = (*OTHERS, PERSON, PERSON, PERSON, PERSON, PERSON)
FILES = ("one.md", "two.md")
LENGTH = 30
SIZE = 120 + 22 * LENGTH
SPELLINGS = st.binary(min_size=SIZE, max_size=SIZE)


class Scene(Value):
    """One request in a story and what came of it: events, or a refusal."""

    before: State
    request: cmd.Request
    facts: Facts
    after: State
    events: tuple[Event, ...] = ()
    refusal: Exception | None = None


class Story:
    """A workflow that somebody started, and everything that happened to it."""

    def __init__(
        self, spelling: bytes, actors: Sequence[Actor] = EVERYBODY, signers: Sequence[str] = ("", "", "ada")
    ) -> None:
        chance = Chance(spelling)
        self.play = Play()
        self.play.world.update(tree="tree-0", head="head-0")
        self.definition = random_definition(chance)
        conduct = conduct_of(self.definition.loads)
        self.play.do(cmd.Start.of(self.definition, "0" * 26, "story", conduct=conduct), by=PERSON)
        self.first = self.play.state
        self.scenes = [self._scene(chance, actors, signers) for _ in range(LENGTH)]

    @property
    def records(self) -> list[Record]:
        return self.play.records

    @property
    def states(self) -> list[State]:
        return self.play.states

    def _scene(self, chance: Chance, actors: Sequence[Actor], signers: Sequence[str]) -> Scene:
        play, before = self.play, self.play.state
        _meddle(play, chance)
        command = random_command(chance, before)
        signer = ""
        proven: dict[str, Any] = {}
        if isinstance(command, cmd.Approve) and (signer := chance.pick(signers)):
            how = chance.pick(("signature", "passkey"))
            proven = {"signer": signer, "signed_with": how, "signed": self._on_disk(command.step)}
        facts = play.facts(**proven, trusted=not chance.one_in(12), past=self._past(command))
        token = held(chance.below(3)) if chance.one_in(6) else ""
        key = f"k{chance.below(6)}" if chance.one_in(8) else ""
        payload = type(command).__name__ if key else ""
        request = cmd.Request(command, chance.pick(actors), token, key, payload)
        try:
            events = decide(before, request, facts, rules)
        except Exception as refusal:  # noqa: BLE001 - a crash is part of the story too; one property is about refusals
            return Scene(before, request, facts, before, refusal=refusal)
        if events:
            play.keep(events, request.actor, type(command).__name__, key, payload)
        return Scene(before, request, facts, play.state, events)

    def _past(self, command: cmd.Command) -> State | None:
        if not isinstance(command, cmd.Restore):
            return None
        revisions = [one.revision for one in self.play.state.snapshots if one.number == command.number]
        return self.play.states[revisions[0] - 1] if revisions else None

    def _on_disk(self, path: str) -> dict[str, str]:
        """What a person who signs now puts their name under."""
        named = self.play.state.step(path).artifacts
        return {name: (self.play.files.get(one.path) or ("", 0))[0] for name, one in named.items()}

    def __repr__(self) -> str:
        lines = [f"Story of {brief(self.definition)}"]
        for scene in self.scenes:
            outcome = scene.refusal or ", ".join(map(brief, scene.events)) or "nothing"
            lines.append(f"  {scene.request.actor.label}: {brief(scene.request.command)} → {outcome}"[:500])
        return "\n".join(lines)


def stories(actors: Sequence[Actor] = EVERYBODY, signers: Sequence[str] = ("", "", "ada")) -> st.SearchStrategy[Story]:
    return SPELLINGS.map(lambda spelling: Story(spelling, actors, signers))


# The world


def _meddle(play: Play, chance: Chance) -> None:
    """Time continues, files and the tree change, the machine is started again, the clock jumps."""
    play.wait(chance.pick((1, 1, 1, 60, 700)))
    match chance.below(24):
        case 0 | 1 | 2:
            play.write(chance.pick(FILES), chance.pick(("x", "y")))
        case 3:
            play.remove(chance.pick(FILES))
        case 4 | 5:
            play.world["tree"] = f"tree-{chance.below(2)}"
        case 6:
            play.world["boot"], play.mono = f"boot-{chance.below(3)}", 1.0
        case 7:
            play.seconds += chance.pick((-5000, 5000))


# Commands


def random_command(chance: Chance, state: State) -> cmd.Command:
    paths = (*state.plan.paths, "nowhere") if chance.one_in(30) else state.plan.paths
    path = chance.pick(paths or ("nowhere",))
    match chance.below(21):
        case 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7:
            return sensible(chance, state, queries.current(state) or path)
        case 8 | 9 | 10:
            return sensible(chance, state, path)
        case 11 | 12 | 13 | 14 | 15:
            return _on_a_step(chance, path)
        case 16:
            return _on_the_whole(chance, state)
        case 17:
            return _of_an_agent(chance, path)
        case 18:
            return _amendment(chance, state, path)
        case 19:
            return _of_a_session(chance, state, path)
        case _:
            commands = tuple(_on_a_step(chance, path) for _ in range(1 + chance.below(2)))
            return cmd.Edit("f", {}, {}, (cmd.Part("f", commands=commands),))


def sensible(chance: Chance, state: State, path: str) -> cmd.Command:
    """What somebody who wants to get on would do with this step."""
    if path not in state.plan:
        return cmd.Begin(path)
    step, progress = state.plan.step(path), state.step(path)
    match progress.status:
        case lifecycle.PENDING:
            return cmd.Begin(path)
        case lifecycle.ACTIVE:
            return _finishing(chance, state, path)
        case lifecycle.IN_REVIEW:
            return cmd.Review(path, chance.pick(("approved", "approved", "needs_revision")), "look again")
        case lifecycle.WAITING:
            return cmd.Approve(path, variant="A" if step.choice else "")
        case lifecycle.FAILED:
            return cmd.Resume(path)
        case lifecycle.BLOCKED:
            return cmd.Unblock(path)
        case lifecycle.ESCALATED:
            return (
                cmd.Unblock(path, "so") if chance.one_in(2) else cmd.Approve(path, variant="A" if step.choice else "")
            )
        case _:
            return cmd.Reopen(path)


def _finishing(chance: Chance, state: State, path: str) -> cmd.Command:
    step, progress = state.plan.step(path), state.step(path)
    patient = not chance.one_in(4)  # who is not tries `done` too early
    for check in step.checks if patient else ():
        seen = progress.evidence.get(check.name)
        if seen is None or seen.attempt != progress.attempt or not seen.passed:
            return _result(chance, path, check.name)
    return cmd.Done(path, dict.fromkeys(step.outputs, chance.pick(FILES)))


def _result(chance: Chance, path: str, name: str) -> cmd.RecordCheck:
    tree = f"tree-{chance.below(2)}"
    run_by = chance.pick(("engine", "reported"))
    evidence = failed(run_by=run_by) if chance.one_in(4) else passed(run_by=run_by, tree=chance.pick((None, tree)))
    return cmd.RecordCheck(path, name, evidence)


def _on_a_step(chance: Chance, path: str) -> cmd.Command:
    artifacts = {"log": chance.pick(FILES)} if chance.one_in(3) else {}
    options: tuple[cmd.Command, ...] = (
        cmd.Begin(path),
        cmd.Done(path, artifacts),
        cmd.Fail(path, "broke"),
        cmd.Iterate(path, "red"),
        cmd.Iterate(path, "red"),
        cmd.Approve(path, variant=chance.pick(("", "A"))),
        cmd.Reopen(path, "again"),
        cmd.Submit(path, artifacts),
        cmd.Attach(path, artifacts),
        cmd.Block(path, "no key"),
        cmd.Unblock(path, "here"),
        cmd.Skip(path, "not needed"),
        cmd.Review(path, chance.pick(("approved", "needs_revision", "perhaps"))),
        cmd.Reject(path, chance.pick(("", "other words"))),
        cmd.Reject(path),
        cmd.Resume(path),
        _result(chance, path, chance.pick(("tests", "lint", "unknown"))),
        cmd.Note("remark", path),
        cmd.Record({"k": chance.below(3)}, path),
        cmd.Spend(1 + chance.below(4) * 1_500_000, step=path),
    )
    return chance.pick(options)


def _on_the_whole(chance: Chance, state: State) -> cmd.Command:
    options: tuple[cmd.Command, ...] = (
        cmd.Resume(),
        cmd.Resume(),
        cmd.Cancel("enough"),
        cmd.Pause("over night"),
        cmd.Extend(cost=chance.pick((0, 1_000_000)), time=chance.pick((0, 0, 60)), iterations=chance.pick((0, 0, 1))),
        cmd.Spend(1 + chance.below(4) * 2_000_000),
        cmd.Note(chance.pick(("remark", "", "x" * 5000))),
        cmd.Record({"k": 1}),
        cmd.TakeSnapshot(),
        cmd.TakeSnapshot(),
        cmd.Restore(1 + chance.below(2)),
        cmd.Restore(max(1, len(state.snapshots))),
        cmd.Alarm(Alert("t", "edited", "m")),
        cmd.Compacted(),
        cmd.Refile("archive/state.json"),
    )
    return chance.pick(options)


def _of_an_agent(chance: Chance, path: str) -> cmd.Command:
    options: tuple[cmd.Command, ...] = (
        cmd.StartAgent(chance.pick(("coder", "two words")), chance.pick((path, "")), chance.pick((600, 0))),
        cmd.StartAgent("coder", path),
        cmd.BeatAgent(1 + chance.below(3)),
        cmd.EndAgent(1 + chance.below(3)),
        cmd.EndAgent(1 + chance.below(3), stale=True),
        _verdict(chance, path),
        _verdict(chance, path),
    )
    return chance.pick(options)


def _verdict(chance: Chance, path: str) -> cmd.Own:
    verdict, conflict = chance.pick(
        (("PASS", ""), ("AUTO_FIX", "pattern"), ("RE_PLAN", "api"), ("RE_PLAN", "security"), ("RE_PLAN", "pattern"))
    )
    affected = (path,) if chance.one_in(2) else ()
    said = {"check_type": "post_task", "task": chance.pick((path, "")), "verdict": verdict, "conflict_type": conflict}
    return cmd.Own(
        "orchestrator", "supervise", {**said, "resolution": "so", "fixes": chance.below(3), "affected": affected}
    )


def _of_a_session(chance: Chance, state: State, path: str) -> cmd.Command:
    """What hosts note, what outlives a context, and files that agents keep to themselves."""
    files = (chance.pick(("src", "src/a.py", "src/*", "docs")),)
    session = chance.pick(("session-1", "session-2", "session-3", ""))
    options: tuple[cmd.Command, ...] = (
        cmd.Sit(),
        cmd.Leave(chance.pick(("", "exit"))),
        cmd.Acknowledge(queries.packet_id(state, session)),
        cmd.Acknowledge(queries.packet_id(state, session)),
        cmd.Compacted("auto"),
        cmd.Urge(),
        cmd.Touch(files),
        cmd.Remember(chance.pick(("seen", "two words"))),
        cmd.Brief(chance.pick(("reading", "reminders")), add=chance.pick((files, ("",))), remove=("docs",)),
        cmd.Brief("reminders", exactly=chance.pick(((), files))),
        cmd.Learn("so it is", chance.pick(("pattern", "insight", "wisdom")), step=chance.pick((path, ""))),
        cmd.Own("compaction", "sight", {"source": "PLAN.md", "account": {"phase": chance.below(2)}}),
        cmd.Lock(files, chance.pick(("", "writer")), chance.pick((600, 600, 0))),
        cmd.Lock(files),
        cmd.Unlock(files),
        cmd.Unlock(files),
        cmd.Unlock(("src", "src/a.py", "src/*", "docs")),
        cmd.StartAgent("coder", "", agent=chance.pick(("a1", "a2"))),
        cmd.EndAgent(agent=chance.pick(("a1", "a2"))),
        cmd.Together((cmd.Note("remark"), cmd.Begin(path))),
    )
    return chance.pick(options)


def _amendment(chance: Chance, state: State, path: str) -> cmd.Command:
    if path not in state.plan:
        return cmd.RetireStep(path)
    old = state.plan.step(path)
    above = path.rpartition("/")[0]
    fresh = gated(chance, Step(chance.pick(IDS), requires=chance.pick((None, ()))))
    shuffled = old.replace(steps=tuple(reversed(old.steps)))
    options: tuple[cmd.Command, ...] = (
        cmd.AddStep(above, fresh, chance.pick((None, old.id))),
        cmd.AddStep(path, fresh),
        cmd.RetireStep(path),
        cmd.ChangeStep(path, gated(chance, Step(old.id, steps=old.steps))),
        cmd.ChangeStep(path, gated(chance, old)),
        cmd.ChangeStep(path, old.replace(parallel=bool(old.steps), optional=chance.one_in(2))),
        cmd.ChangeStep(path, chance.pick((shuffled, old.replace(steps=old.steps[1:]), old.replace(name="New")))),
    )
    return chance.pick(options)


def brief(value: object) -> str:
    """A value without the fields that are at their default."""
    if isinstance(value, tuple):
        return "[" + ", ".join(map(brief, value)) + "]"
    if not isinstance(value, Value):
        return repr(value)
    said = [f"{name}={brief(its)}" for name, its in value.items() if its != getattr(type(value), name, None)]
    return f"{type(value).__name__}({', '.join(said)})"


def told(scene: Scene) -> tuple[Any, ...]:
    """What came of a request, as something to compare."""
    refusal = scene.refusal
    return scene.events if refusal is None else describe(refusal)


def describe(refusal: Exception) -> tuple[Any, ...]:
    if isinstance(refusal, HoldfastError):
        return (type(refusal), refusal.code, refusal.message, refusal.remedy, refusal.facts)
    return (type(refusal), str(refusal))
