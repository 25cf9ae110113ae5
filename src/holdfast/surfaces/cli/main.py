"""From `sys.argv` to an exit code."""

from __future__ import annotations

import gc
import os
import sys

from holdfast.errors import HoldfastError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Sequence
    from typing import Any, NoReturn

    from holdfast.core.remedy import Remedy, Scope

INTERRUPTED = 130
_WITHOUT_FOLDER = ("hook", "statusline", "mcp")
"""What a host starts, and says itself which folder it is about."""
_HELP = (["help"], ["help", "--help"], ["help", "-h"], ["help", "help"])
_ALL = (["help", "--all"], ["help", "all"], ["help", "-a"], ["--help", "--all"], ["-h", "--all"])
_ONCE_MORE = ("declined", "changed_meanwhile")
"""Refusals of what a person may type again as it is."""
_LONG = 120
"""How many characters of commands for a person fit on one line; where there are more, each has its own."""
_OBJECTS = 100_000
"""How many new objects make the garbage collector look for cycles: more than a command makes while it imports."""


def entry() -> NoReturn:
    """What the `holdfast` script calls. Everything is imported below, where an interruption is told in a sentence."""
    gc.set_threshold(_OBJECTS)
    _open_closed()
    try:
        code = _hooked() if sys.argv[1:] == ["hook"] else main(sys.argv[1:])
    except KeyboardInterrupt:
        code = _interrupted()
    _end(code)


def _hooked() -> int:
    """A host runs this on every call of a tool, so nothing else is loaded for it."""
    from holdfast.surfaces.hooks import quick

    return quick.main()


def _open_closed() -> None:
    """Puts the null device where a standard stream is closed: no file that is opened later may take its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False, encoding="utf-8"))  # noqa: SIM115


def _end(code: int) -> NoReturn:
    """Ends the process. Where nothing waits for its end, without taking every module apart, which the system does."""
    import atexit
    from _thread import _count

    if not atexit._ncallbacks() and not _count():
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def main(argv: list[str]) -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a stream that cannot show a character must not end the command
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _guarded(argv)
        code = 0 if argv[:1] in (["hook"], ["statusline"]) else code  # a host is not to be stopped, whatever is wrong
        sys.stdout.flush()
    except BrokenPipeError:
        _close_quietly()
        return 0
    except OSError as failure:
        _close_quietly()
        sys.stderr.write(f"the answer could not be written: {failure.strerror}\n")
        return 1
    return code


def _interrupted(*said: str) -> int:
    sys.stderr.write(": ".join(["\ninterrupted", *said]) + "\n")
    return INTERRUPTED


def _guarded(argv: list[str]) -> int:
    from holdfast.plain.terminal import Unwritten

    try:
        return _run(argv)
    except HoldfastError as error:
        return _report(error, argv)
    except (BrokenPipeError, Unwritten):
        raise
    except KeyboardInterrupt as stop:
        return _interrupted(*map(str, stop.args))
    except Exception as error:  # noqa: BLE001 - whatever it is, people get a sentence and not a traceback
        if "--debug" in argv or os.environ.get("HOLDFAST_DEBUG") == "1":
            import traceback

            sys.stderr.write("".join(traceback.format_exception(error)).encode("utf-8", "replace").decode())
            return 1
        from holdfast.core.refusals import unexpected
        from holdfast.machine import installer

        return _report(installer.diagnosed(error) or unexpected(error), argv)


def _run(argv: list[str]) -> int:
    from holdfast.plain.terminal import write

    _require_utf8(argv)
    if argv[:1] in (["--version"], ["-V"]):
        from holdfast import __version__

        write(f"holdfast {__version__}\n")
        return 0
    if argv[:1] in (["--help"], ["-h"]) or argv in (*_HELP, *_ALL) or not (argv or _is_project()):
        from holdfast.surfaces.cli import overview

        overview.show(overview.text() if argv in _ALL else overview.short())
        return 0
    if argv[:1] == ["__complete"]:
        from holdfast.surfaces.cli import completion

        return completion.complete(argv[1:])
    if argv[:1] == ["help"]:
        argv = [*argv[1:], "--help"]
    if len(argv) == 2 and argv[1] in ("--help", "-h"):
        from holdfast.surfaces.cli import overview

        if group := overview.of_group(argv[0]):
            overview.show(group)
            return 0
    from holdfast.surfaces.cli import lookup

    command, rest = lookup.find(argv or ["status"])
    from holdfast.surfaces.cli import arguments
    from holdfast.surfaces.cli.call import Call

    try:
        parsed = arguments.parse(command, rest)
    except UsageError as error:
        if "extra" in error.facts:
            from holdfast.surfaces.cli import misplaced

            misplaced.explain(command, rest, error)
        raise
    if parsed is None:
        return 0
    if command.name not in _WITHOUT_FOLDER:
        _require_folder()
    call = Call(command, parsed)
    try:
        code = lookup.load(command.handler if argv else "running:here")(call) or 0
        call.tell_noticed()
        return code
    except HoldfastError as error:
        if redacted := call.redacted():
            from holdfast.core import secrets

            error.message += f"; {secrets.told(redacted)}"
            error.facts["redacted"] = redacted
        from holdfast.surfaces.cli import meant, repeating

        if error.code in meant.ELSEWHERE and not call.named() and "candidates" not in error.facts:
            meant.look_elsewhere(call, error, [call.about])
        if error.code == "no_step" and "candidates" not in error.facts:
            from holdfast.surfaces.cli import misplaced

            misplaced.no_step(call, error)
        repeating.with_options(call, error)
        news = call.notices() if "--json" in argv else call.news()
        return _report(error, argv, call.scope(), call.settings.objection, news)


def _is_project() -> bool:
    """Whether workflows were started where this is typed: then they are what people ask for."""
    from holdfast.machine.place import find

    _require_folder()
    return os.path.isdir(find(".").home)


def _require_folder() -> None:
    """An agent's worktree goes with its lease, and a shell may still are in it: nothing can be found from there."""
    try:
        os.getcwd()
    except FileNotFoundError:
        from holdfast.core.remedy import shell
        from holdfast.errors import NotFound
        from holdfast.machine.place import find
        from holdfast.machine.settings import folder_gone

        gone, above = folder_gone(os.environ)
        way = shell("cd", find(above).root)
        said = f"the folder that this was typed in is gone: {gone}"
        raise NotFound("no_folder", said, remedy=way, facts={"folder": gone}) from None


def _require_utf8(argv: list[str]) -> None:
    for word in argv:
        try:
            word.encode()
        except UnicodeEncodeError:
            facts = {"argument": os.fsencode(word)[:200].decode("utf-8", "replace")}
            way = "type it in UTF-8, or put it into a file and name the file"
            raise UsageError("bad_encoding", "an argument is not valid UTF-8", remedy=way, facts=facts) from None


def _report(
    error: HoldfastError, argv: list[str], scope: Scope | None = None, objection: str = "", news: Sequence[str] = ()
) -> int:
    from holdfast.core import remedy

    where = scope or remedy.ANYWHERE
    if error.code == "person_needed" and objection and objection not in error.message:
        error.message += f", and this terminal is no person's: {objection}"
    error.remedies = remedy.with_page(_other_than(error, argv, where), where)
    if "--json" in argv:
        from holdfast.plain.terminal import write
        from holdfast.surfaces.cli.call import pretty

        write(pretty({**({"notice": list(news)} if news else {}), **remedy.described(error, where)}))
        return error.exit_code
    from holdfast.plain.terminal import Style, escape, fold, to_ascii, wants_colour, width_of

    style = Style(wants_colour(sys.stderr.isatty(), os.environ))
    text = "".join(f"{style.red(f'⚠ {escape(one)}')}\n" for one in news)
    text += style.red(escape(_sentence(error), lines=True)) + "\n"
    if error.remedies:
        text += f"{style.dim('→')} {escape(remedy.told(error.remedies, where))}\n"
    own = [] if where.person else [one for one in error.remedies if getattr(one, "who", "") == "person"]
    if own:
        each = [own] if len(remedy.told(own, where.replace(person=True))) < _LONG else [(one,) for one in own]
        for ways in each:
            text += f"{style.dim('for a person:')} {escape(remedy.told(ways, where.replace(person=True)))}\n"
    text = fold(text, width_of(sys.stderr, os.environ))
    utf8 = (sys.stderr.encoding or "").lower().replace("-", "") == "utf8"
    sys.stdout.flush()
    sys.stderr.write(text if utf8 else to_ascii(text))
    return error.exit_code


def _other_than(error: HoldfastError, argv: list[str], scope: Scope) -> tuple[Any, ...]:
    """The remedies without the command that was refused, unless something is to be done first.

    Where that is ambiguous, it is repeated with each `-w`.
    """
    from holdfast.core import remedies
    from holdfast.core.remedy import quoted, typed
    from holdfast.surfaces.cli.meant import ELSEWHERE

    if error.code == "ambiguous_workflow" or (error.code in ELSEWHERE and "candidates" in error.facts):
        from holdfast.surfaces.cli.repeating import with_each_workflow

        return with_each_workflow(error, argv, scope)
    if error.code in ("ambiguous_step", "ambiguous_definition"):
        from holdfast.surfaces.cli.repeating import with_each_meaning

        return with_each_meaning(error, argv) or error.remedies
    refused = sorted(quoted(word) for word in ("holdfast", *argv) if word != "--json")

    def is_other(one: Remedy | str) -> bool:
        if isinstance(one, str) or one.text.endswith("then") or (one.who == "person" and not scope.person):
            return True
        is_again = one.who == "person" and error.code in _ONCE_MORE
        return is_again or sorted(typed(one.replace(text=""), scope).split(" ")) != refused

    others = tuple(filter(is_other, error.remedies))
    return others or tuple(remedies.status() for _ in error.remedies[:1])


def _sentence(error: HoldfastError) -> str:
    """Mistakes in a definition are below each other, where an editor or a person finds them by their line.

    What has no effect in it is told below them.
    """
    mistakes, warnings = error.facts.get("mistakes"), error.facts.get("warnings")
    warned = [f"! {one['where']}: {one['message']}" for one in warnings] if isinstance(warnings, list) else []
    if not isinstance(mistakes, list) or len(mistakes) < 2:
        return "\n".join([error.message, *warned])
    head = error.message.partition(":")[0]
    listed = [f"  {mistake['where']}: {mistake['message']}" for mistake in mistakes]
    return "\n".join([f"{head}:", *listed, *warned])


def _close_quietly() -> None:
    """Nobody reads any more: what is left in the buffer must not raise again while the interpreter ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
