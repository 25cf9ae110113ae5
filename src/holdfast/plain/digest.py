"""The one content hash of Holdfast: BLAKE2b, 16 bytes, in hex."""

from __future__ import annotations

try:  # hashlib also loads OpenSSL, a third of a bare interpreter start
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b


def digest(data: bytes) -> str:
    """The hash of these bytes. A large document is asked about several times on its way: the last answer is kept."""
    global _last
    last = _last  # taken once: another thread may put its own answer there meanwhile
    if last[0] is data:
        return last[1]
    found = str(blake2b(data, digest_size=16).hexdigest())
    if len(data) >= LARGE:
        _last = (data, found)
    return found


def keyed(key: bytes, data: bytes) -> str:
    """The hash that only a holder of the key can make of these bytes."""
    return str(blake2b(data, digest_size=16, key=key).hexdigest())


LARGE = 16 << 10
_last: tuple[bytes | None, str] = (None, "")
