"""The words and marks by which people say how far a piece of work is, in the usual spellings and languages."""

from __future__ import annotations

import re

from holdfast.systems.compaction.detection import prose

RUNNING, DONE, OPEN, HELD, DROPPED, OTHER = "in_progress", "completed", "not_started", "blocked", "cancelled", "other"
_WORDS = {
    RUNNING: "in progress|in work|active(?:ly)?|on ?going|under ?way|wip|work in progress|working|started|running|doing"
    "|executing|implementing|in development|in bearbeitung|in arbeit|läuft|laufend|begonnen"
    "|en cours|en curso|en progreso"
    "|em andamento|in corso|進行中|作業中|进行中|진행 ?중|в работе|в процессе",
    DONE: "completed?|done|finished|closed|abgeschlossen|fertig|erledigt|beendet|terminée?|achevée?|finie?"
    "|completad[oa]|terminad[oa]|finalizad[oa]|conclu[ií]d[oa]|completat[oa]|完了|已?完成|완료|завершен[оа]?|готово",
    DROPPED: "cancel+ed|abandoned|superseded|dropped|withdrawn|rejected|wont do|won't do|obsolete|abgebrochen|verworfen"
    "|annulée?|abandonnée?|cancelad[oa]|annullat[oa]|中止|取消|已取消|취소|отменен[оа]?",
    OPEN: "not (?:yet )?(?:started|begun)|pending|to ?do|planned|proposed|draft|backlog|queued|nicht begonnen|offen"
    "|geplant|à faire|pas commencée?|pendiente|no iniciad[oa]|未着手|未开始|예정|не начат[оа]?",
    HELD: "blocked|on hold|hold|paused?|waiting|awaiting|stalled|suspended|stopped|deferred|postponed|in review"
    "|(?:needs?|under|ready for|awaiting)? ?review|blockiert|pausiert|wartet|angehalten|in prüfung|bloquée?|en pause"
    "|en attente|bloquead[oa]|en pausa|en espera|bloccat[oa]|保留中?|中断中?|阻塞|暂停|보류"
    "|заблокирован[оа]?|приостановлен[оа]?",
}
MARKS = {
    **dict.fromkeys("✅☑✔", DONE),
    **dict.fromkeys("🔄🟡🚧", RUNNING),
    **dict.fromkeys("⬜🔲☐", OPEN),
    **dict.fromkeys("⏸🚫⛔🛑🔴", HELD),
    "❌": DROPPED,
}
"""What a mark says by itself. Others, such as ⏳ and 🟢, are used for several things, and say nothing."""
BOXES = {" ": OPEN, "x": DONE, "✓": DONE, "✔": DONE, "~": RUNNING, "/": RUNNING, ">": RUNNING, "-": DROPPED}
LABEL = r"(?:status|statut|estado|stato|ステータス|状態|状态|상태|статус)"
_HEDGES = (
    r"pending|except|but\b|awaiting|waiting|remain|review|in progress|blocked|to ?do\b|partial|outstanding|left\b"
    r"|missing|still|open\b|next\b|until|not\b|% |\b(?:phase|step|stage|milestone|task)s?\b"
)
_EXCEPTED = (
    r"[?？]|except|\bbut\b|кроме|außer|bis auf|sauf|excepto|salvo|tranne|以外|除了|제외|in part|part(?:ly|ial)"
    r"|teilweise|still|continu|trying|\bnow\b"
)
"""What takes a part of a word for an end back."""
_GOES_ON = r"(?:on|at|as|since|by|in|and|am|le|el|il)\b|\W|$"
_WHY = rf"(?:for|due|because|per|durch|wegen|von|por|par|из-за)\b|{_GOES_ON}"
_ANSWERED_NO = r"\s*[:：=?]\s*(?:no|not yet|false|nein|non|não|нет|否)(?![^\W_])"
_PARTLY = r"[0-9] ?%|almost|nearly|mostly|partial|teilweise|fast fertig|\b(?:phase|step|stage|milestone)s? ?[0-9]"


_DENIED = (
    r"(?:not|isn't|nicht|noch nicht|pas(?: encore)?|no|não|non|не) (?:yet )?(?:quite |fully )?"
    rf"(?:{_WORDS[DONE]})(?: yet)?(?![^\W_])"
    r"|(?:incomplete|unfinished|unvollständig|unfertig|incomplète?|incomplet[oa]|未完了?|未完成|미완료)(?![^\W_])"
)
"""That something is not over: it continues, unless more is said."""


def said(text: str) -> str:
    """What a status says: one of the words above, `other` where it is none of them, empty where it says nothing.

    A line with several alternatives explains them. That something is complete or given up has to be said without
    reservation, and of the whole.
    """
    marks = {c for c in text if c in MARKS}
    plain = _plain(text)
    if len(marks) > 1 or _is_choice(plain):
        return ""
    if (denied := re.match(_DENIED, plain)) and not marks:
        rest = plain[denied.end() :].strip(" ,;:.(–—")
        return said(rest) if rest else RUNNING
    plain = re.sub(r"^(?:approved|accepted|genehmigt)\s*(?:[,;:&]|and\b|und\b)\s*(?=\w)", "", plain)
    mark = MARKS[marks.pop()] if marks else ""
    if not plain:
        return HELD if mark == DROPPED else mark
    for word, known in _WORDS.items():
        match = re.match(rf"(?:100 ?% ?)?(?:{known})(?![^\W_])", plain)
        if match and word in (DONE, DROPPED) and re.match(_ANSWERED_NO, plain[match.end() :]):
            return RUNNING
        if match and (word not in (DONE, DROPPED) or _is_whole(word, plain[match.end() :])):
            return (mark if word == DONE and mark in (RUNNING, HELD) else word) or word
        if match:
            return OTHER
    if re.search(r"(?<![^\W_])(?:blocked|on hold|paused|waiting|deferred)(?![^\W_])", plain):
        return HELD
    return RUNNING if re.search(_PARTLY, plain) else OTHER


def is_word(text: str) -> bool:
    """Whether a text is nothing but a word for a status."""
    plain = _plain(text)
    return any(re.fullmatch(known, plain) for known in _WORDS.values()) or plain in ("current", "skipped")


def _plain(text: str) -> str:
    text = re.sub(r"~~.*?~~", " ", text).casefold()
    text = re.sub(rf"({_WORDS[DROPPED]})\s+-+\s", r"\1, ", text)
    text = "".join(" " if c in "*_`~-" or (ord(c) > 0x2190 and not c.isalpha()) else c for c in text)
    return prose.unquoted(" ".join(re.sub(r"\s#\s.*", "", text).split()).strip(" |:："))


def _is_choice(plain: str) -> bool:
    parts = [part.strip() for part in re.split(r"[|/]", plain)]
    return len(parts) > 1 and all(map(is_word, parts))


def _is_whole(word: str, rest: str) -> bool:
    """Whether what follows a word for an end leaves it one. Why something was given up is no reservation."""
    follows, hedges = (_GOES_ON, _HEDGES) if word == DONE else (_WHY, "(?!)")
    return bool(re.match(follows, rest.strip())) and not re.search(rf"{hedges}|{_EXCEPTED}", rest)
