/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the table of named clients: see names.h. No locks. */
#include "core/queue/names.h"

#include <stdlib.h>
#include <string.h>

static struct gyre_name *name_find(const struct gyre_names *names, uint64_t client)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->all[i].client == client)
            return &names->all[i];
    return NULL;
}

/* The place of the client that a full table forgets for `client`. */
static size_t names_choose(const struct gyre_names *names, uint64_t client)
{
    size_t first = 0, count = 0;
    for (size_t i = names->count; i-- > 0;)
        if (gyre_names_share_user(names->all[i].client, client)) {
            first = i;
            count++;
        }
    return count >= GYRE_NAMES_SHARE ? first : 0;
}

static void names_forget(struct gyre_names *names, size_t place)
{
    names->count--;
    memmove(names->all + place, names->all + place + 1, (names->count - place) * sizeof *names->all);
}

/* Makes room for `client`; a full table forgets another one. False: there is no memory. */
static bool names_grow(struct gyre_names *names, uint64_t client)
{
    if (names->count == GYRE_NAMES_MAX) {
        names_forget(names, names_choose(names, client));
        return true;
    }
    if (names->count < names->capacity)
        return true;
    const size_t capacity = names->capacity ? 2 * names->capacity : 16;
    struct gyre_name *all = realloc(names->all, capacity * sizeof *all);
    if (!all)
        return false;
    names->all = all;
    names->capacity = capacity;
    return true;
}

bool gyre_names_note(struct gyre_names *names, uint64_t client, uint64_t next)
{
    if (!(client & GYRE_ORIGIN_NAMED))
        return true;
    struct gyre_name *name = names->last < names->count && names->all[names->last].client == client
                                 ? &names->all[names->last]
                                 : name_find(names, client);
    if (!name) {
        if (!names_grow(names, client))
            return false;
        name = &names->all[names->count++];
        *name = (struct gyre_name){.client = client};
    }
    names->last = (size_t)(name - names->all);
    name->next = next > name->next ? next : name->next;
    return true;
}

uint64_t gyre_names_next(const struct gyre_names *names, uint64_t client)
{
    const struct gyre_name *name = name_find(names, client);
    return name ? name->next : 0;
}

void gyre_names_release(struct gyre_names *names)
{
    free(names->all);
    memset(names, 0, sizeof *names);
}
