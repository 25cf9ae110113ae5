"""Ways in which a program could pass for a person: each is refused, or recorded as what it is."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys

import pytest

import holdfast
from holdfast.core import commands as cmd
from holdfast.core import gates
from holdfast.core.state import Actor, Proof
from holdfast.errors import HoldfastError
from tests.workbench import Bench

DEFINITION = """
name = "proposal"
[[step]]
id = "accept"
approval = { by = "human" }
[[step]]
id = "seal"
approval = { by = "signed" }
[[step]]
id = "last"
"""


@pytest.fixture
def bench(tmp_path) -> Bench:
    made = Bench(tmp_path / "app").begun()
    made.write(".holdfast/workflows/proposal.toml", DEFINITION)
    made.open().start("proposal", "New harbour").begin("accept").done("accept")
    return made


def refused(call, code: str) -> None:
    with pytest.raises(HoldfastError) as caught:
        call()
    assert caught.value.code == code


def is_waiting(bench: Bench) -> None:
    assert bench.open().workflow().state.step("accept").status == "waiting"


def test_a_script_on_a_terminal_is_no_person(bench):
    """Nobody reads what a script decides, also where a person, or an agent with a terminal of its own, started it."""
    script = "import holdfast\nholdfast.open('.').workflow().approve('accept')\n"
    primary, secondary = pty.openpty()
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=bench.root, stdin=secondary, stdout=secondary, stderr=subprocess.PIPE
    )
    os.close(secondary)
    os.close(primary)
    assert b"only a person may approve accept" in ran.stderr
    is_waiting(bench)


@pytest.mark.parametrize("door", [{"actor": Actor("human", "ada")}, {"signer": "ada@example.org"}])
def test_no_method_takes_somebody_elses_word(bench, door):
    workflow = holdfast.open(str(bench.root)).workflow()
    for call in (workflow.approve, workflow.reject, workflow.reset, workflow.skip):
        with pytest.raises(TypeError):
            call("accept", **door)
    is_waiting(bench)


@pytest.mark.parametrize("command", [cmd.Approve("accept"), cmd.Reset("accept"), cmd.Reject("accept", "no")])
def test_the_engine_believes_no_actor_that_the_process_did_not_recognise(bench, command):
    project = holdfast.open(str(bench.root))
    workflow = project.workflow()
    for actor in (Actor("human", "ada", "cli"), Actor("human", "mona@github", "github")):
        refused(lambda actor=actor: project.wired.engine.execute(workflow.ulid, command, actor), "person_needed")
        refused(lambda actor=actor: project.wired.execute(workflow.ulid, command, actor), "person_needed")
    is_waiting(bench)


def test_a_signature_is_checked_whoever_brings_it(bench):
    bench.open("human").workflow().approve("accept")
    bench.write(".holdfast/allowed_signers", "")
    project = bench.open()
    workflow = project.workflow().begin("seal").done("seal")
    armor = "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n"
    for signature, code in ((armor, "bad_signature"), ("ada", "bad_signature"), ("", "signature_needed")):
        proof = Proof(workflow.statement("seal").decode(), signature) if signature else None
        forged = cmd.Approve("seal", proof=proof)
        refused(lambda forged=forged: workflow.execute(forged), code)
    refused(lambda: workflow.approve("seal", signature=b"\xff", statement=workflow.statement("seal")), "bad_signature")


def test_a_signature_holds_in_a_copy_as_long_as_its_signer_is_named_there(bench, tmp_path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True)
    bench.write(".holdfast/allowed_signers", f"ada@example.org {(tmp_path / 'key.pub').read_text()}")
    bench.open("human").workflow().approve("accept")
    workflow = bench.open().workflow().begin("seal").done("seal")
    workflow.approve("seal", sign=str(tmp_path / "key"))
    copy = Bench(shutil.copytree(bench.root, tmp_path / "copy", symlinks=True))

    def verdicts(of: Bench) -> list[str]:
        seen = of.open().workflow()
        return [gates.grant_verdict(seen.state, step, seen.facts()) for step in ("accept", "seal")]

    assert (verdicts(bench), verdicts(copy)) == (["valid", "valid"], ["claimed", "valid"])
    copy.write(".holdfast/allowed_signers", "")
    assert verdicts(copy) == ["claimed", "claimed"]
    answer = copy.person("approve", "--claimed", "--yes")
    assert (answer.code, "--sign KEY" in answer.out) == (3, True)


@pytest.mark.parametrize("env", [{"HOLDFAST_ACTOR": "human"}, {"USER": "ada", "LOGNAME": "ada"}])
def test_a_name_makes_no_person(bench, env):
    for words in (("approve", "accept"), ("approve", "accept", "--as", "human"), ("approve", "--claimed", "--yes")):
        answer = bench.agent(*words, "--json", env=env)
        if "--claimed" in words:
            assert answer.json == {"confirmed": {}}
        else:
            assert answer.error["code"] == "person_needed", answer
    is_waiting(bench)


def test_what_a_program_writes_as_a_persons_is_only_claimed(bench):
    """A line that was made with everything but the key of this clone."""
    project = bench.open("human")
    workflow = project.workflow().approve("accept")
    grant = workflow.state.step("accept").grant
    assert gates.grant_verdict(workflow.state, "accept", workflow.facts()) == "valid"
    forged = (
        grant.replace(mac=""),
        grant.replace(mac="0" * 32),
        grant.replace(by="human bob"),
        grant.replace(how="forge"),
    )
    for one in (*forged, grant.replace(how="relayed", mac=""), grant.replace(modifications={"colour": "red"})):
        progress = {"accept": workflow.state.step("accept").replace(grant=one)}
        state = workflow.state.replace(progress=progress)
        assert gates.grant_verdict(state, "accept", workflow.facts()) == "claimed", one
    other = workflow.state.replace(ulid="0" * 26)
    assert gates.grant_verdict(other, "accept", workflow.facts()) == "claimed"
