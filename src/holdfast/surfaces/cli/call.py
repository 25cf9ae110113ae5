"""One call of the command line: what was typed, who typed it, and where the answer goes."""

from __future__ import annotations

import os
import sys
from _collections_abc import Callable, Mapping, Sequence

from holdfast.core import lifecycle, queries, remedies
from holdfast.core.briefing import SESSION
from holdfast.core.naming import READ
from holdfast.core.remedy import Remedy, Scope, told
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, Trouble, UsageError
from holdfast.machine import settings as settings_
from holdfast.plain.terminal import Style, escape, fold, paint, to_ascii, wants_colour, width_of, write
from holdfast.surfaces.cli.grammar import Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from holdfast.core.briefing import Briefing
    from holdfast.core.state import State
    from holdfast.machine.person import Person
    from holdfast.project.project import Project
    from holdfast.project.workflow import Workflow
    from holdfast.surfaces.cli.arguments import Parsed

    Answer = TypeVar("Answer")

_ASCII = {"✅": "[x]", "🔄": "[>]", "⏳": "[ ]", "⛔": "[!]", "❌": "[-]", "📂 ": "", "⚠️": "!", "━": "-"}


_LINE = 4096
"""As much as a terminal hands over of one line."""
_BRIEFED = ("status", "resume-packet")
"""Commands whose answer has the alerts in it."""


class Call:
    """What a handler gets. It answers in JSON or in words; errors are raised and reported elsewhere."""

    def __init__(self, command: Command, args: Parsed) -> None:
        self.command = command
        self.args = args
        terminal = sys.stdin is not None and sys.stdin.isatty() and (sys.stdout.isatty() or sys.stderr.isatty())
        self.settings = settings_.read(
            os.environ, terminal=terminal, surface="cli", role=args.role or "", reads=command.takes == READ
        )
        if token := getattr(args, "token", ""):
            self.settings = self.settings.replace(token=token)
        self.style = Style(wants_colour(sys.stdout.isatty(), os.environ))
        self.unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
        self._project: Project | None = None
        self.about = ""
        """ULID of the workflow that this call turned out to be about."""

    @property
    def is_person(self) -> bool:
        return self.settings.actor.kind == "human"

    @property
    def is_shown(self) -> bool:
        """Whether the answer goes to a terminal, and not to a file or another program."""
        return sys.stdout.isatty()

    @property
    def width(self) -> int:
        return width_of(sys.stdout, os.environ) or 80

    @property
    def project(self) -> Project:
        if self._project is None:
            from holdfast.project.project import open_project

            self._project = open_project(".", settings=self.settings, one_request=True)
            if said := self._project.wired.settled:
                sys.stderr.write(f"{escape(' '.join(said))}\n")
        return self._project

    def pin(self) -> None:
        """From now on, the workflow that the command means is this one."""
        vars(self.args)["workflow"] = self.workflow().ulid

    def look_again(self) -> None:
        """Forgets what this call knows of the project."""
        self._project = None

    def workflow(self, word: str = "") -> Workflow:
        """The one that is given, else the one that the command names, else the one that it would pick."""
        word = word or self.named()
        try:
            found = self.project.workflow(word)
        except UsageError as several:
            from holdfast.surfaces.cli.meant import narrowed

            raise narrowed(self, several) from None
        self._require_exact(found)
        self.about = found.state.ulid
        self._require_lease(found.state)
        return found

    def named(self) -> str:
        """What the command calls its workflow, by its first word or by `-w`; empty where it names none."""
        word, slug = str(getattr(self.args, "workflow", "") or ""), str(getattr(self.args, "slug", "") or "")
        if word and slug and word != slug:
            from holdfast.core import refusals

            said = f"holdfast {self.command.name}: {slug[:80]!r} and -w {word[:80]!r} name two workflows"
            raise refusals.misused(said, remedies.usage(self.command.name))
        return slug or word

    def _require_exact(self, found: Workflow) -> None:
        """A word without `-w` is the whole id: one that only begins like it is another workflow's name."""
        slug = str(getattr(self.args, "slug", "") or "")
        if not slug or slug == found.id or found.state.ulid.startswith(slug.upper()):
            return
        from holdfast.errors import NotFound

        said = f"there is no workflow {slug[:80]!r} here, but {found.id}"
        ways = (Remedy(self.command.name, {"slug": found.id}), remedies.listing(True))
        raise NotFound("no_workflow", said, remedy=ways, facts={"workflow": slug[:200]})

    def _require_lease(self, state: State) -> None:
        """A command that takes a token refuses one that is no lease's, also where it would change nothing.

        A repetition under its key is answered as the first time, when the lease may have ended with it. Who only looks
        is answered where the environment still has the token of a lease that is over.
        """
        asked = self.args.token if "l" in self.command.takes else "t" in self.command.takes
        if not self.settings.token or not asked or getattr(self.args, "key", "") in state.keys:
            return
        from holdfast.core.rules.agents import lease_of

        lease_of(state, self.settings.token)

    def step(self) -> tuple[Workflow, str]:
        """The workflow, and the path of the step that the command names."""
        workflow = self.workflow()
        return workflow, workflow.path(self.args.step)

    def scope(self) -> Scope:
        """Who reads the answer, and what commands that are typed here have to say."""
        try:
            if self._project is not None:
                return self._project.scope(self.about)
        except (HoldfastError, OSError):
            pass  # what is wrong with the place is told, or was
        return Scope(person=self.is_person)

    def tell_noticed(self) -> None:
        """Says beside an answer what waits for somebody who may write here, unless the answer itself says it."""
        noticed = self._project.wired.noticed if self._project and self.command.name not in _BRIEFED else ()
        for alert in noticed:
            sys.stderr.write(f"{escape(alert.message)}\n")
        self.tell_news()

    def tell_news(self) -> None:
        """Says beside an answer what became of edits, where it cannot be before it."""
        for said in self.news():
            sys.stderr.write(f"⚠ {escape(said)}\n")

    def told(self, remedies: Sequence[Remedy | str]) -> str:
        return told(remedies, self.scope())

    def how(self) -> dict[str, Any]:
        """What goes with every command that changes something."""
        found: dict[str, Any] = {}
        if "k" in self.command.takes:
            found["key"] = self.args.key or ""
        if "r" in self.command.takes and self.args.revision:
            found["revision"] = self.args.revision
        return found

    def answer(self, data: Mapping[str, Any], text: str | Callable[[], str]) -> None:
        """The answer as data when JSON is asked for, else in words; words from outside must come escaped."""
        if self.args.json:
            self.write_json(data)
            return
        said = text if isinstance(text, str) else text()
        said = said if said.endswith("\n") else said + "\n"
        changes, news = self._project.wired.take_changes() if self._project else [], self.news()
        if self.command.name in _BRIEFED:  # a packet is the same wherever it comes from
            below = ["something happened to the document: see the alerts below"]
            news = below if news and self.command.name == "status" else []
            changes = changes if self.command.name == "status" else []
        news = [*changes, *news]
        first = "".join(f"{self.style.red(f'⚠ {escape(one)}')}\n" for one in news)
        said = fold(first + said + self.redacted_line(), width_of(sys.stdout, os.environ))
        write(said if self.unicode else to_ascii(said))

    def write_json(self, data: Mapping[str, Any]) -> None:
        said, redacted = self._project.wired.told(data) if self._project else data, self.redacted()
        write(pretty({**said, "redacted": redacted} if redacted else said))

    def news(self) -> list[str]:
        """What became of edits of a document, and was not told yet: it comes before every answer."""
        return self._project.wired.news() if self._project is not None else []

    def notices(self) -> list[str]:
        """What goes with an answer that is data."""
        return self._project.wired.notices() if self._project is not None else []

    def redacted_line(self) -> str:
        redacted = self.redacted()
        if not redacted:
            return ""
        from holdfast.core import secrets

        return f"{escape(secrets.told(redacted))}\n"

    def redacted(self) -> dict[str, int]:
        """The likely secrets that were redacted and of which nobody was told yet, by kind."""
        return self._project.wired.engine.take_redacted() if self._project is not None else {}

    def changed(
        self,
        workflow: Workflow,
        path: str = "",
        said: str = "",
        more: Mapping[str, Any] | None = None,
        onward: str = "next: ",
    ) -> None:
        """The answer to a change: what became of the step, or what was said, and what is next."""
        brief = workflow.briefing()
        state, signal = brief.state, brief.signal
        self.about = state.ulid
        if not self.args.json:
            self.answer({}, self._line(brief, path, said, onward) + self._aside(workflow, path, signal))
            return
        from holdfast.core import answers

        data = {**answers.summary(brief), "ulid": state.ulid, "revision": state.revision, **(more or {})}
        if path and path in state.plan:
            data["step"] = answers.step(state, path, brief.facts)
        if signal:
            data["signal"] = signal
        if workflow.said:
            data["said"] = workflow.said
        self.write_json(data)

    def _aside(self, workflow: Workflow, path: str, signal: str) -> str:
        """What Holdfast did itself, and the signal where a run may end: all done, stuck, or on to the next group."""
        state, above = workflow.state, path.rpartition("/")[0]
        grouped = any(above in state.plan.of_kind(kind) for kind in state.conduct.groups)
        over = grouped and state.step(above).status in lifecycle.FINISHED
        goes_on = queries.status(state) == "in_progress"
        lines = [*workflow.said, *([signal] if signal and (over or not goes_on) else [])]
        return "".join(f"\n{escape(line)}" for line in lines)

    def _line(self, brief: Briefing, path: str, said: str, onward: str) -> str:
        told = bool(said)
        said = said or self.became(brief.state, path)
        first = brief.first
        # The command that ran a check has just said why it failed.
        why = first.message.partition(" failed: ")[2] if first else ""
        is_told = bool(why) and why in said
        if first is None:
            finished = self.style.dim(f"({remedies.listing(True)})")
            return f"{said} · {self.style.green('all steps are done')}  {finished}"
        if brief.step is None:
            what = f" · {first.message}"
        elif brief.step == path and (first.kind in lifecycle.STUCK or (told and brief.ready)):
            what = ""
        elif first.kind in ("bound", *SESSION) or brief.step == path:
            what = "" if is_told else f" · {first.message}"
        elif first.kind == "mark":
            what = ""
        else:
            what = f" · {onward}{brief.step}" + ("" if brief.ready or is_told else f": {first.message}")
        return f"{said}{escape(what)}  {self.style.dim(f'({escape(self.told(brief.now))})')}"

    def became(self, state: State, path: str) -> str:
        """What a step is now, in a line."""
        progress = state.step(path)
        word = lifecycle.SAID.get(progress.status, progress.status)
        again = f", attempt {progress.attempt}" if progress.status == lifecycle.ACTIVE and progress.attempt > 1 else ""
        reason = f": {progress.reason}" if progress.reason and progress.status in lifecycle.STUCK else ""
        mark = paint(self.style, progress.status)(lifecycle.MARKS[progress.status])
        return f"{mark} {path} {word}{again}{escape(reason)}"

    def ok(self, text: str) -> str:
        return f"{self.style.green('✓')} {escape(text)}"

    def said(self, text: str) -> str:
        """What was done, or what did not work, each with its mark."""
        return f"{self.style.yellow('⚠')} {escape(text)}" if isinstance(text, Trouble) else self.ok(text)

    def now(self) -> str:
        return self.project.wired.world.now()

    def marked(self, text: str) -> str:
        """Text with the marks of a summary, or without them where a terminal cannot show them."""
        return text if self.unicode else unmarked(text)

    def ask(self, text: str, question: str, *, default: bool = False) -> bool:
        """Shows something on the terminal and asks; anything but a yes is a no. `default` is what Enter means."""
        return self._asked(lambda person: person.agrees(f"{text}{question}", default=default))

    def confirm(self, workflows: Sequence[Workflow]) -> None:
        """Asks a person about the approvals of these workflows that are only claimed."""
        from holdfast.surfaces.cli import confirming

        confirming.confirm(self, workflows)

    def reset(self, workflow: Workflow, step: str) -> None:
        from holdfast.surfaces.cli import whole

        whole.reset_step(self, workflow, step)

    def pick(self, text: str, among: tuple[str, ...]) -> str:
        """Shows something and asks for one of a few words; anything else is none of them."""
        said = self._asked(lambda person: person.ask(f"{text}[{'/'.join(among)}] ").strip())
        return said if said in among else ""

    def ask_line(self, question: str) -> str | None:
        """One line that a person types; None where they end the input instead."""
        said = self._asked(lambda person: person.ask(question, _LINE))
        return said.strip() if said else None

    def _asked(self, asking: Callable[[Person], Answer]) -> Answer:
        assert self.settings.person is not None
        answer = asking(self.settings.person)
        if self._project is not None:
            self._project.turn.forget()  # people take their time
        return answer


def unmarked(text: str) -> str:
    for mark, instead in _ASCII.items():
        text = text.replace(mark, instead)
    return text


def pretty(data: Mapping[str, Any]) -> str:
    """JSON with an indent. What a terminal would obey is written as an escape, which means the same."""
    from holdfast.documents.lens.text import Writer

    text = Writer().write(data).decode()
    if not text.replace("\n", "").isprintable():
        from json import dumps

        text = "".join(c if c == "\n" or escape(c) == c else dumps(c)[1:-1] for c in text)
    return text
