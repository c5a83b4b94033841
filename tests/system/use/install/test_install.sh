#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs to a folder, moves that folder, and builds and runs against it what users build: applications with CMake
# and with pkg-config, and a backend plugin. Nothing of the source tree but examples/ is used, and those as copies.
# usage: test_install.sh BUILD_TREE SOURCE_TREE C_COMPILER LIBDIR VERSION
set -euo pipefail
build="$1" source="$2" compiler="$3" libdir="$4" version="$5"
work="$(mktemp -d)"
abi="${version%%.*}" # what the library's file is called by (libgyre.so.ABI)
[[ "$abi" != 0 ]] || abi="${version%.*}"
trap 'rm -rf "$work"' EXIT
prefix="$work/moved"

fail()
{
    echo "FAILED: $*"
    exit 1
}

# quiet COMMAND...: its words only when it fails.
quiet()
{
    "$@" >"$work/log" 2>&1 || {
        cat "$work/log"
        fail "$*"
    }
}

install_tree()
{
    quiet cmake --install "$build" --prefix "$work/installed"
    mv "$work/installed" "$prefix"
}

check_files()
{
    local file
    for file in include/gyre/{gyre.hpp,{gyre,kernel,message,backend,ring_layout,status}.h} include/gyre/dialect/c11.h \
        "$libdir/libgyre.so" "$libdir/libgyre.so.$abi" "$libdir/libgyre.so.$version" "$libdir/libgyre.a" \
        share/doc/gyre/{LICENSE,README.md,CHANGELOG.md} share/doc/gyre/docs/{kernels.md,adr/rings.md,backends/cuda.md,architecture.svg} \
        "$libdir/gyre/plugins/gyre-cpu.so" "$libdir/gyre/plugins.d/cpu.ini" "$libdir/gyre/libexec/gyre-probe" \
        "$libdir/cmake/gyre/gyreConfig.cmake" "$libdir/pkgconfig/gyre.pc" bin/gyre share/man/man1/gyre.1 share/man/man5/gyre.ini.5; do
        [[ -e "$prefix/$file" ]] || fail "not installed: $file"
    done
    [[ "$("$prefix/bin/gyre" --version)" == *"$version"* ]] || fail "gyre --version does not say $version"
}

# Each command has a manual page, which tells its options and every exit code; gyre.ini.5 has every key. Pages have nothing that
# troff does not know.
check_manual()
{
    local man="$prefix/share/man" command code expected page
    for command in $("$prefix/bin/gyre" help | sed -n '/^Commands:/,$s/^  \([a-z]*\) .*/\1/p'); do
        grep -qE "^  $command +" "$man/man1/gyre.1" || fail "gyre.1 does not list '$command'"
        [[ "$command" != help ]] || continue
        page="$man/man1/gyre-$command.1"
        [[ -s "$page" ]] || fail "there is no page gyre-$command.1"
        grep -qx "\.BR gyre\\\\-$command (1),*" "$man/man1/gyre.1" || fail "gyre.1 does not lead to gyre-$command.1"
        code="$(sed -n '/^\.SH EXIT STATUS/,$s/^\([0-9]\) [a-z].*/\1/p' "$page")"
        expected=012345
        [[ "$command" != swap ]] || expected=01234567
        [[ "${code//$'\n'/}" == "$expected" ]] || fail "gyre-$command.1 does not tell the exit codes $expected: it has $code"
    done
    "$prefix/bin/gyre" config --keys --json | grep -oE '"section":"[^"]*","key":"[^"]*"' | cut -d'"' -f4,8 | tr '"' ' ' >"$work/keys"
    awk '/^\[/ { section = substr($1, 2, length($1) - 2) } /^  [a-z]/ && section { print section, $1 }' "$man/man5/gyre.ini.5" |
        diff "$work/keys" - >"$work/log" || fail "gyre.ini.5 has other keys than gyre config --keys: $(cat "$work/log")"
    [[ -s "$work/keys" ]] || fail "gyre config --keys has no keys"
    if command -v groff >/dev/null; then
        for page in "$man"/man[15]/*; do
            [[ -z "$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null)" ]] || fail "troff complains about ${page##*/}"
        done
    fi
}

# The completions are where the shells look, and are those that the command prints.
check_completions()
{
    local share="$prefix/share" shell file
    for shell in bash:bash-completion/completions/gyre zsh:zsh/site-functions/_gyre fish:fish/vendor_completions.d/gyre.fish; do
        file="$share/${shell#*:}"
        "$prefix/bin/gyre" completion "${shell%%:*}" | cmp -s - "$file" || fail "$file is not what gyre completion ${shell%%:*} prints"
    done
}

# pc VARIABLE...: pkg-config on the moved tree.
pc()
{
    PKG_CONFIG_PATH="$prefix/$libdir/pkgconfig" pkg-config "$@" gyre
}

check_pkg_config()
{
    [[ "$(pc --modversion)" == "$version" ]] || fail "gyre.pc says version $(pc --modversion), not $version"
    [[ -d "$(pc --variable=plugindir)" ]] || fail "plugindir of gyre.pc is no folder"
    [[ "$(pc --variable=plugindir) $(pc --cflags --libs)" != *//* ]] || fail "a path of gyre.pc has a double slash"
    [[ -d "$(pc --variable=dropindir)" ]] || fail "dropindir of gyre.pc is no folder"
}

# Nothing that is installed may lead back to the trees it was built from.
check_no_way_back()
{
    local file
    while IFS= read -r file; do
        cp "$file" "$work/stripped"
        strip --strip-debug "$work/stripped" 2>/dev/null || true
        if grep -qaE "$source/(include|core|backends|cli|examples)/|$build/(core|cli|lib)/" "$work/stripped"; then
            fail "${file#"$prefix"/} holds the path of the source or the build tree"
        fi
    done < <(find "$prefix" -type f)
}

# run PROGRAM ARGUMENT...: with nothing of this user's.
run()
{
    env -i PATH="$PATH" HOME="$work/home" "$@"
}

check_application()
{
    local said
    cp -r "$prefix/share/doc/gyre/examples/vector_add" "$work/application"
    sed -i 's/gyre_in_ms(1000)/gyre_in_ms(100000)/' "$work/application/main.c" # of a slow machine
    quiet cmake -S "$work/application" -B "$work/application/build" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_C_COMPILER="$compiler"
    quiet cmake --build "$work/application/build"
    said="$(cd "$work/application" && run build/vector_add)" || fail "the application built with CMake failed"
    [[ "$said" == "11 22 33" ]] || fail "the application built with CMake said '$said' instead of '11 22 33'"

    # shellcheck disable=SC2046 # a list of options
    quiet "$compiler" -std=c11 "$work/application/main.c" $(pc --cflags --libs) -Wl,-rpath,"$prefix/$libdir" \
        -o "$work/application/by_pkg_config"
    said="$(cd "$work/application" && run ./by_pkg_config)" || fail "the application built with pkg-config failed"
    [[ "$said" == "11 22 33" ]] || fail "the application built with pkg-config said '$said' instead of '11 22 33'"
}

# found_version WANTED: the version that find_package(gyre WANTED) takes, or nothing.
found_version()
{
    mkdir -p "$work/find"
    # shellcheck disable=SC2016 # CMake's dollars
    printf 'cmake_minimum_required(VERSION 3.22)\nproject(find LANGUAGES NONE)\nfind_package(gyre %s QUIET)\nmessage(STATUS "<${gyre_FOUND}>")\n' \
        "$1" >"$work/find/CMakeLists.txt"
    rm -rf "$work/find/build"
    cmake -S "$work/find" -B "$work/find/build" -DCMAKE_PREFIX_PATH="$prefix" 2>&1 | sed -n 's/^-- <\(.*\)>$/\1/p'
}

# A program of one minor version runs with no other one before 1.0; CMake says the same.
check_version()
{
    local major="${version%%.*}" minor="${version#*.}"
    minor="${minor%%.*}"
    sed -i "s/find_package(gyre REQUIRED)/find_package(gyre $major.$minor REQUIRED)/" "$work/application/CMakeLists.txt"
    quiet cmake -S "$work/application" -B "$work/application/versioned" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler"
    [[ "$(found_version "$major.$((minor + 1))")" == 0 ]] || fail "find_package(gyre $major.$((minor + 1))) takes $version"
    [[ "$major" != 0 || "$minor" == 0 || "$(found_version "0.$((minor - 1))")" == 0 ]] || fail "find_package(gyre 0.$((minor - 1))) takes $version"
    readelf -d "$work/application/by_pkg_config" | grep -qF "[libgyre.so.$abi]" || fail "programs do not ask for libgyre.so.$abi"
    mkdir "$work/next" # the tree of the next minor version
    mv "$prefix/$libdir/libgyre.so"* "$work/next"
    cp "$work/next/libgyre.so.$version" "$prefix/$libdir/libgyre.so.0.$((minor + 1))"
    ln -s "libgyre.so.0.$((minor + 1))" "$prefix/$libdir/libgyre.so.0"
    ! run "$work/application/by_pkg_config" >"$work/log" 2>&1 || fail "a program of $version runs with 0.$((minor + 1))"
    rm "$prefix/$libdir/libgyre.so"*
    mv "$work/next"/* "$prefix/$libdir"
}

# static NAME COMMAND...: what the command linked, as bin/NAME of the tree, runs and needs no libgyre.so.
static()
{
    local name="$1" said
    shift
    quiet "$@"
    ! readelf -d "$prefix/bin/$name" | grep -q 'NEEDED.*libgyre' || fail "$name needs libgyre.so"
    said="$(cd "$work/application" && run "$prefix/bin/$name")" || fail "$name failed"
    [[ "$said" == "11 22 33" ]] || fail "$name said '$said' instead of '11 22 33'"
    rm "$prefix/bin/$name"
}

# A program may contain the library, and have names that the library uses inside.
check_static()
{
    local tree="$work/static"
    mkdir "$tree"
    cp "$work/application/"{main.c,vector_add.h} "$tree"
    printf 'int gyre_place_home(void);\nint gyre_place_home(void) { return 1; }\n' >>"$tree/main.c"
    # shellcheck disable=SC2046 # a list of options
    static by_pkg_config "$compiler" -std=c11 "$tree/main.c" $(pc --cflags) -Wl,-Bstatic $(pc --static --libs) -Wl,-Bdynamic \
        -o "$prefix/bin/by_pkg_config"
    printf 'cmake_minimum_required(VERSION 3.22)\nproject(static LANGUAGES C)\nfind_package(gyre REQUIRED)\nadd_executable(by_cmake main.c)
target_link_libraries(by_cmake PRIVATE gyre::static)\n' >"$tree/CMakeLists.txt"
    quiet cmake -S "$tree" -B "$tree/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" \
        -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$prefix/bin"
    static by_cmake cmake --build "$tree/build"
}

# The target uninstall: all that was installed, and nothing else.
check_uninstall()
{
    local tree="$work/gone" left
    cmake --build "$build" --target help >"$work/log"
    grep -q uninstall "$work/log" || fail "there is no target uninstall"
    quiet cmake --install "$build" --prefix "$tree"
    touch "$tree/$libdir/gyre/plugins/somebody.so"
    quiet cmake -DMANIFEST="$build/install_manifest.txt" -P "$source/cmake/GyreUninstall.cmake"
    left="$(find "$tree" ! -type d)"
    [[ "$left" == "$tree/$libdir/gyre/plugins/somebody.so" ]] || fail "uninstall leaves: $left"
    left="$(find "$tree" -type d -name gyre)"
    [[ "$left" == "$tree/$libdir/gyre" ]] || fail "uninstall leaves folders: $left"
    ! cmake -DMANIFEST="$build/install_manifest.txt" -P "$source/cmake/GyreUninstall.cmake" >"$work/log" 2>&1 ||
        fail "uninstall does not tell that nothing is installed"
    grep -q "install_manifest.txt does not exist" "$work/log" || fail "uninstall twice: $(cat "$work/log")"
}

# A program that is not linked to the library opens it while it runs, as bindings of other languages do.
check_opened_late()
{
    local said
    cat >"$work/late.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const char *(*version)(void) = library ? (const char *(*)(void))dlsym(library, "gyre_version") : NULL;
    puts(version ? version() : dlerror());
    return !version;
}
END
    quiet "$compiler" "$work/late.c" -o "$work/late" -ldl
    said="$("$work/late" "$prefix/$libdir/libgyre.so.$abi")" || fail "opened while a program runs: $said"
    [[ "$said" == "$version" ]] || fail "the library opened while a program runs says '$said', not '$version'"
}

# The command finds plugins, headers and helpers of the moved tree.
check_command()
{
    local zeros request said
    run "$prefix/bin/gyre" backends >"$work/backends" || fail "gyre backends: $(cat "$work/backends")"
    grep -qE "^cpu +can start .*$prefix/$libdir/gyre/plugins/gyre-cpu.so" "$work/backends" ||
        fail "gyre backends does not list the cpu plugin of the installed tree: $(cat "$work/backends")"
    ! grep -E '^[^ ]*emulator|is not a Gyre plugin' "$work/backends" ||
        fail "gyre backends lists a file that is no plugin"
    zeros="$(printf '0,%.0s' {1..24})"
    request="{\"a\":[${zeros}1],\"b\":[${zeros}2]}"
    said="$(run "$prefix/bin/gyre" call "$work/application/vector_add.gyre.c" "$request" 2>"$work/log")" ||
        fail "gyre call: $(cat "$work/log")"
    [[ "$said" == *',3.0]}' ]] || fail "gyre call replied '$said'"
}

# gyre_add_test() of the installed package: a test for each backend, which is skipped where the backend cannot start.
check_cases()
{
    local tree="$work/cases" ones
    ones="$(printf '1,%.0s' {1..24})1"
    mkdir "$tree"
    cp "$work/application/"vector_add.{gyre.c,h} "$tree"
    printf '{"gyre_case":1,"kernel":"vector_add.gyre.c"}\n{"request":{"a":[%s],"b":[%s]},"reply":{"sum":[%s]}}\n' \
        "$ones" "$ones" "${ones//1/2}" >"$tree/ones.gyre-case"
    printf 'cmake_minimum_required(VERSION 3.22)\nproject(cases LANGUAGES C)\nfind_package(gyre REQUIRED)\nenable_testing()
gyre_add_test(NAME adds CASES . BACKENDS cpu absent CHECKS races memory OPTIONS --config gyre.ini)\ngyre_add_test(NAME once CASES ones.gyre-case REQUIRE)\n' \
        >"$tree/CMakeLists.txt"
    printf '[backend.absent]\nlibrary = /nowhere/gyre-absent.so\n' >"$tree/gyre.ini"
    quiet cmake -S "$tree" -B "$tree/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler"
    quiet run ctest --test-dir "$tree/build" --output-on-failure
    grep -q 'adds.cpu .*Passed' "$work/log" || fail "adds.cpu did not pass: $(<"$work/log")"
    grep -q 'adds.absent .*Skipped' "$work/log" || fail "adds.absent was not skipped: $(<"$work/log")"
    grep -q 'once .*Passed' "$work/log" || fail "once did not pass: $(<"$work/log")"
    sed -i 's/"sum":\[2/"sum":[3/' "$tree/ones.gyre-case"
    ! run ctest --test-dir "$tree/build" --output-on-failure >"$work/log" 2>&1 || fail "a wrong sum passes"
    grep -q 'sum\[0\]: expected 3, found 2' "$work/log" || fail "expected what differs: $(<"$work/log")"
}

# Where a package has no headers, what needs them says where they were looked for.
check_without_headers()
{
    local wanted="there is no '$prefix/[^']*include/gyre/kernel.h'"
    mv "$prefix/include" "$work/include"
    ! run "$prefix/bin/gyre" call "$work/application/vector_add.gyre.c" '{}' >"$work/log" 2>&1 ||
        fail "gyre call works without headers"
    grep -q "$wanted" "$work/log" || fail "gyre call without headers: $(cat "$work/log")"
    run "$prefix/bin/gyre" doctor >"$work/log" || true
    grep -q "^note *headers .*$wanted" "$work/log" || fail "gyre doctor without headers: $(cat "$work/log")"
    mv "$work/include" "$prefix/include"
}

# Folders as some packagers give them: absolute, and the headers in another prefix. Nothing is built; what leads
# from one folder to the other is looked at.
check_other_folders()
{
    local tree="$work/elsewhere" found
    quiet cmake -S "$source" -B "$tree/build" -DCMAKE_C_COMPILER="$compiler" -DGYRE_TESTS=OFF \
        -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_INSTALL_PREFIX="$tree/a" -DCMAKE_INSTALL_LIBDIR="$tree/a/lib/b" \
        -DCMAKE_INSTALL_BINDIR="$tree/a/c/bin" -DCMAKE_INSTALL_INCLUDEDIR="$tree/d/include"
    mkdir -p "$tree/a/lib/b/pkgconfig" "$tree/a/lib/b/gyre" "$tree/a/c/bin" "$tree/d/include"
    cp "$tree/build/gyre.pc" "$tree/a/lib/b/pkgconfig/gyre.pc"
    for found in libdir:a/lib/b includedir:d/include; do
        [[ "$(PKG_CONFIG_PATH="$tree/a/lib/b/pkgconfig" pkg-config --variable="${found%%:*}" gyre)" -ef \
            "$tree/${found#*:}" ]] || fail "${found%%:*} of gyre.pc does not lead to $tree/${found#*:}"
    done
    found="$(grep -om1 'GYRE_HEADERS_FROM_HOME=[^ ;]*' "$tree/build/compile_commands.json" | tr -d '\\"')"
    [[ "$tree/a/lib/b/gyre/${found#*=}" -ef "$tree/d/include" ]] || fail "the library does not find its headers: $found"
    found="$(grep -om1 'GYRE_HOME_FROM_BIN=[^ ;]*' "$tree/build/compile_commands.json" | tr -d '\\"')"
    [[ "$tree/a/c/bin/${found#*=}" -ef "$tree/a/lib/b/gyre" ]] || fail "the command does not find its folder: $found"
}

# The template of a backend plugin, built outside, installed into the moved tree, chosen and called.
check_plugin()
{
    local said numbers
    cp -r "$source/examples/backend_template" "$work/plugin"
    quiet cmake -S "$work/plugin" -B "$work/plugin/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler"
    quiet cmake --build "$work/plugin/build"
    quiet cmake --install "$work/plugin/build"
    said="$(run "$prefix/bin/gyre" backends --why solo)" || fail "gyre backends does not know the plugin: $said"
    grep -q '^verdict  *can start$' <<<"$said" || fail "the plugin built elsewhere cannot start: $said"
    numbers="$(seq -s, 1 25)"
    said="$(run "$prefix/bin/gyre" call "$source/examples/vector_add/vector_add.gyre.c" --backend solo \
        "{\"a\":[$numbers],\"b\":[$numbers]}" 2>"$work/log")" || fail "gyre call --backend solo: $(cat "$work/log")"
    [[ "$said" == *'"sum":[2.0,4.0,6.0,'*'50.0]'* ]] || fail "the plugin built elsewhere replied '$said'"
}

install_tree
check_files
check_manual
check_completions
check_pkg_config
check_no_way_back
check_application
check_version
check_static
check_opened_late
check_command
check_cases
check_without_headers
check_plugin
check_other_folders
check_uninstall
echo "the installed tree works after a move"
