"""What people said of a pull request, as values."""

from __future__ import annotations

from holdfast.core.value import Value


class PullRequest(Value):
    """A pull request; `head` and `base` are branches, `state` is open, closed or merged."""

    number: int
    url: str
    state: str
    head: str
    base: str


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
    """What was said about one place in a file. `line` is where it was when the line is gone."""

    id: str
    path: str
    line: int | None
    resolved: bool
    comments: tuple[Comment, ...]
