/* SPDX-License-Identifier: Apache-2.0 */
/* How an operation of single lanes becomes one of a warp. Private to the files ops_*.c. */
#ifndef GYRE_TESTS_EMULATOR_OPS_H
#define GYRE_TESTS_EMULATOR_OPS_H

#include "machine_core.h"
#include "ptx_operation.h"

/* Lanes do not depend on each other: a result may stand where a source of the same lane stood. */
#ifdef __clang__
#define LANES_APART /* its hint for this warns wherever a loop cannot be made wide */
#else
#define LANES_APART _Pragma("GCC ivdep")
#endif

/* What `do_` says with `l` for each lane of `mask`; whole warps in a loop that compilers make wide. */
#define MAP(do_)                                                                                             \
    if (mask == UINT32_MAX) {                                                                                \
        LANES_APART                                                                                          \
        for (uint32_t l = 0; l < LANES; l++) {                                                               \
            do_;                                                                                             \
        }                                                                                                    \
    } else {                                                                                                 \
        FOR_LANES(l, mask)                                                                                   \
        {                                                                                                    \
            do_;                                                                                             \
        }                                                                                                    \
    }

/* Products of 64-bit numbers. */
__extension__ typedef __int128 wide_signed;
__extension__ typedef unsigned __int128 wide_unsigned;

#define RUN(name_) static void name_(struct warp *warp, const struct instruction *i, uint32_t mask)

#define UNARY(name_, type_, to_, value_)                                                                     \
    RUN(name_)                                                                                               \
    {                                                                                                        \
        uint64_t *d = lanes_at(warp, i->o[0]);                                                               \
        const uint64_t *a = lanes_at(warp, i->o[1]);                                                         \
        MAP(const type_ x = (type_)a[l]; d[l] = (to_)(value_))                                               \
    }
#define BINARY(name_, type_, to_, value_)                                                                    \
    RUN(name_)                                                                                               \
    {                                                                                                        \
        uint64_t *d = lanes_at(warp, i->o[0]);                                                               \
        const uint64_t *a = lanes_at(warp, i->o[1]), *b = lanes_at(warp, i->o[2]);                           \
        MAP(const type_ x = (type_)a[l]; const type_ y = (type_)b[l]; d[l] = (to_)(value_))                  \
    }
#define TERNARY(name_, type_, to_, value_)                                                                   \
    RUN(name_)                                                                                               \
    {                                                                                                        \
        uint64_t *d = lanes_at(warp, i->o[0]);                                                               \
        const uint64_t *a = lanes_at(warp, i->o[1]), *b = lanes_at(warp, i->o[2]),                           \
                       *c = lanes_at(warp, i->o[3]);                                                         \
        MAP(const type_ x = (type_)a[l]; const type_ y = (type_)b[l]; const type_ z = (type_)c[l];           \
            d[l] = (to_)(value_))                                                                            \
    }

#endif
