/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of observation files: the input is the file. Whatever it says of itself, nothing beyond it is read, and each
 * text that comes of it ends. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/observation/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gyre_observed seen;
    unsigned char *copy = malloc(size + !size);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    if (gyre_observed_parse("input", copy, size, &seen) == GYRE_OK && walk_observed(&seen) == 0)
        abort();
    gyre_observed_finish(&seen);
    return 0;
}
