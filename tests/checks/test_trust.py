"""Commands of a definition run only after a person on this machine trusted exactly this content at this place."""

from __future__ import annotations

import json
import os
import shutil
import stat

import pytest

from holdfast.checks import trust
from holdfast.errors import Refused, UsageError
from holdfast.plain.digest import digest

NOW = "2026-01-01T00:00:00.000Z"
NOBODY = 65534
TEXT = 'name = "d"\n[[step]]\nid = "a"\nchecks = [ { name = "tests", run = ["make", "test"] } ]\n'


class Machine:
    """A user's directories, and a project with one definition."""

    def __init__(self, home, project):
        self.data, self.config = home / "data", home / "config"
        self.folder = self.data / "holdfast" / "trust"
        self.path = project / "d.toml"
        project.mkdir()
        self.path.write_text(TEXT)

    def trusted(self, path=None, text=TEXT):
        return trust.trusted(
            digest(text.encode()), str(path or self.path), data_dir=str(self.data), config_dir=str(self.config)
        )

    def trust(self, path=None):
        content = digest((path or self.path).read_bytes())
        trust.trust(str(path or self.path), content, data_dir=str(self.data), now=NOW)
        return content

    def untrust(self, path=None):
        return trust.untrust(str(path or self.path), data_dir=str(self.data))

    def configure(self, text):
        path = self.config / "holdfast" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o600)
        return path


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path, tmp_path / "project")


def test_nothing_is_trusted_before_somebody_says_so(machine):
    assert not machine.trusted()
    assert not machine.data.exists()


def test_what_a_person_trusted_is_trusted_from_then_on(machine):
    assert machine.trust() == digest(TEXT.encode())
    assert machine.trusted()


def test_one_changed_byte_is_not_trusted_and_the_old_content_still_is(machine):
    machine.trust()
    assert not machine.trusted(text=TEXT + "\n")
    assert machine.trusted()


def test_the_same_content_at_another_place_is_not_trusted(machine, tmp_path):
    machine.trust()
    copy = shutil.copy(machine.path, tmp_path / "elsewhere.toml")
    assert not machine.trusted(copy)


def test_a_link_to_the_trusted_file_is_the_trusted_file(machine, tmp_path):
    (tmp_path / "link").symlink_to(machine.path.parent)
    machine.trust(tmp_path / "link" / "d.toml")
    assert machine.trusted()
    assert machine.trusted(tmp_path / "link" / "d.toml")


def test_without_a_path_or_a_digest_there_is_no_trust(machine):
    machine.configure('trust = ["/"]')
    for content, path in (("", str(machine.path)), (digest(b"x"), None), (digest(b"x"), "")):
        assert not trust.trusted(content, path, data_dir=str(machine.data), config_dir=str(machine.config))


def test_trust_is_kept_in_a_private_file_that_says_what_when_and_where(machine):
    content = machine.trust()
    (record,) = machine.folder.iterdir()
    assert record.name == digest(f"{os.path.realpath(machine.path)}\n{content}".encode())
    assert json.loads(record.read_text()) == {"path": os.path.realpath(machine.path), "digest": content, "when": NOW}
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert stat.S_IMODE(machine.folder.stat().st_mode) == 0o700


def test_trust_taken_back_is_gone_for_every_content_of_the_file_and_for_no_other(machine):
    other = machine.path.with_name("other.toml")
    other.write_text(TEXT)
    machine.trust(other)
    machine.trust()
    machine.path.write_text(TEXT + "# more\n")
    machine.trust()
    assert machine.untrust()
    assert not machine.trusted()
    assert not machine.trusted(text=TEXT + "# more\n")
    assert machine.trusted(other)
    assert not machine.untrust()


def test_trust_in_a_file_that_is_gone_can_be_taken_back(machine):
    machine.trust()
    machine.path.unlink()
    assert machine.untrust()
    assert not machine.trusted()


def test_a_record_that_is_damaged_stops_nobody_from_taking_trust_back(machine):
    machine.trust()
    for name, text in (("0" * 32, b""), ("1" * 32, b"[" * 100_000), ("2" * 32, b"[]"), ("3" * 32, b"\xff")):
        (machine.folder / name).write_bytes(text)
    assert machine.untrust()
    assert not machine.trusted()


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o720, 0o1777])
def test_a_folder_that_others_can_write_is_not_believed(machine, mode):
    machine.trust()
    machine.folder.chmod(mode)
    for ask in (machine.trusted, machine.trust, machine.untrust):
        with pytest.raises(Refused) as caught:
            ask()
        assert caught.value.code == "unsafe_trust"
        assert caught.value.remedy == "show this to a person and stop"
        assert str(caught.value.remedies[-1]).endswith(f"chmod 700 {machine.folder}")
    machine.folder.chmod(0o700)
    assert machine.trusted()


def test_a_folder_of_somebody_else_is_not_believed(machine):
    machine.trust()
    if os.geteuid() == 0:
        os.chown(machine.folder, NOBODY, NOBODY)
    else:
        shutil.rmtree(machine.folder)
        machine.folder.symlink_to("/")
    with pytest.raises(Refused) as caught:
        machine.trusted()
    assert caught.value.code == "unsafe_trust"
    assert "somebody else" in caught.value.message


def test_a_link_in_place_of_a_record_counts_for_nothing(machine):
    machine.trust()
    (record,) = machine.folder.iterdir()
    aside = record.rename(machine.data / "aside")
    record.symlink_to(aside)
    assert not machine.trusted()


def test_what_lies_below_a_prefix_of_the_users_settings_is_trusted_without_asking(machine):
    machine.configure(f'trust = ["/nowhere", "{machine.path.parent}"]')
    assert machine.trusted()
    assert machine.trusted(text="anything")
    assert not machine.data.exists()


def test_a_prefix_ends_at_a_folder_and_links_do_not_lead_into_it(machine, tmp_path):
    inside = tmp_path / "pro"
    inside.mkdir()
    machine.configure(f'trust = ["{inside}"]')
    (inside / "d.toml").symlink_to(machine.path)
    assert not machine.trusted()
    assert not machine.trusted(inside / "d.toml")
    assert not machine.trusted(inside / ".." / "project" / "d.toml")


def test_a_prefix_holds_even_where_the_folder_of_records_is_unsafe(machine):
    machine.trust()
    machine.folder.chmod(0o777)
    machine.configure(f'trust = ["{machine.path.parent}"]')
    assert machine.trusted()


@pytest.mark.parametrize(
    "text",
    ["trust = ", 'trust = "/"', "trust = [1]", 'trust = ["relative"]', 'trust = ["~/x"]', "x = '" + "a" * (1 << 20)],
)
def test_settings_that_cannot_be_understood_are_refused_by_name(machine, text):
    path = machine.configure(text)
    with pytest.raises(UsageError) as caught:
        machine.trusted()
    assert caught.value.code == "bad_config"
    assert str(path) in caught.value.message


def test_settings_that_anybody_can_write_are_refused(machine):
    path = machine.configure('trust = ["/"]')
    path.chmod(0o666)
    with pytest.raises(UsageError) as caught:
        machine.trusted()
    assert (caught.value.code, str(caught.value.remedies[0])) == ("bad_config", f"chmod go-w {path}")


def test_what_a_person_trusted_needs_no_settings(machine):
    machine.trust()
    machine.configure("trust = ")
    assert machine.trusted()
