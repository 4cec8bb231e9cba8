# Every target creates the environment when it is missing: one command on a fresh machine is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LENS := .venv-lens
LENS_READY := $(LENS)/.ready

# Compiled modules are kept, so that a second run starts sooner.
unexport PYTHONDONTWRITEBYTECODE
# Two workers use both cores: threads of BLAS in each of them would wait for one another, at several times the cost.
theorems test: export OPENBLAS_NUM_THREADS := 1
theorems test: export OMP_NUM_THREADS := 1

.PHONY: setup theorems test bench atlas machines interpreters mutants drawn notebooks site lint coq lens lens-environment

# The environment alone, in some minutes.
setup: $(READY)
	@echo "The environment is ready. Try: $(BIN)/lemmata certify S3"

# The main job: every checked statement of the papers, and the table of verdicts.
theorems: setup
	@$(BIN)/pytest -n 2 --dist worksteal theorems --effort quick || { code=$$?; \
	echo "The environment is ready all the same: $(BIN)/lemmata certify S3"; exit $$code; }

# Everything: lint and types, the theorems, the tests of the library, the notebooks.
test: lint
	$(BIN)/pytest -n 2 --dist worksteal theorems tests
	$(BIN)/pytest -n 2 --nbmake --nbmake-timeout=600 notebooks

bench: $(READY)
	$(BIN)/pytest tests/benchmarks/bench_*.py --benchmark-only --benchmark-columns=min,median,rounds -s

# The tests on processors that this machine is not (hours; OPTIONS="--machine nehalem", see tests/machines/__main__.py).
machines: $(READY)
	$(BIN)/python -m tests.machines $(OPTIONS)

# The tests under every version of Python that this machine has, each in an environment of its own.
interpreters: $(READY)
	$(BIN)/python -m tests.machines.interpreters $(OPTIONS)

# How many random faults the quick tests see (OPTIONS="--jobs 2 --room kernel", see tests/mutants/__main__.py).
mutants: $(READY)
	$(BIN)/python -m pip install --quiet --no-build-isolation --constraint constraints.txt --editable ".[mutants]"
	$(BIN)/python -m tests.mutants $(OPTIONS)

# Which random faults the deciding checks of each statement see (OPTIONS="--chapter turing --jobs 2").
drawn: $(READY)
	$(BIN)/python -m pip install --quiet --no-build-isolation --constraint constraints.txt --editable ".[mutants]"
	$(BIN)/python -m tests.mutants.drawn $(OPTIONS)

# The atlas of certified margins: every committed document checked, what is missing computed, in build/atlas.
atlas: $(READY)
	$(BIN)/python -m lemmata atlas --out build/atlas

notebooks: $(READY)
	$(BIN)/python -m pip install --quiet --no-build-isolation --constraint constraints.txt --editable ".[notebooks]"
	$(BIN)/jupyter lab notebooks

# The export of induction heads, and models that are trained there, against TransformerLens itself: its 60 packages (600
# MB, no second torch) get an environment of their own, above the first. The tests are skipped where it cannot be
# imported: that is an error here.
lens: $(LENS_READY)
	$(LENS)/bin/python -c "from transformer_lens.model_bridge import TransformerBridge; TransformerBridge.boot_native"
	$(LENS)/bin/python -m pytest tests/constructions/networks/test_transformer_lens.py \
	tests/certificates/induction/test_lens_models.py

lens-environment: $(LENS_READY)

# The documentation, as a folder that any browser and any server can show.
site: $(READY)
	$(BIN)/python -m lemmata.site build/site

# The theory of margins in Coq, and the committed certificates of 1,402 of 1,546 tables, each within its committed
# interval (needs coqc, no solver): what is done is kept in build/coq, so that a second call continues.
coq: $(READY)
	$(BIN)/lemmata coq --committed build/coq

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --threads 2
	$(BIN)/lint-imports

$(READY): pyproject.toml constraints.txt
	@# The packages are links in lemmata/, which an archive may have turned into files.
	@for name in numerics constructions certificates theorems; do test -d lemmata/$$name || \
	{ rm -f lemmata/$$name; ln -s ../$$name lemmata/$$name; }; done
	@echo "Setting up the environment $(VENV), once: some minutes and 2 GB, most of it torch."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --quiet --constraint constraints.txt pip setuptools wheel
	@$(BIN)/python -m pip install --quiet --quiet --no-build-isolation --constraint constraints.txt --editable ".[develop]"
	@touch $(READY)

$(LENS_READY): $(READY)
	test -x $(LENS)/bin/python || $(BIN)/python -m venv $(LENS)
	first=$$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))") && \
	echo "import site; site.addsitedir('$$first')" > $$($(LENS)/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/first.pth
	$(LENS)/bin/python -m pip install --quiet --no-build-isolation --constraint constraints.txt transformer-lens
	touch $(LENS_READY)
