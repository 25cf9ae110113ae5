"""The user's own settings, `~/.config/holdfast/config.toml`: what holds on this machine, whatever a project says."""

from __future__ import annotations

import os

from holdfast.core.remedy import Remedy, advice, shell
from holdfast.core.value import Any
from holdfast.errors import UsageError

_LARGEST = 1 << 20


def config(config_dir: str) -> dict[str, Any]:
    """The file as data; empty where there is none. One that others can write is refused."""
    try:
        with open(_path(config_dir), "rb") as file:
            found = os.fstat(file.fileno())
            text = file.read(_LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as failure:
        raise bad_config(config_dir, failure.strerror or str(failure)) from None
    if found.st_uid not in (0, os.geteuid()) or found.st_mode & 0o002:
        close = shell("chmod", "go-w", _path(config_dir), who="person")
        raise bad_config(config_dir, "it can be written by somebody else", close)
    if len(text) > _LARGEST:
        raise bad_config(config_dir, "it is larger than 1 MiB")
    import tomllib

    try:
        return tomllib.loads(text.decode())
    except (ValueError, RecursionError) as wrong:
        raise bad_config(config_dir, f"not TOML: {wrong}") from None


def bad_config(config_dir: str, reason: str, remedy: Remedy | None = None) -> UsageError:
    path = _path(config_dir)
    own = remedy or advice(f"correct {path}")
    return UsageError("bad_config", f"{path}: {reason}", remedy=own, facts={"path": path})


def _path(config_dir: str) -> str:
    return os.path.join(config_dir, "holdfast", "config.toml")
