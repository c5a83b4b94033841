/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With EMULATOR_HOLD=1, stores to global memory are on their way for a while: a block's own threads see them at once, everybody
 * else some turns later, and lines in any order, until a fence or a release of the block puts all of them before what follows.
 * That is what a device may do between fences; a fence that is missing is found by it. Within a line bytes go from the last to
 * the first, so that a line that lanes store together appears as over the bus. Only the block's own thread comes here.
 */
#include "machine_core.h"

#include <stdlib.h>
#include <string.h>

enum { TURNS_MAX = 6 };

bool machine_stores_init(struct stores *stores, uint64_t seed)
{
    const char *setting = getenv("EMULATOR_HOLD"); /* 1: stores are held; else they are there at once */
    *stores = (struct stores){.lines = calloc(HELD_LINES, sizeof *stores->lines),
                              .on = setting && strcmp(setting, "1") == 0,
                              .random = seed | 1};
    return stores->lines != NULL;
}

void machine_stores_finish(struct stores *stores)
{
    free(stores->lines);
}

static struct held_line *find(struct stores *stores, uint64_t line)
{
    for (uint32_t n = 0; n < stores->count; n++)
        if (stores->lines[n].address == line)
            return &stores->lines[n];
    return NULL;
}

static bool all_held(const struct held_line *held, uint32_t at, uint32_t size)
{
    const uint64_t ones = (UINT64_C(1) << size) - 1;
    return (held->bits[at / 64] >> at % 64 & ones) == ones;
}

static void write_piece(uint8_t *to, const uint8_t *from, uint32_t size)
{
    machine_pair pair = {0, 0};
    memcpy(&pair, from, size);
    if (size == sizeof pair)
        machine_store_pair(to, pair);
    else
        machine_store(to, size, pair[0]);
}

/* The widest pieces that are held whole, from the last. */
static void write_line(const struct held_line *held)
{
    uint8_t *to = (uint8_t *)(uintptr_t)held->address; /* NOLINT(performance-no-int-to-ptr) */
    for (uint32_t end = CACHE_LINE; end > 0;) {
        uint32_t size = sizeof(machine_pair);
        while (size > 0 && !(end % size == 0 && all_held(held, end - size, size)))
            size /= 2;
        if (size == 0) {
            end--;
            continue;
        }
        end -= size;
        write_piece(to + end, held->bytes + end, size);
    }
}

/* What the host has taken away meanwhile is nobody's. */
static void let_go(struct stores *stores, struct held_line *held)
{
    struct range range;
    const uint32_t word = held->bits[0] ? 0 : 1;
    const uint64_t first = held->address + word * 64 + (uint32_t)__builtin_ctzll(held->bits[word]);
    if (machine_memory_find(first, &range))
        write_line(held);
    *held = stores->lines[--stores->count];
}

void machine_stores_hold(struct stores *stores, uint64_t address, uint64_t value, uint32_t size)
{
    const uint64_t line = address & ~(uint64_t)(CACHE_LINE - 1);
    const uint32_t at = (uint32_t)(address - line);
    struct held_line *held = find(stores, line);
    if (!held && stores->count == HELD_LINES)
        let_go(stores, &stores->lines[machine_random(&stores->random) % HELD_LINES]);
    if (!held) {
        held = &stores->lines[stores->count++];
        held->address = line;
        held->turns = (uint32_t)(machine_random(&stores->random) % TURNS_MAX);
        held->bits[0] = held->bits[1] = 0;
    }
    memcpy(held->bytes + at, &value, size);
    held->bits[at / 64] |= ((UINT64_C(1) << size) - 1) << at % 64;
}

uint64_t machine_stores_overlay(struct stores *stores, uint64_t address, uint64_t value, uint32_t size)
{
    const uint64_t line = address & ~(uint64_t)(CACHE_LINE - 1);
    const uint32_t at = (uint32_t)(address - line);
    const struct held_line *held = find(stores, line);
    uint8_t bytes[8];
    if (!held)
        return value;
    memcpy(bytes, &value, sizeof bytes);
    for (uint32_t b = 0; b < size; b++)
        if (held->bits[(at + b) / 64] >> (at + b) % 64 & 1)
            bytes[b] = held->bytes[at + b];
    memcpy(&value, bytes, sizeof value);
    return value;
}

void machine_stores_let_go(struct stores *stores, uint64_t address)
{
    struct held_line *held = find(stores, address & ~(uint64_t)(CACHE_LINE - 1));
    if (held)
        let_go(stores, held);
}

void machine_stores_let_all_go(struct stores *stores)
{
    while (stores->count)
        let_go(stores, &stores->lines[machine_random(&stores->random) % stores->count]);
}

void machine_stores_turn(struct stores *stores)
{
    for (uint32_t n = 0; n < stores->count;) {
        if (stores->lines[n].turns-- > 0)
            n++;
        else
            let_go(stores, &stores->lines[n]);
    }
}
