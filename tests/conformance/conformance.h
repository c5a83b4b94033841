/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conformance suite: what every backend has to do, seen through the public API alone.
 *
 * `gyre_conformance BACKEND CASE` runs one case in one process and exits 0 (passed), 1 (failed), 77 (this
 * machine cannot run the backend: the reason is printed). A case is a function that returns when all went
 * well; `require` ends the process with file, line and the thread's error text otherwise.
 */
#ifndef GYRE_TESTS_CONFORMANCE_H
#define GYRE_TESTS_CONFORMANCE_H

#include <gyre/gyre.h>
#include <stdbool.h>
#include <stddef.h>

#include "kernels/messages.h"

/** What a case works with; filled before it runs, closed after it. */
struct conformance {
    gyre_runtime *runtime;
    const char *backend;
    char log[4096]; /* what the runtime logged, lines joined by \n; read it with has_logged */
};

struct conformance_case {
    const char *name;
    void (*run)(struct conformance *test);
};

/** Ends with NULL. */
extern const struct conformance_case lifecycle_cases[], message_cases[], call_cases[], kernel_cases[],
    refusal_cases[], queue_cases[], overtaking_cases[], handle_cases[], timing_cases[], shard_cases[],
    header_cases[], bridged_cases[], behaviour_cases[], level_cases[], typed_cases[], span_cases[],
    large_span_cases[], name_cases[], device_cases[], query_cases[], wait_cases[], link_cases[],
    link_end_cases[], link_pause_cases[], topic_cases[], subscriber_cases[], change_cases[], cycle_cases[],
    ask_cases[], pool_cases[], round_cases[], link_level_cases[], link_choice_cases[], observation_cases[],
    keyed_cases[], keyed_port_cases[], reminder_cases[], link_key_cases[], spread_cases[], collect_cases[],
    far_link_cases[], grid_cases[];

void require_(bool holds, const char *what, const char *file, int line);
#define require(condition) require_((condition), #condition, __FILE__, __LINE__)
/** The call succeeds. */
#define must(call) require_((call) == GYRE_OK, #call, __FILE__, __LINE__)
/** The last error's sentence contains this. */
void require_sentence_(const char *part, const char *file, int line);
#define require_sentence(part) require_sentence_((part), __FILE__, __LINE__)

/** Ends the case: this machine has not `what` it is about. */
void not_on_this_machine(const char *what);
/** The path of a kernel file of the suite; a static string. */
const char *kernel_path(const char *file);
/** Launches FILE:KERNEL of the suite with defaults; must succeed. */
gyre_kernel *launch(struct conformance *test, const char *file, const char *kernel);
/** A runtime of the case's own, with settings that end with NULL; the case closes it. */
gyre_runtime *open_with(const struct conformance *test, const char *const *settings);
/** The same as launch, in such a runtime. */
gyre_kernel *launch_in(gyre_runtime *runtime, const char *file, const char *kernel);
/** A descriptor for launch variations. */
gyre_launch_desc launch_desc(const struct conformance *test, const char *file, const char *kernel);
gyre_kernel_info info_of(gyre_kernel *kernel);
gyre_queue_stats stats_of(gyre_queue *queue);
/** One call of a words_1 -> words_1 kernel; must succeed. */
uint64_t call_word(gyre_queue *queue, uint64_t word);
/** The halves of one; both must succeed. */
void send_word(gyre_queue *queue, uint64_t word, const gyre_header *header);
gyre_completion receive_word(gyre_queue *queue, uint64_t *word);
/** It was not handled by its deadline, and says so. */
void require_expired(const gyre_completion *completion);
/** So many messages became dead letters, and of these so many are lost. */
void require_dead(gyre_queue *queue, uint64_t dead, uint64_t lost);
/** Whether the runtime has logged this. */
bool has_logged(struct conformance *test, const char *text);
/** A generous deadline for what must happen. */
uint64_t soon(void);
void sleep_ms(long milliseconds);

#endif
