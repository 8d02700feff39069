# Every target builds its own environment from nothing; Python 3.11 or newer is all that is needed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
USER_STAMP := $(VENV)/.installed-run
OLDEST := .venv-oldest
DOORS  := .venv-doors
DASK   := .venv-dask
BENCHOPT := .venv-benchopt
DOCS   := .venv-docs
EXTRAS := fast sklearn cvxpy jax torch linopy cobra dask cli plot report data proof

# One BLAS thread a process: the matrices here are small, and waiting threads cost more than they compute.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: run reproduce test fast browser doors dask benchopt docs minimum package package-extras lint types bench clean

run: $(USER_STAMP)
	$(BIN)/tiebreak run

# The paper's experiments in a minute: claims on the terminal, figures and the page in reproduction/.
reproduce: $(USER_STAMP)
	$(BIN)/python -m pip install --quiet -e ".[cli,sklearn,report]"
	$(BIN)/tiebreak reproduce all --quick --jobs 2

test: $(STAMP)
	$(BIN)/python -m pytest -n auto $(PYTEST_ARGS)

# The same with the compiled kernels (extra "fast"): they must agree with their NumPy twins.
fast: $(STAMP)
	$(BIN)/python -m pip install --quiet -e ".[fast]"
	$(BIN)/tiebreak warm-up
	$(BIN)/python -m pytest -n auto tests/kernels tests/test_cg_bio.py tests/test_exact.py tests/engines/test_column*.py

# The report page in headless Chromium, which is installed where there is none (Debian's package).
browser: $(STAMP)
	sh tests/browser/install-chromium.sh
	TIEBREAK_BROWSER=required $(BIN)/python -m pytest tests/browser

# The doors to JAX and PyTorch, in an environment of their own: a pinned CPU build, so that no GPU packages come along.
doors: $(DOORS)/.installed
	$(DOORS)/bin/python -m pytest tests/doors/test_jax.py tests/doors/test_torch.py src/tiebreak/jax.py src/tiebreak/torch.py "tests/test_docs.py::test_examples[jax-and-pytorch.md]"
	$(DOORS)/bin/python examples/learn_costs.py

$(DOORS)/.installed: pyproject.toml
	$(PYTHON) -m venv --clear $(DOORS)
	$(DOORS)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(DOORS)/bin/python -m pip install --quiet torch==2.13.0
	$(DOORS)/bin/python -m pip install --quiet -e ".[jax]" pytest hypothesis
	touch $@

# Data in chunks: dask with a cluster of this machine, Zarr and Parquet, in an environment of their own.
dask: $(DASK)/.installed
	$(DASK)/bin/python -m pytest tests/chunks src/tiebreak/dask "tests/test_docs.py::test_examples[larger-than-memory.md]"

$(DASK)/.installed: pyproject.toml
	$(PYTHON) -m venv --clear $(DASK)
	$(DASK)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(DASK)/bin/python -m pip install --quiet -e ".[dask,sklearn]" "dask[dataframe]" zarr pyarrow pytest hypothesis
	touch $@

# The families and methods of "tiebreak bench" as a benchmark of benchopt, run by benchopt.
benchopt: $(BENCHOPT)/.installed
	$(BENCHOPT)/bin/python -m pytest tests/lab/comparison/test_benchopt.py

$(BENCHOPT)/.installed: pyproject.toml
	$(PYTHON) -m venv --clear $(BENCHOPT)
	$(BENCHOPT)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BENCHOPT)/bin/python -m pip install --quiet -e . benchopt pyarrow pytest hypothesis
	touch $@

# The site, from nothing and without a network: warnings are errors, links inside it are followed, and every script of the gallery runs.
docs: $(DOCS)/.installed
	rm -rf docs/_build docs/api docs/gallery
	$(DOCS)/bin/python -m sphinx -b html -W --keep-going -q -j 2 docs docs/_build/html
	$(DOCS)/bin/python docs/check_site.py docs/_build/html

$(DOCS)/.installed: pyproject.toml
	$(PYTHON) -m venv --clear $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(DOCS)/bin/python -m pip install --quiet -e ".[sklearn,cvxpy,linopy,cobra,plot]" --group docs
	touch $@

# The core with the oldest versions that pyproject.toml promises; "make test" has the newest.
minimum: $(OLDEST)/.installed
	$(OLDEST)/bin/python -m pytest -n auto tests/sets tests/objectives tests/engines $(addprefix tests/test_,$(addsuffix .py,exact certificates solve result cg_bio storage resume success))

$(OLDEST)/.installed: pyproject.toml tests/packaging/minimum.py
	$(PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(OLDEST)/bin/python tests/packaging/minimum.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet -e ".[fast,sklearn,cli,report]" --group dev -c $(OLDEST)/constraints.txt
	touch $@

# Wheel and sdist, each tried in an empty environment with nothing but what it asks for; the light extras on top of the wheel.
package: dist
	sh tests/packaging/try-package.sh $(PYTHON) dist/*.whl cli plot data proof
	sh tests/packaging/try-package.sh $(PYTHON) dist/*.tar.gz

# The same, and every extra in an empty environment of its own: a quarter of an hour, and gigabytes for PyTorch.
package-extras: package
	for extra in $(EXTRAS); do sh tests/packaging/try-package.sh $(PYTHON) dist/*.whl $$extra || exit 1; done

.PHONY: dist
dist: $(STAMP)
	rm -rf dist
	$(BIN)/python tests/packaging/same_version.py
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python -m build --outdir dist .

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python -m pip install --quiet -e ".[fast]" scs daqp cobra
	$(BIN)/python benchmarks/cut_oracle.py
	$(BIN)/python benchmarks/certificates.py
	$(BIN)/python benchmarks/audit.py --count 2000
	$(BIN)/python benchmarks/mutants.py
	$(BIN)/python benchmarks/cg_bio_speed.py
	$(BIN)/python benchmarks/dictionary_speed.py
	$(BIN)/python benchmarks/exact_accuracy.py
	$(BIN)/python benchmarks/exact_speed.py
	$(BIN)/python benchmarks/sparse_gradient.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/vjp.py

clean:
	rm -rf $(VENV) $(OLDEST) $(DOORS) $(DASK) $(BENCHOPT) $(DOCS) docs/_build docs/api docs/gallery .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage dist

$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'tiebreak needs Python 3.11 or newer; set PYTHON=python3.11 (or newer)')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

$(USER_STAMP): pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -e ".[cli]"
	touch $@

$(STAMP): pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -e ".[cli,sklearn]" --group dev --group doors
	touch $@ $(USER_STAMP)
