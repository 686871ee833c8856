# Every target sets up what it needs by itself, in .venv, from nothing but python3.
#   make lab ARGS="--port 9000"      make test ARGS="-k mse"      make test PYTHON=python3.12

PYTHON ?= python3
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help lab test lint bench bench-duels docs support-table magics-table vocabulary-table proved-table mutants programs docstrings clean

help:
	@echo "make lab     JupyterLab on the first notebook (prints the address where there is no screen)"
	@echo "make test    all tests: unit, doctests, notebooks, browser"
	@echo "make lint    ruff and mypy"
	@echo "make bench   the speed comparison, as ratios; ARGS=\"--against REV\": this tree against a commit"
	@echo "make bench-duels   how far the verdicts of duels can be trusted: idle and loaded, some 30 minutes"
	@echo "make docs    builds the manual, with what the notebooks print, and says where it is"
	@echo "make support-table   writes docs/support.md anew: what is taken, what is refused"
	@echo "make magics-table    writes docs/magics.md anew: the magics and the same in plain Python"
	@echo "make vocabulary-table   writes docs/coming-from/vocabulary.md anew: each tool of ChainRules, and ours"
	@echo "make proved-table   writes docs/reference/proved.md anew: our rules before the prover, some minutes"
	@echo "make mutants   wrong rules made of ours before the prover: none may be proved; half an hour"
	@echo "make programs   random programs in all modes and orders; ARGS=\"plain --count 1000 --start 5000\""
	@echo "make docstrings   the calls in docstrings of installed packages, against differences; some minutes"
	@echo "make clean   removes .venv and everything that a run leaves behind"

lab: $(VENV)/installed-lab
	@$(BIN)/python -m rulelab lab $(ARGS)

# In as many processes as there are cores; what shares a browser or a built manual stays in one of them: `FIRST`
# in tests/conftest.py. (Not loadgroup: with pytest 9 its groups are not kept, and its books cost 3 ms a test.)
test: $(VENV)/installed-dev
	@$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

lint: $(VENV)/installed-dev
	@$(BIN)/python -m ruff check . $(ARGS)
	@$(BIN)/python -m mypy

bench: $(VENV)/installed-dev
	@$(BIN)/python tests/benchmarks/run.py $(ARGS)

bench-duels: $(VENV)/installed-dev
	@$(BIN)/python tests/benchmarks/duels.py $(ARGS)

# Pages are read anew (-E), notebooks run only if they or the package changed. A warning fails the build.
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

mutants: $(VENV)/installed-dev
	@$(BIN)/python tests/symbolic/mutants.py $(ARGS)

programs: $(VENV)/installed-dev
	@$(BIN)/python tests/corpus/campaign.py $(ARGS)

docstrings: $(VENV)/installed-dev
	@$(PIP) --editable '.[docstrings]'
	@$(BIN)/python tests/corpus/docstring_calls.py $(ARGS)

clean:
	rm -rf $(VENV) dist build docs/tutorial/notebooks .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find . -name .ipynb_checkpoints -type d -prune -exec rm -rf {} +

# The stamps are touched last, so an interrupted set-up is done again; with them a second run starts at once.
$(VENV)/installed-lab: pyproject.toml | $(BIN)/python
	@echo "Setting up $(VENV) with JupyterLab (once; about a minute) ..."
	@$(PIP) --editable .
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(BIN)/python
	@echo "Setting up $(VENV) with the test tools (once; about a minute) ..."
	@$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/installed-lab

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rulelab needs Python 3.11 or newer, and this is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12 ...")'
	@$(PYTHON) -m venv $(VENV)
