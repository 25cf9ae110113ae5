"""What is said when a forge says no, says nothing, or says what nobody can read.

Its words come from outside: they are put on one line and cut short, without anything that a terminal would obey.
"""

from __future__ import annotations

import re
import time
from _collections_abc import Mapping, Sequence

from holdfast.core.remedy import line, shell
from holdfast.errors import HoldfastError, NotFound, Refused
from holdfast.forges.transport import Answer
from holdfast.git.command import plain_lines

_LONGEST = 500
_SENTENCES = 10
_MARKS = ("x-", "")
"""How GitHub and GitLab begin the names of the headers about their limits."""
_NEVER = 1 << 33  # seconds since 1970 that no reset of a limit is at


def clean(text: str, limit: int = _LONGEST) -> str:
    """A text from outside on one line, without escape sequences, control characters and what may be a password."""
    return " ".join(" ".join(plain_lines(text[: 20 * limit])).split())[:limit]


def unreachable(host: str, why: str) -> HoldfastError:
    """No answer came: no network, no such name, no trust in the certificate, or not in time."""
    said = f"{host} cannot be reached: {clean(why)}"
    way = "see whether the network is there and its page opens, then repeat the command"
    return HoldfastError("forge_unreachable", said, remedy=way, facts={"host": host})


def odd(host: str, why: str, remedy: str = "") -> HoldfastError:
    """An answer came which is not one that such a forge gives."""
    said = f"{host} gave an answer that cannot be read: {clean(why)}"
    way = remedy or "see whether a proxy or a login page is between, then repeat the command"
    return HoldfastError("forge_odd_answer", said, remedy=way, facts={"host": host})


def unauthorized(host: str, login: str, said: str) -> HoldfastError:
    message = f"{host} does not accept the login: {clean(said)}"
    return Refused("forge_unauthorized", message, remedy=line(login), facts={"host": host})


def from_status(answer: Answer, host: str, login: str, what: str) -> HoldfastError:
    """The refusal for an answer whose status says no; `what` is what was asked for."""
    said = "; ".join(_sentences(answer.body)) or f"status {answer.status}"
    facts: dict[str, object] = {"host": host, "status": answer.status, "said": said}
    if answer.status == 401:
        return unauthorized(host, login, said)
    if answer.status == 429 or (answer.status == 403 and _is_limit(answer.headers, said)):
        return limited(answer.headers, host, facts)
    if answer.status == 403:
        return forbidden(answer.headers, host, login, what, facts)
    if answer.status in (404, 410):
        return missing(host, login, what, facts)
    if answer.status >= 500:
        return HoldfastError("forge_down", f"{host} has a fault of its own: {said}",
                             remedy="repeat the command in a few minutes", facts=facts)  # fmt: skip
    if answer.status < 400:
        return odd(host, f"{what} seems to have moved, as status {answer.status} says", "git remote -v")
    return refused(host, what, facts)


def refused(host: str, what: str, facts: Mapping[str, object]) -> HoldfastError:
    """The forge objects to what was asked; `facts` have its words."""
    way = "change what it objects to, then repeat the command"
    return Refused("forge_refused", f"{host} refused {what}: {facts['said']}", remedy=way, facts=facts)


def missing(host: str, login: str, what: str, facts: Mapping[str, object]) -> HoldfastError:
    sentence = f"{host} has nothing to answer for {what}: it is not there, or the login may not see it"
    return NotFound("forge_not_found", sentence, remedy=(shell("git", "remote", "-v"), line(login)), facts=facts)


def forbidden(
    headers: Mapping[str, str], host: str, login: str, what: str, facts: Mapping[str, object]
) -> HoldfastError:
    """An organisation on GitHub may want the login confirmed first, and names the page where that is done."""
    page = re.search(r"\burl=(https://[!-:<-~]{1,500})", headers.get("x-github-sso", ""))
    remedy = f"open {page[1]} and allow the organisation's login" if page else line(login)
    return Refused("forge_forbidden", f"{host} does not allow {what}: {facts['said']}", remedy=remedy, facts=facts)


def _is_limit(headers: Mapping[str, str], said: str) -> bool:
    left = [headers.get(f"{mark}ratelimit-remaining") for mark in _MARKS]
    return "0" in left or "retry-after" in headers or "rate limit" in said.lower()


def limited(headers: Mapping[str, str], host: str, facts: Mapping[str, object]) -> HoldfastError:
    """A wait that is named in seconds comes first: it is what a secondary limit asks for, whatever the hour says."""
    seconds = _whole(headers.get("retry-after", ""))
    resets = (_whole(headers.get(f"{mark}ratelimit-reset", "")) for mark in _MARKS)
    moment = next((reset for reset in resets if reset is not None), None)
    more: dict[str, object] = {}
    when = "in a minute or more"
    if seconds is not None:
        when, more = f"in {seconds} s", {"retry_after": seconds}
    elif moment is not None:
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
        when, more = f"at {at}", {"resets_at": at}
    said = f"{host} has answered as often as it allows for now, and answers again {when}: {facts['said']}"
    return Refused("forge_rate_limited", said, remedy=f"repeat the command {when}", facts={**facts, **more})


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 11 and int(text) < _NEVER else None


def _sentences(body: bytes) -> list[str]:
    """What the answer says for people: its message, then what it objects to in each field."""
    from holdfast.plain import plainjson

    try:
        document = plainjson.parse(body)
    except ValueError:
        return []
    if not isinstance(document, dict):
        return []
    said = [document.get(name) for name in ("message", "error", "error_description", "errors")]
    return [sentence for one in said for sentence in messages(_flat(one))]


def _flat(said: object) -> list[object]:
    """A GitLab gives one sentence, a list of them, or a list for each field; a GitHub also a list of objects."""
    if isinstance(said, list):
        return said
    if not isinstance(said, dict):
        return [said]
    listed = [(field, each if isinstance(each, list) else [each]) for field, each in said.items()]
    return [f"{field} {one}" for field, each in listed[:_SENTENCES] for one in each[:_SENTENCES]]


def messages(errors: Sequence[object]) -> list[str]:
    found: list[str] = []
    for one in errors[:_SENTENCES]:
        if isinstance(one, dict):
            one = one.get("message") or " ".join(str(one[key]) for key in ("field", "code") if key in one)
        if isinstance(one, str) and clean(one):
            found.append(clean(one))
    return found
