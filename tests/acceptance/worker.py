"""An agent of its own process: does the commands it reads, one JSON list a line, under the lease it took last."""

from __future__ import annotations

import json
import os
import subprocess
import sys


def main() -> None:
    environ = dict(os.environ)
    for line in sys.stdin:
        words = json.loads(line)
        done = subprocess.run([sys.executable, "-m", "holdfast", *words, "--json"], env=environ, capture_output=True)
        said = json.loads(done.stdout) if done.stdout else {"stderr": done.stderr.decode()}
        if words[:2] == ["agent", "start"] and done.returncode == 0:
            environ["HOLDFAST_TOKEN"] = str(said["token"])
        if words[:2] == ["agent", "end"]:
            environ.pop("HOLDFAST_TOKEN", None)
        print(json.dumps([done.returncode, said]), flush=True)


main()
