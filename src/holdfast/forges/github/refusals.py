"""The refusals that a GitHub gives in GraphQL: in an answer which counts as a success."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.errors import HoldfastError
from holdfast.forges.refusals import forbidden, limited, messages, missing, refused


def from_errors(errors: object, headers: Mapping[str, str], host: str, login: str, what: str) -> HoldfastError:
    """The refusal for the errors that GraphQL lists; `what` is what was asked for."""
    listed = [one for one in errors if isinstance(one, dict)] if isinstance(errors, list) else []
    said = "; ".join(messages(listed)) or "it named no reason"
    kinds = {one.get("type") for one in listed if isinstance(one.get("type"), str)}
    facts: dict[str, object] = {"host": host, "said": said}
    if kinds & {"RATE_LIMITED", "RATE_LIMIT"}:
        return limited(headers, host, facts)
    if "NOT_FOUND" in kinds:
        return missing(host, login, what, facts)
    if kinds & {"FORBIDDEN", "INSUFFICIENT_SCOPES"}:
        return forbidden(headers, host, login, what, facts)
    return refused(host, what, facts)
