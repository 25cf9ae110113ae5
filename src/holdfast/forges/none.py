"""No forge that can be asked: a person opens the pull request."""

from __future__ import annotations

from holdfast.core.remedy import Blank, line, shell
from holdfast.errors import Refused
from holdfast.forges.addresses import open_command, push_command, remote_in, require_branches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


class NoForge:
    """A remote of any other host, or none: `url` is where it is, `remote` what the repository calls it."""

    name = source = "none"
    address = ""
    is_fork = False

    def __init__(self, url: str, remote: str = "origin") -> None:
        self._at = remote_in(url)
        self.is_served_by_path = bool(url) and self._at is None
        self._remote = remote
        if url:
            said, remedy = "no remote of this repository is on a GitHub or a GitLab", shell("git", "remote", "-v")
        else:
            said, remedy = "this repository has no remote", shell("git", "remote", "add", "origin", Blank("URL"))
        self.refusal = Refused("no_forge", said, remedy=remedy)

    def _refused(self, *_: object, **__: object) -> NoReturn:
        raise self.refusal

    default_branch = find = get = describe = reviews = comments = threads = _refused

    def open(self, branch: str, base: str, title: str, body: str) -> NoReturn:
        remedy, facts = line(self.typed(branch, title, base)), {"branch": branch, "page": self.page(branch, base)}
        raise Refused(self.refusal.code, self.refusal.message, remedy=remedy, facts=facts)

    def open_issue(self, title: str, body: str) -> NoReturn:
        by_hand = shell("gh", "issue", "create", "--title", title)
        raise Refused(self.refusal.code, self.refusal.message, remedy=by_hand if self._at else self.refusal.remedies)

    def address_of(self, number: int) -> str:
        return ""

    def page(self, branch: str, base: str) -> str:
        require_branches(branch, base or branch)
        return ""

    def typed(self, branch: str, title: str, base: str, body_file: str = "") -> str:
        """`gh` knows more hosts than Holdfast, such as those that the user's settings of SSH rename."""
        if self.is_served_by_path:
            return push_command(branch, self._remote)
        return open_command(branch, title, base, self._remote, body_file=body_file)
