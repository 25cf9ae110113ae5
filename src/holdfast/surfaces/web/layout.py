"""The frame of every page: head, the bar on top, and pieces that several pages have."""

from __future__ import annotations

from _collections_abc import Sequence

from holdfast.core import lifecycle
from holdfast.core.drawing.svg import CSS
from holdfast.core.lifecycle import MARKS
from holdfast.core.remedy import Remedy, Scope, typed
from holdfast.core.value import Value
from holdfast.errors import HoldfastError
from holdfast.surfaces.web.markup import Child, Markup, el, joined

_NAMES = (("/", "Workflows"), ("/learnings", "Learnings"), ("/agents", "Agents"), ("/passkeys", "Passkeys"))
_GOOD = {"completed": "done", "finalized": "done", "in_progress": "active", "cancelled": "skipped"}


class Shell(Value):
    """What is around every page: which project it is, what waits there, and what the person may do."""

    project: str
    at: str
    waiting: int = 0
    read_only: bool = False
    said: tuple[str, ...] = ()
    """What the last action did."""
    answers: str = ""
    """Set on a page that is the answer to a form: where the page is that the form was on."""
    copy_of: str = ""
    """Set on pages that are files: the revision and the journal that they are a copy of."""
    depth: int = 0
    """How many folders such a file is below the first page."""

    @property
    def is_copy(self) -> bool:
        return bool(self.copy_of)

    def link(self, path: str) -> str | None:
        """Where a page is; None where a copy has none."""
        if not self.is_copy:
            return path
        up = "../" * self.depth
        if path in ("/", "/learnings", "/agents"):
            return f"{up}{path[1:] or 'index'}.html"
        parts = path.split("/")
        return f"{up}w/{parts[2]}.html" if len(parts) == 3 and parts[1] == "w" else None


_LINKS = (
    el("link", rel="stylesheet", href="/style.css"),
    el("link", rel="icon", href="/icon.svg", type="image/svg+xml"),
)


def whole(shell: Shell, title: str, *main: Child, here: str = "", style: str = "") -> str:
    """A page from its first character to the last. `style` is written into pages that are files."""
    count = f"({shell.waiting}) " if shell.waiting else ""
    own = (
        [el("meta", http_equiv="Content-Security-Policy", content="default-src 'none'; style-src 'unsafe-inline'")]
        if shell.is_copy
        else [*_LINKS, el("script", src="/page.js", type="module")]
    )
    inside = f"{style}{CSS}" if style else ""  # what pictures need is in the style sheet, too
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", f"{count}{title} · {shell.project} · Holdfast"),
        own,
        el("style", Markup(inside)) if inside else None,
    )
    body = el(
        "body",
        el("a", "Skip to the content", class_="skip", href="#main"),
        _bar(shell, here),
        el("main", _said(shell), *main, id="main", tabindex="-1", data_at=shell.answers or None),
        _foot(shell),
    )
    return "<!doctype html>\n" + el("html", head, body, lang="en")


def _bar(shell: Shell, here: str) -> Markup:
    links = []
    for path, name in _NAMES[:-1] if shell.is_copy else _NAMES:
        count = (
            el("span", shell.waiting, class_="count", title="waiting for you") if path == "/" and shell.waiting else ""
        )
        current = "page" if path == here else None
        links.append(el("a", name, count, href=shell.link(path), aria_current=current))
    state = "a copy" if shell.is_copy else "read-only" if shell.read_only else ""
    return el(
        "header",
        el("a", "Holdfast", class_="brand", href=shell.link("/")),
        el("nav", *links, aria_label="Pages"),
        el("span", shell.project, class_="project"),
        el("span", state, class_="tag") if state else None,
        el("span", f"updated {shell.at[11:16]} UTC", class_="updated", id="updated"),
        class_="bar",
    )


def _said(shell: Shell) -> Markup:
    return (
        el("div", *(el("p", one) for one in shell.said), class_="said", role="status", id="said")
        if shell.said
        else (el("div", role="status", id="said"))
    )


def _foot(shell: Shell) -> Markup:
    if shell.is_copy:
        return el("footer", el("p", f"{shell.copy_of} A copy is no proof: the journal is."))
    keys = el("p", el("kbd", "?"), " shows the keys of this page.")
    button = el("button", "Log out", type="submit", class_="quiet")
    leave = None if shell.read_only else el("form", button, method="post", action="/logout")
    return el("footer", keys, leave)


def badge(status: str, said: str = "") -> Markup:
    """A status as a coloured word."""
    return el("span", said or status.replace("_", " "), class_=f"badge s-{css(status)}")


def css(status: str) -> str:
    """The status of a step that has the colour of any status."""
    known = _GOOD.get(status, status)
    return known if known in MARKS else lifecycle.WAITING if known in ("paused", "claimed", "stale") else "pending"


def mark(status: str) -> Markup:
    return el("span", MARKS[status], class_=f"mark s-{status}", aria_hidden="true")


def progress(percent: int, label: str) -> Markup:
    return el("progress", max=100, value=percent, aria_label=label)


def section(title: str, *children: Child, id: str = "", empty: str = "", class_: str = "") -> Markup:
    """A part of a page with its heading; nothing where it is empty and nothing is said about that."""
    inside = joined(*children)
    if not inside and not empty:
        return Markup("")
    return el(
        "section",
        el("h2", title, id=f"{id}-title" if id else None),
        inside or el("p", empty, class_="faint"),
        id=id or None,
        class_=f"part {class_}".strip(),
        aria_labelledby=f"{id}-title" if id else None,
    )


def items(found: Sequence[Child], class_: str = "rows") -> Markup:
    return el("ul", *(el("li", one) for one in found), class_=class_) if found else Markup("")


def command(way: Remedy | str, scope: Scope) -> Markup:
    """A command as it is typed, beside what does the same here."""
    return el("code", way if isinstance(way, str) else typed(way.replace(text=""), scope), class_="command")


def ways(found: Sequence[Remedy], scope: Scope, *, is_here: bool = False) -> Markup:
    """What leads on for a person, each with the words before it; where all is an agent's, that.

    What `is_here` on a page that is linked beside it needs no command that opens the page.
    """
    shown = []
    for one in [way for way in found if way.who != "agent"] or found:
        if is_here and one.command == "web":
            continue
        words = el("span", f"{one.text} " if one.text else "")
        is_command = bool(one.command or one.shell)
        shown.append(joined(words if one.text else None, command(one, scope) if is_command else None))
    return items(shown, "ways")


def refused(error: HoldfastError, scope: Scope) -> Markup:
    """A refusal, with what helps."""
    told = [one if isinstance(one, Remedy) else Remedy(text=one) for one in error.remedies]
    return el("div", el("p", f"{error.message[:1].upper()}{error.message[1:]}."), ways(told, scope), class_="alert",
              role="alert")  # fmt: skip


def folded(summary: Child, *children: Child, open: bool = False, id: str = "", class_: str = "") -> Markup:
    return el("details", el("summary", summary), *children, open=open, id=id or None, class_=class_ or None)


def lines(told: Sequence[str]) -> Markup:
    """Lines of a file, or of what is different in it, each with the colour of what it says."""
    return el("pre", *map(_line, told), class_="lines", tabindex=0)


def _line(said: str) -> Markup:
    """By the beginning that `excerpt` gives it: two spaces, then the sign."""
    kind = _SIGNS.get(said[2:3], "") if said.startswith("  ") else ""
    if kind in ("plus", "minus", "same"):
        return el("span", f"{said[2]} {said[3:]}", class_=kind)
    shown = said[4:] if kind == "file" else said[2:] if kind else said.strip()
    return el("span", shown, class_=kind or "remark")


_SIGNS = {"+": "plus", "-": "minus", "@": "hunk", "|": "file", " ": "same"}


def bare(title: str, *main: Child, head: Child = None, is_in: bool = False) -> str:
    """A page that says nothing of the project; with links to the other pages for a browser that is let in."""
    top = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", f"{title} · Holdfast"),
        *_LINKS,
        head,
    )
    links = el("nav", *(el("a", name, href=path) for path, name in _NAMES), aria_label="Pages") if is_in else None
    bar = el("header", el("a", "Holdfast", class_="brand", href="/"), links, class_="bar")
    return "<!doctype html>\n" + el(
        "html", top, el("body", bar, el("main", *main, id="main", class_="bare")), lang="en"
    )


def entrance(to: str) -> Markup:
    """The form that takes the code."""
    return el(
        "form",
        el("p", "Type the code that ", el("code", "holdfast web"), " printed at your terminal, or open its link. ",
           "For a new one: ", el("code", "holdfast web --link", class_="command")),
        el("p", el("label", "Code", for_="code"),
           el("input", type="text", name="code", id="code", required=True, autofocus=True, autocomplete="one-time-code",
              autocapitalize="none", spellcheck="false", maxlength=40)),
        el("div", el("button", "Log in", type="submit", class_="primary"), class_="act"),
        method="post", action=to,
    )  # fmt: skip
