/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device for the tests of the queues: one thread that follows the protocol as plainly as it can be written.
 *
 * The handler adds 1 to each u64 of the request. A request whose first word is FAIL_WORD is failed with code
 * 7, one with SILENT_WORD gets no reply, of one with ODD_WORD the device says what its second word is, which may be
 * none of the outcomes. The device can be held, so that tests see a queue fill up.
 */
#ifndef GYRE_TESTS_RING_DEVICE_H
#define GYRE_TESTS_RING_DEVICE_H

#include <pthread.h>

#include "core/queue/queue.h"

#define FAIL_WORD   UINT64_C(0xfa11)
#define SILENT_WORD UINT64_C(0x51137)
#define ODD_WORD    UINT64_C(0x0dd0dd0dd0dd)

struct ring_device {
    gyre_control_region *control;
    gyre_queue *queue;
    pthread_t thread;
    uint64_t next;
    uint32_t held, leave; /* atomic */
    uint64_t turns;       /* atomic: that its thread made */
};

/** A queue of `words` u64 each way and a running device behind it. */
void ring_device_start(struct ring_device *device, struct gyre_queue_options options, uint32_t words);
/** Stops the device, leaves the queue. */
void ring_device_stop(struct ring_device *device);
/** Stops and frees everything. */
void ring_device_finish(struct ring_device *device);
/** While held it takes no request up; it knows when this returns. */
void ring_device_hold(struct ring_device *device, bool hold);
/** One word there, one back, each within two seconds. */
void ring_device_send(struct ring_device *device, uint64_t number);
uint64_t ring_device_receive(struct ring_device *device);
gyre_queue_stats ring_device_stats(const struct ring_device *device);
/** Plain options: 8 slots, blocking, adaptive. */
struct gyre_queue_options ring_options(void);

#endif
