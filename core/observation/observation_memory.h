/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object behind gyre_observation, and the memory of its file. Only files of core/observation include this header.
 *
 * Pages of the file are allocated (fallocate) before anything is written there, because a store that finds no page ends the
 * program (SIGBUS). They are allocated piece by piece, so that a small program needs little.
 */
#ifndef GYRE_CORE_OBSERVATION_OBSERVATION_MEMORY_H
#define GYRE_CORE_OBSERVATION_OBSERVATION_MEMORY_H

#include <pthread.h>

#include "core/observation/observation.h"
#include "core/observation/observation_folder.h"

enum {
    GYRE_OBSERVATION_RECORDS = 4096,
    GYRE_OBSERVATION_TROUBLES = 256,
    GYRE_OBSERVATION_EVENTS = 4096,
    GYRE_OBSERVATION_HISTOGRAMS = 512,
    GYRE_OBSERVATION_HISTOGRAMS_TOLD = 256, /* places beyond are not for what other programs tell */
    GYRE_OBSERVATION_SPANS = 16384,
    GYRE_OBSERVATION_BLOCKS = 8192,
    GYRE_OBSERVATION_PIECE = 16384, /* bytes that are allocated at a time */
    GYRE_OBSERVATION_PIECES_MAX = 512
};

struct gyre_observation {
    pthread_mutex_t lock; /* guards all that follows, unless a comment says otherwise */
    bool foreign;         /* atomic: a child that the writer forked has this copy */
    pid_t pid;            /* constant */
    unsigned users;       /* runtimes; under the lock of the process's object (observation_write.c) */
    bool stays;           /* a kernel was left behind, which may write spans later; under the same lock */
    struct gyre_observation *kept_before; /* once it is closed and stays; under the same lock */
    int file;                             /* constant */
    char path[GYRE_OBSERVATION_PATH_MAX];
    unsigned char *memory; /* constant */
    size_t size;           /* constant */
    gyre_observe_head *head;
    bool backed[GYRE_OBSERVATION_PIECES_MAX]; /* pieces of the file that have pages */
    uint32_t records_used;                    /* records from this number on were never used */
    bool full;                                /* no record is free */
    uint64_t refused; /* records and histograms that found no place since the last look was over */
    uint64_t events;
    uint32_t histograms_used;                         /* histograms from this number on were never used */
    uint32_t blocks_used;                             /* and blocks from this one on */
    uint64_t trouble_keys[GYRE_OBSERVATION_TROUBLES]; /* what tells sentences apart */
    enum gyre_tracing tracing;                        /* constant */
    unsigned dumps;   /* that were begun; of the thread that writes them (observation_dump.c) */
    gyre_trace trace; /* without the lock: its writers are threads that handle and receive messages */
};

/** Makes the file in one of the folders, with its head, locked and under its name. A sentence after a failure. */
gyre_status gyre_observation_file_make(struct gyre_observation *observation,
                                       const struct gyre_observation_desc *desc);
/** Gives the memory and the file back. The file itself stays. */
void gyre_observation_file_finish(struct gyre_observation *observation);

/** The address of an entry of a part, once its pages are there; NULL: there is no memory. Under the lock. */
void *gyre_observation_at(struct gyre_observation *observation, enum gyre_observe_part_kind part,
                          uint64_t number);

/* observation_trace.c */

/** Makes the ring, once the file is there. */
void gyre_observation_trace_begin(struct gyre_observation *observation, enum gyre_tracing tracing);
/** Whether spans are to be written: always, or as somebody whom this process obeys asks. Looks at a file: not under the lock. */
bool gyre_observation_trace_wanted(const struct gyre_observation *observation);
/** Switches spans on or off, and counts them in the head. Under the lock. */
void gyre_observation_trace_look(struct gyre_observation *observation, bool wanted);
/** Before the file goes: nobody writes spans from here on, and nobody asks. */
void gyre_observation_trace_end(struct gyre_observation *observation);

#endif
