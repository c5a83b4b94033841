/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands that look at other processes share: observation files (core/observation/observed.h) found by the name that a
 * user gives, and the words of their values. Asks no process anything, so a process that hangs or is dead is seen as well.
 */
#ifndef GYRE_CLI_OBSERVED_OBSERVED_H
#define GYRE_CLI_OBSERVED_OBSERVED_H

#include "cli/cli.h"
#include "core/observation/observed.h"
#include "gyre/backend.h"

/** A process that was looked at. */
typedef struct observed_process {
    struct gyre_observed seen;
    enum gyre_observed_life life;
    char *path;
    bool is_dump; /* what a process kept of itself after a stall or a loss: it may live still */
    uint64_t
        age_ns; /* how old the last look of the process at itself is; the clock of the day counts for a dead one */
    uint64_t then_ns; /* what times of the file are compared with: now, or the end of a dead process */
} observed_process;

typedef struct observed_processes {
    observed_process *items;
    size_t count;
    size_t unread; /* files that could not be read; each had a sentence on stderr */
} observed_processes;

/** Which processes a command looks at. */
typedef struct observed_source {
    const char *file; /* this file alone; NULL: those of the folder */
    const char *
        wanted; /* only processes that this names: their number, their program, a kernel or a queue; NULL: all */
    bool quiet;        /* files that cannot be read are passed over without a sentence */
    char folder[1024]; /* as observe.folder says */
} observed_source;

/** Finds the folder in the configuration. Returns an exit code; the sentence is printed then. */
int observed_begin(const cli_context *cli, const char *file, const char *wanted, observed_source *out);
/** Reads the files. Returns an exit code; the sentence is printed then. */
int observed_open(const observed_source *source, observed_processes *out);
/** Says that no process was found, unless one was. A failure only where one was `wanted`. Returns an exit code. */
int observed_need(const observed_processes *processes, const char *wanted);
void observed_finish(observed_processes *processes);

/** "lives", "stopped", "late" (it lives, and its look is overdue), "dead"; "kept": a dump. */
const char *observed_life_word(const observed_process *process);
/** True when the process lives and its last look is overdue: it hangs, or the machine is too busy. */
bool observed_is_late(const observed_process *process);
/** How many seconds lie between a time of the file and `then_ns`; 0 for time 0. */
double observed_seconds_since(const observed_process *process, uint64_t at_ns);
/** A time of the file on the clock of the day, in seconds since 1970. */
double observed_day_seconds(const observed_process *process, uint64_t at_ns);
/** Writes a time of the file as "2026-11-28 06:47:12". */
const char *observed_time_text(const observed_process *process, uint64_t at_ns, char text[32]);
/** Writes a number of seconds for people: "0.4 s", "14 s", "3 min", "2 h", "5 d". */
const char *observed_seconds_text(double seconds, char text[24]);

/** Writes a sentence unless a process lives, as observed_life_word has it. False: it lives. */
bool observed_tell_life(FILE *out, const char *life, double age_s, uint32_t pid);
/** Whether a kernel or a queue is called so, or is a shard of a cluster's kernel that is ("accounts#3" of "accounts"). */
bool observed_is_named(const char *name, const char *wanted);
/** The next record of a kind behind number `after` (0: the first one) whose parent is `parent` (0: any). Returns its number; 0:
 * there is none. */
uint32_t observed_next(const struct gyre_observed *seen, uint32_t after, uint32_t kind, uint32_t parent,
                       gyre_observe_record *out);
static inline uint64_t observed_value(const struct gyre_observed *seen, uint32_t record, uint32_t word)
{
    return gyre_observed_value(seen, record, word);
}
/** How many places of a queue's ring are taken. */
uint64_t observed_length(const struct gyre_observed *seen, uint32_t queue);

/** The name of the kernel at an end of a link (GYRE_OBSERVE_LINK_FROM or _TO); "nowhere" where there is none. `kernel` holds it. */
const char *observed_link_end(const struct gyre_observed *seen, uint32_t link, uint32_t word,
                              gyre_observe_record *kernel);

/** How a value is told. */
typedef enum observed_unit {
    OBSERVED_NUMBER,
    OBSERVED_NS,   /* a length of time, told in seconds */
    OBSERVED_SINCE /* a time, told as the seconds since then */
} observed_unit;

/** A value, for readers that are programs. */
typedef struct observed_word {
    uint32_t kind, word; /* GYRE_OBSERVE_KERNEL, _QUEUE or _LINK, and its number */
    uint32_t minus;      /* a word that is subtracted; 0: none */
    observed_unit unit;
    const char *name;   /* in JSON */
    const char *metric; /* of Prometheus; words of one metric follow each other */
    const char *labels; /* of the metric, besides those of the record; "": none */
    const char *type, *help;
} observed_word;

extern const observed_word observed_words[];
extern const size_t observed_word_count;

#endif
