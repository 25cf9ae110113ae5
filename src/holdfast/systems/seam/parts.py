"""The parts of a system that other packages call. What a system does not say is done as the defaults here do it.

A system's module `subject` has its part as `SUBJECT`, `work` as `WORK`, and so on; `document` has the `Dialect`.
"""

from __future__ import annotations

from _collections_abc import Callable, Iterator, Mapping, Sequence

from holdfast.core import moment
from holdfast.core.briefing import TaskText
from holdfast.core.definition import Definition, Step
from holdfast.core.lifecycle import MARKS
from holdfast.core.queries import current
from holdfast.core.remedy import Remedy, shell
from holdfast.core.state import Evidence, State
from holdfast.core.value import Any, Value
from holdfast.documents.lens.spec import Described
from holdfast.errors import UsageError
from holdfast.systems.seam.registry import module
from holdfast.systems.seam.wired import Wired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.checks.tooling import Tool
    from holdfast.core.commands import Start
    from holdfast.core.facts import HandIn
    from holdfast.core.gates import Unmet
    from holdfast.core.secrets import Secrets
    from holdfast.core.state import Actor
    from holdfast.engine.ports import Entry
    from holdfast.errors import HoldfastError
    from holdfast.git import Repository
    from holdfast.git.made import Purpose
    from holdfast.machine.place import Place
    from holdfast.systems.seam.external import Offer
    from holdfast.systems.seam.found import Found


class Asked(Value):
    """What a start names: a definition, its subject, values to remember, and phases where it leaves them open."""

    definition: Definition
    subject: str
    context: Mapping[str, Any]
    phases: tuple[str, ...] = ()


class Loaded(Value):
    """What a workflow starts with. `finished` are steps that need not be done any more, and why."""

    definition: Definition
    subject: str
    context: Mapping[str, Any]
    title: str = ""
    branch: str | None = None
    finished: Mapping[str, str] = {}
    begun: tuple[str, ...] = ()
    own: Mapping[str, Mapping[str, Any]] = {}
    makes_branch: bool = False
    """Whether the branch is made with the workflow."""
    tools: Mapping[str, Tool] = {}
    """Commands that the user typed in place of the project's own."""
    said: tuple[str, ...] = ()
    """What the user should be told of how the subject was read."""


class Taken(Value):
    """What to apply of a subject that changed: steps to add and to change, values to remember.

    `loosened` are steps to change, or to retire where no step is given, each with the reason: these take a gate away,
    so a person confirms them. `said` is what the user should be told of the rest.
    """

    added: tuple[tuple[str, Step], ...] = ()
    changed: tuple[tuple[str, Step], ...] = ()
    loosened: tuple[tuple[str, Step | None, str], ...] = ()
    values: Mapping[str, Any] = {}
    said: tuple[str, ...] = ()


def refuse_phases(asked: Asked) -> None:
    if asked.phases:
        own = ", ".join(step.label for step in asked.definition.steps)
        said = f"{asked.definition.name} has phases of its own: {own}"
        raise UsageError("bad_phases", said, remedy="leave out --phases, or use custom")


def require_repository(definition: Definition, place: Place) -> None:
    if place.repository is None:
        raise UsageError("no_repository", f"{definition.name} needs a git repository", remedy=shell("git", "init"))


class Understood(Value):
    """What a system reads in a file: as data, and in lines for people."""

    data: Mapping[str, Any]
    lines: tuple[str, ...]


class Subject(Value):
    """From what a start names to a workflow."""

    load: Callable[[Asked, Place], Loaded] = staticmethod(
        lambda asked, _: Loaded(asked.definition, asked.subject, asked.context)
    )
    """Reads the subject; changes nothing."""
    identity: Callable[[Asked, Place], str] = staticmethod(lambda asked, _: asked.subject)
    """The subject as the id is made from it, also when the file is gone."""
    takes_phases: bool = False
    """Whether a start may name the phases."""
    same: Callable[[Asked, Callable[[], Mapping[str, Any]], Place], bool] | None = None
    """Whether a workflow or document is the work that a start names. The second argument gives its context, for which
    a journal is opened: one that is broken stops only a start that must know it. It is asked where ids differ,
    or, where ids carry the time, where subjects are equal. Without it the id, or the subject, decides."""
    changes: Callable[[State, Place], Taken] = staticmethod(lambda _state, _place: Taken())
    """What the subject says now that the workflow does not know yet."""
    carried: Callable[[Loaded, State, Place], Loaded] = staticmethod(lambda loaded, _before, _place: loaded)
    """A start with what the run before would not have given up without a person."""
    again: Callable[[Definition, State, Place], Loaded | None] = staticmethod(lambda _definition, _state, _place: None)
    """What the subject of a document that is adopted says: None where it makes no steps. Raises where it cannot be read
    and the document does not say it either."""
    understood: Callable[[str, str, bool], Understood | None] = staticmethod(lambda _path, _shown, _sure: None)
    """What the system reads in the subject at a path, which messages call by the second argument. None where it is none
    of the system's: first each is asked for files that can be nobody else's, then for any that it would read."""
    prepare: Callable[[Wired, Start], Start] = staticmethod(lambda _, start: start)
    """Called under the lock of starts, before the run before is given up: what the work builds on, and whatever
    refuses the start. Changes nothing."""
    furnish: Callable[[Wired, Start], Start] = staticmethod(lambda _, start: start)
    """Called under the lock of starts, before the first line: makes its branch and workspace."""
    fresh_start: Callable[[State, Remedy], Remedy] = staticmethod(
        lambda _, start: start.given(fresh=True).replace(text="give it up")
    )
    """The start that starts over although this workflow is active."""
    opened: Callable[[Wired, State], tuple[str, ...]] = staticmethod(lambda _wired, _state: ())
    """Called after the first line; gives what the user should be told."""
    session: Callable[[Wired, str], str] = staticmethod(lambda _, named: named)
    """The session that the workflow belongs to."""


class Order(Value):
    """What the one who hands a step in says of its action: a message and paths, or that it was done elsewhere."""

    message: str = ""
    paths: tuple[str, ...] = ()
    commit: str = ""
    url: str = ""


class Acted(Value):
    """What came of an action: facts about the step, evidence for its checks, and what people should hear."""

    data: Mapping[str, Any]
    evidence: Mapping[str, Evidence] = {}
    said: tuple[str, ...] = ()


class Handing(Value):
    """What a step is handed in with: its files by name, facts about it, and what is said of its action."""

    artifacts: Mapping[str, str]
    order: Order = Order()
    data: Mapping[str, Any] = {}


class Work(Value):
    """What a system does as its workflows continue."""

    arrived: Callable[[Wired], list[str]] = staticmethod(lambda _: [])
    """Called once a process where a path of the card's `wakes` is there: finishes what dead processes left and takes
    what git brought; gives what was wrong."""
    pulled: Callable[[Wired, State], HoldfastError | None] | None = None
    """Called before a look: takes over what git brought; what is wrong where a person has to decide first."""
    outputs: Callable[[Wired, State, str], Mapping[str, str]] = staticmethod(lambda _wired, _state, _path: {})
    """The files of a step that are there, by name and from the top of the worktree: they are handed in with it."""
    hand_in: Callable[[Wired, State, str], HandIn | None] = staticmethod(lambda _wired, _state, _path: None)
    """What the work of a step is, where the conduct of the workflow is `handed_whole`: reviews and approvals are of all
    of it."""
    before_done: Callable[[Wired, State, str, Handing], Handing] = staticmethod(
        lambda _wired, _state, _path, handing: handing
    )
    """Called before a step is handed in; may add to what goes with it, or refuse."""
    perform: Mapping[str, Callable[[Wired, State, str, Order], Acted]] = {}
    """The actions that this system has for itself, or does in its own way, by the word of the definition."""
    unmade: Callable[[Repository, Purpose, list[str]], str] = staticmethod(lambda _repository, _purpose, _words: "")
    """Called where a commit was not made that a command noted with these words: undoes what belongs to it, or tells
    that it is still to be made."""
    about: Callable[[Wired, State], tuple[str, ...]] = staticmethod(lambda _wired, _state: ())
    """What a pull request says of the subject before it lists the tasks: lines of markdown."""
    edited: Callable[[Wired, State, State], None] = staticmethod(lambda _wired, _before, _after: None)
    """Called after an edit of the document was decided, with the state before it."""
    after_commit: Callable[[Wired, State | None, State, str], tuple[str, ...]] | None = None
    """Called after every change, with the state before it; gives what the user should be told."""
    marked: Callable[[State], tuple[str, ...]] = staticmethod(lambda _: ())
    """The files of the project in which Holdfast says that tasks are done, from the top of the worktree."""
    commit: Callable[[State, str, str], tuple[str, str]] | None = None
    """Where commits are of steps: the step that a word names, and the message of its commit."""
    body: Callable[[State], str] | None = None
    """What the pull request of a workflow says, in the system's own way."""
    handed_in: Callable[[Wired, State, str], tuple[str, ...]] = staticmethod(lambda _wired, _state, _path: ())
    """What to tell the user when a step was handed in."""
    mistakes: Callable[[Wired, State, str, Mapping[str, Any]], tuple[tuple[str, str], ...]] = staticmethod(
        lambda *_: ()
    )
    """What is wrong with the result of a step beyond the word that decides: each key of it, and why."""
    reviewed: Callable[[Wired, State, str, str], tuple[str, str]] | None = None
    """Where a file decides a review: its verdict and feedback."""
    result: Callable[[Wired, State, str], str] = staticmethod(lambda _wired, _state, sealed: sealed)
    """What others build on, from what the core says of it."""
    ground: Callable[[Wired, State], tuple[Unmet, ...]] = staticmethod(lambda _wired, _state: ())
    """What the work builds on and does not hold, where the conduct of the workflow is `grounded`: of the kind `ground`,
    or `warning` where that stops nobody."""
    resuming: Callable[[Wired, State], Mapping[str, Mapping[str, Any]]] = staticmethod(lambda _wired, _state: {})
    """The facts about steps that are renewed when a person sets used-up work going again: what it builds on now."""
    owned: Callable[[Wired, State, str], frozenset[str] | None] = staticmethod(lambda _wired, _state, _path: None)
    """The files of a step that are its own, where several agents work side by side; None: it has the whole tree."""
    not_owned: Callable[[Wired, State, str], list[str]] = staticmethod(lambda _wired, _state, _path: [])
    """The changed files that are left out of these because agents of other steps have locked them."""
    kept: Callable[[State], tuple[str, ...]] = staticmethod(lambda _: ())
    """The system's files that are among the project's own."""
    published: Callable[[State], tuple[str, ...]] = staticmethod(lambda _: ())
    """The files and folders of the project that the end of a workflow writes itself: evidence is not of these."""
    before_approval: Callable[[Wired, State], tuple[str, ...]] = staticmethod(lambda _wired, _state: ())
    """Called before an approval is decided; refuses where others continued, and gives what the user should be told."""
    unsuitable: Callable[[Wired, State], HoldfastError | None] = staticmethod(lambda _wired, _state: None)
    """Why no work can be handed in, reviewed or approved as git stands, such as on another branch or in a merge.

    What is told of a workflow and what is decided about it ask the same.
    """
    unapprovable: Callable[[Wired, State, bool], HoldfastError | None] = staticmethod(
        lambda _wired, _state, _newer: None
    )
    """What an approval is refused for though the work may continue, or be rejected; with true, as far as is fast."""
    apart: Callable[[Wired, State], str] = staticmethod(lambda _wired, _state: "")
    """What is wrong between the state and git; empty when all is well."""


class Content(Value):
    """What a person trusts in a file: its digest, and the commands in it, each with its step and check."""

    digest: str
    commands: tuple[tuple[str, str, tuple[str, ...]], ...]
    systems: Mapping[str, Offer | None] = {}
    """The systems that it enables, with what installed packages offer under that name."""
    seals: tuple[str, ...] = ()
    """What is trusted beside the digest: the file together with each package that it lets run code."""
    secrets: Secrets | None = None
    """What it says of secrets, where that is not what holds anyway."""
    loosened: tuple[tuple[str, str], ...] = ()
    """The settings by which a gate warns where it would refuse, each with what that means."""


def _has_ended(wired: Wired, found: Found) -> bool:
    """Whether a document is that of a workflow which ended, and does not say that it continues."""
    from holdfast.systems.seam import returned

    state = returned.known(wired, found)
    return state is not None and not returned.goes_on(wired, state, found)


class Upkeep(Value):
    """What becomes of documents that are found, and what doctor looks at."""

    name: Callable[[str], str] = staticmethod(lambda path: path.rpartition("/")[2].removesuffix(".json"))
    """What the path of a document calls the workflow."""
    lost: Callable[[str, str], bool] = staticmethod(lambda _worktree, _path: False)
    """Whether a document is missing whose work left other files beside it."""
    recover: Callable[[str, str], Remedy | None] = staticmethod(lambda _worktree, _path: None)
    """The command that rebuilds the document at a path from what is beside it; without one, it is set aside."""
    journaled: Callable[[Wired, Found], bool] = staticmethod(_has_ended)
    """Whether a workflow that is known here wrote a document, although none that runs says so."""
    adopt: Callable[[Wired, Found, bool], State | None] = staticmethod(lambda _wired, _found, _or_known: None)
    """The workflow whose journal is beside a document; where there is none, the document is adopted.

    One that is known here already is refused, unless the last argument allows it.
    """
    copy: Callable[[Wired, State], tuple[str, bytes | None]] = staticmethod(lambda _wired, _state: ("", None))
    """The copy of the journal that travels with the project, where there is one: its name and what it says."""
    findings: Callable[[Wired, State], Iterator[tuple[HoldfastError, str]]] = staticmethod(
        lambda _wired, _state: iter(())
    )
    """What doctor reports of a workflow: what is wrong, and with which file."""
    leftovers: Callable[[Wired], Iterator[HoldfastError]] = staticmethod(lambda _wired: iter(()))
    """What is still to be done about workflows that ended, each with the command that does it."""
    branch: Callable[[str], str] = staticmethod(lambda _: "")
    """The branch that a workflow of this id is worked on, where the system makes one for it."""
    touched: Callable[[Entry], str] = staticmethod(lambda _: "")
    """A further file whose time is activity of the workflow."""
    sources: Callable[[State], tuple[str, ...]] = staticmethod(lambda _: ())
    """The files of the project that speak of a workflow now."""
    own_notes: tuple[str, ...] = ()
    """Those of them in which an agent says which workflow it is at."""
    sightings: Callable[[Wired, Actor], list[str]] = staticmethod(lambda _wired, _actor: [])
    """Takes over what the project's notes say of workflows; gives what was wrong. Asked where one of its traces is."""
    content: Callable[[str], Content | None] = staticmethod(lambda _: None)
    """What a person trusts in the subject file at a path; None where it is none of the system's."""
    starter: Callable[[str], str] = staticmethod(lambda _: "")
    """A task document of this name to begin with, where the system reads such documents."""


def found_active(state: State, now: str, about: Mapping[str, str], progress: list[str]) -> str:
    from holdfast.core.packet_parts import clean

    said = {
        "ID": state.id,
        **about,
        "Started": moment.relative(moment.between(state.created_at, now)),
        "Last activity": moment.relative(moment.between(state.updated_at, now)),
    }
    head = [f"  {name}: {clean(text)}" for name, text in said.items() if text]
    return "\n".join(["Found active workflow:", *head, "", "  Progress:", *progress]) + "\n"


def _summary(state: State, now: str) -> str:
    steps = [f"    {MARKS[state.step(p).status]} {_label(state, p)}" for p in state.plan.children("")]
    return found_active(state, now, {"Subject": state.title or state.subject}, steps)


def _sentence(state: State) -> str:
    at = current(state)
    return f"Resuming at {_label(state, at)}" if at else "All steps are done."


def _question(state: State) -> str:
    at = current(state)
    return f"Resume from {_label(state, at) if at else 'the end'}?"


def _label(state: State, path: str) -> str:
    from holdfast.core.packet_parts import clean

    return clean(state.plan.step(path).label)


class Texts(Value):
    """What is said of a workflow in the system's own words. What is made of the state's texts is on one line each."""

    task: Callable[[State, str], TaskText] = staticmethod(
        lambda state, path: TaskText(state.plan.step(path).description)
    )
    """What the work of a step is, and which file says so."""
    review: Callable[[State, str], str] = staticmethod(lambda _, __: "")
    """The file that holds the review of a step, where reviews are files."""
    approved: Callable[[State, str], Sequence[str]] = staticmethod(lambda _, __: ())
    """Lines that show a person what they approve, where no file of the workflow has it."""
    signal: Callable[[State, str], str] = staticmethod(lambda _, __: "")
    """The line that tells an outer loop how a run ended, from the status that is told."""
    summary: Callable[[State, str], str] = staticmethod(_summary)
    """What a start finds that continues with a workflow: which one, how old, how far. The second argument is now."""
    question: Callable[[State], str] = staticmethod(_question)
    """Whether a person wants to continue there."""
    resumed: Callable[[State, str], str] = staticmethod(lambda state, _: f"{_sentence(state)}\n")
    """Where the work continues."""
    sentence: Callable[[State], str] = staticmethod(_sentence)
    """The same in one line."""


def late(path: str, name: str) -> Any:
    """A function of a module that is imported when it is first called: most commands need none of what it brings."""
    return lambda *given: getattr(module(path), name)(*given)


PARTS: Mapping[str, Any] = {
    "subject": Subject(),
    "work": Work(),
    "upkeep": Upkeep(),
    "texts": Texts(),
    "rules": {},
    "described": Described(),
}
"""The defaults. The document of a system has none."""
