/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes both deserializers of the wire form: the first byte chooses a type of tests/unit/wire/wire_types.h,
 * the rest is what came over the wire. Both accept it or neither does; what they accept is a message whose
 * parts all lie in it, equal on both sides, and comes back from encoding; else the process aborts.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/wire/decode.h"
#include "cli/wire/description.h"
#include "cli/wire/encode.h"
#include "cli/wire/pack.h"
#include "core/base/error.h"
#include "core/types/message.h"
#include "generated.h"

enum { MESSAGE_MAX = 4096, WIRE_MAX = 65536 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static const gyre_pack *descriptions(void)
{
    static gyre_pack pack;
    if (pack.record_count == 0)
        check(gyre_pack_scan(&pack, WIRE_TYPES_H) == GYRE_OK);
    return &pack;
}

static const gyre_layout *layout_of(size_t number)
{
    static gyre_layout *layouts[GENERATED_COUNT];
    if (!layouts[number])
        check(gyre_layout_create_message(GENERATED[number].type, MESSAGE_MAX, &layouts[number]) == GYRE_OK);
    return layouts[number];
}

/* Wire forms may differ from what was read (both forms of text are), their contents not. */
static void check_comes_back(const generated_row *row, const gyre_layout *layout, const void *message)
{
    static uint8_t host[WIRE_MAX], generated[WIRE_MAX];
    static uint64_t again[MESSAGE_MAX / 8];
    size_t length = 0;
    gyre_wire_out out = {.bytes = generated, .room = WIRE_MAX};
    check(gyre_pack_encode(descriptions(), layout, message, host, WIRE_MAX, &length) == GYRE_OK);
    check(row->encode(&out, message) == length && memcmp(host, generated, length) == 0);
    check(gyre_pack_decode(descriptions(), layout, host, length, again) == GYRE_OK);
    check(memcmp(again, message, gyre_layout_length(layout, message)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint64_t host[MESSAGE_MAX / 8], generated[MESSAGE_MAX / 8];
    if (size == 0)
        return 0;
    const size_t number = data[0] % GENERATED_COUNT;
    const gyre_layout *layout = layout_of(number);
    const generated_row *row = &GENERATED[number];
    gyre_wire_in in = {.bytes = data + 1, .length = (gyre_u32)size - 1};
    const bool read = row->decode(&in, generated);
    const gyre_status status = gyre_pack_decode(descriptions(), layout, data + 1, size - 1, host);
    check(read == (status == GYRE_OK) && in.at <= in.length);
    if (!read)
        return 0;
    const uint64_t length = gyre_layout_length(layout, host);
    check(gyre_layout_check_message(layout, host, length) == GYRE_OK);
    check(memcmp(host, generated, length) == 0);
    check_comes_back(row, layout, host);
    return 0;
}
