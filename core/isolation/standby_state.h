/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the standby worker of a device is, and what may be told of it. All functions accept a device that keeps
 * none, except where noted. Private to this folder.
 */
#ifndef GYRE_CORE_ISOLATION_STANDBY_STATE_H
#define GYRE_CORE_ISOLATION_STANDBY_STATE_H

#include "core/isolation/proxy_device.h"

#define PROXY_STANDBY_MODULES_MAX 4096

enum standby_state {
    STANDBY_NONE,
    STANDBY_ASKED,  /* the keeper is to start one */
    STANDBY_BEHIND, /* it lacks something */
    STANDBY_BUSY,   /* the thread makes up for that */
    STANDBY_READY,
    STANDBY_ENDING /* it was killed, and the keeper has not told its end yet */
};

struct proxy_standby {
    pthread_t thread;
    enum standby_state state;
    bool quit;
    uint32_t failures; /* in a row */
    uint64_t again_ns; /* none is asked for before */
    struct proxy_connection *connection;
    uint64_t modules[PROXY_STANDBY_MODULES_MAX]; /* ids of those that it has */
    size_t module_count;
};

/** There are modules that it does not have. */
void proxy_standby_notice(gyre_device *device);
/** Under the lock: the device is up again, and another one may be started in a moment. */
void proxy_standby_may_follow(gyre_device *device);
/** For the keeper: the spare is there, or gone. */
void proxy_standby_hear(void *context, bool there, const char *why);
/** A line in the log: the standby worker `what`, because of `why`. */
void proxy_standby_tell(const gyre_device *device, const char *what, const char *why);
/** Under the lock: another one is asked for later, the more failures in a row the later. True: the first of them, which alone
 * is worth a line. */
bool proxy_standby_note_failure(struct proxy_standby *standby);

#endif
