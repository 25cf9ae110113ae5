"""The one place that reads the environment."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core.names import checked
from holdfast.core.remedy import shell
from holdfast.core.state import Actor
from holdfast.core.value import Value
from holdfast.errors import UsageError

HOST_VARIABLES = (
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_ENTRYPOINT",
    "OPENCODE",
    "OPENCODE_SESSION_ID",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "GEMINI_CLI",
    "COPILOT_CLI",
    "CURSOR_AGENT",
)
"""Set by agent hosts in the shells they run: whoever types there is an agent, terminal or not."""


SESSION_VARIABLES = ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "OPENCODE_SESSION_ID")
"""Those of them that say which session it is."""


class Settings(Value):
    """What the environment says. The actor is a person where a terminal of their own is attached, else an agent."""

    actor: Actor
    token: int = 0
    allow_unsafe_fs: bool = False
    data_dir: str = ""
    config_dir: str = ""
    home: str = ""
    claude_dir: str = ""
    codex_dir: str = ""
    lock_wait: float = 10.0
    sudo: str = ""
    """The id of the user who called sudo, where somebody did."""


def is_hosted(environ: Mapping[str, str] | None = None) -> bool:
    """Whether an agent host has started this process."""
    return any((os.environ if environ is None else environ).get(name) for name in HOST_VARIABLES)


def read(environ: Mapping[str, str], *, terminal: bool, surface: str, role: str = "") -> Settings:
    """Settings of this process. A role that is named here wins over `HOLDFAST_ACTOR`."""
    home = environ.get("HOME") or os.path.expanduser("~")
    role = role or environ.get("HOLDFAST_ACTOR", "")
    if role:
        checked(role, "role")
    kind = "human" if terminal and not is_hosted(environ) else "agent"
    user = environ.get("USER") or environ.get("LOGNAME") or ""
    session = next((said for name in SESSION_VARIABLES if (said := environ.get(name))), "")
    name = role or (user if kind == "human" and user.isprintable() else "")
    return Settings(
        actor=Actor(kind, name[:64], surface, session[:100]),
        token=_whole(environ, "HOLDFAST_TOKEN"),
        allow_unsafe_fs=environ.get("HOLDFAST_ALLOW_UNSAFE_FS") == "1",
        data_dir=environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share"),
        config_dir=environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"),
        home=home,
        claude_dir=environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude"),
        codex_dir=environ.get("CODEX_HOME") or os.path.join(home, ".codex"),
        lock_wait=float(_whole(environ, "HOLDFAST_LOCK_WAIT") or 10),
        sudo=environ.get("SUDO_UID", ""),
    )


def _whole(environ: Mapping[str, str], name: str) -> int:
    text = environ.get(name, "")
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise UsageError(
            "bad_number", f"{name} must be a whole number", remedy=shell("unset", name), facts={"value": text[:80]}
        )
    return int(text)
