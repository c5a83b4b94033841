/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves large spans (arrays in a request) into memory of the device that the queue has for them. A span of more bytes than
 * the threshold moves there when its request is sent, and its name stands in the request instead. Its room (rooms.h) is free
 * again when the completion was taken. The device sees an ordinary far part: a part of a message that lies in a buffer
 * (parts.h).
 *
 * The rooms of a request are noted in `held`, beside its slot, because a device may overwrite the slot. Locks: spans->lock,
 * innermost, for the rooms. The producer side writes the note of a request until the request is published, the consumer side
 * afterwards.
 */
#include "core/stages/spans.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/queue/label.h"
#include "core/queue/stage.h"
#include "core/queue/stage_list.h"
#include "core/queue/state.h"
#include "core/queue/wait.h"
#include "core/stages/order.h"
#include "core/stages/rooms.h"
#include "core/types/convert.h"
#include "core/types/far.h"
#include "core/types/message.h"

struct gyre_queue_spans {
    struct gyre_span_store store;
    pthread_mutex_t lock;
    struct gyre_rooms rooms;
    uint64_t moved, given_back; /* rooms taken and given back so far; given_back is atomic */
    uint32_t *held;             /* for each slot: first unit of its request's first room, plus 1; 0: none */
    uint32_t *next;             /* for a room's first unit: the same request's next room, as in `held` */
};

static struct gyre_queue_spans *spans_of(const gyre_queue *queue)
{
    return gyre_stage_state(queue, GYRE_STAGE_SPANS);
}

bool gyre_spans_has(const gyre_queue *queue)
{
    return spans_of(queue) != NULL;
}

static void spans_count(const gyre_queue *queue, gyre_queue_stats *stats)
{
    struct gyre_queue_spans *spans = spans_of(queue);
    pthread_mutex_lock(&spans->lock);
    stats->spans_moved = spans->moved;
    stats->spans_bytes = spans->rooms.in_use;
    pthread_mutex_unlock(&spans->lock);
}

/* ---- rooms ---- */

static gyre_far far_of_room(const struct gyre_queue_spans *spans, uint64_t offset, uint64_t size)
{
    return (gyre_far){.handle = {.id = spans->store.handle, .offset = offset, .size = size}};
}

static bool take_room(struct gyre_queue_spans *spans, uint64_t size, gyre_far *far)
{
    uint64_t offset = 0;
    pthread_mutex_lock(&spans->lock);
    const bool taken = gyre_rooms_take(&spans->rooms, size, &offset);
    spans->moved += taken;
    pthread_mutex_unlock(&spans->lock);
    *far = far_of_room(spans, offset, size);
    return taken;
}

static void give_room(struct gyre_queue_spans *spans, uint64_t offset)
{
    pthread_mutex_lock(&spans->lock);
    gyre_rooms_give(&spans->rooms, offset);
    pthread_mutex_unlock(&spans->lock);
    __atomic_fetch_add(&spans->given_back, 1, __ATOMIC_RELEASE); /* pairs with was_given_back */
}

static int was_given_back(const gyre_queue *queue, uint64_t before)
{
    if (__atomic_load_n(&spans_of(queue)->given_back, __ATOMIC_ACQUIRE) != before)
        return 1;
    return gyre_queue_closed(queue) ? -1 : 0;
}

/* ---- requests on their way into the ring ---- */

struct moving {
    gyre_queue *queue;
    struct gyre_queue_spans *spans;
    uint64_t deadline_ns;
    gyre_status status;
    uint64_t units,
        largest; /* what the spans in the caller's memory take: units of all, bytes of the largest */
    uint32_t first,
        last; /* the rooms that were taken for them, in their order: first unit plus 1, as in `held` */
    uint64_t lacking; /* the bytes of a span for which there was no room */
};

static bool is_ours(void *context, const gyre_far *far)
{
    const struct moving *moving = context;
    return far->handle.id == moving->spans->store.handle;
}

/*
 * Refuses a caller's span that names the queue's span memory, because the room belongs to the request that it was copied
 * from. Measures the spans in the caller's memory.
 */
static void request_look(void *context, gyre_far *far)
{
    struct moving *moving = context;
    char label[GYRE_LABEL_SIZE];
    if (moving->status == GYRE_OK && is_ours(moving, far))
        moving->status = gyre_error_set(
            GYRE_INVALID,
            "a span names memory that %s has for its own requests: put the items into the message anew",
            gyre_queue_label(moving->queue, label, sizeof label));
    if (!gyre_far_is_callers(far))
        return;
    moving->units += gyre_rooms_units(far->handle.size);
    if (far->handle.size > moving->largest)
        moving->largest = far->handle.size;
}

static void give_back_ours(void *context, gyre_far *far)
{
    struct moving *moving = context;
    if (is_ours(moving, far))
        give_room(moving->spans, far->handle.offset);
}

/* Moves a span of more bytes than the threshold, if a room is free. False: the span stays in the message. */
static bool span_carry(void *context, const void *items, uint64_t size, gyre_far *far)
{
    struct moving *moving = context;
    struct gyre_queue_spans *spans = moving->spans;
    if (moving->status != GYRE_OK || size <= spans->store.threshold || !take_room(spans, size, far))
        return false;
    moving->status = spans->store.upload(spans->store.context, far->handle.offset, items, size);
    if (moving->status != GYRE_OK)
        give_room(spans, far->handle.offset);
    return moving->status == GYRE_OK;
}

static gyre_status no_room(struct moving *moving, uint64_t size)
{
    const uint64_t whole = moving->spans->store.size;
    char label[GYRE_LABEL_SIZE];
    gyre_queue_label(moving->queue, label, sizeof label);
    if (size > whole)
        return gyre_error_set(GYRE_INVALID,
                              "a span of %llu bytes is larger than the span memory of %s (%llu bytes): set a "
                              "larger span_memory in its section",
                              (unsigned long long)size, label, (unsigned long long)whole);
    return gyre_error_set(moving->deadline_ns == GYRE_NO_WAIT ? GYRE_AGAIN : GYRE_TIMEOUT,
                          "%s has no room for a span of %llu bytes: receive replies, or set a larger "
                          "span_memory in its section",
                          label, (unsigned long long)size);
}

/* Refuses a request whose spans in the caller's memory never find room, however long it waits. */
static gyre_status check_large(struct moving *moving)
{
    char label[GYRE_LABEL_SIZE];
    if (moving->largest > moving->spans->store.size)
        return no_room(moving, moving->largest);
    if (moving->units <= moving->spans->rooms.count)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID,
        "the large spans of a request take %llu bytes together, in pieces of %d, and %s has %llu "
        "bytes of span memory: set a larger span_memory in its section",
        (unsigned long long)moving->units * GYRE_ROOM_UNIT, GYRE_ROOM_UNIT,
        gyre_queue_label(moving->queue, label, sizeof label), (unsigned long long)moving->spans->store.size);
}

/* Takes a room for one span, under the lock, and notes it behind the rooms before it. */
static void large_take_room(void *context, gyre_far *far)
{
    struct moving *moving = context;
    struct gyre_queue_spans *spans = moving->spans;
    uint64_t offset;
    if (moving->lacking || !gyre_far_is_callers(far))
        return;
    if (!gyre_rooms_take(&spans->rooms, far->handle.size, &offset)) {
        moving->lacking = far->handle.size;
        return;
    }
    const uint32_t unit = (uint32_t)(offset / GYRE_ROOM_UNIT);
    spans->next[unit] = 0;
    *(moving->last ? &spans->next[moving->last - 1] : &moving->first) = unit + 1;
    moving->last = unit + 1;
    spans->moved++;
}

/* The offset of the first noted room, which is noted no more. */
static uint64_t large_next_room(struct moving *moving)
{
    const uint32_t unit = moving->first - 1;
    moving->first = moving->spans->next[unit];
    return (uint64_t)unit * GYRE_ROOM_UNIT;
}

/* Takes rooms for all spans in the caller's memory, or none: a request that waits holds nothing for which another waits. */
static bool take_all_rooms(struct moving *moving, void *message, uint64_t length)
{
    struct gyre_queue_spans *spans = moving->spans;
    moving->first = moving->last = 0;
    moving->lacking = 0;
    pthread_mutex_lock(&spans->lock);
    gyre_layout_visit_far(spans->store.layout, message, length, large_take_room, moving);
    while (moving->lacking && moving->first) {
        gyre_rooms_give(&spans->rooms, large_next_room(moving));
        spans->moved--;
    }
    pthread_mutex_unlock(&spans->lock);
    return !moving->lacking;
}

/* Waits for rooms, for spans that cannot stay in the message because their items lie in the caller's memory. */
static gyre_status await_rooms(struct moving *moving, void *message, uint64_t length)
{
    struct gyre_queue_spans *spans = moving->spans;
    gyre_status status = GYRE_OK;
    bool inside = false;
    while (status == GYRE_OK) {
        const uint64_t before = __atomic_load_n(&spans->given_back, __ATOMIC_ACQUIRE);
        if (take_all_rooms(moving, message, length))
            break;
        if (moving->deadline_ns == GYRE_NO_WAIT)
            return no_room(moving, moving->lacking);
        gyre_queue_stay(moving->queue, moving->deadline_ns, &inside);
        status =
            gyre_queue_wait(moving->queue, was_given_back, before, GYRE_BELL_CREDIT, moving->deadline_ns);
    }
    gyre_queue_leave(moving->queue, inside);
    if (status == GYRE_CLOSED)
        return gyre_queue_tell_closed(moving->queue);
    return status == GYRE_TIMEOUT ? no_room(moving, moving->lacking) : status;
}

/* Uploads one span to its room, and names the room in the message. */
static void large_upload(void *context, gyre_far *far)
{
    struct moving *moving = context;
    const struct gyre_span_store *store = &moving->spans->store;
    const gyre_far from = *far;
    if (moving->status != GYRE_OK || !gyre_far_is_callers(&from))
        return;
    const uint64_t offset = large_next_room(moving);
    moving->status =
        store->upload(store->context, offset, (const void *)(uintptr_t)from.address, from.handle.size);
    if (moving->status == GYRE_OK)
        *far = far_of_room(moving->spans, offset, from.handle.size);
    else
        give_room(moving->spans, offset);
}

/* The layout of the value in a message, and *front, the bytes before the value: in a protocol a number names the value's type.
 * NULL: no type has that number. */
static const gyre_layout *proper_layout(const gyre_layout *layout, const unsigned char *message,
                                        uint32_t *front)
{
    uint32_t number = 0;
    *front = 0;
    if (layout->shape != GYRE_SHAPE_CHOICE)
        return layout;
    memcpy(&number, message + GYRE_CHOICE_FRONT - sizeof number, sizeof number);
    *front = GYRE_CHOICE_FRONT;
    return number && number <= layout->choice_count ? layout->choices[number - 1] : NULL;
}

/* Builds the message anew without its large spans, which move. After a failure the message stays as it is. */
static void carry_spans(struct moving *moving, unsigned char *message, unsigned char *scratch)
{
    const struct gyre_carrier carrier = {.context = moving, .carry = span_carry};
    uint32_t front, used;
    const gyre_layout *layout = proper_layout(moving->spans->store.layout, message, &front);
    if (!layout || layout->tail == 0)
        return;
    gyre_error_hold(); /* drops the sentence about a rebuilt message that does not fit */
    const gyre_status status = gyre_layout_carry(layout, message + front, layout, scratch, &carrier);
    gyre_error_let_go();
    memcpy(&used, scratch, sizeof used);
    if (status != GYRE_OK || moving->status != GYRE_OK) {
        gyre_layout_visit_far(layout, scratch, used, give_back_ours, moving);
        return;
    }
    memcpy(message + front, scratch, used);
    used += front;
    memcpy(message, &used, sizeof used);
}

static void spans_recall(gyre_queue *queue, void *requests, size_t first, size_t count)
{
    struct moving moving = {.queue = queue, .spans = spans_of(queue)};
    const gyre_layout *layout = spans_of(queue)->store.layout;
    for (size_t i = first; i < count; i++) {
        unsigned char *request = (unsigned char *)requests + i * gyre_ring_of(queue)->request_size;
        gyre_layout_visit_far(layout, request, gyre_layout_length(layout, request), give_back_ours, &moving);
    }
}

/* Rooms first, for which the request may have to wait and then holds nothing; then what moves if there is room for it. */
static gyre_status carry_request(struct moving *moving, unsigned char *message, uint64_t length,
                                 unsigned char *scratch)
{
    const gyre_layout *layout = moving->spans->store.layout;
    if (moving->units)
        moving->status = await_rooms(moving, message, length);
    if (moving->status != GYRE_OK)
        return moving->status;
    if (length > moving->spans->store.threshold)
        carry_spans(moving, message, scratch);
    if (moving->units)
        gyre_layout_visit_far(layout, message, gyre_layout_length(layout, message), large_upload, moving);
    while (moving->first) /* after a failure: rooms of spans that were not uploaded */
        give_room(moving->spans, large_next_room(moving));
    if (moving->status != GYRE_OK)
        spans_recall(moving->queue, message, 0, 1);
    return moving->status;
}

static gyre_status request_move_spans(struct moving *moving, unsigned char *message, unsigned char *scratch)
{
    const gyre_layout *layout = moving->spans->store.layout;
    const uint64_t length = gyre_layout_length(layout, message);
    gyre_error_hold(); /* drops the sentence about a malformed message: the device refuses it */
    const bool is_whole = gyre_layout_check_message(layout, message, length) == GYRE_OK;
    gyre_error_let_go();
    if (!is_whole)
        return GYRE_OK;
    moving->units = moving->largest = 0;
    gyre_layout_visit_far(layout, message, length, request_look, moving);
    if (moving->status == GYRE_OK)
        moving->status = check_large(moving);
    return moving->status == GYRE_OK ? carry_request(moving, message, length, scratch) : moving->status;
}

static gyre_status spans_admit(gyre_queue *queue, void *requests, size_t *count, uint64_t deadline_ns)
{
    struct moving moving = {.queue = queue, .spans = spans_of(queue), .deadline_ns = deadline_ns};
    unsigned char *scratch = malloc(gyre_ring_of(queue)->request_size);
    size_t done = 0;
    if (!scratch)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a request of %u bytes",
                              gyre_ring_of(queue)->request_size);
    while (done < *count &&
           request_move_spans(&moving, (unsigned char *)requests + done * gyre_ring_of(queue)->request_size,
                              scratch) == GYRE_OK) {
        done++;
        moving.deadline_ns =
            GYRE_NO_WAIT; /* moved requests have to be sent before the next can wait for room */
    }
    free(scratch);
    if (done && (moving.status == GYRE_AGAIN || moving.status == GYRE_OK)) {
        *count = done;
        return GYRE_OK;
    }
    spans_recall(queue, requests, 0, done);
    return moving.status;
}

/* ---- requests in the ring ---- */

struct noting {
    const gyre_queue *queue;
    uint32_t *held;
};

static void room_note(void *context, gyre_far *far)
{
    struct noting *noting = context;
    struct gyre_queue_spans *spans = spans_of(noting->queue);
    spans->store.settle(noting->queue, far);
    if (far->handle.id != spans->store.handle)
        return;
    const uint32_t unit = (uint32_t)(far->handle.offset / GYRE_ROOM_UNIT);
    spans->next[unit] = *noting->held;
    *noting->held = unit + 1;
}

static void spans_sent(gyre_queue *queue, const struct gyre_sending *sending)
{
    const gyre_layout *layout = spans_of(queue)->store.layout;
    for (uint64_t index = sending->first; index != sending->end; index++) {
        struct noting noting = {queue, &spans_of(queue)->held[index & gyre_ring_of(queue)->mask]};
        *noting.held = 0;
        if (sending->in_place)
            continue;
        /* the queue's own copy of the requests (gyre_queue_admit, or stages/levels.c), so it may be written */
        unsigned char *request =
            (unsigned char *)(uintptr_t)sending->requests + (index - sending->first) * sending->stride;
        gyre_layout_visit_far(layout, request, gyre_layout_length(layout, request), room_note, &noting);
    }
}

static void spans_passed(gyre_queue *queue, uint64_t first, uint64_t end)
{
    struct gyre_queue_spans *spans = spans_of(queue);
    for (uint64_t index = first; index != end; index++) {
        uint32_t *held = &spans->held[index & gyre_ring_of(queue)->mask];
        while (*held) {
            const uint32_t unit = *held - 1;
            *held = spans->next[unit];
            give_room(spans, (uint64_t)unit * GYRE_ROOM_UNIT);
        }
    }
}

/* ---- dead letters ---- */

static bool span_fetch(void *context, const gyre_far *far, void *items)
{
    const struct moving *moving = context;
    const struct gyre_span_store *store = &moving->spans->store;
    /* no error if the items cannot be fetched any more: the dead letter then has only their size */
    gyre_error_hold();
    const gyre_status status = store->download(store->context, far->handle.offset, items, far->handle.size);
    gyre_error_let_go();
    return status == GYRE_OK;
}

uint32_t gyre_spans_bring_back(const gyre_queue *queue, void *request, uint32_t length)
{
    struct moving moving = {.spans = spans_of(queue)};
    const struct gyre_carrier carrier = {.context = &moving, .is_ours = is_ours, .fetch = span_fetch};
    unsigned char *message = request, *scratch = malloc(gyre_ring_of(queue)->request_size);
    uint32_t front, used = length;
    if (!scratch || length < gyre_ring_of(queue)->request_least)
        goto done;
    const gyre_layout *layout = proper_layout(spans_of(queue)->store.layout, message, &front);
    if (!layout || layout->tail == 0 ||
        gyre_layout_check_message(layout, message + front, length - front) != GYRE_OK ||
        gyre_layout_carry(layout, message + front, layout, scratch, &carrier) != GYRE_OK)
        goto done;
    memcpy(&used, scratch, sizeof used);
    memcpy(message + front, scratch, used);
    used += front;
    memcpy(message, &used, sizeof used);
done:
    free(scratch);
    return used;
}

/* ---- making ---- */

static void spans_destroy(gyre_queue *queue, void *state)
{
    struct gyre_queue_spans *spans = state;
    (void)queue;
    gyre_rooms_finish(&spans->rooms);
    pthread_mutex_destroy(&spans->lock);
    free(spans->held);
    free(spans->next);
    free(spans);
}

gyre_status gyre_spans_create(gyre_queue *queue, const struct gyre_span_store *store)
{
    static const struct gyre_queue_stage stage = {.number = GYRE_STAGE_SPANS,
                                                  .admit = spans_admit,
                                                  .recall = spans_recall,
                                                  .sent = spans_sent,
                                                  .passed = spans_passed,
                                                  .count = spans_count,
                                                  .destroy = spans_destroy};
    struct gyre_queue_spans *spans = calloc(1, sizeof *spans);
    if (!spans)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for the spans of a queue");
    spans->store = *store;
    pthread_mutex_init(&spans->lock, NULL);
    gyre_status status = gyre_rooms_init(&spans->rooms, store->size);
    spans->held = calloc(gyre_ring_of(queue)->capacity, sizeof *spans->held);
    spans->next = calloc(store->size / GYRE_ROOM_UNIT + 1, sizeof *spans->next);
    gyre_stage_add(queue, &stage, spans);
    if (status == GYRE_OK && (!spans->held || !spans->next))
        status = gyre_error_set(GYRE_EXHAUSTED, "no memory for the spans of a queue");
    return status;
}
