/* SPDX-License-Identifier: Apache-2.0 */
/* Every atomic on every type. */
#include <gyre/kernel.h>

#include "atomics.h"

/* What any order of the lanes leaves the same. */
#define ALL_ATOMICS(T, value)                                                                                \
    do {                                                                                                     \
        gyre_atomic_add(&state->T##_sum, value);                                                             \
        gyre_atomic_sub(&state->T##_difference, value);                                                      \
        gyre_atomic_min(&state->T##_least, value);                                                           \
        gyre_atomic_max(&state->T##_most, value);                                                            \
        gyre_atomic_and(&state->T##_and, value);                                                             \
        gyre_atomic_or(&state->T##_or, value);                                                               \
        gyre_atomic_xor(&state->T##_xor, value);                                                             \
        gyre_atomic_exchange(&state->T##_swapped, (T)77);                                                    \
        T seen = gyre_atomic_load(&state->T##_cas);                                                          \
        for (;;) {                                                                                           \
            const T found = gyre_atomic_compare_exchange(&state->T##_cas, seen, (T)(seen + 3));              \
            if (found == seen)                                                                               \
                break;                                                                                       \
            seen = found;                                                                                    \
        }                                                                                                    \
        gyre_atomic_store(&state->T##_stored, (T)-5);                                                        \
    } while (0)

GYRE_KERNEL_WITH(atomics, atomics_request, atomics_reply, atomics_state, gyre_none)
{
    ALL_ATOMICS(u32, request->u);
    ALL_ATOMICS(i32, request->i);
    ALL_ATOMICS(u64, request->w);
    ALL_ATOMICS(i64, request->l);
    gyre_atomic_add_f32(&state->f32_sum, request->f);
    reply->ok = 1;
    return GYRE_REPLY;
}
