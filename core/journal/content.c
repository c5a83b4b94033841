/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a journal's bytes (content.h) in two passes: the first counts and checks the records, the second reads their
 * contents. The file may be damaged in any way, so every number in it is checked before it is used.
 */
#include "core/journal/content.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

#define REQUESTS_MAX UINT64_C(0x100000000)
#define NUMBER_MAX   (UINT64_C(3) << 62) /* the highest index of a request: later indices do not wrap to 0 */
#define STATE_MAX    (UINT64_C(1) << 40)

enum { PLAIN_OPEN_SIZE = offsetof(struct gyre_record_open, handler) };

/* The bytes of a record that were not read yet. */
struct cursor {
    const unsigned char *at;
    size_t left;
    bool broken;
};

static const void *take(struct cursor *cursor, size_t size)
{
    const unsigned char *at = cursor->at;
    if (cursor->broken || cursor->left < size) {
        cursor->broken = true;
        return NULL;
    }
    cursor->at += size;
    cursor->left -= size;
    return at;
}

static void take_copy(struct cursor *cursor, void *out, size_t size)
{
    const void *bytes = take(cursor, size);
    memset(out, 0, size);
    if (bytes)
        memcpy(out, bytes, size);
}

static struct gyre_record_header header_at(const unsigned char *data, size_t offset)
{
    struct gyre_record_header header;
    memcpy(&header, data + offset, sizeof header);
    return header;
}

static struct cursor contents_of(const unsigned char *data, size_t offset)
{
    struct gyre_record_header header = header_at(data, offset);
    return (struct cursor){.at = data + offset + sizeof header, .left = header.size};
}

static gyre_status contradiction(size_t offset, const char *what)
{
    return gyre_error_set(GYRE_INVALID, "the record at byte %zu of the journal %s", offset, what);
}

static gyre_status no_memory(void)
{
    return gyre_error_set(GYRE_EXHAUSTED, "no memory to read a journal");
}

/* ---- messages ---- */

static size_t padded(uint32_t length)
{
    return ((size_t)length + GYRE_RECORD_ALIGNMENT - 1) / GYRE_RECORD_ALIGNMENT * GYRE_RECORD_ALIGNMENT;
}

static bool take_message(struct cursor *cursor, uint32_t header_size, uint32_t most, uint64_t *index,
                         struct gyre_kept_message *out)
{
    struct gyre_record_message message;
    take_copy(cursor, &message, sizeof message);
    if (cursor->broken || message.length > most)
        return false;
    out->header = header_size ? take(cursor, header_size) : NULL;
    out->payload = take(cursor, padded(message.length));
    out->length = message.length;
    out->info = message.info;
    *index = message.index;
    return !cursor->broken;
}

/* ---- the first pass ---- */

static gyre_status read_open(const unsigned char *data, size_t size, struct gyre_journal_content *content,
                             size_t *next)
{
    struct gyre_record_open *open = &content->open;
    if (!gyre_record_at(data, size, 0, next) || header_at(data, 0).kind != GYRE_RECORD_OPEN)
        return gyre_error_set(GYRE_INVALID, "the journal does not begin as one: its first record is damaged");
    struct cursor cursor = contents_of(data, 0);
    const size_t known = cursor.left < sizeof *open ? cursor.left : sizeof *open;
    memset(open, 0, sizeof *open);
    memcpy(open, cursor.at, known);
    const size_t expected = open->version == GYRE_JOURNAL_VERSION_PLAIN ? PLAIN_OPEN_SIZE : sizeof *open;
    if (known != expected || open->version > GYRE_JOURNAL_VERSION || open->version < 1)
        return gyre_error_set(
            GYRE_INVALID,
            "the journal has version %u, expected %d or less: the Gyre that wrote it is newer "
            "than this one",
            open->version, GYRE_JOURNAL_VERSION);
    if (memchr(open->kernel, 0, sizeof open->kernel) == NULL ||
        memchr(open->queue, 0, sizeof open->queue) == NULL || open->header_size > 64 ||
        open->header_size % 16 || open->request_size > 65536 || open->reply_size > 65536 ||
        open->state_size > STATE_MAX)
        return contradiction(0, "opens it with sizes that no queue has");
    if (open->first > NUMBER_MAX)
        return contradiction(0, "opens it with numbers that no queue comes to");
    content->first = content->sent = content->received = content->covered = open->first;
    return GYRE_OK;
}

/* Reads the mark at the end of the journal. False: the mark names another place than its own, so it does not count. */
static bool take_mark(const unsigned char *data, size_t offset, struct gyre_journal_content *content)
{
    struct cursor cursor = contents_of(data, offset);
    struct gyre_record_mark mark;
    take_copy(&cursor, &mark, sizeof mark);
    if (cursor.broken || mark.offset != offset || mark.sent != content->sent)
        return false;
    content->cut = false;
    content->ended = mark.ended != 0;
    content->settled = mark.settled != 0;
    return true;
}

/* Finds the last whole record, and counts requests. */
static gyre_status count_requests(const unsigned char *data, size_t size,
                                  struct gyre_journal_content *content, size_t offset)
{
    size_t next = 0;
    uint64_t number = 1;
    content->cut = content->open.version > GYRE_JOURNAL_VERSION_PLAIN;
    while (gyre_record_at(data, size, offset, &next) && header_at(data, offset).number == number + 1) {
        struct cursor cursor = contents_of(data, offset);
        if (header_at(data, offset).kind == GYRE_RECORD_MARK) {
            offset = take_mark(data, offset, content) ? next : offset;
            break;
        }
        struct gyre_record_requests requests;
        if (header_at(data, offset).kind == GYRE_RECORD_REQUESTS) {
            take_copy(&cursor, &requests, sizeof requests);
            if (cursor.broken || requests.first != content->sent ||
                requests.count > REQUESTS_MAX - (content->sent - content->first) ||
                requests.count > cursor.left / sizeof(struct gyre_record_message))
                return contradiction(offset, "does not go on with the requests of those before it");
            content->sent += requests.count;
        }
        number++;
        offset = next;
    }
    content->used = offset;
    content->lost = size - offset;
    content->cut = content->cut && !content->lost;
    return GYRE_OK;
}

/* Looks for whole records behind the damage. They cannot be used, but tell which requests were lost. */
static void look_behind_damage(const unsigned char *data, size_t size, struct gyre_journal_content *content)
{
    content->lost_first = content->lost_end = content->sent;
    for (size_t offset = content->used; offset < size; offset += GYRE_RECORD_ALIGNMENT) {
        size_t next;
        struct gyre_record_requests requests;
        if (!gyre_record_at(data, size, offset, &next))
            continue;
        struct cursor cursor = contents_of(data, offset);
        if (header_at(data, offset).kind == GYRE_RECORD_REQUESTS) {
            take_copy(&cursor, &requests, sizeof requests);
            if (!cursor.broken && requests.count <= REQUESTS_MAX &&
                requests.first + requests.count > content->lost_end)
                content->lost_end = requests.first + requests.count;
        }
        offset = next - GYRE_RECORD_ALIGNMENT;
    }
}

/*
 * Counts those replies as taken that the checkpoint covers and does not hold: the program took them before the
 * checkpoint was written.
 */
static void skip_taken(struct gyre_journal_content *content)
{
    for (uint64_t at = content->received; at < content->sent; at++) {
        uint64_t place = at - content->first;
        if (!content->done[place] || content->replies[place].payload)
            return;
        content->received = at + 1;
    }
}

/* ---- the second pass ---- */

/* A checkpoint whose records are being read. */
struct coming {
    unsigned char *state;
    struct gyre_kept_message *replies;
    uint8_t *done;
    struct gyre_record_checkpoint info;
    uint64_t end;  /* the checkpoint covers no request from this index on */
    uint64_t most; /* a checkpoint that covers a request from this index on does not count */
    bool open;
    bool beyond; /* a checkpoint did not count; later ones hold only changes, so they do not count either */
};

static uint64_t place_of(const struct gyre_journal_content *content, uint64_t index)
{
    return index < content->first ? UINT64_MAX : index - content->first;
}

static uint64_t count_of(const struct gyre_journal_content *content)
{
    return content->sent - content->first;
}

/* Reads one request. A query has neither header nor payload in the journal. */
static bool take_request(struct cursor *cursor, const struct gyre_journal_content *content, uint64_t *index,
                         struct gyre_kept_message *out)
{
    struct gyre_record_message message = {0};
    if (cursor->left >= sizeof message)
        memcpy(&message, cursor->at, sizeof message);
    const bool query = message.info == GYRE_MESSAGE_QUERY;
    return take_message(cursor, query ? 0 : content->open.header_size, query ? 0 : content->open.request_size,
                        index, out);
}

static gyre_status read_requests(struct cursor cursor, size_t offset, struct gyre_journal_content *content)
{
    struct gyre_record_requests requests;
    take_copy(&cursor, &requests, sizeof requests);
    for (uint64_t i = 0; i < requests.count; i++) {
        uint64_t index;
        struct gyre_kept_message message;
        if (!take_request(&cursor, content, &index, &message) || index != requests.first + i)
            return contradiction(offset, "holds something else than its requests");
        content->requests[place_of(content, index)] = message;
        if (gyre_kept_is_query(&message))
            content->skipped[place_of(content, index)] = 1;
    }
    return GYRE_OK;
}

/* Reads the origins (clients) of requests. A group may hold more origins than requests: the others are skipped. */
static gyre_status read_origins(struct cursor cursor, size_t offset, struct gyre_journal_content *content)
{
    struct gyre_record_requests origins;
    uint64_t count = count_of(content);
    take_copy(&cursor, &origins, sizeof origins);
    if (cursor.broken || origins.first < content->first ||
        origins.count > cursor.left / sizeof(struct gyre_record_origin))
        return contradiction(offset, "says whose requests are that are not there");
    if (!content->origins)
        content->origins = calloc(count + 1, sizeof *content->origins);
    if (!content->origins)
        return no_memory();
    for (uint64_t i = 0; i < origins.count; i++) {
        uint64_t place = place_of(content, origins.first + i);
        struct gyre_record_origin origin;
        take_copy(&cursor, &origin, sizeof origin);
        if (place >= count)
            continue;
        if (origin.index > NUMBER_MAX)
            return contradiction(offset, "has numbers of a client that no queue comes to");
        content->origins[place] = origin;
        if (!gyre_names_note(&content->names, origin.client, origin.index + 1))
            return no_memory();
    }
    return GYRE_OK;
}

static gyre_status read_names(struct cursor cursor, size_t offset, struct gyre_journal_content *content)
{
    while (cursor.left) {
        struct gyre_record_origin name;
        take_copy(&cursor, &name, sizeof name);
        if (cursor.broken)
            return contradiction(offset, "names clients, and ends within one");
        if (name.index > NUMBER_MAX)
            return contradiction(offset, "has numbers of a client that no queue comes to");
        if (!gyre_names_note(&content->names, name.client, name.index))
            return no_memory();
    }
    return GYRE_OK;
}

static gyre_status read_taken(struct cursor cursor, size_t offset, struct gyre_journal_content *content)
{
    struct gyre_record_taken taken;
    take_copy(&cursor, &taken, sizeof taken);
    if (cursor.broken || taken.received < content->received || taken.received > content->sent)
        return contradiction(offset, "says that replies were taken which cannot have been");
    content->received = taken.received;
    for (uint64_t i = 0; i < taken.skipped_count; i++) {
        uint64_t index;
        take_copy(&cursor, &index, sizeof index);
        if (cursor.broken)
            return contradiction(offset, "is shorter than it says");
        if (place_of(content, index) < count_of(content))
            content->skipped[place_of(content, index)] = 1;
    }
    return GYRE_OK;
}

/*
 * Allocates the state of the first checkpoint. A state is smaller than the journal, which holds it whole before any
 * changes.
 */
static gyre_status make_state(struct coming *coming, uint64_t size, size_t offset, uint64_t journal_size)
{
    if (coming->state || !size)
        return GYRE_OK;
    if (size > journal_size)
        return contradiction(offset, "is a checkpoint of a state that is larger than the journal");
    coming->state = calloc(1, size);
    return coming->state ? GYRE_OK : no_memory();
}

static gyre_status read_checkpoint(struct cursor cursor, size_t offset,
                                   const struct gyre_journal_content *content, struct coming *coming)
{
    uint64_t count = count_of(content);
    gyre_status status = make_state(coming, content->open.state_size, offset, content->used);
    if (status != GYRE_OK)
        return status;
    take_copy(&cursor, &coming->info, sizeof coming->info);
    if (cursor.broken || coming->info.first < content->covered || coming->info.first > content->sent)
        return contradiction(offset, "is a checkpoint that covers requests which were not sent");
    memcpy(coming->done, content->done, count);
    memset(coming->replies, 0, count * sizeof *coming->replies);
    for (uint64_t i = 0; i < coming->info.first - content->first; i++)
        coming->done[i] = 1;
    coming->end = coming->info.first;
    for (uint64_t i = 0; i < coming->info.done_count; i++) {
        uint64_t index;
        take_copy(&cursor, &index, sizeof index);
        if (cursor.broken || place_of(content, index) >= count)
            return contradiction(offset, "is a checkpoint that covers requests which were not sent");
        coming->done[place_of(content, index)] = 1;
        coming->end = index + 1 > coming->end ? index + 1 : coming->end;
    }
    if (coming->state && content->state)
        memcpy(coming->state, content->state, content->open.state_size);
    coming->open = true;
    return GYRE_OK;
}

static gyre_status read_block(struct cursor cursor, size_t offset, const struct gyre_journal_content *content,
                              const struct coming *coming)
{
    struct gyre_record_block block;
    take_copy(&cursor, &block, sizeof block);
    const void *bytes = take(&cursor, block.size);
    uint64_t size = content->open.state_size;
    if (cursor.broken || !coming->open || !coming->state || block.offset > size ||
        block.size > size - block.offset)
        return contradiction(offset, "lies outside the state that it is a part of");
    if (block.size)
        memcpy(coming->state + block.offset, bytes, block.size);
    return GYRE_OK;
}

static gyre_status read_replies(struct cursor cursor, size_t offset,
                                const struct gyre_journal_content *content, const struct coming *coming)
{
    struct gyre_record_requests replies;
    take_copy(&cursor, &replies, sizeof replies);
    if (cursor.broken || !coming->open)
        return contradiction(offset, "holds replies that belong to no checkpoint");
    for (uint64_t i = 0; i < replies.count; i++) {
        uint64_t index;
        struct gyre_kept_message message;
        if (!take_message(&cursor, 0, 65536, &index, &message) ||
            place_of(content, index) >= count_of(content))
            return contradiction(offset, "holds something else than its replies");
        coming->replies[place_of(content, index)] = message;
    }
    return GYRE_OK;
}

/* Makes the checkpoint that was read the content's checkpoint. The memory of the older one is used for the next. */
static gyre_status read_commit(struct cursor cursor, size_t offset, struct gyre_journal_content *content,
                               struct coming *coming)
{
    struct gyre_record_commit commit;
    uint64_t size = content->open.state_size;
    take_copy(&cursor, &commit, sizeof commit);
    if (cursor.broken || !coming->open || commit.number != coming->info.number)
        return contradiction(offset, "ends a checkpoint whose state is not what it was");
    coming->open = false;
    coming->beyond = coming->beyond || coming->end > coming->most;
    if (coming->beyond)
        return GYRE_OK;
    if (size && gyre_state_hash(coming->state, size) != commit.state_hash)
        return contradiction(offset, "ends a checkpoint whose state is not what it was");
    unsigned char *state = content->state;
    struct gyre_kept_message *replies = content->replies;
    uint8_t *done = content->done;
    content->state = coming->state;
    content->replies = coming->replies;
    content->done = coming->done;
    content->covered = coming->info.first;
    *coming = (struct coming){.state = state, .replies = replies, .done = done, .most = coming->most};
    return GYRE_OK;
}

static gyre_status read_record(const unsigned char *data, size_t offset, struct gyre_journal_content *content,
                               struct coming *coming)
{
    struct cursor cursor = contents_of(data, offset);
    switch (header_at(data, offset).kind) {
    case GYRE_RECORD_TYPE:
        return gyre_journal_type_get(cursor.at, cursor.left, offset, &content->types);
    case GYRE_RECORD_MARK:
        return GYRE_OK; /* the last one */
    case GYRE_RECORD_REQUESTS:
        return read_requests(cursor, offset, content);
    case GYRE_RECORD_ORIGINS:
        return read_origins(cursor, offset, content);
    case GYRE_RECORD_NAMES:
        return read_names(cursor, offset, content);
    case GYRE_RECORD_TAKEN:
        return read_taken(cursor, offset, content);
    case GYRE_RECORD_CHECKPOINT:
        return read_checkpoint(cursor, offset, content, coming);
    case GYRE_RECORD_BLOCK:
        return read_block(cursor, offset, content, coming);
    case GYRE_RECORD_REPLIES:
        return read_replies(cursor, offset, content, coming);
    case GYRE_RECORD_COMMIT:
        return read_commit(cursor, offset, content, coming);
    default:
        return contradiction(offset, "is of a kind that this version does not know");
    }
}

static gyre_status allocate(struct gyre_journal_content *content, struct coming *coming)
{
    uint64_t count = count_of(content);
    content->requests = calloc(count + 1, sizeof *content->requests);
    content->replies = calloc(count + 1, sizeof *content->replies);
    content->skipped = calloc(count + 1, 1);
    content->done = calloc(count + 1, 1);
    coming->replies = calloc(count + 1, sizeof *coming->replies);
    coming->done = calloc(count + 1, 1);
    bool complete = content->requests && content->replies && content->skipped && content->done &&
                    coming->replies && coming->done;
    return complete ? GYRE_OK : no_memory();
}

gyre_status gyre_journal_read(const unsigned char *data, size_t size, struct gyre_journal_content *content)
{
    return gyre_journal_read_covering(data, size, UINT64_MAX, content);
}

gyre_status gyre_journal_read_covering(const unsigned char *data, size_t size, uint64_t most,
                                       struct gyre_journal_content *content)
{
    struct coming coming = {.most = most};
    size_t offset = 0, next = 0;
    memset(content, 0, sizeof *content);
    gyre_status status = read_open(data, size, content, &offset);
    if (status == GYRE_OK)
        status = count_requests(data, size, content, offset);
    if (status == GYRE_OK)
        status = allocate(content, &coming);
    while (status == GYRE_OK && offset < content->used && gyre_record_at(data, size, offset, &next)) {
        status = read_record(data, offset, content, &coming);
        offset = next;
    }
    if (status == GYRE_OK) {
        skip_taken(content);
        look_behind_damage(data, size, content);
    }
    free(coming.state);
    free(coming.replies);
    free(coming.done);
    return status;
}

void gyre_journal_content_release(struct gyre_journal_content *content)
{
    free(content->requests);
    free(content->replies);
    free(content->origins);
    gyre_names_release(&content->names);
    gyre_journal_types_release(&content->types);
    free(content->skipped);
    free(content->done);
    free(content->state);
    free(content->rooms[0]);
    free(content->rooms[1]);
    memset(content, 0, sizeof *content);
}
