"""A model that says what a script tells it to, in the four protocols that the hosts speak. It runs on loopback.

Every request is kept, with what it was: `turn` of the agent, which takes the next line of the script; `summary`, which
a host asks for at a compaction; `aside`, such as a title for the session.
"""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

Body = dict[str, Any]
Events = list[tuple[str, Body]]

SUMMARY = "<summary><state_snapshot>The agent works on a release.</state_snapshot></summary>"
"""In the tags that some hosts insist on."""
BLANK = "«id»"
"""In a line of the script: what the model has to know from what it was told."""
IDLE = "Nothing is left to say."
_SUMMARIES = (
    *("create a detailed summary", "CONTEXT CHECKPOINT COMPACTION", "anchored summary", "new anchored summary"),
    *("generate the updated <state_snapshot>", _SAVING := "produce the <state_snapshot>"),
)
OVERFLOWING = 990_000
"""Tokens: more than any window here holds."""
_CHECKED = "Critically evaluate the <state_snapshot>"
"""With this one host asks for its summary a second time."""


class Script:
    """The lines that are left, and the requests that came. Hosts send several at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: list[Body] = []
        self._known = ""
        self._requests: list[Body] = []
        self._answers = 0
        self._marks: set[str] = set()

    def begin(self, turns: list[Body], known: str) -> None:
        with self._lock:
            self._turns, self._requests, self._known = list(turns), [], known
            self._marks = {turn.get("by", "") for turn in turns}

    def taken(self) -> tuple[list[Body], list[Body]]:
        """What was asked, and which lines nobody came to hear."""
        with self._lock:
            return list(self._requests), list(self._turns)

    def answer(self, path: str, body: Body, headers: dict[str, str]) -> Body:
        """The line for this request, with an id of its own: hosts take messages of one id for one message."""
        kind = _kind(path, body)
        with self._lock:
            request = {"kind": kind, "path": path, "body": body, "headers": headers}
            self._requests.append(request)
            self._answers += 1
            if kind == "summary" or _CHECKED in _last(body):
                line = {"say": SUMMARY, **({"tokens": OVERFLOWING} if _SAVING in _last(body) else {})}
            elif kind == "aside":
                line = {"say": IDLE}
            else:
                line = self._filled(self._next(body), body)
            request["answer"] = line
            return {**line, "id": str(self._answers)}

    def _next(self, body: Body) -> Body:
        """The next line of the agent that asks: one that a line is kept for, by words that only its prompt has."""
        text = json.dumps(body, ensure_ascii=False)
        who = next((mark for mark in self._marks if mark and mark in text), "")
        at = next((at for at, turn in enumerate(self._turns) if turn.get("by", "") == who), None)
        return self._turns.pop(at) if at is not None else {"say": IDLE}

    def _filled(self, line: Body, body: Body) -> Body:
        """A model knows what it has read: the last text in the request that fits the pattern."""
        read = re.findall(self._known, json.dumps(body)) if self._known else []
        filled: Body = json.loads(json.dumps(line, ensure_ascii=False).replace(BLANK, read[-1] if read else ""))
        return filled


def _kind(path: str, body: Body) -> str:
    """A summary is asked for in the last message; whatever comes without tools is not the agent's own turn."""
    last = _last(body)
    if path.endswith("/compact") or any(mark in last for mark in _SUMMARIES):
        return "summary"
    return "turn" if body.get("tools") else "aside"


def _last(body: Body) -> str:
    asked = body.get("messages") or body.get("input") or body.get("contents") or []
    return json.dumps([body.get("system"), body.get("instructions"), *asked[:1], *asked[-3:]])


def tokens(line: Body) -> int:
    """How full the host is told that its window is."""
    return int(line.get("tokens", 900))


def messages(body: Body, line: Body) -> Events:
    """Anthropic's Messages, as a stream."""
    usage = {
        "input_tokens": tokens(line),
        "output_tokens": 20,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
    head: Body = {
        "id": f"msg_{line['id']}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": [],
    }
    if "call" in line:
        start = {"type": "tool_use", "id": f"toolu_{line['id']}", "name": line["call"], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(line["with"])}
        reason = "tool_use"
    else:
        start, delta, reason = {"type": "text", "text": ""}, {"type": "text_delta", "text": line["say"]}, "end_turn"
    stop = {"stop_reason": reason, "stop_sequence": None}
    return [
        ("message_start", {"message": {**head, "stop_reason": None, "stop_sequence": None, "usage": usage}}),
        ("content_block_start", {"index": 0, "content_block": start}),
        ("content_block_delta", {"index": 0, "delta": delta}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": stop, "usage": usage}),
        ("message_stop", {}),
    ]


def message(body: Body, line: Body) -> Body:
    """The same without a stream, which asides ask for."""
    events = dict(messages(body, line))
    content = [{"type": "text", "text": line.get("say", "")}]
    return {**events["message_start"]["message"], "content": content, "stop_reason": "end_turn"}


def completions(body: Body, line: Body) -> Events:
    """OpenAI's chat completions, as a stream of unnamed events."""
    if "call" in line:
        function = {"name": line["call"], "arguments": json.dumps(line["with"])}
        delta: Body = {
            "tool_calls": [{"index": 0, "id": f"call_{line['id']}", "type": "function", "function": function}]
        }
        reason = "tool_calls"
    else:
        delta, reason = {"content": line["say"]}, "stop"
    head = {"id": f"chat_{line['id']}", "object": "chat.completion.chunk", "created": 1, "model": body.get("model")}
    usage = {"prompt_tokens": tokens(line), "completion_tokens": 20, "total_tokens": tokens(line) + 20}
    choices = [({"role": "assistant", **delta}, None), ({}, reason)]
    chunks = [{**head, "choices": [{"index": 0, "delta": one, "finish_reason": why}]} for one, why in choices]
    return [("", chunk) for chunk in (*chunks, {**head, "choices": [], "usage": usage})]


def responses(_: Body, line: Body) -> Events:
    """OpenAI's Responses, as a stream."""
    if "custom" in line:
        item: Body = {
            "type": "custom_tool_call",
            "call_id": f"call_{line['id']}",
            "name": line["custom"],
            "input": line["with"],
        }
    elif "call" in line:
        space = {"namespace": line["namespace"]} if "namespace" in line else {}
        item = {"type": "function_call", "call_id": f"call_{line['id']}", "name": line["call"], **space}
        item["arguments"] = json.dumps(line["with"])
    else:
        said = {"type": "output_text", "text": line["say"], "annotations": []}
        item = {"type": "message", "role": "assistant", "content": [said]}
    item = {"id": f"item_{line['id']}", "status": "completed", **item}
    usage = {
        "input_tokens": tokens(line),
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens(line) + 20,
    }
    made = {"id": f"resp_{line['id']}", "object": "response", "status": "completed", "output": [item], "usage": usage}
    return [
        ("response.created", {"response": {"id": made["id"], "status": "in_progress", "output": []}}),
        ("response.output_item.added", {"output_index": 0, "item": item}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": made}),
    ]


def contents(line: Body) -> Body:
    """Gemini's GenerateContent: one message, which is also all of its stream."""
    if "call" in line:
        part: Body = {"functionCall": {"id": f"call_{line['id']}", "name": line["call"], "args": line["with"]}}
    else:
        part = {"text": line["say"]}
    usage = {"promptTokenCount": tokens(line), "candidatesTokenCount": 20, "totalTokenCount": tokens(line) + 20}
    said = {"role": "model", "parts": [part]}
    return {"candidates": [{"content": said, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}


def completion(body: Body, line: Body) -> Body:
    """OpenAI's chat completions without a stream, which asides ask for."""
    said = {"role": "assistant", "content": line.get("say", "")}
    head = {"id": f"chat_{line['id']}", "object": "chat.completion", "created": 1, "model": body.get("model")}
    return {**head, "choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}


class Handler(BaseHTTPRequestHandler):
    """Which protocol it is, the path says."""

    script: ClassVar[Script]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send("application/json", json.dumps({"data": [], "models": []}).encode())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        path = self.path.partition("?")[0]
        if path.endswith(("/count_tokens", ":countTokens")):
            return self._send("application/json", b'{"input_tokens": 900, "totalTokens": 900}')
        line = self.script.answer(path, body, {key.lower(): value for key, value in self.headers.items()})
        if path.endswith("/messages"):
            if not body.get("stream"):
                return self._send("application/json", json.dumps(message(body, line)).encode())
            return self._stream(messages(body, line))
        if path.endswith(":streamGenerateContent"):
            return self._stream([("", contents(line))])
        if path.endswith(":generateContent"):
            return self._send("application/json", json.dumps(contents(line)).encode())
        if path.endswith("/chat/completions") and not body.get("stream"):
            return self._send("application/json", json.dumps(completion(body, line)).encode())
        if path.endswith("/chat/completions"):
            return self._stream(completions(body, line), end="data: [DONE]\n\n")
        if path.endswith("/responses"):
            return self._stream(responses(body, line))
        return self._send("application/json", b"{}", code=404)

    def log_message(self, format: str, *args: Any) -> None:
        """The requests are kept; a log would only say it again."""

    def _stream(self, events: Events, end: str = "") -> None:
        text = "".join(
            f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n"
            if name
            else f"data: {json.dumps(data)}\n\n"
            for name, data in events
        )
        self._send("text/event-stream", (text + end).encode())

    def _send(self, kind: str, data: bytes, code: int = 200) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data)
        except BrokenPipeError:  # a host that ends does not wait for a title
            self.close_connection = True


def serve(script: Script) -> int:
    """Answers from now on; the port."""
    handler = type("Scripted", (Handler,), {"script": script})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return int(server.server_address[1])
