"""What an examination says: findings, each with a remedy that can be typed."""

from __future__ import annotations

from holdfast.core.remedy import Remedy, told
from holdfast.core.value import Value

_Remedies = Remedy | str | tuple[Remedy | str, ...]

OK, WARNING, BROKEN = "ok", "warning", "broken"
LEVELS = (OK, WARNING, BROKEN)


class Finding(Value):
    """`warning`: worth a look, nothing is lost. `broken`: needs a person. `path` is relative to the root."""

    level: str
    code: str
    message: str
    remedies: tuple[Remedy | str, ...] = ()
    path: str = ""

    @property
    def remedy(self) -> str:
        return told(self.remedies)


class Report(Value):
    findings: tuple[Finding, ...] = ()

    @property
    def worst(self) -> str:
        return max((finding.level for finding in self.findings), key=LEVELS.index, default=OK)


def ok(code: str, message: str, path: str = "") -> Finding:
    return Finding(OK, code, message, (), path)


def warning(code: str, message: str, remedy: _Remedies, path: str = "") -> Finding:
    return Finding(WARNING, code, message, remedy if isinstance(remedy, tuple) else (remedy,), path)


def broken(code: str, message: str, remedy: _Remedies, path: str = "") -> Finding:
    return Finding(BROKEN, code, message, remedy if isinstance(remedy, tuple) else (remedy,), path)
