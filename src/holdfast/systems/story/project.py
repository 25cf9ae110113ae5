"""A writer's project on disk: acts, chapters and scenes, their plans and blueprints."""

from __future__ import annotations

import os
import sys
from _collections_abc import Mapping

from holdfast.core import remedies
from holdfast.core.remedy import Blank, Remedy, shell
from holdfast.core.value import Any
from holdfast.errors import NotFound, Refused, UsageError
from holdfast.machine.place import read_regular
from holdfast.plain.digest import digest
from holdfast.systems.story.words import folder, own_path

LEVELS = ("scene", "chapter", "act")
_NEEDED = {"act": ("act",), "chapter": ("act", "chapter"), "scene": ("act", "chapter", "scene")}
LARGEST = 4 << 20


def scene_id(text: object) -> str:
    """`0204`: chapter and scene, two digits each."""
    said = str(text)
    if len(said) != 4 or not (said.isascii() and said.isdigit()) or said[:2] == "00" or said[2:] == "00":
        message = f"{said[:60]!r} is not a scene such as 0204 (chapter 02, scene 04)"
        raise UsageError("bad_scene", message, remedy=remedies.start("generation", Blank("SCENE")))
    return said


def planned(context: Mapping[str, Any]) -> dict[str, Any]:
    """What a plan is of: its level, and the numbers that the level needs. All mistakes at once."""
    level = context.get("level")
    if level not in LEVELS:
        amiss = "the value level is missing" if level is None else f"{str(level)[:60]!r} is no level"
        message = f"{amiss}; use {', '.join(LEVELS[:-1])} or {LEVELS[-1]}"
        raise UsageError("bad_level", message, remedy=_planning(context, "scene", Blank("LEVEL")))
    needed = _NEEDED[level]
    context = {name: _number(value) for name, value in context.items()}
    wrong = [name for name in needed if not _is_number(context.get(name))]
    if wrong:
        said = (
            f"the plan of {'an' if level == 'act' else 'a'} {level} needs {' and '.join(wrong)}, a number from 1 to 99"
        )
        raise UsageError("bad_number", said, remedy=_planning(context, level, level))
    return {"level": level, **{name: context[name] for name in needed}}


def _planning(known: Mapping[str, Any], needed: str, level: str | Blank) -> Remedy:
    """The command that starts a plan; numbers that nobody gave stay blank."""
    numbers = {name: known[name] if _is_number(known.get(name)) else Blank("NUMBER") for name in _NEEDED[needed]}
    return remedies.start("story/planning", values={"level": level, **numbers})


def above(plan: Mapping[str, Any]) -> dict[str, Any] | None:
    """The plan that this one builds on; None for an act's."""
    if plan["level"] == "act":
        return None
    level = "act" if plan["level"] == "chapter" else "chapter"
    return {"level": level, **{name: plan[name] for name in _NEEDED[level]}}


def plan_path(plan: Mapping[str, Any]) -> str:
    """Where the plan itself lies once it is written."""
    act = f"acts/act-{plan['act']}"
    if plan["level"] == "act":
        return f"{act}/strategic-plan.md"
    chapter = f"{act}/chapters/chapter-{plan['chapter']:02}"
    if plan["level"] == "chapter":
        return f"{chapter}/plan.md"
    return f"{chapter}/scenes/scene-{plan['chapter']:02}{plan['scene']:02}-blueprint.md"


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
        places = [read_at(root, path, session) for path in found]
        said = f"scene {scene} has more than one blueprint: {', '.join(places)}"
        facts = {"scene": scene, "found": places}
        raise Refused("ambiguous_blueprint", said, remedy=remedies.done("1", outputs=("blueprint_path",)), facts=facts)
    if not found:
        plan = _planning(_place_of(root, scene), "scene", "scene")
        said = f"scene {scene} has no blueprint: there is no acts/act-N/{inner}"
        own = own_path(f"acts/act-N/{inner}", session)
        ways = (f"write {own}", plan.given(session=session).replace(text="plan the scene"))
        raise Refused("no_blueprint", said, remedy=ways, facts={"scene": scene, "looked_for": f"acts/act-*/{inner}"})
    return next(iter(found))


def is_blueprint(path: str, scene: str) -> bool:
    """Whether a path is where the blueprint of a scene belongs, in some act."""
    parts = path.split("/")
    inner = f"chapters/chapter-{scene[:2]}/scenes/scene-{scene}-blueprint.md".split("/")
    return parts[:1] == ["acts"] and parts[1:2] != [] and parts[1].startswith("act-") and parts[2:] == inner


def _place_of(root: str, scene: str) -> dict[str, int]:
    """The numbers of a scene: chapter and scene by its id, and the act where just one has the chapter."""
    from glob import escape, glob

    numbers = {"chapter": int(scene[:2]), "scene": int(scene[2:])}
    acts = [path.split(os.sep)[-3] for path in glob(f"{escape(root)}/acts/act-*/chapters/chapter-{scene[:2]}")]
    number = acts[0].removeprefix("act-") if len(acts) == 1 else ""
    return {**numbers, "act": int(number)} if number.isdecimal() else numbers


def read_at(root: str, path: str, session: str = "") -> str:
    """Where a file of the project is read: a session's own copy first; empty where there is none."""
    places = dict.fromkeys((own_path(path, session), path))
    return next((one for one in places if read_regular(os.path.join(root, one), LARGEST) is not None), "")


def require_text(root: str, path: str, session: str = "") -> None:
    """Refuses what is no file that can be read."""
    _read(root, path, session)


def content_hash(root: str, path: str, session: str = "") -> str:
    """What a file holds that a session may have its own copy of; empty where there is none."""
    found = (read_regular(os.path.join(base, path), LARGEST) for base in _bases(root, session))
    data = next((one for one in found if one is not None), None)
    return "" if data is None else digest(data)


def required_words(constraints: list[str]) -> tuple[int, int] | None:
    """The number of words that a scene is to have by its constraints, from the least to the most; None if none says."""
    import re

    number = r"(\d[\d,.']*)"
    pattern = re.compile(rf"(.*?){number}(?:\s*(?:-|–|—|to|and)\s*{number})?\s*words", re.IGNORECASE)
    for found in filter(None, map(pattern.match, constraints)):
        before, *counts = found.groups()
        numbers = [int(re.sub(r"\D", "", one)) for one in counts if one]
        least = (
            0 if re.search(r"at most|no more|up to|under|below|fewer|less|max", before, re.IGNORECASE) else min(numbers)
        )
        most = (
            sys.maxsize if re.search(r"at least|no fewer|over|more than|min", before, re.IGNORECASE) else max(numbers)
        )
        return least, most
    return None


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
        way = f'write a heading "## Constraints" with at least one list item into {own_path(path, session)}'
        at = read_at(root, path, session)
        raise Refused("no_constraints", f"{at} {lacks}", remedy=way, facts={"path": at})
    return items


def _number(value: object) -> object:
    """A number that is given as text is the number."""
    is_digits = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 3
    return int(str(value)) if is_digits else value


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 99


def _bases(root: str, session: str) -> list[str]:
    return [os.path.join(root, folder(session)), root] if session else [root]


def _read(root: str, path: str, session: str) -> str:
    for base in _bases(root, session):
        data = read_regular(os.path.join(base, path), LARGEST)
        if data is not None:
            return data.decode("utf-8", "replace")
    own = own_path(path, session)
    raise NotFound("no_file", f"there is no readable file {own}", remedy=shell("ls", "-l", own), facts={"path": own})
