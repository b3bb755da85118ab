# Two commands: `make demo` and `make test`. Both set up everything they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find drafter_lint schemas -type f -not -name '*.pyc') pyproject.toml README.md
TOOLS := import-linter mypy ruff types-jsonschema hypothesis pre-commit pytest pytest-xdist

.PHONY: demo test check lint types contracts unit hooks truth bench fmt schemas clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The wheel is what is tested and shown, never the checkout.
$(VENV)/wheel.stamp: $(SOURCES) | $(BIN)/python
	rm -rf dist
	$(BIN)/pip install --quiet --disable-pip-version-check hatchling build
	$(BIN)/python -m build --wheel --no-isolation --outdir dist . >/dev/null
	$(BIN)/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps dist/*.whl
	$(BIN)/pip install --quiet --disable-pip-version-check dist/*.whl
	touch $@

$(VENV)/tools.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check $(TOOLS)
	touch $@

demo: $(VENV)/wheel.stamp
	@$(BIN)/python scripts/demo.py

test: lint types contracts unit truth

lint: $(VENV)/tools.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	$(BIN)/mypy
	$(BIN)/mypy tests scripts benchmarks

contracts: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	$(BIN)/lint-imports

unit: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	DRAFTER_LINT_WHEEL=1 $(BIN)/pytest -n auto

# The real pre-commit and the Action's own installation; both build environments of their own from the package index.
hooks: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	DRAFTER_LINT_WHEEL=1 $(BIN)/pytest -m slow -n 2 --dist loadfile

# What the real engines did, against what the plan says they will do.
truth: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	$(BIN)/python scripts/truth.py

# What a check, a start and a survey cost, as ratios within one run; takes some minutes and tests nothing.
bench: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	$(BIN)/python -P benchmarks/bench.py

fmt: $(VENV)/tools.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Documents generated from the models and the rules.
schemas: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	$(BIN)/python scripts/generate.py

clean:
	rm -rf $(VENV) dist
