"""Commands that would need a shell: Holdfast runs a program and its arguments, and no shell reads them."""

from __future__ import annotations

QUOTED = r"""\\.|'[^']*'|"(?:\\.|[^"\\$`])*\""""
_SIGNS = r"&&|\|\||[|<>;&$`]"
_ASSIGNMENT = r"\s*[A-Za-z_][A-Za-z0-9_]*="
_BUILT_IN = r"\s*(?:cd|export|source|set|unset|ulimit|eval|\.)\s"


def needs_shell(command: str) -> str:
    """What of a command only a shell understands, and how to write it else; empty where there is no such thing."""
    import re
    import shlex

    bare = re.sub(QUOTED, "", command)
    sign = re.search(_SIGNS, bare)
    if sign is None and re.match(_ASSIGNMENT, bare):
        return f"a shell would set {command.split(maxsplit=1)[0]!r}: write 'env {command.strip()}'"
    built_in = re.match(_BUILT_IN, bare)
    if sign is None and built_in is None:
        return ""
    found = sign[0] if sign else (built_in[0].strip() if built_in else "")
    through = f"sh -c {shlex.quote(command.strip())}"
    return f"only a shell knows {found!r}: write a script and name it, or {through}, of which only the exit code counts"
