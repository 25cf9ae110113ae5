"""Hooks of agent hosts: one event as JSON on standard input, the host's answer on standard output."""

from __future__ import annotations


def command_line() -> str:
    """What a host should run: the hook itself, with the interpreter of this installation and nothing else loaded."""
    import shlex
    import sys

    return shlex.join([sys.executable, "-I", "-S", f"{__path__[0]}/run.py"])
