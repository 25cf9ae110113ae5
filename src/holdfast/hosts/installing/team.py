"""The team of agents that ships with a system: one text for each role, and what the hosts differ in as data."""

from __future__ import annotations

import os
import re

import holdfast
from holdfast.core.value import Value
from holdfast.errors import UsageError
from holdfast.hosts.installing.parts import MARK, Whole
from holdfast.hosts.installing.setting import File, Setting
from holdfast.systems.seam import team_files
from holdfast.systems.seam.registry import folders

ORCHESTRATOR, CREATOR, REVIEWER = "orchestrator", "creator", "reviewer"
VERSION = f"{MARK}, team {holdfast.__version__}"
_PLACEHOLDER = r"\{\{(part|template) ([a-z-]+)\}\}"
_HEAD = r"---\n((?:[a-z]+: .*\n)+)---\n"

_APPROVALS = ("holdfast approve*", "holdfast reject*")
CLAUDE_CODE = {
    ORCHESTRATOR: "",
    CREATOR: "tools: Read, Grep, Glob, Write, Edit, Bash\n",
    REVIEWER: "tools: Read, Grep, Glob, Write, Bash\n",
}
"""Front matter by kind of role. An agent that names its tools has no others: no server, and no agents of its own."""
_NEITHER = "".join(f'    "{command}": deny\n' for command in _APPROVALS)
_OPENCODE = f'mode: subagent\npermission:\n  bash:\n{_NEITHER}  task: deny\n  "holdfast_*": deny\n  edit:\n'
OPENCODE = {
    ORCHESTRATOR: "mode: primary\n",
    CREATOR: f'{_OPENCODE}    "workflow/*/reviews/*": deny\n',
    REVIEWER: f'{_OPENCODE}    "*": deny\n    "workflow/*/{{{{phase}}}}/reviews/*": allow\n',
}
"""The last rule that fits counts, and an asterisk stands for slashes too. What a person has to be asked stays so."""
CODEX = {CREATOR: 'sandbox_mode = "workspace-write"\n', REVIEWER: 'sandbox_mode = "workspace-write"\n'}
"""Its sandbox knows no single files: of a reviewer, the hooks keep the rest. The orchestrator is a skill there."""


class Role(Value):
    """An agent. `text` is what it is told; `kind` says what it may do, and cannot be changed by a project."""

    name: str
    kind: str
    phase: str
    description: str
    text: str


def roles(root: str = "", system: str = "") -> list[Role]:
    """The roles of all systems, or of one, with what the project in `root` has in their place."""
    return [
        _role(folder, root, file.removesuffix(".md"))
        for folder in folders("team", system)
        for file in sorted(os.listdir(os.path.join(folder, "roles")))
    ]


def claude_code(role: Role) -> str:
    head = f"name: {role.name}\ndescription: {_scalar(role.description)}\n{CLAUDE_CODE[role.kind]}"
    return _markdown(head, role)


def opencode(role: Role) -> str:
    head = f"description: {_scalar(role.description)}\n{OPENCODE[role.kind].replace('{{phase}}', role.phase)}"
    return _markdown(head, role)


def skill(role: Role) -> str:
    return _markdown(f"name: {role.name}\ndescription: {_scalar(role.description)}\n", role)


def codex(role: Role) -> str:
    """A literal string of TOML holds any text but three single quotes in a row."""
    if "'''" in role.text or re.search(r"[\x00-\x08\x0b-\x1f\x7f]", role.text):
        path = f"{team_files.FOLDER}/roles/{role.name}.md"
        said = f"{path}: three single quotes in a row, and control characters, cannot be handed to Codex"
        raise UsageError("bad_team_file", said, remedy=f"remove them from {path}", facts={"path": path})
    head = f'name = "{role.name}"\ndescription = {_quoted(role.description)}\n{CODEX[role.kind]}'
    return f"# {VERSION}\n{head}developer_instructions = '''\n{role.text}'''\n"


def agents(at: Setting, folder: str, shape: str) -> list[File]:
    """The files of the roles in a folder of a host, and the skill by which a session leads them."""
    if not at.team:
        return []
    made = {"claude-code": claude_code, "opencode": opencode, "codex": codex}[shape]
    ending = "toml" if shape == "codex" else "md"
    return [
        File(os.path.join(folder, "agents", f"{role.name}.{ending}"), (Whole(f"agent {role.name}", made(role)),))
        for role in roles(at.root)
        if shape != "codex" or role.kind in CODEX
    ]


def skills(at: Setting, folder: str) -> list[File]:
    return [
        File(os.path.join(folder, "skills", role.name, "SKILL.md"), (Whole(f"skill {role.name}", skill(role)),))
        for role in (roles(at.root) if at.team else ())
        if role.kind == ORCHESTRATOR
    ]


def _role(folder: str, root: str, name: str) -> Role:
    """Of a role that the project wrote, the front matter may say the description; what it may do is ours to say."""
    place = os.path.join(folder, "roles")
    told, shipped = (_split(one) for one in (team_files.text(place, root, "roles", name), _shipped(place, name)))
    head = {**shipped[0], **{key: value for key, value in told[0].items() if key == "description"}}
    phase = head.get("phase", "")
    return Role(name, head["kind"], phase, head["description"], _filled(told[1], folder, root, phase))


def _shipped(folder: str, name: str) -> str:
    return team_files.shipped_text(folder, name)


def _split(text: str) -> tuple[dict[str, str], str]:
    """The front matter and the text."""
    head = re.match(_HEAD, text)
    if head is None:
        return {}, text
    pairs = (line.partition(": ") for line in head[1].splitlines())
    return {key: value.strip() for key, _, value in pairs}, text[head.end() :]


def _filled(text: str, folder: str, root: str, phase: str, within: tuple[str, ...] = ()) -> str:
    """A text with the parts and templates that it names in their places.

    A part of the project that names itself means the shipped one.
    """

    def put(found: re.Match[str]) -> str:
        kind, name = found[1], found[2]
        place = os.path.join(folder, "parts") if kind == "part" else os.path.join(folder, "..", "templates")
        if not os.path.isfile(os.path.join(place, f"{name}.md")):
            known = sorted(one.removesuffix(".md") for one in os.listdir(place) if one.endswith(".md"))
            said = f"{found[0]} in {team_files.FOLDER}/ names no {kind}: {', '.join(known)}"
            raise UsageError("bad_team_file", said, remedy="change this line", facts={"name": name[:80]})
        if kind == "template":
            return _template(name, team_files.text(place, root, "templates", name))
        said = team_files.shipped_text(place, name) if name in within else team_files.text(place, root, "parts", name)
        return _filled(said, folder, root, phase, (*within, name)).strip("\n")

    return re.sub(_PLACEHOLDER, put, text).replace("{{phase}}", phase).strip("\n") + "\n"


def _template(name: str, text: str) -> str:
    own = f"{team_files.FOLDER}/templates/{name}.md"
    return f"Template of the {name} file; if the project has `{own}`, use that one:\n\n~~~markdown\n{text.strip()}\n~~~"


def _markdown(head: str, role: Role) -> str:
    return f"---\n{head}---\n{role.text}\n<!-- {VERSION} -->\n"


def _scalar(text: str) -> str:
    """A value of YAML: as it is where nothing in it can mean anything else."""
    return text if re.fullmatch(r"[A-Za-z][\w .,()/-]*", text) else _quoted(text)


def _quoted(text: str) -> str:
    import json

    return json.dumps(text)
