/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the content of a journal as a new journal (rewrite.h), with the records in the order of journal.c. */
#include "core/journal/rewrite.h"

#include <string.h>

#include "core/base/error.h"

enum { REQUESTS_MAX = 4096 /* in a record */, BLOCK_SIZE = 1 << 20 };

/* A journal in the making. */
struct rewriting {
    const struct gyre_journal_content *content;
    struct gyre_bytes *bytes;
    uint64_t end, number;
    size_t begun;
};

static void begin(struct rewriting *to, enum gyre_record_kind kind)
{
    to->begun = gyre_record_begin(to->bytes, kind, ++to->number);
}

static void end_record(const struct rewriting *to)
{
    gyre_record_end(to->bytes, to->begun);
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void add_open(struct rewriting *to)
{
    struct gyre_record_open open = to->content->open;
    open.version = GYRE_JOURNAL_VERSION;
    open.first = to->content->first;
    begin(to, GYRE_RECORD_OPEN);
    gyre_bytes_add(to->bytes, &open, sizeof open);
    end_record(to);
    for (size_t i = 0; i < to->content->types.count; i++) {
        begin(to, GYRE_RECORD_TYPE);
        gyre_journal_type_put(to->bytes, &to->content->types.all[i]);
        end_record(to);
    }
}

static void add_names(struct rewriting *to)
{
    const struct gyre_names *names = &to->content->names;
    if (!names->count)
        return;
    begin(to, GYRE_RECORD_NAMES);
    for (size_t i = 0; i < names->count; i++) {
        const struct gyre_record_origin name = {names->all[i].client, names->all[i].next};
        gyre_bytes_add(to->bytes, &name, sizeof name);
    }
    end_record(to);
}

/* ---- requests ---- */

static void add_message(struct gyre_bytes *bytes, uint64_t index, const struct gyre_kept_message *kept,
                        uint32_t header_size)
{
    static const unsigned char zeros[GYRE_RECORD_ALIGNMENT];
    const struct gyre_record_message message = {index, kept->length, kept->info};
    gyre_bytes_add(bytes, &message, sizeof message);
    if (kept->header && header_size)
        gyre_bytes_add(bytes, kept->header, header_size);
    gyre_bytes_add(bytes, kept->payload, kept->length);
    gyre_bytes_add(bytes, zeros,
                   (GYRE_RECORD_ALIGNMENT - kept->length % GYRE_RECORD_ALIGNMENT) % GYRE_RECORD_ALIGNMENT);
}

static void add_requests_of(struct rewriting *to, uint64_t first, uint64_t end)
{
    const struct gyre_journal_content *content = to->content;
    const struct gyre_record_requests range = {first, end - first};
    if (content->origins) {
        begin(to, GYRE_RECORD_ORIGINS);
        gyre_bytes_add(to->bytes, &range, sizeof range);
        gyre_bytes_add(to->bytes, &content->origins[first - content->first],
                       (size_t)range.count * sizeof *content->origins);
        end_record(to);
    }
    begin(to, GYRE_RECORD_REQUESTS);
    gyre_bytes_add(to->bytes, &range, sizeof range);
    for (uint64_t index = first; index < end; index++)
        add_message(to->bytes, index, &content->requests[index - content->first], content->open.header_size);
    end_record(to);
}

static bool was_skipped(const struct gyre_journal_content *content, uint64_t index)
{
    const uint64_t place = index - content->first;
    return content->skipped[place] && !gyre_kept_is_query(&content->requests[place]);
}

static void add_taken(struct rewriting *to)
{
    struct gyre_record_taken taken = {.received = lesser(to->content->received, to->end)};
    for (uint64_t index = to->content->first; index < taken.received; index++)
        taken.skipped_count += was_skipped(to->content, index);
    begin(to, GYRE_RECORD_TAKEN);
    gyre_bytes_add(to->bytes, &taken, sizeof taken);
    for (uint64_t index = to->content->first; index < taken.received; index++)
        if (was_skipped(to->content, index))
            gyre_bytes_add(to->bytes, &index, sizeof index);
    end_record(to);
}

/* ---- the checkpoint ---- */

static bool is_done_behind(const struct gyre_journal_content *content, uint64_t index)
{
    return index >= content->covered && content->done[index - content->first];
}

static void add_position(struct rewriting *to)
{
    const struct gyre_journal_content *content = to->content;
    struct gyre_record_checkpoint info = {.number = 1, .first = content->covered};
    for (uint64_t index = content->covered; index < to->end; index++)
        info.done_count += is_done_behind(content, index);
    begin(to, GYRE_RECORD_CHECKPOINT);
    gyre_bytes_add(to->bytes, &info, sizeof info);
    for (uint64_t index = content->covered; index < to->end; index++)
        if (is_done_behind(content, index))
            gyre_bytes_add(to->bytes, &index, sizeof index);
    end_record(to);
}

static void add_state(struct rewriting *to)
{
    const struct gyre_journal_content *content = to->content;
    for (uint64_t at = 0; content->state && at < content->open.state_size; at += BLOCK_SIZE) {
        const struct gyre_record_block block = {at, lesser(content->open.state_size - at, BLOCK_SIZE)};
        begin(to, GYRE_RECORD_BLOCK);
        gyre_bytes_add(to->bytes, &block, sizeof block);
        gyre_bytes_add(to->bytes, content->state + at, block.size);
        end_record(to);
    }
}

static void add_replies(struct rewriting *to)
{
    const struct gyre_journal_content *content = to->content;
    struct gyre_record_requests replies = {0, 0};
    for (uint64_t i = 0; i < to->end - content->first; i++)
        replies.count += content->replies[i].payload != NULL;
    begin(to, GYRE_RECORD_REPLIES);
    gyre_bytes_add(to->bytes, &replies, sizeof replies);
    for (uint64_t i = 0; i < to->end - content->first; i++)
        if (content->replies[i].payload)
            add_message(to->bytes, content->first + i, &content->replies[i], 0);
    end_record(to);
}

static void add_checkpoint(struct rewriting *to)
{
    const struct gyre_journal_content *content = to->content;
    const struct gyre_record_commit commit = {
        1, content->state ? gyre_state_hash(content->state, content->open.state_size) : 0};
    add_position(to);
    add_state(to);
    add_replies(to);
    begin(to, GYRE_RECORD_COMMIT);
    gyre_bytes_add(to->bytes, &commit, sizeof commit);
    end_record(to);
}

static void add_mark(struct rewriting *to)
{
    const struct gyre_journal_content *content = to->content;
    const struct gyre_record_mark mark = {.offset = to->bytes->size,
                                          .sent = to->end,
                                          .ended = 1,
                                          .settled = to->end <= content->covered ||
                                                     (content->settled && to->end == content->sent)};
    begin(to, GYRE_RECORD_MARK);
    gyre_bytes_add(to->bytes, &mark, sizeof mark);
    end_record(to);
}

gyre_status gyre_journal_rewrite(const struct gyre_journal_content *content, uint64_t end,
                                 struct gyre_bytes *bytes)
{
    struct rewriting to = {.content = content, .bytes = bytes, .end = end};
    add_open(&to);
    add_names(&to);
    for (uint64_t first = content->first; first < end; first += REQUESTS_MAX)
        add_requests_of(&to, first, lesser(end, first + REQUESTS_MAX));
    add_taken(&to);
    if (content->state || content->covered > content->first)
        add_checkpoint(&to);
    add_mark(&to);
    return bytes->broken ? gyre_error_set(GYRE_EXHAUSTED, "no memory to write a journal anew") : GYRE_OK;
}
