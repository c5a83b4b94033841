/* SPDX-License-Identifier: Apache-2.0 */
/* Finds rows of the table of keys (table.h), and names kinds of sections. Constant data, no state. */
#include <string.h>

#include "core/config/table.h"

static const char *const kind_words[GYRE_SECTION_KINDS] = {"gyre", "backend", "kernel", "queue",   "pipeline",
                                                           "link", "topic",   "pool",   "observe", "cluster"};

int gyre_config_row_fits(const struct gyre_config_row *row, enum gyre_section_kind kind, const char *name)
{
    return row->kind == kind && (!row->backend || strcmp(row->backend, name) == 0);
}

const struct gyre_config_row *gyre_config_row_find(enum gyre_section_kind kind, const char *name,
                                                   const char *key)
{
    size_t count;
    const struct gyre_config_row *rows = gyre_config_rows(&count);
    for (size_t i = 0; i < count; i++)
        if (gyre_config_row_fits(&rows[i], kind, name) && strcmp(rows[i].key, key) == 0)
            return &rows[i];
    return NULL;
}

const char *gyre_section_kind_word(enum gyre_section_kind kind)
{
    return kind_words[kind];
}

int gyre_section_kind_is_single(enum gyre_section_kind kind)
{
    return kind == GYRE_SECTION_GYRE || kind == GYRE_SECTION_OBSERVE || kind == GYRE_SECTION_CLUSTER;
}
