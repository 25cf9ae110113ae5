"""The slug that a title suggests: its words in the letters of ASCII, whatever script they are written in."""

from __future__ import annotations

from holdfast.plain.digest import digest
from holdfast.systems.gated.words import LONGEST_SLUG, is_slug

_LATIN = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i"}
_GREEK = "αa βb γg δd εe ζz ηi θth ιi κk λl μm νn ξx οo πp ρr σs ςs τt υy φf χch ψps ωo"
_CYRILLIC = (
    "аa бb вv гg дd еe жzh зz иi йi кk лl мm нn оo пp рr сs тt уu фf хkh цts чch шsh щshch ъ ыy ь эe юyu яya"
    " єye іi їi ґg ђdj јj љlj њnj ћc џdz"
)
_SPELLED = {**_LATIN, **{pair[0]: pair[1:] for pair in f"{_GREEK} {_CYRILLIC}".split(" ")}}
_ASCII = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_OTHER = "feature"
_MARK = 8


def slug_of(title: str) -> str:
    """The slug of a title; empty when it has none."""
    found = spelled(title)
    return found if is_slug(found) else ""


def spelled(title: str) -> str:
    """What the slug of a title would be, always the same; empty when nothing in it can be read.

    Letters that have no spelling in ASCII are replaced by the beginning of a hash of the whole title, so that two such
    titles differ.
    """
    letters, is_whole = _spelled(title)
    found = "-".join(part for part in letters.split("-") if part)
    if not is_whole:
        mark = digest(" ".join(title.split()).encode())[:_MARK]
        return f"{_cut(found, LONGEST_SLUG - _MARK - 1) or _OTHER}-{mark}"
    return _cut(found, LONGEST_SLUG)


def _spelled(title: str) -> tuple[str, bool]:
    """The title in ASCII, with dashes for all that is no letter, and whether every letter is in it."""
    from unicodedata import combining, normalize

    found, is_whole = [], True
    for char in normalize("NFC", title.casefold()):
        whole = (char,) if char in _SPELLED else normalize("NFKD", char).casefold()
        for part in "".join(_SPELLED.get(one, one) for one in whole):
            if part in _ASCII:
                found.append(part)
            elif not combining(part):
                found.append("-")
                is_whole = is_whole and not part.isalnum()
    return "".join(found), is_whole


def _cut(text: str, most: int) -> str:
    """As many whole words as fit."""
    if len(text) <= most:
        return text
    cut = text.rfind("-", 0, most + 1)
    return text[: cut if cut > 0 else most]
