# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Finds out which Debian or Ubuntu packages are missing and installs them. Sourced; runs nothing.
#
# A package is there when dpkg says so, or when what it is wanted for works without it (a CMake of one's own).
# Nothing is downloaded, and apt is not started, when nothing is missing.

# group, package, kind of test, its argument, required or optional
readonly PACKAGE_TABLE='
build  gcc              tool    cc                           required
build  libc6-dev        header  stdio.h                      required
build  make             tool    make                         required
build  cmake            tool    cmake                        required
build  ninja-build      tool    ninja                        optional
build  pkg-config       tool    pkg-config                   required
build  libinih-dev      module  inih                         required
build  libjansson-dev   module  jansson                      required
build  libxxhash-dev    header  xxhash.h                     required
build  libhwloc-dev     module  hwloc                        optional
build  systemtap-sdt-dev  header  sys/sdt.h                 optional
build  libclang-dev     file    /usr/lib/llvm-*/include/clang-c/Index.h  optional
build  opencl-headers   header  CL/cl.h                      optional
build  ocl-icd-libopencl1  file  /usr/lib/*/libOpenCL.so.1   optional
build  libnats-dev      module  libnats                      optional
test   nats-server      tool    nats-server                  optional
cluster libnats-dev     module  libnats                      required
cluster nats-server     tool    nats-server                  required
test   check            module  check                        required
test   g++              tool    g++                          optional
test   libcaf-dev       file    /usr/include/caf/all.hpp     optional
test   python3          tool    python3                      optional
test   python3-dev      file    /usr/include/python3*/Python.h  optional
test   python3-cffi     file    /usr/lib/python3/dist-packages/cffi/__init__.py  optional
test   python3-numpy    file    /usr/lib/python3/dist-packages/numpy/__init__.py  optional
test   python3-pytest   file    /usr/lib/python3/dist-packages/pytest/__init__.py  optional
test   spin             tool    spin                         optional
test   valgrind         tool    valgrind                     optional
test   gdb              tool    gdb                          optional
test   pocl-opencl-icd  file    /etc/OpenCL/vendors/pocl.icd optional
test   ocl-icd-opencl-dev  module  OpenCL                    optional
python python3          tool    python3                      required
python python3-dev      file    /usr/include/python3*/Python.h  required
python python3-cffi     file    /usr/lib/python3/dist-packages/cffi/__init__.py  required
python python3-numpy    file    /usr/lib/python3/dist-packages/numpy/__init__.py  required
python python3-pytest   file    /usr/lib/python3/dist-packages/pytest/__init__.py  required
python python3-venv     file    /usr/lib/python3*/ensurepip/__init__.py  optional
package dpkg-dev        tool    dpkg-buildpackage            required
package debhelper       tool    dh                           required
package dh-python       tool    dh_python3                   required
package cmark-gfm       tool    cmark-gfm                    required
package mandoc          tool    mandoc                       required
package libnats-dev     module  libnats                      required
package python3-dev     file    /usr/include/python3*/Python.h  required
package python3-cffi    file    /usr/lib/python3/dist-packages/cffi/__init__.py  required
reproducible reprotest  tool    reprotest                    required
reproducible diffoscope-minimal  tool  diffoscope            required
reproducible faketime   tool    faketime                     optional
reproducible disorderfs tool    disorderfs                   optional
reproducible locales    file    /usr/share/i18n/locales/et_EE  optional
peers  python3          tool    python3                      required
peers  g++              tool    g++                          optional
peers  libzmq3-dev      header  zmq.h                        optional
peers  libnng-dev       header  nng/nng.h                    optional
peers  libcaf-dev       file    /usr/include/caf/all.hpp     optional
site   python3          tool    python3                      required
site   cmark-gfm        tool    cmark-gfm                    required
site   mandoc           tool    mandoc                       required
test   cmark-gfm        tool    cmark-gfm                    optional
arm64  gcc-aarch64-linux-gnu  tool  aarch64-linux-gnu-gcc optional
arm64  libc6-dev-arm64-cross  file  /usr/aarch64-linux-gnu/include/stdio.h  optional
arm64  qemu-user-static tool    qemu-aarch64-static optional
arm64  dpkg-dev         tool    dpkg-source optional
arm64  patch            tool    patch optional
musl   musl-tools       tool    musl-gcc optional
musl   dpkg-dev         tool    dpkg-source optional
musl   patch            tool    patch optional
clang  clang            tool    clang                        optional
clang  libclang-rt-dev  file    /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a  optional
lint   clang-format     tool    clang-format                 optional
lint   clang-tidy       tool    clang-tidy                   optional
lint   cppcheck         tool    cppcheck                     optional
lint   shellcheck       tool    shellcheck                   optional
lint   abigail-tools    tool    abidiff                      optional
abi    abigail-tools    tool    abidiff                      required
lint   mandoc           tool    mandoc                       optional
'

# works KIND ARGUMENT: what a package is wanted for works, wherever it came from.
works()
{
    case "$1" in
    tool) have "$2" ;;
    header) have cc && printf '#include <%s>\n' "$2" | cc -E -x c - >/dev/null 2>&1 ;;
    module) have pkg-config && pkg-config --exists "$2" ;;
    file) compgen -G "$2" >/dev/null ;;
    esac
}

# missing_packages required|optional GROUP...: the names of packages that are not there.
missing_packages()
{
    local wanted="$1" installed='' group package kind argument need
    shift
    if have dpkg-query; then
        # shellcheck disable=SC2016,SC2046 # the format is dpkg's; the names are words
        installed=" $(dpkg-query -W -f '${db:Status-Abbrev}${Package} ' \
            $(awk 'NF { print $2 }' <<<"$PACKAGE_TABLE") 2>/dev/null || true)"
    fi
    while read -r group package kind argument need; do
        [[ -n "$group" && " $* " == *" $group "* && "$need" == "$wanted" ]] || continue
        [[ "$installed" == *"i $package "* ]] || works "$kind" "$argument" || printf '%s ' "$package"
    done <<<"$PACKAGE_TABLE"
}

as_root()
{
    if [[ "$(id -u)" == 0 ]]; then
        "$@"
    else
        sudo "$@"
    fi
}

by_hand()
{
    die "$1; install these packages by hand (names of Debian 12 and 13 and Ubuntu 24.04), then run this again: $2"
}

# Why apt cannot be used here, or nothing when it can.
apt_obstacle()
{
    if [[ -n "${GYRE_NO_INSTALL:-}" ]]; then
        echo "GYRE_NO_INSTALL is set"
    elif ! have apt-get; then
        echo "this system has no apt-get"
    elif [[ "$(id -u)" != 0 ]] && ! have sudo; then
        echo "installing needs root, and there is no sudo"
    fi
}

# apt_install PACKAGE...: quiet; its words are in build/apt.log.
apt_install()
{
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 "$@" >>build/apt.log 2>&1
}

install_required()
{
    local packages="$1" obstacle
    obstacle="$(apt_obstacle)"
    [[ -z "$obstacle" ]] || by_hand "packages are missing, and $obstacle" "$packages"
    # shellcheck disable=SC2086 # a list
    if ! apt_install $packages; then
        tail -n 8 build/apt.log >&2
        by_hand "apt could not install what is missing (no network? its words: build/apt.log)" "$packages"
    fi
}

# One that cannot be installed leaves its feature or its tests out, never the rest.
install_optional()
{
    local packages="$1" obstacle package failed=''
    obstacle="$(apt_obstacle)"
    # shellcheck disable=SC2086 # a list
    if [[ -z "$obstacle" ]] && ! apt_install $packages; then
        for package in $packages; do
            apt_install "$package" || failed+="$package "
        done
    elif [[ -n "$obstacle" ]]; then
        failed="$packages"
    fi
    [[ -z "$failed" ]] || say "going on without: $failed(${obstacle:-apt could not install them, see build/apt.log})"
}

# shellcheck disable=SC2034
# need_packages GROUP...: afterwards all required packages of these groups are there; PACKAGES_INSTALLED is 1
# when something was installed.
need_packages()
{
    local required optional
    required="$(missing_packages required "$@")"
    optional="$(missing_packages optional "$@")"
    PACKAGES_INSTALLED=0 # read by scripts/build.sh
    [[ -n "$required$optional" ]] || return 0
    mkdir -p build
    : >build/apt.log
    if [[ -z "$(apt_obstacle)" ]]; then
        say "installing with apt: $required$optional"
        as_root apt-get update -o Acquire::Retries=3 >>build/apt.log 2>&1 || say "apt-get update failed, going on"
        PACKAGES_INSTALLED=1
    fi
    [[ -z "$required" ]] || install_required "$required"
    [[ -z "$optional" ]] || install_optional "$optional"
}
