"""Sending one notification: to the desktop, to the terminal, and to the command that the person's settings name.

Titles and labels come from documents of anybody. No shell reads them, and none of them can be an option, markup or a
command to a terminal.
"""

from __future__ import annotations

import os
from _collections_abc import Callable, Mapping, Sequence

from holdfast.core import remedies
from holdfast.core.value import Any, Value
from holdfast.errors import HoldfastError
from holdfast.machine.notices import Notices
from holdfast.plain.plainjson import compact
from holdfast.plain.terminal import escape

WITHIN = 30
"""Seconds that a program may take to send one."""
_LONGEST = 300
_SCRIPT = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")
_MARKUP = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


class Message(Value):
    """What is sent of one workflow: its name first, and nothing of what files contain."""

    title: str
    text: str
    data: Mapping[str, Any]

    @property
    def line(self) -> str:
        return f"{self.title}: {self.text}"


def send(message: Message, notices: Notices, environ: Mapping[str, str], show: Callable[[str], object]) -> None:
    """Sends it every way that the settings ask for; raises when a way that is there did not work.

    `show` writes to the terminal, where there is no desktop that has notifications.
    """
    wrong: list[str] = []
    if notices.desktop:
        words = on_desktop(message, environ)
        if words:
            wrong += _failed(words, b"", environ)
        else:
            show(on_terminal(message))
    if notices.run:
        wrong += _failed(notices.run, compact(message.data).encode() + b"\n", environ)
    if wrong:
        said = "; ".join(wrong)
        way = remedies.named("notify", {"test": True}, text="correct [notify] of your settings, then", who="person")
        raise HoldfastError("not_sent", f"a notification could not be sent: {said}", remedy=way, facts={"reason": said})


def on_desktop(message: Message, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The program of the desktop with its arguments; empty where there is none."""
    from shutil import which

    title, text = plain(message.title), plain(message.text)
    path = environ.get("PATH")
    if which("osascript", path=path):
        script = (word for line in _SCRIPT for word in ("-e", line))
        return ("osascript", *script, "--", title, text)
    desktop = any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"))
    if desktop and which("notify-send", path=path):
        return ("notify-send", "--app-name=Holdfast", "--", title, "".join(_MARKUP.get(char, char) for char in text))
    return ()


def on_terminal(message: Message) -> str:
    """What terminals show as a notification, each in its own way, and the bell for those that know none."""
    title, text = (plain(one).replace(";", ",") for one in (message.title, message.text))
    return f"\x1b]9;{title}: {text}\x1b\\\x1b]777;notify;{title};{text}\x1b\\\a"


def plain(text: str) -> str:
    """A line of bounded length in which nothing is left that a program or a terminal would obey."""
    return " ".join(escape(text[:_LONGEST]).split())


def _failed(words: Sequence[str], given: bytes, environ: Mapping[str, str]) -> list[str]:
    """Why a program did not do its work; empty when it did."""
    import subprocess

    name = os.path.basename(words[0])
    try:
        done = subprocess.run(
            words,
            input=given,
            capture_output=True,
            env=dict(environ),
            timeout=WITHIN,
            start_new_session=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return [f"{name} did not end within {WITHIN} s"]
    except OSError as failure:
        return [f"{name} cannot be run: {failure.strerror}"]
    if not done.returncode:
        return []
    said = plain(done.stderr[-_LONGEST:].decode("utf-8", "replace"))
    return [f"{name} ended with {done.returncode}" + (f": {said}" if said else "")]
