"""The commands around the work itself: sessions, definitions, upkeep, agent hosts."""

from __future__ import annotations

from holdfast.surfaces.cli.grammar import Option, make

_WHY = Option("--reason", "why", "text:reason:4000", "TEXT", required=True)
_YES = Option("--yes", "do not ask")
_FILE = Option("path", "a file of the project", "path", "PATH")
_SESSION = Option("--session", "the session (default: the one in use)", "word", "S")
_HOST = Option("host", "claude-code, opencode or codex (default: those there are)", "word", "HOST", nargs="?")
_WHERE = (
    Option("--scope", "for this project, or for all of yours", "word", choices=("project", "user"), default="project"),
    Option("--dry-run", "only show what would change"),
)

AROUND = make(
    (
        *("session create", "sessions", "begin a session", "sessions:create", ""),
        (
            Option("name", "letters, digits, _ and -", "word", "NAME"),
            Option("--description", "what it is for", "text:description:4000", "TEXT"),
        ),
    ),
    (
        *("session use", "sessions", "work in a session from now on", "sessions:use", ""),
        (Option("name", "the session", "word", "NAME", nargs="?"), Option("--none", "leave the session")),
    ),
    (
        *("session status", "sessions", "what a session changes", "sessions:status", ""),
        (Option("name", "the session (default: the one in use)", "word", "NAME", nargs="?"),),
    ),
    ("session list", "sessions", "the sessions of this project", "sessions:listing"),
    (
        *("session write", "sessions", "write a file in the session", "sessions:write", ""),
        (_FILE, Option("--from", "the content (default: standard input)", "path", "FILE", dest="source"), _SESSION),
    ),
    ("session path", "sessions", "the session's copy of a file, to edit", "sessions:path", "", (_FILE, _SESSION)),
    ("session read", "sessions", "a file as the session has it", "sessions:read", "", (_FILE, _SESSION)),
    ("session delete", "sessions", "delete a file in the session", "sessions:delete", "", (_FILE, _SESSION)),
    (
        *("session keep", "sessions", "settle a conflict: the session's file wins", "sessions:keep", ""),
        (_FILE, _SESSION),
    ),
    (
        *("session retry", "sessions", "try a file again, and keep what is there", "sessions:retry", ""),
        (_FILE, _WHY, _SESSION),
    ),
    (
        *("session commit", "sessions", "what a commit would do; with --force, do it", "sessions:commit", ""),
        (Option("name", "the session", "word", "NAME"), Option("--force", "commit it")),
    ),
    (
        *("session cancel", "sessions", "delete a session and all it holds", "sessions:cancel", ""),
        (Option("name", "the session", "word", "NAME"), _YES),
    ),
    ("workflows", "definitions", "the definitions that can be started", "definitions:listing"),
    (
        *("workflows check", "definitions", "whether a definition is right", "definitions:check", ""),
        (Option("file", "", "path", "FILE"),),
    ),
    (
        *("workflows new", "definitions", "begin a definition of your own", "definitions:new", ""),
        (Option("name", "", "name:workflow", "NAME"),),
    ),
    (
        *("trust", "definitions", "let a definition's commands run (a person only)", "definitions:trust", ""),
        (
            Option("definition", "a file, or the name of a definition", "word", "FILE_OR_NAME"),
            Option("--remove", "take the trust back"),
            _YES,
        ),
    ),
    (
        *("schema", "definitions", "the JSON Schema of a dialect's documents", "definitions:schema", ""),
        (Option("dialect", "", "name:dialect", "DIALECT", nargs="?"),),
    ),
    ("install", "hosts", "put Holdfast to work in an agent host", "installing:install", "", (_HOST, *_WHERE)),
    ("uninstall", "hosts", "take it out of an agent host again", "installing:uninstall", "", (_HOST, *_WHERE)),
    (
        *("statusline", "hosts", "one line for a host's status, from standard input", "installing:statusline", ""),
        (Option("--line", "only print the command line that a host should run"),),
    ),
    (
        *("doctor", "upkeep", "look for damage", "upkeep:doctor", ""),
        (Option("--repair", "mend what can be mended"),),
    ),
    (
        *("clean", "upkeep", "put finished workflows away", "upkeep:clean", ""),
        (
            Option("--dry-run", "only say what would be done"),
            Option("--all", "whatever their age"),
            Option("--active", "give up the active ones too (a person only)"),
            _YES,
        ),
    ),
    (
        *("adopt", "upkeep", "take over documents that have no journal yet", "upkeep:adopt", ""),
        (Option("paths", "", "path", "PATH", nargs="*"),),
    ),
    (
        *("demo", "upkeep", "see it at work", "upkeep:demo", ""),
        (Option("--fast", "without pauses"),),
    ),
    (
        *("mcp", "agents", "serve the workflows of this project to agents, by MCP", "serving:mcp", ""),
        (
            Option("--root", "the project's folder (default: this one)", "path", "DIR", default="."),
            Option("--http", "over HTTP, not standard input and output"),
            Option("--host", "the address to listen on", "text:host:200", "ADDRESS", default="127.0.0.1"),
            Option("--port", "the port, 0 for any that is free", "whole:0:65535", "N", default=8347),
            Option("--no-token", "without a token, on loopback only"),
            Option(
                "--allow-host",
                "one more name it is reached by, as in a Host header",
                "text:host:200",
                "HOST",
                many=True,
            ),
            Option("--allow-origin", "one more page it may be called from", "text:origin:200", "ORIGIN", many=True),
        ),
    ),
    (
        *("completion", "upkeep", "a completion script for your shell", "completion:script", ""),
        (Option("shell", "", "word", choices=("bash", "zsh", "fish")),),
    ),
)
