"""What a turn cost, from what hosts say while it runs and when it is over."""

from __future__ import annotations

from holdfast.machine.running import Price, Running
from holdfast.runner.events import Tokens, Total, Used
from holdfast.runner.meter import Meter, Seen

PRICES = Running(prices={"m": Price(4.0, 20.0, 0.4, 5.0)})


def meter(before=None, running=PRICES, learned=None, *, tells_cost=True) -> Meter:
    return Meter(running, "host", before or Seen(), learned or {}, is_sum=True, tells_cost=tells_cost)


def used(message: str, given: int = 900, written: int = 20) -> Used:
    return Used(message, "m", Tokens(given, written))


def test_a_message_counts_once_however_often_it_is_told():
    one = meter()
    for _ in range(3):
        one.take(used("a"))
    one.take(used("b"))
    assert one.micros == 2 * 4000


def test_the_figure_of_the_host_replaces_what_was_counted():
    one = meter(Seen(cost=10_000))
    one.take(used("a"))
    one.take(Total(13_000))
    assert one.micros == 3_000
    assert one.seen == Seen(cost=13_000)


def test_a_turn_that_was_ended_counts_by_its_messages_and_not_again_in_a_later_total():
    killed = meter(Seen(cost=10_000))
    killed.take(used("a"))
    killed.close()
    assert (killed.micros, killed.seen) == (4000, Seen(cost=10_000, loose=4000))
    for total in (14_000, 18_000):  # the host forgot the turn that was ended, or it did not
        after = meter(killed.seen)
        after.take(used("b"))
        after.take(Total(total))
        assert after.micros == 4000
        assert after.seen == Seen(cost=total)


def test_what_tokens_cost_follows_from_a_figure_of_the_host():
    first = meter(running=Running())
    first.take(used("a"))
    assert first.micros == 0
    tokens = Tokens(900, 20)
    first.take(Total(4000, rates=(("m", tokens, 4000),)))
    assert first.micros == 4000
    second = meter(running=Running(), learned=first.taught)
    second.take(used("b"))
    assert second.micros == 4000


def test_a_turn_that_was_ended_before_any_price_is_known_counts_by_a_usual_one():
    one = meter(running=Running())
    one.take(used("a"))
    one.close()
    assert one.micros == 5000
    assert not one.has_unknown


def test_tokens_of_a_session_are_booked_by_their_differences():
    priced = Running(prices={"host": Price(1.0, 5.0, 0.1, 1.0)})
    one = meter(Seen(tokens=Tokens(900, 20)), priced, tells_cost=False)
    one.take(Total(tokens=Tokens(1800, 40)))
    assert one.micros == 1000


def test_tokens_without_a_price_are_unknown():
    one = meter(running=Running(), tells_cost=False)
    one.take(Total(tokens=Tokens(900, 20)))
    assert one.has_unknown
    assert one.micros == 0
