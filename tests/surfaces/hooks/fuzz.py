"""Sends hooks one broken event after the other, and keeps those that reach lines no other one reached.

`python -m tests.surfaces.hooks.fuzz SECONDS [NUMBER]` writes them to `corpus.jsonl`, which the tests replay. Another
number is another row of chances.
"""

from __future__ import annotations

import base64
import json
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from tests.surfaces.hooks.mutations import mutated
from tests.surfaces.hooks.samples import samples
from tests.surfaces.hooks.sandbox import Sandbox

CORPUS = Path(__file__).with_name("corpus.jsonl")
LONGEST = 4 << 10
"""Bytes of an event that is kept."""
MOST = 200
EVERY = 100
"""Events between two looks at the project as a whole, which then starts over."""
SLOW = 1.0


def encoded(data: bytes) -> str:
    """A line of the corpus."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return json.dumps({"base64": base64.b64encode(data).decode()})
    return json.dumps(text)


def decoded(line: str) -> bytes:
    value = json.loads(line)
    return value.encode() if isinstance(value, str) else base64.b64decode(value["base64"])


def corpus() -> list[bytes]:
    """What earlier runs found worth keeping."""
    return [decoded(line) for line in CORPUS.read_text("ascii").splitlines()] if CORPUS.exists() else []


class Hunt:
    """One run over a sandbox: what was tried, what it reached, and what went wrong."""

    def __init__(self, sandbox: Sandbox, random: Random) -> None:
        self.sandbox, self.random = sandbox, random
        self.runs = 0
        self.kept: list[bytes] = []
        self.reached: set[tuple[str, int]] = set()
        self.findings: dict[str, bytes] = {}
        self.answers = 0
        self.recent: list[bytes] = []

    def go(self, seconds: float) -> None:
        """Everything that is known first, then variations of it."""
        known = [*samples(), *corpus()]
        for data in known:
            self.attempt(data)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pool = self.kept if self.random.random() < 0.5 else known
            self.attempt(mutated(self.random.choice(pool), self.random.choice(known), self.random))

    def attempt(self, data: bytes) -> None:
        began = time.monotonic()
        run = self.sandbox.run(data)
        took = time.monotonic() - began
        self.runs += 1
        self.answers += bool(run.answer)
        self.recent.append(data)
        for wrong in [*run.wrong, *(["it is slow"] if took > SLOW else [])]:
            self.report(wrong, data)
        if len(data) <= LONGEST and not run.lines <= self.reached:
            self.reached |= run.lines
            self.kept.append(data)
        if self.runs % EVERY == 0:
            self.look()

    def look(self) -> None:
        for wrong in self.sandbox.examined():
            self.report(wrong, b"\n".join(self.recent))
        self.recent.clear()
        self.sandbox.restore()

    def report(self, wrong: str, data: bytes) -> None:
        """Once for each kind of mistake, which its first words tell."""
        if wrong[:40] not in self.findings:
            self.findings[wrong[:40]] = data
            print(f"FOUND {wrong}\n  {encoded(data[:LONGEST])}", flush=True)

    def fewest(self) -> list[bytes]:
        """A few events that together reach every line, the one that adds most first."""
        lines = {}
        for data in self.kept:
            self.sandbox.restore()
            lines[data] = self.sandbox.run(data).lines
        chosen: list[bytes] = []
        left = set().union(*lines.values())
        while left and len(chosen) < MOST:
            best = max(lines, key=lambda data: (len(lines[data] & left), -len(data)))
            chosen.append(best)
            left -= lines[best]
        return chosen


def main(seconds: float, number: int) -> int:
    with tempfile.TemporaryDirectory() as folder, Sandbox(Path(folder)) as sandbox:
        hunt = Hunt(sandbox, Random(number))
        began = time.monotonic()
        hunt.go(seconds)
        rate = hunt.runs / (time.monotonic() - began)
        hunt.look()
        chosen = hunt.fewest()
    CORPUS.write_text("".join(f"{encoded(data)}\n" for data in chosen), "ascii")
    print(f"{hunt.runs} events, {rate:.0f} a second, {hunt.answers} answered, {len(hunt.reached)} lines reached")
    print(f"{len(chosen)} of {len(hunt.kept)} kept in {CORPUS.name}, {len(hunt.findings)} kinds of findings")
    return 1 if hunt.findings else 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
