/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives each shape back, built anew: fields in their order, the items of a part before the parts of its
 * items. That is the order in which the tests build their requests, so the reply's bytes are those of the
 * request.
 */
#include <gyre/kernel.h>
#include "shapes.h"

#define ECHO(name) GYRE_KERNEL(name##_echo, name, name)
/* a part whose items have no parts of their own */
#define COPY(type, part) reply->part = gyre_copy(gyre, type, reply, request, request->part)

ECHO(s_fixed)
{
    *reply = *request;
    return GYRE_REPLY;
}

ECHO(s_small)
{
    reply->lead = request->lead;
    COPY(u16, halves);
    return GYRE_REPLY;
}

ECHO(s_text)
{
    COPY(u8, text);
    return GYRE_REPLY;
}

ECHO(s_floats)
{
    reply->first = request->first;
    reply->floats = gyre_new(gyre, f32, reply, request->floats.count);
    for (u32 i = 0; i < reply->floats.count; i++)
        gyre_set(gyre, f32, reply, reply->floats, i, gyre_get(gyre, f32, request, request->floats, i));
    return GYRE_REPLY;
}

ECHO(s_mixed)
{
    reply->lead = request->lead;
    COPY(u8, bytes);
    COPY(u64, doubles); /* bits: not every device has f64 */
    COPY(i16, halves);
    return GYRE_REPLY;
}

ECHO(s_large)
{
    COPY(u64, words);
    return GYRE_REPLY;
}

ECHO(s_ids)
{
    reply->id = request->id;
    COPY(id128, others);
    COPY(id128, parent);
    return GYRE_REPLY;
}

ECHO(s_maybe)
{
    COPY(i8, a);
    COPY(u16, b);
    COPY(i32, c);
    COPY(u64, d);
    if (gyre_has(request->e)) {
        reply->e = gyre_new(gyre, utf8, reply, 1);
        gyre_set(gyre, utf8, reply, reply->e, 0,
                 gyre_copy(gyre, u8, reply, request, gyre_get(gyre, utf8, request, request->e, 0)));
    }
    return GYRE_REPLY;
}

ECHO(s_names)
{
    reply->after = request->after;
    reply->names = gyre_new(gyre, utf8, reply, request->names.count);
    for (u32 i = 0; i < reply->names.count; i++)
        gyre_set(gyre, utf8, reply, reply->names, i,
                 gyre_copy(gyre, u8, reply, request, gyre_get(gyre, utf8, request, request->names, i)));
    return GYRE_REPLY;
}

ECHO(s_ticks)
{
    reply->last = request->last;
    COPY(s_tick, ticks);
    return GYRE_REPLY;
}

/* Writes what `from`, of either message type, points to; its parts go into the tail of `reply`. */
#define PERSON(to, from)                                                                                     \
    do {                                                                                                     \
        (to)->age = (from)->age;                                                                             \
        (to)->name = gyre_copy(gyre, u8, reply, request, (from)->name);                                      \
        (to)->phone = gyre_new(gyre, utf8, reply, (from)->phone.count);                                      \
        if (gyre_has((to)->phone))                                                                           \
            gyre_set(gyre, utf8, reply, (to)->phone, 0,                                                      \
                     gyre_copy(gyre, u8, reply, request, gyre_get(gyre, utf8, request, (from)->phone, 0)));  \
    } while (0)
#define PEOPLE(to, from)                                                                                     \
    do {                                                                                                     \
        (to) = gyre_copy(gyre, s_person, reply, request, (from));                                            \
        for (u32 each = 0; each < (to).count; each++)                                                        \
            PERSON(&gyre_writable(s_person, reply, (to))[each],                                              \
                   &gyre_items(s_person, request, (from))[each]);                                            \
    } while (0)

ECHO(s_family)
{
    PERSON(&reply->head, &request->head);
    PEOPLE(reply->partner, request->partner);
    PEOPLE(reply->children, request->children);
    return GYRE_REPLY;
}

ECHO(s_league)
{
    reply->season = request->season;
    reply->teams = gyre_copy(gyre, s_team, reply, request, request->teams);
    for (u32 i = 0; i < reply->teams.count; i++) {
        const GYRE_GLOBAL s_team *from = &gyre_items(s_team, request, request->teams)[i];
        GYRE_GLOBAL s_team *to = &gyre_writable(s_team, reply, reply->teams)[i];
        to->name = gyre_copy(gyre, u8, reply, request, from->name);
        PEOPLE(to->members, from->members);
    }
    return GYRE_REPLY;
}

ECHO(s_grid)
{
    for (u32 row = 0; row < 2; row++)
        for (u32 column = 0; column < 3; column++)
            COPY(u8, cells[row][column]);
    for (u32 i = 0; i < 2; i++)
        PERSON(&reply->two[i], &request->two[i]);
    for (u32 i = 0; i < 3; i++)
        COPY(i32, rows[i]);
    return GYRE_REPLY;
}
