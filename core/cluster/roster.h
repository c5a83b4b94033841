/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members of a cluster, as one of them sees them: a member is alive while its record changes. Nobody's clock is compared with
 * another's. One thread: the member's own.
 */
#ifndef GYRE_CORE_CLUSTER_ROSTER_H
#define GYRE_CORE_CLUSTER_ROSTER_H

#include "core/cluster/format.h"
#include "core/transport/transport.h"

enum { GYRE_MEMBERS_MAX = 256 };

struct gyre_roster_member {
    char name[GYRE_MEMBER_NAME_MAX];
    uint64_t incarnation, revision;
    uint64_t seen_ns;  /* when this revision was seen first */
    uint64_t added_ns; /* when the name was seen first */
    uint32_t weight, state, owned;
    bool listed;      /* in the last look */
    bool was_listed;  /* in the look before it */
    bool is_unproven; /* came in place of a dead member, and its record did not change yet */
};

struct gyre_roster {
    struct gyre_roster_member members[GYRE_MEMBERS_MAX];
    size_t count;
    uint64_t lease_ns;
};

/**
 * Reads all member records. A record that is damaged, or went, counts as one that does not change. A record that is new counts as that of a living member for a
 * lease. In a full table a new name takes the place of a dead member alone, and then counts as alive once its record changes; a name that finds
 * no place is passed over until there is one.
 */
gyre_status gyre_roster_look(struct gyre_roster *roster, struct gyre_transport *transport);
/** Whether a member of that name and incarnation has to be taken for alive. */
bool gyre_roster_is_alive(const struct gyre_roster *roster, const char *name, uint64_t incarnation,
                          uint64_t now_ns);
/** The revision of that member's record in the last look that found it; 0: none did. */
uint64_t gyre_roster_revision(const struct gyre_roster *roster, const char *name);
/** Whether a member of that name is there, and takes shards. */
bool gyre_roster_takes(const struct gyre_roster *roster, const char *name, uint64_t now_ns);
/** Whether that member is alive, and gives its shards away in order. */
bool gyre_roster_gives(const struct gyre_roster *roster, const char *name, uint64_t incarnation,
                       uint64_t now_ns);
/** The member that should own a shard (rendezvous by weight), of all but `without` (NULL: of all); NULL: no member is there. */
const char *gyre_roster_choose(const struct gyre_roster *roster, uint32_t shard, const char *without,
                               uint64_t now_ns);

/** Reads the record of a member. NOT_FOUND, INCOMPATIBLE. */
gyre_status gyre_roster_read(struct gyre_transport *transport, const char *name,
                             struct gyre_cluster_member *out, uint64_t *revision);
/** Writes a member's record if it has this revision, which becomes the new one. AGAIN. */
gyre_status gyre_roster_write(struct gyre_transport *transport, struct gyre_cluster_member *member,
                              uint64_t *revision);

#endif
