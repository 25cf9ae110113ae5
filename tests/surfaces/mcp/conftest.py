"""What the tests of the MCP server share."""

from __future__ import annotations

import pytest

from tests.surfaces.mcp.house import ERAS, House


@pytest.fixture
def house(tmp_path) -> House:
    return House(tmp_path / "project")


@pytest.fixture(params=ERAS)
def era(request) -> str:
    """The protocol as hosts speak it today, and as the newest ones do."""
    return request.param
