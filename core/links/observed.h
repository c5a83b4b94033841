/* SPDX-License-Identifier: Apache-2.0 */
/* Shows pipelines and their links in the observation file of the process (core/observation/observation.h). */
#ifndef GYRE_CORE_LINKS_OBSERVED_H
#define GYRE_CORE_LINKS_OBSERVED_H

#include "gyre/pipeline.h"

/**
 * Writes what the links of all pipelines carried into the file, of devices whose links lie in memory of this process: it waits
 * for no device. Takes runtime->lock.
 */
void gyre_pipelines_observe(gyre_runtime *runtime);

#endif
