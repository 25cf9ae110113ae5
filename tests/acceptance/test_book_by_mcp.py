"""A whole book, planned and written in sessions by a client that has nothing but MCP and its files."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from tests.acceptance.writer import LONG, Author, Refused, Writer

CAST = "characters.md"
CHAPTERS = {1: (1, 2), 2: (1, 2)}


async def outlined(writer: Writer) -> None:
    """The act and its chapters, in a session of their own."""
    await writer.session("create", name="outline", description="the act and its chapters")
    await writer.session("use", name="outline")
    await writer.plan("outline", level="act", act=1)
    for chapter in CHAPTERS:
        await writer.plan("outline", level="chapter", act=1, chapter=chapter)
    preview = await writer.session("commit", name="outline")
    assert preview["conflicts"] == []
    assert "acts/act-1/strategic-plan.md" in preview["created"]
    await writer.die("story_session", action="commit", name="outline", confirm=True)
    done = await writer.session("commit", name="outline", confirm=True)
    assert done["committed"] is True


async def written(writer: Writer, chapter: int) -> list[str]:
    """The scenes of a chapter, planned and written; the runs that wrote them."""
    session = f"chapter-{chapter:02}"
    await writer.session("create", name=session)
    await writer.session("use", name=session)
    made = []
    for scene in CHAPTERS[chapter]:
        await writer.plan(session, level="scene", act=1, chapter=chapter, scene=scene)
        made.append(await writer.generate(session, f"{chapter:02}{scene:02}"))
    return made


async def settled(writer: Writer, session: str) -> None:
    """Somebody changed a file of the project too: the agent sees it in the preview, and puts both together."""
    copy = await writer.write(CAST, "Ann\nBea\n")
    (writer.root / CAST).write_text("Ann\nCarl\n")
    preview = await writer.session("commit", name=session)
    assert [one["path"] for one in preview["conflicts"]] == [CAST]
    with pytest.raises(Refused) as refused:
        await writer.session("commit", name=session, confirm=True)
    assert refused.value.code == "session_conflict"
    keep = f'story_session {{"action": "keep", "path": "{CAST}", "name": "{session}"}}'
    assert keep in refused.value.error["remedy"]
    (writer.root / copy).write_text("Ann\nBea\nCarl\n")
    await writer.session("keep", path=CAST)


async def given_up(writer: Writer) -> None:
    """An experiment that leads nowhere leaves nothing."""
    before = sorted(str(path) for path in writer.root.rglob("*") if ".holdfast" not in path.parts)
    await writer.session("create", name="experiment")
    await writer.session("use", name="experiment")
    await writer.write("acts/act-1/strategic-plan.md", "another way\n")
    started = await writer.call("start_workflow", workflow="generation", subject="0101", session_name="experiment")
    await writer.call("update_workflow_state", workflow_id=started["workflow_id"], step=1, status="completed")
    await writer.die("story_session", action="cancel", name="experiment", confirm=True)
    await writer.session("cancel", name="experiment", confirm=True)
    await writer.session("leave")
    assert sorted(str(path) for path in writer.root.rglob("*") if ".holdfast" not in path.parts) == before


async def book(root: Path) -> None:
    author = Author()
    async with Writer(root, author) as writer:
        await outlined(writer)
        first = await written(writer, 1)
        await settled(writer, "chapter-01")
        assert (await writer.session("commit", name="chapter-01", confirm=True))["committed"] is True
        await given_up(writer)
        second = await written(writer, 2)
        assert (await writer.session("commit", name="chapter-02", confirm=True))["committed"] is True
        assert (root / CAST).read_text() == "Ann\nBea\nCarl\n"
        for chapter, scenes in CHAPTERS.items():
            for scene in scenes:
                file = root / f"acts/act-1/chapters/chapter-{chapter:02}/scenes/scene-{chapter:02}{scene:02}.md"
                assert len(file.read_text().split()) == LONG
        listed = await writer.call("list_workflows", limit=100)
        assert {one["status"] for one in listed["workflows"]} == {"completed"}
        assert listed["total"] == 7 + 4
        assert (await writer.session("list"))["sessions"] == []
        retries = [await writer.call("get_workflow_metrics", workflow_id=id) for id in (*first, *second)]
        assert [one["workflow_metrics"]["retry_count"] for one in retries] == [0, 1, 0, 1]
        assert writer.kills > 5
    commits = [message for message in author.shown if message.startswith("Make the session")]
    assert len(commits) >= 3
    assert f"  ~ {CAST}" in next(message for message in commits if "session chapter-01 " in message)
    assert any("Scenarios" in message and "scenarios.md" in message for message in author.shown)


def test_a_book_of_one_act_two_chapters_and_four_scenes_is_written_by_mcp_alone(tmp_path):
    root = tmp_path / "novel"
    root.mkdir()
    (root / CAST).write_text("Ann\n")
    anyio.run(book, root)
