"""The definition that `holdfast workflows new` begins with."""

from __future__ import annotations

from holdfast.core.names import checked

_TEXT = """\
# The steps of "@NAME@", in the order in which they are done. After a change: holdfast workflows check FILE

name = "@NAME@"
version = 1
description = ""                  # what it is for, in one sentence: `holdfast start` lists it
title = "@NAME@: {subject}"          # {subject} and {context.KEY} are filled in at the start

[bounds]                          # when one is reached the workflow stops, and a person decides
max_iterations = 10               # attempts per step
# max_time = "2h"
# max_cost = "$10"

[[step]]
id = "plan"
name = "Write the plan"
outputs = ["plan"]                # holdfast done plan --artifact plan=PATH
approval = { by = "human" }       # or "relayed" (an agent passes on a person's word), or "signed" (an SSH key)

[[step]]                          # requires the step before it; requires = ["plan"] names others
id = "work"
name = "Do the work"
checks = [
  { name = "tests" },             # reported: holdfast check tests --passed
  # { name = "lint", run = ["ruff", "check"], run_by = "engine", timeout = "10m" },   # run by Holdfast itself
]
retry = { max = 3, exhausted = "escalated" }

[[step]]
id = "finish"
name = "Finish"
parallel = true                   # its children may be worked on at the same time

[[step.step]]
id = "docs"
name = "Update the documentation"

[[step.step]]
id = "changelog"
name = "Write the changelog"
optional = true                   # may be skipped
"""


def template(name: str) -> str:
    """A commented definition of that name, valid as it is."""
    return _TEXT.replace("@NAME@", checked(name, "workflow"))
