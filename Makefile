# Every target creates the environment when it is missing: one command on a fresh machine is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: theorems test bench notebooks lint

# The main job: every checked statement of the papers, and the table of verdicts.
theorems: $(READY)
	$(BIN)/pytest -n 2 --dist worksteal theorems --effort quick

# Everything: lint and types, the theorems, the tests of the library, the notebooks.
test: lint
	$(BIN)/pytest -n 2 --dist worksteal theorems tests
	$(BIN)/pytest -n 2 --nbmake --nbmake-timeout=600 notebooks

bench: $(READY)
	$(BIN)/pytest tests/benchmarks/bench_*.py --benchmark-only --benchmark-columns=min,median,rounds -s

notebooks: $(READY)
	$(BIN)/python -m pip install --quiet --no-build-isolation --constraint constraints.txt --editable ".[notebooks]"
	$(BIN)/jupyter lab notebooks

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt pip setuptools wheel
	$(BIN)/python -m pip install --quiet --no-build-isolation --constraint constraints.txt --editable ".[test]"
	touch $(READY)
