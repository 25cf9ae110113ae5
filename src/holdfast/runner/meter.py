"""What a turn of a host cost so far: by its messages while it runs, by the host's own figure once it is over."""

from __future__ import annotations

from holdfast.core.value import Value
from holdfast.machine.running import Price, Running
from holdfast.runner.events import Event, Tokens, Total, Used

USUAL = Price(5.0, 25.0, 0.5, 6.25)
"""What is counted for a message of a host that tells what it cost at the end of a turn, where it never did."""
_OUTPUT, _CACHED, _KEPT = 5.0, 0.1, 1.25
"""What other tokens cost, as multiples of one that a model is given: by this, a sum of all is taken apart."""


class Seen(Value):
    """What the turns of a session before this one came to, as the host counts them."""

    cost: int = 0
    tokens: Tokens = Tokens()
    loose: int = 0
    """Micro-dollars of turns that were ended since: a host that had the time to write them down counts them later."""


class Meter:
    """Takes the events of one turn, in order. `learned` are prices that hosts showed before, by model."""

    def __init__(
        self, running: Running, host: str, before: Seen, learned: dict[str, Price], *, is_sum: bool, tells_cost: bool
    ) -> None:
        self._running, self._host, self._learned = running, host, learned
        self._before = before if is_sum else Seen()
        self._guesses = is_sum and tells_cost
        self._messages: dict[str, Used] = {}
        self._total: Total | None = None
        self._is_over = False
        self.has_unknown = False
        """Whether something was used of which nobody knows the price."""
        self.taught: dict[str, Price] = {}
        """Prices that follow from what the host said."""

    def take(self, event: Event) -> None:
        if isinstance(event, Used):
            self._messages[event.message] = event
            self.has_unknown |= event.cost is None and not self._guesses and self._price(event.model) is None
        elif isinstance(event, Total):
            self._total = event
            self.has_unknown |= event.cost is None and bool(event.tokens) and self._price("") is None
            self.taught |= {model: price for model, tokens, cost in event.rates if (price := _rate(tokens, cost))}

    def close(self) -> None:
        """The turn is over: a host that did not say what it cost will not do so any more."""
        self._is_over = True

    @property
    def seen(self) -> Seen:
        """What the next turn of the session begins from."""
        if self._total is None:
            return self._before.replace(loose=self._before.loose + self.micros)
        return Seen(self._total.cost or 0, self._total.tokens)

    @property
    def micros(self) -> int:
        """Micro-dollars of this turn."""
        total = self._total
        if total is not None and total.cost is not None:
            return self._own(max(0, total.cost - self._before.cost))
        if total is not None and total.tokens:
            return self._cost("", _less(total.tokens, self._before.tokens))
        return self._by_messages

    def _own(self, grown: int) -> int:
        """What of a total is this turn's: its messages say whether turns that were ended are in it, too."""
        known, loose = self._by_messages, self._before.loose
        return grown - loose if loose and abs(grown - loose - known) < abs(grown - known) else grown

    @property
    def _by_messages(self) -> int:
        used = self._messages.values()
        return sum(self._cost(one.model, one.tokens) if one.cost is None else one.cost for one in used)

    def _cost(self, model: str, tokens: Tokens) -> int:
        price = self._price(model)
        if price is None:
            return 0
        at = (price.input, price.output, price.cached, price.kept)
        many = (tokens.given, tokens.written, tokens.cached, tokens.kept)
        return round(sum(each * number for each, number in zip(at, many, strict=True)))

    def _price(self, model: str) -> Price | None:
        given = self._running.price(*filter(None, (model, self._running.model, self._host)))
        return given or self._learned.get(model) or (USUAL if self._guesses and self._is_over else None)


def _less(tokens: Tokens, before: Tokens) -> Tokens:
    names = ("given", "written", "cached", "kept")
    return Tokens(*(max(0, getattr(tokens, name) - getattr(before, name)) for name in names))


def _rate(tokens: Tokens, cost: int) -> Price | None:
    """What a model's tokens cost, from what all of them cost together."""
    weight = tokens.given + _OUTPUT * tokens.written + _CACHED * tokens.cached + _KEPT * tokens.kept
    if not weight:
        return None
    each = cost / weight
    return Price(each, each * _OUTPUT, each * _CACHED, each * _KEPT)
