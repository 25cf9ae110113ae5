"""Every figure in one run: `make bench`, or `python -m bench [NAME …]` for some of them."""

from __future__ import annotations

import os
import platform
import sys
import tempfile

from bench import commands, dirty, growth, hooks, mcp, orchestra, output, transitions, watching, web, writers

SUITES = {
    "transitions": transitions.run,
    "growth": growth.run,
    "writers": writers.run,
    "commands": commands.run,
    "dirty": dirty.run,
    "hooks": hooks.run,
    "orchestra": orchestra.run,
    "mcp": mcp.run,
    "output": output.run,
    "watching": watching.run,
    "web": web.run,
}


def main() -> None:
    chosen = sys.argv[1:] or list(SUITES)
    unknown = [name for name in chosen if name not in SUITES]
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are: {', '.join(SUITES)}")
    python = f"Python {platform.python_version()}"
    print(f"{python}, {os.cpu_count()} cores, Linux {platform.release()}, temporary files in {os.getcwd()}")
    with tempfile.TemporaryDirectory(prefix=".bench-", dir=os.getcwd()) as folder:
        for name in chosen:
            SUITES[name](os.path.join(folder, name))


main()
