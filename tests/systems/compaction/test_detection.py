"""Workflows found in the notes of agents: what counts as one, what is read of it, and what never leaves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.systems.compaction.detection import LARGEST, Sighting, detect

EXAMPLE = """\
# Current Workflow State

Workflow: Page Orchestration - Case Studies
Phase: 4/10 - SEO Generation

@CLAUDE/PageOrchestration.md
@CLAUDE/Sitemap/case-studies.md
"""

PLAN = """\
# Plan 066: Search Index

**Status**: 🔄 In Progress

Follow CLAUDE/Style.md, `.claude/rules/tests.md` and again CLAUDE/Style.md.

## Phase 1: Schema ✅
## Phase 2: Import
### 🔄 Phase 3: Queries (🔄 In Progress)
## Phase 4 - Docs
"""


def running(base: str) -> list[Sighting]:
    return [seen for seen in detect(base) if seen.status == "in_progress"]


@pytest.fixture
def base(tmp_path):
    """A project with room for files beside it, outside."""
    (tmp_path / "base").mkdir()
    return str(tmp_path / "base")


@pytest.fixture
def put(base):
    def put(name: str, content: str | bytes) -> Path:
        path = Path(base) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


@pytest.fixture
def notes(put, base):
    def notes(content: str | bytes) -> list[Sighting]:
        put("CLAUDE.local.md", content)
        return detect(base)

    return notes


@pytest.fixture
def one(notes):
    """The only sighting in notes whose state this is."""

    def one(body: str) -> Sighting:
        found = notes("# Workflow State\n\n" + body)
        assert len(found) == 1
        return found[0]

    return one


@pytest.fixture
def plan(put, base):
    def plan(content: str, folder: str = "066-search") -> Sighting:
        put(f"CLAUDE/Plan/{folder}/PLAN.md", content)
        found = detect(base)
        assert len(found) == 1
        return found[0]

    return plan


@pytest.fixture
def phases(plan):
    """The sighting of a running plan with these lines below its head."""
    return lambda body: plan(f"# Plan: X\nStatus: 🟡 in progress, a workflow\n\n{body}\n")


def test_the_notes_of_an_agent_become_a_sighting(notes):
    assert notes(EXAMPLE) == [
        Sighting(
            source="CLAUDE.local.md",
            workflow="Page Orchestration - Case Studies",
            type="custom",
            current=4,
            total=10,
            phase="SEO Generation",
            names=(),
            status="in_progress",
            reading=("@CLAUDE/PageOrchestration.md", "@CLAUDE/Sitemap/case-studies.md"),
            context={},
            reminders=(),
        )
    ]


def test_a_project_without_notes_has_no_sightings(base):
    assert detect(base) == []
    assert detect(os.path.join(base, "missing")) == []
    assert detect(f"{base}\0") == []


@pytest.mark.parametrize(
    "body",
    [
        "WORKFLOW: Import\nPHASE: 2/3 - Load\nSTATUS: BLOCKED\n@A/B.md",
        "- Workflow: Import\n- Phase: 2/3 - Load\n- Status: blocked\n- @A/B.md",
        "* **Workflow**: Import\n* **Phase**: 2/3 - Load\n* **Status**: Blocked\n* `@A/B.md`",
        "**Workflow:** Import\n**Phase:** 2/3 - Load\n**Status:** blocked\n**@A/B.md**",
        "__Workflow__: **Import**\n_Phase_: `2/3 - Load`\n_Status: blocked_\n1. @A/B.md, to begin with",
        "## Workflow: Import\n### Phase: 2/3 - Load\n### Status: 🔴 Blocked\n+ @A/B.md.",
        "> Current Workflow: Import\n> Current Phase: 2/3 - Load\n> Workflow Status: blocked\n> @A/B.md",
        "📋 **Workflow: Import**\n*Phase: 2/3 - Load*\nStatus：blocked\n  @A/B.md",
    ],
)
def test_case_bullets_emphasis_and_headings_make_no_difference(one, body):
    body += "\nphase: \nworkflow state\n"
    seen = one(body)
    assert (seen.workflow, seen.current, seen.total, seen.phase) == ("Import", 2, 3, "Load")
    assert (seen.status, seen.reading) == ("blocked", ("@A/B.md",))


def test_marks_of_emphasis_do_not_hide_the_words_that_notes_are_known_by(notes):
    assert len(notes("**Workflow State**\n**Workflow**: A\n__Phase__: 1/2\n")) == 1


@pytest.mark.parametrize("missing", ["Workflow State", "Workflow: Page", "Phase: 4"])
def test_notes_that_lack_one_of_the_words_are_no_workflow(notes, missing):
    assert notes(EXAMPLE.replace(missing, "Something else")) == []


@pytest.mark.parametrize("body", ["Workflow:\nPhase: 1/2", "Workflow: A\nPhase:", "Phase: 1/2\n\nWorkflow: A"])
def test_a_workflow_without_name_or_phase_is_prose(notes, body):
    assert notes(f"Workflow state\n{body}\n") == []


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("4/10 - Name", (4, 10, "Name")),
        ("4 of 10", (4, 10, "")),
        ("4 OF 10 - Name", (4, 10, "Name")),
        ("4/10: Name", (4, 10, "Name")),
        ("4 / 10 – Name", (4, 10, "Name")),
        ("4/10 — Name - more", (4, 10, "Name - more")),
        ("4/10 (Name)", (4, 10, "Name")),
        ("4/10 Name (second) part (third)", (4, 10, "Name (second) part (third)")),
        ("4/10 - Name (✅ Completed)", (4, 10, "Name")),
        ("4/10 - run()", (4, 10, "run()")),
        ("Phase 4/10 - Name", (4, 10, "Name")),
        ("4", (4, 4, "")),
        ("4 - Name", (4, 4, "Name")),
        ("0/3", (1, 3, "")),
        ("0", (1, 1, "")),
        ("7/3", (7, 7, "")),
        ("Review", (1, 1, "Review")),
        ("2nd try", (1, 1, "2nd try")),
        ("123456/7", (1, 1, "123456/7")),
        ("４/１０", (1, 1, "４/１０")),
    ],
)
def test_a_phase_is_read_in_every_form(one, said, read):
    seen = one(f"Workflow: A\nPhase: {said}\n")
    assert (seen.current, seen.total, seen.phase) == read


def test_each_workflow_line_begins_a_sighting_of_its_own(notes):
    first, second = notes(
        "# Workflow State\n@before.md\nWorkflow: A\nPhase: 1/2\n@a.md\nReminders:\n- Slowly\n\n"
        "- **Workflow**: B\n- **Phase**: 2/2\n- **Status**: completed\n@b.md\n"
    )
    assert (first.workflow, first.current, first.status, first.reading) == ("A", 1, "in_progress", ("@a.md",))
    assert first.reminders == ("Slowly",)
    assert (second.workflow, second.current, second.status, second.reading) == ("B", 2, "completed", ("@b.md",))
    assert second.reminders == ()


@pytest.mark.parametrize(
    ("name", "said", "read"),
    [
        ("Nightly QA", "", "qa-loop"),
        ("qa_round", "", "qa-loop"),
        ("QAループ", "", "qa-loop"),
        ("Aqaba", "", "custom"),
        ("Page", "Type: Planning", "planning"),
        ("Page", "Type: QA Loop", "qa-loop"),
        ("QA", "Type: implementation", "implementation"),
        ("QA", "Type: something", "qa-loop"),
    ],
)
def test_the_type_is_what_is_said_or_else_what_the_name_tells(one, name, said, read):
    assert one(f"Workflow: {name}\nPhase: 1/2\n{said}\n").type == read


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("not started", "not_started"),
        ("In Progress", "in_progress"),
        ("in-progress", "in_progress"),
        ("✅ completed", "completed"),
        ("nearly done", "in_progress"),
    ],
)
def test_a_status_counts_when_it_is_one_of_the_known_words(one, said, read):
    assert one(f"Workflow: A\nPhase: 1/2\nStatus: {said}\n").status == read


def test_reminders_and_context_are_read_from_lists_below_headings(one):
    seen = one(
        "Workflow: A\nPhase: 2/3\n\n## Key Reminders\n\nThink of these:\n\n- **Never** push\n* Ask\n  before merging\n"
        "- [ ] Run `make`\n- Status: keep it\n\n## Context\n- page_type: case study\n- count: 12\n- **down**: -3\n"
        "- type: odd\n- `x.y-z`: `v`\n- two words: no\n- url: https://x.test/a\n- empty:\n\n## Other\n- count: 99\n"
    )
    assert seen.reminders == ("Never push", "Ask before merging", "Run `make`", "Status: keep it")
    assert seen.context == {
        "page_type": "case study",
        "count": 12,
        "down": -3,
        "type": "odd",
        "x.y-z": "v",
        "url": "https://x.test/a",
    }
    assert (seen.type, seen.status) == ("custom", "in_progress")


def test_reminders_and_context_are_read_from_lists_below_labels(one):
    seen = one(
        "- Workflow: A\n- Phase: 2/3\n- **Reminders**:\n  - Slowly\n- **Context:**\n  - n: 1\n- Status: blocked\n"
        "\nReminders:\n- Again\nNothing more.\n- not a reminder\n"
    )
    assert seen.reminders == ("Slowly", "Again")
    assert seen.context == {"n": 1}
    assert seen.status == "blocked"


def test_what_leaves_is_bounded(one):
    items = "".join(f"- {n} {'r' * 900}\n" for n in range(30))
    context = "".join(f"- k{n}: {'v' * 900}\n" for n in range(90))
    reading = "".join(f"@docs/{n}.md\n" for n in range(90))
    key = "k" * 65
    seen = one(
        f"Workflow: {'w' * 900}\nPhase: 1/2 - {'p' * 900}\n{reading}@{'a/' * 300}b.md\nReminders:\n{items}"
        f"Context:\n- {key}: 1\n- big: {'9' * 40}\n{context}"
    )
    assert (len(seen.workflow), len(seen.phase) <= 200) == (200, True)
    assert (len(seen.reminders), {len(one) for one in seen.reminders}) == (20, {500})
    assert (len(seen.context), seen.context["big"], len(seen.context["k1"])) == (50, "9" * 40, 500)
    assert key not in seen.context
    assert seen.reading == tuple(f"@docs/{n}.md" for n in range(50))


def test_only_paths_that_stay_in_the_project_are_read(one):
    seen = one(
        "Workflow: A\nPhase: 1/2\n@../up.md\n@a/../../up.md\n@/etc/passwd\n@~/x.md\n@a\\..\\b.md\n@a/\x1fb.md\n"
        "@a/\x07b.md\n@a/\u202eb.md\n@https://x.test/a.md\n@alice please look\nsee @a/middle.md\n@\n@ a.md\n"
        "@a/b.md\n- @a/b.md\n@app/(group)/[id]/page.tsx!\n@notes.txt;\n@資料/計画.md。\n@docs/..hidden/x.md\n"
    )
    assert seen.reading == (
        "@a/b.md",
        "@app/(group)/[id]/page.tsx",
        "@notes.txt",
        "@資料/計画.md",
        "@docs/..hidden/x.md",
    )


def test_control_and_invisible_characters_do_not_leave(one):
    seen = one(
        "Workflow: A\x1b\x07 \u202eB\u200b\tC\x00\nPhase: 1/2 - D\x9b\U000e0041E\x0b\n"
        "Context:\n- k: v\x1b\nReminders:\n- r\x08\x7fs\n- \x1b\n"
    )
    assert (seen.workflow, seen.phase) == ("A B C", "DE")
    assert (seen.context, seen.reminders) == ({"k": "v"}, ("rs",))


def test_line_ends_of_windows_and_a_byte_order_mark_make_no_difference(notes):
    plain = notes(EXAMPLE)
    assert notes(b"\xef\xbb\xbf" + EXAMPLE.replace("\n", "\r\n").encode()) == plain
    assert notes(EXAMPLE.replace("\n", "\r").encode()) == plain


def test_names_of_any_script_are_kept(one):
    seen = one("Workflow: 事例ページ\u3000作成\nPhase：4/10 – 検索　最適化\n\nReminders：\n- 急がない\n")
    assert (seen.workflow, seen.phase, seen.current) == ("事例ページ 作成", "検索 最適化", 4)
    assert seen.reminders == ("急がない",)


def test_a_running_plan_becomes_a_sighting(plan):
    assert plan(PLAN) == Sighting(
        source="CLAUDE/Plan/066-search/PLAN.md",
        workflow="Plan 066: Search Index",
        type="implementation",
        current=3,
        total=4,
        phase="Queries",
        names=("Schema", "Import", "Queries", "Docs"),
        status="in_progress",
        reason="🔄 In Progress",
        reading=("@CLAUDE/Plan/066-search/PLAN.md", "@CLAUDE/Style.md", "@.claude/rules/tests.md"),
        context={"plan_number": 66, "plan_name": "Search Index"},
        reminders=(),
    )


@pytest.mark.parametrize(
    ("folder", "title", "workflow", "context"),
    [
        ("066-search", "# PLAN 66: Name", "Plan 066: Name", {"plan_number": 66, "plan_name": "Name"}),
        ("066-search", "# Plan: Name", "Plan 066: Name", {"plan_number": 66, "plan_name": "Name"}),
        ("066-search", "# Name", "Plan 066: Name", {"plan_number": 66, "plan_name": "Name"}),
        ("066-search", "# Plan 066 - **Name** 🔄", "Plan 066: Name", {"plan_number": 66, "plan_name": "Name"}),
        ("066-search", "# 📋 Plan 066: Name #", "Plan 066: Name", {"plan_number": 66, "plan_name": "Name"}),
        ("066-search", "# Planning the plan: all", "Plan 066: Planning the plan: all", None),
        ("066-search", "# Plan-based work", "Plan 066: Plan-based work", None),
        ("066-search", "# Plan 066", "Plan 066: search", {"plan_number": 66, "plan_name": "search"}),
        ("066-search", "Text", "Plan 066: search", {"plan_number": 66, "plan_name": "search"}),
        ("066", "Text", "Plan 066: 066", {"plan_number": 66, "plan_name": "066"}),
        ("search", "# Plan 5: Name", "Plan: Name", {"plan_name": "Name"}),
        ("3d-view", "Text", "Plan: 3d-view", {"plan_name": "3d-view"}),
        ("9999999999-x", "# N", "Plan: N", {"plan_name": "N"}),
        ("07 検索", "# 計画：索引", "Plan 07: 計画：索引", {"plan_number": 7, "plan_name": "計画：索引"}),
    ],
)
def test_a_plan_is_called_by_the_number_of_its_folder_and_the_name_of_its_title(plan, folder, title, workflow, context):
    seen = plan(f"{title}\n🟡 **IN PROGRESS**\nthe workflow\n", folder)
    assert seen.workflow == workflow
    assert context is None or seen.context == context
    assert (seen.current, seen.total, seen.phase, seen.names) == (1, 1, "", ())


@pytest.mark.parametrize(
    ("body", "read"),
    [
        ("## Phase 1: A\n### Phase 2: B\n#### Phase 3: C", (1, 3, "A", ("A", "B", "C"))),
        ("## Phase 1: A ✅\n## Phase 2: B", (2, 2, "B", ("A", "B"))),
        ("## [x] Phase 1: A\n## [ ] Phase 2: B", (2, 2, "B", ("A", "B"))),
        ("## ✅ Phase 1: A\n## Phase 2: B\n## 🟡 Phase 3: C", (3, 3, "C", ("A", "B", "C"))),
        ("## Phase 1: A (✅ Completed)\n## Phase 2: B (Completed) [X]", (2, 2, "B", ("A", "B"))),
        ("## Phase 1: A - ✅ Done\n## Phase 2: B — 🔄 In Progress", (2, 2, "B", ("A", "B"))),
        ("## Phase 2 - B\n## **Phase 1 – `A`** ✅️", (2, 2, "B", ("A", "B"))),
        ("## PHASE 1: Fix (all of it)\n## phase 2: run()", (1, 2, "Fix (all of it)", ("Fix (all of it)", "run()"))),
        ("## Phase 1\n## Phase 2: B 🔄", (2, 2, "B", ())),
        ("## Phase 1: A ✅\n## Phase 3: C", (3, 3, "C", ())),
        ("## Phase 0: A ✅\n## Phase 1: B", (2, 2, "B", ("A", "B"))),
        ("## Phase 1: A\n## Phase 1: Again\n## Phase 1.5: Half\n## Phase 2a: No", (1, 1, "A", ("A",))),
        ("# Phase 7: A\n##### Phase 8: B\nPhase 9: C", (1, 1, "", ())),
        ("**Phase**: 2/5", (2, 5, "", ())),
        ("Phase: 2 of 5 - B", (2, 5, "B", ())),
        ("Phase: 2/3\n## Phase 1: A\n## Phase 2: B\n## Phase 3: C", (2, 3, "B", ("A", "B", "C"))),
        ("Phase: 2/5\n## Phase 1: A ✅\n## Phase 2: B ✅\n## Phase 3: C 🔄", (3, 5, "C", ())),
        ("Phase: soon\n## Phase 1: A ✅\n", (1, 1, "A", ("A",))),
        ("## Phase 1: A ✅\n```\n## Phase 2: B\nPhase: 4/9\n```\n~~~\n```\n## Phase 3: C\n", (1, 1, "A", ("A",))),
        ("## Phase 1：設計 ✅\n## Phase 2：実装（🔄 In Progress）", (2, 2, "実装", ("設計", "実装"))),
    ],
)
def test_the_phases_of_a_plan_are_read_in_every_form(phases, body, read):
    seen = phases(body)
    assert (seen.current, seen.total, seen.phase, seen.names) == read


@pytest.mark.parametrize(
    "text",
    [
        PLAN.replace("🔄 In Progress", "✅ Completed").replace("### 🔄 ", "### "),
        "# Plan 1: A\nStatus: 🔄 In Progress\n",
        "# Plan 1: A\nStatus: Not in progress\n## Phase 1: A\n",
        "# Plan 1: A\nStatus:\n\nIn Progress\n## Phase 1: A\n",
        "",
    ],
)
def test_a_plan_that_does_not_run_or_knows_no_phases_is_left_out(put, base, text):
    put("CLAUDE/Plan/066-search/PLAN.md", text)
    assert running(base) == []


@pytest.mark.parametrize(
    "line",
    [
        "🔄 In Progress",
        "  🟡 **IN PROGRESS** since Monday",
        "**🔄 In Progress**",
        "> 🔄 In Progress",
        "Status: 🔄 In Progress",
        "**Status**: 🔄 In Progress",
        "**Status:** 🟡 In progress (since 9 December)",
        "- __Status__ – 🔄 In Progress",
        "* [ ] `Status`： 🔄 In Progress",
        "| **Status** | 🔄 In Progress |",
        "Current Status: 🔄 In Progress",
        "## Status: 🔄 In Progress",
        "## 📋 Status 🔄 In Progress",
        "## Phase 2: B — 🔄 In Progress",
        "### 🔄 Phase 3: Queries (🔄 In Progress)",
        "# Search 🔄️ In Progress",
    ],
)
def test_a_line_about_the_status_says_that_a_plan_runs(put, base, line):
    put("CLAUDE/Plan/066-search/PLAN.md", f"# Plan\n{line}\nin one phase\n")
    assert len(running(base)) == 1


@pytest.mark.parametrize(
    "lines",
    [
        "🔄 In Progress, ✅ Complete",
        "Status: ⬜ Not Started | 🔄 In Progress | ✅ Complete",
        "## Status: ✅ Complete, was 🔄 In Progress",
        "**Legend**: 🔄 In Progress",
        "Status marks: 🔄 In Progress",
        "- ⬜ Not Started\n- 🔄 In Progress\n- ✅ Complete",
        "1. 🔄 In Progress",
        "- [ ] 🔄 In Progress",
        "| 🔄 | In Progress |",
        "| Import | 🔄 In Progress |",
        "The status was 🔄 In Progress for weeks.",
        "We write 🔄 In Progress while a phase is worked on.",
        "```\n**Status**: 🔄 In Progress\n```",
        "~~~markdown\n## Phase 1: A 🔄 In Progress\n```\n~~~",
        "````\n```\n🔄 In Progress\n```\n````",
    ],
)
def test_what_explains_the_marks_or_shows_how_to_write_a_plan_runs_nothing(put, base, lines):
    put("CLAUDE/Plan/066-search/PLAN.md", f"# Plan\n\n**Status**: ✅ Complete\n\n{lines}\n\n## Phase 1: A ✅\n")
    assert running(base) == []


def test_a_plan_names_every_file_it_mentions_once_and_none_outside(phases):
    seen = phases(
        "[a](CLAUDE/a.md), @CLAUDE/b.md. CLAUDE/../c.md /x/CLAUDE/d.md https://x.test/CLAUDE/e.md ../CLAUDE/f.md "
        "CLAUDE/g.md.bak CLAUDE/h.mdx CLAUDE/i j.md ./CLAUDE/a.md CLAUDE/k\x07.md xCLAUDE/l.md CLAUDE/Plan/066-search/"
        "PLAN.md 詳細はCLAUDE/計画/索引.mdを、.claude/m-1/n_2.mdと"
    )
    assert seen.reading == (
        "@CLAUDE/Plan/066-search/PLAN.md",
        "@CLAUDE/a.md",
        "@CLAUDE/b.md",
        "@CLAUDE/計画/索引.md",
        "@.claude/m-1/n_2.md",
    )


def test_only_plans_directly_below_the_folder_count_and_they_come_in_order(put, base):
    for folder in ("010-b", "002-a", "x", "deep/011-c"):
        put(f"CLAUDE/Plan/{folder}/PLAN.md", PLAN)
    put("CLAUDE/Plan/PLAN.md", PLAN)
    put("CLAUDE/Plan/012-d/plan.txt", PLAN)
    put("CLAUDE.local.md", EXAMPLE)
    assert [seen.source for seen in detect(base)] == [
        "CLAUDE.local.md",
        "CLAUDE/Plan/002-a/PLAN.md",
        "CLAUDE/Plan/010-b/PLAN.md",
        "CLAUDE/Plan/x/PLAN.md",
    ]


def test_hundreds_of_plans_are_all_seen(put, base):
    for number in range(600):
        put(f"CLAUDE/Plan/{number:03}-p/PLAN.md", PLAN if number % 2 else PLAN.replace("🔄 In Progress", "✅ Complete"))
    assert [seen.context["plan_number"] for seen in running(base)] == list(range(1, 600, 2))


def test_notes_count_for_twenty_workflows_and_prose_about_workflows_for_none(notes):
    blocks = [f"Workflow: W{number}\nPhase: 1/2 - A\n\nWorkflow: is explained elsewhere\n" for number in range(30)]
    found = notes("# Workflow State\n\n" + "\n".join(blocks))
    assert [seen.workflow for seen in found] == [f"W{number}" for number in range(20)]


@pytest.mark.parametrize(("place", "text"), [("CLAUDE.local.md", EXAMPLE), ("CLAUDE/Plan/001-x/PLAN.md", PLAN)])
class TestWhatIsNoTextOfTheProject:
    """Each of these is where notes are looked for; the plan beside it is seen all the same."""

    @pytest.fixture(autouse=True)
    def _neighbour(self, put):
        put("CLAUDE/Plan/002-good/PLAN.md", PLAN)

    @pytest.fixture
    def spot(self, put, place):
        path = put(place, "")
        path.unlink()
        return path

    @pytest.fixture
    def left_out(self, base):
        return lambda: [seen.source for seen in detect(base)] == ["CLAUDE/Plan/002-good/PLAN.md"]

    def test_a_pipe_keeps_nobody_waiting(self, spot, text, left_out):
        os.mkfifo(spot)
        assert left_out()

    def test_a_folder_is_left_out(self, spot, text, left_out):
        spot.mkdir()
        assert left_out()

    def test_a_link_to_outside_is_left_out_and_one_to_inside_is_followed(self, spot, text, left_out, tmp_path, put):
        outside = tmp_path / "outside.md"
        outside.write_text(text)
        spot.symlink_to(outside)
        assert left_out()
        spot.unlink()
        spot.symlink_to(put("notes.md", text))
        assert not left_out()

    def test_a_link_to_itself_or_to_a_device_is_left_out(self, spot, text, left_out):
        spot.symlink_to(spot)
        assert left_out()
        spot.unlink()
        spot.symlink_to("/dev/zero")
        assert left_out()

    def test_a_file_counts_up_to_the_limit_and_not_beyond(self, spot, text, left_out):
        spot.write_bytes(text.encode().ljust(2_000_000))
        assert left_out()
        spot.write_bytes(text.encode().ljust(LARGEST + 1))
        assert left_out()
        spot.write_bytes(text.encode().ljust(LARGEST))
        assert not left_out()

    def test_bytes_that_are_no_text_are_left_out(self, spot, text, left_out):
        spot.write_bytes(text.encode() + b"\xff\xfe")
        assert left_out()
        spot.write_bytes(text.encode("utf-16") + b"\0")
        assert left_out()
        spot.write_bytes(text.encode("utf-16"))
        assert not left_out()


def test_folders_of_plans_that_lead_outside_or_have_unsafe_names_are_left_out(put, base, tmp_path):
    outside = tmp_path / "outside" / "001-x"
    outside.mkdir(parents=True)
    (outside / "PLAN.md").write_text(PLAN)
    put("CLAUDE/Plan/002-\x1b[31m/PLAN.md", PLAN)
    put("CLAUDE/Plan/003-\n/PLAN.md", PLAN)
    put(os.fsdecode(b"CLAUDE/Plan/004-\xff/PLAN.md"), PLAN)
    (Path(base) / "CLAUDE/Plan/001-x").symlink_to(outside)
    assert detect(base) == []


def test_a_whole_folder_of_plans_outside_is_not_looked_at(base, tmp_path):
    outside = tmp_path / "outside" / "001-x"
    outside.mkdir(parents=True)
    (outside / "PLAN.md").write_text(PLAN)
    (Path(base) / "CLAUDE").mkdir()
    (Path(base) / "CLAUDE/Plan").symlink_to(outside.parent)
    assert detect(base) == []


def test_a_plain_file_in_place_of_the_plans_is_no_error(put, base):
    put("CLAUDE/Plan", PLAN)
    assert detect(base) == []


@pytest.mark.parametrize(
    "filler", ["あCLAUDE/", "(", "🔄", "**", "# ", "- ", "@", "Workflow: a\n", "## Phase 1: (🔄\n", "\n"]
)
def test_a_megabyte_of_anything_is_read_to_its_end(put, base, filler):
    for name, text in (("CLAUDE.local.md", EXAMPLE), ("CLAUDE/Plan/001-x/PLAN.md", PLAN)):
        room = LARGEST - len(text.encode()) - 1
        put(name, text + "\n" + filler * (room // len(filler.encode())))
    first, *_, last = detect(base)
    assert (first.workflow, last.workflow) == ("Page Orchestration - Case Studies", "Plan 001: Search Index")


def test_lists_of_notes_that_stand_in_one_line_are_taken(tmp_path):
    (tmp_path / "CLAUDE.local.md").write_text(
        "# Workflow State\n\nWorkflow: Job\nPhase: 2/3 - Build\nRequired Reading: @a.txt, @docs/n.txt\n"
        "Key reminders: never push; use pnpm\nContext: db=staging, region: eu\n"
    )
    (found,) = detect(str(tmp_path))
    assert found.reading == ("@a.txt", "@docs/n.txt")
    assert found.reminders == ("never push", "use pnpm")
    assert found.context == {"db": "staging", "region": "eu"}
