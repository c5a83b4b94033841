/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timelines as the JSON that Perfetto (ui.perfetto.dev) and chrome://tracing read. Spans of messages are asynchronous events, which may
 * overlap.
 */
#ifndef GYRE_CLI_OBSERVED_TRACE_JSON_H
#define GYRE_CLI_OBSERVED_TRACE_JSON_H

#include "cli/observed/trace_events.h"

extern const trace_form trace_json;

#endif
