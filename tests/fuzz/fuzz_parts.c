/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the check of a message's parts: the first byte chooses a shape, the rest is the message. The host's
 * check (core/types) and the one that runs before a handler (dialect/parts.h) have to agree, and what they
 * accept is read to the last byte by writing it as JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json/message_json.h"

#include <gyre/kernel.h> /* behind the host's headers: a handler's GYRE_FAILED is another one */

#include "core/types/far.h"
#include "core/types/message.h"
#include "shapes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct shape {
    const gyre_type *type;
    int (*admit)(gyre_context *context, const void *message);
    gyre_layout *layout;
} shape;

#define ADMIT(name)                                                                                          \
    static int name##_admit(gyre_context *context, const void *message)                                      \
    {                                                                                                        \
        return gyre_admit_##name(context, message);                                                          \
    }
S_SHAPES(ADMIT)

static shape *shape_at(size_t number)
{
#define ROW(name) {GYRE_TYPE(name), name##_admit, NULL},
    static shape shapes[] = {S_SHAPES(ROW)};
    shape *found = &shapes[number % (sizeof shapes / sizeof shapes[0])];
    if (!found->layout &&
        gyre_layout_create_message(found->type, GYRE_MESSAGE_MAX, &found->layout) != GYRE_OK)
        abort();
    return found;
}

static void read_all(const gyre_layout *layout, const void *message)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        abort();
    message_json_write(layout, message, out);
    fclose(out);
    free(text);
}

/* The device's table of buffers: one, whose name and address a seed may hold, of zeros. */
static const gyre_control_handle *table(void)
{
    static gyre_control_handle handles[GYRE_HANDLES_MAX];
    static const u64 words[8];
    handles[1] = (gyre_control_handle){.id = 1, .address = (u64)(uintptr_t)words, .size = sizeof words};
    return handles;
}

/* Far parts say where the host takes that from; it cannot know whether the device has such a buffer. */
static void settle(void *context, gyre_far *far)
{
    const gyre_control_handle *handles = context;
    if (far->handle.id == 1)
        far->address = handles[1].address + far->handle.offset;
}

/* Both checks agree, but for names of buffers: only the device knows these. */
static int agree(int host, int device, int code)
{
    if (device)
        return host;
    return code == GYRE_FAILURE_BUFFER || (!host && code == GYRE_FAILURE_PART);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gyre_context context = {.handles = table()};
    if (size == 0)
        return 0;
    const shape *shape = shape_at(data[0]);
    uint64_t length = size - 1;
    if (length < shape->layout->least || length > shape->layout->size)
        return 0;
    void *message = malloc(length); /* of its own size: the sanitizer sees what is read behind it */
    if (!message)
        abort();
    memcpy(message, data + 1, length);
    if (shape->layout->tail)
        memcpy(message, &(uint32_t){(uint32_t)length}, sizeof(uint32_t));
    gyre_layout_visit_far(shape->layout, message, length, settle, (void *)(uintptr_t)table());
    int host = gyre_layout_check_message(shape->layout, message, length) == GYRE_OK;
    if (length == shape->layout->size || shape->layout->tail) {
        if (!agree(host, shape->admit(&context, message), context.fail_code))
            abort();
        if (host)
            read_all(shape->layout, message);
    }
    free(message);
    return 0;
}
