"""A project on disk as a fault leaves it: what its files say, judged without Holdfast's own reading code."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from typing import Any, NamedTuple

from holdfast.plain.digest import digest
from tests.faults.commands import Answer, Commands

DOCUMENTS = ".claude/workflow-state"
LIST = f"{DOCUMENTS}/index.json"
INDEX = ".holdfast/index"
EMPTY = {"active": [], "finished": [], "finished_count": 0}
"""What an index says that is not there yet."""
ID = "release-2542b796"
KEY = "the-one"
_VARIES = (
    (re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r"[0-9A-HJKMNP-TV-Z]{26}"), "ULID"),
    (re.compile(r',"sum":"[0-9a-f]{16}"'), ""),  # known to be durable or not, which depends on who wrote it
)
_TIME = re.compile(rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_PLACES = (
    (re.compile(r"/(journal|state)/[0-9a-z]{2}(?=/|$)"), r"/\1/xx"),
    (re.compile(r"\.\d+(?=\.tmp$|$)"), ".PID"),
    (re.compile(r"(slots/index-)[0-9a-f]{8}"), r"\1x"),
    (re.compile(r"(/trees/)[0-9a-f]{32}"), r"\1x"),  # by where the project lies
)

DEFINITION = """
name = "release"
title = "Release {subject}"
[[step]]
id = "plan"
[[step]]
id = "sign"
approval = { by = "relayed" }
[[step]]
id = "ship"
"""

NOTES = """
import holdfast, sys
workflow = holdfast.open(sys.argv[1]).workflow()
while workflow.state.revision < int(sys.argv[2]):
    workflow.note(f"remark {workflow.state.revision}")
"""


class Scene(NamedTuple):
    """A command, and those before it. It carries a key, so that it can be asked for again and happens once."""

    name: str
    before: tuple[str, ...]
    command: str
    revision: int = 0
    """Notes fill the journal up to here first."""

    @property
    def words(self) -> tuple[str, ...]:
        named = () if self.command.startswith("start") else ("-w", ID)
        return (*self.command.split(), *named, "--key", KEY)


START = Scene("start", (), "start release 1.0")
START_BESIDE = Scene("start-beside", ("start release 0.9",), "start release 1.0")
DONE = Scene("done", ("start release 1.0", "begin plan"), "done plan")
APPROVE = Scene("approve", (*DONE.before, "done plan", "begin sign"), "approve sign", revision=127)
LAST = Scene("last", (*APPROVE.before, "approve sign", "begin ship"), "done ship")
REOPEN = Scene("reopen", (*LAST.before, "done ship"), "reopen plan")


class Disk(NamedTuple):
    """What is in a project: the lines of the journals that are whole, the views, and the paths of all files."""

    journals: dict[str, list[dict[str, Any]]]
    views: dict[str, bytes]
    paths: frozenset[str]

    def lines(self) -> list[dict[str, Any]]:
        """The lines of the workflow that the commands are about: the newest."""
        return self.journals[max(self.journals)] if self.journals else []


def lay(folder: str) -> str:
    """A project with nothing but its definition."""
    workflows = os.path.join(folder, ".holdfast", "workflows")
    os.makedirs(workflows)
    with open(os.path.join(workflows, "release.toml"), "w", encoding="utf-8") as file:
        file.write(DEFINITION)
    return folder


def play(folder: str, commands: Commands, scene: Scene) -> str:
    """What comes before a scene's command."""
    for line in scene.before:
        answer = commands(folder, *line.split())
        assert answer.code == 0, answer
    if scene.revision:
        subprocess.run([sys.executable, "-P", "-c", NOTES, folder, str(scene.revision)], check=True)
    return folder


def aged(folder: str) -> str:
    """The list was last written long ago, so that a command writes it again however long the tests take."""
    path = os.path.join(folder, LIST)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            said = json.load(file)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**said, "updated_at": "2020-01-01T00:00:00Z"}, file)
    return folder


def copy(base: str, folder: str) -> str:
    return shutil.copytree(base, folder, symlinks=True)


def disk(root: str) -> Disk:
    journals, views = {}, {}
    for path in files(root):
        with open(os.path.join(root, path), "rb") as file:
            data = file.read()
        if path.startswith(".holdfast/journal/"):
            journals[os.path.basename(path)] = whole_lines(data)
        elif path == INDEX or (path.startswith((DOCUMENTS, ".holdfast/state/")) and path.endswith(".json")):
            views[path] = data
    paths = frozenset(place(path) for path in files(root))
    return Disk({name: lines for name, lines in journals.items() if lines}, views, paths)


def files(root: str) -> list[str]:
    found = [os.path.relpath(os.path.join(at, name), root) for at, _, names in os.walk(root) for name in names]
    return sorted(found)


def whole_lines(data: bytes) -> list[dict[str, Any]]:
    found = []
    for line in data.split(b"\n")[:-1]:
        if not is_json(line):  # torn, and so is everything behind it
            break
        found.append(json.loads(line))
    return found


def place(path: str) -> str:
    """A path without what differs from run to run."""
    for pattern, word in (*_VARIES, *_PLACES):
        path = pattern.sub(word, path)
    return path


def normal(views: dict[str, bytes]) -> dict[str, Any]:
    """Views without what differs from run to run. A snapshot is judged by itself."""
    return {path: plain(data) for path, data in views.items() if not path.startswith(".holdfast/state/")}


def plain(data: bytes) -> Any:
    text = data.decode()
    for pattern, word in _VARIES:
        text = pattern.sub(word, text)
    value = json.loads(text)
    if isinstance(value, dict):
        value.pop("seal", None)  # over what has just been made the same
    return value


class Judge:
    """Knows a project before a command and after it, and says whether what a fault left is one of them."""

    def __init__(self, old: Disk, new: Disk, commands: Commands, scene: Scene) -> None:
        self._old = old
        self._new = new
        self._commands = commands
        self._scene = scene

    def old_or_new(self, root: str) -> None:
        """Right after the fault: every view is whole, and the one before or the one after."""
        found = disk(root)
        old, new = normal(self._old.views), normal(self._new.views)
        for path in old.keys() | new.keys() | normal(found.views).keys():
            if path not in found.views:
                assert path not in old or path not in new, f"{path} is gone"
            elif found.views[path] != self._old.views.get(path):
                wanted = [new.get(path)] + [EMPTY] * (path == INDEX and path not in old)
                assert plain(found.views[path]) in wanted, f"{path} is neither the old nor the new one"
                if path not in (INDEX, LIST):
                    assert _is_of_its_lines(path, found, self._new), f"{path} is ahead of the journal"
        for path, data in found.views.items():
            if path.startswith(".holdfast/state/"):
                sealed(data, found.lines())

    def happened(self, root: str) -> bool:
        return any(line.get("key") == KEY for line in disk(root).lines())

    def is_shown(self, root: str) -> bool:
        """Whether every view is the one after the command."""
        return normal(disk(root).views) == normal(self._new.views)

    def goes_on(self, root: str, *, damaged: bool = False) -> None:
        """The next commands just work: looking, then the same again, which happens once in all."""
        before = self.happened(root)
        answer = self._commands(root, "status", "-w", ID, "--json")
        if answer.code == 4:
            assert not before, answer
        else:
            assert answer.code == 0, answer
            assert damaged or not answer.json.get("alerts"), answer.json
        assert self.happened(root) == before, "looking changed what happened"
        self.settled(root, new=before, damaged=damaged)
        self.again(root, damaged=damaged)

    def again(self, root: str, *, damaged: bool = False) -> None:
        answer = self._commands(root, *self._scene.words)
        assert answer.code == 0, answer
        self.settled(root, new=True, damaged=damaged)
        answer = self._commands(root, "note", "and on we go", "-w", ID)
        assert answer.code == 0, answer
        left = disk(root).paths - self._old.paths - self._new.paths
        kept = ("/slots/", "/.gitignore.", "/quarantine/", "/heard") if damaged else ("/slots/", "/.gitignore.")
        assert not [path for path in left if not any(folder in path for folder in kept)], "left over"

    def settled(self, root: str, *, new: bool, damaged: bool = False) -> None:
        """Every view says exactly what the journal says, nothing is left over, and nobody is accused."""
        found, wanted = disk(root), self._new if new else self._old
        commands = [line["command"] for line in found.lines()]
        if damaged:
            commands = [command for command in commands if command != "alarm"]
        assert commands == [line["command"] for line in wanted.lines()]
        for line in found.lines():
            assert "edit_refused" not in json.dumps(line), line
        documents = _documents(found)
        assert documents == _documents(wanted), "documents are where they do not belong"
        for path in documents:
            assert _is_of_its_lines(path, found, wanted), f"{path} is not what the journal says"
        if not damaged:
            assert {INDEX: EMPTY} | normal(found.views) == {INDEX: EMPTY} | normal(wanted.views)
        for path in (INDEX, LIST):
            assert _listed(found, path) == _listed(wanted, path), f"{path} is behind"


def _documents(found: Disk) -> set[str]:
    return {path for path in found.views if path.startswith(DOCUMENTS) and path != LIST}


def _is_of_its_lines(path: str, found: Disk, wanted: Disk) -> bool:
    """Whether a document is that of an undisturbed run, with the times of its own lines and with their alarms."""
    (own, lines), (other, others) = _with_lines(path, found), _with_lines(path, wanted)
    alarms = [line for line in lines if line["command"] == "alarm"]
    alerts = [entry for entry in own["history"] if entry["event"] == "alert"]
    said = [event["alert"] for line in alarms for event in line["events"]]
    own["history"] = [entry for entry in own["history"] if entry not in alerts]
    return (
        [(one["at"], one["code"], one["message"]) for one in alerts]
        == [(_second(one), one["code"], one["message"]) for one in said]
        and own["workflow"].pop("updated_at") == _second(lines[-1])
        and other["workflow"].pop("updated_at") == _second(others[-1])
        and plain(_encoded(own)) == plain(_encoded(other))
        and all(
            _lines_at(one, [line for line in lines if line not in alarms]) & _lines_at(two, others)
            for one, two in zip(_TIME.findall(_encoded(own)), _TIME.findall(_encoded(other)), strict=True)
        )
    )


def _with_lines(path: str, found: Disk) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What a document says, and the lines of its workflow."""
    said = json.loads(found.views[path])
    (lines,) = [one for one in found.journals.values() if one[0]["events"][0]["id"] == said["workflow"]["id"]]
    return said, lines


def _second(of: dict[str, Any]) -> str:
    return f"{of['at'][:19]}Z"


def _encoded(value: object) -> bytes:
    return json.dumps(value).encode()


def _lines_at(time: bytes, lines: list[dict[str, Any]]) -> set[int]:
    return {number for number, line in enumerate(lines) if _second(line) == time.decode()}


def _listed(found: Disk, path: str) -> Any:
    """What a list says of which workflows, without when."""
    data = found.views.get(path)
    if data is None:
        return EMPTY
    if not is_json(data):
        return "torn"
    said = plain(data)
    if path == INDEX:
        for name in ("active", "finished"):
            for entry, raw in zip(said[name], json.loads(data)[name], strict=True):
                entry["revision"] = _command(found, raw)
    return {name: value for name, value in said.items() if name != "updated_at"}


def _command(found: Disk, entry: dict[str, Any]) -> str:
    """The command of an entry's line, which has another number where an alarm was recorded before it."""
    line = found.journals[f"{entry['ulid']}.jsonl"][entry["revision"] - 1]
    assert entry.get("sum", line["sum"]) == line["sum"], "the index names another line than the journal has"
    return str(line["command"])


def is_json(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data), dict)
    except ValueError:
        return False


def sealed(data: bytes, lines: list[dict[str, Any]]) -> None:
    """A snapshot is whole by its seal, and of a line that the journal has."""
    seal, _, body = data.partition(b"\n")
    assert digest(body).encode() == seal, "the snapshot is torn"
    position = json.loads(body)["position"]
    assert lines[position["seq"] - 1]["sum"] == position["sum"]


def told(answer: Answer) -> str:
    """What a failed command said: one sentence and a remedy, and no inside of the program."""
    assert "Traceback" not in answer.err + answer.out, answer
    assert "should not happen" not in answer.err + answer.out, answer
    assert "\n→ " in answer.err, answer
    return answer.err


def snapshot_of(found: Disk) -> int:
    """The line that a project's only snapshot is of."""
    (data,) = [data for path, data in found.views.items() if path.startswith(".holdfast/state/")]
    return int(json.loads(data.partition(b"\n")[2])["position"]["seq"])
