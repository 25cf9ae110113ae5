"""Serving a project: to agents by `holdfast mcp`, and to its person by `holdfast notify`."""

from __future__ import annotations

import contextlib
import os
import sys

from holdfast.core import refusals, remedies
from holdfast.errors import NotFound
from holdfast.machine import place as places
from holdfast.machine import settings as settings_
from holdfast.surfaces.cli.call import Call


def mcp(call: Call) -> None:
    """A caller that comes through a host is an agent, whatever terminal the host was started in."""
    args = call.args
    if not os.path.isdir(args.root):
        raise NotFound("no_folder", f"there is no folder {args.root[:200]!r}", remedy="name a folder that exists")
    if not args.http and (args.no_token or args.allow_host or args.allow_origin):
        wanted = remedies.named("mcp", {"http": True})
        raise refusals.misused("these options are for HTTP, and --http is missing", wanted)
    from holdfast.surfaces.tools.sets import checked_sets

    toolsets = checked_sets(args.toolset)
    os.chdir(args.root)  # relative paths of tools mean the project, wherever the host was started
    settings = settings_.read(os.environ, terminal=False, surface="mcp", role=args.role or "")
    from holdfast.surfaces.mcp import serving
    from holdfast.surfaces.mcp.projects import Projects

    serving.set_up_logs(debug=args.debug)
    projects = Projects(places.find("."), settings, toolsets)
    if not args.http:
        serving.serve(projects)
        return
    from holdfast.surfaces.mcp import http

    address = http.Address(args.host, args.port, tuple(args.allow_host), tuple(args.allow_origin))
    listener = http.listen(projects, address, guarded=not args.no_token)
    data = {"url": listener.url, "token_file": listener.token_file or None}
    said = f", token in {listener.token_file}" if listener.token_file else ", without a token"
    call.answer(data, call.ok(f"{listener.url}{said}"))
    sys.stdout.flush()
    http.serve(listener)


def web(call: Call) -> None:
    """The page for people. Who is let in may approve, so that a person's terminal is needed, unless it only shows."""
    args = call.args
    if args.export:
        from holdfast.surfaces.web import export

        export.write(call)
        return
    if args.files:
        raise refusals.misused("--files is for a copy, and --export is missing", remedies.usage("web"))
    if not (args.read_only or call.is_person):
        from holdfast.surfaces.web import linking

        raise linking.refused(call.settings.objection)
    shown = call.workflow().ulid if call.named() else ""
    if args.link:
        from holdfast.surfaces.web import linking

        _tell_link(call, linking.ask(places.find("."), args.port), shown)
        return
    from holdfast.surfaces.mcp import serving as logs
    from holdfast.surfaces.mcp.projects import Projects
    from holdfast.surfaces.web import serving

    logs.set_up_logs(debug=args.debug)
    settings = serving.person_of(call.settings)
    if args.read_only:
        settings = settings.replace(actor=settings.actor.replace(kind="agent"))
    projects = Projects(places.find("."), settings)
    listener = serving.listen(projects, args.port, args.origin, shown, read_only=args.read_only)
    url = listener.page.origin.url
    address = f"{url}/w/{shown}" if shown else url
    about = f"{call.workflow().id} of {projects.place.root}" if shown else projects.place.root
    call.answer({"url": address, "read_only": args.read_only}, call.ok(f"{address} shows {about}"))
    sys.stdout.flush()
    _tell_link(call, listener.page.link(), shown)
    if not args.no_open and settings_.has_screen(os.environ):
        import webbrowser

        webbrowser.open(
            f"{url}/login{f'?w={shown}' if shown else ''}"
        )  # without the code: other users see with which words programs are started
    serving.serve(listener)


def _tell_link(call: Call, link: str, shown: str = "") -> None:
    """The link goes to the person's terminal, wherever the rest of the output goes. It leads to a workflow's page."""
    code = link.rpartition("=")[2]
    link += f"&w={shown}" if shown else ""
    said = f"  {link}\n  lets one browser in, once, within two minutes. Its code is {code}.\n"
    if not call.is_person:
        sys.stdout.write(said)
        sys.stdout.flush()
        return
    with open("/dev/tty", "w", encoding="utf-8", errors="backslashreplace") as terminal:
        terminal.write(said)


def notify(call: Call) -> None:
    """Sends what is news until Ctrl-C; with `--once`, what is news now."""
    from holdfast.surfaces import notifying
    from holdfast.surfaces.notifying.delivery import Message

    notices = notifying.wanted(call.settings)
    if notices is None:
        raise notifying.not_set_up(call.settings)
    if call.args.test:
        notifying.ways(notices)(Message("Holdfast", "notifications arrive", {"version": 1, "text": "a test"}))
        call.answer({"sent": 1}, call.ok("a notification was sent"))
        return
    if call.args.once:
        sent = notifying.once(call.project, notices)
        call.answer(
            {"sent": sent}, call.ok("1 notification was sent" if sent == 1 else f"{sent} notifications were sent")
        )
        return
    call.answer({"watching": call.project.root}, call.ok("notifications are sent from here until Ctrl-C"))
    sys.stdout.flush()
    with contextlib.suppress(KeyboardInterrupt):
        notifying.keep_sending(call.project, notices)
