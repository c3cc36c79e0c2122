# `make demo` and `make test` do all of their own set-up; the second time that takes a second.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What running needs; what developing needs beside it, all kernels compiled.
RUNS := $(VENV)/fresh
READY := $(VENV)/kernels
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
KERNELS := $(shell find src/shoal/kernels -name '*.py')
DEMO ?= shoal-demo
# Spark takes 400 MB, so it is set up for tests only, and only where there is Java to run it.
SPARK := $(if $(shell command -v java),$(VENV)/spark)

# Without bytecode an import takes three to five times as long.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo page test test-long lint types check format golden docs references outputs pictures results-check lock wheel wheels benchmark clean

demo: $(RUNS)
	$(BIN)/shoal demo --output $(DEMO)

# The local page, in the browser.
page: $(RUNS)
	$(BIN)/shoal serve

test: lint types check

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(READY)
	$(BIN)/mypy

check: $(READY) $(SPARK)
	$(BIN)/pytest -n auto --dist worksteal

# What takes minutes (large tables, clusters, all browsers), and all examples of property tests.
test-long: $(READY) $(SPARK)
	SHOAL_LONG=1 $(BIN)/pytest -m 'long or hypothesis or more' -n auto --dist worksteal

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

benchmark: $(READY)
	$(BIN)/python benchmarks/split.py
	$(BIN)/python benchmarks/exchange.py
	$(BIN)/python benchmarks/freeform.py
	$(BIN)/python benchmarks/mondrian.py

# Every loss, error and risk on the pages, measured again; up to two hours.
results-check: $(READY)
	$(BIN)/python benchmarks/results.py --check

# The documentation, into site/: open site/index.html.
docs: $(READY) references
	$(BIN)/zensical build --clean --strict

# The pictures that follow from the code, the notebooks that follow from their pages, and the pictures
# that Chromium takes of the page, the report and the certificate.
pictures: $(READY)
	$(BIN)/python scripts/pictures.py
	$(BIN)/python scripts/notebooks.py
	$(BIN)/python scripts/screenshots.py

# The pages that follow from the code.
references: $(READY)
	$(BIN)/python scripts/references.py

# What the code on the pages prints, shown anew where it has changed.
outputs: $(READY)
	$(BIN)/python scripts/outputs.py

# What the golden runs come to now; what changed is printed.
golden: $(READY) $(SPARK)
	PYTHONPATH=tests $(BIN)/python -m golden.runs $(if $(SPARK),--spark)

# The pins: hashes, and no address of any index. What runs has the versions that are tested.
LOCK := uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url
lock: $(READY)
	$(BIN)/pip install --quiet uv
	$(BIN)/$(LOCK) pyproject.toml --group dev --upgrade --output-file requirements-dev.txt
	$(BIN)/$(LOCK) pyproject.toml --group run --constraint requirements-dev.txt --output-file requirements.txt
	$(BIN)/$(LOCK) --group spark --upgrade --output-file requirements-spark.txt

# The wheel that is released, into dist/: with compiled kernels, for this Python. `pip wheel` makes one
# without, for any.
wheel: $(READY)
	HATCH_BUILD_HOOK_ENABLE_CUSTOM=true $(BIN)/python -m hatchling build --target wheel --directory dist

# The wheels of all Pythons that are supported, each made by its own: name those that you have, as in
# `make wheels PYTHONS="python3.11 /opt/python3.13/bin/python"`.
PYTHONS ?= python3.11 python3.12 python3.13
wheels:
	for python in $(PYTHONS); do \
	  place=$$(mktemp -d) && $$python -m venv $$place && \
	  $$place/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.txt && \
	  HATCH_BUILD_HOOK_ENABLE_CUSTOM=true $$place/bin/python -m hatchling build --target wheel --directory dist; \
	  done=$$?; rm -rf $$place; [ $$done -eq 0 ] || exit 1; \
	done

# Every kernel compiled; `make demo` compiles those that it runs.
$(READY): $(RUNS) $(VENV)/dev
	$(BIN)/python -c 'from shoal.kernels import load_all; load_all()'
	touch $(READY)

# A change of any kernel compiles all anew: what was kept before is of no more use.
$(RUNS): $(VENV)/ready $(KERNELS)
	find src/shoal/kernels \( -name '*.nbi' -o -name '*.nbc' -o -name '*.kernel' \) -delete
	touch $(RUNS)

$(VENV)/ready: requirements.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Shoal needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --no-compile --require-hashes --requirement requirements.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $(VENV)/ready

$(VENV)/dev: $(VENV)/ready requirements-dev.txt
	$(PIP) --require-hashes --requirement requirements-dev.txt
	$(BIN)/python -m compileall -q -j 0 $(VENV)/lib src || true # some packages ship files for other Pythons
	touch $(VENV)/dev

$(VENV)/spark: $(VENV)/dev requirements-spark.txt
	$(PIP) --require-hashes --requirement requirements-spark.txt
	touch $(VENV)/spark

clean:
	rm -rf $(VENV) $(DEMO) site .cache
