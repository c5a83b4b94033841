/* SPDX-License-Identifier: Apache-2.0 */
/* See roster.h. */
#include "core/cluster/roster.h"

#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/base/error.h"

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
    uint64_t now_ns;
    gyre_status status;
};

/* A quarter more than the lease: the member itself counts from before its record was written. */
static bool is_there(const struct gyre_roster *roster, const struct gyre_roster_member *member,
                     uint64_t now_ns)
{
    return member->listed && member->state != GYRE_MEMBER_GONE &&
           now_ns - member->seen_ns < roster->lease_ns + roster->lease_ns / 4;
}

static struct gyre_roster_member *find(struct gyre_roster *roster, const char *name)
{
    for (size_t i = 0; i < roster->count; i++)
        if (strcmp(roster->members[i].name, name) == 0)
            return &roster->members[i];
    return NULL;
}

static struct gyre_roster_member *find_or_add(struct gyre_roster *roster, const char *name, uint64_t now_ns)
{
    struct gyre_roster_member *member = find(roster, name);
    if (member)
        return member;
    if (roster->count < GYRE_MEMBERS_MAX)
        member = &roster->members[roster->count++];
    for (size_t i = 0; !member && i < roster->count; i++)
        if (!is_there(roster, &roster->members[i], now_ns))
            member = &roster->members[i];
    if (!member)
        return NULL;
    *member = (struct gyre_roster_member){0};
    snprintf(member->name, sizeof member->name, "%s", name);
    return member;
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
    if (status == GYRE_UNAVAILABLE || status == GYRE_TIMEOUT) {
        look->status = status;
        return 0;
    }
    struct gyre_roster_member *member =
        status == GYRE_OK ? find_or_add(look->roster, name, look->now_ns) : NULL;
    if (!member)
        return 1;
    if (member->revision != revision || member->incarnation != its.incarnation)
        member->seen_ns = look->now_ns;
    member->revision = revision;
    member->incarnation = its.incarnation;
    member->weight = its.weight;
    member->state = its.state;
    member->owned = its.owned;
    member->listed = true;
    return 1;
}

gyre_status gyre_roster_look(struct gyre_roster *roster, struct gyre_transport *transport, uint64_t now_ns)
{
    struct look look = {.roster = roster, .transport = transport, .now_ns = now_ns};
    for (size_t i = 0; i < roster->count; i++)
        roster->members[i].listed = false;
    const gyre_status status = gyre_transport_record_list(transport, PREFIX, look_at, &look);
    return status == GYRE_OK ? look.status : status;
}

bool gyre_roster_is_alive(const struct gyre_roster *roster, const char *name, uint64_t incarnation,
                          uint64_t now_ns)
{
    for (size_t i = 0; i < roster->count; i++) {
        const struct gyre_roster_member *member = &roster->members[i];
        if (strcmp(member->name, name) == 0)
            return member->incarnation == incarnation && is_there(roster, member, now_ns);
    }
    return false;
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

const char *gyre_roster_choose(const struct gyre_roster *roster, uint32_t shard, uint64_t now_ns)
{
    const struct gyre_roster_member *best = NULL;
    double least = 0;
    for (size_t i = 0; i < roster->count; i++) {
        const struct gyre_roster_member *member = &roster->members[i];
        if (member->state != GYRE_MEMBER_HERE || !is_there(roster, member, now_ns))
            continue;
        const double its = score(member, shard);
        if (!best || its < least) {
            best = member;
            least = its;
        }
    }
    return best ? best->name : NULL;
}
