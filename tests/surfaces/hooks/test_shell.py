"""Which simple commands a line for a shell is made of, and what they write."""

from __future__ import annotations

import random

import pytest

from holdfast.surfaces.hooks import programs, shell, worktrees


def words(line):
    return [command.bare for command in shell.commands(line) if command.bare]


def targets(line):
    return [target for command in shell.commands(line) for target in command.targets]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("git push origin main", [["git", "push", "origin", "main"]]),
        ("a; b & c && d || e | f |& g", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]),
        ("a\nb\r\nc", [["a"], ["b"], ["c"]]),
        ("(a; { b; }) ; ! c", [["a"], ["b"], ["c"]]),
        ("if a; then b; else c; fi", [["a"], ["b"], ["c"]]),
        ("while a; do b; done", [["a"], ["b"]]),
        ("case x in y) a;; esac", [["case", "x", "in", "y"], ["a"], ["esac"]]),
        ("echo 'a b' \"c d\" e\\ f ''", [["echo", "a b", "c d", "e f", ""]]),
        ('echo "a \\" \'b\' \\$x \\n"', [["echo", "a \" 'b' $x \\n"]]),
        ("g'i't pu\"sh\"", [["git", "push"]]),
        ("echo $'it\\'s' $\"x\"", [["echo", "it's", "x"]]),
        ("gi\\\nt push", [["git", "push"]]),
        ("a # b; c\nd", [["a"], ["d"]]),
        ("echo a#b", [["echo", "a#b"]]),
        ("", []),
        ("  \n ; ", []),
    ],
)
def test_a_line_falls_apart_into_its_commands(line, expected):
    assert words(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a > x >>y 2> z", ["x", "y", "z"]),
        ("a >|x &>y &>>z <>w", ["x", "y", "z", "w"]),
        ("a 2>&1 >&- <&3 < in", []),
        ("a >& file", ["file"]),
        ("> x", ["x"]),
        ("a {fd}>x", ["x"]),
        ("a > 'b c'", ["b c"]),
        ("echo '> x' \\> y", []),
        ("echo $((1 > 2)) ${a:->b}", []),
        ("cat <<EOF > out\n> not\nEOF\necho > after", ["out", "after"]),
        ("cat <<-'E O' > out\n> not\n\tE O\necho > after", ["out", "after"]),
        ("tee >(cat > inner) < <(cat 2> other)", ["inner", "other"]),
    ],
)
def test_redirections_that_write_are_told_from_others(line, expected):
    assert targets(line) == expected


def test_the_words_around_a_redirection_stay_a_command():
    assert words("2>&1 a >x b 3<y c2 >z") == [["a", "b", "c2"]]


@pytest.mark.parametrize(
    "line",
    [
        "X=1 Y= git push",
        "env -u A -C /x B=1 git push",
        "env -i git push",
        "sudo -u root -E git push",
        "sudo --user root git push",
        "command git push",
        "nohup nice -n 5 git push",
        "nice -n5 git push",
        "time -p git push",
        "exec -a name git push",
        "xargs -n 1 -I{} git push",
        "timeout -k 5 10s git push",
        "stdbuf -oL setsid git push",
        "flock /tmp/x git push",
        "uv run git push",
        "git -C sub -c a.b=c --git-dir x --no-pager push",
        "git --git-dir=x push",
    ],
)
def test_what_only_prepares_a_command_is_taken_off(line):
    assert ["git", "push"] in words(line)


@pytest.mark.parametrize(
    "line",
    [
        "bash -c 'git push'",
        "bash -lc 'git push' name",
        "sh -e -c 'a; git push'",
        "/bin/zsh -ic 'git push'",
        "sudo bash -c \"bash -c 'git push'\"",
        "echo $(git push)",
        'echo "a $(git push) b"',
        'echo "$(echo "$(git push)")"',
        "echo `git push`",
        "echo `echo \\`git push\\``",
        "eval 'git push'",
        "eval git push",
        "script -qc 'git push' /dev/null",
        "script -q /dev/null --command 'git push'",
        "su -c 'git push' me",
        "env -S 'git push'",
        "flock x -c 'git push'",
        "find . -name x -exec git push \\;",
        "bash <<EOF\ngit push\nEOF",
        "bash -s <<< 'git push'",
        "X=$(git push)",
        "a > $(git push)",
        "f() { git push; }",
        "function f { git push; }",
        "function f() { git push; }",
        "function f\n{\ngit push\n}",
        "trap 'git push' EXIT",
        "trap -- 'git push' EXIT",
        "git submodule foreach git push",
        "git submodule --quiet foreach --recursive 'git pull && git push'",
        "cat <<EOF | bash\ngit push\nEOF",
        "cat <<EOF |\ngit push\nEOF\nbash",
        "cat <<EOF | tee x | sudo sh -e\ngit push\nEOF",
        "{ cat <<EOF\ngit push\nEOF\n} | bash",
        "cat <<< 'git push' |& bash",
        "echo 'git push' | bash",
        "printf 'git push' | /bin/sh",
    ],
)
def test_commands_inside_of_commands_are_found(line):
    assert ["git", "push"] in words(line)


@pytest.mark.parametrize(
    "line",
    [
        "echo 'git push'",
        "cat <<EOF\ngit push\nEOF",
        "echo \\$\\(git push\\)",
        "# git push",
        "echo 'git push' || bash",
        "echo 'git push'; bash",
        "echo 'git push' | cat",
        "cat <<EOF | grep bash\ngit push\nEOF",
        "trap - EXIT",
        "git submodule foreach",
    ],
)
def test_text_that_is_only_text_is_no_command(line):
    assert ["git", "push"] not in words(line)


def test_the_words_of_one_command_need_no_reading():
    assert words(["echo", "a; b", "> c"]) == [["echo", "a; b", "> c"]]
    assert ["git", "push"] in words(["bash", "-lc", "cd x && git push"])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("env -u CLAUDECODE a", ["CLAUDECODE"]),
        ("env -uCLAUDECODE a", ["CLAUDECODE"]),
        ("env --unset=X --unset Y a", ["X", "Y"]),
        ("env -i a", ["*"]),
        ("env - a", ["*"]),
        ("exec -c a", ["*"]),
        ("X= a", ["X"]),
        ("env X= a", ["X"]),
        ("unset -v X Y", ["X", "Y"]),
        ("export X=", ["X"]),
        ("export -n X", ["X"]),
        ("X=1 env Y=2 a", []),
    ],
)
def test_variables_that_are_taken_away_are_seen(line, expected):
    assert [name for command in shell.commands(line) for name in command.cleared] == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rm -rf a b", {("a", "folder"), ("b", "folder")}),
        ("rm -- -a", {("-a", "folder")}),
        ("touch a", {("a", "file")}),
        ("cp a b c", {("c", "file"), ("c/a", "file"), ("c/b", "file")}),
        ("cp -t c x/a", {("c", "file"), ("c/a", "file")}),
        ("install --target-directory=c a", {("c", "file"), ("c/a", "file")}),
        ("mv a b", {("a", "folder"), ("b", "file"), ("b/a", "file")}),
        ("sed -i s/x/y/ a", {("a", "file")}),
        ("sed -Ei.bak s/x/y/ a", {("a", "file")}),
        ("sed -i -e s/x/y/ -f z a b", {("a", "file"), ("b", "file")}),
        ("sed --in-place --expression=s/x/y/ a", {("a", "file")}),
        ("sed s/x/y/ a", set()),
        ("perl -pi -e x a", {("a", "file")}),
        ("dd if=a of=b", {("b", "file")}),
        ("find a -name x -delete", {("a/x", "tracked"), ("a/*/x", "tracked")}),
        ("find a b -type f -delete", {("a", "folder"), ("b", "folder")}),
        ("find a -mtime +3 -delete", {("a", "file")}),
        ("cat a", set()),
        ("curl -o a https://x/y", {("a", "file")}),
        ("curl -sSLoa https://x/y", {("a", "file")}),
        ("curl -H 'A: b' -fLo a https://x/y -D b", {("a", "file"), ("b", "file")}),
        ("curl --output=a --output-dir c https://x/y", {("c/a", "file")}),
        ("curl --output /a --output-dir c https://x/y", {("/a", "file")}),
        ("curl -LO https://x/y.json?z=1", {("y.json", "file")}),
        ("curl -o - https://x/y", set()),
        ("curl -d @a https://x/y", set()),
        ("wget -O a https://x/y", {("a", "file")}),
        ("wget -qOa https://x/y", {("a", "file")}),
        ("wget --output-document=a https://x/y", {("a", "file")}),
        ("wget -O- https://x/y", set()),
        ("wget -P c https://x/y", {("c/y", "file")}),
        ("patch -p1 -i x.diff", {(".", "tracked")}),
        ("patch -d src -p1", {("src", "tracked")}),
        ("patch a x.diff", {("a", "file")}),
        ("patch -d src -o a -p 1", {("src/a", "file")}),
        ("patch --dry-run -p1", set()),
    ],
)
def test_files_that_well_known_programs_write(line, expected):
    assert set(programs.written(shell.commands(line)[0].bare)) == expected


TREE = {(":/", "tracked")}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("git rm a", {("a", "folder")}),
        ("git rm --cached a", set()),
        ("git rm -rn a", set()),
        ("git mv a b", {("a", "folder"), ("b", "file"), ("b/a", "file")}),
        ("git mv -n a b", set()),
        ("git checkout main -- a", {("a", "tracked")}),
        ("git checkout -- .", {(".", "tracked")}),
        ("git checkout .", {(".", "tracked")}),
        ("git checkout main a", {("main", "tracked"), ("a", "tracked")}),
        ("git checkout -b topic", set()),
        ("git checkout -b topic a", set()),
        ("git checkout -f", TREE),
        ("git checkout --force main", TREE),
        ("git checkout -f -- a", {("a", "tracked")}),
        ("git checkout --pathspec-from-file=x", TREE),
        ("git switch main", set()),
        ("git switch --discard-changes main", TREE),
        ("git restore a", {("a", "tracked")}),
        ("git restore -s main a", {("a", "tracked")}),
        ("git restore --source=main :/", TREE),
        ("git restore --staged a", set()),
        ("git restore -SW a", {("a", "tracked")}),
        ("git reset --hard", TREE),
        ("git reset --hard HEAD~1", TREE),
        ("git -C x reset --merge", TREE),
        ("git reset a", set()),
        ("git reset --soft HEAD~1", set()),
        ("git stash", TREE),
        ("git stash -u", TREE),
        ("git stash pop", TREE),
        ("git stash save a word", TREE),
        ("git stash push -m a", TREE),
        ("git stash push -m a -- b", {("b", "tracked")}),
        ("git stash --all", {(":/", "folder")}),
        ("git stash list", set()),
        ("git stash drop", {(":/", "stashed")}),
        ("git merge --abort", {(":/", "kept")}),
        ("git merge main", set()),
        ("git clean -fdx", {(".", "folder")}),
        ("git clean -fd", {(".", "tracked")}),
        ("git clean -fd -e x a", {("a", "tracked")}),
        ("git clean -ndx", set()),
        ("git clean -xd --dry-run", set()),
        ("git apply x.diff", TREE),
        ("git apply --index x.diff", TREE),
        ("git apply --check x.diff", set()),
        ("git apply --stat --apply x.diff", TREE),
        ("git status", set()),
        ("git diff -- a", set()),
        ("git", set()),
    ],
)
def test_files_that_git_writes(line, expected):
    assert set(worktrees.written(shell.commands(line)[0].bare[1:])) == expected


@pytest.mark.parametrize(
    "line",
    [
        "holdfast approve x",
        "/usr/local/bin/holdfast approve x",
        "python -m holdfast approve x",
        "python3.12 -I -m holdfast approve x",
        "python -Im holdfast approve x",
        "python -mholdfast approve x",
        "python src/holdfast approve x",
        "uvx holdfast approve x",
    ],
)
def test_holdfast_is_recognised_however_it_is_called(line):
    assert programs.holdfast(shell.commands(line)[0].bare) == ["approve", "x"]


@pytest.mark.parametrize("line", ["python -m pytest holdfast", "echo holdfast approve x", "holdfastx a", "python x.py"])
def test_other_programs_are_not_holdfast(line):
    assert programs.holdfast(shell.commands(line)[0].bare) is None


def nested(depth):
    text = "git push"
    for _ in range(depth):
        text = f"echo $({text})"
    return text


def test_nesting_is_followed_five_deep_and_no_further():
    assert ["git", "push"] in words(nested(5))
    assert ["git", "push"] not in words(nested(6))


def test_only_the_beginning_of_a_very_long_text_is_read():
    assert words("a " * 49_999 + "\nb")[-1] == ["b"]
    assert words("a " * 50_000 + "\nb")[-1] != ["b"]


@pytest.mark.parametrize(
    "line", ["$(" * 50_000, "`" * 99_999, '"$(' * 30_000, "<<" * 50_000, "((((" * 25_000, "a;" * 50_000, "sh|" * 33_000]
)
def test_texts_made_to_hurt_are_read_to_their_end(line):
    assert isinstance(shell.commands(line), list)


def test_whatever_is_typed_nothing_is_raised():
    chance = random.Random(7)
    pieces = [*"'\"\\$`(){}<>|&;#\n\t =-*~", "$(", "${", "$'", "<<", "<<<", ">&", "&>", "bash -c ", "env ", "git -C "]
    pieces += ["git checkout ", "git stash ", "curl -o ", "wget ", "patch ", "function f {", "trap ", "| bash "]
    pieces += ["eval ", "find . -exec ", "EOF", "a", "sudo -u", "\0", "\udc80", "é"]
    for _ in range(3_000):
        line = "".join(chance.choices(pieces, k=chance.randrange(30)))
        for command in shell.commands(line):
            programs.written(command.bare)
            worktrees.written(command.bare[1:])
            programs.holdfast(command.bare)
