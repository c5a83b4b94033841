/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines in Perfetto's own form, a `perfetto.protos.Trace`, which ui.perfetto.dev and trace_processor read. */
#ifndef GYRE_CLI_OBSERVED_TRACE_PERFETTO_H
#define GYRE_CLI_OBSERVED_TRACE_PERFETTO_H

#include "cli/observed/trace_events.h"

extern const trace_form trace_perfetto;

#endif
