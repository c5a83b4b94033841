/* SPDX-License-Identifier: Apache-2.0 */
/* Shares a full queue among senders in a storm (storm.h). storm_rules.c explains the rules. Each function is about the calling
 * thread; the first two are called under the producer's lock. */
#ifndef GYRE_CORE_QUEUE_STORM_RULES_H
#define GYRE_CORE_QUEUE_STORM_RULES_H

#include "core/queue/storm.h"

/** In a storm: whether the thread must let others go first now. True once after each of its sends, if another thread was
 * turned away since that send. */
bool gyre_storm_puts_off(gyre_queue *queue);

/** Notes that the thread sends during a storm. */
void gyre_storm_let_in(gyre_queue *queue);

/** Without the lock: notes that the thread is turned away, and yields the processor during a storm. */
void gyre_storm_turned_away(gyre_queue *queue);

#endif
