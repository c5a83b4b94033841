/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of what gyre-check writes: the checker may crash, be cut short, or be another program. */
#include <stdlib.h>
#include <string.h>

#include "core/pipeline/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gyre_check check;
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    memset(&check, 0, sizeof check);
    gyre_check_read(&check, text);
    free(text);
    if ((check.verdict == GYRE_CHECK_PASSED) != (check.status == GYRE_OK))
        abort();
    if ((check.verdict == GYRE_CHECK_PASSED) != (check.sentence[0] == '\0'))
        abort();
    return 0;
}
