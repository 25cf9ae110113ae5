"""Programs that rewrite files: formatters and fixers, unpackers, and those that an option tells where to write."""

from __future__ import annotations

from itertools import pairwise

from holdfast.surfaces.hooks.programs import FILE, TRACKED, parted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.surfaces.hooks.programs import Written

_ALWAYS = (
    "black",
    "isort",
    "rustfmt",
    "dos2unix",
    "unix2dos",
    "sponge",
    "ed",
    "ex",
    "swiftformat",
    "pyupgrade",
    "add-trailing-comma",
    "reorder-python-imports",
    "pyink",
    "mdformat",
    "lint-staged",
)
"""They write whatever they name."""
_IF_TOLD = {
    "yapf": ("-i", "--in-place"),
    "autopep8": ("-i", "--in-place"),
    "prettier": ("-w", "--write"),
    "biome": ("--write", "--fix", "--apply"),
    "eslint": ("--fix",),
    "stylelint": ("--fix",),
    "standard": ("--fix",),
    "gofmt": ("-w",),
    "goimports": ("-w",),
    "clang-format": ("-i",),
    "shfmt": ("-w", "--write"),
    "yq": ("-i", "--inplace"),
    "rubocop": ("-a", "-A", "--autocorrect", "--autocorrect-all"),
    "ktlint": ("-F", "--format"),
    "autoflake": ("-i", "--in-place"),
    "codespell": ("-w", "--write-changes"),
    "docformatter": ("-i", "--in-place"),
    "djlint": ("--reformat",),
    "markdownlint": ("-f", "--fix"),
    "markdownlint-cli2": ("--fix",),
    "2to3": ("-w", "--write"),
}
"""They write only with one of these options."""
_SUBCOMMANDS = {
    **dict.fromkeys(("cargo", "go", "terraform", "deno"), "fmt"),
    **dict.fromkeys(("dart", "mix", "ruff"), "format"),
}
"""They write by this word."""
_ONLY_LOOK = frozenset(
    ("--check", "--diff", "--check-only", "--list-different", "--check-formatted", "--version", "--help")
)
_SHORT_LOOK = {"prettier": {"-c", "-l"}, "isort": {"-c"}}
"""Letters for the same, which mean something else to other programs."""
_OUT = {
    **dict.fromkeys(("sort", "gcc", "g++", "cc", "c++", "clang", "pandoc", "iconv", "rustc"), ("-o", "--output")),
    "openssl": ("-out",),
    "esbuild": ("--outfile",),
    "holdfast": ("--svg", "--png", "--timeline", "--out", "--export"),
}
_PACKED = (".gz", ".bz2", ".xz", ".zst")


def written(name: str, words: list[str]) -> list[Written]:
    """What one of these programs writes by its words. Which files of a folder is not known: it may be any."""
    if name in _OUT:
        return [(value, FILE) for value in _behind(words, _OUT[name])]
    if name in ("tar", "bsdtar"):
        return _tar(words)
    if name in ("unzip", "7z", "cpio"):
        return _unpacked(name, words)
    options, plain = parted(words, ())
    given = {option for option, _ in options}
    if name in ("awk", "gawk"):
        return [(word, FILE) for word in plain] if "inplace" in words else _redirected(plain[:1])
    if name == "pre-commit":
        return [(".", TRACKED)] if plain[:1] in (["run"], ["try-repo"]) and "--help" not in given else []
    if name in ("zip", "sqlite3"):
        return [(word, FILE) for word in plain[:1]]
    if name == "scp":
        return [(plain[-1], FILE)] if plain and ":" not in plain[-1] else []
    if name in _SUBCOMMANDS:
        if plain[:1] != [_SUBCOMMANDS[name]] and not (name == "ruff" and "--fix" in given):
            return []
        plain = [word.removesuffix("/...") for word in plain[1:]]
    elif name in _IF_TOLD and given.isdisjoint(_IF_TOLD[name]):
        return []
    elif name not in _IF_TOLD and name not in _ALWAYS:
        return [(word, FILE) for word in (*plain, *(word.removesuffix(end) for word in plain for end in _PACKED))]
    if not given.isdisjoint(_ONLY_LOOK | _SHORT_LOOK.get(name, set())):
        return []
    return [(word, TRACKED) for word in plain or ["."]]


def _redirected(programs: list[str]) -> list[Written]:
    """The files behind `>` in a program of awk's that are named there."""
    parts = [part.lstrip("> ") for program in programs for part in program.split(">")[1:]]
    return [(part[1:].partition('"')[0], FILE) for part in parts if part.startswith('"')]


def _behind(words: list[str], names: tuple[str, ...]) -> list[str]:
    """The values of options, written behind them or joined."""
    found = [after for word, after in pairwise(words) if word in names]
    found += [word.partition("=")[2] for word in words if word.startswith("--") and word.partition("=")[0] in names]
    short = next((name for name in names if len(name) == 2), "\0")
    return found + [word[2:] for word in words if word.startswith(short) and len(word) > 2]


def _tar(words: list[str]) -> list[Written]:
    letters = "".join(word.lstrip("-") for word in words[:1] if not word.startswith("--"))
    letters += "".join(word[1:] for word in words[1:] if word[:1] == "-" and word[:2] != "--")
    if "x" in letters or "--extract" in words or "--get" in words:
        into = _behind(words, ("-C", "--directory"))
        return [(into[-1] if into else ".", TRACKED)]
    if any(letter in letters for letter in "cru"):
        named = [after for word, after in pairwise(words) if word.endswith("f") and "/" not in word]
        return [(name, FILE) for name in (*named[:1], *_behind(words, ("--file",)))]
    return []


def _unpacked(name: str, words: list[str]) -> list[Written]:
    if name == "cpio":
        takes = any(word[:1] == "-" and word[:2] != "--" and "i" in word for word in words) or "--extract" in words
        return [(".", TRACKED)] if takes else []
    if name == "7z":
        into = [word[2:] for word in words if word.startswith("-o")]
        return [(into[-1] if into else ".", TRACKED)] if words[:1] in (["x"], ["e"]) else []
    flags = "".join(word[1:] for word in words if word.startswith("-"))
    into = _behind(words, ("-d",))
    return [] if any(letter in flags for letter in "lptvzZ") else [(into[-1] if into else ".", TRACKED)]


def by_sed(words: list[str]) -> list[str]:
    """The files that the commands `w` and `s///w` of a script name: the rest of the line behind the letter."""
    found = []
    for line in (line for word in words for line in word.split("\n")):
        for at, letter in enumerate(line):
            before, name = line[:at].rstrip(), line[at + 1 :]
            if letter in "wW" and (not before or before[-1] in _BEFORE_W) and name[:1].isspace():
                found.append(name.strip())
    return [name for name in found if name]


_BEFORE_W = ";{}/|#,$!0123456789gpIiMme'"
"""What is before the letter where it is a command of sed, or a flag of `s`."""
