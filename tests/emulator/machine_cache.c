/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first-level cache of a block: sectors of 32 bytes in lines of 128. It keeps what weak loads brought until
 * something acquires, however often others store there meanwhile; that is what a device may do, and does. Only the
 * block's own thread comes here.
 */
#include "machine_core.h"

#include <stdlib.h>
#include <string.h>

bool machine_cache_init(struct cache *cache, uint64_t seed)
{
    *cache = (struct cache){.lines = calloc(CACHE_LINES, sizeof *cache->lines), .age = 1, .random = seed | 1};
    return cache->lines != NULL;
}

void machine_cache_finish(struct cache *cache)
{
    free(cache->lines);
}

static struct cache_line *set_of(struct cache *cache, uint64_t line)
{
    return cache->lines +
           line / CACHE_LINE * UINT64_C(0x9e3779b97f4a7c15) % (CACHE_LINES / CACHE_WAYS) * CACHE_WAYS;
}

static struct cache_line *find(struct cache *cache, uint64_t line)
{
    struct cache_line *set = set_of(cache, line);
    for (int way = 0; way < CACHE_WAYS; way++)
        if (set[way].tag == line + 1 && set[way].age == cache->age)
            return &set[way];
    return NULL;
}

/* A line that is gone already, else any: by chance, as long as the seed stays the same chance. */
static struct cache_line *take(struct cache *cache, uint64_t line)
{
    struct cache_line *set = set_of(cache, line), *taken = NULL;
    for (int way = 0; way < CACHE_WAYS; way++)
        if (set[way].tag == 0 || set[way].age != cache->age)
            taken = &set[way];
    if (!taken)
        taken = &set[machine_random(&cache->random) % CACHE_WAYS];
    taken->tag = line + 1;
    taken->age = cache->age;
    taken->sectors = 0;
    return taken;
}

/* The block's own stores are in what it sees, also those that are on their way. */
static void fetch(uint8_t *to, struct stores *stores, uint64_t from)
{
    for (uint64_t at = 0; at < CACHE_SECTOR; at += sizeof(machine_pair)) {
        machine_pair pair = machine_load_pair((const void *)(uintptr_t)(from + at));
        for (uint64_t word = 0; stores->count && word < 2; word++)
            pair[word] = machine_stores_overlay(stores, from + at + word * 8, pair[word], 8);
        memcpy(to + at, &pair, sizeof pair);
    }
}

const uint8_t *machine_cache_load(struct cache *cache, struct stores *stores, uint64_t address)
{
    const uint64_t line = address & ~(uint64_t)(CACHE_LINE - 1);
    const uint32_t sector = (uint32_t)(address - line) / CACHE_SECTOR;
    struct cache_line *found = find(cache, line);
    if (!found)
        found = take(cache, line);
    if (!(found->sectors >> sector & 1)) {
        fetch(found->bytes + sector * CACHE_SECTOR, stores, line + sector * CACHE_SECTOR);
        found->sectors |= 1u << sector;
    }
    return found->bytes + (address - line);
}

void machine_cache_store(struct cache *cache, uint64_t address, const void *bytes, uint32_t size)
{
    const uint64_t line = address & ~(uint64_t)(CACHE_LINE - 1);
    struct cache_line *found = find(cache, line);
    if (found)
        memcpy(found->bytes + (address - line), bytes, size);
}

void machine_cache_drop(struct cache *cache, uint64_t address)
{
    const uint64_t line = address & ~(uint64_t)(CACHE_LINE - 1);
    struct cache_line *found = find(cache, line);
    if (found)
        found->sectors &= ~(1u << (address - line) / CACHE_SECTOR);
}
