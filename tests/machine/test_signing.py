"""Signed approvals, with real keys made by ssh-keygen."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from holdfast.errors import HoldfastError, NotFound, Refused
from holdfast.machine import signing
from tests.tiers import need

PAYLOAD = b"holdfast approval 2\nand so on\n"


def key(folder, name, passphrase="", kind="ed25519"):
    need("ssh-keygen")
    path = folder / name
    made = ["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "a comment", "-f", path]
    subprocess.run(made, check=True, stdin=subprocess.DEVNULL)
    return str(path)


def allow(folder, *lines):
    """An allowed-signers file: principals (and options) with the path of a key."""
    path = folder / "allowed_signers"
    keys = [(who, Path(f"{private}.pub").read_text()) for who, private in lines]
    path.write_text("# who may sign\n" + "".join(f"{who} {public}" for who, public in keys))
    return str(path)


def refusal(payload, signature, allowed):
    with pytest.raises(Refused) as caught:
        signing.verify(payload, signature, allowed)
    assert caught.value.code == "bad_signature"
    return caught.value.message


# Signing and verifying


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_what_somebody_signed_is_theirs(tmp_path, kind):
    mine = key(tmp_path, "mine", kind=kind)
    signature = signing.sign(PAYLOAD, mine)
    other = key(tmp_path, "other")
    assert signing.verify(PAYLOAD, signature, allow(tmp_path, ("oz@x", other), ("pat@x", mine))) == "pat@x"


def test_a_signature_does_not_hold_for_another_text(tmp_path):
    mine = key(tmp_path, "mine")
    signature = signing.sign(PAYLOAD, mine)
    refusal(PAYLOAD + b"\n", signature, allow(tmp_path, ("pat@x", mine)))


def test_the_signature_of_somebody_who_is_not_allowed_is_refused(tmp_path):
    signature = signing.sign(PAYLOAD, key(tmp_path, "stranger"))
    allowed = allow(tmp_path, ("pat@x", key(tmp_path, "mine")))
    assert allowed in refusal(PAYLOAD, signature, allowed)


def test_a_signature_made_for_another_purpose_is_refused(tmp_path):
    mine = key(tmp_path, "mine")
    made = ["ssh-keygen", "-Y", "sign", "-n", "git", "-f", mine]
    signature = subprocess.run(made, input=PAYLOAD, capture_output=True, check=True).stdout
    assert "namespace" in refusal(PAYLOAD, signature, allow(tmp_path, ("pat@x", mine)))


def test_a_key_that_is_allowed_for_another_purpose_or_no_longer_is_refused(tmp_path):
    mine = key(tmp_path, "mine")
    signature = signing.sign(PAYLOAD, mine)
    refusal(PAYLOAD, signature, allow(tmp_path, ('pat@x namespaces="git"', mine)))
    refusal(PAYLOAD, signature, allow(tmp_path, ('pat@x valid-before="20200101"', mine)))
    assert signing.verify(PAYLOAD, signature, allow(tmp_path, ('pat@x namespaces="git,holdfast"', mine))) == "pat@x"


def test_of_several_names_for_one_key_the_first_that_holds_is_given(tmp_path):
    mine = key(tmp_path, "mine")
    signature = signing.sign(PAYLOAD, mine)
    assert signing.verify(PAYLOAD, signature, allow(tmp_path, ("!bad@x,pat@x,pat@y", mine))) == "pat@x"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda signature: b"",
        lambda signature: b"yes, I approve",
        lambda signature: signature[: len(signature) // 2],
        lambda signature: signature[:-60] + signature[-60:].swapcase(),
        lambda signature: signature + b"\n" * signing.LARGEST_SIGNATURE,
        lambda signature: b"-----BEGIN SSH SIGNATURE-----\n\xff\0\n-----END SSH SIGNATURE-----\n",
    ],
    ids=["empty", "words", "half", "changed", "large", "bytes"],
)
def test_what_is_not_a_signature_is_refused(tmp_path, spoil):
    mine = key(tmp_path, "mine")
    refusal(PAYLOAD, spoil(signing.sign(PAYLOAD, mine)), allow(tmp_path, ("pat@x", mine)))


def test_nobody_may_sign_where_nobody_is_listed(tmp_path):
    mine = key(tmp_path, "mine")
    signature = signing.sign(PAYLOAD, mine)
    with pytest.raises(NotFound) as caught:
        signing.verify(PAYLOAD, signature, str(tmp_path / "none"))
    assert caught.value.code == "no_allowed_signers"
    assert {one.who for one in caught.value.remedies} == {"person"}
    assert caught.value.remedy == "show this to a person and stop"
    refusal(PAYLOAD, signature, allow(tmp_path))


def test_a_key_that_is_not_there_is_named(tmp_path):
    with pytest.raises(NotFound) as caught:
        signing.sign(PAYLOAD, str(tmp_path / "none"))
    assert caught.value.code == "no_key"


def test_a_key_with_a_passphrase_asks_nobody_and_points_to_the_agent(tmp_path, monkeypatch):
    """An asking program is offered, and must not be started."""
    asked = tmp_path / "asked"
    ask = tmp_path / "ask"
    ask.write_text(f"#!/bin/sh\ntouch {asked}\necho secret\n")
    ask.chmod(0o755)
    monkeypatch.setenv("SSH_ASKPASS", str(ask))
    monkeypatch.setenv("SSH_ASKPASS_REQUIRE", "force")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    mine = key(tmp_path, "mine", passphrase="secret")
    with pytest.raises(HoldfastError) as caught:
        signing.sign(PAYLOAD, mine)
    assert (caught.value.code, str(caught.value.remedies[0])) == ("key_locked", f"ssh-add {mine}")
    assert not asked.exists()


def test_an_agent_signs_with_a_key_whose_private_half_is_not_on_the_disk(tmp_path, monkeypatch):
    mine = key(tmp_path, "mine")
    started = subprocess.run(["ssh-agent", "-s"], capture_output=True, text=True, check=True).stdout
    variables = dict(re.findall(r"(SSH_\w+)=([^;]+);", started))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    try:
        subprocess.run(["ssh-add", "-q", mine], check=True, stdin=subprocess.DEVNULL)
        os.unlink(mine)
        signature = signing.sign(PAYLOAD, f"{mine}.pub")
    finally:
        subprocess.run(["ssh-agent", "-k"], check=True, capture_output=True)
    assert signing.verify(PAYLOAD, signature, allow(tmp_path, ("pat@x", mine))) == "pat@x"


def test_a_key_that_others_can_read_is_refused_with_the_command_that_mends_it(tmp_path, monkeypatch):
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    mine = key(tmp_path, "mine")
    os.chmod(mine, 0o644)
    with pytest.raises(HoldfastError) as caught:
        signing.sign(PAYLOAD, mine)
    assert (caught.value.code, str(caught.value.remedies[0])) == ("signing_failed", f"chmod 600 {mine}")


def test_a_file_that_is_no_key_is_refused(tmp_path):
    path = tmp_path / "notes"
    path.write_text("not a key\n")
    path.chmod(0o600)
    with pytest.raises(HoldfastError) as caught:
        signing.sign(PAYLOAD, str(path))
    assert caught.value.code == "signing_failed"


def test_a_machine_without_ssh_keygen_says_so(tmp_path, monkeypatch):
    mine = key(tmp_path, "mine")
    allowed = allow(tmp_path, ("pat@x", mine))
    signature = signing.sign(PAYLOAD, mine)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    for attempt in (lambda: signing.sign(PAYLOAD, mine), lambda: signing.verify(PAYLOAD, signature, allowed)):
        with pytest.raises(HoldfastError) as caught:
            attempt()
        assert caught.value.code == "no_ssh_keygen"


def test_nothing_of_a_check_is_left_behind(tmp_path, monkeypatch):
    mine = key(tmp_path, "mine")
    signature = signing.sign(PAYLOAD, mine)
    allowed = allow(tmp_path, ("pat@x", mine))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    signing.verify(PAYLOAD, signature, allowed)
    refusal(PAYLOAD + b"x", signature, allowed)
    assert list(scratch.iterdir()) == []
