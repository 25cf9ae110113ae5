"""Secrets of a root, which outlive the server: a client that was asked something may answer after a restart."""

from __future__ import annotations

import os
from _collections_abc import Callable

from mcp.server.request_state import AESGCMRequestStateCodec

from holdfast.core.remedy import shell
from holdfast.errors import Broken
from holdfast.machine import place as places
from holdfast.machine.place import Place

FOLDER = "mcp"
_BYTES = 32


class StateCodec:
    """Seals what clients carry between two calls. The key is made when the first question is asked.

    `require` raises where nothing may be written.
    """

    def __init__(self, place: Place, require: Callable[[], None] = lambda: None) -> None:
        self._place = place
        self._require = require
        self._made: AESGCMRequestStateCodec | None = None

    def seal(self, payload: bytes) -> str:
        return self._codec().seal(payload)

    def unseal(self, token: str) -> bytes:
        return self._codec().unseal(token)

    def _codec(self) -> AESGCMRequestStateCodec:
        if self._made is None:
            self._made = AESGCMRequestStateCodec([bytes.fromhex(_secret(self._place, "state-key", self._require))])
        return self._made


def token(place: Place, require: Callable[[], None] = lambda: None) -> str:
    """What a client of the HTTP server has to present."""
    return _secret(place, "token", require)


def token_file(place: Place) -> str:
    return os.path.join(place.home, FOLDER, "token")


def _secret(place: Place, name: str, require: Callable[[], None]) -> str:
    """Made once, by the first process that needs it; only its owner can read the file."""
    import secrets

    folder = os.path.join(place.home, FOLDER)
    path = os.path.join(folder, name)
    if not os.path.lexists(path):
        require()
        places.prepare(place, insist=True)  # it is no journal: nothing is lost with it
        os.makedirs(folder, mode=0o700, exist_ok=True)
        made = f"{path}.{secrets.token_hex(8)}"
        fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(fd, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(_BYTES) + "\n")
            file.flush()
            os.fsync(fd)
        try:
            os.link(made, path)
        except FileExistsError:
            pass  # another server was faster
        finally:
            os.unlink(made)
    text = (places.read_regular(path, 4 * _BYTES) or b"").decode("ascii", "replace").strip()
    if os.path.islink(path) or len(text) != 2 * _BYTES or not set(text) <= set("0123456789abcdef"):
        said = f"{path} is not a secret that Holdfast wrote"
        raise Broken("secret_broken", said, remedy=shell("rm", path), facts={"path": path})
    return text
