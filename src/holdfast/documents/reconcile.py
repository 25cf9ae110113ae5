"""Documents that others touched: classified first, by hash, then decided like any other command."""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.core import commands as cmd
from holdfast.core import queries
from holdfast.core.definition import Definition
from holdfast.core.events import Adopted, Alerted, Edited
from holdfast.core.needs import needs
from holdfast.core.state import Actor, Alert, State
from holdfast.core.value import Any
from holdfast.documents.files import Documents
from holdfast.documents.lens.text import Writer
from holdfast.engine.engine import Engine, Outcome
from holdfast.errors import Held, HoldfastError, NotFound, Refused, UsageError
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import object_in

FILE = Actor("file", surface="document")
GIT = Actor("file", "git", surface="document")
HOLDFAST = Actor("engine", surface="document")

CLEAN, STALE, UNPLACED, MISSING, LOST = "clean", "stale", "unplaced", "missing", "lost"
WRITING, DAMAGED, FROM_GIT, EDITED, ELSEWHERE = "writing", "damaged", "from_git", "edited", "elsewhere"
CHECKPOINT, LOOSE, UNREAD = "checkpoint", "loose", "unread"
WRITTEN = (EDITED, FROM_GIT, LOOSE, CHECKPOINT)
"""What somebody else wrote."""

_WAITS = "and nothing can be written here: what the journal says is told"
_UNDECIDED = {
    MISSING: f"is missing, {_WAITS}",
    UNPLACED: f"is missing, {_WAITS}",
    LOST: f"is missing, {_WAITS}",
    STALE: f"is behind its journal, {_WAITS}",
    DAMAGED: f"is empty, torn or no JSON, {_WAITS}",
    **dict.fromkeys((FROM_GIT, EDITED, CHECKPOINT, LOOSE, UNREAD), f"was changed, {_WAITS}"),
}
DEEPEST = 100
TRIES = 3
"""How often an edit is kept aside again because others continued meanwhile."""
REFUSALS = (Refused, Held, UsageError, NotFound, ValueError, RecursionError)
"""What the rules, or a document nobody can keep, lead to; a lock or a disk that fails is nobody's fault."""


class Reconciler:
    def __init__(
        self,
        engine: Engine,
        documents: Documents,
        outputs: Callable[[State, str], Mapping[str, str]],
        noticed: list[Alert],
        home: str,
    ) -> None:
        self._engine = engine
        self._documents = documents
        self._dialect = documents.dialect
        self._outputs = outputs
        """The files that a step hands in where they are there, by name."""
        self._noticed = noticed
        self._home = home
        self._raised: list[Alert] = []
        self._newest: list[Alert] = []

    def take_news(self, *, raised_here: bool = False) -> list[Alert]:
        """What became of documents and was not told since this was asked last, newest first.

        That is what this process found, an edit of which only a program has heard, and one that was the last thing to
        happen to a workflow when it was looked at: its author may not have heard of it. `raised_here` leaves out what
        others found.
        """
        known = self._raised if raised_here else [*self._newest, *self._raised]
        self._raised, self._newest = [], []
        return list(dict.fromkeys(reversed(known)))

    def hear(self, other: Reconciler) -> None:
        """What another one found for this process is told as if it were found here."""
        self._raised += other._raised

    def reconcile(self, state: State, *, writing: bool = False, complete: bool = False) -> State:
        """Makes state and documents agree, and gives the state that holds afterwards.

        A process that is about to write shows the document again in any case: then an old rendering is left as it is.
        Where a write is known to be `complete`, a text that is no JSON is decided without waiting for the rest of it.
        """
        edits = [alert for alert in state.alerts if alert.code.startswith("edit_")]
        if edits:
            from holdfast.documents.heard import unheard

            self._newest += unheard(self._home, edits, self._engine.world.now())
            self._newest += [alert for alert in edits[-1:] if alert.at == state.updated_at]
        if state.finalized:
            return state  # what became of its documents is part of how it was handed over
        if self._engine.store.read_only:
            self._notice(state)
            return state
        agreed = self._agreed(state, writing=writing, complete=complete)
        if agreed is None:
            return state
        watched = self._dialect(state.dialect).watched and queries.is_active(agreed)
        return self._put_right(agreed) if watched else agreed

    def _notice(self, state: State) -> None:
        """Only says what there would be to decide, where nothing can be written."""
        path = self._dialect(state.dialect).document.path(state)
        if not path:
            return
        try:
            kind = self.classify(state, path, self._documents.read(state, path))
        except HoldfastError as failure:
            said = f"whether {path} says what the journal says is not known: {failure.message}"
        else:
            said = f"{path} {_UNDECIDED[kind]}" if kind in _UNDECIDED else ""
        if said and all(alert.message != said for alert in self._noticed):
            self._noticed.append(Alert(self._engine.world.now(), "not_decided", said, path))

    def _put_right(self, state: State) -> State:
        for path, kept in self._documents.put_right(state):
            said = f"{path} did not say what the workflow's state says, and is rewritten"
            state = self._alarm(state, path, "status_rewritten", said, kept)
        return state

    def _agreed(self, state: State, *, writing: bool, complete: bool) -> State | None:
        """None where a stash has the documents, and they are left as git put them."""
        place = self._dialect(state.dialect).document.path(state)
        if not place:
            return state
        if (writing and self._documents.is_untouched(state, place)) or self._documents.is_clean(state, place):
            return self._copied(state, place) if queries.is_active(state) else state
        state, path, data = self._documents.look(state)
        if not path:
            return state
        if writing and data is not None and self._documents.recognition.wrote(state, path, digest(data)):
            self._documents.accept(state, path, data)
            return state
        if not writing and data is not None:
            from holdfast.documents.stashed import is_stashed

            if is_stashed(self._documents, state, path, data):
                return None
        return self._act(state, path, data, complete=complete)

    def settle(self, outcome: Outcome) -> State:
        """Decides edits that came in while documents were being replaced."""
        state = outcome.state
        self._raised += [event.alert for event in outcome.events if isinstance(event, Alerted)]
        self._raised += [alert for event in outcome.events if isinstance(event, Adopted) for alert in event.alerts]
        for path, data in outcome.raced:
            # It may have begun from what other processes showed since: a showing is of the newest lines of all.
            state = self._act(self._engine.store.load(state.ulid), path, data, complete=True)
        return state

    def heal(self) -> None:
        """Finishes the views of workflows whose process died after the journal had its line."""
        for ulid in self._engine.store.unsettled():
            try:
                self.settle(self._engine.show(self._engine.store.load(ulid)))
            except HoldfastError:
                continue  # one that needs a person says so when it is asked for, and stops no other

    def classify(self, state: State, path: str, data: bytes | None) -> str:
        hashed = digest(data) if data is not None else ""
        if data is not None and self._documents.recognition.shows(state, path, hashed):
            return CLEAN if self._documents.recognition.is_newest(state, path, hashed) else STALE
        if self._documents.elsewhere(state, path):
            return ELSEWHERE
        if data is None:
            if self._documents.was_lost(state, path):
                return LOST
            return MISSING if self._documents.was_placed(state, path) else UNPLACED
        namesake = self._documents.namesake(state, path, hashed)
        if namesake:
            return ELSEWHERE if namesake > state.ulid else STALE
        document = object_in(data)
        if document is None:
            return self._classify_text(state, path, data)
        if self._documents.recognition.wrote(state, path, hashed):
            return STALE
        if self._documents.checkpoints.number_of(state, data):
            return CHECKPOINT
        if self._engine.is_base(state, document):
            return STALE  # taken before, by a process that died, or went no further yet
        if not self._dialect(state.dialect).travels and self._documents.in_head(state, path, data):
            return FROM_GIT  # where a workspace is kept in git, its journal comes with it and says what happened
        from holdfast.documents.judging import BLOCK, is_patchwork

        if len(data) > BLOCK and is_patchwork(data, self._rendered(state)):
            return DAMAGED
        return EDITED

    def _classify_text(self, state: State, path: str, data: bytes) -> str:
        """What is there is no JSON object."""
        from holdfast.documents.judging import is_cut_off, is_piece

        if data and is_piece(data, self._rendered(state)):
            return DAMAGED
        from holdfast.plain.lenient import object_in as lenient

        if lenient(data) is not None:
            return LOOSE
        if self._dialect(state.dialect).agents_own and not is_cut_off(data):
            return UNREAD
        return WRITING if self._documents.being_written(state, path) else DAMAGED

    def _rendered(self, state: State) -> list[bytes]:
        return [Writer().write(said) for said in self._documents.recognition.renderings(state)]

    def _act(self, state: State, path: str, data: bytes | None, *, complete: bool = False) -> State:
        kind = self.classify(state, path, data)
        if kind in (CLEAN, ELSEWHERE) or (kind == WRITING and not complete):
            return state
        if kind == MISSING and queries.is_active(state):
            return self._missing(state, path)
        if kind == LOST and queries.is_active(state):
            return self._alarm(state, path, "document_restored", f"{path} was missing and is written again", "")
        if kind in (UNPLACED, MISSING, LOST):
            return self.settle(self._engine.show(state))
        assert data is not None
        if kind == STALE:
            return self._restored(state, path, data)
        if kind in (DAMAGED, WRITING):
            return self._damaged(state, path, data)
        if kind == UNREAD:
            return self._unread(state, path, data)
        if kind == CHECKPOINT:
            return self._put_back(state, path, data)
        if kind == LOOSE:
            return self._understood(state, path, data)
        document = object_in(data) or {}
        if kind == FROM_GIT:
            return self._taken_over(state, path, data, document)
        from holdfast.plain.lenient import with_all_keys

        if with_all_keys(data, document):
            return self._understood(state, path, data)
        return self._edited(state, path, data, document)

    def _missing(self, state: State, path: str) -> State:
        """A document that was taken away says something: finished if it is with the finished ones, else given up."""
        spoken = self._dialect(state.dialect)
        for other in spoken.document.former(state):
            data = self._documents.read(state, other)
            if data is None or self._documents.namesake(state, other, digest(data)):
                continue
            document = object_in(data)
            if document is not None:
                return self._edited(state, path, data, document, found_at=other)
        if spoken.missing == "abandoned":
            command = cmd.Cancel(f"{path} was deleted")
            return self.settle(self._engine.execute(state.ulid, command, FILE))
        return self._deleted(state, path)

    def _deleted(self, state: State, path: str) -> State:
        """A user who deletes such a document says that the work is done. Gates hold all the same."""
        from holdfast.documents.lens import edits
        from holdfast.documents.taken import taken_by_git

        if how := taken_by_git(self._documents, state, path):
            said = f"git took {path} away ({how}): that ends nothing, and it is written again"
            return self._alarm(state, path, "document_restored", said, "")
        try:
            together = cmd.Together(tuple(edits.finishing(state, f"{path} was deleted")))
            return self.settle(self._engine.execute(state.ulid, together, FILE))
        except REFUSALS as refusal:
            said = f"{path} was deleted, but the work is not done: {refusal}"
            return self._alarm(state, path, "edit_refused", said, "")

    def _copied(self, state: State, path: str) -> State:
        """Scripts finish a workflow by a copy among the finished ones, and leave the document where it was."""
        for other in self._dialect(state.dialect).document.former(state):
            data = self._documents.read(state, other) if self._documents.is_there(state, other) else None
            if data is None or self._documents.elsewhere(state, other):
                continue
            if self._documents.recognition.wrote(state, other, digest(data)):
                continue
            document = object_in(data)
            if document is not None and not self._documents.namesake(state, other, digest(data)):
                after = self._edited(state, path, data, document, found_at=other)
                if queries.is_active(after):
                    self._documents.retire(after, other)
                return after
        return state

    def _damaged(self, state: State, path: str, data: bytes) -> State:
        """Empty or torn: a crash does that, nobody is accused. A copy is kept and the document rendered again."""
        from holdfast.documents.judging import UNUSABLE

        kept = self._quarantine(path, data, UNUSABLE)
        self._documents.accept(state, path, data)
        return self._alarm(state, path, "document_damaged", f"{path} was empty, torn or no JSON, and is restored", kept)

    def _unread(self, state: State, path: str, data: bytes) -> State:
        """A text that nobody can read as JSON is its author's: it stays where it is, and that is told once."""
        from holdfast.plain.lenient import fault

        said = f"{path} is no JSON ({fault(data)}), and left as it is ({digest(data)[:8]})"
        said += ": write it again as JSON; until then it changes nothing"
        if any(alert.message == said for alert in state.alerts):
            return state
        return self._alarm(state, path, "edit_unread", said, "")

    def _understood(self, state: State, path: str, data: bytes) -> State:
        """No JSON, but what it means is beyond doubt: an edit like any other, with the original kept."""
        from holdfast.plain.lenient import object_in

        read = object_in(data)
        assert read is not None
        document, overlooked = read
        why = f"it is not as JSON should be: {', '.join(overlooked)}"
        kept = self._quarantine(path, data, why)
        state = self._edited(state, path, data, document)
        said = f"{path} was read although {why}; it is written again as JSON"
        return self._alarm(state, path, "document_understood", said, kept)

    def _restored(self, state: State, path: str, data: bytes) -> State:
        self._documents.accept(state, path, data)
        return self.settle(self._engine.show(state))

    def _edited(
        self, state: State, path: str, data: bytes, document: Mapping[str, Any], *, found_at: str = ""
    ) -> State:
        from holdfast.documents.lens import edits, origin

        try:
            said, spoken = _canonical(document), self._dialect(state.dialect)
            known = self._documents.recognition
            base = origin.nearest(spoken.document, known.renderings(state), known.taken(state), document)
            if not found_at and said == _canonical(base):
                return self._restored(state, path, data)
            command = self._handing_in(state, edits.edit(spoken.document, state, path, base, document))
            if found_at:
                done = {one.step for one in command.commands if isinstance(one, cmd.Done)}
                end = cmd.Part(
                    f"the place of the file, {found_at}", commands=tuple(edits.finishing(state, besides=done))
                )
                command = command.replace(parts=(*command.parts, end))
            return self._decided_in_parts(state, found_at or path, data, command)
        except REFUSALS as refusal:
            return self._refused(state, path, data, refusal, found_at or path)

    def _decided_in_parts(self, state: State, lies_at: str, data: bytes, command: cmd.Edit) -> State:
        """The original is kept, with what becomes of each field, before the journal has the decision.

        Others may continue in between and change it: then it is kept again.
        """
        for _ in range(TRIES):
            try:
                return self._decided(state, lies_at, data, command, FILE)
            except Refused as partly:
                if partly.code != cmd.PARTLY:
                    raise
                told = tuple(map(str, partly.facts["told"]))  # type: ignore[call-overload]
                command = command.replace(kept=self._quarantine(command.path, data, "\n".join(told)), told=told)
        return self._decided(state, lies_at, data, command, FILE)

    def _handing_in(self, state: State, command: cmd.Edit) -> cmd.Edit:
        """A step that is handed in by an edit hands in the same files as by a command."""
        parts = [
            part.replace(commands=tuple(self._with_outputs(state, one) for one in part.commands))
            for part in command.parts
        ]
        return command.replace(parts=tuple(parts))

    def _with_outputs(self, state: State, command: cmd.Command) -> cmd.Command:
        return (
            command.replace(artifacts=self._outputs(state, command.step))
            if isinstance(command, cmd.Submit)
            else command
        )

    def _put_back(self, state: State, path: str, data: bytes) -> State:
        """Somebody copied a checkpoint over the document: the state goes back to it."""
        command = cmd.Restore(self._documents.checkpoints.number_of(state, data))
        try:
            return self._decided(state, path, data, command, FILE)
        except REFUSALS as refusal:
            return self._refused(state, path, data, refusal, path)

    def _taken_over(self, state: State, path: str, data: bytes, document: Mapping[str, Any]) -> State:
        """What another clone did comes in. A document that the journal knows is older than the journal."""
        try:
            _canonical(document)
            known = self._documents.recognition.ever_wrote
            if known(state, path, digest(data), lambda past: self._engine.is_base(past, document)):
                self._documents.accept(state, path, data)
                told = f"git brought an older {path} than the journal knows: nothing is undone, and it is written again"
                return self._alarm(state, path, "document_restored", told, "")
            facts = self._engine.world.facts(state, needs(state, cmd.Note("")))
            definition = Definition(name=state.type, steps=state.plan.steps)
            said = self._dialect(state.dialect).adopt(document, definition, facts, state.ulid)
            progress = {}
            for step in state.plan.paths:
                grant = state.step(step).grant
                progress[step] = said.step(step).replace(grant=grant.replace(mac="") if grant else None)
            return self._decided(state, path, data, cmd.TakeOver(path, document, progress), GIT)
        except REFUSALS as refusal:
            return self._refused(state, path, data, refusal, path)

    def _decided(self, state: State, lies_at: str, data: bytes, command: cmd.Command, actor: Actor) -> State:
        """Decided whole. The file is replaced only after the journal has what became of it."""
        self._documents.accept(state, lies_at, data)
        try:
            outcome = self._engine.execute(state.ulid, command, actor)
        except BaseException:
            self._documents.withdraw(state, lies_at, data)
            raise
        return self._without_secrets(self.settle(outcome), command, outcome)

    def _without_secrets(self, state: State, command: cmd.Command, outcome: Outcome) -> State:
        """Who wrote a secret into a document is told that it is not there any more."""
        taken = next((event for event in outcome.events if isinstance(event, Edited)), None)
        if taken is None or not isinstance(command, (cmd.Edit, cmd.TakeOver)):
            return state
        from holdfast.documents import redaction

        said = redaction.told(command.path, command.document, taken.document)
        return self._alarm(state, command.path, redaction.CODE, said, "") if said else state

    def _quarantine(self, path: str, data: bytes, reason: str) -> str:
        """Keeps the original, without likely secrets: they are in no file of Holdfast's."""
        secrets = self._engine.secrets
        if secrets.redact:
            text = secrets.without(data.decode(errors="surrogateescape"), {})
            data, reason = text.encode(errors="surrogateescape"), secrets.without(reason, {})
        return self._documents.quarantine(path, data, reason)

    def _refused(self, state: State, path: str, data: bytes, refusal: Exception, lies_at: str) -> State:
        code, facts = (refusal.code, refusal.facts) if isinstance(refusal, HoldfastError) else ("not_understood", {})
        told = facts.get("told")
        lines = "\n".join(map(str, told)) if isinstance(told, list) else f"reverted: {path} ({code}): {refusal}"
        kept = self._quarantine(path, data, lines)
        self._documents.accept(state, lies_at, data)
        said = f"the edit of {path} was refused: {refusal}"
        if facts.get("forged"):
            return self._alarm(state, path, cmd.FORGED, f"A GATE WAS FORGED, and {said}", kept)
        return self._alarm(state, path, "edit_refused", said, kept)

    def _alarm(self, state: State, path: str, code: str, message: str, kept: str) -> State:
        alert = Alert(self._engine.world.now(), code, message, path, kept)
        return self.settle(self._engine.execute(state.ulid, cmd.Alarm(alert), HOLDFAST))


def _canonical(document: Mapping[str, Any]) -> bytes:
    """The same for the same JSON, however it is written down. Raises when it holds what cannot be kept."""
    from json import dumps

    level: list[Any] = [document]
    for _ in range(DEEPEST):
        inner = [list(item.values()) if isinstance(item, Mapping) else item for item in level]
        level = [item for items in inner if isinstance(items, list) for item in items]
    if level:
        raise UsageError("too_deep", f"it is nested more than {DEEPEST} levels deep", remedy="nest it less deeply")
    return dumps(document, sort_keys=True, ensure_ascii=False, allow_nan=False).encode()
