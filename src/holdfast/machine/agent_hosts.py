"""Which programs run agents: what a terminal below one of them shows is an agent's, and no person's.

An editor is none of them: people type in its terminal. A host is recognised by the name of its program or script, or
by the folder of its package where an interpreter runs it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Sequence

NAMES = frozenset(
    (
        *("aider", "amp", "auggie", "claude", "claude-code", "cline", "codebuff", "codex", "copilot", "crush"),
        *("cursor-agent", "droid", "forge-code", "gemini", "gemini-cli", "goose", "gptme", "grok", "iflow", "kilocode"),
        *("kimi", "kiro-cli", "mini-swe-agent", "nanocoder", "opencode", "openhands", "plandex", "qwen", "rovodev"),
        *("sweagent", "swe-agent", "vibe"),
    )
)
PACKAGES = (
    *("@anthropic-ai/claude-code", "claude/versions", "@openai/codex", "opencode-ai", "@google/gemini-cli"),
    *("@github/copilot", "cursor-agent/versions", "@sourcegraph/amp", "@augmentcode/auggie", "@qwen-code/qwen-code"),
    *("@charmland/crush", "@kilocode/cli", "@continuedev/cli", "@anthropic-ai/claude-agent-sdk", "holdfast/runner"),
)
_INTERPRETERS = ("node", "bun", "deno", "python", "ruby", "bash", "sh", "dash", "zsh", "env", "npx", "uv", "uvx")
_PASSING = ("doas", "expect", "runuser", "script", "socat", "ssh", "su", "sudo", "unbuffer")
"""What makes a terminal for a program, and passes on to it what comes from its own."""
_TOOLS = (*_INTERPRETERS, *_PASSING, *("ash", "busybox", "fish", "ksh", "lua", "nohup", "perl", "php", "setsid"),
          *("systemd-run", "tclsh", "timeout"))  # fmt: skip
_PEOPLES = ("terminator", "guake", "jupyter", "jupyter-lab", "jupyter-notebook", "jupyterhub-singleuser")
"""Programs for people that interpreters run."""
_EDITORS = (".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server", "code-server")
_WORDS = 4
"""How many words of an interpreter's command line are looked at: its options, and the script."""


def name_of(title: str, program: str, words: Sequence[str]) -> str:
    """The agent host that a process is, by its title, its program and its command line; empty when it is none."""
    called = [title, program, *words[:1]]
    if any(_stem(one).rstrip("0123456789.") in _INTERPRETERS for one in called[1:]):
        called += [word for word in words[1:_WORDS] if not word.startswith("-")][:2]
    for one in called:
        if _stem(one) in NAMES:
            return _stem(one)
        for package in PACKAGES:
            if f"/{package}/" in one:
                return package
    return ""


def is_tool(program: str, words: Sequence[str]) -> bool:
    """Whether a process is an interpreter or a program that makes terminals for others, and no terminal of people."""
    if _stem(program).rstrip("0123456789.") not in _TOOLS or any(f"/{name}/" in program for name in _EDITORS):
        return False
    return not any(_stem(word) in _PEOPLES for word in words[1:_WORDS])


def passes_on(program: str) -> bool:
    """Whether a program makes a terminal only to pass on what comes from its own."""
    return _stem(program) in _PASSING


def _stem(path: str) -> str:
    """The last part of a path, without what says in which language it is written."""
    name = path.rpartition("/")[2]
    for ending in (".js", ".mjs", ".cjs", ".py", ".exe"):
        name = name.removesuffix(ending)
    return name
