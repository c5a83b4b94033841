/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a kernel and its queues into the observation file (observed.h). Lock: kernel->lock, so that no queue is freed during a
 * look. A look that finds a kernel or a queue for the first time takes a record for it.
 */
#include "core/kernel/observed.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/base/clock.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/busy.h"
#include "core/kernel/control.h"
#include "core/kernel/count_soon.h"
#include "core/observation/observation.h"
#include "core/queue/progress.h"
#include "core/queue/resume.h"
#include "core/queue/state.h"
#include "core/stages/log.h"
#include "core/stages/timing.h"

/* ---- queues ---- */

/* Since when something is so: `since` as long as it stays so, `now` where it begins, 0 where it is not so. */
static uint64_t keep_since(uint64_t since, bool is_so, uint64_t now)
{
    return !is_so ? 0 : since ? since : now;
}

/* What the queue is called: its name, or one that no other queue of the kernel has. */
static void name_queue(const gyre_queue *queue, char name[GYRE_OBSERVE_NAME_MAX])
{
    if (gyre_queue_name(queue)[0])
        snprintf(name, GYRE_OBSERVE_NAME_MAX, "%s", gyre_queue_name(queue));
    else
        snprintf(name, GYRE_OBSERVE_NAME_MAX, "%s-%u", gyre_foreign_of(queue)->lent ? "client" : "queue",
                 gyre_view_of(queue)->table_entry);
}

/* Notes that a count grew since the last look, with an event. */
static void note_growth(const gyre_kernel *kernel, const gyre_queue *queue, struct gyre_queue_growing *seen,
                        uint64_t count, enum gyre_observe_event_kind kind, uint64_t now)
{
    char name[GYRE_OBSERVE_NAME_MAX];
    if (count <= seen->count)
        return;
    name_queue(queue, name);
    gyre_observation_event(gyre_runtime_observation(kernel->runtime), kind, gyre_view_of(queue)->observed,
                           "queue '%s' of kernel '%s': %" PRIu64 " more %s", name, kernel->name,
                           count - seen->count,
                           kind == GYRE_OBSERVE_REFUSED ? "refused" : "dropped or buried");
    seen->first_ns = seen->first_ns ? seen->first_ns : now;
    seen->last_ns = now;
    seen->count = count;
}

enum { TOLD_MOST_BITS = 48 }; /* no client is believed more than 2 to the power of this */

/* What the client of a lent queue says of itself. What is shown never falls. */
static void take_told(uint64_t *shown, const uint64_t *word)
{
    const uint64_t told = __atomic_load_n(word, __ATOMIC_RELAXED);
    if (told > *shown && told >> TOLD_MOST_BITS == 0)
        *shown = told;
}

/* Adds refusals and drops that only the client in another program counts. */
static void add_told(gyre_queue *queue, gyre_queue_stats *stats)
{
    struct gyre_queue_seen *seen = &gyre_view_for(queue)->seen;
    const gyre_queue_device *line = &gyre_ring_of(queue)->shared->device;
    if (!gyre_foreign_of(queue)->lent)
        return;
    take_told(&seen->told_refused, &line->told_refused);
    take_told(&seen->told_discarded, &line->told_discarded);
    stats->rejected += seen->told_refused;
    stats->dropped += seen->told_discarded;
}

/* Notes what was refused and lost since the last look. */
static void note_losses(const gyre_kernel *kernel, gyre_queue *queue, const gyre_queue_stats *stats,
                        uint64_t now)
{
    struct gyre_queue_seen *seen = &gyre_view_for(queue)->seen;
    note_growth(kernel, queue, &seen->refused, stats->rejected, GYRE_OBSERVE_REFUSED, now);
    note_growth(kernel, queue, &seen->lost, stats->dropped + stats->dead_letters, GYRE_OBSERVE_LOST, now);
}

/* Compares with the last look what only two looks tell. */
static void compare_looks(const gyre_kernel *kernel, gyre_queue *queue, const gyre_queue_stats *stats,
                          uint64_t unanswered, uint64_t now)
{
    struct gyre_queue_seen *seen = &gyre_view_for(queue)->seen;
    const uint64_t first = gyre_queue_first_unanswered(queue);
    const uint64_t taken = gyre_queue_next_index(queue) - gyre_received(queue);
    const bool same = unanswered && seen->looked && seen->first_unanswered == first;
    /* the last look found this request first as well: it is so since then */
    seen->still_ns = !same ? 0 : seen->still_ns ? seen->still_ns : seen->looked_ns;
    seen->full_ns = keep_since(seen->full_ns, taken >= stats->capacity, now);
    if (taken > seen->most)
        seen->most = taken < stats->capacity ? taken : stats->capacity;
    note_losses(kernel, queue, stats, now);
    seen->first_unanswered = first;
    seen->looked = true;
    seen->looked_ns = now;
}

static void fill_stats(uint64_t words[GYRE_OBSERVE_WORDS], const gyre_queue_stats *stats)
{
    words[GYRE_OBSERVE_QUEUE_CAPACITY] = stats->capacity;
    words[GYRE_OBSERVE_QUEUE_SENT] = stats->sent;
    words[GYRE_OBSERVE_QUEUE_RECEIVED] = stats->received;
    words[GYRE_OBSERVE_QUEUE_REJECTED] = stats->rejected;
    words[GYRE_OBSERVE_QUEUE_DROPPED] = stats->dropped;
    words[GYRE_OBSERVE_QUEUE_ABANDONED] = stats->abandoned;
    words[GYRE_OBSERVE_QUEUE_HIGH_WATER] = stats->high_water;
    words[GYRE_OBSERVE_QUEUE_SEND_WAITS] = stats->send_waits;
    words[GYRE_OBSERVE_QUEUE_RECEIVE_WAITS] = stats->receive_waits;
    words[GYRE_OBSERVE_QUEUE_DUPLICATES] = stats->duplicates;
    words[GYRE_OBSERVE_QUEUE_WAITING] = stats->waiting;
    words[GYRE_OBSERVE_QUEUE_LETTERS] = stats->dead_letters;
    words[GYRE_OBSERVE_QUEUE_LETTERS_LOST] = stats->dead_letters_lost;
    words[GYRE_OBSERVE_QUEUE_TIMED] = stats->timed;
    words[GYRE_OBSERVE_QUEUE_WAITED_NS] = stats->waited_ns;
    words[GYRE_OBSERVE_QUEUE_HANDLED_NS] = stats->handled_ns;
    words[GYRE_OBSERVE_QUEUE_RETURNED_NS] = stats->returned_ns;
}

static void enter_queue(const gyre_kernel *kernel, gyre_queue *queue, uint64_t now)
{
    struct gyre_observation *observation = gyre_runtime_observation(kernel->runtime);
    gyre_observe_record about = {
        .kind = GYRE_OBSERVE_QUEUE, .parent = kernel->observed, .made_ns = now, .state_ns = now};
    name_queue(queue, about.name);
    snprintf(about.detail, sizeof about.detail, "%s", gyre_foreign_of(queue)->lent ? "another program" : "");
    gyre_view_for(queue)->observed = gyre_observation_enter(observation, &about);
    if (gyre_view_of(queue)->observed)
        gyre_timing_trace(queue, gyre_observation_trace(observation), gyre_view_of(queue)->observed);
}

/* What spans call the queue: its blocks know where its ring is, and not its record. */
static uint64_t key_of(const gyre_kernel *kernel, const gyre_queue *queue)
{
    const gyre_trace *trace = gyre_observation_trace(gyre_runtime_observation(kernel->runtime));
    return trace ? gyre_trace_key(trace, gyre_ring_of(queue)->shared) : 0;
}

static void observe_journal(gyre_queue *queue, uint64_t words[GYRE_OBSERVE_WORDS], uint64_t now)
{
    struct gyre_queue_seen *seen = &gyre_view_for(queue)->seen;
    struct gyre_queue_journal_state journal;
    if (!gyre_queue_log_journal_state(queue, &journal))
        return;
    seen->unsaved_ns = keep_since(seen->unsaved_ns, journal.unsaved && journal.durable == seen->durable, now);
    seen->durable = journal.durable;
    words[GYRE_OBSERVE_QUEUE_JOURNAL_BYTES] = journal.bytes;
    words[GYRE_OBSERVE_QUEUE_UNSAVED] = journal.unsaved;
    words[GYRE_OBSERVE_QUEUE_UNSAVED_NS] = seen->unsaved_ns;
    words[GYRE_OBSERVE_QUEUE_GROUP_NS] = journal.group_ns;
}

static void observe_queue(const gyre_kernel *kernel, gyre_queue *queue)
{
    uint64_t words[GYRE_OBSERVE_WORDS] = {0};
    gyre_queue_stats stats = {.size = sizeof stats};
    const uint64_t now = gyre_clock_ns();
    if (!gyre_view_of(queue)->observed)
        enter_queue(kernel, queue, now);
    gyre_queue_stats_get(queue, &stats);
    const uint64_t unanswered = gyre_queue_outstanding(queue);
    const uint64_t passed = stats.received + stats.dropped + stats.abandoned + unanswered;
    add_told(queue, &stats);
    fill_stats(words, &stats);
    compare_looks(kernel, queue, &stats, unanswered, now);
    const struct gyre_queue_seen *seen = &gyre_view_of(queue)->seen;
    words[GYRE_OBSERVE_QUEUE_HIGH_WATER] = stats.high_water > seen->most ? stats.high_water : seen->most;
    words[GYRE_OBSERVE_QUEUE_UNANSWERED] = unanswered;
    words[GYRE_OBSERVE_QUEUE_UNRECEIVED] = stats.sent > passed ? stats.sent - passed : 0;
    words[GYRE_OBSERVE_QUEUE_FULL_NS] = seen->full_ns;
    words[GYRE_OBSERVE_QUEUE_STILL_NS] = seen->still_ns;
    words[GYRE_OBSERVE_QUEUE_REFUSED_FIRST_NS] = seen->refused.first_ns;
    words[GYRE_OBSERVE_QUEUE_REFUSED_LAST_NS] = seen->refused.last_ns;
    words[GYRE_OBSERVE_QUEUE_LOST_FIRST_NS] = seen->lost.first_ns;
    words[GYRE_OBSERVE_QUEUE_LOST_LAST_NS] = seen->lost.last_ns;
    words[GYRE_OBSERVE_QUEUE_TIMED_EVERY] = gyre_timing_every(queue);
    words[GYRE_OBSERVE_QUEUE_KEY] = key_of(kernel, queue);
    observe_journal(queue, words, now);
    gyre_observation_values(gyre_runtime_observation(kernel->runtime), gyre_view_of(queue)->observed, words,
                            GYRE_OBSERVE_QUEUE_WORDS);
}

/* Writes how long the messages of a queue took; `timing` has to be on, else there is nothing. */
static void observe_times(const gyre_kernel *kernel, const gyre_queue *queue)
{
    gyre_observe_histogram times[GYRE_OBSERVE_TIMES];
    for (uint32_t time = 0; time < GYRE_OBSERVE_TIMES; time++)
        times[time].record = gyre_view_of(queue)->observed;
    if (!gyre_timing_histograms(queue, times))
        return;
    for (uint32_t time = 0; time < GYRE_OBSERVE_TIMES; time++)
        gyre_observation_histogram(gyre_runtime_observation(kernel->runtime), &times[time],
                                   gyre_foreign_of(queue)->lent != NULL);
}

static void add_histogram(gyre_observe_histogram *sum, const gyre_observe_histogram *part)
{
    sum->sum_ns += part->sum_ns;
    for (uint32_t i = 0; i < GYRE_OBSERVE_BUCKETS; i++)
        sum->buckets[i] += part->buckets[i];
}

/*
 * Adds how long the handlers of the queue's messages ran. Of a pipeline's queue it is known of whole flows only. The times of a lent
 * queue are what another program says, which must not get into the kernel's own.
 */
static void add_handled(const gyre_queue *queue, gyre_observe_histogram *sum)
{
    gyre_observe_histogram times[GYRE_OBSERVE_TIMES] = {0};
    if (gyre_view_of(queue)->of_pipeline || gyre_foreign_of(queue)->lent ||
        !gyre_timing_histograms(queue, times))
        return;
    add_histogram(sum, &times[GYRE_OBSERVE_HANDLED]);
}

/* Adds how long the flows of the queue took, if it is one of a pipeline, and of this program. */
static void add_flows(const gyre_queue *queue, struct gyre_kernel_flows *sum)
{
    gyre_observe_histogram times[GYRE_OBSERVE_TIMES] = {0};
    if (!gyre_view_of(queue)->of_pipeline || gyre_foreign_of(queue)->lent ||
        !gyre_timing_histograms(queue, times))
        return;
    sum->timed = true;
    add_histogram(&sum->handled, &times[GYRE_OBSERVE_HANDLED]);
    add_histogram(&sum->round_trips, &times[GYRE_OBSERVE_ROUND_TRIP]);
}

bool gyre_kernel_flows_add(gyre_kernel *kernel, struct gyre_kernel_flows *sum)
{
    if (pthread_mutex_trylock(&kernel->lock) != 0)
        return false;
    sum->timed |= kernel->flows_before.timed;
    add_histogram(&sum->handled, &kernel->flows_before.handled);
    add_histogram(&sum->round_trips, &kernel->flows_before.round_trips);
    for (const gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        add_flows(queue, sum);
    pthread_mutex_unlock(&kernel->lock);
    return true;
}

bool gyre_kernel_flows_forget(gyre_kernel *kernel)
{
    if (pthread_mutex_trylock(&kernel->lock) != 0)
        return false;
    kernel->flows_before = (struct gyre_kernel_flows){.timed = false};
    pthread_mutex_unlock(&kernel->lock);
    return true;
}

/* Keeps what the queue refused and lost, which is closed: whoever looks later is told of it. */
static void keep_losses(gyre_kernel *kernel, gyre_queue *queue)
{
    const struct gyre_queue_seen *seen = &gyre_view_of(queue)->seen;
    struct gyre_kernel_refusals *losses = &kernel->losses_before;
    gyre_queue_stats stats = {.size = sizeof stats};
    gyre_queue_stats_get(queue, &stats);
    add_told(queue, &stats);
    note_losses(kernel, queue, &stats, gyre_clock_ns());
    losses->refused += seen->refused.count;
    losses->lost += seen->lost.count;
    const uint64_t last_ns =
        seen->refused.last_ns > seen->lost.last_ns ? seen->refused.last_ns : seen->lost.last_ns;
    losses->last_ns = last_ns > losses->last_ns ? last_ns : losses->last_ns;
}

void gyre_kernel_unobserve_queue(gyre_kernel *kernel, gyre_queue *queue)
{
    if (gyre_view_of(queue)->observed) {
        keep_losses(kernel, queue);
        add_handled(queue, &kernel->handled_before);
        add_flows(queue, &kernel->flows_before);
    }
    gyre_timing_trace(queue, NULL, 0);
    gyre_kernel_count_as_usual(queue);
    gyre_observation_leave(gyre_runtime_observation(kernel->runtime), gyre_view_of(queue)->observed);
    gyre_view_for(queue)->observed = 0;
}

/* ---- the kernel ---- */

static uint32_t enter_device(const gyre_kernel *kernel)
{
    gyre_observe_record about = {
        .kind = GYRE_OBSERVE_DEVICE, .parent = kernel->runtime->observed, .made_ns = gyre_clock_ns()};
    snprintf(about.name, sizeof about.name, "%s", gyre_dispatch_backend(kernel->dispatch));
    snprintf(about.detail, sizeof about.detail, "%s", gyre_dispatch_device_info(kernel->dispatch)->name);
    return gyre_observation_enter_once(gyre_runtime_observation(kernel->runtime), &about);
}

static uint32_t enter_kernel(gyre_kernel *kernel)
{
    gyre_observe_record about = {.kind = GYRE_OBSERVE_KERNEL,
                                 .parent = kernel->runtime->observed,
                                 .state = gyre_kernel_get_state(kernel),
                                 .device = enter_device(kernel),
                                 .made_ns = kernel->launched_ns,
                                 .state_ns = gyre_clock_ns()};
    struct gyre_observation *observation = gyre_runtime_observation(kernel->runtime);
    snprintf(about.name, sizeof about.name, "%s", kernel->name);
    snprintf(about.detail, sizeof about.detail, "%.60s -> %.60s", kernel->record->request->name,
             kernel->record->reply->name);
    const uint32_t number = gyre_observation_enter(observation, &about);
    gyre_observation_event(observation, GYRE_OBSERVE_OPENED, number, "kernel '%s' is launched", kernel->name);
    return number;
}

/* Writes how long the kernel's handlers ran: as its device counts it, with what the device leaves to the times of queues. */
static void observe_handlers(const gyre_kernel *kernel)
{
    gyre_observe_histogram handled = {.record = kernel->observed, .time = GYRE_OBSERVE_HANDLED};
    if (!gyre_control_timed_every(kernel))
        return;
    if (gyre_control_times_add(kernel, &handled) != GYRE_TIMES_ALL) {
        add_histogram(&handled, &kernel->handled_before);
        for (const gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
            add_handled(queue, &handled);
    }
    gyre_observation_histogram(gyre_runtime_observation(kernel->runtime), &handled, false);
}

/* From here on the kernel's blocks may note what they handle. A kernel without a record is not traced. */
static void trace_kernel(gyre_kernel *kernel, struct gyre_observation *observation)
{
    if (!kernel->observed || kernel->traced.trace)
        return;
    kernel->traced.record = kernel->observed;
    kernel->traced.every = (uint32_t)gyre_kernel_setting(kernel, "timing_every");
    __atomic_store_n(&kernel->traced.trace, gyre_observation_trace(observation), __ATOMIC_RELEASE);
}

static void fill_kernel(uint64_t words[GYRE_OBSERVE_WORDS], const gyre_kernel_info *info)
{
    words[GYRE_OBSERVE_KERNEL_HANDLED] = info->handled;
    words[GYRE_OBSERVE_KERNEL_FAILED] = info->failed;
    words[GYRE_OBSERVE_KERNEL_QUEUED] = info->queued;
    words[GYRE_OBSERVE_KERNEL_QUEUES] = info->queues;
    words[GYRE_OBSERVE_KERNEL_BLOCKS] = info->blocks;
    words[GYRE_OBSERVE_KERNEL_LANES] = info->lanes;
    words[GYRE_OBSERVE_KERNEL_RESTARTS] = info->restarts;
    words[GYRE_OBSERVE_KERNEL_CONDEMNED] = info->condemned;
    words[GYRE_OBSERVE_KERNEL_STALLS] = info->stalls;
    words[GYRE_OBSERVE_KERNEL_RELAUNCHES] = info->relaunches;
    words[GYRE_OBSERVE_KERNEL_CHECKPOINTS] = info->checkpoints;
    words[GYRE_OBSERVE_KERNEL_CHECKPOINT_NS] = info->checkpoint_ns;
    words[GYRE_OBSERVE_KERNEL_CHECKPOINT_LONGEST_NS] = info->longest_checkpoint_ns;
    words[GYRE_OBSERVE_KERNEL_REPLAYED] = info->replayed;
    words[GYRE_OBSERVE_KERNEL_ABSENCES] = info->absences;
    words[GYRE_OBSERVE_KERNEL_ABSENT_NS] = info->absent_ns;
    words[GYRE_OBSERVE_KERNEL_ABSENT_LONGEST_NS] = info->longest_absence_ns;
    words[GYRE_OBSERVE_KERNEL_LAUNCHED_NS] = info->launched_ns;
    words[GYRE_OBSERVE_KERNEL_STANDBY] = info->standby;
}

/* Under the lock. */
static void fill_canary(uint64_t words[GYRE_OBSERVE_WORDS], const struct gyre_kernel_canary *canary)
{
    words[GYRE_OBSERVE_KERNEL_CANARY] = canary->active ? UINT64_C(1000000) * canary->share / canary->of : 0;
    words[GYRE_OBSERVE_KERNEL_CANARY_HANDLED] = canary->seen.next_handled;
    words[GYRE_OBSERVE_KERNEL_CANARY_FAILED] = canary->seen.next_failed;
}

/* What `info` says, unless the kernel got its device, or lost it, since `info` was made. Under the lock. */
static gyre_kernel_health health_now(const gyre_kernel *kernel, const gyre_kernel_info *info)
{
    if (!kernel->resident)
        return GYRE_HEALTH_DEAD;
    return info->health == GYRE_HEALTH_DEAD ? GYRE_HEALTH_IDLE : info->health;
}

void gyre_kernel_observe(gyre_kernel *kernel, const gyre_kernel_info *info)
{
    uint64_t words[GYRE_OBSERVE_WORDS] = {0};
    struct gyre_observation *observation = gyre_runtime_observation(kernel->runtime);
    if (!observation || kernel->migrates)
        return;
    fill_kernel(words, info);
    words[GYRE_OBSERVE_KERNEL_TIMED_EVERY] = gyre_control_timed_every(kernel);
    pthread_mutex_lock(&kernel->lock);
    words[GYRE_OBSERVE_KERNEL_HEALTH] = health_now(kernel, info);
    words[GYRE_OBSERVE_KERNEL_CLOSED_REFUSED] = kernel->losses_before.refused;
    words[GYRE_OBSERVE_KERNEL_CLOSED_LOST] = kernel->losses_before.lost;
    words[GYRE_OBSERVE_KERNEL_CLOSED_LAST_NS] = kernel->losses_before.last_ns;
    if (!kernel->observed) {
        __atomic_store_n(&kernel->observed, enter_kernel(kernel), __ATOMIC_RELEASE);
        trace_kernel(kernel, observation);
    }
    fill_canary(words, &kernel->canary);
    gyre_observation_values(observation, kernel->observed, words, GYRE_OBSERVE_KERNEL_WORDS);
    gyre_kernel_busy_tell(kernel);
    observe_handlers(kernel);
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next) {
        observe_queue(kernel, queue);
        observe_times(kernel, queue);
    }
    gyre_kernel_count_soon(kernel, info->handled);
    pthread_mutex_unlock(&kernel->lock);
}

void gyre_kernel_observe_start(const gyre_kernel *kernel)
{
    gyre_observation_value(gyre_runtime_observation(kernel->runtime), kernel->observed,
                           GYRE_OBSERVE_KERNEL_HEALTH, GYRE_HEALTH_IDLE);
}

void gyre_kernel_unobserve(gyre_kernel *kernel)
{
    struct gyre_observation *observation = gyre_runtime_observation(kernel->runtime);
    if (!kernel->observed)
        return;
    gyre_observation_event(observation, GYRE_OBSERVE_CLOSED, kernel->observed, "kernel '%s' is released",
                           kernel->name);
    for (gyre_queue *queue = kernel->queues.first; queue; queue = gyre_view_of(queue)->next)
        gyre_kernel_unobserve_queue(kernel, queue);
    __atomic_store_n(&kernel->traced.trace, NULL, __ATOMIC_RELEASE);
    gyre_observation_leave(observation, kernel->observed);
    __atomic_store_n(&kernel->observed, 0, __ATOMIC_RELEASE);
}
