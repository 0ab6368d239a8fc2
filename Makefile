PY := .venv/bin/python
STAMP := .venv/.installed
# Many tests wait for processes and screens, so there is room for more of them than there are cores.
WORKERS = $(shell python3 -c 'import os; print((os.cpu_count() or 1) * 3 // 2)')
# A test that takes five minutes hangs; a measurement does not.
LONG = -o faulthandler_timeout=0

.PHONY: tui test lint check fix bench bench-meaning bench-tui bench-capture soak quality snapshots pictures

tui: $(STAMP)
	.venv/bin/claude-mem tui

test: $(STAMP)
	$(PY) -m pytest -n $(WORKERS) --dist worksteal

lint: $(STAMP)
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports

check: lint test

fix: $(STAMP)
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

bench: $(STAMP)
	$(PY) -m pytest tests/bench/test_search_speed.py tests/bench/test_context_speed.py -m bench -s $(LONG)

bench-meaning: $(STAMP)
	$(PY) -m pytest tests/bench/test_meaning_speed.py -m bench -s $(LONG)

bench-capture: $(STAMP)
	$(PY) -m pytest tests/bench/test_hook_cost.py tests/bench/test_capture_speed.py tests/bench/test_observer_speed.py -m bench -s $(LONG)

bench-tui: $(STAMP)
	$(PY) -m pytest tests/bench/test_tui_bars.py tests/bench/test_tui_feed.py -m bench -s -n0 $(LONG)

soak: $(STAMP)
	$(PY) -m pytest tests/bench/test_soak.py -m bench -s $(LONG)

quality: $(STAMP)
	$(PY) -m pytest tests/quality -m quality -s $(LONG)

snapshots: $(STAMP)
	UPDATE_SNAPSHOTS=1 $(PY) -m pytest tests/tui

# The README's pictures, made by the app on the demo memory.
pictures: $(STAMP)
	$(PY) -m tests.tui.pictures

# Where ensurepip was missing (Debian without python3-venv), a first try leaves a .venv without pip behind.
$(STAMP): pyproject.toml
	@echo 'Installing into .venv: some 700 MB, a minute or more without a word.'
	$(PY) -m pip --version >/dev/null 2>&1 || python3 -m venv .venv
	$(PY) -m pip install --quiet --upgrade pip
	$(PY) -m pip install --quiet --editable '.[dev]'
	touch $(STAMP)
