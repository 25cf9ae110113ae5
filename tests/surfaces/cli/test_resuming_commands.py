"""What outlives an agent's context, as agents and people type it: reading, reminders, lessons, the resume packet."""

from __future__ import annotations

import json

import pytest

S1, S2 = {"CLAUDE_CODE_SESSION_ID": "S1"}, {"CLAUDE_CODE_SESSION_ID": "S2"}
STRICT = "[resume]\nrequire_ack = true\n"


def everything(project):
    """Every file below the project, by its content."""
    return {path: path.read_bytes() for path in sorted(project.root.rglob("*")) if path.is_file()}


@pytest.fixture
def docs(project):
    project.write("docs/a.md", "a")
    project.write("docs/b c.md", "b")
    (project.root / "out.md").symlink_to("/etc/passwd")
    return project


# Required reading


def test_files_to_read_are_listed_with_those_that_are_missing(docs):
    assert docs.ok("reading").out == "nothing has to be read\n"
    assert docs.ok("reading", "--json").json["reading"] == []
    assert docs.ok("reading", "add", "docs/a.md", "docs/b c.md").out.startswith(
        "✓ 2 files have to be read · next: draft"
    )
    (docs.root / "docs/a.md").unlink()
    assert docs.ok("reading").out == "@docs/a.md  (missing)\n@docs/b c.md\n"
    assert docs.ok("reading", "--json").json["reading"] == [
        {"entry": "@docs/a.md", "path": "docs/a.md", "standing": "missing"},
        {"entry": "@docs/b c.md", "path": "docs/b c.md", "standing": "there"},
    ]


def test_a_file_is_named_from_where_one_stands(docs):
    answer = docs.agent("reading", "add", "a.md", "@../check.py", "--json", cwd=docs.root / "docs")
    assert answer.json["reading"] == ["@docs/a.md", "@check.py"]


def test_a_path_as_it_is_printed_can_be_typed_in_any_folder(docs):
    below = docs.root / "docs"
    assert docs.agent("reading", "add", "docs/a.md", "--json", cwd=below).json["reading"] == ["@docs/a.md"]
    docs.ok("begin", "draft")
    handed_in = docs.agent("done", "draft", "--artifact", "draft=docs/a.md", "--json", cwd=below)
    assert handed_in.json["step"]["artifacts"]["draft"] == "docs/a.md"


def test_resume_and_its_packet_are_about_the_same_workflow(docs):
    """The session's own first, else the one last worked on: also of two that are active."""
    first, second = (docs.ok("start", "custom", name, "--phases", "A,B", "--json").json["workflow_id"] for name in "XY")
    docs.agent("begin", "a", "-w", first, env=S1)
    docs.agent("begin", "a", "-w", second, env=S2)
    for env in (S1, S2, {}):
        told = docs.agent("resume-packet", "--json", env=env).json["workflow_id"]
        went_on = docs.agent("resume", "--json", env=env)
        assert (went_on.json.get("workflow_id") or went_on.error["facts"]["workflow"]) == told, went_on


def test_where_no_workflow_is_active_the_finished_ones_are_listed_by_what_is_suggested(docs):
    docs.ok("cancel")
    refusal = docs.agent("next", "--json").error
    assert refusal["remedy"].endswith("name a finished one with -w: holdfast list --all")
    assert "1.4.0" in docs.ok("list", "--all").out


def test_a_file_need_not_be_read_any_more(docs):
    docs.ok("reading", "add", "docs/a.md", "docs/b c.md")
    assert docs.ok("reading", "remove", "docs/a.md").out.startswith("✓ 1 file has to be read")
    assert docs.ok("reading", "remove", "@docs/b c.md", "--json").json["reading"] == []


@pytest.fixture
def led_astray(docs):
    """A state file that somebody edited names files which are nobody's business; the workflow's id."""
    words = ("--phases", "Backup,Migrate", "--read", "docs/a.md")
    id = docs.ok("start", "custom", "Database Migration", *words, "--json").json["workflow_id"]
    (path,) = docs.root.glob("untracked/workflow-state/*/state-*.json")
    document = json.loads(path.read_text())
    document["required_reading"] += ["@/etc/passwd", "@../secret.md", "@out.md", "@docs/gone.md"]
    path.write_text(json.dumps(document))
    return str(id)


def test_entries_that_lead_outside_are_counted_and_named_to_nobody(docs, led_astray):
    out = docs.ok("reading", "-w", led_astray).out
    assert out.splitlines()[:2] == ["@docs/a.md", "@docs/gone.md  (missing)"]
    assert "3 more lead outside the project" in out
    assert "reading remove --outside" in out
    said = docs.ok("reading", "-w", led_astray, "--json")
    assert [one["entry"] for one in said.json["reading"]] == ["@docs/a.md", "@docs/gone.md"]
    assert said.json["outside"] == 3
    changed = docs.ok("reading", "add", "docs/b c.md", "-w", led_astray, "--json")
    assert changed.json["reading"] == ["@docs/a.md", "@docs/gone.md", "@docs/b c.md"]
    for word in ("passwd", "secret", "out.md"):
        assert word not in out + said.out + changed.out


def test_all_entries_that_lead_outside_are_taken_away_at_once(docs, led_astray):
    assert docs.ok("reading", "remove", "--outside", "-w", led_astray).out.startswith("✓ 2 files have to be read")
    assert docs.ok("reading", "-w", led_astray, "--json").json["outside"] == 0
    before = docs.ok("status", "-w", led_astray, "--json").json["revision"]
    assert docs.ok("reading", "remove", "--outside", "-w", led_astray).out.startswith("✓ 2 files have to be read")
    assert docs.ok("status", "-w", led_astray, "--json").json["revision"] == before
    said = docs.ok("reading", "remove", "--outside", "docs/gone.md", "-w", led_astray, "--json").json
    assert said["reading"] == ["@docs/a.md"]


# Reminders


def test_reminders_are_added_listed_and_taken_away(project):
    assert project.ok("remind").out == "there are no reminders\n"
    assert project.ok("remind", "tests first", "small steps").out.startswith("✓ 2 reminders · next: draft")
    assert project.ok("remind").out == "- tests first\n- small steps\n"
    assert project.ok("remind", "--remove", "tests first").out.startswith("✓ 1 reminder ·")
    assert project.ok("remind", "--json").json["reminders"] == ["small steps"]
    assert project.ok("remind", "more", "--json").json["reminders"] == ["small steps", "more"]


def test_a_reminder_cannot_play_with_the_terminal(project):
    project.ok("remind", "red \x1b[31m alert\nsecond line")
    out = project.ok("remind").out
    assert "\x1b" not in out
    assert out.count("\n") == 1


# Lessons


def test_what_was_learned_is_counted_and_in_the_packet(project):
    assert project.ok("learn", "the cache lies").out.startswith("✓ learned, 1 in all · next: draft")
    project.ok("learn", "mocking time", "--type", "antipattern", "--pattern", "pass it in", "--context", "tests")
    said = project.ok("learn", "small commits", "--type", "pattern", "--step", "draft", "--json").json
    assert (said["workflow_type"], said["revision"]) == ("release", 4)
    packet = project.ok("resume-packet").out
    assert "insight: the cache lies" in packet
    assert "- mocking time (pattern: pass it in)" in packet


# The packet


def test_the_packet_names_the_workflow_its_id_and_the_next_command(project):
    text = project.ok("resume-packet").out
    said = project.ok("resume-packet", "--json").json
    assert said.keys() == {"workflow_id", "packet_id", "text"}
    assert said["text"] == text.rstrip("\n")
    assert text.startswith("===== WORKFLOW RESUMED =====\n")
    assert f"Packet: {said['packet_id']}, workflow id: {said['workflow_id']}" in text
    assert text.endswith(f"Next command: holdfast begin draft -w {said['workflow_id']}\n")


def test_the_packet_keeps_to_the_limit_that_is_typed_or_set(project):
    project.ok("remind", *(f"{number} {'x' * 1000}" for number in range(20)))
    assert len(project.ok("resume-packet", "--limit", "1000", "--json").json["text"]) <= 1000
    assert 5000 < len(project.ok("resume-packet", "--json").json["text"]) <= 9000
    project.write(".holdfast/config.toml", "[resume]\npacket_limit = 2000\n")
    assert len(project.ok("resume-packet", "--json").json["text"]) <= 2000
    assert 2000 < len(project.ok("resume-packet", "--limit", "4000", "--json").json["text"]) <= 4000


def test_each_session_has_a_packet_of_its_own_and_a_new_one_after_a_compaction(project):
    first = project.agent("resume-packet", "--json", env=S1).json["packet_id"]
    assert project.agent("resume-packet", "--json", env=S2).json["packet_id"] != first
    assert project.agent("resume-packet", "--json", env=S1).json["packet_id"] == first
    assert project.agent("compacted", "--note", "auto", env=S1).code == 0
    assert project.agent("resume-packet", "--json", env=S1).json["packet_id"] != first


def test_without_a_name_it_is_the_sessions_own_workflow_and_the_others_are_told(project):
    mine = project.agent("list", "--json").json["workflows"][0]["workflow_id"]
    other = project.opened().start("release", "1.5.0")
    project.agent("note", "here", "-w", mine, env=S1)
    said = project.agent("resume-packet", "--json", env=S1).json
    assert said["workflow_id"] == mine
    assert f'{other.id} "Release' in said["text"]
    assert project.agent("resume-packet", "--json", "-w", other.id, env=S1).json["workflow_id"] == other.id


def test_where_nothing_goes_on_there_is_no_packet(empty):
    answer = empty.agent("resume-packet", "--json")
    assert (answer.code, answer.error["code"]) == (4, "no_workflow")


def test_a_mistake_in_the_settings_is_told_with_its_line(project):
    project.write(".holdfast/config.toml", "[resume]\npacket_limit = 5\n")
    answer = project.agent("resume-packet", "--json")
    assert (answer.code, answer.error["code"]) == (2, "bad_config")
    assert answer.error["facts"]["mistakes"][0]["where"] == ".holdfast/config.toml:2"


# Catching up


def test_a_session_that_has_not_read_the_packet_is_refused_until_it_has(empty):
    empty.write(".holdfast/config.toml", STRICT)
    empty.opened("human").start("release", "1.4.0")
    before = everything(empty)
    refused = empty.agent("remind", "x", "--json", env=S2)
    assert (refused.code, refused.error["code"]) == (3, "not_caught_up")
    assert everything(empty) == before
    assert empty.agent("status", env=S2).code == 0
    said = empty.agent("resume-packet", "--json", env=S2).json
    assert f"First of all: holdfast ack {said['packet_id']}" in said["text"]
    wrong = empty.agent("ack", "0000", "--json", env=S2)
    assert (wrong.code, wrong.error["code"]) == (3, "wrong_packet")
    answer = empty.agent("ack", said["packet_id"], env=S2)
    assert answer.out.startswith(f"✓ {said['workflow_id']} is taken up again")


def test_the_session_that_started_the_work_needs_no_packet(empty):
    empty.write(".holdfast/config.toml", STRICT)
    assert empty.agent("start", "release", "1.4.0", env=S1).code == 0
    assert empty.agent("begin", "draft", env=S1).code == 0


def test_after_the_packet_the_session_works_until_its_next_compaction(empty):
    empty.write(".holdfast/config.toml", STRICT)
    empty.opened("human").start("release", "1.4.0")
    packet = empty.agent("resume-packet", "--json", env=S2).json["packet_id"]
    assert empty.agent("ack", packet, "--json", env=S2).json["workflow_type"] == "release"
    assert empty.agent("begin", "draft", env=S2).code == 0
    assert empty.agent("compacted", env=S2).code == 0
    assert empty.agent("note", "x", env=S2).code == 3
    assert empty.person("note", "a person needs no packet").code == 0


# The hook


def test_the_command_line_of_the_hook_is_printed_and_runs(project):
    line = project.ok("hook", "--line").out.strip()
    assert project.ok("hook", "--line", "--json").json == {"command": line}
    assert " -I -S " in line
    assert line.endswith("/surfaces/hooks/run.py")


@pytest.mark.parametrize("words", [("--nope",), ("extra",), ("--line", "extra"), ("--token", "7")], ids=" ".join)
def test_the_hook_says_what_is_wrong_with_its_options_and_fails_for_nobody(docs, words):
    """A host takes another exit code than 0 for an answer, and might stop its agent."""
    before = everything(docs)
    answer = docs.agent("hook", *words)
    assert (answer.code, answer.out) == (0, "")
    assert answer.err
    answer = docs.agent("hook", *words, "--json")
    assert (answer.code, answer.error["code"]) == (0, "bad_usage")
    assert everything(docs) == before


@pytest.mark.parametrize("event", ["", "{", "[]", '{"hook_event_name":"Nothing"}', "\x00"])
def test_the_hook_never_fails_whatever_comes(project, event):
    answer = project.agent("hook", stdin=event)
    assert (answer.code, answer.out) == (0, "")


def test_the_hook_gives_the_packet_at_the_start_of_a_session(project):
    event = {"hook_event_name": "SessionStart", "session_id": "S1", "cwd": str(project.root), "source": "compact"}
    said = project.agent("hook", stdin=json.dumps(event)).json["hookSpecificOutput"]
    assert said["hookEventName"] == "SessionStart"
    assert "WORKFLOW RESTORED AFTER COMPACTION" in said["additionalContext"]


# Starting with phases


def test_a_workflow_with_phases_of_its_own_has_a_document_that_says_it_all(docs):
    words = ("--phases", "Backup, Migrate ,Verify", "--read", "docs/a.md", "--remind", "tests first", "--set", "db=pg")
    started = docs.ok("start", "custom", "Database Migration", *words, "--json").json
    (path,) = docs.root.glob("untracked/workflow-state/database-migration/state-database-migration-*.json")
    document = json.loads(path.read_text())
    assert list(document)[-2:] == ["created_at", "updated_at"]
    assert {name: document[name] for name in list(document)[:-2]} == {
        "workflow": "Database Migration",
        "workflow_type": "custom",
        "phase": {"current": 1, "total": 3, "name": "Backup", "status": "in_progress"},
        "required_reading": ["@docs/a.md"],
        "context": {"db": "pg"},
        "key_reminders": ["tests first"],
    }
    assert started["workflow_id"].startswith("database-migration-")
    assert "Migrate" in docs.ok("status", "-w", started["workflow_id"]).out


def test_whoever_starts_an_account_of_their_own_holds_it_against_nobody(docs):
    """Another session may take it up: that of the same person, after the first one crashed."""
    words = ("start", "custom", "Database Migration", "--phases", "Backup,Migrate", "--json")
    id = docs.agent(*words, env=S1).json["workflow_id"]
    assert docs.ok("agent", "list", "-w", id).out == "nobody is at work\n"
    assert docs.agent("done", "backup", "-w", id, env=S2).code == 0


def test_whoever_is_kept_out_by_another_session_is_told_which_and_how_a_person_ends_it(empty):
    assert empty.agent("start", "release", "1.4.0", env={"CLAUDE_CODE_SESSION_ID": "first-session-of-all"}).code == 0
    answer = empty.agent("begin", "draft", "--json", env=S2)
    assert (answer.code, answer.error["code"]) == (5, "lease_held")
    assert "another session (first-sessio…) is at work on" in answer.error["message"]
    (own,) = [one for one in answer.error["remedies"] if one["who"] == "person"]
    assert own["command"].startswith("holdfast agent end ")
    assert empty.person(*own["command"].split()[1:]).code == 0
    assert empty.agent("begin", "draft", env=S2).code == 0


# Broken journals


def test_the_list_passes_over_a_broken_journal_and_says_so(project):
    wired = project.opened().wired
    whole = project.opened().start("release", "1.5.0")
    (broken,) = [entry for entry in wired.store.active() if entry.ulid != whole.ulid]
    with open(wired.store.file_of(broken.ulid), "r+b") as journal:
        journal.write(b"broken")
    said = project.ok("list", "--json").json
    assert [row["workflow_id"] for row in said["workflows"]] == [whole.id]
    assert said["total"] == 1
    (lost,) = said["unreadable"]
    assert lost.startswith(f"{broken.id}: ")
    out = project.ok("list").out
    assert whole.id in out
    assert f"⚠ {broken.id}: " in out
    assert "(holdfast doctor)" in out
    listed = project.opened()
    assert [one.id for one in listed.list()] == [whole.id]
    assert listed.troubles == [lost]


def test_a_list_of_journals_that_are_whole_speaks_of_no_broken_ones(project):
    assert project.ok("list", "--json").json.keys() == {"workflows", "total"}
    assert "⚠" not in project.ok("list").out


NO_START = [
    (("custom", "x"), 2, "bad_phases"),
    (("custom", "x", "--phases", ""), 2, "bad_text"),
    (("custom", "x", "--phases", "A,,B"), 2, "bad_text"),
    (("custom", "x", "--phases", "A,B,A"), 2, "bad_phases"),
    (("custom", "x", "--phases", "A," + "x" * 501), 2, "bad_text"),
    (("release", "x", "--phases", "A,B"), 2, "bad_phases"),
    (("custom", "x", "--phases", "A", "--read", "docs/none.md"), 4, "no_file"),
    (("custom", "x", "--phases", "A", "--read", "../x"), 2, "outside_root"),
    (("custom", "x", "--phases", "A", "--read", "/etc/passwd"), 2, "outside_root"),
    (("custom", "x", "--phases", "A", "--read", "out.md"), 2, "outside_root"),
    (("custom", "x", "--phases", "A", "--read", ""), 2, "bad_path"),
    (("custom", "x", "--phases", "A", "--remind", ""), 2, "bad_text"),
    (("custom", "x", "--phases", "A", "--remind", "x" * 2001), 2, "bad_text"),
    (("custom", "x", "--phases"), 2, "bad_usage"),
]


@pytest.mark.parametrize(
    ("words", "code", "error"),
    NO_START,
    ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else str(value),
)
def test_a_start_that_cannot_be_changes_nothing(docs, words, code, error):
    before = everything(docs)
    answer = docs.agent("start", *words, "--json")
    assert (answer.code, answer.error["code"]) == (code, error)
    assert answer.error["remedy"]
    assert everything(docs) == before
    assert docs.agent("start", *words).code == code


# Bad input


HUGE = "x" * 100_000
BAD = [
    (("reading", "add"), 2, "bad_usage"),
    (("reading", "add", "docs/none.md"), 4, "no_file"),
    (("reading", "add", "docs/a.md", "docs/none.md"), 4, "no_file"),
    (("reading", "add", "../x"), 2, "outside_root"),
    (("reading", "add", "/etc/passwd"), 2, "outside_root"),
    (("reading", "add", "out.md"), 2, "outside_root"),
    (("reading", "add", "a\nb"), 2, "outside_root"),
    (("reading", "add", HUGE), 2, "bad_path"),
    (("reading", "add", "docs/a.md", "-w", "nope"), 4, "no_workflow"),
    (("reading", "remove", "docs/none.md"), 4, "not_listed"),
    (("reading", "remove"), 2, "bad_usage"),
    (("reading", "remove", "--outside", "docs/none.md"), 4, "not_listed"),
    (("reading", "-w", "../x"), 2, "bad_name"),
    (("reading", "frobnicate"), 2, "bad_usage"),
    (("remind", ""), 2, "bad_text"),
    (("remind", HUGE), 2, "bad_text"),
    (("remind", "fine", " "), 2, "bad_text"),
    (("remind", "x", "-w", "nope"), 4, "no_workflow"),
    (("remind", "x", "--token", "7-00000000000000000000000000000000"), 5, "fenced"),
    (("learn",), 2, "bad_usage"),
    (("learn", ""), 2, "bad_text"),
    (("learn", HUGE), 2, "bad_text"),
    (("learn", "x", "--type", "wisdom"), 2, "bad_usage"),
    (("learn", "x", "--pattern", HUGE), 2, "bad_text"),
    (("learn", "x", "--step", "nowhere"), 4, "no_step"),
    (("resume-packet", "--limit", "999"), 2, "bad_number"),
    (("resume-packet", "--limit", "50001"), 2, "bad_number"),
    (("resume-packet", "--limit", "many"), 2, "bad_number"),
    (("resume-packet", "-w", "nope"), 4, "no_workflow"),
    (("ack",), 2, "bad_usage"),
    (("ack", "../x"), 2, "bad_name"),
    (("ack", HUGE), 2, "bad_name"),
    (("ack", "00000000"), 3, "wrong_packet"),
    (("compacted", "--note", HUGE), 2, "bad_text"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "error"), BAD, ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else str(value)
)
def test_bad_input_is_refused_with_a_remedy_and_changes_nothing(docs, words, code, error):
    before = everything(docs)
    answer = docs.agent(*words, "--json")
    assert (answer.code, answer.error["code"]) == (code, error)
    assert answer.error["message"]
    assert answer.error["remedy"]
    assert everything(docs) == before


def test_the_same_key_again_changes_nothing(project):
    first = project.ok("learn", "x", "--key", "k1", "--json").json
    assert project.ok("learn", "x", "--key", "k1", "--json").json["revision"] == first["revision"]
    assert project.agent("learn", "y", "--key", "k1").code == 5
