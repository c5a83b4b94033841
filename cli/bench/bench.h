/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of `gyre bench`: cases, the rows they fill, and the rounds in which a case and its floor take
 * turns, because the machine is another one a second later.
 *
 * Cases use the public API alone. A case is single-threaded but for the threads that it starts itself.
 */
#ifndef GYRE_CLI_BENCH_BENCH_H
#define GYRE_CLI_BENCH_BENCH_H

#include "cli/bench/floors.h"
#include "cli/bench/measure.h"
#include "cli/cli.h"
#include "gyre/gyre.h"

/** What a row is compared with. `found` is a multiple of the floor, or in `unit`. */
typedef struct bench_target {
    const char *what; /* "p50 / floor" */
    const char *unit; /* "x", "msg/s", "ns", "cores", "bytes" */
    bool at_least;    /* else: at most */
    double limit, found;
} bench_target;

enum { BENCH_TARGETS_MAX = 3 };

/** One line of the report. What was not measured is absent from the JSON row, or null if every row has it. */
typedef struct bench_row {
    const char *name;
    char backend[32], device[128];
    uint64_t message_bytes;
    bool has_rate, has_latency; /* which members of `value` and `floor` are meant */
    bench_sample value;         /* medians of the rounds */
    const char *floor_name;     /* NULL: none */
    bench_sample floor;
    double ratio, ratio_p99;      /* medians of the rounds' own ratios; ratio_p99 only with has_latency */
    double ratio_low, ratio_high; /* the median of the ratios lies between with 96.5 %; 0: not told */
    double above_floor;           /* ns: median of the differences; life-cycle cases only */
    double line_p50, line_p99;    /* raw cache-line ping-pong in the same rounds, ns; 0: not measured */
    uint64_t resident_bytes;      /* case `memory` */
    bench_target targets[BENCH_TARGETS_MAX];
    size_t target_count;
} bench_row;

/** What `gyre bench` was asked for. */
typedef struct bench_options {
    const cli_context *cli;
    double seconds; /* for each case, its floor included */
    bool here;      /* `memory` measures this process instead of a fresh one */
    bool attached;  /* sessions are those of a client: the kernel is another process's */
} bench_options;

typedef struct bench_case bench_case;
struct bench_case {
    const char *name;
    gyre_status (*run)(const bench_case *self, const bench_options *options, bench_row *row);
    bench_floor floor; /* NULL: none, or the case has its own */
    const char *floor_name;
    bench_shape shape;
    const char *const *settings; /* beside the user's own; NULL: none */
    bench_target targets[BENCH_TARGETS_MAX];
};

/** All cases, in the order in which they run. */
extern const bench_case bench_cases[];
extern const size_t bench_case_count;

/* ---- rounds ---- */

/** One round of a case: fills the sample; `context` is the case's own. */
typedef gyre_status (*bench_round)(void *context, uint64_t duration_ns, bench_sample *sample);

/**
 * Runs floor and case in turns until the time is used up, and fills the row: values, floor, ratios.
 */
gyre_status bench_rounds(const bench_case *self, const bench_options *options, bench_round round,
                         void *context, bench_row *row);

/** Gives the row the targets of its backend: the case's own are those of the CPU. */
void bench_row_aim(const bench_case *self, bench_row *row);
/** Sets `found` of the row's targets from its figures, by their names. */
void bench_row_judge(bench_row *row);
bool bench_target_met(const bench_target *target);

/* ---- sessions ---- */

/** How long a case waits for one reply before it calls the kernel stuck. */
enum { BENCH_PATIENCE_MS = 20000 };

/** A runtime with one kernel of the benchmark's, and a queue into it; or a server, and a queue attached to it. */
typedef struct bench_session {
    gyre_runtime *runtime; /* NULL: attached */
    gyre_kernel *kernel;   /* the runtime's, as the queue is; NULL: attached */
    gyre_queue *queue;
    bench_shape shape; /* of the case */
    struct bench_serving *serving;
} bench_session;

/** Opens, launches the kernel of the case's kind, opens a queue of its capacity, and notes backend and device
 * in the row. After a failure everything is closed. */
gyre_status bench_session_open(const bench_case *self, const bench_options *options, bench_session *session,
                               bench_row *row);
void bench_session_close(bench_session *session);
/** Its part for a client: starts `gyre serve` and attaches to the kernel of the case's kind, of which it notes
 * nothing. After a failure bench_serving_end is still to be called. */
gyre_status bench_serving_start(const bench_case *self, const bench_options *options, bench_session *session);
/** Detaches, and waits for the server's end. Accepts a session without. */
void bench_serving_end(bench_session *session);

enum { BENCH_SETTINGS_MAX = 64 };
/** The case's settings and the user's, and `extra` (NULL-terminated, or NULL), as gyre_open_desc wants them; `pin`
 * holds one of them. */
gyre_status bench_settings(const bench_case *self, const bench_options *options, const char *const *extra,
                           char pin[64], const char *settings[BENCH_SETTINGS_MAX + 1]);

/** A runtime with the user's settings, the case's,
 * and `extra` (NULL-terminated, or NULL); nothing launched. */
gyre_status bench_runtime_open(const bench_case *self, const bench_options *options, const char *const *extra,
                               gyre_runtime **out);
/** "words_48": also the name that [kernel.NAME] and [queue.NAME] configure it by. */
const char *bench_kernel_name(enum bench_kind kind);
/** The file that it is in, or NOT_FOUND. */
gyre_status bench_kernel_file(enum bench_kind kind, char *path, size_t size);
gyre_status bench_launch(gyre_runtime *runtime, enum bench_kind kind, gyre_kernel **out);
/** A backend that does not exist is to the command a device that is not there: UNAVAILABLE for NOT_FOUND. */
gyre_status bench_device_status(gyre_runtime *runtime, gyre_status status);
void bench_note_kernel(const gyre_kernel *kernel, bench_row *row);

/** A failure, kept while cleaning up, which may fail, or succeed, in its turn. */
typedef struct bench_story {
    gyre_status status;
    char text[1024];
} bench_story;
void bench_story_take(bench_story *story, gyre_status status);
/** Sets the error again, with the case's name before it, and returns its status. */
gyre_status bench_story_tell(const bench_story *story, const bench_case *self);

/** Path of a file that was installed for the benchmark, or NOT_FOUND. */
gyre_status bench_file(const char *name, char *path, size_t size);

/** One call with the reply checked; adds to *errors. */
gyre_status bench_call_checked(gyre_queue *queue, enum bench_kind kind, uint64_t number, uint64_t *errors);

/* ---- cases ---- */

gyre_status bench_run_floor(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_call(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_burst(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_stream(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_stream_in_place(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_pair(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_wide(const bench_case *self, const bench_options *options, bench_row *row);
/** Runs another case without its settings where the backend is the processor: they ask for many blocks. */
gyre_status bench_run_widely(const bench_case *self, const bench_options *options, bench_row *row,
                             gyre_status (*run)(const bench_case *self, const bench_options *options,
                                                bench_row *row));
gyre_status bench_run_wide_yield(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_wire(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_bridged(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_bridged_pair(const bench_case *self, const bench_options *options, bench_row *row);
/** A stream of fixed messages as long as the bridged ones
 * are on the average, while bench_run_bridged runs. */
bool bench_floor_direct(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);
gyre_status bench_run_timed(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_buffer(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_launch(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_terminate(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_deactivate(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_recover_fault(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_recover_standby(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_recover_loop(const bench_case *self, const bench_options *options, bench_row *row);
/** The same case without its settings is the floor; sessions of both in turns. */
gyre_status bench_run_against_call(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_against_stream(const bench_case *self, const bench_options *options, bench_row *row);
/** Sessions of a client of another process, and, as their floor, of the same kernel in this one. */
gyre_status bench_run_attached_call(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_attached_stream(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_checkpoint(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_journal_stream(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_journal_call(const bench_case *self, const bench_options *options, bench_row *row);
/** What the disk takes for the bytes of a burst, while a case of journals runs: written, and synchronised. */
bool bench_floor_write(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);
bool bench_floor_sync(const bench_shape *shape, uint64_t duration_ns, bench_sample *sample);
gyre_status bench_run_compile_cold(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_compile_cached(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_idle(const bench_case *self, const bench_options *options, bench_row *row);
gyre_status bench_run_memory(const bench_case *self, const bench_options *options, bench_row *row);

/* ---- report ---- */

/** One row as JSON; NULL without memory. */
json_t *bench_row_json(const bench_row *row);
/** All rows for people, and a line for each missed target. */
int bench_print_rows(const bench_row *rows, size_t count);

#endif
