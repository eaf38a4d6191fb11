# Everything a developer needs, and the same commands that CI calls. `make help` lists them.
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help demo test test-all check format bench bench-quick recovery redaction clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $(STAMP)

demo: $(STAMP) ## start the example server as a process and make four calls to it with the official client
	@$(BIN)/python scripts/demo.py

test: $(STAMP) ## the inner loop
	$(BIN)/python -m pytest -q -n 2 -m "not clients and not slow"

test-all: $(STAMP) ## everything, on every Python that is here, and at the lowest pydantic
	@scripts/test-all

check: $(STAMP) ## lint, format, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

format: $(STAMP) ## put the code in its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP) ## this server beside its peers, in one run (installs them into build/bench)
	@bench/run full

bench-quick: $(STAMP) ## the same in short, for every change
	@bench/run quick

recovery: $(STAMP) ## how many wrong calls are right after one refusal, beside the peers (build/recovery)
	@PYTHON=$(abspath $(BIN)/python) scripts/recovery

redaction: $(STAMP) ## what redaction finds, what it spoils, and what it costs
	@$(BIN)/python scripts/redaction

clean: ## take away what was made
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
