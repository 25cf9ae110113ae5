from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.faults.project", "tests.faults.tracing")

from tests.faults.commands import Commands  # noqa: E402


@pytest.fixture(scope="module")
def commands(_clean_environment):
    made = Commands()
    yield made
    made.close()
