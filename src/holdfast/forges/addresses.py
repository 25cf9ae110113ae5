"""Addresses of forges: what a remote names, the page that opens a pull request, the number that a page has.

Also what a person types instead. Names of branches are checked first, so that no shell, option or address misreads one.
"""

from __future__ import annotations

from holdfast.core.remedy import Blank, shell
from holdfast.core.value import Value
from holdfast.errors import UsageError
from holdfast.git.changes import is_branch_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

LONGEST_ADDRESS = 2000

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_NAME = rf"{_LABEL}(?:\.{_LABEL})*"
_PORT = r":[0-9]{1,5}"
_HOST = rf"(?P<host>{_NAME})"
_FOLDER = r"(?!\.{1,2}(?:/|\Z))[A-Za-z0-9_.-]+"
_REMOTES = (
    rf"https://(?:[^/@\s]*@)?{_HOST}(?P<port>{_PORT})?/(?P<path>[^:\s]+)",
    rf"ssh://(?:[A-Za-z0-9_.-]+@)?{_HOST}(?:{_PORT})?/(?P<path>[^:\s]+)",
    rf"(?:[A-Za-z0-9_.-]+@)?{_HOST}:(?!//)/?(?P<path>[^:\s]+)",
)
_PROJECT = rf"https://{_NAME}(?:{_PORT})?/{_FOLDER}/{_FOLDER}"
_NUMBER = r"(?P<number>[1-9][0-9]{0,8})"
_PAGES = rf"{_PROJECT}(?:/pulls?|(?:/{_FOLDER})*/-/merge_requests)/{_NUMBER}"
_ALSO = {  # for networks that close the port of SSH, and a web page's name
    "ssh.github.com": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
}


class Remote(Value):
    """Where a remote is: `host` has a port where that is not the usual one, `path` no `.git`."""

    host: str
    path: str


def remote_in(url: str) -> Remote | None:
    """The place that a remote's URL names; a user or password in it is left out. None where it is no host's."""
    match = next(filter(None, (_matched(form, url) for form in _REMOTES)), None)
    path = match["path"].removesuffix("/").removesuffix(".git") if match else ""
    if match is None or not _matched(rf"{_FOLDER}(?:/{_FOLDER})+", path):
        return None
    host, port = match["host"].lower(), match.groupdict().get("port") or ""
    return Remote(_ALSO.get(host, host) + ("" if port == ":443" else port), path)


def is_host(text: str) -> bool:
    """Whether a text is the name of a host, with or without a port."""
    return _matched(rf"{_NAME}(?:{_PORT})?", text) is not None


def number_in(url: str) -> int | None:
    """The number in the address of a pull request of GitHub or Gitea, or of a merge request of GitLab.

    The address is the whole text: `https`, no user, nothing behind the number.
    """
    match = _matched(_PAGES, url)
    return int(match["number"]) if match else None


def is_issue(url: str) -> bool:
    """Whether it is the address of an issue of GitHub, Gitea or GitLab, where it is also called a work item."""
    return _matched(rf"{_PROJECT}(?:/issues|(?:/{_FOLDER})*/-/(?:issues|work_items))/{_NUMBER}", url) is not None


def push_command(branch: str, remote: str) -> str:
    import shlex

    require_branches(branch, remote)
    return shlex.join(("git", "push", "-u", remote, branch))


def open_command(
    branch: str, title: str, base: str, remote: str, where: str = "", head: str = "", body_file: str = ""
) -> str:
    """What a person types into a shell to push a branch and open its pull request, each word quoted if it needs to be.

    From a fork it goes to the repository `where`, and `head` says whose branch it is. The text is in a file, if any.

    `git push -u origin fix/door && gh pr create --head fix/door --base main --title 'Fix the door' --body ''`
    """
    import shlex

    require_branches(base or branch)
    into = ("--base", base) if base else ()
    other = ("--repo", where) if where else ()
    words = ("gh", "pr", "create", *other, "--head", head or branch, *into, "--title", title)
    words += ("--body-file", body_file) if body_file else ("--body", "")
    return f"{push_command(branch, remote)} && {shlex.join(words)}"


def require_branches(*names: str) -> None:
    for name in names:
        if not is_branch_name(name):
            said = f"{name[:80]!r} cannot be the name of a branch here"
            way = shell("git", "check-ref-format", "--branch", Blank("NAME"))
            raise UsageError("bad_branch", said, remedy=way, facts={"value": name[:200]})


def _matched(form: str, text: str) -> re.Match[str] | None:
    import re

    return re.fullmatch(form, text) if len(text) <= LONGEST_ADDRESS else None
