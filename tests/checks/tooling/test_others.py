"""Node, Rust, Go and make: which of their files provide a command, and which only look as if they did."""

from __future__ import annotations

import json
import subprocess

import pytest

SCRIPTS = {"lint": "eslint .", "test": "vitest run", "audit": "audit-ci", "simplify": "knip"}


def package(folder, scripts):
    folder.write("package.json", json.dumps({"name": "x", "scripts": scripts}))


def test_scripts_are_run_by_npm(folder):
    package(folder, SCRIPTS)

    assert folder.runs() == {
        "lint": "npm run --silent lint",
        "test": "npm test --silent",
        "security_review": "npm run --silent audit",
        "code_simplifier": "npm run --silent simplify",
    }
    assert set(folder.sources().values()) == {"package.json"}


@pytest.mark.parametrize(
    ("lock", "runner"),
    [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lockb", "bun"), ("bun.lock", "bun")],
)
def test_the_lock_file_names_the_runner(folder, lock, runner):
    package(folder, SCRIPTS)
    folder.write("package-lock.json")
    folder.write(lock)

    assert folder.runs() == {
        "lint": f"{runner} run lint",
        "test": f"{runner} run test",
        "security_review": f"{runner} run audit",
        "code_simplifier": f"{runner} run simplify",
    }


def test_of_several_scripts_the_plainest_name_is_taken(folder):
    package(folder, {"audit": "a", "security_review": "b", "code_simplifier": "c"})
    assert folder.runs()["security_review"] == "npm run --silent security_review"
    assert folder.runs()["code_simplifier"] == "npm run --silent code_simplifier"

    package(folder, {"audit": "a", "security_review": "b", "security": "c"})
    assert folder.runs()["security_review"] == "npm run --silent security"


@pytest.mark.parametrize("test", ['echo "Error: no test specified" && exit 1', "", "  ", None, 1, ["jest"]])
def test_a_placeholder_or_no_text_is_no_script(folder, test):
    package(folder, {"test": test, "pretest": "x", "lint:fix": "x"})

    assert folder.tools() == {}


@pytest.mark.parametrize("text", ["[]", '{"scripts": []}', '{"scripts": "test"}', '{"lint": "x"}', "null", "{'a': 1}"])
def test_a_package_of_another_shape_provides_nothing(folder, text):
    folder.write("package.json", text)

    assert folder.tools() == {}


def test_a_byte_order_mark_does_not_hide_the_scripts(folder):
    folder.write("package.json", b"\xef\xbb\xbf" + json.dumps({"scripts": {"lint": "x"}}).encode())

    assert folder.runs() == {"lint": "npm run --silent lint"}


@pytest.mark.parametrize("manifest", ['[package]\nname = "x"\n', "[workspace]\nmembers = []\n"])
def test_a_crate_or_workspace_is_tested_and_linted_by_cargo(folder, manifest):
    folder.write("Cargo.toml", manifest)

    assert folder.runs() == {"lint": "cargo clippy --all-targets -- -D warnings", "test": "cargo test"}


@pytest.mark.parametrize(
    ("file", "run"),
    [
        (".cargo/audit.toml", "cargo audit"),
        ("audit.toml", "cargo audit"),
        ("deny.toml", "cargo deny check"),
        (".deny.toml", "cargo deny check"),
        (".cargo/deny.toml", "cargo deny check"),
    ],
)
def test_a_crate_is_audited_by_what_it_is_set_up_for(folder, file, run):
    folder.write(file)
    assert folder.tools() == {}

    folder.write("Cargo.toml", '[package]\nname = "x"\n')
    assert folder.runs()["security_review"] == run
    assert folder.sources()["security_review"] == file


def test_a_manifest_without_package_or_workspace_is_none(folder):
    folder.write("Cargo.toml", "[dependencies]\n")

    assert folder.tools() == {}


def test_a_go_module_is_tested_and_vetted(folder):
    folder.write("go.mod", "// a module\nmodule example.org/x\n\ngo 1.22\n")

    assert folder.runs() == {"lint": "go vet ./...", "test": "go test -v ./..."}


@pytest.mark.parametrize("name", [".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"])
def test_a_go_module_with_golangci_settings_is_linted_by_it(folder, name):
    folder.write("go.mod", "module x\n")
    folder.write(name)

    assert folder.runs()["lint"] == "golangci-lint run"
    assert folder.sources() == {"lint": name, "test": "go.mod"}


def test_a_go_mod_that_names_no_module_provides_nothing(folder):
    folder.write("go.mod", "// module x\ngo 1.22\n")

    assert folder.tools() == {}


MAKEFILES = {
    "plain": ("lint:\n\techo x\n", True),
    "prerequisites": ("lint: a b\na b:\n\techo x\n", True),
    "one line": ("lint: ; X=1 echo x\n", True),
    "several targets": ("test lint : ; echo x\n", True),
    "double colon": ("lint::\n\techo x\n", True),
    "blanks before": ("  lint:\n\techo x\n", True),
    "continued": ("test \\\n  lint: ; echo x\n", True),
    "comment after": ("lint: # say: x = y\n\techo x\n", True),
    "reference beside": ("lint $(X): ; echo x\n", True),
    "substitution": ("S = a.c\nlint: $(S:.c=.o)\n\techo x\n%.o: ;\n", True),
    "windows lines": ("lint:\r\n\techo x\r\n", True),
    "continued windows lines": ("test \\\r\n  lint: ; echo x\r\n", True),
    "in a condition": ("ifeq (a,a)\nlint:\n\techo x\nendif\n", True),
    "after a define": ("define d\nx\nendef\nlint: ; echo x\n", True),
    "assignment": ("lint := x\nall: ; echo x\n", False),
    "posix assignment": ("lint ::= x\nall: ; echo x\n", False),
    "value with colon": ("lint = a:b\nall: ; echo x\n", False),
    "only phony": (".PHONY: lint\nall: ; echo x\n", False),
    "only a variable of it": ("lint: X = 1\nlint: export Y := 2\nall: ; echo x\n", False),
    "only a variable of it, double colon": ("lint:: X = 1\nall: ; echo x\n", False),
    "only a prerequisite": ("all: lint2 # lint\nlint2: ; echo x\n", False),
    "comment": ("# lint:\nall: ; echo x\n", False),
    "recipe": ("all:\n\techo lint: x\n\tlint: x\n", False),
    "continued recipe": ("all:\n\techo \\\nlint: x\n", False),
    "longer name": ("lint-all lint.x: ; echo x\n", False),
    "call": ("$(info lint: x)\nall: ; echo x\n", False),
    "definition": ("define d\nlint:\n\techo x\nendef\nall: ; echo x\n", False),
}


@pytest.mark.parametrize(("text", "provided"), MAKEFILES.values(), ids=MAKEFILES.keys())
def test_a_target_is_found_in_a_makefile_exactly_when_make_has_it_to_run(folder, text, provided):
    folder.write("Makefile", text)
    make = subprocess.run(["make", "-n", "lint"], cwd=folder.path, capture_output=True, text=True)
    has_recipe = make.returncode == 0 and "echo x" in make.stdout

    assert has_recipe is provided
    assert folder.runs() == ({"lint": "make lint"} if provided else {}) | (
        {"test": "make test"} if "test" in text else {}
    )


@pytest.mark.parametrize("target", ["security", "security-review", "security_review"])
@pytest.mark.parametrize("simplifier", ["simplify", "code-simplifier", "code_simplifier"])
def test_the_targets_of_reviews_have_several_names(folder, target, simplifier):
    folder.write("Makefile", f"{target}:\n\ttrue\n{simplifier}:\n\ttrue\n")

    assert folder.runs() == {"security_review": f"make {target}", "code_simplifier": f"make {simplifier}"}


def test_the_makefile_that_make_would_read_is_the_one_that_counts(folder):
    folder.write("Makefile", "test:\n\techo 3\n")
    folder.write("makefile", "lint:\n\techo 2\n")
    assert folder.sources() == {"lint": "makefile"}

    folder.write("GNUmakefile", "security:\n\techo 1\n")
    assert folder.sources() == {"security_review": "GNUmakefile"}


def test_a_target_that_make_takes_for_an_existing_file_is_left_out(folder):
    folder.write("Makefile", "test:\n\techo ran\n")
    folder.write("test/data")
    said = subprocess.run(["make", "test"], cwd=folder.path, capture_output=True, text=True, check=True).stdout
    assert "up to date" in said
    assert folder.tools() == {}

    folder.write("Makefile", ".PHONY: lint test\ntest:\n\techo ran\n")
    assert folder.runs() == {"test": "make test"}
