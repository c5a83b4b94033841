/* SPDX-License-Identifier: Apache-2.0 */
/* A field of a message by which messages are told apart: where its bytes lie, and their hash. */
#ifndef GYRE_CORE_TYPES_KEY_H
#define GYRE_CORE_TYPES_KEY_H

#include <stdint.h>

#include "core/types/types.h"

/** Constant once resolved; any thread. */
struct gyre_message_key {
    char path[128];
    uint64_t offset, size; /* of the field in the message */
    uint64_t item_size;    /* not 0: the field is a part, and the key are its items in the message's tail */
};

/**
 * Finds "account" or "order.account" in a message type. INVALID and a sentence when there is no such field,
 * or when it is a record, whose bytes are not all its own.
 */
gyre_status gyre_message_key_find(const gyre_type *type, const char *path, struct gyre_message_key *out);

/**
 * The hash of the key's bytes in a message of `size` bytes. INVALID when the message is too short for it or
 * its part does not lie in it.
 */
gyre_status gyre_message_key_hash(const struct gyre_message_key *key, const void *message, size_t size,
                                  uint64_t *hash);

#endif
