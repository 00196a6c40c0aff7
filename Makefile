# `make lab` and `make test` are the two commands; `make help` lists the others.
# Needed on the machine: make, git, Python 3.10+, Node 20+ with npm.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
LAB_ARGS ?=
PYTEST_ARGS ?=
# Not `npm ci`: it refuses a lock file that lacks the optional binaries of platforms the registry at hand doesn't hold.
NPM_INSTALL := npm install --no-save --no-audit --no-fund --loglevel=error

# The labextension's build finds jupyter-builder of the environment by PATH.
export PATH := $(CURDIR)/$(BIN):$(PATH)
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL:
.DEFAULT_GOAL := help

# Folders are listed too: removing a file changes its folder's time.
EXTENSION_SOURCES := $(shell find labextension/src labextension/style labextension/schema -not -path '*/__tests__/*') \
	labextension/package.json labextension/tsconfig.json
INSTALLED  := $(VENV)/.installed
EXTENSION  := $(VENV)/.labextension
LOADED     := $(VENV)/share/jupyter/labextensions/jupyter-aiarts
NODE_LAB   := labextension/node_modules/.installed
NODE_UI    := tests/ui/node_modules/.installed

.PHONY: help install lab test debian gates unit jest ui bench cluster cluster-down build clean

help: ## say what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

$(BIN)/python:
	$(PYTHON) .ci/make_venv.py $(VENV)

# The hook of the Python build is skipped here: the rules below build the labextension, and only when it changed.
$(INSTALLED): pyproject.toml jupyter_aiarts/_version.py | $(BIN)/python
	mkdir -p jupyter_aiarts/labextension
	rm -rf $(LOADED)  # pip would write through the link
	SKIP_JUPYTER_BUILDER=1 $(BIN)/python -m pip install --quiet --editable '.[test]' jupyterlab-language-pack-zh-CN
	touch $@

$(NODE_LAB): labextension/package.json labextension/package-lock.json
	cd labextension && $(NPM_INSTALL)
	touch $@

$(NODE_UI): tests/ui/package.json tests/ui/package-lock.json
	cd tests/ui && $(NPM_INSTALL)
	touch $@

# JupyterLab of the environment loads the built folder in place, so a rebuild shows after reloading the page.
$(EXTENSION): $(EXTENSION_SOURCES) $(NODE_LAB) $(INSTALLED)
	rm -rf jupyter_aiarts/labextension
	cd labextension && npm run --silent build
	rm -rf $(LOADED) && mkdir -p $(dir $(LOADED)) && ln -s $(CURDIR)/jupyter_aiarts/labextension $(LOADED)
	touch $@

install: $(INSTALLED) $(EXTENSION) ## environment, package and labextension, only what changed

lab: install ## JupyterLab with the extension on this machine's loopback (LAB_ARGS="--port 8899" …)
	$(BIN)/jupyter lab --no-browser --ip=127.0.0.1 $(if $(filter 0,$(shell id -u)),--allow-root) $(LAB_ARGS)

test: debian gates unit jest ui ## every suite, as CI runs it

debian:
	.ci/debian-packages.sh

gates: $(INSTALLED) ## style, types, layers, oldest Python
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/vermin --no-tips --quiet --violations --target=3.6- jupyter_aiarts/launcher
	$(BIN)/vermin --no-tips --quiet --violations --target=3.8- jupyter_aiarts/__init__.py jupyter_aiarts/_version.py jupyter_aiarts/kernel jupyter_aiarts/kernelspecs/kernel.py

unit: install $(NODE_UI) ## the Python tests (PYTEST_ARGS="-k name" …)
	AIARTS_OLD_PYTHON="$$(.ci/old-python.sh)" $(BIN)/python -m pytest $(PYTEST_ARGS)

jest: $(NODE_LAB) ## the labextension's unit tests
	cd labextension && npm run --silent test

ui: install $(NODE_UI) ## JupyterLab in a real browser
	cd tests/ui && npm run --silent test

bench: install $(NODE_UI) ## measurements, apart from the tests
	$(BIN)/python -c 'import jupyter_resource_usage' 2>/dev/null || $(BIN)/python -m pip install --quiet jupyter-resource-usage
	$(BIN)/python -m pytest tests/bench -m bench -o python_files='bench_*.py' -s $(PYTEST_ARGS)
	$(BIN)/python tests/bench/table.py

cluster: $(INSTALLED) ## a real Kubernetes of two nodes on this machine (as root); its last line is for the shell
	@.ci/debian-packages.sh cluster
	@$(BIN)/python -m tests.cluster up

cluster-down: $(INSTALLED) ## stop it and leave no trace
	@$(BIN)/python -m tests.cluster down

build: install ## wheel and sdist in dist/
	$(BIN)/python -m build --no-isolation

clean: ## everything that can be made again
	rm -rf $(VENV) dist build labextension/lib labextension/node_modules labextension/*.tsbuildinfo \
		tests/ui/node_modules tests/ui/artifacts jupyter_aiarts/labextension \
		.mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
