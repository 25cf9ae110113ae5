"""Words that are in the wrong place: the id of a workflow where a command takes `-w`, a reason without its option."""

from __future__ import annotations

from _collections_abc import Sequence

from holdfast.core import naming
from holdfast.core.remedy import Remedy, shell
from holdfast.errors import HoldfastError
from holdfast.surfaces.cli.table import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.engine.ports import Entry
    from holdfast.surfaces.cli.call import Call
    from holdfast.surfaces.cli.grammar import Command

_TEXTS = ("--reason", "--feedback", "--guidance", "--message")


def explain(command: Command, words: Sequence[str], error: HoldfastError) -> None:
    """Says of words too many what they are, and how they are typed."""
    free, many = _texts(error, "words"), len(_texts(error, "extra"))
    own = naming.has_slug(command.name)
    known = {entry.id: entry for entry in _entries()} if "w" in command.takes or own else {}
    id = next((word for word in (free[:1] if own else free) if word in known), "")
    if id and not own and many == 1:
        error.message = f"holdfast {command.name}: {id!r} is a workflow: name a workflow with -w"
        error.remedies = (_about(command.name, known[id], _without(words, id)),)
        return
    text = next((one for one in _TEXTS for option in command.options if one in option.flags.split()), "")
    said = [word for word in free if word != id] if text == "--reason" and own else free[len(free) - many :]
    if text and text not in words:
        rest = list(words)
        for word in said:
            rest.remove(word)
        error.message += f", which goes behind {text}"
        error.remedies = (shell("holdfast", *command.name.split(), *rest, text, " ".join(said)),)


def no_step(call: Call, error: HoldfastError) -> None:
    """Where a command of a step was given the id of a workflow, or a word that is neither."""
    name, word = call.command.name, str(getattr(call.args, "step", "") or "")
    if not word or call.args.workflow or naming.has_slug(name):
        return
    entry = next((one for one in call.project.wired.store.entries() if one.id == word), None)
    if entry is not None:
        error.message += f": {word} is a workflow"
        error.remedies = (_about(name, entry, []),)
    elif naming.has_slug(f"feature {name}"):
        error.message += ", and no workflow has that name"


def _about(name: str, entry: Entry, rest: Sequence[str]) -> Remedy:
    """The command about a workflow: by its first word, where its system has a form of the command for that."""
    beside = f"feature {name}"
    own = COMMANDS[beside].handler.partition(":")[0] if naming.has_slug(beside) else ""
    if own == entry.dialect:
        return shell("holdfast", *beside.split(), entry.id, *rest)
    return shell("holdfast", *name.split(), *rest, "-w", entry.id)


def _without(words: Sequence[str], word: str) -> list[str]:
    at = list(words).index(word)
    return [*words[:at], *words[at + 1 :]]


def _texts(error: HoldfastError, name: str) -> list[str]:
    found = error.facts.get(name)
    return [str(one) for one in found] if isinstance(found, list) else []


def _entries() -> Sequence[Entry]:
    from holdfast.project.project import open_project

    try:
        return open_project(".").wired.store.entries()
    except (HoldfastError, OSError):
        return ()  # what was typed is wrong in any place
