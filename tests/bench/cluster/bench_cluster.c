/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests through a cluster, every reply checked, beside the same blocks through the bare transport, in turns: client -> log -> member ->
 * handler -> log -> client. docs/cluster.md has the commands and figures of one run.
 *
 * usage: bench_cluster file|nats [--seconds S] [--shards N,N...] [--batch N,N...] [--ops] [--kills N] [--moves N] [--keys N] [--used N]
 *
 * S: for each row, its floor included. --kills, --moves: instead of rows, the pauses when members are killed, and when a shard with N keys moves. --ops: the floor is the transport's own append and read. `nats` needs a server at CLUSTER_URL.
 */
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_cluster.h"
#include "gyre/transport.h"

enum { ROUNDS = 7, LIST_MAX = 8 };

struct options {
    double seconds;
    int shards[LIST_MAX], batches[LIST_MAX];
    size_t shard_count, batch_count;
    bool ops;
    int kills, moves;
    uint32_t keys, used; /* --moves: the accounts of the shard, and those that requests go to */
};

/* ---- the floor ---- */

static volatile sig_atomic_t ended;

static void end(int number)
{
    (void)number;
    ended = 1;
}

static unsigned char block[GYRE_TRANSPORT_BLOCK_MAX], received[GYRE_TRANSPORT_BLOCK_MAX];

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Sends back what comes; the first byte says whether the client waits for each block. */
static int run_echo(const struct bench_floor_ops *floor, size_t size)
{
    signal(SIGTERM, end);
    floor->open(true, size);
    bench_ready();
    while (!ended) {
        const size_t got = floor->receive(received, sizeof received);
        if (got)
            floor->send(received, got, received[0] != 0);
    }
    floor->settle();
    floor->close();
    return 0;
}

struct floor {
    const struct bench_floor_ops *ops;
    pid_t echo;
    size_t size;
    uint64_t sent, received;
};

static void open_floor(struct floor *floor, const struct options *options, uint32_t batch)
{
    char text[32];
    const size_t size = bench_load_block(batch);
    *floor = (struct floor){.ops = bench_floor_of(bench_transport(), options->ops), .size = size};
    snprintf(text, sizeof text, "%zu", size);
    const char *const arguments[] = {"bench_cluster",           "echo", bench_transport(), text,
                                     options->ops ? "ops" : "", NULL};
    bench_load_fill_block(block, batch);
    floor->ops->open(false, size);
    floor->echo = bench_start(arguments);
}

static void close_floor(struct floor *floor)
{
    bench_end(floor->echo, true);
    floor->ops->close();
}

static void send_floor(struct floor *floor, bool one_by_one)
{
    block[0] = one_by_one;
    memcpy(block + 8, &floor->sent, sizeof floor->sent);
    memcpy(block + floor->size - 8, &floor->sent, sizeof floor->sent);
    floor->ops->send(block, floor->size, one_by_one);
    floor->sent++;
}

static void receive_floor(struct floor *floor)
{
    uint64_t first, last;
    const uint64_t until = now_ns() + (uint64_t)BENCH_WAIT_MS * 1000000;
    size_t got = 0;
    while (!got) {
        got = floor->ops->receive(received, sizeof received);
        bench_require(got || now_ns() < until, "the floor's blocks do not come back");
    }
    memcpy(&first, received + 8, sizeof first);
    memcpy(&last, received + floor->size - 8, sizeof last);
    bench_require(got == floor->size && first == floor->received && last == floor->received,
                  "the floor received another block than the next one");
    floor->received++;
}

static void stream_floor(struct floor *floor, uint32_t batch, uint64_t duration_ns,
                         struct bench_figures *figures)
{
    const uint64_t begin = now_ns(), before = floor->received;
    while (now_ns() - begin < duration_ns) {
        while (floor->sent - floor->received < BENCH_WINDOW)
            send_floor(floor, false);
        receive_floor(floor);
    }
    while (floor->received < floor->sent)
        receive_floor(floor);
    figures->requests = (floor->received - before) * batch;
    figures->per_second = (double)figures->requests * 1e9 / (double)(now_ns() - begin);
}

static void call_floor(struct floor *floor, uint64_t duration_ns, struct bench_figures *figures)
{
    static bench_histogram histogram;
    const uint64_t begin = now_ns(), before = floor->received;
    uint64_t now = begin;
    memset(&histogram, 0, sizeof histogram);
    while (now - begin < duration_ns) {
        const uint64_t sent_ns = now;
        send_floor(floor, true);
        receive_floor(floor);
        now = now_ns();
        bench_histogram_add(&histogram, now - sent_ns);
    }
    figures->requests = floor->received - before;
    figures->per_second = (double)figures->requests * 1e9 / (double)(now - begin);
    figures->p50 = (double)bench_histogram_quantile(&histogram, 0.5);
    figures->p99 = (double)bench_histogram_quantile(&histogram, 0.99);
}

/* ---- rows ---- */

struct row {
    int shards;
    uint32_t batch; /* requests of a block; 0: one after the other */
    struct bench_load *load;
    pid_t member;
};

struct turns {
    struct bench_figures value[ROUNDS], floor[ROUNDS];
    double ratio[ROUNDS]; /* of rates, or of medians of latencies */
};

static void run_value(const struct row *row, uint64_t slice_ns, struct bench_figures *figures)
{
    const uint64_t cpu = bench_cpu_of_all(row->member), servers = bench_cpu_of_servers();
    if (row->batch)
        bench_load_stream(row->load, row->batch, slice_ns, figures);
    else
        bench_load_calls(row->load, slice_ns, figures);
    figures->cpu_ns = (double)(bench_cpu_of_all(row->member) - cpu) / (double)figures->requests;
    figures->server_ns = (double)(bench_cpu_of_servers() - servers) / (double)figures->requests;
}

static void run_floor(struct floor *floor, const struct row *row, uint64_t slice_ns,
                      struct bench_figures *figures)
{
    const uint64_t cpu = bench_cpu_of_all(floor->echo), servers = bench_cpu_of_servers();
    if (row->batch)
        stream_floor(floor, row->batch, slice_ns, figures);
    else
        call_floor(floor, slice_ns, figures);
    figures->cpu_ns = (double)(bench_cpu_of_all(floor->echo) - cpu) / (double)figures->requests;
    figures->server_ns = (double)(bench_cpu_of_servers() - servers) / (double)figures->requests;
    floor->ops->settle();
}

static void run_turns(struct floor *floor, const struct row *row, uint64_t slice_ns, struct turns *turns)
{
    *turns = (struct turns){0};
    for (int i = 0; i < ROUNDS; i++) {
        struct bench_figures *value = &turns->value[i], *bare = &turns->floor[i];
        run_floor(floor, row, slice_ns, bare);
        run_value(row, slice_ns, value);
        turns->ratio[i] = row->batch ? value->per_second / bare->per_second : value->p50 / bare->p50;
    }
}

/* The median of a member of the figures of all rounds. */
static double median(const struct bench_figures *figures, size_t member)
{
    double values[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        memcpy(&values[i], (const char *)&figures[i] + member, sizeof values[i]);
    return bench_median(values, ROUNDS);
}
#define MEDIAN(figures, member) median(figures, offsetof(struct bench_figures, member))

static void print_row(const struct row *row, const struct turns *turns)
{
    const size_t size = bench_load_block(row->batch ? row->batch : 1);
    const struct bench_figures *value = turns->value, *floor = turns->floor;
    printf("%6d %7u %8zu %11.0f %11.0f %6.2f %8.2f %8.2f %8.2f %8.2f", row->shards, row->batch, size,
           MEDIAN(value, per_second), MEDIAN(floor, per_second), bench_median(turns->ratio, ROUNDS),
           MEDIAN(value, cpu_ns) / 1e3, MEDIAN(floor, cpu_ns) / 1e3, MEDIAN(value, server_ns) / 1e3,
           MEDIAN(floor, server_ns) / 1e3);
    if (!row->batch)
        printf(" %8.0f %8.0f %8.0f %8.0f", MEDIAN(value, p50) / 1e3, MEDIAN(value, p99) / 1e3,
               MEDIAN(floor, p50) / 1e3, MEDIAN(floor, p99) / 1e3);
    putchar('\n');
    fflush(stdout);
}

static void run_row(const struct row *row, const struct options *options)
{
    struct floor floor;
    struct turns turns;
    open_floor(&floor, options, row->batch ? row->batch : 1);
    run_turns(&floor, row, (uint64_t)(options->seconds * 1e9 / (2 * ROUNDS)), &turns);
    close_floor(&floor);
    print_row(row, &turns);
}

static void run_shards(int shards, const struct options *options)
{
    char app[32], text[16];
    snprintf(app, sizeof app, "bench%d", shards);
    snprintf(text, sizeof text, "%d", shards);
    const char *const arguments[] = {
        "bench_cluster", "member", bench_transport(), app, text, "first", "64", NULL};
    struct row row = {.shards = shards, .member = bench_start(arguments)};
    row.load = bench_load_open(app, shards, 4);
    for (size_t i = 0; i < options->batch_count; i++) {
        row.batch = (uint32_t)options->batches[i];
        run_row(&row, options);
    }
    bench_load_close(row.load);
    bench_end(row.member, true);
}

static void run_rates(const char *transport, const struct options *options)
{
    printf("transport %s, floor: %s\n", transport, bench_floor_of(transport, options->ops)->name);
    printf("%52s %17s %17s %17s %17s\n", "", "us of CPU", "of the server", "us, p50 and p99", "of the floor");
    puts("shards a block    bytes  requests/s     floor/s  ratio  request    floor  request    floor");
    for (size_t i = 0; i < options->shard_count; i++)
        run_shards(options->shards[i], options);
}

/* ---- the command ---- */

static size_t parse_list(const char *text, int least, int most, int list[LIST_MAX])
{
    size_t count = 0;
    char *end_of = NULL;
    for (; count < LIST_MAX && *text; text = *end_of ? end_of + 1 : end_of) {
        const long value = strtol(text, &end_of, 10);
        bench_require(end_of != text && (!*end_of || *end_of == ',') && value >= least && value <= most,
                      "expected numbers with commas between them");
        list[count++] = (int)value;
    }
    return count;
}

static int fail_usage(void)
{
    fputs(
        "usage: bench_cluster file|nats [--seconds S] [--shards N,N...] [--batch N,N...] [--ops] [--kills N] [--moves N] [--keys N] [--used N]\n",
        stderr);
    return 2;
}

static bool parse(int argc, char **argv, struct options *options)
{
    options->seconds = 4;
    options->keys = 1000000;
    options->shard_count = parse_list("8,64,512", 1, 4096, options->shards);
    options->batch_count = parse_list("0,1,16,256,2048", 0, 2048, options->batches);
    for (int i = 2; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--ops") == 0) {
            options->ops = true;
            continue;
        }
        if (strcmp(argv[i], "--seconds") == 0)
            options->seconds = strtod(value, NULL);
        else if (strcmp(argv[i], "--shards") == 0)
            options->shard_count = parse_list(value, 1, 4096, options->shards);
        else if (strcmp(argv[i], "--batch") == 0)
            options->batch_count = parse_list(value, 0, 2048, options->batches);
        else if (strcmp(argv[i], "--kills") == 0)
            options->kills = (int)strtol(value, NULL, 10);
        else if (strcmp(argv[i], "--moves") == 0)
            options->moves = (int)strtol(value, NULL, 10);
        else if (strcmp(argv[i], "--keys") == 0)
            options->keys = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--used") == 0)
            options->used = (uint32_t)strtoul(value, NULL, 10);
        else
            return false;
        i++;
    }
    return options->seconds > 0 && options->seconds <= 3600 && options->shard_count && options->batch_count;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    const char *what = argc > 1 ? argv[1] : "";
    const bool is_part = strcmp(what, "member") == 0 || strcmp(what, "echo") == 0;
    if (is_part && argc > 4)
        bench_place_begin(argv[2]);
    if (argc == 7 && strcmp(what, "member") == 0)
        return bench_member(argv[3], (int)strtol(argv[4], NULL, 10), argv[5], argv[6]);
    if (argc == 5 && strcmp(what, "echo") == 0)
        return run_echo(bench_floor_of(argv[2], argv[4][0] != '\0'), strtoul(argv[3], NULL, 10));
    if ((strcmp(what, "file") != 0 && strcmp(what, "nats") != 0) || !parse(argc, argv, &options))
        return fail_usage();
    bench_place_begin(what);
    if (options.kills || options.moves) {
        if (options.kills)
            bench_kills(options.kills);
        if (options.moves)
            bench_moves(options.moves, options.keys,
                        options.used && options.used < options.keys ? options.used : options.keys);
    } else
        run_rates(what, &options);
    bench_place_end();
    return 0;
}
