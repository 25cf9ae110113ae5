"""A macOS that answers on this machine: its C library's calls are made with this one's, its programs from tables."""

from __future__ import annotations

import ctypes
import os

from holdfast.files.system import EXCHANGE, NOREPLACE
from holdfast.files.system.linux import Linux
from holdfast.files.system.macos import MacOS

BOOT = "5D7C9E1A-0000-4000-8000-1234567890AB"


class Library:
    """The calls of the C library that `MacOS` makes, with the arguments that macOS documents for them."""

    def __init__(self, kind: bytes = b"apfs") -> None:
        self._kind = kind
        self._linux = Linux()

    def sysctlbyname(self, name, found, size, new, length):
        assert (name, new, length) == (b"kern.bootsessionuuid", None, 0)
        found.value = BOOT.encode()
        return 0

    def renamex_np(self, source, target, flags):
        flag = {2: EXCHANGE, 4: NOREPLACE}[flags]
        failure = self._linux.rename(os.fsdecode(source), os.fsdecode(target), flag)
        ctypes.set_errno(failure)
        return -1 if failure else 0

    def statfs(self, path, found):
        os.stat(path)
        ctypes.memmove(ctypes.addressof(found) + 72, self._kind, len(self._kind))
        return 0


def programs(table: dict[str, str]):
    """What `ps` and `lsof` print, by the whole line that starts them. Who has a file open is this machine's answer."""

    def run(*words: str) -> str:
        if words[:3] == ("/usr/sbin/lsof", "-t", "--") and " ".join(words) not in table:
            return f"{Linux().opened(words[3]) or ''}\n"
        return table.get(" ".join(words), "")

    return run


def mac(table: dict[str, str] | None = None, kind: bytes = b"apfs") -> MacOS:
    return MacOS(programs(table or {}), Library(kind))
