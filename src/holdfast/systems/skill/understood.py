"""What is read in a feature file, or in a folder of them."""

from __future__ import annotations

import os

from holdfast.core.value import Any
from holdfast.systems.seam.parts import Understood

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.systems.skill.features import Feature


def understood(path: str, shown: str, sure: bool) -> Understood | None:
    if sure:
        return None
    from holdfast.markdown.feature_file import is_markdown
    from holdfast.systems.skill import features

    if os.path.isdir(path):
        read, passed_over = features.some(path, shown)
        data = {"features": [_data(one) for one in read], "passed_over": passed_over}
        lines = [line for one in read for line in _lines(one)]
        first = f"{shown}: {len(read)} feature{'s' if len(read) != 1 else ''}, {len(passed_over)} passed over"
        return Understood(data, (first, *lines, *passed_over))
    if not is_markdown(path):
        return None
    feature = features.read(path, shown)
    return Understood(_data(feature), tuple(_lines(feature)))


def _data(feature: Feature) -> dict[str, Any]:
    tasks = [{"number": number, **dict(task.items())} for number, task in enumerate(feature.tasks, 1)]
    remarks = [dict(one.items()) for one in feature.remarks]
    named = {"file": feature.path, "title": feature.title, "title_from": feature.title_from, "summary": feature.summary}
    lists = {"headings": list(feature.headings), "criteria": list(feature.criteria)}
    return {**named, **lists, "tasks": tasks, "remarks": remarks}


def _lines(feature: Feature) -> list[str]:
    count = f"{len(feature.tasks)} task{'s' if len(feature.tasks) != 1 else ''}"
    lines = [f"{feature.path} is valid: {feature.title} (from its {feature.title_from}), {count}"]
    lines += [f"  {feature.summary}"] if feature.summary else []
    lines += [f"  tasks, below {', '.join(map(repr, feature.headings)) or 'no heading'}:"]
    for number, task in enumerate(feature.tasks, 1):
        lines.append(f"    {number}. [{'x' if task.done else ' '}] {task.text}{'' if task.tested else ' (no tests)'}")
        lines += [f"         {line}" for line in task.description.split("\n") if line.strip()]
    lines += ["  criteria:"] if feature.criteria else []
    lines += [f"    - {text}" for text in feature.criteria]
    lines += ["  remarks:"] if feature.remarks else []
    lines += [f"    line {one.line}: {one.text}" for one in feature.remarks]
    return lines
