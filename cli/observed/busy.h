/* SPDX-License-Identifier: Apache-2.0 */
/* How busy the blocks of kernels are, as observation files say (gyre_observe_block). */
#ifndef GYRE_CLI_OBSERVED_BUSY_H
#define GYRE_CLI_OBSERVED_BUSY_H

#include <jansson.h>

#include "core/observation/observed.h"

/** Of a kernel's blocks: shares of the last second, 0 to 1, of those of which they are known. */
typedef struct busy_kernel {
    uint32_t known; /* blocks; 0: the shares mean nothing */
    double least, mean, most;
    double seconds; /* for which all blocks together were at messages so far */
} busy_kernel;

busy_kernel busy_of_kernel(const struct gyre_observed *seen, uint32_t kernel);
/** As JSON, with a list of the shares of all blocks (null: not known); null where nothing is known of any. */
json_t *busy_json(const struct gyre_observed *seen, uint32_t kernel);

#endif
