"""The stream of changes: journals are looked at only while a browser listens, and nothing is missed meanwhile."""

from __future__ import annotations

import anyio

from holdfast.surfaces.web.events import Events


class Projects:
    """What gives the watcher its store, and counts how often it looks."""

    def __init__(self, wired) -> None:
        self._store, self.place, self.looks = wired.store, wired.place, 0

    def opened(self):
        return type("Opened", (), {"wired": type("Wired", (), {"store": self._store})})

    async def worked(self, look):
        self.looks += 1
        return look()


def test_nobody_looks_for_changes_while_nobody_listens(site):
    workflow = site.bench.open().start({"name": "one", "step": [{"id": "a"}]}, "1")
    projects = Projects(site.bench.open().wired)

    async def story() -> None:
        events = Events(projects)
        async with anyio.create_task_group() as group:
            group.start_soon(events.watch)
            await anyio.sleep(0.8)
            assert projects.looks == 1
            workflow.note("while nobody listened")
            stream = events._stream()
            assert "begin" in await anext(stream)
            with anyio.fail_after(5):
                assert "change" in await anext(stream)
            await stream.aclose()
            await anyio.sleep(0.3)
            before = projects.looks
            await anyio.sleep(0.8)
            assert projects.looks <= before + 1
            events.end()

    anyio.run(story)
