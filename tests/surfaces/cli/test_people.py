"""What only a person may do: an agent is refused, and a person on a terminal is shown and asked."""

from __future__ import annotations

import subprocess

import pytest

from holdfast.errors import Refused
from holdfast.surfaces import tools
from tests.surfaces.cli.conftest import DEFINITION
from tests.tiers import need


def ready(project):
    """Up to a gate that only a person opens, with something to approve."""
    project.until("sign-off")
    project.ok("begin", "sign-off")
    project.write("plan.md", "the plan")
    project.ok("attach", "sign-off", "--artifact", "plan=plan.md")
    project.ok("done", "sign-off")
    return project


def test_an_agent_cannot_approve_extend_override_or_trust(project):
    ready(project)
    before = project.fingerprint()
    for words in (
        ("approve", "sign-off"),
        ("approve", "sign-off", "--yes"),
        ("extend", "--cost", "5"),
        ("trust", "release"),
        ("trust", "release", "--yes"),
        ("trust", "release", "--remove"),
        ("amend", "sign-off", "--retire"),
    ):
        answer = project.agent(*words, "--json", stdin="y\n")
        assert (answer.code, answer.error["code"]) == (3, "person_needed"), (words, answer)
    assert project.fingerprint() == before


def test_a_host_makes_an_agent_of_whoever_types_on_a_terminal(project):
    ready(project)
    answer = project.person("approve", "sign-off", says="y", env={"CLAUDECODE": "1"})
    assert answer.code == 3
    assert "only a person may approve sign-off" in answer.out


def test_a_role_does_not_make_a_person(project):
    ready(project)
    assert project.agent("approve", "sign-off", "--as", "human").code == 3


def test_a_person_sees_what_is_approved_and_says_yes(project):
    ready(project)
    answer = project.people_ok("approve", "sign-off", says="y")
    assert "plan: plan.md" in answer.out
    assert "    | the plan\n" in answer.out
    assert "Approve sign-off? [y/N]" in answer.out
    assert project.step("sign-off") == "done"


def test_nobody_is_asked_about_what_would_be_refused(project):
    assert_refused(project, "the step sign-off cannot begin before")
    project.until("sign-off")
    project.ok("begin", "sign-off")
    project.ok("task", "add", "read it twice", "--under", "sign-off")
    assert_refused(project, "sign-off/1 is not done")
    project.ok("task", "start", "1")
    project.ok("task", "done", "1")
    project.people_ok("pause", "--reason", "lunch")
    assert_refused(project, "is paused: lunch")
    assert project.agent("resume", "--json").error["code"] == "person_needed"
    with pytest.raises(Refused, match="only a person may end a pause that a person made"):
        tools.call(project.opened(), "resume_workflow", {"workflow_id": project.opened().workflow().id})
    project.people_ok("resume")
    project.people_ok("approve", "sign-off", says="y")
    again = project.person("approve", "sign-off")
    assert (again.code, "[y/N]" in again.out) == (0, False)


def assert_refused(project, why):
    answer = project.person("approve", "sign-off")
    assert (answer.code, "[y/N]" in answer.out) == (3, False), answer
    assert why in answer.out


def test_a_person_sees_what_the_workflow_is_about_and_who_reviewed_it(empty):
    empty.write(
        ".holdfast/workflows/plain.toml",
        'name = "plain"\n[[step]]\nid = "a"\nreview = {}\napproval = { by = "human" }\n',
    )
    empty.ok("start", "plain", "New harbour")
    empty.ok("begin", "a")
    empty.ok("done", "a")
    empty.ok("review", "a", "--verdict", "approved", "--as", "reviewer")
    shown = empty.person("approve", "a", says="n").out.replace("\r\n", "\n")
    assert "New harbour · plain-" in shown
    assert "review: approved by agent reviewer\n" in shown


@pytest.mark.parametrize("says", ["n", "", "yeah but no"])
def test_anything_but_yes_approves_nothing(project, says):
    ready(project)
    before = project.fingerprint()
    answer = project.person("approve", "sign-off", says=says or " ")
    assert answer.code == 1
    assert "sign-off was not approved" in answer.out
    assert project.fingerprint() == before


def test_a_person_is_told_when_an_artifact_changed_since_it_was_handed_in(project):
    ready(project)
    project.write("plan.md", "another plan")
    assert "changed since it was handed in" in project.people_ok("approve", "sign-off", says="yes").out


def test_what_changes_while_a_person_looks_is_not_approved(project):
    ready(project)
    before = project.fingerprint()
    answer = project.person("approve", "sign-off", says="y", meanwhile=lambda: project.write("plan.md", "swapped"))
    assert answer.code == 5
    assert "changed while you looked" in answer.out
    assert project.fingerprint() == before


def test_a_definition_that_changes_while_a_person_looks_is_not_trusted(project):
    def swap():
        project.write(DEFINITION, (project.root / DEFINITION).read_text().replace("check.py", "other.py"))

    answer = project.person("trust", "release", says="y", meanwhile=swap)
    assert answer.code == 5
    assert project.ok("workflows", "--json").json["workflows"][0]["trusted"] is False


def test_a_person_is_shown_earlier_feedback(project):
    ready(project)
    project.people_ok("reject", "sign-off", "--feedback", "not on a \x1b[31mFriday")
    project.write("plan.md", "the plan, on Monday")
    project.ok("done", "sign-off")
    answer = project.people_ok("approve", "sign-off", says="y")
    assert "↳ not on a \\x1b[31mFriday" in answer.out


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        (("--cost", "5"), "--cost 5"),
        (("--cost", "0.25", "--time", "90m"), "--cost 0.25 --time 90m"),
        (("--time", "2h"), "--time 2h"),
        (("--time", "90s", "--iterations", "3"), "--time 90s --iterations 3"),
    ],
)
def test_an_agent_is_told_what_a_person_would_type(project, words, typed):
    refused = project.agent("extend", *words, "--json").error
    assert refused["remedy"] == "show this to a person and stop"
    [command] = [one["command"] for one in refused["remedies"] if one["who"] == "person"]
    assert command == f"holdfast extend {typed}"
    project.people_ok(*command.split()[1:])


def test_a_person_extends_a_bound(project):
    answer = project.people_ok("extend", "--cost", "5", "--time", "1h", "--iterations", "2")
    assert "cost $15.00, time 3h 0m, iterations 7" in answer.out


def test_a_person_overrides_an_escalation(project):
    project.until("verify")
    project.ok("begin", "verify")
    for _ in range(2):
        project.ok("fail", "verify", "--reason", "boom")
    assert project.agent("approve", "verify").code == 3
    answer = project.people_ok("approve", "verify", says="y")
    assert "escalated: failed 2 times: boom" in answer.out
    assert project.step("verify") == "done"


def test_trust_shows_the_commands_and_asks(project):
    declined = project.person("trust", "release", says="n")
    assert declined.code == 1
    assert "check.py" in declined.out
    assert project.ok("workflows", "--json").json["workflows"][0]["trusted"] is False
    project.people_ok("trust", ".holdfast/workflows/release.toml", says="y")
    assert project.ok("workflows", "--json").json["workflows"][0]["trusted"] is True
    project.people_ok("trust", "release", "--remove")
    assert project.ok("workflows", "--json").json["workflows"][0]["trusted"] is False


def test_a_command_that_nobody_trusted_is_not_run(project):
    project.until("verify")
    project.write("check.py", "open('ran', 'w')\n")
    project.ok("begin", "verify")
    assert project.agent("check", "tests", "--json").error["code"] == "untrusted"
    assert not (project.root / "ran").exists()


def test_a_signed_gate_takes_a_signature_made_here_or_elsewhere(empty, tmp_path):
    need("ssh-keygen")
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    steps = '[[step]]\nid = "ship"\napproval = { by = "signed" }\n[[step]]\nid = "more"\napproval = { by = "signed" }\n'
    empty.write(".holdfast/workflows/signed.toml", f'name = "signed"\n{steps}')
    empty.write(".holdfast/allowed_signers", f"ada {key.with_suffix('.pub').read_text()}")
    empty.ok("start", "signed")
    empty.ok("begin", "ship")
    assert empty.agent("approve", "ship", "--json").error["code"] == "signature_needed"
    assert empty.ok("approve", "ship", "--sign", str(key), "--json").json["step"]["approval"] == "valid"
    empty.ok("begin", "more")
    payload = empty.ok("approve", "more", "--payload").out
    again = empty.ok("approve", "more", "--payload", "--json").json["payload"]
    assert payload.splitlines()[:-1] == again.splitlines()[:-1]
    empty.write("said", payload)
    subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-n", "holdfast", "-f", key, "said"], cwd=empty.root, check=True)
    wrong = empty.agent("approve", "more", "--variant", "A", "--signature", "said.sig")
    assert wrong.code == 3
    assert empty.ok("approve", "more", "--signature", "said.sig").out.startswith("✓ more done")


def test_a_person_may_skip_what_an_agent_may_not(project):
    assert project.agent("skip", "draft", "--json").error["code"] == "not_skippable"
    project.people_ok("skip", "draft")
    assert project.step("draft") == "skipped"


def test_the_terminal_gets_colours_and_a_pipe_gets_none(project):
    assert "\x1b[" in project.person("status", env={"TERM": "xterm"}).out
    assert "\x1b[" not in project.person("status", env={"TERM": "xterm", "NO_COLOR": "1"}).out
    assert "\x1b[" not in project.ok("status").out


def test_without_a_step_it_is_the_one_that_waits(project):
    assert project.agent("approve", "--json").error["code"] == "nothing_waits"
    ready(project)
    assert project.agent("approve", "--json").error["code"] == "person_needed"
    assert "Approve sign-off? [y/N]" in project.people_ok("approve", says="y").out
    assert project.step("sign-off") == "done"


def test_a_step_that_is_only_an_approval_needs_no_begin_and_no_done_and_still_a_person(project):
    project.until("sign-off")
    told = project.ok("next", "--json").json
    assert told["required_action"].startswith("show sign-off to a person and stop")
    assert project.agent("approve", "sign-off", "--json").error["code"] == "person_needed"
    assert project.step("sign-off") == "pending"
    project.people_ok("approve", says="y")
    assert project.step("sign-off") == "done"


def test_reject_asks_what_should_be_different_and_says_what_happens(project):
    project.until("sign-off")
    answer = project.people_ok("reject", "sign-off", says="shorter")
    assert "sign-off goes back to the agent with this feedback." in answer.out
    assert project.step("sign-off") == "active"
    assert "↳ shorter" in project.ok("status").out or "shorter" in project.ok("next").out


def test_rejecting_without_feedback_says_that_the_step_fails(project):
    project.until("sign-off")
    shown = project.person("reject", "sign-off").out
    assert "Without feedback, sign-off fails; to start it again: holdfast resume --from sign-off\n" in shown


def test_a_long_approval_is_shown_in_the_pager_and_no_shell_reads_it(project, tmp_path):
    project.until("sign-off")
    project.write("long.md", "".join(f"line {number}\n" for number in range(100)))
    project.ok("begin", "sign-off")
    project.ok("attach", "sign-off", "--artifact", "text=long.md")
    seen = tmp_path / "seen;touch owned"
    env = {"TERM": "xterm", "PAGER": f"tee '{seen}'"}
    answer = project.person("approve", "sign-off", says="n", env=env)
    assert "line 99" in seen.read_text()
    assert answer.out.count("Approve sign-off?") == 1
    assert not (project.root / "owned").exists()
    answer = project.person("approve", "sign-off", "--no-pager", says="n", env=env)
    assert "line 99" in answer.out
