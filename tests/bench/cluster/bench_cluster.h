/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a cluster carries, beside its floor: the same blocks there and back through the bare transport, between the same two processes.
 * Everything here is one thread's, and ends the program with a sentence when something fails: a figure of replies that were wrong or
 * missing is none.
 */
#ifndef GYRE_TESTS_BENCH_CLUSTER_H
#define GYRE_TESTS_BENCH_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/bench/measure.h"
#include "gyre/gyre.h"

enum { BENCH_WINDOW = 24, BENCH_WAIT_MS = 60000, BENCH_SETTINGS = 16 };

/** One round: rates, latencies, and what all processes together spent. */
struct bench_figures {
    uint64_t requests;
    double per_second, cpu_ns; /* of a request: this process, its partner and the servers, */
    double server_ns;          /* and the servers alone */
    double p50, p99;
};

/* ---- bench_place.c: where the cluster is, and processes ---- */

/** Reads CLUSTER_TRANSPORT, CLUSTER_URL, CLUSTER_SERVER and CLUSTER_REPLICAS; makes a folder. */
void bench_place_begin(const char *transport);
void bench_place_end(void);
const char *bench_transport(void);
/** Settings of an app with so many shards, NULL-terminated; valid until the next call. */
const char *const *bench_settings_of(const char *app, int shards, const char *more);

/** Starts this program with these arguments, and returns when it has said that it is ready. It does not outlive this one. */
pid_t bench_start(const char *const *arguments);
/** Says so, in the started process. */
void bench_ready(void);
/** Ends it by SIGTERM, or SIGKILL, and waits. */
void bench_end(pid_t process, bool in_order);
/** CPU time of this process, of the partner and of the server. */
uint64_t bench_cpu_of_all(pid_t partner);
/** That of the servers alone: what bounds a cluster whose members have machines of their own. */
uint64_t bench_cpu_of_servers(void);
/** Ends the program with the sentence of the library unless `status` is OK. */
void bench_must(gyre_status status, const char *what);
void bench_require(bool holds, const char *what);

/* ---- the floor: bench_floor_ops.c, bench_floor_nats.c ---- */

/** The operations of a floor: blocks there and back. A block has `size` bytes. */
struct bench_floor_ops {
    const char *name;
    void (*open)(bool is_echo, size_t size);
    void (*send)(const void *block, size_t size, bool one_by_one); /* one_by_one: returns when it is kept */
    size_t (*receive)(void *block, size_t room);                   /* 0: nothing for a moment */
    void (*settle)(void); /* returns when everything that was sent is kept */
    void (*close)(void);
};
/** The floor of the transport; `ops`: through the plugin's operations, also where there is a barer one. */
const struct bench_floor_ops *bench_floor_of(const char *transport, bool ops);
extern const struct bench_floor_ops bench_floor_plugin;
#ifdef BENCH_WITH_NATS
extern const struct bench_floor_ops bench_floor_nats;
#endif

/* ---- bench_load.c: a client that checks every reply ---- */

struct bench_load;
/** `keys_each`: accounts of each shard. */
struct bench_load *bench_load_open(const char *app, int shards, uint32_t keys_each);
void bench_load_close(struct bench_load *load);
/** Keeps BENCH_WINDOW blocks of `batch` requests under way. */
void bench_load_stream(struct bench_load *load, uint32_t batch, uint64_t duration_ns,
                       struct bench_figures *figures);
/** One request after the other. */
void bench_load_calls(struct bench_load *load, uint64_t duration_ns, struct bench_figures *figures);
/** Bytes of a block of so many requests. */
size_t bench_load_block(uint32_t batch);
/** Writes so many requests into a block, whose head stays as it is: three servers compress what they tell each other, and zeros cost them little. */
void bench_load_fill_block(unsigned char *block, uint32_t batch);
/** A request for every account. */
void bench_load_fill(struct bench_load *load);
/** From now on the requests of a shard go to so many of its accounts. */
void bench_load_use(struct bench_load *load, uint32_t keys);
/**
 * 16 requests to the first shard, or to each of up to 8, again and again until `stop` says so: the longest time between sending them and
 * their last reply, in ns.
 */
double bench_load_pause(struct bench_load *load, bool all, bool (*stop)(void *context), void *context);
/** main of a member's process. */
int bench_member(const char *app, int shards, const char *name, const char *keys);

/* ---- bench_pauses.c ---- */

/** Kills one of two members, so often, and starts another one: how long requests wait. */
void bench_kills(int count);
/** Moves a shard with so many keys from one member to the other, so often, while requests go to `used` of them. */
void bench_moves(int count, uint32_t keys, uint32_t used);

#endif
