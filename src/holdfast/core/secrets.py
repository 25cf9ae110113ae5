"""Likely secrets in texts: what they look like, and how a text is without them.

A pattern begins with what only such a secret begins with, or with a key that says so before a value that nobody would
write by hand. Hashes, ids, names of tests and placeholders are none. No pattern can match one text in two ways, so the
time is linear in the text; and a pattern is only tried where a word is there that it needs.
"""

from __future__ import annotations

from _collections_abc import Iterator, Mapping

from holdfast.core.definition import Check
from holdfast.core.state import Proof
from holdfast.core.value import Any, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

HELD = 32 << 10
"""How much of a text has to be seen around a place, to know whether it is within a secret."""
_ATOMS = frozenset({int, float, bool, type(None)})
_WEAK = frozenset(("admin", "guest", "pass", "passwd", "password", "postgres", "pwd", "root", "secret", "test", "user"))
_AFTER_KEY = r"""\\?["']?[ \t]{0,3}(?:=>|:=|=(?!=)|:(?![:/]))[ \t]{0,3}"""
_VALUE = (
    r"""(?:\\?"(?P<double>[^"\s\\]{%d,300})|\\?'(?P<single>[^'\s\\]{%d,300})"""
    r"""|(?P<bare>[^\s"'`,;&<>(){}\[\]|\\]{%d,300})(?![\w(\[.]))"""
)
_BASE64 = r"[A-Za-z0-9+/=]"
_BEGIN = "-----BEGIN "
_LINE_END = r"""(?:\\[nr]|[\s"',+])"""

_TOKENS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("AWS access key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}(?![A-Z0-9])"),
    ("GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    ("GitHub token", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{36,255}"),
    ("GitLab token", ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-", "glagent-"),
     r"gl(?:pat|dt|rt|ptt|cbt|soat|agent)-[\w.-]{20,300}"),
    ("Slack token", ("xox", "xapp-"), r"(?:xox[abeoprs](?:\.xox[bp])?|xapp)-[\w-]{10,300}"),
    ("Slack webhook", ("hooks.slack.com/",), r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/]{20,200})"),
    ("Stripe key", ("_live_", "_test_"), r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}"),
    ("Stripe key", ("whsec_",), r"whsec_[A-Za-z0-9]{24,255}"),
    ("Anthropic key", ("sk-ant-",), r"sk-ant-[a-z0-9]{3,12}-[\w-]{20,300}"),
    ("OpenAI key", ("sk-",), r"sk-(?:(?:proj|svcacct|admin)-[\w-]{20,300}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})"),
    ("Google key", ("AIza",), r"AIza[\w-]{35}(?![\w-])"),
    ("Google key", ("GOCSPX-", "ya29."), r"(?:GOCSPX-|ya29\.)[\w-]{20,1000}"),
    ("npm token", ("npm_",), r"npm_[A-Za-z0-9]{36}(?!\w)"),
    ("PyPI token", ("pypi-AgE",), r"pypi-AgE[\w-]{50,1000}"),
    ("Hugging Face token", ("hf_",), r"hf_[A-Za-z]{34}(?!\w)"),
    ("SendGrid key", ("SG.",), r"SG\.[\w-]{22}\.[\w-]{43}(?![\w-])"),
    ("Docker token", ("dckr_",), r"dckr_(?:pat|oat)_[\w-]{27,100}"),
    ("JWT", (".eyJ",), r"(?<![\w-])eyJ[\w-]{10,4000}\.eyJ[\w-]{10,8000}\.[\w-]{10,4000}"),
)  # fmt: skip
"""Tokens with a beginning of their own: kind, words of which one is there, and the pattern."""

_OTHERS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("private key", ("private key",),
     (rf"{_BEGIN}[A-Z0-9 ]{{0,30}}PRIVATE KEY(?: BLOCK)?-----{_LINE_END}{{0,12}}"
     rf"(?:[A-Za-z-]{{1,30}}: [^\n]{{0,200}}\n\s{{0,4}}){{0,4}}(?:{_BASE64}{{16,80}}{_LINE_END}{{0,12}}){{1,400}}"
     rf"(?:{_BASE64}{{0,80}}{_LINE_END}{{0,12}}-----END [A-Z0-9 ]{{0,30}}PRIVATE KEY(?: BLOCK)?-----)?")),
    ("URL password", ("://",), r"""://(?P<user>[^\s/:@"'<>]{0,100}):([^\s/@"'<>\[\]]{3,300})@"""),
    ("netrc password", ("passw",),
     r"\b(?:machine\s{1,9}\S{1,200}|default)\s{1,9}login\s{1,9}(?P<user>\S{1,100})\s{1,9}password\s{1,9}(\S{3,300})"),
    ("Authorization header", ("bearer", "authorization"),
     rf"(?:authorization{_AFTER_KEY}\\?[\"']?(?:basic|bearer|token)|\bbearer)[ \t]{{1,3}}([\w.~+/=-]{{12,8000}})"),
    ("password", ("passw", "passphrase", "pwd"), rf"(?:passw(?:or)?d|passphrase|pwd){_AFTER_KEY}{_VALUE % (6, 6, 6)}"),
    ("secret", ("secret", "token", "api", "access", "account", "private", "credential"),
     (rf"(?:secret(?:[_-]?(?:access)?[_-]?key)?|token|api[_-]?key|(?:shared)?access[_-]?key|account[_-]?key"
     rf"|private[_-]?key|credentials?){_AFTER_KEY}{_VALUE % (16, 16, 16)}")),
)  # fmt: skip
"""The rest, in which upper and lower case mean the same."""
_KEYS = frozenset(word for _, words, _ in _OTHERS for word in words)
_WORDS = tuple({word.lower() for _, words, _ in (*_TOKENS, *_OTHERS) for word in words})
_compiled: dict[str, re.Pattern[str]] = {}


class Found(Value):
    """A likely secret in a text: from where to where, and of which kind."""

    start: int
    end: int
    kind: str


class Secrets(Value):
    """What counts as a secret in a project, and what is done about it."""

    redact: bool = True
    prefixes: Mapping[str, str] = {}
    """The project's own tokens: what each is called, and what it begins with."""
    allow: tuple[str, ...] = ()
    """Files, or patterns with `*` and `?`, whose lines may be committed whatever they look like."""

    def find(self, text: str) -> list[Found]:
        """The likely secrets in a text, in their order, none of them within another one."""
        lower = text.lower()
        if not _is_hinted(lower) and not any(prefix in text for prefix in self.prefixes.values()):
            return []
        found = list(self._found(text, lower))
        found.sort(key=lambda one: (one.start, -one.end))
        kept = found[:1]
        for one in found[1:]:
            if one.start >= kept[-1].end:
                kept.append(one)
        return kept

    def _found(self, text: str, lower: str) -> Iterator[Found]:
        for kind, words, pattern in _TOKENS:
            if any(word in text for word in words):
                yield from _matches(kind, rf"(?<![A-Za-z0-9]){pattern}", text)
        for kind, prefix in self.prefixes.items():
            if prefix in text:
                yield from _matches(kind, rf"(?<![A-Za-z0-9]){_literal(prefix)}[\w-]{{8,300}}", text)
        for kind, words, pattern in _OTHERS:
            if any(word.lower() in lower for word in words):
                yield from _matches(kind, f"(?i){pattern}", text)

    def without(self, text: str, counts: dict[str, int]) -> str:
        """The text with a mark in place of each likely secret; `counts` is how many of which kind there were."""
        return marked(text, self.find(text), counts)

    def cleaned(self, value: Any, counts: dict[str, int], key: str = "") -> Any:
        """Any value with its texts redacted; itself, where there is nothing to redact.

        A text below a key that says secret is judged with it. What a check runs stays as it is: it would not run.
        So does a proof: it would not hold, and what it states was redacted before it was signed.
        """
        if isinstance(value, str):
            if key and _says_secret(key) and " " not in value:
                new = self.without(f"{key}={value}", counts).removeprefix(f"{key}=")
                return value if new == value else new
            return self.without(value, counts) if len(value) > 9 else value
        if type(value) in _ATOMS or isinstance(value, (Check, Proof)):
            return value
        if isinstance(value, Value):
            fields = {name: self.cleaned(old, counts) for name, old in value.__dict__.items()}
            changed = {name: new for name, new in fields.items() if new is not value.__dict__[name]}
            return value.replace(**changed) if changed else value
        if isinstance(value, Mapping):
            items: dict[Any, Any] = {}
            for name, old in value.items():
                named = self.cleaned(name, counts)
                items[f"{named} {len(items)}" if named in items else named] = self.cleaned(old, counts, str(name))
            return items if any(value.get(name, items) is not new for name, new in items.items()) else value
        if isinstance(value, (tuple, list)):
            each = [self.cleaned(old, counts) for old in value]
            return type(value)(each) if any(one is not old for one, old in zip(each, value, strict=True)) else value
        return value


DEFAULT = Secrets()


def harmless(name: str) -> str:
    """A name that a host gives: empty where it has a likely secret in it, as a host is never stopped for it."""
    return "" if name and DEFAULT.find(name) else name


def marked(text: str, found: list[Found], counts: dict[str, int]) -> str:
    """A text with a mark in place of each secret that was found in it."""
    for one in reversed(found):
        text = f"{text[: one.start]}[redacted: {one.kind}]{text[one.end :]}"
        counts[one.kind] = counts.get(one.kind, 0) + 1
    return text


def told(counts: Mapping[str, int]) -> str:
    """What was redacted, as a sentence."""
    return f"redacted, as likely secrets: {', '.join(f'{number} × {kind}' for kind, number in counts.items())}"


def _is_hinted(lower: str) -> bool:
    """Whether a word is there that some pattern needs: a loop, as this is asked of every text."""
    for word in _WORDS:  # noqa: SIM110 - a generator takes three times as long
        if word in lower:
            return True
    return False


def _matches(kind: str, pattern: str, text: str) -> Iterator[Found]:
    import re

    if pattern not in _compiled:
        _compiled[pattern] = re.compile(pattern, re.ASCII)
    for found in _compiled[pattern].finditer(text):
        group = found.lastindex or 0
        if kind == "private key" or _is_likely(kind, found, found.group(group)):
            yield Found(found.start(group), found.end(group), kind)


def _is_likely(kind: str, found: re.Match[str], value: str) -> bool:
    """Not a placeholder, a reference or an example; and where only a key says secret, nothing a person would write."""
    lower = value.lower()
    if value[0] in "$<{%*[(" or "${" in value or "{{" in value or "example" in lower or len(set(lower)) < 4:
        return False
    if kind in ("URL password", "netrc password"):
        return lower not in _WEAK and value != found["user"]
    if kind not in ("Authorization header", "password", "secret"):
        return len(set(lower)) > 7
    if value[0] in "/.~" or not any(map(str.isalpha, value)):
        return False
    strange = any(map(str.isdigit, value)) or any(c in "!@#$%^&*+?=" for c in value[1:-1])
    if kind == "password" and (bare := found["bare"]):
        return strange and "." not in bare.strip(".") and not (bare.islower() and bare.isidentifier() and "_" in bare)
    return strange and (kind == "password" or (not _is_name(value) and _entropy(value) > 3.2))


def _is_name(value: str) -> bool:
    """Whether it is an identifier, an id, or words joined by marks: each a word, a number or a short mix of both."""
    parts = value.replace("-", "_").replace(".", "_").replace("/", "_").replace(":", "_").split("_")
    return (len(value) == 26 and value.isupper() and value.isalnum() and value[0] in "01") or (
        len(parts) > 1 and all(part.isalpha() or part.isdigit() or len(part) < 6 for part in parts)
    )


def _entropy(value: str) -> float:
    """Bits for each character, by how often each is there."""
    from math import log2

    return -sum(n / len(value) * log2(n / len(value)) for n in (value.count(c) for c in set(value)))


def _says_secret(key: str) -> bool:
    lower = key.lower()
    return any(lower.endswith(word) for word in ("password", "passwd", "passphrase", "pwd", "secret", "token", "key"))


def _literal(prefix: str) -> str:
    import re

    return re.escape(prefix)
