#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A backend whose headers are not there: told by the summary, by ./dev, and by the command; built when they come.
# usage: test_left_out.sh SOURCE_TREE BUILD_TREE
set -euo pipefail
tree="$1" built="$2"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
failed=0
mkdir -p "$work/build/release" "$work/bin" "$work/home" "$work/plugins"
cd "$work"

# expect WHAT TEXT FILE: the file has that text, within a line.
expect()
{
    grep -qF -- "$2" "$3" && return
    printf 'FAILED: %s\n  expected: %s\n  found:\n' "$1" "$2"
    cat "$3"
    failed=1
}

# same WHAT EXPECTED FOUND
same()
{
    [[ "$2" == "$3" ]] || { printf 'FAILED: %s\n  expected: %s\n  found:    %s\n' "$1" "$2" "$3" && failed=1; }
}

# configure ONLY|BOTH: where headers are looked for, in an empty folder or everywhere.
configure()
{
    cmake -S "$tree" -B "$work/build/release" -DCMAKE_BUILD_TYPE=Release -DGYRE_TESTS=OFF -DCMAKE_FIND_ROOT_PATH="$work/home" \
        "-DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=$1" >"$work/configured" 2>&1 || { cat "$work/configured" && exit 1; }
}

configure ONLY
opencl="CL/cl.h was not found; install opencl-headers (Debian, Ubuntu), or name its folder in GYRE_OPENCL_INCLUDE_DIR, and build Gyre again"
cuda="cuda.h or nvrtc.h was not found; install NVIDIA's CUDA toolkit or nvidia-cuda-dev, or name the folder in GYRE_CUDA_INCLUDE_DIR, and build Gyre again"
expect "a row of the summary is one line" "  backend opencl not built: $opencl" configured
expect "the same of CUDA" "  backend cuda   not built: $cuda" configured
expect "what is lacking" "opencl header CL/cl.h" build/release/lacking

# what the command says of such a build
cp "$built/lib/gyre/plugins/gyre-cpu.so" plugins
export XDG_CACHE_HOME="$work/home" XDG_CONFIG_HOME="$work/home" HOME="$work/home"
places=(--set "plugin_dir=$work/plugins" --set "dropin_dir=$work/build/release/lib/gyre/plugins.d")
"$built/bin/gyre" backends "${places[@]}" >said
expect "gyre backends has a row" "not built" said
expect "... with the reason" "it was not built: $opencl" said
expect "the choice passes it over" "opencl cannot start: it was not built: CL/cl.h was not found" said
"$built/bin/gyre" backends --json "${places[@]}" >said
expect "gyre backends --json" '"built":false' said
"$built/bin/gyre" doctor "${places[@]}" >said || true
expect "gyre doctor" "it was not built: $opencl" said
expect "gyre doctor of CUDA" "it was not built: $cuda" said
! "$built/bin/gyre" call --backend opencl "${places[@]}" "$tree/examples/command/scale.gyre.c" '{"value":1,"factor":2}' >said 2>&1 || failed=1
expect "a program that wants it" "backend 'opencl' cannot start: it was not built: $opencl" said

# ./dev: says it after a build, and configures again when what was lacking is there, once
printf '#!/bin/sh\necho "$@" >>"%s/calls"\n' "$work" >bin/cmake
chmod +x bin/cmake
: >build/release/build.ninja

# build: as ./dev demo does.
build()
{
    : >calls
    PATH="$work/bin:$PATH" CUDA_HOME='' CUDA_PATH='' bash -c "set -eu; source '$tree/scripts/common.sh'; source '$tree/scripts/packages.sh'
        source '$tree/scripts/build.sh'; PACKAGES_INSTALLED=0; works() { [[ \"\$*\" == \"$1\" ]]; }; build_preset release" >said 2>&1
}

printf 'opencl header CL/cl.h\ntwo header here.h\ntwo module nowhere\n' >build/release/lacking
build "header here.h"
expect "./dev" "gyre: backend opencl is not built: $opencl" said
same "what still lacks something is left alone" 0 "$(grep -c preset calls || true)"
build "header CL/cl.h"
same "what came in is built" 1 "$(grep -c preset calls || true)"
build "header CL/cl.h"
same "what did not help is not tried again" 0 "$(grep -c preset calls || true)"

rm bin/cmake
if echo '#include <CL/cl.h>' | cc -E -x c - >/dev/null 2>&1; then
    configure BOTH
    expect "headers that came in" "  backend opencl built" configured
    ! grep -q not_built build/release/lib/gyre/plugins.d/opencl.ini || { echo "FAILED: its drop-in says that it is not built" && failed=1; }
fi
exit "$failed"
