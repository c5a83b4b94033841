/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A journal of earlier types: its messages and its state become those of the kernel as it is now. No locks; before the
 * queue of the journal is there.
 */
#include "core/runtime/upgrade.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/runtime/change.h"
#include "core/runtime/checkpoint.h"

/* ---- two layouts ---- */

struct step {
    gyre_layout *from, *to;
    bool same;
};

static void step_finish(struct step *step)
{
    gyre_layout_destroy(step->from);
    gyre_layout_destroy(step->to);
    *step = (struct step){NULL, NULL, false};
}

static gyre_status step_begin(const gyre_type *from, const gyre_type *to, struct step *step)
{
    *step = (struct step){NULL, NULL, false};
    gyre_status status = gyre_layout_create_message(from, GYRE_STATE_MAX, &step->from);
    if (status == GYRE_OK)
        status = gyre_layout_create_message(to, GYRE_STATE_MAX, &step->to);
    if (status != GYRE_OK) {
        step_finish(step);
        return status;
    }
    step->same = step->from->hash == step->to->hash && !strcmp(step->from->text, step->to->text);
    return GYRE_OK;
}

static const struct gyre_journal_type *own_type(const struct gyre_durable *durable, enum gyre_type_role role,
                                                const char *name)
{
    for (size_t i = 0; i < durable->type_count; i++)
        if (durable->types[i].about.role == (uint32_t)role && !strcmp(durable->types[i].about.name, name))
            return &durable->types[i];
    return NULL;
}

static gyre_status no_memory(void)
{
    return gyre_error_set(GYRE_EXHAUSTED, "no memory to take over a journal of other types");
}

/* ---- messages ---- */

/* Requests or replies that are taken over into memory of their own. */
struct takeover {
    const struct gyre_durable *durable;
    struct step step;
    struct gyre_kept_message *messages;
    unsigned char *room; /* as many of the new type, each from a multiple of 8 on */
    uint64_t stride;
    uint64_t count;   /* of messages that count */
    const char *what; /* one of them */
};

static gyre_status refuse_messages(const struct takeover *takeover)
{
    return gyre_error_add(
        GYRE_INCOMPATIBLE,
        "the journal '%s' holds %llu %s%s of type '%s', which cannot be those of kernel '%s' as it is now: launch "
        "the handler that wrote it once more, receive what is offered, and end it in order; or move the journal away",
        takeover->durable->file.path, (unsigned long long)takeover->count, takeover->what,
        takeover->count == 1 ? "" : "s", takeover->step.from->name, takeover->durable->kernel->name);
}

/* A request that was no message of its type is none now, and its length says so to the handler. */
static void take_over(const struct takeover *takeover, uint64_t place)
{
    struct gyre_kept_message *message = &takeover->messages[place];
    unsigned char *out = takeover->room + place * takeover->stride;
    uint64_t length = 0;
    gyre_error_hold();
    if (gyre_layout_check_adopt(takeover->step.from, takeover->step.to) == GYRE_OK &&
        gyre_layout_adopt(takeover->step.from, message->payload, message->length, takeover->step.to, out,
                          &length) == GYRE_OK)
        message->length = (uint32_t)length;
    else
        message->length = 0;
    gyre_error_let_go();
    message->payload = out;
}

/* `room` becomes the content's. */
static gyre_status make_takeover_room(struct takeover *takeover, uint64_t all, unsigned char **room)
{
    takeover->stride =
        (takeover->step.to->size + GYRE_RECORD_ALIGNMENT) / GYRE_RECORD_ALIGNMENT * GYRE_RECORD_ALIGNMENT;
    *room = takeover->room = calloc(all + 1, takeover->stride);
    return *room ? GYRE_OK : no_memory();
}

/* Those that are still to be handled have to be taken over; others stand for their numbers alone. */
static gyre_status take_over_requests(struct gyre_durable *durable, const gyre_type *was, const gyre_type *is)
{
    struct gyre_journal_content *content = &durable->content;
    struct takeover takeover = {.durable = durable, .messages = content->requests, .what = "request"};
    gyre_status status = step_begin(was, is, &takeover.step);
    const uint64_t all = content->sent - content->first;
    if (status != GYRE_OK || takeover.step.same)
        goto end;
    for (uint64_t i = 0; i < all; i++)
        takeover.count += !content->done[i] && !content->skipped[i];
    status = takeover.count ? gyre_layout_check_adopt(takeover.step.from, takeover.step.to) : GYRE_OK;
    if (status != GYRE_OK)
        status = refuse_messages(&takeover);
    else
        status = make_takeover_room(&takeover, all, &content->rooms[0]);
    for (uint64_t i = 0; status == GYRE_OK && i < all; i++)
        take_over(&takeover, i);
end:
    step_finish(&takeover.step);
    return status;
}

static bool is_reply(const struct gyre_kept_message *message)
{
    return message->payload && message->info == GYRE_OUTCOME_REPLY;
}

static gyre_status take_over_replies(struct gyre_durable *durable, const gyre_type *was, const gyre_type *is)
{
    struct gyre_journal_content *content = &durable->content;
    struct takeover takeover = {.durable = durable, .messages = content->replies, .what = "completion"};
    gyre_status status = step_begin(was, is, &takeover.step);
    const uint64_t all = content->sent - content->first;
    if (status != GYRE_OK || takeover.step.same)
        goto end;
    for (uint64_t i = content->received - content->first; i < all; i++)
        takeover.count += is_reply(&content->replies[i]);
    if (takeover.count == 0)
        goto end;
    status = gyre_layout_check_adopt(takeover.step.from, takeover.step.to);
    if (status != GYRE_OK)
        status = refuse_messages(&takeover);
    else
        status = make_takeover_room(&takeover, all, &content->rooms[1]);
    for (uint64_t i = content->received - content->first; status == GYRE_OK && i < all; i++)
        if (is_reply(&content->replies[i]))
            take_over(&takeover, i);
end:
    step_finish(&takeover.step);
    return status;
}

/* ---- the state ---- */

static gyre_status refuse_state(const struct gyre_durable *durable, const char *what, const char *name)
{
    return gyre_error_add(
        GYRE_INCOMPATIBLE,
        "the journal '%s' holds %s%s of earlier types, which cannot become that of kernel '%s': "
        "launch the handler that wrote it, or move the journal away",
        durable->file.path, what, name, durable->kernel->name);
}

/* What a launch gives: where the journal says nothing of it, it stays. */
static gyre_status read_given(const struct gyre_durable *durable, const struct gyre_journal_type *type,
                              unsigned char *out)
{
    const gyre_kernel *kernel = durable->kernel;
    const struct gyre_checkpoint_part *part = &kernel->checkpoints->parts[0];
    if (type->about.role == GYRE_ROLE_STATE) {
        if (kernel->memory.initial_state)
            memcpy(out, kernel->memory.initial_state, type->about.size);
        return GYRE_OK;
    }
    for (const struct gyre_journal_type *other = durable->types; other != type; other++)
        part += other->about.size != 0;
    const gyre_transfer_desc download = {.size = sizeof download,
                                         .kind = GYRE_TRANSFER_DOWNLOAD,
                                         .memory = part->memory,
                                         .byte_count = type->about.size,
                                         .target = out};
    return gyre_dispatch_transfer(kernel->dispatch, &download);
}

/* A state is one of its type, a buffer many. */
static gyre_status adopt_elements(const struct step *step, const unsigned char *from, uint64_t count,
                                  unsigned char *out)
{
    gyre_status status = GYRE_OK;
    for (uint64_t i = 0; status == GYRE_OK && i < count; i++) {
        uint64_t length;
        const unsigned char *value = from + i * step->from->size;
        status = gyre_layout_adopt(step->from, value, gyre_layout_length(step->from, value), step->to,
                                   out + i * step->to->size, &length);
    }
    return status;
}

static gyre_status adopt_part(const struct gyre_durable *durable, const struct gyre_journal_type *was,
                              const struct gyre_journal_type *is, unsigned char *out)
{
    struct step step;
    gyre_status status = step_begin(was->type, is->type, &step);
    if (status != GYRE_OK)
        return status;
    const uint64_t count = was->about.size / step.from->size;
    status = gyre_layout_check_adopt(step.from, step.to);
    if (status == GYRE_OK && is->about.size / step.to->size < count)
        status =
            gyre_error_set(GYRE_INCOMPATIBLE, "it had %llu elements and has %llu now",
                           (unsigned long long)count, (unsigned long long)(is->about.size / step.to->size));
    if (status == GYRE_OK)
        status = adopt_elements(&step, durable->content.state + was->about.offset, count, out);
    step_finish(&step);
    return status;
}

static const char *part_word(const struct gyre_journal_type *type)
{
    return type->about.role == GYRE_ROLE_STATE ? "a state" : "a buffer ";
}

static gyre_status take_over_part(const struct gyre_durable *durable, const struct gyre_journal_type *was,
                                  unsigned char *state)
{
    const struct gyre_journal_type *is =
        own_type(durable, (enum gyre_type_role)was->about.role, was->about.name);
    gyre_status status;
    if (!is || is->about.size == 0)
        status = gyre_error_set(GYRE_INCOMPATIBLE, "kernel '%s' has none now", durable->kernel->name);
    else
        status = adopt_part(durable, was, is, state + is->about.offset);
    return status == GYRE_INCOMPATIBLE ? refuse_state(durable, part_word(was), was->about.name) : status;
}

/* Where parts lie in the journal's state is what it says of itself. */
static bool lies_within(const struct gyre_journal_type *type, uint64_t size)
{
    return type->about.offset <= size && type->about.size <= size - type->about.offset && type->type->size &&
           type->about.size % type->type->size == 0;
}

static gyre_status take_over_state(struct gyre_durable *durable, uint64_t size)
{
    struct gyre_journal_content *content = &durable->content;
    unsigned char *state = calloc(1, size + 1);
    gyre_status status = state ? GYRE_OK : no_memory();
    for (size_t i = 0; status == GYRE_OK && i < durable->type_count; i++)
        if (durable->types[i].about.size)
            status = read_given(durable, &durable->types[i], state + durable->types[i].about.offset);
    for (size_t i = 0; status == GYRE_OK && i < content->types.count; i++) {
        const struct gyre_journal_type *was = &content->types.all[i];
        if (was->about.size == 0)
            continue;
        status =
            lies_within(was, content->open.state_size)
                ? take_over_part(durable, was, state)
                : gyre_error_set(GYRE_INVALID, "the journal '%s' describes a state that it does not hold",
                                 durable->file.path);
    }
    if (status != GYRE_OK) {
        free(state);
        return status;
    }
    free(content->state);
    content->state = state;
    content->open.state_size = size;
    return GYRE_OK;
}

/* Whether the bytes of a checkpoint are not what they are now. */
static gyre_status compare_parts(const struct gyre_durable *durable, bool *differ)
{
    const struct gyre_journal_content *content = &durable->content;
    gyre_status status = GYRE_OK;
    *differ = content->types.count != durable->type_count;
    for (size_t i = 0; status == GYRE_OK && !*differ && i < durable->type_count; i++) {
        const struct gyre_journal_type *was = &content->types.all[i], *is = &durable->types[i];
        struct step step;
        if (is->about.size == 0 && was->about.size == 0)
            continue; /* of messages */
        status = step_begin(was->type, is->type, &step);
        *differ = status == GYRE_OK && (!step.same || memcmp(&was->about, &is->about, sizeof is->about) != 0);
        step_finish(&step);
    }
    return status;
}

/* Its handler kept nothing, so nothing that was answered is to be handled again for a state. */
static void begin_state(struct gyre_journal_content *content)
{
    for (uint64_t index = content->first; index < content->received; index++)
        content->done[index - content->first] = 1;
    content->covered = content->received;
}

static gyre_status refuse_unknown(const struct gyre_durable *durable)
{
    return gyre_error_set(GYRE_INCOMPATIBLE,
                          "the journal '%s' was written with other types of messages, state or buffers than "
                          "those of kernel '%s': finish it with the kernel that wrote it, or move it away",
                          durable->file.path, durable->kernel->name);
}

gyre_status gyre_upgrade_content(struct gyre_durable *durable, const struct gyre_record_open *mine)
{
    struct gyre_journal_content *content = &durable->content;
    const struct gyre_record_open *its = &content->open;
    const struct gyre_journal_type *request = gyre_journal_type_of(&content->types, GYRE_ROLE_REQUEST, NULL);
    const struct gyre_journal_type *reply = gyre_journal_type_of(&content->types, GYRE_ROLE_REPLY, NULL);
    bool differ = false;
    if (!request || !reply) /* an earlier version of Gyre wrote it, and told a hash alone */
        return mine->request_hash == its->request_hash && mine->reply_hash == its->reply_hash &&
                       mine->state_size == its->state_size
                   ? GYRE_OK
                   : refuse_unknown(durable);
    if (mine->state_size && !its->state_size)
        begin_state(content);
    gyre_status status = gyre_change_judge(durable->kernel, durable->file.path, content);
    if (status == GYRE_OK)
        status = take_over_requests(durable, request->type, durable->types[0].type);
    if (status == GYRE_OK)
        status = take_over_replies(durable, reply->type, durable->types[1].type);
    if (status == GYRE_OK)
        status = compare_parts(durable, &differ);
    return status == GYRE_OK && differ ? take_over_state(durable, mine->state_size) : status;
}
