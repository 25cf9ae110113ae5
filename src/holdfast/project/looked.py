"""What a workflow says when it is looked at, and how one command about it is decided."""

from __future__ import annotations

from _collections_abc import Callable, Iterator, Mapping, Sequence

from holdfast import git
from holdfast.core import commands as cmd
from holdfast.core import queries
from holdfast.core.apply import Record
from holdfast.core.briefing import Briefing
from holdfast.core.facts import Facts
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.errors import HoldfastError
from holdfast.project.turn import Turn
from holdfast.systems.seam.registry import dialect, refusal_of, system, texts, work
from holdfast.systems.seam.wired import Wired

_OF_WORK = (cmd.Done, cmd.Submit, cmd.Review, cmd.Approve, cmd.Confirm, cmd.Reject, cmd.Reopen, cmd.Reset)
"""What is about the work itself, which cannot be seen while another branch is checked out."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from holdfast.core.briefing import LeftWork
    from holdfast.core.packet import Voice
    from holdfast.project.required import Required


class Looked:
    """A workflow as it was when last looked at."""

    def __init__(self, wired: Wired, state: State, turn: Turn | None = None) -> None:
        self._own = wired
        self._turn = turn or Turn(wired)
        self.state = state
        self.said: tuple[str, ...] = ()
        """What an action that Holdfast did itself has to tell."""
        self.chosen = ""
        """Why it was chosen, where there are others."""
        self.news: tuple[str, ...] = ()
        """What came of reading its subject again."""
        self._taken = ""
        """The token of the lease that was taken last."""
        self.cancelled: Callable[[], bool] | None = None
        """Asked while checks run: the caller may not want them any more."""

    @property
    def wired(self) -> Wired:
        """What works together here; the systems are those of its project from now on."""
        return self._wired

    @property
    def _wired(self) -> Wired:
        self._own.use_systems()
        return self._own

    @property
    def id(self) -> str:
        return self.state.id

    @property
    def ulid(self) -> str:
        return self.state.ulid

    def refresh(self) -> Self:
        """Looks again: at the journal, and at what others did to the document."""
        self._turn.forget()
        return self._look()

    def _look(self, *, writing: bool = False) -> Self:
        self.state = self._turn.look(self.ulid, writing=writing)
        return self

    def facts(self) -> Facts:
        """What a reader must know to judge the gates now."""
        return self._turn.facts(self.state)

    def briefing(self) -> Briefing:
        """What there is to say of it now; made once for a request."""
        state, wired, settings = self.state, self._wired, self._wired.settings
        return Briefing(state, self.facts(), texts(state.dialect), required=self.required, kept=self._left_work,
                        session=settings.actor.session, token=settings.token, leased=self._leased(),
                        person=settings.actor.kind == "human",
                        words=dialect(state.dialect).status_words, refusal=refusal_of(state.dialect),
                        unsuitable=self._to_know, page=wired.page,
                        read_only=wired.store.read_only,
                        noticed=[*wired.noticed, *wired.changed_approvers()])  # fmt: skip

    def _left_work(self) -> Sequence[LeftWork]:
        """What agents left of its steps: only where something is pinned is git asked."""
        repository = self._wired.place.repository
        if repository is None or not git.may_have(repository, "refs/holdfast/pins/left"):
            return ()
        from holdfast.systems.seam import worktrees

        try:
            return worktrees.left_work(self._wired, self.state)
        except HoldfastError:  # git does not look at what belongs to other users
            return ()

    def _leased(self) -> str:
        """The step of the caller's lease: just taken, known by its token, else by the worktree that it is in."""
        held = self.state.leases.values()
        own = queries.leased_step(self.state, self._taken or self._wired.settings.token) if held else ""
        return own or next((one.step for one in held if one.worktree and self._wired.place.is_in(one.worktree)), "")

    def status(self) -> dict[str, Any]:
        from holdfast.core import answers

        return self._own.told(answers.status(self._look().briefing()))

    def summary(self) -> dict[str, Any]:
        from holdfast.core import answers

        return answers.summary(self.briefing())

    def next(self) -> dict[str, Any]:
        from holdfast.core import answers

        return self._own.told(answers.next_step(self._look().going_on()))

    def going_on(self) -> Briefing:
        """The same for a caller who continues with it; refused where its system is missing, as any change would be."""
        brief = self.briefing()
        if brief.refusal:
            raise brief.refusal
        return brief

    def document(self) -> Mapping[str, Any]:
        """The native document, as its dialect prescribes it."""
        return self._wired.documents.value(self._look().state)

    def history(self, after: int = 0, until: int = 0) -> Iterator[Record]:
        """The records above one revision and up to another, oldest first; without them, all."""
        return self._wired.store.history(self.ulid, after, until)

    def metrics(self) -> dict[str, Any]:
        from holdfast.core.metrics import metrics

        return metrics(self.history(), self._wired.world.now())

    def diagram(self) -> str:
        from holdfast.core.diagram import mermaid

        return mermaid(self.state)

    def path(self, step: str | int) -> str:
        """The path of a step named by number, id or path."""
        return queries.resolve(self.state, str(step))

    def required(self) -> list[Required]:
        """The files that have to be read, and whether they are there."""
        from holdfast.project.required import look

        return look(self.state.reading, self._wired.place.base(self.state.worktree))

    def packet(
        self, *, occasion: str = "resume", others: Sequence[str] = (), limit: int = 0, voice: Voice | None = None
    ) -> str:
        """One text that gets any agent going again; `voice` is how it names commands, if not as they are typed."""
        from holdfast.core.packet import TYPED, packet
        from holdfast.machine import configuration

        most = limit or configuration.resuming(self._wired.place.root).packet_limit
        return packet(
            self.briefing(),
            others=others,
            occasion=occasion,
            limit=most,
            voice=voice or TYPED,
            why=self.chosen,
            news=self.news,
        )

    def out_of_sync(self) -> str:
        """What is wrong between the checkpoints and git; empty when all is well."""
        return work(self.state.dialect).apart(self._wired, self.state)

    def to_finalize(self) -> list[str]:
        """The other workflows whose steps are all done and whose result is not published."""
        return [entry.id for entry in self._wired.store.unpublished() if entry.ulid != self.state.ulid]

    def execute(
        self, command: cmd.Command, *, key: str = "", token: str = "", revision: int = 0, summary: str = ""
    ) -> Self:
        """Decides any command. What the other methods do ends here.

        With `revision`, only if nothing happened since that one. `summary` is what a commit says of the move, where the
        workflow's folder is kept in git.
        """
        if not isinstance(command, cmd.Cancel):
            system(self.state.dialect)  # refuses where the package of the system is not there
        told: tuple[str, ...] = ()
        parts = command.commands if isinstance(command, cmd.Together) else (command,)
        if any(isinstance(one, _OF_WORK) for one in parts):
            self.require_suitable()
        if any(isinstance(one, cmd.Approve) for one in parts):
            self.require_as_read()
            told = work(self.state.dialect).before_approval(self._wired, self.state)
        self._look(writing=True)._decide(command, key, token, revision, summary)
        self.said = (*told, *self.said)
        return self

    def require_suitable(self) -> None:
        """Refuses work that cannot be seen, or would reach nobody, as git stands: nobody is asked about it either."""
        wrong = self.unsuitable()
        if wrong is not None:
            raise wrong

    def unsuitable(self) -> HoldfastError | None:
        """Why no work on it counts as git stands: asked where reviews and approvals are of all that is there."""
        whole = self.state.conduct.handed_whole
        return work(self.state.dialect).unsuitable(self._wired, self.state) if whole else None

    def require_as_read(self) -> None:
        """Refuses an approval of what was changed since it was read."""
        wrong = self._unapprovable(only_newer=False)
        if wrong is not None:
            raise wrong

    def _to_know(self) -> HoldfastError | None:
        """Why no work on it counts, or why what waits for a person cannot be approved as it is."""
        return self.unsuitable() or self._unapprovable(only_newer=True)

    def _unapprovable(self, *, only_newer: bool) -> HoldfastError | None:
        """Where all that is handed in counts as a whole, reviews are files, which somebody may have changed."""
        whole = self.state.conduct.handed_whole
        return work(self.state.dialect).unapprovable(self._wired, self.state, only_newer) if whole else None

    def require_decidable(self) -> None:
        """The same for an approval, which is refused where others continued: before a person is asked for it."""
        self.require_suitable()
        work(self.state.dialect).before_approval(self._wired, self.state)

    def _decide(
        self, command: cmd.Command, key: str = "", token: str = "", revision: int = 0, summary: str = ""
    ) -> Self:
        """Decides a command on the state that was just looked at."""
        before = self.state
        settings = self._own.settings
        given = {"token": token or settings.token, "key": key, "expected": revision}
        outcome = self._turn.execute(before, command, settings.actor, **given)
        self.state = outcome.state
        if isinstance(command, (cmd.Approve, cmd.Review, cmd.Reject, cmd.Reopen)) and outcome.changed:
            self._keep_copies(command.step)
        told = work(self.state.dialect).after_commit
        if told is not None and outcome.changed:
            self.said = told(self._wired, before, self.state, summary)
            self._turn.forget()
        if outcome.changed and any(lease.worktree for lease in before.leases.values()):
            from holdfast.systems.seam import worktrees

            self.said += worktrees.left(self._wired, before, self.state)
        if before.leases and self._wired.place.repository and set(before.leases) - set(self.state.leases):
            from holdfast.systems.seam import seen

            self.said += seen.settle(self._wired, before, self.state)
        return self

    def _keep_copies(self, path: str) -> None:
        """What was decided about, so that people can be shown next time what is different."""
        from holdfast.documents import approved

        whole = work(self.state.dialect).hand_in if self.state.plan.step(path).code else None
        found = whole(self._wired, self.state, path) if whole else None
        approved.keep(self._wired.place, self.state, path, found.changes if found else b"")

    def expect(self, revision: int) -> None:
        """Refuses where something happened since a revision. For what is done in several moves."""
        if revision and self._look().state.revision != revision:
            from holdfast.core.refusals import stale_revision

            raise stale_revision(self.state, revision)

    def _inside(self, artifacts: Mapping[str, str] | None) -> dict[str, str]:
        return {name: self._wired.place.inside(file) for name, file in (artifacts or {}).items()}
