"""The forges that keep the contract, each behind the same words: what happened there, and what was asked of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.forges import github, gitlab
from holdfast.forges.github.client import Client as GitHubClient
from holdfast.forges.github.repository import Repository
from holdfast.forges.gitlab.client import Client as GitLabClient
from holdfast.forges.gitlab.project import Project
from tests.forges.github.conversation import KeptThread
from tests.forges.github.server import PUBLISHED, GitHub
from tests.forges.gitlab import glab_program
from tests.forges.gitlab.server import GitLab
from tests.forges.loopback import TOKEN

_PERSON = next(one["example"][0]["user"] for one in PUBLISHED["operations"] if one["id"] == "pulls/list-reviews")
WAYS = ("github by token", "github by gh", "gitlab by token", "gitlab by glab")


class OnGitHub:
    """A GitHub; clients reach it by a token, or by the real gh."""

    NAMES = {
        "pulls/list": "find",
        "pulls/create": "create",
        "pulls/get": "get",
        "pulls/update": "describe",
        "HoldfastDefaultBranch": "default branch",
        "issues/create": "issue",
    }
    pages = "https://github.com/octo-org/octo-repo"
    page, issue = f"{pages}/pull/1", f"{pages}/issues/1"
    login = "gh auth login --hostname github.com"
    refused_title = "Validation Failed"

    def __init__(self, server: GitHub, by_gh: Callable[..., Any] | None) -> None:
        self.server = server
        self._by_gh = by_gh
        self.by_program = by_gh is not None

    def client(self, name: str = "octo-repo", timeout: float = 30.0) -> GitHubClient:
        here = Repository("github.com", "octo-org", name)
        if self._by_gh:
            return GitHubClient(self._by_gh("github.com", timeout), here, pauses=(0, 0))
        carried = github.by_token("github.com", TOKEN, timeout, base_url=self.server.address)
        return GitHubClient(carried, here, pauses=(0, 0))

    def approves(self, who: str, at: str, commit: str, belongs: bool = True) -> None:
        every = self.server.reviews.setdefault(1, [])
        shown = {**_PERSON, "login": who}
        words = {"state": "APPROVED", "body": "", "submitted_at": at, "commit_id": commit}
        every.append({"id": len(every), "user": shown, "author_association": _word(belongs), **words})

    def says(self, who: str, body: str, at: str, belongs: bool = True) -> None:
        every = self.server.comments.setdefault(1, [])
        shown = {"id": len(every), "user": {**_PERSON, "login": who}, "body": body, "created_at": at}
        every.append({**shown, "author_association": _word(belongs)})

    def points(self, path: str, line: int | None, said: list[tuple[str, str, str]], resolved: bool = False) -> None:
        every = self.server.threads.setdefault(1, [])
        notes = [
            {"author": {"__typename": "User", "login": who}, "body": body, "state": "SUBMITTED", "createdAt": at}
            for who, body, at in said
        ]
        every.append(KeptThread(f"T{len(every)}", path, notes, line=line, original=line, resolved=resolved))


class OnGitLab:
    """A GitLab; clients reach it by a token, or by what replaces glab."""

    NAMES = {
        "merge_requests/list": "find",
        "merge_requests/create": "create",
        "merge_requests/get": "get",
        "merge_requests/update": "describe",
        "projects/get": "default branch",
        "issues/create": "issue",
    }
    pages = "https://gitlab.com/octo-org/octo-repo"
    page, issue = f"{pages}/-/merge_requests/1", f"{pages}/-/issues/1"
    login = "glab auth login --hostname gitlab.com"
    refused_title = "source_branch does not exist"

    def __init__(self, server: GitLab, *, by_program: bool) -> None:
        self.server = server
        self.by_program = by_program

    def client(self, name: str = "octo-repo", timeout: float = 30.0) -> GitLabClient:
        here = Project("gitlab.com", f"octo-org/{name}")
        if self.by_program:
            program = glab_program.put(self.server.folder / "bin", self.server.address, TOKEN)
            carried: Any = gitlab.by_glab(program, "gitlab.com", timeout, environ={})
        else:
            carried = gitlab.by_token("gitlab.com", TOKEN, timeout, base_url=self.server.address)
        return GitLabClient(carried, here, pauses=(0, 0))

    def approves(self, who: str, at: str, commit: str, belongs: bool = True) -> None:
        day = at.partition("T")[0]
        self.server.pushed(1, commit, f"{day}T00:00:00.000Z")
        self.server.approve(1, self._person(who, belongs), at.replace("Z", ".250Z"))

    def says(self, who: str, body: str, at: str, belongs: bool = True) -> None:
        self.server.comment(1, self._person(who, belongs), body, at.replace("Z", ".999Z"))

    def points(self, path: str, line: int | None, said: list[tuple[str, str, str]], resolved: bool = False) -> None:
        made = self.server.thread(1, [(self._person(who), body, at) for who, body, at in said], path, line)
        if resolved:
            self.server.resolve(made)

    def _person(self, who: str, belongs: bool = True) -> Any:
        return self.server.person(who, 30 if belongs else 0)


def asked(stage: OnGitHub | OnGitLab) -> list[str]:
    """What came, in words that are the same for every forge; what is not one of these is left out."""
    return [stage.NAMES[one] for one in stage.server.operations if one in stage.NAMES]


def _word(belongs: bool) -> str:
    return "MEMBER" if belongs else "NONE"
