"""The commands around the work itself: sessions, definitions, upkeep, agent hosts."""

from __future__ import annotations

from holdfast.surfaces.cli.grammar import make

_REASON = ("why", "text:reason:4000")
_YES = "do not ask"
_FILE = ("a file of the project", "path")
_SESSION = ("the session (default: the one in use)", "word")
_HOST = ("claude-code, opencode or codex (default: those there are)", "word")
_WHERE = {
    "scope": ("for this project, or for all of yours", "word", "project"),
    "dry_run": "only show what would change",
}

AROUND = make(
    (
        *("session create", "sessions", "begin a session", "story:create"),
        {"name": ("letters, digits, _ and -", "word"), "description": ("what it is for", "text:description:4000")},
    ),
    (
        *("session use", "sessions", "work in a session from now on", "story:use"),
        {"name": ("the session", "word"), "none": "leave the session"},
    ),
    (
        *("session status", "sessions", "what a session changes", "story:status"),
        {"name": ("the session (default: the one in use)", "word")},
    ),
    ("session list", "sessions", "the sessions of this project", "story:listing"),
    (
        *("session write", "sessions", "write a file in the session", "story:write"),
        {"path": _FILE, "source": ("the content (default: standard input)", "path"), "session": _SESSION},
    ),
    (
        *("session path", "sessions", "the session's copy of a file, to edit", "story:path"),
        {"path": _FILE, "session": _SESSION},
    ),
    ("session read", "sessions", "a file as the session has it", "story:read", {"path": _FILE, "session": _SESSION}),
    (
        *("session delete", "sessions", "delete a file in the session", "story:delete"),
        {"path": _FILE, "session": _SESSION},
    ),
    (
        *("session keep", "sessions", "settle a conflict: the session's file wins", "story:keep"),
        {"path": _FILE, "session": _SESSION},
    ),
    (
        *("session retry", "sessions", "try a file again, and keep what is there", "story:retry"),
        {"path": _FILE, "reason": _REASON, "session": _SESSION},
    ),
    (
        *("session commit", "sessions", "what a commit would do; with --force, do it", "story:commit"),
        {"name": ("the session", "word"), "force": "commit it"},
    ),
    (
        *("session cancel", "sessions", "delete a session and all it holds", "story:cancel"),
        {"name": ("the session", "word"), "yes": _YES},
    ),
    ("workflows", "definitions", "the definitions that can be started", "definitions:listing"),
    ("workflows check", "definitions", "whether a definition is right", "definitions:check", {"file": ("", "path")}),
    (
        *("workflows new", "definitions", "begin a definition of your own", "definitions:new"),
        {"name": ("", "name:workflow")},
    ),
    (
        *("trust", "definitions", "let a definition's commands run (a person only)", "definitions:trust"),
        {"definition": ("a file, or the name of a definition", "word"), "remove": "take the trust back", "yes": _YES},
    ),
    (
        *("schema", "definitions", "the JSON Schema of a dialect's documents", "definitions:schema"),
        {"dialect": ("", "name:dialect")},
    ),
    ("install", "hosts", "put Holdfast to work in an agent host", "installing:install", {"host": _HOST, **_WHERE}),
    ("uninstall", "hosts", "take it out of an agent host again", "installing:uninstall", {"host": _HOST, **_WHERE}),
    (
        *("statusline", "hosts", "one line for a host's status, from standard input", "installing:statusline"),
        {"line": "only print the command line that a host should run"},
    ),
    ("doctor", "upkeep", "look for damage", "upkeep:doctor", {"repair": "mend what can be mended"}),
    (
        *("clean", "upkeep", "put finished workflows away", "upkeep:clean"),
        {
            "dry_run": "only say what would be done",
            "all": "whatever their age",
            "active": "give up the active ones too (a person only)",
            "yes": _YES,
        },
    ),
    ("adopt", "upkeep", "take over documents that have no journal yet", "upkeep:adopt", {"paths": ("", "path")}),
    ("demo", "upkeep", "see it at work", "upkeep:demo", {"fast": "without pauses"}),
    (
        *("mcp", "agents", "serve the workflows of this project to agents, by MCP", "serving:mcp"),
        {
            "root": ("the project's folder (default: this one)", "path", "."),
            "http": "over HTTP, not standard input and output",
            "host": ("the address to listen on", "text:host:200", "127.0.0.1"),
            "port": ("the port, 0 for any that is free", "whole:0:65535", 8347),
            "no_token": "without a token, on loopback only",
            "allow_host": ("one more name it is reached by, as in a Host header", "text:host:200"),
            "allow_origin": ("one more page it may be called from", "text:origin:200"),
        },
    ),
    ("completion", "upkeep", "a completion script for your shell", "completion:script", {"shell": ("", "word")}),
)
