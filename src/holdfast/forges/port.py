"""The port to the forge where a repository's branches are pushed: its pull requests, what people say there, issues."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast import git
from holdfast.core.value import Protocol, Value
from holdfast.errors import HoldfastError


class PullRequest(Value):
    """A pull request; `head` and `base` are branches, `state` is open, closed or merged, `body` is its description."""

    number: int
    url: str
    state: str
    head: str
    base: str
    body: str = ""


OWN = "APPROVED_BY_AUTHOR"
"""The state of a review by who opened the pull request: it approves nothing."""


class Review(Value):
    """What a reviewer handed in as a whole. `submitted_at` is empty while it is PENDING: only its author sees it.

    `association` says how its author belongs to the repository, `commit` which one was looked at; empty when that is
    gone.
    """

    id: int
    author: str
    state: str
    body: str
    submitted_at: str
    association: str
    commit: str


class Comment(Value):
    """Something said of the pull request, or of a line of a file.

    `created_at` is when others could first read it. A remark on a line can have been a draft for days by then.
    """

    id: str
    author: str
    body: str
    created_at: str
    association: str


class Thread(Value):
    """What was said about one place in a file. `line` is where it was when the line is gone.

    `path` is empty for one that is about the pull request as a whole: only a GitLab has such.
    """

    id: str
    path: str
    line: int | None
    resolved: bool
    comments: tuple[Comment, ...]


class Forge(Protocol):
    """One repository of one forge. Only branches of the repository that we push to count: a fork may have one of the
    same name.
    """

    name: str
    """`github`, `gitlab` or `none`."""
    source: str
    """Who answers: it is with each word that is taken from there."""
    address: str
    """Where the API answers about this repository."""

    is_fork: bool
    """Whether branches are pushed to another repository than the one that their pull requests go to."""

    is_served_by_path: bool
    """Whether the remote is a folder or another address without a host that has pull requests."""

    @property
    def refusal(self) -> HoldfastError | None:
        """Why it cannot be asked. Then everything but `page` and `typed` refuses with its code."""

    def address_of(self, number: int) -> str:
        """Where the API answers about a pull request: it is recorded with each approval."""

    def default_branch(self) -> str:
        """The branch that pull requests go into where none is named. Asked for before a push, it shows the login."""

    def find(self, branch: str, base: str = "") -> PullRequest | None:
        """The newest open pull request of a branch, into `base` where that is named."""

    def get(self, number: int) -> PullRequest: ...

    def open(self, branch: str, base: str, title: str, body: str) -> PullRequest:
        """Open a pull request from a branch that is pushed, into `base` or else the default branch.

        One that is open is returned as it is, so that a repetition after a crash or a timeout opens no second one.
        """

    def describe(self, number: int, body: str) -> None:
        """Replace the description of a pull request. A repetition changes nothing."""

    def reviews(self, number: int) -> tuple[Review, ...]:
        """Every review, the oldest first."""

    def comments(self, number: int) -> tuple[Comment, ...]:
        """Everything said of the pull request as a whole, the oldest first."""

    def threads(self, number: int) -> tuple[Thread, ...]:
        """Everything said of lines of files. A comment that its author has not handed in yet is left out."""

    def open_issue(self, title: str, body: str) -> str:
        """Open an issue: its address. A repetition opens another one."""

    def page(self, branch: str, base: str) -> str:
        """Where a person opens the pull request in a browser; empty where that is not known."""

    def typed(self, branch: str, title: str, base: str, body_file: str = "") -> str:
        """What a person types to push the branch and open its pull request, with the text that is in a file."""


def forge_of(
    repository: git.Repository, branch: str, *, environ: Mapping[str, str], config_dir: str, strict: bool = False
) -> Forge:
    """The forge of the remote that a branch is pushed to, or of the one that pull requests from there go to.

    `strict` is for where people's approvals are asked for.
    """
    from holdfast.forges import github, gitlab, known
    from holdfast.forges.none import NoForge
    from holdfast.git import changes

    remote = changes.remote(repository, branch) or "origin"
    url = changes.url(repository, remote)
    hosts = known.hosts(config_dir)
    kind = next((kind for kind in (gitlab, github) if kind.repository_in(url, hosts)), None)
    head = kind.repository_in(url, hosts) if kind else None
    if kind is None or head is None:
        return NoForge(url, remote)
    above, other = changes.upstream(repository)
    target = kind.repository_in(changes.url(repository, above), hosts) if above else None
    if target and other:
        target = kind.repository_in(f"https://{target.host}/{other}", hosts)
    target = target if target and target.host == head.host else head
    named = hosts.get(head.host)
    connected: Forge = kind.connect(
        target, head=head, top=repository.top, environ=environ, named=named, remote=remote, strict=strict
    )
    return connected
