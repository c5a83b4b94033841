/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of gyre why (why.h). A rule looks at one kernel or queue, and writes a sentence that says what is so, with figures, and
 * what could be done. Rules that find nothing write nothing.
 */
#include "cli/observed/why.h"

#include <inttypes.h>
#include <string.h>

#include "cli/observed/times.h"
#include "gyre/ring_layout.h"

#define LONG_SECONDS      1.0 /* a request that is unanswered for longer is told */
#define SLOW_DISK_SECONDS 0.1 /* a group of requests that takes longer to be written is told */
enum { TROUBLES_MOST = 3 };
#define UNEVEN      0.2 /* shares of blocks that are so far apart are told */
#define HAS_TIME    0.2 /* a block that is busy less than this has time for more messages */
#define BUSY        0.5 /* blocks that are busy less than this do not hold messages up */
#define FULL_TOLD_S 0.1 /* a queue that is full for less time may be so because it is used well */

typedef struct why_story {
    FILE *out;
    const rates_table *table;
    const rates_row *kernel;
    unsigned told; /* sentences about something that is wrong */
} why_story;

static bool lives(const rates_row *row)
{
    return strcmp(row->life, "lives") == 0;
}

/* ---- the process and the kernel ---- */

static void tell_state(why_story *story)
{
    const rates_row *kernel = story->kernel;
    switch (kernel->state) {
    case GYRE_KERNEL_ACTIVE:
        return;
    case GYRE_KERNEL_INACTIVE:
        fputs("  It is inactive: it handles nothing until its program calls gyre_kernel_activate.\n",
              story->out);
        break;
    case GYRE_KERNEL_LOST:
        fprintf(
            story->out,
            "  It is lost: its device, or the worker process with it, died. `on_loss = one` in [kernel.%s] would "
            "launch it again.\n",
            kernel->kernel);
        break;
    default:
        fprintf(story->out, "  It is %s: its program launches it again, or not.\n",
                gyre_kernel_state_word((gyre_kernel_state)kernel->state));
    }
    story->told++;
}

/* The counts do not tell who failed the messages: only their receivers have the codes. */
static void tell_failures(why_story *story)
{
    const rates_row *kernel = story->kernel;
    char rate[16];
    if (!kernel->counts[RATES_FAILED])
        return;
    story->told++;
    fprintf(story->out, "  %" PRIu64 " of its messages failed", kernel->counts[RATES_FAILED]);
    if (kernel->has_rates)
        fprintf(story->out, ", now %s a second", rates_text(kernel->rates[RATES_FAILED], rate));
    fprintf(
        story->out,
        ". Receivers have the code: above 0 the handler failed it; %d: it waited for longer than `ttl_ms`; %d: "
        "a keyed actor has no room for its key (`keys`).\n",
        GYRE_FAILURE_EXPIRED, GYRE_FAILURE_KEYS);
}

static void tell_deaths(why_story *story)
{
    const rates_row *kernel = story->kernel;
    if (kernel->health == GYRE_HEALTH_STALLED) {
        story->told++;
        fprintf(
            story->out,
            "  A handler runs for longer than it may. `handler_budget_ms` with `on_stall = restart` in [kernel.%s], "
            "and `isolation = process`, would end it.\n",
            kernel->kernel);
    }
    if (kernel->restarts) {
        story->told++;
        fprintf(story->out,
                "  %" PRIu64
                " worker processes died with it; dead letters and the log say at which requests.\n",
                kernel->restarts);
    }
    tell_failures(story);
}

/* ---- queues ---- */

/* The pipeline in which the kernel sends messages on: a request of its queue ends when its whole flow does. NULL: there is none. */
static const char *pipeline_of(const why_story *story)
{
    const link_table *links = &story->table->links;
    for (size_t i = 0; i < links->count; i++)
        if (links->rows[i].kind == GYRE_OBSERVE_LINK && links->rows[i].pid == story->kernel->pid &&
            strcmp(links->rows[i].from, story->kernel->kernel) == 0)
            return links->rows[i].pipeline;
    return NULL;
}

/* Whether all blocks are known to have little to do. */
static bool are_idle(const busy_kernel *busy)
{
    return busy->known && busy->most < BUSY;
}

static void tell_more_blocks(const why_story *story, const rates_row *queue)
{
    const rates_row *kernel = story->kernel;
    if (kernel->blocks == 1 && kernel->lanes == 1) /* an actor, most likely, whose `blocks` are refused */
        fputs(" An actor has no more; a keyed actor has.", story->out);
    fprintf(story->out, " More `blocks` in [kernel.%s]", kernel->kernel);
    if (!queue->lent)
        fprintf(story->out,
                ", with as many `rings` in [queue.%s] (`shard = key` keeps the order of equal keys),",
                queue->queue);
    fputs(" would help where its messages do not depend on each other.", story->out);
}

/* Says how busy the blocks are, and what would help. */
static void tell_blocks(const why_story *story, const rates_row *queue)
{
    const rates_row *kernel = story->kernel;
    const busy_kernel *busy = &kernel->busy;
    const char *pipeline = are_idle(busy) ? pipeline_of(story) : NULL;
    fprintf(story->out, " It has %" PRIu64 " block%s", kernel->blocks, kernel->blocks == 1 ? "" : "s");
    if (busy->known)
        fprintf(story->out, ", which %s busy %.0f %%", kernel->blocks == 1 ? "is" : "are", 100 * busy->mean);
    if (busy->known && busy->most - busy->least >= UNEVEN)
        fprintf(story->out, " in the mean, one of them %.0f %%, another one %.0f %%", 100 * busy->least,
                100 * busy->most);
    fputs(".", story->out);
    if (kernel->health == GYRE_HEALTH_STALLED)
        fputs(" The handler that runs for so long holds them up.", story->out);
    else if (pipeline)
        fprintf(story->out, " Its requests wait for kernels behind it: `gyre why %s` says for which.",
                pipeline);
    else if (are_idle(busy))
        fputs(" More of them would not help: they have time.", story->out);
    else if (busy->known > 1 && busy->least < HAS_TIME)
        fputs(
            " Its messages are not spread, so more blocks would not help: most have one key, come by one ring, or "
            "are taken together by one block.",
            story->out);
    else
        tell_more_blocks(story, queue);
}

static double journal_stands(const rates_row *queue)
{
    return observed_seconds_since(
        queue->of, observed_value(&queue->of->seen, queue->record, GYRE_OBSERVE_QUEUE_UNSAVED_NS));
}

/* What keeps the places of a queue taken. */
static void tell_holder(const why_story *story, const rates_row *queue)
{
    char sent[16], handled[16];
    if (journal_stands(queue) >= LONG_SECONDS)
        fputs(" They wait for the journal.", story->out);
    else if (queue->unreceived > queue->unanswered)
        fprintf(story->out,
                " %" PRIu64
                " of them are replies that nobody received: the receiver is too slow. gyre_receive_batch "
                "takes many at once, and a larger `capacity` bridges a pause.",
                queue->unreceived);
    else if (lives(queue) && queue->has_rates && story->kernel->state == GYRE_KERNEL_ACTIVE) {
        fprintf(story->out, " The kernel handles %s messages a second, and %s a second are sent.",
                rates_text(story->kernel->rates[RATES_HANDLED], handled),
                rates_text(queue->rates[RATES_SENT], sent));
        tell_blocks(story, queue);
    }
}

static void tell_backlog(why_story *story, const rates_row *queue)
{
    char full[24];
    const bool much = queue->length > queue->capacity / 2 && queue->capacity > 1;
    if (queue->full <= 0 && !much)
        return;
    story->told++;
    fprintf(story->out, "  Queue '%s' ", queue->queue);
    if (queue->full >= FULL_TOLD_S)
        fprintf(story->out, "is full for %s", observed_seconds_text(queue->full, full));
    else
        fputs(queue->full > 0 ? "is full" : "fills", story->out);
    fprintf(story->out, ": %" PRIu64 " of %" PRIu64 " places are taken.", queue->length, queue->capacity);
    tell_holder(story, queue);
    fputs("\n", story->out);
}

/* Where the request is that is unanswered for so long. */
static void tell_where(const why_story *story)
{
    const rates_row *kernel = story->kernel;
    const char *pipeline = pipeline_of(story);
    if (!lives(kernel) || kernel->state != GYRE_KERNEL_ACTIVE || !kernel->busy.known)
        return;
    if (!are_idle(&kernel->busy) && kernel->health != GYRE_HEALTH_STALLED && kernel->rates[RATES_HANDLED] < 1)
        fputs(" A handler is at a message all the time.", story->out);
    else if (are_idle(&kernel->busy) && pipeline)
        fprintf(story->out, " It is in a kernel behind this one: `gyre why %s`.", pipeline);
}

static void tell_oldest(why_story *story, const rates_row *queue)
{
    char oldest[24];
    if (queue->oldest < LONG_SECONDS)
        return;
    story->told++;
    fprintf(story->out,
            "  In queue '%s' the same request is unanswered for %s, and %" PRIu64 " behind it wait.",
            queue->queue, observed_seconds_text(queue->oldest, oldest),
            queue->unanswered ? queue->unanswered - 1 : 0);
    tell_where(story);
    fputs("\n", story->out);
}

static void tell_loss(why_story *story, const rates_row *queue, rates_count count, uint32_t first,
                      uint32_t last, const char *what, const char *advice)
{
    char begin[32], end[32], rate[16];
    if (!queue->counts[count])
        return;
    story->told++;
    fprintf(story->out, "  %" PRIu64 " messages for queue '%s' %s, from %s to %s", queue->counts[count],
            queue->queue, what,
            observed_time_text(queue->of, observed_value(&queue->of->seen, queue->record, first), begin),
            observed_time_text(queue->of, observed_value(&queue->of->seen, queue->record, last), end));
    if (lives(queue) && queue->has_rates)
        fprintf(story->out, ", now %s a second", rates_text(queue->rates[count], rate));
    fprintf(story->out, ". %s\n", advice);
}

/* What queues that are gone refused and lost, as those of clients that left: the kernel was told. */
static void tell_closed(why_story *story)
{
    const struct gyre_observed *seen = &story->kernel->of->seen;
    const uint32_t at = story->kernel->record;
    const uint64_t refused = observed_value(seen, at, GYRE_OBSERVE_KERNEL_CLOSED_REFUSED),
                   lost = observed_value(seen, at, GYRE_OBSERVE_KERNEL_CLOSED_LOST);
    char last[32];
    if (!refused && !lost)
        return;
    story->told++;
    fprintf(story->out,
            "  Queues that are closed since refused %" PRIu64 " messages and lost %" PRIu64
            ", last at %s. `gyre stat %s --events 100` says which, and who left.\n",
            refused, lost,
            observed_time_text(story->kernel->of,
                               observed_value(seen, at, GYRE_OBSERVE_KERNEL_CLOSED_LAST_NS), last),
            story->kernel->kernel);
}

/* A journal that stands, or whose disk is slow: senders wait for it. */
static void tell_journal(why_story *story, const rates_row *queue)
{
    const struct gyre_observed *seen = &queue->of->seen;
    const uint64_t unsaved = observed_value(seen, queue->record, GYRE_OBSERVE_QUEUE_UNSAVED);
    const double group = (double)observed_value(seen, queue->record, GYRE_OBSERVE_QUEUE_GROUP_NS) / 1e9;
    const double stands = journal_stands(queue);
    char text[24];
    if (stands >= LONG_SECONDS)
        fprintf(story->out,
                "  Queue '%s' waits for its journal: %" PRIu64
                " requests are not on the disk, and none became durable for %s. The log says what the disk "
                "refuses.\n",
                queue->queue, unsaved, observed_seconds_text(stands, text));
    else if (group >= SLOW_DISK_SECONDS)
        fprintf(
            story->out,
            "  The disk is slow: a group of requests of queue '%s' took %s to be written to its journal, and its "
            "senders wait for that. `fsync = interval` in [queue.%s] does not wait for each group.\n",
            queue->queue, times_text(group, text), queue->queue);
    else
        return;
    story->told++;
}

static void tell_queue(why_story *story, const rates_row *queue)
{
    tell_journal(story, queue);
    tell_backlog(story, queue);
    tell_oldest(story, queue);
    tell_loss(story, queue, RATES_REFUSED, GYRE_OBSERVE_QUEUE_REFUSED_FIRST_NS,
              GYRE_OBSERVE_QUEUE_REFUSED_LAST_NS, "were refused because it was full",
              "Senders that can wait give a deadline (`policy = block`).");
    tell_loss(story, queue, RATES_LOST, GYRE_OBSERVE_QUEUE_LOST_FIRST_NS, GYRE_OBSERVE_QUEUE_LOST_LAST_NS,
              "were dropped, or became dead letters", "gyre_dead_letter_take gives those that are kept.");
}

/* ---- the device ---- */

/* Where the time of its messages goes, so that nobody looks at the device while the receiver is slow. */
static void tell_parts(const why_story *story, size_t kernel, const rates_table *table)
{
    double waited = 0, handled = 0, returned = 0;
    for (size_t i = kernel + 1; i < table->count && table->rows[i].kind == GYRE_OBSERVE_QUEUE; i++) {
        const struct gyre_observed *seen = &table->rows[i].of->seen;
        waited += (double)observed_value(seen, table->rows[i].record, GYRE_OBSERVE_QUEUE_WAITED_NS);
        handled += (double)observed_value(seen, table->rows[i].record, GYRE_OBSERVE_QUEUE_HANDLED_NS);
        returned += (double)observed_value(seen, table->rows[i].record, GYRE_OBSERVE_QUEUE_RETURNED_NS);
    }
    const double all = waited + handled + returned;
    if (all > 0)
        fprintf(
            story->out,
            "  Of the time of its messages %.0f %% went by until a handler had them, %.0f %% in the handler, and "
            "%.0f %% until their replies were received.\n",
            100 * waited / all, 100 * handled / all, 100 * returned / all);
}

/* What its device is, and how often it was taken from it. */
static void tell_device(const why_story *story)
{
    const rates_row *kernel = story->kernel;
    const struct gyre_observed *seen = &kernel->of->seen;
    const uint64_t absences = observed_value(seen, kernel->record, GYRE_OBSERVE_KERNEL_ABSENCES);
    const double longest =
        (double)observed_value(seen, kernel->record, GYRE_OBSERVE_KERNEL_ABSENT_LONGEST_NS) / 1e9;
    const double total = (double)observed_value(seen, kernel->record, GYRE_OBSERVE_KERNEL_ABSENT_NS) / 1e9;
    gyre_observe_record record, device;
    char all[16], most[16];
    if (!gyre_observed_record(seen, kernel->record, &record) ||
        !gyre_observed_record(seen, record.device, &device))
        return;
    fprintf(story->out, "  It runs on %s: %s", device.name, device.detail);
    if (absences)
        fprintf(story->out, ", which it left %" PRIu64 " times to make room, for %s in all, at most %s",
                absences, times_text(total, all), times_text(longest, most));
    fputs(".\n", story->out);
}

/* The handler that is on trial, which is nothing wrong. */
static void tell_canary(const why_story *story)
{
    const struct gyre_observed *seen = &story->kernel->of->seen;
    const uint32_t at = story->kernel->record;
    const uint64_t share = observed_value(seen, at, GYRE_OBSERVE_KERNEL_CANARY);
    if (share)
        fprintf(
            story->out,
            "  Another handler is on trial: it gets %.3g %% of the messages or keys; of those it handled %" PRIu64
            " and failed %" PRIu64 ". `gyre swap %s --rollback` ends that.\n",
            (double)share / 1e4, observed_value(seen, at, GYRE_OBSERVE_KERNEL_CANARY_HANDLED),
            observed_value(seen, at, GYRE_OBSERVE_KERNEL_CANARY_FAILED), story->kernel->kernel);
}

/* ---- the story ---- */

/* The last troubles of the process that name the kernel. */
static void tell_troubles(why_story *story)
{
    const observed_process *process = story->kernel->of;
    gyre_observe_trouble trouble;
    char quoted[GYRE_OBSERVE_NAME_MAX + 2], at[32];
    int told = 0;
    snprintf(quoted, sizeof quoted, "'%s'", story->kernel->kernel);
    for (uint32_t i = 0; i < gyre_observed_troubles(&process->seen) && told < TROUBLES_MOST; i++) {
        if (!gyre_observed_trouble(&process->seen, i, &trouble) || !strstr(trouble.text, quoted))
            continue;
        fprintf(story->out, "  The log said %" PRIu64 " time%s, last at %s: %s\n", trouble.count,
                trouble.count == 1 ? "" : "s", observed_time_text(process, trouble.last_ns, at),
                trouble.text);
        story->told++;
        told++;
    }
}

unsigned why_tell_kernel(FILE *out, const rates_table *table, size_t kernel)
{
    char rate[16];
    why_story story = {.out = out, .table = table, .kernel = &table->rows[kernel]};
    fprintf(out, "Kernel '%s' of process %" PRIu32 " (%s):\n", story.kernel->kernel, story.kernel->pid,
            story.kernel->process);
    story.told = observed_tell_life(out, story.kernel->life, story.kernel->age, story.kernel->pid);
    tell_canary(&story);
    tell_state(&story);
    tell_deaths(&story);
    for (size_t i = kernel + 1; i < table->count && table->rows[i].kind == GYRE_OBSERVE_QUEUE; i++)
        tell_queue(&story, &table->rows[i]);
    tell_closed(&story);
    tell_troubles(&story);
    if (story.told) {
        tell_parts(&story, kernel, table);
        tell_device(&story);
        return story.told;
    }
    fprintf(out, "  Nothing is wrong: it is %s, no queue of it is half full, none refused or lost a message",
            gyre_kernel_health_word((gyre_kernel_health)story.kernel->health));
    fprintf(out, story.kernel->has_rates ? ", and it handles %s messages a second.\n" : ".\n",
            rates_text(story.kernel->rates[RATES_HANDLED], rate));
    return 0;
}

static bool is_named(const rates_table *table, size_t kernel, const char *name)
{
    bool named = !name || observed_is_named(table->rows[kernel].kernel, name);
    for (size_t i = kernel + 1; i < table->count && table->rows[i].kind == GYRE_OBSERVE_QUEUE && !named; i++)
        named = observed_is_named(table->rows[i].queue, name);
    return named;
}

/* Tells of the kernels of that name whose processes live, or of the others. Returns how many. */
static size_t tell_named(FILE *out, const rates_table *table, const char *name, bool living)
{
    size_t told = 0;
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].kind == GYRE_OBSERVE_KERNEL && lives(&table->rows[i]) == living &&
            is_named(table, i, name)) {
            why_tell_kernel(out, table, i);
            told++;
        }
    return told;
}

size_t why_tell(FILE *out, const rates_table *table, const char *name)
{
    size_t told = tell_named(out, table, name, true);
    told += why_tell_pipelines(out, table, name, true);
    told += tell_named(out, table, name, false);
    return told + why_tell_pipelines(out, table, name, false);
}
