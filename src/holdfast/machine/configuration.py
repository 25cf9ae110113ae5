"""The project's settings, `.holdfast/config.toml`: how it is read, and what it says of resuming.

What commands it names is read where commands are looked for.
"""

from __future__ import annotations

import os
from errno import EIO

from holdfast.core.names import nearest
from holdfast.core.value import Any, Value
from holdfast.errors import UsageError
from holdfast.machine.place import regular

CONFIG = ".holdfast/config.toml"
LARGEST = 1 << 20
PACKET = (1000, 50_000)
"""How short and how long a resume packet may be set to be."""


class Resuming(Value):
    """What holds for every workflow of the project, beside what its definition says."""

    packet_limit: int = 9000
    require_ack: bool = False
    keep_going: bool = False


class Parsed(Value):
    path: str
    text: str
    data: dict[str, Any]

    def report(self, mistakes: list[tuple[tuple[str | int, ...], str]]) -> None:
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
    try:
        text = content.decode()
    except UnicodeDecodeError as wrong:
        raise bad_config(path, [(content.count(b"\n", 0, wrong.start) + 1, "this is not UTF-8")]) from None
    return Parsed(path, text, _toml(path, text))


def resuming(root: str) -> Resuming:
    """The table `[resume]`; the defaults where there is none."""
    parsed = parse(root)
    if parsed is None or "resume" not in parsed.data:
        return Resuming()
    table = parsed.data["resume"]
    mistakes: list[tuple[tuple[str | int, ...], str]] = []
    if not isinstance(table, dict):
        parsed.report([(("resume",), "resume is a table such as [resume] with require_ack = true")])
    known = ("packet_limit", "require_ack", "keep_going")
    for key in table:
        if key not in known:
            close = nearest(key, known)
            hint = f", did you mean {close!r}?" if close else f"; known are {', '.join(known)}"
            mistakes.append((("resume", key), f"unknown key {key[:60]!r}{hint}"))
    limit = table.get("packet_limit", Resuming.packet_limit)
    if not isinstance(limit, int) or not PACKET[0] <= limit <= PACKET[1]:
        mistakes.append((("resume", "packet_limit"), f"packet_limit is a number from {PACKET[0]} to {PACKET[1]}"))
    wrong = [flag for flag in known[1:] if not isinstance(table.get(flag, False), bool)]
    mistakes += [(("resume", flag), f"{flag} is true or false") for flag in wrong]
    parsed.report(mistakes)
    return Resuming(limit, table.get("require_ack", False), table.get("keep_going", False))


def uses_pull_requests(root: str) -> bool:
    """Whether people approve features on pull requests: so it is, unless `[feature]` has `pull_request = "never"`."""
    parsed = parse(root)
    if parsed is None or "feature" not in parsed.data:
        return True
    table = parsed.data["feature"]
    if not isinstance(table, dict):
        parsed.report([(("feature",), 'feature is a table such as [feature] with pull_request = "never"')])
    unknown = [key for key in table if key != "pull_request"]
    wrong = [(("feature", key), f"unknown key {key[:60]!r}; known is pull_request") for key in unknown]
    said = table.get("pull_request", "auto")
    if said not in ("auto", "never"):
        wrong.append((("feature", "pull_request"), 'pull_request is "auto" or "never"'))
    parsed.report([*wrong])
    return bool(said == "auto")


def _toml(path: str, text: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        message, _, place = str(wrong).rpartition(" (at ")
        number = place.removeprefix("line ").partition(",")[0]
        line = int(number) if number.isdigit() else text.rstrip().count("\n") + 1
        raise bad_config(path, [(line, f"not TOML: {message}")]) from None
    except (ValueError, RecursionError) as wrong:
        from holdfast.machine.tomlplaces import unparsable

        reason = "nested too deeply" if isinstance(wrong, RecursionError) else str(wrong)
        raise bad_config(path, [(unparsable(text), f"not TOML: {reason}")]) from None


def bad_config(path: str, mistakes: list[tuple[int, str]]) -> UsageError:
    """Line 0: the mistake is that of the whole file."""
    found = [{"where": f"{CONFIG}:{line}" if line else CONFIG, "message": message} for line, message in mistakes]
    many = len(found)
    listed = "; ".join(f"{mistake['where']}: {mistake['message']}" for mistake in found)
    said = f"{many} mistake{'s' if many > 1 else ''} in the configuration: {listed}"
    return UsageError("bad_config", said, remedy=f"${{EDITOR:-vi}} {CONFIG}", facts={"path": path, "mistakes": found})
