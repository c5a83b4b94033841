/* SPDX-License-Identifier: Apache-2.0 */
/* How long requests wait when members die, and when a shard moves by order (bench_cluster.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_cluster.h"
#include "core/cluster/orders.h"
#include "core/cluster/place.h"
#include "core/device/runtime.h"
#include "core/transport/transport.h"

enum { SHARDS = 8, COUNT_MAX = 1000 };

static gyre_runtime *runtime;
static struct gyre_transport *link;

static void open_look(const char *app, int shards)
{
    const gyre_open_desc desc = {.size = sizeof desc, .settings = bench_settings_of(app, shards, NULL)};
    bench_must(gyre_open(&desc, &runtime), "opening a look");
    bench_must(gyre_transport_open(runtime->config, NULL, NULL, gyre_in_ms(BENCH_WAIT_MS), &link),
               "opening a look's transport");
}

static void close_look(void)
{
    gyre_transport_close(link);
    gyre_close(runtime);
}

static pid_t start_member(const char *app, int shards, const char *name, const char *keys)
{
    char text[16];
    snprintf(text, sizeof text, "%d", shards);
    const char *const arguments[] = {
        "bench_cluster", "member", bench_transport(), app, text, name, keys, NULL};
    return bench_start(arguments);
}

static bool read_place(uint32_t shard, struct gyre_shard_place *place)
{
    return gyre_place_read(link, shard, place) == GYRE_OK && place->owner[0] && place->works;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static int by_size(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double quantile(double *values, int count, double share)
{
    qsort(values, (size_t)count, sizeof *values, by_size);
    return values[(int)(share * (count - 1) + 0.5)];
}

/* ---- kills ---- */

struct kill {
    const char *name; /* of the member that died */
};

/* Whether no shard is the dead member's any more. */
static bool is_taken_over(void *context)
{
    const struct kill *kill = context;
    struct gyre_shard_place place;
    for (uint32_t i = 0; i < SHARDS; i++)
        if (!read_place(i, &place) || strcmp(place.owner, kill->name) == 0)
            return false;
    return true;
}

/* Waits until the member has some of the shards, and not all. */
static void await_part(const char *name)
{
    int owned = 0;
    while (owned < 2 || owned > SHARDS - 2) {
        struct gyre_shard_place place;
        owned = 0;
        for (uint32_t i = 0; i < SHARDS; i++)
            owned += read_place(i, &place) && strcmp(place.owner, name) == 0;
        nap();
    }
}

/* A name under which the place of the shards is like that of the others: one member has two shards at least. */
static void name_member(char name[32], int number)
{
    snprintf(name, 32, number == 0 ? "first" : "member%d", number);
}

void bench_kills(int count)
{
    static double pauses[COUNT_MAX];
    char names[2][32];
    pid_t members[2];
    bench_require(count >= 1 && count <= COUNT_MAX, "expected 1 to 1000 kills");
    for (int i = 0; i < 2; i++) {
        name_member(names[i], i);
        members[i] = start_member("kills", SHARDS, names[i], "1000");
    }
    open_look("kills", SHARDS);
    struct bench_load *load = bench_load_open("kills", SHARDS, 64);
    for (int i = 0; i < count; i++) {
        struct kill kill = {names[i % 2]};
        await_part(names[1 - i % 2]);
        bench_end(members[i % 2], false);
        pauses[i] = bench_load_pause(load, true, is_taken_over, &kill) / 1e9;
        name_member(names[i % 2], i + 2);
        members[i % 2] = start_member("kills", SHARDS, names[i % 2], "1000");
    }
    bench_load_close(load);
    close_look();
    bench_end(members[0], true);
    bench_end(members[1], true);
    printf(
        "%d kills of one of two members, 8 shards, lease_ms = 3000: longest pause p50 %.2f s, p99 %.2f s, longest %.2f s\n",
        count, quantile(pauses, count, 0.5), quantile(pauses, count, 0.99), quantile(pauses, count, 1));
}

/* ---- moves ---- */

struct move {
    const char *to;
    struct gyre_shard_place place;
};

static bool is_moved(void *context)
{
    struct move *move = context;
    return read_place(0, &move->place) && strcmp(move->place.owner, move->to) == 0;
}

void bench_moves(int count, uint32_t keys, uint32_t used)
{
    static double waits[COUNT_MAX], pauses[COUNT_MAX];
    static const char *const names[] = {"first", "second"};
    char room[32];
    pid_t members[2];
    bench_require(count >= 1 && count <= COUNT_MAX, "expected 1 to 1000 moves");
    snprintf(room, sizeof room, "%u", keys + keys / 8);
    for (int i = 0; i < 2; i++)
        members[i] = start_member("moves", 1, names[i], room);
    open_look("moves", 1);
    struct bench_load *load = bench_load_open("moves", 1, keys);
    bench_load_fill(load);
    bench_load_use(load, used);
    for (int i = 0; i < count; i++) {
        struct move move = {.to = "first"};
        if (is_moved(&move))
            move.to = "second";
        bench_must(gyre_orders_set_member(link, 0, move.to, gyre_in_ms(BENCH_WAIT_MS)), "ordering a move");
        waits[i] = bench_load_pause(load, false, is_moved, &move) / 1e6;
        pauses[i] = (double)move.place.pause_ns / 1e6;
    }
    bench_load_close(load);
    close_look();
    bench_end(members[0], true);
    bench_end(members[1], true);
    printf(
        "%d moves of a shard with %u keys, 16 requests after the other to %u of them: longest wait of a request p50 %.0f ms, longest %.0f ms; "
        "told by the members p50 %.0f ms, longest %.0f ms\n",
        count, keys, used, quantile(waits, count, 0.5), quantile(waits, count, 1),
        quantile(pauses, count, 0.5), quantile(pauses, count, 1));
}
