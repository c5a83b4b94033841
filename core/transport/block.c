/* SPDX-License-Identifier: Apache-2.0 */
/* Seals and checks blocks (block.h). Pure functions. */
#include "core/transport/block.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/base/error.h"

static uint64_t hash_of(const struct gyre_block_head *head, const unsigned char *bytes, size_t size)
{
    struct gyre_block_head plain = *head;
    plain.hash = 0;
    return XXH3_64bits_withSeed(bytes + sizeof plain, size - sizeof plain, XXH3_64bits(&plain, sizeof plain));
}

void gyre_block_seal(void *block, size_t size, enum gyre_block_kind kind)
{
    struct gyre_block_head head = {
        .magic = GYRE_BLOCK_MAGIC, .version = GYRE_BLOCK_VERSION, .kind = (uint16_t)kind, .size = size};
    head.hash = hash_of(&head, block, size);
    memcpy(block, &head, sizeof head);
}

gyre_status gyre_block_check(const void *bytes, size_t size, enum gyre_block_kind kind, size_t least,
                             const char *where, enum gyre_block_kind *found)
{
    struct gyre_block_head head;
    if (size < sizeof head)
        return gyre_error_set(GYRE_INCOMPATIBLE, "%s: expected a block of Gyre, found %zu bytes", where,
                              size);
    memcpy(&head, bytes, sizeof head);
    if (head.magic != GYRE_BLOCK_MAGIC)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "%s: expected a block of Gyre (0x%08x), found 0x%08x: something else writes here", where,
            GYRE_BLOCK_MAGIC, head.magic);
    if (head.version != GYRE_BLOCK_VERSION)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "%s: written in form %u, and this Gyre knows form %d: let all members and clients be of "
            "one version",
            where, head.version, GYRE_BLOCK_VERSION);
    if (head.size != size || head.hash != hash_of(&head, bytes, size))
        return gyre_error_set(GYRE_INCOMPATIBLE, "%s: damaged: its checksum is not that of its %zu bytes",
                              where, size);
    if ((kind && head.kind != kind) || size < least)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "%s: expected a block of kind %d with %zu bytes or more, found kind %u with %zu", where,
            (int)kind, least, head.kind, size);
    if (found)
        *found = (enum gyre_block_kind)head.kind;
    return GYRE_OK;
}
