/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a journal (journal.h) in groups of records: requests, taken replies and checkpoints. A group is put together
 * in memory and written at once. The members of struct gyre_journal that say how far was written change only after
 * the write.
 */
#include "core/journal/journal.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/queue/choice_rules.h"
#include "core/queue/names.h"
#include "core/queue/origin.h"
#include "core/queue/progress.h"
#include "core/queue/queue.h"
#include "core/queue/resume.h"
#include "core/queue/state.h"
#include "core/ring/ring.h"
#include "core/ring/ring_message.h"
#include "core/stages/expiry.h"
#include "core/stages/log.h"

enum { GROUP_MAX = 4 << 20, ORIGINS_MAX = 4096 /* in a record */ };

/* Adds the mark, which stands behind every group until the next group overwrites it. */
static void add_mark(struct gyre_journal *journal, uint64_t number, struct gyre_record_mark mark)
{
    mark.offset = journal->size + journal->group.size;
    const size_t place = gyre_record_begin(&journal->group, GYRE_RECORD_MARK, number);
    gyre_bytes_add(&journal->group, &mark, sizeof mark);
    gyre_record_end(&journal->group, place);
}

static gyre_status write_marked(struct gyre_journal *journal, uint64_t number, struct gyre_record_mark mark)
{
    const size_t size = journal->group.size;
    add_mark(journal, number + 1, mark);
    gyre_status status = journal->group.broken
                             ? gyre_error_set(GYRE_EXHAUSTED, "no memory to write to a journal")
                             : journal->disk->append(journal->context, journal->group.data,
                                                     journal->group.size, GYRE_MARK_SIZE);
    if (status == GYRE_OK) {
        journal->number = number;
        journal->size += size;
    }
    journal->group.size = 0;
    journal->group.broken = false;
    return status;
}

/* Writes the group. Afterwards the file ends with record `number`, and holds the requests below `sent`. */
static gyre_status write_group(struct gyre_journal *journal, uint64_t number, uint64_t sent)
{
    return write_marked(journal, number, (struct gyre_record_mark){.sent = sent});
}

gyre_status gyre_journal_end(struct gyre_journal *journal, bool settled)
{
    const struct gyre_record_mark mark = {.sent = journal->sent, .ended = 1, .settled = settled};
    journal->group.size = 0;
    return write_marked(journal, journal->number, mark);
}

static void add_message(struct gyre_bytes *bytes, const struct gyre_record_message *message,
                        const void *header, size_t header_size, const void *payload)
{
    static const unsigned char zeros[GYRE_RECORD_ALIGNMENT];
    size_t padding =
        (GYRE_RECORD_ALIGNMENT - message->length % GYRE_RECORD_ALIGNMENT) % GYRE_RECORD_ALIGNMENT;
    gyre_bytes_add(bytes, message, sizeof *message);
    if (header_size)
        gyre_bytes_add(bytes, header, header_size);
    gyre_bytes_add(bytes, payload, message->length);
    gyre_bytes_add(bytes, zeros, padding);
}

static void patch_count(struct gyre_bytes *bytes, size_t place, uint64_t first, uint64_t count)
{
    struct gyre_record_requests requests = {first, count};
    if (!bytes->broken)
        memcpy(bytes->data + place + sizeof(struct gyre_record_header), &requests, sizeof requests);
}

/* ---- requests ---- */

/*
 * Reads a request. Where its slot may be overwritten at any moment the queue has a log, and the request is read from
 * the log; else add_request takes it from its slot. False: the request is a query.
 */
static bool read_request(const struct gyre_journal *journal, const gyre_queue *queue, uint64_t index,
                         struct gyre_logged_request *request)
{
    *request = (struct gyre_logged_request){.payload = journal->request};
    if (gyre_log_of(queue)->keeps)
        gyre_queue_log_read(queue, index, request);
    else
        request->query =
            gyre_choice_is_query(gyre_choices_of(queue), gyre_request_slot(gyre_ring_of(queue), index) + 1);
    return !request->query;
}

static void add_query(struct gyre_bytes *bytes, uint64_t index)
{
    const struct gyre_record_message message = {.index = index, .info = GYRE_MESSAGE_QUERY};
    gyre_bytes_add(bytes, &message, sizeof message);
}

/* Adds a request to the group. False: the request is a query, of which the journal keeps only the index. */
static bool add_request(struct gyre_journal *journal, const gyre_queue *queue, uint64_t index)
{
    const void *header = gyre_ring_of(queue)->slots.header_size
                             ? gyre_ring_of(queue)->headers + (index & gyre_ring_of(queue)->mask) *
                                                                  gyre_ring_of(queue)->slots.header_size
                             : NULL;
    struct gyre_logged_request request;
    if (!read_request(journal, queue, index, &request)) {
        add_query(&journal->group, index);
        return false;
    }
    if (!gyre_log_of(queue)->keeps) {
        struct gyre_record_message message = {.index = index,
                                              .length = gyre_queue_request_length(queue, index)};
        add_message(&journal->group, &message, header, gyre_ring_of(queue)->slots.header_size,
                    gyre_request_slot(gyre_ring_of(queue), index) + 1);
        return true;
    }
    struct gyre_record_message message = {.index = index, .length = request.length};
    add_message(&journal->group, &message, &request.header, gyre_ring_of(queue)->slots.header_size,
                request.payload);
    return true;
}

/*
 * Adds the origins (clients) of requests [first, end). A request whose reply was received gets none: no client waits
 * for it, and its slot may belong to another request by now.
 */
static void add_origins(struct gyre_journal *journal, const gyre_queue *queue, uint64_t first, uint64_t end,
                        uint64_t *number)
{
    struct gyre_bytes *bytes = &journal->group;
    uint64_t received = gyre_received(queue);
    const struct gyre_record_requests range = {first, end - first};
    size_t place = gyre_record_begin(bytes, GYRE_RECORD_ORIGINS, ++*number);
    gyre_bytes_add(bytes, &range, sizeof range);
    for (uint64_t index = first; index < end; index++) {
        struct gyre_origin of = index < received ? (struct gyre_origin){0, 0} : gyre_origin_of(queue, index);
        const struct gyre_record_origin origin = {of.client, of.index};
        gyre_bytes_add(bytes, &origin, sizeof origin);
        bytes->broken |= !gyre_names_note(&journal->names, of.client, of.index + 1);
    }
    gyre_record_end(bytes, place);
}

/*
 * Carries the names of clients over from earlier files. Requests of a group that could not be written will be in this
 * file.
 */
static void add_names(struct gyre_journal *journal, uint64_t number)
{
    size_t place = gyre_record_begin(&journal->group, GYRE_RECORD_NAMES, number);
    for (size_t i = 0; i < journal->names.count; i++) {
        const struct gyre_record_origin name = {journal->names.all[i].client, journal->names.all[i].next};
        gyre_bytes_add(&journal->group, &name, sizeof name);
    }
    gyre_record_end(&journal->group, place);
}

/*
 * Adds the requests from `first` on that fit into a group. Returns 1 + the last index. *kept: at least one is no
 * query.
 */
static uint64_t add_requests(struct gyre_journal *journal, const gyre_queue *queue, uint64_t first,
                             uint64_t *number, bool *kept)
{
    struct gyre_bytes *bytes = &journal->group;
    uint64_t index = first, end = gyre_queue_next_index(queue);
    struct gyre_record_requests none = {0, 0};
    if (first == end)
        return end;
    if (__atomic_load_n(&gyre_foreign_of(queue)->origins, __ATOMIC_ACQUIRE)) {
        end = end - first > ORIGINS_MAX ? first + ORIGINS_MAX : end;
        add_origins(journal, queue, first, end, number);
    }
    size_t place = gyre_record_begin(bytes, GYRE_RECORD_REQUESTS, ++*number);
    gyre_bytes_add(bytes, &none, sizeof none);
    for (; index < end && bytes->size < GROUP_MAX && !bytes->broken; index++)
        *kept = add_request(journal, queue, index) || *kept;
    patch_count(bytes, place, first, index - first);
    gyre_record_end(bytes, place);
    return index;
}

/* ---- replies ---- */

/*
 * Whether the journal must note that no handler handled the request. A query needs no note: it is never handled
 * again.
 */
static bool is_skipped(const struct gyre_journal *journal, const gyre_queue *queue, uint64_t index)
{
    struct gyre_logged_request request = {.payload = journal->request};
    if (gyre_log_of(queue)->keeps)
        return !gyre_queue_log_read(queue, index, &request) && !request.query;
    return !gyre_queue_was_handled(queue, index) &&
           !gyre_choice_is_query(gyre_choices_of(queue), gyre_request_slot(gyre_ring_of(queue), index) + 1);
}

/* Notes that the replies below `received` were taken, and which of these requests no handler handled. */
static void add_taken(struct gyre_journal *journal, const gyre_queue *queue, uint64_t received,
                      uint64_t *number)
{
    struct gyre_bytes *bytes = &journal->group;
    struct gyre_record_taken taken = {.received = received};
    if (received == journal->taken)
        return;
    size_t place = gyre_record_begin(bytes, GYRE_RECORD_TAKEN, ++*number);
    size_t count_place = bytes->size;
    gyre_bytes_add(bytes, &taken, sizeof taken);
    for (uint64_t index = journal->taken; index < received; index++) {
        if (!is_skipped(journal, queue, index))
            continue;
        gyre_bytes_add(bytes, &index, sizeof index);
        taken.skipped_count++;
    }
    if (!bytes->broken)
        memcpy(bytes->data + count_place, &taken, sizeof taken);
    gyre_record_end(bytes, place);
}

gyre_status gyre_journal_gather(struct gyre_journal *journal, const gyre_queue *queue, bool *more)
{
    uint64_t received = gyre_received(queue), number = journal->number;
    journal->group.size = 0;
    *more = false;
    bool kept = false;
    uint64_t sent = add_requests(journal, queue, journal->sent, &number, &kept);
    received = received < sent ? received : sent;
    add_taken(journal, queue, received, &number);
    if (number == journal->number)
        return GYRE_OK;
    gyre_status status = write_group(journal, number, sent);
    if (status != GYRE_OK)
        return status;
    *more = journal->sent != sent;
    journal->owes |= kept;
    journal->sent = sent;
    journal->taken = received;
    return GYRE_OK;
}

/* ---- checkpoints ---- */

static bool is_done(const gyre_queue *queue, uint64_t index)
{
    const struct gyre_queue_position *base = &gyre_log_of(queue)->base;
    uint64_t place = index - base->first;
    return index < base->first ||
           (place < gyre_ring_of(queue)->capacity && (base->done[place / 8] >> place % 8 & 1));
}

static void add_position(struct gyre_bytes *bytes, const gyre_queue *queue, uint64_t checkpoint,
                         uint64_t number)
{
    struct gyre_record_checkpoint info = {.number = checkpoint, .first = gyre_log_of(queue)->base.first};
    uint64_t end = gyre_queue_next_index(queue);
    size_t place = gyre_record_begin(bytes, GYRE_RECORD_CHECKPOINT, number);
    size_t info_place = bytes->size;
    gyre_bytes_add(bytes, &info, sizeof info);
    for (uint64_t index = info.first; index < end; index++) {
        if (!is_done(queue, index))
            continue;
        gyre_bytes_add(bytes, &index, sizeof index);
        info.done_count++;
    }
    if (!bytes->broken)
        memcpy(bytes->data + info_place, &info, sizeof info);
    gyre_record_end(bytes, place);
}

static void add_block(struct gyre_bytes *bytes, const unsigned char *state, const struct gyre_store *store,
                      uint64_t block, uint64_t number)
{
    struct gyre_record_block info = {block * GYRE_STORE_BLOCK, gyre_store_block_size(store, block)};
    size_t place = gyre_record_begin(bytes, GYRE_RECORD_BLOCK, number);
    gyre_bytes_add(bytes, &info, sizeof info);
    gyre_bytes_add(bytes, state + info.offset, info.size);
    gyre_record_end(bytes, place);
}

/*
 * Adds the blocks of a checkpoint's state, and writes full groups. The file may end between them: without its COMMIT
 * record a checkpoint does not count.
 */
static gyre_status add_blocks(struct gyre_journal *journal, const unsigned char *state,
                              const struct gyre_store *store, bool all, uint64_t *number)
{
    gyre_status status = GYRE_OK;
    for (uint64_t block = 0; status == GYRE_OK && block < store->blocks; block++) {
        if (!all && !gyre_store_changed(store, block))
            continue;
        add_block(&journal->group, state, store, block, ++*number);
        if (journal->group.size >= GROUP_MAX)
            status = write_group(journal, *number, journal->sent);
    }
    return status;
}

/*
 * Adds a reply as its receiver will see it: the failure of an expired request says that it expired, though its slot
 * does not until a receiver looks at it.
 */
static void add_reply(struct gyre_bytes *bytes, const gyre_queue *queue, uint64_t index)
{
    const gyre_slot *slot = gyre_reply_slot(gyre_ring_of(queue), index);
    const gyre_failure *expired =
        slot->info == GYRE_OUTCOME_FAILED ? gyre_expiry_failure(queue, index) : NULL;
    const uint32_t most = gyre_ring_of(queue)->slots.reply_stride - GYRE_SLOT_HEADER_SIZE;
    const uint32_t length =
        __atomic_load_n(&slot->length, __ATOMIC_RELAXED); /* once: a worker may write there */
    struct gyre_record_message message = {
        .index = index, .length = length < most ? length : most, .info = slot->info};
    if (expired)
        message.length = sizeof *expired;
    add_message(bytes, &message, NULL, 0, expired ? (const void *)expired : slot + 1);
}

static void add_replies(struct gyre_bytes *bytes, const gyre_queue *queue, uint64_t number)
{
    uint64_t count = 0, end = gyre_queue_next_index(queue);
    struct gyre_record_requests none = {0, 0};
    size_t place = gyre_record_begin(bytes, GYRE_RECORD_REPLIES, number);
    gyre_bytes_add(bytes, &none, sizeof none);
    for (uint64_t index = gyre_received(queue); index < end; index++) {
        if (!is_done(queue, index) || !gyre_reply_ready(gyre_ring_of(queue), index))
            continue;
        add_reply(bytes, queue, index);
        count++;
    }
    patch_count(bytes, place, 0, count);
    gyre_record_end(bytes, place);
}

static void add_commit(struct gyre_bytes *bytes, const unsigned char *state, uint64_t size,
                       uint64_t checkpoint, uint64_t number)
{
    struct gyre_record_commit commit = {checkpoint, size ? gyre_state_hash(state, size) : 0};
    size_t place = gyre_record_begin(bytes, GYRE_RECORD_COMMIT, number);
    gyre_bytes_add(bytes, &commit, sizeof commit);
    gyre_record_end(bytes, place);
}

static gyre_status add_checkpoint(struct gyre_journal *journal, const gyre_queue *queue,
                                  const struct gyre_store *store, bool all)
{
    uint64_t number = journal->number, checkpoint = journal->checkpoint + 1;
    const unsigned char *state = store ? gyre_store_last(store) : NULL;
    gyre_status status = GYRE_OK;
    if (store && !state)
        return gyre_error_set(GYRE_INTERNAL, "a checkpoint is damaged: its hash is not what it was");
    add_position(&journal->group, queue, checkpoint, ++number);
    if (store)
        status = add_blocks(journal, state, store, all, &number);
    if (status != GYRE_OK)
        return status;
    add_replies(&journal->group, queue, ++number);
    add_commit(&journal->group, state, store ? store->size : 0, checkpoint, ++number);
    return write_group(journal, number, journal->sent);
}

static gyre_status gather_all(struct gyre_journal *journal, const gyre_queue *queue)
{
    bool more = true;
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && more)
        status = gyre_journal_gather(journal, queue, &more);
    return status;
}

gyre_status gyre_journal_checkpoint(struct gyre_journal *journal, const gyre_queue *queue,
                                    const struct gyre_store *store, bool all)
{
    gyre_status status = gather_all(journal, queue);
    bool follows = journal->checkpoint && (!store || store->number == journal->stored + 1);
    if (status == GYRE_OK)
        status = add_checkpoint(journal, queue, store, all || !follows);
    if (status != GYRE_OK)
        return status;
    journal->checkpoint++;
    journal->stored = store ? store->number : 0;
    return GYRE_OK;
}

gyre_status gyre_journal_sync(struct gyre_journal *journal)
{
    if (journal->doubtful)
        return gyre_error_set(GYRE_FAILED, "a journal could not be forced to the disk; it is written anew");
    gyre_status status = journal->disk->sync(journal->context);
    journal->doubtful = status != GYRE_OK;
    journal->owes = journal->owes && status != GYRE_OK;
    return status;
}

void gyre_journal_release(struct gyre_journal *journal)
{
    gyre_bytes_release(&journal->group);
    gyre_names_release(&journal->names);
    free(journal->request);
    journal->request = NULL;
}

/* ---- a new file ---- */

gyre_status gyre_journal_init(struct gyre_journal *journal, const struct gyre_journal_disk *disk,
                              void *context, const gyre_queue *queue)
{
    *journal = (struct gyre_journal){.disk = disk, .context = context};
    journal->open.request_size = gyre_ring_of(queue)->request_size;
    journal->open.reply_size = gyre_ring_of(queue)->reply_size;
    journal->open.header_size = gyre_ring_of(queue)->slots.header_size;
    journal->request = malloc((size_t)gyre_ring_of(queue)->request_size + 1);
    return journal->request ? GYRE_OK : gyre_error_set(GYRE_EXHAUSTED, "no memory for a journal");
}

static void add_open(struct gyre_journal *journal, uint64_t first)
{
    journal->open.version = GYRE_JOURNAL_VERSION;
    journal->open.first = first;
    size_t place = gyre_record_begin(&journal->group, GYRE_RECORD_OPEN, 1);
    gyre_bytes_add(&journal->group, &journal->open, sizeof journal->open);
    gyre_record_end(&journal->group, place);
}

/* Adds the types. Their records have the numbers from 2 on. */
static void add_types(struct gyre_journal *journal)
{
    for (size_t i = 0; i < journal->type_count; i++) {
        size_t place = gyre_record_begin(&journal->group, GYRE_RECORD_TYPE, i + 2);
        gyre_journal_type_put(&journal->group, &journal->types[i]);
        gyre_record_end(&journal->group, place);
    }
}

/* The first request that a new file has to hold: the checkpoint does not cover it, or its reply was not taken. */
static uint64_t first_needed(const gyre_queue *queue, const struct gyre_store *store)
{
    uint64_t received = gyre_received(queue), covered = gyre_log_of(queue)->base.first;
    return store && covered < received ? covered : received;
}

static gyre_status write_anew(struct gyre_journal *journal, const gyre_queue *queue,
                              const struct gyre_store *store)
{
    uint64_t first = first_needed(queue, store);
    uint64_t number = 1 + journal->type_count;
    journal->group.size = 0;
    journal->size = 0;
    add_open(journal, first);
    add_types(journal);
    if (journal->names.count)
        add_names(journal, ++number);
    gyre_status status = write_group(journal, number, first);
    journal->sent = journal->taken = first;
    journal->checkpoint = 0;
    if (status == GYRE_OK)
        status = gather_all(journal, queue);
    if (status == GYRE_OK && store)
        status = gyre_journal_checkpoint(journal, queue, store, true);
    return status;
}

gyre_status gyre_journal_renew(struct gyre_journal *journal, const gyre_queue *queue,
                               const struct gyre_store *store)
{
    struct gyre_journal before = *journal;
    gyre_status status = journal->disk->begin_anew(journal->context);
    if (status != GYRE_OK)
        return status;
    status = write_anew(journal, queue, store);
    gyre_status ended = journal->disk->end_anew(journal->context, status == GYRE_OK);
    status = status == GYRE_OK ? ended : status;
    if (status == GYRE_OK) {
        journal->doubtful = false;
        journal->owes = true; /* at least the new file's place in its folder must reach the disk */
        return GYRE_OK;
    }
    before.group = journal->group; /* which may have grown */
    before.names = journal->names;
    *journal = before;
    return status;
}
