"""What every forge says without being asked over a network: pages, numbers, commands to type, and why it refuses."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from holdfast import git
from holdfast.errors import Refused, UsageError
from holdfast.forges import addresses, github, gitlab
from holdfast.forges.gitlab.project import project_in
from holdfast.forges.known import is_users
from holdfast.forges.none import NoForge
from holdfast.forges.port import Forge, forge_of
from tests.forges.github.server import HERE

GITHUB = "https://github.com/octo-org/octo-repo"


def no_login() -> Forge:
    return github.connect(HERE, top="/", environ={"PATH": ""})


def on_gitlab(url: str = "git@gitlab.com:g/p.git", head: str = "") -> Forge:
    """A GitLab without a login, and the fork that branches are pushed to, if any."""
    project = project_in(url, {})
    assert project is not None
    return gitlab.connect(project, head=project_in(head, {}) or project, top="/", environ={"PATH": ""})


ALL = {"github": no_login(), "gitlab": on_gitlab(), "none": NoForge("")}


@pytest.fixture(params=ALL.values(), ids=ALL.keys())
def forge(request) -> Forge:
    return request.param


@pytest.fixture
def of(tmp_path):
    """The forge of a working tree whose `origin` has this URL."""

    def found(url: str, environ: dict[str, str] | None = None, remote: str = "origin") -> Forge:
        subprocess.run(["git", "init", "-q", str(tmp_path / "top")], check=True)
        if url:
            subprocess.run(["git", "-C", str(tmp_path / "top"), "remote", "add", remote, url], check=True)
        repository = git.find(str(tmp_path / "top"))
        assert repository is not None
        return forge_of(repository, "fix", environ=environ or {"PATH": ""}, config_dir=str(tmp_path))

    return found


def named(config: Path, host: str, address: str) -> None:
    (config / "holdfast").mkdir(exist_ok=True)
    (config / "holdfast" / "config.toml").write_text(f'[forges]\n"{host}" = "{address}"\n')


# Which forge it is


def test_a_remote_on_a_github_is_that_github(of):
    forge = of("git@github.com:octo-org/octo-repo.git", {"GH_TOKEN": "one"}, remote="mine")
    assert (forge.name, forge.source, forge.refusal) == ("github", "github", None)
    assert forge.page("fix", "main") == f"{GITHUB}/compare/main...fix?expand=1"
    assert forge.typed("fix", "T", "").startswith("git push -u mine fix && gh pr create ")


def test_a_host_that_the_user_named_is_a_github_and_has_its_pages(of, tmp_path):
    named(tmp_path, "code.example.com", "https://code.example.com/api/v3")
    forge = of("https://code.example.com/o/r")
    assert forge.page("fix", "main") == "https://code.example.com/o/r/compare/main...fix?expand=1"
    assert forge.address == "https://code.example.com/api/v3/repos/o/r"


def test_an_api_that_the_users_settings_name_is_who_answers(of, tmp_path):
    named(tmp_path, "github.com", "https://api.example.com/v3")
    forge = of(GITHUB, {"GH_TOKEN": "one"})
    assert (forge.name, forge.source) == ("github", "api.example.com")
    assert forge.address == "https://api.example.com/v3/repos/octo-org/octo-repo"


def test_a_remote_on_a_gitlab_is_that_gitlab(of):
    forge = of("git@gitlab.com:group/sub/p.git", {"GITLAB_TOKEN": "one"}, remote="mine")
    assert (forge.name, forge.source, forge.refusal) == ("gitlab", "gitlab", None)
    assert forge.address == "https://gitlab.com/api/v4/projects/group%2Fsub%2Fp"
    assert forge.address_of(3) == f"{forge.address}/merge_requests/3"
    assert forge.typed("fix", "T", "").startswith("git push -u mine fix && glab mr create ")


def test_a_host_that_the_user_named_with_the_api_of_a_gitlab_is_one(of, tmp_path):
    named(tmp_path, "code.example.com", "https://code.example.com/api/v4")
    forge = of("https://code.example.com/g/p", {"GITLAB_TOKEN": "one", "PATH": ""})
    assert (forge.name, forge.source, forge.refusal) == ("gitlab", "code.example.com", None)
    assert forge.address == "https://code.example.com/api/v4/projects/g%2Fp"


def test_what_only_has_the_name_of_a_gitlab_gets_no_token(of):
    forge = of("https://gitlab.evil.example/g/p", {"GITLAB_TOKEN": "one", "PATH": ""})
    assert (forge.name, forge.refusal.code) == ("gitlab", "forge_no_login")
    assert '"gitlab.evil.example" = "https://gitlab.evil.example/api/v4"' in forge.refusal.remedy


def test_a_fork_on_a_gitlab_goes_to_the_project_that_git_names(of, tmp_path):
    of("git@gitlab.com:me/p.git")
    top = ["git", "-C", str(tmp_path / "top")]
    subprocess.run([*top, "remote", "add", "theirs", "git@gitlab.com:g/p.git"], check=True)
    subprocess.run([*top, "config", "remote.theirs.glab-resolved", "base"], check=True)
    forge = of("git@gitlab.com:me/p.git", remote="again")
    assert forge.is_fork
    assert forge.address.endswith("/projects/g%2Fp")


MISLED = {
    "GITLAB_HOST": "evil.example",
    "GITLAB_URI": "https://evil.example",
    "GITLAB_API_HOST": "evil.example",
    "GL_HOST": "evil.example",
    "CI_API_V4_URL": "https://evil.example/api/v4",
    "GITHUB_API_URL": "https://evil.example",
    "GITHUB_SERVER_URL": "https://evil.example",
    "GH_HOST": "evil.example",
}


def test_no_variable_names_another_address_of_a_forge(of):
    assert of(GITHUB, {**MISLED, "GH_TOKEN": "one"}).address == "https://api.github.com/repos/octo-org/octo-repo"


def test_no_variable_names_another_address_of_a_gitlab(of):
    there = of("https://gitlab.com/o/r", {**MISLED, "GITLAB_TOKEN": "one"})
    assert there.address == "https://gitlab.com/api/v4/projects/o%2Fr"


def test_no_variable_names_a_forge(of):
    assert of("https://evil.example/o/r", {**MISLED, "GH_TOKEN": "one", "GITLAB_TOKEN": "one"}).name == "none"


def test_an_approval_counts_at_a_forge_of_the_users_and_nowhere_else(tmp_path):
    ours = str(tmp_path)
    assert is_users("https://api.github.com/repos/o/r/pulls/1", ours)
    assert is_users("https://api.octo.ghe.com/repos/o/r/pulls/1", ours)
    assert is_users("https://gitlab.com/api/v4/projects/o%2Fr/merge_requests/1", ours)
    for other in (
        "http://127.0.0.1:8000",
        "https://evil.example/api/v3",
        "http://api.github.com",
        "https://api.github.com.evil.example",
        "https://gitlab.example.com/api/v4",
        "https://gitlab.com.evil.example/api/v4",
    ):
        assert not is_users(f"{other}/repos/o/r/pulls/1", ours)
    named(tmp_path, "code.example.com", "https://code.example.com/api/v3/")
    assert is_users("https://code.example.com/api/v3/repos/o/r/pulls/1", ours)
    assert not is_users("https://github.example.com/api/v3/repos/o/r/pulls/1", ours)
    (tmp_path / "gh").mkdir()
    (tmp_path / "gh" / "hosts.yml").write_text("github.example.com:\n    user: ada\n")
    assert is_users("https://github.example.com/api/v3/repos/o/r/pulls/1", ours)
    (tmp_path / "glab-cli").mkdir()
    (tmp_path / "glab-cli" / "config.yml").write_text("hosts:\n    gitlab.example.com:\n        token: x\n")
    assert is_users("https://gitlab.example.com/api/v4/projects/o%2Fr/merge_requests/1", ours)


def test_settings_that_name_no_address_are_refused(of, tmp_path):
    gitlab_of_another_form = '[forges]\n"gitlab.com" = "https://gitlab.com"'
    wrong = ('forges = "github.com"', '[forges]\n"github.com" = 1', '[forges]\n"a b" = "https://x"')
    for text in (*wrong, gitlab_of_another_form):
        (tmp_path / "holdfast").mkdir(exist_ok=True)
        (tmp_path / "holdfast" / "config.toml").write_text(text)
        with pytest.raises(UsageError) as caught:
            of(GITHUB, remote=f"r{len(text)}")
        assert caught.value.code == "bad_config"


@pytest.mark.parametrize("url", ["", "/srv/r.git", "https://example.com/o/r", "https://github.com.evil.example/o/r"])
def test_any_other_remote_has_no_forge(of, url):
    forge = of(url, {"PATH": "", "GH_TOKEN": "one"})
    assert (forge.name, forge.refusal.code, forge.page("fix", "main")) == ("none", "no_forge", "")


# What a forge that cannot be asked refuses


def test_whatever_needs_an_answer_is_refused_with_the_code_of_the_refusal(forge):
    calls = [
        lambda: forge.find("fix", "main"),
        lambda: forge.open("fix", "main", "Fix it", ""),
        lambda: forge.open_issue("Fix it", ""),
        *(lambda ask=ask: ask(1) for ask in (forge.get, forge.reviews, forge.comments, forge.threads)),
    ]
    for call in calls:
        with pytest.raises(Refused) as caught:
            call()
        assert (caught.value.code, caught.value.exit_code) == (forge.refusal.code, 3)
        assert caught.value.remedy


def test_without_a_forge_the_remedy_is_the_command_for_people():
    forge = NoForge("https://example.com/o/r.git")
    with pytest.raises(Refused) as caught:
        forge.open("fix/door", "main", "Fix it", "")
    assert caught.value.remedy == forge.typed("fix/door", "Fix it", "main")
    with pytest.raises(Refused) as caught:
        forge.open_issue("Don't $(touch x)", "")
    assert shlex.split(caught.value.remedy) == ["gh", "issue", "create", "--title", "Don't $(touch x)"]
    with pytest.raises(Refused) as caught:
        NoForge("").open_issue("Fix it", "")
    assert caught.value.remedy == "git remote add origin URL"


# Names and commands

BAD_NAMES = ("", "-x", "a b", "a:b", "a..b", "a/", "/a", "a//b", "a/.b", "a.", "a.lock", "a.lock/b", "a\n", "a~1", "a^",
             "größe", "a\\b", "a?b", "a*b", "a[b", "@{u}", "x" * 201)  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_git_or_a_shell_could_misread_is_refused(name, forge):
    calls = [lambda: forge.page(name, "main"), lambda: forge.typed(name, "T", "main")]
    calls += [lambda: forge.page("fix", name), lambda: forge.typed("fix", "T", name)] if name else []
    for call in [*calls, lambda: NoForge("", name).typed("fix", "T", "")]:
        with pytest.raises(UsageError) as caught:
            call()
        assert caught.value.code == "bad_branch"


def test_the_command_for_people_reads_as_its_description_says():
    typed = NoForge("").typed("fix/door", "Fix the door", "main")
    assert typed == no_login().typed("fix/door", "Fix the door", "main")
    assert f"`{typed}`" in str(addresses.open_command.__doc__)
    assert NoForge("", "mine").typed("fix", "It's $(touch x)", "") == (
        "git push -u mine fix && gh pr create --head fix --title 'It'\"'\"'s $(touch x)' --body ''"
    )


def test_gh_knows_the_options_of_the_command_for_people():
    known = subprocess.run(["gh", "pr", "create", "--help"], capture_output=True, text=True, check=True).stdout.split()
    options = [word for word in shlex.split(NoForge("").typed("fix", "T", "main")) if word.startswith("--")]
    assert len(options) == 4
    assert set(options) <= set(known)


def test_on_a_gitlab_glab_opens_the_merge_request():
    assert on_gitlab().typed("fix", "It's $(touch x)", "main") == (
        "git push -u origin fix && glab mr create --source-branch fix --target-branch main "
        "--title 'It'\"'\"'s $(touch x)' --yes --description ''"
    )
    typed = on_gitlab().typed("fix", "T", "", "a b.md")
    assert typed.endswith("--source-branch fix --title T --yes --description \"$(cat 'a b.md')\"")


def test_from_a_fork_on_a_gitlab_both_projects_are_named():
    forge = on_gitlab("git@gitlab.com:g/p.git", head="git@gitlab.com:me/p.git")
    assert forge.is_fork
    assert " --repo g/p --head me/p --source-branch fix " in forge.typed("fix", "T", "main")
    assert forge.page("fix", "").startswith("https://gitlab.com/me/p/-/merge_requests/new?")
    own = on_gitlab("git@gitlab.example.com:g/p.git", head="git@gitlab.example.com:me/p.git")
    assert " --repo https://gitlab.example.com/g/p --head https://gitlab.example.com/me/p " in own.typed("fix", "T", "")


# Addresses


@pytest.mark.parametrize("branch", ["fix/door#2", "fix"])
def test_a_github_has_a_page_that_compares_branches(branch):
    quoted = branch.replace("#", "%23")
    assert no_login().page(branch, "main") == f"{GITHUB}/compare/main...{quoted}?expand=1"
    assert no_login().page(branch, "") == f"{GITHUB}/compare/{quoted}?expand=1"


@pytest.mark.parametrize(
    ("remote", "page"),
    [
        ("https://gitlab.com/g/p.git", "https://gitlab.com/g/p"),
        ("https://me:secret@gitlab.com/g/p.git/", "https://gitlab.com/g/p"),
        ("git@gitlab.com:g/sub/p.git", "https://gitlab.com/g/sub/p"),
        ("ssh://git@altssh.gitlab.com:443/g/p.git", "https://gitlab.com/g/p"),
        ("https://gitlab.example.com:8443/g/p", "https://gitlab.example.com:8443/g/p"),
        ("ssh://git@gitlab.example.com:2222/g/p.git", "https://gitlab.example.com/g/p"),
    ],
)
def test_a_gitlab_remote_leads_to_its_new_merge_request(remote, page):
    query = "merge_request%5Bsource_branch%5D=fix%2Fdoor&merge_request%5Btarget_branch%5D=main"
    assert on_gitlab(remote).page("fix/door", "main") == f"{page}/-/merge_requests/new?{query}"


@pytest.mark.parametrize(
    "remote",
    ["", "/srv/r.git", "../r", "file:///srv/gitlab.com/o/r", "https://example.com/o/r", "https://codeberg.org/o/r",
     "https://gitlab.com/o", "https://gitlab.com/o/..", "https://gitlab.com/o/r?x=1", "https://gitlab.com/o/r\n",
     "https://notgitlab.com/o/r", "https://evil.example/gitlab.com/o/r", "gitlab:o/r", "http://gitlab.com/o/r",
     "C:/o/r", "https://gitlab.com/o/r" + "x" * 2000],
)  # fmt: skip
def test_any_other_remote_is_no_gitlab(remote):
    assert project_in(remote, {}) is None
    assert NoForge(remote).page("fix", "main") == ""


@pytest.mark.parametrize(
    ("url", "number"),
    [
        ("https://github.com/o/r/pull/12", 12),
        ("https://github.example.com:8443/o/r.x/pull/1", 1),
        ("https://gitlab.com/g/p/-/merge_requests/3", 3),
        ("https://gitlab.com/g/sub/sub/p/-/merge_requests/3", 3),
        ("https://codeberg.org/o/r/pulls/999999999", 999_999_999),
    ],
)
def test_the_number_is_read_from_the_address_of_a_pull_request(url, number):
    assert addresses.number_in(url) == number


@pytest.mark.parametrize(
    "url",
    ["", "12", "http://github.com/o/r/pull/12", "https://github.com/o/r/pull/0", "https://github.com/o/r/pull/012",
     "https://github.com/o/r/pull/12/", "https://github.com/o/r/pull/12/files", "https://github.com/o/r/pull/12?x",
     "https://github.com/o/r/pull/12#x", "https://github.com/o/r/pull/12\n", " https://github.com/o/r/pull/12",
     "https://github.com/o/r/pull/-1", "https://github.com/o/r/pull/１２", "https://github.com/o/r/pull/1234567890",
     "https://me@github.com/o/r/pull/12", "https://github.com/o/pull/12", "https://github.com/o/../pull/12",
     "https://github.com/o/r/s/pull/12", "https://github.com/o/r/issues/12", "https://gitlab.com/g/p/merge_requests/3",
     "https:///o/r/pull/12", "https://github.com:x/o/r/pull/12", "https://" + "a" * 2000 + "/o/r/pull/12"],
)  # fmt: skip
def test_anything_else_has_no_number(url):
    assert addresses.number_in(url) is None
