"""What well-known programs do with their words: run another command, read one from a text, or write files."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Collection

    Written = tuple[str, str]

_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash", "fish"))
_WRAPPERS = {  # the letters of options that take a value, and how many words come before the command
    "env": ("uCS", 0),
    "sudo": ("ugpCDRThrtU", 0),
    "doas": ("uC", 0),
    "time": ("fo", 0),
    "exec": ("a", 0),
    "xargs": ("IEnLPsda", 0),
    "timeout": ("ks", 1),
    "nice": ("n", 0),
    "ionice": ("cnp", 0),
    "stdbuf": ("ioe", 0),
    "flock": ("wE", 1),
    **dict.fromkeys(("command", "builtin", "nohup", "setsid", "unbuffer"), ("", 0)),
}
_CARRIERS = frozenset(
    (
        "tmux",
        "screen",
        "zellij",
        "dtach",
        "abduco",
        "ssh",
        "mosh",
        "watch",
        "parallel",
        "entr",
        "systemd-run",
        "docker",
        "podman",
        "nerdctl",
        "kubectl",
        "lxc",
        "nsenter",
        "chroot",
        "toolbox",
        "distrobox",
        "flatpak-spawn",
        *("xterm", "gnome-terminal", "konsole", "kitty", "alacritty", "foot", "x-terminal-emulator"),
        *("expect", "strace", "ltrace", "unshare", "dbus-run-session"),
    )
)
"""Programs that run a command somewhere among their words: in another terminal, on another machine, many times."""
FILE, FOLDER, TRACKED = "file", "folder", "tracked"
"""What is written by a path: a file, a folder with all it holds, or what git keeps there."""
_MOST_WRAPPERS = 50
_LONG_WITH_VALUE = frozenset(
    ("--unset", "--chdir", "--split-string", "--user", "--group", "--signal", "--kill-after", "--adjustment")
)
_RUNNERS = (
    *(("uv", "run"), ("pipx", "run"), ("poetry", "run"), ("pdm", "run"), ("hatch", "run"), ("uvx",)),
    *(("npx",), ("bunx",), ("pnpx",), ("pnpm", "exec"), ("yarn", "exec"), ("npm", "exec")),
)
_GIT_WITH_VALUE = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path")
_ALL = frozenset(("rm", "rmdir", "unlink", "shred", "truncate", "touch", "tee", "mkdir", "chmod", "chown", "chgrp"))
_LAST = frozenset(("cp", "ln", "install", "rsync", "mv"))
_AWAY = frozenset(("rm", "rmdir", "mv"))
_REWRITING = frozenset(
    (
        *("black", "isort", "rustfmt", "dos2unix", "unix2dos", "sponge", "ed", "ex", "swiftformat", "yapf", "autopep8"),
        *("prettier", "biome", "eslint", "stylelint", "standard", "gofmt", "goimports", "clang-format", "shfmt", "yq"),
        *("rubocop", "ktlint", "cargo", "go", "terraform", "deno", "dart", "mix", "ruff", "sort", "gcc", "g++", "cc"),
        *("c++", "clang", "pandoc", "iconv", "rustc", "openssl", "esbuild", "tar", "bsdtar", "unzip", "7z", "cpio"),
        *("pre-commit", "pyupgrade", "autoflake", "codespell", "docformatter", "add-trailing-comma", "lint-staged"),
        *("reorder-python-imports", "pyink", "djlint", "markdownlint", "markdownlint-cli2", "2to3", "mdformat"),
        "holdfast",
        *("zip", "scp", "sqlite3", "awk", "gawk", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd"),
    )
)
_DOWNLOADS = {  # letters of options that take a value; options for a file, for its folder
    "curl": ("AbcCdDeEFHKmoPQrtTuUwxXyYz", ("-o", "--output", "-D", "--dump-header", "-c"), ("--output-dir",)),
    "wget": ("aABDeIilOoPQRtTUwX", ("-O", "--output-document", "-o", "-a"), ("-P", "--directory-prefix")),
}


class Seen:
    """The command that really runs, the variables it is run without (`*` for all), and what else is run by it."""

    __slots__ = ("cleared", "folder", "inner", "words")

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.cleared: list[str] = []
        self.inner: list[str | list[str]] = []
        self.folder = ""


def base(word: str) -> str:
    return word.rpartition("/")[2]


def is_shell(word: str) -> bool:
    return base(word) in _SHELLS


def reads_commands(word: str) -> bool:
    """Whether a program runs the commands that it is given to read."""
    return is_shell(word) or base(word) in ("at", "batch", "ssh", "crontab", "make", "gmake")


def runs_file(word: str) -> bool:
    """Whether a program runs the commands in a file that it is given."""
    return is_shell(word) or base(word) in (".", "source")


def unwrapped(words: list[str]) -> Seen:
    """A command without what only prepares its run."""
    seen = Seen(list(words))
    for _ in range(_MOST_WRAPPERS):
        _assignments(seen)
        name = base(seen.words[0]) if seen.words else ""
        if name in _WRAPPERS and len(seen.words) > 1:
            _wrapper(seen, name)
        elif any(tuple(seen.words[: len(runner)]) == runner and len(seen.words) > len(runner) for runner in _RUNNERS):
            seen.words = seen.words[next(len(runner) for runner in _RUNNERS if runner[0] == name) :]
            _options(seen.words, "")
        else:
            break
    if seen.words:
        _scripts(seen, base(seen.words[0]))
    return seen


def _assignments(seen: Seen) -> None:
    while seen.words:
        name, equals, value = seen.words[0].partition("=")
        if not equals or not name.isidentifier():
            return
        if not value:
            seen.cleared.append(name)
        del seen.words[0]


def _wrapper(seen: Seen, name: str) -> None:
    letters, before = _WRAPPERS[name]
    rest = seen.words[1:]
    for option, value in _options(rest, letters):
        if name == "env" and option in ("-u", "--unset"):
            seen.cleared.append(value)
        elif name == "env" and option in ("-i", "-", "--ignore-environment"):
            seen.cleared.append("*")
        elif name == "env" and option in ("-S", "--split-string"):
            seen.inner.append(" ".join([value, *rest]))
        elif name == "exec" and option == "-c":
            seen.cleared.append("*")
    seen.words = rest[before:]
    if name == "flock" and seen.words[:1] in (["-c"], ["--command"]):
        seen.inner += seen.words[1:2]


def _options(rest: list[str], letters: str) -> list[tuple[str, str]]:
    """Takes the options off the beginning: each with its value, which is empty where it has none."""
    found = []
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if word == "--":
            break
        if word.startswith("--") or word == "-":
            option, equals, value = word.partition("=")
            if not equals and option in _LONG_WITH_VALUE and rest:
                value = rest.pop(0)
            found.append((option, value))
            continue
        for at, letter in enumerate(word[1:], 2):
            if letter in letters:
                found.append(("-" + letter, word[at:] or (rest.pop(0) if rest else "")))
                break
            found.append(("-" + letter, ""))
    return found


def _scripts(seen: Seen, name: str) -> None:
    """Commands inside the words of this one, and git without its own options."""
    words = seen.words
    if name in _SHELLS or name in ("script", "su"):
        text = _text_of_c(words)
        if text:
            given = " ".join(f"'{word}'" for word in words[words.index(text) + 2 :]) if text in words else ""
            seen.inner.append(
                text.replace('"$@"', given).replace('"$*"', given).replace("$@", given).replace("$*", given)
            )
    elif name == "eval":
        seen.inner.append(" ".join(words[1:]))
    elif name in _CARRIERS:
        seen.inner += [word.replace("\\n", "\n").replace("spawn ", "") for word in words[1:] if " " in word]
        begins = (at for at, word in enumerate(words[1:], 1) if base(word) in ("holdfast", "env", "sudo", *_SHELLS))
        seen.inner += [words[at:] for at in begins]
    elif name == "find":
        end = 0
        for at, word in enumerate(words):
            if at >= end and word in ("-exec", "-execdir", "-ok", "-okdir"):
                end = end_of_exec(words, at)
                seen.inner.append(words[at + 1 : end])
    elif name == "unset":
        seen.cleared += [word for word in words[1:] if not word.startswith("-")]
    elif name in ("export", "declare", "typeset", "readonly", "local"):
        seen.cleared += [word[:-1] for word in words[1:] if word.endswith("=")]
        if words[1:2] in (["-n"], ["+x"]):
            seen.cleared += words[2:]
    elif name == "trap":
        seen.inner += [word for word in words[1:3] if not word.startswith("-")][:1]
    elif name == "git":
        _git(seen)


def _text_of_c(words: list[str]) -> str:
    """The text behind `-c`, also where the letter is among others or is spelt out."""
    for at, word in enumerate(words[1:], 1):
        if word.startswith("--command="):
            return word.partition("=")[2]
        if word == "--command" or (word.startswith("-") and not word.startswith("--") and "c" in word):
            rest = [other for other in words[at + 1 :] if not other.startswith(("-", "+"))]
            return rest[0] if rest else ""
    return ""


def end_of_exec(words: list[str], at: int) -> int:
    while at < len(words) and words[at] not in (";", "+"):
        at += 1
    return at


def _git(seen: Seen) -> None:
    rest = seen.words[1:]
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in _GIT_WITH_VALUE and rest:
            value = rest.pop(0)
            if option == "-c":
                seen.inner += _set_command(value.partition("=")[2])
            if option == "-C":
                seen.folder = value if value.startswith("/") or not seen.folder else f"{seen.folder}/{value}"
    seen.words = [seen.words[0], *rest]
    if rest[:1] == ["config"]:
        seen.inner += [text for word in rest[1:] for text in _set_command(word)]
    if rest[:1] == ["submodule"] and "foreach" in rest:
        called = rest[rest.index("foreach") + 1 :]
        _options(called, "")
        seen.inner.append(" ".join(called))


def _set_command(value: str) -> list[str | list[str]]:
    """The command that a setting of git's is: that of an alias, an editor or a pager."""
    return [value.lstrip("!")] if value.startswith("!") or " " in value else []


def holdfast(words: list[str]) -> list[str] | None:
    """The words given to `holdfast`, called by its name, by a path or as a module; None for other commands."""
    name = base(words[0]) if words else ""
    if name == "holdfast":
        return words[1:]
    if name.startswith("python"):
        for at, word in enumerate(words):
            if word.startswith("-") and not word.startswith("--") and word.endswith("m"):
                return words[at + 2 :] if words[at + 1 : at + 2] == ["holdfast"] else None
            if word == "-mholdfast":
                return words[at + 1 :]
            if base(word) == "holdfast":  # the script itself, or the folder of the package
                return words[at + 1 :]
    return None


def written(words: list[str]) -> list[Written]:
    """Files that a command writes by its words, and what of each."""
    name = base(words[0]) if words else ""
    rest = words[1:]
    if name in _LAST:
        return written_at_the_end(rest, moves=name == "mv")
    if name in _ALL:
        return [(word, FOLDER if name in _AWAY else FILE) for word in _plain(rest)]
    if name in ("sed", "gsed", "perl", "ruby") and any(_edits_in_place(word) for word in rest):
        return [(word, FILE) for word in _without_script(name, rest)]
    if name in ("sed", "gsed") and any("w" in word for word in rest):
        from holdfast.surfaces.hooks import rewriting

        return [(word, FILE) for word in rewriting.by_sed(rest)]
    if name == "dd":
        return [(word[3:], FILE) for word in rest if word.startswith("of=")]
    if name == "find":
        from holdfast.surfaces.hooks import finding

        return finding.written(rest)
    if name in _DOWNLOADS:
        return _downloaded(rest, name)
    if name in _REWRITING:
        from holdfast.surfaces.hooks import rewriting

        return rewriting.written(name, rest)
    if name.startswith("python") and "-m" in rest:
        return written(rest[rest.index("-m") + 1 :])
    return _patched(rest) if name == "patch" else []


def _without_script(name: str, words: list[str]) -> list[str]:
    """The files that are edited in place: the script is behind `-e` or, of sed, the first word that is no option."""
    is_sed = name in ("sed", "gsed")
    scripts = {at + 1 for at, word in enumerate(words) if _takes_script(word, is_sed)}
    named = any(word.startswith(("--expression", "--file")) for word in words)
    plain = _plain([word for at, word in enumerate(words) if at not in scripts])
    return plain[1:] if is_sed and not scripts and not named else plain


def _takes_script(word: str, is_sed: bool) -> bool:
    """Whether the word behind this option is a script; sed also takes it, or a file of it, at the end of `-ne`."""
    return word[:1] == "-" and word[:2] != "--" and word[-1:] in ("ef" if is_sed else "e") and not word.startswith("-i")


def _edits_in_place(word: str) -> bool:
    return word.startswith("--in-place") or (word.startswith("-") and not word.startswith("--") and "i" in word)


def _plain(words: list[str]) -> list[str]:
    """Words that are no options; behind `--` none is."""
    if "--" in words:
        at = words.index("--")
        return [word for word in words[:at] if not word.startswith("-")] + words[at + 1 :]
    return [word for word in words if not word.startswith("-")]


def parted(words: list[str], valued: Collection[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """All options, single letters one by one, each with its value; and the other words. Behind `--` all are others."""
    options: list[tuple[str, str]] = []
    others: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            others += rest
        elif word.startswith("--"):
            option, equals, value = word.partition("=")
            options.append((option, next(rest, "") if option in valued and not equals else value))
        elif word.startswith("-") and word != "-":
            for at, letter in enumerate(word[1:], 2):
                takes = f"-{letter}" in valued
                options.append((f"-{letter}", word[at:] or next(rest, "") if takes else ""))
                if takes:
                    break
        else:
            others.append(word)
    return options, others


def written_at_the_end(words: list[str], *, moves: bool) -> list[Written]:
    """The last word or the folder behind `-t`, and what the sources will be called in it."""
    into, rest = "", list(words)
    for at, word in enumerate(words):
        if word in ("-t", "--target-directory") and at + 1 < len(words):
            into, rest = words[at + 1], words[:at] + words[at + 2 :]
        elif word.startswith("--target-directory="):
            into = word.partition("=")[2]
    sources = _plain(rest)
    if not into and sources:
        into = sources.pop()
    found = [(into, FILE)] if into else []
    found += [(f"{into}/{base(source.rstrip('/'))}", FILE) for source in sources]
    return found + [(source, FOLDER) for source in sources if moves]


def _downloaded(words: list[str], name: str) -> list[Written]:
    """The files that are named for it, else those that are called as they are on the other side."""
    letters, files, folders = _DOWNLOADS[name]
    options, addresses = parted(words, {*(f"-{letter}" for letter in letters), *files, *folders})
    into = "".join(f"{value}/" for option, value in options if option in folders)
    found = [value for option, value in options if option in files and value != "-"]
    given = {option for option, _ in options}
    if given & {"-O", "--remote-name", "--remote-name-all"} if name == "curl" else not given & set(files[:2]):
        found += [base(address.partition("?")[0]) for address in addresses]
    return [(file if file.startswith("/") else into + file, FILE) for file in found]


def _patched(words: list[str]) -> list[Written]:
    """The file that is named; which ones a patch is about is not known here, so it may be any in its folder."""
    options, files = parted(words, ("-p", "-i", "-d", "-o", "-F", "-B", "-D", "-r", "-V", "-Y", "-z", "-g"))
    given = dict(options)
    if "--dry-run" in given:
        return []
    into = given.get("-d") or given.get("--directory") or "."
    named = given.get("-o") or given.get("--output") or "".join(files[:1])
    return [(f"{into}/{named}" if into != "." else named, FILE)] if named else [(into, TRACKED)]
