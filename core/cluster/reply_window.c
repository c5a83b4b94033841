/* SPDX-License-Identifier: Apache-2.0 */
/* See reply_window.h. */
#include "core/cluster/reply_window.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

bool gyre_window_has_room(const struct gyre_reply_window *window, size_t size)
{
    return !window->count ||
           (window->count < GYRE_WINDOW_BLOCKS && window->bytes + size <= GYRE_WINDOW_BYTES);
}

uint32_t gyre_window_unsettled(const struct gyre_reply_window *window,
                               const unsigned char client[GYRE_CLIENT_ID_SIZE], uint64_t first)
{
    for (uint32_t i = 0; i < window->count; i++) {
        const struct gyre_window_block *block = &window->blocks[(window->oldest + i) % GYRE_WINDOW_BLOCKS];
        if (memcmp(block->client, client, GYRE_CLIENT_ID_SIZE) == 0)
            return (uint32_t)(first - block->first);
    }
    return 0;
}

gyre_status gyre_window_begin(struct gyre_reply_window *window, struct gyre_transport *transport,
                              const unsigned char client[GYRE_CLIENT_ID_SIZE], uint64_t first,
                              const void *bytes, size_t size)
{
    struct gyre_window_block *block = gyre_window_at(window, window->count);
    *block = (struct gyre_window_block){.bytes = malloc(size), .size = size, .first = first};
    if (!block->bytes)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a block of replies");
    memcpy(block->bytes, bytes, size);
    memcpy(block->client, client, GYRE_CLIENT_ID_SIZE);
    block->entry = (gyre_transport_entry){.log = gyre_cluster_client_name(block->log, client),
                                          .block = {.size = sizeof block->entry.block,
                                                    .bytes = block->bytes,
                                                    .byte_count = size,
                                                    .expected = GYRE_TRANSPORT_ANY}};
    const gyre_status status = gyre_transport_begin(transport, &block->entry, 1, &block->ticket);
    if (status != GYRE_OK) {
        free(block->bytes);
        return status;
    }
    window->count++;
    window->bytes += size;
    return GYRE_OK;
}

gyre_status gyre_window_ask(struct gyre_window_block *block, struct gyre_transport *transport,
                            uint64_t deadline_ns)
{
    const gyre_status status =
        block->ticket ? gyre_transport_finish(transport, block->ticket, deadline_ns) : GYRE_OK;
    if (status == GYRE_OK)
        block->ticket = NULL;
    return status;
}

bool gyre_window_is_kept(struct gyre_reply_window *window)
{
    const struct gyre_window_block *block = gyre_window_at(window, 0);
    return block->entry.status == GYRE_OK && block->entry.number > block->behind;
}

/* Tells the next block to the same client where the oldest one is. */
static void tell_number(struct gyre_reply_window *window)
{
    const struct gyre_window_block *oldest = gyre_window_at(window, 0);
    uint32_t at = 1;
    while (at < window->count &&
           memcmp(gyre_window_at(window, at)->client, oldest->client, GYRE_CLIENT_ID_SIZE) != 0)
        at++;
    if (at < window->count)
        gyre_window_at(window, at)->behind = oldest->entry.number;
}

void gyre_window_pass(struct gyre_reply_window *window, struct gyre_transport *transport)
{
    struct gyre_window_block *block = gyre_window_at(window, 0);
    if (block->ticket)
        gyre_transport_drop(transport, block->ticket);
    tell_number(window);
    free(block->bytes);
    window->bytes -= block->size;
    window->oldest = (window->oldest + 1) % GYRE_WINDOW_BLOCKS;
    window->count--;
}
