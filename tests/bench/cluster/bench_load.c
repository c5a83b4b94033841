/* SPDX-License-Identifier: Apache-2.0 */
/* A member of the cluster that is measured, and its client, which compares each reply with a model of its key (bench_cluster.h). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_cluster.h"
#include "core/cluster/format.h"
#include "core/types/key.h"
#include "gyre/cluster.h"
#include "tests/system/survival/cluster/counters.h"

enum { BATCH_MAX = 2048, BLOCKS_A_CALL = 8, PLACES = 1 << 18 };

struct bench_load {
    gyre_runtime *runtime;
    gyre_cluster *cluster;
    uint32_t shards, next_shard, keys_each, keys_used;
    uint64_t *keys; /* `keys_each` of each shard */
    count_state *models;
    count_state expected[PLACES]; /* by the number of the request */
    bool is_answered[PLACES];
    uint64_t sent, received, oldest; /* the first one that is unanswered */
    count_request requests[BLOCKS_A_CALL * BATCH_MAX];
};

/* ---- a member ---- */

static volatile sig_atomic_t ended;

static void end(int number)
{
    (void)number;
    ended = 1;
}

static void log_line(void *context, int level, const char *text)
{
    (void)level;
    fprintf(stderr, "%s: %s\n", (const char *)context, text);
}

static void await_shards(gyre_member *member)
{
    gyre_member_info info = {.size = sizeof info};
    do {
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        bench_must(gyre_member_info_get(member, &info), "looking at the member");
    } while (info.owned < info.shards && !ended);
}

int bench_member(const char *app, int shards, const char *name, const char *keys)
{
    char own[96], room[64];
    gyre_runtime *runtime = NULL;
    gyre_member *member = NULL;
    const char *settings[BENCH_SETTINGS + 4];
    size_t count = 0;
    signal(SIGTERM, end);
    snprintf(own, sizeof own, "cluster.member=%s", name);
    snprintf(room, sizeof room, "kernel.counters.keys=%s", keys);
    for (const char *const *given = bench_settings_of(app, shards, own); *given; given++)
        settings[count++] = *given;
    settings[count++] = room;
    settings[count] = NULL;
    const gyre_open_desc open_desc = {.size = sizeof open_desc,
                                      .settings = settings,
                                      .backend = "cpu",
                                      .log = log_line,
                                      .log_context = own};
    const gyre_member_desc desc = {.size = sizeof desc, .source = COUNTERS_KERNEL, .kernel = "counters"};
    bench_must(gyre_open(&open_desc, &runtime), "opening a member");
    bench_must(gyre_member_start(runtime, &desc, &member), "starting a member");
    if (strcmp(name, "first") == 0)
        await_shards(member);
    bench_ready();
    while (!ended)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    gyre_member_stop(member);
    gyre_close(runtime);
    return 0;
}

/* ---- the client ---- */

/* Finds accounts for each shard: its number is a part of the hash of the key. */
static void find_keys(struct bench_load *load)
{
    struct gyre_message_key key;
    uint32_t *found = calloc(load->shards, sizeof *found), full = 0;
    bench_require(found != NULL, "out of memory");
    bench_must(gyre_message_key_find(GYRE_TYPE(count_request), "account", &key), "finding the key");
    for (uint64_t account = 1; full < load->shards; account++) {
        const count_request request = {.account = account};
        uint64_t hash;
        bench_must(gyre_message_key_hash(&key, &request, sizeof request, &hash), "hashing a key");
        const uint64_t shard = hash % load->shards;
        if (found[shard] < load->keys_each) {
            load->keys[shard * load->keys_each + found[shard]++] = account;
            full += found[shard] == load->keys_each;
        }
    }
    free(found);
}

struct bench_load *bench_load_open(const char *app, int shards, uint32_t keys_each)
{
    struct bench_load *load = calloc(1, sizeof *load);
    bench_require(load != NULL, "out of memory");
    load->shards = (uint32_t)shards;
    load->keys_each = load->keys_used = keys_each;
    load->keys = calloc((size_t)load->shards * keys_each, sizeof *load->keys);
    load->models = calloc((size_t)load->shards * keys_each, sizeof *load->models);
    bench_require(load->keys && load->models, "out of memory");
    find_keys(load);
    const gyre_open_desc open_desc = {.size = sizeof open_desc,
                                      .settings = bench_settings_of(app, shards, NULL)};
    const gyre_cluster_desc desc = {.size = sizeof desc,
                                    .request = GYRE_TYPE(count_request),
                                    .reply = GYRE_TYPE(count_state),
                                    .deadline_ns = gyre_in_ms(BENCH_WAIT_MS),
                                    .goes_ahead = 1};
    bench_must(gyre_open(&open_desc, &load->runtime), "opening a client");
    bench_must(gyre_cluster_open(load->runtime, &desc, &load->cluster), "opening the cluster");
    return load;
}

void bench_load_close(struct bench_load *load)
{
    gyre_cluster_close(load->cluster);
    gyre_close(load->runtime);
    free(load->keys);
    free(load->models);
    free(load);
}

size_t bench_load_block(uint32_t batch)
{
    return sizeof(struct gyre_cluster_requests) + batch * gyre_cluster_message_room(sizeof(count_request));
}

void bench_load_fill_block(unsigned char *block, uint32_t batch)
{
    const struct gyre_cluster_message message = {.length = sizeof(count_request)};
    size_t at = sizeof(struct gyre_cluster_requests);
    for (uint64_t i = 0; i < batch; i++) {
        const count_request request = {1 + i * 7 % 32, i};
        at = gyre_cluster_message_add(block, at, &message, &request);
    }
}

static count_request next_request(struct bench_load *load, uint32_t shard, uint64_t key)
{
    const uint64_t number = load->sent++, place = number % PLACES;
    const size_t at = (size_t)shard * load->keys_each + key % load->keys_used;
    const count_request request = {load->keys[at], number % 1000003};
    count_state *model = &load->models[at];
    model->count++;
    model->trace = COUNTED(model->trace, request.amount);
    load->expected[place] = *model;
    load->is_answered[place] = false;
    return request;
}

static void send_requests(struct bench_load *load, size_t count, uint64_t first)
{
    uint64_t index;
    size_t sent = 0;
    bench_must(gyre_cluster_send_batch(load->cluster, load->requests, sizeof load->requests[0], count, &index,
                                       &sent, gyre_in_ms(BENCH_WAIT_MS)),
               "sending");
    bench_require(sent == count && index == first, "requests have other numbers than those that were sent");
}

/* One block for each of the next shards, with keys that are spread over all of the shard. */
static void send_blocks(struct bench_load *load, uint32_t blocks, uint32_t batch)
{
    const uint64_t first = load->sent;
    size_t count = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        for (uint32_t k = 0; k < batch; k++)
            load->requests[count++] = next_request(load, load->next_shard, load->sent * UINT64_C(2654435761));
        load->next_shard = (load->next_shard + 1) % load->shards;
    }
    send_requests(load, count, first);
}

static void check_reply(struct bench_load *load, const gyre_completion *completion, const count_state *reply)
{
    const uint64_t place = completion->index % PLACES;
    bench_require(completion->index < load->sent && !load->is_answered[place], "a reply came twice");
    bench_require(completion->outcome == GYRE_REPLIED && completion->length == sizeof *reply &&
                      reply->count == load->expected[place].count &&
                      reply->trace == load->expected[place].trace,
                  "a reply is wrong");
    load->is_answered[place] = true;
    load->received++;
    while (load->oldest < load->sent && load->is_answered[load->oldest % PLACES])
        load->oldest++;
}

/* What is at hand, of one block at most; at least one. */
static void receive_some(struct bench_load *load)
{
    static count_state replies[BATCH_MAX];
    static gyre_completion completions[BATCH_MAX];
    size_t count = 0;
    bench_must(gyre_cluster_receive_batch(load->cluster, replies, sizeof replies[0], BATCH_MAX, completions,
                                          &count, gyre_in_ms(BENCH_WAIT_MS)),
               "receiving");
    for (size_t i = 0; i < count; i++)
        check_reply(load, &completions[i], &replies[i]);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void bench_load_stream(struct bench_load *load, uint32_t batch, uint64_t duration_ns,
                       struct bench_figures *figures)
{
    const uint64_t begin = now_ns(), before = load->received;
    bench_require(batch <= BATCH_MAX && BENCH_WINDOW * batch < PLACES, "too many requests in a block");
    while (now_ns() - begin < duration_ns) {
        while (load->sent - load->received <= (BENCH_WINDOW - BLOCKS_A_CALL) * (uint64_t)batch &&
               load->sent - load->oldest <= PLACES - BLOCKS_A_CALL * (uint64_t)batch)
            send_blocks(load, BLOCKS_A_CALL, batch);
        receive_some(load);
    }
    while (load->received < load->sent)
        receive_some(load);
    figures->requests = load->received - before;
    figures->per_second = (double)figures->requests * 1e9 / (double)(now_ns() - begin);
}

void bench_load_calls(struct bench_load *load, uint64_t duration_ns, struct bench_figures *figures)
{
    static bench_histogram histogram;
    const uint64_t begin = now_ns(), before = load->received;
    uint64_t now = begin;
    memset(&histogram, 0, sizeof histogram);
    while (now - begin < duration_ns) {
        const uint64_t sent_ns = now;
        send_blocks(load, 1, 1);
        receive_some(load);
        now = now_ns();
        bench_histogram_add(&histogram, now - sent_ns);
    }
    figures->requests = load->received - before;
    figures->per_second = (double)figures->requests * 1e9 / (double)(now - begin);
    figures->p50 = (double)bench_histogram_quantile(&histogram, 0.5);
    figures->p99 = (double)bench_histogram_quantile(&histogram, 0.99);
}

void bench_load_fill(struct bench_load *load)
{
    for (uint32_t shard = 0; shard < load->shards; shard++)
        for (uint64_t key = 0; key < load->keys_each;) {
            const uint64_t first = load->sent;
            size_t count = 0;
            for (; count < BATCH_MAX && key < load->keys_each; key++)
                load->requests[count++] = next_request(load, shard, key);
            send_requests(load, count, first);
            while (load->received < load->sent)
                receive_some(load);
        }
}

void bench_load_use(struct bench_load *load, uint32_t keys)
{
    load->keys_used = keys;
}

double bench_load_pause(struct bench_load *load, bool all, bool (*stop)(void *context), void *context)
{
    uint64_t longest = 0;
    bool is_over = false;
    while (!is_over) {
        is_over = stop(context); /* one turn more */
        const uint64_t begin = now_ns();
        load->next_shard = 0;
        send_blocks(load, all ? load->shards : 1, 16);
        while (load->received < load->sent)
            receive_some(load);
        const uint64_t took = now_ns() - begin;
        longest = took > longest ? took : longest;
    }
    return (double)longest;
}
