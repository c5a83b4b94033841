/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the setting `header` of a queue, which says how much of a gyre_header each message carries. Pure functions, any
 * thread.
 */
#ifndef GYRE_CORE_QUEUE_HEADER_WORDS_H
#define GYRE_CORE_QUEUE_HEADER_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "gyre/header.h"
#include "gyre/status.h"

struct gyre_header_plan {
    uint32_t size; /* bytes of the header: 0, 16, 32, 48, 64 */
    bool sealed;   /* messages have checksums, which lie behind the headers */
    bool times;    /* receivers are told when the handler began and ended */
};

/**
 * Reads the text of the setting: "none", a size, or names of fields separated by spaces and commas. CONFIG with the wrong
 * word; the plan is then the plan for "none".
 */
gyre_status gyre_header_plan_read(const char *text, struct gyre_header_plan *plan);

/** The name of the first field that is not 0 and does not fit a header of `size` bytes; NULL: all fields fit. */
const char *gyre_header_misfit(const gyre_header *header, uint32_t size);
/** The size of the smallest header that holds the field of that name; 0: there is no such field. */
uint32_t gyre_header_needed(const char *field);

#endif
