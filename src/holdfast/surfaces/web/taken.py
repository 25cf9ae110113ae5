"""Why the port of the page is taken: by a server of this project, by another page of Holdfast, or by a stranger."""

from __future__ import annotations

from http.client import HTTPConnection, HTTPException

from holdfast.core import remedies
from holdfast.core.remedy import Remedy
from holdfast.errors import HoldfastError
from holdfast.machine import served
from holdfast.machine.place import Place

_PATIENCE = 2
_LARGEST = 4096
_DEFAULT = 8414


def refused(
    place: Place, wrong: HoldfastError, port: int, own: Remedy, shown: str = "", *, read_only: bool
) -> HoldfastError:
    """The refusal with what is known of who has the port. `own` is the command that takes another one.

    `shown` is the workflow that is to be looked at.
    """
    if served.is_running(place, port):
        at = served.address_at(place, port)
        at += f"/w/{shown}" if at and shown else ""
        said = f"this project is served {f'at {at}' if at else f'on port {port}'} already"
        arguments = {"link": True, **({} if port == _DEFAULT else {"port": str(port)})}
        link = remedies.named("web", arguments, who="person", workflow=shown)
        return HoldfastError("already_served", said, remedy=(link, own) if read_only else link, facts={"port": port})
    host = str(wrong.facts["host"])
    if _is_page(host, port):
        said = f"another page of Holdfast, of another project or a read-only one, has {host} port {port}"
        return HoldfastError("cannot_listen", said, remedy=own, facts=wrong.facts)
    return wrong


def _is_page(host: str, port: int) -> bool:
    """Whether a page of Holdfast answers there. Its titles say so to everybody, and nothing of its project."""
    connection = HTTPConnection(host, port, timeout=_PATIENCE)
    try:
        connection.request("GET", "/login")
        return b"Holdfast</title>" in connection.getresponse().read1(_LARGEST)
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
