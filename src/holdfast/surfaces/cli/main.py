"""From `sys.argv` to an exit code."""

from __future__ import annotations

import os
import sys

from holdfast.errors import HoldfastError, UsageError, unexpected
from holdfast.surfaces.cli.output import Unwritten, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

INTERRUPTED = 130


def entry() -> NoReturn:
    """What the `holdfast` script calls."""
    sys.exit(main(sys.argv[1:]))


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


def _guarded(argv: list[str]) -> int:
    try:
        return _run(argv)
    except HoldfastError as error:
        return _report(error, argv)
    except (BrokenPipeError, Unwritten):
        raise
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted\n")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - whatever it is, people get a sentence and not a traceback
        if "--debug" in argv or os.environ.get("HOLDFAST_DEBUG") == "1":
            import traceback

            sys.stderr.write("".join(traceback.format_exception(error)).encode("utf-8", "replace").decode())
            return 1
        return _report(unexpected(error), argv)


def _run(argv: list[str]) -> int:
    _require_utf8(argv)
    if argv[:1] in (["--version"], ["-V"]):
        from holdfast import __version__

        write(f"holdfast {__version__}\n")
        return 0
    if not argv or argv[0] in ("--help", "-h") or argv == ["help"]:
        from holdfast.surfaces.cli import overview

        write(overview.text())
        return 0
    if argv[0] == "__complete":
        from holdfast.surfaces.cli import completion

        return completion.complete(argv[1:])
    if argv[0] == "help":
        argv = [*argv[1:], "--help"]
    from holdfast.surfaces.cli import lookup

    command, rest = lookup.find(argv)
    from holdfast.surfaces.cli import arguments
    from holdfast.surfaces.cli.call import Call

    parsed = arguments.parse(command, rest)
    if parsed is None:
        return 0
    return lookup.load(command.handler)(Call(command, parsed)) or 0


def _require_utf8(argv: list[str]) -> None:
    for word in argv:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise UsageError(
                "bad_encoding",
                "an argument is not valid UTF-8",
                remedy="type it in UTF-8, or put it into a file and name the file",
                facts={"argument": os.fsencode(word)[:200].decode("utf-8", "replace")},
            ) from None


def _report(error: HoldfastError, argv: list[str]) -> int:
    if "--json" in argv:
        from holdfast.surfaces.cli.call import pretty

        write(pretty(error.as_json()))
        return error.exit_code
    from holdfast.surfaces.terminal import Style, escape, to_ascii, wants_colour

    style = Style(wants_colour(sys.stderr.isatty(), os.environ))
    text = style.red(escape(_sentence(error), lines=True)) + "\n"
    if error.remedy:
        text += f"{style.dim('→')} {escape(error.remedy)}\n"
    utf8 = (sys.stderr.encoding or "").lower().replace("-", "") == "utf8"
    sys.stdout.flush()
    sys.stderr.write(text if utf8 else to_ascii(text))
    return error.exit_code


def _sentence(error: HoldfastError) -> str:
    """Mistakes in a definition stand below each other, where an editor or a person finds them by their line."""
    mistakes = error.facts.get("mistakes")
    if not isinstance(mistakes, list) or len(mistakes) < 2:
        return error.message
    head = error.message.partition(":")[0]
    return "\n".join([f"{head}:", *(f"  {mistake['where']}: {mistake['message']}" for mistake in mistakes)])


def _close_quietly() -> None:
    """Nobody reads any more: what is left in the buffer must not raise again while the interpreter ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
