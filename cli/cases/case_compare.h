/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two messages field by field, and prints what differs. One thread. */
#ifndef GYRE_CLI_CASES_CASE_COMPARE_H
#define GYRE_CLI_CASES_CASE_COMPARE_H

#include <stdint.h>
#include <stdio.h>

#include "core/types/types.h"

typedef struct case_compare_desc {
    const gyre_layout *layout;
    uint64_t
        ulps; /* how many floats may lie between two numbers that count as equal; 0: none, and -0 is not 0 */
    const char *place; /* in front of each line: "FILE:LINE" */
    FILE *out;
} case_compare_desc;

/**
 * Compares two texts that message_json_write wrote for the layout. Prints a line for each field that differs, with both values,
 * and with their distance where both are floats; for more than a few fields a last line counts the others. Returns how many
 * fields differ.
 */
uint64_t case_compare(const case_compare_desc *desc, const char *expected, const char *found);

#endif
