"""Whether a sentence in another language than English seems to mean the opposite of the command in it.

Words are compared without accents. English is read word by word elsewhere; here a doubt is enough.
"""

from __future__ import annotations

import re
from unicodedata import normalize

DOUBT = "the sentence seems to negate its command: the criterion is reported, not run"


def _plain(text: str) -> str:
    plain = re.sub("[\u0300-\u036f]", "", normalize("NFD", text.casefold()))
    return normalize("NFC", plain).translate({ord("ł"): "l", ord("ø"): "o", ord("’"): "'"})


def _either(spaced: tuple[str, ...], unspaced: str) -> str:
    return rf"\b(?:{_plain('|'.join(spaced))})\b|{_plain(unspaced)}"


_NO_OF_SPANISH = (
    r"no (?:se|debe\w*|hay|ha[ny]?|es|esta\w*|tiene\w*|puede\w*|ejecut\w*|us(?:ar|es?|en|an)|llam\w*|corr[aeio]\w*"
    r"|lan[zc]\w*|fall(?:a|an|ar|e|en)|pas(?:a|an|ar|e|en)|funcion\w*|encuentr\w*|devuelv\w*|termin(?:a|an|ar|e|en))"
)
_NON_OF_ITALIAN = (
    r"non (?:si|deve|devono|viene|vengono|puo|possono|e|sono|ha|hanno|ci|eseg\w*|us(?:a|are|ate)|lanci\w*|chiam\w*"
    r"|fall\w*|pass[aoi]\w*|funzion\w*|trov\w*|restitu\w*|termin\w*)"
)
_NOT = (
    r"nicht|nie|niemals|kein(?:e[nrms]?)?|verboten|(?:an)?statt|anstelle",
    r"pas|jamais|interdit\w*|ne (?:rien|plus)|n(?:e |')\w+ (?:plus|rien|aucune?)|au lieu d[eu']\w*",
    _NO_OF_SPANISH,
    r"nunca|prohibid\w*|(?:en|em) (?:vez|lugar) de|tampoco",
    r"nao|jamais|proibid\w*|tampouco",
    _NON_OF_ITALIAN,
    r"mai|vietat\w*|invece di",
    r"niet|nooit|geen|in plaats van",
    r"nie|nigdy|zad(?:en|na|ne|nych)|zamiast|zabronion\w*|zakazan\w*",
    r"не|ни|нет|никогда|нельзя|запрещ\w*|вместо|без запуска",
    r"ne(?:smi|spoust\w*|pouziv\w*|projde|prochazi)|nikdy|inte|ikke|ikkje|aldrig|aldri|aldrei|icke",
)
_NOT_UNSPACED = (
    r"不(?!仅|僅|但|错|錯)|没|沒|未|無法|无法|禁止|勿|别|而非"
    r"|ない|なく|なし|ません|せず|禁じ|代わりに|않|못|금지|말 ?것|대신"
)
_FAILS = (
    r"fehl(?:schlag\w*|geschlagen)?|scheiter\w*|bricht ab|abbricht",
    r"echou\w*|echec\w*|fall(?:a|an|ar|e|en)|fracas\w*|falh(?:a|am|ar|e|em)|fallisc\w*|fallire|fallit\w*",
    r"mislukk?\w*|faalt|falen|zawodz\w*|zawiedz\w*|bled(?:em|na)|niepowodzeni\w*",
    r"падает|падают|упад\w*|провал\w*|ошибкой|неудач\w*|selze|selhav\w*|misslyck\w*|fejler|feiler|mislykkes",
)
_FAILS_UNSPACED = r"失败|失敗|报错|報錯|出错|エラーに|실패"
_RUNS = (
    r"(?:aus|auf)?ge(?:fuhrt|rufen|startet)\w*|ausfuhr\w*|aufruf\w*|start\w*|benutz\w*|verwend\w*|genutzt|nutzen|lauf\w*",
    r"execut\w*|lance\w*|utilis\w*|appel\w*|ejecut\w*|us(?:ar|a|ado|ate|are|e)|llam\w*|corr\w*|chamad?\w*|rod(?:ar|e|a)",
    r"esegu\w*|lanci\w*|chiam\w*|(?:uit)?(?:ge)?voer\w*|gebruik\w*|draai\w*|uruch\w*|wykon\w*|uzyw\w*|uzyc\w*",
    r"запуск\w*|запущ\w*|выполн\w*|использ\w*|вызыв\w*|spoust\w*|kor\w*|brug\w*|bruk\w*|anvand\w*",
)
_RUNS_UNSPACED = r"运行|運行|执行|執行|使用|调用|調用|実行|使わ|呼び出|起動|実施|실행|사용|호출"
_CLEAN = (
    r"\b(?:keine?n?|ohne|aucune?|sans|sin|ningun\w*|sem|nenhum\w*|senza|nessun\w*|zonder|geen|bez|zadnych|без|нет"
    r"|inga|utan|uden|ingen) (?:\w+ )??(?:fehler\w*|warnung\w*|erreurs?|avertissements?|error(?:es|s|i)?|erros?"
    r"|advertencias?|avis\w*|avvis\w*|fout\w*|waarschuwing\w*|bled\w*|ostrzezen\w*|ошиб\w*|предупрежд\w*|fel|fejl"
    r"|feil|chyb\w*)"
    r"|(?:没有|沒有|无|無)(?:任何)?(?:错误|錯誤|警告|问题|問題)"
    r"|(?:エラー|警告|問題)(?:が|は|も)?(?:なし|なく|ない|ありません|出ない)"
    r"|(?:오류|경고)(?:가|는)? ?(?:없\w*)"
)
_EMPTY = (
    r"nichts|leer|keinerlei|rien|vide|nada|vaci[ao]s?|vazi[ao]s?|niente|nulla|vuot[aoei]|niets|leeg|nic|pust[aey]?",
    r"ничего|пуст\w*|prazdn\w*|tom(?:t|ma)?|intet|ingenting",
)
_EMPTY_UNSPACED = r"空|什么都|何も|아무것도|비어"
_END = r"[.;!?。；！？]"


_NOT_FORM, _FAILS_FORM = _either(_NOT, _NOT_UNSPACED), _either(_FAILS, _FAILS_UNSPACED)
_EMPTY_FORM = _either(_EMPTY, _EMPTY_UNSPACED)
_RUNS_FORM, _CLEAN_FORM = _either(_RUNS, _RUNS_UNSPACED), _plain(_CLEAN)


def is_doubtful(before: str, after: str, *, search: bool = False) -> bool:
    """Whether the words around a command seem to say that it is not run, does not pass, or finds nothing.

    What is before a colon says what the command shows, and may well be that something does not happen; but a
    `search` passes where it finds something.
    """
    leads = before.rstrip().endswith((":", "："))
    lead = re.split(_END, _plain(before).rstrip(" :："))[-1]
    around = re.sub(_CLEAN_FORM, " ", f"{lead} {re.split(_END, _plain(after))[0]}")
    negates = bool(re.search(_NOT_FORM, around))
    if re.search(_EMPTY_FORM, around) and (search or not leads):
        return True
    if search and negates:
        return True
    if leads and not after.strip(" ."):
        is_run = bool(re.search(_RUNS_FORM, around))
        return (negates and is_run) or bool(re.search(rf"(?:{_FAILS_FORM}|{_NOT_FORM})\W*$", around))
    return negates or bool(re.search(_FAILS_FORM, around))
