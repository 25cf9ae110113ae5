"""What the page costs: the first byte and the size of the overview and of a workflow, when there are few and many."""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import holdfast
from bench import growth, watching
from bench.measure import heading, interleaved, p50, row
from bench.project import Transitions, repository, started

ROUNDS = 30
_LINK = re.compile(r"http://([\w.]+:(\d+))(/login\?code=\S+)")


class Site:
    """A server of a project, and a browser that was let in."""

    def __init__(self, link: re.Match[str]) -> None:
        self._host, self._port = link[1], int(link[2])
        self._cookie = ""
        with self._asked(link[3]) as answer:
            answer.read()
            self._cookie = str(answer.getheader("Set-Cookie")).partition(";")[0]

    @contextmanager
    def _asked(self, path: str) -> Iterator[http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port)
        connection.request("GET", path, headers={"Host": self._host, "Cookie": self._cookie})
        answer = connection.getresponse()
        assert answer.status == 200, (path, answer.status)
        yield answer
        connection.close()

    def first_byte(self, path: str) -> None:
        with self._asked(path) as answer:
            answer.read(1)

    def size(self, path: str) -> float:
        with self._asked(path) as answer:
            return len(answer.read()) / 1000


def run(folder: str) -> None:
    os.makedirs(folder)
    with ExitStack() as stack:
        heading("The overview when there are many workflows")
        for kind, filled in (("finished", growth._filled), ("active", watching._filled)):
            roots = {count: filled(os.path.join(folder, f"{kind}-{count}"), count) for count in (10, 1_000)}
            _compared(stack, f"1000 {kind}", {count: (root, "/") for count, root in roots.items()})
        heading("A workflow when its journal is long")
        _compared(stack, "5000 events", {events: _with_events(folder, events) for events in (10, 5_000)})


def _compared(stack: ExitStack, what: str, pages: dict[int, tuple[str, str]]) -> None:
    few, many = pages
    sites = {count: (stack.enter_context(_serving(root)), path) for count, (root, path) in pages.items()}
    asked = {count: lambda site=site, path=path: site.first_byte(path) for count, (site, path) in sites.items()}
    taken = {count: p50(samples) for count, samples in interleaved(asked, ROUNDS).items()}
    told = f"{taken[few] * 1000:.0f} ms and {taken[many] * 1000:.0f} ms"
    row(f"first byte with {what} ÷ with 10", taken[many] / taken[few], "≤ 2", told)
    site, path = sites[many]
    row(f"size with {what}, in KB", site.size(path), "≤ 300")


def _with_events(folder: str, events: int) -> tuple[str, str]:
    root = os.path.join(folder, f"events-{events}")
    repository(root)
    workflow = started(root)
    transition = Transitions(workflow)
    for _ in range(events // 2):
        transition()
    return root, f"/w/{holdfast.open(root).workflow(workflow.id).ulid}"


@contextmanager
def _serving(root: str) -> Iterator[Site]:
    words = (sys.executable, "-m", "holdfast", "web", "--read-only", "--no-open", "--port", "0")
    with subprocess.Popen(words, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            link = next(found for line in process.stdout if (found := _LINK.search(line)))
            yield Site(link)
        finally:
            process.terminate()
