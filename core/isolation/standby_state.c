/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes the state of the standby worker (standby_state.h) when the keeper or another file of the device reports an
 * event. Calls no worker.
 *
 * Lock: device->lock for everything here.
 */
#include "core/isolation/standby_state.h"

#include <stdio.h>

#include "core/base/clock.h"
#include "gyre/waiting.h"

/*
 * The delay before the next standby worker starts: until then a kernel that is being brought back has the processors.
 */
#define FOLLOW_NS  UINT64_C(100000000)
#define BACKOFF_NS UINT64_C(1000000000)
#define DOUBLINGS  6

void proxy_standby_tell(const gyre_device *device, const char *what, const char *why)
{
    char text[512];
    if (!device->log)
        return;
    snprintf(text, sizeof text, "the standby worker of backend '%s' %s: %s", device->backend, what, why);
    device->log(device->log_context, GYRE_LOG_WARNING, text);
}

bool proxy_standby_note_failure(struct proxy_standby *standby)
{
    uint32_t doublings = standby->failures < DOUBLINGS ? standby->failures : DOUBLINGS;
    standby->again_ns = gyre_clock_ns() + (BACKOFF_NS << doublings);
    return standby->failures++ == 0;
}

void proxy_standby_hear(void *context, bool there, const char *why)
{
    gyre_device *device = context;
    struct proxy_standby *standby = device->standby;
    bool worth_a_line = false;
    pthread_mutex_lock(&device->lock);
    if (there) {
        standby->state = STANDBY_BEHIND;
    } else {
        if (standby->state != STANDBY_ENDING && !standby->quit)
            worth_a_line = proxy_standby_note_failure(standby);
        if (standby->state == STANDBY_BUSY)
            standby->state = STANDBY_ENDING; /* the thread has its connection still */
        else
            standby->state = STANDBY_NONE;
    }
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
    if (worth_a_line)
        proxy_standby_tell(device, "died", why);
}

void proxy_standby_notice(gyre_device *device)
{
    struct proxy_standby *standby = device->standby;
    if (!standby)
        return;
    pthread_mutex_lock(&device->lock);
    if (standby->state == STANDBY_READY)
        standby->state = STANDBY_BEHIND;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
}

void proxy_standby_may_follow(gyre_device *device)
{
    if (device->standby && device->standby->again_ns < gyre_clock_ns() + FOLLOW_NS)
        device->standby->again_ns = gyre_clock_ns() + FOLLOW_NS;
}
