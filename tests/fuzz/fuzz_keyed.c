/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the table of a keyed actor against its model (tests/unit/dialect/keyed_model.h). */
#include "keyed_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    model_run(data, size < 4096 ? size : 4096);
    return 0;
}
