/* SPDX-License-Identifier: Apache-2.0 */
/* The floor through the operations of a transport's plugin: bare appends and reads of two logs. */
#include <stdio.h>
#include <string.h>

#include "bench_cluster.h"
#include "core/device/runtime.h"
#include "core/transport/transport.h"

enum { PURGE_EVERY = 1024 };

static gyre_runtime *runtime;
static struct gyre_transport *link;
static const char *out, *in; /* the logs that this side writes and reads */
static uint64_t position, purged;

static void open_floor(bool is_echo, size_t size)
{
    char app[64];
    snprintf(app, sizeof app, "floor%zu", size);
    const gyre_open_desc desc = {.size = sizeof desc, .settings = bench_settings_of(app, 8, NULL)};
    bench_must(gyre_open(&desc, &runtime), "opening the floor");
    bench_must(gyre_transport_open(runtime->config, NULL, NULL, gyre_in_ms(BENCH_WAIT_MS), &link),
               "opening the floor's transport");
    out = is_echo ? "back" : "there";
    in = is_echo ? "there" : "back";
    position = purged = 0;
    bench_must(gyre_transport_last(link, in, &position), "looking at the floor's log");
}

static void send_block(const void *block, size_t size, bool one_by_one)
{
    const gyre_transport_block desc = {
        .size = sizeof desc, .bytes = block, .byte_count = size, .expected = GYRE_TRANSPORT_ANY};
    (void)one_by_one; /* an append returns when the block is kept */
    bench_must(gyre_transport_append(link, out, &desc, NULL), "appending to the floor's log");
}

static size_t receive_block(void *block, size_t room)
{
    size_t size = 0;
    uint64_t number;
    const gyre_status status = gyre_transport_read(link, in, position, block, room, &size, &number);
    if (status == GYRE_AGAIN) {
        gyre_transport_wait(link, in, position, gyre_in_ms(20));
        return 0;
    }
    bench_must(status, "reading the floor's log");
    position = number;
    if (position - purged >= PURGE_EVERY) {
        gyre_transport_purge(link, in, position);
        purged = position;
    }
    return size;
}

static void settle(void)
{
}

static void close_floor(void)
{
    gyre_transport_close(link);
    gyre_close(runtime);
    link = NULL;
    runtime = NULL;
}

const struct bench_floor_ops bench_floor_plugin = {
    "append and read of the transport", open_floor, send_block, receive_block, settle, close_floor};

const struct bench_floor_ops *bench_floor_of(const char *transport, bool ops)
{
#ifdef BENCH_WITH_NATS
    if (strcmp(transport, "nats") == 0 && !ops)
        return &bench_floor_nats;
#endif
    (void)transport;
    (void)ops;
    return &bench_floor_plugin;
}
