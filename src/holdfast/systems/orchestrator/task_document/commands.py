"""The commands in a criterion: which pieces of code are commands, and what they are without a shell."""

from __future__ import annotations

import re
from _collections_abc import Iterator, Sequence

from holdfast.core.value import Value
from holdfast.markdown.text import shown
from holdfast.systems.orchestrator.task_document import negation, output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from markdown_it.token import Token

# What a shell takes as it is: escaped, in single quotes, or in double quotes with nothing to put in.
_QUOTED = r"""\\.|'[^']*'|"(?:\\.|[^"\\$`])*\""""
_OF_A_SHELL = r"[|<>;&$`*?]|(?:^|\s)~|\{[^{}\s]*,[^{}\s]*\}"
_LEAD = r"(?i)(?:^|[\s(])(?:runs?|running|executing|execute|calling|command)\s*:?$"
_VERB = (
    r"(?i)\s*(?:(?:and|or|,)\s*)?(?:still |also |all )?(?:pass|succeed|run|work|exit|complet|finish|build|compil|return"
    r"|report|print|show|find|give|(?:is|are) (?:green|clean|silent|ok)|has no|have no|with no|with exit)"
)
_NOT = r"(?:not|never|cannot|no longer|\w+n[’']t)"
_NEGATED_BEFORE = (
    rf"(?i)\b(?:{_NOT}|avoid\w*|forbid\w*|instead of|rather than)\b[^.;:]*$"
    r"|\bwithout(?:\s+(?:having|needing|the|a|to|run|running|using|calling|executing|need|for))*\s*$"
)
_NEGATED_LEAD = (
    rf"(?i)\b{_NOT}\s+(?:be\s+)?(?:run|execut|call|us[ei]|invok|start|pass|succeed|work)\w*\s*:?$"
    rf"|(?<!longer )(?<!not )(?<!never )\b(?:fail(?:s|ing)?)\s*:?$|\bwithout\s*:?$"
    rf"|\b(?:{_NOT}|forbidden|prohibited|disallowed)\s*:?$"
)
_NEGATED_AFTER = (
    rf"(?i)\s*(?:[\w’']+\s+){{0,2}}?(?:{_NOT}|fails?|failing|failed|breaks?|nowhere|nothing to run)\b"
    r"|\s*(?:is|are|was|were|has been|have been) (?:gone|removed|rejected|refused|forbidden|obsolete|dropped)\b"
    r"|\s*(?:[\w’']+\s+)?(?:exit|return|end|finish|stop)\w*\s(?:with\s)?(?:an?\s)?(?:exit\s)?"
    r"(?:code\s|status\s)?(?:of\s)?(?:[1-9]|non-?\s?zero|error)\b"
)
_BETWEEN = r"(?i)\s*(?:,|and|or|&|, and)\s*"
_BUILT_IN = (
    r"[.:!]|\[\[|alias|bg|break|case|cd|command|continue|declare|dirs|disown|do|eval|exec|exit|export|fg|for|function"
    r"|getopts|hash|if|jobs|let|local|popd|pushd|read|readonly|return|set|shift|shopt|source|times|trap|type|typeset"
    r"|ulimit|umask|unalias|unset|until|wait|while"
)
NEGATED = (
    "the sentence negates its command, which would be run and would have to pass: name a command that passes where the"
    " criterion holds, such as a script, or write the sentence without backticks, to be reported"
)


class Command(Value):
    """A command of a criterion, and what the criterion says. `wrong` is why it cannot run.

    `meant`: the sentence says that it is a command. `led`: the criterion is nothing but words that lead to it.
    `doubt`: why the sentence may mean something else than that it passes.
    """

    text: str
    words: tuple[str, ...]
    wrong: str = ""
    meant: bool = False
    led: bool = False
    doubt: str = ""


def commands(tokens: Sequence[Token]) -> Iterator[Command]:
    """The pieces of code that are commands: after a colon, in brackets with `run`, or anywhere in the sentence.

    A single word in the sentence is one only where the sentence says what the command does: `id` may be a field.
    """
    codes = [at for at, token in enumerate(tokens) if token.type == "code_inline"]
    for at in codes:
        code = tokens[at].content.strip()
        after = "".join(token.content for token in tokens[at + 1 :])
        before = "".join(token.content for token in tokens[:at]).rstrip()
        led = before.endswith(":") and after.strip() in ("", ".")
        bracketed = re.search(r"(?i)\(\s*run\s*:?$", before) and after.strip() in (")", ").")
        split = words(code)
        wrong, argv = (split, ()) if isinstance(split, str) else ("", split)
        row = "".join(token.content for token in tokens[_end_of_row(tokens, codes, at) + 1 :])
        ahead, behind = _prose(tokens[:at]), _prose(tokens[at + 1 :])
        printed = "" if wrong else output.about(ahead, "" if bracketed else row, argv)
        is_negated = re.search(_NEGATED_LEAD if led or bracketed else _NEGATED_BEFORE, before)
        if is_negated or re.match(_NEGATED_AFTER, re.sub(output.CLEAN, " ", row)):
            wrong = NEGATED
        elif printed == output.NOTHING:
            wrong = printed
        elif printed:
            yield Command(shown(tokens), argv, doubt=printed)
            continue
        elif negation.is_doubtful(ahead, behind, search=output.searches(argv)):
            yield Command(shown(tokens), argv, doubt=negation.DOUBT)
            continue
        if led or bracketed:
            yield Command(_without_lead(shown(tokens[:at])) or code, argv, wrong, meant=True, led=True)
            continue
        said = bool(re.search(_LEAD, before) or re.match(_VERB, row))
        if said or len(code.split()) > 1:
            yield Command(shown(tokens), argv or tuple(code.split()), wrong, meant=said)


def _prose(tokens: Sequence[Token]) -> str:
    return "".join(token.content for token in tokens if token.type != "code_inline")


def _end_of_row(tokens: Sequence[Token], codes: Sequence[int], at: int) -> int:
    """The last of the commands that are in a row with this one: what the sentence says behind it is of them all."""
    for code in codes[codes.index(at) + 1 :]:
        if not re.fullmatch(_BETWEEN, "".join(token.content for token in tokens[at + 1 : code])):
            break
        at = code
    return at


def words(command: str) -> tuple[str, ...] | str:
    """The words of a command that runs without a shell, or why it does not."""
    import shlex

    if found := re.search(_OF_A_SHELL, re.sub(_QUOTED, "", command)):
        sign = found[0].strip()
        way = "quote it, or name the files" if sign in "*?" else "put it into a script and name that"
        return f"the command needs a shell for its {sign!r}: {way}"
    try:
        split = tuple(shlex.split(command))
    except ValueError:
        return "the quotes of the command do not match"
    if not split or not split[0]:
        return "the command is empty"
    if is_built_in(split[0]):
        return f"{split[0]!r} is a part of the shell and no program: put it into a script and name that"
    if re.match(r"[A-Za-z_][A-Za-z0-9_]*=", split[0]):
        return "the command needs a shell to set a variable: write 'env NAME=value …'"
    return split


def is_built_in(program: str) -> bool:
    """Whether it is a part of every shell, and no program."""
    return bool(re.fullmatch(_BUILT_IN, program))


def is_there(program: str, document: str) -> bool:
    """Whether there is such a program: by its name, or as a file of the project that the document is in."""
    import os
    import shutil

    if "/" not in program:
        return shutil.which(program) is not None
    above = os.path.dirname(document)
    folders = [os.getcwd(), above]
    while above != os.path.dirname(above):
        above = os.path.dirname(above)
        folders.append(above)
    return any(os.access(os.path.join(folder, program), os.X_OK) for folder in folders)


def _without_lead(text: str) -> str:
    """What a criterion says before its command, without the words that lead to it; nothing if there is no more."""
    return re.sub(r"(?i)\(\s*run\s*:?$|^run\s*:$|:$", "", text).rstrip(" :–—-")
