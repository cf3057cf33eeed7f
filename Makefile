# What one can do with this book. All that is installed lands in .venv/ and node_modules/, all that
# is built in _build/; nothing is needed beforehand but Python 3.11 or newer.

PYTHON ?= python3
CONSTRAINTS ?= constraints.txt
PORT ?= 8000

VENV := .venv
RUN := $(VENV)/bin/python
INSTALL = $(RUN) -m pip install --quiet $(if $(CONSTRAINTS),--constraint $(CONSTRAINTS)) --editable

# One thread: sums are then added in one order, whatever the number of cores.
export OMP_NUM_THREADS := 1

.NOTPARALLEL:
.PHONY: help book serve archive pdf test check notebooks record benchmark benchmark-site constraints address clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

book: $(VENV)/.book ## build the site into _build/html/
	@$(RUN) -m bookbuild

serve: _build/html/index.html ## show the site on this machine (PORT=8000)
	@echo "Open http://127.0.0.1:$(PORT)/ in a browser; Ctrl-C ends it."
	@$(RUN) -m http.server --bind 127.0.0.1 --directory _build/html $(PORT) || { \
	    echo "If port $(PORT) is taken, try another: make serve PORT=8001" >&2; exit 1; }

archive: book ## the site as one file to keep, with its checksum: _build/qkv-book-VERSION.zip
	@$(RUN) -m bookbuild.archive

pdf: $(VENV)/.test book ## the book as one PDF, printed by a browser: _build/qkv-book-VERSION.pdf
	@$(RUN) -m bookbuild.pdf

test: $(VENV)/.test book ## build the site and run every test
	$(RUN) -m pytest --numprocesses 2 --dist worksteal --durations 15

check: $(VENV)/.test ## the quick gates: what can be said without running a notebook
	$(RUN) -m bookbuild.notebooks check
	$(RUN) -m pytest --quiet tests/test_repository.py tests/test_address.py tests/test_ledger.py

notebooks: $(VENV)/.test ## after an edit: bring text and notebook together, run, store the outputs
	$(RUN) -m bookbuild.notebooks execute
	$(RUN) -m bookbuild.picture

record: $(VENV)/.test ## train again what a chapter only shows (WHAT=market, symmetry or students)
	$(RUN) -m bookbuild.$(WHAT)

benchmark: $(VENV)/.test ## measure the speed of attention and write it into the book
	$(RUN) -m bookbuild.benchmark

benchmark-site: $(VENV)/.test book ## measure how pages load on a slow phone and write it into the book
	@$(RUN) -m bookbuild.lighthouse $(PAGES)

constraints: $(VENV)/.made ## renew constraints.txt (KEEP="torch==2.13.0" holds a version)
	$(RUN) -m bookbuild.constraints $(KEEP)

address: $(VENV)/.book ## say everywhere where the book lives (URL=https://github.com/you/your-book)
ifdef URL
	@$(RUN) -m bookbuild.address '$(URL)'
	@$(RUN) -m bookbuild.notebooks plain  # plain copies have links to the site
	@touch -c $(VENV)/.book $(VENV)/.test  # pyproject.toml has changed, what it installs has not
else
	@$(RUN) -m bookbuild.address
endif

clean: ## remove everything that these commands made
	rm -rf $(VENV) _build node_modules qkvlib.egg-info

# What the commands stand on. A stamp file is renewed when what it was made from is newer.

_build/html/index.html:
	@$(MAKE) --no-print-directory book

$(VENV)/.book: pyproject.toml $(CONSTRAINTS) | $(VENV)/.made
	@echo "Installing what the book is built with: some minutes, once."
	@$(INSTALL) '.[book]'
	@touch $@

$(VENV)/.test: pyproject.toml $(CONSTRAINTS) | $(VENV)/.made
	@echo "Installing what the tests need, PyTorch included: some minutes, once."
	@$(INSTALL) '.[learn,book,test]'
	@touch $(VENV)/.book $@

$(VENV)/.made:
	@command -v $(PYTHON) > /dev/null || { \
	    echo "There is no $(PYTHON) here. Install Python 3.11 or newer, or name it:" \
	         "make book PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	    "$(PYTHON) is Python %d.%d, and this book needs 3.11 or newer. If another is installed, " \
	    "name it: make book PYTHON=python3.12" % sys.version_info[:2])'
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || { \
	    echo "$(PYTHON) cannot make environments: install its module venv (on Debian and" \
	         "Ubuntu: apt install python3-venv)." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@
