/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that are members of a cluster, and a client that compares each reply with a model of its key. The transport is `file`, or what
 * CLUSTER_TRANSPORT names, with the server at CLUSTER_URL.
 */
#ifndef GYRE_TESTS_MEMBERS_H
#define GYRE_TESTS_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <gyre/cluster.h>

#include "counters.h"

enum { ACCOUNTS = 97, SHARDS = 8, MEMBERS = 3 };

/** Makes a folder of the test's own, and an app. */
void begin_cluster(void);
/** Removes the folder after a test that passed; returns its exit code. */
int end_cluster(int code);
/** Settings of the cluster, NULL-terminated, with one more; valid until the next call. */
const char *const *cluster_settings(const char *more);

/** Starts member number `which`: a process of its own. Its kernel is that of the file that CLUSTER_MEMBER_SOURCE names, if it is set. */
void start_member(int which);
pid_t member_process(int which);
/** SIGKILL, and waits for its end. */
void kill_member(int which);
/** SIGTERM; requires an orderly end. */
void end_member(int which);
/** main of a member's process: serves until SIGTERM, and writes how it fared into its file of the folder now and then. */
int run_member(const char *name, const char *more);
/** What member `which` wrote last; false: nothing yet. */
bool read_member(int which, gyre_member_info *info);
/** Waits until the members that were started own all shards between them. */
void await_owners(int members);
/** Waits until member `which` owns at least so many. */
void await_owned(int which, uint32_t least);

/** A client with its model. */
struct client {
    gyre_runtime *runtime;
    gyre_cluster *cluster;
    uint64_t sent, received;
    count_state expected[1 << 16]; /* the reply to request `number` % of these */
    bool fails[1 << 16], answered[1 << 16];
    count_state model[ACCOUNTS];
    uint64_t first_index, salt;
};

/** With an odd salt its requests are under way when sending returns, where the transport can do that. */
struct client *open_teller(uint64_t salt);
/** Sends the next requests, in one batch. */
void send_some(struct client *teller, uint32_t count);
/** Receives replies until `until` came in all, and compares each with the model. */
void receive_some(struct client *teller, uint64_t until);
void close_teller(struct client *teller);

#endif
