# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev ports: Gyre for arm64 (by a cross compiler, run by an emulator), and for the C library musl. Sourced; runs nothing.
# docs/ports.md says what is run, and what nobody has tried.
#
# A port's libraries are made from their sources, which are few files: inih is in packaging/ports, jansson and Check come from the
# system's own package archive. Everything lies in build/ports.

readonly PORT_LIBRARIES=(jansson check)
readonly PORTS_APT="$PWD/build/ports/apt"
# what is run of the target `ported`, and of that, what starts further programs
readonly PORT_TESTS='^(unit/(libc|layout|region|file_write|trace_context)$|conformance/cpu/(lifecycle|calls)/)'
readonly PORT_STARTS_PROGRAMS='^conformance/'
# the same for musl: the unit tests that are known to pass there (docs/ports.md says which are left)
readonly MUSL_UNITS=(
    adopt attach_answer attach_arrivals attach_place attach_relay_ring attach_relay_stream attach_state_copy
    attach_subscribe barrier base bench call_stream cgroup check_words cli config_ini config_load config_memory
    config_pipelines config_value cpu_fields cpu_jobs cpu_messages cpu_pool cpu_seat cpu_shadow cpu_spread cpu_window dispatch errand
    expiry express faults fields file_write fold handler headers journal journal_content journal_file journal_view
    kept_table keyed_table layout libc loader lock log message_json parcel parts patience pipeline_print ports ports_checked
    process proxy region registry report request_source rooms store told trace trace_context trace_json types web_request
)

musl_tests()
{
    local IFS='|'
    echo "^(unit/(${MUSL_UNITS[*]})\$|conformance/cpu/(lifecycle|calls)/)"
}

port_compiler()
{
    case "$1" in
    arm64) echo aarch64-linux-gnu-gcc ;;
    musl) echo musl-gcc ;;
    esac
}

port_toolchain()
{
    case "$1" in
    arm64) echo "$PWD/packaging/ports/aarch64-linux-gnu.cmake" ;;
    musl) echo "$PWD/packaging/ports/musl.cmake" ;;
    esac
}

# A program of the port runs here.
port_runs()
{
    local program="build/ports/$1/hello" emulator=()
    [[ "$1" != arm64 ]] || emulator=(qemu-aarch64-static -L /usr/aarch64-linux-gnu)
    mkdir -p "build/ports/$1"
    printf '#include <stdio.h>\nint main(void) { return puts("hello") < 0; }\n' |
        "$(port_compiler "$1")" -x c - -o "$program" 2>/dev/null && [[ "$("${emulator[@]}" "$program" 2>/dev/null)" == hello ]]
}

# apt_sources ARGUMENT...: apt-get for the sources of packages, of the archives that this system uses, with lists of its own.
apt_sources()
{
    apt-get -o Dir::Etc::SourceList="$PORTS_APT/sources.list" -o Dir::Etc::SourceParts="$PORTS_APT/parts" \
        -o Dir::State::lists="$PORTS_APT/lists" -o Dir::Cache="$PORTS_APT/cache" -o APT::Sandbox::User="$(id -un)" \
        -o Acquire::Retries=3 -o Debug::NoLocking=true "$@"
}

# port_sources: the sources of the libraries, in build/ports/sources.
port_sources()
{
    local place="$PORTS_APT" sources=build/ports/sources file library
    [[ ! -f $sources/complete ]] || return 0
    rm -rf "$place" "$sources"
    mkdir -p "$place/parts" "$place/lists/partial" "$place/cache/archives/partial" "$sources"
    sed -E 's/^deb( |\t)/deb-src\1/' /etc/apt/sources.list >"$place/sources.list" 2>/dev/null || : >"$place/sources.list"
    for file in /etc/apt/sources.list.d/*.list; do
        [[ ! -f "$file" ]] || sed -E 's/^deb( |\t)/deb-src\1/' "$file" >"$place/parts/${file##*/}"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [[ ! -f "$file" ]] || sed -E 's/^Types:.*/Types: deb-src/' "$file" >"$place/parts/${file##*/}"
    done
    apt_sources update || true # one archive of several may have no sources
    (cd "$sources" && apt_sources source --download-only "${PORT_LIBRARIES[@]}") || return 1
    for library in "${PORT_LIBRARIES[@]}"; do
        dpkg-source --no-check -x "$sources/$library"_*.dsc "$sources/$library" || return 1
    done
    mkdir "$sources/inih"
    patch -s -d "$sources/inih" -p1 <packaging/ports/inih.patch || return 1
    : >"$sources/complete"
}

# port_module PORT NAME LIBRARIES: what pkg-config says of a library that was made.
port_module()
{
    local prefix="$PWD/build/ports/$1"
    printf 'Name: %s\nDescription: made by scripts/ports.sh\nVersion: 1\nLibs: -L%s/lib %s\nCflags: -I%s/include\n' \
        "$2" "$prefix" "$3" "$prefix" >"$prefix/lib/pkgconfig/$2.pc"
}

# port_library PORT NAME: with its own CMake files, as an archive.
port_library()
{
    local prefix="$PWD/build/ports/$1" folder="build/ports/$1/build-$2" launcher=()
    ! have ccache || launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
    cmake -S "build/ports/sources/$2" -B "$folder" --toolchain "$(port_toolchain "$1")" -DGYRE_PORT_PREFIX="$prefix" \
        -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
        -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF \
        -DBUILD_TESTING=OFF -DCHECK_ENABLE_SUBUNIT=OFF "${launcher[@]}" &&
        cmake --build "$folder" --parallel "$(nproc)" && cmake --install "$folder"
}

# port_libraries PORT: in build/ports/PORT, with the headers that a port shares with this system.
port_libraries()
{
    local prefix="$PWD/build/ports/$1" library
    [[ ! -f "$prefix/complete" ]] || return 0
    mkdir -p "$prefix/include" "$prefix/lib/pkgconfig"
    cp /usr/include/xxhash.h "$prefix/include" || return 1
    if [[ "$1" == musl ]]; then
        ln -sfn /usr/include/linux "$prefix/include/linux"
        ln -sfn /usr/include/asm-generic "$prefix/include/asm-generic"
        ln -sfn "/usr/include/$(cc -print-multiarch)/asm" "$prefix/include/asm"
    fi
    "$(port_compiler "$1")" -O2 -fPIC -c build/ports/sources/inih/ini.c -o "$prefix/ini.o" || return 1
    ar rcs "$prefix/lib/libinih.a" "$prefix/ini.o" || return 1
    cp build/ports/sources/inih/ini.h "$prefix/include" || return 1
    for library in "${PORT_LIBRARIES[@]}"; do
        port_library "$1" "$library" || return 1
        rm -f "$prefix/lib/lib$library".so*
    done
    port_module "$1" inih -linih
    port_module "$1" jansson -ljansson
    port_module "$1" check '-lcheck -pthread -lm -lrt'
    : >"$prefix/complete"
}

# port_environment PORT: how handlers are compiled for it. The emulated processor is not the compiler's own.
port_environment()
{
    GYRE_BACKEND__CPU__COMPILER="$(port_compiler "$1")"
    GYRE_BACKEND__CPU__COMPILER_OPTIONS=-O1
    GYRE_CACHE_DIR="$PWD/build/$1/cache" # what is remembered of plugins and kernels is the port's own
    export GYRE_CACHE_DIR GYRE_BACKEND__CPU__COMPILER GYRE_BACKEND__CPU__COMPILER_OPTIONS
}

# port_obstacle PORT: why the port cannot be tried here; nothing when it can.
port_obstacle()
{
    local log="build/ports/$1.log"
    mkdir -p build/ports
    if [[ -n "$(missing_packages optional "$1")" ]]; then
        echo "these packages are not there, and could not be installed: $(missing_packages optional "$1")"
    elif ! port_runs "$1"; then
        echo "a program that $(port_compiler "$1") makes does not run on this system"
    elif ! port_sources >"$log" 2>&1; then
        echo "the sources of ${PORT_LIBRARIES[*]} could not be fetched from the system's package archive ($log)"
    elif ! port_libraries "$1" >"$log" 2>&1; then
        echo "${PORT_LIBRARIES[*]} cannot be made for it ($log)"
    fi
}

# port_use PORT [workers]: the command, as a user has it (scripts/port_use.sh).
port_use()
{
    local log="build/ports/$1-use.log"
    if "${run_under[@]}" scripts/port_use.sh "build/$1/bin/gyre" "${@:2}" >"$log" 2>&1; then
        record "$1" passed "$1/use"
    else
        cat "$log" >&2
        record "$1" failed "$1/use" "see $log"
    fi
}

# Each port's tests.
port_tests()
{
    case "$1" in
    arm64) port_arm64_tests ;;
    musl)
        port_use musl workers
        stage_tests musl -R "$(musl_tests)"
        ;;
    esac
}

# Emulated, everything takes some ten times as long.
port_arm64_tests()
{
    local except=() patience
    patience="${GYRE_TEST_PATIENCE:-$(scripts/patience.sh)}"
    if scripts/with_arm64.sh true 2>/dev/null; then
        run_under=(scripts/with_arm64.sh)
        GYRE_TEST_PATIENCE=$((patience * 6)) port_use arm64
    else
        except=(-E "$PORT_STARTS_PROGRAMS")
        record arm64 skipped arm64/programs "this system does not let a program of arm64 start another one (binfmt_misc in a namespace)"
    fi
    GYRE_TEST_PATIENCE=$((patience * 6)) QEMU_LD_PREFIX=/usr/aarch64-linux-gnu stage_tests arm64 -R "$PORT_TESTS" "${except[@]}"
    run_under=()
}

# stage_port PORT
stage_port()
{
    local obstacle
    say "== the library, the CPU backend and the command for $1"
    need_packages "$1"
    obstacle="$(port_obstacle "$1")"
    if [[ -n "$obstacle" ]]; then
        record "$1" skipped "$1/all" "$obstacle"
        say "$1 is left out: $obstacle"
        return
    fi
    ! stage_build "$1" ported || (port_environment "$1" && port_tests "$1")
}
