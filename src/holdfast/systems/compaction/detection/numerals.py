"""Numbers of phases that are not written in digits: Roman, words, letters, keycaps, and those before their noun."""

from __future__ import annotations

import re

KINDS = (
    "phase|fase|フェーズ|阶段|階段|段階|단계|этап",
    "milestone|meilenstein|m(?=[0-9])",
    "stage|stufe|étape|etape|etapa",
    "sprint|iteration",
    "part|teil|partie",
    "step|schritt|ステップ|步骤|步|шаг",
    "task|aufgabe|tâche",
)
"""What plans call their parts, the largest first: a step may be a part of a phase."""
KIND = "|".join(KINDS)
_COUNTED = (
    "one|first|eins?|erste[rs]?|une?|premi[eè]re?|primer[oa]?|prim[oa]|перв(?:ый|ая)|一|일",
    "two|second|zwei|zweite[rs]?|deux|deuxième|seconde?|dos|segund[oa]|due|втор(?:ой|ая)|二|이",
    "three|third|drei|dritte[rs]?|trois|troisième|tres|tercer[oa]?|tre|terz[oa]|трет(?:ий|ья)|三|삼",
    "four|fourth|vier|vierte[rs]?|quatre|quatrième|cuatro|cuart[oa]|quattro|quart[oa]|четвёрт(?:ый|ая)|四|사",
    "five|fifth|fünf|fünfte[rs]?|cinq|cinquième|cinco|quint[oa]|пят(?:ый|ая)|五|오",
    "six|sixth|sechs|sechste[rs]?|sixième|seis|sext[oa]|шест(?:ой|ая)|六|육",
    "seven|seventh|sieben|siebte[rs]?|sept|septième|siete|седьм(?:ой|ая)|七|칠",
    "eight|eighth|acht|achte[rs]?|huit|huitième|ocho|восьм(?:ой|ая)|八|팔",
    "nine|ninth|neun|neunte[rs]?|neuf|neuvième|nueve|девят(?:ый|ая)|九|구",
    "ten|tenth|zehn|zehnte[rs]?|dix|dixième|diez|десят(?:ый|ая)|十|십",
    "eleven|eleventh|elf|elfte[rs]?|onze|once|十一",
    "twelve|twelfth|zwölf|zwölfte[rs]?|douze|doce|十二",
)
_WORD = "|".join(reversed(_COUNTED))
_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV")
_LETTERS = "ABCDEFGH"
_END = r"(?=\s*(?:$|[:：.,)\]|*_/–—(\[-]|[\u2190-\u2bff\U0001f000-\U0001faff])|\s+of\b)"
_NUMERAL = rf"(?:(?i:{_WORD})(?![^\W_])|[IVX]{{2,5}}(?![^\W_])|[A-HIVX]{_END})"
_LEAD = r"((?:[^\w\[]|\[.\])*+)"
_BEHIND = rf"((?i:{KIND}))\s+#?({_NUMERAL})"
_BEFORE = (
    rf"^{_LEAD}(?:[第제]\s*)?([0-9]{{1,3}}(?:st|nd|rd|th)?|(?i:{_WORD}))"
    rf"(?:(?<=[一-龥일이삼사오육칠팔구십])|(?<=[0-9])|(?<=[a-z])\s+)\s*((?i:{KIND}))(?![a-z])"
)


def has_letters(lines: list[str]) -> bool:
    """Whether the parts of a plan are called A, B and so on: then a C is no Roman number."""
    return any(re.match(rf"{_LEAD}(?i:{KIND})\s+A{_END}", line) for line in lines)


def in_digits(line: str, letters: bool = False) -> str:
    """A line with the number of its phase in digits behind the noun; a line without one as it is."""
    line = re.sub(r"([0-9])\ufe0f?\u20e3\s*(?=\w)", r"\1. ", line)
    line = re.sub(r"([0-9])\ufe0f?\u20e3", r"\1", line)
    line = re.sub(_BEFORE, lambda found: f"{found[1]}{found[3]} {number(found[2]) or found[2]}", line, count=1)
    return re.sub(rf"(?<![^\W_]){_BEHIND}", lambda found: _digits(found, letters), line)


def _digits(found: re.Match[str], letters: bool) -> str:
    count = number(found[2], letters)
    return f"{found[1]} {count}" if count else found[0]


def number(text: str, letters: bool = False) -> int:
    """The number that a word, a Roman number, or a letter means; zero where it is none."""
    if letters and text in _LETTERS:
        return _LETTERS.index(text) + 1
    if text in _ROMAN:
        return _ROMAN.index(text) + 1
    if digits := re.fullmatch(r"([0-9]{1,4})(?:st|nd|rd|th)?", text):
        return int(digits[1])
    return next((n for n, known in enumerate(_COUNTED, 1) if re.fullmatch(known, text, re.IGNORECASE)), 0)
