/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a journal says, read from its bytes: up to its last whole record. Nothing of it is believed before it
 * was checked. Pure functions; the content points into the bytes.
 */
#ifndef GYRE_CORE_JOURNAL_CONTENT_H
#define GYRE_CORE_JOURNAL_CONTENT_H

#include "core/journal/types.h"
#include "core/queue/names.h"

/** A request, or the reply that was given to it. */
struct gyre_kept_message {
    const unsigned char *header, *payload; /* NULL: not there */
    uint32_t length, info;
};

/** Of a request: its handler changes nothing, so that only its number was kept. */
static inline bool gyre_kept_is_query(const struct gyre_kept_message *request)
{
    return request->info == GYRE_MESSAGE_QUERY;
}

struct gyre_journal_content {
    struct gyre_record_open open;                 /* of version 1: without what that has not */
    struct gyre_journal_types types;              /* those that it was written with; of version 1: none */
    uint64_t first;                               /* the index of requests[0] */
    uint64_t sent;                                /* behind the last request */
    uint64_t received;                            /* replies to requests below were taken by the program */
    struct gyre_kept_message *requests, *replies; /* sent - first each */
    struct gyre_record_origin *origins;           /* sent - first; NULL: all are the program's own */
    struct gyre_names names;                      /* of clients with names, where their numbers go on */
    uint8_t *skipped, *done; /* one a request: no handler handled it; the checkpoint covers it */
    unsigned char *rooms[2]; /* what requests and replies lie in that were taken over by types; else NULL */
    uint64_t covered;        /* requests below are covered by the checkpoint */
    unsigned char *state;    /* of the last whole checkpoint; NULL: there is none */

    uint64_t used, lost;           /* bytes: up to the last whole record, and behind it */
    bool ended;                    /* its program ended in order, and wrote what it had to write */
    bool settled;                  /* no handler handled what the checkpoint does not cover */
    bool cut;                      /* nothing is behind the last record, not even the mark that was there */
    uint64_t lost_first, lost_end; /* requests that were found behind the damage; equal: none was */
};

/**
 * Reads a journal. INVALID when it does not begin with a whole record that opens one, or contradicts itself;
 * EXHAUSTED without memory. *content is to be released in any case.
 */
gyre_status gyre_journal_read(const unsigned char *data, size_t size, struct gyre_journal_content *content);
/** The same with the last checkpoint that covers no request from `most` on; those behind it are left out. */
gyre_status gyre_journal_read_covering(const unsigned char *data, size_t size, uint64_t most,
                                       struct gyre_journal_content *content);
void gyre_journal_content_release(struct gyre_journal_content *content);

#endif
