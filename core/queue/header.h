/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The setting `header` of a queue: how much of a gyre_header its messages carry. Pure functions, any thread.
 */
#ifndef GYRE_CORE_QUEUE_HEADER_H
#define GYRE_CORE_QUEUE_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/header.h"
#include "gyre/status.h"

struct gyre_header_plan {
    uint32_t size; /* bytes of the header: 0, 16, 32, 48, 64 */
    bool sealed;   /* messages have checksums, which lie behind headers */
    bool times;    /* when a handler began and ended is to be told, too */
};

/**
 * Reads "none", a size, or names of fields between spaces and commas. CONFIG with the word that is wrong;
 * the plan is then as for "none".
 */
gyre_status gyre_header_plan_read(const char *text, struct gyre_header_plan *plan);

/** The first field beyond `size` bytes that is not 0; NULL: there is none. */
const char *gyre_header_misfit(const gyre_header *header, uint32_t size);
/** The size of the smallest header that holds the field of that name; 0: there is no such field. */
uint32_t gyre_header_needed(const char *field);

#endif
