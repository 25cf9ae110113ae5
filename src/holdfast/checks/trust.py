"""Trust in the commands that a definition brings: given by a person, on this machine, to exactly this content.

A clone can bring a definition whose checks have `run`; nothing of it is run before somebody read it and said so. One
changed byte, or the same file elsewhere, is not trusted. What is trusted by its origin is not asked about here:
definitions that come with Holdfast, and those a caller wrote as Python values.

`data_dir` and `config_dir` are what `XDG_DATA_HOME` and `XDG_CONFIG_HOME` stand for: outside of any repository.
"""

from __future__ import annotations

import os
from stat import S_ISREG

from holdfast.core.remedy import Remedy, shell
from holdfast.errors import HoldfastError, Refused
from holdfast.machine import users
from holdfast.plain.digest import digest as hashed

_LARGEST_RECORD = 1 << 16


def trusted(digest: str, path: str | None, *, data_dir: str, config_dir: str) -> bool:
    """Whether commands of this content at this path may run; without a path there is nothing to have trusted."""
    if not path or not digest:
        return False
    real = os.path.realpath(path)
    unsafe: HoldfastError | None = None
    try:
        if _is_record(os.path.join(_folder(data_dir), _record(real, digest))):
            return True
    except Refused as refusal:
        unsafe = refusal
    if any(_covers(prefix, real) for prefix in _prefixes(config_dir)):
        return True
    if unsafe:
        raise unsafe
    return False


def owner(uid: int) -> str:
    """What is trusted in a folder in place of a digest: that it belongs to this user."""
    return f"owner {uid}"


def trust(path: str, digest: str, *, data_dir: str, now: str) -> None:
    """Trust what is in this file, as long as it has this digest."""
    import json

    from holdfast.files.replace import durable_write

    real = os.path.realpath(path)
    record = os.path.join(_folder(data_dir), _record(real, digest))
    said = json.dumps({"path": real, "digest": digest, "when": now})
    durable_write(record, said.encode() + b"\n", 0o600, dir_mode=0o700)


def untrust(path: str, *, data_dir: str) -> bool:
    """Take back all trust in this file, whatever it held then; whether there was any."""
    from holdfast.files.replace import remove, sync_directories

    folder, real = _folder(data_dir), os.path.realpath(path)
    records = [os.path.join(folder, name) for name in _names(folder)]
    about = [record for record in records if _path_in(record) == real]
    for record in about:
        remove(record)
    if about:
        sync_directories(folder, [])
    return bool(about)


def _folder(data_dir: str) -> str:
    """The directory of the records; refused when somebody else could have put one there."""
    folder = os.path.join(data_dir, "holdfast", "trust")
    try:
        found = os.stat(folder)
    except (FileNotFoundError, NotADirectoryError):
        return folder
    if found.st_uid != os.geteuid():
        raise _unsafe(folder, found, "belongs to somebody else", shell("ls", "-ld", folder, who="person"))
    if found.st_mode & 0o022:
        look = shell("ls", "-l", folder, who="person")
        close = shell("chmod", "700", folder, text="then, if all of it is yours", who="person")
        raise _unsafe(folder, found, "can be written by others", look, close)
    return folder


def _unsafe(folder: str, found: os.stat_result, reason: str, *remedy: Remedy) -> Refused:
    said = f"{folder} {reason}, so what it says about trust is ignored"
    facts = {"path": folder, "owner": found.st_uid, "mode": f"{found.st_mode & 0o7777:04o}"}
    return Refused("unsafe_trust", said, remedy=remedy, facts=facts)


def _record(real: str, digest: str) -> str:
    return hashed(os.fsencode(real) + b"\n" + digest.encode())


def _is_record(record: str) -> bool:
    try:
        found = os.lstat(record)
    except OSError:
        return False
    return S_ISREG(found.st_mode) and found.st_uid == os.geteuid()


def _names(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _path_in(record: str) -> str:
    import json

    if not _is_record(record):
        return ""
    with open(record, "rb") as file:
        try:
            said = json.loads(file.read(_LARGEST_RECORD))
        except (ValueError, RecursionError):
            return ""
    return str(said.get("path", "")) if isinstance(said, dict) else ""


def _covers(prefix: str, real: str) -> bool:
    prefix = os.path.realpath(prefix)
    return real == prefix or real.startswith(os.path.join(prefix, ""))


def _prefixes(config_dir: str) -> list[str]:
    """`trust = ["/home/me/projects"]` in the user's own settings."""
    prefixes = users.config(config_dir).get("trust", [])
    if not isinstance(prefixes, list) or not all(isinstance(p, str) and os.path.isabs(p) for p in prefixes):
        raise users.bad_config(config_dir, "trust is a list of absolute paths")
    return prefixes
