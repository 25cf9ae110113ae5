"""Pictures as Mermaid text: a running workflow, and the life of a step."""

from __future__ import annotations

from holdfast.core import lifecycle, policies
from holdfast.core.definition import Step
from holdfast.core.plan import ancestors, parent
from holdfast.core.state import State

# Every class sets fill and text together, so a box is readable whatever is behind it; branches have no fill, and
# their grey keeps its distance from white as well as from black.
_COLOURS = {
    lifecycle.PENDING: "fill:#eaeef2,stroke:#6e7781,color:#24292f",
    lifecycle.ACTIVE: "fill:#0969da,stroke:#54aeff,color:#ffffff,stroke-width:3px",
    lifecycle.IN_REVIEW: "fill:#8250df,stroke:#c297ff,color:#ffffff",
    lifecycle.WAITING: "fill:#ffd33d,stroke:#9a6700,color:#24292f",
    lifecycle.DONE: "fill:#1a7f37,stroke:#4ac26b,color:#ffffff",
    lifecycle.FAILED: "fill:#cf222e,stroke:#ff8182,color:#ffffff",
    lifecycle.BLOCKED: "fill:#57606a,stroke:#afb8c1,color:#ffffff",
    lifecycle.ESCALATED: "fill:#bc4c00,stroke:#fb8f44,color:#ffffff",
    lifecycle.SKIPPED: "fill:#eaeef2,stroke:#6e7781,color:#57606a,stroke-dasharray:4 3",
    "branch": "fill:transparent,stroke:#6e7781,color:#6e7781",
}
MANY_STEPS = 100
_CLOSED = lifecycle.FINISHED | {lifecycle.PENDING}
_LABEL = 80


def mermaid(state: State) -> str:
    """The workflow as a flowchart: branches as frames, prerequisites as arrows, dotted where a failure goes back.

    In a large tree, branches that are finished or have not begun are one box: renderers give up at 500 arrows.
    """
    plan = state.plan
    large = len(plan.paths) > MANY_STEPS
    whole = {p for p in plan.paths if plan.is_leaf(p) or (large and state.step(p).status in _CLOSED)}
    drawn = [path for path in plan.paths if whole.isdisjoint(ancestors(path))]
    names = {path: f"s{number}" for number, path in enumerate(drawn, 1)}
    lines = ["flowchart TD"]

    def draw(path: str, indent: str) -> None:
        step = plan.step(path)
        folded = f"<br/>{len(plan.below(path))} steps" if path in whole and step.steps else ""
        text = f'"{lifecycle.MARKS[state.step(path).status]} {label(step.label)}{_badges(step)}{folded}"'
        if path in whole:
            lines.append(f"{indent}{names[path]}[{text}]")
            return
        lines.append(f"{indent}subgraph {names[path]}[{text}]")
        for child in plan.children(path):
            draw(child, indent + "  ")
        lines.append(f"{indent}end")

    for top in plan.children(""):
        draw(top, "  ")
    for path in drawn:
        retry, above = plan.step(path).retry, parent(path)
        inherited = len(plan.requires(above)) if above else 0
        own = plan.requires(path)[inherited:]
        lines += [f"  {names[needed]} --> {names[path]}" for needed in own if needed in names]
        back_to = plan.beside(path, retry.back_to) if retry and retry.back_to else None
        if back_to in names:
            lines.append(f"  {names[path]} -. on failure .-> {names[back_to]}")
    for word, colours in _COLOURS.items():
        members = [names[p] for p in drawn if (state.step(p).status if p in whole else "branch") == word]
        if members:
            lines += [f"  classDef {word} {colours}", f"  class {','.join(members)} {word}"]
    return "\n".join(lines) + "\n"


def lifecycle_diagram() -> str:
    """A step's life, drawn from the transition table."""
    everywhere = {
        (move, target)
        for move, targets in lifecycle.MOVES.items()
        for target in targets.values()
        if set(targets) == set(lifecycle.STATUSES) - {target}
    }
    arrows: dict[tuple[str, str], list[str]] = {}
    for move, targets in lifecycle.MOVES.items():
        for source, target in targets.items():
            if (move, target) not in everywhere:
                arrows.setdefault((source, target), []).append(move)
    lines = ["stateDiagram-v2", f"  [*] --> {lifecycle.PENDING}", '  state "begun" as begun {']
    lines += [f'    state "{s.replace("_", " ")}" as {s}' for s in lifecycle.STATUSES if s != lifecycle.PENDING]
    lines.append("  }")
    lines += [f"  {source} --> {target} : {', '.join(moves)}" for (source, target), moves in arrows.items()]
    lines += [f"  begun --> {target} : {move}" for move, target in sorted(everywhere)]
    return "\n".join(lines) + "\n"


def label(text: str) -> str:
    """Text of anybody as the inside of a quoted Mermaid label: everything that could mean something is an entity."""
    clean = "".join(c if c.isprintable() else " " for c in text[: 4 * _LABEL])
    words = " ".join(clean.split())
    if len(words) > _LABEL:
        words = words[: _LABEL - 1] + "…"
    return "".join(c if _means_nothing(c, words[at + 1 : at + 2]) else f"#{ord(c)};" for at, c in enumerate(words))


def _means_nothing(char: str, following: str) -> bool:
    # "1. " and "- " would begin a Markdown list; inside a word they are themselves.
    return char.isalnum() or char in " ,/!?…" or (char in ".-" and following.isalnum())


def _badges(step: Step) -> str:
    """The step's gates, one line below its name."""
    badges = [", ".join(label(check.name) for check in step.checks)]
    badges.append(", ".join(label(name) for name in step.outputs))
    if step.review:
        badges.append("review")
    if step.choice:
        badges.append("choice of " + ", ".join(label(option) for option in step.choice.options))
    elif step.approval:
        badges.append(f"approval{policies.SAID[step.approval.by]}")
    return "".join(f"<br/>◇ {badge}" for badge in badges if badge)
