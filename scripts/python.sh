# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev python: the Python package, its tests, and a wheel. Sourced; runs nothing.

# Packages of another Python, in a virtual environment for example, do as well: GYRE_PYTHON_EXECUTABLE names it.
python_packages()
{
    if [[ -n "${GYRE_PYTHON_EXECUTABLE:-}" ]]; then
        need_packages build test
    else
        need_packages build test python
    fi
}

python_test()
{
    python_packages
    build_preset dev -DGYRE_PYTHON=ON ${GYRE_PYTHON_EXECUTABLE:+"-DGYRE_PYTHON_EXECUTABLE=$GYRE_PYTHON_EXECUTABLE"}
    say "the package is in build/dev/python: PYTHONPATH=build/dev/python"
    ctest --test-dir build/dev --output-on-failure -R '^python/'
}
