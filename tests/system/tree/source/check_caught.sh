#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every rule of check_arrows.sh, check_text.sh, check_keys.sh and check_architecture.sh must catch a tree that breaks it, and let a clean one pass.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
tree="$(mktemp -d)"
trap 'rm -rf "$tree"' EXIT
failed=0
spdx='/* SPDX-License-Identifier: Apache-2.0 */'

clean_tree()
{
    rm -rf "${tree:?}"/*
    mkdir -p "$tree"/core/{base,config,loader} "$tree"/backends/{one,two} "$tree"/include/gyre \
        "$tree"/tests/conformance
    printf '#include "core/base/b.h"\n/* dlopen( is called here */\nint f(void) { return g("stderr"); }\n' \
        >"$tree/core/config/a.c"
    printf '#include <dlfcn.h>\nvoid *h(void) { return dlopen("x", 0); }\n' >"$tree/core/loader/l.c"
    printf '#include <ini.h>\n' >"$tree/core/config/ini.c"
    printf '#include "gyre/backend.h"\n#include "own.h"\n' >"$tree/backends/one/one.c"
    mkdir -p "$tree"/docs "$tree"/backends/one/{high,low} "$tree"/cli/{high,low}
    # shellcheck disable=SC2016 # a page with backticks
    printf '%s\n' '| `backends/one/high/` | |' '| `backends/one/low/` | |' '| `cli/high/` | |' '| `cli/low/` | |' >"$tree/docs/architecture.md"
    printf '#include "backends/one/low/x.h"\n' >"$tree/backends/one/high/high.c"
}

# caught_text NAME TEXT: a header or source of this text must be reported, with its name.
caught_text()
{
    clean_text
    printf '%b\n' "$2" >"$tree/core/base/$1"
    if bash "$here/check_text.sh" "$tree" >"$tree/out" || ! grep -q "core/base/$1" "$tree/out"; then
        echo "not caught: $1: $2"
        failed=1
    fi
}

clean_text()
{
    rm -rf "${tree:?}"/*
    mkdir -p "$tree/core/base"
    printf '%s\n#ifndef A_H\n#define A_H\n#define U "http://x"\n#endif\n' "$spdx" >"$tree/core/base/a.h"
}

# caught FILE TEXT: adding this text to this file of a clean tree must be reported.
caught()
{
    clean_tree
    mkdir -p "$(dirname "$tree/$1")"
    printf '%b\n' "$2" >>"$tree/$1"
    if bash "$here/check_arrows.sh" "$tree" >"$tree/out" || ! grep -q 'rule:' "$tree/out"; then
        echo "not caught: $1: $2"
        failed=1
    fi
}

clean_tree
bash "$here/check_arrows.sh" "$tree" || failed=1
caught core/base/x.c '#include "backends/one/one.h"'
caught core/base/x.c '#include "cli/x.h"'
caught core/base/x.c '/* as on CUDA */'
caught core/base/x.c 'enum { OPENCL_THING };'
caught backends/one/x.c '#include "core/base/b.h"'
caught bindings/python/native/x.c '#include "core/queue/queue.h"'
caught backends/one/x.c '#include "backends/two/x.h"'
caught backends/one/low/x.c '#include "backends/one/high/x.h"'
caught tests/conformance/x.c '#include "core/base/b.h"'
caught include/gyre/x.h '#include "core/base/b.h"'
caught cli/low/x.c '#include "cli/high/x.h"'
caught cli/x.c 'void *p(void) { return dlopen("x", 1); }'
caught backends/one/x.c 'void *p(void) { return dlopen("x", 1); }'
caught core/loader/x.c 'void *p(void) { return dlopen("x", 1); }'
caught core/base/x.c '#include <ini.h>'
caught core/config/x.c '#include <ini.h>'
caught core/base/x.c 'void p(void) { abort(); }'
caught backends/one/x.c 'int p(pthread_t *t) { return pthread_create(t, 0, f, 0); }'
caught core/base/x.c 'void p(void) { fprintf(stderr, "x"); }'
caught core/base/b.h '#include "core/config/a.h"'
caught core/kernel/x.c '#include "core/recovery/x.h"'
caught core/queue/x.c '#include "core/kernel/x.h"'

clean_text
bash "$here/check_text.sh" "$tree" || failed=1
caught_text x.c 'int x;'
caught_text x.c "$spdx\nint x; // why"
caught_text x.c "$spdx\n/* TODO: more */"
caught_text x.c "$spdx\n$(yes '\n' | head -n 801 | tr -d '\n')"
caught_text x.h "$spdx\n#pragma once"
caught_text x.h "$spdx\n#ifndef X_H\n#define Y_H\n#endif"

clean_tree
printf '     .key = "used",\n     .key = "idle",\n' >"$tree/core/config/table.c"
printf 'int u(void) { return g("used"); }\n' >"$tree/core/base/u.c"
if bash "$here/check_keys.sh" "$tree" >"$tree/out" || [[ "$(grep -c 'has no effect' "$tree/out")" != 1 ]]; then
    echo "not caught: a key that nobody reads"
    failed=1
fi

# caught_page SENTENCE: of the tree as it is.
caught_page()
{
    if bash "$here/check_architecture.sh" "$tree" >"$tree/out" || ! grep -qF "$1" "$tree/out"; then
        echo "not caught by check_architecture.sh: $1"
        failed=1
    fi
}

# shellcheck disable=SC2016 # backquotes of the page
page_tree()
{
    rm -rf "${tree:?}"/*
    mkdir -p "$tree"/docs "$tree"/core/ring "$tree"/backends/one "$tree"/include/gyre
    printf '%s\n' '| `core/ring/` | queues |' '| programs | `gyre.h` |' '### Inside core/ring' '| Files | |' '|---|---|' \
        '| `a.c`, `a.h` | one `b.c` |' '### Inside the backends' '| `backends/one/` | |' '|---|---|' '| `c.c` | c |' \
        '## More' '| `d.c` | no file of a table |' >"$tree/docs/architecture.md"
    touch "$tree"/core/ring/a.{c,h} "$tree"/backends/one/c.c "$tree"/include/gyre/gyre.h
}

page_tree
bash "$here/check_architecture.sh" "$tree" || failed=1
touch "$tree/core/ring/b.c" "$tree/backends/one/a.c" "$tree/include/gyre/b.h"
mkdir "$tree/core/base"
caught_page 'has no line for core/ring/b.c'
caught_page 'has no line for backends/one/a.c'
caught_page 'has no line for core/base/'
caught_page 'does not say for whom include/gyre/b.h is'
page_tree
rm "$tree/core/ring/a.h"
caught_page 'names core/ring/a.h, which is not there'
exit "$failed"
