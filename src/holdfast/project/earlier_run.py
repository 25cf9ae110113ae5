"""Starting work again that was begun before: what only a person may take away goes along into the new run."""

from __future__ import annotations

from holdfast.checks import equipping, tooling
from holdfast.core import provenance, remedies
from holdfast.core.definition import Definition
from holdfast.core.remedy import told
from holdfast.core.rules.tree import is_relied_on
from holdfast.core.state import State
from holdfast.systems.seam.parts import Loaded
from holdfast.systems.seam.registry import subject
from holdfast.systems.seam.wired import Wired


def run_before(wired: Wired, definition: Definition, id: str) -> State | None:
    """The last run of this id in the worktree, unless it was completed; of no use where a person starts."""
    if wired.settings.person is not None:
        return None
    same = [e for e in wired.store.find(id) if (e.id, e.worktree, e.type) == (id, wired.place.key(), definition.name)]
    last = max(same, key=lambda entry: entry.ulid, default=None)
    return wired.store.load(last.ulid) if last and (last.active or last.status == "cancelled") else None


def carried(wired: Wired, loaded: Loaded, before: State) -> Loaded:
    """The start with what waits for a person in the run before, and with the test command that was typed there."""
    loaded = subject(before.dialect).carried(loaded, before, wired.place)
    by, known = wired.settings.actor.label, equipping.tools_of(before)
    tools, said = dict(loaded.tools), list(loaded.said)
    for name in tooling.NAMES:
        kept, new = known.get(name), tools.get(name)
        if kept is None or (new is not None and (new.run == kept.run or not is_relied_on(before, name, by))):
            continue
        if new is not None:
            way = told((remedies.set_command(name),))
            said.append(f"the {name} command stays as it was in the run before: a person changes it ({way})")
            del tools[name]
        if not kept.source:
            tools[name] = kept
            said.append(f"{name}: {' '.join(kept.run)} ({provenance.typed(kept.by) or 'set by hand'}), as before")
    return loaded.replace(tools=tools, said=tuple(said))
