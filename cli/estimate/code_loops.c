/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops by their jumps (code_loops.h): a jump back is the end of a loop, and one from inside of it to a place outside of it is a way out. x86-64
 * only; of other processors no loop is found.
 */
#include "cli/estimate/code_loops.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TURNS_UNROLLED = 8, /* a loop of so many turns, or more, is worth it */
    TURNS_FOLDED = 32
};

/* The register at a '%', without its width: "dx" of %edx, "r8" of %r8d. */
static void name_of(const char *at, char name[8])
{
    const size_t length = strcspn(at + 1, ",()");
    const char *const begin = at + 1 + ((at[1] == 'e' || at[1] == 'r') && !isdigit((unsigned char)at[2]));
    const size_t own = (size_t)(at + 1 + length - begin);
    snprintf(name, 8, "%.*s", (int)(own < 7 ? own : 7), begin);
    if (isdigit((unsigned char)name[1]))
        name[strcspn(name, "dwb")] = '\0';
}

/* The registers that operands name outside of addresses, at most two. */
static void names_of(const char *operands, char names[2][8])
{
    uint32_t depth = 0, count = 0;
    names[0][0] = names[1][0] = '\0';
    for (const char *at = operands; *at && count < 2; at++) {
        depth += *at == '(';
        depth -= *at == ')' && depth > 0;
        if (*at == '%' && !depth)
            name_of(at, names[count++]);
    }
}

/* add $0x1,%ebx, or inc %ebx, or lea 0x1(%rbx),%ebx */
static bool is_constant_step(const char *name, const char *operands)
{
    if (strcmp(name, "lea") == 0)
        return isdigit((unsigned char)operands[0]) && !strchr(operands + strcspn(operands, "("), '*') &&
               strcspn(operands, ",") > strcspn(operands, ")");
    if (strncmp(name, "inc", 3) == 0 || strncmp(name, "dec", 3) == 0)
        return operands[0] == '%';
    return (strncmp(name, "add", 3) == 0 || strncmp(name, "sub", 3) == 0) && operands[0] == '$' &&
           !strchr(operands, '(');
}

static void note_step(code_loops *loops, const code_cost *cost, const char *operands, uint64_t at,
                      bool by_lanes)
{
    const char *const last = strrchr(operands, '%');
    if (!last || loops->step_count == CODE_STEPS_MAX)
        return;
    code_step *const step = &loops->steps[loops->step_count++];
    step->at = at;
    step->cost = *cost;
    step->by_lanes = by_lanes;
    name_of(last, step->name);
}

/* Whether the code at an address ran; yes, where nothing says so. Each code without branches begins with a call of 5 bytes. */
static bool has_run(const traffic_file *traffic, uint64_t address)
{
    for (size_t i = 0; i < traffic->step_count; i++)
        if (traffic->steps[i].offset == address + 5)
            return traffic->steps[i].executed > 0;
    return false;
}

static void note_jump(code_loops *loops, const code_jump *jump)
{
    if (loops->jump_count == CODE_JUMPS_MAX)
        return;
    code_jump *const own = &loops->jumps[loops->jump_count++];
    *own = *jump;
    memcpy(own->compared, loops->compared, sizeof own->compared);
    own->comparison = loops->comparison;
    own->by_constant = loops->by_constant;
}

void code_loops_take(code_loops *loops, const traffic_file *traffic, const traffic_step *step,
                     code_line *line, double weight, const char *name, const char *operands, uint64_t next)
{
    const code_cost cost = {line, weight * (double)step->issued, weight * (double)step->executed};
    static const code_cost nothing;
    /* lanes share the work of a loop by steps of gyre_lane_count */
    const bool by_lanes =
        loops->counts_lanes && strcmp(name, "add") == 0 && strncmp(operands, "%eax,%", 6) == 0;
    const bool steps = by_lanes || is_constant_step(name, operands);
    loops->counts_lanes = strncmp(name, "call", 4) == 0 && strstr(operands, "<gyre_lane_count");
    if (steps)
        note_step(loops, &cost, operands, next, by_lanes);
    if (name[0] == 'j' && strncmp(name, "jmp", 3) != 0) {
        const uint64_t to = strtoull(operands, NULL, 16);
        note_jump(loops, &(code_jump){.from = next,
                                      .to = to,
                                      .line = line,
                                      .issued = (double)step->issued,
                                      .executed = (double)step->executed,
                                      .cost = cost,
                                      .taken = to < next || has_run(traffic, to)});
    } else if (strncmp(name, "cmp", 3) == 0 || strncmp(name, "test", 4) == 0 ||
               (steps && strcmp(name, "lea") != 0)) {
        names_of(operands, loops->compared);
        loops->comparison = steps ? nothing : cost;
        loops->by_constant = operands[0] == '$';
    } else if (strncmp(name, "mov", 3) != 0 && strcmp(name, "lea") != 0) {
        loops->compared[0][0] = loops->compared[1][0] = '\0';
    }
}

/* The step of the register that a jump of a loop goes by; NULL: it does not grow or shrink by a constant in the loop. */
static code_step *find_step(code_loops *loops, const code_jump *jump, const code_jump *back)
{
    for (uint32_t i = 0; i < loops->step_count; i++) {
        code_step *const step = &loops->steps[i];
        if (step->at > back->to && step->at <= back->from &&
            (strcmp(step->name, jump->compared[0]) == 0 || strcmp(step->name, jump->compared[1]) == 0))
            return step;
    }
    return NULL;
}

/* Whether a way out of the loop, or its end, depends on what was computed. */
static bool is_open(code_loops *loops, const code_jump *back)
{
    if (!find_step(loops, back, back))
        return true;
    for (uint32_t i = 0; i < loops->jump_count; i++) {
        const code_jump *const jump = &loops->jumps[i];
        if (jump->taken && jump->issued > 0 && jump->from > back->to && jump->from < back->from &&
            (jump->to < back->to || jump->to >= back->from) && !find_step(loops, jump, back))
            return true;
    }
    return false;
}

static bool is_inner(const code_loops *loops, const code_jump *back)
{
    for (uint32_t i = 0; i < loops->jump_count; i++) {
        const code_jump *const jump = &loops->jumps[i];
        if (jump != back && jump->to < jump->from && jump->to >= back->to && jump->from <= back->from)
            return false;
    }
    return true;
}

void code_loops_take_item(code_loops *loops, const code_item *item)
{
    if (loops->item_count < CODE_ITEMS_MAX)
        loops->items[loops->item_count++] = *item;
}

/* How often the code before an address ran, from which a loop is entered. */
static double entries(const traffic_file *traffic, uint64_t address)
{
    const traffic_step *before = NULL;
    for (size_t i = 0; i < traffic->step_count; i++) {
        const traffic_step *const step = &traffic->steps[i];
        if (step->offset <= address && (!before || step->offset > before->offset))
            before = step;
    }
    return before && before->issued ? (double)before->issued : 1;
}

/* In code without a loop the index is a number, and the array's items are in registers. */
static void fold_items(const code_loops *loops, const code_jump *back)
{
    for (uint32_t i = 0; i < loops->item_count; i++) {
        const code_item *const item = &loops->items[i];
        if (item->spread || item->at <= back->to || item->at > back->from)
            continue;
        item->line->local -= item->issued;
    }
}

static double least(double one, double other)
{
    return one < other ? one : other;
}

/* Takes so much off what a line has counted, and no more than it has of this. */
static void take_off(code_cost *cost, double *issued, double *executed)
{
    if (!cost->line)
        return;
    const double groups = least(least(*issued, cost->issued), cost->line->issued);
    const double lanes = least(least(*executed, cost->executed), cost->line->executed);
    cost->issued -= groups;
    cost->executed -= lanes;
    cost->line->issued -= groups;
    cost->line->executed -= lanes;
    *issued -= groups;
    *executed -= lanes;
}

/*
 * The compiler makes one turn of four of an inner loop that counts far: its step, its comparison and its jump are there once. Of a few turns whose
 * number it knows it leaves no loop. An x86-64 has two instructions for the three where the step compares with 0.
 */
static void unroll(code_jump *back, code_step *step, const code_loops *loops, const traffic_file *traffic)
{
    const double turns = back->issued / entries(traffic, back->to);
    const bool is_known = back->by_constant && !step->by_lanes;
    if (!is_known && turns < TURNS_UNROLLED)
        return;
    const bool is_folded = is_known && turns <= TURNS_FOLDED;
    const double saved = is_folded ? 3 : 3 * 0.75;
    if (is_folded)
        fold_items(loops, back);
    double issued = saved * back->issued, executed = saved * back->executed;
    take_off(&back->cost, &issued, &executed);
    take_off(&back->comparison, &issued, &executed);
    take_off(&step->cost, &issued, &executed);
}

void code_loops_end(code_loops *loops, const traffic_file *traffic)
{
    for (uint32_t i = 0; i < loops->jump_count; i++) {
        code_jump *const jump = &loops->jumps[i];
        if (jump->to >= jump->from)
            continue;
        if (is_open(loops, jump))
            jump->line->turns += jump->issued;
        else if (is_inner(loops, jump))
            unroll(jump, find_step(loops, jump, jump), loops, traffic);
    }
    loops->jump_count = loops->step_count = loops->item_count = 0;
}
