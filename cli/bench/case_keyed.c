/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures messages from kernel to keyed actor (docs/keyed.md). The client's requests are few: each has the first kernel send many messages,
 * whose flow ends when all of them were handled. The actor checks the words of each message, and behind a round the client
 * compares how many messages some keys have got with how many were sent to them.
 */
#include "cli/bench/bench.h"
#include "cli/bench/cases_keyed.h"
#include "cli/bench/kernels.h"
#include "cli/bench/rounds.h"
#include "cli/bench/runtime.h"
#include "cli/bench/story.h"

#include <limits.h>
#include <string.h>

#include "gyre/keyed.h"
#include "gyre/pipeline.h"
#include "gyre/waiting.h"

enum { UNDER_WAY = 4096, UNDER_WAY_FEW = 16, KEYS_LOOKED_AT = 64 };

/* How many blocks send and how many handle or route: most of a device, or a thread each elsewhere. */
static const struct scale {
    const char *backend;
    uint32_t feed, keyed, under_way;
} scales[] = {{"cuda", 15, 112, UNDER_WAY}, {"", 1, 1, UNDER_WAY_FEW}};

struct linked {
    gyre_runtime *runtime;
    gyre_kernel *feed, *keyed;
    gyre_pipeline *pipeline;
    gyre_queue *queue;
    struct scale scale;
    uint64_t number; /* of the next message */
};

static gyre_status launch(struct linked *linked, const char *kernel, uint32_t blocks, gyre_kernel **out)
{
    char path[PATH_MAX];
    const gyre_launch_desc desc = {
        .size = sizeof desc, .source = path, .kernel = kernel, .name = kernel, .blocks = blocks, .stage = 1};
    const gyre_status status = bench_file("keyed_links.gyre.c", path, sizeof path);
    return status == GYRE_OK ? bench_device_status(linked->runtime, gyre_launch(linked->runtime, &desc, out))
                             : status;
}

static gyre_status open_pipeline(struct linked *linked)
{
    static const char *const entry = "keyed_feed";
    const gyre_link_desc link = {.size = sizeof link,
                                 .from = "keyed_feed.out",
                                 .to = "keyed_linked_48",
                                 .capacity = 64 * BENCH_ORDER_MANY};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "keyed",
                                     .entries = &entry,
                                     .entry_count = 1,
                                     .links = &link,
                                     .link_count = 1};
    gyre_status status = launch(linked, entry, linked->scale.feed, &linked->feed);
    if (status == GYRE_OK)
        status = launch(linked, link.to, linked->scale.keyed, &linked->keyed);
    if (status == GYRE_OK)
        status = gyre_pipeline_open(linked->runtime, &desc, &linked->pipeline);
    const gyre_queue_desc queue = {.size = sizeof queue, .capacity = linked->scale.under_way};
    return status == GYRE_OK ? gyre_pipeline_queue_open(linked->pipeline, NULL, &queue, &linked->queue)
                             : status;
}

static gyre_status open_all(struct linked *linked, const bench_case *self, const bench_options *options,
                            bench_row *row)
{
    gyre_backend_choice choice = {.size = sizeof choice};
    gyre_status status = bench_runtime_open(self, options, NULL, &linked->runtime);
    if (status == GYRE_OK)
        status = gyre_backend_choose(linked->runtime, NULL, &choice);
    if (status != GYRE_OK)
        return status;
    linked->scale = strcmp(choice.name, scales[0].backend) == 0 ? scales[0] : scales[1];
    status = open_pipeline(linked);
    if (status == GYRE_OK)
        bench_note_kernel(linked->keyed, row);
    row->message_bytes = sizeof(keyed_words);
    return status;
}

/* ---- rounds ---- */

static gyre_status send_order(struct linked *linked)
{
    const keyed_order order = {.first = linked->number};
    linked->number += BENCH_ORDER_MANY;
    return gyre_send(linked->queue, &order, sizeof order, NULL, gyre_in_ms(BENCH_PATIENCE_MS));
}

static gyre_status receive_order(struct linked *linked, bench_sample *sample)
{
    gyre_completion completion = {0};
    const gyre_status status =
        gyre_receive(linked->queue, NULL, 0, &completion, gyre_in_ms(BENCH_PATIENCE_MS));
    sample->errors += status == GYRE_OK && completion.outcome != GYRE_NOT_REPLIED;
    sample->messages += BENCH_ORDER_MANY;
    return status;
}

/* How many of the messages below `end` are for the key of number `first`, which is below BENCH_ORDER_KEYS. */
static uint64_t count_of(uint64_t first, uint64_t end)
{
    return end > first ? (end - first - 1) / BENCH_ORDER_KEYS + 1 : 0;
}

/* BENCH_ORDER_KEY gives each of BENCH_ORDER_KEYS numbers that follow each other another key, because its factor is odd. */
static gyre_status check_counts(const struct linked *linked, bench_sample *sample)
{
    gyre_status status = GYRE_OK;
    for (uint64_t i = 0; i < KEYS_LOOKED_AT && status == GYRE_OK; i++) {
        const uint64_t number = i * (BENCH_ORDER_KEYS / KEYS_LOOKED_AT) + i;
        const uint64_t key = BENCH_ORDER_KEY(number), wanted = count_of(number, linked->number);
        keyed_state state = {0};
        status = gyre_kernel_key_read(linked->keyed, &key, sizeof key, &state, sizeof state);
        if (status == GYRE_NOT_FOUND && wanted == 0)
            status = GYRE_OK;
        sample->errors += status == GYRE_OK && state.count != wanted;
    }
    return status;
}

static gyre_status linked_round(void *context, uint64_t duration_ns, bench_sample *sample)
{
    struct linked *linked = context;
    uint32_t under_way = 0;
    gyre_status status = GYRE_OK;
    bench_pin(bench_core_client());
    const uint64_t start = gyre_clock_ns();
    while (status == GYRE_OK && gyre_clock_ns() - start < duration_ns) {
        for (; status == GYRE_OK && under_way < linked->scale.under_way; under_way++)
            status = send_order(linked);
        for (; status == GYRE_OK && under_way > linked->scale.under_way / 2; under_way--)
            status = receive_order(linked, sample);
    }
    for (; status == GYRE_OK && under_way; under_way--)
        status = receive_order(linked, sample);
    sample->per_second = (double)sample->messages * 1e9 / (double)(gyre_clock_ns() - start);
    bench_pin(-1);
    return status == GYRE_OK ? check_counts(linked, sample) : status;
}

gyre_status bench_run_keyed_linked(const bench_case *self, const bench_options *options, bench_row *row)
{
    struct linked linked = {.runtime = NULL};
    bench_story story;
    gyre_status status = open_all(&linked, self, options, row);
    if (status == GYRE_OK)
        status = bench_rounds(self, options, linked_round, &linked, row);
    bench_story_take(&story, status);
    gyre_close(linked.runtime);
    return bench_story_tell(&story, self);
}
