/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the error sentences about a field of a message type (place.h). No state. */
#include "core/types/place.h"

#include <inttypes.h>

#include "core/base/error.h"

gyre_status gyre_field_error(const gyre_field_place *place, const char *what)
{
    int length = (int)(place->text.end - place->text.at);
    return gyre_error_set(GYRE_INVALID, "message type '%s', field %" PRIu32 " ('%.*s'): %s", place->type_name,
                          place->number, length > 120 ? 120 : length, place->text.at, what);
}
