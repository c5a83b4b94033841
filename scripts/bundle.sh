# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A self-contained folder for a machine without development packages: programs, plugins, the shared libraries that they
# need, kernels, tests and a `run` script. Sourced; runs nothing.

# The libraries a program needs that are not the system's own: never libc, the loader, or a vendor's driver.
bundle_libraries()
{
    ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
        grep -vE '/(libc|libm|libdl|librt|libpthread|libcuda|libOpenCL|libgcc_s|ld-linux[^/]*)\.so' || true
}

# bundle_make FOLDER: from the preset dev, which has the tests.
bundle_make()
{
    local folder="$1" build=build/dev program
    rm -rf "$folder"
    mkdir -p "$folder/tests"
    run_logged "$build/bundle.log" cmake --install "$build" --prefix "$folder/gyre" --strip
    rm -f "$folder/gyre/lib/gyre/libexec/gyre-check" # needs libclang, which is larger than all the rest
    for program in gyre_conformance gyre_demo gyre_stress run_api; do
        if [[ -x "$build/bin/$program" ]]; then
            install -s "$build/bin/$program" "$folder/gyre/bin/"
        fi
    done
    cp -r tests/conformance/kernels "$folder/tests/conformance"
    mkdir "$folder/tests/stress"
    cp tests/system/stress/*.gyre.c tests/system/stress/messages.h "$folder/tests/stress/"
    cp -r tests/kernels "$folder/tests/kernels"
    cp "$build"/tests/kernels/kernel_*.so "$folder/tests/kernels/"
    cp -r examples "$folder/examples"
    local library
    bundle_libraries "$folder"/gyre/bin/* "$folder"/gyre/lib/gyre/plugins/*.so | while read -r library; do
        [[ "$library" == "$PWD"/* ]] || cp -L "$library" "$folder/gyre/lib/"
    done
    install -m 755 scripts/bundle_run.sh "$folder/run"
}
