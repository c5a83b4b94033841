/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random messages of one type through a kernel that gives each back, built anew: the reply has to be the request,
 * byte for byte. With changed bytes: what the host's check refuses, the device has to fail with
 * GYRE_FAILURE_PART, and nothing else; a handler never sees it.
 */
#ifndef GYRE_EXCHANGE_H
#define GYRE_EXCHANGE_H

#include <gyre/gyre.h>
#include <stdbool.h>

#include "random_message.h"

enum { IN_FLIGHT = 64, PATIENCE_MS = 20000 };

struct exchange {
    const char *name;
    gyre_layout *layout;
    gyre_queue *queue;
    unsigned char *requests, *reply; /* IN_FLIGHT requests */
    gyre_status verdicts[IN_FLIGHT]; /* of the host's check */
    uint64_t random;
    uint64_t count; /* messages to send */
    uint64_t wrong, refused;
    bool corrupt, quiet;
};

/** Prints what was wrong, with the library's words; false. */
bool exchange_tell(const char *what);

/** For a queue whose requests and replies are of that type; `count` and `quiet` are set. False: it was told. */
bool exchange_begin(struct exchange *run, const char *name, const gyre_type *type, gyre_queue *queue);
/** Sends `count` messages, and as many with changed bytes where the type has a tail. False: one was wrong. */
bool exchange_run(struct exchange *run);
void exchange_end(struct exchange *run);

#endif
