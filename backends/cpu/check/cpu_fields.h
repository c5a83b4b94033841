/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages in the sentences of checks: the field at an offset, and a message as JSON, both from the description that
 * the kernel file has of a type. Pure functions.
 */
#ifndef GYRE_CPU_FIELDS_H
#define GYRE_CPU_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gyre/message.h"

/**
 * The type that a message of this type is. Where it is one of several (GYRE_PROTOCOL), `request` says which, the request that is handled;
 * the field begins *skip bytes behind the message then, else 0. For a request of no known type: `type`, and 0.
 */
const gyre_type *cpu_fields_chosen(const gyre_type *type, const void *request, uint64_t *skip);

/**
 * Writes the field at `offset`, as "counts[3]" or "particles[1].x". False when there is none, or when the type has
 * fields without a fixed place (parts).
 */
bool cpu_fields_name(const gyre_type *type, uint64_t offset, char *text, size_t size);

/**
 * Writes a message as JSON, as `gyre call` takes it, for the request that is handled or its reply. False when it does not fit, or when the
 * type has fields without a fixed place.
 */
bool cpu_fields_json(const gyre_type *type, const void *request, const void *message, char *text,
                     size_t size);

#endif
