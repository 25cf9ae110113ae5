"""The one place that reads the environment."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core.names import checked, is_token
from holdfast.core.remedy import shell
from holdfast.core.state import Actor
from holdfast.core.value import Value
from holdfast.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.remedy import Remedy
    from holdfast.machine.person import Person

HOST_VARIABLES = (
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_ENTRYPOINT",
    "OPENCODE",
    "OPENCODE_SESSION_ID",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "GEMINI_CLI",
    "QWEN_CODE",
    "QWEN_CODE_SESSION_ID",
    "COPILOT_CLI",
    "COPILOT_AGENT_SESSION_ID",
    "CURSOR_AGENT",
    "CLINE_ACTIVE",
    "HOLDFAST_RUN",
)
"""Set by agent hosts in the shells they run: what is typed there is an agent's, terminal or not."""


SESSION_VARIABLES = (
    *("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "OPENCODE_SESSION_ID"),
    *("QWEN_CODE_SESSION_ID", "COPILOT_AGENT_SESSION_ID"),
)
"""Those of them that say which session it is."""


class Settings(Value):
    """What the environment says. The actor is a person where a terminal of their own is attached, else an agent."""

    actor: Actor
    person: Person | None = None
    """Who is asked where the actor's word has to be a person's; None where no terminal says that they are one."""
    objection: str = ""
    """Why the terminal that is attached is no person's."""
    token: str = ""
    run: str = ""
    """The ULID of the workflow that a runner started this process for."""
    allow_unsafe_fs: bool = False
    data_dir: str = ""
    config_dir: str = ""
    home: str = ""
    claude_dir: str = ""
    codex_dir: str = ""
    host_dirs: Mapping[str, str] = {}
    """The folders that other agent hosts keep for the person, by the name of the host."""
    lock_wait: float = 10.0
    sudo: str = ""
    """The id of the user who called sudo, where somebody did."""

    def require_person(self, what: str, remedy: Remedy, *, default: bool = True) -> None:
        """Refuses what only a person may do; a person at a terminal presses a key for it, Enter by `default`."""
        if self.actor.kind != "human":
            from holdfast.core.refusals import person_needed

            raise person_needed(what, remedy)
        if self.person is not None:
            self.person.confirm(what, default=default)


def _host_dirs(environ: Mapping[str, str], home: str) -> dict[str, str]:
    config = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    return {
        "gemini": os.path.join(environ.get("GEMINI_CLI_HOME") or home, ".gemini"),
        "qwen": environ.get("QWEN_HOME") or os.path.join(home, ".qwen"),
        "copilot": environ.get("COPILOT_HOME") or os.path.join(home, ".copilot"),
        "cursor": os.path.join(home, ".cursor"),
        "cline": environ.get("CLINE_DIR") or os.path.join(home, ".cline"),
        "amp": os.path.join(config, "amp"),
        "continue": environ.get("CONTINUE_GLOBAL_DIR") or os.path.join(home, ".continue"),
    }


def is_hosted(environ: Mapping[str, str] | None = None) -> bool:
    """Whether an agent host has started this process."""
    return any((os.environ if environ is None else environ).get(name) for name in HOST_VARIABLES)


def has_screen(environ: Mapping[str, str]) -> bool:
    """Whether a browser that is opened here would be seen by who sits at this terminal."""
    import sys

    here = sys.platform == "darwin" or environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    return bool(here) and not environ.get("SSH_CONNECTION")


def read(environ: Mapping[str, str], *, terminal: bool, surface: str, role: str = "", reads: bool = False) -> Settings:
    """Settings of this process. A role that is named here wins over `HOLDFAST_ACTOR`.

    `reads` says that nothing will be changed: then whose terminal it is matters only to how things are put.
    """
    home = environ.get("HOME") or os.path.expanduser("~")
    role = role or environ.get("HOLDFAST_ACTOR", "")
    if role:
        checked(role, "role")
    person, objection = None, ""
    if terminal and not is_hosted(environ):
        from holdfast.machine import person as people

        objection = "" if reads else people.objection()
        person = None if objection else people.Person(lasting=surface == "cli")
    kind = "human" if person else "agent"
    user = environ.get("USER") or environ.get("LOGNAME") or ""
    session = next((said for name in SESSION_VARIABLES if (said := environ.get(name))), "")[:100]
    if session:
        from holdfast.core.secrets import harmless

        session = harmless(session)
    name = role or (user if kind == "human" and user.isprintable() else "")
    return Settings(
        actor=Actor(kind, name[:64], surface, session),
        person=person,
        objection=objection,
        token=_token(environ),
        run=environ.get("HOLDFAST_RUN", ""),
        allow_unsafe_fs=environ.get("HOLDFAST_ALLOW_UNSAFE_FS") == "1",
        data_dir=environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share"),
        config_dir=environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"),
        home=home,
        claude_dir=environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude"),
        codex_dir=environ.get("CODEX_HOME") or os.path.join(home, ".codex"),
        host_dirs=_host_dirs(environ, home),
        lock_wait=float(_whole(environ, "HOLDFAST_LOCK_WAIT") or 10),
        sudo=environ.get("SUDO_UID", ""),
    )


def folder_gone(environ: Mapping[str, str]) -> tuple[str, str]:
    """The folder of this process where it is there no more, as the shell calls it, and the nearest one above it."""
    gone = environ.get("PWD", "")
    if not os.path.isabs(gone) or os.path.isdir(gone):
        from holdfast.files import system

        gone = system.here.folder_left() or os.sep
    above = gone
    while not os.path.isdir(above):
        above = os.path.dirname(above)
    return gone, above


def _token(environ: Mapping[str, str]) -> str:
    text = environ.get("HOLDFAST_TOKEN", "")
    if text and not is_token(text):
        said = "HOLDFAST_TOKEN is not the token of a lease"
        raise UsageError("bad_lease_token", said, remedy=shell("unset", "HOLDFAST_TOKEN"))
    return text


def _whole(environ: Mapping[str, str], name: str) -> int:
    text = environ.get(name, "")
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise UsageError(
            "bad_number", f"{name} must be a whole number", remedy=shell("unset", name), facts={"value": text[:80]}
        )
    return int(text)
