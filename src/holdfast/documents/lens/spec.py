"""What a dialect declares: which documents a workflow has, where they are, and what each field means.

A dialect is a lens. `mapping.put` writes a state into a document, `changes.changes` reads what somebody changed in one,
and `edits.edit` turns those changes into parts that are decided one by one, by the meaning each field declares here.
"""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.core.commands import Part
from holdfast.core.definition import Definition
from holdfast.core.facts import Facts
from holdfast.core.state import State
from holdfast.core.value import Any, Value


class _Nothing:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


ABSENT: Any = _Nothing("ABSENT")
"""The state has no such value: the field is left out, or null where it is nullable."""
UNKNOWN: Any = _Nothing("UNKNOWN")
"""The state does not say: whatever the document has stays."""


class Codec(Value):
    """A reversible form: the state's value ⇄ what is in the document."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]
    near: Callable[[Any], Any] | None = None
    """What somebody probably meant who wrote something that cannot be decoded, as it is usually written; else None."""
    shape: Any = None
    """What is in the document, as in `Json.of`."""
    table: Mapping[str, str] = {}
    """Of status words: the engine's, and the document's for each."""


class Json:
    """A JSON value, with what its schema says of it.

    `of` is None for anything, a type, a pattern that a text has, a tuple of the values there are, `[of]` for a list,
    `{"*": of}` for an object by any names, a `record`, or a codec.
    """

    def __init__(
        self, of: Any = None, about: str = "", *, null: bool = False, owner: str = "", **keywords: Any
    ) -> None:
        self.of, self.about, self.null, self.owner, self.keywords = of, about, null, owner, keywords


def record(*required: str, **parts: Any) -> Json:
    """An object by known names. Where none is said to be required, all are."""
    return Json(parts, required=list(required or parts))


class Described(Value):
    """What the schema of a document says beside its fields."""

    title: str = ""
    about: Mapping[str, str] = {}
    """By place, such as `tasks[].index` or `checkpoints.NAME.status`; the document itself is at `""`."""
    shape: Any = None
    """What a file holds that is not declared by fields."""
    files: Mapping[str, Described] = {}
    """Further files of the system: `index` of the system `skill` has the schema `skill-index`."""


class Meaning:
    """What it means when somebody changes a field by hand."""

    DERIVED = "derived"  # follows from the rest: the change is put right without a word
    FIXED = "fixed"  # what the workflow is, or what Holdfast saw: put back
    GATE = "gate"  # what only people and reviewers say: put back, and reported as forged
    BOUND = "bound"  # what only people change: put back, and reported as forged where it would allow more
    STATUS = "status"  # moves a step
    POINTER = "pointer"  # finishes what is before a step and begins it
    WHOLE = "whole"  # the workflow's status
    CONTEXT = "context"  # values to remember
    DATA = "data"  # a fact about a step
    CHECK = "check"  # evidence, reported
    READING = "reading"  # the list of what has to be read
    REMINDERS = "reminders"  # the list of reminders
    TITLE = "title"  # what the workflow is called
    KEPT = "kept"  # the document's own: whatever is written there stays
    OWN = "own"  # read by the system itself (`Document.also`)


class Field(Value):
    """One place in the document. `value(state, item)` is what belongs there."""

    at: str
    value: Callable[[State, str], Any]
    codec: Codec | None = None
    nullable: bool = False
    quiet: bool = False
    meaning: str = Meaning.DERIVED
    shape: Any = None
    """What is there, as in `Json.of`, where no codec says it."""
    required: bool | None = None
    """Whether the schema asks for it; else as `Document.required` says."""


class Items(Value):
    """A list of objects, matched by the field `key`; or, without `key`, an object of objects.

    An item is a step by its path, or what it has after `path#`. What is said of it follows from the plan, the session,
    and the progress of that step and of those below it; which items there are, and in which order, from the plan and
    from when which steps ended: `status` and `finished_at`.
    """

    at: str
    each: Callable[[State], list[str]]
    name: Callable[[State, str], Any]
    fields: tuple[Field, ...]
    key: str = ""
    when: Callable[[State], bool] | None = None
    added: Callable[[State, Mapping[str, Any]], Any] | None = None
    elsewhere: bool = False
    """Whether an entry that is missing may be in another list."""
    keys: Any = str
    """What is in the field `key`, as in `Json.of`; without `key`, the names that there are always."""
    least: int = 0
    required: bool | None = None


class Document(Value):
    """One file of a workflow: where it is, and the parts that make it up, in order."""

    path: Callable[[State], str]
    """Relative to the top of the worktree; empty where there is none (any more)."""
    former: Callable[[State], tuple[str, ...]]
    parts: tuple[Field | Items, ...]
    as_found: bool = False
    """Whether an adopted document stays as it was until something happens."""
    history: str = ""
    entry: Callable[[State, Mapping[str, Any]], Mapping[str, Any]] | None = None
    subject: Callable[[State, Mapping[str, Any]], tuple[str, str]] | None = None
    """Which step an entry that somebody wrote is about, and whether it has begun or is done: `started`, `completed`."""
    identity: str = ""
    """The field that tells this workflow's documents from those of others, where these may be at the same place."""
    stamp: str = ""
    """The field that only renderings of the same second share: it tells from which of them somebody began an edit."""
    also: Callable[[State, Mapping[str, Any], Mapping[str, Any]], list[Part]] | None = None
    """The parts of an edit in the fields whose meaning is `OWN`: from the state, the old document and the new one."""
    meant: Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]] | None = None
    """An edited document as it is usually written: from the old document and the new one."""
    required: bool = False
    """Whether the schema asks for every field that does not say otherwise."""
    either: tuple[str, ...] = ()
    """A field, and the objects of which a document has the one that this field names."""


DECISIONS = ("abandoned", "completed")


class Dialect(Value):
    """One convention on disk, as data."""

    name: str
    document: Document
    id_of: Callable[[Mapping[str, Any]], str]
    """The id of the workflow whose document this is; empty when it is none."""
    identify: Callable[[Definition, str, Mapping[str, Any], str], str]
    status_words: Mapping[str, str]
    missing: str
    """What it means that somebody deleted the document, one of `DECISIONS`; otherwise it is written again."""
    adopt: Callable[[Mapping[str, Any], Definition | None, Facts, str], State]
    found_at: Callable[[Mapping[str, Any], str], Mapping[str, Any]] | None = None
    index: Callable[[list[Any], Mapping[str, Any] | None, str, str], tuple[str, Mapping[str, Any]]] | None = None
    """The list of workflows beside the documents: from entries, the old list, now and the session, its path and value.
    """
    lag: int = 60
    """Seconds for which the moment of the last activity in that list may be behind."""
    log: Callable[[State], str] | None = None
    """Where the log of a workflow lies, one line for each thing that happened."""
    folder: Callable[[State], str] | None = None
    """The folder in which the work's own files are kept; it is made with the workflow."""
    folders: tuple[str, ...] = ()
    """Folders that scripts expect to be there once there is a document."""
    views: Callable[[State], Mapping[str, Callable[[], Mapping[str, Any]]]] | None = None
    """Further files that say the state of a workflow, and that nobody else writes: what makes each, by path."""
    files: Mapping[str, tuple[Field, ...]] = {}
    """The fields of further files, by what their schemas are called."""
    watched: bool = False
    """Whether what others wrote into those files is put right at once, and said."""
    beside: Callable[[Mapping[str, Any]], tuple[str, ...]] | None = None
    """Further files that are looked at when a document is adopted."""
    areas: Callable[[State], tuple[dict[str, Any], ...]] | None = None
    """Where agents of some `roles` may write, by paths from the top of the worktree: `only` these, or `never` there."""
    travels: bool = False
    """Whether its folder is kept in git with a copy of the journal, which says what happened in other clones."""
    reserved: tuple[str, ...] = ()
    """Values of the context that only Holdfast itself sets."""
    checkpoints: Callable[[State, int], str] | None = None
    """Where the copy of the document lies that is kept with a snapshot; number 0 is the newest."""
    copies: str = ""
    """What those copies are called: the newest that can be read replaces a broken document."""
    learnings: Callable[[State], str] | None = None
    """Where every learning is added, one line of JSON each."""
    learned: Callable[[State, Any], Mapping[str, Any]] | None = None
    """A learning in the dialect's words."""
    sign: str = ""
    """What still is after such a deletion. Where it is gone too, more was lost, by accident."""
    own_folder: bool = False
    """Each workflow has a folder of its own for its document, which goes when that goes."""
    agents_own: bool = False
    """Agents keep the documents by themselves: a text that cannot be read is theirs, and stays where it is."""
    guarded: Callable[[State], tuple[str, ...]] | None = None
    """Files of a workflow that nobody but Holdfast writes; where there are none, edits are decided."""

    @property
    def mode(self) -> int:
        """Only what git carries to others anyway can be read by them."""
        return 0o644 if self.travels else 0o600


def as_found(state: State) -> bool:
    """Whether nothing has happened since the document was adopted."""
    return state.origin == "adopted" and state.revision <= 1


Dialects = Callable[[str], Dialect]
"""The dialect of a name."""
