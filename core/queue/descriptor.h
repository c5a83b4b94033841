/* SPDX-License-Identifier: Apache-2.0 */
/* The watcher behind gyre_queue_descriptor, as far as its queue knows it. */
#ifndef GYRE_CORE_QUEUE_DESCRIPTOR_H
#define GYRE_CORE_QUEUE_DESCRIPTOR_H

#include "gyre/gyre.h"

struct gyre_queue_watch {
    /* A consumer's section ends: the descriptor is not to stay readable for nothing. Under the consumer lock. */
    void (*settle)(gyre_queue *queue);
    /* The queue is being freed: ends the watcher and frees it. */
    void (*destroy)(gyre_queue *queue);
};

#endif
