/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the dialect that CUDA C++ and OpenCL C share: context, failures, log, buffers, and how one
 * request is completed. Included by cuda.h and opencl.h, which first define
 *
 *   GYRE_GLOBAL, GYRE_SHARED, GYRE_CONSTANT, GYRE_HELPER   the qualifiers of kernel.h
 *   GYRE_LITERAL_          the address space of string literals
 *   GYRE_RESTRICT_         restrict
 *   gyre_claim_u32_(p, n)  relaxed fetch-and-add on GYRE_GLOBAL memory
 */
#ifndef GYRE_DIALECT_DEVICE_H
#define GYRE_DIALECT_DEVICE_H

#include "gyre/dialect/device_module.h"

/* Headers are for kernels that are compiled with GYRE_HEADED = 1; other kernels hold no trace of them. */
#ifndef GYRE_HEADED
#define GYRE_HEADED 0
#endif

/* Files with grid kernels are compiled with GYRE_GRID = 1; other kernels hold no trace of it. */
#ifndef GYRE_GRID
#define GYRE_GRID 0
#endif
#define GYRE_IN_GRID_ 2u /* gyre_context.in_block of a grid kernel */

/** The words that the lanes of a block share. */
typedef struct gyre_block_shared {
    gyre_u64 cells[1024]; /* one for each lane, for block functions */
    gyre_u32 place[2];    /* the places of lane 0's last barriers */
    gyre_u32 first_failed;
    gyre_u32 returned; /* lanes whose handler has returned */
    /* after how many barriers the first lane and the last lane returned */
    gyre_u32 first_return, last_return;
    gyre_u32 parted; /* the last barrier that lanes met at different places */
#if defined(GYRE_DIALECT_CUDA) && GYRE_HEADED
    gyre_u64 header[8]; /* a copy of the current message's header, if another program can write it */
#endif
#if defined(GYRE_DIALECT_CUDA) && GYRE_GRID
    gyre_u64 grid_serial; /* of the message that block 0 posted last */
    gyre_u32 grid_parted; /* the blocks do not meet any more in this message */
    gyre_u32 grid_any, grid_failed, grid_there;
#endif
} gyre_block_shared;

/*
 * Messages are timed in kernels that are compiled with GYRE_TIMED: those whose index is a multiple of it, which is a power of two.
 * Other kernels hold no trace of it.
 */
#ifndef GYRE_TIMED
#define GYRE_TIMED 0
#endif

/* Checksums are for kernels that are compiled with GYRE_SEALED = 1; other kernels hold no trace of them. */
#ifndef GYRE_SEALED
#define GYRE_SEALED 0
#endif

/*
 * Kernels of files that are compiled with GYRE_STAGE = 1 can be stages of pipelines (gyre/pipeline.h), and may have ports;
 * other kernels hold no trace of links.
 */
#ifndef GYRE_STAGE
#define GYRE_STAGE 0
#endif

/*
 * Of these, kernels of files that are compiled with GYRE_LIMITED = 1 can be stages of pipelines that limit their flows by a window
 * or a quota; GYRE_AGAIN = 1: kernels with ports may return GYRE_MORE; GYRE_FLOWS = 1: flows have memory at kernels; GYRE_ASKS = 1:
 * kernels ask each other, on CUDA; GYRE_POOLS = 1: they take work from pools; GYRE_ROUNDS = 1: the pipeline has rounds, which begin
 * by messages like answers; GYRE_LEVELS = 1: links of several levels lead to them; GYRE_CHOICES = 1:
 * links lead to one of the types that they take.
 */
#ifndef GYRE_AGAIN
#define GYRE_AGAIN 0
#endif
#ifndef GYRE_FLOWS
#define GYRE_FLOWS 0
#endif
#ifndef GYRE_ROUNDS
#define GYRE_ROUNDS 0
#endif
#ifndef GYRE_ASKS
#define GYRE_ASKS GYRE_ROUNDS
#endif
#ifndef GYRE_LEVELS
#define GYRE_LEVELS 0
#endif
#ifndef GYRE_CHOICES
#define GYRE_CHOICES 0
#endif
#ifndef GYRE_POOLS
#define GYRE_POOLS 0
#endif
#ifndef GYRE_LIMITED
#define GYRE_LIMITED (GYRE_AGAIN || GYRE_FLOWS || GYRE_ASKS || GYRE_POOLS || GYRE_LEVELS || GYRE_CHOICES)
#endif

/*
 * Files with keyed actors are compiled with GYRE_KEYED = 1; other kernels hold no trace of tables of keys.
 */
#ifndef GYRE_KEYED
#define GYRE_KEYED 0
#endif

/** One lane's view of its launch, which handlers get as `gyre`. Handlers do not touch its members. */
typedef struct gyre_context {
    gyre_u32 lane, lane_count, block, block_count;
    gyre_u32 in_block;     /* a block kernel: barriers work; GYRE_IN_GRID_: grid barriers, too */
    gyre_u32 barrier_turn; /* barriers met in this message */
    gyre_i32 fail_code;
    gyre_u32 failed;
    gyre_u64 time_ns;
#ifdef GYRE_DIALECT_OPENCL
    gyre_u64 ticks, tick_rate; /* for gyre_time_ns: opencl_functions.h */
#endif
    GYRE_LITERAL_ const char *fail_text;
    GYRE_GLOBAL gyre_device_log *log;
#if defined(GYRE_DIALECT_CUDA) && GYRE_GRID
    gyre_u64 *grid; /* the word by which blocks meet (cuda_grid.h); NULL: there is one block */
    gyre_u32 grid_joins,
        grid_places; /* of lane 0: barriers that the block joined in this message, the sum of their places */
#endif
    GYRE_SHARED gyre_block_shared *shared;
    const GYRE_GLOBAL gyre_control_handle *handles; /* buffers that messages may name; NULL: none may */
#if GYRE_TIMED
    GYRE_GLOBAL gyre_stamp *stamps; /* of the queue that is served; NULL: messages are not timed */
    gyre_u64 stamp_mask;
#endif
#if GYRE_TIMED && defined(GYRE_DIALECT_CUDA)
    gyre_control_times *times; /* where handlers' times are counted; NULL: nowhere */
#endif
#if GYRE_SEALED && defined(GYRE_DIALECT_CUDA)
    gyre_u32 *seals; /* checksums of the served queue: of requests, then of replies; NULL: none */
    gyre_u64 seal_mask;
#endif
#if GYRE_HEADED
    const GYRE_GLOBAL gyre_u8 *header; /* the current message's header; NULL: it has none */
    gyre_u32 header_size;
    const GYRE_GLOBAL gyre_u8 *headers; /* headers of the queue that is served; NULL: none */
    gyre_u64 header_mask;
#ifdef GYRE_DIALECT_CUDA
    const gyre_u64
        *header_taken; /* a copy of the header, if another program can write it; NULL: it is read in place */
    gyre_u32 foreign;  /* not 0: headers of the served queue are copied */
#endif
#endif
#if GYRE_STAGE
    gyre_u64 origin; /* of the current message (link_layout.h); 0: it belongs to no flow */
    void *ports;     /* of the current call */
#ifdef GYRE_DIALECT_CUDA
    gyre_u32 clears; /* not 0: places to emit to are zeroed, because another program may get what is there */
    gyre_u64 index;  /* of the request that began the flow, where `entry` is NULL */
    const struct gyre_link_entry_ *entry; /* says that index otherwise (cuda_link_lap.h) */
#if GYRE_LIMITED
    gyre_u32 again,
        turn; /* the handler asked for another call; how often it was called with this message before */
    gyre_u32 memory_size;
    void *memory; /* of the message's flow at this kernel; NULL: the kernel has no GYRE_FLOW */
    void *spare;  /* in its place, for a handler that names another kernel */
#if GYRE_ASKS
    gyre_u32 token; /* what gyre_token says */
#endif
#endif
#else
    gyre_u64 flow_id;         /* what gyre_flow_id says */
    gyre_u32 turn, again;     /* calls of the handler with this message before; it wants another one */
    gyre_u32 token;           /* what gyre_token says */
    gyre_u32 memory_size;     /* bytes of memory of the kernel's flows */
    GYRE_GLOBAL void *memory; /* as much as any kernel of the file has; NULL: none has memory of flows */
#endif
#endif
#if GYRE_KEYED
    gyre_u32 forgets; /* the message's key leaves when the handler has returned */
    gyre_u32 reminds; /* what the handler may ask for, and has asked for (keyed_reminders.h) */
    gyre_u32 by_sent; /* keys are reminded by the times at which requests were sent */
    gyre_i64 remind_at_ns;
    gyre_i64 from_ns;     /* from when a reminder counts; 0: now */
    gyre_i64 next_due_ns; /* no key that this thread's handlers set a reminder for is due before */
#endif
} gyre_context;

/* ---- results, log, place in the launch ---- */

/*
 * Fails the message. A handler's own failure counts more than a barrier that the handler missed or made others miss.
 */
GYRE_HELPER gyre_result gyre_fail_(gyre_context *gyre, gyre_i32 code, GYRE_LITERAL_ const char *text)
{
    if (!gyre->failed || (gyre->fail_code == GYRE_FAILURE_BARRIER && code != GYRE_FAILURE_BARRIER)) {
        gyre->failed = 1;
        gyre->fail_code = code;
        gyre->fail_text = text;
    }
    return GYRE_FAILED;
}

/* Fails the message by the handler's wish. A code that a handler may not use becomes a failure that says so. */
GYRE_HELPER gyre_result gyre_fail(gyre_context *gyre, gyre_i32 code, GYRE_LITERAL_ const char *text)
{
    if (code < 0)
        return gyre_fail_(gyre, GYRE_FAILURE_CODE, GYRE_FAILURE_CODE_TEXT);
    return gyre_fail_(gyre, code, text);
}

/* Checks what the handler returned: a value that is no handler's result is a failure, not a silent "no reply". */
GYRE_HELPER gyre_result gyre_result_(gyre_context *gyre, gyre_result result)
{
    if (result != GYRE_REPLY && result != GYRE_NO_REPLY && !gyre->failed)
        return gyre_fail_(gyre, GYRE_FAILURE_RESULT, "it returned no GYRE_REPLY or GYRE_NO_REPLY");
    return result;
}

/*
 * Fails the message unless `holds`. `text` begins with a path of `path_length` bytes; its folders are left out,
 * because a failure's text is short.
 */
GYRE_HELPER int gyre_assert_(gyre_context *gyre, int holds, GYRE_LITERAL_ const char *text,
                             gyre_u32 path_length)
{
    if (!holds) {
        while (path_length > 0 && text[path_length - 1] != '/')
            path_length--;
        gyre_fail_(gyre, GYRE_FAILURE_ASSERT, text + path_length);
    }
    return holds;
}
#define gyre_assert(gyre, condition)                                                                         \
    gyre_assert_((gyre), !!(condition), __FILE__ ":" GYRE_TEXT_(__LINE__) ": " #condition,                   \
                 (gyre_u32)(sizeof(__FILE__) - 1))

#ifdef GYRE_DIALECT_OPENCL
/* As gyre_log, of two texts, the first of which fits. */
GYRE_HELPER void gyre_log_behind_(gyre_context *gyre, GYRE_LITERAL_ const char *front,
                                  GYRE_LITERAL_ const char *text, gyre_i64 value)
{
    GYRE_GLOBAL gyre_device_log *log = gyre->log;
    const gyre_u32 index = gyre_claim_u32_(&log->next, 1);
    GYRE_GLOBAL gyre_device_log_line *line =
        (GYRE_GLOBAL gyre_device_log_line *)(log + 1) + index % log->capacity;
    gyre_u32 i = 0;
    for (; front[i]; i++)
        line->text[i] = front[i];
    for (gyre_u32 at = 0; i < sizeof line->text - 1 && text[at]; at++)
        line->text[i++] = text[at];
    line->text[i] = 0;
    line->value = value;
    line->block = gyre->block;
    line->written = index + 1;
}
#endif

GYRE_HELPER void gyre_log(gyre_context *gyre, GYRE_LITERAL_ const char *text, gyre_i64 value)
{
    GYRE_GLOBAL gyre_device_log *log = gyre->log;
    const gyre_u32 index = gyre_claim_u32_(&log->next, 1);
    GYRE_GLOBAL gyre_device_log_line *line =
        (GYRE_GLOBAL gyre_device_log_line *)(log + 1) + index % log->capacity;
    gyre_u32 i = 0;
    for (; i < sizeof line->text - 1 && text[i]; i++)
        line->text[i] = text[i];
    line->text[i] = 0;
    line->value = value;
    line->block = gyre->block;
    line->written = index + 1;
}

GYRE_HELPER gyre_u32 gyre_lane(const gyre_context *gyre)
{
    return gyre->lane;
}

GYRE_HELPER gyre_u32 gyre_lane_count(const gyre_context *gyre)
{
    return gyre->lane_count;
}

GYRE_HELPER gyre_u32 gyre_block(const gyre_context *gyre)
{
    return gyre->block;
}

GYRE_HELPER gyre_u32 gyre_block_count(const gyre_context *gyre)
{
    return gyre->block_count;
}

GYRE_HELPER gyre_u32 gyre_grid_lane(const gyre_context *gyre)
{
    return gyre->block * gyre->lane_count + gyre->lane;
}

GYRE_HELPER gyre_u32 gyre_grid_lane_count(const gyre_context *gyre)
{
    return gyre->block_count * gyre->lane_count;
}

/* ---- bits that all compilers do alike ---- */

GYRE_HELPER gyre_u32 gyre_rotl_u32(gyre_u32 x, gyre_u32 n)
{
    return x << (n & 31) | x >> ((0 - n) & 31);
}

GYRE_HELPER gyre_u64 gyre_rotl_u64(gyre_u64 x, gyre_u32 n)
{
    return x << (n & 63) | x >> ((0 - n) & 63);
}

/* The minimum (or maximum) of a number and a NaN is the number. */
#define GYRE_SUM_(a, b)       ((a) + (b))
#define GYRE_SUM_I32_(a, b)   ((gyre_i32)((gyre_u32)(a) + (gyre_u32)(b)))
#define GYRE_SUM_I64_(a, b)   ((gyre_i64)((gyre_u64)(a) + (gyre_u64)(b)))
#define GYRE_LESSER_(a, b)    ((a) < (b) ? (a) : (b))
#define GYRE_GREATER_(a, b)   ((a) > (b) ? (a) : (b))
#define GYRE_LESSER_F_(a, b)  ((a) < (b) || (b) != (b) ? (a) : (b))
#define GYRE_GREATER_F_(a, b) ((a) > (b) || (b) != (b) ? (a) : (b))

/* ---- buffers ---- */

/** A bound buffer; entries fill a GYRE_BUFFERS struct from an array of these. */
typedef struct gyre_bound {
    GYRE_GLOBAL void *data;
    gyre_u64 count;
} gyre_bound;

#include "gyre/dialect/buffers.h"

#define GYRE_BUFFER_BIND_(type, name)                                                                        \
    gyre_its_buffers_->name = (GYRE_GLOBAL type *)gyre_its_bound_->data;                                     \
    gyre_its_buffers_->name##_count = gyre_its_bound_->count;                                                \
    gyre_its_bound_++;

#define GYRE_BUFFERS(name_, LIST_)                                                                           \
    typedef struct name_ {                                                                                   \
        LIST_(GYRE_BUFFER_IN_, GYRE_BUFFER_INOUT_)                                                           \
    } name_;                                                                                                 \
    GYRE_EXPORTED_TEXT_(gyre_buffers_text_##name_, LIST_(GYRE_BUFFER_IN_TEXT_, GYRE_BUFFER_INOUT_TEXT_))     \
    GYRE_HELPER void gyre_bind_##name_(name_ *gyre_its_buffers_, const gyre_bound *gyre_its_bound_){         \
        LIST_(GYRE_BUFFER_BIND_, GYRE_BUFFER_BIND_)} GYRE_BUFFERS_SEEN_(name_, LIST_)

/* The buffers of a migration (forms.h): GYRE_BUFFERS of the old and of the new state. */
#define GYRE_MIGRATION_BUFFERS_(name_, old_, new_)                                                           \
    typedef struct name_ {                                                                                   \
        GYRE_BUFFER_IN_(old_, gyre_before_) GYRE_BUFFER_INOUT_(new_, gyre_after_)                            \
    } name_;                                                                                                 \
    GYRE_EXPORTED_TEXT_(gyre_buffers_text_##name_,                                                           \
                        GYRE_BUFFER_IN_TEXT_(old_, gyre_before_) GYRE_BUFFER_INOUT_TEXT_(new_, gyre_after_)) \
    GYRE_HELPER void gyre_bind_##name_(name_ *gyre_its_buffers_, const gyre_bound *gyre_its_bound_)          \
    {                                                                                                        \
        GYRE_BUFFER_BIND_(old_, gyre_before_) GYRE_BUFFER_BIND_(new_, gyre_after_)                           \
    }

GYRE_HELPER void gyre_bind_gyre_none(gyre_none *buffers, const gyre_bound *bound)
{
    (void)buffers;
    (void)bound;
}

/* The backend finds the query by this name. */
#define GYRE_QUERY_MARK_(request_) GYRE_EXPORTED_TEXT_(gyre_query_##request_, "query")

/* The dialect defines GYRE_HEADER_LOAD_: a header lies in the host's memory, or in a copy of it. */
#define GYRE_HEADER_INLINE_ GYRE_HELPER
/* No GYRE_FOREIGN_: callers of handlers zero the memory in which replies to other programs are built. */
#include "gyre/dialect/header.h"

/*
 * GYRE_HEADER_QUEUE_ is called before messages of a queue are handled, GYRE_HEADER_AT_ for each message. `headers_`:
 * where the queue's headers begin; `size_`: the bytes of a header.
 */
#if GYRE_HEADED
#define GYRE_HEADER_QUEUE_(gyre, headers_, size_, mask_)                                                     \
    ((gyre)->headers = (headers_), (gyre)->header_size = (size_), (gyre)->header_mask = (mask_))
#define GYRE_HEADER_AT_(gyre, index_)                                                                        \
    ((gyre)->header = (gyre)->headers                                                                        \
                          ? (gyre)->headers + ((index_) & (gyre)->header_mask) * (gyre)->header_size         \
                          : (gyre)->headers)
#else
#define GYRE_HEADER_QUEUE_(gyre, headers_, size_, mask_) ((void)0)
#define GYRE_HEADER_AT_(gyre, index_)                    ((void)0)
#endif

#if GYRE_SEALED
#include "gyre/dialect/seal.h"
#endif

#define GYRE_TABLE_          GYRE_GLOBAL
#define GYRE_HANDLES_INLINE_ GYRE_HELPER
#include "gyre/dialect/handles.h"

/* ---- completing a request ---- */

#define GYRE_FIRST_WORD_(payload) (*(const GYRE_GLOBAL gyre_u32 *)(const GYRE_GLOBAL void *)(payload))
#define GYRE_LENGTH_AT_(reply_, payload)                                                                     \
    gyre_reply_length_at_(gyre_least_##reply_, gyre_size_##reply_, GYRE_FIRST_WORD_(payload))
GYRE_HELPER gyre_u32 gyre_reply_length_at_(gyre_u32 least, gyre_u32 size, gyre_u32 used)
{
    return GYRE_REPLY_LENGTH_(least, size, used);
}

/* Writes a completion except for its sequence, which the caller stores after everything that must be visible first. */
GYRE_HELPER void gyre_write_reply_(GYRE_GLOBAL gyre_slot *out, int result, gyre_u32 reply_size)
{
    const int replied = result == GYRE_OUTCOME_REPLY && reply_size > 0;
    out->length = replied ? reply_size : 0;
    out->info = replied ? GYRE_OUTCOME_REPLY : GYRE_OUTCOME_NO_REPLY;
}

#ifndef GYRE_PART_
#define GYRE_PART_ GYRE_HELPER /* a function that a dialect may compile once for all kernels */
#endif
GYRE_PART_ void gyre_write_failure_(GYRE_GLOBAL gyre_slot *out, gyre_i32 code,
                                    GYRE_LITERAL_ const char *text);
#ifndef GYRE_CUDA_LINKED
GYRE_PART_ void gyre_write_failure_(GYRE_GLOBAL gyre_slot *out, gyre_i32 code, GYRE_LITERAL_ const char *text)
{
    GYRE_GLOBAL gyre_failure *failure = (GYRE_GLOBAL gyre_failure *)(out + 1);
    gyre_u32 i = 0;
    failure->code = code;
    for (; i < sizeof failure->text - 1 && text[i]; i++)
        failure->text[i] = text[i];
    for (; i < sizeof failure->text; i++)
        failure->text[i] = 0;
    out->length = sizeof(gyre_failure);
    out->info = GYRE_OUTCOME_FAILED;
}
#endif

/* Ends a message that one lane handled. Returns 1 when it failed. */
GYRE_HELPER gyre_u32 gyre_lane_end_(const gyre_context *gyre, GYRE_GLOBAL gyre_slot *out, int result,
                                    gyre_u32 reply_size)
{
    if (gyre->failed)
        gyre_write_failure_(out, gyre->fail_code, gyre->fail_text);
    else
        gyre_write_reply_(out, result, reply_size);
    return gyre->failed;
}

GYRE_HELPER void gyre_together_(void);

/* Called by every lane before the handler runs. Afterwards the lanes are together. */
GYRE_HELPER void gyre_block_begin_(gyre_context *gyre)
{
    gyre->failed = 0;
    gyre->barrier_turn = 0;
    if (gyre->lane == 0) {
        gyre->shared->first_failed = 0xffffffffu;
        gyre->shared->returned = 0;
        gyre->shared->first_return = 0xffffffffu;
        gyre->shared->last_return = 0;
        gyre->shared->parted = 0xffffffffu;
    }
#ifdef GYRE_DIALECT_CUDA
    gyre_together_(); /* a lane may return at once and say so there */
#endif
}

/*
 * A lane's rank among the lanes that failed; the lane with the lowest rank speaks for a failed message. That is the
 * lowest lane that failed of its own accord, else the lowest that missed a barrier.
 */
GYRE_HELPER gyre_u32 gyre_failure_rank_(const gyre_context *gyre)
{
    return gyre->lane | (gyre->fail_code == GYRE_FAILURE_BARRIER ? 0x10000u : 0);
}

/*
 * Writes the completion of a block's message, by the lane that speaks for the failure or, without a failure, by lane
 * 0. `first_failed` is final. Returns, to all lanes, whether the message failed.
 */
GYRE_HELPER gyre_u32 gyre_block_complete_(const gyre_context *gyre, GYRE_GLOBAL gyre_slot *out, int result,
                                          gyre_u32 reply_size)
{
    const gyre_u32 first = gyre->shared->first_failed;
    if (first == 0xffffffffu) {
        if (gyre->lane == 0)
            gyre_write_reply_(out, result, reply_size);
        return 0;
    }
    if (gyre->failed && gyre_failure_rank_(gyre) == first)
        gyre_write_failure_(out, gyre->fail_code, gyre->fail_text);
    return 1;
}

/* ---- declaring kernels ---- */

/*
 * The dialect's entry, cuda_resident.h or opencl_epoch.h, defines
 *
 *   GYRE_ENTRY_LANE_(form, name, request, reply, scratch, state, buffers), and GYRE_ENTRY_BLOCK_ (the same)
 *
 * which expand to the code that calls `gyre_handler_<name>(request, reply, state, scratch, buffers, gyre)`; before each
 * call it sets `gyre.failed` to 0 and, for blocks, calls gyre_block_begin_; after it, gyre_lane_end_ or
 * gyre_block_end_.
 */

#define GYRE_UNUSED_ __attribute__((__unused__))

/*
 * The size of the scratch, or 0 for gyre_none, as a constant. Scratch is any struct, which need not be a message.
 * OpenCL C has no variadic macros and only knows the size: there a scratch as small as gyre_none counts as none.
 */
#if defined(GYRE_DIALECT_OPENCL)
#define GYRE_SCRATCH_SIZE_(scratch_) (sizeof(scratch_) > sizeof(gyre_none) ? sizeof(scratch_) : 0)
#else
#define GYRE_SCRATCH_OF_gyre_none_            , 0
#define GYRE_SECOND_OF_(first_, second_, ...) second_
#define GYRE_SECOND_(...)                     GYRE_SECOND_OF_(__VA_ARGS__)
#define GYRE_SCRATCH_SIZE_(scratch_)          GYRE_SECOND_(GYRE_SCRATCH_OF_##scratch_##_, sizeof(scratch_), )
#endif

#define GYRE_DESCRIBE_KERNEL_(form_, name_, request_, reply_, scratch_, state_, buffers_)                    \
    GYRE_RECORD_(name_) = {GYRE_DEVICE_MODULE_VERSION,                                                       \
                           form_,                                                                            \
                           gyre_size_##request_,                                                             \
                           gyre_size_##reply_,                                                               \
                           gyre_size_##state_,                                                               \
                           GYRE_SCRATCH_SIZE_(scratch_),                                                     \
                           __LINE__,                                                                         \
                           #name_,                                                                           \
                           #request_,                                                                        \
                           #reply_,                                                                          \
                           #state_,                                                                          \
                           #buffers_};                                                                       \
    GYRE_DESCRIBE_(name_)

#define GYRE_DECLARE_(entry_, form_, name_, request_, reply_, scratch_, state_, buffers_)                    \
    GYRE_HANDLER_(name_, request_, reply_, scratch_, state_, buffers_);                                      \
    GYRE_DESCRIBE_KERNEL_(form_, name_, request_, reply_, scratch_, state_, buffers_)                        \
    entry_(form_, name_, request_, reply_, scratch_, state_, buffers_)

#define GYRE_DECLARE_LANE_(form_, name_, request_, reply_, scratch_, state_, buffers_)                       \
    GYRE_DECLARE_(GYRE_ENTRY_LANE_, form_, name_, request_, reply_, scratch_, state_, buffers_)
#define GYRE_DECLARE_BLOCK_(form_, name_, request_, reply_, scratch_, state_, buffers_)                      \
    GYRE_DECLARE_(GYRE_ENTRY_BLOCK_, form_, name_, request_, reply_, scratch_, state_, buffers_)

#if !defined(GYRE_DIALECT_CUDA) || GYRE_GRID
#define GYRE_DECLARE_GRID_ GYRE_DECLARE_BLOCK_
#else
#define GYRE_DECLARE_GRID_(form_, name_, request_, reply_, scratch_, state_, buffers_)                       \
    static_assert(sizeof(gyre_u32) == 0,                                                                     \
                  "grid kernel '" #name_ "' is declared in a file that the kernel file includes: add "       \
                  "-DGYRE_GRID=1 to the options of its section");                                            \
    GYRE_DECLARE_BLOCK_(2, name_, request_, reply_, scratch_, state_, buffers_)
#endif

/* cuda_keyed.h and opencl_keyed.h have the keyed actors. This text is for files that were compiled without them. */
#if !GYRE_KEYED
#ifdef GYRE_DIALECT_CUDA
#define GYRE_KEYED_ASSERT_ static_assert
#else
#define GYRE_KEYED_ASSERT_ _Static_assert
#endif
#define GYRE_KEYED_HERE_(name_)                                                                              \
    GYRE_KEYED_ASSERT_(sizeof(gyre_u32) == 0,                                                                \
                       "keyed actor '" #name_                                                                \
                       "' is declared in a file that the kernel file includes: add -DGYRE_KEYED=1 to "       \
                       "the options of its section");
#define GYRE_DECLARE_KEYED_(name_, request_, reply_, state_, key_, hooks_, reminds_)                         \
    GYRE_KEYED_HERE_(name_)                                                                                  \
    GYRE_DECLARE_LANE_(4, name_, request_, reply_, gyre_none, state_, gyre_none)
#define GYRE_DECLARE_LIVES_(name_, request_, state_) GYRE_KEYED_LIVES_(name_, request_, state_)
#define GYRE_DECLARE_REMINDED_(name_, state_)        GYRE_KEYED_REMINDED_(name_, state_)
#define gyre_forget(gyre)                            ((void)(gyre))
#define GYRE_NO_REMINDERS_(gyre)                                                                             \
    ((void)gyre_fail_((gyre), GYRE_FAILURE_KEYS, "gyre_remind without a GYRE_REMINDED"))
#define gyre_remind(gyre, ns) ((void)(ns), GYRE_NO_REMINDERS_(gyre))
#define gyre_unremind(gyre)   GYRE_NO_REMINDERS_(gyre)
#endif

#include "gyre/dialect/reminder.h"
#include "gyre/dialect/forms.h"
#if GYRE_STAGE && defined(GYRE_DIALECT_CUDA)
#include "gyre/dialect/cuda_ports.h"
#elif GYRE_STAGE
#include "gyre/dialect/opencl_ports.h"
#else
#include "gyre/dialect/no_ports.h"
#endif

/* The check stage says it before; this text is for files that are not checked. */
#ifdef GYRE_DIALECT_CUDA
#define GYRE_NO_FLOW_ASSERT_(text_) static_assert(sizeof(gyre_u32) == 0, text_);
#else
#define GYRE_NO_FLOW_ASSERT_(text_) _Static_assert(sizeof(gyre_u32) == 0, text_);
#endif
#ifdef GYRE_DIALECT_CUDA
#define GYRE_NO_FLOW_WHY_                                                                                    \
    "' has memory of flows, and GYRE_FLOW stands in another file: add -DGYRE_FLOWS=1 -DGYRE_STAGE=1 to the " \
    "options of its section"
#else
#define GYRE_NO_FLOW_WHY_                                                                                    \
    "' has memory of flows: add -DGYRE_STAGE=1 to the options of its section, and leave mode = resident out"
#endif
#ifndef GYRE_FLOW
#define GYRE_FLOW(kernel_, type_)                                                                            \
    typedef type_ gyre_flow_of_##kernel_;                                                                    \
    GYRE_NO_FLOW_ASSERT_("kernel '" #kernel_ GYRE_NO_FLOW_WHY_)
#define gyre_flow(gyre_, kernel_) ((GYRE_GLOBAL gyre_flow_of_##kernel_ *)0)
#endif
#if defined(GYRE_DIALECT_CUDA) && !GYRE_STAGE /* no_ports.h refuses the kernels that these words are for */
#define GYRE_MORE         GYRE_NO_REPLY
#define gyre_turn(gyre_)  ((void)(gyre_), (gyre_u32)0)
#define gyre_token(gyre_) ((void)(gyre_), (gyre_u32)0)
#define gyre_round(gyre_) ((void)(gyre_), (gyre_u32)0)
#endif
#ifdef GYRE_DIALECT_CUDA
#define GYRE_NO_ASKS_WHY_                                                                                      \
    "' ask, and GYRE_PORTS_WITH_ASKS stands in another file: add -DGYRE_ASKS=1 -DGYRE_STAGE=1 to the options " \
    "of its section"
#else
#define GYRE_NO_ASKS_WHY_ "' ask, which kernels that stay do not do: leave mode = resident out"
#endif
#ifndef GYRE_PORTS_WITH_ASKS
#define GYRE_PORTS_WITH_ASKS(name_, LIST_) GYRE_NO_FLOW_ASSERT_("ports '" #name_ GYRE_NO_ASKS_WHY_)
#endif

#endif
