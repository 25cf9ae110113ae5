"""The simple commands in a line for a shell: enough of its grammar to see what an agent is about to do.

It is a seat belt and no jail: what variables, aliases and programs of their own would do is not known here.
"""

from __future__ import annotations

from holdfast.surfaces.hooks import programs

LONGEST = 100_000
DEEPEST = 5
_MOST = 5_000
_LONGEST_PIPE = 10
_RESERVED = frozenset(("{", "}", "!", "if", "then", "elif", "else", "fi", "do", "done", "while", "until", "coproc"))
_ENDS = ";&|()\n"
_WRITING = (">", ">>", ">|", ">&", "&>", "&>>", "<>")


class Command:
    """`words` as typed; `bare` without assignments, wrappers and git's own options; `targets` of redirections.

    `fed` is a text that it reads, `source` the command whose output it reads, `given` those whose output is a file of
    it: `<(…)`.
    """

    __slots__ = ("bare", "cleared", "fed", "folder", "given", "source", "targets", "words")

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.targets: list[str] = []
        self.fed = ""
        self.given: list[str] = []
        self.source: Command | None = None
        self.bare: list[str] = words
        self.cleared: list[str] = []
        self.folder = ""


def commands(line: str | list[str]) -> list[Command]:
    """Every simple command, also those in substitutions and in texts for other shells. Never raises."""
    found: list[Command] = []
    known: dict[str, list[str]] = {}
    aliases: dict[str, list[str]] = {}
    waiting: list[tuple[str | list[str], int]] = [(line, 0)]
    for part, depth in waiting:
        if isinstance(part, str):
            reading = _Reading(part[:LONGEST])
            reading.all()
            here, inner = reading.found, list[str | list[str]](reading.nested)
            if "$" in part or "`" in part or "alias" in part:
                from holdfast.surfaces.hooks import expanding

                expanding.variables(here, known)
                inner += expanding.called(here, aliases)
        else:
            here, inner = [Command(part)], []
        for command in here:
            seen = programs.unwrapped(command.words)
            command.bare, command.cleared, command.folder = seen.words, seen.cleared, seen.folder
            inner += seen.inner
            if seen.words and programs.reads_commands(seen.words[0]):
                inner += _read_by(command)
            if command.given and seen.words and programs.runs_file(seen.words[0]):
                inner += [said for text in command.given for said in _printed_by(text)]
            if len(seen.words) < len(command.words) and "xargs" in " ".join(command.words):
                from holdfast.surfaces.hooks import finding

                inner += [given] if (given := finding.given_by(command)) and given != part else []
        found += here
        if depth < DEEPEST and len(found) < _MOST:
            waiting += [(text, depth + 1) for text in inner]
    return found


def _read_by(shell: Command) -> list[str]:
    """Texts that a shell gets to read: its own, and those that the commands before it in a pipe hand on."""
    found = [shell.fed]
    source = shell.source
    for _ in range(_LONGEST_PIPE):
        if source is None:
            break
        found += [source.fed, " ".join(source.bare[1:]) if source.bare[:1] in (["echo"], ["printf"]) else ""]
        source = source.source
    name = programs.base(shell.bare[0])
    if name == "crontab":
        found = [
            " ".join(line.split()[1 if line.startswith("@") else 5 :]) for text in found for line in text.split("\n")
        ]
    elif name in ("make", "gmake"):
        lines = (line.partition(";")[2] or line for text in found for line in text.replace("\\n", "\n").split("\n"))
        found = [line.replace("\\t", "").strip().lstrip("@-+") for line in lines]
    return [text for text in found if text]


def _printed_by(text: str) -> list[str]:
    """What the commands of a text print, as far as their words say it."""
    reading = _Reading(text)
    reading.all()
    seen = [(command, programs.unwrapped(command.words).words) for command in reading.found]
    printed = [" ".join(words[1:]) for _, words in seen if words[:1] in (["echo"], ["printf"])]
    return [said for said in (*printed, *(command.fed for command, _ in seen)) if said]


class _Reading:
    """One pass over a text. `word` is None between words: an empty word in quotes is one too."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.found: list[Command] = []
        self.nested: list[str] = []
        self.word: str | None = None
        self.has_braces = False
        self.redirect = ""
        self.command = Command([])
        self.documents: list[tuple[Command, str]] = []

    def all(self) -> None:
        while self.at < len(self.text):
            self.step(self.text[self.at])
        self.end_command()

    def step(self, c: str) -> None:
        if c in " \t\r":
            self.end_word()
            self.at += 1
        elif c in "<>" or self.text.startswith("&>", self.at):
            self.redirection()
        elif c in _ENDS:
            self.end_command()
            self.at += 1
            if c == "|" and "||" not in self.text[max(0, self.at - 2) : self.at + 1]:
                self.command.source = self.found[-1] if self.found else None
            if c == "\n":
                self.here_documents()
        elif c == "#" and self.word is None:
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        else:
            self.piece(c)

    def piece(self, c: str) -> None:
        """A part of a word: quoted, escaped, substituted or plain."""
        if c == "\\":
            escaped = self.text[self.at + 1 : self.at + 2]
            if escaped != "\n":
                self.add(escaped)
            self.at += 2
        elif c == "'":
            self.add(self.until("'", self.at + 1))
        elif c == '"':
            self.at += 1
            self.double_quoted()
        elif c == "$" and self.text.startswith("$'", self.at):
            self.ansi_quoted()
        elif c == "$" and self.text.startswith('$"', self.at):
            self.at += 1
        elif c in "$`":
            self.substitution()
        else:
            end = self.at + 1
            while end < len(self.text) and self.text[end] not in " \t\r\n\\'\"$`;&|()<>":
                end += 1
            self.add(self.text[self.at : end])
            self.has_braces = self.has_braces or "{" in self.text[self.at : end]
            self.at = end

    def add(self, part: str) -> None:
        self.word = part if self.word is None else self.word + part

    def until(self, mark: str, start: int) -> str:
        """What is before the next mark, or all the rest; reading continues behind it."""
        end = self.text.find(mark, start)
        end = len(self.text) if end < 0 else end
        self.at = end + len(mark)
        return self.text[start:end]

    def double_quoted(self) -> None:
        parts, text = [], self.text
        self.add("")
        while self.at < len(text) and text[self.at] != '"':
            c = text[self.at]
            if c == "\\" and text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\", "\n"):
                parts.append(text[self.at + 1].replace("\n", ""))
                self.at += 2
            elif c in "$`":
                self.add("".join(parts))
                parts.clear()
                self.substitution()
            else:
                parts.append(c)
                self.at += 1
        self.add("".join(parts))
        self.at += 1

    def ansi_quoted(self) -> None:
        parts = []
        self.at += 2
        while self.at < len(self.text) and self.text[self.at] != "'":
            self.at += self.text[self.at] == "\\"
            parts.append(self.text[self.at : self.at + 1])
            self.at += 1
        self.add("".join(parts))
        self.at += 1

    def substitution(self) -> None:
        """What the shell would put here stays as it is written; commands in it are read for themselves."""
        start, text = self.at, self.text
        if text[start] == "`":
            self.at = _closing(text, start + 1, "`", "")
            self.nested.append(text[start + 1 : self.at - 1].replace("\\`", "`"))
        elif text.startswith("$((", start):
            self.at = _closing(text, start + 2, ")", "(")
        elif text.startswith("$(", start):
            self.at = _closing(text, start + 2, ")", "(")
            self.nested.append(text[start + 2 : self.at - 1])
        elif text.startswith("${", start):
            self.at = _closing(text, start + 2, "}", "{")
        else:
            self.at = start + 1
        self.add(text[start : self.at])

    def redirection(self) -> None:
        text, at = self.text, self.at
        if self.word is not None and (self.word.isdigit() or (self.word[:1] == "{" and self.word[-1:] == "}")):
            self.word = None  # the number of a descriptor belongs to the redirection
        self.end_word()
        if text[at + 1 : at + 2] == "(" and text[at] in "<>":
            self.at = _closing(text, at + 2, ")", "(")
            self.nested.append(text[at + 2 : self.at - 1])
            self.command.given += [self.nested[-1]] if text[at] == "<" else []
            self.add(text[at : self.at])
            return
        for mark in ("&>>", "<<<", "<<-", "&>", ">>", ">|", ">&", "<<", "<&", "<>", ">", "<"):
            if text.startswith(mark, at):
                self.redirect = mark
                self.at = at + len(mark)
                return

    def end_word(self) -> None:
        word, self.word = self.word, None
        has_braces, self.has_braces = self.has_braces, False
        if word is None:
            return
        mark, self.redirect = self.redirect, ""
        if has_braces and len(word) > 2:
            from holdfast.surfaces.hooks import expanding

            for one in expanding.braces(word):
                self.take(one, mark)
        else:
            self.take(word, mark)

    def take(self, word: str, mark: str) -> None:
        """A word of the command, or behind the mark of a redirection."""
        if not mark:
            words = self.command.words
            if word == "{" and words[:1] == ["function"] and len(words) == 2:
                words.clear()  # what follows is what the function does
            elif words or word not in _RESERVED:
                words.append(word)
        elif mark in ("<<", "<<-"):
            self.documents.append((self.command, word))
        elif mark == "<<<":
            self.command.fed = word
        elif mark in _WRITING and not (mark == ">&" and (word == "-" or word.rstrip("-").isdigit())):
            self.command.targets.append(word)

    def end_command(self) -> None:
        self.end_word()
        self.redirect = ""
        waits = any(command is self.command for command, _ in self.documents)
        if self.command.words or self.command.targets or waits:
            self.found.append(self.command)
            self.command = Command([])

    def here_documents(self) -> None:
        """The lines that follow are not commands but what one of them reads."""
        for command, mark in self.documents:
            lines = []
            while self.at < len(self.text):
                line = self.until("\n", self.at)
                if line.lstrip("\t") == mark:
                    break
                lines.append(line)
            command.fed = "\n".join(lines)
        self.documents.clear()


def _closing(text: str, at: int, closes: str, opens: str) -> int:
    """Where reading continues behind the bracket that closes, quotes and inner brackets respected."""
    depth = 1
    while at < len(text):
        c = text[at]
        if c == "\\":
            at += 1
        elif c == "'" and opens:
            end = text.find("'", at + 1)
            at = len(text) if end < 0 else end
        elif c == '"' and opens:
            at += 1
            while at < len(text) and text[at] != '"':
                at += 1 + (text[at] == "\\")
        elif c == closes:
            depth -= 1
            if not depth:
                return at + 1
        elif opens and c == opens:
            depth += 1
        at += 1
    return len(text) + 1
