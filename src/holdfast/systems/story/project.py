"""A writer's project on disk: acts, chapters and scenes, their plans and blueprints."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import remedies
from holdfast.core.remedy import Blank, shell
from holdfast.core.state import State
from holdfast.errors import NotFound, Refused, UsageError
from holdfast.machine.place import read_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LEVELS = ("scene", "chapter", "act")
LARGEST = 4 << 20


def scene_id(text: object) -> str:
    """`0204`: chapter and scene, two digits each."""
    said = str(text)
    if len(said) != 4 or not (said.isascii() and said.isdigit()) or said[:2] == "00" or said[2:] == "00":
        raise UsageError(
            "bad_scene",
            f"{said[:60]!r} is not a scene such as 0204 (chapter 02, scene 04)",
            remedy=remedies.start("generation", "0204"),
        )
    return said


def planned(context: Mapping[str, Any]) -> dict[str, Any]:
    """What a plan is of: its level, and the numbers that the level needs. All mistakes at once."""
    level = context.get("level")
    if level not in LEVELS:
        raise UsageError(
            "bad_level",
            f"level is one of {', '.join(LEVELS)}",
            remedy=remedies.start("story/planning", values={"level": "scene", "act": 1, "chapter": 2, "scene": 4}),
        )
    needed = {"act": ("act",), "chapter": ("act", "chapter"), "scene": ("act", "chapter", "scene")}[level]
    wrong = [name for name in needed if not _is_number(context.get(name))]
    if wrong:
        numbers = {name: context[name] if name not in wrong else 1 for name in needed}
        typed = remedies.start("story/planning", values={"level": level, **numbers})
        raise UsageError(
            "bad_number", f"a {level}'s plan needs {' and '.join(wrong)}, a number from 1 to 99", remedy=typed
        )
    return {"level": level, **{name: context[name] for name in needed}}


def above(plan: Mapping[str, Any]) -> dict[str, Any] | None:
    """The plan that this one builds on; None for an act's."""
    if plan["level"] == "act":
        return None
    if plan["level"] == "chapter":
        return {"level": "act", "act": plan["act"]}
    return {"level": "chapter", "act": plan["act"], "chapter": plan["chapter"]}


def plan_path(plan: Mapping[str, Any]) -> str:
    """Where the plan itself lies once it is written."""
    act = f"acts/act-{plan['act']}"
    if plan["level"] == "act":
        return f"{act}/strategic-plan.md"
    chapter = f"{act}/chapters/chapter-{plan['chapter']:02}"
    if plan["level"] == "chapter":
        return f"{chapter}/plan.md"
    return f"{chapter}/scenes/scene-{plan['chapter']:02}{plan['scene']:02}-blueprint.md"


def plan_output(base: str, state: State, path: str) -> dict[str, str]:
    """The plan itself, where it lies at its place when a planning run ends: whoever builds on it sees it change."""
    if path != state.plan.children("")[-1]:
        return {}
    file = plan_file(base, state.context, state.session)
    return {"plan": file} if file else {}


def plan_file(root: str, plan: Mapping[str, Any], session: str = "") -> str:
    """The full path of a plan that is written, the session's own copy first; empty when there is none."""
    found = (os.path.join(base, plan_path(plan)) for base in _bases(root, session))
    return next((path for path in found if os.path.isfile(path)), "")


def blueprint(root: str, scene: str, session: str = "") -> str:
    """The path of a scene's blueprint, as the project knows it. A session's own copy is as good as the project's."""
    inner = f"chapters/chapter-{scene[:2]}/scenes/scene-{scene}-blueprint.md"
    found: dict[str, None] = {}
    for base in _bases(root, session):
        acts = os.path.join(base, "acts")
        for act in sorted(os.listdir(acts)) if os.path.isdir(acts) else ():
            if act.startswith("act-") and os.path.isfile(os.path.join(acts, act, inner)):
                found[f"acts/{act}/{inner}"] = None
    if len(found) > 1:
        raise Refused(
            "ambiguous_blueprint",
            f"scene {scene} has more than one blueprint: {', '.join(found)}",
            remedy=remedies.done("1", outputs=("blueprint_path",)),
            facts={"scene": scene, "found": list(found)},
        )
    if not found:
        raise Refused(
            "no_blueprint",
            f"scene {scene} has no blueprint: there is no acts/act-N/{inner}",
            remedy=(
                f"write acts/act-N/{inner}",
                remedies.start("story/planning", values={"level": "scene", "act": Blank("N")}, text="plan the scene"),
            ),
            facts={"scene": scene, "looked_for": f"acts/act-*/{inner}"},
        )
    return next(iter(found))


def require_text(root: str, path: str, session: str = "") -> None:
    """Refuses what is no file that can be read."""
    _read(root, path, session)


def constraints(root: str, path: str, session: str = "") -> list[str]:
    """The constraints that a blueprint lists below its heading; refused when there are none to hold the prose to."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").parse(_read(root, path, session))
    inside, items, heading = 0, [], False
    for number, token in enumerate(tokens):
        if token.type == "heading_open":
            level = int(token.tag[1:])
            named = "constraint" in tokens[number + 1].content.lower()
            inside = level if named else 0 if level <= inside else inside
            heading = heading or named
        elif token.type == "list_item_open" and inside:
            end = next(n for n in range(number, len(tokens)) if tokens[n].type == "list_item_close")
            text = next((one.content for one in tokens[number:end] if one.type == "inline"), "")
            items += [text] if text.strip() else []
    if not items:
        lacks = "has a Constraints section without a list" if heading else "has no Constraints section"
        raise Refused(
            "no_constraints",
            f"{path} {lacks}",
            remedy=f'write a heading "## Constraints" with at least one list item into {path}',
            facts={"path": path},
        )
    return items


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 99


def _bases(root: str, session: str) -> list[str]:
    return [os.path.join(root, "workspace", "sessions", session), root] if session else [root]


def _read(root: str, path: str, session: str) -> str:
    for base in _bases(root, session):
        data = read_regular(os.path.join(base, path), LARGEST)
        if data is not None:
            return data.decode("utf-8", "replace")
    raise NotFound("no_file", f"there is no readable file {path}", remedy=shell("ls", "-l", path), facts={"path": path})
