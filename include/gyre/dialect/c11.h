/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dialect as C11: compiles kernels for the CPU backend. Included by kernel.h. The functions that handlers call are
 * in c11_functions.h.
 *
 * GYRE_KERNEL and the other declarations of kernel.h expand to the handler, a runner that feeds the handler from a
 * ring, and a descriptor in the section "gyre_kernels", which the generated unit exports.
 */
#ifndef GYRE_DIALECT_C11_H
#define GYRE_DIALECT_C11_H

#include <math.h>
#include <string.h>

#include "gyre/dialect/cpu_module.h"

/* Compilers for Linux define these names as numbers; on devices a kernel may use the names. */
#undef linux
#undef unix
/* <math.h> defines these names as macros that no kernel could call. */
#undef FP_NAN
#undef FP_INFINITE
#undef FP_ZERO
#undef FP_SUBNORMAL
#undef FP_NORMAL
#undef FP_ILOGB0
#undef FP_ILOGBNAN
#undef MATH_ERRNO
#undef MATH_ERREXCEPT
#undef math_errhandling

/*
 * The check stage compiles this file with address spaces (clang only): so a missing qualifier that OpenCL needs is an
 * error on every backend.
 */
#ifdef GYRE_CHECK
#define GYRE_GLOBAL   __attribute__((__address_space__(1)))
#define GYRE_SHARED   __attribute__((__address_space__(3)))
#define GYRE_CONSTANT static const __attribute__((__address_space__(2), __unused__))
#define GYRE_HELPER   static inline __attribute__((__unused__, __annotate__("gyre_helper")))
#else
#define GYRE_GLOBAL
#define GYRE_SHARED
#define GYRE_CONSTANT static const __attribute__((__unused__))
#define GYRE_HELPER   static inline __attribute__((__unused__))
#endif
#ifndef GYRE_CHECKED_INDICES /* indices are checked while handlers run: backend.cpu.checked */
#define GYRE_CHECKED_INDICES 0
#endif
#ifndef GYRE_WATCHED /* accesses are watched while handlers run: backend.cpu.check */
#define GYRE_WATCHED 0
#endif
#if GYRE_CHECKED_INDICES && !defined(GYRE_CHECK)
/* only the handler's own code is checked, so compilers may not inline these functions into it */
#if !GYRE_WATCHED
#define GYRE_UNCHECKED_ __attribute__((__no_sanitize_address__, __unused__))
#elif defined(                                                                                               \
    __clang__) /* otherwise clang replaces atomic operations, and inlines these functions into watched ones */
#define GYRE_UNCHECKED_ __attribute__((__disable_sanitizer_instrumentation__, __noinline__, __unused__))
#else
#define GYRE_UNCHECKED_ __attribute__((__no_sanitize_thread__, __unused__))
#endif
#define GYRE_INLINE_ static inline GYRE_UNCHECKED_
#define GYRE_LATE_   static inline GYRE_UNCHECKED_
#else
#define GYRE_INLINE_ static inline __attribute__((__always_inline__, __unused__))
#endif
#if GYRE_WATCHED /* clang would inline a watched function into one that is not, and watch neither */
#define GYRE_CALLED_ static __attribute__((__noinline__))
#else
#define GYRE_CALLED_ static inline
#endif
#define GYRE_RESTRICT_ restrict

/* ---- buffers ---- */

#include "gyre/dialect/buffers.h"

#define GYRE_BUFFER_TYPE_(type, name) &gyre_type_##type,

#define GYRE_BUFFERS(name_, LIST_)                                                                           \
    typedef struct name_ {                                                                                   \
        LIST_(GYRE_BUFFER_IN_, GYRE_BUFFER_INOUT_)                                                           \
    } name_;                                                                                                 \
    static const char gyre_buffers_text_##name_[] GYRE_UNUSED_ =                                             \
        LIST_(GYRE_BUFFER_IN_TEXT_, GYRE_BUFFER_INOUT_TEXT_);                                                \
    static const gyre_type *const gyre_buffers_types_##name_[] GYRE_UNUSED_ = {                              \
        LIST_(GYRE_BUFFER_TYPE_, GYRE_BUFFER_TYPE_) 0};                                                      \
    GYRE_BUFFERS_SEEN_(name_, LIST_)
/* The buffers of a migration (forms.h): GYRE_BUFFERS of the old and of the new state. */
#define GYRE_MIGRATION_BUFFERS_(name_, old_, new_)                                                           \
    typedef struct name_ {                                                                                   \
        GYRE_BUFFER_IN_(old_, gyre_before_) GYRE_BUFFER_INOUT_(new_, gyre_after_)                            \
    } name_;                                                                                                 \
    static const char gyre_buffers_text_##name_[] GYRE_UNUSED_ =                                             \
        GYRE_BUFFER_IN_TEXT_(old_, gyre_before_) GYRE_BUFFER_INOUT_TEXT_(new_, gyre_after_);                 \
    static const gyre_type *const gyre_buffers_types_##name_[] GYRE_UNUSED_ = {                              \
        GYRE_BUFFER_TYPE_(old_, gyre_before_) GYRE_BUFFER_TYPE_(new_, gyre_after_) 0};
static const char gyre_buffers_text_gyre_none[] GYRE_UNUSED_ = "";
static const gyre_type *const gyre_buffers_types_gyre_none[] GYRE_UNUSED_ = {0};

/* ---- running a ring ---- */

GYRE_INLINE_ void gyre_write_failure_(gyre_slot *out, gyre_i32 code, const char *text)
{
    gyre_failure failure = {code, {0}};
    for (gyre_u32 i = 0; i < sizeof failure.text - 1 && text[i]; i++)
        failure.text[i] = text[i];
    memcpy(out + 1, &failure, sizeof failure);
    out->length = sizeof failure;
    out->info = GYRE_OUTCOME_FAILED;
}

/* ---- messages of other programs ---- */

/*
 * Another program can write the ring of a foreign queue at any time. So a request is copied once, and the copy is
 * checked, handled and sealed; a reply is built beside the ring. Without this barrier, or a volatile load, the
 * compiler may load from the ring again where the copy is meant.
 */
#define GYRE_TAKEN_(copy_) __asm__ volatile("" : : "r"(copy_) : "memory")

/*
 * Moves a payload that shares a line with its header, in the widest pieces that handlers are compiled to. A processor
 * hands a store to a later load only if the load is not wider. Otherwise the load waits until the store, and the reply
 * before it, have reached the cache, which halves the rate of a stream.
 */
typedef gyre_u64 gyre_wide_ __attribute__((vector_size(32), aligned(16), may_alias));
typedef gyre_u64 gyre_last_ __attribute__((vector_size(16), aligned(16), may_alias));

/* It may alias: handlers read and write it as types of theirs. */
typedef union __attribute__((may_alias)) gyre_small_ {
    struct {
        gyre_wide_ wide;
        gyre_last_ last;
    } line;
    gyre_u64 aligned[GYRE_SLOT_SMALL_PAYLOAD / 8];
    unsigned char bytes[GYRE_SLOT_SMALL_PAYLOAD];
} gyre_small_;

/*
 * Copies a large request, and clears the bytes that an earlier and longer request, perhaps another client's, left
 * behind it.
 */
static __attribute__((noinline, unused)) const void *gyre_take_large_(gyre_cpu_stage *stage,
                                                                      const gyre_slot *in, gyre_u32 length)
{
    memcpy(stage->request, in + 1, length);
    GYRE_TAKEN_(stage->request);
    if (length < stage->filled)
        memset(stage->request + length, 0, stage->filled - length);
    stage->filled = length;
    return stage->request;
}

/*
 * Copies the request. A request that is too long is copied up to the size of its type, because it will be refused
 * anyway.
 */
GYRE_INLINE_ const void *gyre_take_request_(gyre_cpu_stage *stage, const gyre_slot *in, gyre_u32 length,
                                            const gyre_cpu_sizes *sizes, gyre_small_ *small)
{
    if (sizes->request > GYRE_SLOT_SMALL_PAYLOAD)
        return gyre_take_large_(stage, in, length < sizes->request ? length : sizes->request);
    const volatile gyre_wide_ *wide = (const volatile gyre_wide_ *)(const volatile void *)(in + 1);
    small->line.wide = *wide;
    small->line.last = *(const volatile gyre_last_ *)(const volatile void *)(wide + 1);
    return small->bytes;
}

/* Returns where the reply is built. Items in the tail of a reply become zero when they are made (gyre_zero_). */
GYRE_INLINE_ void *gyre_begin_reply_(const gyre_cpu_run *run, gyre_slot *out, const gyre_cpu_sizes *sizes,
                                     gyre_u32 foreign, gyre_small_ *small)
{
    void *reply = foreign & GYRE_FOREIGN_RING ? (void *)run->stage->reply : (void *)(out + 1);
    if (sizes->reply <= GYRE_SLOT_SMALL_PAYLOAD) {
        reply = small->bytes;
        for (gyre_u32 i = 0; i < GYRE_SLOT_SMALL_PAYLOAD / 8; i++)
            /* in registers: a memset of memory halved the rate of streams with gcc 13 */
            small->aligned[i] = 0;
    } else if (sizes->reply == sizes->reply_least) {
        memset(reply, 0, sizes->reply);
    }
    return reply;
}

/*
 * Copies a large reply to its slot. When the reply's first word is no length, the reply is as long as its type; its
 * tail, where other clients' bytes may be, is cleared.
 */
static __attribute__((noinline, unused)) void gyre_give_large_(const gyre_cpu_run *run, gyre_slot *out,
                                                               const gyre_cpu_sizes *sizes,
                                                               unsigned char *reply, gyre_u32 length)
{
    if (sizes->reply != sizes->reply_least && *(const gyre_u32 *)(void *)reply != length)
        memset(reply + sizes->reply_least, 0, sizes->reply - sizes->reply_least);
    if (run->foreign & GYRE_FOREIGN_RING)
        memcpy(out + 1, reply, length);
}

/* Checksums are for kernels that are compiled with GYRE_SEALED = 1; other kernels do not even test for them. */
#ifndef GYRE_SEALED
#define GYRE_SEALED 0
#endif
#if GYRE_SEALED
#include "gyre/checksum.h"

/*
 * Whether the request has its sender's seal (checksum). A request of a wrong length passes here, because it is refused
 * for its length.
 */
GYRE_INLINE_ int gyre_seal_holds_(const gyre_cpu_run *run, gyre_u64 index, const unsigned char *header,
                                  const void *request, gyre_u32 length, const gyre_cpu_sizes *sizes)
{
    if (!run->request_seals || length > sizes->request)
        return 1;
    return gyre_seal_of(header, run->header_size, request, length) == run->request_seals[index & run->mask];
}

/* Stores the reply's checksum, before the reply is published. */
GYRE_INLINE_ void gyre_seal_reply_(const gyre_cpu_run *run, gyre_u64 index, const void *reply,
                                   gyre_u32 length)
{
    if (run->reply_seals)
        run->reply_seals[index & run->mask] = gyre_seal_of(0, 0, reply, length);
}
#else
#define gyre_seal_holds_(run, index, header, request, length, sizes) ((void)(header), 1)
#define gyre_seal_reply_(run, index, reply, length)                  ((void)(index))
#endif

/* ---- completing ---- */

GYRE_INLINE_ void gyre_fail_request_(gyre_cpu_run *run, gyre_slot *out, gyre_i32 code, const char *text)
{
    gyre_write_failure_(out, code, text);
    run->failed++;
}

/*
 * Moves a reply to its slot: a small reply is copied in one go; a large reply to this program was built in its slot.
 */
GYRE_INLINE_ void gyre_give_reply_(const gyre_cpu_run *run, gyre_u64 index, gyre_slot *out,
                                   const gyre_cpu_sizes *sizes, gyre_u32 foreign, void *reply)
{
    const gyre_u32 said = *(const gyre_u32 *)reply;
    const gyre_u32 length = GYRE_REPLY_LENGTH_(sizes->reply_least, sizes->reply, said);
    out->length = length;
    if (sizes->reply <= GYRE_SLOT_SMALL_PAYLOAD)
        memcpy(out + 1, reply, sizes->reply);
    else if (foreign)
        gyre_give_large_(run, out, sizes, (unsigned char *)reply, length);
    out->info = GYRE_OUTCOME_REPLY;
    gyre_seal_reply_(run, index, reply, length);
}

/*
 * Completes request `index` in `out`, except for the sequence. A small reply is built beside the ring and copied in
 * one go: otherwise the client, which polls the reply's cache line, would take the line away between two stores of the
 * handler. `header`: the request's header, in kernels that see one. `foreign`: the run's, or the constant 0.
 */
GYRE_INLINE_ void gyre_complete_(gyre_cpu_run *run, gyre_u64 index, const gyre_slot *in, gyre_slot *out,
                                 const unsigned char *header, const gyre_cpu_sizes *sizes, gyre_u32 foreign,
                                 gyre_cpu_handle handle)
{
    gyre_context *context = run->context;
    gyre_small_ asked, given;
    const void *request = in + 1;
    void *reply = sizes->reply <= GYRE_SLOT_SMALL_PAYLOAD ? (void *)given.bytes : (void *)(out + 1);
    /* atomic: a client takes its request back by storing a length that no message has */
    const gyre_u32 length = __atomic_load_n(&in->length, __ATOMIC_RELAXED);
    if (foreign & GYRE_FOREIGN_RING)
        request = gyre_take_request_(run->stage, in, length, sizes, &asked);
    /* a watched handler, which is compiled otherwise, would leave addresses of the stack in what it does not write */
    if (foreign || GYRE_WATCHED)
        reply = gyre_begin_reply_(run, out, sizes, foreign, &given);
    if (!gyre_seal_holds_(run, index, header, request, length, sizes)) {
        gyre_fail_request_(run, out, GYRE_FAILURE_SEAL, "the CRC-32C of the request is wrong");
        return;
    }
    const gyre_u32 said = *(const gyre_u32 *)request;
    if (GYRE_LENGTH_WRONG_(length, sizes->request_least, sizes->request, said)) {
        /* whoever took the request back stored more before its length, for the reader of this completion */
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (in->info == GYRE_REQUEST_ANSWERED) /* answered by a worker that died since */
            return;
        gyre_fail_request_(run, out, GYRE_FAILURE_LENGTH, GYRE_LENGTH_TEXT_);
        return;
    }
    int result = handle(request, reply, run->state, 0, run->buffers, context);
    if (context->failed) {
        gyre_fail_request_(run, out, context->fail_code, context->fail_text);
        context->failed = 0;
        return;
    }
    if (result == GYRE_OUTCOME_REPLY && sizes->reply) {
        gyre_give_reply_(run, index, out, sizes, foreign, reply);
    } else {
        out->length = 0;
        out->info = GYRE_OUTCOME_NO_REPLY;
    }
}

/* Messages are timed in kernels that are compiled with GYRE_TIMED, those whose index is a multiple of it, which is a power of two; other
 * kernels do not even test for it. */
#ifndef GYRE_TIMED
#define GYRE_TIMED 0
#endif
#define GYRE_IS_TIMED_(run, index)                                                                           \
    (GYRE_TIMED && ((index) & (gyre_u64)(GYRE_TIMED - 1)) == 0 && (run)->stamps)

/* Headers are for kernels that are compiled with GYRE_HEADED = 1; other kernels do not even test for them. */
#ifndef GYRE_HEADED
#define GYRE_HEADED 0
#endif

#define GYRE_IS_PACED_ (GYRE_TIMED >= GYRE_PACED_FROM)

/* When the handler of a timed message begins; 0: it is passed over. Other programs expect times of each. */
GYRE_INLINE_ gyre_u64 gyre_look_(const gyre_cpu_run *run, gyre_u64 index)
{
    const gyre_u64 turn = GYRE_IS_PACED_ ? index / (GYRE_TIMED + !GYRE_TIMED) : 0;
    return turn & run->pace.pass && !run->foreign ? 0 : run->context->services->time_ns();
}

/*
 * Returns how many messages to pass over, after one that began `gap_ns` after the last one, with so many passed over in between. With the one
 * that is timed they are a power of two: the client passes messages over as well, and both shall keep the same ones.
 */
GYRE_INLINE_ gyre_u32 gyre_pass_(gyre_u64 gap_ns, gyre_u32 passed)
{
    const gyre_u64 wanted_ns = (gyre_u64)GYRE_PACE_NS * (passed + 1);
    const gyre_u64 wanted = wanted_ns / (gap_ns ? gap_ns : 1);
    gyre_u32 pass = 0;
    while (pass < wanted && pass < GYRE_PASS_MOST)
        pass = 2 * pass + 1;
    return pass;
}

/* Stores the times of a message, before its completion is published: the client reads them afterwards. */
static __attribute__((noinline, unused)) void gyre_stamp_(gyre_cpu_run *run, gyre_u64 index,
                                                          gyre_u64 started_ns)
{
    gyre_cpu_pace *pace = &run->pace;
    gyre_stamp *stamp = run->stamps + (index & run->mask);
    const gyre_u64 finished_ns = started_ns ? run->context->services->time_ns() : 0;
    __atomic_store_n(&stamp->started_ns, started_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&stamp->finished_ns, finished_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&stamp->sequence_again, index + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&stamp->sequence, index + 1, __ATOMIC_RELEASE); /* pairs with the client's acquire */
    if (GYRE_IS_PACED_ && started_ns) {
        pace->pass = gyre_pass_(started_ns - pace->looked_ns, pace->passed);
        pace->looked_ns = finished_ns;
        pace->passed = 0;
    } else if (GYRE_IS_PACED_) {
        pace->passed++;
    }
}

/*
 * Returns the header of request `index`, for seals and handlers: a copy if another program can write the header,
 * otherwise the header itself.
 */
GYRE_INLINE_ const unsigned char *gyre_take_header_(const gyre_cpu_run *run, gyre_u64 index, gyre_u32 foreign,
                                                    gyre_header *copy)
{
    const unsigned char *header = run->headers + (index & run->mask) * run->header_size;
    if (!(foreign & GYRE_FOREIGN_RING))
        return header;
    memcpy(copy, header, run->header_size);
    GYRE_TAKEN_(copy);
    return (const unsigned char *)copy;
}

/*
 * Runs the handler for consecutive requests of a ring. `foreign` is the run's, or the constant 0, with which the
 * compiler keeps only the parts of the loop that the program's own messages need.
 */
GYRE_INLINE_ gyre_u64 gyre_run_as_(gyre_cpu_run *run, const gyre_cpu_sizes *sizes, gyre_u32 foreign,
                                   gyre_cpu_handle handle)
{
    const gyre_u64 first = run->first, end = first + run->limit;
    gyre_u64 index = first;
    gyre_header copied;
    if (GYRE_HEADED) {
        run->context->header = 0;
        run->context->header_size = run->header_size;
    }
    run->context->foreign = foreign;
    while (index != end) {
        const gyre_slot *in = (const gyre_slot *)(run->requests + (index & run->mask) * run->request_stride);
        gyre_slot *out = (gyre_slot *)(run->replies + (index & run->mask) * run->reply_stride);
        /* pairs with the client's release of the request's sequence */
        if (__atomic_load_n(&in->sequence, __ATOMIC_ACQUIRE) != index + 1)
            break;
        if (__builtin_expect(index < __atomic_load_n(&run->host->drop_before, __ATOMIC_RELAXED), 0)) {
            out->length = 0;
            out->info = GYRE_OUTCOME_DROPPED;
        } else {
            const unsigned char *header = 0;
            if ((GYRE_HEADED || GYRE_SEALED) && run->headers)
                header = gyre_take_header_(run, index, foreign, &copied);
            if (GYRE_HEADED)
                run->context->header = header;
            const gyre_u64 started_ns = GYRE_IS_TIMED_(run, index) ? gyre_look_(run, index) : 0;
            gyre_complete_(run, index, in, out, header, sizes, foreign, handle);
            if (GYRE_IS_TIMED_(run, index))
                gyre_stamp_(run, index, started_ns);
        }
        /* pairs with the client's acquire of the reply's sequence */
        __atomic_store_n(&out->sequence, ++index, __ATOMIC_RELEASE);
        /*
         * relaxed: both words only say "come back soon"; the host thread that set them waits with a barrier of its own
         */
        if (__atomic_load_n(run->command, __ATOMIC_RELAXED) != run->expected ||
            __atomic_load_n(&run->host->waiting, __ATOMIC_RELAXED))
            break;
    }
    return index - first;
}

GYRE_INLINE_ gyre_u64 gyre_run_(gyre_cpu_run *run, const gyre_cpu_sizes *sizes, gyre_cpu_handle handle)
{
    if (run->foreign)
        return gyre_run_as_(run, sizes, run->foreign, handle);
    return gyre_run_as_(run, sizes, 0, handle);
}

#include "gyre/dialect/cpu_bridge.h"

/* ---- declaring kernels ---- */

#if GYRE_CHECKED_INDICES && !defined(GYRE_CHECK)
#include "gyre/dialect/c11_checked.h"
#else
#define GYRE_CALLS_(name_) gyre_calls_##name_
#define GYRE_HOOK_
#define GYRE_CALLS_HOOK_(call_, context_, request_, request_size_, grows_, state_, state_size_, more_,       \
                         more_size_)                                                                         \
    (call_)
#define GYRE_CHECKED_CALLS_(name_, request_, reply_, scratch_, state_, buffers_, port_types_, port_count_)
#define GYRE_WAIT_(gyre, place)         ((gyre)->services->barrier((gyre), (place)))
#define GYRE_WAIT_FOR_ALL_(gyre, place) ((gyre)->services->grid_barrier((gyre), (place)))
#define GYRE_ATOMIC_INLINE_             GYRE_INLINE_
#define GYRE_TOUCH_(pointer)            ((void)0)
#define GYRE_ATOMIC_AT_(pointer)        (pointer)
#define GYRE_STORES_(pointer, size)     ((void)0)
#define GYRE_WATCH_BLOCK_(context)      ((void)0)
#define GYRE_WATCH_EMIT_(context)       ((void)0)
#define GYRE_WATCH_MORE_(context)       ((void)0)
#endif

/*
 * The typed handler behind the untyped signature that the backend calls. What follows `buffers_` are further arguments of the
 * handler, with a comma before each.
 */
#define GYRE_CALL_HANDLER_(form_, name_, request_, reply_, buffers_, ...)                                    \
    GYRE_CALLED_ int gyre_calls_##name_(                                                                     \
        const void *gyre_its_request_, void *gyre_its_reply_, void *gyre_its_state_,                         \
        void *gyre_its_scratch_, const gyre_binding *gyre_its_buffers_, gyre_context *gyre_its_context_)     \
    {                                                                                                        \
        const buffers_ *gyre_its_typed_ = (const buffers_ *)(const void *)gyre_its_buffers_;                 \
        if (!gyre_admit_##request_(gyre_its_context_, gyre_its_request_))                                    \
            return GYRE_FAILED;                                                                              \
        if (!GYRE_FORM_SHARES_(form_) ||                                                                     \
            (gyre_its_context_->lane == 0 && (form_ != 5 || gyre_its_context_->block == 0)))                 \
            gyre_clear_##reply_(gyre_its_reply_);                                                            \
        if (form_ == 5 && (int)gyre_size_##reply_ != (int)gyre_least_##reply_)                               \
            gyre_grid_barrier_(gyre_its_context_, "the begin of the handler");                               \
        return gyre_result_(gyre_its_context_,                                                               \
                            gyre_handler_##name_(gyre_its_request_, gyre_its_reply_, gyre_its_state_,        \
                                                 gyre_its_scratch_, gyre_its_typed_,                         \
                                                 gyre_its_context_ __VA_ARGS__));                            \
    }
#define GYRE_HANDLE_(form_, name_, request_, reply_, scratch_, state_, buffers_)                             \
    GYRE_HANDLER_(name_, request_, reply_, scratch_, state_, buffers_);                                      \
    GYRE_CALL_HANDLER_(form_, name_, request_, reply_, buffers_, )                                           \
    GYRE_CHECKED_CALLS_(name_, request_, reply_, scratch_, state_, buffers_, 0, 0)

#define GYRE_SIZES_(request_, reply_)                                                                        \
    {                                                                                                        \
        gyre_size_##request_, gyre_least_##request_, gyre_size_##reply_, gyre_least_##reply_                 \
    }
#define GYRE_HAS_TAIL_(request_, reply_)                                                                     \
    ((int)gyre_size_##request_ != (int)gyre_least_##request_ ||                                              \
     (int)gyre_size_##reply_ != (int)gyre_least_##reply_)
#define GYRE_RUNNER_(name_, request_, reply_) GYRE_RUNNER_OF_(name_, request_, reply_, GYRE_CALLS_(name_))
#define GYRE_RUNNER_OF_(name_, request_, reply_, handle_)                                                    \
    static gyre_u64 gyre_runner_##name_(gyre_cpu_run *gyre_its_run_)                                         \
    {                                                                                                        \
        const gyre_cpu_sizes gyre_its_sizes_ = GYRE_SIZES_(request_, reply_);                                \
        if (GYRE_HAS_TAIL_(request_, reply_) && gyre_its_run_->bridge)                                       \
            return gyre_run_bridged_(gyre_its_run_, &gyre_its_sizes_, handle_);                              \
        return gyre_run_(gyre_its_run_, &gyre_its_sizes_, handle_);                                          \
    }

/* The size of the scratch: 0 for gyre_none, which has a byte in C. */
#define GYRE_SCRATCH_SIZE_(scratch_) _Generic((scratch_ *)0, gyre_none * : 0, default : sizeof(scratch_))

/* What follows `runner_` are further members, with a comma behind each. GYRE_FLOW defines the weak constant, where it stands. */
#define GYRE_DESCRIBE_(form_, name_, ...) GYRE_DESCRIBE_AS_(GYRE_CALLS_(name_), form_, name_, __VA_ARGS__)
#define GYRE_DESCRIBE_AS_(handle_, form_, name_, request_, reply_, scratch_, state_, buffers_, runner_, ...) \
    extern const gyre_u32 gyre_flow_size_##name_ __attribute__((__weak__, __visibility__("hidden")));        \
    static const gyre_cpu_kernel gyre_kernel_##name_ = {.version = GYRE_CPU_MODULE_VERSION,                  \
                                                        .form = form_,                                       \
                                                        .name = #name_,                                      \
                                                        .request = &gyre_type_##request_,                    \
                                                        .reply = &gyre_type_##reply_,                        \
                                                        .state = &gyre_type_##state_,                        \
                                                        .sizes = GYRE_SIZES_(request_, reply_),              \
                                                        .scratch_size = GYRE_SCRATCH_SIZE_(scratch_),        \
                                                        .scratch_alignment = _Alignof(scratch_),             \
                                                        .buffers = gyre_buffers_text_##buffers_,             \
                                                        .buffer_types = gyre_buffers_types_##buffers_,       \
                                                        .handle = handle_,                                   \
                                                        .run = runner_,                                      \
                                                        __VA_ARGS__.flow_size = &gyre_flow_size_##name_,     \
                                                        .file = __FILE__,                                    \
                                                        .line = __LINE__};                                   \
    static const gyre_cpu_kernel *const gyre_pointer_of_##name_                                              \
        __attribute__((__section__("gyre_kernels"), __used__)) = &gyre_kernel_##name_;

#ifdef GYRE_CHECK
/* uses a constant that only declared messages have: for another type the check reports its name */
#define GYRE_DECLARE_LANE_(form_, name_, request_, reply_, scratch_, state_, buffers_)                       \
    enum { gyre_messages_of_##name_ = gyre_size_##request_ | gyre_size_##reply_ | gyre_size_##state_ };
#define GYRE_DECLARE_BLOCK_(form_, name_, request_, reply_, scratch_, state_, buffers_)                      \
    GYRE_DECLARE_LANE_(form_, name_, request_, reply_, scratch_, state_, buffers_)
#else
#define GYRE_DECLARE_LANE_(form_, name_, request_, reply_, scratch_, state_, buffers_)                       \
    GYRE_HANDLE_(form_, name_, request_, reply_, scratch_, state_, buffers_)                                 \
    GYRE_RUNNER_(name_, request_, reply_)                                                                    \
    GYRE_DESCRIBE_(form_, name_, request_, reply_, scratch_, state_, buffers_, gyre_runner_##name_, )
#define GYRE_DECLARE_BLOCK_(form_, name_, request_, reply_, scratch_, state_, buffers_)                      \
    GYRE_HANDLE_(form_, name_, request_, reply_, scratch_, state_, buffers_)                                 \
    GYRE_DESCRIBE_(form_, name_, request_, reply_, scratch_, state_, buffers_, 0, )
#endif

#define GYRE_DECLARE_GRID_ GYRE_DECLARE_BLOCK_

#include "gyre/dialect/c11_keyed.h"

#include "gyre/dialect/forms.h"

#ifdef GYRE_CHECK /* says to the check stage that the file has queries */
#define GYRE_QUERY_MARK_(request_) enum { gyre_query_of_##request_ = 1 };
#else
#define GYRE_QUERY_MARK_(request_)                                                                           \
    static const char *const gyre_query_of_##request_                                                        \
        __attribute__((__section__("gyre_queries"), __used__)) = #request_;
#endif

/** Ends the generated unit: exports the kernels of the file. */
#define GYRE_EXPORT_KERNELS_                                                                                 \
    extern const gyre_cpu_kernel *const __start_gyre_kernels[]                                               \
        __attribute__((__weak__, __visibility__("hidden")));                                                 \
    extern const gyre_cpu_kernel *const __stop_gyre_kernels[]                                                \
        __attribute__((__weak__, __visibility__("hidden")));                                                 \
    extern const char *const __start_gyre_queries[] __attribute__((__weak__, __visibility__("hidden")));     \
    extern const char *const __stop_gyre_queries[] __attribute__((__weak__, __visibility__("hidden")));      \
    const gyre_cpu_module *gyre_cpu_module_table(void);                                                      \
    __attribute__((__visibility__("default"))) const gyre_cpu_module *gyre_cpu_module_table(void)            \
    {                                                                                                        \
        static gyre_cpu_module gyre_its_module_;                                                             \
        gyre_its_module_.version = GYRE_CPU_MODULE_VERSION;                                                  \
        gyre_its_module_.first = __start_gyre_kernels;                                                       \
        gyre_its_module_.end = __stop_gyre_kernels;                                                          \
        gyre_its_module_.first_query = __start_gyre_queries;                                                 \
        gyre_its_module_.end_query = __stop_gyre_queries;                                                    \
        return &gyre_its_module_;                                                                            \
    }

#include "gyre/dialect/c11_functions.h"

#include "gyre/dialect/c11_ports.h"

#define GYRE_FOREIGN_(gyre)                     ((gyre)->foreign)
#define GYRE_HEADER_INLINE_                     GYRE_INLINE_
#define GYRE_HEADER_LOAD_(gyre, type_, offset_) (*(const type_ *)(const void *)((gyre)->header + (offset_)))
#include "gyre/dialect/header.h"

#endif
