/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A warp's turn. Lanes that are at one place form a path; paths part at branches and meet where one comes to
 * another's place. The deepest path with the least place runs, which brings those together again that went around
 * something; now and then another one gets a spell, so that none waits for ever for one that goes in a circle.
 * One thread for all warps of a block: no locks.
 */
#include "machine_core.h"

enum { SPELL_MAX = 1500, SPELL = 300 };

struct path *machine_warp_part(struct warp *warp, uint32_t mask, const struct instruction *pc)
{
    for (int p = 0; p < LANES; p++) { /* at most as many paths as lanes, so there is one free */
        struct path *path = &warp->paths[p];
        if (p < warp->path_count && path->mask)
            continue;
        *path = *warp->now;
        path->mask = mask;
        path->pc = pc;
        path->state = PATH_READY;
        warp->mask &= ~mask;
        warp->now->mask = warp->mask;
        warp->path_count = p < warp->path_count ? warp->path_count : p + 1;
        warp->left = 0;
        return path;
    }
    return NULL;
}

void machine_warp_rest(struct warp *warp)
{
    warp->left = 0;
    warp->rests = warp->path_count == 1;
}

void machine_warp_look_again(struct warp *warp)
{
    for (int p = 0; p < warp->path_count; p++)
        if (warp->paths[p].state == PATH_AT_WARP)
            warp->paths[p].state = PATH_READY;
}

static void remove_empty(struct warp *warp)
{
    int left = 0;
    for (int p = 0; p < warp->path_count; p++)
        if (warp->paths[p].mask)
            warp->paths[left++] = warp->paths[p];
    warp->path_count = left;
}

static bool can_run(struct path *path, uint64_t *now_ns)
{
    if (path->state == PATH_SLEEPING) {
        if (!*now_ns)
            *now_ns = machine_now_ns();
        if (path->wake_ns <= *now_ns)
            path->state = PATH_READY;
    }
    return path->state == PATH_READY;
}

static bool same_frame(const struct path *one, const struct path *other)
{
    return one->registers == other->registers && one->depth == other->depth &&
           one->function == other->function && one->frame == other->frame;
}

static bool before(const struct path *one, const struct path *other)
{
    return one->depth != other->depth ? one->depth > other->depth : one->pc < other->pc;
}

/* Lanes that stand at the same place go on together. */
static void merge(struct warp *warp, struct path *path)
{
    for (int p = 0; p < warp->path_count; p++) {
        struct path *other = &warp->paths[p];
        if (other == path || other->state != PATH_READY || other->pc != path->pc || !same_frame(other, path))
            continue;
        path->mask |= other->mask;
        other->mask = 0;
    }
}

/* The next place where another path of the frame stands. */
static const struct instruction *meeting(const struct warp *warp, const struct path *path)
{
    const struct instruction *meet = NULL;
    for (int p = 0; p < warp->path_count; p++) {
        const struct path *other = &warp->paths[p];
        if (other != path && other->mask && other->state == PATH_READY && same_frame(other, path) &&
            other->pc > path->pc && (!meet || other->pc < meet))
            meet = other->pc;
    }
    return meet;
}

/* Who runs; `chance` picks any that can. */
static struct path *choose(struct warp *warp, bool chance)
{
    struct path *best = NULL, *any = NULL;
    uint64_t now_ns = 0;
    uint32_t ready = 0;
    for (int p = 0; p < warp->path_count; p++) {
        struct path *path = &warp->paths[p];
        if (!can_run(path, &now_ns))
            continue;
        if (!best || before(path, best))
            best = path;
        if (machine_random(&warp->block->random) % ++ready == 0)
            any = path;
    }
    return chance ? any : best;
}

static struct path *only(struct warp *warp)
{
    uint64_t now_ns = 0;
    return can_run(&warp->paths[0], &now_ns) ? &warp->paths[0] : NULL;
}

static int run_path(struct warp *warp, struct path *path, int limit)
{
    const struct instruction *i = path->pc;
    warp->now = path;
    warp->mask = path->mask;
    warp->frame = path->frame;
    warp->base[BASE_REGISTERS] = path->registers;
    warp->meet = warp->path_count > 1 ? meeting(warp, path) : NULL;
    warp->left = limit;
    int ran = 0;
    do {
        const uint32_t mask = warp->mask & (predicate_at(warp, i->guard) ^ i->flip);
        warp->pc = i + 1;
        if (mask)
            i->run(warp, i, mask);
        i = warp->pc;
        ran++;
    } while (--warp->left > 0 && i != warp->meet);
    path->pc = i;
    path->mask = warp->mask;
    return ran;
}

/* Who runs for long while others of its warp could is followed by one of these, for a while. */
static int run_one(struct warp *warp, int quantum)
{
    const bool alone = warp->path_count == 1;
    const bool chance = !alone && warp->spell > SPELL_MAX;
    struct path *path = alone ? only(warp) : choose(warp, chance);
    if (!path)
        return 0;
    if (chance)
        warp->spell = 0;
    int ran = 0;
    const int limit = chance && quantum > SPELL ? SPELL : quantum;
    do {
        if (!alone)
            merge(warp, path);
        ran += run_path(warp, path, limit - ran);
    } while (chance && ran < limit && path->mask && path->state == PATH_READY &&
             !atomic_load_explicit(&warp->block->grid->ending, memory_order_relaxed));
    if (warp->path_count > 1 || !path->mask)
        remove_empty(warp);
    warp->spell = warp->path_count > 1 ? warp->spell + ran : 0;
    return ran;
}

int machine_warp_turn(struct warp *warp, int quantum)
{
    int ran = 0;
    warp->rests = false;
    while (ran < quantum && warp->path_count && !warp->rests &&
           !atomic_load_explicit(&warp->block->grid->ending, memory_order_relaxed)) {
        const int more = run_one(warp, quantum - ran);
        if (!more)
            break;
        ran += more;
    }
    return ran;
}

bool machine_block_stuck(const struct block *block)
{
    for (uint32_t w = 0; w < block->warp_count; w++)
        for (int p = 0; p < block->warps[w].path_count; p++)
            if (block->warps[w].paths[p].state == PATH_READY ||
                block->warps[w].paths[p].state == PATH_SLEEPING)
                return false;
    return true;
}
