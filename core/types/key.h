/* SPDX-License-Identifier: Apache-2.0 */
/* The key of a message: a field whose value decides, for example, which shard handles the message. Finds the field's bytes
 * and hashes them. */
#ifndef GYRE_CORE_TYPES_KEY_H
#define GYRE_CORE_TYPES_KEY_H

#include <stdint.h>

#include "core/types/types.h"

/** Where the key's bytes lie in a message. gyre_message_key_find fills it in; then it is constant, for any thread. */
struct gyre_message_key {
    char path[128];
    uint64_t offset, size; /* where the field lies in the message */
    uint64_t item_size;    /* not 0: the field is a part, and its items in the message's tail are the key */
    gyre_scalar scalar;    /* of each element; NO: an id128 */
    uint64_t count;        /* elements */
};

/**
 * Finds a field such as "account" or "order.account" in a message type. INVALID and a sentence when there is no such
 * field, or when the field is a struct, whose bytes may include padding.
 */
gyre_status gyre_message_key_find(const gyre_type *type, const char *path, struct gyre_message_key *out);

/**
 * INVALID, and a sentence, unless the key can be that of a keyed actor or a link: integers or id128, in the fixed part of the message, of
 * `most` bytes at most. Floats cannot: 0.0 and -0.0 are equal, and their bytes are not.
 */
gyre_status gyre_message_key_check_fixed(const struct gyre_message_key *key, uint64_t most);

/**
 * Reads the bytes of a fixed key from a text: a whole number, an id128 like 00112233-4455-6677-8899-aabbccddeeff, or, for an
 * array of bytes, the text itself, with zeros behind it. INVALID and a sentence.
 */
gyre_status gyre_message_key_parse(const struct gyre_message_key *key, const char *text, void *bytes);

/**
 * The hash of the key's bytes in a message of `size` bytes. INVALID when the message is too short for the key, or when
 * the items of the key's part do not lie in the message.
 */
gyre_status gyre_message_key_hash(const struct gyre_message_key *key, const void *message, size_t size,
                                  uint64_t *hash);

#endif
