/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the content of a journal as lines of JSON (journal_view.h). Shows a value that is no message of its type as bytes. */
#include <inttypes.h>
#include <string.h>

#include "cli/views/journal_view.h"
#include "cli/json/message_json.h"
#include "core/base/error.h"
#include "core/types/message.h"
#include "gyre/header.h"
#include "gyre/ring_layout.h"

/* ---- messages ---- */

/* True for a valid message of the type: a fixed message has the size of its type, and the parts of a message with a tail lie
 * inside. */
static bool is_message(const gyre_layout *layout, const struct gyre_kept_message *message)
{
    if (!layout)
        return false;
    gyre_error_hold();
    const bool is = gyre_layout_check_message(layout, message->payload, message->length) == GYRE_OK;
    gyre_error_let_go();
    return is;
}

static void write_bytes(const unsigned char *bytes, size_t length, FILE *out)
{
    fputs("{\"bytes\":", out);
    message_json_write_hex(bytes, length, out);
    fputc('}', out);
}

static void write_message(const gyre_layout *layout, const struct gyre_kept_message *message, FILE *out)
{
    if (is_message(layout, message))
        message_json_write(layout, message->payload, out);
    else
        write_bytes(message->payload, message->length, out);
}

static void write_failure(const struct gyre_kept_message *reply, FILE *out)
{
    gyre_failure failure = {0};
    memcpy(&failure, reply->payload, reply->length < sizeof failure ? reply->length : sizeof failure);
    failure.text[sizeof failure.text - 1] = '\0';
    fprintf(out, "{\"failed\":{\"code\":%d,\"text\":", (int)failure.code);
    message_json_write_text(failure.text, out);
    fputs("}}", out);
}

static void write_reply(const journal_view *view, const struct gyre_kept_message *reply, FILE *out)
{
    if (reply->info == GYRE_OUTCOME_REPLY)
        write_message(view->reply, reply, out);
    else if (reply->info == GYRE_OUTCOME_NO_REPLY)
        fputs("{\"no_reply\":true}", out);
    else if (reply->info == GYRE_OUTCOME_FAILED)
        write_failure(reply, out);
    else if (reply->info == GYRE_OUTCOME_DROPPED)
        fputs("{\"dropped\":true}", out);
    else
        fputs("{\"unhandled\":true}", out);
}

/* ---- lines ---- */

static void write_type(const char *role, const gyre_layout *layout, FILE *out)
{
    fprintf(out, ",\"%s\":", role);
    if (layout)
        message_json_write_text(layout->name, out);
    else
        fputs("null", out);
}

void journal_view_write_head(const journal_view *view, FILE *out)
{
    const struct gyre_journal_content *content = &view->content;
    fputs("{\"kernel\":", out);
    message_json_write_text(content->open.kernel, out);
    fputs(",\"queue\":", out);
    message_json_write_text(content->open.queue, out);
    fprintf(out, ",\"version\":%u,\"handler\":\"%016" PRIx64 "\"", content->open.version,
            content->open.handler);
    write_type("request_type", view->request, out);
    write_type("reply_type", view->reply, out);
    write_type("state_type", view->state, out);
    fprintf(out,
            ",\"first\":%" PRIu64 ",\"next\":%" PRIu64 ",\"taken\":%" PRIu64 ",\"covered\":%" PRIu64
            ",\"state_size\":%" PRIu64 ",\"bytes\":%zu,\"end\":\"%s\"}",
            content->first, content->sent, content->received, content->covered, content->open.state_size,
            view->visit.size, journal_view_end_word(view));
}

/* The word for a request's state: "taken" (its reply was received), "covered" (the checkpoint covers it), or "offered" (a
 * handler has to handle it, perhaps again). */
static const char *state_word(const struct gyre_journal_content *content, uint64_t index)
{
    if (index < content->received)
        return "taken";
    return content->done[index - content->first] ? "covered" : "offered";
}

/* The trace is shown by itself as well, as gyre trace and the web write it. */
static void write_header(const unsigned char *bytes, size_t size, FILE *out)
{
    gyre_header header = {0};
    memcpy(&header, bytes, size < sizeof header ? size : sizeof header);
    if (header.trace[0] || header.trace[1])
        fprintf(out, ",\"trace\":\"%016" PRIx64 "%016" PRIx64 "\"", (uint64_t)header.trace[0],
                (uint64_t)header.trace[1]);
    fputs(",\"header\":", out);
    message_json_write_hex(bytes, size, out);
}

void journal_view_write_request(const journal_view *view, uint64_t index, FILE *out)
{
    const struct gyre_journal_content *content = &view->content;
    const uint64_t place = index - content->first;
    const struct gyre_kept_message *request = &content->requests[place], *reply = &content->replies[place];
    fprintf(out, "{\"request\":%" PRIu64 ",\"is\":\"%s\"", index, state_word(content, index));
    if (content->origins && content->origins[place].client)
        fprintf(out, ",\"client\":\"%016" PRIx64 "\",\"client_request\":%" PRIu64,
                content->origins[place].client, content->origins[place].index);
    if (gyre_kept_is_query(request)) {
        fputs(",\"query\":true", out);
    } else if (request->payload) {
        fputs(",\"message\":", out);
        write_message(view->request, request, out);
    }
    if (request->header && content->open.header_size)
        write_header(request->header, content->open.header_size, out);
    if (content->skipped[place] && !gyre_kept_is_query(request))
        fputs(",\"handled\":false", out);
    if (reply->payload) {
        fputs(",\"reply\":", out);
        write_reply(view, reply, out);
    }
    fputc('}', out);
}

/* ---- the state ---- */

static gyre_status write_elements(const journal_view *view, const char *buffer, const unsigned char *bytes,
                                  uint64_t size, FILE *out)
{
    const struct gyre_journal_type *part =
        gyre_journal_type_of(&view->content.types, GYRE_ROLE_BUFFER, buffer);
    gyre_layout *layout = NULL;
    gyre_status status = gyre_layout_create(part->type, GYRE_STATE_MAX, &layout);
    if (status != GYRE_OK || layout->size == 0 || layout->has_parts) {
        gyre_layout_destroy(layout);
        write_bytes(bytes, size, out);
        return GYRE_OK;
    }
    fputc('[', out);
    for (uint64_t at = 0; at + layout->size <= size; at += layout->size) {
        if (at)
            fputc(',', out);
        message_json_write(layout, bytes + at, out);
    }
    fputc(']', out);
    gyre_layout_destroy(layout);
    return GYRE_OK;
}

gyre_status journal_view_write_state(const journal_view *view, const char *buffer, FILE *out)
{
    const unsigned char *bytes;
    uint64_t size;
    gyre_status status = journal_view_state_bytes(view, buffer, &bytes, &size);
    if (status != GYRE_OK)
        return status;
    if (buffer)
        return write_elements(view, buffer, bytes, size, out);
    uint32_t used = 0; /* a state with a tail tells first how many bytes it has */
    if (view->state && view->state->tail && size >= sizeof used)
        memcpy(&used, bytes, sizeof used);
    const struct gyre_kept_message state = {
        .payload = bytes, .length = view->state && view->state->tail && used < size ? used : (uint32_t)size};
    if (view->state && view->state->size <= size && (!view->state->tail || is_message(view->state, &state)))
        message_json_write(view->state, bytes, out);
    else
        write_bytes(bytes, size, out);
    return GYRE_OK;
}
