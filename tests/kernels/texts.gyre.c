/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of messages and arrays: compared, searched, copied, put together. */
#include <gyre/kernel.h>
#include "texts.h"

GYRE_KERNEL(texts, two_texts, texts_told)
{
    const gyre_string name = gyre_string_array(request->name);
    const gyre_string one = gyre_string_of(request, request->one);
    const gyre_string other = gyre_string_of(request, request->other);
    reply->order = gyre_string_compare(one, other);
    reply->equal = gyre_string_equal(one, other) ? 1 : 0;
    reply->found = gyre_string_find(one, other);
    reply->blank = gyre_string_find_byte(one, ' ');
    reply->is_ada = gyre_string_is(name, "Ada") ? 1 : 0;
    reply->begins = gyre_string_begins(one, "two ") ? 1 : 0;
    reply->stored = gyre_string_store(one, reply->copy);
    reply->line = gyre_new_string(gyre, reply, name);
    gyre_append_text(gyre, reply, reply->line, ": ");
    gyre_append(gyre, reply, reply->line, gyre_string_cut(one, 1, 30));
    gyre_append_text(gyre, reply, reply->line, " ");
    gyre_append_i64(gyre, reply, reply->line, request->number);
    gyre_append_text(gyre, reply, reply->line, "/");
    gyre_append_u64(gyre, reply, reply->line, (u64)request->number);
    gyre_append_text(gyre, reply, reply->line, " ");
    gyre_append_f64(gyre, reply, reply->line, request->price, request->decimals);
    return GYRE_REPLY;
}
