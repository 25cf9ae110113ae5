"""What a shell puts in the place of a word: what braces stand for, and variables that the line itself sets."""

from __future__ import annotations

from holdfast.surfaces.hooks import programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.surfaces.hooks.shell import Command

_MOST = 200
_SETTING = ("export", "declare", "typeset", "readonly", "local")


def braces(word: str) -> list[str]:
    """`a{b,c}` is `ab` and `ac`, `{1..3}` three words; a word without such braces is itself."""
    found, done = [word], list[str]()
    while found and len(found) + len(done) < _MOST:
        one = found.pop(0)
        parts = _first(one)
        if parts is None:
            done.append(one)
        else:
            before, middle, after = parts
            found[:0] = [before + part + after for part in middle]
    return done + found


def _first(word: str) -> tuple[str, list[str], str] | None:
    """The first braces that stand for several words: what comes before them, the words, and the rest."""
    at = word.find("{")
    while at >= 0:
        end = _closing(word, at)
        if end and word[at - 1 : at] != "$":
            parts = _parts(word[at + 1 : end]) or _sequence(word[at + 1 : end])
            if parts:
                return word[:at], parts, word[end + 1 :]
        at = word.find("{", at + 1)
    return None


def _closing(word: str, at: int) -> int:
    depth = 0
    for end in range(at, len(word)):
        depth += (word[end] == "{") - (word[end] == "}")
        if not depth:
            return end
    return 0


def _parts(inside: str) -> list[str]:
    """What the commas separate, those within inner braces aside; none where there is no comma."""
    parts, depth = [""], 0
    for c in inside:
        depth += (c == "{") - (c == "}")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return parts if len(parts) > 1 else []


def _sequence(inside: str) -> list[str]:
    first, dots, last = inside.partition("..")
    if not dots:
        return []
    if first.isdecimal() and last.isdecimal() and len(first + last) < 9:
        return list(map(str, range(int(first), min(int(last), int(first) + _MOST) + 1)))
    return list(map(chr, range(ord(first), ord(last) + 1))) if len(first) == len(last) == 1 else []


def variables(commands: list[Command], known: dict[str, list[str]]) -> None:
    """Put the values that earlier commands of a line gave to variables into the words and targets of later ones."""
    for command in commands:
        if command.words and programs.is_shell(command.words[0]):
            command.words = [_filled(word, known) for word in command.words]  # a script is one word
        else:
            command.words = [part for word in command.words for part in _values(word, known)]
        command.targets = [part for word in command.targets for part in _values(word, known)]
        command.fed = _filled(command.fed, known)
        _note(command.words, known)


def called(commands: list[Command], aliases: dict[str, list[str]]) -> list[str | list[str]]:
    """What runs where a word stands for a command: an alias, a function that hands its words on, the output of echo."""
    found: list[str | list[str]] = []
    handing_on = [one.words for one in commands if any(_argument(word) for word in one.words)]
    for command in commands:
        words = command.words
        if words[:1] == ["alias"]:
            named = (word.partition("=") for word in words[1:])
            aliases.update({name: value.split() for name, equals, value in named if equals})
        elif words and words[0] in aliases:
            found.append([*aliases[words[0]], *words[1:]])
        elif words and words not in handing_on:
            if any(_is_substitution(word) for word in words):
                found.append([part for word in words for part in _printed(word)])
            bodies = (body for body in handing_on if len(words) > 1 and programs.holdfast(body) is not None)
            found += [[part for word in body for part in _handed(word, words[1:])] for body in bodies]
    return found


def _argument(word: str) -> str:
    """Which of its own words a function puts there: a number, or all."""
    name = word.lstrip("$").strip("{}")
    return name if word.startswith("$") and (name in ("@", "*") or (name.isdecimal() and len(name) < 3)) else ""


def _handed(word: str, given: list[str]) -> list[str]:
    name = _argument(word)
    if not name:
        return [word]
    return given if name in ("@", "*") else given[int(name) - 1 : int(name)] if name != "0" else []


def _is_substitution(word: str) -> bool:
    return (word.startswith("$(") and word.endswith(")")) or (len(word) > 2 and word[0] == word[-1] == "`")


def _printed(word: str) -> list[str]:
    """The words that a substitution puts there, where it only prints them or finds a program; else it as it is."""
    words = (
        word[2 if word[0] == "$" else 1 : -1].replace("'", "").replace('"', "").split()
        if _is_substitution(word)
        else []
    )
    if words[:1] in (["echo"], ["printf"]):
        return [one for one in words[1:] if not one.startswith(("-", "%"))]
    finds = words[:1] in (["which"], ["type"], ["whence"]) or words[:2] == ["command", "-v"]
    return words[-1:] if finds else [word]


def _note(words: list[str], known: dict[str, list[str]]) -> None:
    if words[:1] == ["for"] and words[2:3] == ["in"]:
        known[words[1]] = words[3:]
        return
    given = words[1:] if words[:1] and words[0] in _SETTING else words
    named = [word.partition("=") for word in given if not word.startswith("-")]
    if given is words and not all(equals and name.isidentifier() for name, equals, _ in named):
        return  # before a command they are set for that command alone
    for name, equals, value in named:
        if equals and name.isidentifier():
            known[name] = [value]


def _values(word: str, known: dict[str, list[str]]) -> list[str]:
    """A word that is only a variable is all its words; in a longer one the first value stands."""
    name = word[2:-1] if word[:2] == "${" and word[-1:] == "}" else word[1:] if word[:1] == "$" else ""
    if name in known:
        return [part for value in known[name] for part in value.split()]
    return [_filled(word, known)]


def _filled(text: str, known: dict[str, list[str]]) -> str:
    parts, rest = [], text
    while "$" in rest:
        before, _, rest = rest.partition("$")
        braced = rest[:1] == "{" and "}" in rest
        inside, _, after = rest[1:].partition("}") if braced else (rest, "", "")
        end = next((at for at, c in enumerate(inside) if not (c.isalnum() or c == "_")), len(inside))
        name, more = inside[:end], inside[end:]
        parts.append(before)
        if name in known:
            parts.append(" ".join(known[name][:1]))
            rest = after if braced else more
        elif braced and more.lstrip(":")[:1] in ("-", "="):
            parts.append(more.lstrip(":")[1:])
            rest = after
        else:
            parts.append("$")
    return "".join(parts) + rest
