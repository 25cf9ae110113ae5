"""`python -m unittest`, or `manage.py test` of Django, that tells Holdfast of every test.

The project's own interpreter runs it, whichever that is.
"""

# ruff: noqa: N802

from __future__ import annotations

import json
import os
import sys
import unittest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_REPORT = os.environ.pop("HOLDFAST_REPORT", "")  # what the tests start is none of this run
_FOLDER = os.path.dirname(os.path.abspath(__file__))
__unittest = True


def _tell(**said: Any) -> None:
    with open(_REPORT, "a") as file:
        file.write(json.dumps(said) + "\n")


def _file(module: str) -> str:
    found = getattr(sys.modules.get(module), "__file__", None)
    return os.path.abspath(found) if found else os.path.join(os.getcwd(), *module.split(".")) + ".py"


def _last(error: Any) -> str:
    lines = [line for line in str(error[1]).splitlines() if line.strip()]
    if error[0] is ImportError and lines:  # unittest's own, which has the whole trace
        return lines[-1]
    return f"{error[0].__name__}: {lines[0]}" if lines else error[0].__name__


class _Result(unittest.TextTestResult):
    def startTestRun(self) -> None:
        self._outcomes: dict[str, tuple[str, str]] = {}
        super().startTestRun()

    def _note(self, test: Any, outcome: Any, reason: str = "") -> None:
        if self._outcomes.get(test.id(), ("passed",))[0] in ("passed", "skipped"):
            self._outcomes[test.id()] = (outcome, reason)

    def stopTest(self, test: Any) -> None:
        super().stopTest(test)
        outcome, reason = self._outcomes.pop(test.id(), ("passed", ""))
        if not _unloaded(test, reason):
            _tell(id=test.id(), file=_file(type(test).__module__), outcome=outcome, reason=reason)

    def addError(self, test: Any, err: Any) -> None:
        super().addError(test, err)
        if hasattr(test, "countTestCases") and isinstance(test, unittest.TestCase):
            self._note(test, "error", _last(err))
        else:  # setUpClass or setUpModule of `setUpClass (module.Class)`
            name = test.id().partition("(")[2].rstrip(")")
            module = next((one for one in (name, name.rpartition(".")[0]) if one in sys.modules), name)
            _tell(broken=_file(module), reason=_last(err))

    def addFailure(self, test: Any, err: Any) -> None:
        super().addFailure(test, err)
        self._note(test, "failed", _last(err))

    def addSkip(self, test: Any, reason: Any) -> None:
        super().addSkip(test, reason)
        if isinstance(test, unittest.TestCase):
            self._note(test, "skipped")

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        super().addExpectedFailure(test, err)
        self._note(test, "skipped")

    def addUnexpectedSuccess(self, test: Any) -> None:
        super().addUnexpectedSuccess(test)
        self._note(test, "failed", "unexpected success")

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._note(test, "failed", _last(err))


def _unloaded(test: Any, reason: str) -> bool:
    """unittest makes a test of what it cannot import; it is told as the file."""
    if type(test).__name__ not in ("_FailedTest", "ModuleImportFailure", "LoadTestsFailure"):
        return False
    name = test.id().partition("._FailedTest.")[2] or test._testMethodName
    _tell(broken=_file(name), reason=reason)
    return True


class _Runner(unittest.TextTestRunner):
    resultclass = _Result  # type: ignore[assignment]


def _manage() -> None:
    """Runs the program of a Django project, whose tests take this runner."""
    import runpy

    from django.test.runner import DiscoverRunner  # type: ignore[import-untyped]

    DiscoverRunner.test_runner = _Runner
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != _FOLDER]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    if not paths:
        del os.environ["PYTHONPATH"]
    sys.path[:] = [path for path in sys.path if path != _FOLDER]
    _tell(began=True)
    try:
        if os.path.basename(sys.argv[1] if sys.argv[1:] else "") == "manage.py":
            _manage()
        else:
            sys.argv[0] = "python -m unittest"
            unittest.main(module=None, testRunner=_Runner)
    finally:
        _tell(ended=True)
