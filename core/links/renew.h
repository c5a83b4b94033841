/* SPDX-License-Identifier: Apache-2.0 */
/* Wires a pipeline anew whose worker process is another one (renew.c). */
#ifndef GYRE_CORE_LINKS_RENEW_H
#define GYRE_CORE_LINKS_RENEW_H

#include "core/links/pipeline.h"

/**
 * Wires the stages anew when their worker process is another one. Waits for no handler. LOST when a stage does not run: it is lost, or
 * that worker died, too.
 */
gyre_status gyre_pipeline_renew(gyre_pipeline *pipeline, bool by_keeper);
/** Does the same for a pipeline that was just listed, whose stages may have had another worker before that. */
void gyre_pipeline_catch_up(gyre_pipeline *pipeline);

#endif
