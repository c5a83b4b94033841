/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the text of verdicts: what a probing helper answered, and what was remembered on disk. What is
 * accepted is written and read again: the same verdict and the same text have to come out.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/registry/verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gyre_verdict verdict, again;
    static char first[GYRE_VERDICT_TEXT_MAX], second[GYRE_VERDICT_TEXT_MAX];
    char *text = malloc(size + 1);
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    if (gyre_verdict_read(text, &verdict)) {
        require(verdict.status != 0 || verdict.device_count > 0);
        require(gyre_verdict_write(&verdict, first, sizeof first) > 0);
        require(gyre_verdict_read(first, &again));
        require(gyre_verdict_write(&again, second, sizeof second) > 0);
        require(strcmp(first, second) == 0);
    }
    free(text);
    return 0;
}
