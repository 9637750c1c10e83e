# Two commands do everything: `make quickstart` and `make test`. Each sets up what it needs.

UV_VERSION := 0.13.9
UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
PYTHON ?= python3
FACEDRIFT := .venv/bin/facedrift
# A folder of photos for the benchmark of preparing them; without one it makes some.
PHOTOS ?=
# pytest arguments, such as: make test ARGS="-k kill"
ARGS ?=

.PHONY: quickstart identity-drift rehearsal test test-operations test-intervals test-site check format bench clean help

help:
	@echo "make quickstart   run the main job on real faces, without a key"
	@echo "make identity-drift  from photos to a ranking by a made-up crowd, without a key (some minutes)"
	@echo "make rehearsal    run four providers' SDKs against the local stand-in, faults included"
	@echo "make test         run all tests but the slow ones"
	@echo "make test-operations  servers, workers and store, killed at random (slow)"
	@echo "make test-intervals  whether intervals of ratings hold the truth as often as they say (slow)"
	@echo "make test-site    the page in a browser"
	@echo "make check        format, lint, types, import contracts"
	@echo "make bench        measure, and write the figures that docs/benchmarks.md records"

# Everything of the quickstart stays in this folder, unless these say otherwise.
quickstart: export FACEDRIFT_STORE ?= $(CURDIR)/.facedrift/store
quickstart: export PREFECT_HOME ?= $(CURDIR)/.facedrift/prefect
quickstart: .venv/quickstart.stamp
	@mkdir -p "$$PREFECT_HOME"
	$(FACEDRIFT) run quickstart

identity-drift: export FACEDRIFT_STORE ?= $(CURDIR)/.facedrift/store
identity-drift: export PREFECT_HOME ?= $(CURDIR)/.facedrift/prefect
identity-drift: .venv/quickstart.stamp
	@mkdir -p "$$PREFECT_HOME"
	$(FACEDRIFT) run identity-drift-demo
	$(FACEDRIFT) matches make identity-drift-demo
	$(FACEDRIFT) votes simulate identity-drift-demo
	$(FACEDRIFT) rank identity-drift-demo

rehearsal: export FACEDRIFT_STORE ?= $(CURDIR)/.facedrift/store
rehearsal: export PREFECT_HOME ?= $(CURDIR)/.facedrift/prefect
rehearsal: .venv/rehearsal.stamp
	@mkdir -p "$$PREFECT_HOME"
	$(FACEDRIFT) run rehearsal --concurrency 8

test: .venv/dev.stamp
	.venv/bin/pytest -m "not slow" -n 2 --dist loadfile --no-loadscope-reorder $(ARGS)

test-operations: .venv/dev.stamp
	.venv/bin/pytest tests/faults/test_operations.py tests/faults/test_operations_at_random.py --timeout 3600 $(ARGS)

test-intervals: .venv/dev.stamp
	.venv/bin/pytest -m slow tests/unit/metrics $(ARGS)

test-site: .venv/dev.stamp
	.venv/bin/pytest tests/browser $(ARGS)

check: .venv/dev.stamp
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/lint-imports
	.venv/bin/pyright

format: .venv/dev.stamp
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

bench: .venv/dev.stamp
	.venv/bin/python -m tests.benchmarks.orchestration
	.venv/bin/python -m tests.benchmarks.rehearsal_memory
	.venv/bin/python -m tests.benchmarks.permutation
	.venv/bin/python -m tests.benchmarks.scoring
	.venv/bin/python -m tests.benchmarks.ranking
	.venv/bin/python -m tests.benchmarks.planning
	PYTHONPATH=tests .venv/bin/python -m tests.benchmarks.object_store
	.venv/bin/python -m tests.benchmarks.preparing $(PHOTOS)
	.venv/bin/python -m tests.benchmarks.site

clean:
	rm -rf .venv .uv .facedrift

.uv/bin/uv:
	$(PYTHON) -m venv .uv
	.uv/bin/pip install --quiet uv==$(UV_VERSION)

# --inexact: the quickstart does not take away what the tests have installed.
.venv/quickstart.stamp: pyproject.toml uv.lock $(filter .uv/bin/uv,$(UV))
	$(UV) sync --quiet --locked --no-dev --inexact --extra cpu --extra quickstart
	@touch $@

.venv/rehearsal.stamp: pyproject.toml uv.lock $(filter .uv/bin/uv,$(UV))
	$(UV) sync --quiet --locked --no-dev --inexact --extra cpu --extra quickstart --extra openai
	@touch $@

.venv/dev.stamp: pyproject.toml uv.lock $(filter .uv/bin/uv,$(UV))
	$(UV) sync --quiet --locked --extra cpu --extra quickstart --extra openai --extra xai --extra byteplus --extra docker --extra kubernetes --extra redis --extra vote --extra rapidata
	@touch $@ .venv/quickstart.stamp .venv/rehearsal.stamp
