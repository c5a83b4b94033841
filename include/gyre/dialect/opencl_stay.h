/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry of a kernel that stays, in OpenCL C. On a device that shares memory with the host, with atomics, each
 * block polls the queues of the control region until the control word ends it, like a worker thread. This entry takes
 * the place of GYRE_ENTRY_ALONE_ of opencl_epoch.h, with the same parameters: of `epoch` it uses the clock, the
 * buffers and the shape; `requests` holds the blocks' cursors (gyre_stay_cursor).
 *
 * Each block has one lane. Kernels with more lanes in a block do not stay: their lanes would wait for messages at
 * barriers.
 */
#ifndef GYRE_DIALECT_OPENCL_STAY_H
#define GYRE_DIALECT_OPENCL_STAY_H

#define GYRE_STAY_BATCH_ 256u /* messages of one queue before the next queue has its turn */
#define GYRE_STAY_CLAIM_ 64u  /* messages that a block claims at once when several share a queue */

/** A block's state while it goes through its queues. */
typedef struct gyre_stay_ {
    __global gyre_control_region *control;
    __global gyre_control_block *line;
    __global gyre_stay_cursor *cursors; /* the cursors of this block */
    gyre_u64 command;
    gyre_u32 queue_count, blocks;
    /* the queue that is being served */
    __global gyre_u8 *region;
    __global gyre_stay_cursor *cursor;
    gyre_epoch at; /* the present message, as an epoch of one message */
    /*
     * For a queue of another program (GYRE_FOREIGN_RING): where its messages are copied to, and the present message
     * there.
     */
    __global gyre_u8 *stage;
    gyre_epoch taken;
    gyre_u32 foreign; /* GYRE_FOREIGN_* of the queue */
} gyre_stay_;

#define GYRE_STAY_LOAD_(pointer)         __atomic_load_n((pointer), __ATOMIC_RELAXED)
#define GYRE_STAY_STORE_(pointer, value) __atomic_store_n((pointer), (value), __ATOMIC_RELAXED)

GYRE_HELPER void gyre_stay_read_table_(gyre_stay_ *stay)
{
    const __global gyre_control_region *control = stay->control;
    stay->queue_count = __atomic_load_n(&control->command.queue_count, __ATOMIC_ACQUIRE);
    for (gyre_u32 i = 0; i < stay->queue_count && i < GYRE_QUEUES_MAX; i++) {
        __global gyre_stay_cursor *cursor = &stay->cursors[i];
        /* acquire: the address is written last */
        const gyre_u64 address = __atomic_load_n(&control->queues[i].address, __ATOMIC_ACQUIRE);
        const gyre_u64 serial = GYRE_STAY_LOAD_(&control->queues[i].serial);
        if (cursor->address == address && cursor->serial == serial)
            continue;
        cursor->address = address;
        cursor->serial = serial;
        cursor->next = cursor->end = GYRE_STAY_LOAD_(&control->queues[i].first);
    }
}

/* Obeys a new command. Returns 0 when the kernel has to leave. */
GYRE_HELPER int gyre_stay_turn_(gyre_stay_ *stay)
{
    for (;;) {
        const gyre_u64 wanted = __atomic_load_n(&stay->control->command.command, __ATOMIC_ACQUIRE);
        const gyre_u32 verb = GYRE_COMMAND_VERB(wanted);
        if (wanted != stay->command) {
            stay->command = wanted;
            if (verb == GYRE_VERB_RUN)
                gyre_stay_read_table_(stay);
            /* pairs with the core's acquire */
            __atomic_store_n(&stay->line->acknowledged, wanted, __ATOMIC_RELEASE);
        }
        if (verb == GYRE_VERB_STOP || verb == GYRE_VERB_YIELD)
            return 0;
        if (verb == GYRE_VERB_RUN)
            return 1;
    }
}

GYRE_HELPER const __global gyre_slot *gyre_stay_in_(const gyre_stay_ *stay, gyre_u64 index)
{
    return (const __global gyre_slot *)(stay->region + stay->at.request_offset +
                                        (index & stay->at.mask) * stay->at.request_stride);
}

/* Whether the request is there. Pairs with the client's release of the sequence. */
GYRE_HELPER int gyre_stay_ready_(const gyre_stay_ *stay, gyre_u64 index)
{
    return __atomic_load_n(&gyre_stay_in_(stay, index)->sequence, __ATOMIC_ACQUIRE) == index + 1;
}

/* Takes this block's share of the ready requests, from a queue that several blocks share. */
GYRE_HELPER void gyre_stay_claim_(gyre_stay_ *stay)
{
    __global gyre_u64 *ticket = &((__global gyre_queue_region *)stay->region)->claim.next;
    gyre_u64 first = GYRE_STAY_LOAD_(ticket), ready = 0;
    const gyre_u64 wanted = stay->blocks * GYRE_STAY_CLAIM_;
    while (ready < wanted && gyre_stay_ready_(stay, first + ready))
        ready++;
    const gyre_u64 share = (ready + stay->blocks - 1) / stay->blocks;
    /* the ticket orders the claims of all blocks */
    if (ready == 0 ||
        !__atomic_compare_exchange_n(ticket, &first, first + share, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    stay->cursor->next = first;
    stay->cursor->end = first + share;
}

/* Turns to queue q. Returns the index behind the last request that this block may handle there now. */
GYRE_HELPER gyre_u64 gyre_stay_open_(gyre_stay_ *stay, gyre_u32 q)
{
    stay->cursor = &stay->cursors[q];
    stay->region = (__global gyre_u8 *)(size_t)stay->cursor->address;
    if (!stay->region)
        return stay->cursor->next;
    const __global gyre_queue_slots *slots = &stay->control->queues[q].slots;
    stay->at.mask = slots->capacity - 1;
    stay->at.request_offset = slots->request_offset;
    stay->at.reply_offset = slots->reply_offset;
    stay->at.request_stride = slots->request_stride;
    stay->at.reply_stride = slots->reply_stride;
    stay->at.stamps_offset = slots->stamps_offset;
    stay->at.headers_offset = slots->headers_offset;
    stay->at.header_size = slots->header_size;
    stay->at.seals_offset = slots->sealed ? GYRE_SEALS_OFFSET(slots) : 0;
    stay->at.reply_seals_offset =
        stay->at.seals_offset + GYRE_SEALS_ROUND(slots->capacity) * sizeof(gyre_u32);
    stay->at.bridge = stay->control->queues[q].bridge;
    stay->foreign = slots->foreign;
    if (stay->blocks == 1)
        return stay->cursor->next + GYRE_STAY_BATCH_;
    if (stay->cursor->next == stay->cursor->end)
        gyre_stay_claim_(stay);
    return stay->cursor->end;
}

/*
 * Whether the block's track has room for a reply of `need` bytes to message `index`. If not, the client may be waiting
 * for this very reply; then the spare place is free. Pairs with the client's releases.
 */
GYRE_HELPER int gyre_stay_has_room_(gyre_stay_ *stay, gyre_u64 index, gyre_u64 need)
{
    const gyre_epoch *at = &stay->at;
    if (!at->bridge.reply_bytes)
        return 1;
    const __global gyre_bridge_track *track =
        gyre_bridged_track_(at, stay->region, (gyre_u32)get_group_id(0));
    const __global gyre_bridge_words *words =
        (const __global gyre_bridge_words *)(stay->region + at->bridge.words_offset);
    const gyre_u64 tail = __atomic_load_n(&track->tail, __ATOMIC_ACQUIRE);
    stay->at.spare = track->head + need - tail > at->bridge.reply_bytes;
    return !stay->at.spare || __atomic_load_n(&words->received, __ATOMIC_ACQUIRE) == index;
}

/*
 * Puts the next message of the present queue into stay->at. Returns 0 when there is no message, no room for a reply of
 * `need` bytes, or another control word.
 */
GYRE_HELPER int gyre_stay_next_(gyre_stay_ *stay, gyre_u64 end, gyre_u64 need)
{
    const gyre_u64 index = stay->cursor->next;
    if (index == end || !gyre_stay_ready_(stay, index) ||
        GYRE_STAY_LOAD_(&stay->control->command.command) != stay->command ||
        !gyre_stay_has_room_(stay, index, need))
        return 0;
    const __global gyre_queue_region *region = (const __global gyre_queue_region *)stay->region;
    stay->at.first = stay->at.start = index;
    stay->at.drop_before = GYRE_STAY_LOAD_(&region->host.drop_before);
    return 1;
}

GYRE_HELPER void gyre_stay_copy_(__global gyre_u8 *to, const __global gyre_u8 *from, gyre_u32 size)
{
    for (gyre_u32 i = 0; i < size / 4; i++)
        ((__global gyre_u32 *)to)[i] = ((const volatile __global gyre_u32 *)from)[i];
    for (gyre_u32 i = size / 4 * 4; i < size; i++)
        to[i] = ((const volatile __global gyre_u8 *)from)[i];
}

GYRE_HELPER void gyre_stay_zero_(__global gyre_u8 *bytes, gyre_u32 size)
{
    for (gyre_u32 i = 0; i < size / 8; i++)
        ((__global gyre_u64 *)bytes)[i] = 0;
}

/*
 * Copies another program's request once; from then on only the copy counts. The copy is an epoch of one message in the
 * block's stage, whose reply begins zeroed. A payload that is too long is not copied, because its request is refused.
 */
GYRE_HELPER void gyre_stay_take_(gyre_stay_ *stay, gyre_u32 asked, gyre_u32 given)
{
    const gyre_u64 index = stay->at.first;
    const volatile __global gyre_slot *in = gyre_stay_in_(stay, index);
    __global gyre_slot *copy = (__global gyre_slot *)stay->stage;
    const gyre_u32 length = in->length;
    copy->sequence = index + 1;
    copy->length = length;
    copy->info = in->info;
    if (length <= asked)
        gyre_stay_copy_((__global gyre_u8 *)(copy + 1), (const __global gyre_u8 *)(in + 1), length);
    if (stay->at.headers_offset)
        gyre_stay_copy_(stay->stage + GYRE_STAY_HEADER_AT(asked),
                        stay->region + stay->at.headers_offset +
                            (index & stay->at.mask) * stay->at.header_size,
                        stay->at.header_size);
    if (stay->at.seals_offset)
        gyre_stay_copy_(stay->stage + GYRE_STAY_SEALS_AT(asked),
                        stay->region + stay->at.seals_offset + (index & stay->at.mask) * sizeof(gyre_u32),
                        sizeof(gyre_u32));
    gyre_stay_zero_(stay->stage + GYRE_STAY_REPLY_AT(asked), (gyre_u32)GYRE_STAY_REPLY_SIZE(given));
    stay->taken = stay->at;
    stay->taken.start = stay->taken.mask = 0;
    stay->taken.request_offset = 0;
    stay->taken.reply_offset = GYRE_STAY_REPLY_AT(asked);
    stay->taken.stamps_offset = 0;
    stay->taken.headers_offset = stay->at.headers_offset ? GYRE_STAY_HEADER_AT(asked) : 0;
    stay->taken.seals_offset = stay->at.seals_offset ? GYRE_STAY_SEALS_AT(asked) : 0;
    stay->taken.reply_seals_offset = GYRE_STAY_SEALS_AT(asked) + sizeof(gyre_u32);
}

/* Copies the reply out of the stage, except its sequence. A reply that was there before stays as it is. */
GYRE_HELPER void gyre_stay_give_(const gyre_stay_ *stay, gyre_u32 asked)
{
    const gyre_u64 place = stay->at.first & stay->at.mask;
    const __global gyre_slot *from = (const __global gyre_slot *)(stay->stage + GYRE_STAY_REPLY_AT(asked));
    __global gyre_slot *out =
        (__global gyre_slot *)(stay->region + stay->at.reply_offset + place * stay->at.reply_stride);
    if (from->info == 0)
        return;
    gyre_stay_copy_((__global gyre_u8 *)(out + 1), (const __global gyre_u8 *)(from + 1), from->length);
    out->length = from->length;
    out->info = from->info;
    if (stay->at.seals_offset)
        *(__global gyre_u32 *)(stay->region + stay->at.reply_seals_offset + place * sizeof(gyre_u32)) =
            *(const __global gyre_u32 *)(stay->stage + stay->taken.reply_seals_offset);
}

/* Zeroes a reply that is built in place and passed on to other programs, unless the request was answered before. */
GYRE_HELPER void gyre_stay_zero_reply_(const gyre_stay_ *stay)
{
    const __global gyre_slot *in = gyre_stay_in_(stay, stay->at.first);
    __global gyre_slot *out =
        (__global gyre_slot *)(stay->region + stay->at.reply_offset +
                               (stay->at.first & stay->at.mask) * stay->at.reply_stride);
    if (in->length != GYRE_LENGTH_ANSWERED)
        gyre_stay_zero_((__global gyre_u8 *)(out + 1), stay->at.reply_stride - (gyre_u32)sizeof(gyre_slot));
}

/* Counts messages in this block's line, which only this block writes. */
GYRE_HELPER void gyre_stay_count_(gyre_stay_ *stay, gyre_u64 handled, gyre_u64 failed)
{
    GYRE_STAY_STORE_(&stay->line->handled, stay->line->handled + handled);
    GYRE_STAY_STORE_(&stay->line->failed, stay->line->failed + failed);
    GYRE_STAY_STORE_(&stay->line->heartbeat, stay->line->heartbeat + 1);
}

GYRE_HELPER void gyre_stay_begin_(gyre_stay_ *stay, const gyre_epoch *epoch, const gyre_context *gyre,
                                  __global gyre_u8 *cursors, __global gyre_control_region *control,
                                  gyre_u64 stage_size)
{
    stay->at = *epoch;
    stay->control = control;
    stay->line = (__global gyre_control_block *)(control + 1) + gyre->block;
    stay->cursors = (__global gyre_stay_cursor *)cursors + gyre->block * GYRE_QUEUES_MAX;
    stay->command = 0;
    stay->queue_count = 0;
    stay->blocks = epoch->block_count;
    stay->stage = cursors + (gyre_u64)stay->blocks * GYRE_QUEUES_MAX * sizeof(gyre_stay_cursor) +
                  gyre->block * stage_size;
}

/* Says that the block has left, when everything is in memory. Pairs with the backend's acquire. */
GYRE_HELPER void gyre_stay_end_(__global gyre_device_log *log)
{
    __atomic_fetch_add(&log->reserved[GYRE_STAY_LEFT_WORD], 1u, __ATOMIC_RELEASE);
}

#define GYRE_ENTRY_ALONE_(in_block_, declare_scratch_, has_, ports_, name_, request_, reply_, scratch_,      \
                          state_, buffers_)                                                                  \
    GYRE_EPOCH_ENTRY_(name_)                                                                                 \
    {                                                                                                        \
        gyre_context gyre_its_context_;                                                                      \
        gyre_stay_ gyre_its_stay_;                                                                           \
        buffers_ gyre_its_buffers_bound_;                                                                    \
        declare_scratch_(scratch_, gyre_its_scratch_there_);                                                 \
        GYRE_EPOCH_BOUND_(gyre_its_bound_);                                                                  \
        (void)gyre_its_replies_;                                                                             \
        gyre_epochs_context_(&gyre_its_context_, &gyre_its_epoch_, gyre_its_log_, gyre_its_control_, 0);     \
        gyre_its_context_.in_block = in_block_;                                                              \
        gyre_bind_##buffers_(&gyre_its_buffers_bound_, gyre_its_bound_);                                     \
        gyre_stay_begin_(&gyre_its_stay_, &gyre_its_epoch_, &gyre_its_context_, gyre_its_requests_,          \
                         gyre_its_control_, GYRE_STAY_STAGE(gyre_size_##request_, gyre_size_##reply_));      \
        while (gyre_stay_turn_(&gyre_its_stay_)) {                                                           \
            for (gyre_u32 gyre_its_q_ = 0; gyre_its_q_ < gyre_its_stay_.queue_count; gyre_its_q_++) {        \
                const gyre_u64 gyre_its_end_ = gyre_stay_open_(&gyre_its_stay_, gyre_its_q_);                \
                gyre_u64 gyre_its_handled_ = 0, gyre_its_failed_ = 0;                                        \
                while (gyre_its_stay_.region && gyre_stay_next_(&gyre_its_stay_, gyre_its_end_,              \
                                                                GYRE_BRIDGE_UNITS(gyre_size_##reply_))) {    \
                    const gyre_u32 gyre_its_foreign_ = gyre_its_stay_.foreign & GYRE_FOREIGN_RING;           \
                    if (gyre_its_foreign_)                                                                   \
                        gyre_stay_take_(&gyre_its_stay_, gyre_size_##request_, gyre_size_##reply_);          \
                    else if (gyre_its_stay_.foreign)                                                         \
                        gyre_stay_zero_reply_(&gyre_its_stay_);                                              \
                    const gyre_epoch *gyre_its_view_ =                                                       \
                        gyre_its_foreign_ ? &gyre_its_stay_.taken : &gyre_its_stay_.at;                      \
                    __global gyre_u8 *gyre_its_place_ =                                                      \
                        gyre_its_foreign_ ? gyre_its_stay_.stage : gyre_its_stay_.region;                    \
                    const __global gyre_slot *gyre_its_in_ =                                                 \
                        gyre_epochs_in_(gyre_its_view_, gyre_its_place_, 0);                                 \
                    __global gyre_slot *gyre_its_out_ =                                                      \
                        gyre_epochs_out_(gyre_its_view_, gyre_its_place_, 0);                                \
                    GYRE_EPOCH_ASKED_(request_, gyre_its_view_, gyre_its_place_, gyre_its_in_);              \
                    if (gyre_epochs_open_(gyre_its_view_, 0, gyre_its_in_, gyre_its_wrong_, gyre_its_out_,   \
                                          1) == GYRE_SLOT_READY_) {                                          \
                        GYRE_EPOCH_ANSWER_(reply_, gyre_its_view_, gyre_its_place_, &gyre_its_context_, 0,   \
                                           gyre_its_out_);                                                   \
                        GYRE_EPOCH_HEADER_(&gyre_its_context_, gyre_its_view_, gyre_its_place_, 0);          \
                        GYRE_EPOCH_STARTED_(&gyre_its_context_, GYRE_EPOCH_TIMES_(&gyre_its_stay_.at, 0),    \
                                            gyre_its_started_ns_);                                           \
                        gyre_its_context_.failed = 0;                                                        \
                        int gyre_its_result_ = GYRE_FAILED;                                                  \
                        if (gyre_epochs_seal_holds_(&gyre_its_context_, gyre_its_view_, gyre_its_place_, 0,  \
                                                    gyre_its_asked_, gyre_its_length_) &&                    \
                            gyre_admit_##request_(&gyre_its_context_, gyre_its_asked_)) {                    \
                            gyre_clear_##reply_(gyre_its_answer_);                                           \
                            gyre_its_result_ = gyre_result_(                                                 \
                                &gyre_its_context_,                                                          \
                                GYRE_CALL_##has_##_(name_, gyre_its_asked_, gyre_its_answer_,                \
                                                    (__global state_ *)gyre_state_there_,                    \
                                                    gyre_its_scratch_there_, &gyre_its_buffers_bound_,       \
                                                    &gyre_its_context_));                                    \
                        }                                                                                    \
                        gyre_its_failed_ +=                                                                  \
                            gyre_lane_end_(&gyre_its_context_, gyre_its_out_, gyre_its_result_,              \
                                           GYRE_LENGTH_AT_(reply_, gyre_its_answer_));                       \
                        GYRE_EPOCH_ANSWERED_(reply_, gyre_its_view_, gyre_its_place_, &gyre_its_context_,    \
                                             gyre_its_out_);                                                 \
                        gyre_epochs_seal_(gyre_its_view_, gyre_its_place_, 0, gyre_its_out_,                 \
                                          gyre_its_answer_);                                                 \
                        GYRE_EPOCH_STAMP_(&gyre_its_context_, &gyre_its_stay_.at, gyre_its_stay_.region, 0,  \
                                          GYRE_EPOCH_TIMES_(&gyre_its_stay_.at, 0), gyre_its_started_ns_);   \
                    }                                                                                        \
                    if (gyre_its_foreign_)                                                                   \
                        gyre_stay_give_(&gyre_its_stay_, gyre_size_##request_);                              \
                    gyre_epochs_settle_(&gyre_its_stay_.at, 0,                                               \
                                        gyre_epochs_out_(&gyre_its_stay_.at, gyre_its_stay_.region, 0));     \
                    gyre_its_stay_.cursor->next++;                                                           \
                    gyre_its_handled_++;                                                                     \
                }                                                                                            \
                if (gyre_its_handled_ > 0)                                                                   \
                    gyre_stay_count_(&gyre_its_stay_, gyre_its_handled_, gyre_its_failed_);                  \
            }                                                                                                \
        }                                                                                                    \
        gyre_stay_end_(gyre_its_log_);                                                                       \
    }

#endif
