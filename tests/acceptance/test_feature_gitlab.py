"""A feature whose `origin` is on a GitLab: the merge request moves the work as a pull request on a GitHub does."""

from __future__ import annotations

import pytest

from tests.acceptance import feature
from tests.acceptance.feature import BRANCH, FIRST, HOME, PHASES, SECOND, TITLE, House, row, timeless
from tests.forges.gitlab.server import GitLab, Person
from tests.forges.loopback import Fault

URL = "https://gitlab.com/octo-org/octo-repo/-/merge_requests/1"


@pytest.fixture
def gitlab(tmp_path):
    with GitLab(tmp_path / "gitlab") as server:
        yield server
    assert server.unexpected == []


@pytest.fixture
def house(tmp_path, gitlab):
    made = feature.hosted(House(tmp_path / "house"), gitlab)
    made.env |= {"GITLAB_TOKEN": gitlab.token}
    return made


class Talk:
    """What people do on the merge request, a minute after the last of them."""

    def __init__(self, gitlab: GitLab) -> None:
        self.gitlab, self._minute = gitlab, 0
        self.mona = gitlab.person("mona")

    def later(self) -> str:
        self.gitlab.sees_pushes()
        self._minute += 2
        self.gitlab.clock = f"2026-03-01T10:{self._minute + 1:02}:00.000Z"
        return f"2026-03-01T10:{self._minute:02}:00.250Z"

    def approves(self, who: Person | None = None) -> None:
        self.gitlab.approve(1, who or self.mona, self.later())

    def points_at(self, path: str, body: str, who: Person | None = None):
        return self.gitlab.thread(1, [(who or self.mona, body, self.later())], path)


@pytest.fixture
def talk(house, gitlab):
    """The first phase waits on a merge request."""
    house.up_to(FIRST)
    assert URL in house.ok("feature", "continue").out
    return Talk(gitlab)


def test_a_phase_goes_through_its_merge_request(house, gitlab):
    house.up_to(FIRST, "in_progress")
    house.make(FIRST)
    house.reviewed(FIRST, 1)
    assert URL in house.ok("feature", "continue").out
    (one,) = gitlab.opened
    assert (one.title, one.base, one.head, one.url) == (f"[Feature] {TITLE}", "main", BRANCH, URL)
    assert all(phase in one.body for phase in PHASES)
    assert (house.state()["pr_url"], house.state()["pr_number"]) == (URL, 1)
    assert "nobody has approved" in house.ok("feature", "continue").out

    talk = Talk(gitlab)
    thread = talk.points_at(f"{HOME}/{FIRST}/requirements.md", "How many keys?")
    assert f"changes of {FIRST} are asked for" in house.ok("feature", "continue").out
    assert house.phase(FIRST)["status"] == "in_progress"
    asked = house.ok("next").out
    assert "How many keys?" in asked
    assert f"{HOME}/{FIRST}/requirements.md:7" in asked

    house.make(FIRST, "Two keys.\n")
    house.reviewed(FIRST, 1)
    assert "1 unresolved thread" in house.ok("feature", "continue").out
    talk.approves()
    assert "not resolved" in house.ok("feature", "continue").out
    assert house.phase(FIRST)["status"] == "user_review"

    gitlab.resolve(thread)
    assert f"{FIRST} is approved on the pull request by mona" in house.ok("feature", "continue").out
    assert timeless(house.phase(FIRST))["status"] == "approved"
    assert timeless(house.phase(SECOND)) == row("in_progress")
    assert house.git("rev-parse", "HEAD").strip() == gitlab.tip(BRANCH)
    assert len(gitlab.opened) == 1


def test_the_next_phase_wants_an_approval_of_its_own(talk, house, gitlab):
    talk.approves()
    house.ok("feature", "continue")
    house.make(SECOND)
    house.reviewed(SECOND, 1)
    assert "nobody has approved" in house.ok("feature", "continue").out
    gitlab.unapprove(1, talk.mona, talk.later())
    talk.approves()
    house.ok("feature", "continue")
    assert house.phases()[:2] == ["approved", "approved"]


def test_an_approval_of_an_older_commit_does_not_count(talk, house, gitlab):
    talk.approves()
    house.write("evil.py", "print('later')\n")
    house.git("add", "evil.py")
    house.git("commit", "-q", "-m", "later")
    assert "another commit" in house.ok("feature", "continue").out
    assert house.phase(FIRST)["status"] == "user_review"


@pytest.mark.parametrize(
    ("level", "more", "why"),
    [(0, {}, "do not belong"), (10, {}, "do not belong"), (40, {"bot": True}, "do not belong")],
    ids=["stranger", "guest", "bot"],
)
def test_who_is_no_person_of_the_project_approves_nothing(talk, house, gitlab, level, more, why):
    talk.approves(gitlab.person("other", level, **more))
    assert why in house.ok("feature", "continue").out
    assert house.phase(FIRST)["status"] == "user_review"


def test_an_agent_that_approves_with_the_token_it_opened_it_with_approves_nothing(talk, house, gitlab):
    talk.approves(gitlab.author)
    assert "their own approval does not count" in house.ok("feature", "continue").out
    assert house.phase(FIRST)["status"] == "user_review"


def test_an_agent_that_names_a_gitlab_of_its_own_forges_no_approval(talk, house, gitlab, tmp_path):
    """A server that says yes is asked for nothing: variables and the repository's files name no address."""
    with GitLab(tmp_path / "evil") as evil:
        evil.opened = list(gitlab.opened)
        evil.pushed(1, gitlab.tip(BRANCH), "2026-03-01T09:00:00.000Z")
        evil.approve(1, evil.person("mona"), "2026-03-01T11:00:00.000Z")
        where = evil.address.removeprefix("http://").partition("/")[0]
        house.write(
            ".git/glab-cli/config.yml", f"hosts:\n    gitlab.com:\n        api_host: {where}\n        token: x\n"
        )
        house.env |= {"GITLAB_API_HOST": where, "GITLAB_HOST": evil.address, "GITLAB_URI": evil.address,
                      "CI_API_V4_URL": evil.address, "GLAB_CONFIG_DIR": f"{house.root}/.git/glab-cli"}  # fmt: skip
        assert "nobody has approved" in house.ok("feature", "continue").out
        assert evil.operations == []
    assert house.phase(FIRST)["status"] == "user_review"


def test_the_merge_request_confirms_in_another_clone_what_it_still_says(talk, house, gitlab, tmp_path):
    talk.approves()
    house.ok("feature", "continue")
    house.git("clone", "-q", str(gitlab.bare), str(tmp_path / "there"))
    there = house.at(tmp_path / "there")
    there.git("remote", "set-url", "origin", gitlab.url)
    there.git("config", f"url.{gitlab.bare}.insteadOf", gitlab.url)
    there.git("switch", "-q", BRANCH)
    assert f"the approval of {FIRST} by mona is confirmed" in there.ok("feature", "continue").out


def test_a_look_that_the_forge_refuses_is_made_up_for_by_the_next(talk, house, gitlab):
    talk.approves()
    gitlab.faults += [Fault(passes=True), Fault(429, {"message": "Retry later"}, {"Retry-After": "5"})]
    refused = house.agent("feature", "continue", "--json")
    assert (refused.code, refused.error["code"], refused.error["facts"]["retry_after"]) == (3, "forge_rate_limited", 5)
    assert house.phase(FIRST)["status"] == "user_review"
    house.ok("feature", "continue")
    assert house.phase(FIRST)["status"] == "approved"
