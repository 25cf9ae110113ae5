"""What the rules must know of the world and cannot see for themselves."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.state import Hold, State
from holdfast.core.value import Any, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.gates import Unmet
    from holdfast.core.needs import Needs
    from holdfast.core.remedy import Remedy


class HandIn(Value):
    """What a step hands in as it is now, all of it, where its system says what belongs to it."""

    parts: Mapping[str, tuple[str, str, int]] = {}
    """By name: the file, or what else it is, its hash and its size."""
    said: Mapping[str, str] = {}
    """By name: the hash of the words, white space aside, of parts that are text."""
    lacking: tuple[tuple[str, str, str], ...] = ()
    """The required outputs that are not there yet, or are no work yet: name, file, and what is wrong with it."""
    deleted: Mapping[str, str] = {}
    """Files that were handed in and are gone, with the commit that has them."""
    copied: tuple[str, ...] = ()
    """The required outputs that are as they were copied here before the work began."""
    changes: bytes = b""
    """What the branch itself changes, file by file, where that is a part."""
    files: tuple[str, ...] = ()
    """The files that the branch itself changes."""
    since: str = ""
    """The commit that these changes are compared with."""
    loose: tuple[str, ...] = ()
    """The files of it that are in no commit yet."""
    seeing: tuple[Remedy, ...] = ()
    """What makes git look at those of them that it is told to pass over."""
    rules: tuple[str, ...] = ()
    """The files of the branch's changes that tell Holdfast itself what holds: who decides is shown them."""
    commands: tuple[str, ...] = ()
    """The same of files that say what the project's checks run."""
    without_code: bool = False
    """Whether the work is code, and the branch changes none."""

    @property
    def hashes(self) -> dict[str, str]:
        return {name: one[1] for name, one in self.parts.items()}


class Facts(Value):
    """What was gathered before the journal is locked, which makes it no less true: who changes files takes no lock."""

    now: str
    boot: str = ""
    mono: float = 0
    hashes: Mapping[str, tuple[str, int] | None] = {}
    blank: tuple[str, ...] = ()
    """Those of these files in which nothing is written."""
    no_files: tuple[str, ...] = ()
    """Those of these paths where something is that is no file of the project: a link, a folder, a pipe."""
    said: Mapping[str, str] = {}
    """The hashes of the words of these files, white space aside, where they are text."""
    hand_ins: Mapping[str, HandIn] = {}
    """What single steps hand in, where their system says so."""
    tree: str | None = None
    trees: Mapping[str, str | None] = {}
    """What the work of single steps is, which evidence speaks of; None where that cannot be told."""
    head: str | None = None
    dirty: bool = False
    trusted: bool = True
    untrusted: Mapping[tuple[str, str], str] = {}
    """Steps and checks whose commands nobody has trusted, each with what a person has to trust."""
    bindable: Mapping[tuple[str, str], str] = {}
    """Steps and checks without a command for which the project has one by now (`run`), or of which people let others
    report (`report`), or would if somebody trusted the file that says so (its name), or for which the configuration
    says that there is none (`none`)."""
    by_hand: tuple[Remedy, ...] = ()
    """How others make the pull request that is asked for, where Holdfast cannot."""
    person: str = "terminal"
    """How this process recognised a person; empty where there is none, whatever the actor says."""
    here: str = ""
    """The machine and the clone, or the address of the forge that was asked."""
    key: bytes = b""
    """What the codes of approvals are made with in this clone."""
    verified: frozenset[str] = frozenset()
    """The grants whose signatures hold here, by their content."""
    forges: tuple[str, ...] | None = None
    """The addresses of approvals that are at one of the user's forges; None when nobody asked."""
    signer: str = ""
    """Whose proof of the answer that is asked for holds."""
    signed_with: str = ""
    """How they gave it: `signature` or `passkey`."""
    signed: Mapping[str, str] = {}
    """The artifacts' hashes, of the contents that the statement of this proof names."""
    past: State | None = None
    results: Mapping[str, Mapping[str, Any] | None] = {}
    """What the results that a command names say, by path; None where one is no JSON object."""
    mistakes: Mapping[str, tuple[tuple[str, str], ...]] = {}
    """What is wrong with these results beyond that, by path: each key, and what its system says of it."""
    parent_seal: str | None = None
    """What the parent's result is now; empty when it is not approved, None when nobody asked."""
    parent_unmet: Unmet | None = None
    """Why the parent's result does not hold, and what helps."""
    ground: tuple[Unmet, ...] = ()
    """What else the work builds on and does not hold, as its system says."""
    warnings: tuple[str, ...] = ()
    """The same where the user wants to be told of it, and not stopped."""
    locks: tuple[tuple[str, Hold], ...] = ()
    """Files that agents of other workflows hold, where a command asks for some."""
    unknown_commits: tuple[str, ...] = ()
    """Commits that a command names, or that tasks have, and that the branch does not have."""
    known: Needs | None = None
    """What was asked for."""

    def covers(self, needs: Needs) -> bool:
        return self.known is not None and self.known.include(needs)
