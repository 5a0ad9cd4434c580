# Needs a POSIX shell, make and Python 3.11 or newer; everything else goes into .venv, from the lock file.
.POSIX:

BIN = .venv/bin
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 2 --dist worksteal
ARGS =
NAME = physics

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1  \2/p' Makefile | awk '{printf "  make %-11s", $$2; $$1 = $$2 = ""; print $$0}'

setup: .venv/.ready .venv/.viewer ## make .venv with everything; the other targets do it by themselves
	@:

.venv/.locked: requirements/dev.txt scripts/find-python
	@python=$$(sh scripts/find-python) && echo "setup: $$($$python --version) into .venv" && $$python -m venv --clear .venv
	@echo "setup: packages from requirements/dev.txt (a minute or two)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

.venv/.ready: .venv/.locked pyproject.toml
	@echo "setup: cellwright itself"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

VIEWER_SOURCES = viewer/package.json viewer/tsconfig.json viewer/build.mjs viewer/src/*.* viewer/src/panels/*.*

src/cellwright/viewing/built/viewer.html: $(VIEWER_SOURCES)
	@sh scripts/build-viewer

.venv/.viewer: .venv/.locked $(VIEWER_SOURCES)
	@sh scripts/build-viewer if-possible
	@touch $@

viewer: src/cellwright/viewing/built/viewer.html ## the page of --view and --trace, from viewer/ (needs Node.js 20)
	@:

pictures: setup ## make every moving picture of the docs anew (some minutes)
	@$(BIN)/python scripts/make-pictures

test-viewer: viewer ## the viewer's own tests, by Node.js
	@cd viewer && npm run --silent test

run: setup ## build a kit of gears in the APRS cell (ARGS="--seed 7" adds options)
	@$(BIN)/cellwright run $(ARGS)

compiled: setup ## compile what numba compiles, half a minute, once; the tests do it by themselves where it was not done
	@$(BIN)/python tests/compile_first.py planner & $(BIN)/python tests/compile_first.py laws & wait

test: setup ## the fast tests: no root, no system package, at most 5 minutes
	@$(PYTEST) -m "not peer and not slow and not long"

.venv/.peers: .venv/.ready requirements/peers.txt
	@echo "setup: the peers' packages from requirements/peers.txt"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements/peers.txt
	@touch $@

test-peers: .venv/.peers ## the tests against real peers (GL, database servers, planners ...), installed where possible
	@sh scripts/install-peers
	@$(PYTEST) -m "(peer or slow) and not long" || [ $$? -eq 5 ]

test-long: setup ## minutes to hours: fuzzing, kill tests, Monte Carlo
	@$(PYTEST) -m long || [ $$? -eq 5 ]

lint: setup ## style and types
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

format: setup ## put the code into the project's form
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

lock: ## make the lock files anew (ARGS=--upgrade takes newer versions)
	@sh scripts/lock $(ARGS)

regenerate: setup ## make anew: tables, access classes and vocabulary from the ontology, pages of keys and topics
	@$(BIN)/python -m cellwright.knowledge.generate
	@$(BIN)/python scripts/list-keys > docs/guide/keys.md
	@$(BIN)/python scripts/list-topics --write

bench: setup ## a measurement as ratios (NAME=physics chooses)
	@$(BIN)/cellwright bench $(NAME) $(ARGS)

docs: setup ## the documentation as pages in docs/_build
	@$(BIN)/sphinx-build -q -W docs docs/_build
	@echo "docs: docs/_build/index.html"

clean: ## remove caches and what was built; .venv and out/ stay
	@rm -rf build dist docs/_build src/cellwright/viewing/built .venv/.viewer .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find src tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help setup viewer pictures test-viewer run compiled test test-peers test-long lint format lock regenerate bench docs clean
