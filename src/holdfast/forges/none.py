"""Pull requests, opened and found by the user's own `gh`: their login, their hosts, their settings.

Nothing here pushes a branch or keeps a secret. Only a branch of the repository itself counts: a fork may have one of
the same name, and its pull request is somebody else's.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core.names import checked_text
from holdfast.core.value import Value
from holdfast.errors import Refused, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess

TIMEOUT_SECONDS = 120
OUTPUT_LIMIT = 1 << 20
TITLE_LIMIT = 1000
BODY_LIMIT = 1 << 18
_TAIL = 1000
_LONGEST_ADDRESS = 2000
_NOT_LOGGED_IN = 4  # the exit code gh keeps for it
_QUIET = {"GH_PROMPT_DISABLED": "1", "NO_COLOR": "1", "GH_NO_UPDATE_NOTIFIER": "1", "GIT_TERMINAL_PROMPT": "0"}
_FOREIGN = frozenset(  # variables of a git that surrounds us, and those that make gh write for a terminal
    ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX",
     "GH_FORCE_TTY", "CLICOLOR_FORCE")
)  # fmt: skip
_HOST = r"(?P<host>[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)"
_FOLDER = r"(?!\.{1,2}(?:/|\Z))[A-Za-z0-9_.-]+"
_PAGE = rf"https://{_HOST}(?::[0-9]{{1,5}})?/{_FOLDER}/{_FOLDER}(?:/pulls?|(?:/{_FOLDER})*/-/merge_requests)/"
_REMOTE = (
    rf"https://(?:[^/@\s]+@)?{_HOST}(?P<port>:[0-9]{{1,5}})?/(?P<path>[^:\s]+)",
    rf"ssh://(?:[A-Za-z0-9_.-]+@)?{_HOST}(?::[0-9]{{1,5}})?/(?P<path>[^:\s]+)",
    rf"(?:[A-Za-z0-9_.-]+@)?{_HOST}:(?!//)/?(?P<path>[^:\s]+)",
)
_BESIDE = {"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}  # for networks that close the port of SSH


class PullRequest(Value):
    """A pull request as the forge shows it; `url` is its page."""

    number: int
    url: str
    title: str = ""
    draft: bool = False


def available(environ: Mapping[str, str] | None = None) -> str:
    """The path of `gh`, or nothing. Relative entries of PATH do not count, as a repository could bring its own."""
    import shutil

    path = (os.environ if environ is None else environ).get("PATH", os.defpath)
    fixed = os.pathsep.join(part for part in path.split(os.pathsep) if os.path.isabs(part))
    return shutil.which("gh", path=fixed) or ""


def find(top: str, branch: str, *, base: str = "") -> PullRequest | None:
    """The newest open pull request of this branch, into `base` where that is named, from the repository itself."""
    from holdfast.plain import plainjson

    _require_gh(branch, command(branch, title=branch, base=base))
    only = ("--base", base) if base else ()
    words = ("--head", branch, *only, "--state", "open", "--limit", "100")
    answer = _gh(top, branch, "list", *words, "--json", "number,url,title,isDraft,isCrossRepository")
    try:
        listed = plainjson.parse(answer)
        if not isinstance(listed, list):
            raise TypeError("not a list")
        ours = [_read(one) for one in listed if not _flag(one, "isCrossRepository")]
    except (KeyError, TypeError, ValueError) as error:
        raise _failed(f"gh pr list gave an answer that cannot be read: {_plain(str(error))}", branch) from None
    return ours[0] if ours else None


def create(top: str, branch: str, *, title: str, body: str, base: str = "") -> PullRequest:
    """Open a pull request from a branch that is already pushed, into `base` or else the default branch.

    One that is already open is returned as it is, so that a repetition after a crash or a timeout opens no second one.
    """
    _require_words(title, body)
    _require_gh(branch, command(branch, title=title, base=base))
    found = find(top, branch, base=base)
    if found is not None:
        return found
    into = ("--base", base) if base else ()
    words = ("--head", branch, *into, "--title", title, "--body-file", "-")
    try:
        printed = _gh(top, branch, "create", *words, body=body.encode())
    except Refused as refusal:
        found = find(top, branch, base=base) if "already exists" in refusal.message else None
        if found is None:
            raise
        return found
    url = printed.decode("utf-8", "replace").strip().rpartition("\n")[2]
    number = number_in(url)
    if number is None:
        raise _failed(f"gh pr create did not end with the address of a pull request: {_plain(url)}", branch)
    return PullRequest(number, url, title)


def create_issue(top: str, *, title: str, body: str) -> str:
    """Makes an issue and gives its address."""
    _require_words(title, body)
    typed = _typed("gh", "issue", "create", "--title", title)
    _require_gh("", typed)
    words = ("--title", title, "--body-file", "-")
    printed = _gh(top, "", "create", *words, body=body.encode(), about="issue")
    url = printed.decode("utf-8", "replace").strip().rpartition("\n")[2]
    if not _is_issue(url):
        why = f"gh issue create did not end with the address of an issue: {_plain(url)}"
        raise Refused("gh_failed", why, remedy="gh issue list")
    return url


def _is_issue(url: str) -> bool:
    import re

    form = rf"https://{_HOST}(?::[0-9]{{1,5}})?/{_FOLDER}/{_FOLDER}/issues/[1-9][0-9]{{0,8}}"
    return len(url) <= _LONGEST_ADDRESS and re.fullmatch(form, url) is not None


def command(branch: str, *, title: str, base: str = "", remote: str = "origin") -> str:
    """What a person types into a shell to do the same, with every word quoted where it needs to be.

    `git push -u origin fix/door && gh pr create --head fix/door --base main --title 'Mend the door' --body ''`
    """
    _require_refs(branch, base or branch, remote)
    into = ("--base", base) if base else ()
    opening = _typed("gh", "pr", "create", "--head", branch, *into, "--title", title, "--body", "")
    return f"{_typed('git', 'push', '-u', remote, branch)} && {opening}"


def compare_url(remote_url: str, branch: str, base: str) -> str:
    """The page on which a person opens the pull request; nothing where the remote is neither GitHub nor GitLab.

    A host counts by its name: `github.com`, `gitlab.com`, `github.…`, `gitlab.…`, `….ghe.com`. Without a base the
    page offers the default branch. A user or password in the remote's URL is left out.
    """
    import re
    from urllib.parse import quote, urlencode

    _require_refs(branch, base or branch)
    match = next(filter(None, (re.fullmatch(form, remote_url) for form in _REMOTE)), None)
    if match is None or len(remote_url) > _LONGEST_ADDRESS:
        return ""
    host = match["host"].lower()
    host, port = _BESIDE.get(host, host), match.groupdict().get("port") or ""
    path = match["path"].strip("/").removesuffix(".git")
    if "." not in host or not re.fullmatch(rf"{_FOLDER}(?:/{_FOLDER})+", path):
        return ""
    family = "github" if host.endswith(".ghe.com") else host.partition(".")[0]
    if family == "github" and path.count("/") == 1:
        ends = "...".join(quote(name, safe="/") for name in (base, branch) if name)
        return f"https://{host}{port}/{path}/compare/{ends}?expand=1"
    if family == "gitlab":
        asked = {"source_branch": branch, "target_branch": base}
        fields = urlencode({f"merge_request[{name}]": value for name, value in asked.items() if value})
        return f"https://{host}{port}/{path}/-/merge_requests/new?{fields}"
    return ""


def number_in(url: str) -> int | None:
    """The number in the address of a pull request of GitHub or Gitea, or of a merge request of GitLab.

    The address is the whole text: `https`, no user, nothing behind the number.
    """
    import re

    match = re.fullmatch(rf"{_PAGE}(?P<number>[1-9][0-9]{{0,8}})", url) if len(url) <= _LONGEST_ADDRESS else None
    return int(match["number"]) if match else None


def _require_gh(branch: str, remedy: str) -> None:
    if not available():
        why = f"there is no gh on PATH to {'open or find a pull request' if branch else 'make an issue'} with"
        raise Refused("no_gh", why, remedy=remedy, facts={"branch": branch})


def _gh(top: str, branch: str, action: str, *words: str, body: bytes = b"", about: str = "pr") -> bytes:
    """What `gh pr ACTION` printed; refused when it fails or does not end in time."""
    what = f"gh {about} {action}"
    try:
        code, printed, complaint = _run([available() or "gh", about, action, *words], top, body)
    except TimeoutError:
        late = f"{what} took longer than {TIMEOUT_SECONDS} s: what it was asked for may or may not have happened"
        raise _failed(late, branch, code="gh_timeout") from None
    except OSError as error:
        raise _failed(f"{what} did not work in {top}: {error.strerror or error}", branch) from None
    if code == 0:
        return printed
    said = _plain((complaint.strip() or printed).decode("utf-8", "replace")) or f"exit code {code}"
    remedy = ""
    if code == _NOT_LOGGED_IN or "gh auth login" in said:
        remedy = "gh auth login"
    elif "Head ref must be a branch" in said:
        remedy = _typed("git", "push", "-u", "origin", branch)
    elif "Base ref must be a branch" in said:
        remedy = "git ls-remote --heads origin"
    raise _failed(f"{what} failed: {said}", branch, remedy)


def _run(argv: list[str], top: str, body: bytes) -> tuple[int, bytes, bytes]:
    """Exit code, output and complaint of a process; TimeoutError and OSError where there is none."""
    import signal
    import subprocess
    import tempfile

    surroundings = {name: value for name, value in os.environ.items() if name not in _FOREIGN} | _QUIET
    with tempfile.TemporaryFile() as text:  # a file takes it all at once, whether gh ever reads it or not
        text.write(body)
        text.seek(0)
        process = subprocess.Popen(argv, cwd=top, env=surroundings, bufsize=0, start_new_session=True,
                                   stdin=text if body else subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        try:
            return _followed(process)
        except BaseException:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)  # the group, as a git that gh started may hold the pipes open
                process.wait()
            raise


def _followed(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    """Read both pipes to their end, however slowly they fill, within the time and size that are allowed."""
    import selectors
    import subprocess
    import time

    kept = (bytearray(), bytearray())
    deadline = time.monotonic() + TIMEOUT_SECONDS
    with selectors.DefaultSelector() as selector:
        for pipe, output in zip((process.stdout, process.stderr), kept, strict=True):
            assert pipe is not None
            selector.register(pipe, selectors.EVENT_READ, output)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            for key, _ in selector.select(left):
                chunk = os.read(key.fd, 65536)
                key.data.extend(chunk)
                if len(key.data) > OUTPUT_LIMIT:
                    raise OSError(f"it printed more than {OUTPUT_LIMIT >> 20} MiB")
                if not chunk:
                    selector.unregister(key.fileobj)
    try:
        code = process.wait(max(deadline - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
    return code, bytes(kept[0]), bytes(kept[1])


def _read(one: Mapping[str, object]) -> PullRequest:
    number, url, title = one["number"], one["url"], one["title"]
    if not isinstance(url, str) or type(number) is not int or number_in(url) != number:
        raise ValueError(f"{_plain(repr(url))} is not the address of pull request {_plain(repr(number))}")
    if not isinstance(title, str):
        raise TypeError("a title that is not text")
    return PullRequest(number, url, _plain(title), _flag(one, "isDraft"))


def _flag(one: Mapping[str, object], name: str) -> bool:
    value = one[name]
    if not isinstance(value, bool):
        raise TypeError(f"{name} is neither true nor false")
    return value


def _require_refs(*names: str) -> None:
    """The part of git's rules for names that no shell, option or address can read as something else."""
    import re

    for name in names:
        whole = re.fullmatch(r"[A-Za-z0-9_](?:[A-Za-z0-9_./+@#=,%-]{0,198}[A-Za-z0-9_+@#=,%-])?", name)
        if not whole or name.endswith(".lock") or any(part in name for part in ("..", "//", "/.", "./", ".lock/")):
            raise UsageError(
                "bad_branch",
                f"{_plain(name)[:80]!r} cannot be the name of a branch here",
                remedy="use up to 200 of the characters A-Z a-z 0-9 _ . / + @ # = , % - as git allows them",
                facts={"value": name[:200]},
            )


def _require_words(title: str, body: str) -> None:
    checked_text(title, "title", TITLE_LIMIT)
    checked_text(body.strip() or "none", "body", BODY_LIMIT)
    if not title.isprintable():
        raise UsageError("bad_text", "the title must be one line of printable text", remedy="shorten it to one line")


def _typed(*words: str) -> str:
    import shlex

    return shlex.join(words)


def _failed(message: str, branch: str, remedy: str = "", code: str = "gh_failed") -> Refused:
    look = _typed("gh", "pr", "list", "--head", branch) if branch else "gh issue list"
    return Refused(code, message, remedy=remedy or look, facts={"branch": branch})


def _plain(text: str) -> str:
    """The end of a text on one line, without colours and control characters."""
    import re

    plain = re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", "", text)
    plain = "".join(sign for sign in plain if sign.isprintable() or sign.isspace())
    return " ".join(plain.split())[-_TAIL:]
