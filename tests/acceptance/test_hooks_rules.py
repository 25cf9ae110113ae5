"""What hooks hold agents to: to catch up first, to leave alone what is not theirs, and not to stop half way."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.acceptance.checkout import FEATURE, Checkout
from tests.acceptance.hosting import CodexSession, Session, happened, jq, logged, state_files

STEPS = """
[[step]]
id = "build"
deny = ["Bash(git push:*)", "Write(secrets/*)", "WebFetch"]

[[step]]
id = "sign-off"
approval = { by = "human" }

[[step]]
id = "publish"
"""
DEFAULT_HOLDS = 30


@pytest.fixture
def house(tmp_path):
    return Checkout(tmp_path / "house")


def define(house: Checkout, options: str = "") -> None:
    """A workflow with a rule, a person's gate and whatever else is asked for."""
    house.write(".holdfast/workflows/release.toml", f'name = "release"\n{options}{STEPS}')


def migration(session: Session) -> str:
    words = ("start", "custom", "Database Migration", "--phases", "Backup,Transform,Verify", "--json")
    return str(session.ok(*words).json["workflow_id"])


def release(session: Session) -> str:
    id = str(session.ok("start", "release", "--json").json["workflow_id"])
    session.ok("begin", "build")
    return id


def packet_in(text: str) -> str:
    """The id by which a session says that it has read this packet."""
    found = re.search("^Packet: ([0-9a-f]+),", text, re.MULTILINE)
    assert found, text
    return found[1]


def test_after_a_compaction_nothing_is_written_before_the_packet_is_acknowledged(house):
    house.write(".holdfast/config.toml", "[resume]\nrequire_ack = true\n")
    session = Session(house, "S1")
    id = migration(session)
    session.ok("note", "nothing was forgotten yet")
    for step in ("backup", "transform"):
        packet = session.compact()
        assert f"1. First of all: holdfast ack {packet_in(packet)} -w {id}" in packet
        refusal = session.refused("done", step)
        assert refusal["code"] == "not_caught_up"
        assert refusal["remedy"] == "holdfast resume-packet · then: holdfast ack ID"
        assert session.refused("ack", "00000000")["code"] == "wrong_packet"
        session.ok("ack", packet_in(packet))
        session.ok("done", step)


def test_the_id_of_a_packet_is_good_for_one_compaction_of_one_session(house):
    house.write(".holdfast/config.toml", "[resume]\nrequire_ack = true\n")
    session, other = Session(house, "S1"), Session(house, "S2")
    migration(session)
    first = packet_in(session.compact())
    second = packet_in(session.compact())
    assert session.refused("ack", first)["code"] == "wrong_packet"
    assert other.refused("ack", second)["code"] == "wrong_packet"
    session.ok("ack", second)
    session.ok("done", "backup")


def test_a_session_whose_hooks_never_ran_catches_up_by_the_command(house):
    house.write(".holdfast/config.toml", "[resume]\nrequire_ack = true\n")
    first, second = Session(house, "S1"), Session(house, "S2")
    migration(first)
    first.send("SessionEnd", reason="other")
    assert second.refused("done", "backup")["code"] == "not_caught_up"
    second.ok("ack", packet_in(second.ok("resume-packet").out))
    second.ok("done", "backup")


def test_a_session_bound_by_a_prompt_has_not_caught_up_by_that(house):
    house.write(".holdfast/config.toml", "[resume]\nrequire_ack = true\n")
    first, second = Session(house, "S1"), Session(house, "S2")
    migration(first)
    first.send("SessionEnd", reason="other")
    second.prompt("Continue with the database migration")
    assert second.refused("note", "mine")["code"] == "not_caught_up"
    second.ok("ack", packet_in(second.start("resume")))
    second.ok("note", "mine")


def test_what_is_holdfast_s_own_is_denied_to_every_tool(house):
    session, codex = Session(house, "S1"), CodexSession(house, "C1")
    migration(session)
    own = house.root / ".holdfast"
    patch = "*** Begin Patch\n*** Update File: .holdfast/index\n@@\n-a\n+b\n*** End Patch\n"
    for reason in (
        session.before("Write", file_path=str(own / "config.toml"), content=""),
        session.before("Edit", file_path=str(own / "journal/x.jsonl"), old_string="a", new_string="b"),
        session.before("NotebookEdit", notebook_path=str(own / "x.ipynb"), new_source=""),
        session.before("Bash", command="cd .holdfast && rm -rf journal", description="Tidy up"),
        session.before("Bash", command="echo '{}' > .holdfast/guard"),
        session.before("Bash", command="git clean -fdx"),
        codex.before("apply_patch", command=patch),
        codex.before("Bash", command=f"apply_patch <<'EOF'\n{patch}EOF"),
    ):
        assert ".holdfast, where Holdfast keeps its records" in reason
        assert "holdfast next" in reason
    for allowed in (
        session.before("Read", file_path=str(own / "config.toml")),
        session.before("Write", file_path=str(house.root / "auth/user.py"), content="x = 1\n"),
        session.before("Bash", command="cat .holdfast/config.toml; git status"),
        codex.before("apply_patch", command=patch.replace(".holdfast/index", "notes.txt")),
    ):
        assert allowed == ""
    assert logged(house) == ""


def test_documents_that_only_holdfast_writes_are_denied_and_those_of_agents_are_not(house):
    session, codex = Session(house, "S1"), CodexSession(house, "C1")
    session.ok("start", "story/planning", "--set", "level=act", "--set", "act=1")
    migration(session)
    session.ok("start", "dev", FEATURE)
    story = next((house.root / "workspace/workflow-state").glob("*.json"))
    (account,) = state_files(house)
    skill = next((house.root / ".claude/workflow-state/active").glob("*.json"))

    patch = f"*** Begin Patch\n*** Delete File: {story.relative_to(house.root)}\n*** End Patch\n"
    for reason in (
        session.before("Write", file_path=str(story), content="{}"),
        session.before("Bash", command=f"jq . {story} > /tmp/x && mv /tmp/x {story}"),
        session.before("Bash", command="rm -rf workspace"),
        codex.before("apply_patch", command=patch),
    ):
        assert "is written by Holdfast for" in reason
        assert "holdfast next -w" in reason
    for path in (house.root / account, skill):
        assert session.before("Write", file_path=str(path), content="{}") == ""
        assert session.before("Bash", command=f"jq . {path} > x && mv x {path}") == ""
    jq(house, account, '.key_reminders = ["Mine"]')
    assert "- Mine" in house.ok("resume-packet", "-w", "database").out.splitlines()


def test_a_file_that_another_agent_has_locked_is_denied_until_it_is_given_back(house):
    first, second = Session(house, "S1"), Session(house, "S2")
    migration(first)
    first.ok("lock", "auth/user.py", "docs/*", "--agent", "coder")
    for path in ("auth/user.py", "docs/guide.md"):
        reason = second.before("Edit", file_path=str(house.root / path), old_string="a", new_string="b")
        assert "is locked by coder (session S1)" in reason
        assert "holdfast unlock" in reason
        assert first.before("Edit", file_path=str(house.root / path), old_string="a", new_string="b") == ""
    assert "is locked by" in second.before("Bash", command="sed -i s/a/b/ auth/user.py")
    assert "is locked by" in second.before("Bash", command="rm -r auth")
    assert second.before("Edit", file_path=str(house.root / "auth/key.py"), old_string="a", new_string="b") == ""
    first.ok("unlock", "auth/user.py")
    assert second.before("Edit", file_path=str(house.root / "auth/user.py"), old_string="a", new_string="b") == ""
    first.send("SessionEnd", reason="logout")
    second.ok("status")
    assert second.before("Edit", file_path=str(house.root / "docs/guide.md"), old_string="a", new_string="b") == ""


def test_a_person_s_word_is_not_typed_by_an_agent(house):
    define(house)
    session, codex = Session(house, "S1"), CodexSession(house, "C1")
    id = release(session)
    for reason in (
        session.before("Bash", command="holdfast approve sign-off"),
        session.before("Bash", command=f"holdfast approve 2 -w {id}"),
        session.before("Bash", command="env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID holdfast status"),
        session.before("Bash", command="holdfast trust release"),
        session.before("Bash", command="python -m holdfast extend --cost 5"),
        codex.before("Bash", command="bash -lc 'holdfast approve sign-off'"),
    ):
        assert reason.startswith("A person does this in a terminal of their own: holdfast ")
        assert "Ask them" in reason
    assert session.before("Bash", command="holdfast done build") == ""
    assert session.before("Bash", command="echo holdfast approve sign-off") == ""


def test_what_a_step_rules_out_is_denied_while_the_step_is_worked_on(house):
    define(house)
    session = Session(house, "S1")
    id = release(session)
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("Bash", {"command": "make && git push origin main"}),
        ("Write", {"file_path": str(house.root / "secrets/key"), "content": ""}),
        ("WebFetch", {"url": "https://example.com", "prompt": "x"}),
    )
    for tool, given in calls:
        reason = session.before(tool, **given)
        assert f"step build of {id} forbids {tool}" in reason
        assert f"holdfast next -w {id}" in reason
    assert session.before("Bash", command="git pull") == ""
    session.ok("done", "build")
    assert [session.before(tool, **given) for tool, given in calls] == ["", "", ""]


def test_an_agent_is_held_at_its_work_until_it_is_done(house):
    house.write(".holdfast/config.toml", "[resume]\nkeep_going = true\n")
    session, stranger = Session(house, "S1"), Session(house, "S2")
    id = migration(session)
    again = False
    for step in ("backup", "transform", "verify"):
        reason = session.stop(again=again)
        assert f"{id} is not done: {step}" in reason
        assert reason.endswith(f"Continue: holdfast done {step}")
        assert stranger.stop() == ""
        session.ok("done", step)
        again = True
    assert session.stop(again=True) == ""
    assert happened(house, id, "urged") == 3


def test_nobody_is_held_where_it_is_not_asked_for(house):
    session = Session(house, "S1")
    migration(session)
    assert session.stop() == ""


def test_nobody_is_held_at_work_that_is_blocked_paused_or_up_to_a_person(house):
    define(house, "keep_going = true\n")
    session = Session(house, "S1")
    release(session)
    session.ok("block", "build", "--reason", "the compiler is gone")
    assert session.stop() == ""
    session.ok("unblock", "build")
    assert "build" in session.stop()
    session.ok("pause", "--reason", "lunch")
    assert session.stop() == ""
    session.ok("resume")
    assert "build" in session.stop()
    session.ok("done", "build")
    session.ok("begin", "sign-off")
    session.ok("submit", "sign-off")
    assert session.stop() == ""
    assert house.person("approve", "sign-off", prompt="[y/N]", says="y").code == 0
    assert "publish" in session.stop(again=True)


def test_nobody_is_held_more_often_than_the_bound_without_a_move(house):
    define(house, "keep_going = true\n[bounds]\nmax_iterations = 3\n")
    session = Session(house, "S1")
    release(session)
    assert [bool(session.stop(again=bool(n))) for n in range(6)] == [True, True, True, False, False, False]
    session.compact()
    session.ok("note", "a note is no move")
    assert session.stop(again=True) == ""


def test_without_a_bound_there_is_one_all_the_same_and_a_move_begins_anew(house):
    house.write(".holdfast/config.toml", "[resume]\nkeep_going = true\n")
    session = Session(house, "S1")
    migration(session)
    held = [bool(session.stop(again=bool(number))) for number in range(DEFAULT_HOLDS + 3)]
    assert held == [True] * DEFAULT_HOLDS + [False] * 3
    session.ok("done", "backup")
    assert "transform" in session.stop()


def test_agents_that_a_session_starts_are_listed_until_they_end(house):
    session = Session(house, "S1")
    id = migration(session)

    def listed() -> list[str]:
        agents = house.ok("agent", "list", "-w", id, "--json").json["agents"]
        return sorted(agent["role"] for agent in agents if agent["role"] != "custom")

    session.send("SubagentStart", agent_id="a1b2c3", agent_type="code-reviewer")
    session.send("SubagentStart", agent_id="d4e5f6", agent_type="Explore")
    session.send("SubagentStart", agent_id="g7h8i9", agent_type="Explore")
    assert listed() == ["Explore", "Explore", "code-reviewer"]
    assert "code-reviewer" in house.ok("agent", "list", "-w", id).out
    session.send("SubagentStop", agent_id="d4e5f6", agent_type="Explore", stop_hook_active=False)
    assert listed() == ["Explore", "code-reviewer"]
    session.compact()
    assert listed() == ["Explore", "code-reviewer"]
    session.send("SessionEnd", reason="other")
    assert listed() == []


def test_the_files_a_session_writes_are_in_the_packet(house):
    session = Session(house, "S1")
    migration(session)
    for name in ("auth/user.py", "auth/key.py"):
        session.after("Write", file_path=str(house.root / name), content="x = 1\n")
    session.after("Edit", file_path=str(house.root / "auth/user.py"), old_string="1", new_string="2")
    session.after("Bash", command="ls")
    lines = session.compact().splitlines()
    at = lines.index("Files modified in this step, newest first:")
    assert lines[at + 1 : at + 3] == ["- auth/key.py", "- auth/user.py"]
    (path,) = state_files(house)
    assert "files_modified" not in json.dumps(json.loads(house.read(path)))
