/* SPDX-License-Identifier: Apache-2.0 */
/* The field of a message type that is being read, for sentences. */
#ifndef GYRE_CORE_TYPES_PLACE_H
#define GYRE_CORE_TYPES_PLACE_H

#include "core/types/expression.h"
#include "gyre/status.h"

/** The field being read, for sentences. */
typedef struct gyre_field_place {
    const char *type_name;
    uint32_t number; /* from 1 */
    gyre_span text;
} gyre_field_place;

/** INVALID: what is wrong with the field. */
gyre_status gyre_field_error(const gyre_field_place *place, const char *what);

#endif
