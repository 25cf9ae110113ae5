"""The one writer: load → decide → commit → refresh the views. Every surface goes through `Engine.execute`."""

from __future__ import annotations

from _collections_abc import Callable, Mapping, Sequence

from holdfast.core import commands as cmd
from holdfast.core import events as ev
from holdfast.core.apply import Record, fold, seal, summed
from holdfast.core.facts import Facts
from holdfast.core.needs import needs
from holdfast.core.state import Actor, State
from holdfast.core.value import Any, Value
from holdfast.engine.codec import encode
from holdfast.engine.ports import Store, Views, World
from holdfast.errors import Conflict, HoldfastError, UsageError
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import compact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.draft import Rules
    from holdfast.core.secrets import Secrets

TRIES = 3
"""How often facts are gathered without the lock before they are gathered with it."""


class _Overtaken(Exception):
    """Others continued, and the command needs facts that were not gathered."""

    def __init__(self, state: State) -> None:
        self.state = state


class _Unconfirmed(Exception):
    """The decision takes a person's word, and nobody has asked them for it."""


class Outcome(Value):
    """What a command led to: the state it was acknowledged with, what changed, and the facts it was decided by."""

    state: State
    events: tuple[ev.Event, ...] = ()
    raced: tuple[tuple[str, bytes], ...] = ()
    """Edits of documents that came in while these were being replaced: not lost, and still to be decided."""
    facts: Facts | None = None

    @property
    def changed(self) -> bool:
        return bool(self.events)


class Engine:
    def __init__(
        self,
        store: Store,
        world: World,
        views: Views,
        rules: Rules = lambda _: {},
        secrets: Callable[[], Secrets] | None = None,
        confirm: Callable[[Actor, str], None] | None = None,
        not_shown: Callable[[State, Exception], None] = lambda state, failure: None,
        *,
        hands_over: bool = False,
    ) -> None:
        self._rules = rules
        self._secrets = secrets
        self._redacted: dict[str, int] = {}
        self._before: dict[str, int] = {}
        """What was redacted for a start before its command was made."""
        self._confirm = confirm
        """Asks the person whose word a decision takes; refuses where they do not confirm it."""
        self._not_shown = not_shown
        """Told of a change that is kept, and that a document or a view could not be made to say."""
        self._hands_over = hands_over
        """Whether a command may leave its showing to a process that is showing the same workflow at that moment."""
        self.store = store
        self.world = world
        self._views = views

    def start(self, command: cmd.Start | cmd.Adopt, actor: Actor, *, key: str = "", at: str = "") -> Outcome:
        """A new workflow. The same key again gives the first one back. `at` is when, where its id says so already."""
        self._require_writable()
        self._require_names(command, actor, key)
        payload = _payload(command) if key else ""
        known = self._started_with(key, payload)
        if known:
            return known
        from holdfast.core.decide import decide

        now = at or self.world.now()
        request = cmd.Request(command, actor, key=key, payload=payload)
        events, redacted = self._cleaned(decide(None, request, Facts(now=now)))
        redacted, self._before = summed(redacted, self._before), {}
        record = Record(1, now, actor, _name(command), events, key, payload, None, redacted)
        after = fold(None, record)
        self._views.require_inside(after)
        try:
            self.store.create(record, after)
        except Conflict:
            known = self._started_with(key, payload)  # by another process, just now
            if known is None:
                raise
            return known
        self._redacted = summed(self._redacted, redacted)
        return Outcome(after, events, self._show(after, kept=True))

    def execute(
        self,
        ulid: str,
        command: cmd.Command,
        actor: Actor,
        *,
        token: str = "",
        key: str = "",
        expected: int = 0,
        attested: tuple[str, str] | None = None,
        seen: State | None = None,
    ) -> Outcome:
        """Decides and keeps one command. It is durable when this returns; a refusal changed nothing.

        `expected` is the revision that the caller has seen: a decision by an older one is refused. `attested` says
        how and at which address the people were recognised who ask, where they are not at this process, and `seen` is
        the newest state that the caller knows.

        Facts are gathered before the journal is locked. If others continued meanwhile and the command needs more facts
        by now, it is tried again.
        """
        from holdfast.core.decide import decide_running

        self._require_writable()
        self._require_names(command, actor, key)
        request = cmd.Request(command, actor, token, key, _payload(command) if key else "")
        known = seen or self.store.load(ulid)
        facts = self._facts(known, command, attested)
        events: tuple[ev.Event, ...] = ()
        redacted: dict[str, int] = {}
        tries, confirmed = 1, False

        def change(state: State) -> tuple[Record, State] | None:
            nonlocal facts, events, redacted
            if isinstance(command, (cmd.Edit, cmd.TakeOver)) and self.is_base(state, command.document):
                return None  # another process saw the same edit and was faster
            if expected and state.revision != expected and key not in state.keys:
                from holdfast.core.refusals import stale_revision

                raise stale_revision(state, expected)
            if state is not known and not facts.covers(needs(state, command)):
                if tries < TRIES:
                    raise _Overtaken(state)
                facts = self._facts(state, command, attested)
            facts = self.world.renewed(facts)
            decided = decide_running(state, request, facts, self._rules)
            if not decided.events or self._is_known(state, decided.events):
                return None
            if decided.relies_on and self._confirm and not confirmed:
                raise _Unconfirmed(decided.relies_on)
            events, redacted = self._cleaned(tuple(decided.events))
            number, name = state.revision + 1, _name(command)
            shown = self._views.shown(state)
            record = Record(number, facts.now, actor, name, events, key, request.payload, shown, redacted)
            after = fold(state, record) if redacted else seal(decided.state, record)
            self._views.require_inside(after)
            return record, after

        begin = self._views.begin if self._hands_over else None
        while True:
            try:
                state = self.store.commit(ulid, change, begin)
                self._redacted = summed(self._redacted, redacted)
                return Outcome(state, events, self._show(state, kept=True) if events else (), facts)
            except _Overtaken as overtaken:
                known, tries = overtaken.state, tries + 1
                facts = self._facts(known, command, attested)
            except _Unconfirmed as unconfirmed:  # people take their time, and the journal stays open to others
                assert self._confirm is not None
                self._confirm(actor, str(unconfirmed))
                known, confirmed = self.store.load(ulid), True
                facts = self._facts(known, command, attested)

    def _require_writable(self) -> None:
        """Before anything is decided, run or made for it."""
        if refusal := self.store.read_only:
            raise refusal

    def _facts(self, state: State, command: cmd.Command, attested: tuple[str, str] | None = None) -> Facts:
        facts = self.world.facts(state, needs(state, command))
        return self.world.attested(facts, *attested) if attested else facts

    def _cleaned(self, events: tuple[ev.Event, ...]) -> tuple[tuple[ev.Event, ...], dict[str, int]]:
        """The events without likely secrets, and how many there were: in them, and in the output of a check."""
        counts: dict[str, int] = {}
        for event in events:
            if isinstance(event, ev.Checked):
                counts = summed(counts, event.evidence.redacted)
        secrets = self.secrets
        return (secrets.cleaned(events, counts) if secrets.redact else events), counts

    @property
    def secrets(self) -> Secrets:
        """What counts as a secret here."""
        if self._secrets is None:
            from holdfast.core.secrets import DEFAULT

            return DEFAULT
        return self._secrets()

    def is_base(self, state: State, document: Mapping[str, Any]) -> bool:
        """Whether a document is what the state has as the last one, without the secrets that it never had."""
        base, secrets = compact(state.base), self.secrets
        try:
            return base in (compact(document), compact(secrets.cleaned(document, {}) if secrets.redact else document))
        except RecursionError:
            return False  # nobody ever took what is nested so deeply

    def _is_known(self, state: State, events: Sequence[ev.Event]) -> bool:
        """Whether another process has taken what is legal of the same edit."""
        taken = next((event for event in events if isinstance(event, ev.Edited)), None)
        return taken is not None and taken.source == "file" and self.is_base(state, taken.document)

    def take_redacted(self) -> dict[str, int]:
        """How many likely secrets of which kind were redacted since this was asked last: the one who asks tells it."""
        taken, self._redacted, self._before = summed(self._redacted, self._before), {}, {}
        return taken

    def redacted(self, value: Any) -> Any:
        """What people and agents wrote, without likely secrets: for what is kept outside of a journal."""
        counts: dict[str, int] = {}
        found = self.secrets.cleaned(value, counts) if self.secrets.redact else value
        self._before = summed(self._before, counts)
        return found

    def _require_names(self, command: cmd.Command, actor: Actor, key: str) -> None:
        """No name that a request gives may have a likely secret in it."""
        self.require_no_secret("key", key)
        self.require_no_secret("role", actor.name)
        self.require_no_secret("id of the session", actor.session)
        if isinstance(command, cmd.StartAgent) and not command.agent:
            self.require_no_secret("role", command.role)
        elif isinstance(command, cmd.Lock):
            self.require_no_secret("name of the agent", command.agent)
            self.require_no_secret("path", *command.paths)
        elif isinstance(command, cmd.Record):
            self.require_no_secret("name of the value", *command.values)

    def require_no_secret(self, what: str, *names: str) -> None:
        """Refuses a name with a likely secret in it: it is compared as it was given, so it cannot be redacted."""
        found = [one for name in filter(None, names) if self.secrets.redact for one in self.secrets.find(name)]
        if found:
            raise UsageError(
                "secret_in_name",
                f"the {what} has a likely secret in it ({found[0].kind}), and nothing was changed",
                remedy=f"give a {what} without it",
                facts={"name": what, "kind": found[0].kind},
            )

    def preview(self, state: State | None, command: cmd.Command, actor: Actor, *, token: str = "") -> None:
        """Asks the rules and keeps nothing: a refusal is raised as it would be. Without a state, of a start."""
        from holdfast.core.decide import decide, decide_running

        self._require_writable()
        if state is None:
            decide(None, cmd.Request(command, actor), Facts(now=self.world.now()))
            return
        decide_running(state, cmd.Request(command, actor, token), self._facts(state, command), self._rules)

    def show(self, state: State) -> Outcome:
        """Puts the documents of a state in place again."""
        return Outcome(state, raced=self._show(state))

    def _show(self, state: State, *, kept: bool = False) -> tuple[tuple[str, bytes], ...]:
        """Puts the views in place. What was just kept stays kept if that fails: a later command shows it."""
        raced: list[tuple[str, bytes]] = []
        try:
            raced = self._views.refresh(state, hand_over=kept and self._hands_over)
            self.store.settle(state, lambda: self._views.enlist(state))
        except (HoldfastError, OSError) as failure:
            if not kept:
                raise
            self._not_shown(state, failure)
        return tuple(raced)

    def _started_with(self, key: str, payload: str) -> Outcome | None:
        known = self.store.started_with(key)
        if known is None:
            return None
        if known.payload != payload:
            raise Conflict(
                "key_conflict",
                f"the key {key} already started {known.id} with other words",
                remedy="use a new key for a new workflow",
                facts={"key": key, "workflow": known.id},
            )
        return Outcome(self.store.load(known.ulid))


def _name(command: cmd.Command) -> str:
    """`RecordCheck` → `record check`."""
    if isinstance(command, cmd.Own):
        return command.name
    name = type(command).__name__
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()


def _payload(command: cmd.Command) -> str:
    """What makes two commands the same request. Ids and times that were made for this call do not count."""
    data: Mapping[str, object] = encode(command)
    kept = {name: value for name, value in data.items() if name not in ("ulid", "id", "branch", "worktree")}
    if isinstance(command, cmd.StartAgent):
        del kept["key"]
    if isinstance(command, cmd.Done):
        kept = {name: value for name, value in kept.items() if name not in ("data", "evidence")}
    if isinstance(command, cmd.RecordCheck):
        kept["evidence"] = {"passed": command.evidence.passed, "run_by": command.evidence.run_by}
    return digest(compact([_name(command), kept]).encode())[:16]
