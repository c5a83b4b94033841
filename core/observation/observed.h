/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads observation files (gyre/observe.h) of other processes. A file is copied once, and nothing of the copy is believed: offsets,
 * counts and texts are bounded, whatever its writer wrote and wherever it stopped. A copy belongs to one thread at a time.
 */
#ifndef GYRE_CORE_OBSERVATION_OBSERVED_H
#define GYRE_CORE_OBSERVATION_OBSERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gyre/observe.h"
#include "gyre/status.h"

enum { GYRE_OBSERVED_SIZE_MAX = 64 << 20, GYRE_OBSERVED_PARTS = GYRE_OBSERVE_BLOCKS + 1 };

/** The copy of a file. */
struct gyre_observed {
    unsigned char *bytes;
    size_t size;
    uid_t owner;            /* of the file */
    bool is_cut;            /* the head tells of bytes behind the end of the file */
    gyre_observe_head head; /* texts end; members that the file has not are 0 */
    gyre_observe_part
        parts[GYRE_OBSERVED_PARTS]; /* by kind; each lies whole in `bytes`; count 0: there is none */
};

/** How the writer of a file fares. */
enum gyre_observed_life {
    GYRE_OBSERVED_LIVES = 1,
    GYRE_OBSERVED_STOPPED, /* it lives, and was stopped (SIGSTOP, a debugger) */
    GYRE_OBSERVED_DEAD
};

/** Checks `size` bytes, which must come from malloc and belong to *out afterwards, also after a failure. INVALID,
 * INCOMPATIBLE or AGAIN (the file is being made). `path` is for the sentences. */
gyre_status gyre_observed_parse(const char *path, unsigned char *bytes, size_t size,
                                struct gyre_observed *out);
/**
 * Compares the copy with a second one that was made after it. Records, events and spans that differ were written meanwhile, and
 * count from then on as torn. On a processor that reads out of order the marks of one copy do not tell.
 */
void gyre_observed_compare(struct gyre_observed *observed, const unsigned char *second, size_t size);
/** Copies and checks a file. NOT_FOUND when there is none. After a failure *out holds nothing. */
gyre_status gyre_observed_read(const char *path, struct gyre_observed *out, enum gyre_observed_life *life);
void gyre_observed_finish(struct gyre_observed *observed);

/** Record `number`. False: there is none, it is free, or it was written while the file was copied. */
bool gyre_observed_record(const struct gyre_observed *observed, uint32_t number, gyre_observe_record *out);
/** Whether record `number` seems to be of a kind and has that parent (0: any). Quick: gyre_observed_record tells for sure. */
bool gyre_observed_is(const struct gyre_observed *observed, uint32_t number, uint32_t kind, uint32_t parent);
/** The numbers of records are below this one. */
uint32_t gyre_observed_records(const struct gyre_observed *observed);
/** A value of record `number`; 0 for one that the file has not. */
uint64_t gyre_observed_value(const struct gyre_observed *observed, uint32_t number, uint32_t word);
/** How long the messages of queue `record` took. False: nothing is known. */
bool gyre_observed_histogram(const struct gyre_observed *observed, uint32_t record,
                             enum gyre_observe_time time, gyre_observe_histogram *out);
/**
 * The next block of kernel `record`, from place *place on; *place becomes the one behind it. The first call has 0 there. A share is the
 * whole at most. False: there is none.
 */
bool gyre_observed_block(const struct gyre_observed *observed, uint32_t record, uint32_t *place,
                         gyre_observe_block *out);
/** The trouble in place `number`. False: there is none. */
bool gyre_observed_trouble(const struct gyre_observed *observed, uint32_t number, gyre_observe_trouble *out);
uint32_t gyre_observed_troubles(const struct gyre_observed *observed);
/** Event `number`, counted from 1 to head.events. False: it is not kept any more, or was being written. */
bool gyre_observed_event(const struct gyre_observed *observed, uint64_t number, gyre_observe_event *out);
/** The number of the first event that may still be kept; beyond head.events: there is none. */
uint64_t gyre_observed_first_event(const struct gyre_observed *observed);

/** The span in place `place`, and its number. False: there is none, or it was being written. */
bool gyre_observed_span(const struct gyre_observed *observed, uint32_t place, gyre_observe_span *out,
                        uint64_t *number);
uint32_t gyre_observed_spans(const struct gyre_observed *observed);

/* observed_ask.c */

/**
 * Asks the process that writes the observation file `path` for spans, as long as *out, a descriptor, is open: its next looks find
 * that. The file with which this asks belongs beside that one. UNAVAILABLE.
 */
gyre_status gyre_observed_ask(const char *path, int *out);
/** Asks no more, and removes the file with which was asked unless others ask. */
void gyre_observed_ask_end(const char *path, int asked);

/* observed_find.c */

/** A file that was found. */
struct gyre_observed_file {
    char *path;
    pid_t pid;
    uint64_t start;
    uid_t folder_owner;
};

/** Lists the files in the folders that `configured` stands for (observation_folder.h), by process. The caller frees the list with
 * gyre_observed_files_free. EXHAUSTED. */
gyre_status gyre_observed_find(const char *configured, struct gyre_observed_file **out, size_t *count);
/** As gyre_observed_find for dumps (observation_dump.h), by name: `configured` is observe.dumps, `files` observe.folder. */
gyre_status gyre_observed_find_dumps(const char *configured, const char *files,
                                     struct gyre_observed_file **out, size_t *count);
void gyre_observed_files_free(struct gyre_observed_file *files, size_t count);
/**
 * Whether what was read of a file counts: in a folder that several users write to, another user's file may claim anything. It
 * has to belong to this user, to root, or to the owner of the folder, who could replace any file in it.
 */
bool gyre_observed_is_believed(const struct gyre_observed_file *file, const struct gyre_observed *observed);
/** Writes why one of the folders that `configured` stands for is there, and is not read. False: none is such. */
bool gyre_observed_folder_refused(const char *configured, char *sentence, size_t size);

#endif
