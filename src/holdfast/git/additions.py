"""What a commit would add, searched for likely secrets: what is pushed once cannot be taken back."""

from __future__ import annotations

import os
from _collections_abc import Iterator, Mapping

from holdfast import git
from holdfast.core import remedies
from holdfast.core.patterns import is_pattern, matches
from holdfast.core.secrets import Secrets
from holdfast.core.value import Value
from holdfast.errors import Refused
from holdfast.git.changes import tree_of
from holdfast.git.command import git as run

LARGEST = "4m"
"""Larger files are not searched, nor those that git takes for binary."""
SHOWN = 5
_CONFIG = ".holdfast/config.toml"
_OTHER_WORDS = "say it in the message without the secret, and commit again"
_MOVED = "move it to a file that git ignores, and commit again"
_FORM = ("-p", "-U0", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--dst-prefix=", "--diff-filter=d")


class Likely(Value):
    """A likely secret: its file, empty for the message, its line and its kind; never what it is."""

    file: str
    line: int
    kind: str


def require_no_secrets(
    repo: git.Repository, view: Mapping[str, str], before: str | None, message: str, secrets: Secrets
) -> None:
    """Refuse a commit of the index in `view` on `before` that would add a likely secret, or has one in its message."""
    found = [*_in_text(secrets, "", 1, message), *_added(repo, view, before, secrets)]
    if not found:
        return
    named = [f"{one.file}:{one.line} ({one.kind})" if one.file else f"its message ({one.kind})" for one in found]
    named_in_message = any(not one.file for one in found)
    more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
    files = ", ".join(f'"{file}"' for file in dict.fromkeys(one.file for one in found if one.file))
    allowing = remedies.trust(_CONFIG, text=f"if it is none, add {files} to `allow` of [secrets] in {_CONFIG}, then")
    raise Refused(
        "secret_in_commit",
        f"the commit would have a likely secret: {', '.join(named[:SHOWN])}{more}",
        remedy=tuple(filter(None, (_OTHER_WORDS if named_in_message else "", *((_MOVED, allowing) if files else ())))),
        facts={"secrets": [dict(one.items()) for one in found[:100]]},
    )


def _added(repo: git.Repository, view: Mapping[str, str], before: str | None, secrets: Secrets) -> Iterator[Likely]:
    settings = ("core.quotePath=false", f"core.bigFileThreshold={LARGEST}")
    words = ("diff-index", "--cached", *_FORM, before or tree_of(repo, None))
    lines = iter(run(repo.top, *words, env=view, settings=settings)[1].split(b"\n"))
    file = ""
    for line in lines:
        if line.startswith(b"+++ "):
            file = os.fsdecode(line[4:]).rstrip("\t").strip('"')
        elif line.startswith(b"@@ "):
            old, new = line.split(b" ", 3)[1:3]
            first, _, many = new[1:].partition(b",")
            for _ in range(int(old.partition(b",")[2] or 1)):
                next(lines)
            added: list[str] = []
            while len(added) < int(many or 1):
                line = next(lines)
                if not line.startswith(b"\\"):
                    added.append(line[1:].decode("utf-8", "replace"))
            if not _is_allowed(file, secrets.allow):
                yield from _in_text(secrets, file, int(first), "\n".join(added))


def _in_text(secrets: Secrets, file: str, first: int, text: str) -> Iterator[Likely]:
    for one in secrets.find(text):
        yield Likely(file, first + text.count("\n", 0, one.start), one.kind)


def _is_allowed(file: str, allow: tuple[str, ...]) -> bool:
    folders = (one.rstrip("/") + "/" for one in allow if not is_pattern(one))
    return any(matches(one, file) for one in allow) or any(map(file.startswith, folders))
