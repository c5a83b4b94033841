/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the Python package does with queues (batch.h). Never touches an object of Python, takes no lock.
 *
 * Closing: the closer sets `closed` and then reads `busy`; a call raises `busy` and then reads `closed`. Both are
 * sequentially consistent, so at least one of the two sees the other.
 */
#include "batch.h"

#include <gyre/keyed.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 128,   /* messages that are received by one call: their completions stay in the nearest cache */
    LOOK = 1024,   /* messages of a batch between two looks at the clock */
    STACKED = 256, /* views that need no memory of the heap */
    WORD = 8,      /* bytes that are zeroed by one store */
    ZEROED = 64,   /* requests of more bytes are zeroed by memset */
    SLICE_MS = 50  /* the longest wait between two looks at Python's signals */
};

static bool gate_enter(gyrepy_gate *gate)
{
    __atomic_fetch_add(&gate->busy, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&gate->closed, __ATOMIC_SEQ_CST))
        return true;
    __atomic_fetch_sub(&gate->busy, 1, __ATOMIC_SEQ_CST);
    return false;
}

static int gate_leave(gyrepy_gate *gate, gyre_status status)
{
    __atomic_fetch_sub(&gate->busy, 1, __ATOMIC_SEQ_CST);
    return (int)status;
}

int gyrepy_close(gyrepy_gate *gate)
{
    __atomic_store_n(&gate->closed, 1, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&gate->busy, __ATOMIC_SEQ_CST) == 0;
}

static bool lane_enter(gyrepy_lane *lane)
{
    return gate_enter(&lane->gate);
}

static int lane_leave(gyrepy_lane *lane, gyre_status status)
{
    return gate_leave(&lane->gate, status);
}

/* The end of the slice of a wait that begins now. */
static uint64_t slice_end(uint64_t deadline_ns)
{
    if (deadline_ns == GYRE_NO_WAIT)
        return GYRE_NO_WAIT;
    const uint64_t end = gyre_now_ns() + SLICE_MS * UINT64_C(1000000);
    return end < deadline_ns ? end : deadline_ns;
}

/* What a wait until `end` says of a wait until the deadline. */
static int slice_status(int status, uint64_t end, uint64_t deadline_ns)
{
    return status == GYRE_TIMEOUT && end != deadline_ns ? GYREPY_MORE : status;
}

/* ---- kernels ---- */

int gyrepy_kernel_info(gyrepy_kernel *kernel, gyre_kernel_info *info)
{
    if (!gate_enter(&kernel->gate))
        return GYREPY_CLOSED;
    return gate_leave(&kernel->gate, gyre_kernel_info_get(kernel->kernel, info));
}

int gyrepy_kernel_state_read(gyrepy_kernel *kernel, void *state, size_t size)
{
    if (!gate_enter(&kernel->gate))
        return GYREPY_CLOSED;
    return gate_leave(&kernel->gate, gyre_kernel_state_read(kernel->kernel, state, size));
}

int gyrepy_kernel_key_read(gyrepy_kernel *kernel, const char *key, void *state, size_t size)
{
    if (!gate_enter(&kernel->gate))
        return GYREPY_CLOSED;
    return gate_leave(&kernel->gate, gyre_kernel_key_read_text(kernel->kernel, key, state, size));
}

int gyrepy_kernel_activate(gyrepy_kernel *kernel, uint64_t deadline_ns)
{
    if (!gate_enter(&kernel->gate))
        return GYREPY_CLOSED;
    return gate_leave(&kernel->gate, gyre_kernel_activate(kernel->kernel, deadline_ns));
}

int gyrepy_kernel_deactivate(gyrepy_kernel *kernel, uint64_t deadline_ns)
{
    if (!gate_enter(&kernel->gate))
        return GYREPY_CLOSED;
    return gate_leave(&kernel->gate, gyre_kernel_deactivate(kernel->kernel, deadline_ns));
}

int gyrepy_kernel_terminate(gyrepy_kernel *kernel, uint64_t drain_deadline_ns, uint64_t *unhandled)
{
    if (!gate_enter(&kernel->gate))
        return GYREPY_CLOSED;
    return gate_leave(&kernel->gate, gyre_kernel_terminate(kernel->kernel, drain_deadline_ns, unhandled));
}

/* ---- messages ---- */

static gyre_status lane_send(gyrepy_lane *lane, const void *requests, size_t size, size_t count, size_t *sent,
                             uint64_t deadline_ns)
{
    const gyre_status status = gyre_send_batch(lane->queue, requests, size, count, sent, deadline_ns);
    __atomic_fetch_add(&lane->owed, *sent, __ATOMIC_RELAXED);
    return status;
}

static gyre_status lane_receive(gyrepy_lane *lane, void *replies, size_t size, size_t count,
                                gyre_completion *completions, size_t *received, uint64_t deadline_ns)
{
    const gyre_status status =
        gyre_receive_batch(lane->queue, replies, size, count, completions, received, deadline_ns);
    __atomic_fetch_sub(&lane->owed, *received, __ATOMIC_RELAXED);
    return status;
}

int gyrepy_send(gyrepy_lane *lane, const void *requests, size_t size, size_t count, size_t *sent,
                uint64_t deadline_ns)
{
    size_t accepted = 0;
    if (!lane_enter(lane))
        return GYREPY_CLOSED;
    const gyre_status status = lane_send(lane, requests, size, count, &accepted, deadline_ns);
    if (sent)
        *sent = accepted;
    return lane_leave(lane, status);
}

int gyrepy_receive(gyrepy_lane *lane, void *replies, size_t size, size_t count, gyre_completion *completions,
                   size_t *received, uint64_t deadline_ns)
{
    size_t came = 0;
    if (!lane_enter(lane))
        return GYREPY_CLOSED;
    const gyre_status status = lane_receive(lane, replies, size, count, completions, &came, deadline_ns);
    if (received)
        *received = came;
    return lane_leave(lane, status);
}

int gyrepy_exchange(gyrepy_lane *lane, const void *request, size_t request_size, void *reply,
                    size_t reply_size, gyre_completion *completion, uint64_t deadline_ns)
{
    if (!lane_enter(lane))
        return GYREPY_CLOSED;
    const uint64_t end = slice_end(deadline_ns);
    gyre_status status = GYRE_OK;
    if (!lane->owed) {
        status = gyre_send(lane->queue, request, request_size, NULL, end);
        lane->owed = status == GYRE_OK;
    }
    if (status == GYRE_OK) {
        status = gyre_receive(lane->queue, reply, reply_size, completion, end);
        if (status == GYRE_OK)
            lane->owed = 0;
    }
    return slice_status(lane_leave(lane, status), end, deadline_ns);
}

/* ---- in place ---- */

/* For a reservation, or a peek, that Gyre gave: it counts as open from here on. False, and it has to be given back, when the
 * lane was closed meanwhile: the closer sets `closed` and then reads `in_place`. */
static bool in_place_begin(gyrepy_lane *lane)
{
    __atomic_fetch_add(&lane->in_place, 1, __ATOMIC_SEQ_CST);
    return !__atomic_load_n(&lane->gate.closed, __ATOMIC_SEQ_CST);
}

/* The last word about a queue that is not closed before: what ends a reservation or a peek enters no gate, which the closer may
 * have shut for a moment. */
static void in_place_end(gyrepy_lane *lane)
{
    __atomic_fetch_sub(&lane->in_place, 1, __ATOMIC_SEQ_CST);
}

/* Whether `place` is so many whole strides away from `first`, in whichever direction. */
static bool is_in_step(uintptr_t first, uintptr_t place, size_t stride)
{
    return stride && (place < first ? first - place : place - first) % stride == 0;
}

/* The window has the block afterwards: OK when it had it before, or WIDER. One message alone tells no stride. */
static int window_take(gyrepy_window *window, const void *block, size_t count, size_t stride)
{
    const uintptr_t place = (uintptr_t)block;
    int status = GYRE_OK;
    if (count == 1 && is_in_step(window->first, place, window->stride))
        stride = window->stride;
    if (window->stride != stride || !is_in_step(window->first, place, stride)) {
        *window = (gyrepy_window){.first = place, .count = count, .stride = stride};
        status = GYREPY_WIDER;
    } else if (place < window->first) {
        window->count += (window->first - place) / stride;
        window->first = place;
        status = GYREPY_WIDER;
    }
    window->begin = stride ? (place - window->first) / stride : 0;
    window->end = window->begin + count;
    if (window->end > window->count) {
        window->count = window->end;
        status = GYREPY_WIDER;
    }
    return status;
}

/* Zeroes the first `size` bytes of each request. Small ones word by word, which is quicker than a call for each. */
static void requests_zero(char *first, size_t stride, size_t count, size_t size, uint32_t least)
{
    const bool small = size <= ZEROED && size % WORD == 0;
    for (char *request = first; count--; request += stride) {
        for (size_t at = 0; small && at < size; at += WORD)
            memset(request + at, 0, WORD);
        if (!small)
            memset(request, 0, size);
        if (least)
            memcpy(request, &least, sizeof least);
    }
}

int gyrepy_reserve(gyrepy_lane *lane, size_t size, uint32_t least, size_t count, gyrepy_slots *out,
                   uint64_t deadline_ns)
{
    if (!lane_enter(lane))
        return GYREPY_CLOSED;
    const uint64_t end = slice_end(deadline_ns);
    void *first = NULL;
    size_t stride = 0;
    const gyre_status status = gyre_reserve(lane->queue, &first, &stride, &count, end);
    if (status != GYRE_OK)
        return slice_status(lane_leave(lane, status), end, deadline_ns);
    if (!in_place_begin(lane)) {
        (void)gyre_commit(lane->queue, 0);
        in_place_end(lane);
        return lane_leave(lane, GYRE_OK), GYREPY_CLOSED;
    }
    requests_zero(first, stride, count, size, least);
    out->count = count;
    return lane_leave(lane, GYRE_OK), window_take(&out->window, first, count, stride);
}

int gyrepy_commit(gyrepy_lane *lane, gyrepy_slots *slots, bool all)
{
    const size_t count = all ? slots->count : 0;
    const gyre_status status = gyre_commit(lane->queue, count);
    if (status == GYRE_OK)
        __atomic_fetch_add(&lane->owed, count, __ATOMIC_RELAXED);
    slots->count = 0;
    in_place_end(lane);
    return (int)status;
}

int gyrepy_release_views(gyrepy_lane *lane, gyrepy_views *views, bool all)
{
    const size_t count = all ? views->count : 0;
    const gyre_status status = gyre_release_views(lane->queue, count);
    if (status == GYRE_OK)
        __atomic_fetch_sub(&lane->owed, count, __ATOMIC_RELAXED);
    views->count = 0;
    in_place_end(lane);
    return (int)status;
}

/* How many views from the first on have its outcome, its length and an even distance. */
static void find_run(const gyre_view *views, size_t found, gyrepy_views *out)
{
    const gyre_completion_outcome outcome = views[0].outcome;
    const uint32_t length = views[0].length;
    uintptr_t before = (uintptr_t)views[0].reply, stride = 0;
    size_t count = 1;
    if (found > 1 && (uintptr_t)views[1].reply > before)
        stride = (uintptr_t)views[1].reply - before;
    for (; stride && count < found && views[count].outcome == outcome && views[count].length == length;
         count++) {
        const uintptr_t here = (uintptr_t)views[count].reply;
        if (here - before != stride)
            break;
        before = here;
    }
    *out = (gyrepy_views){.first = views[0].reply,
                          .count = count,
                          .stride = count > 1 ? stride : 0,
                          .index = views[0].index,
                          .outcome = outcome,
                          .length = length,
                          .window = out->window};
}

/* gyre_peek, and again while each look finds more of what is owed: a device that is at work on a batch has more of it an
 * instant later, and a block of Python for each handful would cost more than the look. */
static gyre_status peek_many(gyrepy_lane *lane, gyre_view *views, size_t count, size_t *found, uint64_t end)
{
    const uint64_t owed = __atomic_load_n(&lane->owed, __ATOMIC_RELAXED);
    const size_t wanted = count < owed ? count : (size_t)owed;
    gyre_status status = gyre_peek(lane->queue, views, count, found, end);
    for (size_t before = 0; status == GYRE_OK && *found<wanted && * found> before;) {
        before = *found;
        (void)gyre_release_views(lane->queue, 0);
        status = gyre_peek(lane->queue, views, count, found, end); /* another thread may have taken them */
    }
    return status;
}

static int views_peek(gyrepy_lane *lane, gyre_view *views, size_t size, size_t count, gyrepy_views *out,
                      uint64_t deadline_ns)
{
    if (!lane_enter(lane))
        return GYREPY_CLOSED;
    const uint64_t end = slice_end(deadline_ns);
    size_t found = 0;
    const gyre_status status = peek_many(lane, views, count, &found, end);
    if (status != GYRE_OK)
        return slice_status(lane_leave(lane, status), end, deadline_ns);
    if (!in_place_begin(lane)) {
        (void)gyre_release_views(lane->queue, 0);
        in_place_end(lane);
        return lane_leave(lane, GYRE_OK), GYREPY_CLOSED;
    }
    find_run(views, found, out);
    const bool plain = out->outcome == GYRE_REPLIED && out->length >= size;
    return lane_leave(lane, GYRE_OK),
           plain ? window_take(&out->window, out->first, out->count, out->stride) : GYREPY_OTHER;
}

int gyrepy_views_peek(gyrepy_lane *lane, size_t size, size_t count, gyrepy_views *out, uint64_t deadline_ns)
{
    gyre_view few[STACKED];
    const uint64_t owed = __atomic_load_n(&lane->owed, __ATOMIC_RELAXED);
    const size_t most = owed > STACKED ? (size_t)owed : STACKED; /* however many the caller has room for */
    count = count < most ? count : most;
    if (count <= STACKED)
        return views_peek(lane, few, size, count, out, deadline_ns);
    gyre_view *many = count <= SIZE_MAX / sizeof *many ? malloc(count * sizeof *many) : NULL;
    if (!many)
        return GYRE_EXHAUSTED;
    const int status = views_peek(lane, many, size, count, out, deadline_ns);
    free(many);
    return status;
}

/* ---- what a queue says ---- */

int gyrepy_descriptor(gyrepy_lane *lane, int *descriptor)
{
    if (!lane_enter(lane))
        return GYREPY_CLOSED;
    return lane_leave(lane, gyre_queue_descriptor(lane->queue, descriptor));
}

int gyrepy_stats(gyrepy_lane *lane, gyre_queue_stats *stats)
{
    if (!lane_enter(lane))
        return GYREPY_CLOSED;
    return lane_leave(lane, gyre_queue_stats_get(lane->queue, stats));
}

int gyrepy_fetch(gyrepy_lane *lane, const void *message, size_t size, gyre_part part, size_t item_size,
                 void *items, size_t count)
{
    if (!lane_enter(lane))
        return GYREPY_CLOSED;
    return lane_leave(lane, gyre_message_fetch(lane->queue, message, size, part, item_size, 0, items, count));
}

/* ---- batches ---- */

/* Looks at the completions of the replies that were just received. */
static void batch_note(gyrepy_batch *batch, const gyre_completion *completions, size_t count)
{
    uint8_t *const outcomes = batch->outcomes;
    for (size_t i = 0; i < count; i++) {
        const size_t place = batch->received + i;
        if (outcomes)
            outcomes[place] = (uint8_t)completions[i].outcome;
        if (completions[i].outcome == GYRE_REPLIED)
            continue;
        if (batch->reply_size)
            memset(batch->replies + place * batch->reply_size, 0, batch->reply_size);
        if (completions[i].outcome != GYRE_NOT_REPLIED && batch->failures++ == 0) {
            batch->first_failure = place;
            batch->failure = completions[i];
        }
    }
}

static gyre_status batch_receive(gyrepy_lane *lane, gyrepy_batch *batch, uint64_t deadline_ns)
{
    gyre_completion completions[CHUNK];
    const size_t owed = batch->sent - batch->received;
    size_t received = 0;
    const gyre_status status =
        lane_receive(lane, batch->replies + batch->received * batch->reply_size, batch->reply_size,
                     owed < CHUNK ? owed : CHUNK, completions, &received, deadline_ns);
    batch_note(batch, completions, received);
    batch->received += received;
    return status;
}

/* Sends what there is room for. A full queue is no failure while completions, which make room, are under way. */
static gyre_status batch_send(gyrepy_lane *lane, gyrepy_batch *batch, uint64_t deadline_ns)
{
    const bool under_way = batch->sent > batch->received;
    size_t sent = 0;
    const gyre_status status =
        lane_send(lane, batch->requests + batch->sent * batch->request_size, batch->request_size,
                  batch->count - batch->sent, &sent, under_way ? GYRE_NO_WAIT : deadline_ns);
    batch->sent += sent;
    return status == GYRE_AGAIN && (sent || under_way) ? GYRE_OK : status;
}

int gyrepy_batch_run(gyrepy_lane *lane, gyrepy_batch *batch, uint64_t deadline_ns)
{
    gyre_status status = GYRE_OK;
    size_t looked = batch->received;
    if (!lane_enter(lane))
        return GYREPY_CLOSED;
    while (status == GYRE_OK && batch->received < batch->count) {
        if (batch->sent < batch->count)
            status = batch_send(lane, batch, deadline_ns);
        if (status == GYRE_OK && batch->sent > batch->received)
            status = batch_receive(lane, batch, deadline_ns);
        /* where messages come without a pause, nothing above looks at the clock */
        if (status == GYRE_OK && batch->received < batch->count && batch->received - looked >= LOOK) {
            looked = batch->received;
            status = gyre_now_ns() < deadline_ns ? GYRE_OK : GYRE_TIMEOUT;
        }
    }
    return lane_leave(lane, status);
}
