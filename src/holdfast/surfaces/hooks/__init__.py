"""Hooks of agent hosts: one event as JSON on standard input, the host's answer on standard output."""

from __future__ import annotations


def command_line() -> str:
    """What a host should run: the hook itself, with the interpreter of this installation and nothing else loaded."""
    from holdfast.hosts.installing import lines

    return lines.joined(lines.hook_words())
