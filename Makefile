# Two commands do everything on a machine that has Python and nothing else: make demo, make test.
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# They wait more than they work: a few files at a time.
JOBS ?= 3
# The long files first: one that comes last is waited for alone.
WHOLE := tests/acceptance tests/model tests/integration
# What is compiled once need not be compiled by each worker, and by each daemon that a test starts.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help
help:  ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-14s %s\n", $$1, $$2 }'

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

.PHONY: demo
demo: $(READY)  ## see it work: messages kept through a pulled plug, delivered once and in order
	$(BIN)/honchod demo

.PHONY: test
test: lint types imports unit rest  ## everything that has to pass: lint, types, import contracts, all tests

.PHONY: lint
lint: $(READY)  ## ruff: style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.PHONY: types
types: $(READY)  ## mypy, strict
	$(BIN)/mypy

.PHONY: imports
imports: $(READY)  ## who may import whom (import-linter)
	$(BIN)/lint-imports --no-cache

.PHONY: unit
unit: $(READY)  ## the fast tests, with the pure rooms covered to the last branch
	$(BIN)/pytest tests/unit -n 2 -m "not slow" -p no:schemathesis --cov --cov-report=term-missing:skip-covered

.PHONY: rest
rest: $(READY)  ## the tests with a database, a server, the program as a process
	$(BIN)/pytest $$(grep -rl --include='*.py' mark.slow tests/unit) -m slow -n $(JOBS) -p no:schemathesis
	$(BIN)/pytest $(WHOLE) -n $(JOBS) --dist loadfile --no-loadscope-reorder || $(MAKE) again

.PHONY: again
again: $(READY)  ## what was red once more, alone: red again is broken, green was a race, and both are named
	$(BIN)/pytest --last-failed --last-failed-no-failures none tests --ignore=tests/runtimes

.PHONY: test-runtimes
test-runtimes: $(READY)  ## the adapters inside the real runtimes, installed from their registries into build/runtimes/
	$(BIN)/pytest tests/runtimes --timeout 900 --durations 5 || \
		$(BIN)/pytest tests/runtimes --timeout 900 --last-failed --last-failed-no-failures none

.PHONY: side-by-side
side-by-side: $(READY)  ## Hermes with its own Honcho provider beside Hermes with ours, into build/side_by_side/
	PYTHONPATH=tests $(BIN)/python -m runtimes.side_by_side $(if $(QUICK),--quick)

.PHONY: soak
soak: $(READY)  ## kill the daemon again and again under a bad sky: make soak SOAK="--minutes 20 --seed 7"
	PYTHONPATH=tests $(BIN)/python -m soak $(SOAK)

.PHONY: bench
bench: $(READY)  ## measure it beside yardsticks, into build/bench/: make bench, or make bench QUICK=1
	$(BIN)/python -m pip install --quiet --editable '.[bench]' || echo "no peers: their rows are left out"
	PYTHONPATH=tests $(BIN)/python -m bench $(if $(QUICK),--quick) $(BENCH)

.PHONY: live
live: $(READY)  ## the acceptance tests against a real Honcho: make live HONCHOD_LIVE_URL=http://127.0.0.1:8000
	@test -n "$(HONCHOD_LIVE_URL)" || { echo "set HONCHOD_LIVE_URL (and HONCHOD_LIVE_KEY where the server asks for a key)"; exit 2; }
	HONCHOD_LIVE_URL="$(HONCHOD_LIVE_URL)" $(BIN)/pytest tests/acceptance

.PHONY: wheel
wheel: $(READY)  ## build sdist and wheel into dist/
	$(BIN)/python -m build

.PHONY: generated
generated: $(READY)  ## write what is made from the code anew: manual pages, JSON schemas
	$(BIN)/python -m honchod.cli.man deploy/man
	$(BIN)/python -m honchod.service.schema deploy/schema

.PHONY: format
format: $(READY)  ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: clean
clean:  ## remove what was made
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
