/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a pipeline of launched kernels, and ends one with its runtime. */
#ifndef GYRE_CORE_LINKS_PIPELINE_MAKE_H
#define GYRE_CORE_LINKS_PIPELINE_MAKE_H

#include "core/device/runtime.h"
#include "core/links/wiring_config.h"
#include "gyre/pipeline.h"

/**
 * Does what gyre_pipeline_open promises, for kernels that are launched. The name is not in use.
 */
gyre_status gyre_pipeline_make(gyre_runtime *runtime, const struct gyre_wiring_config *wiring,
                               gyre_pipeline **out);
/** Takes apart a pipeline that is in no list any more, and frees it; its memory stays when a handler does not return. */
void gyre_pipeline_dispose(gyre_pipeline *pipeline);

#endif
