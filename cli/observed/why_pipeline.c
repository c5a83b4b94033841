/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of gyre why for pipelines (why.h): how long flows take, on which link messages wait, and which kernel they wait for. No
 * state.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/observed/why.h"
#include "cli/observed/times.h"

/* Of two links the one whose messages wait for longer, or of which more are under way where no times are known. */
static bool is_slower(const link_row *one, const link_row *other)
{
    if (!other)
        return true;
    if (one->p50 != other->p50)
        return one->p50 > other->p50;
    return one->waiting > other->waiting;
}

static const rates_row *kernel_of(const rates_table *table, const link_row *link, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].kind == GYRE_OBSERVE_KERNEL && table->rows[i].pid == link->pid &&
            strcmp(table->rows[i].kernel, name) == 0)
            return &table->rows[i];
    return NULL;
}

/* Whether the kernel sends along a link of the pipeline in row `at`. */
static bool sends(const link_table *links, size_t at, const char *kernel)
{
    for (size_t i = at + 1; i < links->count && links->rows[i].kind == GYRE_OBSERVE_LINK; i++)
        if (strcmp(links->rows[i].from, kernel) == 0)
            return true;
    return false;
}

/* Flows of other programs, as these tell. Returns of how many clients. */
static unsigned tell_clients(FILE *out, const rates_table *table, size_t at)
{
    unsigned told = 0;
    for (size_t i = 0; i < table->count; i++) {
        const rates_row *queue = &table->rows[i];
        char p50[16], p99[16];
        if (queue->kind != GYRE_OBSERVE_QUEUE || !queue->lent || queue->p99 <= 0 ||
            queue->pid != table->links.rows[at].pid || !sends(&table->links, at, queue->kernel))
            continue;
        fprintf(out,
                "  Flows of '%s' take %s in the middle, and 99 of 100 at most %s, as its program tells.\n",
                queue->queue, times_text(queue->p50, p50), times_text(queue->p99, p99));
        told++;
    }
    return told;
}

static void tell_flows(FILE *out, const rates_table *table, size_t at)
{
    const link_row *pipeline = &table->links.rows[at];
    char p50[16], p99[16];
    if (pipeline->p99 > 0)
        fprintf(
            out,
            "  Flows take %s in the middle, and 99 of 100 at most %s, from their send to their receipt.\n",
            times_text(pipeline->p50, p50), times_text(pipeline->p99, p99));
    if (tell_clients(out, table, at) || pipeline->p99 > 0)
        return;
    if (pipeline->flows)
        fputs("  No flow that is timed ended between the last two looks.\n", out);
    else
        fputs(
            "  How long flows take is not known: with `timing = true` in the sections of its kernels, flows and the messages of "
            "links are timed.\n",
            out);
}

static void tell_link(FILE *out, const link_row *link)
{
    char sent[16], p50[16], p99[16], missed[16];
    fprintf(out, "  Link '%s' > '%s': %" PRIu64 " of %" PRIu64 " places are taken", link->from, link->to,
            link->waiting, link->capacity);
    if (link->has_rates)
        fprintf(out, ", %s messages a second", rates_text(link->sent_rate, sent));
    if (link->p99 > 0)
        fprintf(out, "; they wait %s for their handler, 99 of 100 at most %s", times_text(link->p50, p50),
                times_text(link->p99, p99));
    if (link->missed)
        fprintf(out, "; its subscriber missed %" PRIu64 ", now %s a second", link->missed,
                rates_text(link->missed_rate, missed));
    fputs(".\n", out);
}

static bool is_well(const rates_row *kernel)
{
    return kernel->state == GYRE_KERNEL_ACTIVE && kernel->health != GYRE_HEALTH_STALLED;
}

/* Names the kernels of the pipeline in row `at` that handle nothing, whatever waits for them. */
static void tell_unwell(FILE *out, const rates_table *table, size_t at)
{
    const link_table *links = &table->links;
    for (size_t k = 0; k < table->count; k++) {
        const rates_row *kernel = &table->rows[k];
        bool is_part = false;
        for (size_t i = at + 1; i < links->count && links->rows[i].kind == GYRE_OBSERVE_LINK; i++)
            is_part = is_part || strcmp(links->rows[i].from, kernel->kernel) == 0 ||
                      strcmp(links->rows[i].to, kernel->kernel) == 0;
        if (kernel->kind == GYRE_OBSERVE_KERNEL && kernel->of == links->rows[at].of && is_part &&
            !is_well(kernel))
            fprintf(out, "  Kernel '%s' holds flows up, because it is %s: `gyre why %s` says more.\n",
                    kernel->kernel,
                    kernel->state != GYRE_KERNEL_ACTIVE
                        ? gyre_kernel_state_word((gyre_kernel_state)kernel->state)
                        : "stalled (a handler runs for longer than it may)",
                    kernel->kernel);
    }
}

/* Says which kernel the messages of the slowest link wait for, and what would help. */
static void tell_slowest(FILE *out, const rates_table *table, const link_row *slowest)
{
    char handled[16];
    const rates_row *kernel = slowest ? kernel_of(table, slowest, slowest->to) : NULL;
    if (!kernel || !is_well(kernel) || (slowest->waiting <= slowest->capacity / 2 && slowest->waiting < 2))
        return;
    fprintf(out, "  Messages wait most for '%s'", kernel->kernel);
    if (kernel->has_rates)
        fprintf(out, ", which handles %s a second", rates_text(kernel->rates[RATES_HANDLED], handled));
    if (kernel->busy.known)
        fprintf(out, ", busy %.0f %%", 100 * kernel->busy.mean);
    fprintf(out,
            ", with %" PRIu64
            " block%s. More `blocks` in [kernel.%s] would help where its messages do not depend "
            "on each other.\n",
            kernel->blocks, kernel->blocks == 1 ? "" : "s", kernel->kernel);
}

/* Tells of the pipeline in row `at`. */
static void tell_pipeline(FILE *out, const rates_table *table, size_t at)
{
    const link_table *links = &table->links;
    const link_row *slowest = NULL;
    fprintf(out, "Pipeline '%s' of process %" PRIu32 " (%s):\n", links->rows[at].pipeline,
            links->rows[at].pid, links->rows[at].of->seen.head.program);
    observed_tell_life(out, observed_life_word(links->rows[at].of), (double)links->rows[at].of->age_ns / 1e9,
                       links->rows[at].pid);
    tell_unwell(out, table, at);
    tell_flows(out, table, at);
    for (size_t i = at + 1; i < links->count && links->rows[i].kind == GYRE_OBSERVE_LINK; i++) {
        tell_link(out, &links->rows[i]);
        if (is_slower(&links->rows[i], slowest))
            slowest = &links->rows[i];
    }
    tell_slowest(out, table, slowest);
}

size_t why_tell_pipelines(FILE *out, const rates_table *table, const char *name, bool living)
{
    size_t told = 0;
    for (size_t i = 0; i < table->links.count; i++) {
        if (table->links.rows[i].kind != GYRE_OBSERVE_PIPELINE ||
            (strcmp(observed_life_word(table->links.rows[i].of), "lives") == 0) != living ||
            (name && strcmp(table->links.rows[i].pipeline, name) != 0))
            continue;
        tell_pipeline(out, table, i);
        told++;
    }
    return told;
}
