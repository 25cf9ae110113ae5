"""The sections of a task document: by which headings they open, and which labels count in each."""

from __future__ import annotations

import re

from holdfast.core.value import Value
from holdfast.systems.orchestrator.task_document.model import Criterion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Mapping

_CRITERIA = (
    r"(?:global |overall |project |final )*(?:(?:success|acceptance|completion|exit|done|verification) )?criteria"
    r"|(?:success|acceptance|exit) criterion|definition of done|done when|acceptance|verification"
)
_TASK = {
    "description": r"description|summary|details|overview|goals?|objectives?|purpose",
    "criteria": rf"{_CRITERIA}|tests?|test cases|validations?|acceptance tests?|verify|checks?|must (?:pass|hold)",
    "agents": r"(?:required |assigned |suggested |recommended )?agents?(?: needed| required| types?)?",
    "complexity": r"(?:estimated )?(?:complexity|difficulty)",
    "dependencies": r"(?:task )?dependenc(?:y|ies)|(?:depends|dependent) (?:up)?on|requires?|needs|after|blocked by"
    r"|blockers?|pre ?requisites?|waits for|predecessors?|order|sequence|(?:starts?|runs?|only) (?:after|once|when)",
    "effort": r"(?:estimated |expected )?(?:effort|time|duration)(?: estimate)?|(?:time |effort )?estimates?",
    "reverse": r"blocks|unblocks|required (?:by|for)|needed (?:by|for)",
    "phase_criteria": rf"phase(?: \d+)? (?:{_CRITERIA})",
}
_LIMIT = r"(?: limit| cap| budget| bound)?"
_SETTINGS: Mapping[str, Mapping[str, str]] = {
    "safety": {
        "iterations": rf"(?:maximum )?(?:ralph )?(?:iterations?|attempts|tries){_LIMIT}(?: per task)?{_LIMIT}",
        "cost": rf"(?:maximum |total |hard )*(?:cost|budget|spend|spending){_LIMIT}",
        "time": rf"(?:maximum |total |hard |elapsed )*(?:time|duration|run ?time|wall clock){_LIMIT}|timeout",
    },
    "supervisor": {
        "enable": r"enabled?|(?:enable )?(?:the )?supervisor(?: checks?)?(?: enabled)?",
        "frequency": r"(?:supervisor )?(?:check )?frequency|when|schedule",
        "auto_fix": r"(?:enable |allow )?auto fix(?:es|ing)?(?: .*)?",
        "required": r"(?:checks? )?(?:required|mandatory)|require (?:pre task )?checks?",
    },
    "outer": {
        "enable": r"enabled?|(?:enable )?(?:the )?outer(?: ralph)?(?: loop)?(?: enabled)?",
        "iterations": rf"(?:maximum )?(?:outer )?(?:ralph )?(?:loop )?(?:iterations|rounds|passes){_LIMIT}",
        "criteria": _CRITERIA,
    },
    "plan": {"approval": r"(?:plan )?approvals?|approval of the plan|who approves(?: the plan)?"},
}
"""The settings and their labels. In another section, a label counts if it names what it sets."""
_EXPLICIT = {
    "safety": r"\b(?:maximum|limit|cap|budget|bound)\b|per task",
    "supervisor": r"\bsupervisor\b",
    "outer": r"\bouter\b",
    "plan": r"\bplan\b",
}
_OF_THE_WHOLE = {
    "goal": r"(?:task |project )?(?:goals?|objectives?|overview|summary|purpose|mission)",
    "context": r"context|background|motivation|current state",
    "criteria": _CRITERIA,
    "container": r"(?:(?:execution|implementation|work|task|project) )?(?:phases?|tasks|plan|breakdown)"
    r"|phases (?:and|&) tasks|implementation|workflow",
}
_HEADINGS = {
    "safety": r"(?:safety|resource|cost|budget)?(?: and )?(?: ?(?:bounds?|limits?|constraints))|safety|budgets?"
    r"|safety settings",
    "supervisor": r"supervis(?:or|ion)(?: (?:agent|checks?))?",
    "outer": r"outer(?: ralph)?(?: (?:loop|review))?",
    "settings": r"(?:workflow|execution|run|orchestrator|ralph)?(?: ?(?:settings?|configuration|config|options))",
}
_CONFIGURED = r"(?: (?:settings?|configuration|config))?"
SETTINGS = tuple(_HEADINGS)


class Said(Value):
    """The value of a label, in plain text, and its line."""

    text: str
    line: int
    by_items: bool = False  # the list below the label is its value


class Section:
    """A part of the document below its heading. One that has a mistake in its heading has no number."""

    def __init__(self, kind: str, line: int, number: str = "", name: str = "", phase: Section | None = None) -> None:
        self.kind, self.line, self.number, self.name, self.phase = kind, line, number, name, phase
        self.told: list[tuple[int, str]] = []
        self.criteria: list[Criterion] = []
        self.said: dict[str, Said] = {}

    def text(self) -> str:
        """The prose, a blank line between paragraphs and none between the items of a list."""
        out, prose = "", [text for _, text in self.told]
        for before, part in zip(["", *prose], prose, strict=False):
            close = before.startswith("- ") and part.startswith("- ")
            out += ("\n" if close else "\n\n" if out else "") + part
        return out


def kind_of(heading: str, *, within_phase: bool) -> str:
    """The kind of section that a heading opens, if any. Settings count wherever they stand, so that none is lost."""
    known = _HEADINGS if within_phase else _HEADINGS | _OF_THE_WHOLE
    text = re.sub(r"(?i)^[\W\d_]*|\s*(?:\([^()]*\))?\s*:?$", "", heading).lower()
    forms = ((kind, f"(?:{words}){_CONFIGURED if kind in _HEADINGS else ''}") for kind, words in known.items())
    return next((kind for kind, form in forms if re.fullmatch(form, text)), "")


def means(field: str, label: str) -> bool:
    """Whether a label is, wherever it stands, a word for a bound, the approval of the plan or a dependency."""
    forms = {**_SETTINGS["safety"], **_SETTINGS["plan"], "dependencies": _TASK["dependencies"]}
    return bool(re.fullmatch(forms[field], label))


def field_of(kind: str, label: str) -> tuple[str, str]:
    """What a label sets in a section of a kind: the kind that it belongs to, and the field. Empty: it is not known."""
    own = {"task": _TASK, "phase": _TASK, "stray": _TASK}.get(kind) or _SETTINGS.get(kind, {})
    for field, form in own.items():
        if re.fullmatch(form, label):
            return kind, field
    if kind in ("preamble", "settings", "other"):
        for field in ("goal", "criteria") if kind != "other" else ():
            if re.fullmatch(_OF_THE_WHOLE[field], label):
                return field, field
    for other, fields in _SETTINGS.items():
        is_whole = other == "plan" and kind in ("preamble", "goal", "context")
        if other == kind or not (kind == "settings" or is_whole or re.search(_EXPLICIT[other], label)):
            continue
        for field, form in fields.items():
            named = other in ("safety", "plan") or re.search(_EXPLICIT[other], label)
            if named and field != "criteria" and re.fullmatch(form, label):
                return other, field
    return "", ""
