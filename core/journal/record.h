/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format of a journal's records, and functions that write and find records in memory (record.c). Each record has
 * a header with its kind, its number and a hash of all its bytes, so that a torn or damaged record is told from a
 * whole one. Little-endian machines only, as all of Gyre.
 *
 * Pure functions over bytes.
 */
#ifndef GYRE_CORE_JOURNAL_RECORD_H
#define GYRE_CORE_JOURNAL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/status.h"

#define GYRE_RECORD_MAGIC UINT32_C(0x4a525947) /* "GYRJ" */
enum {
    GYRE_RECORD_ALIGNMENT = 8,
    GYRE_JOURNAL_VERSION = 2,
    GYRE_JOURNAL_VERSION_PLAIN = 1 /* without TYPE and MARK records, and without a handler's hash */
};

enum gyre_record_kind {
    GYRE_RECORD_OPEN = 1,     /* struct gyre_record_open: the first record of a journal, and only that */
    GYRE_RECORD_REQUESTS = 2, /* struct gyre_record_requests, then `count` times struct gyre_record_message */
    GYRE_RECORD_TAKEN = 3,    /* struct gyre_record_taken, then the indices that no handler handled */
    /* struct gyre_record_checkpoint, then the indices after `first` that it covers */
    GYRE_RECORD_CHECKPOINT = 4,
    GYRE_RECORD_BLOCK = 5,   /* struct gyre_record_block, then its bytes */
    GYRE_RECORD_REPLIES = 6, /* struct gyre_record_requests, then replies to requests that are covered */
    GYRE_RECORD_COMMIT = 7,  /* struct gyre_record_commit: the checkpoint is whole */
    GYRE_RECORD_ORIGINS = 8, /* struct gyre_record_requests, then a gyre_record_origin for each request;
                                   stands before the requests, so that none is there without its origin */
    /* a gyre_record_origin for each client with a name: its next index, behind all requests of earlier files */
    GYRE_RECORD_NAMES = 9,
    GYRE_RECORD_TYPE = 10, /* struct gyre_record_type, then the type (types.h); behind the OPEN record */
    /* struct gyre_record_mark: stands behind the last written record. The next write overwrites the mark and uses its
       number. So a file without a mark at its end was cut, even if it was cut exactly behind a record. */
    GYRE_RECORD_MARK = 11
};

struct gyre_record_header {
    uint32_t magic, kind;
    uint64_t number; /* 1, 2, 3, ... within a journal */
    uint64_t size;   /* of the contents behind the header, without the padding to a multiple of 8 */
    uint64_t hash;   /* of the members above and of the contents */
};

struct gyre_record_open {
    uint32_t version, request_size, reply_size, header_size;
    uint64_t request_hash, reply_hash; /* hashes of the layouts of requests and replies */
    uint64_t state_size;               /* of a checkpoint; 0: the kernel has none */
    uint64_t first;                    /* the first request that may be in this journal */
    char kernel[64], queue[64];
    uint64_t
        handler; /* hash of the handler's source (core/pipeline); 0: unknown. Version 1 ends before this member. */
    uint64_t reserved[3];
};

/** Combines the layouts' hashes of replies and state (0: no state) into the member reply_hash of the OPEN record. */
static inline uint64_t gyre_record_reply_hash(uint64_t reply, uint64_t state)
{
    return reply ^ state * UINT64_C(0x9e3779b97f4a7c15);
}

enum gyre_type_role {
    GYRE_ROLE_REQUEST = 1,
    GYRE_ROLE_REPLY = 2,
    GYRE_ROLE_STATE = 3,
    GYRE_ROLE_BUFFER = 4 /* an inout buffer that checkpoints hold */
};

/** A type of the kernel, and the bytes of a checkpoint that have this type. */
struct gyre_record_type {
    uint32_t role, reserved; /* enum gyre_type_role */
    uint64_t offset, size;   /* the bytes of a checkpoint; 0, 0 for the types of messages */
    char name[64];           /* the buffer's name; "" unless the role is GYRE_ROLE_BUFFER */
};

struct gyre_record_requests {
    uint64_t first, count;
};

/**
 * Begins a message. Behind it stand the header (only of a request) and the payload, padded to 8 bytes. A query has
 * neither: only its index is kept.
 */
struct gyre_record_message {
    uint64_t index;
    uint32_t length, info; /* info of a reply: as in its slot; info of a request: 0 or GYRE_MESSAGE_QUERY */
};
enum { GYRE_MESSAGE_QUERY = 1 };

/**
 * The client that sent a request, and the client's index of it (core/queue/origin.h). Zeros: the program itself sent
 * it.
 */
struct gyre_record_origin {
    uint64_t client, index;
};

struct gyre_record_taken {
    uint64_t received, skipped_count;
};

struct gyre_record_checkpoint {
    uint64_t number, first, done_count;
};

struct gyre_record_block {
    uint64_t offset, size;
};

struct gyre_record_commit {
    uint64_t number, state_hash;
};

/** How far the journal was written. */
struct gyre_record_mark {
    uint64_t offset;  /* where the mark stands: bytes from the beginning of the file */
    uint64_t sent;    /* the journal holds the requests below this index */
    uint32_t ended;   /* 1: the program ended normally, and nothing comes behind the mark */
    uint32_t settled; /* 1: no handler handled a request that the last checkpoint does not cover */
};
enum { GYRE_MARK_SIZE = sizeof(struct gyre_record_header) + sizeof(struct gyre_record_mark) };

/** Bytes that grow; zeroed is empty. After a failure (`broken`) nothing more is added. */
struct gyre_bytes {
    unsigned char *data;
    size_t size, capacity;
    bool broken; /* there was no memory */
};

/** Adds `size` bytes (`data` NULL: zeros). Returns where they are, valid until the next call; NULL: broken. */
void *gyre_bytes_add(struct gyre_bytes *bytes, const void *data, size_t size);
void gyre_bytes_release(struct gyre_bytes *bytes);

/**
 * Begins a record. The caller adds the record's contents behind it. Returns the record's place, for gyre_record_end.
 */
size_t gyre_record_begin(struct gyre_bytes *bytes, enum gyre_record_kind kind, uint64_t number);
/** Ends the record at `place`: pads it and fills in its size and hash. */
void gyre_record_end(struct gyre_bytes *bytes, size_t place);

/**
 * Whether a whole record lies at `offset` of `size` bytes. *next: where the next record begins. The record's contents
 * begin behind its header.
 */
bool gyre_record_at(const unsigned char *data, size_t size, size_t offset, size_t *next);

uint64_t gyre_state_hash(const void *state, size_t size);

#endif
