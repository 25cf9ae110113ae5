"""The one content hash of Holdfast: BLAKE2b, 16 bytes, in hex."""

from __future__ import annotations

try:  # hashlib also loads OpenSSL, a third of a bare interpreter start
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b


def digest(data: bytes) -> str:
    return str(blake2b(data, digest_size=16).hexdigest())
