"""A file system in a file, whose power can be cut: what was not synced is gone."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess

from tests.faults.commands import Commands
from tests.faults.kills import TRIES, Stage, agreed
from tests.faults.project import DOCUMENTS, Scene, disk, is_json, lay, play
from tests.faults.tracing import Call
from tests.tiers import need

MAKE = {"ext4": ("mkfs.ext4", "-q", "-F"), "xfs": ("mkfs.xfs", "-q", "-f")}
SIZE = {"ext4": 64 << 20, "xfs": 320 << 20}
_GOING_DOWN = 0x8004587D
_WITHOUT_THE_LOG = 2
_LONG_AGO = 1_000_000_000


class Image:
    """Mounted at a folder of its own. A cut takes it down and up again."""

    def __init__(self, kind: str, folder: str, name: str) -> None:
        self.kind = kind
        self.path = os.path.join(folder, f"{name}.{kind}")
        self.at = os.path.join(folder, f"{name}.mounted")
        self._is_mounted = False
        need(MAKE[kind][0], "loop devices")

    def make(self) -> None:
        with open(self.path, "wb") as file:
            file.truncate(SIZE[self.kind])
        subprocess.run([*MAKE[self.kind], self.path], check=True, capture_output=True)

    def take(self, other: Image) -> None:
        subprocess.run(["cp", "--sparse=always", other.path, self.path], check=True)

    def __enter__(self) -> str:
        os.makedirs(self.at, exist_ok=True)
        subprocess.run(["mount", "-o", "loop", self.path, self.at], check=True)
        self._is_mounted = True
        return os.path.join(self.at, "project")

    def __exit__(self, *_: object) -> None:
        if self._is_mounted:
            subprocess.run(["umount", self.at], check=True)
            self._is_mounted = False

    def cut(self) -> None:
        folder = os.open(self.at, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(folder, _GOING_DOWN, struct.pack("I", _WITHOUT_THE_LOG))
        finally:
            os.close(folder)
        self.__exit__()
        self.__enter__()


class Site:
    """A project on an image, and the same project elsewhere to know what a command makes of it."""

    def __init__(self, kind: str, folder: str, commands: Commands, scene: Scene) -> None:
        self.stage = Stage(folder, commands, scene)
        self.torn = 0
        self._commands = commands
        self._blank = Image(kind, folder, "blank")
        self._image = Image(kind, folder, "image")
        self._blank.make()
        with self._blank as root:
            lay(root)
        self.calls = agreed(self._record)

    def _record(self) -> list[Call]:
        self._image.take(self._blank)
        with self._image as root:
            return self.stage.tracer.calls(play(root, self._commands, self.stage.scene))

    def cut_before(self, call: Call, *, later: bool = False) -> str:
        """The power goes while a command is about to make a call, or `later`, when others have synced their files.

        Then the log knows of every name the command changed, and still not of the content. Gives what was wrong.
        """
        for _ in range(TRIES):
            self._image.take(self._blank)
            with self._image as root:
                answer = self.stage.tracer.killed_before(call, play(root, self._commands, self.stage.scene))
                if answer is None:
                    continue
                if later:
                    sync_beside(root)
                self._image.cut()
                try:
                    self._comes_back(root, acknowledged=bool(answer.out))
                except AssertionError as failure:
                    return f"cut {'later than' if later else 'before'} {call}: {failure}"
                return ""
        raise RuntimeError("the calls of the command are not those that were recorded")

    def _comes_back(self, root: str, *, acknowledged: bool) -> None:
        """Everything acknowledged is there, and the next commands fix the views without a word about anybody."""
        found, known = disk(root), len(self.stage.scene.before)
        assert sum(len(lines) for lines in found.journals.values()) >= known, "acknowledged, and gone"
        assert not acknowledged or self.stage.judge.happened(root), "acknowledged, and gone"
        for folder, _, names in os.walk(os.path.join(root, DOCUMENTS)):
            for name in names:  # a machine takes longer to come back than a file that is being written may be broken
                os.utime(os.path.join(folder, name), (_LONG_AGO, _LONG_AGO))
        self.torn += any(not is_json(data) for path, data in found.views.items() if path.startswith(DOCUMENTS))
        self.stage.judge.goes_on(root, damaged=True)


def sync_beside(root: str) -> None:
    fd = os.open(f"{root}.other", os.O_WRONLY | os.O_CREAT)
    try:
        os.write(fd, b"somebody else's")
        os.fsync(fd)
    finally:
        os.close(fd)


def cut_before_every_change(site: Site, *, later: bool = False) -> list[Call]:
    calls = [call for call in site.calls if call.changes or not call.about]
    failures = [failure for call in calls if (failure := site.cut_before(call, later=later))]
    assert not failures, "\n".join([f"{len(failures)} of {len(calls)}", *failures])
    return calls
