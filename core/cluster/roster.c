/* SPDX-License-Identifier: Apache-2.0 */
/* See roster.h. */
#include "core/cluster/roster.h"

#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

static const char PREFIX[] = "member.";

/* ---- records ---- */

static const char *record_name(char name[GYRE_CLUSTER_NAME_SIZE], const char *member)
{
    snprintf(name, GYRE_CLUSTER_NAME_SIZE, "%s%s", PREFIX, member);
    return name;
}

gyre_status gyre_roster_read(struct gyre_transport *transport, const char *name,
                             struct gyre_cluster_member *out, uint64_t *revision)
{
    unsigned char bytes[GYRE_TRANSPORT_RECORD_MAX];
    char record[GYRE_CLUSTER_NAME_SIZE];
    size_t size;
    gyre_status status =
        gyre_transport_record_get(transport, record_name(record, name), bytes, sizeof bytes, &size, revision);
    if (status == GYRE_OK)
        status = gyre_block_check(bytes, size, GYRE_BLOCK_MEMBER, sizeof *out, record, NULL);
    if (status != GYRE_OK)
        return status;
    memcpy(out, bytes, sizeof *out);
    if (!gyre_cluster_text_is_name(out->name, sizeof out->name, false) || strcmp(out->name, name) != 0 ||
        out->weight > 1000)
        return gyre_error_set(GYRE_INCOMPATIBLE,
                              "the cluster's record '%s': expected that of a member of this name", record);
    return GYRE_OK;
}

gyre_status gyre_roster_write(struct gyre_transport *transport, struct gyre_cluster_member *member,
                              uint64_t *revision)
{
    char record[GYRE_CLUSTER_NAME_SIZE];
    uint64_t written;
    gyre_block_seal(member, sizeof *member, GYRE_BLOCK_MEMBER);
    const gyre_status status = gyre_transport_record_put(transport, record_name(record, member->name), member,
                                                         sizeof *member, *revision, &written);
    if (status == GYRE_OK)
        *revision = written;
    return status;
}

/* ---- looking ---- */

struct look {
    struct gyre_roster *roster;
    struct gyre_transport *transport;
    gyre_status status;
};

/* A quarter more than the lease: the member itself counts from before its record was written. */
static uint64_t watch_ns(const struct gyre_roster *roster)
{
    return roster->lease_ns + roster->lease_ns / 4;
}

/*
 * A record that is damaged, or went, is silence: the member itself knows nothing of that, and works for as long as its lease lasts. Whoever took its shards at
 * once would purge requests that it is still to read.
 */
static bool is_there(const struct gyre_roster *roster, const struct gyre_roster_member *member,
                     uint64_t now_ns)
{
    return member->state != GYRE_MEMBER_GONE && !member->is_unproven &&
           now_ns < member->seen_ns + watch_ns(roster);
}

static size_t index_of(const struct gyre_roster *roster, const char *name)
{
    size_t i = 0;
    while (i < roster->count && strcmp(roster->members[i].name, name) != 0)
        i++;
    return i;
}

static struct gyre_roster_member *find(struct gyre_roster *roster, const char *name)
{
    const size_t i = index_of(roster, name);
    return i < roster->count ? &roster->members[i] : NULL;
}

/* Whether a member may leave a full table: it is gone, its record went, or it was watched for long enough and is silent. */
static bool may_leave(const struct gyre_roster *roster, const struct gyre_roster_member *member,
                      uint64_t now_ns)
{
    return member->state == GYRE_MEMBER_GONE || (!member->listed && !member->was_listed) ||
           (now_ns >= member->seen_ns + watch_ns(roster) && now_ns >= member->added_ns + watch_ns(roster));
}

/* The place of the member that was watched longest, of those that may leave; NULL: none may. */
static struct gyre_roster_member *find_leaver(struct gyre_roster *roster, uint64_t now_ns)
{
    struct gyre_roster_member *found = NULL;
    for (size_t i = 0; i < roster->count; i++)
        if (may_leave(roster, &roster->members[i], now_ns) &&
            (!found || roster->members[i].added_ns < found->added_ns))
            found = &roster->members[i];
    return found;
}

static struct gyre_roster_member *find_or_add(struct gyre_roster *roster,
                                              const struct gyre_cluster_member *its, uint64_t now_ns)
{
    struct gyre_roster_member *member = find(roster, its->name);
    const bool is_full = roster->count == GYRE_MEMBERS_MAX;
    if (member)
        return member;
    if (!is_full)
        member = &roster->members[roster->count++];
    else if (its->state != GYRE_MEMBER_GONE)
        member = find_leaver(roster, now_ns);
    if (!member)
        return NULL;
    *member = (struct gyre_roster_member){.seen_ns = now_ns, .added_ns = now_ns, .is_unproven = is_full};
    memcpy(member->name, its->name, sizeof member->name);
    return member;
}

/* A revision that is new is a sign of life, also where the rest cannot be read. */
static void note_revision(struct gyre_roster_member *member, uint64_t revision, uint64_t now_ns)
{
    if (member->revision != revision) {
        member->seen_ns = now_ns;
        member->is_unproven = member->is_unproven && !member->revision; /* this is the second revision */
    }
    member->revision = revision;
    member->listed = true;
}

static void note(struct gyre_roster_member *member, const struct gyre_cluster_member *its, uint64_t revision,
                 uint64_t now_ns)
{
    if (member->incarnation != its->incarnation)
        member->seen_ns = now_ns;
    note_revision(member, revision, now_ns);
    member->incarnation = its->incarnation;
    member->weight = its->weight;
    member->state = its->state;
    member->owned = its->owned;
}

/*
 * A record that is damaged is that of somebody, whatever process it is now: it keeps its shards for as long as one that does not change, and gets none before it
 * was read.
 */
static void note_damaged(struct gyre_roster *roster, const char *name, uint64_t revision, uint64_t now_ns)
{
    struct gyre_cluster_member its = {.state = GYRE_MEMBER_LEAVING};
    snprintf(its.name, sizeof its.name, "%s", name);
    struct gyre_roster_member *member = find_or_add(roster, &its, now_ns);
    if (!member)
        return;
    if (member->revision != revision)
        member->incarnation = 0; /* not known */
    if (!member->incarnation && (!member->state || member->state == GYRE_MEMBER_GONE))
        member->state = its.state;
    note_revision(member, revision, now_ns);
}

static int look_at(void *context, const char *record)
{
    struct look *look = context;
    struct gyre_cluster_member its;
    uint64_t revision;
    const char *name = record + sizeof PREFIX - 1;
    if (strlen(name) >= GYRE_MEMBER_NAME_MAX)
        return 1;
    const gyre_status status = gyre_roster_read(look->transport, name, &its, &revision);
    const uint64_t now_ns =
        gyre_clock_ns(); /* the look may have begun long before, as where this process stood still */
    if (status == GYRE_UNAVAILABLE || status == GYRE_TIMEOUT) {
        look->status = status;
        return 0;
    }
    struct gyre_roster_member *member = status == GYRE_OK ? find_or_add(look->roster, &its, now_ns) : NULL;
    if (member)
        note(member, &its, revision, now_ns);
    else if (status == GYRE_INCOMPATIBLE)
        note_damaged(look->roster, name, revision, now_ns);
    return 1;
}

gyre_status gyre_roster_look(struct gyre_roster *roster, struct gyre_transport *transport)
{
    struct look look = {.roster = roster, .transport = transport};
    for (size_t i = 0; i < roster->count; i++) {
        roster->members[i].was_listed = roster->members[i].listed;
        roster->members[i].listed = false;
    }
    const gyre_status status = gyre_transport_record_list(transport, PREFIX, look_at, &look);
    return status == GYRE_OK ? look.status : status;
}

bool gyre_roster_is_alive(const struct gyre_roster *roster, const char *name, uint64_t incarnation,
                          uint64_t now_ns)
{
    const size_t i = index_of(roster, name);
    const bool is_it = i < roster->count &&
                       (roster->members[i].incarnation == incarnation || !roster->members[i].incarnation);
    return is_it && is_there(roster, &roster->members[i], now_ns);
}

uint64_t gyre_roster_revision(const struct gyre_roster *roster, const char *name)
{
    const size_t i = index_of(roster, name);
    return i < roster->count ? roster->members[i].revision : 0;
}

bool gyre_roster_takes(const struct gyre_roster *roster, const char *name, uint64_t now_ns)
{
    const size_t i = index_of(roster, name);
    return i < roster->count && roster->members[i].state == GYRE_MEMBER_HERE &&
           is_there(roster, &roster->members[i], now_ns);
}

bool gyre_roster_gives(const struct gyre_roster *roster, const char *name, uint64_t incarnation,
                       uint64_t now_ns)
{
    if (!gyre_roster_is_alive(roster, name, incarnation, now_ns))
        return false;
    const uint32_t state = roster->members[index_of(roster, name)].state;
    return state == GYRE_MEMBER_LEAVING || state == GYRE_MEMBER_DRAINED;
}

/* ---- choosing ---- */

/* The natural logarithm of a number from 0 to 1, without a library: to some digits, which is enough to compare. */
static double logarithm(double number)
{
    double halvings = 0;
    while (number < 0.5) {
        number *= 2;
        halvings++;
    }
    const double z = (number - 1) / (number + 1), square = z * z;
    return 2 * z * (1 + square / 3 + square * square / 5 + square * square * square / 7) -
           halvings * 0.69314718;
}

/* The smaller the better: -ln(u) / weight, where u is a number from 0 to 1 that a hash gives. */
static double score(const struct gyre_roster_member *member, uint32_t shard)
{
    const uint64_t hash = XXH3_64bits_withSeed(member->name, strlen(member->name), shard);
    const double number = ((double)(hash >> 11) + 1) / 9007199254740993.0;
    return -logarithm(number) / (member->weight ? (double)member->weight : 1e-9);
}

const char *gyre_roster_choose(const struct gyre_roster *roster, uint32_t shard, const char *without,
                               uint64_t now_ns)
{
    const struct gyre_roster_member *best = NULL;
    double least = 0;
    for (size_t i = 0; i < roster->count; i++) {
        const struct gyre_roster_member *member = &roster->members[i];
        if (member->state != GYRE_MEMBER_HERE || !is_there(roster, member, now_ns) ||
            (without && strcmp(member->name, without) == 0))
            continue;
        const double its = score(member, shard);
        if (!best || its < least) {
            best = member;
            least = its;
        }
    }
    return best ? best->name : NULL;
}
