/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explores the orders of a message's lanes (cpu_explore.h). The writes of a run are a list of old bytes. Going back through it
 * restores memory, and yields a number for what the run did: for each byte a hash of its new value less one of its old value.
 * Bytes that were written several times cancel out, except the first and the last value, so runs that leave the same bytes
 * behind have the same number, however they came to it.
 */
#include "backends/cpu/check/cpu_explore.h"

#include <stdlib.h>
#include <string.h>

#include "backends/cpu/check/cpu_finding.h"
#include "backends/cpu/check/cpu_order.h"
#include "backends/cpu/cpu_resident.h"
#include "backends/cpu/check/cpu_stuck.h"
#include "backends/cpu/check/cpu_watched.h"
#include "backends/cpu/check/cpu_written.h"

enum { WRITES_FIRST = 1024, SCRATCH_FILL = 0xA5 };

/* At most 8 bytes that were written. */
struct write {
    unsigned char *at;
    uint32_t size;
    unsigned char old[8];
};

/* What a run did. */
struct outcome {
    int result;
    int code; /* of the failure; 0: none */
    uint64_t effect;
};

struct cpu_explored {
    struct write *writes;
    size_t count, room;
    bool lost;                   /* there was no memory for a write: the message cannot be run again */
    struct cpu_order_run *noted; /* where accesses of this run are kept; NULL: nowhere */
    uint64_t reply_size;
    unsigned char *before, *first; /* the reply before the runs, and after the first one */
};

struct cpu_explored *cpu_explored_create(const struct cpu_worker *worker)
{
    struct cpu_explored *const explored = calloc(1, sizeof *explored);
    if (!explored)
        return NULL;
    explored->reply_size = worker->resident->kernel->sizes.reply;
    explored->room = WRITES_FIRST;
    explored->writes = calloc(explored->room, sizeof *explored->writes);
    explored->before = calloc(1, explored->reply_size + 1);
    explored->first = calloc(1, explored->reply_size + 1);
    if (explored->writes && explored->before && explored->first)
        return explored;
    cpu_explored_free(explored);
    return NULL;
}

void cpu_explored_free(struct cpu_explored *explored)
{
    if (!explored)
        return;
    free(explored->writes);
    free(explored->before);
    free(explored->first);
    free(explored);
}

/* ---- writes ---- */

static bool make_room(struct cpu_explored *explored)
{
    if (explored->count < explored->room)
        return true;
    struct write *const writes = realloc(explored->writes, explored->room * 2 * sizeof *writes);
    if (!writes)
        return false;
    explored->writes = writes;
    explored->room *= 2;
    return true;
}

void cpu_explore_note(struct cpu_explored *explored, const void *at, uint64_t size)
{
    const unsigned char *from = at;
    while (size > 0 && !explored->lost) {
        const uint32_t part = size < 8 ? (uint32_t)size : 8;
        if (!make_room(explored)) {
            explored->lost = true;
            return;
        }
        struct write *const write = &explored->writes[explored->count++];
        write->at = (unsigned char *)(uintptr_t)from;
        write->size = part;
        memcpy(write->old, from, part);
        from += part;
        size -= part;
    }
}

void cpu_explore_access(struct cpu_explored *explored, const struct cpu_touch *touch, uint64_t number,
                        uint32_t lane)
{
    cpu_order_note(explored->noted, touch, number, lane);
}

bool cpu_explore_notes(const struct cpu_explored *explored)
{
    return explored->noted != NULL;
}

static uint64_t hash_byte(const unsigned char *at, unsigned char value)
{
    uint64_t hash = ((uint64_t)(uintptr_t)at << 8 | value) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 32;
}

/* Takes all writes of a run back. Returns the number of what they did. */
static uint64_t take_back(struct cpu_explored *explored)
{
    uint64_t effect = 0;
    while (explored->count > 0) {
        const struct write *const write = &explored->writes[--explored->count];
        for (uint32_t i = 0; i < write->size; i++) {
            effect += hash_byte(write->at + i, write->at[i]) - hash_byte(write->at + i, write->old[i]);
            write->at[i] = write->old[i];
        }
    }
    return effect;
}

/* ---- runs ---- */

/*
 * Runs the lanes in the order of a seed. Each run finds the same memory: the reply as it was, and a scratch full of bytes that
 * mean nothing, as on a device.
 */
static int run_seed(struct cpu_worker *worker, const struct cpu_lanes_message *message, gyre_context *context,
                    uint64_t seed)
{
    struct cpu_explored *const explored = worker->watched->explored;
    const uint64_t one = worker->resident->kernel->scratch_size,
                   scratch = worker->resident->together > 1
                                 ? worker->scratch_size * worker->resident->together
                                 : one;
    memcpy(message->reply, explored->before, explored->reply_size);
    if (scratch)
        memset(message->scratch, SCRATCH_FILL, scratch);
    explored->count = 0;
    context->failed = 0;
    worker->watched->seed = seed;
    cpu_finding_begin(worker);
    cpu_written_begin(worker);
    cpu_stuck_begin(worker->watched->stuck);
    cpu_lanes_schedule(worker->lanes, seed);
    cpu_lanes_limit(worker->lanes, worker->resident->device->settings.switches);
    const int result = cpu_lanes_run(worker->lanes, message, context);
    cpu_written_end(worker);
    return result;
}

static struct outcome outcome_of(struct cpu_explored *explored, int result, const gyre_context *context)
{
    return (struct outcome){result, context->failed ? context->fail_code : 0, take_back(explored)};
}

/* Whether a run did the same as the first one. A reply that is not sent is not compared. */
static bool is_same(const struct cpu_explored *explored, const struct outcome *first,
                    const struct outcome *now, const void *reply)
{
    return first->result == now->result && first->code == now->code && first->effect == now->effect &&
           (now->result != GYRE_OUTCOME_REPLY || memcmp(explored->first, reply, explored->reply_size) == 0);
}

/* Finds out why two runs differ: both are run once more for that. Their results are the same again. */
static void explain_difference(struct cpu_worker *worker, const struct cpu_lanes_message *message,
                               gyre_context *context, struct cpu_difference *difference)
{
    struct cpu_explored *const explored = worker->watched->explored;
    struct cpu_order_run *const runs[2] = {cpu_order_create(), cpu_order_create()};
    for (int i = 0; i < 2 && runs[0] && runs[1]; i++) {
        explored->noted = runs[i];
        run_seed(worker, message, context, difference->seeds[i]);
        explored->noted = NULL;
        take_back(explored);
    }
    if (runs[0] && runs[1])
        cpu_order_explain(worker, (const struct cpu_order_run *const[]){runs[0], runs[1]}, difference->seeds,
                          difference->why, sizeof difference->why);
    cpu_order_free(runs[0]);
    cpu_order_free(runs[1]);
}

/* Runs the other seeds and compares each with the first. Ends at the first that differs. */
static void run_others(struct cpu_worker *worker, const struct cpu_lanes_message *message,
                       gyre_context *context)
{
    const struct cpu_settings *const settings = &worker->resident->device->settings;
    struct cpu_explored *const explored = worker->watched->explored;
    const struct outcome first =
        outcome_of(explored, run_seed(worker, message, context, settings->seed), context);
    const struct cpu_switches switches = *cpu_lanes_switches(worker->lanes);
    memcpy(explored->first, message->reply, explored->reply_size);
    for (uint64_t i = 1; i < settings->seeds && !explored->lost && !worker->turn.given_up; i++) {
        const uint64_t seed = settings->seed + i;
        const struct outcome now = outcome_of(explored, run_seed(worker, message, context, seed), context);
        if (worker->turn.given_up || is_same(explored, &first, &now, message->reply))
            continue;
        struct cpu_difference difference = {.seeds = {settings->seed, seed},
                                            .results = {first.result, now.result},
                                            .replies = {explored->first, message->reply},
                                            .switches = {switches, *cpu_lanes_switches(worker->lanes)}};
        if (!cpu_finding_order_was_told(worker))
            explain_difference(worker, message, context, &difference);
        cpu_finding_order(context, &difference);
        break;
    }
}

int cpu_explore(struct cpu_worker *worker, const struct cpu_lanes_message *message, gyre_context *context)
{
    const struct cpu_settings *const settings = &worker->resident->device->settings;
    struct cpu_watched *const watched = worker->watched;
    struct cpu_explored *const explored = watched->explored;
    explored->lost = false;
    memcpy(explored->before, message->reply, explored->reply_size);
    /* messages to ports cannot be taken back */
    if (settings->seeds > 1 && worker->resident->kernel->port_count == 0)
        run_others(worker, message, context);
    int result = GYRE_OUTCOME_FAILED;
    if (!explored->lost && !worker->turn.given_up)
        result = run_seed(worker, message, context, settings->seed);
    if (watched->text[0] && !context->failed) { /* found with another seed */
        context->failed = 1;
        context->fail_code = GYRE_FAILURE_FINDING;
        context->fail_text = watched->text;
    }
    if (explored->lost && !context->failed) {
        context->failed = 1;
        context->fail_code = GYRE_FAILURE_MEMORY;
        context->fail_text = "no memory to take back what a run wrote";
    }
    return context->failed ? GYRE_OUTCOME_FAILED : result;
}
