"""What a host says while it works, in the same words for every host."""

from __future__ import annotations

from holdfast.core.value import Value


class Tokens(Value):
    """What a model was given and what it wrote. `given` is without what came from a cache."""

    given: int = 0
    written: int = 0
    cached: int = 0
    """Read from a cache."""
    kept: int = 0
    """Written to a cache."""

    def __bool__(self) -> bool:
        return bool(self.given or self.written or self.cached or self.kept)


class Began(Value):
    """The host has the session, by this id."""

    session: str


class Used(Value):
    """One message of a model. A host can report it several times, by the same id."""

    message: str
    model: str
    tokens: Tokens
    cost: int | None = None
    """Micro-dollars, where the host says so itself."""


class Called(Value):
    """A tool was called; `digest` is the same for the same tool with the same input."""

    tool: str
    shown: str
    digest: str


class Denied(Value):
    """The host did not let the agent use a tool."""

    tool: str


class Limited(Value):
    """The model's service refuses requests for now; `seconds` is how long, 0 where it did not say."""

    seconds: float = 0


class Said(Value):
    """The agent's last words."""

    text: str


class Total(Value):
    """What the session used until now, in all its turns that ended: micro-dollars, else tokens."""

    cost: int | None = None
    tokens: Tokens = Tokens()
    rates: tuple[tuple[str, Tokens, int], ...] = ()
    """Models, with the tokens and the micro-dollars of each: what a token costs follows from these."""


class Ended(Value):
    """The host's own word for how the turn ended: `failure` is empty when it went well."""

    failure: str = ""
    is_missing: bool = False
    """The host does not have the session that was to be continued."""


Event = Began | Used | Called | Denied | Limited | Said | Total | Ended
