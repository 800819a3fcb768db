# Two commands matter: `make demo` and `make test`. Both set everything up by themselves.
VENV := .venv
BIN  := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint types contracts soak clean cluster-binaries

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml tools/setup.sh
	@tools/setup.sh $(VENV)
	@touch $(STAMP)

setup: $(STAMP) ## Make the virtual environment

demo: $(STAMP) ## Run the webhook on loopback, admit and refuse real pods, show the answers
	@$(BIN)/python -m demo

test: $(STAMP) ## All tests, with a real kube-apiserver (built with Go once, about 7 minutes on 2 cores)
	$(BIN)/python -m pytest

lint: $(STAMP) ## Style and common mistakes
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(STAMP) ## Strict types over source and tests
	$(BIN)/mypy
	MYPYPATH=bench $(BIN)/mypy bench

contracts: $(STAMP) ## Imports point inward only
	$(BIN)/lint-imports .importlinter

check: lint types contracts test ## What CI runs

soak: $(STAMP) ## The long runs: many more generated pods and bodies, a busy cluster for a minute
	HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest --timeout 0 tests/properties tests/webhook tests/cli -m "not cluster"
	$(BIN)/python -m pytest --timeout 0 tests/cluster/live -m soak --log-cli-level=INFO

cluster-binaries: $(STAMP) ## Find or build the API server for the cluster tests, and say where
	$(BIN)/python -m tests.cluster.binaries

clean: ## Remove what the other commands made here
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist demo-output
