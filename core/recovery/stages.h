/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What recovery does for kernels that are stages of a pipeline: they run, are tested and are lost together. In the thread of the worker's
 * keeper. How: stages.c.
 */
#ifndef GYRE_CORE_RECOVERY_STAGES_H
#define GYRE_CORE_RECOVERY_STAGES_H

#include "core/recovery/recovery.h"

/** Gives up the kernels of each pipeline of which a kernel was given up: flows that go there would never end. */
void gyre_stages_share_fate(const struct gyre_recovery *recovery);
/** All kernels run again: gives those of pipelines their links, and lets them take requests. LOST when the worker died again. */
gyre_status gyre_stages_revive(const struct gyre_recovery *recovery);
/** Launches the kernels of pipelines, whose queues stay hidden (their gates are closed), and does what gyre_stages_revive does. */
gyre_status gyre_stages_resume(const struct gyre_recovery *recovery);
enum { GYRE_STAGES_TEXT_SIZE = 200 };
/**
 * The stages whose handlers were at messages of a flow when their worker died, as "'left' or 'right'" in `text`, perhaps cut; NULL: none
 * was. The flow: of request `index` of entry number `number` of the kernel's pipeline.
 */
const char *gyre_stages_at(const struct gyre_recovery *recovery, gyre_kernel *kernel, uint32_t number,
                           uint64_t index, char *text, size_t size);

#endif
