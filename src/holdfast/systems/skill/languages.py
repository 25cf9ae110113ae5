"""Names of sections in other languages than English: what must hold, what is set aside, and lists of tasks.

They are compared without accents, so each is found with them and without.
"""

from __future__ import annotations


def without_accents(text: str) -> str:
    """The same letters without accents; signs that are not letters with accents stay as they are."""
    import re
    from unicodedata import normalize

    return normalize("NFC", re.sub("[\u0300-\u036f]", "", normalize("NFD", text)))


_CRITERIA = (
    r"(?:akzeptanz|abnahme|erfolgs)?kriterien",
    r"criteres? (?:d'accept(?:ation|ance|abilite)|de (?:succes|reussite|validation|recette))",
    r"criterios? de (?:aceptacion|aceptabilidad|exito|validacion|aceitacao|aceite|sucesso|validacao)",
    r"criteri(?:o)? di (?:accettazione|accettabilita|successo|completamento)",
    r"(?:acceptatie|succes)criteria|aanvaardingscriteria",
    r"kryteria (?:akceptacji|akceptacyjne|odbioru|sukcesu|ukonczenia)|warunki akceptacji",
    r"akceptacni kriteria|kriteria prijeti|acceptanskriterier|accept(?:kriterier|ansekriterier)|akseptansekriterier",
    r"kabul (?:kriterleri|olcutleri)",
    r"(?:критерии|условия) (?:приемки|принятия|готовности|успеха|завершения)",
    r"критерії (?:приймання|прийняття|готовності)",
    r"(?:验收|驗收|接受|完成|成功)(?:标准|標準|条件|條件|准则)",
    r"(?:受け?入れ?|完了|合格|成功|達成)(?:の)?(?:基準|条件)",
    r"(?:인수|수용|완료|승인|성공) ?(?:조건|기준)",
)
_ASIDE = (
    r"(?:ausserhalb|außerhalb) des (?:umfangs|scopes)|nicht im (?:umfang|scope)|nicht[- ]?ziele|spater|zukunft",
    r"(?:offene )?fragen|abhangigkeiten|risiken|ideen",
    r"hors (?:du )?(?:perimetre|scope|champ)|non[- ]objectifs|plus tard|questions ouvertes|dependances|risques|idees",
    r"definition (?:de|du) (?:termine|fini)|definicion de (?:hecho|terminado|listo)|definicao de pronto",
    r"fuera de(?:l)? alcance|no objetivos|mas adelante|preguntas(?: abiertas)?|dependencias|riesgos",
    r"fora d[eo] (?:escopo|ambito)|nao objetivos|mais tarde|perguntas(?: em aberto)?|riscos|ideias",
    r"fuori (?:ambito|scope)|non obiettivi|piu avanti|in futuro|domande(?: aperte)?|dipendenze|rischi|idee",
    r"buiten (?:de )?scope|niet[- ]doelen|openstaande vragen|open vragen|afhankelijkheden|risico's|ideeen",
    r"poza zakresem|pozniej|(?:otwarte )?pytania|zaleznosci|ryzyka|pomysły",
    r"вне (?:рамок|скоупа|объема)(?: .*)?|не входит(?: .*)?|потом|позже|(?:открытые )?вопросы|зависимости|риски|идеи",
    r"(?:超出)?范围(?:之)?外|超出范围|不在范围内|範圍外|非目标|以后|以後|未来|(?:开放|待解决)?问题|依赖|风险|完成(?:的)?定义",
    r"(?:対象|スコープ|範囲)外|非(?:目標|ゴール)|将来|今後(?:の課題)?|リスク|依存関係|未解決の?(?:質問|問題)|完了の定義",
    r"범위 ?(?:외|밖)|비목표|나중에|향후|질문|의존성|위험",
)
_BEFORE = r"(?:[\w/-]+ ){0,2}"
_LISTS = (
    r"(?:teil|unter)?aufgaben(?:liste)?|arbeitspakete|checkliste",
    r"(?:liste (?:des|de) )?(?:sous-)?taches(?: (?:a (?:faire|effectuer|realiser)|techniques))?",
    r"(?:lista de )?(?:sub)?(?:tareas|tarefas)(?: (?:pendientes|pendentes|tecnicas))?",
    r"(?:elenco |lista )?(?:delle |di |dei )?(?:attivita|compiti)(?: da (?:fare|svolgere))?",
    r"(?:deel)?taken(?:lijst)?|actiepunten|te doen",
    r"(?:lista )?(?:pod)?(?:zadania|zadan)|do zrobienia",
    r"ukoly|uppgifter|op+gaver|gorevler|yapılacaklar(?: listesi)?",
    r"(?:список )?(?:под)?задач[аи]?|что (?:нужно )?сделать|к выполнению|чек-?лист|завдання",
    r"(?:开发|開發|实施|实现|子)?(?:任务|任務|待办|待辦)(?:事项|事項|列表|清单|清單|分解)?",
    r"(?:检查|檢查)(?:清单|清單|列表)",
    r"(?:実装|開発|サブ)?タスク(?:一覧|リスト)?|やること(?:リスト)?|作業(?:項目|一覧|リスト)|チェックリスト",
    r"(?:하위 )?(?:작업|태스크)(?: ?목록)?|할 ?일(?: ?목록)?|체크리스트",
)
_WORK = (
    r"umsetzung(?:splan|sschritte)?|implementierung(?:splan|sschritte)?|schritte|zu (?:tun|erledigen)",
    r"a faire|etapes|mise en (?:œ|oe)uvre|(?:plan d')?(?:implementation|action)|liste de (?:controle|verification)",
    r"por hacer|pendientes|pasos|(?:plan de )?implementacion|lista de (?:verificacion|comprobacion|control)",
    r"a fazer|afazeres|passos|etapas|(?:plano de )?implementacao|lista de verificacao",
    r"da fare|passi|passaggi|(?:piano di )?implementazione|lista di controllo",
    r"stappen(?:plan)?|implementatie(?:plan)?",
    r"kroki|(?:plan )?(?:implementacji|wdrozenia)|implementacja|lista kontrolna",
    r"шаги|сделать|реализация|план (?:реализации|работ)",
    r"(?:实施|实现|實施|實作)(?:步骤|步驟|计划|計劃)?|步骤|步驟",
    r"実装(?:手順|計画|内容)?|手順|ステップ|作業内容",
    r"구현(?: ?(?:계획|단계))?|단계",
)
CRITERIA, ASIDE, LISTS = (without_accents("|".join(words)) for words in (_CRITERIA, _ASIDE, _LISTS))
TASKS = f"{_BEFORE}(?:{LISTS})|{without_accents('|'.join(_WORK))}"
_STATEMENTS = (
    r"ich (?:habe|stimme|bestatige|bin (?:einverstanden|bereit))\b.*",
    r"j'(?:ai (?:lu|cherche|verifie)|accepte)\b.*|je (?:confirme|m'engage)\b.*",
    r"(?:yo )?he (?:leido|buscado|verificado|comprobado)\b.*|acepto\b.*",
    r"eu (?:li|procurei|verifiquei|concordo)\b.*|ho (?:letto|cercato|verificato)\b.*",
    r"ik heb\b.*(?:gelezen|gezocht)\b.*|(?:przeczytałem|przeczytałam|sprawdziłem|sprawdziłam)\b.*",
    r"я (?:прочитал|искал|проверил|согласен)\w*\b.*",
    r"我(?:已|確認|确认|同意|愿意|願意|搜索|阅读).*|저는 .*(?:읽었|확인했|동의).*",
)
STATEMENTS = without_accents("|".join(_STATEMENTS))
"""What the author of an issue says of it, as forms for issues ask for. `LISTS` mean nothing but tasks."""
