/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the content of a journal to later versions of its types (adopt.h). Takes no lock. */
#include "core/journal/adopt.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/types/adopt.h"
#include "gyre/ring_layout.h"

static gyre_status no_memory(void)
{
    return gyre_error_set(GYRE_EXHAUSTED, "no memory to take over a journal of other types");
}

static struct gyre_journal_type *type_of(struct gyre_journal_content *content, enum gyre_type_role role)
{
    for (size_t i = 0; i < content->types.count; i++)
        if (content->types.all[i].about.role == (uint32_t)role)
            return &content->types.all[i];
    return NULL;
}

/*
 * Begins the conversion of the messages (or the state) of that role. *from is their present layout, which the caller
 * destroys; NULL: they need no conversion. A layout that cannot be converted is an error.
 */
static gyre_status begin(struct gyre_journal_content *content, enum gyre_type_role role,
                         const gyre_layout *to, gyre_layout **from)
{
    static const char *const words[] = {NULL, "requests", "replies", "state"};
    struct gyre_journal_type *type = type_of(content, role);
    *from = NULL;
    if (!to)
        return GYRE_OK;
    if (!type)
        return gyre_error_set(GYRE_INVALID, "the journal does not say of which type its %s are", words[role]);
    gyre_status status = gyre_layout_create_message(type->type, GYRE_STATE_MAX, from);
    if (status == GYRE_OK && strcmp((*from)->text, to->text) != 0)
        status = gyre_layout_check_adopt(*from, to);
    if (status != GYRE_OK)
        gyre_error_add(status, "the journal's %s cannot be those of '%s'", words[role], to->name);
    const bool same = status == GYRE_OK && strcmp((*from)->text, to->text) == 0;
    if (status != GYRE_OK || same) {
        gyre_layout_destroy(*from);
        *from = NULL;
    }
    if (status == GYRE_OK && !same)
        type->type = to->type;
    return status;
}

/* ---- messages ---- */

static bool counts(const struct gyre_kept_message *message, bool is_reply)
{
    return message->payload &&
           (is_reply ? message->info == GYRE_OUTCOME_REPLY : !gyre_kept_is_query(message));
}

/*
 * Converts one message into `out`. A message that does not fit its type gets length 0, which does not fit the new
 * type either.
 */
static void adopt_message(const gyre_layout *from, const gyre_layout *to, unsigned char *out,
                          struct gyre_kept_message *message)
{
    uint64_t length = 0;
    gyre_error_hold();
    if (gyre_layout_adopt(from, message->payload, message->length, to, out, &length) != GYRE_OK)
        length = 0;
    gyre_error_let_go();
    message->payload = out;
    message->length = (uint32_t)length;
}

static gyre_status adopt_messages(struct gyre_journal_content *content, enum gyre_type_role role,
                                  const gyre_layout *to)
{
    const bool is_reply = role == GYRE_ROLE_REPLY;
    struct gyre_kept_message *messages = is_reply ? content->replies : content->requests;
    const uint64_t count = content->sent - content->first;
    gyre_layout *from = NULL;
    gyre_status status = begin(content, role, to, &from);
    if (status != GYRE_OK || !from)
        return status;
    const uint64_t stride =
        (to->size + GYRE_RECORD_ALIGNMENT) / GYRE_RECORD_ALIGNMENT * GYRE_RECORD_ALIGNMENT;
    unsigned char *room = content->rooms[is_reply] = calloc(count + 1, stride);
    for (uint64_t i = 0; room && i < count; i++)
        if (counts(&messages[i], is_reply))
            adopt_message(from, to, room + i * stride, &messages[i]);
    gyre_layout_destroy(from);
    return room ? GYRE_OK : no_memory();
}

/* ---- the state ---- */

/* Converts the state, of several the first. In a checkpoint it lies in front of all else, which is copied as it is. */
static gyre_status adopt_state(struct gyre_journal_content *content, const gyre_layout *to)
{
    gyre_layout *from = NULL;
    gyre_status status = begin(content, GYRE_ROLE_STATE, to, &from);
    if (status != GYRE_OK || !from)
        return status;
    struct gyre_journal_type *type = type_of(content, GYRE_ROLE_STATE);
    const uint64_t was = type->about.size, behind = content->open.state_size - was;
    unsigned char *state = NULL;
    uint64_t length;
    if (!content->state || type->about.offset != 0 || was != from->size || was > content->open.state_size)
        status = gyre_error_set(GYRE_INVALID, "the journal holds no whole state of the type that it says");
    else if (!(state = calloc(1, to->size + behind)))
        status = no_memory();
    if (status == GYRE_OK)
        status = gyre_layout_adopt(from, content->state, from->size, to, state, &length);
    gyre_layout_destroy(from);
    if (status != GYRE_OK) {
        free(state);
        return status;
    }
    memcpy(state + to->size, content->state + was, behind);
    free(content->state);
    content->state = state;
    content->open.state_size = to->size + behind;
    for (size_t i = 0; i < content->types.count; i++)
        if (content->types.all[i].about.offset)
            content->types.all[i].about.offset += to->size - was;
    type->about.size = to->size;
    return GYRE_OK;
}

/* ---- all of it ---- */

/* Writes the sizes and hashes of the new types into the record that opens the journal. */
static gyre_status note_hashes(struct gyre_journal_content *content)
{
    const enum gyre_type_role roles[] = {GYRE_ROLE_REQUEST, GYRE_ROLE_REPLY, GYRE_ROLE_STATE};
    uint64_t hashes[3] = {0}, sizes[3] = {0};
    for (size_t i = 0; i < 3; i++) {
        const struct gyre_journal_type *type = type_of(content, roles[i]);
        gyre_layout *layout = NULL;
        if (!type)
            continue;
        const gyre_status status = gyre_layout_create_message(type->type, GYRE_STATE_MAX, &layout);
        if (status != GYRE_OK)
            return status;
        hashes[i] = layout->hash;
        sizes[i] = layout->size;
        gyre_layout_destroy(layout);
    }
    content->open.request_hash = hashes[0];
    content->open.request_size = (uint32_t)sizes[0];
    content->open.reply_hash = gyre_record_reply_hash(hashes[1], hashes[2]);
    content->open.reply_size = (uint32_t)sizes[1];
    return GYRE_OK;
}

gyre_status gyre_journal_adopt(struct gyre_journal_content *content, const struct gyre_journal_target *to)
{
    gyre_status status = adopt_messages(content, GYRE_ROLE_REQUEST, to->request);
    if (status == GYRE_OK)
        status = adopt_messages(content, GYRE_ROLE_REPLY, to->reply);
    if (status == GYRE_OK)
        status = adopt_state(content, to->state);
    return status == GYRE_OK ? note_hashes(content) : status;
}
