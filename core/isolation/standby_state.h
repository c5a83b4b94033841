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
    STANDBY_ASKED,  /* the keeper is to start one */
    STANDBY_BEHIND, /* it lacks the device, or a module */
    STANDBY_BUSY,   /* the thread gives it what it lacks */
    STANDBY_READY,
    STANDBY_ENDING /* it was killed or taken, and the keeper has not told its end yet */
};

struct proxy_standby {
    pthread_t thread;
    enum standby_state state;
    bool quit;
    uint32_t failures; /* in a row */
    uint64_t again_ns; /* the thread asks for none before */
    struct proxy_connection *connection;
    uint64_t modules[PROXY_STANDBY_MODULES_MAX]; /* ids of the modules that it has */
    size_t module_count;
};

/** The device has a module that the standby worker lacks. Accepts a device without one. */
void proxy_standby_notice(gyre_device *device);
/**
 * Under the lock: the device is up again, and another standby worker may be started in a moment. Accepts a device
 * without one.
 */
void proxy_standby_may_follow(gyre_device *device);
/** For the keeper: the spare is there, or is gone because of `why`. */
void proxy_standby_hear(void *context, bool there, const char *why);
/** Logs that the standby worker `what` ("died"), because of `why`. */
void proxy_standby_tell(const gyre_device *device, const char *what, const char *why);
/**
 * Under the lock: counts a failure, and puts the next start off, the longer the more failures there were in a row.
 * True for the first of them, which alone is worth a line.
 */
bool proxy_standby_note_failure(struct proxy_standby *standby);

#endif
