from __future__ import annotations

import pytest

from tests.faults.commands import Commands


@pytest.fixture(scope="module")
def commands(_clean_environment):
    made = Commands()
    yield made
    made.close()
