"""The texts that go into hosts as they are: commands, the skill, the plugin of opencode, the paragraph of AGENTS.md."""

from __future__ import annotations

import json
import os

from holdfast.systems.seam.registry import folders

SKILL = "workflow-state"
_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "texts")


def commands() -> dict[str, str]:
    """What people type, by name."""
    places = (os.path.join(_FOLDER, "commands"), *folders("texts"))
    listed = ((name, folder) for folder in places for name in os.listdir(folder))
    return {name.removesuffix(".md"): _read(folder, name) for name, folder in sorted(listed)}


def skill() -> str:
    return _read(f"{SKILL}.md")


def paragraph() -> str:
    return _read("AGENTS.md")


def plugin(hook: list[str]) -> str:
    """The plugin of opencode, which runs this hook."""
    return _read("holdfast.js").replace('["holdfast", "hook"]', json.dumps(hook, ensure_ascii=False))


def split(text: str) -> tuple[dict[str, str], str]:
    """The front matter of a text, and what is behind it."""
    lines = text.splitlines(keepends=True)
    end = lines.index("---\n", 1)
    pairs = (line.partition(": ") for line in lines[1:end])
    return {key: value.strip() for key, _, value in pairs}, "".join(lines[end + 1 :])


def quoted(text: str) -> str:
    """A text as a value of TOML or YAML."""
    return json.dumps(text, ensure_ascii=False)


def without(text: str, *keys: str) -> str:
    """A text with front matter, without what another host does not know of it."""
    lines = text.splitlines(keepends=True)
    end = lines.index("---\n", 1)
    kept = [line for line in lines[:end] if line.partition(":")[0] not in keys]
    return "".join((*kept, *lines[end:]))


def _read(*names: str) -> str:
    with open(os.path.join(_FOLDER, *names), encoding="utf-8") as file:
        return file.read()
