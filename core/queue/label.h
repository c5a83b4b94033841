/* SPDX-License-Identifier: Apache-2.0 */
/* Writes sentences about a queue: its label ("queue 'orders'"), and why it takes no messages. Each gyre_queue_tell_* sets
 * the error. */
#ifndef GYRE_CORE_QUEUE_LABEL_H
#define GYRE_CORE_QUEUE_LABEL_H

#include <stddef.h>

#include "gyre/gyre.h"
#include "gyre/ring_layout.h"

enum { GYRE_LABEL_SIZE = 96, GYRE_AWAY_SIZE = 448 };

/** "queue 'orders'" or "the queue". */
const char *gyre_queue_label(const gyre_queue *queue, char *text, size_t size);
/** The label of a queue that is not made yet; `name` may be "". */
const char *gyre_queue_label_of(const char *name, char *text, size_t size);

/** Why a device said that its kernel was lost, as " (...)" in `text`; "" when it did not say. */
const char *gyre_control_why_lost(const gyre_control_region *control, char *text, size_t size);

/** The end, from a comma on, of a sentence about a queue that waits for its next server: whether a server is there, and the
 * sentence with which that server refuses. "" for every other queue. Returns `text`. */
const char *gyre_queue_away_text(const gyre_queue *queue, char text[GYRE_AWAY_SIZE]);

/** Sets the error that says why the queue takes no sends: CLOSED, LOST or INVALID. */
gyre_status gyre_queue_tell_closed(const gyre_queue *queue);
/** Sets the error that says why the queue lost its device or server, and returns LOST. */
gyre_status gyre_queue_tell_lost(const gyre_queue *queue);
/** Sets the error of a wait for completions that none will follow: `status` is CLOSED or LOST, as the wait found. Returns the
 * status for the caller, which is LOST where a closed queue had lost its device or server. */
gyre_status gyre_queue_tell_ended(const gyre_queue *queue, gyre_status status);
/** Sets the error that says why a queue for which gyre_queue_refused is true takes no calls of gyre.h: INVALID or CLOSED. */
gyre_status gyre_queue_tell_refused(const gyre_queue *queue);

#endif
