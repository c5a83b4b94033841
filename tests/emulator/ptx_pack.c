/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PTX has a register for each value: thousands, of which few live at once. Here they get few places, so that a warp's
 * registers lie in the processor's cache. What lives is a matter of one thread, however its warp parts: so this is
 * the liveness of a compiler, over basic blocks, and a linear scan of intervals.
 *
 * A predicate is a word for all lanes, other registers a row of words: they never share a word, for lanes of one
 * path would write into what those of another path keep there, in this function or in one that it calls or is called by.
 */
#include "ptx_module.h"

#include <stdlib.h>
#include <string.h>

/* Positions: an instruction reads at 2 * number, and writes after it. */
struct interval {
    uint32_t from, to, number;
    bool used, predicate;
};

struct basic_block {
    uint32_t from, to;  /* instructions */
    uint64_t *in, *out; /* what lives at its ends; `in` starts as what is read before it is written */
    uint64_t *kills;
};

struct packing {
    struct machine_function *function;
    uint32_t words; /* of a set of registers */
    struct basic_block *blocks;
    uint32_t block_count;
    uint32_t *block_of; /* of an instruction that begins one */
    uint64_t *sets;
    struct interval *intervals;
    uint32_t *places;
};

static bool is_register(uint32_t place)
{
    return place >> BASE_SHIFT == BASE_REGISTERS;
}

static uint32_t number_of(uint32_t place)
{
    return (place & NO_PLACE) / LANES;
}

static bool jumps(const struct instruction *i)
{
    return i->access.type == 'j';
}

static bool guarded(const struct instruction *i)
{
    return is_register(i->guard) || i->flip;
}

/* ---- blocks ---- */

static bool ends_block(const struct instruction *i)
{
    return jumps(i) || !i->access.falls_through;
}

static bool make_blocks(struct packing *packing)
{
    const struct machine_function *function = packing->function;
    const uint32_t count = function->code_count;
    uint32_t *begins = packing->block_of, blocks = 0;
    begins[0] = 1;
    for (uint32_t c = 0; c < count; c++) {
        if (jumps(&function->code[c]))
            begins[function->code[c].offset] = 1;
        if (ends_block(&function->code[c]) && c + 1 < count)
            begins[c + 1] = 1;
    }
    for (uint32_t c = 0; c < count; c++)
        blocks += begins[c];
    packing->blocks = calloc(blocks, sizeof *packing->blocks);
    packing->sets = calloc((size_t)blocks * 3 * packing->words, sizeof *packing->sets);
    if (!packing->blocks || !packing->sets)
        return false;
    for (uint32_t c = 0; c < count; c++) {
        if (begins[c]) {
            struct basic_block *block = &packing->blocks[packing->block_count];
            uint64_t *sets = packing->sets + (size_t)packing->block_count * 3 * packing->words;
            *block = (struct basic_block){c, c, sets, sets + packing->words, sets + 2 * packing->words};
            begins[c] = packing->block_count++;
        }
        packing->blocks[packing->block_count - 1].to = c + 1;
    }
    return true;
}

static void set_bit(uint64_t *set, uint32_t bit)
{
    set[bit / 64] |= UINT64_C(1) << bit % 64;
}

static bool has_bit(const uint64_t *set, uint32_t bit)
{
    return set[bit / 64] >> bit % 64 & 1;
}

static void look_at_operands(const struct basic_block *block, const struct instruction *i)
{
    if (is_register(i->guard) && !has_bit(block->kills, number_of(i->guard)))
        set_bit(block->in, number_of(i->guard));
    for (uint32_t o = 0; o < OPERANDS_MAX; o++)
        if (is_register(i->o[o]) && !(i->access.results >> o & 1) &&
            !has_bit(block->kills, number_of(i->o[o])))
            set_bit(block->in, number_of(i->o[o]));
    for (uint32_t o = 0; o < OPERANDS_MAX; o++)
        if (is_register(i->o[o]) && i->access.results >> o & 1 && !guarded(i))
            set_bit(block->kills, number_of(i->o[o]));
}

static bool take_in(const struct packing *packing, const struct basic_block *block,
                    const struct basic_block *next)
{
    uint64_t changed = 0;
    for (uint32_t w = 0; w < packing->words; w++) {
        const uint64_t out = block->out[w] | next->in[w];
        changed |= out ^ block->out[w];
        block->out[w] = out;
    }
    for (uint32_t w = 0; changed && w < packing->words; w++)
        block->in[w] |= block->out[w] & ~block->kills[w];
    return changed != 0;
}

/* From the end to the start, until nothing changes. */
static void spread(struct packing *packing)
{
    const struct instruction *code = packing->function->code;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = packing->block_count; b-- > 0;) {
            const struct basic_block *block = &packing->blocks[b];
            const struct instruction *last = &code[block->to - 1];
            if (jumps(last))
                changed |= take_in(packing, block, &packing->blocks[packing->block_of[last->offset]]);
            if (b + 1 < packing->block_count && (last->access.falls_through || guarded(last)))
                changed |= take_in(packing, block, &packing->blocks[b + 1]);
        }
    }
}

/* ---- intervals ---- */

static void touch(struct packing *packing, uint32_t number, uint32_t position)
{
    struct interval *interval = &packing->intervals[number];
    if (!interval->used)
        interval->from = interval->to = position;
    interval->used = true;
    interval->from = position < interval->from ? position : interval->from;
    interval->to = position > interval->to ? position : interval->to;
}

static void touch_set(struct packing *packing, const uint64_t *set, uint32_t position)
{
    for (uint32_t w = 0; w < packing->words; w++)
        for (uint64_t rest = set[w]; rest; rest &= rest - 1)
            touch(packing, w * 64 + (uint32_t)__builtin_ctzll(rest), position);
}

static void make_intervals(struct packing *packing)
{
    const struct machine_function *function = packing->function;
    for (uint32_t b = 0; b < packing->block_count; b++) {
        const struct basic_block *block = &packing->blocks[b];
        touch_set(packing, block->in, 2 * block->from);
        touch_set(packing, block->out, 2 * block->to - 1);
    }
    for (uint32_t c = 0; c < function->code_count; c++) {
        const struct instruction *i = &function->code[c];
        if (is_register(i->guard))
            touch(packing, number_of(i->guard), 2 * c);
        for (uint32_t o = 0; o < OPERANDS_MAX; o++)
            if (is_register(i->o[o]))
                touch(packing, number_of(i->o[o]), 2 * c + (i->access.results >> o & 1));
    }
}

static int compare_starts(const void *one, const void *other)
{
    const struct interval *a = one, *b = other;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Places that became free are taken again, the lowest first; few live at once, so they are looked through. */
static uint32_t scan(struct packing *packing, uint32_t count, bool predicates, uint32_t first)
{
    uint32_t *busy_until = calloc(count + 1, sizeof *busy_until), places = 0;
    for (uint32_t n = 0; busy_until && n < count; n++) {
        const struct interval *interval = &packing->intervals[n];
        if (!interval->used || interval->predicate != predicates)
            continue;
        uint32_t place = 0;
        while (place < places && busy_until[place] >= interval->from)
            place++;
        places = place < places ? places : place + 1;
        busy_until[place] = interval->to;
        packing->places[interval->number] = (first + place) * ROW + (predicates ? LANES : 0);
    }
    free(busy_until);
    return busy_until ? first + places : UINT32_MAX;
}

static void replace(uint32_t *place, const uint32_t *places)
{
    if (is_register(*place))
        *place = places[number_of(*place)];
}

static bool assign(struct packing *packing)
{
    struct machine_function *function = packing->function;
    const uint32_t count = function->register_count;
    qsort(packing->intervals, count, sizeof *packing->intervals, compare_starts);
    uint32_t end = scan(packing, count, false, 0);
    end = end == UINT32_MAX ? end : scan(packing, count, true, end);
    if (end == UINT32_MAX)
        return false;
    for (uint32_t c = 0; c < function->code_count; c++) {
        struct instruction *i = &function->code[c];
        replace(&i->guard, packing->places);
        for (uint32_t o = 0; o < OPERANDS_MAX; o++)
            replace(&i->o[o], packing->places);
    }
    function->register_count = end;
    return true;
}

bool ptx_registers_pack(struct machine_function *function, const bool *predicates)
{
    struct packing packing = {.function = function, .words = (function->register_count + 63) / 64};
    if (function->register_count == 0)
        return true;
    packing.block_of = calloc(function->code_count, sizeof *packing.block_of);
    packing.intervals = calloc(function->register_count, sizeof *packing.intervals);
    packing.places = calloc(function->register_count, sizeof *packing.places);
    bool fine = packing.block_of && packing.intervals && packing.places && make_blocks(&packing);
    if (fine) {
        for (uint32_t n = 0; n < function->register_count; n++)
            packing.intervals[n] = (struct interval){.number = n, .predicate = predicates[n]};
        for (uint32_t b = 0; b < packing.block_count; b++)
            for (uint32_t c = packing.blocks[b].from; c < packing.blocks[b].to; c++)
                look_at_operands(&packing.blocks[b], &function->code[c]);
        spread(&packing);
        make_intervals(&packing);
        fine = assign(&packing);
    }
    free(packing.block_of);
    free(packing.blocks);
    free(packing.sets);
    free(packing.intervals);
    free(packing.places);
    return fine;
}
