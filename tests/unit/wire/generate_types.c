/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the functions for wire_types.h, as `gyre wire` does: generate_types WIRE_TYPES_H. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/wire/description.h"
#include "cli/wire/generate.h"
#include "cli/wire/pack.h"
#include "core/base/error.h"
#include "wire_types.h"

#define TYPE_OF(name) GYRE_TYPE(name),
static const gyre_type *const TYPES[] = {WIRE_TYPES(TYPE_OF)};
enum { TYPE_COUNT = sizeof TYPES / sizeof TYPES[0] };

int main(int count, char **arguments)
{
    gyre_pack wire = {.records = NULL};
    gyre_layout *layouts[TYPE_COUNT] = {NULL};
    gyre_status status = count == 2 ? gyre_pack_scan(&wire, arguments[1]) : GYRE_INVALID;
    for (size_t i = 0; status == GYRE_OK && i < TYPE_COUNT; i++)
        status = gyre_layout_create_message(TYPES[i], GYRE_MESSAGE_MAX, &layouts[i]);
    if (status == GYRE_OK) {
        puts("#include <gyre/wire.h>\n\n/* NOLINTBEGIN(readability-function-size) */");
        status = gyre_pack_generate(&wire, (const gyre_layout *const *)layouts, TYPE_COUNT, stdout);
        puts("/* NOLINTEND(readability-function-size) */");
    }
    if (status != GYRE_OK)
        fprintf(stderr, "%s\n", gyre_error_text());
    for (size_t i = 0; i < TYPE_COUNT; i++)
        gyre_layout_destroy(layouts[i]);
    gyre_pack_finish(&wire);
    return status == GYRE_OK && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
