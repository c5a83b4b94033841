/* SPDX-License-Identifier: Apache-2.0 */
/* Where lanes go on: branches, calls, returns, ends, sleep. */
#include "ops.h"

#include <string.h>

RUN(branch)
{
    const uint32_t others = warp->mask & ~mask;
    if (others)
        machine_warp_part(warp, others, i + 1);
    warp->pc = i->target;
    if (warp->path_count > 1)
        warp->left = 0; /* somebody else may be nearer to where all meet */
}

/* ---- calls ---- */

static uint8_t *frame_of(const struct warp *warp, uint32_t lane, uint32_t frame)
{
    return warp->local + (uint64_t)lane * warp->local_size + frame;
}

static void pass(const struct warp *warp, const struct passed *passed, uint32_t count, uint32_t lane,
                 uint32_t from, uint32_t to)
{
    for (uint32_t p = 0; p < count; p++)
        memcpy(frame_of(warp, lane, to + passed[p].to), frame_of(warp, lane, from + passed[p].from),
               passed[p].size);
}

RUN(call)
{
    struct path *path = warp->now;
    const struct machine_function *caller = path->function;
    const uint32_t frame = warp->frame + caller->frame_size;
    if (warp->mask & ~mask)
        machine_warp_part(warp, warp->mask & ~mask, i + 1);
    FOR_LANES(l, mask)
    {
        warp->comebacks[path->depth * LANES + l] =
            (struct comeback){i, caller, warp->base[BASE_REGISTERS], warp->frame};
        pass(warp, i->call->arguments, i->call->argument_count, l, warp->frame, frame);
    }
    path->depth++;
    path->function = i->call->callee;
    path->registers = warp->base[BASE_REGISTERS] + (size_t)caller->register_count * ROW;
    path->frame = frame;
    warp->base[BASE_REGISTERS] = path->registers;
    warp->frame = frame;
    warp->pc = path->function->code;
    warp->left = 0;
}

void build_call(struct instruction *i)
{
    i->run = call;
}

static bool same_comeback(const struct comeback *one, const struct comeback *other)
{
    return one->pc == other->pc && one->registers == other->registers && one->frame == other->frame;
}

/* The first lane's caller takes along all lanes that it called; the others return in turn. */
RUN(give_back)
{
    struct path *path = warp->now;
    const struct comeback *comebacks = warp->comebacks + (path->depth - 1) * LANES;
    const struct comeback *first = &comebacks[__builtin_ctz(mask)];
    uint32_t group = 0;
    FOR_LANES(l, mask)
    if (same_comeback(&comebacks[l], first))
        group |= 1u << l;
    if (mask & ~group)
        machine_warp_part(warp, mask & ~group, i);
    if (warp->mask & ~group)
        machine_warp_part(warp, warp->mask & ~group, i + 1);
    FOR_LANES(l, group)
    pass(warp, first->pc->call->results, first->pc->call->result_count, l, warp->frame, first->frame);
    path->depth--;
    path->function = first->function;
    path->registers = warp->base[BASE_REGISTERS] = first->registers;
    path->frame = warp->frame = first->frame;
    warp->pc = first->pc + 1;
    warp->left = 0;
}

/* ---- ends ---- */

RUN(leave)
{
    (void)i;
    warp->live &= ~mask;
    warp->mask &= ~mask;
    warp->block->live -= (uint32_t)__builtin_popcount(mask);
    warp->block->stored = true;
    warp->left = 0;
    machine_warp_look_again(warp);
    warp->now->mask = warp->mask;
    machine_barriers_look_again(warp->block);
}

RUN(trap)
{
    machine_fault(warp, i, MACHINE_TRAP, (uint32_t)__builtin_ctz(mask), 0);
}

RUN(assertion)
{
    machine_fault(warp, i, MACHINE_ASSERT, (uint32_t)__builtin_ctz(mask), 0);
}

bool build_assert(struct instruction *i)
{
    i->run = assertion;
    return true;
}

/* A device may sleep for up to twice as long, or not at all. */
RUN(rest)
{
    if (warp->mask & ~mask)
        machine_warp_part(warp, warp->mask & ~mask, i + 1);
    const uint64_t ns = (uint32_t)lanes_at(warp, i->o[0])[__builtin_ctz(mask)];
    warp->now->state = PATH_SLEEPING;
    machine_warp_looks(warp);
    warp->now->wake_ns = machine_now_ns() + (ns < 1000000 ? ns : 1000000);
    warp->left = 0;
}

RUN(hint)
{
    (void)warp;
    (void)i;
    (void)mask;
}

bool build_control(struct ptx_reader *reader, const struct statement *s, struct instruction *i)
{
    (void)reader;
    const char *what = s->parts[0];
    if (strcmp(what, "bra") == 0) {
        i->run = branch;
        i->access.type = 'j';
        i->access.falls_through = false;
        return s->operand_count == 1 && s->operands[0].kind == OPERAND_NAME;
    }
    if (strcmp(what, "ret") == 0)
        i->run = s->entry ? leave : give_back;
    else if (strcmp(what, "exit") == 0)
        i->run = leave;
    else if (strcmp(what, "trap") == 0 || strcmp(what, "brkpt") == 0)
        i->run = trap;
    else if (strcmp(what, "nanosleep") == 0 && s->operand_count == 1)
        i->run = rest;
    else
        i->run = hint;
    i->o[0] = s->operand_count ? s->operands[0].place : i->o[0];
    i->access.falls_through = i->run != leave && i->run != give_back;
    return true;
}
