/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes collected spans as the JSON that Perfetto (ui.perfetto.dev) and chrome://tracing read: a group of rows for each device, a row for
 * each block, on which a slice is a message that its handler worked on; arrows along links; and for each timed message the spans waited,
 * handled and returned, as asynchronous events, which may overlap.
 */
#ifndef GYRE_CLI_OBSERVED_TRACE_JSON_H
#define GYRE_CLI_OBSERVED_TRACE_JSON_H

#include "cli/observed/trace_take.h"

/** What was written. */
typedef struct trace_told {
    size_t messages, handled, arrows;
    size_t refused; /* spans that say what cannot be, and were left out */
    size_t cut;     /* spans that were left out because the text was long enough */
} trace_told;

/**
 * Sorts the spans of the set. Leaves out what comes after `most_bytes` bytes of the stream, with an event or two beyond them; SIZE_MAX:
 * nothing. Errors of the stream are the caller's to find. False without memory.
 */
bool trace_write_json(trace_set *set, FILE *out, size_t most_bytes, trace_told *told);

#endif
