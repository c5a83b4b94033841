/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the setting `header` and the look at headers: what is accepted gives a size that holds every field
 * that it names; of any 64 bytes, a field is said to be too far back only when it is not 0 and lies there.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/queue/header_words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void try_plan(const char *text)
{
    struct gyre_header_plan plan = {.size = 1, .times = true};
    const gyre_status status = gyre_header_plan_read(text, &plan);
    require(status == GYRE_OK || (plan.size == 0 && !plan.times));
    require(plan.size % 16 == 0 && plan.size <= GYRE_HEADER_SIZE_MAX);
    require(status != GYRE_OK || strstr(text, "trace") == NULL || plan.size == 64);
    require(!plan.times || plan.size >= 16);
}

static void try_header(const uint8_t *data, size_t size)
{
    gyre_header header = {0};
    memcpy(&header, data, size < sizeof header ? size : sizeof header);
    header.reserved = 0;
    for (uint32_t quarters = 0; quarters <= 4; quarters++) {
        const char *misfit = gyre_header_misfit(&header, quarters * 16);
        require(!misfit || gyre_header_needed(misfit) > quarters * 16);
        gyre_header cut = {0};
        memcpy(&cut, &header, quarters * 16);
        require((memcmp(&cut, &header, sizeof cut) != 0) == (misfit != NULL));
        require(gyre_header_misfit(&cut, quarters * 16) == NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    try_plan(text);
    try_header(data, size);
    free(text);
    return 0;
}
