/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and stores. Loads go from the first lane to the last and within a lane from the first word, stores the other
 * way: so that what a line holds last in memory, its sequence, is there last. 16 bytes of global memory are one access. Weak
 * loads are served from the block's cache. The order of this processor (loads in order, stores in order) is stronger than a
 * device's.
 */
#include "ops_memory.h"

#include <string.h>

static struct where fault(struct warp *warp, const struct instruction *i, enum machine_fault_kind kind,
                          uint32_t lane, uint64_t address)
{
    machine_fault(warp, i, kind, lane, address);
    return (struct where){NULL, false};
}

static struct where shared_at(struct warp *warp, const struct instruction *i, uint32_t lane, uint64_t address,
                              uint32_t size)
{
    struct block *block = warp->block;
    if (address < SHARED_BEGIN || address - SHARED_BEGIN > block->shared_size ||
        block->shared_size - (address - SHARED_BEGIN) < size)
        return fault(warp, i, MACHINE_ILLEGAL_ADDRESS, lane, address);
    return (struct where){block->shared + (address - SHARED_BEGIN), false};
}

static struct where local_at(struct warp *warp, const struct instruction *i, uint32_t lane, uint64_t address,
                             uint32_t size)
{
    if (address > warp->local_size || warp->local_size - address < size)
        return fault(warp, i, MACHINE_ILLEGAL_ADDRESS, lane, address);
    return (struct where){warp->local + (uint64_t)lane * warp->local_size + address, false};
}

/* Parameters are read only; a generic pointer to them is one to global memory. */
static struct where param_at(struct warp *warp, const struct instruction *i, uint32_t lane, uint64_t address,
                             uint32_t size)
{
    const struct machine_grid *grid = warp->block->grid;
    if (address > grid->function->parameters_size || grid->function->parameters_size - address < size)
        return fault(warp, i, MACHINE_ILLEGAL_ADDRESS, lane, address);
    return (struct where){grid->parameters + address, false};
}

static struct where global_at(struct warp *warp, const struct instruction *i, uint32_t lane, uint64_t address,
                              uint32_t size)
{
    /* what was found counts, even if the list has changed since */
    if (!in_range(&warp->range, address, size) &&
        !(machine_memory_find(address, &warp->range) && covers(&warp->range, address, size)))
        return fault(warp, i, MACHINE_ILLEGAL_ADDRESS, lane, address);
    return (struct where){(void *)(uintptr_t)address, true}; /* NOLINT(performance-no-int-to-ptr) */
}

static struct where generic_at(struct warp *warp, const struct instruction *i, uint32_t lane,
                               uint64_t address, uint32_t size)
{
    const struct block *block = warp->block;
    const uint64_t shared = address - (uintptr_t)block->shared;
    const uint64_t local = address - (uintptr_t)warp->local;
    const uint64_t param = address - (uintptr_t)block->grid->parameters;
    if (shared < block->shared_size)
        return shared_at(warp, i, lane, shared + SHARED_BEGIN, size);
    if (local < (uint64_t)warp->local_size * LANES) /* another lane's is not this one's to touch */
        return local_at(warp, i, lane, local - (uint64_t)lane * warp->local_size, size);
    if (param < block->grid->function->parameters_size)
        return param_at(warp, i, lane, param, size);
    return global_at(warp, i, lane, address, size);
}

struct where memory_at(struct warp *warp, const struct instruction *i, uint32_t lane, uint64_t address,
                       uint32_t size, enum space space)
{
    if (address & (size - 1))
        return fault(warp, i, MACHINE_MISALIGNED, lane, address);
    switch (space) {
    case SPACE_SHARED:
        return shared_at(warp, i, lane, address, size);
    case SPACE_LOCAL:
        return local_at(warp, i, lane, address, size);
    case SPACE_PARAM:
        return param_at(warp, i, lane, address, size);
    case SPACE_GLOBAL:
        return global_at(warp, i, lane, address, size);
    case SPACE_GENERIC:
        break;
    }
    return generic_at(warp, i, lane, address, size);
}

static inline uint64_t extended(uint64_t value, const struct instruction *i)
{
    if (!i->access.extend)
        return value;
    const uint32_t unused = 64 - i->access.size * 8u;
    const uint64_t wide = (uint64_t)((int64_t)(value << unused) >> unused);
    return i->access.extend == 32 ? (uint32_t)wide : wide;
}

/* Whole sectors only: what lies around a small variable is not the kernel's to fetch. */
static inline const uint8_t *cached(struct warp *warp, const void *at)
{
    const uint64_t address = (uintptr_t)at, sector = address & ~(uint64_t)(CACHE_SECTOR - 1);
    if (!in_range(&warp->range, sector, CACHE_SECTOR))
        return NULL;
    return machine_cache_load(&warp->block->cache, &warp->block->stores, address);
}

static inline bool is_pair(const struct instruction *i, struct where where)
{
    return where.global && i->access.size * i->access.count == (int)sizeof(machine_pair);
}

RUN(load)
{
    const uint64_t *a = lanes_at(warp, i->o[i->access.count]);
    const uint32_t size = i->access.size, count = i->access.count;
    struct stores *stores = &warp->block->stores;
    FOR_LANES(l, mask)
    {
        const struct where where =
            memory_at(warp, i, l, address_of(warp, i, a, l), size * count, (enum space)i->access.space);
        const uint8_t *from = where.at;
        if (!from)
            return;
        if (i->access.weak && where.global) {
            const uint8_t *line = cached(warp, from);
            from = line ? line : from;
        }
        machine_pair pair;
        if (from == where.at && is_pair(i, where)) {
            pair = machine_load_pair(from);
            from = (const uint8_t *)&pair;
        }
        for (uint32_t e = 0; e < count; e++) {
            uint64_t value = load_element(from + e * size, size);
            if (where.global && stores->count)
                value = machine_stores_overlay(stores, (uintptr_t)where.at + e * size, value, size);
            lanes_at(warp, i->o[e])[l] = extended(value, i);
        }
    }
    if (!i->access.weak)
        machine_warp_looks(warp);
    if (i->access.acquire) {
        atomic_thread_fence(memory_order_acquire); /* with whatever released what was loaded */
        machine_cache_drop_all(&warp->block->cache);
    }
}

/* The same without what shared memory does not need. */
RUN(load_shared)
{
    const uint64_t *a = lanes_at(warp, i->o[1]);
    uint64_t *d = lanes_at(warp, i->o[0]);
    const uint32_t size = i->access.size;
    FOR_LANES(l, mask)
    {
        const uint64_t address = address_of(warp, i, a, l);
        const struct where where = memory_at(warp, i, l, address, size, SPACE_SHARED);
        if (!where.at)
            return;
        d[l] = extended(load_element(where.at, size), i);
    }
}

static void store_lane(struct warp *warp, const struct instruction *i, uint32_t l, struct where where)
{
    const uint32_t size = i->access.size;
    struct block *block = warp->block;
    const bool held = where.global && block->stores.on && !i->access.release;
    uint8_t *to = where.at;
    machine_pair pair = {0, 0};
    const bool as_one = !held && is_pair(i, where);
    for (uint32_t e = i->access.count; e-- > 0;) {
        const uint64_t value = lanes_at(warp, i->o[e])[l];
        if (where.global)
            machine_cache_store(&block->cache, (uintptr_t)(to + e * size), &value, size);
        if (held)
            machine_stores_hold(&block->stores, (uintptr_t)(to + e * size), value, size);
        else if (as_one)
            memcpy((uint8_t *)&pair + e * size, &value, size);
        else
            machine_store(to + e * size, size, value);
    }
    if (as_one)
        machine_store_pair(to, pair);
}

RUN(store)
{
    const uint64_t *a = lanes_at(warp, i->o[i->access.count]);
    if (i->access.release) {
        machine_stores_let_all_go(&warp->block->stores);
        atomic_thread_fence(memory_order_release); /* with whoever acquires what is stored */
    }
    for (uint32_t rest = mask; rest;) {
        const uint32_t l = 31 - (uint32_t)__builtin_clz(rest);
        rest &= ~(1u << l);
        const struct where where =
            memory_at(warp, i, l, address_of(warp, i, a, l), i->access.size * (uint32_t)i->access.count,
                      (enum space)i->access.space);
        if (!where.at)
            return;
        store_lane(warp, i, l, where);
        warp->block->stored |= i->access.space != SPACE_LOCAL;
        if (where.global)
            warp->block->looks = 0;
    }
}

/* ---- building ---- */

static bool read_space(const char *part, struct access *access)
{
    static const struct {
        const char *name;
        enum space space;
    } spaces[] = {{"global", SPACE_GLOBAL},      {"const", SPACE_GLOBAL}, {"shared", SPACE_SHARED},
                  {"shared::cta", SPACE_SHARED}, {"local", SPACE_LOCAL},  {"param", SPACE_PARAM}};
    for (size_t s = 0; s < sizeof spaces / sizeof spaces[0]; s++)
        if (strcmp(part, spaces[s].name) == 0) {
            access->space = (uint8_t)spaces[s].space;
            return true;
        }
    return false;
}

/* What a modifier says of the order, and whether the cache is passed. */
static bool read_order(const char *part, struct access *access)
{
    static const char *const strong[] = {"volatile", "relaxed", "mmio", "cv", "cg", "wt"};
    static const char *const without_meaning[] = {"weak", "ca",      "cs",  "lu",  "nc",     "wb",
                                                  "cta",  "cluster", "gpu", "sys", "unified"};
    for (size_t n = 0; n < sizeof strong / sizeof strong[0]; n++)
        if (strcmp(part, strong[n]) == 0) {
            access->weak = false;
            return true;
        }
    if (strcmp(part, "acquire") == 0 || strcmp(part, "release") == 0) {
        access->weak = false;
        access->acquire |= part[0] == 'a';
        access->release |= part[0] == 'r';
        return true;
    }
    for (size_t n = 0; n < sizeof without_meaning / sizeof without_meaning[0]; n++)
        if (strcmp(part, without_meaning[n]) == 0)
            return true;
    return strncmp(part, "L1::", 4) == 0 || strncmp(part, "L2::", 4) == 0;
}

static bool read_modifiers(const struct statement *s, struct access *access)
{
    access->weak = true;
    access->count = 1;
    for (uint32_t p = 1; p + 1 < s->part_count; p++) {
        const char *part = s->parts[p];
        if (part[0] == 'v' && part[1] >= '2' && part[1] <= '8' && !part[2])
            access->count = (uint8_t)(part[1] - '0');
        else if (!read_space(part, access) && !read_order(part, access))
            return false;
    }
    if (statement_has(s, "cta")) /* within the block the cache is everybody's */
        access->acquire = access->release = false;
    return true;
}

/* In a function parameters lie in the frame, so do those that a kernel gives to a call; a kernel's own do not. */
static void place_address(const struct statement *s, const struct operand *address, struct instruction *i)
{
    if (i->access.space == SPACE_PARAM && (!s->entry || address->frame))
        i->access.space = SPACE_LOCAL;
    i->access.frame = address->frame;
    i->offset = address->offset;
    i->address_mask = address->narrow ? UINT32_MAX : UINT64_MAX;
    i->o[i->access.count] = address->place;
}

bool build_memory(struct ptx_reader *reader, const struct statement *s, struct instruction *i)
{
    (void)reader;
    const bool loads = s->parts[0][0] == 'l';
    char kind;
    uint32_t bits;
    if (s->operand_count != 2 || s->part_count < 2 || !ptx_type(s->parts[s->part_count - 1], &kind, &bits) ||
        bits > 64 || !read_modifiers(s, &i->access))
        return false;
    const struct operand *value = &s->operands[loads ? 0 : 1], *address = &s->operands[loads ? 1 : 0];
    const bool vector = value->kind == OPERAND_VECTOR;
    if (address->kind != OPERAND_ADDRESS || (vector ? value->count : 1) != i->access.count ||
        i->access.count > 4)
        return false;
    i->access.size = (uint8_t)(bits / 8);
    for (uint32_t e = 0; e < i->access.count; e++)
        i->o[e] = vector ? value->elements[e] : value->place;
    if (loads && kind == 's')
        i->access.extend = (vector ? value->element_bits[0] : value->bits) == 64 ? 64 : 32;
    i->access.results = (uint8_t)(loads ? (1u << i->access.count) - 1 : 0);
    place_address(s, address, i);
    i->run = !loads ? store : i->access.space == SPACE_SHARED && i->access.count == 1 ? load_shared : load;
    return true;
}
