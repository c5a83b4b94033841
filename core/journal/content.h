/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a journal's bytes, up to its last whole record, into the struct gyre_journal_content (content.c). Every
 * number in the bytes is checked before it is used. Pure functions; the content points into the bytes.
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

/** Whether the request is a query: its handler changes no state, so the journal kept only its index. */
static inline bool gyre_kept_is_query(const struct gyre_kept_message *request)
{
    return request->info == GYRE_MESSAGE_QUERY;
}

struct gyre_journal_content {
    struct gyre_record_open open;    /* version 1 lacks some members: they are zero */
    struct gyre_journal_types types; /* the types of its messages; version 1 has none */
    uint64_t first;                  /* the index of requests[0] */
    uint64_t sent;                   /* 1 + the index of the last request */
    uint64_t received;               /* the program took the replies to requests below this index */
    struct gyre_kept_message *requests, *replies; /* sent - first of each */
    struct gyre_record_origin *origins; /* sent - first; NULL: the program sent all requests itself */
    struct gyre_names names;            /* clients with names, and the index of their next request */
    uint8_t *skipped, *done; /* one for each request: no handler handled it; the checkpoint covers it */
    unsigned char *rooms[2]; /* memory of converted requests and replies (adopt.h); else NULL */
    uint64_t covered;        /* the checkpoint covers the requests below this index */
    unsigned char *state;    /* the state of the last whole checkpoint; NULL: there is none */

    uint64_t used, lost;           /* bytes up to the end of the last whole record, and bytes behind it */
    bool ended;                    /* the program ended normally, and wrote all that it had to write */
    bool settled;                  /* no handler handled a request that the checkpoint does not cover */
    bool cut;                      /* the file was cut behind a whole record: the mark behind it is missing */
    uint64_t lost_first, lost_end; /* the requests found behind the damage; equal: none was found */
};

/**
 * Reads a journal. INVALID when it does not begin with a whole record that opens one, or contradicts itself;
 * EXHAUSTED without memory. *content is to be released in any case.
 */
gyre_status gyre_journal_read(const unsigned char *data, size_t size, struct gyre_journal_content *content);
/**
 * Reads a journal as gyre_journal_read does, but takes the last checkpoint that covers no request from `most` on, and
 * ignores the checkpoints behind it.
 */
gyre_status gyre_journal_read_covering(const unsigned char *data, size_t size, uint64_t most,
                                       struct gyre_journal_content *content);
void gyre_journal_content_release(struct gyre_journal_content *content);

#endif
