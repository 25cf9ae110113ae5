"""Sentences that read like a gate or a bound, and are only kept as text: their author may think that they hold."""

from __future__ import annotations

import re

_MUST = r"(?:must|should|shall|has to|have to|needs? to)"
_GATE = (
    rf"(?i)`[^`]+`\s+(?:{_MUST}\s+)?(?:pass(?:es)?|succeeds?|be green|is green|exits? (?:with )?0)\b"
    r"|\bsign(?:s|ed)?[ -]?off\b|\bapprov(?:al|ed|es)\b[^.;]{0,20}\b(?:by|from|of)\b"
    rf"|\b{_MUST} (?:be |first be )?(?:approved|signed off|reviewed|verified)\b"
    rf"|\b(?:tests?|checks?|lint(?:er)?|build|ci|suite|pipeline) {_MUST} (?:be |stay |all )?(?:pass|green|succeed)\b"
)
_MANY = r"(?:[0-9]+|one|two|three|four|five|six|seven|eight|nine|ten|twice|once)"
_BOUND = (
    rf"(?i)\b(?:stop|abort|give up|quit|halt|bail out)\b[^.;]{{0,40}}\b(?:after|at|when|if|once)\b[^.;]*\b{_MANY}\b"
    rf"|\b(?:at most|(?:no|not) more than|maximum of|max\.?|up to)\s+(?:[$€]\s?[0-9]|{_MANY}\s*(?:tr(?:y|ies)|attempts?"
    r"|iterations?|retries|rounds?|min(?:ute)?s?|h(?:ours?)?|dollars?|usd)\b)"
)
_LIMIT = rf"(?i)[0-9]|\b{_MANY}\b|\b(?:stop|abort|halt|give up|limit|exceed\w*|at most|no more than)\b"
_APPROVAL = r"(?i)\b(?:approv\w+|sign(?:s|ed)?[ -]?off|permission|consent)\b"
_KEPT = "is kept as text only"


def gate_or_bound(source: str) -> str:
    """What to say of a sentence in a task or a phase; empty where it is plain text."""
    if re.search(_GATE, source):
        return f"this reads like a gate, and {_KEPT}: write it as '- [ ] …'"
    if re.search(_BOUND, source):
        return f"this reads like a bound, and {_KEPT}: bounds are those of the whole run, below '## Safety Bounds'"
    return ""


def is_bound(source: str) -> bool:
    """Whether a sentence among the bounds seems to be one."""
    return bool(re.search(_LIMIT, source))


def is_approval(source: str) -> bool:
    return bool(re.search(_APPROVAL, source))


def is_criteria(header: str) -> bool:
    """Whether a table with this header lists what has to hold."""
    return bool(re.search(r"(?i)\b(?:criteri(?:on|a)|checks?|gates?|acceptance|tests?|verif\w+|done when)\b", header))
