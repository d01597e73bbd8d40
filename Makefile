# `make help` lists the targets. Each one sets up what it needs.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CORPUS ?= corpus
QUICK ?=
PYTEST_ARGS ?=

.PHONY: help setup demo test slow lint bench constraints

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make .venv with everything, and install bubblewrap and git where that is possible

demo: setup ## Make tasks of four real packages in ./corpus, without Docker, GPU or API key
	$(BIN)/taskforge generate --sources demo/sources.toml --corpus $(CORPUS) --per-repo 8 --limit 24
	$(BIN)/taskforge tasks list --corpus $(CORPUS)

test: setup ## Run the quick tests
	$(BIN)/python -m pytest $(PYTEST_ARGS)

slow: setup ## Run the tests that take long
	$(BIN)/python -m pytest -m "slow and not docker and not postgres" $(PYTEST_ARGS)

lint: setup ## Check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup ## Run the benchmarks (QUICK=1: each under a minute)
	for name in generation validity interruption; do \
		$(BIN)/python benchmarks/$$name.py $(if $(QUICK),--quick); \
	done

constraints: setup ## Write the installed versions into constraints.txt
	{ grep '^#' constraints.txt; \
	  $(BIN)/python -m pip freeze --all --exclude-editable | grep -v -e '^-e ' -e ' @ ' | LC_ALL=C sort -f; \
	} > constraints.new
	mv constraints.new constraints.txt
	touch $(STAMP)

# torch comes first: it is large, and its pinned build may be known to this machine's index only. Where that
# build cannot be had, any other that fits pyproject.toml is taken.
$(STAMP): pyproject.toml constraints.txt
	@./scripts/system-packages
	if ! $(BIN)/python -c '' 2>/dev/null; then \
		rm -rf $(VENV); "$$(./scripts/find-python)" -m venv $(VENV); \
	fi
	cp constraints.txt $(VENV)/constraints.txt
	if ! $(BIN)/python -m pip install -q --no-compile -c $(VENV)/constraints.txt torch; then \
		echo "the pinned build of torch is not to be had here; another one will do"; \
		sed -i '/^torch==/d' $(VENV)/constraints.txt; \
	fi
	$(BIN)/python -m pip install -q -c $(VENV)/constraints.txt -e '.[dev]'
	touch $@
