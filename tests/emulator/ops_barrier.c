/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads of a block do together: barriers, fences, mbarriers and the copies that these count.
 *
 * The aligned barriers (bar.sync, and barrier.sync.aligned) want whole warps: they wait first for the lanes of
 * their warp, at the same instruction, so that lanes which have parted ways wait for ever, as on a device. So do
 * those that reduce, of either kind: on an H200 parted lanes did not come back from barrier.red.
 */
#include "ops_warp.h"

static const uint64_t everybody[LANES] = {
    UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
    UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
    UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
    UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};

/* ---- barriers ---- */

static void write_reduced(struct warp *warp, const struct path *path, const struct barrier *barrier)
{
    const struct instruction *i = path->pc;
    uint64_t *const registers = warp->base[BASE_REGISTERS];
    warp->base[BASE_REGISTERS] = path->registers;
    if (i->access.form == 'p') {
        uint64_t *d = lanes_at(warp, i->o[0]);
        FOR_LANES(l, path->mask)
        d[l] = barrier->count;
    } else if (i->access.form) {
        const bool is = i->access.form == 'o' ? barrier->count > 0 : barrier->count == barrier->arrived;
        set_predicate(warp, i->o[0], path->mask, is ? UINT32_MAX : 0);
    }
    warp->base[BASE_REGISTERS] = registers;
}

static void let_go(struct block *block, uint32_t number)
{
    for (uint32_t w = 0; w < block->warp_count; w++) {
        struct warp *warp = &block->warps[w];
        for (int p = 0; p < warp->path_count; p++) {
            struct path *path = &warp->paths[p];
            if (path->state != PATH_AT_BARRIER || path->barrier != number || !path->mask)
                continue;
            write_reduced(warp, path, &block->barriers[number]);
            path->pc++;
            path->state = PATH_READY;
        }
    }
    block->barriers[number] = (struct barrier){0};
    block->stored = true;
}

void machine_barriers_look_again(struct block *block)
{
    for (uint32_t number = 0; number < BARRIERS; number++) {
        const struct barrier *barrier = &block->barriers[number];
        if (barrier->arrived && barrier->arrived >= (barrier->expected ? barrier->expected : block->live))
            let_go(block, number);
    }
}

RUN(barrier_wait)
{
    struct block *block = warp->block;
    const uint32_t number = (uint32_t)lanes_at(warp, i->o[1])[__builtin_ctz(mask)] % BARRIERS;
    struct barrier *barrier = &block->barriers[number];
    uint32_t bits = predicate_at(warp, i->o[3]);
    if (i->access.weak) { /* aligned */
        mask = warp_gather(warp, i, mask, everybody);
        if (!mask)
            return;
    } else if (warp->mask & ~mask) {
        machine_warp_part(warp, warp->mask & ~mask, i + 1);
    }
    bits = i->access.extend ? ~bits : bits;
    barrier->arrived += (uint32_t)__builtin_popcount(mask);
    barrier->count += (uint32_t)__builtin_popcount(mask & bits);
    if (i->access.count)
        barrier->expected = (uint32_t)lanes_at(warp, i->o[2])[__builtin_ctz(mask)];
    if (i->access.type != 'a') { /* arrives and goes on */
        warp->now->state = PATH_AT_BARRIER;
        warp->now->barrier = number;
        warp->now->pc = warp->pc = i;
        warp->now->mask = warp->mask;
        warp->left = 0;
    }
    machine_barriers_look_again(block);
    if (i->access.type != 'a')
        warp->pc = warp->now->pc;
}

RUN(barrier_warp)
{
    (void)warp_gather(warp, i, mask, lanes_at(warp, i->o[1]));
}

/* bar.red.or.pred p, a {, b}, q: what is reduced comes last. */
static bool build_reduction(const struct statement *s, struct instruction *i)
{
    if (s->operand_count < 3 || s->part_count != 4)
        return false;
    const struct operand *q = &s->operands[s->operand_count - 1];
    i->access.form = (uint8_t)s->parts[2][0]; /* and, or, popc */
    i->access.results = 1;
    i->access.extend = q->negated;
    i->access.count = s->operand_count == 4;
    i->o[0] = s->operands[0].place;
    i->o[1] = s->operands[1].place;
    if (s->operand_count == 4)
        i->o[2] = s->operands[2].place;
    i->o[3] = q->number ? ptx_constant(s->module, q->literal ? UINT64_MAX : 0) : q->place;
    i->run = barrier_wait;
    return true;
}

bool build_barrier(struct ptx_reader *reader, const struct statement *s, struct instruction *i)
{
    (void)reader;
    if (statement_has(s, "warp")) {
        i->o[1] = s->operands[0].place;
        i->run = barrier_warp;
        return s->operand_count == 1;
    }
    const bool reduces = statement_has(s, "red");
    i->access.weak = reduces || strcmp(s->parts[0], "bar") == 0 || statement_has(s, "aligned");
    if (reduces)
        return build_reduction(s, i);
    if (!statement_has(s, "sync") && !statement_has(s, "arrive"))
        return false;
    i->access.type = statement_has(s, "arrive") ? 'a' : 's';
    i->access.count = s->operand_count == 2;
    for (uint32_t o = 0; o < s->operand_count; o++)
        i->o[1 + o] = s->operands[o].place;
    i->run = barrier_wait;
    return s->operand_count == 1 || s->operand_count == 2;
}

/* ---- fences ---- */

RUN(fence_wide)
{
    (void)i;
    (void)mask;
    machine_stores_let_all_go(&warp->block->stores);
    /* with the fences and atomics of other blocks and of the host */
    atomic_thread_fence(memory_order_seq_cst);
    machine_cache_drop_all(&warp->block->cache);
}

/* Holds back nothing that the block knows of others. */
RUN(fence_release)
{
    (void)i;
    (void)mask;
    machine_stores_let_all_go(&warp->block->stores);
    atomic_thread_fence(memory_order_seq_cst);
}

RUN(nothing)
{
    (void)warp;
    (void)i;
    (void)mask;
}

bool build_fence(struct ptx_reader *reader, const struct statement *s, struct instruction *i)
{
    (void)reader;
    const bool narrow =
        statement_has(s, "cta") || statement_has(s, "proxy") || statement_has(s, "mbarrier_init");
    const bool wide = statement_has(s, "gpu") || statement_has(s, "sys") || statement_has(s, "gl") ||
                      statement_has(s, "cluster");
    i->run = narrow ? nothing : statement_has(s, "release") ? fence_release : fence_wide;
    return s->operand_count == 0 && (narrow || wide);
}
