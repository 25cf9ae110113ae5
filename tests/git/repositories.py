"""Real repositories, made by the git program itself."""

from __future__ import annotations

import subprocess

from holdfast import git


def sh(folder, *args, check=True, **named):
    done = subprocess.run(["git", *args], cwd=folder, capture_output=True, text=True, errors="surrogateescape", **named)
    assert done.returncode == 0 or not check, done.stderr
    return done.stdout.rstrip("\n")


def write(folder, name, content="", mode=None):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if mode is not None:
        path.chmod(mode)
    return path


def commit_all(folder, message="more"):
    sh(folder, "add", "-A")
    sh(folder, "commit", "-q", "--allow-empty", "-m", message)
    return sh(folder, "rev-parse", "HEAD")


def found(folder):
    repo = git.find(str(folder))
    assert repo is not None
    return repo
