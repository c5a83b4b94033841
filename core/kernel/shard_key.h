/* SPDX-License-Identifier: Apache-2.0 */
/* The field of a kernel's requests by which shards choose a ring (shard = key), as the program or the configuration names it. */
#ifndef GYRE_CORE_KERNEL_SHARD_KEY_H
#define GYRE_CORE_KERNEL_SHARD_KEY_H

#include "core/kernel/kernel.h"
#include "core/types/key.h"

struct gyre_shard_key_wish {
    const char *name;   /* of the shards: the section [queue.NAME] is theirs */
    const char *key;    /* NULL: the section's */
    bool rule_is_given; /* the program, and not the section, says that a key chooses */
};

/** Finds the field. INVALID, or CONFIG with the place of the setting that is wrong. */
gyre_status gyre_kernel_shard_key(const gyre_kernel *kernel, const struct gyre_shard_key_wish *wish,
                                  struct gyre_message_key *out);

/** The field by which a keyed actor tells its keys apart; NULL: the kernel is none. */
const char *gyre_kernel_actor_key(const gyre_kernel *kernel);
/** Finds a field of the kernel's requests. INVALID as gyre_message_key_find, with the kernel's name. */
gyre_status gyre_kernel_find_key(const gyre_kernel *kernel, const char *path, struct gyre_message_key *out);

/**
 * Checks the key of shard = key in the section with the kernel's own name, although nobody may open shards of that name: a mistyped
 * field would be told to nobody. CONFIG. The kernel's record is known.
 */
gyre_status gyre_kernel_check_shard_key(const gyre_kernel *kernel);

#endif
