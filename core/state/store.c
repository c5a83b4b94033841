/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps checkpoints in memory (store.h). Takes no lock: its callers call one at a time. */
#include "core/state/store.h"

#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/base/error.h"

static unsigned char *half(const struct gyre_store *store, uint64_t number)
{
    return (unsigned char *)store->region.address + number % 2 * store->blocks * GYRE_STORE_BLOCK;
}

gyre_status gyre_store_create(uint64_t size, struct gyre_store *out)
{
    struct gyre_store store = {.region = GYRE_REGION_NONE, .size = size};
    *out = store;
    store.blocks = (size + GYRE_STORE_BLOCK - 1) / GYRE_STORE_BLOCK;
    gyre_status status =
        gyre_region_create("checkpoints", 2 * store.blocks * GYRE_STORE_BLOCK, &store.region);
    if (status != GYRE_OK)
        return status;
    store.hashes[0] = calloc(store.blocks, sizeof(uint64_t));
    store.hashes[1] = calloc(store.blocks, sizeof(uint64_t));
    if (!store.hashes[0] || !store.hashes[1]) {
        gyre_store_destroy(&store);
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for checkpoints of %llu bytes",
                              (unsigned long long)size);
    }
    *out = store;
    return GYRE_OK;
}

void gyre_store_destroy(struct gyre_store *store)
{
    free(store->hashes[0]);
    free(store->hashes[1]);
    store->hashes[0] = store->hashes[1] = NULL;
    if (store->region.address)
        gyre_region_destroy(&store->region);
}

uint64_t gyre_store_block_size(const struct gyre_store *store, uint64_t block)
{
    uint64_t begin = block * GYRE_STORE_BLOCK;
    return store->size - begin < GYRE_STORE_BLOCK ? store->size - begin : GYRE_STORE_BLOCK;
}

static uint64_t hash_block(const struct gyre_store *store, uint64_t number, uint64_t block)
{
    return XXH3_64bits(half(store, number) + block * GYRE_STORE_BLOCK, gyre_store_block_size(store, block));
}

unsigned char *gyre_store_next(const struct gyre_store *store)
{
    return half(store, store->number + 1);
}

void gyre_store_seal(struct gyre_store *store)
{
    uint64_t number = store->number + 1;
    for (uint64_t block = 0; block < store->blocks; block++)
        store->hashes[number % 2][block] = hash_block(store, number, block);
    store->sums[number % 2] = XXH3_64bits(store->hashes[number % 2], store->blocks * sizeof(uint64_t));
}

void gyre_store_commit(struct gyre_store *store)
{
    store->number++;
}

void gyre_store_clear(struct gyre_store *store)
{
    store->number = 0;
}

const unsigned char *gyre_store_last(const struct gyre_store *store)
{
    const uint64_t *hashes = store->hashes[store->number % 2];
    if (!store->number ||
        XXH3_64bits(hashes, store->blocks * sizeof *hashes) != store->sums[store->number % 2])
        return NULL;
    for (uint64_t block = 0; block < store->blocks; block++)
        if (hash_block(store, store->number, block) != hashes[block])
            return NULL;
    return half(store, store->number);
}

bool gyre_store_changed(const struct gyre_store *store, uint64_t block)
{
    return store->number < 2 || store->hashes[0][block] != store->hashes[1][block];
}
