/* SPDX-License-Identifier: Apache-2.0 */
/* Names the field of a message type that is being read, for error sentences. */
#ifndef GYRE_CORE_TYPES_PLACE_H
#define GYRE_CORE_TYPES_PLACE_H

#include "core/types/expression.h"
#include "gyre/status.h"

/** The field that is being read. */
typedef struct gyre_field_place {
    const char *type_name;
    uint32_t number; /* from 1 */
    gyre_span text;
} gyre_field_place;

/** Sets the error "field N of type T: `what`", and returns INVALID. */
gyre_status gyre_field_error(const gyre_field_place *place, const char *what);

#endif
