/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes that wait for each other (cpu_stuck.h). Whether a write changed anything is seen at the next access of whichever lane, because one lane
 * runs at a time and the write is over by then.
 */
#include "backends/cpu/check/cpu_stuck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/lanes/cpu_lane.h"
#include "backends/cpu/cpu_resident.h"
#include "backends/cpu/check/cpu_turns.h"
#include "backends/cpu/check/cpu_watched.h"

enum { PLACES = 4, LIST_MAX = 1800, PLACE_MAX = 512 };

/** What a lane looked at since it last did something new. */
struct lane_looks {
    const void *code[PLACES], *at[PLACES];
    struct cpu_touch latest;
    uint64_t change; /* the count of changes at which its repeats began */
    uint32_t next, repeats;
};

struct cpu_stuck {
    uint64_t changes;    /* how often memory changed, or a lane met a barrier */
    const void *written; /* where the latest access writes; NULL: it does not */
    uint64_t before;     /* what was there before the latest write */
    uint32_t lane_count, written_size;
    struct lane_looks lanes[];
};

struct cpu_stuck *cpu_stuck_create(uint32_t lanes)
{
    struct cpu_stuck *const stuck = calloc(1, sizeof *stuck + lanes * sizeof stuck->lanes[0]);
    if (stuck)
        stuck->lane_count = lanes;
    return stuck;
}

void cpu_stuck_free(struct cpu_stuck *stuck)
{
    free(stuck);
}

void cpu_stuck_begin(struct cpu_stuck *stuck)
{
    if (!stuck)
        return;
    stuck->written = NULL;
    stuck->changes++;
}

void cpu_stuck_met(struct cpu_stuck *stuck)
{
    if (stuck)
        stuck->changes++;
}

/* Whether the latest write left other bytes than were there. */
static void settle_write(struct cpu_stuck *stuck)
{
    if (stuck->written && memcmp(stuck->written, &stuck->before, stuck->written_size) != 0)
        stuck->changes++;
    stuck->written = NULL;
}

static void begin_write(struct cpu_stuck *stuck, const struct cpu_touch *touch)
{
    if (touch->size > sizeof stuck->before) {
        stuck->changes++;
        return;
    }
    stuck->written = touch->at;
    stuck->written_size = (uint32_t)touch->size;
    memcpy(&stuck->before, touch->at, touch->size);
}

/* Whether only lanes of this message change the memory while it is handled. */
static bool is_own(const struct gyre_resident *resident, uint32_t sort)
{
    return sort == GYRE_SORT_SCRATCH || sort == GYRE_SORT_REPLY ||
           (sort == GYRE_SORT_STATE && (resident->together > 1 || resident->blocks == 1));
}

/* Whether the lane did the same before, since memory last changed. Else it begins anew. */
static bool repeats(const struct cpu_stuck *stuck, struct lane_looks *looks, const struct cpu_touch *touch)
{
    if (looks->change != stuck->changes)
        *looks = (struct lane_looks){.change = stuck->changes};
    for (uint32_t i = 0; i < PLACES; i++)
        if (looks->code[i] == touch->code && looks->at[i] == touch->at)
            return true;
    looks->code[looks->next] = touch->code;
    looks->at[looks->next] = touch->at;
    looks->next = (looks->next + 1) % PLACES;
    return false;
}

static bool all_wait(const struct cpu_stuck *stuck, const gyre_context *context, uint64_t looks)
{
    for (uint32_t i = 0; i < stuck->lane_count; i++)
        if (cpu_lanes_runs(context, i) &&
            (stuck->lanes[i].change != stuck->changes || stuck->lanes[i].repeats < looks))
            return false;
    return true;
}

/* ---- telling ---- */

/* Whether two lanes wait for the same. */
static bool wait_alike(const struct cpu_stuck *stuck, const gyre_context *context, uint32_t a, uint32_t b)
{
    const char *const place = cpu_lanes_place(context, a), *const other = cpu_lanes_place(context, b);
    const struct cpu_touch *const one = &stuck->lanes[a].latest, *const two = &stuck->lanes[b].latest;
    if (place || other)
        return place && other && strcmp(place, other) == 0;
    return cpu_lanes_runs(context, a) && cpu_lanes_runs(context, b) && one->code == two->code &&
           one->at == two->at;
}

/* Writes "waits at FILE:LINE (`...`) for another value of MEMORY"; a lane that waits at a barrier is given its place alone. */
static void write_wait(const struct cpu_stuck *stuck, const gyre_context *context, uint32_t lane, char *text,
                       size_t size)
{
    const struct cpu_worker *const worker = context->owner;
    const struct cpu_touch *const latest = &stuck->lanes[lane].latest;
    const char *const barrier = cpu_lanes_place(context, lane);
    char place[PLACE_MAX], memory[128];
    if (barrier) {
        cpu_finding_barrier(worker, barrier, worker->watched->latest[lane], place, sizeof place);
        snprintf(text, size, "%s", place);
        return;
    }
    cpu_finding_place(worker, latest->code, place, sizeof place);
    cpu_finding_memory(worker, latest, memory, sizeof memory);
    snprintf(text, size, "%s for another value of %s", place, memory);
}

/* Logs where each lane waits that did not end: neighbours that wait for the same together. */
static void tell(const struct cpu_stuck *stuck, const gyre_context *context)
{
    char list[LIST_MAX] = "", wait[PLACE_MAX + 160];
    for (uint32_t first = 0, end; first < stuck->lane_count; first = end) {
        end = first + 1;
        if (!cpu_lanes_runs(context, first) && !cpu_lanes_place(context, first))
            continue;
        while (end < stuck->lane_count && wait_alike(stuck, context, first, end))
            end++;
        const size_t used = strlen(list);
        const char *const comma = used ? ", " : "";
        write_wait(stuck, context, first, wait, sizeof wait);
        if (end == first + 1)
            snprintf(list + used, sizeof list - used, "%slane %u waits at %s", comma, first, wait);
        else
            snprintf(list + used, sizeof list - used, "%slanes %u to %u wait at %s", comma, first, end - 1,
                     wait);
    }
    cpu_finding_waiters(context->owner, list);
}

bool cpu_stuck_note(struct cpu_stuck *stuck, const gyre_context *context, const struct cpu_touch *touch)
{
    struct cpu_worker *const worker = context->owner;
    struct lane_looks *const looks = &stuck->lanes[cpu_lanes_number(context)];
    settle_write(stuck);
    if (touch->how & GYRE_TOUCH_WRITES)
        begin_write(stuck, touch);
    if (!(touch->how & GYRE_TOUCH_ATOMIC))
        return false;
    looks->repeats =
        repeats(stuck, looks, touch) && is_own(worker->resident, touch->range->sort) ? looks->repeats + 1 : 0;
    looks->latest = *touch;
    const uint64_t enough = worker->resident->device->settings.looks;
    if (looks->repeats < enough || looks->repeats % 1024 != 0 || !all_wait(stuck, context, enough))
        return false;
    if (cpu_turns_leap(worker)) { /* they may wait for a time, which is later now */
        stuck->changes++;
        return false;
    }
    tell(stuck, context);
    return true;
}
