# Every target sets up what it needs by itself, in .venv, from nothing but python3.
#   make lab ARGS="--port 9000"      make test ARGS="-k mse"      make test PYTHON=python3.12

ARGS ?=

# A Python that is asked for has an environment of its own, named by its version: it is never another one that runs,
# .venv is not thrown away for it, and going to and fro sets nothing up twice. Without PYTHON it is .venv.
ifeq ($(strip $(PYTHON)),)
override PYTHON := python3
VENV := .venv
else
VERSION := $(shell $(PYTHON) -c 'import sys; print(".".join(map(str, sys.version_info[:3])) + getattr(sys, "abiflags", "") + sys.implementation.name.replace("cpython", ""))' 2>/dev/null)
ifeq ($(VERSION),)
$(error PYTHON=$(PYTHON) is no Python that runs here)
endif
VENV := .venv-$(VERSION)
endif

# What is installed: the newest of everything, or with OLDEST=1 the oldest that pyproject.toml allows, which is
# there for the oldest Python only.
OLDEST_PYTHON := 3.11
ifdef OLDEST
VENV := $(VENV)-oldest
EXTRAS := [test]
CONSTRAINTS := tests/oldest.txt
else
EXTRAS := [dev]
CONSTRAINTS :=
endif

# The build of PyTorch in tests/portability/stored_frameworks.json.
TORCH := 2.13.0+cpu

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check $(CONSTRAINTS:%=--constraint %)

# Set-up, import, the tour, what differentiates, the rules, the magics, and something of every library: what another
# Python, or an older library, could break, in a few minutes.
CORE := tests/test_python_facts.py tests/test_project.py tests/test_tables.py tests/test_without_scipy.py \
	tests/notebook/test_tour.py tests/notebook/test_cli.py tests/notebook/test_loading.py \
	tests/notebook/test_magics.py tests/notebook/test_rule_magics.py tests/notebook/test_check_magics.py \
	tests/notebook/test_symbolic_magics.py tests/notebook/test_figures.py tests/notebook/test_widgets.py \
	tests/compiler/test_corpus.py tests/compiler/base/test_source.py tests/compiler/front/test_desugar.py \
	tests/checking/test_spreading.py tests/symbolic/test_derive.py tests/bench/test_environment.py \
	tests/compiler/calls/test_constructors.py tests/ad tests/rules tests/tangents tests/rulesets/test_numpy_elementwise.py tests/reliability/test_handlers.py \
	$(wildcard tests/rulesets/test_scipy_*.py)

.DEFAULT_GOAL := help
.PHONY: help lab check test test-slow test-all test-core test-oldest test-pythons lint bench bench-page bench-duels docs support-table magics-table vocabulary-table proved-table scipy-table scipy-forms frameworks framework-table mutants rule-corpus load programs guards docstrings points pictures clean

help:
	@echo "make lab     JupyterLab on the first notebook (prints the address if there is no screen)"
	@echo "make check   the fast tests: the core, the rules, each construct, each magic; within two minutes"
	@echo "make test    the suite: unit tests, doctests, notebooks, browser, and a sample of wide enumerations; within ten minutes"
	@echo "make test-slow     the tests of it that take a second or more each; eight minutes"
	@echo "make test-all      the same with every case of each enumeration and every notebook; some hours"
	@echo "make test-core      the tests that another Python could break, in two minutes"
	@echo "make test-oldest    the same with the oldest versions of everything that pyproject.toml allows"
	@echo "make test-pythons   test-core on each other supported Python that is found here"
	@echo "make lint    ruff and mypy"
	@echo "make bench   the speed comparison, as ratios; ARGS=\"--against REV\": this tree against a commit"
	@echo "make bench-page    regenerates docs/reference/speed.md from the stored run of make bench"
	@echo "make bench-duels   how far the verdicts of duels can be trusted: idle and loaded, some 30 minutes"
	@echo "make docs    builds the manual, with the output of the notebooks, and says where it is"
	@echo "make support-table   regenerates docs/support.md: what is supported, what is refused"
	@echo "make magics-table    regenerates docs/magics.md: the magics and their equivalents in plain Python"
	@echo "make vocabulary-table   regenerates docs/coming-from/vocabulary.md: each tool of ChainRules, and ours"
	@echo "make proved-table   regenerates docs/reference/proved.md: proves the built-in rules; some minutes"
	@echo "make scipy-table    regenerates docs/reference/scipy.md and scipy-stats.md: the rules for SciPy, and how each was verified; a minute"
	@echo "make scipy-forms    every rule for SciPy with its arrays in every form: short, strided, empty, without axes; four minutes"
	@echo "make frameworks   installs JAX and autograd, and PyTorch if there is a build without CUDA, so that their tests run"
	@echo "make framework-table   runs exported rules in JAX, PyTorch and autograd, and stores the results; ten minutes"
	@echo "make mutants   tries to prove wrong rules made from ours: none may be proved; half an hour"
	@echo "make load      judges rules alone and beside four busy processes: all must be the same; an hour"
	@echo "make rule-corpus   checks and proves right and wrong rules as users write them, without arguments; half an hour"
	@echo "make programs   random programs in all modes and orders; ARGS=\"plain --count 1000 --start 5000\""
	@echo "make guards     runs each program of the corpus after each change that its fast passes must notice; half an hour"
	@echo "make docstrings   the calls in docstrings of installed packages, against differences; some minutes"
	@echo "make points   second derivatives at special points; ARGS=\"--count 5000 --start 7\""
	@echo "make pictures   takes pictures of every page of the panel, verdict and magic, light and dark, wide and narrow; ten minutes"
	@echo "make clean   removes .venv, the other environments, and everything that a run leaves behind"

lab: $(VENV)/installed-lab
	@$(BIN)/python -m rulelab lab $(ARGS)

# In as many processes as there are cores; what shares a browser or a built manual stays in one of them: `FIRST`
# in tests/conftest.py. (Not loadgroup: with pytest 9 its groups are not kept, and its books cost 3 ms a test.)
test: $(VENV)/installed-dev
	@$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

# What takes a second or more, and for which something quicker stands in the suite.
test-slow: $(VENV)/installed-dev
	@$(BIN)/python -m pytest -n auto --dist worksteal -m slow $(ARGS)

# With what `every` leaves out of an enumeration and what is marked `rest`; long random searches stay campaigns.
test-all: $(VENV)/installed-dev
	@$(BIN)/python -m pytest -n auto --dist worksteal -m "not campaign or every or rest or slow" $(ARGS)

# What is run while one works: tests/check.txt lists it, and tests/test_fast_tier.py says what may not be missing.
check: $(VENV)/installed-dev
	@$(BIN)/python -m pytest -n auto --dist worksteal @tests/check.txt $(ARGS)

test-core: $(VENV)/installed-dev
	@$(BIN)/python -V
	@$(BIN)/python -m pytest -n auto --dist worksteal $(CORE) $(ARGS)

test-oldest:
	@$(MAKE) --no-print-directory test-core OLDEST=1

test-pythons:
	@$(PYTHON) tests/pythons.py

lint: $(VENV)/installed-dev
	@$(BIN)/python -m ruff check . $(ARGS)
	@$(BIN)/python -m mypy
	@$(BIN)/python -m mypy --strict --config-file= --follow-imports=silent --ignore-missing-imports tests/typing/user.py

bench: $(VENV)/installed-dev
	@$(BIN)/python tests/benchmarks/run.py $(ARGS)

bench-page: $(VENV)/installed-dev
	@$(BIN)/python tests/benchmarks/page.py

bench-duels: $(VENV)/installed-dev
	@$(BIN)/python tests/benchmarks/duels.py $(ARGS)

# Pages are read again (-E), notebooks run only if they or the package changed. A warning fails the build.
docs: $(VENV)/installed-dev
	@$(BIN)/python -m sphinx -q -E -W --keep-going -b html -d build/docs/doctrees $(ARGS) docs build/docs/html
	@echo "The manual is $(CURDIR)/build/docs/html/index.html"

support-table: $(VENV)/installed-dev
	@$(BIN)/python tests/corpus/support_table.py

magics-table: $(VENV)/installed-dev
	@$(BIN)/python tests/notebook/magics_table.py

vocabulary-table: $(VENV)/installed-dev
	@$(BIN)/python tests/corpus/vocabulary_table.py

proved-table: $(VENV)/installed-dev
	@$(BIN)/python tests/symbolic/own_rules.py > docs/reference/proved.md.new
	@mv docs/reference/proved.md.new docs/reference/proved.md

scipy-table: $(VENV)/installed-dev
	@$(BIN)/python tests/symbolic/scipy_table.py
	@$(BIN)/python tests/rulesets/stats_table.py

scipy-forms: $(VENV)/installed-dev
	@$(BIN)/python -m pytest -n auto --dist worksteal -m "every or not every" -k "each_form_of_arrays or of_all_forms" \
		tests/rulesets/test_forms.py $(wildcard tests/rulesets/test_scipy_*.py) $(ARGS)

rule-corpus: $(VENV)/installed-dev
	@$(BIN)/python tests/checking/rule_corpus/campaign.py $(ARGS)

frameworks: $(VENV)/installed-frameworks

framework-table: $(VENV)/installed-frameworks
	@$(PIP) --editable '.[frameworks]'
	@$(BIN)/python tests/portability/run_frameworks.py

mutants: $(VENV)/installed-dev
	@$(BIN)/python tests/symbolic/mutants.py $(ARGS)

load: $(VENV)/installed-dev
	@$(BIN)/python tests/reliability/load.py $(ARGS)

guards: $(VENV)/installed-dev
	@$(BIN)/python -m pytest -n auto --dist worksteal -m "campaign or not campaign" tests/compiler/test_guards.py $(ARGS)

programs: $(VENV)/installed-dev
	@$(BIN)/python tests/corpus/campaign.py $(ARGS)

docstrings: $(VENV)/installed-dev
	@$(PIP) --editable '.[docstrings]'
	@$(BIN)/python tests/corpus/docstring_calls.py $(ARGS)

points: $(VENV)/installed-dev
	@$(BIN)/python tests/rulesets/special_points.py $(ARGS)

pictures: $(VENV)/installed-dev
	@$(BIN)/python -m pytest -m campaign tests/browser/test_pictures.py $(ARGS)
	@echo "The pictures are in $(CURDIR)/build/pictures"

clean:
	rm -rf .venv .venv-* dist build docs/tutorial/notebooks .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find . -name .ipynb_checkpoints -type d -prune -exec rm -rf {} +

# The stamps are touched last, so an interrupted set-up is done again; with them a second run starts at once.
# What stands beside the package is copied when it is installed, though the package itself is not.
BESIDE := $(wildcard rulelab_command.py rulelab_pytest.py hatch_build.py)

$(VENV)/installed-lab: pyproject.toml $(BESIDE) | $(BIN)/python
	@echo "Setting up $(VENV) with JupyterLab (once; about a minute) ..."
	@$(PIP) --editable .
	@touch $@

$(VENV)/installed-dev: pyproject.toml $(BESIDE) $(CONSTRAINTS) | $(BIN)/python
	@echo "Setting up $(VENV) with the test tools (once; about a minute) ..."
	@$(PIP) --editable '.$(EXTRAS)'
	@touch $@ $(VENV)/installed-lab

# PyTorch as registries have it brings CUDA along, gigabytes that no test needs. Its builds for the processor alone are
# labelled +cpu; where pip is shown the one of the stored run (a folder of wheels, an index of PyTorch's) it is taken, and
# where not, its tests are skipped. Asked for by that label pip finds the small build or, at once, nothing.
$(VENV)/installed-frameworks: $(VENV)/installed-dev
	@echo "Installing JAX and autograd in $(VENV) (once; about a minute) ..."
	@$(PIP) --editable '.[frameworks-without-torch]' || { echo "JAX and autograd could not be installed: exported rules cannot be run in them. pip says why above." >&2; exit 1; }
	@$(PIP) 'torch==$(TORCH)' 2>/dev/null || echo "There is no build $(TORCH) of PyTorch to be had here: its tests are skipped."
	@touch $@

# Where the Python that an environment was made with is gone, so is bin/python: then all of it is made again.
$(BIN)/python:
	@$(PYTHON) -c '' 2>/dev/null || { echo "$(PYTHON) is no Python that runs here. Name another: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rulelab needs Python 3.11 or newer, and this is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12 ...")'
	@$(if $(OLDEST),$(PYTHON) -c 'import sys; found = "%d.%d" % sys.version_info[:2]; sys.exit(found != "$(OLDEST_PYTHON)" and "The oldest versions are those for Python $(OLDEST_PYTHON), and this is " + found + ". Name another: make test-oldest PYTHON=python$(OLDEST_PYTHON)")')
	@$(PYTHON) -m venv --clear $(VENV)
