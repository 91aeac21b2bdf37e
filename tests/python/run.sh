#!/bin/sh
# run.sh - the tests of the Python package in BUILD/python, with PYTHON: as they are, and once more without NumPy.
cd "$(dirname "$0")" || exit 1
build=${BUILD:-../../build}
PYTHONPATH=$(realpath "$build")/python
HOLO_WHEELS=$(realpath "$build")/wheel
export PYTHONPATH HOLO_WHEELS PYTHONDONTWRITEBYTECODE=1
python=${PYTHON:-python3}

"$python" -X dev -m unittest discover -q -p 'test_*.py' || exit 1
# What needs NumPy, or takes long, was run already.
HOLO_TEST_WITHOUT_NUMPY=1 "$python" -m unittest -q test_arrays test_run test_api test_text test_labels test_batch test_pictures
