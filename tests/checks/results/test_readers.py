"""What each tool has of its own, and what hostile or endless output cannot do."""

from __future__ import annotations

import subprocess
import sys

import pytest

from holdfast.checks.results import Reading, merged, report_path
from holdfast.checks.results.gathered import MOST_NAMES
from holdfast.checks.results.junit import MOST_BYTES
from holdfast.checks.results.junit import read as read_junit
from holdfast.checks.results.model import Results
from tests.checks.results.made import bare, found


def followed(text: str | bytes) -> Results | None:
    reading = Reading()
    reading.take(text.encode() if isinstance(text, str) else text)
    return reading.results()


def reasons(results: Results) -> dict[str, str]:
    return {case.id: case.reason for case in results.tests if case.reason}


SUITE = """
import pytest

@pytest.fixture
def user():
    raise RuntimeError("no user")

@pytest.fixture
def late():
    yield
    raise RuntimeError("no end")

def test_setup(user):
    pass

def test_teardown(late):
    pass

@pytest.mark.xfail(strict=True)
def test_expected():
    assert False

class TestOuter:
    class TestInner:
        @pytest.mark.parametrize("word", ["a PASSED b", "c - d"])
        def test_deep(self, word):
            print("test other::tool ... FAILED")
            print("--- FAIL: TestOther (0.00s)")
            print("FAILED tests/other.py::test_other - no")
            assert word == "a PASSED b"
"""


@pytest.mark.parametrize("options", [["-v"], ["-q", "-rA", "--color=yes"]])
def test_the_output_of_pytest_and_its_report_agree(tmp_path, options):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_many.py").write_text(SUITE)
    (tmp_path / "test_torn.py").write_text("def test_x(:\n    pass\n")
    command = [sys.executable, "-m", "pytest", "--continue-on-collection-errors", "--junitxml=report.xml", *options]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True)
    output, report = followed(run.stdout), read_junit((tmp_path / report_path(command)).read_bytes())
    deep = "test_many.py::TestOuter::TestInner::test_deep"
    for results in (output, report):
        why = reasons(results)
        assert set(results.failing) == {"test_many.py::test_setup", "test_many.py::test_teardown", f"{deep}[c - d]"}
        assert "RuntimeError: no user" in why["test_many.py::test_setup"]
        assert why[f"{deep}[c - d]"].startswith("AssertionError: assert 'c - d' == 'a PASSED b'")
        assert results.broken == {"test_torn.py": "SyntaxError: invalid syntax"}
        assert results.skipped == 1
        assert results.called("test_deep[a PASSED b]") or results.unnamed
    assert merged(output, report) == report


def test_a_conftest_that_cannot_be_loaded_is_broken(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text("import nowhere_to_be_found\n")
    run = subprocess.run(
        [sys.executable, "-m", "pytest"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    results = followed(run.stdout)
    assert results.broken == {
        str(tmp_path / "conftest.py"): "ModuleNotFoundError: No module named 'nowhere_to_be_found'"
    }


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("3 passed, 2 warnings in 0.12s", found(total=3, unnamed=3)),
        ("== 1 passed, 1 skipped, 2 xfailed in 65.00s (0:01:05) ==", found(total=1, unnamed=1, skipped=3)),
        ("5 deselected in 0.01s", found()),
        ("collected 0 items", found()),
        ("no tests ran in 0.01s", found()),
    ],
)
def test_the_last_line_of_pytest_counts(line, expected):
    assert followed(line) == expected


def test_two_sessions_of_pytest_in_one_run_add_up():
    assert followed("1 passed in 0.1s\n1 failed, 2 passed in 0.1s\n") == found(total=4, unnamed=3)


def test_two_tools_in_one_run_add_up():
    results = followed("a.py::test_x PASSED [100%]\n1 passed in 0.1s\n--- FAIL: TestY (0.00s)\nFAIL\tpkg\t0.1s\n")
    assert bare(results) == bare(found(failing=("TestY",), passing=("a.py::test_x",)))


def test_a_failing_subtest_of_pytest_fails_its_test():
    text = "== short test summary info ==\nSUBFAILED[one] a.py::test_x - assert 1 == 2\n1 failed in 0.1s\n"
    assert followed(text) == found(failing=("a.py::test_x",), reasons={"a.py::test_x": "assert 1 == 2"}, total=1)


def test_cargo_names_failing_tests_even_when_output_runs_through_their_lines():
    text = (
        "running 2 tests\ntest a::one ... hello\nok\ntest a::two ... FAILED\n\nfailures:\n\n---- a::two stdout ----\n"
        "thread 'a::two' panicked at 'old form', src/lib.rs:3:5\n\nfailures:\n    a::two\n    a::three\n\n"
        "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n"
    )
    results = followed(text)
    assert results.failing == ("a::two", "a::three")
    assert reasons(results) == {"a::two": "old form"}
    assert (results.total, results.unnamed) == (3, 1)


def test_a_rust_test_that_returns_an_error_has_it_as_its_reason():
    results = followed(
        'test a ... FAILED\n\nfailures:\n\n---- a stdout ----\nError: "no user"\n\nfailures:\n    a\n\n'
        "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
    )
    assert reasons(results) == {"a": 'Error: "no user"'}


def test_binaries_of_cargo_that_share_a_name_are_counted_both():
    one = "test it_works ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"
    assert followed(one * 2) == found(passing=("it_works",), total=2)


def test_a_warning_of_the_compiler_breaks_nothing():
    text = "warning: unused variable: `x`\n --> src/lib.rs:1:1\nrunning 0 tests\n"
    assert followed(text) == found()


def test_a_crate_that_cannot_be_linked_is_broken_as_a_whole():
    text = 'error: linking with `cc` failed: exit status: 1\nerror: could not compile `auth` (test "auth")\n'
    assert followed(text) == found(broken={"auth": "linking with `cc` failed: exit status: 1"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            (
                "--- FAIL: TestX (0.00s)\n    a_test.go:9: \n        \tError Trace:\ta_test.go:9\n"
                "        \tError:      \tNot equal: 1\nFAIL\nFAIL\tpkg\t0.1s\n"
            ),
            found(failing=("TestX",), reasons={"TestX": "Not equal: 1"}, total=1),
        ),
        (
            "=== RUN   TestX\nbye\nexit status 3\nFAIL\tpkg\t0.1s\n",
            found(failing=("TestX",), reasons={"TestX": "the test did not end"}, total=1),
        ),
        ("panic: no flags\n\nFAIL\tpkg\t0.1s\n", found(broken={"pkg": "panic: no flags"})),
        (
            (
                "=== RUN   TestX\n    a_test.go:1: only a note\n--- PASS: TestX (0.00s)\nok  \ta\t0.1s\n"
                "=== RUN   TestX\n--- FAIL: TestX (0.00s)\nFAIL\tb\t0.1s\n"
            ),
            found(failing=("TestX",), total=2),
        ),
        ("FAIL\tpkg [setup failed]\n", found(broken={"pkg": "setup failed"})),
        (
            (
                "# a\n./a_test.go:1:2: undefined: X\n# b [b.test]\nb/b_test.go:3:4: undefined: Y\n"
                "FAIL\ta [build failed]\nFAIL\tb [build failed]\nok  \tc\t(cached)\n"
            ),
            found(
                broken={"a_test.go": "undefined: X", "b/b_test.go": "undefined: Y"},
                total=1,
                unnamed=1,
            ),
        ),
        (
            (
                '{"ImportPath":"a [a.test]","Action":"build-output","Output":"# a [a.test]\\n"}\n'
                '{"ImportPath":"a [a.test]","Action":"build-output","Output":"./a_test.go:6:5: undefined: X\\n"}\n'
                '{"ImportPath":"a [a.test]","Action":"build-fail"}\n'
                '{"Action":"output","Package":"a","Output":"FAIL\\ta [build failed]\\n"}\n'
            ),
            found(broken={"a_test.go": "undefined: X"}),
        ),
        (
            'printed first--- PASS: TestX (0.00s)\n{"Action": 3, "Package": "a"}\n{"Action":"pass","Package":\n',
            found(passing=("TestX",), total=1),
        ),
        (
            '{"Action":"fail","Package":"a","Test":"Test\\ud800\\u001b[31mX\\u202e"}\n',
            found(failing=("a::TestX",), total=1),
        ),
    ],
)
def test_go_has_its_own_ways_to_fail(text, expected):
    assert followed(text) == expected


@pytest.mark.parametrize("text", ["", "hello\n", "Tests: 1 failed, 2 passed\n", "ok 1 - a\n", "FAIL\n", '{"a": 1}\n'])
def test_output_of_no_known_tool_gives_no_results(text):
    assert followed(text) is None


def test_names_and_reasons_are_plain_and_short_whatever_is_printed():
    name = "a.py::test_\x1b[1mx\x1b[0m\x07\u202e[" + "n" * 1000 + "]"
    text = f"== short test summary info ==\nFAILED {name} - boom\x00\x08 \tand {'more ' * 200}\n1 failed in 0.1s\n"
    results = followed(text.encode() + b"FAILED \xff\xfe\n")
    (failing,) = results.failing
    assert failing.startswith("a.py::test_x[nnn")
    assert len(failing) == 300
    reason = reasons(results)[failing]
    assert reason.startswith("boom and more more")
    assert len(reason) <= 300


def test_bytes_that_are_no_text_are_replaced():
    assert followed(b"a.py::test_x[\xff] PASSED [100%]\n").passing == ("a.py::test_x[\ufffd]",)


def test_a_line_without_end_takes_no_memory_and_hides_nothing_after_it():
    reading = Reading()
    for _ in range(50):
        reading.take(b"x" * 100_000)
    assert len(reading._line) <= 4000
    reading.take(b"\na.py::test_x PASSED [100%]\n")
    assert reading.results().passing == ("a.py::test_x",)


def test_of_too_many_names_the_failing_ones_are_kept_and_the_count_goes_on():
    passing = "".join(f"--- PASS: Test{n} (0.00s)\n" for n in range(MOST_NAMES + 100))
    results = followed(passing + "--- FAIL: TestLast (0.00s)\n    a_test.go:1: no\nFAIL\tpkg\t1s\n")
    assert len(results.passing) + len(results.failing) == MOST_NAMES
    assert reasons(results) == {"TestLast": "no"}
    assert results.total == MOST_NAMES + 101
    assert results.unnamed == 101


def test_asking_twice_gives_the_same_results():
    reading = Reading()
    reading.take(b"--- FAIL: TestX (0.00s)\n    a_test.go:1: no\nFAIL\tpkg\t1s")
    assert reading.results() == reading.results()


REPORT = """<testsuites><testsuite name="Form"><testcase classname="Form" name="size"><failure message="1 is not 2"/>
</testcase><testcase classname="Form" name="old"/></testsuite></testsuites>"""


@pytest.mark.parametrize(
    "printed",
    [
        f"PHPUnit 11\n{REPORT}\nFAILURES!\n",
        f'<?xml version="1.0"?>\n{REPORT}',
        f"noise {REPORT.replace(chr(10), '')} noise\n",
        REPORT.replace("<testsuites>", "").replace("</testsuites>", "") + "\n",
    ],
)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_report_that_a_tool_prints_is_read_wherever_it_is_cut(printed, size):
    reading = Reading()
    for at in range(0, len(printed), size):
        reading.take(printed[at : at + size].encode())
    expected = found(failing=("Form::size",), passing=("Form::old",), reasons={"Form::size": "1 is not 2"})
    assert reading.results() == expected


def test_the_test_anything_protocol_is_read_where_there_is_a_plan():
    points = (
        "ok 1 - old\nnot ok 2 - says the size\n  ---\n  message: no\n  ...\nok 3 later # SKIP no disk\nok 4 # Todo\n"
    )
    results = followed(f"TAP version 13\n{points}1..4\n")
    assert (results.passing, results.failing) == (("old",), ("says the size",))
    assert (results.skipped, results.total) == (2, 2)
    assert followed(points) is None


BOMB = b"""<?xml version="1.0"?><!DOCTYPE testsuites [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>
<testsuites><testsuite><testcase name="&b;"/></testsuite></testsuites>"""


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no xml",
        b"<testsuites><testsuite>",
        b"<html/>",
        BOMB,
        b"<!DOCTYPE testsuites><testsuites/>",
        '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE a><testsuites/>'.encode("utf-16"),
        b'<?xml version="1.0" encoding="no-such"?><testsuites/>',
        b"<testsuites>\xff</testsuites>",
        b"<testsuites>" + b" " * MOST_BYTES + b"</testsuites>",
    ],
    ids=["empty", "text", "torn", "other", "bomb", "doctype", "utf16", "encoding", "bytes", "large"],
)
def test_what_is_no_sound_report_is_not_read(data):
    assert read_junit(data) is None


def test_a_report_of_jest_is_read():
    data = b"""<testsuites name="jest tests"><testsuite name="login">
      <testcase classname="login shows an error" name="login shows an error" time="0.1">
        <failure>Error: expect(received).toBe(expected)\n  at login.test.js:3</failure></testcase>
      <testcase classname="login" name="works"/>
      <testcase classname="login" name="later"><skipped/></testcase>
      <testcase classname="Test suite failed to run" name="src/auth.test.js"><error>
        Cannot find module</error></testcase>
    </testsuite></testsuites>"""
    assert read_junit(data) == found(
        failing=("login shows an error",),
        passing=("login::works",),
        skipping=("login::later",),
        reasons={"login shows an error": "Error: expect(received).toBe(expected)"},
        broken={"src/auth.test.js": "Cannot find module"},
        total=2,
    )


def test_a_report_of_maven_or_gradle_is_read_and_a_flaky_test_passed():
    data = b"""<testsuite name="com.acme.LoginTest" tests="3">
      <properties><property name="a" value="b"/></properties>
      <testcase classname="com.acme.LoginTest" name="empty"><failure message="expected: &lt;1&gt;">at x</failure>
        <system-out>noise</system-out></testcase>
      <testcase classname="com.acme.LoginTest" name="flaky"><flakyFailure message="once">x</flakyFailure></testcase>
      <testcase classname="com.acme.LoginTest" name="breaks"><error type="java.lang.Error">java.lang.Error: no
        at y</error></testcase>
    </testsuite>"""
    results = read_junit(data)
    own = "com.acme.LoginTest::"
    assert results.failing == (own + "empty", own + "breaks")
    assert reasons(results) == {own + "empty": "expected: <1>", own + "breaks": "java.lang.Error: no"}
    assert results.passing == (own + "flaky",)
    assert results.total == 3


def test_a_report_wins_over_output_and_output_fills_what_it_lacks():
    output = found(failing=("a", "b"), reasons={"a": "from output", "b": "from output"}, broken={"f": "x"}, total=9)
    report = found(failing=("a", "b"), passing=("c",), reasons={"a": "from report"}, total=3)
    whole = merged(output, report)
    assert (reasons(whole), whole.broken) == ({"a": "from report", "b": "from output"}, {"f": "x"})
    assert (whole.total, whole.passing) == (3, ("c",))
    assert merged(None, report) is report
    assert merged(output, None) is output
    assert merged(None, None) is None
    assert merged(output, found(skipped=1)) == output.replace(skipped=1)


@pytest.mark.parametrize(
    ("argv", "path"),
    [
        (["pytest", "--junitxml=out/r.xml"], "out/r.xml"),
        (["pytest", "--junit-xml", "r.xml", "-q"], "r.xml"),
        (["pytest", "--junit-xml=a=b.xml"], "a=b.xml"),
        (["gotestsum", "--junitfile", "r.xml", "--", "./..."], "r.xml"),
        (["pytest", "--junitxml=a.xml", "--junitxml=b.xml"], "b.xml"),
        (["pytest", "--junitxml"], ""),
        (["pytest", "-q"], ""),
        ([], ""),
    ],
)
def test_the_command_says_where_its_report_goes(argv, path):
    assert report_path(argv) == path


def test_what_a_terminal_would_swallow_is_no_part_of_a_name():
    assert followed(b"a.py::test_\x1bPpayload\x1b\\x PASSED\n1 passed in 0.01s\n").passing == ("a.py::test_x",)
