/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed actors on CUDA: each block owns parts of the table (gyre/keyed_layout.h) and handles the messages of their keys. In files
 * that are compiled with GYRE_KEYED = 1. Included by cuda_resident.h.
 *
 * With three blocks or more, and messages of a line, some blocks read the rings and route each message to the block that owns its key
 * (cuda_keyed_routes.h). Otherwise block 0 alone reads the rings and writes replies: it fetches a run of messages (cuda_turn.h). With
 * one block the run lies in shared memory. With more it lies in device memory, block 0 posts it to the other blocks, each block handles
 * the messages whose keys it owns, and block 0 delivers the run when all are done. So no message crosses the bus twice, and there is
 * no lock.
 *
 * In a block, a thread for each message finds its key's entry, for all of the run at once. Then each part has one thread, which handles
 * the part's messages in the order of the ring. So one thread at a time changes a part, keys come and leave in the same order as on
 * the CPU, and a replay does what was done before. An entry that was found stays where it is until a key of its part leaves; behind
 * that, the thread finds the entries of the part's messages itself.
 */
#ifndef GYRE_DIALECT_CUDA_KEYED_H
#define GYRE_DIALECT_CUDA_KEYED_H

#define GYRE_CALLED_                      GYRE_HELPER
#define GYRE_REMINDS_NOW_(context)        gyre_time_ns(context)
#define GYRE_REMINDS_FAIL_(context, text) gyre_fail_((context), GYRE_FAILURE_KEYS, (text))
#include "gyre/dialect/keyed_reminders.h"

/*
 * The least number of messages that a run is allowed to have, however slow the handler is. Tests on a GPU made of software, where
 * everything is slow, raise it.
 */
#ifndef GYRE_KEYED_LEAST
#define GYRE_KEYED_LEAST 1
#endif

/*
 * Bytes of dynamic shared memory in front of messages: there stages have what the threads of a block share about a run, because what is
 * declared has room for 48 KiB, and their links take half of that.
 */
#define GYRE_KEYED_FRONT_ (GYRE_STAGE ? GYRE_KEYED_RUN_MOST : 0u)

#define GYRE_KEYED_PARTS_ (1u << GYRE_KEYED_PARTS_LOG2_MAX)
#define GYRE_KEYED_ROWS_  (GYRE_KEYED_THREADS / 32)

/** What the threads of a block share about a run. The bits are 0 between runs. */
struct gyre_keyed_run_ {
    gyre_u32 bits[GYRE_KEYED_ROWS_]
                 [GYRE_KEYED_PARTS_]; /* bit i of row r: message 32 r + i is of the part, and this block's */
    gyre_u32 rows[GYRE_KEYED_PARTS_]; /* bit r: row r has bits of the part */
    /* of each message 1 + the number of its key's entry (0: it has none yet), and in the upper half 1 + the next message of its part */
    gyre_u64 at[GYRE_KEYED_THREADS];
    gyre_u64 serial; /* of the post */
    gyre_u32 others; /* messages of the run that other blocks own */
    gyre_u32 there;  /* a run was posted */
};
static_assert(sizeof(gyre_keyed_run_) <= GYRE_KEYED_RUN_MOST, "room for messages beside it");

/** What blocks know of a stage's links (cuda_link_view.h). In other files there are none. */
#if GYRE_STAGE
typedef gyre_link_view_ gyre_keyed_links_;
#else
struct gyre_keyed_links_;
#endif

/* most bytes of a state that is in registers, or beside them, while its thread handles messages */
#define GYRE_KEYED_NEAR_MOST 128

/**
 * A part, while a thread handles the messages of a run that are of it. What the thread stores in device memory leaves the
 * multiprocessor's cache, so that a load of it takes as long as the way to the device's memory. So what one message changes and the
 * next one reads is here, and goes back when another key's turn comes, or before something else looks at the part.
 */
template <class K> struct gyre_keyed_turn_ {
    enum {
        near = K::gyre_its_state_size_ <= GYRE_KEYED_NEAR_MOST,
        words = near ? (K::gyre_its_state_size_ + 7) / 8 : 1
    };
    const gyre_keyed_table *table;
    gyre_keyed_part *part;
    gyre_u8 *entries;
    gyre_u64 entry_size;
    gyre_u32 state_offset;
    gyre_u32 found;          /* the lower half of gyre_keyed_run_.at of the message that is handled */
    gyre_u32 changed;        /* a key has left: what was found before does not count any more */
    gyre_u64 clock;          /* the part's */
    gyre_keyed_entry *entry; /* whose state is in `state`; NULL: none's */
    gyre_u64 state[words];
};

/** What a keyed actor does when keys come and go, when it does nothing; and when it reminds none. */
struct gyre_keyed_no_lives_ {
    enum { gyre_its_keys_leave_ = 0 };
    static __device__ __forceinline__ void gyre_its_born_(const void *, void *, gyre_context *)
    {
    }
    static __device__ __forceinline__ int gyre_its_leaves_(void *, gyre_context *)
    {
        return 0;
    }
};

struct gyre_keyed_no_reminders_ {
    enum { gyre_its_keys_are_reminded_ = 0 };
    static __device__ __forceinline__ void gyre_its_reminded_(void *, const gyre_reminder *, gyre_context *)
    {
    }
};

/** The hooks of a keyed actor, as gyre_keyed_hooks_<void(LIVES, REMINDERS)>: a comma would divide a macro's argument. */
template <class F> struct gyre_keyed_hooks_;
template <class L, class R> struct gyre_keyed_hooks_<void(L, R)> : L, R {
};

/* ---- one message ---- */

/* Copies a message's key to where it begins at a multiple of 8 bytes. */
template <class K> GYRE_HELPER void gyre_keyed_key_(const void *request, gyre_u64 *key)
{
#pragma unroll
    for (gyre_u32 i = 0; i < K::gyre_its_key_words_; i++)
        key[i] = 0;
    memcpy(key, K::gyre_its_key_(request), K::gyre_its_key_size_);
}

/* As gyre_keyed_hash, of a size that the compiler knows. */
template <class K>
GYRE_HELPER gyre_u64 gyre_keyed_hash_of_(const gyre_keyed_table *table, const gyre_u64 *key)
{
    const gyre_u64 seed[2] = {table->seed[0], table->seed[1]};
    return gyre_keyed_hash_bytes(seed, key, K::gyre_its_key_size_);
}

/* As gyre_keyed_find, with the number of the entry: 1 + it, or 0. */
template <class K>
GYRE_HELPER gyre_u32 gyre_keyed_find_of_(const gyre_keyed_table *table, gyre_keyed_part *part,
                                         const gyre_u64 *key, gyre_u64 hash)
{
    const gyre_u64 *const places = gyre_keyed_places(part);
    const gyre_u32 upper = (gyre_u32)(hash >> 32), count = table->places;
    gyre_u32 at = gyre_keyed_home(table, upper);
    gyre_u64 place;
#pragma unroll 1
    for (gyre_u32 looks = 0; (place = places[at]) && looks < count; looks++) {
        if ((gyre_u32)(place >> 32) == upper &&
            gyre_keyed_same(gyre_keyed_entry_at(table, part, (gyre_u32)place - 1) + 1, key,
                            K::gyre_its_key_size_))
            return (gyre_u32)place;
        at = at + 1 == count ? 0 : at + 1;
    }
    return 0;
}

template <class K>
GYRE_HELPER int gyre_keyed_make_room_(const gyre_keyed_table *table, gyre_keyed_part *part,
                                      gyre_context *gyre)
{
    typedef typename K::gyre_its_hooks_ hooks;
#pragma unroll 1
    for (gyre_u32 i = 0; hooks::gyre_its_keys_leave_ && i < GYRE_KEYED_LOOKS_; i++) {
        gyre_keyed_entry *entry = gyre_keyed_oldest_(table, part);
        const int waits = hooks::gyre_its_keys_are_reminded_ && gyre_keyed_due_of(table, entry)->place;
        if (!waits && hooks::gyre_its_leaves_(gyre_keyed_state(table, entry), gyre)) {
            gyre_keyed_remove_(table, part, entry);
            part->left++;
            return 1;
        }
        entry->used = ++part->clock;
    }
    return 0;
}

/* Has a state in the table again. */
template <class K> GYRE_HELPER void gyre_keyed_put_(gyre_keyed_turn_<K> *turn)
{
    if (!turn->entry)
        return;
    gyre_u64 *to = (gyre_u64 *)((gyre_u8 *)turn->entry + turn->state_offset);
    turn->entry->used = turn->clock; /* its message was the last one */
#pragma unroll
    for (gyre_u32 i = 0; i < gyre_keyed_turn_<K>::words; i++)
        to[i] = turn->state[i];
    turn->entry = 0;
}

/* Has a state for the handler: near, unless it is large. */
template <class K> GYRE_HELPER void gyre_keyed_take_(gyre_keyed_turn_<K> *turn, gyre_keyed_entry *entry)
{
    if (!gyre_keyed_turn_<K>::near || turn->entry == entry)
        return;
    gyre_keyed_put_<K>(turn);
    turn->entry = entry;
    const gyre_u64 *from = (const gyre_u64 *)((gyre_u8 *)entry + turn->state_offset);
#pragma unroll
    for (gyre_u32 i = 0; i < gyre_keyed_turn_<K>::words; i++)
        turn->state[i] = from[i];
}

#include "gyre/dialect/cuda_keyed_reminders.h"

/* Finds or makes the entry of the request's key by its hash. Returns 0 when the message failed. */
template <class K>
GYRE_HELPER int gyre_keyed_search_(gyre_keyed_turn_<K> *turn, const void *request, gyre_context *gyre,
                                   gyre_keyed_use_ *use)
{
    const gyre_keyed_table *const table = turn->table;
    gyre_keyed_part *const part = turn->part;
    gyre_u64 key[K::gyre_its_key_words_];
    gyre_keyed_key_<K>(request, key);
    const gyre_u64 hash = gyre_keyed_hash_of_<K>(table, key);
    const gyre_u32 found = gyre_keyed_find_of_<K>(table, part, key, hash);
    use->is_new = !found;
    if (found) {
        use->entry = gyre_keyed_entry_at(table, part, found - 1);
        return 1;
    }
    if (part->count == table->capacity) {
        gyre_keyed_put_<K>(turn); /* GYRE_PASSIVE sees states */
        part->clock = turn->clock;
        turn->changed = 1;
        const int made = gyre_keyed_make_room_<K>(table, part, gyre);
        turn->clock = part->clock;
        if (!made) {
            gyre_fail_(gyre, GYRE_FAILURE_KEYS, "no room for another key: raise its `keys`");
            return 0;
        }
    }
    use->entry = gyre_keyed_add_(table, part, key, hash);
    K::gyre_its_hooks_::gyre_its_born_(request, gyre_keyed_state(table, use->entry), gyre);
    return 1;
}

/* Finds or makes the state of the request's key. Returns 0 when the message failed. */
template <class K>
GYRE_HELPER int gyre_keyed_enter_(gyre_keyed_turn_<K> *turn, const void *request, gyre_context *gyre,
                                  gyre_keyed_use_ *use)
{
    use->is_new = 0;
    gyre_keyed_remind_before_<K>(turn, gyre);
    if (turn->found && !turn->changed)
        use->entry = (gyre_keyed_entry *)(turn->entries + (turn->found - 1) * turn->entry_size);
    else if (!gyre_keyed_search_<K>(turn, request, gyre, use))
        return 0;
    gyre->forgets = 0;
    return 1;
}

/* ---- a run ---- */

/*
 * Has the first bytes of an entry's state fetched into the multiprocessor's cache, for the thread that handles the message. Nobody
 * waits for these loads.
 */
template <class K>
GYRE_HELPER void gyre_keyed_fetch_(const gyre_keyed_table *table, gyre_keyed_part *part, gyre_u32 number)
{
    const gyre_u8 *state = (const gyre_u8 *)gyre_keyed_state(table, gyre_keyed_entry_at(table, part, number));
#pragma unroll
    for (gyre_u32 at = 0; at < K::gyre_its_state_size_ && at < 128; at += 32)
        asm volatile("{ .reg .b64 unused; ld.global.u64 unused,[%0]; }" ::"l"(state + at));
}

/* The first of some messages of a row, or of some rows: one bit each. */
GYRE_HELPER gyre_u32 gyre_keyed_first_(gyre_u32 bits)
{
    return (gyre_u32)__ffs((int)bits) - 1;
}

/* Bits of those behind it. */
GYRE_HELPER gyre_u32 gyre_keyed_behind_(gyre_u32 number)
{
    return ~((2u << number) - 1);
}

/*
 * Notes what the handling of message `slot`, whose key this block owns, needs: its part, which it returns, and the entry of its key.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_keyed_note_(gyre_keyed_run_ *run, gyre_u32 slot, const gyre_keyed_table *table,
                                      const gyre_u64 *key, gyre_u64 hash)
{
    const gyre_u32 number = gyre_keyed_part_of(table, hash);
    gyre_keyed_part *part = gyre_keyed_part_at(table, number);
    const gyre_u32 found = gyre_keyed_find_of_<K>(table, part, key, hash);
    if (found)
        gyre_keyed_fetch_<K>(table, part, found - 1);
    run->at[slot] = found;
    if (!atomicOr(&run->bits[slot / 32][number], 1u << slot % 32))
        atomicOr(&run->rows[number], 1u << slot / 32);
    return number;
}

/* Notes which message of its part follows message `slot`, once all are noted: its thread need not look for it. */
GYRE_HELPER void gyre_keyed_chain_(gyre_keyed_run_ *run, gyre_u32 slot, gyre_u32 number)
{
    gyre_u32 row = slot / 32, bits = run->bits[row][number] & gyre_keyed_behind_(slot % 32);
    if (!bits) {
        const gyre_u32 rows = run->rows[number] & gyre_keyed_behind_(row);
        row = rows ? gyre_keyed_first_(rows) : 0;
        bits = rows ? run->bits[row][number] : 0;
    }
    if (bits)
        run->at[slot] |= (gyre_u64)(1 + 32 * row + gyre_keyed_first_(bits)) << 32;
}

/* A word of gyre_keyed_run_.at, which no thread changes meanwhile. `list`: where they lie in shared memory. */
GYRE_HELPER gyre_u64 gyre_keyed_listed_(gyre_u32 list, gyre_u32 slot)
{
    gyre_u64 at;
    asm volatile("ld.shared.u64 %0,[%1];" : "=l"(at) : "r"(list + 8 * slot));
    return at;
}

/** Which message of a part its thread is at. */
struct gyre_keyed_walk_ {
    gyre_chunk *cells;
    gyre_u64 first; /* the index of message 0; GYRE_KEYED_ROUTED_: each message's header says its index */
    gyre_u32 list;  /* where gyre_keyed_run_.at lies in shared memory */
    gyre_u32 slot, next;
    gyre_u64 at; /* of `next`, read before the handler has ended */
#if GYRE_STAGE
    gyre_link_view_ *links;
    gyre_link_message_ message;
    gyre_u32 passed; /* enum gyre_keyed_passed_ */
#endif
#if GYRE_TIMED
    gyre_u64 started; /* when the message at `slot` began; 0: it is not timed */
#endif
};
#define GYRE_KEYED_ROUTED_ (~(gyre_u64)0)

/* Goes to the next message. */
template <class K> GYRE_HELPER void gyre_keyed_step_(gyre_keyed_walk_ *walk, gyre_keyed_turn_<K> *turn)
{
    walk->slot = walk->next - 1;
    walk->next = (gyre_u32)(walk->at >> 32);
    turn->found = (gyre_u32)walk->at;
    walk->at = gyre_keyed_listed_(walk->list, walk->next ? walk->next - 1 : walk->slot);
}

#if GYRE_STAGE
#include "gyre/dialect/cuda_keyed_linked.h"
#endif

/* The index of the message that the walk is at, for headers, seals and times. */
GYRE_HELPER gyre_u64 gyre_keyed_index_(const gyre_keyed_walk_ *walk, const gyre_slot *in)
{
    return walk->first == GYRE_KEYED_ROUTED_ ? in->sequence - 1 : walk->first + walk->slot;
}

/*
 * Begins the message that the walk is at, once, before anything sees its header: its seal, hooks and handler see the same one. `copy`
 * has room for a header of another program's. Returns 0 when its seal is wrong: the message is failed then, and not ended.
 */
template <class K>
GYRE_HELPER int gyre_keyed_begin_(gyre_keyed_walk_ *walk, gyre_context *gyre, gyre_u64 *copy)
{
    const gyre_slot *in = (const gyre_slot *)(walk->cells + walk->slot * gyre_stage_<K>::cell);
    const gyre_u64 index = gyre_keyed_index_(walk, in);
    (void)index;
    (void)copy;
    gyre->failed = 0;
#if GYRE_STAGE
    return gyre_keyed_linked_begin_<K>(walk, gyre, copy);
#else
    GYRE_HEADER_TAKE_TO_(gyre, index, copy);
#if GYRE_TIMED
    GYRE_STAMP_BEGIN_(gyre, index, started);
    walk->started = started;
#endif
    return gyre_seal_holds_(gyre, index, in + 1, in->length);
#endif
}

/* Handles a message that has begun. Its reply has its sequence. Returns 1 when it failed. */
template <class K>
GYRE_HELPER gyre_u32 gyre_keyed_handle_one_(gyre_keyed_walk_ *walk, void *state, gyre_context *gyre)
{
    gyre_chunk *cell = walk->cells + walk->slot * gyre_stage_<K>::cell;
    const gyre_slot *in = (const gyre_slot *)cell;
    gyre_slot *out = (gyre_slot *)(cell + gyre_stage_<K>::request_chunks);
    const gyre_u64 index = gyre_keyed_index_(walk, in);
    (void)index;
    gyre->failed = 0;
    const int result = K::gyre_its_handle_(gyre_payload_(in), gyre_payload_(out), state, 0, 0, gyre);
    const gyre_u32 failed = gyre_lane_end_(gyre, out, result, gyre_reply_length_<K>(out));
#if GYRE_STAGE
    (void)failed; /* what becomes of the message may fail it too */
    return gyre_keyed_linked_end_<K>(walk, gyre);
#else
    gyre_seal_reply_(gyre, index, out->info, out + 1, out->length);
    GYRE_STAMP_END_(gyre, index, walk->started);
    return failed;
#endif
}

/*
 * Ends a message that has begun, and that its handler does not get: gyre_fail_ was called, or a stage passes it over. Returns 1 when it
 * failed.
 */
template <class K> GYRE_HELPER gyre_u32 gyre_keyed_refuse_(gyre_keyed_walk_ *walk, gyre_context *gyre)
{
#if GYRE_STAGE
    return gyre_keyed_linked_refuse_<K>(walk, gyre);
#else
    gyre_chunk *cell = walk->cells + walk->slot * gyre_stage_<K>::cell;
    gyre_lane_end_(gyre, (gyre_slot *)(cell + gyre_stage_<K>::request_chunks), GYRE_FAILED, 0);
    GYRE_STAMP_END_(gyre, gyre_keyed_index_(walk, (const gyre_slot *)cell), walk->started);
    return 1;
#endif
}

/*
 * Begins the message that the walk is at, and has its state. Returns 0 when its handler does not get it: ends it, and counts it if it
 * failed. Its parts are looked at before GYRE_BORN reads them.
 */
template <class K>
GYRE_HELPER int gyre_keyed_open_(gyre_keyed_walk_ *walk, gyre_keyed_turn_<K> *turn, gyre_context *gyre,
                                 gyre_u64 *copy, gyre_keyed_use_ *use, gyre_u32 *failed)
{
    const gyre_slot *in = (const gyre_slot *)(walk->cells + walk->slot * gyre_stage_<K>::cell);
    if (gyre_keyed_begin_<K>(walk, gyre, copy) && K::gyre_its_admit_(gyre, gyre_payload_(in)) &&
        gyre_keyed_enter_<K>(turn, gyre_payload_(in), gyre, use)) {
        gyre_keyed_take_<K>(turn, use->entry);
        return 1;
    }
    *failed += gyre_keyed_refuse_<K>(walk, gyre);
    return 0;
}

/*
 * Handles a message, and those behind it that are of the same key: in a loop of its own, which one thread goes through as quickly as
 * the handler lets it. Returns how many failed.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_keyed_handle_key_(gyre_keyed_walk_ *walk, gyre_keyed_turn_<K> *turn,
                                            const gyre_keyed_use_ *use, gyre_context *gyre, gyre_u64 *copy)
{
    /* the compiler sees where a near state is, and keeps it in registers */
    void *const state =
        gyre_keyed_turn_<K>::near ? (void *)turn->state : gyre_keyed_state(turn->table, use->entry);
    gyre_u32 failed = 0;
    for (int holds = 1;; holds = gyre_keyed_begin_<K>(walk, gyre, copy)) {
        turn->clock += holds;
        if (!gyre_keyed_turn_<K>::near)
            use->entry->used = turn->clock;
        gyre_keyed_may_remind_<K>(gyre);
        failed += holds ? gyre_keyed_handle_one_<K>(walk, state, gyre) : gyre_keyed_refuse_<K>(walk, gyre);
        gyre_keyed_keep_reminder_<K>(turn, use->entry, gyre);
        /* a key whose first message failed was not born: otherwise requests that are refused would fill the table */
        if (gyre->forgets || (use->is_new && gyre->failed)) {
            gyre_keyed_remove_(turn->table, turn->part, use->entry);
            turn->changed = 1;
            turn->entry = 0;
            return failed;
        }
        if (!walk->next || use->is_new || turn->changed || !turn->found || (gyre_u32)walk->at != turn->found)
            return failed;
        if (K::gyre_its_hooks_::gyre_its_keys_are_reminded_ && gyre->by_sent)
            return failed; /* reminders may come before the next message */
        gyre_keyed_step_<K>(walk, turn);
    }
}

/* Begins a walk at the first message of a part, and has the part's messages not noted any more. */
GYRE_HELPER void gyre_keyed_walk_begin_(gyre_keyed_run_ *run, gyre_u32 number, gyre_keyed_walk_ *walk)
{
    gyre_u32 rows = run->rows[number];
    const gyre_u32 row = gyre_keyed_first_(rows);
    walk->next = 1 + 32 * row + gyre_keyed_first_(run->bits[row][number]);
    walk->at = gyre_keyed_listed_(walk->list, walk->next - 1);
    run->rows[number] = 0;
    for (; rows; rows &= rows - 1)
        run->bits[__ffs((int)rows) - 1][number] = 0;
}

/*
 * Handles the run's messages of the thread's part, in the order of the ring. Called by all threads of a warp, some of which have no part,
 * or no messages: they meet before each message and before its handler. Otherwise lanes that parted once, at a key that is new, would go
  * through all that follows one after the other. Returns how many the thread failed. `first`: as in gyre_keyed_walk_; `links`: NULL in
 * files that are no stages.
 */
template <class K>
GYRE_HELPER gyre_u32 gyre_keyed_handle_part_(gyre_keyed_run_ *run, gyre_chunk *cells, gyre_u64 first,
                                             gyre_keyed_links_ *links, const gyre_keyed_table *table,
                                             gyre_context *gyre)
{
    static_assert(GYRE_KEYED_PARTS_ <= GYRE_KEYED_THREADS && GYRE_KEYED_THREADS % 32 == 0,
                  "a thread for each part");

    const gyre_u32 number = threadIdx.x, works = number < 1u << table->parts_log2 && run->rows[number];
    gyre_u32 failed = 0;
    if (!__any_sync(0xffffffffu, works))
        return 0;

    gyre_keyed_walk_ walk = {cells, first, gyre_shared_address_(run->at)};
    gyre_keyed_turn_<K> turn = {table, gyre_keyed_part_at(table, works ? number : 0)};
    gyre_keyed_use_ use;
    gyre_u64 copy[8]; /* of a message's header */
#if GYRE_STAGE
    walk.links = links;
#else
    (void)links;
#endif
    turn.entries = (gyre_u8 *)gyre_keyed_entry_at(table, turn.part, 0);
    turn.entry_size = table->entry_size;
    turn.state_offset = table->state_offset;
    if (works) {
        turn.clock = turn.part->clock;
        gyre_keyed_walk_begin_(run, number, &walk);
    }
    do {
        int opened = 0;
        if (walk.next) {
            gyre_keyed_step_<K>(&walk, &turn);
            opened = gyre_keyed_open_<K>(&walk, &turn, gyre, copy, &use, &failed);
        }
        __syncwarp();
        if (opened)
            failed += gyre_keyed_handle_key_<K>(&walk, &turn, &use, gyre, copy);
    } while (__any_sync(0xffffffffu, walk.next));

    if (!works)
        return 0;
    gyre_keyed_put_<K>(&turn);
    turn.part->clock = turn.clock;
    return failed;
}

/* Has no messages noted. Called by all threads, before the first run. */
GYRE_HELPER void gyre_keyed_clear_(gyre_keyed_run_ *run)
{
#pragma unroll 1
    for (gyre_u32 number = threadIdx.x; number < GYRE_KEYED_PARTS_; number += blockDim.x) {
        run->rows[number] = 0;
#pragma unroll 1
        for (gyre_u32 row = 0; row < GYRE_KEYED_ROWS_; row++)
            run->bits[row][number] = 0;
    }
}

/* ---- several blocks ---- */

/* The serial of the run that a block handled last. */
GYRE_HELPER gyre_u64 *gyre_keyed_done_(const gyre_cuda_arguments &arguments, gyre_u32 block)
{
    return &arguments.arrived[gridDim.x + block];
}

GYRE_HELPER void gyre_keyed_store_(gyre_u64 *to, gyre_u64 value)
{
    asm volatile("st.release.gpu.global.u64 [%0],%1;" ::"l"(to), "l"(value) : "memory");
}

/* Waits until the other blocks have handled the run. Called by all threads of block 0. */
GYRE_HELPER void gyre_keyed_await_(const gyre_cuda_arguments &arguments, const gyre_keyed_run_ *run)
{
#pragma unroll 1
    for (gyre_u32 block = 1 + threadIdx.x; block < gridDim.x; block += blockDim.x)
        while (gyre_device_load_(gyre_keyed_done_(arguments, block)) != run->serial)
            ;
    __syncthreads();
}

#if GYRE_STAGE
#include "gyre/dialect/cuda_keyed_stage.h"
#else
#include "gyre/dialect/cuda_keyed_runs.h"
#endif
#include "gyre/dialect/cuda_keyed_routes.h"

/* ---- the loop ---- */

template <class K> GYRE_HELPER gyre_shape gyre_keyed_shape_(gyre_u32 in_shared)
{
    typedef gyre_stage_<K> stage;
    return {GYRE_SHAPE_KEYED_ | (in_shared ? GYRE_SHAPE_SHARED_ : 0) |
                (in_shared && GYRE_CUDA_DENSE(K::gyre_its_request_size_) ? GYRE_SHAPE_DENSE_ : 0),
            stage::request_chunks, stage::reply_chunks, GYRE_KEYED_FRONT_ / 16, 0};
}

/* Runs are never shorter than GYRE_KEYED_LEAST. Called by one thread, before the block serves queues. */
GYRE_HELPER void gyre_keyed_widen_(gyre_stage_place *stage)
{
    const gyre_u32 least = GYRE_KEYED_LEAST < stage->most ? GYRE_KEYED_LEAST : stage->most;
    if (stage->least < least)
        stage->window = stage->least = least;
}

template <class K> GYRE_HELPER void gyre_keyed_reside_(const gyre_cuda_arguments &arguments)
{
    extern __shared__ gyre_chunk gyre_dynamic_memory_[];
    __shared__ gyre_block_view view;
#if GYRE_STAGE
    gyre_keyed_run_ &run = *(gyre_keyed_run_ *)gyre_dynamic_memory_;
    gyre_chunk *const memory = gyre_dynamic_memory_ + GYRE_KEYED_FRONT_ / 16;
#else
    __shared__ gyre_keyed_run_ run;
    gyre_chunk *const memory = gyre_dynamic_memory_;
#endif
    gyre_context gyre;
    const gyre_u32 in_shared = gyre_stage_<K>::in_shared && gridDim.x == 1;
    gyre_chunk *cells = in_shared ? memory : (gyre_chunk *)arguments.stage; /* block 0's */
    gyre_context_make_(&gyre, arguments, 0);
    gyre.lane = 0;
    gyre.lane_count = 1;
    gyre_keyed_reminders_make_(arguments, &gyre);
    if (threadIdx.x == 0)
        run.serial = blockIdx.x == 0 ? gyre_near_load_(&arguments.relay->post.serial)
                                     : gyre_near_load_(gyre_keyed_done_(arguments, blockIdx.x));
    gyre_keyed_clear_(&run); /* the threads meet before they sort a run */
    gyre_arrive_(arguments, &view, gyre_keyed_shape_<K>(in_shared), 0);
#if GYRE_STAGE
    __shared__ gyre_link_view_ links;
    if (threadIdx.x == 0)
        links.by_first = 1;
#endif
    while (gyre_next_order_(arguments, &view) != 0) {
        if (GYRE_KEYED_LEAST > 1 && threadIdx.x == 0)
            gyre_keyed_widen_(&view.stage);
#if GYRE_STAGE
        gyre_keyed_linked_open_<K>(arguments, &view, &links);
        if (view.routers)
            gyre_keyed_serve_routed_<K>(arguments, &view, &links, &run, memory, &gyre);
        else
            gyre_keyed_linked_serve_<K>(arguments, &links, &run, cells, &gyre);
#else
        if (view.routers)
            gyre_keyed_serve_routed_<K>(arguments, &view, 0, &run, memory, &gyre);
        else if (blockIdx.x == 0)
            gyre_keyed_lead_<K>(arguments, &view, &run, cells, &gyre);
        else
            gyre_keyed_follow_<K>(arguments, &view, &run, cells, &gyre);
#endif
    }
}

/* ---- declaring ---- */

#define GYRE_KEYED_TRAITS_(request_, key_, hooks_)                                                           \
    typedef hooks_ gyre_its_hooks_;                                                                          \
    enum {                                                                                                   \
        gyre_its_key_size_ = sizeof(((request_ *)0)->key_),                                                  \
        gyre_its_key_words_ = (gyre_its_key_size_ + 7) / 8                                                   \
    };                                                                                                       \
    static __device__ __forceinline__ const gyre_u8 *gyre_its_key_(const void *gyre_its_in_)                 \
    {                                                                                                        \
        return (const gyre_u8 *)&((const request_ *)gyre_its_in_)->key_;                                     \
    }                                                                                                        \
    static __device__ __forceinline__ int gyre_its_admit_(gyre_context *gyre_its_context_,                   \
                                                          const void *gyre_its_in_)                          \
    {                                                                                                        \
        return gyre_admit_##request_(gyre_its_context_, (const request_ *)gyre_its_in_);                     \
    }

#define GYRE_ENTRY_KEYED_(name_)                                                                             \
    GYRE_STAGE_MARK_(name_)                                                                                  \
    extern "C" __global__ void __launch_bounds__(GYRE_KEYED_THREADS, 1)                                      \
        gyre_resident_##name_(const __grid_constant__ gyre_cuda_arguments gyre_its_arguments_)               \
    {                                                                                                        \
        gyre_keyed_reside_<gyre_traits_of_##name_>(gyre_its_arguments_);                                     \
    }

#define GYRE_DECLARE_KEYED_(name_, request_, reply_, state_, key_, hooks_, reminds_)                         \
    GYRE_HANDLER_(name_, request_, reply_, gyre_none, state_, gyre_none);                                    \
    GYRE_DESCRIBE_KERNEL_(4, name_, request_, reply_, gyre_none, state_, gyre_none)                          \
    GYRE_EXPORTED_TEXT_(gyre_key_##name_, #key_)                                                             \
    GYRE_RESIDENT_KERNEL_(4, name_, request_, reply_, gyre_none, state_, gyre_none,                          \
                          GYRE_STAGE_TRAITS_(gyre_no_ports) GYRE_KEYED_TRAITS_(request_, key_, hooks_))      \
    GYRE_ENTRY_KEYED_(name_)

#define GYRE_DECLARE_LIVES_(name_, request_, state_)                                                         \
    GYRE_KEYED_LIVES_(name_, request_, state_)                                                               \
    struct gyre_keyed_lives_of_##name_ {                                                                     \
        enum { gyre_its_keys_leave_ = 1 };                                                                   \
        static __device__ __forceinline__ void gyre_its_born_(const void *gyre_its_request_,                 \
                                                              void *gyre_its_state_,                         \
                                                              gyre_context *gyre_its_context_)               \
        {                                                                                                    \
            gyre_born_##name_((const request_ *)gyre_its_request_, (state_ *)gyre_its_state_,                \
                              gyre_its_context_);                                                            \
        }                                                                                                    \
        static __device__ __forceinline__ int gyre_its_leaves_(void *gyre_its_state_,                        \
                                                               gyre_context *gyre_its_context_)              \
        {                                                                                                    \
            return gyre_passive_##name_((state_ *)gyre_its_state_, gyre_its_context_) == GYRE_LEAVES;        \
        }                                                                                                    \
    };

#define GYRE_DECLARE_REMINDED_(name_, state_)                                                                \
    GYRE_KEYED_REMINDED_(name_, state_)                                                                      \
    GYRE_EXPORTED_TEXT_(gyre_reminds_##name_, "reminds")                                                     \
    struct gyre_keyed_reminders_of_##name_ {                                                                 \
        enum { gyre_its_keys_are_reminded_ = 1 };                                                            \
        static __device__ __forceinline__ void gyre_its_reminded_(void *gyre_its_state_,                     \
                                                                  const gyre_reminder *gyre_its_reminder_,   \
                                                                  gyre_context *gyre_its_context_)           \
        {                                                                                                    \
            gyre_reminded_##name_((state_ *)gyre_its_state_, gyre_its_reminder_, gyre_its_context_);         \
        }                                                                                                    \
    };

#define GYRE_KEYED_NO_HOOKS_ gyre_keyed_hooks_<void(gyre_keyed_no_lives_, gyre_keyed_no_reminders_)>
#define GYRE_KEYED_HOOKS_(name_)                                                                             \
    gyre_keyed_hooks_<void(gyre_keyed_lives_of_##name_, gyre_keyed_no_reminders_)>
#define GYRE_KEYED_REMINDS_(name_)                                                                           \
    gyre_keyed_hooks_<void(gyre_keyed_no_lives_, gyre_keyed_reminders_of_##name_)>
#define GYRE_KEYED_ALL_HOOKS_(name_)                                                                         \
    gyre_keyed_hooks_<void(gyre_keyed_lives_of_##name_, gyre_keyed_reminders_of_##name_)>

/** The key of the message leaves when its handler has returned. */
#define gyre_forget(gyre) ((void)((gyre)->forgets = 1))

#endif
