# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A self-contained folder for a machine without development packages: programs, plugins, the shared libraries that they
# need, kernels as source and compiled, tests and a `run` script. Sourced; runs nothing.

# The libraries a program needs that are not the system's own: never libc, the loader, or a vendor's driver.
bundle_libraries()
{
    ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
        grep -vE '/(libc|libm|libdl|librt|libpthread|libcuda|libOpenCL|libgcc_s|ld-linux[^/]*)\.so' || true
}

# bundle_copy_libraries FOLDER PROGRAM...: what those need.
bundle_copy_libraries()
{
    local folder="$1" library
    shift
    bundle_libraries "$@" | while read -r library; do
        [[ "$library" == "$PWD"/* ]] || cp -L "$library" "$folder/gyre/lib/"
    done
}

# bundle_headers FOLDER: the C library's headers that the check reads, which a machine without development packages
# does not have.
bundle_headers()
{
    local header
    echo '#include <gyre/kernel.h>' | cc -M -Iinclude -xc - | grep -oE ' /[^ ]+\.h' | while read -r header; do
        install -D -m 644 "$header" "$1/$(sed -E 's,^/usr/include/([a-z0-9_]+-linux-gnu/)?,,; s,^/.*/,,' <<<"$header")"
    done
}

# bundle_check FOLDER WITH_COMPILERS: the dialect check. Without it the check stage says that it was not made.
bundle_check()
{
    local check="$1/gyre/lib/gyre/libexec/gyre-check"
    if [[ "$2" == no ]]; then
        rm -f "$check" # needs libclang, which is larger than all the rest
        return
    fi
    [[ -x "$check" ]] || return 0
    bundle_copy_libraries "$1" "$check"
    bundle_headers "$1/gyre/lib/gyre/check-headers"
    mv "$check" "$check.bin"
    cat >"$check" <<'END'
#!/bin/sh
here=${0%/*}
C_INCLUDE_PATH="$here/../check-headers" exec "$here/gyre-check.bin" "$@"
END
    chmod 755 "$check"
}

# bundle_nvrtc FOLDER: the vendor's compiler and linker, which may be passed on; never its driver.
bundle_nvrtc()
{
    local place file found=no
    for place in "${CUDA_HOME:-/usr/local/cuda}/lib64" /usr/lib/x86_64-linux-gnu; do
        for file in "$place"/libnvrtc.so.[0-9][0-9] "$place"/libnvrtc-builtins.so.*.[0-9] "$place"/libnvJitLink.so.[0-9][0-9]; do
            if [[ -e "$file" ]]; then
                cp -L "$file" "$1/gyre/lib/"
                found=yes
            fi
        done
        [[ $found == no ]] || return 0
    done
    say "NVRTC is not on this machine: the bundle compiles no CUDA kernels"
}

# bundle_compile FOLDER BACKEND NAME [OPTION...]: every kernel, compiled, below compiled/NAME as the sources lie.
bundle_compile()
{
    local folder="$1" backend="$2" name="$3" source target
    shift 3
    (cd "$folder" && find tests examples gyre/lib/gyre/bench -name '*.gyre.c') | while read -r source; do
        target="$folder/compiled/$name/$source"
        mkdir -p "$(dirname "$target")"
        build/dev/bin/gyre compile --backend "$backend" "$@" -o "$target" "$folder/$source" >/dev/null 2>&1 ||
            rm -f "$target" # a test's broken kernel stays a source
    done
}

# bundle_make FOLDER WITH_COMPILERS ARCHITECTURE...: from the preset dev, which has the tests.
bundle_make()
{
    local folder="$1" compilers="$2" build=build/dev program architecture
    shift 2
    rm -rf "$folder"
    mkdir -p "$folder/tests"
    # the preset has the parts of CUDA kernels for one architecture
    [[ ! -x "$build/bin/gyre-cuda-parts" ]] || "$build/bin/gyre-cuda-parts" "$build/lib/gyre/cuda" include
    run_logged "$build/bundle.log" cmake --install "$build" --prefix "$folder/gyre" --strip
    find "$folder/gyre" -name libgyre.a -delete
    rm -rf "$folder/gyre/share/doc"
    for program in change_campaign change_pauses gyre_conformance gyre_demo gyre_stress run_api test_shapes test_stray test_watched peer_cuda peer_opencl savina; do
        if [[ -x "$build/bin/$program" ]]; then
            install -s "$build/bin/$program" "$folder/gyre/bin/"
        fi
    done
    cp -r tests/conformance/kernels "$folder/tests/conformance"
    cp -r tests/conformance/exclusions "$folder/tests/conformance/exclusions"
    # lines `BACKEND CASE`: only the preset's list of tests says which case is of which backend
    ctest --test-dir "$build" -N | sed -n 's|.* conformance/\([a-z_]*\)/[^/]*/\([^/]*\)$|\1 \2|p' >"$folder/tests/conformance/cases"
    mkdir "$folder/tests/stress"
    cp tests/system/load/stress/*.gyre.c tests/system/load/stress/messages.h "$folder/tests/stress/"
    mkdir "$folder/tests/crash"
    cp tests/system/survival/crash/stray.gyre.c tests/system/survival/crash/stray.h "$folder/tests/crash/"
    mkdir "$folder/tests/changes"
    cp tests/system/survival/change/{ledger,quote}*.gyre.c tests/system/survival/change/{ledger,quote}.h "$folder/tests/changes/"
    mkdir "$folder/tests/messages"
    cp tests/system/use/messages/*.gyre.c tests/system/use/messages/*.h "$folder/tests/messages/"
    mkdir "$folder/tests/savina"
    cp -r tests/savina/savina.h tests/savina/kernels "$folder/tests/savina/"
    cp -r tests/kernels "$folder/tests/kernels"
    cp "$build"/tests/kernels/kernel_*.so "$folder/tests/kernels/"
    cp -r examples "$folder/examples"
    git rev-parse --short HEAD >"$folder/commit" 2>/dev/null || echo unknown >"$folder/commit"
    bundle_copy_libraries "$folder" "$folder"/gyre/bin/* "$folder"/gyre/lib/gyre/plugins/*.so
    bundle_check "$folder" "$compilers"
    [[ "$compilers" == no ]] || bundle_nvrtc "$folder"
    bundle_compile "$folder" cpu cpu --set backend.cpu.compiler_options=-O3
    for architecture in "$@"; do
        bundle_compile "$folder" cuda "$architecture" --arch "$architecture"
    done
    install -m 755 scripts/bundle_run.sh "$folder/run"
    install -m 644 scripts/bundle_report.sh "$folder/report.sh"
    install -m 644 scripts/bundle_checks.sh "$folder/checks.sh"
    install -m 644 scripts/top_beside_bench.py "$folder/"
}
