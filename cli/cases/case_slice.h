/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts the text of a member out of the text of a JSON object, as it stands there. No state, any thread. */
#ifndef GYRE_CLI_CASES_CASE_SLICE_H
#define GYRE_CLI_CASES_CASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>

/** A value as it stands in the file: its JSON text. `text` is NULL where the file has none. */
typedef struct case_value {
    const char *text;
    size_t length;
} case_value;

/**
 * The text of the member `key` of a well-formed JSON object. `key` is compared with the text of the object's keys, without
 * escapes. False, and *out unchanged, when the object has no such member.
 */
bool case_slice(case_value object, const char *key, case_value *out);

#endif
