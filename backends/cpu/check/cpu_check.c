/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows a device's messages, and what their handlers touch (cpu_check.h). A finding fails the message that makes it;
 * its handler goes on, because an access that races harms nothing here: one message runs at a time.
 */
#include "backends/cpu/check/cpu_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/check/cpu_crash.h"
#include "backends/cpu/check/cpu_explore.h"
#include "backends/cpu/check/cpu_finding.h"
#include "backends/cpu/cpu_resident.h"
#include "backends/cpu/check/cpu_stuck.h"
#include "backends/cpu/check/cpu_turns.h"
#include "backends/cpu/check/cpu_watched.h"
#include "backends/cpu/check/cpu_window.h"
#include "backends/cpu/check/cpu_written.h"

/* ---- devices and workers ---- */

/*
 * Whether atomic loads may find older values. Not where a message runs several times, because what a run wrote is taken back before
 * the next one.
 */
static bool finds_older(const struct cpu_settings *settings)
{
    return settings->checks & CPU_CHECK_ORDER &&
           (settings->seeds == 1 || !(settings->checks & CPU_CHECK_SCHEDULE));
}

gyre_status cpu_check_open(struct gyre_device *device)
{
    if (!device->settings.checks)
        return GYRE_OK;
    struct cpu_checks *const checks = calloc(1, sizeof *checks);
    if (!checks)
        return device->host->error(GYRE_EXHAUSTED, "no memory for the checks of the cpu device");
    if (device->settings.checks & CPU_CHECK_TRAFFIC &&
        !(checks->traffic = cpu_traffic_create(device->settings.traffic_file))) {
        free(checks);
        return device->host->error(GYRE_EXHAUSTED, "no memory for the counts of the cpu device");
    }
    const bool is_short_of_memory =
        (device->settings.checks & CPU_CHECK_MEMORY &&
         !(checks->sent = calloc(CPU_SENT_MAX, sizeof *checks->sent))) ||
        (finds_older(&device->settings) && !(checks->stale = cpu_stale_create(device->settings.seed)));
    if (is_short_of_memory) {
        free(checks->sent);
        cpu_traffic_free(checks->traffic);
        free(checks);
        return device->host->error(GYRE_EXHAUSTED, "no memory for the checks of the cpu device");
    }
    pthread_mutex_init(&checks->lock, NULL);
    cpu_crash_open(&checks->crash, &device->settings, device->host);
    device->checks = checks;
    return GYRE_OK;
}

/* A file that cannot be written is told in the log, because closing a device does not fail. */
static void write_traffic(const struct gyre_device *device)
{
    struct cpu_traffic *const traffic = device->checks->traffic;
    char text[512];
    if (traffic && !cpu_traffic_write(traffic)) {
        snprintf(text, sizeof text, "check traffic: '%.300s' cannot be written: %s",
                 device->settings.traffic_file, strerror(errno));
        device->host->log(device->host->context, GYRE_LOG_ERROR, text);
    }
    cpu_traffic_free(traffic);
}

void cpu_check_close(struct gyre_device *device)
{
    if (!device->checks)
        return;
    write_traffic(device);
    cpu_crash_close(&device->settings, device->checks->messages);
    cpu_shadow_free(&device->checks->shared);
    cpu_stale_free(device->checks->stale);
    cpu_written_close(device->checks);
    pthread_mutex_destroy(&device->checks->lock);
    free(device->checks);
}

/* What the worker of a block kernel has besides. */
static bool prepare_block(struct cpu_worker *worker, struct cpu_watched *watched)
{
    const struct cpu_settings *const settings = &worker->resident->device->settings;
    const size_t lanes = (size_t)worker->resident->lanes * worker->resident->together;
    watched->latest = calloc(2 * lanes, sizeof *watched->latest);
    watched->more = watched->latest ? watched->latest + lanes : NULL;
    if (settings->checks & CPU_CHECK_DEADLOCK)
        cpu_lanes_on_divergence(worker->lanes, cpu_finding_deadlock);
    if (!(settings->checks & CPU_CHECK_SCHEDULE))
        return watched->latest != NULL;
    watched->explored = cpu_explored_create(worker);
    if (!(settings->checks & CPU_CHECK_DEADLOCK))
        return watched->latest && watched->explored;
    watched->stuck = cpu_stuck_create(worker->resident->lanes * worker->resident->together);
    return watched->latest && watched->explored && watched->stuck;
}

bool cpu_check_prepare(struct cpu_worker *worker)
{
    const struct gyre_resident *const resident = worker->resident;
    if (!resident->device->checks)
        return true;
    struct cpu_watched *const watched = calloc(1, sizeof *watched);
    if (!watched)
        return false;
    worker->watched = watched;
    if (gyre_form_shares(resident->kernel->form) && !prepare_block(worker, watched))
        return false;
    return !(resident->device->settings.checks & CPU_CHECK_MEMORY) ||
           cpu_written_prepare(watched, resident->kernel, resident->together);
}

void cpu_check_finish(struct cpu_worker *worker)
{
    if (!worker->watched)
        return;
    cpu_shadow_free(&worker->watched->own);
    cpu_explored_free(worker->watched->explored);
    cpu_stuck_free(worker->watched->stuck);
    free(worker->watched->latest);
    cpu_written_finish(worker->watched);
    free(worker->watched);
}

/* ---- messages ---- */

void cpu_check_look(struct cpu_worker *worker, struct cpu_queue *queue)
{
    struct gyre_resident *const resident = worker->resident;
    if (!worker->watched)
        return;
    struct cpu_checks *const checks = resident->device->checks;
    struct cpu_window *const window = &resident->windows[queue - worker->queues];
    pthread_mutex_lock(&checks->lock);
    uint64_t count;
    cpu_window_look(window, queue, checks->messages);
    worker->watched->seen_since = cpu_window_since(window, queue->next, &count);
    if (queue->run.limit > count)
        queue->run.limit = count;
    pthread_mutex_unlock(&checks->lock);
}

void cpu_check_looked(struct cpu_worker *worker)
{
    if (worker->watched)
        worker->watched->seen_since = 0;
}

/* Messages of an actor, and of a kernel with one block whose lanes share a message, follow each other. */
static bool runs_in_order(const struct gyre_resident *resident)
{
    return resident->kernel->form == GYRE_FORM_ACTOR || resident->kernel->form == GYRE_FORM_KEYED ||
           (gyre_form_shares(resident->kernel->form) && resident->blocks == 1);
}

void cpu_check_begin(struct cpu_worker *worker, const void *request, uint64_t size)
{
    struct cpu_watched *const watched = worker->watched;
    if (!watched)
        return;
    struct cpu_checks *const checks = worker->resident->device->checks;
    pthread_mutex_lock(&checks->lock);
    watched->message = ++checks->messages;
    if (!worker->context.turn)
        watched->first = watched->message;
    watched->since = watched->seen_since ? watched->seen_since : watched->message;
    if (runs_in_order(worker->resident) && watched->since <= watched->last)
        watched->since = watched->last + 1;
    watched->last = watched->message;
    worker->turn.index = worker->turn.next_index++;
    watched->request = request;
    watched->request_size = size;
    watched->text[0] = '\0';
    watched->seed = 0;
    watched->asks_block = watched->has_left = false;
    struct cpu_handled *const handled = &checks->handled[watched->message % CPU_HANDLED_MAX];
    *handled = (struct cpu_handled){.message = watched->message, .block = worker->block, .worker = worker};
    snprintf(handled->kernel, sizeof handled->kernel, "%s", worker->resident->kernel->name);
    cpu_finding_begin(worker);
    cpu_written_receive(worker);
    cpu_written_begin(worker);
    if (checks->traffic)
        cpu_traffic_begin(checks->traffic, worker);
    cpu_crash_begin(worker);
}

void cpu_check_end(struct cpu_worker *worker)
{
    if (!worker->watched)
        return;
    if (worker->resident->device->checks->traffic)
        cpu_traffic_end(worker->resident->device->checks->traffic);
    cpu_crash_end(worker);
    cpu_written_end(worker);
    worker->watched->message = 0;
    pthread_mutex_unlock(&worker->resident->device->checks->lock);
}

/* ---- accesses ---- */

static bool belongs_to_message(const gyre_cpu_range *range)
{
    return range->sort == GYRE_SORT_REQUEST || range->sort == GYRE_SORT_REPLY ||
           range->sort == GYRE_SORT_SCRATCH;
}

/* The lane's number among all that share the message. */
static uint32_t lane_of(const gyre_context *context)
{
    const struct cpu_worker *const worker = context->owner;
    return worker->resident->together > 1 ? cpu_lanes_number(context) : context->lane;
}

/* Addresses of different messages' replies may be the same, so such memory has numbers of its own; a scratch is a block's. */
static uint64_t number_of(const gyre_context *context, const gyre_cpu_range *range, const void *at)
{
    const struct cpu_worker *const worker = context->owner;
    if (!belongs_to_message(range))
        return (uint64_t)(uintptr_t)at;
    const uint64_t block =
        range->sort == GYRE_SORT_SCRATCH && worker->resident->together > 1 ? context->block : 0;
    return (uint64_t)range->sort << 48 | block << 32 | (uint64_t)((const gyre_u8 *)at - range->from);
}

/* Whether the same block handled that message, or whether too long ago to know. */
static bool is_of_same_block(const void *who, uint64_t message)
{
    const struct cpu_worker *const worker = who;
    const struct cpu_checks *const checks = worker->resident->device->checks;
    const struct cpu_handled *const handled = &checks->handled[message % CPU_HANDLED_MAX];
    return handled->message != message || handled->worker == worker;
}

/*
 * A block whose lanes share a message handles one after the other. Which block gets which message is luck, so that orders two of them
 * only where the handler asks for the block's number: other handlers have no memory that is the block's own.
 */
static bool has_own_memory(const struct cpu_worker *worker)
{
    return worker->watched->asks_block && gyre_form_shares(worker->resident->kernel->form);
}

/* Whether that was an earlier call of the message at hand, which asked to be called again. */
static bool is_of_same_message(const struct cpu_worker *worker, uint64_t message)
{
    return message >= worker->watched->first && is_of_same_block(worker, message);
}

static bool is_ordered_before(const void *who, uint64_t message)
{
    const struct cpu_worker *const worker = who;
    return is_of_same_message(worker, message) ||
           (has_own_memory(worker) && is_of_same_block(worker, message));
}

/* Memory of a flow that the message has alone, outside of a pipeline and behind a tap: it has zeros for each one. */
static bool is_zeroed(const struct cpu_worker *worker, const gyre_cpu_range *range)
{
    return range->sort == GYRE_SORT_FLOW && ((const void *)range->from == worker->links.outside ||
                                             (const void *)range->from == worker->links.memory);
}

static void check_race(gyre_context *context, const struct cpu_touch *touch)
{
    struct cpu_worker *const worker = context->owner;
    struct cpu_watched *const watched = worker->watched;
    const bool own = belongs_to_message(touch->range);
    const uint32_t phase = worker->lanes ? cpu_lanes_phase_of(context) : 0;
    if ((own && !gyre_form_shares(worker->resident->kernel->form)) || phase == CPU_NO_PHASE)
        return;
    const struct cpu_access access = {
        .address = number_of(context, touch->range, touch->at),
        .size = touch->size,
        .message = watched->message,
        .since = own || is_zeroed(worker, touch->range) ? watched->message : watched->since,
        .phase = phase,
        .lane = lane_of(context),
        .block_lanes = worker->resident->together > 1 ? worker->resident->lanes : 0,
        .write = touch->how & GYRE_TOUCH_WRITES,
        .atomic = touch->how & GYRE_TOUCH_ATOMIC,
        .code = touch->code,
        .follows = is_ordered_before,
        .who = worker};
    struct cpu_earlier earlier;
    struct cpu_shadow *const shadow = own ? &watched->own : &worker->resident->device->checks->shared;
    if (cpu_shadow_note(shadow, &access, &earlier)) {
        earlier.address -= access.address; /* the first contended byte, from the access on */
        cpu_finding_race(context, touch, &earlier);
    }
}

/* Whether a message of the same block was handled: blocks whose lanes share a message handle one after the other. */
static bool is_before_in_block(const void *who, uint64_t message)
{
    const struct cpu_worker *const worker = who;
    return gyre_form_shares(worker->resident->kernel->form) && is_of_same_block(who, message);
}

/*
 * An older value that the access finds; NULL: it finds the latest one. All calls of one message (GYRE_MORE) are the first of them. Memory of a
 * flow is zeroed for the next one without being touched, so what was there before is not known.
 */
static const void *find_older(struct cpu_worker *worker, const struct cpu_touch *touch)
{
    const struct cpu_watched *const watched = worker->watched;
    struct cpu_stale *const stale = worker->resident->device->checks->stale;
    const struct cpu_stale_message message = {
        .number = watched->first, .since = watched->since, .follows = is_before_in_block, .who = worker};
    return stale && touch->range->sort != GYRE_SORT_FLOW ? cpu_stale_touch(stale, &message, touch) : NULL;
}

/* ---- what kernel files call ---- */

static void begin_lane(gyre_context *context, const void *request, gyre_u64 size)
{
    struct cpu_worker *const worker = context->owner;
    if (!gyre_form_shares(worker->resident->kernel->form))
        cpu_check_begin(worker, request, size);
}

static void end_lane(gyre_context *context)
{
    struct cpu_worker *const worker = context->owner;
    if (!gyre_form_shares(worker->resident->kernel->form))
        cpu_check_end(worker);
}

static const void *touch_memory(gyre_context *context, const gyre_cpu_range *range, const void *at,
                                gyre_u64 size, gyre_u32 how, const void *code)
{
    struct cpu_worker *const worker = context->owner;
    struct cpu_watched *const watched = worker->watched;
    struct cpu_touch touch = {range, at, size, how, code, NULL};
    const uint32_t checks = worker->resident->device->settings.checks;
    if (!watched || !watched->message)
        return at;
    if (range->sort == GYRE_SORT_EMITTED) {
        if (checks & CPU_CHECK_MEMORY)
            cpu_written_emit(worker, &touch);
        return at;
    }
    if (worker->resident->device->checks->traffic) {
        const struct cpu_traffic_touch counted = {range, at, size, how, code};
        cpu_traffic_touch(worker->resident->device->checks->traffic, context->lane, &counted);
        return at;
    }
    cpu_crash_touch(worker, &touch);
    if (watched->latest)
        watched->latest[lane_of(context)] = code;
    if (watched->explored) {
        cpu_lanes_yield(context, code);
        if (cpu_explore_notes(watched->explored))
            cpu_explore_access(watched->explored, &touch, number_of(context, range, at), lane_of(context));
        if (how & GYRE_TOUCH_WRITES && !belongs_to_message(range))
            cpu_explore_note(watched->explored, at, size);
    }
    if (!belongs_to_message(range))
        cpu_turns_point(worker, &touch);
    if (watched->stuck && cpu_stuck_note(watched->stuck, context, &touch)) {
        worker->turn.given_up = true;
        worker->turn.last.code = code;
    }
    if (worker->turn.given_up && worker->lanes)
        cpu_lanes_abandon(context);
    if (!belongs_to_message(range)) {
        touch.older = find_older(worker, &touch);
        cpu_turns_note_access(worker, &touch, lane_of(context));
    }
    if (checks & CPU_CHECK_MEMORY)
        cpu_written_check(context, &touch);
    if (checks & CPU_CHECK_RACES)
        check_race(context, &touch);
    return touch.older ? touch.older : at;
}

static void wait_at_barrier(gyre_context *context, const void *code)
{
    const struct cpu_worker *const worker = context->owner;
    if (!worker->watched || !worker->watched->latest)
        return;
    worker->watched->latest[lane_of(context)] = code;
    cpu_stuck_met(worker->watched->stuck);
}

static void step(gyre_context *context, const void *code)
{
    const struct cpu_worker *const worker = context->owner;
    if (worker->watched && worker->watched->message && worker->resident->device->checks->traffic)
        cpu_traffic_step(worker->resident->device->checks->traffic, context->lane, code);
}

static void ask_block(const gyre_context *context)
{
    const struct cpu_worker *const worker = context->owner;
    if (worker->watched)
        worker->watched->asks_block = true;
}

static void emit(gyre_context *context, const void *code)
{
    const struct cpu_worker *const worker = context->owner;
    if (worker->watched && worker->watched->message && gyre_form_shares(worker->resident->kernel->form) &&
        lane_of(context) > 0)
        cpu_finding_emits(context, code);
}

static void ask_for_more(gyre_context *context, const void *code)
{
    const struct cpu_worker *const worker = context->owner;
    if (worker->watched && worker->watched->latest)
        worker->watched->more[lane_of(context)] = code;
}

static const gyre_cpu_watch functions = {.version = GYRE_CPU_WATCH_VERSION,
                                         .begin = begin_lane,
                                         .end = end_lane,
                                         .touch = touch_memory,
                                         .wait = wait_at_barrier,
                                         .step = step,
                                         .block = ask_block,
                                         .emit = emit,
                                         .more = ask_for_more};

gyre_status cpu_check_adopt(const gyre_module *module, const char *path)
{
    const gyre_host *const host = module->device->host;
    struct cpu_checks *const checks = module->device->checks;
    gyre_cpu_watch_taker take;
    void *symbol = NULL;
    if (!checks)
        return GYRE_OK;
    if (host->library_symbol(module->library, GYRE_CPU_WATCH_SYMBOL, &symbol) != GYRE_OK)
        return host->error(
            GYRE_INCOMPATIBLE,
            "'%s' was compiled without checks, and backend.cpu check asks for some: compile it "
            "with the same setting, or launch its source",
            path);
    memcpy(&take, &symbol, sizeof take); /* ISO C has no cast from an object to a function */
    const gyre_u32 version = take(&functions);
    if (version != GYRE_CPU_WATCH_VERSION)
        return host->error(
            GYRE_INCOMPATIBLE,
            "'%s' was compiled for the checks of another Gyre (version %u, this one needs %d): "
            "compile it again",
            path, version, GYRE_CPU_WATCH_VERSION);
    pthread_mutex_lock(&checks->lock); /* a file that was there before may have had the same addresses */
    memset(checks->places, 0, sizeof checks->places);
    checks->pair_count = 0;
    if (checks->traffic)
        cpu_traffic_module(checks->traffic, path);
    pthread_mutex_unlock(&checks->lock);
    return GYRE_OK;
}
