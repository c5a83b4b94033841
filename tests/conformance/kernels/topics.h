/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of kernels that send to topics. */
#ifndef GYRE_CONFORMANCE_TOPICS_H
#define GYRE_CONFORMANCE_TOPICS_H

#include "links.h"

/* Of a job that asks for ticks, `hops` says how many, and JOB_BARE that only their numbers are written; one of JOB_TELL asks a
 * subscriber what it heard. */
enum { JOB_TELL = 77, JOB_BARE = 78, TICKS_MOST = 5 };

/* What a subscriber heard; of `flows` and `headers`, how many messages had them. */
#define HEARD(FIELD)                                                                                         \
    FIELD(u64, count)                                                                                        \
    FIELD(u64, sum) FIELD(u64, last) FIELD(u64, disorder) FIELD(u64, flows) FIELD(u64, headers)
GYRE_MESSAGE(heard, HEARD)

#define MEMO(FIELD) FIELD(u64, number) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(memo, MEMO, 96)

#endif
