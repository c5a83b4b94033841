/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a journal for `gyre journal`, finds its types, and tells what is wrong with it (journal_view.h). Its lines:
 * journal_lines.c. */
#include "cli/views/journal_view.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/error.h"
#include "core/journal/adopt.h"

/* Makes a layout; NULL for a type whose description no compiler can have made. Messages of that type are shown as bytes. */
static gyre_layout *make_layout(const gyre_type *type, uint64_t size_max)
{
    gyre_layout *layout = NULL;
    gyre_error_hold();
    if (!type || gyre_layout_create_message(type, size_max, &layout) != GYRE_OK)
        layout = NULL;
    gyre_error_let_go();
    return layout;
}

static gyre_layout *layout_of(const struct gyre_journal_content *content, enum gyre_type_role role,
                              uint64_t size_max)
{
    const struct gyre_journal_type *type = gyre_journal_type_of(&content->types, role, NULL);
    return type ? make_layout(type->type, size_max) : NULL;
}

static void make_layouts(journal_view *view)
{
    view->request = layout_of(&view->content, GYRE_ROLE_REQUEST, GYRE_MESSAGE_MAX);
    view->reply = layout_of(&view->content, GYRE_ROLE_REPLY, GYRE_MESSAGE_MAX);
    view->state = layout_of(&view->content, GYRE_ROLE_STATE, GYRE_STATE_MAX);
}

gyre_status journal_view_open(const char *path, bool makes_lock, journal_view *view)
{
    *view = (journal_view){.visit.lock = -1};
    const gyre_status status = gyre_journal_visit_begin(path, makes_lock, &view->visit);
    return status == GYRE_OK ? journal_view_read(view) : status;
}

gyre_status journal_view_read(journal_view *view)
{
    const gyre_status status = gyre_journal_read(view->visit.data, view->visit.size, &view->content);
    if (status != GYRE_OK)
        return gyre_error_add(status, "'%s'", view->visit.path);
    make_layouts(view);
    return GYRE_OK;
}

void journal_view_close(journal_view *view)
{
    gyre_layout_destroy(view->request);
    gyre_layout_destroy(view->reply);
    gyre_layout_destroy(view->state);
    gyre_journal_content_release(&view->content);
    gyre_journal_visit_end(&view->visit);
    *view = (journal_view){.visit.lock = -1};
}

/* ---- types from elsewhere ---- */

static void add_type(journal_view *view, enum gyre_type_role role, const gyre_layout *layout, uint64_t size)
{
    struct gyre_journal_types *types = &view->content.types;
    if (layout && types->count < GYRE_JOURNAL_TYPES_MAX)
        types->all[types->count++] =
            (struct gyre_journal_type){.about = {.role = (uint32_t)role, .size = size}, .type = layout->type};
}

static const gyre_layout *of_hash(const type_list *types, uint64_t hash)
{
    for (size_t i = 0; i < types->count; i++)
        if (types->layouts[i]->hash == hash)
            return types->layouts[i];
    return NULL;
}

static void find_reply_and_state(const journal_view *view, const type_list *types, const gyre_layout **reply,
                                 const gyre_layout **state)
{
    const uint64_t hash = view->content.open.reply_hash;
    *state = NULL;
    *reply = of_hash(types, hash);
    for (size_t i = 0; !*reply && i < types->count; i++) {
        *state = types->layouts[i];
        *reply = of_hash(types, gyre_record_reply_hash(hash, (*state)->hash));
    }
    if (!*reply)
        *state = NULL;
}

gyre_status journal_view_add_types(journal_view *view, const type_list *types)
{
    const gyre_layout *reply = NULL, *state = NULL;
    if (view->content.types.count)
        return GYRE_OK;
    const gyre_layout *request = of_hash(types, view->content.open.request_hash);
    if (!request)
        return gyre_error_set(
            GYRE_INVALID,
            "'%s': its requests are of a type with hash %016" PRIx64
            ", and none of the types given has it: name the file that its kernel was made from",
            view->visit.path, view->content.open.request_hash);
    find_reply_and_state(view, types, &reply, &state);
    if (state && state->size > view->content.open.state_size)
        state = NULL; /* the type is of a state that the kernel did not keep in its checkpoints */
    add_type(view, GYRE_ROLE_REQUEST, request, 0);
    add_type(view, GYRE_ROLE_REPLY, reply, 0);
    add_type(view, GYRE_ROLE_STATE, state, state ? state->size : 0);
    make_layouts(view);
    return GYRE_OK;
}

/* Finds the type in the list that has the name of `was`. *out is NULL when the journal has no messages, or no state, of that
 * kind. */
static gyre_status find_later(const journal_view *view, const type_list *types, const gyre_layout *was,
                              const gyre_layout **out)
{
    *out = NULL;
    for (size_t i = 0; was && was->size && i < types->count && !*out; i++)
        if (strcmp(types->layouts[i]->name, was->name) == 0)
            *out = types->layouts[i];
    return *out || !was || !was->size
               ? GYRE_OK
               : gyre_error_set(
                     GYRE_INVALID,
                     "'%s': it has messages or a state of type '%s', which is none of the types given",
                     view->visit.path, was->name);
}

/* Whether it is the journal of a pipeline: what a stage keeps has the stage's name, and a buffer's begins with it. */
static bool is_of_stages(const struct gyre_journal_types *types)
{
    for (size_t i = 0; i < types->count; i++) {
        const struct gyre_record_type *about = &types->all[i].about;
        if (about->role == GYRE_ROLE_STATE ? about->name[0] != '\0' : strchr(about->name, '/') != NULL)
            return true;
    }
    return false;
}

gyre_status journal_view_adopt(journal_view *view, const type_list *types)
{
    struct gyre_journal_target to;
    if (is_of_stages(&view->content.types))
        return gyre_error_set(
            GYRE_INVALID,
            "'%s': it holds what stages of a pipeline keep, and such a journal is not converted to other types: leave "
            "--types out, and open the pipeline that wrote it",
            view->visit.path);
    gyre_status status = find_later(view, types, view->request, &to.request);
    if (status == GYRE_OK)
        status = find_later(view, types, view->reply, &to.reply);
    if (status == GYRE_OK)
        status = find_later(view, types, view->state, &to.state);
    if (status == GYRE_OK)
        status = gyre_journal_adopt(&view->content, &to);
    return status == GYRE_OK ? GYRE_OK : gyre_error_add(status, "'%s'", view->visit.path);
}

/* ---- what is wrong ---- */

const char *journal_view_end_word(const journal_view *view)
{
    const struct gyre_journal_content *content = &view->content;
    return content->lost ? "damaged" : content->cut ? "cut" : content->ended ? "ended" : "open";
}

static gyre_status tell_lost(const journal_view *view)
{
    const struct gyre_journal_content *content = &view->content;
    if (content->lost_end > content->lost_first)
        return gyre_error_set(
            GYRE_INVALID,
            "'%s': damaged at byte %" PRIu64 ": %" PRIu64
            " bytes from there on cannot be used, and requests %" PRIu64 " to %" PRIu64 " are lost, at least",
            view->visit.path, content->used, content->lost, content->lost_first, content->lost_end - 1);
    return gyre_error_set(GYRE_INVALID,
                          "'%s': ends in the midst of a record, at byte %" PRIu64 ": %" PRIu64
                          " bytes cannot be used, and requests from %" PRIu64
                          " on are lost if any were there",
                          view->visit.path, content->used, content->lost, content->lost_first);
}

static gyre_status check_type(const journal_view *view, const gyre_layout *layout, uint64_t hash,
                              const char *what)
{
    if (layout && layout->hash == hash)
        return GYRE_OK;
    return gyre_error_set(GYRE_INVALID, "'%s': the type of its %s is not the one whose hash it has",
                          view->visit.path, what);
}

gyre_status journal_view_check(const journal_view *view)
{
    const struct gyre_journal_content *content = &view->content;
    if (content->lost)
        return tell_lost(view);
    if (content->cut)
        return gyre_error_set(GYRE_INVALID,
                              "'%s': was cut behind a record, at byte %" PRIu64 ": requests from %" PRIu64
                              " on are lost if any were there",
                              view->visit.path, content->used, content->sent);
    if (content->open.state_size && !content->state)
        return gyre_error_set(GYRE_INVALID,
                              "'%s': holds no whole checkpoint, and its kernel cannot begin without one",
                              view->visit.path);
    return content->types.count ? check_type(view, view->request, content->open.request_hash, "requests")
                                : GYRE_OK;
}

/* ---- the state ---- */

static const struct gyre_journal_type *part_of(const journal_view *view, const char *buffer)
{
    return gyre_journal_type_of(&view->content.types, buffer ? GYRE_ROLE_BUFFER : GYRE_ROLE_STATE, buffer);
}

gyre_status journal_view_state_bytes(const journal_view *view, const char *buffer,
                                     const unsigned char **bytes, uint64_t *size)
{
    const struct gyre_journal_content *content = &view->content;
    const struct gyre_journal_type *part = part_of(view, buffer);
    *bytes = content->state;
    *size = 0;
    if (!content->state)
        return gyre_error_set(GYRE_INVALID,
                              content->open.state_size ? "'%s': holds no whole checkpoint"
                                                       : "'%s': its kernel keeps no state",
                              view->visit.path);
    if (!part && buffer)
        return gyre_error_set(GYRE_INVALID, "'%s': its checkpoints hold no buffer '%s'", view->visit.path,
                              buffer);
    if (!part) { /* the types are not known: the whole state */
        *size = content->open.state_size;
        return GYRE_OK;
    }
    const uint64_t all = content->open.state_size, at = part->about.offset;
    if (at > all || part->about.size > all - at)
        return gyre_error_set(GYRE_INVALID, "'%s': says that a part of its state lies outside of it",
                              view->visit.path);
    *bytes = content->state + at;
    *size = part->about.size;
    return GYRE_OK;
}
