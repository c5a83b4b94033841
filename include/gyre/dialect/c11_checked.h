/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that are compiled with GYRE_CHECKED_INDICES = 1 (backend.cpu.checked): each address is checked before a
 * handler reads or writes there, and an index out of range fails the message. Included by c11.h.
 *
 * The compiler calls two kinds of functions, which are defined here instead of a sanitizer's runtime:
 *
 *   __ubsan_handle_out_of_bounds   an index is outside of an array whose size the compiler knows
 *   __asan_load4_noabort, ...      memory is about to be read or written: it must lie in a range of this call
 *
 * With GYRE_WATCHED = 1 (backend.cpu.check) the second kind is that of c11_watched.h.
 *
 * A refused access leaves its handler by longjmp. Each lane has a gyre_call_ of its own, on its own stack.
 */
#ifndef GYRE_DIALECT_C11_CHECKED_H
#define GYRE_DIALECT_C11_CHECKED_H

#include <setjmp.h>

#include "gyre/dialect/cpu_watch.h"

enum { GYRE_RANGES_ = 48, GYRE_RANGE_REPLY_ = 0, GYRE_RANGE_NAME_ = 48 };

typedef gyre_cpu_range gyre_range_;

/* One call of a handler by one lane. */
typedef struct gyre_call_ {
    jmp_buf escape;
    gyre_context *context;
    const gyre_u8 *request, *request_end;
    const gyre_u8 *frame; /* the end of the handler's stack */
    gyre_u32 reply_least, reply_size;
    int grows;   /* the reply has a tail: the reply's range ends where the tail ends */
    int lenient; /* there are more ranges than the call has room for: unknown memory is allowed */
    const gyre_cpu_port_type *port_types;
    gyre_u32 port_count;
    gyre_u32 count, latest;
    gyre_range_ ranges[GYRE_RANGES_];
    /* the last part of the reply that is written through a pointer; the reply ends behind this part */
    gyre_range_ made;
    gyre_range_ emitted; /* the message that was touched last */
} gyre_call_;

/* The call that runs in this thread. NULL between handlers, because the code that serves the ring is not checked. */
static _Thread_local gyre_call_ *gyre_call_now_;

/* The file's own constants; the linker says where they lie. */
extern const gyre_u8 __ehdr_start[] __attribute__((__visibility__("hidden")));
extern const gyre_u8 _end[] __attribute__((__visibility__("hidden")));

/* A copy without memcpy, because clang's memcpy is defined below. */
GYRE_UNCHECKED_ static void *gyre_move_(void *to, const void *from, gyre_u64 size)
{
    void *(*volatile const move)(void *, const void *, size_t) = memmove;
    return move(to, from, size);
}

/* ---- ranges ---- */

GYRE_UNCHECKED_ static gyre_range_ *gyre_range_add_(gyre_call_ *call, const void *from, gyre_u64 size,
                                                    gyre_u64 item, const char *name, gyre_u64 length)
{
    if (call->count == GYRE_RANGES_)
        return 0;
    gyre_range_ *range = &call->ranges[call->count++];
    range->from = (const gyre_u8 *)from;
    range->end = range->from + size;
    range->item = item ? item : 1;
    range->name = name;
    range->length = (gyre_u32)length;
    range->sort = GYRE_SORT_OWN;
    range->copy = 0;
    return range;
}

/* As gyre_range_add_, for memory that other lanes or messages may see. Returns whether there was room for the range. */
GYRE_UNCHECKED_ static int gyre_range_share_(gyre_call_ *call, gyre_u32 sort, const void *from, gyre_u64 size,
                                             gyre_u64 item, const char *name, gyre_u64 length)
{
    gyre_range_ *const range = gyre_range_add_(call, from, size, item, name, length);
    if (range)
        range->sort = sort;
    return range != 0;
}

GYRE_UNCHECKED_ static const gyre_u8 *gyre_range_end_(const gyre_call_ *call, const gyre_range_ *range)
{
    if (!call->grows || range != &call->ranges[GYRE_RANGE_REPLY_])
        return range->end;
    const gyre_u32 used = *(const gyre_u32 *)(const void *)range->from;
    return range->from + (used < call->reply_least || used > call->reply_size ? call->reply_size : used);
}

GYRE_UNCHECKED_ static int gyre_range_has_(const gyre_call_ *call, const gyre_range_ *range,
                                           const gyre_u8 *at, gyre_u64 size)
{
    return at >= range->from && size <= (gyre_u64)(gyre_range_end_(call, range) - range->from) &&
           at <= gyre_range_end_(call, range) - size;
}

/*
 * Finds the emitted message that an address belongs to: the port, and how many bytes the address lies behind the begin of the
 * payload. The bytes between a payload and the next one belong to the message before them.
 */
GYRE_UNCHECKED_ static int gyre_emitted_at_(const gyre_call_ *call, const gyre_u8 *at, gyre_u32 *which,
                                            gyre_u64 *behind)
{
    for (gyre_u32 i = 0; i < call->port_count; i++) {
        const gyre_cpu_port *port = &call->context->ports[i];
        const gyre_u64 offset = (gyre_u64)(at - port->slots) - GYRE_SLOT_HEADER_SIZE;
        const gyre_u64 slot = offset / port->stride;
        if (at < port->slots + GYRE_SLOT_HEADER_SIZE || slot > port->mask ||
            ((slot - port->next) & port->mask) >= port->emitted)
            continue;
        *which = i;
        *behind = offset % port->stride;
        return 1;
    }
    return 0;
}

/* The range of the emitted message that the bytes belong to; NULL: none. */
GYRE_UNCHECKED_ static const gyre_range_ *gyre_emitted_range_(gyre_call_ *call, const gyre_u8 *at,
                                                              gyre_u64 size)
{
    gyre_u32 which;
    gyre_u64 behind;
    if (!gyre_emitted_at_(call, at, &which, &behind) || behind + size > call->port_types[which].type->size)
        return 0;
    call->emitted = (gyre_range_){
        at - behind, at - behind + call->port_types[which].type->size, 1, 0, 0, GYRE_SORT_EMITTED, 0};
    return &call->emitted;
}

/* Adds the ranges of buffers, with their names: `text` is "in f32 weights;inout u32 counts;". */
GYRE_UNCHECKED_ static void gyre_ranges_of_buffers_(gyre_call_ *call, const gyre_binding *buffers,
                                                    const char *text, const gyre_type *const *types)
{
    gyre_u32 i = 0;
    for (; types[i]; i++) {
        const char *name = text;
        while (*text != ';')
            if (*text++ == ' ')
                name = text;
        gyre_range_share_(call, GYRE_SORT_BUFFER, buffers[i].data, buffers[i].count * types[i]->size,
                          types[i]->size, name, (gyre_u64)(text - name));
        text++;
    }
    gyre_range_add_(call, buffers, i * sizeof *buffers, 1, 0, 0);
}

/* ---- refusing ---- */

GYRE_UNCHECKED_ static void gyre_report_(gyre_context *context, const gyre_cpu_fault *fault)
{
    if (context->services->index_out_of_range) {
        context->services->index_out_of_range(context, fault);
    } else if (!context->failed) {
        context->failed = 1;
        context->fail_code = fault->code;
        context->fail_text = "an index is out of range";
    }
}

__attribute__((__noreturn__)) GYRE_UNCHECKED_ static void gyre_refuse_(const gyre_cpu_fault *fault)
{
    gyre_call_ *call = gyre_call_now_;
    gyre_call_now_ = 0;
    gyre_report_(call->context, fault);
    longjmp(call->escape, 1);
}

/* Returns the nearest range: the range that an address most likely belongs to. */
GYRE_UNCHECKED_ static const gyre_range_ *gyre_range_near_(const gyre_call_ *call, const gyre_u8 *at)
{
    const gyre_range_ *nearest = 0;
    gyre_u64 least = ~(gyre_u64)0;
    for (gyre_u32 i = 0; i < call->count; i++) {
        const gyre_range_ *range = &call->ranges[i];
        const gyre_u8 *const end = gyre_range_end_(call, range);
        const gyre_u64 distance = (gyre_u64)(at < range->from ? range->from - at : at < end ? 0 : at - end);
        if (range->name && distance < least) {
            least = distance;
            nearest = range;
        }
    }
    if (nearest == &call->ranges[GYRE_RANGE_REPLY_] && call->made.name && at >= call->made.end)
        return &call->made;
    return nearest;
}

/* Refuses an access that begins or ends behind an emitted message. */
__attribute__((__noreturn__)) GYRE_UNCHECKED_ static void
gyre_refuse_emitted_(const gyre_cpu_port_type *port, gyre_u64 behind, gyre_u64 size, const void *code)
{
    static const char bytes[] = "'s bytes";
    char name[GYRE_RANGE_NAME_];
    gyre_u64 length = __builtin_strlen(port->name);
    if (length > sizeof name - sizeof bytes)
        length = sizeof name - sizeof bytes;
    gyre_move_(name, port->name, length);
    gyre_move_(name + length, bytes, sizeof bytes);
    const gyre_u64 index = behind < port->type->size ? behind + size - 1 : behind;
    const gyre_cpu_fault fault = {.at = code,
                                  .name = name,
                                  .index = (gyre_i64)index,
                                  .count = port->type->size,
                                  .code = GYRE_FAILURE_INDEX};
    gyre_refuse_(&fault);
}

/* no memory of a program lies below this address, and members of a struct at NULL do */
#define GYRE_NULL_REACH_ 4096

__attribute__((__noinline__)) GYRE_UNCHECKED_ static void
gyre_refuse_access_(const gyre_call_ *call, const gyre_u8 *at, gyre_u64 size, const void *code)
{
    const gyre_range_ *range = gyre_range_near_(call, at);
    gyre_u32 which;
    gyre_u64 behind;
    if (gyre_emitted_at_(call, at, &which, &behind))
        gyre_refuse_emitted_(&call->port_types[which], behind, size, code);
    char name[GYRE_RANGE_NAME_] = "memory";
    gyre_cpu_fault fault = {
        .at = code, .name = name, .index = (gyre_i64)(gyre_u64)at, .code = GYRE_FAILURE_INDEX};
    if ((gyre_u64)at < GYRE_NULL_REACH_) {
        fault.count = GYRE_CPU_COUNT_NULL;
    } else if (range) {
        const gyre_u8 *const end = gyre_range_end_(call, range);
        const gyre_u32 length = range->length < sizeof name - 1 ? range->length : sizeof name - 1;
        gyre_move_(name, range->name, length);
        name[length] = 0;
        if (at >= range->from && at < end) /* the access begins in the range and ends behind it */
            at += size - 1;
        const gyre_i64 bytes = (gyre_i64)(at - range->from), item = (gyre_i64)range->item;
        fault.index = bytes < 0 ? -((-bytes + item - 1) / item) : bytes / item;
        fault.count = (gyre_u64)(end - range->from) / range->item;
    }
    gyre_refuse_(&fault);
}

/*
 * Refuses an access outside of the call's memory. Returns the range that the address lies in; NULL: it lies in none, and may
 * be touched.
 */
__attribute__((__noinline__)) GYRE_UNCHECKED_ static const gyre_range_ *
gyre_reach_(const void *address, gyre_u64 size, const void *code)
{
    gyre_call_ *call = gyre_call_now_;
    const gyre_u8 *const at = (const gyre_u8 *)address;
    /* the handler's own stack first: most accesses are there */
    if (!call || !size || (at >= (const gyre_u8 *)__builtin_frame_address(0) && at < call->frame))
        return 0;
    if (gyre_range_has_(call, &call->ranges[call->latest], at, size))
        return &call->ranges[call->latest];
    if (at >= __ehdr_start && at < _end)
        return 0;
    for (gyre_u32 i = 0; i < call->count; i++)
        if (gyre_range_has_(call, &call->ranges[i], at, size)) {
            call->latest = i;
            return &call->ranges[i];
        }
    const gyre_range_ *const emitted = gyre_emitted_range_(call, at, size);
    if (!call->lenient && !emitted)
        gyre_refuse_access_(call, at, size, code);
    return emitted;
}

#if GYRE_WATCHED
#include "gyre/dialect/c11_watched.h"
#else

GYRE_UNCHECKED_ static void gyre_access_(const void *address, gyre_u64 size, const void *code)
{
    gyre_reach_(address, size, code);
}

/* ---- what the compiler calls ---- */

#define GYRE_ACCESS_FUNCTION_(name_, size_)                                                                  \
    void name_(void *at);                                                                                    \
    GYRE_UNCHECKED_ void name_(void *at)                                                                     \
    {                                                                                                        \
        gyre_access_(at, size_, __builtin_return_address(0));                                                \
    }
#define GYRE_ACCESS_FUNCTIONS_(size_)                                                                        \
    GYRE_ACCESS_FUNCTION_(__asan_load##size_##_noabort, size_)                                               \
    GYRE_ACCESS_FUNCTION_(__asan_store##size_##_noabort, size_)
GYRE_ACCESS_FUNCTIONS_(1)
GYRE_ACCESS_FUNCTIONS_(2)
GYRE_ACCESS_FUNCTIONS_(4)
GYRE_ACCESS_FUNCTIONS_(8)
GYRE_ACCESS_FUNCTIONS_(16)

void __asan_loadN_noabort(void *at, long size);
GYRE_UNCHECKED_ void __asan_loadN_noabort(void *at, long size)
{
    gyre_access_(at, (gyre_u64)size, __builtin_return_address(0));
}
void __asan_storeN_noabort(void *at, long size);
GYRE_UNCHECKED_ void __asan_storeN_noabort(void *at, long size)
{
    gyre_access_(at, (gyre_u64)size, __builtin_return_address(0));
}
void __asan_handle_no_return(void);
GYRE_UNCHECKED_ void __asan_handle_no_return(void)
{
}

/* clang calls these functions for copies of whole structs, without a check before. */
#ifdef __clang__
GYRE_UNCHECKED_ void *memcpy(void *to, const void *from, size_t size)
{
    gyre_access_(from, size, __builtin_return_address(0));
    gyre_access_(to, size, __builtin_return_address(0));
    return gyre_move_(to, from, size);
}
GYRE_UNCHECKED_ void *memset(void *to, int byte, size_t size)
{
    /* volatile: otherwise the loop becomes a call of this function */
    volatile gyre_u8 *at = (volatile gyre_u8 *)to;
    gyre_access_(to, size, __builtin_return_address(0));
    for (size_t i = 0; i < size; i++)
        at[i] = (gyre_u8)byte;
    return to;
}
#endif

/* Atomic operations are functions of the dialect, which check their address themselves. */
#define GYRE_ATOMIC_INLINE_                      static __attribute__((__noinline__)) GYRE_UNCHECKED_
#define GYRE_TOUCH_(pointer)                     gyre_access_((pointer), sizeof *(pointer), __builtin_return_address(0))
#define GYRE_STORES_(pointer, size)              ((void)0)
#define GYRE_WATCH_BEGIN_(context, request, end) ((void)0)
#define GYRE_WATCH_END_(context)                 ((void)0)
#define GYRE_WATCH_WAIT_(context)                ((void)0)
#define GYRE_WATCH_BLOCK_(context)               ((void)0)
#define GYRE_WATCH_EMIT_(context)                ((void)0)
#define GYRE_WATCH_MORE_(context)                ((void)0)

#endif /* GYRE_WATCHED */

/* How compilers describe an array, an index, and where the index is used. */
typedef struct gyre_ubsan_type_ {
    gyre_u16 kind, info; /* for an integer: the logarithm of its width, and whether it is signed */
    char name[1];        /* the first byte of the type's name, which is longer */
} gyre_ubsan_type_;
typedef struct gyre_ubsan_index_ {
    const char *file;
    gyre_u32 line, column;
    const gyre_ubsan_type_ *array, *index;
} gyre_ubsan_index_;

/* Returns the number of items in a type such as "'int [25]'". */
GYRE_UNCHECKED_ static gyre_u64 gyre_ubsan_count_(const char *type)
{
    gyre_u64 count = 0;
    while (*type && *type != '[')
        type++;
    while (*type && *++type >= '0' && *type <= '9')
        count = count * 10 + (gyre_u64)(*type - '0');
    return count;
}

/* An index that is wider than a word is passed by its address. */
void __ubsan_handle_out_of_bounds(void *data, void *value);
GYRE_UNCHECKED_ void __ubsan_handle_out_of_bounds(void *data, void *value)
{
    const gyre_ubsan_index_ *index = (const gyre_ubsan_index_ *)data;
    const gyre_u32 bits = 1u << (index->index->info >> 1 & 15);
    gyre_u64 number = (gyre_u64)value;
    if (!gyre_call_now_)
        return;
    if (bits > 64)
        number = *(const gyre_u64 *)value;
    else if (bits < 64 && index->index->info & 1)
        number = (gyre_u64)((gyre_i64)(number << (64 - bits)) >> (64 - bits));
    const gyre_cpu_fault fault = {.file = index->file,
                                  .type = index->array->name,
                                  .line = index->line,
                                  .column = index->column,
                                  .index = (gyre_i64)number,
                                  .count = gyre_ubsan_count_(index->array->name),
                                  .code = GYRE_FAILURE_INDEX};
    gyre_refuse_(&fault);
}

/*
 * The place of an atomic operation. `&array[length]` is a pointer that C allows, so compilers let the index pass that is one too large.
 * gcc knows how many bytes of the array are left there, without evaluating the pointer; clang knows it of constants alone.
 */
#if defined(__has_builtin) && !defined(GYRE_TRACED)
#if __has_builtin(__builtin_dynamic_object_size)
#define GYRE_ATOMIC_AT_(pointer)                                                                             \
    (__builtin_dynamic_object_size((pointer), 1) < sizeof *(pointer)                                         \
         ? gyre_refuse_place_(#pointer, __FILE__, __LINE__)                                                  \
         : (void)0,                                                                                          \
     (pointer))
#endif
#endif
#ifndef GYRE_ATOMIC_AT_
#define GYRE_ATOMIC_AT_(pointer) (pointer)
#endif

/* The name of an array in the text of a pointer: "state->steps" of "&state->steps[i]". */
GYRE_UNCHECKED_ static void gyre_name_of_place_(const char *text, char name[GYRE_RANGE_NAME_])
{
    gyre_u64 length = __builtin_strlen(text);
    if (length && text[length - 1] == ']') {
        gyre_i64 depth = 0;
        do
            depth += (text[length - 1] == ']') - (text[length - 1] == '[');
        while (--length && depth > 0);
    }
    while (length && *text == '&') {
        text++;
        length--;
    }
    if (length >= GYRE_RANGE_NAME_)
        length = GYRE_RANGE_NAME_ - 1;
    gyre_move_(name, text, length);
    name[length] = 0;
}

/* Refuses an atomic operation behind the last item of an array. */
__attribute__((__noinline__)) GYRE_UNCHECKED_ static void gyre_refuse_place_(const char *text,
                                                                             const char *file, gyre_u32 line)
{
    char name[GYRE_RANGE_NAME_];
    if (!gyre_call_now_)
        return;
    gyre_name_of_place_(text, name);
    const gyre_cpu_fault fault = {.file = file,
                                  .name = name,
                                  .line = line,
                                  .count = GYRE_CPU_COUNT_UNKNOWN,
                                  .code = GYRE_FAILURE_INDEX};
    gyre_refuse_(&fault);
}

/* ---- calling handlers ---- */

/*
 * Waits at a barrier. A waiting lane gives its thread to another lane, and checks then belong to the other lane's
 * call.
 */
#define GYRE_WAIT_(gyre, place) gyre_wait_checked_((gyre), (place))
GYRE_UNCHECKED_ static void gyre_wait_checked_(gyre_context *gyre, const char *place)
{
    gyre_call_ *call = gyre_call_now_;
    gyre_call_now_ = 0;
    GYRE_WATCH_WAIT_(gyre);
    gyre->services->barrier(gyre, place);
    gyre_call_now_ = call;
}

/* The same for the blocks of a grid. */
#define GYRE_WAIT_FOR_ALL_(gyre, place) gyre_wait_for_all_checked_((gyre), (place))
GYRE_UNCHECKED_ static void gyre_wait_for_all_checked_(gyre_context *gyre, const char *place)
{
    gyre_call_ *call = gyre_call_now_;
    gyre_call_now_ = 0;
    gyre->services->grid_barrier(gyre, place);
    gyre_call_now_ = call;
}

GYRE_UNCHECKED_ static void gyre_call_open_(gyre_call_ *call, gyre_context *context, const void *request,
                                            gyre_u64 request_size, int request_grows, void *reply,
                                            gyre_u32 reply_size, gyre_u32 reply_least, int reply_grows)
{
    call->context = context;
    call->count = call->latest = 0;
    call->lenient = 0;
    call->made.name = 0;
    call->made.end = 0;
    call->grows = reply_grows;
    call->reply_least = reply_least;
    call->reply_size = reply_size;
    if (request_grows)
        request_size = *(const gyre_u32 *)request;
    call->request = (const gyre_u8 *)request;
    call->request_end = call->request + request_size;
    gyre_range_share_(call, GYRE_SORT_REPLY, reply, reply_size, 1, "reply's bytes", 13);
    gyre_range_share_(call, GYRE_SORT_REQUEST, request, request_size, 1, "request's bytes", 15);
    gyre_range_add_(call, context, sizeof *context, 1, 0, 0);
    gyre_range_add_(call, context->services, sizeof *context->services, 1, 0, 0);
    if (context->header)
        gyre_range_add_(call, context->header, context->header_size, 1, "header's bytes", 14);
}

GYRE_UNCHECKED_ static void gyre_call_free_(gyre_call_ *call)
{
    gyre_call_now_ = 0;
    for (gyre_u32 i = 0; i < call->count; i++)
        if (call->ranges[i].copy)
            __builtin_free((void *)call->ranges[i].copy);
}

GYRE_UNCHECKED_ static void gyre_call_close_(gyre_call_ *call)
{
    gyre_call_now_ = 0;
    GYRE_WATCH_END_(call->context);
    gyre_call_free_(call);
}

/*
 * Runs a hook of a keyed actor with its addresses checked: it has the state of a key, perhaps a request, and `more`, what it is told. It is no
 * message, so nobody watches it.
 */
#define GYRE_CALLS_HOOK_(call_, context_, request_, request_size_, grows_, state_, state_size_, more_,       \
                         more_size_)                                                                         \
    do {                                                                                                     \
        gyre_call_ gyre_call_its_;                                                                           \
        gyre_call_open_(&gyre_call_its_, (context_), (request_), (request_size_), (grows_), 0, 0, 0, 0);     \
        gyre_range_add_(&gyre_call_its_, (state_), (state_size_), 1, "state's bytes", 13);                   \
        gyre_range_add_(&gyre_call_its_, (more_), (more_size_), 1, 0, 0);                                    \
        gyre_call_its_.port_types = 0;                                                                       \
        gyre_call_its_.port_count = 0;                                                                       \
        gyre_call_its_.frame = (const gyre_u8 *)__builtin_frame_address(0);                                  \
        if (!setjmp(gyre_call_its_.escape)) {                                                                \
            gyre_call_now_ = &gyre_call_its_;                                                                \
            call_;                                                                                           \
        }                                                                                                    \
        gyre_call_free_(&gyre_call_its_);                                                                    \
    } while (0)
#define GYRE_HOOK_ __attribute__((__noinline__)) GYRE_UNCHECKED_

#define GYRE_CALLS_(name_) gyre_checks_##name_
#define GYRE_CHECKED_CALLS_(name_, request_, reply_, scratch_, state_, buffers_, port_types_, port_count_)   \
    __attribute__((__noinline__)) GYRE_UNCHECKED_ static int gyre_checks_##name_(                            \
        const void *gyre_its_request_, void *gyre_its_reply_, void *gyre_its_state_,                         \
        void *gyre_its_scratch_, const gyre_binding *gyre_its_buffers_, gyre_context *gyre_its_context_)     \
    {                                                                                                        \
        gyre_call_ gyre_call_its_;                                                                           \
        gyre_call_open_(&gyre_call_its_, gyre_its_context_, gyre_its_request_, gyre_size_##request_,         \
                        gyre_grows_##request_, gyre_its_reply_, gyre_size_##reply_, gyre_least_##reply_,     \
                        gyre_grows_##reply_);                                                                \
        gyre_range_share_(&gyre_call_its_, GYRE_SORT_STATE, gyre_its_state_, gyre_size_##state_, 1,          \
                          "state's bytes", 13);                                                              \
        gyre_range_share_(&gyre_call_its_, GYRE_SORT_SCRATCH, gyre_its_scratch_,                             \
                          GYRE_SCRATCH_SIZE_(scratch_), 1, "scratch's bytes", 15);                           \
        if (gyre_its_context_->memory_size)                                                                  \
            gyre_range_share_(&gyre_call_its_, GYRE_SORT_FLOW, gyre_its_context_->memory,                    \
                              gyre_its_context_->memory_size, 1, "flow's bytes", 12);                        \
        gyre_ranges_of_buffers_(&gyre_call_its_, gyre_its_buffers_, gyre_buffers_text_##buffers_,            \
                                gyre_buffers_types_##buffers_);                                              \
        gyre_call_its_.port_types = port_types_;                                                             \
        gyre_call_its_.port_count = port_count_;                                                             \
        gyre_call_its_.frame = (const gyre_u8 *)__builtin_frame_address(0);                                  \
        GYRE_WATCH_BEGIN_(gyre_its_context_, gyre_its_request_, gyre_call_its_.request_end);                 \
        if (setjmp(gyre_call_its_.escape)) {                                                                 \
            gyre_call_close_(&gyre_call_its_);                                                               \
            return GYRE_FAILED;                                                                              \
        }                                                                                                    \
        gyre_call_now_ = &gyre_call_its_;                                                                    \
        const int gyre_its_result_ =                                                                         \
            gyre_calls_##name_(gyre_its_request_, gyre_its_reply_, gyre_its_state_, gyre_its_scratch_,       \
                               gyre_its_buffers_, gyre_its_context_);                                        \
        gyre_call_close_(&gyre_call_its_);                                                                   \
        return gyre_its_result_;                                                                             \
    }

#endif
