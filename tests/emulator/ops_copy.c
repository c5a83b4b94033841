/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mbarriers, and bulk copies to shared memory, which they count. A copy is done some turns of the block later: a
 * kernel that looks at its target before the mbarrier says so finds what was there before.
 *
 * An mbarrier is a word: arrivals that a phase takes (20 bits), those still pending (20), bytes still expected (22,
 * signed), the phase (the highest bit).
 */
#include "ops_memory.h"

#include <string.h>

enum { COUNT_BITS = 20, TX_SHIFT = 40, TX_BITS = 22, TURNS_MAX = 24 };

struct mbarrier {
    uint32_t count, pending;
    int32_t bytes;
    uint32_t phase;
};

static struct mbarrier unpack(uint64_t word)
{
    const uint64_t ones = (1u << COUNT_BITS) - 1;
    return (struct mbarrier){.count = (uint32_t)(word & ones),
                             .pending = (uint32_t)(word >> COUNT_BITS & ones),
                             .bytes =
                                 (int32_t)(uint32_t)(word >> TX_SHIFT << (32 - TX_BITS)) >> (32 - TX_BITS),
                             .phase = (uint32_t)(word >> 63)};
}

static uint64_t pack(const struct mbarrier *barrier)
{
    return (uint64_t)barrier->count | (uint64_t)barrier->pending << COUNT_BITS |
           ((uint64_t)(uint32_t)barrier->bytes & ((1u << TX_BITS) - 1)) << TX_SHIFT |
           (uint64_t)barrier->phase << 63;
}

/* Arrivals and bytes that come; a phase ends when nothing is missing. */
static void count(uint64_t *word, uint32_t arrivals, int32_t bytes)
{
    struct mbarrier barrier = unpack(*word);
    barrier.pending -= arrivals;
    barrier.bytes += bytes;
    if (barrier.pending == 0 && barrier.bytes == 0) {
        barrier.phase ^= 1;
        barrier.pending = barrier.count;
    }
    *word = pack(&barrier);
}

/* ---- mbarrier ---- */

enum {
    MBARRIER_INIT = 'i',
    MBARRIER_ARRIVE = 'a',
    MBARRIER_EXPECT = 'e',
    MBARRIER_TEST = 'w',
    MBARRIER_TRY = 't', /* may wait a while in the instruction */
    MBARRIER_END = 'x'
};

static void mbarrier_lane(struct warp *warp, const struct instruction *i, uint32_t l, uint64_t *word)
{
    const uint64_t operand = lanes_at(warp, i->o[2])[l];
    const struct mbarrier now = unpack(*word);
    switch (i->access.form) {
    case MBARRIER_INIT: {
        const struct mbarrier fresh = {.count = (uint32_t)operand, .pending = (uint32_t)operand};
        *word = pack(&fresh);
        break;
    }
    case MBARRIER_EXPECT:
        count(word, 0, (int32_t)operand);
        break;
    case MBARRIER_ARRIVE: { /* access.count: "expect_tx" too, before it arrives */
        const uint64_t before = *word;
        if (i->access.count) {
            struct mbarrier more = now;
            more.bytes += (int32_t)operand;
            *word = pack(&more);
        }
        count(word, 1, 0);
        lanes_at(warp, i->o[0])[l] = before;
        break;
    }
    case MBARRIER_TEST:
    case MBARRIER_TRY: { /* access.count: the operand is a parity, else the word that an arrival gave */
        const uint32_t phase = i->access.count ? (uint32_t)operand & 1 : (uint32_t)(operand >> 63);
        set_predicate(warp, i->o[0], 1u << l, now.phase != phase ? UINT32_MAX : 0);
        break;
    }
    default:
        *word = 0;
        break;
    }
}

RUN(mbarrier)
{
    const uint64_t *a = lanes_at(warp, i->o[1]);
    FOR_LANES(l, mask)
    {
        const struct where where =
            memory_at(warp, i, l, address_of(warp, i, a, l), 8, (enum space)i->access.space);
        if (!where.at)
            return;
        if (where.global) {
            machine_fault(warp, i, MACHINE_ILLEGAL_ADDRESS, l, (uintptr_t)where.at);
            return;
        }
        mbarrier_lane(warp, i, l, where.at);
    }
    if (i->access.form == MBARRIER_TRY && !(mask & predicate_at(warp, i->o[0])))
        machine_warp_rest(warp);
}

static void place_mbarrier(const struct operand *address, struct instruction *i)
{
    i->o[1] = address->place;
    i->offset = address->offset;
    i->address_mask = address->narrow ? UINT32_MAX : UINT64_MAX;
}

static bool read_mbarrier_form(const struct statement *s, struct instruction *i)
{
    const char *what = s->parts[1];
    i->access.space =
        statement_has(s, "shared::cta") || statement_has(s, "shared") ? SPACE_SHARED : SPACE_GENERIC;
    if (strcmp(what, "init") == 0)
        i->access.form = MBARRIER_INIT;
    else if (strcmp(what, "inval") == 0)
        i->access.form = MBARRIER_END;
    else if (strcmp(what, "expect_tx") == 0)
        i->access.form = MBARRIER_EXPECT;
    else if (strcmp(what, "arrive") == 0 && !statement_has(s, "noComplete"))
        i->access.form = MBARRIER_ARRIVE;
    else if (strcmp(what, "test_wait") == 0)
        i->access.form = MBARRIER_TEST;
    else if (strcmp(what, "try_wait") == 0)
        i->access.form = MBARRIER_TRY;
    return i->access.form != 0;
}

bool build_mbarrier(struct ptx_reader *reader, const struct statement *s, struct instruction *i)
{
    (void)reader;
    if (s->part_count < 3 || !read_mbarrier_form(s, i))
        return false;
    const bool gives = i->access.form == MBARRIER_ARRIVE || i->access.form == MBARRIER_TEST ||
                       i->access.form == MBARRIER_TRY;
    const uint32_t first = gives ? 1 : 0;
    if (s->operand_count <= first || s->operand_count > first + 3 ||
        s->operands[first].kind != OPERAND_ADDRESS)
        return false;
    if (gives)
        i->o[0] = s->operands[0].place;
    i->access.results = gives ? 1 : 0;
    place_mbarrier(&s->operands[first], i);
    if (s->operand_count > first + 1)
        i->o[2] = s->operands[first + 1].place;
    i->access.count = statement_has(s, "expect_tx") || statement_has(s, "parity");
    i->run = mbarrier;
    return true;
}

/* ---- copies ---- */

static bool do_copy(struct block *block, const struct copy *copy)
{
    struct warp *warp = &block->warps[0];
    uint8_t bytes[4096];
    for (uint32_t done = 0; done < copy->size;) {
        const uint32_t size = copy->size - done < sizeof bytes ? copy->size - done : (uint32_t)sizeof bytes;
        const struct where from = memory_at(warp, copy->i, 0, copy->from + done, 1, SPACE_GLOBAL);
        const struct where to = memory_at(warp, copy->i, 0, copy->to + done, 1, SPACE_SHARED);
        if (!from.at || !to.at)
            return false;
        if (!covers(&warp->range, copy->from + done, size) ||
            block->shared_size + SHARED_BEGIN < copy->to + done + size) {
            machine_fault(warp, copy->i, MACHINE_ILLEGAL_ADDRESS, 0, copy->from + done);
            return false;
        }
        for (uint32_t word = 0; word < size; word += 8) {
            const uint64_t value = load_element((const uint8_t *)from.at + word, 8);
            memcpy((uint8_t *)to.at + word, &value, 8);
        }
        done += size;
    }
    const struct where word = memory_at(warp, copy->i, 0, copy->barrier, 8, SPACE_SHARED);
    if (word.at)
        count(word.at, 0, -(int32_t)copy->size);
    block->stored = true;
    return word.at != NULL;
}

void machine_copies_turn(struct block *block)
{
    for (uint32_t c = 0; c < block->copy_count;) {
        if (block->copies[c].turns-- > 0) {
            c++;
            continue;
        }
        const struct copy copy = block->copies[c];
        block->copies[c] = block->copies[--block->copy_count];
        if (!do_copy(block, &copy))
            return;
    }
}

RUN(bulk_copy)
{
    struct block *block = warp->block;
    machine_stores_let_all_go(&block->stores); /* copies are not asked what the block's threads see */
    FOR_LANES(l, mask)
    {
        const struct copy copy = {.to = (uint32_t)lanes_at(warp, i->o[0])[l],
                                  .from = lanes_at(warp, i->o[1])[l],
                                  .size = (uint32_t)lanes_at(warp, i->o[2])[l],
                                  .barrier = (uint32_t)lanes_at(warp, i->o[3])[l],
                                  .turns = (uint32_t)(machine_random(&block->random) % TURNS_MAX),
                                  .i = i};
        if ((copy.to | copy.from | copy.size) & 15) {
            machine_fault(warp, i, MACHINE_MISALIGNED, l, copy.from);
            return;
        }
        if (block->copy_count == COPIES_MAX && !do_copy(block, &block->copies[--block->copy_count]))
            return;
        block->copies[block->copy_count++] = copy;
    }
}

bool build_copy(struct ptx_reader *reader, const struct statement *s, struct instruction *i)
{
    (void)reader;
    if (s->operand_count != 4 || !statement_has(s, "bulk") ||
        !statement_has(s, "mbarrier::complete_tx::bytes") || !statement_has(s, "global"))
        return false;
    for (uint32_t o = 0; o < 4; o++) {
        if (s->operands[o].offset)
            return false;
        i->o[o] = s->operands[o].place;
    }
    i->run = bulk_copy;
    return true;
}
