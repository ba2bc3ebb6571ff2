# Two commands are all that most people need: `make run` and `make test`. Both make .venv first, if it is missing.
# Every path is relative to this folder, because make can't handle spaces in an absolute one.

.DEFAULT_GOAL := help
.PHONY: help run backup manage test test-fast lint lint-js format typecheck clients schemas codex soak faults rehearsal bench peers lock docs pictures messages hooks release production static

VENV := .venv
PYTHON := $(VENV)/bin/python
INSTALLED := $(VENV)/installed-for
NODE_MODULES := node_modules/.package-lock.json
PYTHON3 = $(shell for name in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$name; break; }; done)
PIP_COMPILE = $(PYTHON) -m piptools compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras \
	--no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options
# A test that was ended for waiting would be begun again by each new worker.
ALL_TESTS := --numprocesses 3 --dist loadfile --no-loadscope-reorder --max-worker-restart 0
EXTRA = $(PYTHON) -c 'import sys, tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	print(*project["optional-dependencies"][sys.argv[1]], sep="\n")'
CLIENTS := .clients/installed-for
SCHEMAS := .schemas/installed-for

# A .venv knows its own absolute path. One that was moved, copied or has lost its Python is made again.
ifneq ($(shell test -x $(PYTHON) && cat $(INSTALLED) 2>/dev/null),$(shell pwd -P))
.PHONY: $(INSTALLED)
endif

help:  ## List these commands
	@echo "Windowseat. make COMMAND, where COMMAND is one of:"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{ printf "%-13s %s\n", $$1, $$2 }'

run: $(INSTALLED)  ## Start the site: prepares the database, prints the address (PORT=9000 make run for another port)
	@$(PYTHON) manage.py serve

backup: $(INSTALLED)  ## Write all data of the site into one file while it runs: make backup, or make backup ARGS=FILE
	@$(PYTHON) manage.py backup $(ARGS)

manage: $(INSTALLED)  ## Any command of Django's: make manage ARGS="shell"
	@$(PYTHON) manage.py $(ARGS)

# Tests wait for a browser, a server or a worker for a third of their time, so three processes keep two cores busy. One
# begins with the faults, which wait longer (tests/support/distribution.py); the others take whole files, in the order of
# their names: what the tests of a folder share stays with them. Continuous integration tries up to five browser tests
# that failed once more.
test: $(INSTALLED)  ## Run all tests, or some: make test ARGS="tests/core -k window"
	@$(PYTHON) -m $(if $(CI),tests.support.second_try,pytest) $(or $(ARGS),$(ALL_TESTS))

# What a change breaks most often, in under a minute on two cores: no browser, no server, no worker, no crash.
FAST_TESTS := tests/core tests/reconciliation tests/rendering tests/grounding tests/selectors tests/templatetags \
	tests/wording tests/test_imports.py tests/test_layout.py tests/test_sentences.py
test-fast: $(INSTALLED)  ## Run the quick tests only, while you work
	@$(PYTHON) -m pytest $(ALL_TESTS) -m "not browser and not redis" $(or $(ARGS),$(FAST_TESTS))

lint: $(INSTALLED)  ## Check the code's style, and everything about the pages' JavaScript (which needs npm)
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@$(MAKE) --no-print-directory lint-js

lint-js: $(NODE_MODULES)  ## Check the JavaScript alone: its style and its types
	@node_modules/.bin/biome check --error-on-warnings static
	@node_modules/.bin/tsc --project jsconfig.json

format: $(INSTALLED)  ## Put the code into the project's style
	@$(PYTHON) -m ruff check --fix .
	@$(PYTHON) -m ruff format .
	@$(MAKE) --no-print-directory $(NODE_MODULES)
	@node_modules/.bin/biome check --write static

typecheck: $(INSTALLED)  ## Check the types
	@$(PYTHON) -m mypy

# Apart from the other tests: to install them takes minutes, and needs a package index.
clients: $(INSTALLED) $(CLIENTS)  ## Run clients that others have written against the API, installed in .clients
	@WINDOWSEAT_CLIENTS=1 $(PYTHON) -m pytest tests/faults/test_clients.py $(ARGS)

$(CLIENTS): tests/clients/requirements.lock tests/clients/package-lock.json
	@echo "Installing clients of the API into .clients: a minute or two, this once."
	@test -x .clients/venv/bin/python || $(PYTHON3) -m venv .clients/venv
	@.clients/venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		-r tests/clients/requirements.lock
	@cp .npmrc tests/clients/package.json tests/clients/package-lock.json .clients/
	@command -v npm >/dev/null && npm ci --prefix .clients --loglevel=error || echo "Without npm: the AI SDK is left out."
	@touch $@

# Apart from the other clients: it is 424 MB large.
codex: $(INSTALLED)  ## Run OpenAI's Codex command line against the API, installed in .clients/codex
	@mkdir -p .clients/codex
	@cp .npmrc tests/clients/codex/package.json tests/clients/codex/package-lock.json .clients/codex/
	@npm ci --prefix .clients/codex --loglevel=error
	@WINDOWSEAT_CODEX=1 $(PYTHON) -m pytest tests/faults/test_codex.py $(ARGS)

# Apart from the other tests: the schemas of Kubernetes take 108 MB.
schemas: $(INSTALLED) $(SCHEMAS)  ## Check what is in deploy/ by the schemas of Kubernetes and compose, installed in .schemas
	@WINDOWSEAT_SCHEMAS=1 $(PYTHON) -m pytest tests/deploy/test_schemas.py $(ARGS)

$(SCHEMAS): tests/deploy/requirements.lock
	@echo "Installing schemas into .schemas: half a minute, this once."
	@test -x .schemas/venv/bin/python || $(PYTHON3) -m venv .schemas/venv
	@.schemas/venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		-r tests/deploy/requirements.lock
	@touch $@

soak: $(INSTALLED)  ## Mixed traffic for two hours with processes that end, and what memory, files and invariants do
	@$(PYTHON) -m tests.soak $(ARGS)

faults: $(INSTALLED)  ## Run every fault at its full number of rounds, for an hour at a time, and write docs/faults.md
	@$(PYTHON) -m tests.faults $(ARGS)

# One of the faults, apart from the others: each of its rounds takes a minute or two.
rehearsal: $(INSTALLED)  ## Upgrade to a made-up next version under traffic, killing each migration, 20 times: into docs/faults.md
	@$(PYTHON) -m tests.faults --only "an upgrade under traffic" $(ARGS)

bench: $(INSTALLED)  ## List the benchmarks and how to run each
	@$(PYTHON) -m tests.benchmarks

peers: $(INSTALLED)  ## Install LangChain and kani into .venv, for the benchmark "window" to compare with
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-bench.lock

lock: $(INSTALLED)  ## Choose the newest versions that pyproject.toml allows and write requirements.lock, and the peers'
	@$(PIP_COMPILE) --extra dev --output-file requirements.lock pyproject.toml
	@$(EXTRA) bench | $(PIP_COMPILE) --constraint requirements.lock --output-file requirements-bench.lock -
	@$(EXTRA) clients | $(PIP_COMPILE) --output-file tests/clients/requirements.lock -
	@$(EXTRA) schemas | $(PIP_COMPILE) --output-file tests/deploy/requirements.lock -

docs: $(INSTALLED)  ## Build the site of the documents into dist/docs
	@$(PYTHON) -m sphinx --quiet --fail-on-warning -c docs -b html . dist/docs
	@echo "Open dist/docs/index.html"

pictures: $(INSTALLED)  ## Make the pictures in docs/images again, from a running site in a browser
	@DJANGO_SETTINGS_MODULE=chatsite.settings $(PYTHON) -m tests.browser.screenshots $(ARGS)

messages: $(INSTALLED)  ## Bring the catalogs of translations up to date with the code, and compile them
	@$(PYTHON) -m tests.catalogs $(ARGS)

release: $(INSTALLED)  ## Build wheel, source archive, bill of materials and checksums of the last commit into dist/
	@$(PYTHON) -m tests.release

hooks: $(INSTALLED)  ## Run the style checks before every commit in this checkout
	@$(PYTHON) -m pre_commit install

$(INSTALLED): requirements.lock
	@test -n "$(PYTHON3)" || { echo "Windowseat needs Python 3.11 or newer, and found none on the PATH." >&2; exit 1; }
	@echo "Making $(VENV) with $(PYTHON3), this once."
	@test "$$(cat $(INSTALLED) 2>/dev/null)" = "$$(pwd -P)" && test -x $(PYTHON) || $(PYTHON3) -m venv --clear $(VENV) \
		|| { echo "Python's venv module is missing. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "Installing the packages of requirements.lock into it: a minute or two."
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@pwd -P > $(INSTALLED)

# Only checking and formatting the JavaScript needs this. The site and its tests do without Node.
$(NODE_MODULES): package.json package-lock.json
	@command -v npm >/dev/null || { echo "The JavaScript is checked by tools from npm, which is missing." \
		"On Debian and Ubuntu: apt-get install nodejs npm" >&2; exit 1; }
	@npm ci --loglevel=error
	@touch $@

# The two steps below are the container image's. Continuous integration takes them too, in a copy of the checkout.

production:  ## Make .venv with what the site needs to run and without the developers' tools
	$(PYTHON3) -m venv --clear $(VENV)
	$(PYTHON) -m pip download --quiet --require-hashes -r requirements.lock --dest $(VENV)/wheels
	$(PYTHON) -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
		print(*project["dependencies"], sep="\n")' > $(VENV)/wheels/wanted.txt
	$(PYTHON) -m pip install --quiet --no-index --find-links $(VENV)/wheels -r $(VENV)/wheels/wanted.txt
	rm -r $(VENV)/wheels

static:  ## Collect the static files under hashed names into staticfiles/
	mkdir -p staticfiles
	SECRET_KEY=unused-here $(PYTHON) manage.py collectstatic --noinput --verbosity 0
