/* SPDX-License-Identifier: Apache-2.0 */
/* Links whose messages are shared by key: each block of the target gets the messages whose keys it owns. No state, no locks. */
#ifndef GYRE_CORE_LINKS_LINK_KEY_H
#define GYRE_CORE_LINKS_LINK_KEY_H

#include "core/kernel/node.h"
#include "core/types/key.h"
#include "gyre/link_layout.h"
#include "gyre/pipeline.h"

/** What the application or the configuration says about a link. */
struct gyre_link_key_wish {
    gyre_share share;
    const char *path; /* of the field; NULL: the key of the keyed actor that the link leads to */
};

/** How the blocks of a link's target share its messages. */
struct gyre_link_key {
    gyre_share wish;
    char wished[128]; /* the path that the application or the configuration names; "": none */
    enum gyre_link_share share;
    char path[128]; /* of the field that decides; "": none does */
    uint64_t offset, size;
    uint64_t seed
        [2]; /* a secret, so that who chooses keys cannot choose those of one block; one for a kernel and a field */
};

/**
 * Decides how the target's blocks share the messages. `target` NULL: the link leads to no kernel. INVALID and a sentence for a
 * field that is not there or cannot be a key, for one that is not the target's own key, and for a key without
 * GYRE_SHARE_KEY; UNIMPLEMENTED for a device that cannot. Needs no key where the target has one block.
 */
gyre_status gyre_link_key_resolve(const struct gyre_node_facts *target, const struct gyre_link_key_wish *wish,
                                  struct gyre_link_key *out);

/** Tells a ring, as the device sees it. */
void gyre_link_key_write(const struct gyre_link_key *key, gyre_link_ring *ring);

#endif
