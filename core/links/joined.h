/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the kernels of a resolved pipeline its stages, and lets them go. */
#ifndef GYRE_CORE_LINKS_JOINED_H
#define GYRE_CORE_LINKS_JOINED_H

#include "core/links/wiring_config.h"

struct gyre_dispatch;

/** Makes the types of entries, joins the kernels that are not of a part, and makes the memory of the links. */
gyre_status gyre_stages_join(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring);
/**
 * Wires the stages on the device anew when their worker process is another one. Waits for no handler. LOST when a stage does not run: it
 * is lost, or that worker died, too.
 */
gyre_status gyre_pipeline_renew(gyre_pipeline *pipeline, const struct gyre_dispatch *device, bool by_keeper);
/** Does the same for a pipeline that was just listed, whose stages may have had another worker before that. */
void gyre_pipeline_catch_up(gyre_pipeline *pipeline);
/**
 * Whether a stage is between two workers, or has had another one since its links were made: a death is seen when recovery has begun. *lost
 * becomes true when one is lost.
 */
bool gyre_stages_are_behind(const gyre_pipeline *pipeline, bool *lost);
/** Whether all stages are in the worker process that their links were made for. */
bool gyre_stages_are_there(const gyre_pipeline *pipeline);
/** Lets the kernels go. No block uses a table of links. */
void gyre_stages_leave(gyre_pipeline *pipeline);
/** Lets kernels go whose memory a block may use for ever. */
void gyre_stages_leave_used(gyre_pipeline *pipeline);
/** Frees what gyre_stages_join made. */
void gyre_stages_free(gyre_pipeline *pipeline);

#endif
