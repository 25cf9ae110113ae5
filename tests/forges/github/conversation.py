"""What the GitHub on loopback answers in GraphQL: a login, the default branch, the threads of a pull request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import graphql

from tests.forges.loopback import LARGEST_PAGE


@dataclass
class KeptThread:
    """A thread as this GitHub keeps it."""

    id: str
    path: str
    comments: list[dict[str, Any]]
    line: int | None = 7
    original: int | None = 7
    resolved: bool = False


class Root:
    """The fields that are asked for, by their published names."""

    viewer = {"login": "mona-the-reviewer"}

    def __init__(
        self, owner: str, name: str, default: str, threads: dict[int, list[KeptThread]], numbers: list[int]
    ) -> None:
        self._place = owner, name
        self.defaultBranchRef = {"id": "REF_1", "name": default}
        self._threads = threads
        self._numbers = numbers

    def repository(self, _: object, *, owner: str, name: str, **__: object) -> Root:
        if (owner, name) != self._place:
            raise graphql.GraphQLError(f"Could not resolve to a Repository with the name '{owner}/{name}'.")
        return self

    def pullRequest(self, _: object, *, number: int) -> dict[str, Any]:  # noqa: N802
        if number not in self._numbers:
            raise graphql.GraphQLError(f"Could not resolve to a PullRequest with the number of {number}.")
        every = self._threads.get(number, [])
        return {"reviewThreads": lambda _, **asked: self._page([self._shown(one) for one in every], **asked)}

    def node(self, _: object, *, id: str) -> dict[str, Any]:
        every = [one for listed in self._threads.values() for one in listed]
        return next(self._shown(one) for one in every if one.id == id)

    def _shown(self, one: KeptThread) -> dict[str, Any]:
        place = {"path": one.path, "line": one.line, "originalLine": one.original}
        told = {"__typename": "PullRequestReviewComment", "authorAssociation": "MEMBER", "pullRequestReview": None}
        said = [{**told, "id": f"{one.id}.{n}", **each} for n, each in enumerate(one.comments)]
        return {
            "__typename": "PullRequestReviewThread",
            "id": one.id,
            **place,
            "isResolved": one.resolved,
            "comments": lambda _, **asked: self._page(said, **asked),
        }

    def _page(self, every: list[Any], *, first: int | None = None, after: str | None = None) -> dict[str, Any]:
        if first is None or not 1 <= first <= LARGEST_PAGE:
            raise ValueError(f"a page of {first}")
        start = int((after or "cursor:0").removeprefix("cursor:"))
        page = every[start : start + first]
        end = start + len(page)
        return {"nodes": page, "pageInfo": {"endCursor": f"cursor:{end}", "hasNextPage": end < len(every)}}
