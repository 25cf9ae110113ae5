"""How a test makes a call that fails, and looks at what was said."""

from __future__ import annotations

import pytest

from holdfast.errors import HoldfastError
from tests.forges.loopback import BRANCH


def failure(call, kind=HoldfastError):
    with pytest.raises(kind) as caught:
        call()
    shown = (caught.value.message, caught.value.remedy, repr(caught.value.facts))
    assert all(text.isprintable() and "a-token-of-the-test" not in text for text in shown)
    assert caught.value.remedy
    return caught.value


def created(client):
    return client.open(BRANCH, "main", "Fix the door", "It creaked.")
