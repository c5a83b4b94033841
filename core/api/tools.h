/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for the command `gyre`, which the public header gyre.h does not have. */
#ifndef GYRE_CORE_API_TOOLS_H
#define GYRE_CORE_API_TOOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/config/config.h"
#include "core/device/peers.h"
#include "core/types/types.h"
#include "gyre/backend.h"
#include "gyre/gyre.h"
#include "gyre/pipeline.h"

/** Does what gyre_open does, for settings that a person typed: error sentences name the command line as their origin. */
gyre_status gyre_runtime_open_typed(const gyre_open_desc *desc, gyre_runtime **out);

/** Sets the level of the log from now on, unless the configuration sets it. */
void gyre_runtime_preset_log_level(gyre_runtime *runtime, gyre_log_level level);

/** The configuration in effect, borrowed until the runtime is closed. */
const struct gyre_config *gyre_runtime_config(const gyre_runtime *runtime);

/** As gyre_launch; who sends to the kernel may handle its requests himself (core/kernel/help.h). */
gyre_status gyre_launch_helped(gyre_runtime *runtime, const gyre_launch_desc *desc, gyre_kernel **out);

/**
 * Builds the kernel of a launch descriptor, and compares the names of its bindings with the names that the kernel declares.
 * Does not look at the buffers themselves. Logs nothing. Fails as a launch would.
 */
gyre_status gyre_launch_check_names(gyre_runtime *runtime, const gyre_launch_desc *desc);
/**
 * Builds the kernel of a launch descriptor, and gives the layout of its state. The layout's size is 0 for a kernel without a
 * state. The caller owns *out.
 */
gyre_status gyre_launch_state_layout(gyre_runtime *runtime, const gyre_launch_desc *desc, gyre_layout **out);
/** The form of a launched kernel's handler. */
gyre_form gyre_kernel_form(const gyre_kernel *kernel);
/** Whether a launched kernel has checkpoints: they are configured, and its handler keeps something. */
bool gyre_kernel_has_checkpoints(const gyre_kernel *kernel);
/** The path of the journal from which a launched kernel took its state, borrowed from the kernel. NULL: the kernel began with
 * its initial state. */
const char *gyre_kernel_restored_from(gyre_kernel *kernel);

/** Whether other programs can attach to an open pipeline, as far as its own settings go: else the error that they would get. */
gyre_status gyre_pipeline_check_attachable(gyre_pipeline *pipeline);

/** How all kernels of a runtime fare. */
struct gyre_runtime_pulse {
    uint32_t kernels;
    uint64_t handled, queued;  /* the sums of gyre_kernel_info */
    char ill[64];              /* the first kernel that hangs, or that nobody works for; "": there is none */
    gyre_kernel_health health; /* of that kernel */
};
/** Looks at each kernel. EXHAUSTED. */
gyre_status gyre_runtime_pulse_get(gyre_runtime *runtime, struct gyre_runtime_pulse *out);

#endif
