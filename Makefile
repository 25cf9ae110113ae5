# On a machine with Python 3.11 or newer, git and make: `make demo` shows Holdfast, `make quick` and `make test` check it.

PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
BIN = $(VENV)/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 15
# Wheels only: building a source distribution would run a backend that nobody pinned.
LOCKED = $(INSTALL) --require-hashes --only-binary :all: -r
PROJECT = $(INSTALL) --no-build-isolation --no-deps --force-reinstall
OR_SAY := || { echo 'pip could not install the packages. Check the network and what `pip config list` names, and type this again.' >&2; exit 1; }
SOURCES := $(shell find src -type f ! -name '*.pyc')
CHECKED := src tests $(wildcard bench)
LOCK := uv pip compile --quiet --no-config --universal --no-strip-extras --python-version 3.11 --generate-hashes \
	--custom-compile-command 'make lock'

# Start-up depends on compiled modules, and nobody else's modules belong in our environment.
unexport PYTHONDONTWRITEBYTECODE PYTHONPATH PYTHONHOME VIRTUAL_ENV

.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
PYTEST = $(BIN)/python -m pytest -n auto --dist loadfile
.PHONY: help demo quick test full lint bench build lock system node clean

help: ## List these commands
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1	\2/p' $(MAKEFILE_LIST) | expand -t 16

demo: $(VENV)/.runtime ## Install Holdfast into .venv and watch it at work
	@$(BIN)/holdfast demo

quick: lint ## Check in two minutes: lint, types, imports, and the tests that need no other programs
	$(BIN)/python -m pytest -n auto --dist worksteal --quick -q -rfE

test: lint system node ## Check everything that this machine can run, tables by one row of each kind
	$(PYTEST)

full: lint system node ## Check every row of the tables: system calls, file systems, hosts and tools
	$(PYTEST) --full

lint: $(VENV)/.dev ## Check format, lint, types and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy $(CHECKED)
	$(BIN)/lint-imports --no-logo

bench: $(BENCH)/.installed ## Measure speed as ratios to raw disk and interpreter costs, beside other libraries
	$(BENCH)/bin/python -m bench

build: $(VENV)/.dev ## Build the wheel and the source distribution, the same bytes for the same commit
	rm -rf dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m hatchling build -d dist

lock: ## Pin the dependencies again (needs uv; UPGRADE=--upgrade takes the newest)
	$(LOCK) $(UPGRADE) pyproject.toml requirements/build.in -o requirements/build.txt
	$(LOCK) $(UPGRADE) pyproject.toml requirements/dev.in -o requirements/dev.txt
	$(LOCK) $(UPGRADE) pyproject.toml requirements/bench.in -o requirements/bench.txt

# Without what these two install, tests are skipped, and in continuous integration they fail.
system:
	@tools/system-packages || test -z "$$HOLDFAST_CI"

node: $(VENV)/.python system
	@tools/node-packages $(VENV) >/dev/null || test -z "$$HOLDFAST_CI"

clean: ## Remove everything that these commands made
	rm -rf $(VENV) $(BENCH) dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests $(wildcard bench) -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.python $(BENCH)/.python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Holdfast needs Python 3.11 or newer, and $(PYTHON) is older. Name another: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv --clear $(@D)
	@touch $@

# Once the development install is there it runs the sources themselves, and no copy of them is needed.
$(VENV)/.runtime: $(VENV)/.python requirements/build.txt pyproject.toml $(SOURCES)
	@test -e $(VENV)/.dev || { $(LOCKED) requirements/build.txt && $(PROJECT) .; } $(OR_SAY)
	@touch $@

$(VENV)/.dev: $(VENV)/.python requirements/dev.txt pyproject.toml
	$(LOCKED) requirements/dev.txt $(OR_SAY)
	$(PROJECT) -e .
	@touch $@

# The libraries that are measured beside Holdfast have an environment of their own.
$(BENCH)/.installed: VENV := $(BENCH)
$(BENCH)/.installed: $(BENCH)/.python requirements/bench.txt pyproject.toml
	$(LOCKED) requirements/bench.txt $(OR_SAY)
	$(PROJECT) -e .
	@touch $@
