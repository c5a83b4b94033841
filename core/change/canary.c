/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries another handler on a part of a kernel's messages (canary.h). A unit is compiled of both handlers (core/pipeline/canary_unit.c), which
 * takes the kernel's place as a swap does, calls one of the two for each message, and counts. Now and then the kernel stands, its counts are
 * read, and in the end a swap puts the new handler in its place, or the old one. So queues, clients, journals and workers know of no third thing.
 *
 * Lock: kernel->changer for the two swaps, and not between them: kernel->canary.active keeps other changes away.
 */
#include "core/change/canary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/device/buffer.h"
#include "core/change/change.h"
#include "core/plan/shape.h"
#include "core/kernel/keyed.h"
#include "core/kernel/standing.h"
#include "core/change/swap.h"
#include "core/kernel/turn.h"
#include "core/pipeline/build.h"
#include "gyre/waiting.h"

#define LOOK_FIRST_NS                                                                                        \
    UINT64_C(5000000) /* between two looks, each of which makes the kernel stand for a moment */
#define LOOK_LAST_NS UINT64_C(200000000)
#define NAP_NS       UINT64_C(2000000)
#define RETRY_NS     UINT64_C(200000)
#define STAND_NS     UINT64_C(5000000000)
#define SETTLE_NS    UINT64_C(30000000000) /* for the swap at the end */

struct trial {
    gyre_kernel *kernel;
    gyre_canary_desc desc;
    const char *(*gives_up)(void *context);
    void *context;
    struct gyre_canary_unit unit;
    gyre_kernel *old_one, *next,
        *both;         /* successors: the handler that works, the new one, the unit of both */
    uint32_t restarts; /* of the kernel's worker when the canary began */
    struct gyre_canary_seen seen, last; /* since the canary began; of a keyed actor: as its table counts */
    bool was_worse;
    bool ended_early; /* with the kernel: neither handler goes on */
    char why[512];    /* why the old handler goes on; empty: the new one is no worse */
};

/* ---- counts ---- */

/* Sums what the parts of a table ever counted, modulo 2^32. */
static gyre_status read_parts(const gyre_kernel *kernel, uint32_t handled[2], uint32_t failed[2])
{
    const gyre_keyed_table *table = &kernel->memory.keyed->table;
    gyre_status status = GYRE_OK;
    handled[0] = handled[1] = failed[0] = failed[1] = 0;
    for (uint32_t i = 0; status == GYRE_OK && i < 1u << table->parts_log2; i++) {
        gyre_keyed_part part;
        status = gyre_memory_read(kernel->dispatch, kernel->memory.state,
                                  table->parts_offset + i * table->part_size, &part, sizeof part);
        for (int which = 0; status == GYRE_OK && which < 2; which++) {
            handled[which] += part.canary_handled[which];
            failed[which] += part.canary_failed[which];
        }
    }
    return status;
}

static gyre_status read_counts(const gyre_kernel *kernel, struct gyre_canary_seen *seen)
{
    struct gyre_canary_counts counts;
    uint32_t handled[2], failed[2];
    if (gyre_kernel_is_keyed(kernel)) {
        const gyre_status status = read_parts(kernel, handled, failed);
        *seen = (struct gyre_canary_seen){
            .handled = handled[0], .failed = failed[0], .next_handled = handled[1], .next_failed = failed[1]};
        return status;
    }
    const gyre_status status =
        gyre_memory_read(kernel->dispatch, kernel->memory.state, 0, &counts, sizeof counts);
    *seen = (struct gyre_canary_seen){.handled = counts.seen - counts.next_handled,
                                      .failed = counts.failed,
                                      .next_handled = counts.next_handled,
                                      .next_failed = counts.next_failed,
                                      .handled_ns = counts.handled_ns,
                                      .next_handled_ns = counts.next_handled_ns};
    return status;
}

/* One attempt to read the counts while no handler runs. */
static gyre_status try_to_look(struct gyre_standing *standing, uint64_t limit, struct gyre_canary_seen *seen)
{
    gyre_kernel *kernel = standing->kernel;
    gyre_status status = gyre_standing_order(standing, limit);
    if (status == GYRE_OK)
        status = gyre_standing_await(standing, limit);
    if (status == GYRE_OK)
        status = read_counts(kernel, seen);
    gyre_standing_end(standing);
    return status;
}

static uint32_t restarts_of(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    const uint32_t restarts = kernel->tally.restarts;
    pthread_mutex_unlock(&kernel->lock);
    return restarts;
}

/*
 * Reads the counts, again where a checkpoint came first, or the end of a worker process; not of one that `ends_trial`: it decides without them, and a
 * kernel whose handler crashes with each message stands too seldom.
 */
static gyre_status look_at_counts(gyre_kernel *kernel, bool ends_trial, struct gyre_canary_seen *seen)
{
    struct gyre_standing standing = gyre_standing_of(kernel);
    const uint64_t limit = gyre_clock_ns() + STAND_NS;
    const uint32_t restarts = restarts_of(kernel);
    for (;;) {
        const gyre_status status = try_to_look(&standing, limit, seen);
        if (status == GYRE_OK || gyre_clock_ns() >= limit || !gyre_standing_may_retry(&standing, status) ||
            (ends_trial && restarts_of(kernel) != restarts))
            return status;
        nanosleep(&(struct timespec){0, RETRY_NS}, NULL);
    }
}

/* Far fewer than 2^31 messages pass between two looks. A table that a worker's end set back counts nothing. */
static void add_since(uint64_t *sum, uint64_t now, uint64_t last)
{
    const int32_t since = (int32_t)((uint32_t)now - (uint32_t)last);
    *sum += since > 0 ? (uint64_t)since : 0;
}

/* Takes over what a look saw. */
static void add_seen(struct trial *trial, const struct gyre_canary_seen *now)
{
    struct gyre_canary_seen *seen = &trial->seen, *last = &trial->last;
    if (!gyre_kernel_is_keyed(trial->kernel)) {
        *seen = *now;
        return;
    }
    add_since(&seen->handled, now->handled, last->handled);
    add_since(&seen->failed, now->failed, last->failed);
    add_since(&seen->next_handled, now->next_handled, last->next_handled);
    add_since(&seen->next_failed, now->next_failed, last->next_failed);
    *last = *now;
}

/* ---- the two handlers ---- */

static gyre_status check_desc(const gyre_kernel *kernel, const gyre_canary_desc *desc)
{
    if (desc->share && desc->of <= 1u << 20 && desc->share < desc->of)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID,
        "the canary of kernel '%s' is to get %u/%u of the messages: expected a part of them, such as 1/16, of 1048576 at most",
        kernel->name, desc->share, desc->of);
}

/* Fills in what the unit needs of the handler that works. Nobody changes the kernel. */
static gyre_status describe_unit(struct trial *trial)
{
    struct gyre_canary_unit *unit = &trial->unit;
    const struct gyre_build *build = trial->old_one->build;
    unit->text = gyre_build_text(build);
    unit->path = gyre_build_report(build)->file;
    unit->kernel = trial->old_one->record->name;
    unit->next = trial->next->record->name;
    unit->handler = gyre_build_handler(build);
    unit->share = trial->desc.share;
    unit->of = trial->desc.of;
    snprintf(unit->folder, sizeof unit->folder, "%s", unit->path);
    char *slash = strrchr(unit->folder, '/');
    if (slash)
        slash[slash == unit->folder] = '\0';
    if (unit->text)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_UNIMPLEMENTED,
        "kernel '%s' was launched from '%s', which is compiled already, and a canary compiles both handlers "
        "together: swap without a canary",
        trial->kernel->name, unit->path);
}

/* A memory that both handlers would write, and that no handler could take back. */
static gyre_status check_buffers(const struct trial *trial)
{
    const gyre_kernel_record *was = trial->old_one->record, *is = trial->next->record;
    if (strcmp(was->buffers, is->buffers) != 0)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "kernel '%s' has the buffers '%s', and the new file '%s': with a canary both have the same, in one order",
            trial->kernel->name, was->buffers, is->buffers);
    if (gyre_kernel_is_keyed(trial->kernel) || !gyre_record_keeps_something(was))
        return GYRE_OK;
    return gyre_error_set(
        GYRE_UNIMPLEMENTED,
        "kernel '%s' keeps a state or INOUT buffers for all messages, and two handlers would write them: swap without a canary "
        "(`--rollback` brings the old handler back), or make it a keyed actor",
        trial->kernel->name);
}

static gyre_status build_both(struct trial *trial, const char *source)
{
    gyre_kernel *kernel = trial->kernel;
    bool converts;
    gyre_status status = gyre_swap_present(kernel, &trial->old_one);
    if (status == GYRE_OK)
        status = gyre_swap_build(kernel, source, NULL, &trial->next);
    if (status == GYRE_OK)
        status = gyre_swap_check(kernel, trial->next, &converts);
    if (status == GYRE_OK)
        status = check_buffers(trial);
    if (status == GYRE_OK)
        status = describe_unit(trial);
    if (status != GYRE_OK)
        return status;
    status = gyre_swap_build(kernel, source, &trial->unit, &trial->both);
    if (status != GYRE_FAILED)
        return status;
    return gyre_error_add(
        status,
        "the handlers of '%s' and '%s' each compile and do not compile together, as a canary needs it: "
        "swap without a canary",
        trial->unit.path, gyre_build_report(trial->next->build)->file);
}

static gyre_status begin_trial(struct trial *trial, const char *source, uint64_t deadline_ns)
{
    gyre_kernel *kernel = trial->kernel;
    gyre_status status = gyre_change_check(kernel, false);
    if (status == GYRE_OK)
        status = build_both(trial, source);
    if (status == GYRE_OK && gyre_kernel_is_keyed(kernel))
        status = look_at_counts(kernel, false, &trial->last);
    if (status == GYRE_OK) {
        trial->restarts = restarts_of(kernel);
        status = gyre_swap_put(
            kernel, &(struct gyre_swap){.successor = trial->both, .kind = GYRE_SWAP_CANARY}, deadline_ns);
    }
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&kernel->lock);
    kernel->canary = (struct gyre_kernel_canary){.active = true,
                                                 .share = trial->desc.share,
                                                 .of = trial->desc.of,
                                                 .file = gyre_build_report(trial->next->build)->file,
                                                 .begun_ns = gyre_clock_ns()};
    pthread_mutex_unlock(&kernel->lock);
    gyre_runtime_log(kernel->runtime, GYRE_LOG_INFO,
                     "kernel '%s' has a canary: the handler of '%s' gets %u/%u of its %s", kernel->name,
                     kernel->canary.file, trial->desc.share, trial->desc.of,
                     gyre_kernel_is_keyed(kernel) ? "keys" : "messages");
    return GYRE_OK;
}

/* ---- between the swaps ---- */

/* Under the lock. */
static bool is_ended(const gyre_kernel *kernel)
{
    const gyre_kernel_state state = gyre_kernel_get_state(kernel);
    return kernel->end.leaving || (state != GYRE_KERNEL_ACTIVE && state != GYRE_KERNEL_INACTIVE);
}

/* Whether anybody wants the old handler back. *why: who. */
static bool is_to_end(const struct trial *trial, const char **why)
{
    gyre_kernel *kernel = trial->kernel;
    pthread_mutex_lock(&kernel->lock);
    *why = NULL;
    if (kernel->canary.is_to_end)
        *why = "a rollback was asked for";
    else if (is_ended(kernel))
        *why = "the kernel was ended";
    pthread_mutex_unlock(&kernel->lock);
    if (!*why && trial->gives_up)
        *why = trial->gives_up(trial->context);
    return *why != NULL;
}

/* Waits until `until_ns`. False: the canary is to end. */
static bool wait_until(const struct trial *trial, uint64_t until_ns, const char **why)
{
    for (;;) {
        if (is_to_end(trial, why))
            return false;
        if (gyre_clock_ns() >= until_ns)
            return true;
        nanosleep(&(struct timespec){0, NAP_NS}, NULL);
    }
}

static void note_seen(struct trial *trial)
{
    trial->seen.deaths = restarts_of(trial->kernel) - trial->restarts;
    pthread_mutex_lock(&trial->kernel->lock);
    trial->kernel->canary.seen = trial->seen;
    pthread_mutex_unlock(&trial->kernel->lock);
}

static void say_why(struct trial *trial, enum gyre_canary_verdict verdict)
{
    const struct gyre_canary_seen *seen = &trial->seen;
    if (verdict == GYRE_CANARY_DIED)
        snprintf(trial->why, sizeof trial->why,
                 "the worker process died %u time%s while both handlers worked in it", seen->deaths,
                 seen->deaths == 1 ? "" : "s");
    else if (verdict == GYRE_CANARY_SLOWER)
        snprintf(trial->why, sizeof trial->why,
                 "the new handler takes %llu ns for a message, and the old one %llu ns",
                 (unsigned long long)(seen->next_handled_ns / seen->next_handled),
                 (unsigned long long)(seen->handled_ns / seen->handled));
    else if (verdict == GYRE_CANARY_FAILS_MORE)
        snprintf(trial->why, sizeof trial->why, "the new handler fails more messages than the old one");
    else if (!seen->next_handled)
        snprintf(trial->why, sizeof trial->why, "the new handler got no message");
    trial->was_worse = verdict != GYRE_CANARY_NO_WORSE;
}

/* Looks at the two handlers until the new one is worse, or it is time to decide. */
static void watch_handlers(struct trial *trial)
{
    const uint64_t end = gyre_clock_after(gyre_clock_ns(), trial->desc.time_ns);
    uint64_t pause = LOOK_FIRST_NS;
    enum gyre_canary_verdict verdict = GYRE_CANARY_NO_WORSE;
    bool is_time = false;
    while (!is_time && verdict == GYRE_CANARY_NO_WORSE) {
        const uint64_t next = gyre_clock_ns() + pause;
        const char *ends = NULL;
        pause = pause * 2 < LOOK_LAST_NS ? pause * 2 : LOOK_LAST_NS;
        if (!wait_until(trial, next < end ? next : end, &ends)) {
            snprintf(trial->why, sizeof trial->why, "%s", ends);
            return;
        }
        struct gyre_canary_seen seen;
        if (restarts_of(trial->kernel) == trial->restarts &&
            look_at_counts(trial->kernel, true, &seen) == GYRE_OK)
            add_seen(trial, &seen); /* else it is being brought back, or ended: the next look says */
        note_seen(trial);
        is_time = gyre_clock_ns() >= end ||
                  (trial->desc.messages && trial->seen.next_handled >= trial->desc.messages);
        verdict = gyre_canary_judge(&trial->seen, is_time);
    }
    say_why(trial, verdict);
    gyre_error_clear();
}

/* ---- the end ---- */

/* The first words of what became of the handlers; `why` follows. */
static const char *outcome_of(const struct trial *trial)
{
    if (trial->ended_early)
        return trial->was_worse ? "the canary ended with the kernel, and "
                                : "the canary ended with the kernel";
    return trial->why[0] ? "the old one goes on, because " : "the new one takes all";
}

static void tell_end(const struct trial *trial, bool takes_over, gyre_canary_report *report)
{
    const struct gyre_canary_seen *seen = &trial->seen;
    char text[sizeof report->text];
    snprintf(
        text, sizeof text,
        "the new handler of kernel '%s' answered %llu messages and failed %llu of them, the old one %llu and %llu: %s%s",
        trial->kernel->name, (unsigned long long)seen->next_handled, (unsigned long long)seen->next_failed,
        (unsigned long long)seen->handled, (unsigned long long)seen->failed, outcome_of(trial),
        trial->ended_early && !trial->was_worse ? "" : trial->why);
    gyre_runtime_log(trial->kernel->runtime, takes_over ? GYRE_LOG_INFO : GYRE_LOG_WARNING, "%s", text);
    gyre_canary_report out = {.size = report->size,
                              .took_over = takes_over,
                              .was_worse = trial->was_worse,
                              .handled = seen->handled,
                              .failed = seen->failed,
                              .next_handled = seen->next_handled,
                              .next_failed = seen->next_failed};
    memcpy(out.text, text, sizeof out.text);
    *report = out;
}

/* The canary is over. Under the lock of changes. */
static void forget(struct trial *trial)
{
    gyre_kernel *kernel = trial->kernel;
    pthread_mutex_lock(&kernel->lock);
    kernel->canary.active = kernel->canary.is_to_end = false;
    kernel->canary.file = NULL;
    pthread_cond_broadcast(&kernel->changed);
    pthread_mutex_unlock(&kernel->lock);
}

/* The handler that --rollback brings back. Its build stays until the kernel is released. */
static void remember(const struct trial *trial)
{
    gyre_kernel *kernel = trial->kernel;
    pthread_mutex_lock(&kernel->lock);
    for (size_t i = 0; i < kernel->past.count; i++)
        if (kernel->past.builds[i] == trial->old_one->build) {
            kernel->past.replaced = kernel->past.builds[i];
            kernel->past.replaced_record = trial->old_one->record;
        }
    pthread_mutex_unlock(&kernel->lock);
}

static bool has_ended(gyre_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    const bool ended = is_ended(kernel);
    pthread_mutex_unlock(&kernel->lock);
    return ended;
}

static gyre_status settle_trial(struct trial *trial, gyre_canary_report *report)
{
    gyre_kernel *kernel = trial->kernel;
    bool takes_over = !trial->why[0];
    pthread_mutex_lock(&kernel->changer);
    gyre_status status = gyre_swap_put(
        kernel,
        &(struct gyre_swap){.successor = takes_over ? trial->next : trial->old_one, .kind = GYRE_SWAP_CANARY},
        gyre_clock_ns() + SETTLE_NS);
    if (takes_over || status != GYRE_OK) /* a unit that stays has a way back as well */
        remember(trial);
    forget(trial);
    pthread_mutex_unlock(&kernel->changer);
    trial->ended_early = status != GYRE_OK && has_ended(kernel);
    if (status != GYRE_OK && !trial->ended_early)
        return gyre_error_add(
            status, "kernel '%s' keeps both handlers of its canary: end it with `gyre swap %s --rollback`",
            kernel->name, kernel->name);
    takes_over = takes_over && !trial->ended_early;
    tell_end(trial, takes_over, report);
    return takes_over ? GYRE_OK : gyre_error_set(GYRE_FAILED, "%s", report->text);
}

gyre_status gyre_change_canary(gyre_kernel *kernel, const char *source, const gyre_canary_desc *desc,
                               const char *(*gives_up)(void *context), void *context, uint64_t deadline_ns,
                               gyre_canary_report *report)
{
    struct trial *trial = calloc(1, sizeof *trial);
    if (!trial)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a canary of kernel '%s'", kernel->name);
    trial->kernel = kernel;
    trial->gives_up = gives_up;
    trial->context = context;
    trial->desc = *desc;
    if (!trial->desc.time_ns)
        trial->desc.time_ns = GYRE_CANARY_TIME_NS;
    gyre_status status = check_desc(kernel, &trial->desc);
    pthread_mutex_lock(&kernel->changer);
    if (status == GYRE_OK)
        status = begin_trial(trial, source, deadline_ns);
    pthread_mutex_unlock(&kernel->changer);
    if (status == GYRE_OK) {
        watch_handlers(trial);
        status = settle_trial(trial, report);
    }
    gyre_swap_discard(trial->both);
    gyre_swap_discard(trial->next);
    gyre_swap_discard(trial->old_one);
    free(trial);
    return status;
}

gyre_status gyre_canary_end(gyre_kernel *kernel, uint64_t deadline_ns, bool *had_one)
{
    gyre_status status = GYRE_OK;
    pthread_mutex_lock(&kernel->lock);
    *had_one = kernel->canary.active;
    const uint64_t begun = kernel->canary.begun_ns;
    while (kernel->canary.active && kernel->canary.begun_ns == begun && status == GYRE_OK) {
        kernel->canary.is_to_end = true;
        kernel->turn.inside++;
        pthread_mutex_unlock(&kernel->lock);
        nanosleep(&(struct timespec){0, NAP_NS}, NULL);
        pthread_mutex_lock(&kernel->lock);
        kernel->turn.inside--;
        if (gyre_clock_ns() >= deadline_ns)
            status =
                gyre_error_set(GYRE_TIMEOUT, "the canary of kernel '%s' did not end in time", kernel->name);
    }
    pthread_cond_broadcast(&kernel->changed);
    pthread_mutex_unlock(&kernel->lock);
    return status;
}
