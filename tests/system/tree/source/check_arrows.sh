#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The architecture, checked: who may include whom, and which library has a single caller.
# usage: check_arrows.sh [TREE]; prints every violation with its rule, exits 1 when there is one.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
cd "${1:-.}"
violations=0

# Lines of FILE:LINE:CODE on stdin break the rule that is named.
report()
{
    local line
    while IFS= read -r line; do
        printf '%s\n    rule: %s\n' "$line" "$1"
        violations=$((violations + 1))
    done
}

# c_files FOLDER...: every C file below those folders that exist.
c_files()
{
    local folder
    for folder in "$@"; do
        [[ ! -d "$folder" ]] || find "$folder" -name '*.c' -o -name '*.h'
    done | sort
}

code()
{
    c_files "$@" | xargs -r awk -f "$here/code_view.awk"
}

includes()
{
    code "$@" | grep -E '^[^:]*:[0-9]+:[[:space:]]*#[[:space:]]*include' || true
}

except()
{
    grep -vE "$1" || true
}

only()
{
    grep -E "$1" || true
}

report "the core includes only itself and the public headers" \
    < <(includes core | only 'include[[:space:]]*"' | except 'include[[:space:]]*"(core|gyre)/')
report "the core contains no vendor's word, not even in a comment" \
    < <(c_files core | xargs -r grep -inE 'cuda|nvidia|nvrtc|opencl|pocl' || true)
report "a header of the public interface includes only public headers" \
    < <(includes include | only 'include[[:space:]]*"' | except 'include[[:space:]]*"gyre/')

for backend in backends/*/; do
    [[ -d "$backend" ]] || continue
    name="$(basename "$backend")"
    # backends/device is no backend: what several plugins compile in
    report "backend $name includes only itself, the shared part and the public headers: never the core, never another backend" \
        < <(includes "$backend" | only 'include[[:space:]]*"' |
            except "include[[:space:]]*\"(gyre/|backends/($name|device)/|[a-z0-9_]+\\.h\")")
done

# The inner folders of a backend, and those of the command, are layers, in the order in which docs/architecture.md has them.
if [[ -f docs/architecture.md ]]; then
    above=""
    while IFS= read -r folder; do
        [[ "$folder" == "${last:-}"/* ]] || { above="" && last="$(dirname "$folder")"; }
        [[ -z "$above" ]] || report "$folder includes none of the folders above it" < <(includes "$folder" | only "\"($above)/")
        above="${above:+$above|}$folder"
    done < <(sed -nE 's,^[|] .((backends/[a-z]+|cli)/[a-z]+)/. [|].*,\1,p' docs/architecture.md)
fi

for transport in transports/*/; do
    [[ -d "$transport" ]] || continue
    report "transport $transport includes only itself and the public headers" \
        < <(includes "$transport" | only 'include[[:space:]]*"' | except 'include[[:space:]]*"(gyre/|[a-z0-9_]+\.h")')
done

report "conformance tests know Gyre through its public headers alone; the false OpenCL library knows which functions the backend asks it for" \
    < <(includes tests/conformance | except '^tests/conformance/fake_opencl/.*opencl_loader\.h' | only 'include[[:space:]]*"' |
        except 'include[[:space:]]*"(gyre/|conformance/|kernels/|\.\./patience\.h|[a-z0-9_]+\.h")')
report "bindings know Gyre through its public headers alone" \
    < <(includes bindings | only 'include[[:space:]]*[<"]' | except 'include[[:space:]]*(<[a-z]+\.h>|<Python\.h>|<gyre/|"gyre/|"[a-z0-9_]+\.h")')
report "the command knows core/api/tools.h and taken.h, core/device/devices.h, of the rings core/ring/slot.h, of compiling its run and a build, of links core/links/wiring_config.h, and of types no header that makes layouts" \
    < <(includes cli | only '"core/(api|device|kernel|links|durability|recovery|ring|queue|stages|pipeline)/|"core/types/(arena|builder|describe|expression|parts|place)\.h' |
        except '"core/(api/(tools|taken)|device/devices|ring/slot|pipeline/(pipeline|build)|links/wiring_config)\.h"')
report "only core/loader calls dlopen" \
    < <(code core backends cli | only '[^a-z_](dlopen|dlmopen)[[:space:]]*\(' | except '^core/loader/')
report "only one file of core/loader calls dlopen" \
    < <(code core/loader | only '[^a-z_](dlopen|dlmopen)[[:space:]]*\(' | cut -d: -f1 | sort -u | tail -n +2)
report "only core/config includes ini.h" \
    < <(includes core backends cli include | only '[<"]ini\.h' | except '^core/config/')
report "only one file of core/config includes ini.h" \
    < <(includes core/config | only '[<"]ini\.h' | cut -d: -f1 | sort -u | tail -n +2)
report "threads are started by gyre_thread_start, which leaves the program's signals to the program's own" \
    < <(code core backends | only '[^a-z_](pthread_create|thrd_create)[[:space:]]*\(')
report "the library never prints, exits or aborts: errors are returned" \
    < <(code core backends |
        only '[^a-z_](printf|vprintf|puts|putchar|perror|exit|quick_exit|abort|assert)[[:space:]]*\(|[^a-z_](stdout|stderr)[^a-z_]')

# The layers from an application's call down to the rings: a folder includes folders behind it in this list, none before it.
above=""
for layer in cluster attach api recovery durability links change kernel device plan stages queue ring base; do
    [[ -z "$above" ]] || report "core/$layer includes none of the layers above it" < <(includes "core/$layer" | only "\"core/($above)/")
    above="${above:+$above|}$layer"
done

# A loop between the core's folders is an arrow that goes both ways.
loop="$(includes core | sed -nE 's,^core/([a-z]+)/.*"core/([a-z]+)/.*,\1 \2,p' | sort -u | awk '$1 != $2' |
    tsort 2>&1 >/dev/null | tr '\n' ' ' || true)"
[[ -z "$loop" ]] || report "arrows between the core's folders go one way" <<<"core: $loop"

if ((violations > 0)); then
    echo "$violations violations"
    exit 1
fi
echo "all arrows go the right way"
