/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about a queue: how it is called, and why it takes no messages. Each gyre_queue_tell_* sets the error. */
#ifndef GYRE_CORE_QUEUE_LABEL_H
#define GYRE_CORE_QUEUE_LABEL_H

#include <stddef.h>

#include "gyre/gyre.h"
#include "gyre/ring_layout.h"

enum { GYRE_LABEL_SIZE = 96, GYRE_AWAY_SIZE = 448 };

/** "queue 'orders'" or "the queue". */
const char *gyre_queue_label(const gyre_queue *queue, char *text, size_t size);
/** The same of a queue that is not there yet; `name` may be "". */
const char *gyre_queue_label_of(const char *name, char *text, size_t size);

/** Why a device said that its kernel was lost, as " (...)" in `text`; "" when it did not say. */
const char *gyre_control_why_lost(const gyre_control_region *control, char *text, size_t size);

/** The end, from the comma on, of a sentence about a queue that waits for its next server: whether a server is there,
 * and its sentence. "" for every other queue. Returns `text`. */
const char *gyre_queue_away_text(const gyre_queue *queue, char text[GYRE_AWAY_SIZE]);

/** CLOSED, LOST or INVALID: why the queue takes no sends. */
gyre_status gyre_queue_tell_closed(const gyre_queue *queue);
/** LOST. */
gyre_status gyre_queue_tell_lost(const gyre_queue *queue);
/** INVALID or CLOSED: why a queue that is gyre_queue_refused takes no calls. */
gyre_status gyre_queue_tell_refused(const gyre_queue *queue);

#endif
