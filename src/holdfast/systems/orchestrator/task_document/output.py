"""Whether a sentence is about what its command prints. A command is run for its exit code alone.

A search that is to find nothing would be proved by its opposite, and a list that is to be empty by any list at all.
"""

from __future__ import annotations

import re
from _collections_abc import Sequence

NOTHING = (
    "the sentence is about what its command prints or finds, and only its exit code is looked at: name a command that"
    " passes where the criterion holds, such as a script, or write the sentence without backticks, to be reported"
)
SOMETHING = (
    "the sentence is about what its command prints, and only its exit code would be looked at: the criterion is"
    " reported, not run"
)

_SEARCHES = r"(?:[ef]|z|p|rip)?grep|rg|ag|ack|git grep"
_LISTS = (
    r"ls|find|cat|head|tail|wc|echo|printf|ps|du|df|tree|env|printenv|sort|uniq|awk|sed|jq"
    r"|git (?:status|diff|log|show|ls-files|branch|tag|stash|remote|shortlog|blame|reflog)"
)
_DECIDES = r"--exit-code|--quiet|--check|--error-unmatch|-exit-code"
_END = r"[.;!?](?:\s|$)"
_NO = r"(?:no|zero|0|without(?: any)?|free of|not (?:a single|any)|neither)"
_TROUBLE = (
    r"(?:errors?|warnings?|issues?|problems?|fail(?:ure|ing|ed)s?(?: tests?)?|violations?|vulnerabilit(?:y|ies)"
    r"|complaints?|regressions?|findings?|diagnostics|offen[sc]es?|trouble)"
)
CLEAN = rf"(?i)\b{_NO} (?:[\w-]+ ){{0,2}}?(?:{_TROUBLE}(?:,? (?:or|and|nor) )?)+\b"
_LACKS = (
    rf"(?i)\b(?:{_NO}|none|nothing|nobody|never|empty|clean|silent|quiet|blank|unchanged|gone|removed|absent|missing"
    r"|any ?more|no longer|up to date|not|\w+n[’']t)\b"
)
_RAW = r"(?:output|stdout|matche?s?|hits?|results?|lines?|occurrences?|mentions?|references?|entries|rows)"
_PRINTED = r"(?:printed|shown|listed|reported|found|returned|displayed|output|left|matched|logged|written)"
_NOTHING = (
    r"(?i)\b(?:is|are|stays?|remains?|comes? (?:back|up|out)"
    r"|(?:returns?|gives?|prints?|yields?|shows?|produces?)(?: an?)?)"
    r" (?:completely |entirely |still )?(?:empty|blank)\b|\bempty (?:output|result|list|response|answer|diff)\b"
    rf"|\bnothing (?:is |was |gets |has been |to be )?(?:{_PRINTED}|there|to commit|remains|matches)\b"
    rf"|\b(?:{_NO}|none of the) (?:[\w-]+ ){{0,2}}?{_RAW}\b"
    r"|\b(?:prints?|outputs?|shows?|counts?|gives?|reports?|yields?|is|equals?|finds?)"
    r" (?:exactly |only )?(?:0|zero|none)\b"
)
_NOTHING_AFTER = r"(?i)\W*(?:[\w’']+\s+){0,3}?nothing\b"
_PRINTED_BEFORE = (
    rf"(?i)\b(?:is|are|be|was|were|gets?) {_PRINTED}\b[^.;:]*\b(?:by|in|from|with|when|on)\b[^.;:]*$"
    rf"|\b{_RAW}\b[^.;:]*\b(?:for|of|from|in|by|with|when|after)\b[^.;:]*$"
)
_HELPS = r"\W*(?:(?:still|also|then|now|only|should|must|will|has to|to|correctly|successfully|all|each|both)\s+)*"
_SAYS = (
    rf"(?i){_HELPS}(?:(?:prints?|outputs?|shows?|displays?|lists?|echo(?:es)?|emits?|contains?|includes?|mentions?|says?"
    r"|answers?|responds?|logs?|gives?|yields?|returns?|reports?|finds?|equals?|counts?)\b(?!:)"
    r"|(?:has|have) (?!been\b|to\b)"
    r"|(?:is|are) (?:at least|at most|below|above|under|over|less|more|greater|equal|exactly|the same|[0-9])"
    r"|(?:[’']s )?(?:output|stdout|result)\b)"
)
_SUCCEEDS = (
    rf"(?i){_HELPS}(?:returns?|reports?|gives?|shows?|has|have|finds?)\s+(?:an? |the |its |with )*(?:exit |return )?"
    r"(?:code |status |value )?(?:of )?(?:0|zero|success\w*|ok|green|(?:all )?(?:tests? )?pass\w*)\W*(?:$|and\b|,)"
)


def searches(words: Sequence[str]) -> bool:
    """Whether the exit code of the command tells whether it found something."""
    return bool(re.fullmatch(_SEARCHES, _program(words)))


def _program(words: Sequence[str]) -> str:
    name = words[0].rpartition("/")[2] if words else ""
    own = next((word for word in words[1:] if not word.startswith("-")), "")
    return f"git {own}" if name == "git" else name


def about(before: str, after: str, words: Sequence[str]) -> str:
    """What is wrong with a sentence around a command that is about its output; empty where it is about success."""
    leads = before.rstrip().endswith(":") and not after.strip(" .)")
    lead = re.split(_END, f"{before.rstrip().removesuffix('(run:')} ")[-1 if before.strip() else 0].rstrip(" :")
    rest = re.split(_END, after)[0]
    bare, left = (re.sub(CLEAN, " ", part) for part in (lead, rest))
    is_list = bool(re.fullmatch(_LISTS, _program(words))) and not any(re.fullmatch(_DECIDES, one) for one in words)
    if searches(words) or is_list:
        if re.search(_LACKS, f"{lead} | {rest}" if searches(words) else f"{bare} | {left}"):
            return NOTHING
        if searches(words):
            return ""
    if re.search(_NOTHING, bare) or re.search(_NOTHING, left) or (not leads and re.match(_NOTHING_AFTER, left)):
        return NOTHING
    if leads or re.match(_SUCCEEDS, rest):
        return ""
    is_said = re.match(_SAYS, left) and not (left != rest and re.fullmatch(rf"{_SAYS}\W*", left))
    return SOMETHING if is_said or re.search(_PRINTED_BEFORE, bare) else ""
