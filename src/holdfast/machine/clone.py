"""This clone of a project: what records call it, and the key that the codes of its approvals are made with.

The key comes from a secret that the user has on this machine, outside of any repository, and from where the clone is.
So a code that was made in another clone, by another user or on another machine does not fit. Whatever runs as the same
user can read the secret.
"""

from __future__ import annotations

import os
from stat import S_ISREG

from holdfast.plain.digest import keyed

_LENGTH = 32


def name(root: str) -> str:
    """The machine and the folder: `laptop:harbour`."""
    return f"{os.uname().nodename}:{os.path.basename(root)}"


def key(data_dir: str, home: str, *, make: bool = False, wait: float = 10.0) -> bytes:
    """The key of the clone whose `.holdfast` this is. Without a secret nothing fits, unless one is to be made."""
    folder = os.path.join(data_dir, "holdfast", "trust")
    path = os.path.join(folder, ".approvals")
    secret = _read(path)
    if not secret and make:
        secret = _made(folder, path, wait)
    return keyed(secret or os.urandom(_LENGTH), os.fsencode(os.path.realpath(home))).encode()


def _made(folder: str, path: str, wait: float) -> bytes:
    """A new secret, unless another process was faster."""
    from holdfast.files.locks import Locked
    from holdfast.files.replace import durable_write, not_written

    try:
        with Locked(folder, wait):
            secret = _read(path)
            if not secret:
                secret = os.urandom(_LENGTH)
                durable_write(path, secret, alone=True)
            return secret
    except OSError as failure:
        raise not_written(path, failure) from failure


def _read(path: str) -> bytes:
    """The secret; nothing where there is none, or others could have put it there."""
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            content = file.read(_LENGTH + 1)
    except OSError:
        return b""
    own = S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
    return content if own and len(content) == _LENGTH else b""
