/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See cpu_keyed.h. Takes no lock.
 *
 * A block may be behind: a request that it has not passed yet was completed by its owner, its client got the reply, and another
 * request lies in the slot by now. Whoever reads a key looks at the reply slot afterwards: while there is no reply, no client
 * has written the request's bytes anew.
 *
 * In rings that another program can write, and in those whose messages lie back to back, a key can change while the blocks look
 * at it, so that each block takes the request for another's. The last block that passes over such a request fails it.
 */
#include "backends/cpu/workers/cpu_keyed.h"

#include <limits.h>

#include "backends/cpu/links/cpu_key_copy.h"
#include "backends/cpu/cpu_ready.h"
#include "backends/cpu/check/cpu_turns.h"
#define GYRE_TIMED  1
#define GYRE_HEADED 1
#define GYRE_SEALED 1
#include "gyre/kernel.h"
#include "gyre/keyed_layout.h"
#include "gyre/waiting.h"

enum {
    WINDOW = 32, /* requests whose keys are looked up at once, so that their memory is on its way together */
    LOOKS = 8    /* places of an index that a look ahead goes through */
};

/* What a worker found out about a window of requests. */
struct window {
    gyre_u64 count;        /* requests that it may handle or pass */
    uint32_t own;          /* a bit for each: this block handles it */
    bool others;           /* some wait for other blocks */
    gyre_u64 hash[WINDOW]; /* of the keys of own requests */
};

/* Fetches a line that will be written. Compilers for any x86-64 would fetch it to be read, and the store would wait once more. */
static void fetch_to_write(const void *at)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)at));
#else
    __builtin_prefetch(at, 1);
#endif
}

static const gyre_keyed_table *table_of(const struct cpu_worker *worker)
{
    return worker->resident->state;
}

static gyre_u64 sequence_of(const gyre_slot *slot)
{
    return __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE);
}

static const gyre_slot *reply_slot(const struct cpu_queue *queue, gyre_u64 index)
{
    return (const gyre_slot *)(const void *)(queue->run.replies +
                                             (index & queue->run.mask) * queue->run.reply_stride);
}

/* Whether `slot` holds the sequence of `index`, or of a later turn of the ring. */
static bool has_come(const gyre_slot *slot, gyre_u64 index)
{
    return (gyre_i64)(sequence_of(slot) - (index + 1)) >= 0;
}

static bool is_completed(const struct cpu_queue *queue, gyre_u64 index)
{
    return has_come(reply_slot(queue, index), index);
}

/* Whether a key may change while it is read. */
static bool is_shifty(const struct cpu_queue *queue)
{
    return queue->run.bridge || queue->run.foreign & GYRE_FOREIGN_RING;
}

/* A length that expiry changes is read as one word, and ThreadSanitizer is not asked, as of the key (cpu_key_copy.h). */
#ifdef CPU_UNDER_TSAN
__attribute__((__no_sanitize_thread__, __noinline__)) static gyre_u32 length_of(const gyre_slot *in)
{
    return *(const volatile gyre_u32 *)&in->length;
}
#else
static inline gyre_u32 length_of(const gyre_slot *in)
{
    return __atomic_load_n(&in->length, __ATOMIC_RELAXED);
}
#endif

/*
 * Whether the request is this block's; *hash: of its key. A request that its sender took back is nobody's where its bytes may be
 * another's by now; elsewhere its key is still there.
 */
static bool is_own(const struct cpu_worker *worker, const struct cpu_queue *queue, gyre_u64 index,
                   gyre_u64 *hash)
{
    const gyre_cpu_kernel *kernel = worker->resident->kernel;
    const gyre_slot *in = cpu_request_slot(queue, index);
    const gyre_u32 length = length_of(in);
    const unsigned char *request = (const unsigned char *)(in + 1);
    unsigned char key[GYRE_KEYED_KEY_MAX];
    if (queue->run.bridge)
        request = gyre_bridged_request_(&queue->bridge, in, length);
    cpu_key_copy(key, request + kernel->key_offset, kernel->key_size);
    GYRE_TAKEN_(key);
    *hash = gyre_keyed_hash(table_of(worker), key);
    if (worker->resident->blocks == 1)
        return true;
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the looks below come after the key was read */
    if (queue->run.bridge &&
        (length < kernel->sizes.request_least || length > kernel->sizes.request || length != length_of(in)))
        return false;
    return gyre_keyed_owner(table_of(worker), *hash, worker->resident->blocks) == worker->block &&
           !is_completed(queue, index);
}

bool cpu_keyed_can_go_on(const struct cpu_worker *worker, const struct cpu_queue *queue, bool *own)
{
    gyre_u64 hash;
    const gyre_slot *in = cpu_request_slot(queue, queue->next);
    *own = sequence_of(in) == queue->next + 1 && is_own(worker, queue, queue->next, &hash);
    return has_come(in, queue->next);
}

/* ---- a window ---- */

static void look_at_keys(const struct cpu_worker *worker, const struct cpu_queue *queue,
                         struct window *window)
{
    const gyre_keyed_table *table = table_of(worker);
    window->others = false;
    for (window->count = window->own = 0; window->count < WINDOW; window->count++) {
        const gyre_u64 index = queue->next + window->count;
        const gyre_slot *in = cpu_request_slot(queue, index);
        gyre_u64 *hash = &window->hash[window->count];
        if (!has_come(in, index))
            break;
        if (sequence_of(in) != index + 1 || !is_own(worker, queue, index, hash)) {
            window->others = window->others || !is_completed(queue, index);
            continue;
        }
        window->own |= 1u << window->count;
        /* else the stores of one reply would wait for those of the reply before */
        fetch_to_write(reply_slot(queue, index));
        gyre_keyed_part *part = gyre_keyed_part_at(table, gyre_keyed_part_of(table, *hash));
        __builtin_prefetch(gyre_keyed_places(part) + gyre_keyed_home(table, (gyre_u32)(*hash >> 32)));
    }
}

/*
 * Fetches the entry of a key, as far as a few places of the index tell where it is. A new key gets the part's next entry: the
 * first of those that were never used, unless one is free again.
 */
static void fetch_entry(const gyre_keyed_table *table, gyre_u64 hash)
{
    gyre_keyed_part *part = gyre_keyed_part_at(table, gyre_keyed_part_of(table, hash));
    const gyre_u64 *places = gyre_keyed_places(part);
    const gyre_u32 upper = (gyre_u32)(hash >> 32);
    gyre_u32 at = gyre_keyed_home(table, upper), number = part->free ? part->free - 1 : part->fresh;
    for (int looks = 0; looks < LOOKS && places[at]; looks++) {
        if (places[at] >> 32 == upper) {
            number = (gyre_u32)places[at] - 1;
            break;
        }
        at = at + 1 == table->places ? 0 : at + 1;
    }
    if (number < table->capacity)
        fetch_to_write(gyre_keyed_entry_at(table, part, number));
}

static void fetch_entries(const struct cpu_worker *worker, const struct window *window)
{
    for (uint32_t left = window->own; left; left &= left - 1)
        fetch_entry(table_of(worker), window->hash[__builtin_ctz(left)]);
}

/*
 * Passes the bell on: a client that sent one request woke one worker, which need not be the owner's. One that is about to sleep
 * sees the request, because it looks once more after it said that it is parked.
 */
static void wake_owners(const struct cpu_worker *worker)
{
    gyre_control_region *control = worker->resident->control;
    if (__atomic_load_n(&control->device.parked, __ATOMIC_SEQ_CST))
        gyre_bell_ring(&control->doorbell.bell, INT_MAX);
}

static bool is_called_away(const struct cpu_queue *queue)
{
    return __atomic_load_n(queue->run.command, __ATOMIC_RELAXED) != queue->run.expected ||
           __atomic_load_n(&queue->run.host->waiting, __ATOMIC_RELAXED);
}

/* Other blocks read the cursor, where keys may change. */
static void move_cursor(struct cpu_queue *queue, gyre_u64 next)
{
    queue->end = next;
    __atomic_store_n(&queue->next, next, is_shifty(queue) ? __ATOMIC_SEQ_CST : __ATOMIC_RELEASE);
}

/* Handles the window's own requests, neighbours in one run. *over: the worker should look at other things first. */
static gyre_u64 run_window(struct cpu_worker *worker, struct cpu_queue *queue, const struct window *window,
                           cpu_keyed_runner runner, bool *over)
{
    const gyre_u64 first = queue->next;
    gyre_u64 handled = 0;
    for (uint32_t left = window->own; left && !*over;) {
        const uint32_t at = (uint32_t)__builtin_ctz(left);
        const uint32_t run = ~(left >> at) ? (uint32_t)__builtin_ctz(~(left >> at)) : WINDOW - at;
        const uint32_t length = (uint32_t)cpu_turns_most(worker, run);
        queue->run.first = first + at;
        queue->run.limit = length;
        const gyre_u64 done = runner(worker, queue, &queue->run);
        handled += done;
        move_cursor(queue, first + at + done);
        left = at + length == WINDOW ? 0 : left & ~((1u << (at + length)) - 1);
        *over = done < run || is_called_away(queue);
    }
    if (!*over)
        move_cursor(queue, first + window->count);
    return handled;
}

/* ---- requests that nobody took ---- */

/*
 * Whether the request began a flow: its handler may have sent messages, and then it is completed when these were handled. Its owner
 * noted that before it passed the request. Of the first request of a queue nobody can tell, so it counts as one that did.
 */
static bool has_begun(const struct cpu_queue *queue, gyre_u64 index)
{
    if (!queue->entry)
        return false;
    const gyre_flow *flow = (const gyre_flow *)(uintptr_t)queue->entry->flows + (index & queue->run.mask);
    return __atomic_load_n(&flow->index, __ATOMIC_RELAXED) == index;
}

/* Whether each worker reads the same table of queues, so that their cursors are those of the same queue. */
static bool all_follow(const struct cpu_worker *worker)
{
    for (uint32_t i = 0; i < worker->resident->blocks; i++)
        if (__atomic_load_n(&worker->resident->workers[i].line->acknowledged, __ATOMIC_ACQUIRE) !=
            worker->command)
            return false;
    return true;
}

static gyre_u64 least_cursor(const struct cpu_worker *worker, gyre_u64 number)
{
    const struct gyre_resident *resident = worker->resident;
    gyre_u64 least = __atomic_load_n(&worker->queues[number].next, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < resident->blocks; i++) {
        const gyre_u64 next = __atomic_load_n(&resident->workers[i].queues[number].next, __ATOMIC_SEQ_CST);
        least = (gyre_i64)(next - least) < 0 ? next : least;
    }
    return least;
}

/*
 * Fails requests that every block passed over, and returns how many. The queue's ticket says how far that was looked at, and
 * orders the blocks that look. Seq_cst: of two blocks that pass a request last, one sees the other's cursor.
 */
static gyre_u64 fail_orphans(struct cpu_worker *worker, struct cpu_queue *queue)
{
    gyre_u64 *ticket = &queue->region->claim.next;
    const gyre_u64 end = least_cursor(worker, (gyre_u64)(queue - worker->queues));
    gyre_u64 index = __atomic_load_n(ticket, __ATOMIC_ACQUIRE), failed = 0;
    if (!all_follow(worker))
        return 0;
    while ((gyre_i64)(end - index) > 0) {
        const bool lost = !has_begun(queue, index) && !is_completed(queue, index);
        if (!__atomic_compare_exchange_n(ticket, &index, index + 1, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            continue;
        if (lost) {
            gyre_slot *out = (gyre_slot *)(void *)(queue->run.replies +
                                                   (index & queue->run.mask) * queue->run.reply_stride);
            gyre_write_failure_(out, GYRE_FAILURE_LENGTH, GYRE_LENGTH_TEXT_);
            failed++;
            __atomic_store_n(&out->sequence, index + 1,
                             __ATOMIC_RELEASE); /* pairs with the client's acquire */
        }
        index++;
    }
    queue->run.failed += failed;
    return failed;
}

/* ---- reminders ---- */

/*
 * The time up to which keys may be reminded. By ticks: that of the last tick, once no request is left that may have been sent before
 * it; NO_TIME, which is before all that an earlier start of the machine left: there is none.
 */
#define NO_TIME INT64_MIN
static int64_t time_of(const struct cpu_worker *worker)
{
    int64_t time_ns = NO_TIME;
    if (!cpu_keyed_has_ticks(worker))
        return (int64_t)cpu_turns_now(worker);
    for (uint32_t i = 0; i < worker->queue_count; i++) {
        const struct cpu_queue *queue = &worker->queues[i];
        if (!queue->region || queue->run.foreign & GYRE_FOREIGN_RING)
            continue;
        /* pairs with the host's release: the index is that of this tick, or a later one's */
        const uint64_t tick_ns = __atomic_load_n(&queue->region->host.tick_ns, __ATOMIC_ACQUIRE);
        const uint64_t index = __atomic_load_n(&queue->region->host.tick_index, __ATOMIC_RELAXED);
        if (tick_ns && (gyre_i64)(queue->next - index) >= 0)
            time_ns = (int64_t)tick_ns;
    }
    return time_ns;
}

bool cpu_keyed_has_due(const struct cpu_worker *worker)
{
    const int64_t due_ns = worker->context.next_due_ns;
    return due_ns != GYRE_KEYED_NO_DUE && (due_ns == 0 || time_of(worker) >= due_ns);
}

/* Tells the host when it has to announce a time. Relaxed: it looks again and again. */
static void tell_due(const struct cpu_worker *worker)
{
    int64_t due_ns = worker->context.next_due_ns;
    if (due_ns == 0) /* there it means that no key has a reminder */
        due_ns = -1;
    __atomic_store_n(&worker->line->due_ns, due_ns == GYRE_KEYED_NO_DUE ? 0 : due_ns, __ATOMIC_RELAXED);
}

bool cpu_keyed_remind(struct cpu_worker *worker)
{
    gyre_context *context = &worker->context;
    gyre_control_block *line = worker->line;
    int count = 0;
    context->by_sent = worker->resident->control->command.by_ticks;
    if (cpu_keyed_has_due(worker)) {
        __atomic_store_n(&line->working, line->heartbeat + 1, __ATOMIC_RELAXED);
        count = worker->resident->kernel->remind(worker->resident->state, context, (gyre_u64)time_of(worker));
        __atomic_store_n(&line->working, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&line->heartbeat, line->heartbeat + 1, __ATOMIC_RELAXED);
    }
    if (context->by_sent)
        tell_due(worker);
    return count > 0;
}

/* ---- a turn ---- */

gyre_u64 cpu_keyed_run(struct cpu_worker *worker, struct cpu_queue *queue, gyre_u64 most,
                       cpu_keyed_runner runner)
{
    struct window window;
    gyre_u64 handled = 0;
    bool over = false;
    do {
        look_at_keys(worker, queue, &window);
        fetch_entries(worker, &window);
        if (window.others)
            wake_owners(worker);
        handled += run_window(worker, queue, &window, runner, &over);
    } while (!over && window.count && handled < most);
    if (worker->resident->blocks > 1 && is_shifty(queue))
        handled += fail_orphans(worker, queue);
    return handled;
}
