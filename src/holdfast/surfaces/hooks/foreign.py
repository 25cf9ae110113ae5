"""Events of hosts that do not speak as Claude Code does: told in its words, and answered in the host's own.

Hosts that compact without an event afterwards are told where the work is by the next event that takes context.
"""

from __future__ import annotations

import posix
from _json import encode_basestring_ascii as quoted

from holdfast.surfaces.hooks import places, quick

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.surfaces.hooks.quick import Hook

GEMINI = {
    "BeforeAgent": "UserPromptSubmit",
    "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse",
    "AfterAgent": "Stop",
    "BeforeModel": "SessionStart",
}
CURSOR = {
    "sessionStart": "SessionStart",
    "beforeSubmitPrompt": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse",
    "preCompact": "PreCompact",
    "stop": "Stop",
    "sessionEnd": "SessionEnd",
}
CLINE = {
    "tool_call": "PreToolUse",
    "tool_result": "PostToolUse",
    "prompt_submit": "UserPromptSubmit",
    "session_shutdown": "SessionEnd",
}
_TAKING_CONTEXT = ("PostToolUse", "UserPromptSubmit")
_SNAPSHOT = "<state_snapshot>"
"""What Gemini CLI has in place of the history that it compressed."""
_CONTEXT = "</hook_context>"
"""The end of what hooks said, which Gemini CLI puts before the prompt of a person."""
_LONGEST_MARK = 100
_MOST_MARKS = 100
_ANEW = posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC | posix.O_NOFOLLOW | posix.O_CLOEXEC


def answer(hook: Hook, event: dict[str, Any]) -> str:
    """What goes to the host; empty for an event that nobody asked for."""
    name, cline = event.get("hook_event_name"), event.get("hookName")
    if not isinstance(name, str) and not isinstance(cline, str):
        raise quick.BadEvent("it does not say which event it is")
    if isinstance(cline, str):
        return _cline(hook, event, CLINE.get(cline, ""))
    if name in GEMINI:
        return _gemini(hook, event, str(name))
    if name in CURSOR:
        return _cursor(hook, event, CURSOR[str(name)])
    return _copilot(hook, event, str(name)) if name in quick.REACTIONS else ""


def _gemini(hook: Hook, event: dict[str, Any], name: str) -> str:
    if name == "BeforeModel":
        return _compressed(hook, event)
    prompt = event.get("prompt")
    if isinstance(prompt, str):
        event = {**event, "prompt": prompt.rpartition(_CONTEXT)[2]}  # what we said ourselves is no person's word
    said = _reacted(hook, event, GEMINI[name])
    if said.reason:
        return f'{{"decision":"deny","reason":{quoted(said.reason)}}}\n'
    if said.context:
        inner = f'"hookEventName":{quoted(name)},"additionalContext":{quoted(said.context)}'
        return f'{{"hookSpecificOutput":{{{inner}}}}}\n'
    return f'{{"systemMessage":{quoted(said.message)}}}\n' if said.message else ""


def _compressed(hook: Hook, event: dict[str, Any]) -> str:
    """Behind the summary that stands for the history: the packet. The host forgets it again, so it is said each time.

    Messages after the last one of an answer stay as they are.
    """
    request = event.get("llm_request")
    found = request.get("messages") if isinstance(request, dict) else None
    messages = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    texts = [str(one.get("content")) if one.get("role") == "user" else "" for one in messages]
    at = next((at for at, text in enumerate(texts) if _SNAPSHOT in text), -1)
    if at < 0:
        return ""
    told = {key: value for key, value in event.items() if key != "llm_request"}
    hook.stand(event.get("cwd"))
    snapshot = texts[at][texts[at].index(_SNAPSHOT) :]
    is_new = _mark(hook, event, f"{len(snapshot)} {snapshot[:_LONGEST_MARK]}")
    said = _reacted(hook, {**told, "source": "compact" if is_new else "resume"}, "SessionStart")
    if not said.context:
        return ""
    kept = [*messages[:at], {**messages[at], "content": f"{texts[at]}\n\n{said.context}"}]
    shown = ",".join(
        f'{{"role":{quoted(str(one.get("role")))},"content":{quoted(str(one.get("content")))}}}' for one in kept
    )
    return f'{{"hookSpecificOutput":{{"hookEventName":"BeforeModel","llm_request":{{"messages":[{shown}]}}}}}}\n'


def _copilot(hook: Hook, event: dict[str, Any], name: str) -> str:
    if event.get("source") == "new":
        event = {**event, "source": "startup"}
    said = _late(hook, event, name)
    if said.reason and name == "PreToolUse":
        return f'{{"permissionDecision":"deny","permissionDecisionReason":{quoted(said.reason)}}}\n'
    if said.reason:
        return f'{{"decision":"block","reason":{quoted(said.reason)}}}\n'
    return f'{{"additionalContext":{quoted(said.context)}}}\n' if said.context else ""


def _cursor(hook: Hook, event: dict[str, Any], name: str) -> str:
    roots = event.get("workspace_roots")
    folder = event.get("cwd") or (roots[0] if isinstance(roots, list) and roots else "")
    session = event.get("session_id") or event.get("conversation_id")
    told = {**event, "cwd": folder, "session_id": session}
    if name == "SessionStart":
        told["source"] = "startup"
    said = _late(hook, told, name)
    if said.reason and name == "Stop":
        return f'{{"followup_message":{quoted(said.reason)}}}\n'
    if said.reason:
        reason = quoted(said.reason)
        return f'{{"permission":"deny","user_message":{reason},"agent_message":{reason}}}\n'
    return f'{{"additional_context":{quoted(said.context)}}}\n' if said.context else ""


def _cline(hook: Hook, event: dict[str, Any], name: str) -> str:
    """A call is described twice; the shorter description makes texts of all that is no text."""
    if not name:
        return ""
    roots, told = event.get("workspaceRoots"), {"session_id": event.get("taskId"), "reason": event.get("reason")}
    told["cwd"] = roots[0] if isinstance(roots, list) and roots else ""
    call = event.get("tool_call" if name == "PreToolUse" else "tool_result")
    if isinstance(call, dict):
        told |= {"tool_name": call.get("name"), "tool_input": call.get("input"), "duration_ms": call.get("durationMs")}
    prompted = event.get("userPromptSubmit")
    if isinstance(prompted, dict):
        told["prompt"] = prompted.get("prompt")
    said = _reacted(hook, told, name)
    if said.reason:
        return f'{{"cancel":true,"errorMessage":{quoted(said.reason)}}}\n'
    return f'{{"contextModification":{quoted(said.context)}}}\n' if said.context else ""


class _Said:
    """What an answer in Claude Code's words says: why not, what the model is to know, what a person is to know."""

    def __init__(self, answer: str) -> None:
        said = quick.parsed(answer.encode("utf-8", "replace")) if answer[:1] == "{" else {}
        inner = said.get("hookSpecificOutput", {})
        self.reason: str = said.get("reason") or inner.get("permissionDecisionReason") or ""
        self.context: str = inner.get("additionalContext") or ""
        self.message: str = said.get("systemMessage") or ""


def _reacted(hook: Hook, event: dict[str, Any], name: str) -> _Said:
    return _Said(hook.react({**event, "hook_event_name": name}, name))


def _late(hook: Hook, event: dict[str, Any], name: str) -> _Said:
    """An answer, with the packet where the session was compacted since it was told anything."""
    said = _reacted(hook, event, name)
    if name == "PreCompact":
        _mark(hook, event, name)
    elif name in _TAKING_CONTEXT and not said.reason and _unmark(hook, event):
        packet = _reacted(hook, {**event, "source": "compact"}, "SessionStart").context
        said.context = "\n\n".join(filter(None, (packet, said.context)))
    return said


def _mark(hook: Hook, event: dict[str, Any], text: str) -> bool:
    """Notes of a session that it lost its context; whether that is new."""
    path, data = _marked(hook, event), text.encode("utf-8", "replace")
    if not path or places.content(path, 8 * _LONGEST_MARK) == data:
        return False
    from holdfast.surfaces.hooks import notes

    if notes.may_write(hook.root):
        folder = path.rpartition("/")[0]
        if not places.is_folder(folder):
            posix.mkdir(folder, 0o700)
            inside = posix.open(folder, posix.O_RDONLY | posix.O_CLOEXEC)
            notes.hand_over(inside, hook.root)
            posix.close(inside)
        for old in posix.listdir(folder)[_MOST_MARKS:]:
            posix.unlink(f"{folder}/{old}")
        fd = posix.open(path, _ANEW, 0o600)
        notes.hand_over(fd, hook.root)
        posix.write(fd, data)
        posix.close(fd)
    return True


def _unmark(hook: Hook, event: dict[str, Any]) -> bool:
    path = _marked(hook, event)
    if not path or not places.kind(path):
        return False
    posix.unlink(path)
    return True


def _marked(hook: Hook, event: dict[str, Any]) -> str:
    session = event.get("session_id")
    name = "".join(c for c in session if c.isalnum() or c == "-")[:_LONGEST_MARK] if isinstance(session, str) else ""
    return f"{hook.root}/.holdfast/compacted/{name}" if name and places.is_folder(f"{hook.root}/.holdfast") else ""
