/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the JSON message reader. The first byte chooses a message type, the rest is the text. What is
 * accepted is written and read again: text and bytes have to come out the same, or the process aborts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json/message_json.h"
#include "core/base/error.h"

#define POINT(FIELD) FIELD(f32, x) FIELD(f64, y)
GYRE_MESSAGE(point, POINT)
#define SHAPE(FIELD) FIELD(u8, name[8]) FIELD(point, corners[2]) FIELD(i16, grid[2][3])
GYRE_MESSAGE(shape, SHAPE)
#define INTEGERS(FIELD)                                                                                      \
    FIELD(i8, a)                                                                                             \
    FIELD(i16, b) FIELD(i32, c) FIELD(i64, d) FIELD(u8, e) FIELD(u16, f) FIELD(u32, g) FIELD(u64, h)
GYRE_MESSAGE(integers, INTEGERS)

enum { TYPE_COUNT = 7, MESSAGE_MAX = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const gyre_layout *layout_at(size_t index)
{
    static const gyre_type *const types[TYPE_COUNT] = {
        GYRE_TYPE(point), GYRE_TYPE(shape), GYRE_TYPE(integers), GYRE_TYPE(f32),
        GYRE_TYPE(u64),   GYRE_TYPE(i64),   GYRE_TYPE(gyre_none)};
    static gyre_layout *layouts[TYPE_COUNT];
    if (!layouts[index] && gyre_layout_create(types[index], MESSAGE_MAX, &layouts[index]) != GYRE_OK)
        abort();
    return layouts[index];
}

static char *write_text(const gyre_layout *layout, const void *message, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (!out)
        abort();
    message_json_write(layout, message, out);
    if (fclose(out) != 0)
        abort();
    return text;
}

/* NaN loses its payload at the first reading, so the text of the first writing is what has to stay. */
static void check_round_trip(const gyre_layout *layout, const void *message)
{
    unsigned char again[MESSAGE_MAX];
    size_t length, again_length;
    char *text = write_text(layout, message, &length);
    if (message_json_read(layout, text, length, again) != GYRE_OK)
        abort();
    char *again_text = write_text(layout, again, &again_length);
    if (length != again_length || memcmp(text, again_text, length) != 0 ||
        memcmp(message, again, layout->size) != 0)
        abort();
    free(text);
    free(again_text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char message[MESSAGE_MAX];
    if (size == 0)
        return 0;
    const gyre_layout *layout = layout_at(data[0] % TYPE_COUNT);
    gyre_error_clear();
    if (message_json_read(layout, (const char *)data + 1, size - 1, message) == GYRE_OK)
        check_round_trip(layout, message);
    else if (gyre_error_status() == GYRE_OK || !*gyre_error_text())
        abort(); /* refused without a sentence */
    return 0;
}
