/* SPDX-License-Identifier: Apache-2.0 */
/* See callers.h. */
#include "core/cluster/callers.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

gyre_status gyre_callers_init(struct gyre_callers *callers)
{
    *callers = (struct gyre_callers){.list = calloc(GYRE_CALLERS_MAX, sizeof *callers->list)};
    return callers->list ? GYRE_OK : gyre_error_set(GYRE_EXHAUSTED, "no memory for the clients of a shard");
}

void gyre_callers_finish(struct gyre_callers *callers)
{
    free(callers->list);
    *callers = (struct gyre_callers){0};
}

static struct gyre_cluster_caller *oldest(const struct gyre_callers *callers)
{
    struct gyre_cluster_caller *found = &callers->list[0];
    for (size_t i = 1; i < callers->count; i++)
        if (callers->list[i].position < found->position)
            found = &callers->list[i];
    return found;
}

struct gyre_cluster_caller *gyre_callers_note(struct gyre_callers *callers,
                                              const unsigned char client[GYRE_CLIENT_ID_SIZE],
                                              uint64_t position)
{
    struct gyre_cluster_caller *caller = NULL;
    for (size_t i = 0; i < callers->count && !caller; i++)
        if (memcmp(callers->list[i].client, client, GYRE_CLIENT_ID_SIZE) == 0)
            caller = &callers->list[i];
    if (!caller) {
        caller = callers->count < GYRE_CALLERS_MAX ? &callers->list[callers->count++] : oldest(callers);
        caller->number = 0;
        memcpy(caller->client, client, GYRE_CLIENT_ID_SIZE);
    }
    caller->position = position;
    return caller;
}
