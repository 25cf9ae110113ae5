"""Feature files: what is a task in them, what is a mistake, and that a tick changes one character."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from typing import Any

import pytest

from holdfast.core.names import is_name
from holdfast.errors import NotFound, UsageError
from holdfast.markdown import feature_file
from holdfast.systems.skill import features
from holdfast.systems.skill.outline import Task

WHOLE = """\
# Feature: User Login

> Users can log in
> with their `email`.

## Context

Not a task:

- [ ] read the context

## Tasks

- [ ] Add `login()` to **auth**, see [the page](https://x.test/a)
- [x] Write the form (No Tests)

## Acceptance Criteria

- [ ] A wrong password is refused
- The right one is *taken*
  - at once
"""


@pytest.fixture
def file(tmp_path):
    def file(content, name="a.md"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return file


@pytest.fixture
def read(file):
    return lambda content: features.read(file(content), "features/a.md")


@pytest.fixture
def texts(read):
    """The tasks of a Tasks section with this body."""
    return lambda body: [task.text for task in read(f"# F\n\n## Tasks\n\n{body}").tasks]


@pytest.fixture
def mistakes(read):
    def mistakes(content):
        with pytest.raises(UsageError) as refusal:
            read(content)
        assert refusal.value.code == "bad_feature"
        assert "docs/how-to/dev.md" in refusal.value.remedy
        found: Any = refusal.value.facts["mistakes"]
        assert all(f"{each['where']}: {each['message']}" in refusal.value.message for each in found)
        return [(int(each["where"].removeprefix("features/a.md:")), each["message"]) for each in found]

    return mistakes


def test_a_whole_file_is_read(read):
    feature = read(WHOLE)
    assert (feature.path, feature.title) == ("features/a.md", "User Login")
    assert feature.summary == "Users can log in with their email."
    assert feature.tasks == (
        Task("Add login() to auth, see the page", False, 14),
        Task("Write the form", True, 15, tested=False),
    )
    assert feature.criteria == ("A wrong password is refused", "The right one is taken", "at once")


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_other_line_ends_and_a_byte_order_mark_make_no_difference(read, ends):
    assert read(b"\xef\xbb\xbf" + WHOLE.replace("\n", ends).encode()) == read(WHOLE)


@pytest.mark.parametrize(
    "heading",
    [
        "## Tasks",
        "## TASKS",
        "### tasks ###",
        "## Tasks (3)",
        "## Tasks (1/3):",
        "## Implementation Tasks",
        "## 2. **Tasks**",
        "Tasks\n-----",
        "# Tasks",
    ],
)
def test_the_tasks_heading_has_many_forms(read, heading):
    assert [task.text for task in read(f"# F\n\n{heading}\n- [ ] a\n").tasks] == ["a"]


@pytest.mark.parametrize("heading", ["## Notes", "## Multitasking", "## Steps to reproduce", "- ## Plan", "> ## Tasks"])
def test_other_headings_open_no_tasks_section(read, heading):
    assert [task.text for task in read(f"# F\n\n{heading}\n\n- [ ] a\n").tasks] == ["a"]
    feature = read(f"# F\n\n{heading}\n\n- [ ] a\n\n## Tasks\n\n- [ ] b\n")
    assert [task.text for task in feature.tasks] == ["b"]
    assert [(one.line, one.code) for one in feature.remarks] == [(5, "section")]


@pytest.mark.parametrize("title", ["Background tasks", "Implementation plan: login", "Tasks: a page", "To-do lists"])
def test_a_title_that_speaks_of_tasks_is_a_title(read, title):
    feature = read(f"# {title}\n\n- [ ] a\n")
    assert (feature.title, [task.text for task in feature.tasks]) == (title, ["a"])


@pytest.mark.parametrize("heading", ["# Tasks", "# To do", "# ✅ Checklist"])
def test_a_first_heading_that_is_only_a_list_of_tasks_is_no_title(read, heading):
    feature = read(f"{heading}\n\n- [ ] a\n")
    assert (feature.title, feature.title_from, feature.headings) == ("A", "file name", (heading[2:],))


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("title: Login", "Login"),
        ("Title: Login  # of users", "Login"),
        ('title: "Login: \\"by\\" name"', 'Login: "by" name'),
        ("title: 'The user''s login'", "The user's login"),
    ],
)
def test_the_title_of_front_matter_is_read_as_yaml_has_it(read, line, title):
    assert read(f"---\n{line}\n---\n- [ ] a\n").title == title


def test_a_title_of_front_matter_that_is_not_understood_is_said(read):
    feature = read("---\ntitle: >\n  Login\n---\n- [ ] a\n")
    assert feature.title == "A"
    assert [(one.line, one.code) for one in feature.remarks] == [(1, "title"), (2, "front_matter"), (5, "no_heading")]


@pytest.mark.parametrize(
    "title", ["# Feature: Login", "# feature :  Login", "# Login", "Feature: Login\n====", "# *Login*"]
)
def test_the_title_has_many_forms(read, title):
    assert read(f"{title}\n\n## Tasks\n- [ ] a\n").title == "Login"


def test_every_bullet_counts(texts):
    assert texts("- [ ] a\n\n* [X] b\n\n+ [ ] c\n\n1. [ ] d\n2) [ ] e\n") == ["a", "b", "c", "d", "e"]


def test_tabs_separate_as_blanks_do(texts):
    assert texts("-\t[ ]\tone\ttwo\n") == ["one two"]


def test_a_text_over_two_lines_is_one_line(texts):
    assert texts("- [ ] one\n  two\nthree\\\n  four\n\n  Another paragraph.\n") == ["one two three four"]


def test_inline_markdown_becomes_its_plain_text(texts):
    source = (
        r"- [ ] ~~a~~ ![alt *x*](y) <https://z.test> [r][] &amp; \*b\* List<String> <!-- no -->" + "\n\n[r]: /there\n"
    )
    assert texts(source) == ["a alt x https://z.test r & *b* List<String>"]


@pytest.mark.parametrize(
    "hidden",
    [
        "```\n- [ ] hidden\n```",
        "~~~md\n- [ ] hidden\n~~~",
        "<!--\n- [ ] hidden\n\n- [ ] hidden\n-->",
        "<!-- - [ ] hidden -->",
        "    - [ ] hidden",
        "> - [ ] hidden",
        "text - [ ] hidden",
        "- plain\n- [link](x)\n- [x](y)",
        "| - [ ] hidden | b |\n|---|---|\n| c | d |",
    ],
)
def test_what_only_looks_like_a_task_is_none(texts, hidden):
    assert texts(f"{hidden}\n\ntext\n\n- [ ] real\n") == ["real"]


def test_a_task_written_as_a_heading_is_not_lost(texts):
    assert texts("- ### [ ] a\n- [ ] b\n  ---\n") == ["a", "b"]


def test_boxes_below_a_task_are_its_details(texts):
    assert texts("- [ ] a\n  - [ ] detail\n  - plain\n    - [ ] deeper\n- [ ] b\n") == ["a", "b"]


def test_boxes_below_a_plain_item_are_tasks(texts):
    assert texts("- Backend\n  - [ ] a\n    - [ ] detail\n  - [ ] b\n- - [ ] c\n") == ["a", "b", "c"]


def test_deeper_headings_group_tasks_and_others_end_the_section(texts):
    assert texts("### One\n- [ ] a\n\n#### Two\n- [ ] b\n\n## Notes\n- [ ] no\n\n### Deeper\n- [ ] no\n") == ["a", "b"]


def test_criteria_below_the_tasks_are_no_tasks(read):
    feature = read("# F\n## Tasks\n- [ ] a\n### Acceptance criteria\n- [ ] c\n### More\n- [ ] b\n")
    assert [task.text for task in feature.tasks] == ["a", "b"]
    assert feature.criteria == ("c",)


def test_two_tasks_sections_are_read_as_one(texts):
    assert texts("- [ ] a\n\n## Notes\n\n- [ ] no\n\n## Tasks\n\n- [ ] b\n") == ["a", "b"]


def test_criteria_without_a_list_are_paragraphs(read):
    feature = read("# F\n## Tasks\n- [ ] a\n## Acceptance Criteria\nGiven a\nthen b.\n\nAlso c.\n")
    assert feature.criteria == ("Given a then b.", "Also c.")


def test_only_the_first_quotation_before_the_sections_is_the_summary(read):
    tasks = "## Tasks\n- [ ] a\n"
    assert read(f"# F\n> one\n>\n> > two\n>\n> three\n\ntext\n\n> four\n\n{tasks}").summary == "one two three"
    assert read(f"# F\n## Context\n> quoted\n\n{tasks}").summary == ""


def test_front_matter_is_passed_over(read):
    feature = read("---\ntitle: x\n# Feature: no\ntasks:\n- [ ] no\n---\n# F\n## Tasks\n- [ ] a\n")
    assert feature.title == "F"
    assert feature.tasks == (Task("a", False, 9),)


def test_a_rule_at_the_top_is_no_front_matter(read):
    assert read("---\n\n# F\n## Tasks\n- [ ] a\n\n---\n").tasks == (Task("a", False, 5),)
    assert read("---\n# F\n## Tasks\n- [ ] a\n").title == "F"


@pytest.mark.parametrize("mark", ["(no tests)", "(No Tests)", "**(no tests)**", "\n  (no tests)"])
def test_the_mark_of_an_untested_task_is_taken_off(read, mark):
    assert read(f"# F\n## Tasks\n- [ ] a {mark}\n").tasks == (Task("a", False, 3, tested=False),)


def test_the_mark_counts_at_the_end_only(read):
    assert read("# F\n## Tasks\n- [ ] a (no tests) b\n").tasks == (Task("a (no tests) b", False, 3),)


def test_all_mistakes_are_listed_with_their_lines(mistakes):
    long = "a" * 1001
    assert mistakes(f"## Tasks\n- [ ]\n- [ ] {long}\n- [ ] b\n- [x] **b**\n- [] c\n- [ ] d\x1b[1m\n") == [
        (2, "the task has no text"),
        (3, "the task is longer than 1000 characters"),
        (5, "the task of line 4 has the same text and headings: 'b'"),
        (6, "a check box is '[ ]' or '[x]', with a space after it"),
        (7, "the task has control characters in it"),
    ]


@pytest.mark.parametrize("text", ["", " ", "(no tests)", "<!-- later -->", "\u200b", "&nbsp;"])
def test_a_task_without_text_is_a_mistake(mistakes, text):
    assert mistakes(f"# F\n## Tasks\n- [ ] {text}\n") == [(3, "the task has no text")]


@pytest.mark.parametrize("control", ["\x07", "\x7f", "\x9b", "\u202e", "\u2028", "&#10;", "a\x0cb"])
def test_control_characters_are_refused_everywhere(mistakes, control):
    source = f"# F{control}F\n> s{control}s\n\n## Tasks\n- [ ] t{control}t\n## Acceptance\n- c{control}c\n"
    assert mistakes(source) == [
        (line, f"the {what} has control characters in it")
        for line, what in ((1, "title"), (2, "summary"), (5, "task"), (7, "criterion"))
    ]


def test_a_file_without_tasks_is_refused_with_the_line_where_they_are_missing(file):
    for content, line in (("", 1), ("\n# Feature:\n## Tasks\ntext\n", 3), ("# F\n- [ ] ~~a~~\n", 1)):
        with pytest.raises(UsageError, match=f"a.md:{line}: there is no task") as refusal:
            features.read(file(content), "a.md")
        assert features.is_none(refusal.value)


def test_a_task_of_the_greatest_length_is_taken(texts):
    assert texts(f"- [ ] {'a' * 1000} (no tests)"[:1006]) == ["a" * 1000]


def test_many_mistakes_are_cut_short_in_the_sentence_and_whole_in_the_facts(file):
    with pytest.raises(UsageError) as refusal:
        features.read(file("# F\n## Tasks\n" + "- [ ]\n" * 100), "a.md")
    assert refusal.value.message.count("a.md:") == 20
    assert refusal.value.message.endswith("; and 80 more")
    assert len(refusal.value.facts["mistakes"]) == 100


def test_images_within_images_are_a_long_text_and_nothing_worse(mistakes):
    assert mistakes("# F\n## Tasks\n- [ ] " + "![" * 600 + "a" + "](x)" * 600 + "\n") == [
        (3, "the task is longer than 1000 characters")
    ]


def test_a_file_of_the_greatest_size_is_read_and_a_larger_one_refused(file):
    head, tail = "# F\n\n", "\n\n## Tasks\n- [ ] a\n"
    filler = "word " * (feature_file.LARGEST // 5)
    whole = head + filler[: feature_file.LARGEST - len(head) - len(tail)] + tail
    assert len(whole) == feature_file.LARGEST
    assert features.read(file(whole), "a.md").tasks[0].text == "a"
    with pytest.raises(UsageError, match="larger than 1048576 bytes") as refusal:
        features.read(file(whole + "\n"), "a.md")
    assert (refusal.value.code, refusal.value.remedy) == ("no_feature", "split it into several feature files")


def test_a_missing_file_is_not_found(tmp_path):
    for name in ("none.md", "none/a.md"):
        with pytest.raises(NotFound, match=f"there is no my {name}") as refusal:
            features.read(str(tmp_path / name), f"my {name}")
        assert refusal.value.code == "no_feature"
        assert refusal.value.remedy


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.write_bytes(b"# F\n\xff\n"), "is not UTF-8 at line 2"),
        (lambda path: path.write_bytes("# Café\r\r## Tasks\r- [ ] Crème".encode("cp1252")), "is not UTF-8 at line 1"),
        (lambda path: path.write_bytes("# F\r\r## Tasks\r- [ ] Crème".encode("cp1252")), "is not UTF-8 at line 4"),
        (lambda path: path.write_bytes("# F\n- [ ] a\n".encode("utf-16")), "is UTF-16 and not UTF-8"),
        (lambda path: path.write_bytes(b"# F\0\n"), "NUL byte"),
        (lambda path: path.mkdir(), "not a regular file"),
        (lambda path: os.mkfifo(path), "not a regular file"),
        (lambda path: path.symlink_to("/etc/passwd"), "symbolic link"),
    ],
)
def test_what_is_no_text_file_is_refused(tmp_path, make, why):
    make(tmp_path / "a.md")
    with pytest.raises(UsageError, match=why) as refusal:
        features.read(str(tmp_path / "a.md"), "a.md")
    assert refusal.value.code == "no_feature"
    assert "a.md" in refusal.value.remedy
    assert features.tick(str(tmp_path / "a.md"), "a", 1) is False


@pytest.mark.parametrize("path", ["a\n.md", "a\x1b.md", "a\udcff.md"])
def test_a_name_that_cannot_be_written_down_is_refused(file, path):
    with pytest.raises(UsageError, match="cannot be written down") as refusal:
        features.read(file(WHOLE), path)
    assert str(refusal.value).encode()


def test_a_folder_lists_its_feature_files_by_number_and_then_by_name(tmp_path):
    for name in ("10-y.md", "2-x.md", "02-a.md", "b.md", "A.md", "README.md", "Index.md", ".h.md", "n.txt", "3-s.MD"):
        (tmp_path / name).touch()
    (tmp_path / "1-folder.md").mkdir()
    (tmp_path / "1-folder.md" / "1-below.md").touch()
    (tmp_path / "1-link.md").symlink_to("b.md")
    assert feature_file.names(str(tmp_path)) == ["02-a.md", "2-x.md", "3-s.MD", "10-y.md", "A.md", "b.md"]


def test_only_a_folder_can_be_listed(file, tmp_path):
    with pytest.raises(UsageError, match="cannot be listed"):
        feature_file.names(file(""))
    with pytest.raises(NotFound) as refusal:
        feature_file.names(str(tmp_path / "none"))
    assert refusal.value.code == "no_feature"


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_a_tick_changes_one_character_and_no_other_byte(file, tmp_path, bom):
    before = (
        bom + "---\r\na: b\r\n---\n# Fé\r\n\n## Tasks\r-\t[ ]  **a**\x20\x20\r\n  b\n\n1. [ ] c [ ]\r\n\tend".encode()
    )
    path = file(before)
    os.chmod(path, 0o640)
    assert features.tick(path, "a b", 7) is True
    after = before.replace(b"-\t[ ]", b"-\t[x]")
    assert (tmp_path / "a.md").read_bytes() == after
    assert features.tick(path, "c [ ] end", 1) is True
    assert (tmp_path / "a.md").read_bytes() == after.replace(b"1. [ ]", b"1. [x]")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o640
    assert os.listdir(tmp_path) == ["a.md"]


@pytest.mark.parametrize(
    ("open_", "ticked"),
    [
        ("☐ a", "☑ a"),
        ("- ☐ a", "- ☑ a"),
        ("[ ] a", "[x] a"),
        ("| Task | Done |\n|--|--|\n| [a](b) | [ ] |", "| Task | Done |\n|--|--|\n| [a](b) | [x] |"),
    ],
)
def test_every_kind_of_box_is_ticked_and_opened_again(file, tmp_path, open_, ticked):
    before = f"# F [ ]\n## Tasks\n\n{open_}\n"
    path = file(before)
    assert features.tick(path, "a", 0)
    assert (tmp_path / "a.md").read_text() == f"# F [ ]\n## Tasks\n\n{ticked}\n"
    assert features.tick(path, "a", 0, done=False)
    assert (tmp_path / "a.md").read_text() == before


def test_a_ticked_file_stays_its_owners(file):
    path = file("# F\n## Tasks\n- [ ] a\n")
    owner = 12345 if os.geteuid() == 0 else os.geteuid()  # only root can work in a file of someone else's
    os.chown(path, owner, -1)
    assert features.tick(path, "a", 3)
    assert os.stat(path).st_uid == owner


def test_only_the_task_is_ticked_where_other_sections_hold_the_same_text(file, tmp_path):
    source = (
        "# F\n## Context\n- [ ] a\n## Tasks\n```\n- [ ] a\n```\n- [ ] a (no tests)\n## Acceptance Criteria\n- [ ] a\n"
    )
    assert features.tick(file(source), "a", 3)
    assert (tmp_path / "a.md").read_text() == source.replace("- [ ] a (no", "- [x] a (no")


@pytest.mark.parametrize(("before", "line"), [(1, 3), (4, 3), (6, 7), (99, 7)])
def test_of_equal_tasks_the_nearest_is_ticked(file, tmp_path, before, line):
    assert features.tick(file("# F\n## Tasks\n- [ ] a\n- [ ] b\n- [ ] c\n- [ ] d\n- [ ] a\n"), "a", before)
    assert (tmp_path / "a.md").read_text().split("\n")[line - 1] == "- [x] a"


def test_a_task_that_moved_is_found_by_its_text(file, tmp_path):
    path = file("# F\n## Tasks\n- [ ] a\n")
    file("# F\n\nNew text.\n\n## Tasks\n- [ ] new\n- [ ] a\n")
    assert features.tick(path, "a", 3)
    assert "- [ ] new\n- [x] a\n" in (tmp_path / "a.md").read_text()


@pytest.mark.parametrize("mark", ["x", "X"])
def test_a_ticked_box_is_left_as_it_is(file, mark):
    path = file(f"# F\n## Tasks\n- [{mark}] a\n")
    before = os.stat(path)
    assert features.tick(path, "a", 3) is True
    after = os.stat(path)
    assert (after.st_ino, after.st_ctime_ns) == (before.st_ino, before.st_ctime_ns)


def test_a_task_that_is_gone_is_not_ticked_and_nothing_is_written(file, tmp_path):
    path = file("# F\n## Tasks\n- [ ] b\n  - [ ] a\n")
    before = os.stat(path).st_ino
    assert features.tick(path, "a", 4) is False
    assert os.stat(path).st_ino == before
    assert features.tick(str(tmp_path / "none.md"), "a", 3) is False


def test_a_link_is_not_ticked_through(file, tmp_path):
    source = "# F\n## Tasks\n- [ ] a\n"
    file(source, "real.md")
    (tmp_path / "link.md").symlink_to("real.md")
    assert features.tick(str(tmp_path / "link.md"), "a", 3) is False
    assert (tmp_path / "real.md").read_text() == source


def test_a_file_with_mistakes_elsewhere_is_ticked_all_the_same(file, tmp_path):
    assert features.tick(file("## Tasks\n- [ ]\n- [ ] a\n"), "a", 3)
    assert (tmp_path / "a.md").read_text() == "## Tasks\n- [ ]\n- [x] a\n"


def test_what_others_wrote_after_the_reading_is_not_lost(file, tmp_path):
    path = file("# F\n## Tasks\n- [ ] a\n")
    content = feature_file.load(path, path)
    file("# F\n## Tasks\n- [ ] a\n- [ ] b\n")
    assert feature_file.tick(path, content, 3) is False
    os.unlink(path)
    assert feature_file.tick(path, content, 3) is False
    assert os.listdir(tmp_path) == []


def test_a_tick_that_cannot_be_written_is_an_error_and_changes_nothing(tmp_path, file):
    """A limit on the size of files holds for root too, whom permissions do not stop."""
    source = "# F\n## Tasks\n- [ ] a\n\n" + "text\n" * 1000
    path = file(source)
    script = (
        "import resource, signal, sys\n"
        "from holdfast import errors\nfrom holdfast.systems.skill import features\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "try: features.tick(sys.argv[1], 'a', 3)\n"
        "except errors.HoldfastError as error: print(error.code)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("write_failed\n", "")
    assert (tmp_path / "a.md").read_text() == source
    assert os.listdir(tmp_path) == ["a.md"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("features/auth/03-User Login.md", "03-user-login"),
        ("event-infrastructure.md", "event-infrastructure"),
        ("User_Login.md", "User_Login"),
        ("features/auth/", "auth"),
        ("features/auth", "auth"),
        ("features/v1.2", "v1.2"),
        ("a--b.MD", "a--b"),
        ("A - B  (c)!.md", "a-b-c"),
        ("a..b.md", "a.b"),
        ("--force.md", "force"),
        (".hidden.md", "hidden"),
        (".lock.md", "lock"),
        ("a.lock.lock-.md", "a"),
        ("Über uns.md", "ber-uns"),
        ("a@{1}~^:?*[\\.md", "a-1"),
        ("x" * 70 + ".md", "x" * 60),
        ("x" * 59 + "-y.md", "x" * 59),
        ("x" * 55 + ".lock.md", "x" * 55),
    ],
)
def test_a_slug_is_made_of_the_last_part_of_the_path(path, name):
    assert features.slug(path) == name
    assert features.step_id(path) == name


@pytest.mark.parametrize("path", ["", "/", ".", "..", ".md", "日本.md", "features/---.md", "-.-.md", "\udcff.md"])
def test_a_path_with_nothing_to_keep_gets_a_name_of_its_own(path):
    name = features.slug(path)
    assert name.startswith("feature-")
    assert len(name) == len("feature-") + 6
    assert set(name[8:]) <= set("0123456789abcdef")
    assert features.slug("本日.md") != name


@pytest.mark.parametrize("path", ["_.md", "_x.md", "__init__.md", "日本.md", "-_.-.md", "a b.md", "y" * 300])
def test_a_step_id_is_a_name(path):
    assert is_name(features.step_id(path))


def test_git_takes_every_slug_as_the_name_of_a_branch():
    for path in ("a.lock.md", "..a..b..md", "@.md", "-.md", "a/.b.md", "x.lock" * 12, "HEAD.md", "a\tb.md", "_.md"):
        name = features.slug(path)
        assert subprocess.run(["git", "check-ref-format", f"refs/heads/{name}"]).returncode == 0, name


def test_a_folder_passes_over_what_has_no_tasks_and_says_so(file, tmp_path):
    file("# One\n- [ ] a\n", "1.md")
    file("# Words\n\nA glossary.\n", "glossary.md")
    file(b"\xff", "picture.md")
    read, passed_over = features.read_all(str(tmp_path), "features/")
    assert [one.path for one in read] == ["features/1.md"]
    assert passed_over == [
        "features/glossary.md is passed over: there is no task: write '- [ ] …' below '## Tasks'",
        "features/picture.md is passed over: is not UTF-8 at line 1",
    ]


def test_a_folder_says_what_else_in_it_looks_like_a_feature(file, tmp_path):
    file("# One\n- [ ] a\n", "1.md")
    file("# All\n\nThe features of this folder.\n", "README.md")
    file("# Index\n- [ ] b\n- [ ] b\n", "index.md")
    for name in ("old", "pictures", "read.md"):
        (tmp_path / name).mkdir()
    file("# Old\n- [ ] c\n", "old/2.md")
    (tmp_path / "3-link.md").symlink_to("1.md")
    names = "a file of this name is no feature: rename it"
    assert features.read_all(str(tmp_path), "features/")[1] == [
        "features/3-link.md is passed over: it is a symbolic link",
        f"features/index.md is passed over: there are tasks in it, and {names}",
        "features/old/ is passed over: it is a folder of its own",
    ]
    file("# All\n\n## Tasks\n- [ ] d\n", "README.md")
    line = f"features/README.md is passed over: there are tasks in it, and {names}"
    assert line in features.read_all(str(tmp_path), "features")[1]


def test_a_folder_with_mistakes_in_tasks_is_refused_with_all_of_them(file, tmp_path):
    file("# One\n- [ ] a\n- [ ] a\n", "1.md")
    file("# Two\n## Tasks\n- [!] b\n", "2.md")
    with pytest.raises(UsageError) as refusal:
        features.read_all(str(tmp_path), "features")
    found: Any = refusal.value.facts["mistakes"]
    assert [one["where"] for one in found] == ["features/1.md:3", "features/2.md:3"]


def test_a_box_that_markdown_takes_for_text_of_the_task_above_is_a_task_and_told(read):
    feature = read("# F\n## Tasks\n- [ ] a\n[ ] b\n\n☐ c\n")
    assert [task.text for task in feature.tasks] == ["a", "b", "c"]
    assert [(one.line, one.code) for one in feature.remarks] == [(4, "box")]


@pytest.mark.parametrize("box", ["-[ ]", "*[ ]", "+[ ]", "1.[ ]", "2)[ ]", "[ ]", "•[ ]", "--[ ]", "-\u00a0[ ]"])
@pytest.mark.parametrize("before", ["", "- [ ] a\n", "- plain\n", "text\n", "- [ ] a\n\n", "- plain\n  - [ ] a\n"])
def test_a_box_without_a_blank_or_a_bullet_is_never_part_of_another(file, tmp_path, box, before):
    path = file(f"# F\n## Tasks\n{before}{box} b\n")
    tasks = features.read(path, "a.md").tasks
    assert [task.text for task in tasks] == ["a"] * before.count("[ ]") + ["b"]
    assert features.tick(path, "b", 0)
    assert (tmp_path / "a.md").read_text() == f"# F\n## Tasks\n{before}{box.replace('[ ]', '[x]')} b\n"


@pytest.mark.parametrize("mark", ["-", "~", "/"])
def test_the_box_of_a_task_that_has_begun_is_ticked(file, tmp_path, mark):
    path = file(f"# F\n## Tasks\n- [{mark}] [-1](a.md) is refused\n")
    assert not features.read(path, "a.md").tasks[0].done
    assert features.tick(path, "-1 is refused", 0)
    assert (tmp_path / "a.md").read_text() == "# F\n## Tasks\n- [x] [-1](a.md) is refused\n"


def test_a_file_with_many_blocks_without_an_end_is_read_in_time(read):
    feature = read("# F\n" + "".join(f"<!-- a\n- [ ] b{n}\n~~~\n" for n in range(5000)))
    assert 0 < [one.code for one in feature.remarks].count("no_end") < 30


@pytest.mark.parametrize("box", ["-[]", "*[x]b", "-[!]", "1.[ ]b"])
def test_a_box_with_two_faults_is_a_mistake(mistakes, box):
    assert [line for line, _ in mistakes(f"# F\n## Tasks\n- [ ] a\n{box} c\n")] == [4]


@pytest.mark.parametrize("title", ["Save for later", "Future dates", "Related products", "Deferred payments"])
def test_a_title_may_begin_like_a_heading_that_sets_aside(read, title):
    feature = read(f"# {title}\n\n- [ ] a\n")
    assert (feature.title, [task.text for task in feature.tasks]) == (title, ["a"])
