# `make demo` and `make test` do all of their own set-up; the second time that takes a second.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/kernels
KERNELS := $(shell find src/shoal/kernels -name '*.py')
DEMO ?= shoal-demo
# Spark takes 400 MB, so it is set up for tests only, and only where there is Java to run it.
SPARK := $(if $(shell command -v java),$(VENV)/spark)

.PHONY: demo page test test-long lint types check format docs references outputs lock wheel benchmark clean

demo: $(READY)
	$(BIN)/shoal demo --output $(DEMO)

# The local page, in the browser.
page: $(READY)
	$(BIN)/shoal serve

test: lint types check

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(READY)
	$(BIN)/mypy

check: $(READY) $(SPARK)
	$(BIN)/pytest -n auto

# What takes minutes: large tables, clusters.
test-long: $(READY) $(SPARK)
	$(BIN)/pytest -m long -n auto --dist loadfile

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

benchmark: $(READY)
	$(BIN)/python benchmarks/split.py
	$(BIN)/python benchmarks/exchange.py
	$(BIN)/python benchmarks/freeform.py
	$(BIN)/python benchmarks/mondrian.py

# The documentation, into site/: open site/index.html.
docs: $(READY) references
	$(BIN)/zensical build --clean --strict

# The pages that follow from the code.
references: $(READY)
	$(BIN)/python scripts/references.py

# What the code on the pages prints, shown anew where it has changed.
outputs: $(READY)
	$(BIN)/python scripts/outputs.py

# The pins: hashes, and no address of any index.
lock: $(READY)
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 \
		--generate-hashes --no-header --no-emit-index-url --upgrade --output-file requirements.txt
	$(BIN)/uv pip compile --group spark --universal --python-version 3.11 \
		--generate-hashes --no-header --no-emit-index-url --upgrade --output-file requirements-spark.txt

# The wheel that is released, into dist/: with compiled kernels, for this Python. `pip wheel` makes one
# without, for any.
wheel: $(READY)
	HATCH_BUILD_HOOK_ENABLE_CUSTOM=true $(BIN)/python -m hatchling build --target wheel --directory dist

# Numba looks at the file of a kernel only, not at the kernels it calls, so a change compiles all anew.
$(READY): $(VENV)/ready $(KERNELS)
	find src/shoal/kernels \( -name '*.nbi' -o -name '*.nbc' \) -delete
	$(BIN)/python -c 'from shoal.kernels import load_all; load_all()'
	touch $(READY)

$(VENV)/ready: requirements.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Shoal needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q -j 0 $(VENV)/lib src || true # some packages ship files for other Pythons
	touch $(VENV)/ready

$(VENV)/spark: $(VENV)/ready requirements-spark.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-spark.txt
	touch $(VENV)/spark

clean:
	rm -rf $(VENV) $(DEMO) site .cache
