/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of kernel.h for handlers, as C11. Included by c11.h, which is the other half of the dialect.
 *
 * A function is a macro if it needs the place of the call, or accepts pointers to several integer types.
 */
#ifndef GYRE_DIALECT_C11_FUNCTIONS_H
#define GYRE_DIALECT_C11_FUNCTIONS_H

/* ---- results, log, time, place in the launch ---- */

GYRE_INLINE_ gyre_result gyre_fail_(gyre_context *gyre, gyre_i32 code, const char *text)
{
    if (!gyre->failed) {
        gyre->failed = 1;
        gyre->fail_code = code;
        gyre->fail_text = text;
    }
    return GYRE_FAILED;
}

/* Fails the message by the handler's wish. A code that a handler may not use becomes a failure that says so. */
GYRE_INLINE_ gyre_result gyre_fail(gyre_context *gyre, gyre_i32 code, const char *text)
{
    if (code < 0)
        return gyre_fail_(gyre, GYRE_FAILURE_CODE, GYRE_FAILURE_CODE_TEXT);
    return gyre_fail_(gyre, code, text);
}

/* Checks what the handler returned: a value that is no handler's result is a failure, not a silent "no reply". */
GYRE_INLINE_ gyre_result gyre_result_(gyre_context *gyre, gyre_result result)
{
    if (result != GYRE_REPLY && result != GYRE_NO_REPLY && !gyre->failed)
        return gyre_fail_(gyre, GYRE_FAILURE_RESULT, "it returned no GYRE_REPLY or GYRE_NO_REPLY");
    return result;
}

/*
 * Fails the message unless `holds`. `text` begins with a path of `path_length` bytes; its folders are left out,
 * because a failure's text is short.
 */
GYRE_INLINE_ int gyre_assert_(gyre_context *gyre, int holds, const char *text, gyre_u64 path_length)
{
    if (__builtin_expect(!holds, 0)) {
        while (path_length > 0 && text[path_length - 1] != '/')
            path_length--;
        gyre_fail_(gyre, GYRE_FAILURE_ASSERT, text + path_length);
    }
    return holds;
}
#define GYRE_PLACE_ __FILE__ ":" GYRE_TEXT_(__LINE__)
#define gyre_assert(gyre, condition)                                                                         \
    gyre_assert_((gyre), !!(condition), GYRE_PLACE_ ": " #condition, sizeof(__FILE__) - 1)

GYRE_INLINE_ void gyre_log(gyre_context *gyre, const char *text, gyre_i64 value)
{
    gyre->services->log(gyre, text, value);
}

GYRE_INLINE_ gyre_u64 gyre_time_ns(gyre_context *gyre)
{
    return gyre->services->time_ns();
}

GYRE_INLINE_ gyre_u32 gyre_lane(const gyre_context *gyre)
{
    return gyre->lane;
}

GYRE_INLINE_ gyre_u32 gyre_lane_count(const gyre_context *gyre)
{
    return gyre->lane_count;
}

GYRE_INLINE_ gyre_u32 gyre_block(const gyre_context *gyre)
{
    GYRE_WATCH_BLOCK_(gyre);
    return gyre->block;
}

GYRE_INLINE_ gyre_u32 gyre_block_count(const gyre_context *gyre)
{
    return gyre->block_count;
}

GYRE_INLINE_ gyre_u32 gyre_grid_lane(const gyre_context *gyre)
{
    GYRE_WATCH_BLOCK_(gyre);
    return gyre->block * gyre->lane_count + gyre->lane;
}

GYRE_INLINE_ gyre_u32 gyre_grid_lane_count(const gyre_context *gyre)
{
    return gyre->block_count * gyre->lane_count;
}

/* ---- buffers that messages name ---- */

#define GYRE_LITERAL_
#define GYRE_TABLE_
#define GYRE_HANDLES_INLINE_ GYRE_INLINE_
#include "gyre/dialect/handles.h"

/*
 * Reads an entry of the table of buffers. Pairs with the core's release of the entry's id; the request that holds the
 * handle was sent after it.
 */
GYRE_INLINE_ gyre_control_handle gyre_handle_entry_(const gyre_control_handle *table, gyre_u32 slot)
{
    const gyre_control_handle *there = &table[slot];
    gyre_control_handle entry = {__atomic_load_n(&there->id, __ATOMIC_ACQUIRE), 0, 0, 0};
    entry.address = __atomic_load_n(&there->address, __ATOMIC_RELAXED);
    entry.size = __atomic_load_n(&there->size, __ATOMIC_RELAXED);
    return entry;
}

GYRE_INLINE_ GYRE_GLOBAL void *gyre_handle_at_(gyre_u64 address)
{
    return (GYRE_GLOBAL void *)(uintptr_t)address;
}

/* ---- bits ---- */

GYRE_INLINE_ gyre_u32 gyre_popcount_u32(gyre_u32 x)
{
    return (gyre_u32)__builtin_popcount(x);
}

GYRE_INLINE_ gyre_u32 gyre_popcount_u64(gyre_u64 x)
{
    return (gyre_u32)__builtin_popcountll(x);
}

GYRE_INLINE_ gyre_u32 gyre_clz_u32(gyre_u32 x)
{
    return x ? (gyre_u32)__builtin_clz(x) : 32;
}

GYRE_INLINE_ gyre_u32 gyre_clz_u64(gyre_u64 x)
{
    return x ? (gyre_u32)__builtin_clzll(x) : 64;
}

GYRE_INLINE_ gyre_u32 gyre_ctz_u32(gyre_u32 x)
{
    return x ? (gyre_u32)__builtin_ctz(x) : 32;
}

GYRE_INLINE_ gyre_u32 gyre_ctz_u64(gyre_u64 x)
{
    return x ? (gyre_u32)__builtin_ctzll(x) : 64;
}

GYRE_INLINE_ gyre_u32 gyre_rotl_u32(gyre_u32 x, gyre_u32 n)
{
    return x << (n & 31) | x >> (-n & 31);
}

GYRE_INLINE_ gyre_u64 gyre_rotl_u64(gyre_u64 x, gyre_u32 n)
{
    return x << (n & 63) | x >> (-n & 63);
}

#define GYRE_REINTERPRET_(name_, from_, to_)                                                                 \
    GYRE_INLINE_ to_ name_(from_ value)                                                                      \
    {                                                                                                        \
        to_ same;                                                                                            \
        memcpy(&same, &value, sizeof same);                                                                  \
        return same;                                                                                         \
    }
GYRE_REINTERPRET_(gyre_bits_from_f32, gyre_f32, gyre_u32)
GYRE_REINTERPRET_(gyre_f32_from_bits, gyre_u32, gyre_f32)
GYRE_REINTERPRET_(gyre_bits_from_f64, gyre_f64, gyre_u64)
GYRE_REINTERPRET_(gyre_f64_from_bits, gyre_u64, gyre_f64)

/* ---- block functions ---- */

#define gyre_barrier(gyre)      GYRE_WAIT_((gyre), GYRE_PLACE_)
#define gyre_grid_barrier(gyre) gyre_grid_barrier_((gyre), GYRE_PLACE_)

/* Lane 0 of each block waits for the other blocks. The other lanes of its block go on when it does. */
GYRE_INLINE_ void gyre_grid_barrier_(gyre_context *gyre, const char *place)
{
    GYRE_WAIT_(gyre, place);
    GYRE_WAIT_FOR_ALL_(gyre, place);
}

/*
 * Folds the values of all lanes in the block's cells. Lane 0 folds neighbours first, then pairs of pairs. GPUs fold in
 * the same order, so floating-point sums are equal on all backends. The cell after the last lane's cell carries the
 * result. It is written again only after all lanes have passed the next barrier, so after they have read it.
 */
#define GYRE_BLOCK_FOLD_(name_, type_, combine_)                                                             \
    GYRE_INLINE_ gyre_##type_ name_(gyre_context *gyre, gyre_##type_ value, const char *place)               \
    {                                                                                                        \
        const gyre_u32 count = gyre->lane_count;                                                             \
        gyre_u64 *cells = gyre->services->cells(gyre);                                                       \
        memcpy(&cells[gyre->lane], &value, sizeof value);                                                    \
        GYRE_WAIT_(gyre, place);                                                                             \
        if (gyre->lane == 0) {                                                                               \
            for (gyre_u32 step = 1; step < count; step *= 2) {                                               \
                for (gyre_u32 i = 0; i + step < count; i += 2 * step) {                                      \
                    gyre_##type_ a, b;                                                                       \
                    memcpy(&a, &cells[i], sizeof a);                                                         \
                    memcpy(&b, &cells[i + step], sizeof b);                                                  \
                    a = (gyre_##type_)combine_(a, b);                                                        \
                    memcpy(&cells[i], &a, sizeof a);                                                         \
                }                                                                                            \
            }                                                                                                \
            cells[count] = cells[0];                                                                         \
        }                                                                                                    \
        GYRE_WAIT_(gyre, place);                                                                             \
        memcpy(&value, &cells[count], sizeof value);                                                         \
        return value;                                                                                        \
    }

#define GYRE_BLOCK_BROADCAST_(type_)                                                                         \
    GYRE_INLINE_ gyre_##type_ gyre_block_broadcast_##type_##_(gyre_context *gyre, gyre_##type_ value,        \
                                                              gyre_u32 from_lane, const char *place)         \
    {                                                                                                        \
        gyre_u64 *cells = gyre->services->cells(gyre);                                                       \
        if (gyre->lane == from_lane)                                                                         \
            memcpy(&cells[0], &value, sizeof value);                                                         \
        GYRE_WAIT_(gyre, place);                                                                             \
        memcpy(&value, &cells[0], sizeof value);                                                             \
        GYRE_WAIT_(gyre, place);                                                                             \
        return value;                                                                                        \
    }

/* Integers wrap, as in the other dialects. The minimum (or maximum) of a number and a NaN is the number. */
#define GYRE_SUM_(a, b)       ((a) + (b))
#define GYRE_SUM_I32_(a, b)   ((gyre_u32)(a) + (gyre_u32)(b))
#define GYRE_SUM_I64_(a, b)   ((gyre_u64)(a) + (gyre_u64)(b))
#define GYRE_LESSER_(a, b)    ((a) < (b) ? (a) : (b))
#define GYRE_GREATER_(a, b)   ((a) > (b) ? (a) : (b))
#define GYRE_LESSER_F_(a, b)  ((a) < (b) || (b) != (b) ? (a) : (b))
#define GYRE_GREATER_F_(a, b) ((a) > (b) || (b) != (b) ? (a) : (b))

#define GYRE_BLOCK_FUNCTIONS_(type_, sum_, lesser_, greater_)                                                \
    GYRE_BLOCK_FOLD_(gyre_block_sum_##type_##_, type_, sum_)                                                 \
    GYRE_BLOCK_FOLD_(gyre_block_min_##type_##_, type_, lesser_)                                              \
    GYRE_BLOCK_FOLD_(gyre_block_max_##type_##_, type_, greater_)                                             \
    GYRE_BLOCK_BROADCAST_(type_)
GYRE_BLOCK_FUNCTIONS_(u32, GYRE_SUM_, GYRE_LESSER_, GYRE_GREATER_)
GYRE_BLOCK_FUNCTIONS_(i32, GYRE_SUM_I32_, GYRE_LESSER_, GYRE_GREATER_)
GYRE_BLOCK_FUNCTIONS_(u64, GYRE_SUM_, GYRE_LESSER_, GYRE_GREATER_)
GYRE_BLOCK_FUNCTIONS_(i64, GYRE_SUM_I64_, GYRE_LESSER_, GYRE_GREATER_)
GYRE_BLOCK_FUNCTIONS_(f32, GYRE_SUM_, GYRE_LESSER_F_, GYRE_GREATER_F_)
GYRE_BLOCK_FUNCTIONS_(f64, GYRE_SUM_, GYRE_LESSER_F_, GYRE_GREATER_F_)

#include "gyre/dialect/block_functions.h"

/* ---- atomics ---- */

#ifdef GYRE_CHECK

/* The check looks at types only: the pointer must point to state, buffers or scratch, and to one of four types. */
#define GYRE_CHECK_ATOMIC_(pointer)                                                                          \
    _Generic((pointer), GYRE_GLOBAL gyre_u32 *                                                               \
             : (pointer), GYRE_GLOBAL gyre_i32 *                                                             \
             : (pointer), GYRE_GLOBAL gyre_u64 *                                                             \
             : (pointer), GYRE_GLOBAL gyre_i64 *                                                             \
             : (pointer), GYRE_SHARED gyre_u32 *                                                             \
             : (pointer), GYRE_SHARED gyre_i32 *                                                             \
             : (pointer), GYRE_SHARED gyre_u64 *                                                             \
             : (pointer), GYRE_SHARED gyre_i64 *                                                             \
             : (pointer))
#define GYRE_CHECK_ATOMIC_F32_(pointer)                                                                      \
    _Generic((pointer), GYRE_GLOBAL gyre_f32 * : (pointer), GYRE_SHARED gyre_f32 * : (pointer))
#define gyre_atomic_add(pointer, value)      (*GYRE_CHECK_ATOMIC_(pointer) += (value))
#define gyre_atomic_sub(pointer, value)      (*GYRE_CHECK_ATOMIC_(pointer) -= (value))
#define gyre_atomic_min(pointer, value)      (*GYRE_CHECK_ATOMIC_(pointer) += (value))
#define gyre_atomic_max(pointer, value)      (*GYRE_CHECK_ATOMIC_(pointer) += (value))
#define gyre_atomic_and(pointer, value)      (*GYRE_CHECK_ATOMIC_(pointer) &= (value))
#define gyre_atomic_or(pointer, value)       (*GYRE_CHECK_ATOMIC_(pointer) |= (value))
#define gyre_atomic_xor(pointer, value)      (*GYRE_CHECK_ATOMIC_(pointer) ^= (value))
#define gyre_atomic_exchange(pointer, value) (*GYRE_CHECK_ATOMIC_(pointer) += (value))
#define gyre_atomic_compare_exchange(pointer, expected, desired)                                             \
    (*GYRE_CHECK_ATOMIC_(pointer) += (expected) + (desired))
#define gyre_atomic_load(pointer)           (+*GYRE_CHECK_ATOMIC_(pointer))
#define gyre_atomic_store(pointer, value)   ((void)(*GYRE_CHECK_ATOMIC_(pointer) = (value)))
#define gyre_atomic_add_f32(pointer, value) (*GYRE_CHECK_ATOMIC_F32_(pointer) += (value))

#else

/*
 * All atomics are relaxed, because handlers order nothing by them: only barriers and the end of the message order
 * accesses.
 */
#define GYRE_ATOMIC_LOOP_(name_, type_, combine_)                                                            \
    GYRE_ATOMIC_INLINE_ gyre_##type_ name_##type_##_(gyre_##type_ *pointer, gyre_##type_ value)              \
    {                                                                                                        \
        GYRE_TOUCH_(pointer);                                                                                \
        gyre_##type_ old = __atomic_load_n(pointer, __ATOMIC_RELAXED);                                       \
        while (combine_(old, value) != old &&                                                                \
               !__atomic_compare_exchange_n(pointer, &old, combine_(old, value), 1, __ATOMIC_RELAXED,        \
                                            __ATOMIC_RELAXED))                                               \
            ;                                                                                                \
        return old;                                                                                          \
    }
#define GYRE_ATOMIC_FUNCTIONS_(type_)                                                                        \
    GYRE_ATOMIC_LOOP_(gyre_atomic_min_, type_, GYRE_LESSER_)                                                 \
    GYRE_ATOMIC_LOOP_(gyre_atomic_max_, type_, GYRE_GREATER_)                                                \
    GYRE_ATOMIC_INLINE_ gyre_##type_ gyre_atomic_compare_exchange_##type_##_(                                \
        gyre_##type_ *pointer, gyre_##type_ expected, gyre_##type_ desired)                                  \
    {                                                                                                        \
        GYRE_TOUCH_(pointer);                                                                                \
        __atomic_compare_exchange_n(pointer, &expected, desired, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);     \
        return expected;                                                                                     \
    }
GYRE_ATOMIC_FUNCTIONS_(u32)
GYRE_ATOMIC_FUNCTIONS_(i32)
GYRE_ATOMIC_FUNCTIONS_(u64)
GYRE_ATOMIC_FUNCTIONS_(i64)

/* The function for the pointer's type, which is one of four; the compiler refuses other types. */
#define GYRE_BY_TYPE_(pointer, name_)                                                                        \
    _Generic((pointer), gyre_u32 *                                                                           \
             : name_##u32_, gyre_i32 *                                                                       \
             : name_##i32_, gyre_u64 *                                                                       \
             : name_##u64_, gyre_i64 *                                                                       \
             : name_##i64_)
#define GYRE_ATOMIC_PLACE_(pointer)                                                                          \
    _Generic((pointer), gyre_u32 *                                                                           \
             : GYRE_ATOMIC_AT_(pointer), gyre_i32 *                                                          \
             : GYRE_ATOMIC_AT_(pointer), gyre_u64 *                                                          \
             : GYRE_ATOMIC_AT_(pointer), gyre_i64 *                                                          \
             : GYRE_ATOMIC_AT_(pointer))

#define gyre_atomic_add(pointer, value)                                                                      \
    __atomic_fetch_add(GYRE_ATOMIC_PLACE_(pointer), (value), __ATOMIC_RELAXED)
#define gyre_atomic_sub(pointer, value)                                                                      \
    __atomic_fetch_sub(GYRE_ATOMIC_PLACE_(pointer), (value), __ATOMIC_RELAXED)
#define gyre_atomic_and(pointer, value)                                                                      \
    __atomic_fetch_and(GYRE_ATOMIC_PLACE_(pointer), (value), __ATOMIC_RELAXED)
#define gyre_atomic_or(pointer, value)                                                                       \
    __atomic_fetch_or(GYRE_ATOMIC_PLACE_(pointer), (value), __ATOMIC_RELAXED)
#define gyre_atomic_xor(pointer, value)                                                                      \
    __atomic_fetch_xor(GYRE_ATOMIC_PLACE_(pointer), (value), __ATOMIC_RELAXED)
#define gyre_atomic_exchange(pointer, value)                                                                 \
    __atomic_exchange_n(GYRE_ATOMIC_PLACE_(pointer), (value), __ATOMIC_RELAXED)
#define gyre_atomic_load(pointer) __atomic_load_n(GYRE_ATOMIC_PLACE_(pointer), __ATOMIC_RELAXED)
#define gyre_atomic_store(pointer, value)                                                                    \
    __atomic_store_n(GYRE_ATOMIC_PLACE_(pointer), (value), __ATOMIC_RELAXED)
#define gyre_atomic_min(pointer, value)                                                                      \
    GYRE_BY_TYPE_(pointer, gyre_atomic_min_)(GYRE_ATOMIC_AT_(pointer), (value))
#define gyre_atomic_max(pointer, value)                                                                      \
    GYRE_BY_TYPE_(pointer, gyre_atomic_max_)(GYRE_ATOMIC_AT_(pointer), (value))
#define gyre_atomic_compare_exchange(pointer, expected, desired)                                             \
    GYRE_BY_TYPE_(pointer, gyre_atomic_compare_exchange_)(GYRE_ATOMIC_AT_(pointer), (expected), (desired))

#define gyre_atomic_add_f32(pointer, value) gyre_atomic_add_f32_(GYRE_ATOMIC_AT_(pointer), (value))
GYRE_ATOMIC_INLINE_ gyre_f32 gyre_atomic_add_f32_(gyre_f32 *pointer, gyre_f32 value)
{
    gyre_f32 old, sum;
    GYRE_TOUCH_(pointer);
    __atomic_load(pointer, &old, __ATOMIC_RELAXED);
    do {
        sum = old + value;
    } while (!__atomic_compare_exchange(pointer, &old, &sum, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}

#endif /* GYRE_CHECK */

#endif
