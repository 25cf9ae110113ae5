"""What the server says of itself: its tools, and how to work with it."""

from __future__ import annotations

from mcp import types

from holdfast.surfaces import tools

INSTRUCTIONS = """\
Holdfast keeps long work in its place: steps with gates, which survive crashes and a lost context.
1. list_workflows shows what is under way; start_workflow begins something new.
2. Lost your context? get_resume_packet tells where you are; do what it asks before anything else.
3. get_next_step says what to do now; its required_action is the call that leads on.
4. update_workflow_state status=in_progress begins a step, status=completed hands it in with its artifacts.
5. Steps go in order. A refusal has code, message, remedy: do what the remedy says, do not try another way round.
6. run_check runs a step's checks; what the engine can run, it runs itself, and your word does not replace it.
7. A step in waiting_approval is a person's: show them the work, then pass their decision on with approve_step.
8. record_work keeps decisions, lessons, files, cost; lock_files keeps files to one agent; review_step is a reviewer's.
9. Resources holdfast://workflow/ID, and below it /document, /plan and /log, have the rest.
10. Paths are from the top of the project; ids may be cut to a beginning that is unique."""


def listed() -> list[types.Tool]:
    return [_definition(tool) for tool in tools.TOOLS.values()]


def _definition(tool: tools.Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.about,
        input_schema=tools.input_schema(tool),
        output_schema=tools.output_schema(tool),
        annotations=types.ToolAnnotations(
            read_only_hint=True if tool.reads else None,
            destructive_hint=None if tool.reads else tool.destroys,
            open_world_hint=tool.external,
        ),
    )
