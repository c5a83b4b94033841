/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry of an epoch in OpenCL C: handles consecutive requests of a queue in one run of the kernel. opencl_module.h
 * describes its arguments.
 */
#ifndef GYRE_DIALECT_OPENCL_EPOCH_H
#define GYRE_DIALECT_OPENCL_EPOCH_H

#include "gyre/dialect/opencl_flows.h"
#include "gyre/dialect/opencl_module.h"

#define GYRE_EPOCH_ENTRY_(name_)                                                                             \
    GYRE_STAGE_MARK_(name_)                                                                                  \
    __kernel void gyre_epoch_##name_(                                                                        \
        const gyre_epoch gyre_its_epoch_, __global gyre_u8 *gyre_its_requests_,                              \
        __global gyre_u8 *gyre_its_replies_, __global void *gyre_state_there_,                               \
        __global gyre_device_log *gyre_its_log_, __global gyre_control_region *gyre_its_control_,            \
        __global void *gyre_its_buffer_0_, __global void *gyre_its_buffer_1_,                                \
        __global void *gyre_its_buffer_2_, __global void *gyre_its_buffer_3_,                                \
        __global void *gyre_its_buffer_4_, __global void *gyre_its_buffer_5_,                                \
        __global void *gyre_its_buffer_6_, __global void *gyre_its_buffer_7_ GYRE_EPOCH_LINKS_)
#define GYRE_EPOCH_BOUND_(bound_)                                                                            \
    gyre_bound bound_[GYRE_BINDINGS_MAX] = {                                                                 \
        {gyre_its_buffer_0_, gyre_its_epoch_.counts[0]}, {gyre_its_buffer_1_, gyre_its_epoch_.counts[1]},    \
        {gyre_its_buffer_2_, gyre_its_epoch_.counts[2]}, {gyre_its_buffer_3_, gyre_its_epoch_.counts[3]},    \
        {gyre_its_buffer_4_, gyre_its_epoch_.counts[4]}, {gyre_its_buffer_5_, gyre_its_epoch_.counts[5]},    \
        {gyre_its_buffer_6_, gyre_its_epoch_.counts[6]}, {gyre_its_buffer_7_, gyre_its_epoch_.counts[7]}}

#define GYRE_EPOCH_SHARED_(shared_)                                                                          \
    __local gyre_block_shared shared_##memory_;                                                              \
    __local gyre_block_shared *shared_ = &shared_##memory_
/*
 * Declares a scratch and loads from it. The load keeps a scratch that the handler does not use, because PoCL 6 ends
 * the process over a scratch that is optimized away.
 */
#define GYRE_EPOCH_SCRATCH_(type_, scratch_)                                                                 \
    __local type_ scratch_##memory_;                                                                         \
    __local type_ *scratch_ = &scratch_##memory_;                                                            \
    (void)*(const volatile __local char *)scratch_

/*
 * The text of a failed message for which no lane gives a reason: a barrier that not all lanes meet is undefined in
 * OpenCL, and a platform may lose a lane's stores before it.
 */
#define GYRE_EPOCH_PARTED_TEXT_ "no lane tells why: did some miss a barrier?"

GYRE_HELPER void gyre_epochs_context_(gyre_context *gyre, const gyre_epoch *epoch,
                                      __global gyre_device_log *log, __global gyre_control_region *control,
                                      __local gyre_block_shared *shared)
{
    gyre_place_(gyre);
    gyre->block += epoch->first_block;
    gyre->block_count = epoch->block_count;
#ifdef GYRE_OPENCL_SOLO
    gyre->lane = 0;
    gyre->lane_count = 1;
#else
    /* tells the compiler that lane_count is not 0: PoCL 3.1 crashes on loops behind a barrier that could have no end */
    gyre->lane_count = epoch->lane_count ? epoch->lane_count : 1;
#endif
    gyre->in_block = shared != 0;
    gyre->barrier_turn = 0;
    gyre->failed = 0;
    gyre->fail_code = GYRE_FAILURE_BARRIER;
    gyre->fail_text = GYRE_EPOCH_PARTED_TEXT_;
    gyre->time_ns = epoch->time_ns;
    gyre->ticks = epoch->ticks;
    gyre->tick_rate = epoch->tick_rate;
    gyre->log = log;
    gyre->handles = epoch->handles_offset == ~(gyre_u64)0
                        ? 0
                        : (const __global gyre_control_handle *)((const __global gyre_u8 *)control +
                                                                 epoch->handles_offset);
    gyre->shared = shared;
    GYRE_HEADER_QUEUE_(gyre, 0, 0, 0);
    GYRE_HEADER_AT_(gyre, 0);
    GYRE_FLOWS_NONE_(gyre);
}

/* Takes the header of message i, before its handler is called. */
#define GYRE_EPOCH_HEADER_(gyre, epoch_, requests_, i)                                                       \
    (GYRE_HEADER_QUEUE_(gyre, (epoch_)->headers_offset ? (requests_) + (epoch_)->headers_offset : 0,         \
                        (epoch_)->header_size, (epoch_)->mask),                                              \
     GYRE_HEADER_AT_(gyre, (epoch_)->start + (i)))

GYRE_HELPER const __global gyre_slot *gyre_epochs_in_(const gyre_epoch *epoch, __global gyre_u8 *requests,
                                                      gyre_u32 i)
{
    return (const __global gyre_slot *)(requests + epoch->request_offset +
                                        ((epoch->start + i) & epoch->mask) * epoch->request_stride);
}

GYRE_HELPER __global gyre_slot *gyre_epochs_out_(const gyre_epoch *epoch, __global gyre_u8 *replies,
                                                 gyre_u32 i)
{
    return (__global gyre_slot *)(replies + epoch->reply_offset +
                                  ((epoch->start + i) & epoch->mask) * epoch->reply_stride);
}

/*
 * Whether the host called the epoch off: messages that were not begun then stay in the queue. On a direct device this
 * also waits for a request whose batch is being published; it pairs with the client's release of the sequence.
 */
GYRE_HELPER int gyre_epochs_called_off_(const gyre_epoch *epoch, __global gyre_control_region *control,
                                        const __global gyre_slot *in, gyre_u32 i)
{
#ifdef GYRE_OPENCL_DIRECT
    do
        if (*(volatile __global gyre_u64 *)&control->command.command != epoch->command)
            return 1;
    while (__atomic_load_n(&in->sequence, __ATOMIC_ACQUIRE) != epoch->first + i + 1);
#endif
    return 0;
}

enum gyre_slot_state_ {
    GYRE_SLOT_SETTLED_ = 0, /* completed without the handler; only the sequence is missing */
    GYRE_SLOT_READY_ = 1    /* run the handler */
};

/*
 * Decides how message i goes on; `wrong`: its length is wrong. `writes` is 1 for the one lane that may write the reply
 * slot.
 */
GYRE_HELPER int gyre_epochs_open_(const gyre_epoch *epoch, gyre_u32 i, const __global gyre_slot *in,
                                  int wrong, __global gyre_slot *out, int writes)
{
    if (in->length == GYRE_LENGTH_ANSWERED && in->info == GYRE_REQUEST_ANSWERED)
        return GYRE_SLOT_SETTLED_; /* answered by a worker that died since: its reply stays as it is */
    if (epoch->first + i < epoch->drop_before) {
        if (writes) {
            out->length = 0;
            out->info = GYRE_OUTCOME_DROPPED;
        }
        return GYRE_SLOT_SETTLED_;
    }
    if (wrong) {
        if (writes)
            gyre_write_failure_(out, GYRE_FAILURE_LENGTH, GYRE_LENGTH_TEXT_);
        return GYRE_SLOT_SETTLED_;
    }
    return GYRE_SLOT_READY_;
}

#include "gyre/dialect/opencl_bridge.h"
#include "gyre/dialect/opencl_seal.h"

/* Declares the request of a slot of `region`, once it is there, with its length and whether the length is wrong. */
#define GYRE_EPOCH_ASKED_(request_, epoch_, region, in_)                                                     \
    const gyre_u32 gyre_its_length_ = (in_)->length; /* read once: its sender may still write it */          \
    const __global request_ *gyre_its_asked_ =                                                               \
        GYRE_EPOCH_REQUEST_(request_, epoch_, region, in_, gyre_its_length_);                                \
    const int gyre_its_wrong_ = GYRE_LENGTH_WRONG_(gyre_its_length_, gyre_least_##request_,                  \
                                                   gyre_size_##request_, GYRE_FIRST_WORD_(gyre_its_asked_))

#ifndef GYRE_OPENCL_DIRECT
/* A fence that pairs with the host's acquire of the mark. The end of a kernel is a fence as well. */
GYRE_HELPER void gyre_epochs_fence_(const gyre_epoch *epoch)
{
#if defined(GYRE_OPENCL_REACHES) && defined(__NV_CL_C_VERSION)
    if (epoch->fenced)
        __asm__ volatile("membar.sys;" : : : "memory");
#elif defined(GYRE_OPENCL_REACHES)
    if (epoch->fenced)
        __atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}
#endif

/* Completes message i. Direct: pairs with the client's acquire of the reply's sequence. */
GYRE_HELPER void gyre_epochs_settle_(const gyre_epoch *epoch, gyre_u32 i, __global gyre_slot *out)
{
#ifdef GYRE_OPENCL_DIRECT
    __atomic_store_n(&out->sequence, epoch->first + i + 1, __ATOMIC_RELEASE);
#else
    gyre_epochs_fence_(epoch);
    *(volatile __global gyre_u64 *)&out->sequence = epoch->mark;
#endif
}

/*
 * Note when the handler of message i began and ended, if it is timed, before it is settled. On devices that are not direct the host
 * notes the times.
 */
#if GYRE_TIMED && defined(GYRE_OPENCL_DIRECT)
#define GYRE_EPOCH_TIMES_(epoch_, i)                                                                         \
    ((epoch_)->stamps_offset != 0 && (((epoch_)->first + (i)) & (gyre_u64)(GYRE_TIMED - 1)) == 0)
#define GYRE_EPOCH_STARTED_(gyre, timed_, started_)                                                          \
    const gyre_u64 started_ = (timed_) ? gyre_time_ns(gyre) : 0
#define GYRE_EPOCH_STAMP_(gyre, epoch_, region, i, timed_, started)                                          \
    if (timed_)                                                                                              \
    gyre_epochs_stamp_((epoch_), (region), (i), (started), gyre_time_ns(gyre))
GYRE_HELPER void gyre_epochs_stamp_(const gyre_epoch *epoch, __global gyre_u8 *region, gyre_u32 i,
                                    gyre_u64 started_ns, gyre_u64 finished_ns)
{
    __global gyre_stamp *stamp =
        (__global gyre_stamp *)(region + epoch->stamps_offset) + ((epoch->start + i) & epoch->mask);
    stamp->sequence = stamp->sequence_again = epoch->first + i + 1;
    stamp->started_ns = started_ns;
    stamp->finished_ns = finished_ns;
}
#else
#define GYRE_EPOCH_TIMES_(epoch_, i)                               0
#define GYRE_EPOCH_STARTED_(gyre, timed_, started_)                ((void)0)
#define GYRE_EPOCH_STAMP_(gyre, epoch, region, i, timed_, started) ((void)0)
#endif

GYRE_HELPER void gyre_epochs_count_(__global gyre_device_log *log, gyre_u32 failed)
{
    if (failed > 0)
        gyre_claim_u32_(&log->reserved[GYRE_EPOCH_FAILED_WORD], failed);
}

/*
 * Whether an epoch had completed message i before it was called off. Other complete messages are handled once more
 * (checkpoints).
 */
GYRE_HELPER int gyre_epochs_is_done_(const gyre_epoch *epoch, gyre_u32 i, const __global gyre_slot *out)
{
#ifdef GYRE_OPENCL_DIRECT
    return epoch->first + i < epoch->redo_end && out->sequence == epoch->first + i + 1;
#else
    return 0;
#endif
}

#if GYRE_TIMED >= GYRE_PACED_FROM && defined(GYRE_OPENCL_DIRECT)
/* Whether message i is timed, with which a run begins. Notes that it is passed over, if it was its turn. */
GYRE_HELPER int gyre_epochs_run_is_timed_(const gyre_epoch *epoch, __global gyre_u8 *region, gyre_u32 i)
{
    if (!GYRE_EPOCH_TIMES_(epoch, i))
        return 0;
    if (((epoch->first + i) & epoch->timed_mask) == 0)
        return 1;
    gyre_epochs_stamp_(epoch, region, i, 0, 0);
    return 0;
}

/* Where a run ends that begins with message `at`, which is not timed. */
GYRE_HELPER gyre_u64 gyre_epochs_run_end_(const gyre_epoch *epoch, gyre_u64 at, gyre_u64 to)
{
    const gyre_u64 stop = at + GYRE_TIMED - ((epoch->first + at) & (gyre_u64)(GYRE_TIMED - 1));
    return stop < to && epoch->stamps_offset ? stop : to;
}

/*
 * Goes through the messages of a lane in runs: one that is timed is a run of its own. The loops over runs have the bodies `timed_` and
 * `others_`, so a handler is there twice: tests for each message, and the registers for clocks, would cost a stream a tenth of its rate.
 */
#define GYRE_EPOCH_IN_RUN_ 1
#define GYRE_EPOCH_EACH_(epoch_, region, at_, from_, to_, timed_, others_)                                   \
    for (gyre_u64 at_ = (from_), gyre_its_stop_ = at_; at_ >= gyre_its_stop_ && at_ < (to_);)                \
        if (gyre_epochs_run_is_timed_((epoch_), (region), (gyre_u32)at_)) {                                  \
            for (gyre_its_stop_ = at_ + 1; at_ < gyre_its_stop_; at_ += (epoch_)->step) {                    \
                timed_                                                                                       \
            }                                                                                                \
        } else {                                                                                             \
            for (gyre_its_stop_ = gyre_epochs_run_end_((epoch_), at_, (to_)); at_ < gyre_its_stop_;          \
                 at_ += (epoch_)->step) {                                                                    \
                others_                                                                                      \
            }                                                                                                \
        }
#else
#define GYRE_EPOCH_IN_RUN_ GYRE_EPOCH_TIMES_(&gyre_its_epoch_, gyre_its_i_)
#define GYRE_EPOCH_EACH_(epoch_, region, at_, from_, to_, timed_, others_)                                   \
    for (gyre_u64 at_ = (from_); at_ < (to_); at_ += (epoch_)->step) {                                       \
        timed_                                                                                               \
    }
#endif

/*
 * The entry for lanes that do not meet: each lane handles messages of its own. `in_block` is 1 for a block kernel of
 * one lane, which has a scratch.
 */
#define GYRE_NO_SCRATCH_(type_, scratch_) __local type_ *scratch_ = 0

#ifdef GYRE_OPENCL_STAY
#include "gyre/dialect/opencl_stay.h"
#else
/* One message of the entry below, the body of a loop. `timed_`: whether it is timed. */
#define GYRE_EPOCH_MESSAGE_(timed_, has_, ports_, name_, request_, reply_, state_)                           \
    const gyre_u32 gyre_its_i_ = (gyre_u32)gyre_its_at_;                                                     \
    const __global gyre_slot *gyre_its_in_ =                                                                 \
        gyre_epochs_in_(&gyre_its_epoch_, gyre_its_requests_, gyre_its_i_);                                  \
    __global gyre_slot *gyre_its_out_ = gyre_epochs_out_(&gyre_its_epoch_, gyre_its_replies_, gyre_its_i_);  \
    if (gyre_epochs_called_off_(&gyre_its_epoch_, gyre_its_control_, gyre_its_in_, gyre_its_i_))             \
        break;                                                                                               \
    if (gyre_epochs_is_done_(&gyre_its_epoch_, gyre_its_i_, gyre_its_out_))                                  \
        continue;                                                                                            \
    GYRE_EPOCH_ASKED_(request_, &gyre_its_epoch_, gyre_its_requests_, gyre_its_in_);                         \
    if (gyre_epochs_open_(&gyre_its_epoch_, gyre_its_i_, gyre_its_in_, gyre_its_wrong_, gyre_its_out_, 1) == \
        GYRE_SLOT_READY_) {                                                                                  \
        GYRE_EPOCH_ANSWER_(reply_, &gyre_its_epoch_, gyre_its_replies_, &gyre_its_context_, gyre_its_i_,     \
                           gyre_its_out_);                                                                   \
        GYRE_EPOCH_HEADER_(&gyre_its_context_, &gyre_its_epoch_, gyre_its_requests_, gyre_its_i_);           \
        GYRE_FLOWS_TELL_(&gyre_its_context_, &gyre_its_epoch_, gyre_its_requests_, gyre_its_i_);             \
        GYRE_AIM_##has_##_(ports_, &gyre_its_epoch_, gyre_its_replies_, gyre_its_i_);                        \
        GYRE_EPOCH_STARTED_(&gyre_its_context_, timed_, gyre_its_started_ns_);                               \
        gyre_its_context_.failed = 0;                                                                        \
        int gyre_its_result_ = GYRE_FAILED;                                                                  \
        if (gyre_epochs_seal_holds_(&gyre_its_context_, &gyre_its_epoch_, gyre_its_requests_, gyre_its_i_,   \
                                    gyre_its_asked_, gyre_its_length_) &&                                    \
            gyre_admit_##request_(&gyre_its_context_, gyre_its_asked_)) {                                    \
            gyre_clear_##reply_(gyre_its_answer_);                                                           \
            gyre_its_result_ = gyre_result_(                                                                 \
                &gyre_its_context_,                                                                          \
                GYRE_CALL_##has_##_(name_, gyre_its_asked_, gyre_its_answer_,                                \
                                    (__global state_ *)gyre_state_there_, gyre_its_scratch_there_,           \
                                    &gyre_its_buffers_bound_, &gyre_its_context_));                          \
        }                                                                                                    \
        gyre_its_failed_ += gyre_lane_end_(&gyre_its_context_, gyre_its_out_, gyre_its_result_,              \
                                           GYRE_LENGTH_AT_(reply_, gyre_its_answer_));                       \
        GYRE_COUNT_##has_##_(ports_, &gyre_its_epoch_, gyre_its_replies_, gyre_its_i_);                      \
        GYRE_EPOCH_ANSWERED_(reply_, &gyre_its_epoch_, gyre_its_replies_, &gyre_its_context_,                \
                             gyre_its_out_);                                                                 \
        gyre_epochs_seal_(&gyre_its_epoch_, gyre_its_replies_, gyre_its_i_, gyre_its_out_,                   \
                          gyre_its_answer_);                                                                 \
        GYRE_EPOCH_STAMP_(&gyre_its_context_, &gyre_its_epoch_, gyre_its_replies_, gyre_its_i_, timed_,      \
                          gyre_its_started_ns_);                                                             \
    }                                                                                                        \
    gyre_epochs_settle_(&gyre_its_epoch_, gyre_its_i_, gyre_its_out_);                                       \
    GYRE_STOP_##has_##_(&gyre_its_context_)

#define GYRE_ENTRY_ALONE_(in_block_, declare_scratch_, has_, ports_, name_, request_, reply_, scratch_,      \
                          state_, buffers_)                                                                  \
    GYRE_EPOCH_ENTRY_(name_)                                                                                 \
    {                                                                                                        \
        gyre_context gyre_its_context_;                                                                      \
        buffers_ gyre_its_buffers_bound_;                                                                    \
        declare_scratch_(scratch_, gyre_its_scratch_there_);                                                 \
        GYRE_EPOCH_BOUND_(gyre_its_bound_);                                                                  \
        gyre_epochs_context_(&gyre_its_context_, &gyre_its_epoch_, gyre_its_log_, gyre_its_control_, 0);     \
        gyre_its_context_.in_block = in_block_;                                                              \
        gyre_bind_##buffers_(&gyre_its_buffers_bound_, gyre_its_bound_);                                     \
        GYRE_HAVE_##has_##_(ports_, &gyre_its_context_);                                                     \
        GYRE_BEGIN_##has_##_(name_, &gyre_its_epoch_, gyre_state_there_, &gyre_its_context_);                \
        gyre_u32 gyre_its_failed_ = 0;                                                                       \
        const gyre_u64 gyre_its_from_ = (gyre_u64)get_global_id(0) * gyre_its_epoch_.spacing;                \
        const gyre_u64 gyre_its_to_ = gyre_its_from_ + gyre_its_epoch_.span < gyre_its_epoch_.count          \
                                          ? gyre_its_from_ + gyre_its_epoch_.span                            \
                                          : gyre_its_epoch_.count;                                           \
        GYRE_EPOCH_EACH_(                                                                                    \
            &gyre_its_epoch_, gyre_its_replies_, gyre_its_at_, gyre_its_from_, gyre_its_to_,                 \
            GYRE_EPOCH_MESSAGE_(GYRE_EPOCH_IN_RUN_, has_, ports_, name_, request_, reply_, state_),          \
            GYRE_EPOCH_MESSAGE_(0, has_, ports_, name_, request_, reply_, state_))                           \
        GYRE_CLOSE_##has_##_(name_, &gyre_its_context_);                                                     \
        gyre_epochs_count_(gyre_its_log_, gyre_its_failed_);                                                 \
    }
#endif
#define GYRE_ENTRY_LANE_(form_, name_, request_, reply_, scratch_, state_, buffers_)                         \
    GYRE_ENTRY_ALONE_(0, GYRE_NO_SCRATCH_, NO, gyre_none, name_, request_, reply_, scratch_, state_, buffers_)
#define GYRE_ENTRY_LANE_TO_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)              \
    GYRE_ENTRY_ALONE_(0, GYRE_NO_SCRATCH_, TO, ports_, name_, request_, reply_, scratch_, state_, buffers_)

/* A grid kernel has one block here (docs/adr/grid.md), so it is a block kernel whose handler may meet at grid barriers. */
#define GYRE_IN_BLOCK_(form_) ((form_) == 5 ? GYRE_IN_GRID_ : 1u)
#ifdef GYRE_OPENCL_SOLO
#define GYRE_ENTRY_BLOCK_(form_, name_, request_, reply_, scratch_, state_, buffers_)                        \
    GYRE_ENTRY_ALONE_(GYRE_IN_BLOCK_(form_), GYRE_EPOCH_SCRATCH_, NO, gyre_none, name_, request_, reply_,    \
                      scratch_, state_, buffers_)
#define GYRE_ENTRY_BLOCK_TO_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)             \
    GYRE_ENTRY_ALONE_(GYRE_IN_BLOCK_(form_), GYRE_EPOCH_SCRATCH_, TO, ports_, name_, request_, reply_,       \
                      scratch_, state_, buffers_)
#else

/*
 * Fails a message that no lane has completed. When some lanes missed a barrier, the lanes may part for the rest of the
 * message, and no lane completes it. The old completion in its slot must not pass for this message's, so the entry
 * clears the outcome first (GYRE_EPOCH_NO_OUTCOME_). Called by lane 0.
 */
#define GYRE_EPOCH_NO_OUTCOME_ 0u
GYRE_HELPER void gyre_epochs_judge_(__global gyre_slot *out)
{
    if (out->info == GYRE_EPOCH_NO_OUTCOME_)
        gyre_write_failure_(out, GYRE_FAILURE_BARRIER, GYRE_EPOCH_PARTED_TEXT_);
}

/*
 * The entry for blocks: a block handles one message at a time. The code has the shape that PoCL 3.1 runs right: PoCL
 * lets all lanes take the way of the first lane if a barrier stands under an `if`, or if an `if` does not stand
 * between two barriers. So "if ready" is a loop of one turn, and code for lane 0 alone stands between barriers.
 */
#define GYRE_ENTRY_BLOCK_(form_, name_, request_, reply_, scratch_, state_, buffers_)                        \
    GYRE_ENTRY_MEET_(GYRE_IN_BLOCK_(form_), NO, gyre_none, name_, request_, reply_, scratch_, state_,        \
                     buffers_)
#define GYRE_ENTRY_BLOCK_TO_(form_, name_, request_, reply_, scratch_, state_, buffers_, ports_)             \
    GYRE_ENTRY_MEET_(GYRE_IN_BLOCK_(form_), TO, ports_, name_, request_, reply_, scratch_, state_, buffers_)
#define GYRE_ENTRY_MEET_(in_block_, has_, ports_, name_, request_, reply_, scratch_, state_, buffers_)       \
    GYRE_EPOCH_ENTRY_(name_)                                                                                 \
    {                                                                                                        \
        gyre_context gyre_its_context_;                                                                      \
        buffers_ gyre_its_buffers_bound_;                                                                    \
        GYRE_EPOCH_SHARED_(gyre_its_shared_there_);                                                          \
        GYRE_EPOCH_SCRATCH_(scratch_, gyre_its_scratch_there_);                                              \
        GYRE_EPOCH_BOUND_(gyre_its_bound_);                                                                  \
        gyre_epochs_context_(&gyre_its_context_, &gyre_its_epoch_, gyre_its_log_, gyre_its_control_,         \
                             gyre_its_shared_there_);                                                        \
        gyre_its_context_.in_block = in_block_;                                                              \
        gyre_bind_##buffers_(&gyre_its_buffers_bound_, gyre_its_bound_);                                     \
        GYRE_HAVE_##has_##_(ports_, &gyre_its_context_);                                                     \
        for (gyre_u32 gyre_its_i_ = (gyre_u32)get_group_id(0); gyre_its_i_ < gyre_its_epoch_.count;          \
             gyre_its_i_ += gyre_its_epoch_.step) {                                                          \
            const __global gyre_slot *gyre_its_in_ =                                                         \
                gyre_epochs_in_(&gyre_its_epoch_, gyre_its_requests_, gyre_its_i_);                          \
            __global gyre_slot *gyre_its_out_ =                                                              \
                gyre_epochs_out_(&gyre_its_epoch_, gyre_its_replies_, gyre_its_i_);                          \
            gyre_u32 gyre_its_failed_ = 0;                                                                   \
            GYRE_EPOCH_ASKED_(request_, &gyre_its_epoch_, gyre_its_requests_, gyre_its_in_);                 \
            GYRE_EPOCH_ANSWER_(reply_, &gyre_its_epoch_, gyre_its_replies_, &gyre_its_context_, gyre_its_i_, \
                               gyre_its_out_);                                                               \
            int gyre_its_todo_ =                                                                             \
                gyre_epochs_open_(&gyre_its_epoch_, gyre_its_i_, gyre_its_in_, gyre_its_wrong_,              \
                                  gyre_its_out_, gyre_its_context_.lane == 0);                               \
            GYRE_EPOCH_HEADER_(&gyre_its_context_, &gyre_its_epoch_, gyre_its_requests_, gyre_its_i_);       \
            GYRE_FLOWS_TELL_(&gyre_its_context_, &gyre_its_epoch_, gyre_its_requests_, gyre_its_i_);         \
            GYRE_AIM_##has_##_(ports_, &gyre_its_epoch_, gyre_its_replies_, gyre_its_i_);                    \
            GYRE_EPOCH_STARTED_(&gyre_its_context_, GYRE_EPOCH_TIMES_(&gyre_its_epoch_, gyre_its_i_),        \
                                gyre_its_started_ns_);                                                       \
            gyre_its_context_.failed = 0;                                                                    \
            if (gyre_its_todo_ == GYRE_SLOT_READY_ &&                                                        \
                !(gyre_epochs_seal_holds_(&gyre_its_context_, &gyre_its_epoch_, gyre_its_requests_,          \
                                          gyre_its_i_, gyre_its_asked_, gyre_its_length_) &&                 \
                  gyre_admit_##request_(&gyre_its_context_, gyre_its_asked_))) {                             \
                if (gyre_its_context_.lane == 0)                                                             \
                    gyre_write_failure_(gyre_its_out_, gyre_its_context_.fail_code,                          \
                                        gyre_its_context_.fail_text);                                        \
                gyre_its_todo_ = GYRE_SLOT_SETTLED_;                                                         \
                gyre_its_failed_ = 1;                                                                        \
            }                                                                                                \
            gyre_block_begin_(&gyre_its_context_);                                                           \
            if (gyre_its_todo_ == GYRE_SLOT_READY_ && gyre_its_context_.lane == 0) {                         \
                gyre_its_out_->info = GYRE_EPOCH_NO_OUTCOME_;                                                \
                gyre_clear_##reply_(gyre_its_answer_);                                                       \
            }                                                                                                \
            gyre_together_(); /* PoCL 5 needs a place where the loop's barriers begin */                     \
            for (int gyre_its_turn_ = gyre_its_todo_ == GYRE_SLOT_READY_; gyre_its_turn_ > 0;                \
                 gyre_its_turn_--) {                                                                         \
                const int gyre_its_result_ = gyre_result_(                                                   \
                    &gyre_its_context_,                                                                      \
                    GYRE_CALL_##has_##_(name_, gyre_its_asked_, gyre_its_answer_,                            \
                                        (__global state_ *)gyre_state_there_, gyre_its_scratch_there_,       \
                                        &gyre_its_buffers_bound_, &gyre_its_context_));                      \
                gyre_its_failed_ = gyre_block_end_(&gyre_its_context_, gyre_its_out_, gyre_its_result_,      \
                                                   GYRE_LENGTH_AT_(reply_, gyre_its_answer_));               \
            }                                                                                                \
            gyre_together_();                                                                                \
            if (gyre_its_context_.lane == 0) {                                                               \
                if (gyre_its_todo_ == GYRE_SLOT_READY_) {                                                    \
                    gyre_epochs_judge_(gyre_its_out_);                                                       \
                    GYRE_COUNT_##has_##_(ports_, &gyre_its_epoch_, gyre_its_replies_, gyre_its_i_);          \
                    GYRE_EPOCH_ANSWERED_(reply_, &gyre_its_epoch_, gyre_its_replies_, &gyre_its_context_,    \
                                         gyre_its_out_);                                                     \
                    gyre_epochs_seal_(&gyre_its_epoch_, gyre_its_replies_, gyre_its_i_, gyre_its_out_,       \
                                      gyre_its_answer_);                                                     \
                }                                                                                            \
                GYRE_EPOCH_STAMP_(&gyre_its_context_, &gyre_its_epoch_, gyre_its_replies_, gyre_its_i_,      \
                                  GYRE_EPOCH_TIMES_(&gyre_its_epoch_, gyre_its_i_), gyre_its_started_ns_);   \
                gyre_epochs_settle_(&gyre_its_epoch_, gyre_its_i_, gyre_its_out_);                           \
                gyre_epochs_count_(gyre_its_log_, gyre_its_failed_);                                         \
            }                                                                                                \
            gyre_together_();                                                                                \
            GYRE_END_##has_##_(ports_, gyre_its_i_, gyre_its_todo_ == GYRE_SLOT_READY_)                      \
        }                                                                                                    \
    }

#endif

#endif
