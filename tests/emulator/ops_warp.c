/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lanes of a warp do together: votes, shuffles, matches, bar.warp. The instruction names its members; it is
 * executed when all that live have come to it. Lanes of one path may name different groups, these are parted.
 */
#include "ops_warp.h"

static uint32_t alike(const uint64_t *members, uint32_t mask, uint32_t value)
{
    uint32_t lanes = 0;
    FOR_LANES(l, mask)
    if ((uint32_t)members[l] == value)
        lanes |= 1u << l;
    return lanes;
}

/* Takes in the paths that wait at the same instruction for the same members. */
static void take_in(struct warp *warp, const struct instruction *i, const uint64_t *members, uint32_t value)
{
    for (int p = 0; p < warp->path_count; p++) {
        struct path *path = &warp->paths[p];
        if (path == warp->now || path->state != PATH_AT_WARP || path->pc != i ||
            path->registers != warp->base[BASE_REGISTERS] || alike(members, path->mask, value) != path->mask)
            continue;
        warp->mask |= path->mask;
        path->mask = 0; /* removed when the path that runs is looked at */
    }
}

uint32_t warp_gather(struct warp *warp, const struct instruction *i, uint32_t mask, const uint64_t *members)
{
    const uint32_t value = (uint32_t)members[__builtin_ctz(mask)];
    const uint32_t group = alike(members, mask, value);
    if (group == warp->mask && (value & warp->live) == group)
        return group;
    if (warp->mask & ~mask)
        machine_warp_part(warp, warp->mask & ~mask, i + 1);
    if (mask & ~group)
        machine_warp_part(warp, mask & ~group, i);
    if (group & ~value) { /* the language leaves it open what then happens: here it is found */
        machine_fault(warp, i, MACHINE_TRAP, (uint32_t)__builtin_ctz(group & ~value), value);
        return 0;
    }
    take_in(warp, i, members, value);
    if ((value & warp->live & ~warp->mask) == 0)
        return warp->mask;
    warp->now->state = PATH_AT_WARP;
    warp->pc = i;
    warp->left = 0;
    return 0;
}

/* ---- votes ---- */

RUN(activemask)
{
    uint64_t *d = lanes_at(warp, i->o[0]);
    MAP(d[l] = warp->mask)
}

RUN(vote)
{
    const uint32_t lanes = warp_gather(warp, i, mask, lanes_at(warp, i->o[2]));
    uint32_t bits = predicate_at(warp, i->o[1]);
    bits = (i->access.count ? ~bits : bits) & lanes;
    if (!lanes)
        return;
    if (i->access.form == 'b') {
        uint64_t *d = lanes_at(warp, i->o[0]);
        FOR_LANES(l, lanes)
        d[l] = bits;
        return;
    }
    const bool is = i->access.form == 'l'   ? bits == lanes
                    : i->access.form == 'n' ? bits != 0
                                            : bits == 0 || bits == lanes;
    set_predicate(warp, i->o[0], lanes, is ? UINT32_MAX : 0);
}

bool build_vote(struct ptx_reader *reader, const struct statement *s, struct instruction *i)
{
    (void)reader;
    i->access.results = 1;
    i->o[0] = s->operands[0].place;
    if (strcmp(s->parts[0], "activemask") == 0) {
        i->run = activemask;
        return s->operand_count == 1;
    }
    if (s->operand_count != 3 || s->part_count != 4 || strcmp(s->parts[1], "sync") != 0)
        return false;
    i->access.form =
        (uint8_t)(s->parts[2][0] == 'b' ? 'b' : s->parts[2][1]); /* ballot, al(l), an(y), un(i) */
    if (strcmp(s->parts[2], "uni") == 0)
        i->access.form = 'u';
    i->o[1] = s->operands[1].number ? ptx_constant(s->module, s->operands[1].literal ? UINT64_MAX : 0)
                                    : s->operands[1].place;
    i->o[2] = s->operands[2].place;
    i->access.count = s->operands[1].negated;
    i->run = vote;
    return true;
}

/* ---- shuffles ---- */

static uint32_t shuffle_source(char form, uint32_t lane, uint32_t b, uint32_t c, bool *inside)
{
    const uint32_t segment = c >> 8 & 31, clamp = c & 31;
    const uint32_t most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    uint32_t from = lane;
    b &= 31;
    switch (form) {
    case 'u':
        from = lane - b;
        *inside = (int32_t)from >= (int32_t)most;
        break;
    case 'd':
        from = lane + b;
        *inside = from <= most;
        break;
    case 'b':
        from = lane ^ b;
        *inside = from <= most;
        break;
    default:
        from = least | (b & ~segment);
        *inside = from <= most;
        break;
    }
    return *inside ? from & 31 : lane;
}

/* What comes from a lane that does not take part is open in the language: here it is noise. */
RUN(shuffle)
{
    const uint32_t lanes = warp_gather(warp, i, mask, lanes_at(warp, i->o[4]));
    uint64_t *d = lanes_at(warp, i->o[0]), values[LANES];
    const uint64_t *a = lanes_at(warp, i->o[1]), *b = lanes_at(warp, i->o[2]), *c = lanes_at(warp, i->o[3]);
    uint32_t inside_bits = 0;
    if (!lanes)
        return;
    memcpy(values, a, sizeof values);
    FOR_LANES(l, lanes)
    {
        bool inside;
        const uint32_t from =
            shuffle_source((char)i->access.form, l, (uint32_t)b[l], (uint32_t)c[l], &inside);
        d[l] = lanes >> from & 1 ? (uint32_t)values[from] : (uint32_t)machine_random(&warp->block->random);
        inside_bits |= (uint32_t)inside << l;
    }
    set_predicate(warp, i->o[5], lanes, inside_bits);
}

/* ---- matches ---- */

RUN(match)
{
    const uint32_t lanes = warp_gather(warp, i, mask, lanes_at(warp, i->o[2]));
    const uint64_t *a = lanes_at(warp, i->o[1]);
    const uint64_t ones = i->access.size == 8 ? UINT64_MAX : UINT32_MAX;
    uint64_t values[LANES], *d = lanes_at(warp, i->o[0]);
    bool all = true;
    memcpy(values, a, sizeof values);
    FOR_LANES(l, lanes)
    {
        uint32_t same = 0;
        FOR_LANES(other, lanes)
        same |= (uint32_t)(((values[l] ^ values[other]) & ones) == 0) << other;
        all &= same == lanes;
        d[l] = i->access.form == 'a' ? (all ? lanes : 0) : same;
    }
    if (i->access.form == 'a')
        FOR_LANES(l, lanes)
    d[l] = all ? lanes : 0;
    set_predicate(warp, i->o[5], lanes, all ? UINT32_MAX : 0);
}

bool build_shuffle(struct ptx_reader *reader, const struct statement *s, struct instruction *i)
{
    (void)reader;
    const bool shuffles = strcmp(s->parts[0], "shfl") == 0;
    if (s->operand_count != (shuffles ? 5u : 3u) || s->part_count != 4 || !statement_has(s, "sync"))
        return false;
    for (uint32_t o = 0; o < s->operand_count; o++)
        i->o[o] = s->operands[o].place;
    i->access.results = 1;
    if (s->operands[0].second != NO_PLACE) {
        i->o[5] = s->operands[0].second;
        i->access.results |= 1 << 5;
    }
    i->access.form = (uint8_t)s->parts[2][0]; /* up, down, bfly, idx; any, all */
    if (!shuffles) {
        i->access.form = statement_has(s, "all") ? 'a' : 'n';
        i->access.size = strcmp(s->parts[3], "b64") == 0 ? 8 : 4;
    }
    i->run = shuffles ? shuffle : match;
    return true;
}
