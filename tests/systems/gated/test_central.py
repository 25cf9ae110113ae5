"""Central docs: copied into a workspace, published from it, and never written over unseen."""

from __future__ import annotations

import os
import stat

import pytest

from holdfast.errors import Conflict, HoldfastError, UsageError
from holdfast.plain.digest import digest
from holdfast.systems.gated import central
from holdfast.systems.gated.central import Publishing, Write

SLUG = "user-login"
TOP = f"workflow/{SLUG}"
PAIRS = {
    "docs/features.md": f"{TOP}/00-feature/features.md",
    "docs/requirements.md": f"{TOP}/01-requirements/requirements.md",
    "docs/architecture.md": f"{TOP}/02-architecture/architecture.md",
    "docs/diagrams/flow.png": f"{TOP}/02-architecture/diagrams/flow.png",
    "docs/diagrams/parts/Log in.svg": f"{TOP}/02-architecture/diagrams/parts/Log in.svg",
    "docs/user-guide.md": f"{TOP}/05-documentation/user-docs.md",
    "docs/api-reference.md": f"{TOP}/05-documentation/api-docs.md",
}
BINARY = b"\x89PNG\r\n\x1a\n\0\xff\xfe"


class Worktree:
    """A folder with files in it, written and read from its top."""

    def __init__(self, base):
        self.base = str(base)

    def full(self, path):
        return os.path.join(self.base, path)

    def write(self, path, content):
        os.makedirs(os.path.dirname(self.full(path)), exist_ok=True)
        with open(self.full(path), "wb") as file:
            file.write(content)

    def read(self, path):
        with open(self.full(path), "rb") as file:
            return file.read()

    def files(self):
        found = {}
        for folder, _, names in os.walk(self.base):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), self.base)
                found[path] = os.readlink(self.full(path)) if os.path.islink(self.full(path)) else self.read(path)
        return found

    def link(self, path, to):
        os.makedirs(os.path.dirname(self.full(path)), exist_ok=True)
        os.symlink(to, self.full(path))


@pytest.fixture
def tree(tmp_path):
    return Worktree(tmp_path / "project")


@pytest.fixture
def full(tree):
    """A worktree with all central docs, one of the diagrams binary."""
    for path in PAIRS:
        tree.write(path, BINARY if path.endswith(".png") else f"about {path}\n".encode())
    return tree


@pytest.fixture
def seeded(full):
    return central.copy_in(full.base, SLUG)


def refusal_of(act, *rest, kind=UsageError):
    with pytest.raises(kind) as refusal:
        act(*rest)
    return refusal.value


def test_seeding_copies_every_central_doc_and_says_what_was_copied(full):
    seeded = central.copy_in(full.base, SLUG)
    assert seeded == {path: digest(full.read(path)) for path in PAIRS}
    for path, own in PAIRS.items():
        assert full.read(own) == full.read(path)
        assert stat.S_IMODE(os.stat(full.full(own)).st_mode) == 0o644
    assert set(full.files()) == {*PAIRS, *PAIRS.values()}


def test_docs_that_are_not_there_are_not_copied(tree):
    assert central.copy_in(tree.base, SLUG) == {}
    assert tree.files() == {}
    tree.write("docs/architecture.md", b"a")
    tree.write("docs/other.md", b"b")
    assert central.copy_in(tree.base, SLUG) == {"docs/architecture.md": digest(b"a")}
    assert set(tree.files()) == {"docs/architecture.md", "docs/other.md", PAIRS["docs/architecture.md"]}


def test_what_the_workspace_has_already_stays_when_seeding_is_repeated(full, seeded):
    full.write(PAIRS["docs/features.md"], b"with an entry")
    os.unlink(full.full(PAIRS["docs/diagrams/flow.png"]))
    assert central.copy_in(full.base, SLUG) == seeded
    assert full.read(PAIRS["docs/features.md"]) == b"with an entry"
    assert full.read(PAIRS["docs/diagrams/flow.png"]) == BINARY


def test_hidden_files_and_links_are_no_diagrams(full, tmp_path):
    full.write("docs/diagrams/.gitkeep", b"")
    full.write("docs/diagrams/.cache/a.png", b"a")
    full.link("docs/diagrams/link.png", "flow.png")
    full.link("docs/diagrams/folder", str(tmp_path))
    assert set(central.copy_in(full.base, SLUG)) == set(PAIRS)


def test_nothing_is_published_of_a_workspace_that_changed_nothing(full, seeded):
    before = full.files()
    assert central.differences(full.base, SLUG, seeded) == Publishing()
    assert central.publish(full.base, SLUG, seeded) == ()
    assert full.files() == before


def test_what_the_workspace_changed_or_added_is_published(full, seeded):
    drawn = f"{TOP}/02-architecture/diagrams/new/a.png"
    full.write(PAIRS["docs/user-guide.md"], b"new guide")
    full.write(PAIRS["docs/diagrams/flow.png"], BINARY * 2)
    full.write(drawn, b"\0\1")
    full.write(f"{TOP}/02-architecture/diagrams/.hidden", b"")
    before = full.files()
    publishing = central.differences(full.base, SLUG, seeded)
    assert sorted(publishing.writes, key=lambda write: write.target) == [
        Write(PAIRS["docs/diagrams/flow.png"], "docs/diagrams/flow.png", BINARY * 2),
        Write(drawn, "docs/diagrams/new/a.png", b"\0\1"),
        Write(PAIRS["docs/user-guide.md"], "docs/user-guide.md", b"new guide"),
    ]
    assert publishing.conflicts == ()
    assert full.files() == before
    written = ("docs/diagrams/flow.png", "docs/diagrams/new/a.png", "docs/user-guide.md")
    assert central.publish(full.base, SLUG, seeded) == written
    assert full.files() == before | {write.target: write.content for write in publishing.writes}
    assert stat.S_IMODE(os.stat(full.full("docs/user-guide.md")).st_mode) == 0o644
    assert central.publish(full.base, SLUG, seeded) == ()


def test_the_first_feature_of_a_project_makes_its_central_docs(tree):
    for path, own in PAIRS.items():
        tree.write(own, path.encode())
    assert central.publish(tree.base, SLUG, {}) == tuple(sorted(PAIRS))
    assert all(tree.read(path) == path.encode() for path in PAIRS)


def test_a_copy_that_was_deleted_leaves_the_central_doc_as_it_is(full, seeded):
    gone = ("docs/diagrams/flow.png", "docs/requirements.md")
    for path in gone:
        os.unlink(full.full(PAIRS[path]))
    assert central.publish(full.base, SLUG, seeded) == ()
    assert full.read("docs/diagrams/flow.png") == BINARY


def test_a_doc_that_was_never_copied_stays(full):
    assert central.differences(full.base, SLUG, {}) == Publishing()


def test_a_doc_that_is_gone_on_both_sides_is_no_matter(full, seeded):
    os.unlink(full.full("docs/requirements.md"))
    os.unlink(full.full(PAIRS["docs/requirements.md"]))
    assert central.differences(full.base, SLUG, seeded) == Publishing()


def test_docs_that_others_changed_are_a_conflict_and_nothing_is_written(full, seeded):
    for own in PAIRS.values():
        full.write(own, b"ours")
    full.write("docs/architecture.md", b"theirs")
    full.write("docs/diagrams/parts/Log in.svg", b"theirs")
    os.unlink(full.full("docs/user-guide.md"))
    before = full.files()
    paths = ["docs/architecture.md", "docs/diagrams/parts/Log in.svg", "docs/user-guide.md"]
    publishing = central.differences(full.base, SLUG, seeded)
    assert sorted(publishing.conflicts) == paths
    assert not {write.target for write in publishing.writes} & set(paths)
    refusal = refusal_of(central.publish, full.base, SLUG, seeded, kind=Conflict)
    assert refusal.code == "docs_changed"
    assert sorted(refusal.facts["paths"]) == paths
    assert all(path in refusal.message for path in paths)
    assert f"docs/architecture.md into {PAIRS['docs/architecture.md']}" in refusal.remedy
    assert "--merged 'docs/diagrams/parts/Log in.svg'" in refusal.remedy
    assert full.files() == before


def test_the_remedy_for_one_conflict_can_be_typed(full, seeded):
    full.write(PAIRS["docs/architecture.md"], b"ours")
    full.write("docs/architecture.md", b"theirs")
    refusal = refusal_of(central.publish, full.base, SLUG, seeded, kind=Conflict)
    own = PAIRS["docs/architecture.md"]
    said = (
        "then a person approves 02-architecture again · then: holdfast feature finalize --merged docs/architecture.md"
    )
    assert refusal.remedy == f"merge docs/architecture.md into {own} · {said}"
    assert [str(one) for one in refusal.remedies if getattr(one, "who", "") == "person"] == [
        "holdfast approve 02-architecture"
    ]


def test_a_doc_that_others_made_meanwhile_is_a_conflict(tree):
    seeded = central.copy_in(tree.base, SLUG)
    tree.write("docs/features.md", b"theirs")
    tree.write(PAIRS["docs/features.md"], b"ours")
    assert central.differences(tree.base, SLUG, seeded).conflicts == ("docs/features.md",)


def test_a_change_by_others_that_the_workspace_has_too_is_no_conflict(full, seeded):
    full.write(PAIRS["docs/architecture.md"], b"same")
    full.write("docs/architecture.md", b"same")
    assert central.differences(full.base, SLUG, seeded) == Publishing()


def test_a_conflict_that_was_merged_is_published_and_any_other_still_refused(full, seeded):
    for path in ("docs/architecture.md", "docs/diagrams/flow.png"):
        full.write(path, b"theirs")
        full.write(PAIRS[path], b"theirs and ours")
    some = ["docs/architecture.md"]
    refusal = refusal_of(central.publish, full.base, SLUG, seeded, some, kind=Conflict)
    assert refusal.facts == {"paths": ["docs/diagrams/flow.png"]}
    assert full.read("docs/architecture.md") == b"theirs"
    both = ["docs/diagrams/flow.png", "docs/architecture.md"]
    assert central.publish(full.base, SLUG, seeded, both) == tuple(sorted(both))
    assert full.read("docs/architecture.md") == full.read("docs/diagrams/flow.png") == b"theirs and ours"


@pytest.mark.parametrize(
    "path",
    [
        "docs/other.md",
        "features.md",
        "docs/../docs/features.md",
        "docs/diagrams",
        "docs/diagrams/",
        "docs/diagrams/../features.md",
        "docs/diagrams//a",
        "docs/diagrams/.gitkeep",
        "docs/diagrams/a\nb",
        "x/docs/diagrams/a",
        "",
    ],
)
def test_only_central_docs_can_have_been_merged(full, seeded, path):
    full.write(PAIRS["docs/features.md"], b"ours")
    assert refusal_of(central.publish, full.base, SLUG, seeded, [path]).code == "no_central_doc"
    assert full.read("docs/features.md") == b"about docs/features.md\n"


def test_digests_of_paths_that_are_no_central_docs_lead_nowhere(full, seeded, tmp_path):
    (tmp_path / "secret").write_bytes(b"s")
    odd = {"docs/diagrams/../../../secret": digest(b"s"), "/etc/passwd": "x", "docs/other.md": "y"}
    assert central.differences(full.base, SLUG, seeded | odd) == Publishing()


@pytest.mark.parametrize("path", PAIRS)
def test_publishing_is_finished_by_repeating_it_after_an_interruption_at_any_write(full, seeded, path):
    """What is where a write puts its unfinished file makes that very write fail, for root too."""
    for own in PAIRS.values():
        full.write(own, b"ours " + own.encode())
    folder, name = os.path.split(full.full(path))
    obstacle = os.path.join(folder, f".{name}.tmp")
    os.mkdir(obstacle)
    refusal = refusal_of(central.publish, full.base, SLUG, seeded, kind=HoldfastError)
    assert refusal.code == "write_failed"
    assert full.read(path) != full.read(PAIRS[path])
    os.rmdir(obstacle)
    rest = tuple(sorted(each for each in PAIRS if full.read(each) != full.read(PAIRS[each])))
    assert central.publish(full.base, SLUG, seeded) == rest
    assert all(full.read(each) == full.read(own) for each, own in PAIRS.items())
    assert set(full.files()) == {*PAIRS, *PAIRS.values()}


@pytest.mark.parametrize("path", PAIRS)
def test_seeding_is_finished_by_repeating_it_after_an_interruption_at_any_write(full, path):
    folder, name = os.path.split(full.full(PAIRS[path]))
    obstacle = os.path.join(folder, f".{name}.tmp")
    os.makedirs(obstacle)
    assert refusal_of(central.copy_in, full.base, SLUG, kind=HoldfastError).code == "write_failed"
    os.rmdir(obstacle)
    assert central.copy_in(full.base, SLUG) == {each: digest(full.read(each)) for each in PAIRS}
    assert all(full.read(each) == full.read(own) for each, own in PAIRS.items())


def test_an_unfinished_file_of_a_killed_writer_is_written_over(full, seeded):
    full.write("docs/.user-guide.md.tmp", b"half")
    full.write(PAIRS["docs/user-guide.md"], b"whole")
    central.publish(full.base, SLUG, seeded)
    assert full.read("docs/user-guide.md") == b"whole"
    assert set(full.files()) == {*PAIRS, *PAIRS.values()}


@pytest.mark.parametrize("path", PAIRS)
def test_a_link_in_place_of_a_file_is_refused_and_nothing_is_written(full, seeded, tmp_path, path):
    outside = tmp_path / "outside"
    outside.write_bytes(b"outside")
    for own in PAIRS.values():
        full.write(own, b"ours")
    os.unlink(full.full(path))
    full.link(path, str(outside))
    before = full.files()
    refusal = refusal_of(central.publish, full.base, SLUG, seeded, [path])
    assert (refusal.code, refusal.facts) == ("symlink", {"path": path})
    assert refusal.message == f"{path} is a symbolic link, and links are not followed"
    assert full.files() == before
    assert outside.read_bytes() == b"outside"


@pytest.mark.parametrize("own", sorted(set(PAIRS.values()) - {path for path in PAIRS.values() if "diagrams" in path}))
def test_a_link_in_the_workspace_is_neither_read_nor_written_through(full, tmp_path, own):
    outside = tmp_path / "outside"
    full.link(own, str(outside))
    before = full.files()
    assert refusal_of(central.copy_in, full.base, SLUG).code == "symlink"
    outside.write_bytes(b"secret")
    assert refusal_of(central.publish, full.base, SLUG, {}).facts == {"path": own}
    assert full.files() == before
    assert outside.read_bytes() == b"secret"


@pytest.mark.parametrize("folder", ["docs", "docs/diagrams", "workflow", TOP, f"{TOP}/02-architecture/diagrams"])
def test_a_link_in_place_of_a_folder_is_refused_and_nothing_is_written(tree, tmp_path, folder):
    outside = Worktree(tmp_path / "outside")
    outside.write("architecture.md", b"a")
    outside.write("flow.png", b"f")
    if not folder.startswith("docs"):
        tree.write("docs/diagrams/flow.png", b"f")
        tree.write("docs/features.md", b"f")
    else:
        tree.write(PAIRS["docs/diagrams/flow.png"], b"ours")
    tree.link(folder, outside.base)
    before, beyond = tree.files(), outside.files()
    for act in (central.copy_in, lambda base, slug: central.publish(base, slug, {})):
        refusal = refusal_of(act, tree.base, SLUG)
        assert (refusal.code, refusal.facts) == ("symlink", {"path": folder})
    assert (tree.files(), outside.files()) == (before, beyond)


def test_something_else_in_place_of_a_file_or_folder_is_refused(full, seeded):
    for own in PAIRS.values():
        full.write(own, b"ours")
    full.write(f"{TOP}/02-architecture/diagrams/flow/a.png", b"ours")
    full.write("docs/diagrams/flow", b"a file")
    before = full.files()
    refusal = refusal_of(central.publish, full.base, SLUG, seeded)
    assert (refusal.code, refusal.facts) == ("not_a_folder", {"path": "docs/diagrams/flow"})
    assert full.files() == before
    os.unlink(full.full("docs/diagrams/flow"))
    os.unlink(full.full("docs/api-reference.md"))
    os.mkfifo(full.full("docs/api-reference.md"))
    refusal = refusal_of(central.publish, full.base, SLUG, seeded)
    assert (refusal.code, refusal.facts) == ("not_a_file", {"path": "docs/api-reference.md"})
    assert full.read("docs/features.md") == b"about docs/features.md\n"


def test_a_doc_that_is_too_large_is_refused_and_one_that_just_fits_is_copied(tree):
    tree.write("docs/diagrams/a.bin", b"a" * central.LARGEST)
    assert set(central.copy_in(tree.base, SLUG)) == {"docs/diagrams/a.bin"}
    tree.write("docs/features.md", b"f")
    tree.write("docs/diagrams/b.bin", b"b" * (central.LARGEST + 1))
    refusal = refusal_of(central.copy_in, tree.base, SLUG)
    assert (refusal.code, refusal.facts) == ("too_large", {"path": "docs/diagrams/b.bin"})
    assert not os.path.exists(tree.full(PAIRS["docs/features.md"]))


@pytest.mark.parametrize("name", ["a\nb.png", "a\x1b.png", "\udcff.png", "a\nb/c.png"])
def test_a_name_that_cannot_be_written_down_is_refused(full, name):
    full.write(f"docs/diagrams/{name}", b"a")
    refusal = refusal_of(central.copy_in, full.base, SLUG)
    assert refusal.code == "bad_name"
    assert refusal.message.isprintable()
    assert not os.path.exists(full.full("workflow"))


def test_folders_may_be_deep(tree):
    deep = "docs/diagrams/" + "a/" * 100 + "b.png"
    tree.write(deep, b"b")
    assert central.copy_in(tree.base, SLUG) == {deep: digest(b"b")}


@pytest.mark.parametrize("slug", ["", "..", "../x", "a/b", "A", "a-", "-a", "a" * 65, "a\n", "ä", "."])
def test_a_slug_never_leads_out_of_its_folder(full, slug):
    before = full.files()
    for act in (central.copy_in, lambda base, slug: central.publish(base, slug, {})):
        assert refusal_of(act, full.base, slug).code == "bad_slug"
    assert full.files() == before


def test_init_makes_what_is_missing_and_no_more(tree):
    tree.write("docs/architecture.md", b"ours")
    made = central.init(tree.base)
    assert set(made) == {
        "workflow/.gitkeep",
        "docs/features.md",
        "docs/requirements.md",
        "docs/diagrams/.gitkeep",
        "docs/user-guide.md",
        "docs/api-reference.md",
    }
    assert set(tree.files()) == {*made, "docs/architecture.md"}
    assert tree.read("docs/architecture.md") == b"ours"
    assert tree.read("docs/features.md").startswith(b"# Features\n\n")
    assert tree.read("workflow/.gitkeep") == tree.read("docs/diagrams/.gitkeep") == b""
    before = tree.files()
    assert central.init(tree.base) == ()
    assert tree.files() == before


def test_what_init_made_is_seeded_like_any_other_doc(tree):
    central.init(tree.base)
    assert set(central.copy_in(tree.base, SLUG)) == {path for path in PAIRS if "diagrams" not in path}


def test_init_follows_no_link(tree, tmp_path):
    tree.link("docs/features.md", str(tmp_path / "outside"))
    before = tree.files()
    assert refusal_of(central.init, tree.base).facts == {"path": "docs/features.md"}
    assert tree.files() == before
