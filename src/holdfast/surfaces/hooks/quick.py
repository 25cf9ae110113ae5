"""One event of an agent host: answered at once, noted for later, or handed to the engine.

A hook is started on every call of a tool, so nothing of Holdfast is imported here but its neighbours. Whatever goes
wrong, the host gets an answer it can live with.
"""

from __future__ import annotations

import posix
import sys
from _json import encode_basestring_ascii as quoted
from _json import make_scanner

from holdfast.surfaces.hooks import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Callable
    from typing import Any

LONGEST_EVENT = 16 << 20
LARGEST_VIEW = 8 << 20
LARGEST_INDEX = 1 << 20
PATIENCE = 1.8
LAST_WORDS = 0.1
_NAMED_IN = 200_000
_SPACE = " \t\n\r"
_ACTIVE = b'{"active":['
_NONE_ACTIVE = _ACTIVE + b"]"
_LEFT = _NONE_ACTIVE + b',"left"'
_COPILOT = b"COPILOT_PROJECT_DIR"
"""Set by a host whose events have the same names, but who expects other answers."""
_DOCUMENTS = ("workflow-state", "agent-state")
"""What the path of every document of the shipped systems has in it."""
_ID = frozenset("0123456789abcdef-")
"""What the ids of sessions usually consist of: no secret does, nor is one as short as 12 characters."""
_TRACES = ("untracked/workflow-state", "CLAUDE.local.md", "CLAUDE/Plan")


UNREADABLE = "Holdfast: the state of this project cannot be read: holdfast doctor"
UNGUARDED = "Holdfast could not judge this call, and it was allowed: {}. To see why: holdfast doctor"


class BadEvent(Exception):
    """What a host sent is not an event."""


class _Rules:
    """What the scanner asks of the decoder it works for."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int

    @staticmethod
    def parse_constant(name: str) -> object:
        raise ValueError(f"{name} is not JSON")


_scan = make_scanner(_Rules())  # type: ignore[arg-type]


class Hook:
    """One run: what is known of the event so far, so that the log can say it at any moment."""

    def __init__(self) -> None:
        self.name = "-"
        self.start = self.folder = self.root = self.worktree = ""
        self.is_answered = False
        self.event: dict[str, Any] = {}

    def answer(self, data: bytes) -> str:
        """What goes to the host; empty when there is nothing to say."""
        event = parsed(data)
        if not isinstance(event, dict):
            raise BadEvent("it is no object")
        name = event.get("hook_event_name")
        if isinstance(name, str) and name in REACTIONS and _COPILOT not in posix.environ:
            return self.react(event, name)
        from holdfast.surfaces.hooks import foreign

        return foreign.answer(self, event)

    def react(self, event: dict[str, Any], name: str) -> str:
        """The answer to an event by its name in Claude Code, which has to be one of those below."""
        self.event, self.name = event, name
        self.stand(event.get("cwd"))
        if self.root and places.kind(f"{places.git_folder(self.worktree)}/holdfast-commit"):
            find_package()
            from holdfast.surfaces.hooks import repository

            repository.settle(self.root, name, self.worktree)
        return REACTIONS[name](self) if self.root or name in _ROOTLESS else ""

    def text(self, key: str, most: int) -> str:
        """A text of the event, cut to a length; empty when it is none."""
        value = self.event.get(key)
        return value[:most] if isinstance(value, str) else ""

    def log(self, sentence: str) -> None:
        """Says it in the project's log of hooks, where there is a project."""
        from holdfast.surfaces.hooks import notes

        if not self.start:
            self.stand(None)
        if self.root:
            notes.log(self.root, self.name, sentence)

    def note(self, **more: str | list[str]) -> None:
        """Leaves a line for the engine's next run. Without a session, or a workflow that continues, nobody needs it."""
        session = self.text("session_id", 100)
        if session and self.is_active():
            from holdfast.surfaces.hooks import notes

            if len(session) > 12 and not _ID.issuperset(session):
                find_package()
                from holdfast.core.secrets import harmless

                if not harmless(session):
                    self.log("the id of the session has a likely secret in it, and nothing is noted for it")
                    return

            wrong = notes.leave(self.root, {"event": self.name, "session": session, **more})
            if wrong:
                self.log(wrong)

    def is_active(self, *, or_left: bool = False) -> bool:
        """Whether a workflow of this project is active; with `or_left`, also whether a completed one is to finalize.

        Raises OSError where that cannot be read.
        """
        try:
            fd = posix.open(self.root + "/.holdfast/index", posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
        except FileNotFoundError:
            return places.is_folder(self.root + "/.holdfast/journal")  # the engine makes the index again
        try:
            begins = posix.read(fd, len(_LEFT))
            return not begins.startswith(_NONE_ACTIVE) or (or_left and begins == _LEFT)
        finally:
            posix.close(fd)

    def active(self) -> list[dict[str, Any]]:
        """The entries of the workflows that continue, as the engine published them last."""
        data = places.content(self.root + "/.holdfast/index", LARGEST_INDEX)
        if data is None or not data.startswith(_ACTIVE):
            return []
        found: list[dict[str, Any]] = _scan(data.decode("utf-8", "replace"), len(_ACTIVE) - 1)[0]
        return found

    def view(self, root: str) -> dict[str, Any]:
        """What the engine left in a project for hooks to judge by; empty when there is nothing that can be read."""
        data = places.content(root + "/.holdfast/guard", LARGEST_VIEW)
        try:
            found = parsed(data) if data is not None else {}
        except BadEvent:
            self.log("the view of what is guarded cannot be read: run holdfast doctor")
            return {}
        return found if isinstance(found, dict) else {}

    def engine(self) -> str:
        """The answer of the engine, which takes its time."""
        find_package()
        from holdfast.surfaces.hooks import events

        return events.answer(self.event, self.start)

    def unreadable(self, failure: BaseException) -> str:
        """What a session is told in place of nothing. Said before a compaction, it would end up in the summary."""
        if self.name == "PreToolUse":
            told = UNGUARDED.format(f"{type(failure).__name__}: {failure}"[:300])
            return f'{{"systemMessage":{quoted(told)}}}\n'
        if self.name != "SessionStart" or not self.root:
            return ""
        said = f'"hookEventName":"SessionStart","additionalContext":{quoted(UNREADABLE)}'
        return f'{{"hookSpecificOutput":{{{said}}}}}\n'

    def stand(self, cwd: object) -> None:
        """Finds the project: from the event's folder, else the host's, else where the process runs."""
        told = posix.environ.get(b"CLAUDE_PROJECT_DIR", b"").decode("utf-8", "surrogateescape")
        folders = [one for one in (cwd, told) if isinstance(one, str) and one[:1] == "/" and places.is_folder(one)]
        self.start = self.folder = folders[0] if folders else posix.getcwd()
        self.root, self.worktree = places.find(self.start)
        if not self.root and len(folders) > 1 and (there := places.find(told))[0]:
            self.start, (self.root, self.worktree) = told, there  # which the agent has left for a while


def main(data: bytes | None = None) -> int:
    """Answers one event, by default the one on standard input. The code is 0 whatever happens."""
    hook = Hook()
    try:
        try:
            if data is None:
                _watch(hook)
                data = received()
            answer = hook.answer(data)
            hook.is_answered = True
            send(answer)
        except BadEvent as bad:
            hook.log(f"the event was not understood: {bad}")
        except BaseException as failure:  # noqa: BLE001 - an error of ours must not stop anybody's work
            if not hook.is_answered and getattr(failure, "code", "") != "lock_timeout":
                send(hook.unreadable(failure))
            hook.log(f"{type(failure).__name__}: {failure}")
    except BaseException:  # noqa: BLE001, S110 - nor must one in saying so
        pass
    return 0


def find_package() -> None:
    """From here on the package itself can be imported, and not only the neighbours of this file (see `run.py`)."""
    if not hasattr(sys.modules["holdfast"], "__file__"):
        del sys.modules["holdfast"]
        sys.path.insert(0, __file__.rsplit("/", 4)[0])


def parsed(data: bytes) -> Any:
    """JSON from outside. Raises BadEvent."""
    text = data.decode("utf-8", "replace")
    try:
        value, end = _scan(text, len(text) - len(text.lstrip(_SPACE)))
    except (StopIteration, SystemError, ValueError, RecursionError):
        # Without its package the scanner cannot say what is wrong.
        raise BadEvent("it is not JSON") from None
    if text[end:].strip(_SPACE):
        raise BadEvent("something is behind the JSON")
    return value


def _watch(hook: Hook) -> None:
    """Whatever keeps us waiting, input or lock, the host does not wait for longer than this."""
    import _signal  # type: ignore[import-not-found]

    def give_up(*_: object) -> None:
        _signal.signal(_signal.SIGALRM, lambda *_: posix._exit(0))
        _signal.setitimer(_signal.ITIMER_REAL, LAST_WORDS)
        try:
            hook.log("took too long and was stopped")
            if hook.name == "PreCompact" and hook.root and not hook.is_answered:
                hook.note(trigger=hook.text("trigger", 64))  # so that it counts all the same
        finally:
            posix._exit(0)

    _signal.signal(_signal.SIGALRM, give_up)
    _signal.setitimer(_signal.ITIMER_REAL, PATIENCE)


def received() -> bytes:
    parts, size = [], 0
    while part := posix.read(0, 1 << 20):
        parts.append(part)
        size += len(part)
        if size > LONGEST_EVENT:
            raise BadEvent("it is larger than 16 MiB")
    return b"".join(parts)


def send(answer: str) -> None:
    rest = answer.encode("utf-8", "replace")
    while rest:
        rest = rest[posix.write(1, rest) :]


def _before_tool(hook: Hook) -> str:
    from holdfast.surfaces.hooks import guard
    from holdfast.surfaces.hooks.calls import Call

    call = Call(hook.event, hook.root, hook.worktree)
    reason = guard.judge(hook.view, call)
    if not reason:
        if call.risked and hook.root and hook.is_active():
            find_package()
            from holdfast.surfaces.hooks import repository

            said = repository.pin(hook.root, hook.name, call.risked, stashes=call.drops_stashes)
            return f'{{"systemMessage":{quoted(said)}}}\n' if said else ""
        return ""
    decision = f'"permissionDecision":"deny","permissionDecisionReason":{quoted(reason)}'
    return f'{{"hookSpecificOutput":{{"hookEventName":"PreToolUse",{decision}}}}}\n'


def _after_tool(hook: Hook) -> str:
    """Which files a tool of the host has written. Where one may be a document, the engine says what became of it."""
    from holdfast.surfaces.hooks import writes

    tool, said = hook.text("tool_name", 200), hook.event.get("tool_input")
    given = said if isinstance(said, dict) else {}
    spots = (places.real(writes.absolute(name, hook.folder)) for name, _ in writes.edited(tool, given)[:100])
    paths = [inside[:1000] for spot in spots if (inside := places.below(hook.worktree, spot))]
    if paths and hook.root:
        hook.note(paths=paths, agent=hook.text("agent_id", 100))
    line = writes.line_of(given) if tool.lower() in writes.SHELLS else ""
    line = line if isinstance(line, str) else " ".join(line)
    shell = (line, hook.folder) if line else ()
    if any(path.startswith(_TRACES[0] + "/") and path.endswith(".json") for path in paths):
        return hook.engine()  # it may be the first of a workflow, also where Holdfast has not been before
    if line and places.is_folder(f"{hook.worktree}/{_TRACES[0]}"):
        from holdfast.surfaces.hooks.calls import begun

        if places.is_written_since(f"{hook.worktree}/{_TRACES[0]}", begun(hook.event)):
            return hook.engine()  # by whatever the line ran: it need not name the file
    if not hook.root:
        return ""
    named = any(mark in text for mark in _DOCUMENTS for text in (*paths, *shell))
    named = named or (".json" in line and any(str(one.get("id")) in line for one in hook.active()))
    return hook.engine() if named and hook.is_active() else ""


def _prompt(hook: Hook) -> str:
    """A person who names a workflow means it: the engine binds the session to it."""
    prompt = hook.text("prompt", _NAMED_IN)
    active = hook.active() if prompt else []
    if not active:
        return ""
    from holdfast.surfaces.hooks import naming

    ulid, by = naming.meant(prompt, active)
    if ulid:
        hook.note(workflow=ulid[:100], by=by)
    return ""


def _happened(hook: Hook) -> str:
    """What became of a session or of an agent in it."""
    hook.note(**{key: hook.text(source, most) for key, source, most in _NOTED[hook.name]})
    return ""


def _stop(hook: Hook) -> str:
    """Only a workflow that must not be left half done, and that this session works on, may hold an agent back."""
    session, workflows = hook.event.get("session_id"), hook.view(hook.root).get("workflows")
    for workflow in workflows if isinstance(workflows, list) else []:
        if isinstance(workflow, dict) and workflow.get("keep_going") is True:
            sessions = workflow.get("sessions")
            if isinstance(sessions, list) and session in sessions:
                return hook.engine()
    return ""


def _remind(hook: Hook) -> str:
    """At the start of a session and before a compaction, the engine reports the state of the work, if there is any."""
    traces = (f"{hook.worktree}/{name}" for name in _TRACES)
    if (hook.root and hook.is_active(or_left=True)) or any(map(places.kind, traces)):
        return hook.engine()
    return ""


_AGENT = (("agent", "agent_id", 100), ("type", "agent_type", 64))
_NOTED = {  # by event: what a note calls it, what the host calls it, and how much of it is kept
    "SubagentStart": _AGENT,
    "SubagentStop": _AGENT,
    "PostCompact": (("trigger", "trigger", 64),),
    "SessionEnd": (("reason", "reason", 64),),
}
_ROOTLESS = ("SessionStart", "PreCompact", "PreToolUse", "PostToolUse")
REACTIONS: dict[str, Callable[[Hook], str]] = {
    "PreToolUse": _before_tool,
    "PostToolUse": _after_tool,
    "UserPromptSubmit": _prompt,
    **dict.fromkeys(_NOTED, _happened),
    "Stop": _stop,
    "SessionStart": _remind,
    "PreCompact": _remind,
}
