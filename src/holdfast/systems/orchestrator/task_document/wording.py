"""How authors word the values of a task document: numbers, spans, yes and no, headings, dependencies.

Each reader gives None for words it does not know: a bound that was guessed would be worse than a document that is
refused.
"""

from __future__ import annotations

import re
from _collections_abc import Container

from holdfast.core import moment
from holdfast.core.value import Value
from holdfast.systems.orchestrator.task_document.model import POST_TASK, PRE_TASK

_YES, _NO = ("yes", "y", "true", "on", "enable", "enabled"), ("no", "n", "false", "off", "disable", "disabled")
_NOTHING = ("none", "no", "nothing", "n/a", "na", "no limit", "unlimited", "-", "–", "—")
_WHOLE = (
    r" (?:per (?:session|run|workflow)|(?:in )?total|overall|wall clock|maximum|max)$|^(?:up to|at most|max(?:imum)?) "
)
_SPAN = r"([0-9]{1,9}(?:\.[0-9]{1,3})?) ?(d|days?|h|hrs?|hours?|m|mins?|minutes?|s|secs?|seconds?)(?![a-z])"
_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_PHASE = r"phase|stage|milestone"
_TASK = r"task|sub ?-?tasks?|step"
_NUMBER = r"[0-9]{1,6}(?:\.[0-9]{1,6}){1,3}"
_HEADING = rf"(?i)[\W\d_]*?(?:({_PHASE})|({_TASK}))\b\s*(.*)"
_NAMED = {"phase": r"([0-9]{1,6})\s*[.:–—-]\s*(.+)", "task": rf"({_NUMBER})\s*(?:[.:–—-]\s*|\s)(.+)"}
_BARE = rf"[\W_]*({_NUMBER})\s*(?:[.:–—)-]\s*|\s)(.+)"
_MEANT = r"(?i)[0-9#]|[^:]{0,20}:"
_DONE = (
    r"(?:\s*[:–—-]\s.*|,? (?:is |are |must be |has to be |to be )?(?:all )?(?:complete|completed|done|finished)\b.*)?"
)
_ONE = rf"(?i)(?:(?:{_TASK})s?\s*)?#?({_NUMBER}){_DONE}"
_RANGE = (
    rf"(?i)(?:(?:{_TASK})s?\s*)?#?({_NUMBER})\s*(?:-|–|—|\.\.|to|through|until)\s*"
    rf"(?:(?:{_TASK})s?\s*)?#?({_NUMBER}){_DONE}"
)
_OF_PHASE = (
    rf"(?i)(?:all )?(?:(?:{_TASK})s? )?(?:of |in |from )?(?:the )?(?:{_PHASE}) ([0-9]{{1,6}})(?: (?:{_TASK})s?)?{_DONE}"
)
_PREVIOUS = rf"(?i)(?:all )?(?:of )?(?:the )?(?:previous|prior|preceding|earlier|above) (?:{_TASK})s{_DONE}"
_LAST = rf"(?i)(?:the )?(?:previous|prior|preceding) (?:{_TASK}){_DONE}"
_BETWEEN = rf"(?i)(?:[,;&]|\sand\s|,\sand\s)\s*(?=(?:{_TASK}|{_PHASE}|all\b|none\b|#?[0-9]))"
_LONGEST_KEY = 64
_OFF = (
    r"(?i)(?:disabled?|(?:switched |turned )?off|none|not (?:needed|used|wanted|required|enabled|necessary|applicable)"
    r"|n/a|no (?:supervis\w*|outer|loop|review|checks?|need)|(?:is|are) (?:not needed|disabled|off)|skip(?:ped)?)\b"
    r"|(?i:no)\W*$"
)
_LONGEST_OFF = 80
_WAITS = (
    r"depends (?:up)?on|dependent on|waits? (?:for|on|until)|after|requires|needs|blocked by|not before|follows"
    r"|only (?:starts? )?after"
)
_UNTIL = r"once|until|as soon as|when"
_UNITS = r"[kmgt]i?b|[mµn]?s|%|x|times|seconds?|minutes?|hours?|days?|or (?:newer|later|higher|above)"
PARALLEL = r"parallel(?:i[sz]able)?(?: with)?|(?:run |runs )?in parallel(?: with)?|concurrent(?: with)?"
GATED = "only the plan is approved, by '**Plan approval**: person': write what a person has to confirm as a criterion"
_UNREAD = {
    r"(?:human |manual |approval |exit |entry |quality |release )?gates?"
    r"|(?:requires? |needs )?(?:human |manual )?approvals?(?: required| needed| by)?"
    r"|approved by|approver|sign ?offs?": GATED,
    r"(?:maximum )?(?:retries|retry|attempts|tries)(?: limit)?|timeouts?|time ?box|deadline|due(?: date)?"
    r"|stop (?:when|if|after|at)|abort (?:when|if|after)": "bounds are those of the whole run, below "
    "'## Safety Bounds'",
    PARALLEL: "write '**Dependencies**: Task 1.1' for what it has to wait for",
}
FREQUENCIES = {
    (PRE_TASK, POST_TASK): r"before (?:and|&) after.*|(?:on |at |for )?(?:every|each|per|all) tasks?"
    r"|pre[ _-]?task(?:,| and| &| \+) post[ _-]?task.*|always|both",
    (PRE_TASK,): r"before (?:every|each|all|any|a) (?:new )?tasks?|pre[ _-]?task",
    (
        POST_TASK,
    ): r"after (?:every|each|all|any|a) (?:completed )?tasks?|post[ _-]?task|(?:on|at|after) task completion",
    (): r"on[ _-]?demand|manual(?:ly)?|never",
}


def yes_or_no(text: str) -> bool | None:
    word = _bare(text)
    return True if word in _YES else False if word in _NO else None


def is_off(text: str) -> bool:
    """Whether the text of a section says that what the section is about is not wanted."""
    first = text.strip().partition("\n")[0].strip(" *_-")
    return bool(re.match(_OFF, first)) and len(first) <= _LONGEST_OFF


def titled(name: str) -> tuple[str, str]:
    """The name of a task, and what it waits for, where that is in brackets behind it."""
    found = re.fullmatch(rf"(?i)(.*\S)\s*[(\[]\s*(?:{_WAITS})\s*:?\s*([^()\[\]]+)[)\]]\s*", name)
    return (found[1], found[2]) if found else (name, "")


def waits(text: str) -> list[str]:
    """The numbers of tasks that a sentence says something waits for. `1.1 GB` is none."""
    row = rf"({_NUMBER}(?:(?:,| and|, and| &)\s*{_NUMBER})*)(?![0-9]|\s*(?:{_UNITS})\b)"
    form = rf"(?i)\b(?:{_WAITS}|{_UNTIL})\s+(?:(?:the )?(?:{_TASK})s?\s*)?#?{row}"
    return [_number(one) for found in re.findall(form, text) for one in re.findall(_NUMBER, found)]


def unread(label: str, value: str) -> str:
    """How to say what a label of a task cannot; empty where it may be a part of the description."""
    if re.fullmatch(PARALLEL, label) and not re.match(r"(?i)no\b|false|never|sequential", value.strip()):
        return ""
    return next((way for form, way in _UNREAD.items() if re.fullmatch(form, label)), "")


def count(text: str) -> int | None:
    """`30`, `30 iterations`: a whole number above zero."""
    number = re.fullmatch(r"([0-9]{1,6})(?: (?:iterations?|times|attempts|tries|rounds))?(?: per task)?", _bound(text))
    return int(number[1]) or None if number else None


def cost(text: str) -> int | None:
    """Micro-dollars of `$10`, `10.50`, `10 USD`; None when it is no amount above zero."""
    bare = re.sub(r"^(?:us)?\$ ?(?=[0-9])| ?(?:usd|dollars?)$", "", _bound(text))
    return moment.read_money(re.sub(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))", "", bare)) or None


def span(text: str) -> int | None:
    """Seconds of `2 hours`, `1h 30m`, `90 minutes`. A number alone is none: nobody can tell its unit."""
    bare = _bound(text)
    found = re.findall(_SPAN, bare)
    if not found or re.sub(rf"{_SPAN}|[ ,]|\band\b", "", bare):
        return None
    return int(sum(float(number) * _SECONDS[unit[0]] for number, unit in found)) or None


def bound_form(text: str) -> str:
    """How a bound is written that a sentence seems to mean."""
    if re.search(rf"(?i){_SPAN}", text):
        return "'**Maximum time**: 2 hours'"
    if re.search(r"(?i)iteration|attempt|tries|times|rounds", text):
        return "'**Maximum iterations per task**: 30'"
    return "'**Maximum cost**: $10'"


def approval(text: str) -> str | None:
    """Whose word the plan needs."""
    word = _bare(text)
    if re.fullmatch(r"relayed|agent|by an agent|an agent may pass it on", word):
        return "relayed"
    return (
        "human" if re.fullmatch(r"(?:by )?(?:a |the )?(?:person|human|people|user|required|manual|yes)", word) else None
    )


def frequency(text: str) -> tuple[str, ...] | None:
    """When the supervisor looks: before tasks, after them, or when it is asked."""
    return next((when for when, form in FREQUENCIES.items() if re.fullmatch(form, _bare(text).rstrip("."))), None)


def is_nothing(text: str) -> bool:
    return _bare(text).rstrip(".") in _NOTHING or bool(re.fullmatch(r"none\s*[-–—:,.(][^0-9]*", _bare(text)))


def listed(text: str) -> list[str]:
    """The members of a list in a line, without what is said of them in brackets; none for `None`."""
    plain = (part.strip() for part in re.split(r"(?i)[,;&]|\sand\s", re.sub(r"\([^()]*\)", "", text)))
    members = (re.sub(r"^@|\.$", "", part) for part in plain)
    return [member for member in members if member and not is_nothing(member)]


def agents(text: str) -> tuple[list[str], list[str]]:
    """The names of agents, and what is none. A number of agents has their names in brackets."""
    counted = re.fullmatch(r"[0-9]+(?: agents?)?\s*(?:\((.*)\)|[:–—-]\s*(.*))?", text.strip())
    members = listed(counted[1] or counted[2] or "") if counted else listed(text)
    names = [re.sub(r"\s+", "-", member) for member in members]
    return names, [text] if counted and not names else []


class Wanted(Value):
    """Tasks that another one waits for: one or several by their numbers, those of a phase, those before it."""

    first: str = ""
    last: str = ""
    phase: int = 0
    before: str = ""


def dependencies(text: str) -> tuple[list[Wanted], list[str]]:
    """What a task waits for, and what of it nobody can read. A number that would be lost makes it unreadable."""
    if not text or is_nothing(text):
        return [], []
    found, unread = [], []
    for part in re.split(_BETWEEN, text):
        member = re.sub(r"\s*\([^()]*\)", "", part).strip().rstrip(".,; ")
        member = re.sub(rf"(?i)^(?:only )?(?:{_WAITS}|{_UNTIL})\s+", "", member)
        wanted = _wanted(member)
        lost = set(map(_number, re.findall(_NUMBER, part))) - {wanted.first, wanted.last} if wanted else ()
        if wanted is None and is_nothing(member):
            continue
        if wanted is None or lost:
            unread.append(part.strip())
        else:
            found.append(wanted)
    return found, unread


def _wanted(member: str) -> Wanted | None:
    if one := re.fullmatch(_RANGE, member):
        return Wanted(_number(one[1]), _number(one[2]))
    if one := re.fullmatch(_ONE, member):
        return Wanted(_number(one[1]), _number(one[1]))
    if one := re.fullmatch(_OF_PHASE, member):
        return Wanted(phase=int(one[1]))
    if re.fullmatch(_LAST, member):
        return Wanted(before="one")
    return Wanted(before="all") if re.fullmatch(_PREVIOUS, member) else None


def numbered(heading: str, *, in_phase: bool, in_task: bool) -> tuple[str, str, str] | None:
    """The heading of a phase or a task: its kind, its number and its name, which are empty when they are mistaken.

    What has a number is one. What only begins like one is a mistake, unless it may be a part of a task.
    """
    if in_phase and (bare := re.fullmatch(_BARE, heading)):
        return "task", _number(bare[1]), bare[2]
    match = re.fullmatch(_HEADING, heading)
    if match is None:
        return None
    kind, rest = "phase" if match[1] else "task", match[3]
    if parts := re.fullmatch(_NAMED[kind], rest):
        return kind, _number(parts[1]), parts[2]
    is_part = in_task and (match[2] or "").lower() == "step"
    meant = not is_part and (re.match(_MEANT, rest) or (kind == "task" and in_phase and not in_task))
    return (kind, "", "") if meant else None


def key(text: str, taken: Container[str], position: int) -> str:
    """A key that is not yet taken, from the letters and digits of a text: `Tests pass!` → `tests_pass`."""
    base = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:_LONGEST_KEY].rstrip("_") or f"criterion_{position}"
    name, again = base, 1
    while name in taken:
        again += 1
        name = f"{base[: _LONGEST_KEY - len(str(again)) - 1]}_{again}"
    return name


def _bare(text: str) -> str:
    """In lower case, without a remark in brackets at the end."""
    return re.sub(r"\([^()]*\)$", "", text).strip().lower()


def _bound(text: str) -> str:
    """The same without words that say that it is a bound of the whole."""
    return re.sub(_WHOLE, "", _bare(text)).strip()


def _number(text: str) -> str:
    return ".".join(str(int(part)) for part in text.split("."))
