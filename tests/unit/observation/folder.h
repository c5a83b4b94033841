/* SPDX-License-Identifier: Apache-2.0 */
/* A folder for the observation files of one test, removed after it. */
#ifndef GYRE_TESTS_OBSERVATION_FOLDER_H
#define GYRE_TESTS_OBSERVATION_FOLDER_H

#include <stdio.h>
#include <stdlib.h>

#include "core/base/temporary.h"
#include "core/observation/observation.h"
#include "unit/unit.h"

static char folder_path[64];

static inline void folder_make(void)
{
    snprintf(folder_path, sizeof folder_path, "/tmp/gyre-observe-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder_path));
}

static inline void folder_remove(void)
{
    gyre_temporary_delete(folder_path);
}

static inline struct gyre_observation *folder_open(unsigned keep)
{
    const struct gyre_observation_desc desc = {
        .folder = folder_path, .mode = 0600, .every_ns = 1000000000, .keep = keep};
    struct gyre_observation *observation = NULL;
    ck_assert_int_eq(gyre_observation_open(&desc, &observation), GYRE_OK);
    ck_assert_ptr_nonnull(observation);
    return observation;
}

static inline gyre_observe_record folder_record(enum gyre_observe_kind kind, uint32_t parent,
                                                const char *name)
{
    gyre_observe_record record = {.kind = kind, .parent = parent, .state = 1};
    snprintf(record.name, sizeof record.name, "%s", name);
    return record;
}

#endif
