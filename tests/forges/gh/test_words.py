"""What needs no forge: addresses, commands, names, and a gh that is missing or says something else."""

from __future__ import annotations

import os
import shlex

import pytest

from holdfast.errors import Refused, UsageError
from holdfast.forges import none as forge


@pytest.fixture
def impostor(tmp_path, monkeypatch):
    """Puts a program of the test in place of gh."""

    def put(script):
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "gh").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "gh").chmod(0o755)
        monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
        return str(folder / "gh")

    return put


def refusal(call):
    with pytest.raises(Refused) as caught:
        call()
    return caught.value


# Whether gh is there


def test_gh_is_found_where_the_given_environment_says(impostor, tmp_path):
    program = impostor("exit 0")
    assert forge.available() == program
    assert forge.available({"PATH": f"{tmp_path}:{tmp_path}/bin"}) == program
    assert forge.available({"PATH": str(tmp_path)}) == ""
    assert forge.available({"PATH": ""}) == ""


def test_a_gh_in_the_folder_one_stands_in_is_not_run(impostor, tmp_path, monkeypatch):
    impostor("exit 0")
    monkeypatch.chdir(tmp_path)
    assert forge.available({"PATH": ":.:bin"}) == ""


def test_without_gh_the_refusal_is_the_command_for_people(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = refusal(lambda: forge.create(str(tmp_path), "fix/door", title="Mend it", body="", base="main"))
    assert (refused.code, refused.exit_code) == ("no_gh", 3)
    assert refused.remedy == forge.command("fix/door", title="Mend it", base="main")
    assert refusal(lambda: forge.find(str(tmp_path), "fix/door")).code == "no_gh"


# A gh that misbehaves

PAGE = "https://github.com/o/r/pull"


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "null",
        "{}",
        "[1]",
        "[null]",
        "[" * 100_000,
        '[{"number": 1}]',
        f'[{{"number": "1", "url": "{PAGE}/1", "title": "", "isDraft": false, "isCrossRepository": false}}]',
        f'[{{"number": true, "url": "{PAGE}/1", "title": "", "isDraft": false, "isCrossRepository": false}}]',
        f'[{{"number": 1, "url": "{PAGE}/2", "title": "", "isDraft": false, "isCrossRepository": false}}]',
        '[{"number": 1, "url": "javascript:1", "title": "", "isDraft": false, "isCrossRepository": false}]',
        f'[{{"number": 1, "url": "{PAGE}/1", "title": null, "isDraft": false, "isCrossRepository": false}}]',
        f'[{{"number": 1, "url": "{PAGE}/1", "title": "", "isDraft": "no", "isCrossRepository": false}}]',
        f'[{{"number": 1, "url": "{PAGE}/1", "title": "", "isDraft": false}}]',
    ],
    ids=lambda answer: answer[:40] or "nothing",
)
def test_a_list_of_another_shape_is_refused(impostor, tmp_path, answer):
    (tmp_path / "answer").write_text(answer)
    impostor(f"cat '{tmp_path}/answer'")
    refused = refusal(lambda: forge.find(str(tmp_path), "fix"))
    assert (refused.code, refused.remedy) == ("gh_failed", "gh pr list --head fix")


def test_a_title_is_made_safe_to_print(impostor, tmp_path):
    title = r"Red \u001b[31mdoor\u0007\nand\u009b \u202emore"
    (tmp_path / "answer").write_text(
        f'[{{"number": 1, "url": "{PAGE}/1", "title": "{title}", "isDraft": true, "isCrossRepository": false}}]'
    )
    impostor(f"cat '{tmp_path}/answer'")
    assert forge.find(str(tmp_path), "fix") == forge.PullRequest(1, f"{PAGE}/1", "Red door and more", True)


@pytest.mark.parametrize("printed", ["", "done", f"{PAGE}/7 ", f"{PAGE}/7\nThanks!", f"{PAGE}/7/files", "7"])
def test_only_the_address_of_a_pull_request_ends_a_creation(impostor, tmp_path, printed):
    (tmp_path / "answer").write_text(f"Some news.\n{printed}\n")
    impostor(f"case $2 in list) echo '[]' ;; *) cat '{tmp_path}/answer' ;; esac")

    def call():
        return forge.create(str(tmp_path), "fix", title="T", body="B")

    if printed == f"{PAGE}/7 ":
        assert call() == forge.PullRequest(7, f"{PAGE}/7", "T")
    else:
        assert refusal(call).code == "gh_failed"


def test_what_gh_complains_of_is_shown_on_one_line_from_its_end_and_without_control_characters(impostor, tmp_path):
    impostor(r"""printf 'x%.0s' $(seq 5000) >&2; printf '\033[31mred\033[0m\n\a\302\233 the \377 end\n' >&2; exit 1""")
    message = refusal(lambda: forge.find(str(tmp_path), "fix")).message
    assert message.endswith("xxred the \N{REPLACEMENT CHARACTER} end")
    assert message.isprintable()
    assert len(message) < 1100


def test_a_gh_that_fails_without_a_word_is_quoted_by_its_exit_code(impostor, tmp_path):
    impostor("exit 9")
    assert refusal(lambda: forge.find(str(tmp_path), "fix")).message == "gh pr list failed: exit code 9"


def test_a_gh_that_hangs_is_ended_with_all_it_started(impostor, tmp_path, monkeypatch):
    impostor(f"sleep 600 & echo $! > '{tmp_path}/sleeper'; wait")
    monkeypatch.setattr(forge, "TIMEOUT_SECONDS", 1)
    assert refusal(lambda: forge.find(str(tmp_path), "fix")).code == "gh_timeout"
    assert ends(int((tmp_path / "sleeper").read_text()))


def ends(pid):
    """Whether a process is gone or goes; waits for it a generous while."""
    import select

    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 60)[0])
    finally:
        os.close(descriptor)


def test_a_gh_that_prints_without_end_is_stopped(impostor, tmp_path):
    impostor("yes >&2")
    refused = refusal(lambda: forge.find(str(tmp_path), "fix"))
    assert (refused.code, "more than 1 MiB" in refused.message) == ("gh_failed", True)


def test_gh_runs_in_a_session_of_its_own_and_has_nobody_to_ask(impostor, tmp_path):
    impostor(f"""
cut -d' ' -f6 /proc/$$/stat > '{tmp_path}/session'; echo $$ > '{tmp_path}/pid'
readlink /proc/$$/fd/0 > '{tmp_path}/stdin'
echo "$GH_PROMPT_DISABLED$NO_COLOR$GH_NO_UPDATE_NOTIFIER" > '{tmp_path}/quiet'
echo '[]'""")
    assert forge.find(str(tmp_path), "fix") is None
    assert (tmp_path / "session").read_text() == (tmp_path / "pid").read_text()
    assert (tmp_path / "stdin").read_text() == "/dev/null\n"
    assert (tmp_path / "quiet").read_text() == "111\n"


# Names and words

BAD_NAMES = ("", "-x", "a b", "a:b", "a..b", "a/", "/a", "a//b", "a/.b", "a.", "a.lock", "a.lock/b", "a\n", "a~1", "a^",
             "größe", "a\\b", "a?b", "a*b", "a[b", "@{u}", "x" * 201)  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_git_or_a_shell_could_misread_is_refused(name, tmp_path):
    calls = [
        lambda: forge.find(str(tmp_path), name),
        lambda: forge.create(str(tmp_path), name, title="T", body=""),
        lambda: forge.command(name, title="T"),
        lambda: forge.command("fix", title="T", remote=name),
        lambda: forge.compare_url("https://github.com/o/r", name, "main"),
    ]
    if name:
        calls += [
            lambda: forge.find(str(tmp_path), "fix", base=name),
            lambda: forge.command("fix", title="T", base=name),
            lambda: forge.compare_url("https://github.com/o/r", "fix", name),
        ]
    for call in calls:
        with pytest.raises(UsageError) as caught:
            call()
        assert caught.value.code == "bad_branch"


@pytest.mark.parametrize(
    ("title", "body"),
    [("", ""), (" ", ""), ("a\nb", ""), ("a\x1bb", ""), ("x" * 1001, ""), ("T", "a\0b"), ("T", "\ud800"),
     ("T", "x" * (forge.BODY_LIMIT + 1))],
)  # fmt: skip
def test_words_that_a_forge_would_not_take_are_refused_before_anything_runs(title, body, tmp_path, impostor):
    impostor(f"touch '{tmp_path}/ran'")
    with pytest.raises(UsageError) as caught:
        forge.create(str(tmp_path), "fix", title=title, body=body)
    assert caught.value.code == "bad_text"
    assert not (tmp_path / "ran").exists()


def test_the_command_for_people_reads_as_its_description_says():
    typed = forge.command("fix/door", title="Mend the door", base="main")
    assert typed == (
        "git push -u origin fix/door && gh pr create --head fix/door --base main --title 'Mend the door' --body ''"
    )
    assert typed in str(forge.command.__doc__)
    assert forge.command("fix", title="It's", remote="mine") == (
        "git push -u mine fix && gh pr create --head fix --title 'It'\"'\"'s' --body ''"
    )


# Addresses


@pytest.mark.parametrize(
    "remote",
    [
        "https://github.com/o/r",
        "https://github.com/o/r.git",
        "https://github.com/o/r.git/",
        "https://me:secret@github.com/o/r.git",
        "https://GitHub.com/o/r",
        "git@github.com:o/r.git",
        "github.com:o/r",
        "git@github.com:/o/r.git",
        "ssh://git@github.com/o/r.git",
        "ssh://github.com:22/o/r",
        "ssh://git@ssh.github.com:443/o/r.git",
    ],
)
def test_every_spelling_of_a_github_remote_leads_to_its_compare_page(remote):
    assert forge.compare_url(remote, "fix/door#2", "main") == (
        "https://github.com/o/r/compare/main...fix/door%232?expand=1"
    )
    assert forge.compare_url(remote, "fix", "") == "https://github.com/o/r/compare/fix?expand=1"


@pytest.mark.parametrize(
    ("remote", "page"),
    [
        ("https://gitlab.com/g/p.git", "https://gitlab.com/g/p"),
        ("git@gitlab.com:g/sub/p.git", "https://gitlab.com/g/sub/p"),
        ("ssh://git@altssh.gitlab.com:443/g/p.git", "https://gitlab.com/g/p"),
        ("https://gitlab.example.com:8443/g/p", "https://gitlab.example.com:8443/g/p"),
        ("ssh://git@gitlab.example.com:2222/g/p.git", "https://gitlab.example.com/g/p"),
    ],
)
def test_a_gitlab_remote_leads_to_its_new_merge_request(remote, page):
    query = "merge_request%5Bsource_branch%5D=fix%2Fdoor&merge_request%5Btarget_branch%5D=main"
    assert forge.compare_url(remote, "fix/door", "main") == f"{page}/-/merge_requests/new?{query}"


@pytest.mark.parametrize("host", ["github.example.com", "acme.ghe.com"])
def test_an_enterprise_host_of_github_keeps_its_name(host):
    assert forge.compare_url(f"git@{host}:o/r.git", "fix", "main") == f"https://{host}/o/r/compare/main...fix?expand=1"


@pytest.mark.parametrize(
    "remote",
    ["", "/srv/r.git", "../r", "file:///srv/github.com/o/r", "https://example.com/o/r", "https://codeberg.org/o/r",
     "https://github.com/o", "https://github.com/o/r/x", "https://github.com/o/..", "https://github.com/o/r?x=1",
     "https://github.com/o/r\n", "https://notgithub.com/o/r", "https://evil.example/github.com/o/r", "github:o/r",
     "http://github.com/o/r", "C:/o/r", "https://github.com/o/r" + "x" * 2000],
)  # fmt: skip
def test_any_other_remote_has_no_page(remote):
    assert forge.compare_url(remote, "fix", "main") == ""


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
    assert forge.number_in(url) == number


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
    assert forge.number_in(url) is None


# Issues

ISSUES = "https://github.com/o/r/issues"


def test_without_gh_the_refusal_is_the_command_that_makes_the_issue(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = refusal(lambda: forge.create_issue(str(tmp_path), title="Don't $(touch x)", body=""))
    assert (refused.code, refused.exit_code) == ("no_gh", 3)
    assert shlex.split(refused.remedy) == ["gh", "issue", "create", "--title", "Don't $(touch x)"]
    assert "make an issue" in refused.message


@pytest.mark.parametrize("printed", ["", "done", f"{ISSUES}/0", f"{ISSUES}/7\nThanks!", f"{PAGE}/7", "javascript:1"])
def test_only_the_address_of_an_issue_ends_its_making(impostor, tmp_path, printed):
    (tmp_path / "answer").write_text(f"Some news.\n{printed}\n")
    impostor(f"cat '{tmp_path}/answer'")
    refused = refusal(lambda: forge.create_issue(str(tmp_path), title="T", body="B"))
    assert (refused.code, refused.remedy) == ("gh_failed", "gh issue list")


@pytest.mark.parametrize(("title", "body"), [("", ""), ("two\nlines", ""), ("x" * 1001, ""), ("T", "x" * (1 << 19))])
def test_words_that_no_issue_can_have_are_refused_before_gh_is_asked(impostor, tmp_path, title, body):
    impostor(f"touch '{tmp_path}/asked'")
    with pytest.raises(UsageError) as caught:
        forge.create_issue(str(tmp_path), title=title, body=body)
    assert caught.value.code == "bad_text"
    assert not (tmp_path / "asked").exists()
