/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The batch entry of CUDA and OpenCL kernels: completes consecutive requests of a queue (device_module.h).
 *
 * Backends put another header in its place by defining GYRE_ENTRY_HEADER. Such a header defines
 * GYRE_ENTRY_LANE_(form, name, request, reply, scratch, state, buffers) and GYRE_ENTRY_BLOCK_ (the same),
 * which expand to whatever calls `gyre_handler_<name>(request, reply, state, scratch, buffers, gyre)`; before
 * each call it sets `gyre.failed` to 0 and, for blocks, calls gyre_block_begin_; after it, gyre_lane_end_ or
 * gyre_block_end_.
 *
 * The dialect defines before:
 *   GYRE_BATCH_ENTRY_(name)         the function's head; parameters as device_module.h names them
 *   GYRE_BATCH_BOUND_(bound)        declares `gyre_bound bound[]` from the parameters
 *   GYRE_BATCH_SHARED_(shared)      declares the block's gyre_block_shared, a GYRE_SHARED pointer
 *   GYRE_BATCH_SCRATCH_(type, s)    declares the block's scratch, a GYRE_SHARED pointer
 *   gyre_place_(gyre)               fills in lane, lane_count, block, block_count
 *   gyre_together_()                a barrier of all lanes of the block, wherever they were
 *   gyre_block_end_(gyre, ...)      all lanes of a block: settles who failed, writes the completion
 */
#ifndef GYRE_DIALECT_BATCH_ENTRY_H
#define GYRE_DIALECT_BATCH_ENTRY_H

GYRE_HELPER void gyre_count_(GYRE_GLOBAL gyre_device_block *blocks, const gyre_context *gyre,
                             gyre_u32 handled, gyre_u32 failed)
{
    if (handled > 0)
        gyre_claim_u32_(&blocks[gyre->block].handled, handled);
    if (failed > 0)
        gyre_claim_u32_(&blocks[gyre->block].failed, failed);
}

GYRE_HELPER void gyre_context_init_(gyre_context *gyre, const GYRE_GLOBAL gyre_batch *batch,
                                    GYRE_GLOBAL gyre_device_log *log, GYRE_SHARED gyre_block_shared *shared)
{
    gyre_place_(gyre);
    gyre->in_block = shared != 0;
    gyre->barrier_turn = 0;
    gyre->failed = 0;
    gyre->fail_code = 0;
    gyre->fail_text = "";
    gyre->time_ns = batch->time_ns;
#ifdef GYRE_DIALECT_OPENCL
    gyre->ticks = gyre->tick_rate = 0;
#endif
    gyre->log = log;
    gyre->shared = shared;
    gyre->handles = 0;
    GYRE_HEADER_QUEUE_(gyre, 0, 0, 0);
    GYRE_HEADER_AT_(gyre, 0);
}

/* A lane kernel's message i goes to lane i of the launch, an actor's all to the first. */
#define GYRE_ENTRY_LANE_(form_, name_, request_, reply_, scratch_, state_, buffers_)                         \
    GYRE_BATCH_ENTRY_(name_)                                                                                 \
    {                                                                                                        \
        gyre_context gyre;                                                                                   \
        buffers_ buffers_bound;                                                                              \
        GYRE_BATCH_BOUND_(bound);                                                                            \
        gyre_context_init_(&gyre, batch_, log_, 0);                                                          \
        gyre_bind_##buffers_(&buffers_bound, bound);                                                         \
        gyre_u32 handled = 0, failed = 0;                                                                    \
        const gyre_u32 lane = gyre.block * gyre.lane_count + gyre.lane;                                      \
        const gyre_u32 step = form_ == 3 ? 1 : gyre.lane_count * gyre.block_count;                           \
        for (gyre_u32 i = form_ == 3 && lane > 0 ? batch_->count : lane; i < batch_->count; i += step) {     \
            const gyre_u64 index = batch_->first + i;                                                        \
            const GYRE_GLOBAL gyre_slot *in_ = GYRE_IN_SLOT_(batch_, requests_, index);                      \
            GYRE_GLOBAL gyre_slot *out_ = GYRE_OUT_SLOT_(batch_, replies_, index);                           \
            const int todo =                                                                                 \
                gyre_open_slot_(batch_, index, in_, out_, gyre_least_##request_, gyre_size_##request_, 1);   \
            if (todo == GYRE_SLOT_ABSENT_)                                                                   \
                continue;                                                                                    \
            if (todo == GYRE_SLOT_READY_) {                                                                  \
                gyre.failed = 0;                                                                             \
                int result = GYRE_FAILED;                                                                    \
                if (gyre_admit_##request_(&gyre, (const GYRE_GLOBAL request_ *)(in_ + 1))) {                 \
                    gyre_clear_##reply_((GYRE_GLOBAL reply_ *)(out_ + 1));                                   \
                    result = gyre_result_(                                                                   \
                        &gyre, gyre_handler_##name_((const GYRE_GLOBAL request_ *)(in_ + 1),                 \
                                                    (GYRE_GLOBAL reply_ *)(out_ + 1),                        \
                                                    (GYRE_GLOBAL state_ *)gyre_state_there_,                 \
                                                    (GYRE_SHARED scratch_ *)0, &buffers_bound, &gyre));      \
                }                                                                                            \
                failed += gyre_lane_end_(&gyre, out_, result, GYRE_LENGTH_OF_(reply_, out_));                \
            }                                                                                                \
            out_->sequence = index + 1;                                                                      \
            handled++;                                                                                       \
        }                                                                                                    \
        gyre_count_(blocks, &gyre, handled, failed);                                                         \
    }

/*
 * A block kernel's message i goes to block i of the launch. The shape is what PoCL 3.1 runs right: it lets
 * all lanes take the way of the first wherever a barrier stands under an `if`, or an `if` not between two
 * barriers. So "if ready" is a loop of one turn, and what only lane 0 does stands between barriers.
 */
#define GYRE_ENTRY_BLOCK_(form_, name_, request_, reply_, scratch_, state_, buffers_)                        \
    GYRE_BATCH_ENTRY_(name_)                                                                                 \
    {                                                                                                        \
        gyre_context gyre;                                                                                   \
        buffers_ buffers_bound;                                                                              \
        GYRE_BATCH_SHARED_(shared);                                                                          \
        GYRE_BATCH_SCRATCH_(scratch_, scratch);                                                              \
        GYRE_BATCH_BOUND_(bound);                                                                            \
        gyre_context_init_(&gyre, batch_, log_, shared);                                                     \
        gyre_bind_##buffers_(&buffers_bound, bound);                                                         \
        for (gyre_u32 i = gyre.block; i < batch_->count; i += gyre.block_count) {                            \
            const gyre_u64 index = batch_->first + i;                                                        \
            const GYRE_GLOBAL gyre_slot *in_ = GYRE_IN_SLOT_(batch_, requests_, index);                      \
            GYRE_GLOBAL gyre_slot *out_ = GYRE_OUT_SLOT_(batch_, replies_, index);                           \
            gyre_u32 failed = 0;                                                                             \
            int todo = gyre_open_slot_(batch_, index, in_, out_, gyre_least_##request_,                      \
                                       gyre_size_##request_, gyre.lane == 0);                                \
            gyre.failed = 0;                                                                                 \
            if (todo == GYRE_SLOT_READY_ &&                                                                  \
                !gyre_admit_##request_(&gyre, (const GYRE_GLOBAL request_ *)(in_ + 1))) {                    \
                if (gyre.lane == 0)                                                                          \
                    gyre_write_failure_(out_, gyre.fail_code, gyre.fail_text);                               \
                todo = GYRE_SLOT_SETTLED_;                                                                   \
                failed = 1;                                                                                  \
            }                                                                                                \
            for (int turn = todo == GYRE_SLOT_READY_; turn > 0; turn--) {                                    \
                if (gyre.lane == 0)                                                                          \
                    gyre_clear_##reply_((GYRE_GLOBAL reply_ *)(out_ + 1));                                   \
                gyre_block_begin_(&gyre);                                                                    \
                const int result =                                                                           \
                    gyre_result_(&gyre, gyre_handler_##name_((const GYRE_GLOBAL request_ *)(in_ + 1),        \
                                                             (GYRE_GLOBAL reply_ *)(out_ + 1),               \
                                                             (GYRE_GLOBAL state_ *)gyre_state_there_,        \
                                                             scratch, &buffers_bound, &gyre));               \
                failed = gyre_block_end_(&gyre, out_, result, GYRE_LENGTH_OF_(reply_, out_));                \
            }                                                                                                \
            gyre_together_();                                                                                \
            if (todo != GYRE_SLOT_ABSENT_ && gyre.lane == 0) {                                               \
                out_->sequence = index + 1;                                                                  \
                gyre_count_(blocks, &gyre, 1, failed);                                                       \
            }                                                                                                \
            gyre_together_();                                                                                \
        }                                                                                                    \
    }

#endif
