/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/calls/call_early.h"

#include <stdlib.h>

#include "core/base/error.h"

bool call_early_wants(const call_early *early, uint64_t index)
{
    return index > early->next && index - early->next < early->room;
}

static gyre_status lack_memory(void)
{
    return gyre_error_set(GYRE_EXHAUSTED, "out of memory for a reply that came before its turn");
}

FILE *call_early_open(call_early *early)
{
    if (!early->lines)
        early->lines = calloc(early->room, sizeof *early->lines);
    early->open = early->lines ? open_memstream(&early->text, &early->length) : NULL;
    if (!early->open)
        lack_memory();
    return early->open;
}

gyre_status call_early_keep(call_early *early, uint64_t index)
{
    char **const line = &early->lines[index % early->room];
    const bool is_whole = !ferror(early->open);
    const bool is_closed = fclose(early->open) == 0;
    if (!is_whole || !is_closed) {
        free(early->text);
        return lack_memory();
    }
    *line = early->text;
    early->count++;
    return GYRE_OK;
}

bool call_early_print(call_early *early, FILE *out)
{
    char **const line = early->count ? &early->lines[early->next % early->room] : NULL;
    if (!line || !*line)
        return false;
    fputs(*line, out);
    free(*line);
    *line = NULL;
    early->next++;
    early->count--;
    return true;
}

void call_early_finish(call_early *early)
{
    for (uint64_t i = 0; early->lines && i < early->room; i++)
        free(early->lines[i]);
    free(early->lines);
}
