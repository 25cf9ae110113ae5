"""The project's settings, `.holdfast/config.toml`: how it is read, and what it says of resuming.

What commands it names is read where commands are looked for.
"""

from __future__ import annotations

import os
from _collections_abc import Callable, Sequence
from errno import EIO

from holdfast.core.names import unknown_key
from holdfast.core.secrets import DEFAULT, Secrets
from holdfast.core.value import Any, Value
from holdfast.errors import UsageError
from holdfast.machine.place import read_regular, regular
from holdfast.plain.digest import digest

CONFIG = ".holdfast/config.toml"
LARGEST = 1 << 20
_SHORTEST = 4
PACKET = (1000, 50_000)
"""How short and how long a resume packet may be set to be."""


Mistake = tuple[tuple[str | int, ...], str]
"""The place in the data, and what is wrong there."""


class Resuming(Value):
    """What holds for every workflow of the project, beside what its definition says."""

    packet_limit: int = 9000
    require_ack: bool = False
    keep_going: bool = False


class Agents(Value):
    """How agents work side by side."""

    worktrees: bool = False
    prepare: tuple[str, ...] = ()
    """The command that makes a new worktree ready; it runs only as a person trusted it."""


class Parsed(Value):
    path: str
    text: str
    data: dict[str, Any]

    def report(self, mistakes: Sequence[Mistake]) -> None:
        """Raises one error that lists every mistake with its line, if there are any."""
        if mistakes:
            from holdfast.machine.tomlplaces import Places

            places = Places(self.text)
            raise bad_config(self.path, [(places.line(where), message) for where, message in mistakes])


def parse(root: str) -> Parsed | None:
    """The file as data; None where there is none. Raises when it cannot be read as TOML."""
    path = os.path.join(root, CONFIG)
    try:
        content = regular(path, LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as failure:
        if failure.errno == EIO:
            raise  # the disk's fault, and no mistake of anybody's
        raise bad_config(path, [(0, f"it cannot be read: {failure.strerror or failure}")]) from None
    if len(content) > LARGEST:
        raise bad_config(path, [(0, f"it is larger than {LARGEST >> 20} MiB")])
    from holdfast.machine.tomlplaces import NotToml
    from holdfast.machine.tomlplaces import parse as toml

    try:
        return Parsed(path, *toml(content))
    except NotToml as wrong:
        raise bad_config(path, [(wrong.line, str(wrong))]) from None


def resuming(root: str) -> Resuming:
    """The table `[resume]`; the defaults where there is none."""
    known = ("packet_limit", "require_ack", "keep_going")
    parsed, table, mistakes = _table(root, "resume", known, "require_ack = true")
    limit = table.get("packet_limit", Resuming.packet_limit)
    if not isinstance(limit, int) or not PACKET[0] <= limit <= PACKET[1]:
        mistakes.append((("resume", "packet_limit"), f"packet_limit is a number from {PACKET[0]} to {PACKET[1]}"))
    wrong = [flag for flag in known[1:] if not isinstance(table.get(flag, False), bool)]
    parsed.report([*mistakes, *((("resume", flag), f"{flag} is true or false") for flag in wrong)])
    return Resuming(limit, table.get("require_ack", False), table.get("keep_going", False))


def agents(root: str) -> Agents:
    """The table `[agents]`; the defaults where there is none."""
    parsed, table, wrong = _table(root, "agents", ("worktrees", "prepare"), "worktrees = true")
    worktrees, prepare = table.get("worktrees", False), table.get("prepare", [])
    if not isinstance(worktrees, bool):
        wrong.append((("agents", "worktrees"), "worktrees is true or false"))
    if not isinstance(prepare, list) or not all(isinstance(w, str) and w and "\0" not in w for w in prepare):
        wrong.append((("agents", "prepare"), 'prepare is a list of words such as ["npm", "ci"], no shell'))
    parsed.report(wrong)
    return Agents(worktrees, tuple(prepare))


def uses_pull_requests(root: str) -> bool:
    """Whether people approve features on pull requests: so it is, unless `[feature]` has `pull_request = "never"`."""
    parsed, table, wrong = _table(root, "feature", ("pull_request",), 'pull_request = "never"')
    said = table.get("pull_request", "auto")
    if said not in ("auto", "never"):
        wrong.append((("feature", "pull_request"), 'pull_request is "auto" or "never"'))
    parsed.report(wrong)
    return bool(said == "auto")


def warns_of_plans(root: str, is_trusted: Callable[[str, str], bool]) -> bool:
    """Whether a scene continues, with a warning, while its plan or blueprint does not hold: where a person trusted a
    configuration that has `plan = "warn"` in `[story]`.
    """
    parsed, table, wrong = _table(root, "story", ("plan",), 'plan = "warn"')
    said = table.get("plan", "require")
    if said not in ("require", "warn"):
        wrong.append((("story", "plan"), 'plan is "require" or "warn"'))
    parsed.report(wrong)
    return said == "warn" and is_trusted(digest(parsed.text.encode()), os.path.join(root, CONFIG))


def secrets(root: str, is_trusted: Callable[[str, str], bool]) -> Secrets:
    """The table `[secrets]`, as a person trusted it; the defaults otherwise."""
    path = os.path.join(root, CONFIG)
    if not os.path.lexists(path) or b"secrets" not in (read_regular(path, LARGEST) or b"secrets"):
        return DEFAULT  # asked before every change
    parsed, table, wrong = _table(root, "secrets", ("redact", "prefixes", "allow"), "redact = true")
    redact, prefixes, allow = table.get("redact", True), table.get("prefixes", {}), table.get("allow", [])
    if not isinstance(redact, bool):
        wrong.append((("secrets", "redact"), "redact is true or false"))
    if not isinstance(prefixes, dict):
        wrong.append((("secrets", "prefixes"), 'prefixes is a table such as { "Acme token" = "acme_" }'))
    for name, prefix in prefixes.items() if isinstance(prefixes, dict) else ():
        plain = isinstance(prefix, str) and all(one.isascii() and one.isprintable() for one in (name, prefix))
        if not plain or " " in prefix or not (0 < len(name) <= 40 and _SHORTEST <= len(prefix) <= 40):
            said = f"{_SHORTEST} to 40 ASCII characters without blanks, with which the token begins, under a short name"
            wrong.append((("secrets", "prefixes", name), f"each of prefixes is {said}"))
    if not isinstance(allow, list) or not all(isinstance(one, str) and one.strip("/*") for one in allow):
        wrong.append((("secrets", "allow"), 'allow is a list of files or patterns such as "tests/fixtures/*"'))
    parsed.report(wrong)
    given = Secrets(redact, prefixes, tuple(allow))
    return given if given == DEFAULT or is_trusted(digest(parsed.text.encode()), path) else DEFAULT


def _table(root: str, name: str, known: tuple[str, ...], example: str) -> tuple[Parsed, dict[str, Any], list[Mistake]]:
    """The file, one table of it, and the keys there that nobody knows; empty where there is none."""
    parsed = parse(root) or Parsed(CONFIG, "", {})
    table = parsed.data.get(name, {})
    if not isinstance(table, dict):
        parsed.report([((name,), f"{name} is a table such as [{name}] with {example}")])
    return parsed, table, [((name, key), unknown_key(key, known)) for key in table if key not in known]


def bad_config(path: str, mistakes: list[tuple[int, str]]) -> UsageError:
    """Line 0: the mistake is that of the whole file."""
    from holdfast.core.mistakes import mistaken

    found = [{"where": f"{CONFIG}:{line}" if line else CONFIG, "message": message} for line, message in mistakes]
    return mistaken("bad_config", "configuration", found, f"correct {CONFIG}", path=path)
