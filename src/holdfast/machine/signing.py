"""Approvals signed with an SSH key, made and checked by `ssh-keygen -Y`.

The signature is over the statement of the approval. Who may sign is in an allowed-signers file.
"""

from __future__ import annotations

import os

from holdfast.core import remedies
from holdfast.core.remedy import Blank, advice, shell
from holdfast.errors import HoldfastError, NotFound, Refused
from holdfast.machine.place import Place, read_regular

NAMESPACE = "holdfast"
LARGEST_SIGNATURE = 1 << 16
TIMEOUT_SECONDS = 60  # a key on a stick waits for a finger
_ARMOR = b"-----BEGIN SSH SIGNATURE-----"


def sign(payload: bytes, key_path: str) -> bytes:
    """An armored signature with a private key, or with a public one whose other half an agent holds."""
    if not os.path.isfile(key_path):
        said = f"there is no key {key_path}"
        raise NotFound("no_key", said, remedy=shell("ls", Blank("~/.ssh"), who="person"), facts={"path": key_path})
    code, signature, complaint = _keygen("sign", "-n", NAMESPACE, "-f", key_path, stdin=payload)
    if code == 0 and signature.startswith(_ARMOR):
        return signature
    said = complaint.lower()
    if "passphrase" in said:
        message = f"{key_path} needs a passphrase, and nobody is asked for one here"
        raise HoldfastError(
            "key_locked",
            message,
            remedy=(shell("ssh-add", key_path, who="person"), advice("then repeat the command")),
            facts={"path": key_path},
        )
    exposed = "too open" in said
    raise HoldfastError(
        "signing_failed",
        f"ssh-keygen could not sign with {key_path}: {_reason(complaint, code)}",
        remedy=shell(*(("chmod", "600") if exposed else ("ssh-keygen", "-l", "-f")), key_path, who="person"),
        facts={"path": key_path, "exit_code": code},
    )


def signers(place: Place, config_dir: str) -> str:
    """Who may sign approvals: the user's own file, else the project's. It is worth as much as the right to write it.

    On another branch than the base it counts as the base has it: a branch does not say who approves it.
    """
    own, shared = os.path.join(config_dir, "holdfast", "allowed_signers"), os.path.join(place.home, "allowed_signers")
    if os.path.exists(own) or not os.path.exists(shared):
        return own if os.path.exists(own) else shared
    require_as_base(place, shared, own, "signers_changed", "who may sign")
    return shared


def require_as_base(place: Place, shared: str, own: str, code: str, what: str) -> None:
    """Refuses a file of the project that says who may approve where a branch has another one than its base."""
    from holdfast import git
    from holdfast.git import changes as git_changes

    repository = git.find(place.root)
    base = git_changes.default_branch(repository) if repository else None
    if repository is None or not base or git.branch(repository) == base:
        return
    theirs = f"refs/remotes/origin/{base}"
    at = theirs if git_changes.at_ref(repository, theirs) else f"refs/heads/{base}"
    if git.head_blob(repository, shared, at) == read_regular(shared, git.BLOB_LIMIT):
        return
    name, shown = os.path.relpath(shared, place.root), at.split("/", 2)[2]
    said = f"{name} is not as {shown} has it, and a branch does not say {what}"
    made = shell("mkdir", "-p", os.path.dirname(own), text="a person reads it, then").replace(who="person")
    ways = (made, shell("cp", shared, own, text="then").replace(who="person"))
    raise Refused(code, said, remedy=ways, facts={"path": name, "base": shown})


def verify(payload: bytes, signature: bytes, allowed_signers_path: str, step: str | Blank = remedies.STEP) -> str:
    """Who signed this payload, as the allowed-signers file names them; refused when it is nobody in there."""
    import tempfile

    if not os.path.isfile(allowed_signers_path):
        raise NotFound(
            "no_allowed_signers",
            f"there is no file {allowed_signers_path} that says who may sign",
            remedy=advice(f"write a line into {allowed_signers_path} for each who may sign: NAME, then the public key"),
            facts={"path": allowed_signers_path},
        )
    armored(signature, step)
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        file = os.path.join(folder, "signature")
        with open(file, "wb") as out:
            out.write(signature)
        who = ("-s", file, "-f", allowed_signers_path)
        code, found, complaint = _keygen("find-principals", *who)
        principals = found.decode("utf-8", "replace").splitlines()
        if code != 0 or not principals:
            raise _bad(step, f"its key is not in {allowed_signers_path}: {_reason(complaint, code)}")
        for principal in principals:
            code, _, complaint = _keygen("verify", "-n", NAMESPACE, "-I", principal, *who, stdin=payload)
            if code == 0:
                return principal
        raise _bad(step, _reason(complaint, code))


def armored(signature: bytes, step: str | Blank = remedies.STEP) -> str:
    """A signature as text, as far as it can be one."""
    if len(signature) > LARGEST_SIGNATURE:
        raise _bad(step, f"the signature is larger than {LARGEST_SIGNATURE >> 10} KiB")
    if not signature.startswith(_ARMOR) or not signature.isascii():
        raise _bad(step, "this is not an SSH signature")
    return signature.decode()


def _bad(step: str | Blank, reason: str) -> Refused:
    return Refused(
        "bad_signature",
        f"the signature does not count: {reason}",
        remedy=remedies.approve(step, sign=Blank("KEY"), text="sign what is asked for now"),
        facts={"reason": reason},
    )


def _keygen(action: str, *args: str, stdin: bytes = b"") -> tuple[int, bytes, str]:
    """Run `ssh-keygen -Y`: its exit code, output and complaint."""
    import subprocess

    # In a session of its own it has no terminal to ask on, and a window that asks would stop an agent's work.
    quiet = {name: value for name, value in os.environ.items() if name not in ("SSH_ASKPASS", "DISPLAY")}
    quiet |= {"SSH_ASKPASS_REQUIRE": "never", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["ssh-keygen", "-Y", action, *args],
            input=stdin,
            capture_output=True,
            env=quiet,
            start_new_session=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        said = f"ssh-keygen did not finish within {TIMEOUT_SECONDS} s"
        raise HoldfastError(
            "ssh_keygen_timeout", said, remedy=shell("ssh-add", "-l", who="person"), facts={"action": action}
        ) from None
    except OSError as failure:
        said = f"ssh-keygen cannot be run: {failure.strerror}"
        raise HoldfastError(
            "no_ssh_keygen", said, remedy="install OpenSSH 8.2 or newer, and see: ssh -V", facts={"action": action}
        ) from None
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def _reason(complaint: str, code: int) -> str:
    """The last line says what went wrong; the ones before it, how it was noticed."""
    said = [line.strip() for line in complaint.splitlines() if line.strip()]
    return said[-1][:300] if said else f"ssh-keygen ended with {code}"
