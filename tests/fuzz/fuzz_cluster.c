/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes what members and clients of a cluster read from a transport: blocks of requests and replies, and the log of a shard's states. The
 * input is taken as one block as it is; and as a list of blocks (a byte of kind, two of length, contents), which get their heads and hashes, so
 * that what is behind them is reached.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/cluster/kept.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TABLE = 4096 };

static volatile uint64_t sink;

static void walk(struct gyre_cluster_walk *walk, const unsigned char *block, size_t size)
{
    uint64_t sum = 0;
    while (gyre_cluster_walk_next(walk)) {
        if (walk->contents < block || walk->contents + walk->message.length > block + size)
            abort();
        for (uint32_t i = 0; i < walk->message.length; i++)
            sum += walk->contents[i];
    }
    sink += sum;
}

static void read_messages(const unsigned char *block, size_t size)
{
    struct gyre_cluster_requests requests;
    struct gyre_cluster_replies replies;
    struct gyre_cluster_walk walked;
    if (gyre_cluster_requests_open(block, size, "fuzzed", &requests, &walked) == GYRE_OK)
        walk(&walked, block, size);
    if (gyre_cluster_replies_open(block, size, "fuzzed", &replies, &walked) == GYRE_OK)
        walk(&walked, block, size);
}

static void check(const struct gyre_kept *kept)
{
    if (kept->callers.count > GYRE_CALLERS_MAX ||
        kept->pending_bytes > TABLE + GYRE_CALLERS_MAX * sizeof(struct gyre_cluster_caller))
        abort();
    for (size_t i = 0; i < TABLE; i++)
        sink += kept->table[i];
}

/* A block of that kind with a hash that is right. */
static gyre_status take_sealed(struct gyre_kept *kept, uint64_t number, uint8_t kind, const uint8_t *contents,
                               size_t length)
{
    const size_t size = sizeof(struct gyre_block_head) + length;
    memcpy(kept->block + sizeof(struct gyre_block_head), contents, length);
    gyre_block_seal(kept->block, size, (enum gyre_block_kind)(kind % 10));
    read_messages(kept->block, size);
    return gyre_kept_take(kept, number, size);
}

static void read_states(const uint8_t *data, size_t size)
{
    struct gyre_kept kept;
    gyre_status status = gyre_kept_init(&kept, NULL, 1, TABLE);
    kept.epoch = 3;
    for (uint64_t number = 1; status == GYRE_OK && size >= 3; number++) {
        const size_t wanted = data[1] | (size_t)data[2] << 8, length = wanted < size - 3 ? wanted : size - 3;
        status = take_sealed(&kept, number, data[0], data + 3, length);
        check(&kept);
        data += 3 + length;
        size -= 3 + length;
    }
    gyre_kept_drop(&kept);
    gyre_kept_finish(&kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *copy = malloc(size + 1); /* aligned, and exactly as large for the sanitizer */
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    read_messages(copy, size);
    free(copy);
    read_states(data, size);
    gyre_error_clear();
    return 0;
}
