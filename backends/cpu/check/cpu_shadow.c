/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history of memory (cpu_shadow.h). Pages of 4096 bytes are made when they are first touched; a page's history is 16
 * times as large. An entry is two words, so that a cell (the history of 4 bytes) is one cache line.
 */
#include "backends/cpu/check/cpu_shadow.h"
#include "backends/cpu/lanes/cpu_lane.h"

#include <stdlib.h>

enum { PAGE_BYTES = 4096, WORD = 4, WORDS = PAGE_BYTES / WORD, ENTRIES = 4, TABLE_FIRST = 64 };

/* An entry's first word, from bit 0: code 48, lane 10, bytes of the word 4, write 1, atomic 1. */
#define CODE_MASK    ((UINT64_C(1) << 48) - 1)
#define LANE_SHIFT   48
#define BYTES_SHIFT  58
#define WRITE_SHIFT  62
#define ATOMIC_SHIFT 63
/* The second word: phase 24, message 40. Zero: no entry. */
#define PHASE_MASK    ((UINT64_C(1) << 24) - 1)
#define MESSAGE_SHIFT 24

struct entry {
    uint64_t who, when;
};

struct cpu_shadow_page {
    uint64_t number;
    struct entry cells[WORDS][ENTRIES];
};

static uint64_t hash_of(uint64_t number)
{
    number *= UINT64_C(0x9e3779b97f4a7c15);
    return number >> 32;
}

static struct cpu_shadow_page **slot_of(struct cpu_shadow_page **table, size_t size, uint64_t number)
{
    size_t at = (size_t)hash_of(number) & (size - 1);
    while (table[at] && table[at]->number != number)
        at = (at + 1) & (size - 1);
    return &table[at];
}

/* Keeps a quarter of the table free. False without memory. */
static bool make_room(struct cpu_shadow *shadow)
{
    if (shadow->table && shadow->used * 4 < shadow->size * 3)
        return true;
    const size_t size = shadow->size ? shadow->size * 2 : TABLE_FIRST;
    struct cpu_shadow_page **const table = calloc(size, sizeof(struct cpu_shadow_page *));
    if (!table)
        return false;
    for (size_t i = 0; i < shadow->size; i++)
        if (shadow->table[i])
            *slot_of(table, size, shadow->table[i]->number) = shadow->table[i];
    free(shadow->table);
    shadow->table = table;
    shadow->size = size;
    return true;
}

static struct cpu_shadow_page *page_of(struct cpu_shadow *shadow, uint64_t number)
{
    if (shadow->latest && shadow->latest->number == number)
        return shadow->latest;
    if (!make_room(shadow)) {
        shadow->full = true;
        return NULL;
    }
    struct cpu_shadow_page **const slot = slot_of(shadow->table, shadow->size, number);
    if (!*slot) {
        *slot = calloc(1, sizeof **slot);
        if (!*slot) {
            shadow->full = true;
            return NULL;
        }
        (*slot)->number = number;
        shadow->used++;
    }
    return shadow->latest = *slot;
}

static struct entry entry_of(const struct cpu_access *access, uint64_t bytes)
{
    return (struct entry){((uint64_t)(uintptr_t)access->code & CODE_MASK) |
                              (uint64_t)access->lane << LANE_SHIFT | bytes << BYTES_SHIFT |
                              (uint64_t)access->write << WRITE_SHIFT |
                              (uint64_t)access->atomic << ATOMIC_SHIFT,
                          (access->phase & PHASE_MASK) | access->message << MESSAGE_SHIFT};
}

/*
 * PHASE_BEFORE: in the same message, with a barrier between, or in a message that this one follows. A later message may run at the
 * same time as both.
 */
enum order { BEFORE, PHASE_BEFORE, SAME_LANE, AT_ONCE };

/* Whether the lanes of two accesses of one message are of different blocks, with no barrier of the grid between. */
static bool are_apart(const struct entry *old, const struct entry *now, uint32_t block_lanes)
{
    const uint64_t a = old->who >> LANE_SHIFT & 1023, b = now->who >> LANE_SHIFT & 1023;
    return block_lanes && a / block_lanes != b / block_lanes &&
           (old->when & PHASE_MASK) / CPU_PHASES_MAX == (now->when & PHASE_MASK) / CPU_PHASES_MAX;
}

static enum order order_of(const struct entry *old, const struct entry *now, const struct cpu_access *access)
{
    if (old->when == now->when)
        return (old->who ^ now->who) >> LANE_SHIFT & 1023 ? AT_ONCE : SAME_LANE;
    if (old->when >> MESSAGE_SHIFT == now->when >> MESSAGE_SHIFT)
        return are_apart(old, now, access->block_lanes) ? AT_ONCE : PHASE_BEFORE;
    if (old->when >> MESSAGE_SHIFT < access->since)
        return BEFORE;
    return access->follows && access->follows(access->who, old->when >> MESSAGE_SHIFT) ? PHASE_BEFORE
                                                                                       : AT_ONCE;
}

/* The bytes of the word that both touch, if at least one writes and not both are atomic. */
static uint64_t contended_bytes(const struct entry *old, const struct entry *now)
{
    const bool writes = (old->who | now->who) >> WRITE_SHIFT & 1;
    const bool atomics = (old->who & now->who) >> ATOMIC_SHIFT & 1;
    return writes && !atomics ? (old->who & now->who) >> BYTES_SHIFT & 15 : 0;
}

static void describe(const struct entry *old, uint64_t word, uint64_t bytes, struct cpu_earlier *earlier)
{
    *earlier = (struct cpu_earlier){.address = word * WORD + (uint64_t)__builtin_ctzll(bytes),
                                    .message = old->when >> MESSAGE_SHIFT,
                                    .lane = (uint32_t)(old->who >> LANE_SHIFT & 1023),
                                    .write = old->who >> WRITE_SHIFT & 1,
                                    .atomic = old->who >> ATOMIC_SHIFT & 1,
                                    .code = (const void *)(uintptr_t)(old->who & CODE_MASK)};
}

/* Whether `old`, of the same lane and phase, takes in what `now` says; then it is widened, and `now` needs no entry. */
static bool absorbs(struct entry *old, const struct entry *now)
{
    if ((old->who ^ now->who) >> ATOMIC_SHIFT & 1)
        return false;
    const bool stronger = (now->who & ~old->who) >> WRITE_SHIFT & 1;
    const bool weaker = (old->who & ~now->who) >> WRITE_SHIFT & 1;
    const uint64_t more = (now->who & ~old->who) >> BYTES_SHIFT & 15;
    const uint64_t fewer = (old->who & ~now->who) >> BYTES_SHIFT & 15;
    if ((stronger && fewer) || (weaker && more))
        return false;
    if (stronger || more)
        old->who = (now->who & ~(UINT64_C(15) << BYTES_SHIFT)) |
                   ((old->who | now->who) & UINT64_C(15) << BYTES_SHIFT);
    return true;
}

static bool note_word(struct cpu_shadow *shadow, struct entry cell[ENTRIES], const struct entry *now,
                      uint64_t word, const struct cpu_access *access, struct cpu_earlier *earlier)
{
    struct entry *place = NULL, *second = NULL;
    bool raced = false, absorbed = false;
    for (int i = 0; i < ENTRIES; i++) /* as in a loop, which touches the same word again */
        if (cell[i].when == now->when && cell[i].who == now->who)
            return false;
    for (int i = 0; i < ENTRIES; i++) {
        struct entry *const old = &cell[i];
        const enum order order = old->when ? order_of(old, now, access) : BEFORE;
        if (order == BEFORE) {
            place = place ? place : old;
        } else if (order == PHASE_BEFORE) {
            second = second ? second : old;
        } else if (order == SAME_LANE) {
            absorbed = absorbed || absorbs(old, now);
        } else if (!raced && contended_bytes(old, now)) {
            raced = true;
            describe(old, word, contended_bytes(old, now), earlier);
        }
    }
    if (!place)
        place = second;
    if (!absorbed)
        *(place ? place : &cell[shadow->turn++ % ENTRIES]) = *now;
    return raced;
}

bool cpu_shadow_note(struct cpu_shadow *shadow, const struct cpu_access *access, struct cpu_earlier *earlier)
{
    const uint64_t end = access->address + access->size;
    struct cpu_earlier found;
    bool raced = false;
    for (uint64_t at = access->address; at < end;) {
        const uint64_t word = at / WORD, next = (word + 1) * WORD;
        const uint64_t from = at % WORD, to = (next < end ? next : end) - word * WORD;
        struct cpu_shadow_page *const page = page_of(shadow, at / PAGE_BYTES);
        const struct entry now = entry_of(access, ((UINT64_C(1) << to) - 1) >> from << from);
        if (page &&
            note_word(shadow, page->cells[word % WORDS], &now, word, access, raced ? &found : earlier))
            raced = true;
        at = next;
    }
    return raced;
}

void cpu_shadow_free(struct cpu_shadow *shadow)
{
    for (size_t i = 0; i < shadow->size; i++)
        free(shadow->table[i]);
    free(shadow->table);
    *shadow = (struct cpu_shadow){0};
}
