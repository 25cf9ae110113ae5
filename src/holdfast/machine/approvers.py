"""The lists of those who may approve with a passkey: JSON lines, each of which grows the list by a signature.

Each line names the SHA-256 of the one before. The first line is the root, and a reader has to know that it is the
right one. Each line after it carries an assertion by a key in force before it, over the text of the change.
"""

from __future__ import annotations

import json
import os
import re

from holdfast.core import remedies
from holdfast.core.remedy import shell
from holdfast.core.value import Any, Value
from holdfast.errors import Broken, NotFound, Refused
from holdfast.machine import passkeys
from holdfast.machine.passkeys import Assertion, Key, sha256
from holdfast.machine.place import HOME, Place, read_regular

NAME = "approvers"
SYSTEM = "/etc/holdfast"
"""Where the list of the machine is. Where it exists and the user cannot write it, only that one counts."""
ADD, REMOVE = "add", "remove"
LARGEST = 1 << 20


class Approvers(Value):
    """One list: where it is, its lines without their ends, and the keys in force after each of them."""

    path: str
    lines: tuple[bytes, ...] = ()
    keys: tuple[tuple[Key, ...], ...] = ()
    after: str = ""
    """The hash of the last line of the list in whose place this one was put, when all of its keys were lost."""

    @property
    def at(self) -> tuple[int, str]:
        """Its length and the hash of its last line, as statements name it."""
        return len(self.lines), self.hash_of(len(self.lines))

    @property
    def root(self) -> str:
        return self.hash_of(1)

    @property
    def now(self) -> tuple[Key, ...]:
        return self.keys[-1] if self.keys else ()

    def hash_of(self, number: int) -> str:
        return sha256(self.lines[number - 1]).hex() if 0 < number <= len(self.lines) else ""

    def continues(self, at: tuple[int, str]) -> bool:
        """Whether it is the list that a statement names, perhaps with more lines."""
        return at[0] > 0 and self.hash_of(at[0]) == at[1]

    def key(self, credential: str, number: int = 0) -> Key | None:
        """The key with this id, if it is in force after a line; without a number, after the last."""
        known = self.keys[(number or len(self.lines)) - 1] if self.lines else ()
        return next((key for key in known if key.credential == credential), None)


class Change(Value):
    """A line that a list is to get: the text that is signed for it, and what it says."""

    op: str
    number: int
    after: str
    key: Key

    @property
    def text(self) -> str:
        return "".join(
            f"{line}\n"
            for line in (
                "holdfast approver 1",
                f"op {_json(self.op)}",
                f"number {self.number}",
                f"after {_json(self.after)}",
                f"key {_json(dict(self.key.items()))}",
            )
        )

    def line(self, signed: Assertion | None) -> bytes:
        said: dict[str, Any] = {"op": self.op, "number": self.number, "after": self.after}
        said["key"] = dict(self.key.items())
        return _json({**said, **({"signed": dict(signed.items())} if signed else {})}).encode()


def adding(known: Approvers, key: Key, after: str = "") -> Change:
    """The line that adds a key; `after` is the hash of the list in whose place a new one is put."""
    if any(key.credential == one.credential or key.name == one.name for one in known.now):
        said = f"there is a key {key.name!r} in {known.path} already, or the same key under another name"
        raise Refused("key_known", said, remedy=remedies.named("passkey list"), facts={"name": key.name})
    number = len(known.lines) + 1
    return Change(ADD, number, known.at[1] if known.lines else after, key)


def removing(known: Approvers, name: str) -> Change:
    key = next((one for one in known.now if one.name == name), None)
    if key is None:
        raise unknown_key(name, known)
    if len(known.now) == 1:
        said = f"{name!r} is the only key in {known.path}, and without one nobody could add another"
        raise Refused("last_key", said, remedy=remedies.page(text="add another key first"), facts={"name": name})
    return Change(REMOVE, len(known.lines) + 1, known.at[1], key)


def unknown_key(name: str, known: Approvers) -> NotFound:
    said = f"there is no key {name[:64]!r} in {known.path}"
    names = [one.name for one in known.now]
    return NotFound(
        "no_such_key", said, remedy=remedies.named("passkey list"), facts={"name": name[:64], "known": names}
    )


def applied(known: Approvers, change: Change, signed: Assertion | None) -> Approvers:
    """The list with one more line; refused where the line does not follow from the list."""
    if (change.number, change.after) != (len(known.lines) + 1, known.at[1] if known.lines else change.after):
        raise _wrong(known.path, change.number, "it does not name the line before it")
    if change.op == ADD:
        if change != adding(known, change.key, change.after):
            raise _wrong(known.path, change.number, "it adds a key that is there")
        keys = (*known.now, change.key)
    else:
        if change.op != REMOVE or change.key not in known.now or len(known.now) == 1:
            raise _wrong(known.path, change.number, "it removes a key that is not there, or the last one")
        keys = tuple(one for one in known.now if one != change.key)
    if known.lines:
        signer = known.key(signed.credential) if signed else None
        if signed is None or signer is None:
            raise _wrong(known.path, change.number, "no key that was in force signed it")
        passkeys.require(signer, change.text, signed)
    elif signed is not None or change.op != ADD:
        raise _wrong(known.path, change.number, "a list begins with a key")
    after = known.after if known.lines else change.after
    return Approvers(known.path, (*known.lines, change.line(signed)), (*known.keys, keys), after)


def read(path: str) -> Approvers:
    """The list in a file, every line of which follows from the one before; an empty one where there is no file."""
    data = read_regular(path, LARGEST)
    if data is None:
        if os.path.lexists(path):
            raise _wrong(path, 0, f"it cannot be read, or is larger than {LARGEST >> 20} MiB")
        return Approvers(path)
    return of(path, data)


def of(path: str, data: bytes) -> Approvers:
    """The list of these bytes; `path` is what refusals call it."""
    found = Approvers(path)
    *lines, rest = data.split(b"\n")
    if rest:
        raise _wrong(path, len(lines) + 1, "its last line is not whole")
    for number, line in enumerate(lines, 1):
        try:
            said = json.loads(line)
            signed = Assertion(**said.pop("signed")) if "signed" in said else None
            change = Change(**{**said, "key": Key(**said["key"])})
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise _wrong(path, number, "it is no line of a list of approvers") from None
        if any(type(value) is not str for value in (*change.key.__dict__.values(), change.after)):
            raise _wrong(path, number, "it is no line of a list of approvers")
        try:
            found = applied(found, change, signed)
        except Refused as refusal:
            raise _wrong(path, number, refusal.message) from refusal
        if found.lines[-1] != line:
            raise _wrong(path, number, "it is written in another way than Holdfast writes it")
    return found


def write(found: Approvers) -> None:
    """Puts the list in place, durably; only its owner reads and writes it outside of a project."""
    from holdfast.files.replace import durable_write

    durable_write(found.path, b"".join(line + b"\n" for line in found.lines), 0o600, dir_mode=0o700)


class Lists:
    """The three places of this user and project."""

    def __init__(self, place: Place, config_dir: str, system: str = SYSTEM) -> None:
        self._place = place
        self.own = os.path.join(config_dir, "holdfast", NAME)
        self.shared = os.path.join(place.home, NAME)
        self.system = os.path.join(system, NAME)

    @property
    def counting(self) -> str:
        """The file that counts here: that of the machine, else the user's own, else the project's."""
        if self.is_fixed:
            return self.system
        return self.own if os.path.lexists(self.own) or not os.path.lexists(self.shared) else self.shared

    @property
    def is_fixed(self) -> bool:
        """Whether the machine's own list alone counts."""
        return os.path.isfile(self.system) and not os.access(self.system, os.W_OK)

    def here(self) -> Approvers:
        """The list that counts here. On another branch than the base, the project's counts as the base has it."""
        path = self.counting
        if path == self.shared and os.path.lexists(path):
            from holdfast.machine.signing import require_as_base

            require_as_base(self._place, self.shared, self.own, "approvers_changed", "who may approve")
        return read(path)

    def every(self) -> list[Approvers]:
        """All lists by which a proof may hold that was given before or elsewhere, also those that were replaced."""
        if self.is_fixed:
            return [read(self.system)]
        paths = [path for file in (self.own, self.shared) for path in (file, *retired(file))]
        return [read(path) for path in paths if os.path.lexists(path)]


def retired(path: str) -> list[str]:
    """The lists in whose place others were put."""
    folder, name = os.path.split(path)
    try:
        found = os.listdir(folder)
    except OSError:
        return []
    return [os.path.join(folder, one) for one in sorted(found) if one.startswith(f"{name}.") and is_retired(one)]


def is_retired(path: str) -> bool:
    """Whether the name is that of a list in whose place another was put."""
    return re.fullmatch(rf"{NAME}\.[0-9a-f]{{16}}", os.path.basename(path)) is not None


def retire(known: Approvers) -> str:
    """Moves a list aside whose keys are all lost; says where it is."""
    from holdfast.files.replace import sync_directories

    to = f"{known.path}.{known.at[1][:16]}"
    os.replace(known.path, to)
    sync_directories(os.path.dirname(to), [])
    return to


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _wrong(path: str, number: int, why: str) -> Broken:
    where = f"line {number} of {path}" if number else path
    said = f"{where} does not hold, so nobody approves by it: {why}"
    remedy = shell("ls", "-l", path, text="see when it changed, and restore a copy that you trust", who="person")
    if os.path.basename(os.path.dirname(path)) == HOME:
        remedy = shell("git", "log", "--", path, text="see what changed it", who="person")
    return Broken("bad_approvers", said, remedy=remedy, facts={"path": path, "line": number, "reason": why})
