/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes: order, barriers, block functions, failures, divergence, stacks. */
#include "lane_kernels.h"
#include "tests/sanitizers.h"
#include "unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static count_reply reply_bytes;
static lane_scratch scratch_bytes;
static gyre_context context;

static int run(uint32_t lane_count, gyre_cpu_handle handle, u32 a, u32 b)
{
    struct cpu_lanes *lanes = cpu_lanes_create(lane_count, 0);
    ck_assert_ptr_nonnull(lanes);
    static char text[160];
    int outcome = run_message(lanes, handle, (count_request){a, b}, &reply_bytes, &scratch_bytes, &context);
    if (context.failed) { /* the text is the lanes' */
        snprintf(text, sizeof text, "%s", context.fail_text);
        context.fail_text = text;
    }
    cpu_lanes_destroy(lanes);
    return outcome;
}

static const uint32_t lane_counts[] = {1, 2, 3, 32, 33, 1000, 1024};
enum { LANE_COUNTS = sizeof lane_counts / sizeof lane_counts[0] };

GYRE_BLOCK_KERNEL(without_barrier, count_request, count_reply, lane_scratch)
{
    scratch->order[scratch->turns++] = gyre_lane(gyre);
    if (gyre_lane(gyre) == 0)
        reply->value = gyre_lane_count(gyre);
    return GYRE_REPLY;
}

START_TEST(every_lane_runs_once_and_in_order)
{
    const uint32_t count = lane_counts[_i];
    ck_assert_int_eq(run(count, gyre_kernel_without_barrier.handle, 0, 0), GYRE_OUTCOME_REPLY);
    ck_assert_uint_eq(reply_bytes.value, count);
    ck_assert_uint_eq(scratch_bytes.turns, count);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_uint_eq(scratch_bytes.order[i], i);
}
END_TEST

/* Each lane adds its right neighbour's value, `a` times: wrong at once if a lane runs ahead of a barrier. */
GYRE_BLOCK_KERNEL(neighbours, count_request, count_reply, lane_scratch)
{
    const u32 lane = gyre_lane(gyre), count = gyre_lane_count(gyre);
    scratch->cell[lane] = lane + 1;
    for (u32 i = 0; i < request->a; i++) {
        gyre_barrier(gyre);
        const u64 right = scratch->cell[(lane + 1) % count];
        gyre_barrier(gyre);
        scratch->cell[lane] += right;
    }
    gyre_barrier(gyre);
    if (lane == 0) {
        reply->value = 0;
        for (u32 i = 0; i < count; i++)
            reply->value = reply->value * 31 + scratch->cell[i];
    }
    return GYRE_REPLY;
}

static u64 neighbours_expected(u32 count, u32 turns)
{
    u64 cell[1024], next[1024], value = 0;
    for (u32 i = 0; i < count; i++)
        cell[i] = i + 1;
    for (u32 turn = 0; turn < turns; turn++) {
        for (u32 i = 0; i < count; i++)
            next[i] = cell[i] + cell[(i + 1) % count];
        memcpy(cell, next, sizeof cell);
    }
    for (u32 i = 0; i < count; i++)
        value = value * 31 + cell[i];
    return value;
}

START_TEST(barriers_keep_lanes_in_step)
{
    ck_assert_int_eq(run(lane_counts[_i], gyre_kernel_neighbours.handle, 20, 0), GYRE_OUTCOME_REPLY);
    ck_assert_uint_eq(reply_bytes.value, neighbours_expected(lane_counts[_i], 20));
}
END_TEST

/* Fills the registers that a callee preserves, of both kinds, with what differs from lane to lane. */
GYRE_BLOCK_KERNEL(full_registers, count_request, count_reply, lane_scratch)
{
    const u32 lane = gyre_lane(gyre);
    u64 a = lane + 1, b = a * 3, c = a * 5, d = a * 7, e = a * 11, f = a * 13, g = a * 17, h = a * 19;
    f64 p = lane + 0.5, q = p * 3, r = p * 5, s = p * 7, t = p * 11, u = p * 13, v = p * 17, w = p * 19;
    for (u32 i = 0; i < request->a; i++) {
        gyre_barrier(gyre);
        a += b, b += c, c += d, d += e, e += f, f += g, g += h, h += lane;
        p += q, q += r, r += s, s += t, t += u, u += v, v += w, w += lane;
    }
    const f64 sum = p + q + r + s + t + u + v + w;
    scratch->cell[lane] = a + b + c + d + e + f + g + h + (u64)(sum * 2);
    gyre_barrier(gyre);
    for (u32 i = 0; lane == 0 && i < gyre_lane_count(gyre); i++)
        reply->value = (i ? reply->value * 31 : 0) + scratch->cell[i];
    return GYRE_REPLY;
}

static u64 full_registers_expected(u32 lanes, u32 turns)
{
    static const u64 factors[8] = {1, 3, 5, 7, 11, 13, 17, 19};
    u64 value = 0;
    for (u32 lane = 0; lane < lanes; lane++) {
        u64 whole[9], twice[9], sum = 0; /* the last of each is what is added to the one before it */
        for (int k = 0; k < 8; k++) {
            whole[k] = (lane + 1) * factors[k];
            twice[k] = (2 * lane + 1) * factors[k];
        }
        whole[8] = lane;
        twice[8] = 2 * lane;
        for (u32 i = 0; i < turns; i++)
            for (int k = 0; k < 8; k++) {
                whole[k] += whole[k + 1];
                twice[k] += twice[k + 1];
            }
        for (int k = 0; k < 8; k++)
            sum += whole[k] + twice[k];
        value = value * 31 + sum;
    }
    return value;
}

START_TEST(a_lane_finds_its_registers_again_behind_a_barrier)
{
    ck_assert_int_eq(run(lane_counts[_i], gyre_kernel_full_registers.handle, 20, 0), GYRE_OUTCOME_REPLY);
    ck_assert_uint_eq(reply_bytes.value, full_registers_expected(lane_counts[_i], 20));
}
END_TEST

GYRE_BLOCK_KERNEL(collective, count_request, count_reply, lane_scratch)
{
    const u32 lane = gyre_lane(gyre), count = gyre_lane_count(gyre);
    const u64 sum = gyre_block_sum_u64(gyre, lane + 1);
    const i32 low = gyre_block_min_i32(gyre, (i32)((lane * 7919u) % 1009u) - 500);
    const f32 high = gyre_block_max_f32(gyre, -(f32)lane);
    const u32 from = gyre_block_broadcast_u32(gyre, lane * 3, count - 1);
    const f64 half = gyre_block_sum_f64(gyre, 0.5);
    scratch->cell[lane] = sum == (u64)count * (count + 1) / 2 && high == 0 && from == (count - 1) * 3 &&
                          half == 0.5 * (f64)count;
    const u32 right = gyre_block_sum_u32(gyre, (u32)scratch->cell[lane]);
    if (lane == 0) {
        reply->value = right;
        reply->other = (u64)(low + 500);
    }
    return GYRE_REPLY;
}

START_TEST(every_lane_gets_the_result_of_block_functions)
{
    const uint32_t count = lane_counts[_i];
    uint64_t low = 1009;
    for (uint32_t i = 0; i < count; i++)
        low = (i * 7919u) % 1009u < low ? (i * 7919u) % 1009u : low;
    ck_assert_int_eq(run(count, gyre_kernel_collective.handle, 0, 0), GYRE_OUTCOME_REPLY);
    ck_assert_uint_eq(reply_bytes.value, count);
    ck_assert_uint_eq(reply_bytes.other, low);
}
END_TEST

/* Lane `a` leaves before the barrier number `b`. */
GYRE_BLOCK_KERNEL(leaves, count_request, count_reply, lane_scratch)
{
    for (u32 i = 0; i < 4; i++) {
        if (gyre_lane(gyre) == request->a && i == request->b)
            return GYRE_REPLY;
#line 1 "some/folder/leaves.gyre.c"
        gyre_barrier(gyre);
    }
    return GYRE_REPLY;
}

/* Lanes with odd numbers meet another barrier. */
GYRE_BLOCK_KERNEL(two_places, count_request, count_reply, lane_scratch)
{
    if (gyre_lane(gyre) % 2 == 0)
#line 10 "some/folder/places.gyre.c"
        gyre_barrier(gyre);
    else
        gyre_barrier(gyre);
    return GYRE_REPLY;
}
#line 150 "tests/unit/cpu_lane/test_cpu_lane.c"

START_TEST(a_lane_that_leaves_before_a_barrier_fails_the_message)
{
    ck_assert_int_eq(run(8, gyre_kernel_leaves.handle, 3, (u32)_i), GYRE_OUTCOME_FAILED);
    ck_assert_int_eq(context.fail_code, GYRE_FAILURE_BARRIER);
    ck_assert_str_eq(context.fail_text, "lane 3 ended, lane 0 waits: leaves.gyre.c:1");
    ck_assert_int_eq(run(8, gyre_kernel_leaves.handle, 0, (u32)_i), GYRE_OUTCOME_FAILED);
    ck_assert_str_eq(context.fail_text, "lane 0 ended, lane 1 waits: leaves.gyre.c:1");
    ck_assert_int_eq(run(8, gyre_kernel_leaves.handle, 8, (u32)_i), GYRE_OUTCOME_REPLY);
}
END_TEST

START_TEST(lanes_at_different_barriers_fail_the_message)
{
    ck_assert_int_eq(run(4, gyre_kernel_two_places.handle, 0, 0), GYRE_OUTCOME_FAILED);
    ck_assert_int_eq(context.fail_code, GYRE_FAILURE_BARRIER);
    ck_assert_str_eq(context.fail_text, "lane 0 waits at places.gyre.c:10, lane 1 at places.gyre.c:12");
    ck_assert_int_eq(run(1, gyre_kernel_two_places.handle, 0, 0), GYRE_OUTCOME_REPLY);
}
END_TEST

START_TEST(messages_after_a_diverged_one_are_right)
{
    struct cpu_lanes *lanes = cpu_lanes_create(64, 0);
    for (u32 i = 0; i < 300; i++) {
        int outcome = run_message(lanes, gyre_kernel_leaves.handle, (count_request){i % 65, i % 4},
                                  &reply_bytes, &scratch_bytes, &context);
        ck_assert_int_eq(outcome, i % 65 == 64 ? GYRE_OUTCOME_REPLY : GYRE_OUTCOME_FAILED);
        outcome = run_message(lanes, gyre_kernel_neighbours.handle, (count_request){3, 0}, &reply_bytes,
                              &scratch_bytes, &context);
        ck_assert_int_eq(outcome, GYRE_OUTCOME_REPLY);
        ck_assert_uint_eq(reply_bytes.value, neighbours_expected(64, 3));
    }
    cpu_lanes_destroy(lanes);
}
END_TEST

GYRE_BLOCK_KERNEL(failing, count_request, count_reply, lane_scratch)
{
    const u32 lane = gyre_lane(gyre);
    if (lane == request->a || lane == request->a + 2)
        return gyre_fail(gyre, (i32)lane, "told to");
    if (request->b)
        gyre_barrier(gyre);
    return GYRE_REPLY;
}

/* Lane `a` leaves the message before a barrier (b: 0) or behind it (1), while others wait, ended, or did not begin. */
static int leave(const void *request, void *reply, void *state, void *scratch, const gyre_binding *buffers,
                 gyre_context *gyre)
{
    const count_request *const asked = request;
    (void)state;
    (void)scratch;
    (void)buffers;
    if (asked->b)
        cpu_lanes_barrier(gyre, "leave.gyre.c:1");
    if (gyre->lane == asked->a)
        cpu_lanes_abandon(gyre);
    cpu_lanes_barrier(gyre, "leave.gyre.c:2");
    ((count_reply *)reply)->value = gyre->lane;
    return GYRE_OUTCOME_REPLY;
}

START_TEST(a_lane_leaves_a_message_with_all_lanes)
{
    struct cpu_lanes *lanes = cpu_lanes_create(8, 0);
    ck_assert_ptr_nonnull(lanes);
    reply_bytes.value = 77;
    for (u32 behind = 0; behind < 2; behind++)
        for (u32 lane = 0; lane < 8; lane++) {
            ck_assert_int_eq(run_message(lanes, leave, (count_request){lane, behind}, &reply_bytes,
                                         &scratch_bytes, &context),
                             GYRE_OUTCOME_FAILED);
            ck_assert(context.fail_text[0] != 0);
        }
    ck_assert_uint_eq(reply_bytes.value, 77);
    ck_assert_int_eq(run_message(lanes, gyre_kernel_neighbours.handle, (count_request){20, 0}, &reply_bytes,
                                 &scratch_bytes, &context),
                     GYRE_OUTCOME_REPLY);
    ck_assert_uint_eq(reply_bytes.value, neighbours_expected(8, 20));
    cpu_lanes_destroy(lanes);
}
END_TEST

START_TEST(the_lowest_failing_lane_speaks_for_the_message)
{
    ck_assert_int_eq(run(16, gyre_kernel_failing.handle, 5, 0), GYRE_OUTCOME_FAILED);
    ck_assert_int_eq(context.fail_code, 5);
    ck_assert_str_eq(context.fail_text, "told to");
}
END_TEST

START_TEST(a_failure_counts_more_than_the_barrier_it_missed)
{
    ck_assert_int_eq(run(16, gyre_kernel_failing.handle, 5, 1), GYRE_OUTCOME_FAILED);
    ck_assert_int_eq(context.fail_code, 5);
    ck_assert_str_eq(context.fail_text, "told to");
}
END_TEST

GYRE_BLOCK_KERNEL(asserting, count_request, count_reply, lane_scratch)
{
#line 7 "/home/somebody/kernels/asserting.gyre.c"
    if (!gyre_assert(gyre, request->a < 10))
        return GYRE_FAILED;
    gyre_barrier(gyre);
    return GYRE_REPLY;
}
#line 222 "tests/unit/cpu_lane/test_cpu_lane.c"

START_TEST(an_assertion_names_file_line_and_condition)
{
    ck_assert_int_eq(run(4, gyre_kernel_asserting.handle, 10, 0), GYRE_OUTCOME_FAILED);
    ck_assert_int_eq(context.fail_code, GYRE_FAILURE_ASSERT);
    ck_assert_str_eq(context.fail_text, "asserting.gyre.c:7: request->a < 10");
    ck_assert_int_eq(run(4, gyre_kernel_asserting.handle, 9, 0), GYRE_OUTCOME_REPLY);
}
END_TEST

GYRE_HELPER u32 descend(u32 depth)
{
    volatile u32 frame[64];
    frame[depth % 64] = depth;
    return depth == 0 ? frame[0] : descend(depth - 1) + frame[depth % 64] / (depth + 1);
}

GYRE_BLOCK_KERNEL(deep, count_request, count_reply, lane_scratch)
{
    reply->value = descend(request->a);
    gyre_barrier(gyre);
    return GYRE_REPLY;
}

GYRE_KERNEL(mistaken, count_request, count_reply)
{
    reply->value = gyre_block_sum_u32(gyre, request->a);
    return GYRE_REPLY;
}

START_TEST(a_barrier_in_a_lane_kernel_fails_the_message)
{
    const gyre_cpu_services services = {.barrier = cpu_lanes_refuse_barrier, .cells = cpu_lanes_refuse_cells};
    gyre_context alone = {.lane_count = 1, .services = &services};
    const count_request request = {5, 0};
    gyre_kernel_mistaken.handle(&request, &reply_bytes, NULL, NULL, NULL, &alone);
    ck_assert_uint_eq(alone.failed, 1);
    ck_assert_int_eq(alone.fail_code, GYRE_FAILURE_BARRIER);
    ck_assert_str_eq(alone.fail_text, "barriers are for block kernels");
}
END_TEST

static void on_overflow(int signal_number, siginfo_t *info, void *machine)
{
    (void)signal_number;
    (void)machine;
    _exit(info->si_code == SEGV_ACCERR ? 40 : 1); /* mapped, and nobody may write there: a guard page */
}

/* A child that runs `deep` on 4 lanes of the smallest stacks; its exit code says what happened. */
static int exit_code_of_depth(u32 depth)
{
    pid_t child = fork();
    if (child == 0) {
        static char handler_stack[64 * 1024];
        sigaltstack(&(stack_t){.ss_sp = handler_stack, .ss_size = sizeof handler_stack}, NULL);
        sigaction(SIGSEGV,
                  &(struct sigaction){.sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO | SA_ONSTACK},
                  NULL);
        run_message(cpu_lanes_create(4, CPU_LANES_STACK_MIN), gyre_kernel_deep.handle,
                    (count_request){depth, 0}, &reply_bytes, &scratch_bytes, &context);
        _exit(0);
    }
    int state = 0;
    waitpid(child, &state, 0);
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

START_TEST(a_stack_overflow_meets_the_guard_page)
{
    ck_assert_int_eq(exit_code_of_depth(4), 0);
    ck_assert_int_eq(exit_code_of_depth(100000), 40);
}
END_TEST

/* The linker puts it in the place of mprotect, so that memory can run out. */
static int mprotect_calls_left = -1;

int __wrap_mprotect(void *address, size_t size, int protection);
int __wrap_mprotect(void *address, size_t size, int protection)
{
    if (mprotect_calls_left == 0) {
        errno = ENOMEM;
        return -1;
    }
    mprotect_calls_left -= mprotect_calls_left > 0;
    return (int)syscall(SYS_mprotect, address, size, protection);
}

START_TEST(no_memory_for_a_stack_fails_the_message_alone)
{
    char expected[64];
    struct cpu_lanes *lanes = cpu_lanes_create(64, 0);
    mprotect_calls_left = _i;
    int outcome = run_message(lanes, gyre_kernel_neighbours.handle, (count_request){1, 0}, &reply_bytes,
                              &scratch_bytes, &context);
    mprotect_calls_left = -1;
    snprintf(expected, sizeof expected, "no memory for the stack of lane %d", _i);
    ck_assert_int_eq(outcome, GYRE_OUTCOME_FAILED);
    ck_assert_int_eq(context.fail_code, GYRE_FAILURE_MEMORY);
    ck_assert_str_eq(context.fail_text, expected);
    outcome = run_message(lanes, gyre_kernel_neighbours.handle, (count_request){1, 0}, &reply_bytes,
                          &scratch_bytes, &context);
    ck_assert_int_eq(outcome, GYRE_OUTCOME_REPLY);
    cpu_lanes_destroy(lanes);
}
END_TEST

START_TEST(a_message_without_barriers_takes_one_stack)
{
    struct rusage before, after;
    struct cpu_lanes *lanes = cpu_lanes_create(1024, 0);
    getrusage(RUSAGE_SELF, &before);
    run_message(lanes, gyre_kernel_without_barrier.handle, (count_request){0, 0}, &reply_bytes,
                &scratch_bytes, &context);
    getrusage(RUSAGE_SELF, &after);
    ck_assert_int_lt(after.ru_minflt - before.ru_minflt, 200);
    cpu_lanes_destroy(lanes);
}
END_TEST

START_TEST(bad_counts_and_sizes_are_refused)
{
    ck_assert_ptr_null(cpu_lanes_create(0, 0));
    ck_assert_int_eq(errno, EINVAL);
    ck_assert_ptr_null(cpu_lanes_create(CPU_LANES_MAX + 1, 0));
    ck_assert_ptr_null(cpu_lanes_create(1, CPU_LANES_STACK_MIN - 1));
    ck_assert_ptr_null(cpu_lanes_create(1, CPU_LANES_STACK_MAX + 1));
    cpu_lanes_destroy(NULL);
}
END_TEST

/* ---- orders of a seed ---- */

/* Each lane notes twice that it runs, and can be left between the two. */
GYRE_BLOCK_KERNEL(left_alone, count_request, count_reply, lane_scratch)
{
    const u32 lane = gyre_lane(gyre);
    scratch->order[scratch->turns++ % 1024] = lane;
    for (u32 i = 0; i < request->a; i++)
        cpu_lanes_yield(gyre, NULL);
    scratch->order[scratch->turns++ % 1024] = lane;
    scratch->cell[lane]++;
    if (lane == 0)
        reply->value = 7;
    return GYRE_REPLY;
}

static int run_with_seed(struct cpu_lanes *lanes, gyre_cpu_handle handle, u32 a, u32 b, uint64_t seed)
{
    cpu_lanes_schedule(lanes, seed);
    return run_message(lanes, handle, (count_request){a, b}, &reply_bytes, &scratch_bytes, &context);
}

START_TEST(a_seed_is_an_order)
{
    static u32 before[1024];
    const uint32_t count = lane_counts[_i];
    struct cpu_lanes *lanes = cpu_lanes_create(count, 0);
    u32 switches = 0, others = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        for (int again = 0; again < 2; again++) {
            ck_assert_int_eq(run_with_seed(lanes, gyre_kernel_left_alone.handle, 40, 0, seed),
                             GYRE_OUTCOME_REPLY);
            ck_assert_uint_eq(reply_bytes.value, 7);
            ck_assert_uint_eq(scratch_bytes.turns, 2 * count);
            for (u32 lane = 0; lane < count; lane++) /* each runs, and runs once */
                ck_assert_uint_eq(scratch_bytes.cell[lane], 1);
            ck_assert(again == 0 || memcmp(before, scratch_bytes.order, sizeof before) == 0);
            others += again == 0 && seed > 1 && memcmp(before, scratch_bytes.order, sizeof before) != 0;
            memcpy(before, scratch_bytes.order, sizeof before);
        }
        for (u32 i = 0; i + 1 < 2 * count && i + 1 < 1024; i += 2)
            switches += scratch_bytes.order[i] != scratch_bytes.order[i + 1];
    }
    ck_assert(count < 32 || (switches > 100 && others == 11));
    /* without a seed the order is the usual one again */
    ck_assert_int_eq(run_with_seed(lanes, gyre_kernel_without_barrier.handle, 0, 0, 0), GYRE_OUTCOME_REPLY);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_uint_eq(scratch_bytes.order[i], i);
    cpu_lanes_destroy(lanes);
}
END_TEST

START_TEST(barriers_hold_in_every_order)
{
    const uint32_t count = lane_counts[_i];
    struct cpu_lanes *lanes = cpu_lanes_create(count, 0);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        ck_assert_int_eq(run_with_seed(lanes, gyre_kernel_neighbours.handle, 5, 0, seed), GYRE_OUTCOME_REPLY);
        ck_assert_uint_eq(reply_bytes.value, neighbours_expected(count, 5));
    }
    cpu_lanes_destroy(lanes);
}
END_TEST

/* Each lane has many accesses before a barrier, and again behind it. */
GYRE_BLOCK_KERNEL(long_lanes, count_request, count_reply, lane_scratch)
{
    for (u32 round = 0; round < 2; round++) {
        for (u32 i = 0; i < request->a; i++)
            cpu_lanes_yield(gyre, NULL);
        gyre_barrier(gyre);
    }
    (void)scratch;
    reply->value = 7;
    return GYRE_REPLY;
}

/* A lane that never stops is left beyond the limit; many lanes that stop are not, however much all of them do together. */
START_TEST(lanes_that_stop_keep_the_limit_of_switches)
{
    struct cpu_lanes *lanes = cpu_lanes_create(64, 0);
    uint64_t switches = 0;
    cpu_lanes_limit(lanes, 1);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        ck_assert_int_eq(run_with_seed(lanes, gyre_kernel_long_lanes.handle, 4000, 0, seed),
                         GYRE_OUTCOME_REPLY);
        ck_assert_uint_le(cpu_lanes_switches(lanes)->count, 1);
        switches += cpu_lanes_switches(lanes)->count;
    }
    ck_assert_uint_eq(switches, 8);
    cpu_lanes_destroy(lanes);
}
END_TEST

static const char *told[8];
static uint32_t told_count;

static void note_places(gyre_context *failed, const char *const *places, uint32_t count)
{
    ck_assert(failed->failed);
    ck_assert_uint_le(count, 8);
    told_count = count;
    for (uint32_t i = 0; i < count; i++)
        told[i] = places[i];
}

START_TEST(a_divergence_is_told_with_all_places)
{
    struct cpu_lanes *lanes = cpu_lanes_create(8, 0);
    cpu_lanes_on_divergence(lanes, note_places);
    for (uint64_t seed = 0; seed < 20; seed++) {
        told_count = 0;
        ck_assert_int_eq(run_with_seed(lanes, gyre_kernel_leaves.handle, 3, 1, seed), GYRE_OUTCOME_FAILED);
        ck_assert_int_eq(context.fail_code, GYRE_FAILURE_BARRIER);
        ck_assert_uint_eq(told_count, 8);
        for (u32 lane = 0; lane < 8; lane++)
            ck_assert_int_eq(told[lane] == NULL, lane == 3);
        ck_assert_int_eq(run_with_seed(lanes, gyre_kernel_leaves.handle, 8, 1, seed), GYRE_OUTCOME_REPLY);
    }
    cpu_lanes_destroy(lanes);
}
END_TEST

/* A phase ends at each barrier and with each message, in any order of lanes. */
START_TEST(phases_grow)
{
    struct cpu_lanes *lanes = cpu_lanes_create(4, 0);
    for (uint64_t seed = 0; seed < 3; seed++) {
        const uint32_t before = cpu_lanes_phase(lanes);
        ck_assert_int_eq(run_with_seed(lanes, gyre_kernel_neighbours.handle, 3, 0, seed), GYRE_OUTCOME_REPLY);
        ck_assert_uint_eq(cpu_lanes_phase(lanes), before + 1 + 7);
    }
    cpu_lanes_destroy(lanes);
}
END_TEST

/*
 * Blocks of a grid: each has its barriers, its cells and its scratch, and all meet where the grid meets. Block `b` takes one barrier more
 * than the others. Lane 0 of the first block sums up what it finds of all blocks.
 */
GYRE_BLOCK_KERNEL(blocks_meet, count_request, count_reply, lane_scratch)
{
    const u32 block = gyre_block(gyre), lane = gyre_lane(gyre);
    GYRE_GLOBAL u64 *const all = &reply->value;
    scratch->cell[lane] = block * 100 + lane;
    gyre_barrier(gyre);
    const u64 right = scratch->cell[(lane + 1) % gyre_lane_count(gyre)];
    const u64 sum = gyre_block_sum_u64(gyre, right);
    if (block == request->b)
        gyre_barrier(gyre);
    if (request->a == block && lane == 1)
        return GYRE_REPLY;
    ck_assert_uint_eq(cpu_lanes_number(gyre), block * 4 + lane);
    if (lane == 0)
        gyre_atomic_add(all, sum);
    cpu_lanes_meet_all(gyre, "grid.c:1");
    ck_assert_uint_eq(*all, 3 * 6 + 4 * (100 + 200));
    ck_assert_uint_eq(cpu_lanes_phase_of(gyre), CPU_PHASES_MAX);
    gyre_barrier(gyre);
    ck_assert_uint_eq(cpu_lanes_phase_of(gyre), CPU_PHASES_MAX + 1);
    return GYRE_REPLY;
}

START_TEST(blocks_of_a_grid_share_a_message)
{
    static lane_scratch scratches[3];
    struct cpu_lanes *lanes = cpu_lanes_create(12, 0);
    cpu_lanes_split(lanes, 3, sizeof scratches[0]);
    for (uint64_t seed = 0; seed < 20; seed++) {
        cpu_lanes_schedule(lanes, seed);
        reply_bytes.value = 0;
        ck_assert_int_eq(run_message(lanes, gyre_kernel_blocks_meet.handle, (count_request){9, seed % 4},
                                     &reply_bytes, scratches, &context),
                         GYRE_OUTCOME_REPLY);
        reply_bytes.value = 0;
        ck_assert_int_eq(run_message(lanes, gyre_kernel_blocks_meet.handle, (count_request){1, 3},
                                     &reply_bytes, scratches, &context),
                         GYRE_OUTCOME_FAILED);
        ck_assert_int_eq(context.fail_code, GYRE_FAILURE_BARRIER);
        ck_assert_str_eq(context.fail_text, "lane 5 ended, lane 0 waits: grid.c:1");
    }
    cpu_lanes_destroy(lanes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu_lane");
    TCase *tcase = tcase_create("cpu_lane");
    tcase_add_loop_test(tcase, every_lane_runs_once_and_in_order, 0, LANE_COUNTS);
    tcase_add_loop_test(tcase, barriers_keep_lanes_in_step, 0, LANE_COUNTS);
    tcase_add_loop_test(tcase, a_lane_finds_its_registers_again_behind_a_barrier, 0, LANE_COUNTS);
    tcase_add_loop_test(tcase, every_lane_gets_the_result_of_block_functions, 0, LANE_COUNTS);
    tcase_add_loop_test(tcase, a_lane_that_leaves_before_a_barrier_fails_the_message, 0, 4);
    tcase_add_test(tcase, lanes_at_different_barriers_fail_the_message);
    tcase_add_test(tcase, messages_after_a_diverged_one_are_right);
    tcase_add_test(tcase, a_lane_leaves_a_message_with_all_lanes);
    tcase_add_test(tcase, the_lowest_failing_lane_speaks_for_the_message);
    tcase_add_test(tcase, a_failure_counts_more_than_the_barrier_it_missed);
    tcase_add_test(tcase, an_assertion_names_file_line_and_condition);
    tcase_add_test(tcase, a_barrier_in_a_lane_kernel_fails_the_message);
    tcase_add_test(tcase, a_stack_overflow_meets_the_guard_page);
#if UNDER_ADDRESS_SANITIZER
    (void)no_memory_for_a_stack_fails_the_message_alone; /* its runtime puts another mprotect in the way */
#else
    tcase_add_loop_test(tcase, no_memory_for_a_stack_fails_the_message_alone, 0, 64);
#endif
    tcase_add_test(tcase, a_message_without_barriers_takes_one_stack);
    tcase_add_test(tcase, bad_counts_and_sizes_are_refused);
    tcase_add_loop_test(tcase, a_seed_is_an_order, 0, LANE_COUNTS);
    tcase_add_loop_test(tcase, barriers_hold_in_every_order, 0, LANE_COUNTS);
    tcase_add_test(tcase, lanes_that_stop_keep_the_limit_of_switches);
    tcase_add_test(tcase, a_divergence_is_told_with_all_places);
    tcase_add_test(tcase, phases_grow);
    tcase_add_test(tcase, blocks_of_a_grid_share_a_message);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
