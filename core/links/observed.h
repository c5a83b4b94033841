/* SPDX-License-Identifier: Apache-2.0 */
/* Shows pipelines and their links in the observation file of the process (core/observation/observation.h). */
#ifndef GYRE_CORE_LINKS_OBSERVED_H
#define GYRE_CORE_LINKS_OBSERVED_H

#include "gyre/pipeline.h"

/**
 * Writes what the links of all pipelines carried into the file. Waits for no device, so it leaves out links of a device that lets
 * nobody read its memory without a wait (gyre/peek.h). Takes runtime->lock.
 */
void gyre_pipelines_observe(gyre_runtime *runtime);

#endif
