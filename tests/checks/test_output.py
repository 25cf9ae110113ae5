"""What is kept of a command's output: its beginning and its end, without secrets, safe to print."""

from __future__ import annotations

import pytest

from holdfast.checks.output import HEAD, TAIL, Output, logged
from holdfast.core.secrets import HELD, Secrets
from holdfast.plain.digest import digest

BODY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TOKEN = "ghp_" + BODY
"""Put together only here, so that no tool takes this file for a leak."""
LINE = b"tests/test_shop.py::test_prices PASSED\n"


def taken(data: bytes, chunk: int = 65536, secrets: Secrets | None = None) -> Output:
    output = Output(secrets) if secrets else Output()
    for at in range(0, len(data), chunk):
        output.take(data[at : at + chunk])
    return output


@pytest.mark.parametrize("chunk", [1, 7, 65536])
def test_a_short_output_is_kept_whole_and_plain(chunk):
    output = taken(b"\x1b[31mred\x1b[0m\r\nf\xc3\xbcr\x07 all\n", chunk)
    assert output.text() == "red\nfür all\n"


@pytest.mark.parametrize("size", [HEAD, HEAD + HELD, HEAD + HELD + 1, HEAD + TAIL, 2 * (TAIL + HELD)])
def test_as_long_as_beginning_and_end_meet_nothing_is_left_out(size):
    data = (LINE * (size // len(LINE) + 1))[:size]
    assert taken(data).text().encode() == data


def test_of_a_long_output_the_beginning_and_the_end_are_kept_and_it_is_said_how_much_is_not():
    data = b"first\n" + LINE * 100_000 + b"last\n"
    output = taken(data)
    text = output.text()
    assert text.startswith("first\n")
    assert text.endswith("last\n")
    assert f"\n[{len(data) - HEAD - TAIL} bytes are not kept]\n" in text
    assert len(text) < HEAD + TAIL + 100
    assert output.hash.hexdigest() == digest(data)


@pytest.mark.parametrize("chunk", [1000, 65536])
@pytest.mark.parametrize("shift", range(0, len(TOKEN) + 2, 5))
def test_a_secret_at_the_edge_of_what_is_kept_leaves_nothing_of_itself(chunk, shift):
    filler = b"x" * (HEAD - shift - 1) + b" "
    middle = b"y " * (2 * (TAIL + HELD))
    end = b" " + b"z" * (TAIL - len(TOKEN) + shift)
    text = taken(filler + TOKEN.encode() + middle + TOKEN.encode() + end, chunk).text()
    assert not [part for part in (BODY[:12], BODY[-12:], BODY[12:24]) if part in text]


def test_secrets_are_counted_by_their_kind():
    output = taken(f"a {TOKEN} b {TOKEN}\n".encode())
    assert output.text() == "a [redacted: GitHub token] b [redacted: GitHub token]\n"
    assert output.redacted == {"GitHub token": 2}


def test_where_nothing_is_redacted_everything_is_there():
    assert TOKEN in taken(TOKEN.encode(), secrets=Secrets(redact=False)).text()


def test_the_last_line_is_the_last_whole_one_that_says_something():
    output = taken(f"one\ntwo {TOKEN}\n\n  \nhalf of a tok".encode())
    assert output.last_line() == "two [redacted: GitHub token]"


def test_what_was_printed_lies_in_a_file_of_the_user_alone(tmp_path):
    file = tmp_path / "checks/one/a+tests.log"
    with logged(taken(LINE), str(file)):
        pass
    assert file.read_bytes() == LINE
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_what_was_printed_up_to_an_interrupt_is_kept(tmp_path):
    file = tmp_path / "a.log"
    with pytest.raises(KeyboardInterrupt), logged(taken(LINE), str(file)):
        raise KeyboardInterrupt
    assert file.read_bytes() == LINE


def test_where_no_file_can_be_written_the_check_counts_all_the_same(tmp_path):
    (tmp_path / "checks").write_text("no folder")
    with logged(taken(LINE), str(tmp_path / "checks/a.log")):
        pass
    assert (tmp_path / "checks").read_text() == "no folder"
