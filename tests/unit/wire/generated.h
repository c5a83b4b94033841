/* SPDX-License-Identifier: Apache-2.0 */
/* The generated functions of wire_types.h as a table, for tests that go through all types. */
#ifndef GYRE_TESTS_WIRE_GENERATED_H
#define GYRE_TESTS_WIRE_GENERATED_H

#include "wire_types.h"
#include "wire_types.generated.h"

typedef struct generated_row {
    const gyre_type *type;
    gyre_u32 (*encode)(gyre_wire_out *out, const void *message);
    int (*decode)(gyre_wire_in *in, void *message);
} generated_row;

#define GENERATED_FUNCTIONS(name)                                                                            \
    static gyre_u32 encode_any_##name(gyre_wire_out *out, const void *message)                               \
    {                                                                                                        \
        return gyre_encode_##name(out, (const name *)message);                                               \
    }                                                                                                        \
    static int decode_any_##name(gyre_wire_in *in, void *message)                                            \
    {                                                                                                        \
        return gyre_decode_##name(in, (name *)message);                                                      \
    }
WIRE_TYPES(GENERATED_FUNCTIONS)

#define GENERATED_ROW(name) {GYRE_TYPE(name), encode_any_##name, decode_any_##name},
static const generated_row GENERATED[] = {WIRE_TYPES(GENERATED_ROW)};
enum { GENERATED_COUNT = sizeof GENERATED / sizeof GENERATED[0] };

#endif
