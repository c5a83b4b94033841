/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a device's standby worker (standby.h), and the events that change it. Private to this folder.
 */
#ifndef GYRE_CORE_ISOLATION_STANDBY_STATE_H
#define GYRE_CORE_ISOLATION_STANDBY_STATE_H

#include "core/isolation/proxy_device.h"

#define PROXY_STANDBY_MODULES_MAX 4096

enum standby_state {
    STANDBY_NONE,
    STANDBY_ASKED,  /* the keeper was asked to start a standby worker */
    STANDBY_BEHIND, /* the standby worker lacks the device, or a module */
    STANDBY_BUSY,   /* the standby thread opens the device or loads modules in it */
    STANDBY_READY,
    STANDBY_ENDING /* it was killed or taken, and the keeper has not told its end yet */
};

struct proxy_standby {
    pthread_t thread;
    enum standby_state state;
    bool quit;
    uint32_t failures; /* failures in a row */
    uint64_t again_ns; /* the thread asks for no standby worker before this time */
    struct proxy_connection *connection;
    uint64_t modules[PROXY_STANDBY_MODULES_MAX]; /* ids of the modules that the standby worker has */
    size_t module_count;
};

/** Notes that the device has a module that the standby worker lacks. Accepts a device without a standby worker. */
void proxy_standby_notice(gyre_device *device);
/**
 * Under the lock: notes that the device is up again, so that another standby worker may be started in a moment.
 * Accepts a device without a standby worker.
 */
void proxy_standby_may_follow(gyre_device *device);
/** The keeper calls this when the spare is there (`there`), or is gone because of `why`. */
void proxy_standby_hear(void *context, bool there, const char *why);
/** Logs that the standby worker `what` ("died"), because of `why`. */
void proxy_standby_tell(const gyre_device *device, const char *what, const char *why);
/**
 * Under the lock: counts a failure, and delays the next start. The delay grows with the failures in a row. True for
 * the first failure in a row: only this one is logged.
 */
bool proxy_standby_note_failure(struct proxy_standby *standby);

#endif
