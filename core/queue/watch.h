/* SPDX-License-Identifier: Apache-2.0 */
/* Connects a queue with the watcher of gyre_queue_descriptor: the thread that makes a file descriptor readable when there
 * is something to receive. The watcher itself is in descriptor.c. */
#ifndef GYRE_CORE_QUEUE_WATCH_H
#define GYRE_CORE_QUEUE_WATCH_H

#include "gyre/gyre.h"

struct gyre_queue_watch {
    /* Called under the consumer lock, when a receiver is done: makes the descriptor unreadable if nothing is left. */
    void (*settle)(gyre_queue *queue);
    /* Called when the queue is freed: ends the watcher's thread and frees the watcher. */
    void (*destroy)(gyre_queue *queue);
};

#endif
