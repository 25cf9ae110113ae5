"""How workflows of one kind are conducted: data that a system gives, so that no rule asks whose workflow it is."""

from __future__ import annotations

from holdfast.core.value import Value


class Conduct(Value):
    """What holds for every workflow whose subject is read in one way."""

    groups: tuple[str, ...] = ()
    """Kinds of steps that group the tasks which the subject brings, in the shape that `[step.task]` gives."""
    bounded: tuple[str, ...] = ()
    """Kinds of steps that the bound on tries counts for; empty: every leaf."""
    iterated: tuple[str, ...] = ()
    """Kinds of steps that can be tried once more because their criteria are not met."""
    checkpointed: tuple[str, ...] = ()
    """Kinds of steps whose begin keeps the commit and the time, and whose end takes a snapshot."""
    criteria: tuple[str, ...] = ()
    """Kinds of steps that are done only after the checks that have a command were run."""
    guarded_end: bool = False
    """Whether only a person gives up a run that stands where a person has to decide."""
    by_tree: bool = True
    """Whether reported evidence is bound to the working tree."""
    frozen_trust: bool = False
    """Whether the steps come from the subject file, and its commands are trusted as they were at the start."""
    phased: bool = False
    """Whether the number of a task begins with that of its phase."""
