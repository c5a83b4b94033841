/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that leave and come back: when others need the context, when their stay is bounded, in turns. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../patience.h"
#include "core/base/error.h"
#include "backends/cuda/residents/cuda_launch.h"
#include "backends/cuda/memory/cuda_memory.h"
#include "backends/cuda/presence/cuda_quiet.h"
#include "backends/cuda/memory/cuda_transfer.h"
#include "world.h"

static const gyre_control_block *block_of(const struct world *world, int i)
{
    return (const gyre_control_block *)(world->controls[i] + 1);
}

static void await_acknowledged(const struct world *world, int i, uint64_t command)
{
    for (uint64_t turn = 0; turn < patiently(5000); turn++) {
        if (__atomic_load_n(&block_of(world, i)->acknowledged, __ATOMIC_ACQUIRE) >= command)
            return;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    ck_abort_msg("kernel %d does not obey", i);
}

static uint64_t handled(const struct world *world, int i)
{
    return __atomic_load_n(&block_of(world, i)->handled, __ATOMIC_RELAXED);
}

static void rest_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void stop(struct world *world, int i)
{
    order(world, i, 2, GYRE_VERB_STOP);
    ck_assert_int_eq(cuda_wait(world->residents[i], in_ms(world, patiently(5000))), GYRE_OK);
    ck_assert_uint_eq(block_of(world, i)->acknowledged, 2 << 8 | GYRE_VERB_STOP);
    cuda_release(world->residents[i]);
    world->residents[i] = NULL;
    free(world->controls[i]);
}

START_TEST(a_kernel_stays_until_it_is_stopped)
{
    struct world world;
    open_world(&world, 0);
    start(&world, 0);
    await_acknowledged(&world, 0, 1 << 8);
    ck_assert_int_eq(cuda_wait(world.residents[0], in_ms(&world, 60)), GYRE_TIMEOUT);
    ck_assert_uint_eq(world.controls[0]->absences.count, 0);
    stop(&world, 0);
    close_world(&world);
    ck_assert_str_eq(world.log, "");
}
END_TEST

START_TEST(stays_are_measured_where_that_is_asked_for)
{
    enum { STAY_MS = 5, TIMES = 5 };
    struct world world;
    open_world(&world, STAY_MS);
    world.timed = true;
    start(&world, 0);
    world.timed = false;
    start(&world, 1);
    const gyre_control_absences *line = &world.controls[0]->absences;
    for (uint64_t turn = 0; turn < patiently(5000) && __atomic_load_n(&line->stays, __ATOMIC_RELAXED) < TIMES;
         turn++)
        rest_ms(1);
    const uint64_t stays = __atomic_load_n(&line->stays, __ATOMIC_RELAXED),
                   longest_ns = __atomic_load_n(&line->longest_stay_ns, __ATOMIC_RELAXED),
                   stayed_ns = __atomic_load_n(&line->stayed_ns, __ATOMIC_RELAXED);
    ck_assert_uint_ge(stays, TIMES);
    ck_assert(longest_ns >= UINT64_C(1000000) * STAY_MS && stayed_ns >= longest_ns);
    ck_assert_uint_eq(__atomic_load_n(&world.controls[1]->absences.stays, __ATOMIC_RELAXED), 0);
    stop(&world, 0);
    stop(&world, 1);
    close_world(&world);
}
END_TEST

START_TEST(a_quiet_moment_is_an_absence_of_every_kernel)
{
    struct world world;
    open_world(&world, 0);
    start(&world, 0);
    start(&world, 1);
    ck_assert_int_eq(cuda_quiet_begin(&world.device), GYRE_OK);
    ck_assert_uint_eq(gpu_present, 0);
    rest_ms(5);
    ck_assert_int_eq(cuda_quiet_end(&world.device), GYRE_OK);
    for (int i = 0; i < 2; i++) {
        const gyre_control_absences *absences = &world.controls[i]->absences;
        ck_assert_uint_eq(absences->count, 1);
        ck_assert(absences->longest_ns > 5000000 && absences->total_ns == absences->longest_ns);
        order(&world, i, 9, GYRE_VERB_PAUSE);
        await_acknowledged(&world, i, 9 << 8);
        order(&world, i, 1, GYRE_VERB_RUN);
    }
    stop(&world, 0);
    stop(&world, 1);
    close_world(&world);
}
END_TEST

static uint64_t absences_of(const struct world *world, int i)
{
    return __atomic_load_n(&world->controls[i]->absences.count, __ATOMIC_RELAXED);
}

START_TEST(a_bounded_stay_ends_and_begins_again)
{
    enum { STAY_MS = 5, TIMES = 10 };
    struct world world;
    open_world(&world, STAY_MS);
    const uint64_t begun_ns = world.host.table.now_ns();
    start(&world, 0);
    for (uint64_t turn = 0; turn < patiently(5000) && absences_of(&world, 0) < TIMES; turn++)
        rest_ms(1);
    const uint64_t count = absences_of(&world, 0),
                   spent_ms = (world.host.table.now_ns() - begun_ns) / 1000000;
    ck_assert(count >= TIMES && count <= spent_ms / STAY_MS + 1);
    ck_assert(__atomic_load_n(&world.controls[0]->absences.total_ns, __ATOMIC_RELAXED) >= count);
    const uint64_t before = handled(&world, 0);
    for (uint64_t turn = 0; turn < patiently(5000) && handled(&world, 0) == before; turn++)
        rest_ms(1);
    ck_assert(handled(&world, 0) > before);
    for (int i = 0; i < 20; i++) {
        /* also in the middle of an absence a stop is obeyed, and nothing else is taken for it */
        ck_assert_int_eq(cuda_wait(world.residents[0], in_ms(&world, 3)), GYRE_TIMEOUT);
        ck_assert_uint_le(__atomic_load_n(&block_of(&world, 0)->acknowledged, __ATOMIC_RELAXED),
                          1 << 8 | GYRE_VERB_RUN);
    }
    stop(&world, 0);
    close_world(&world);
}
END_TEST

/* Transfers, allocations and launches beside kernels whose launches keep the driver. */
static void work_in_turns(struct world *world)
{
    gyre_memory *memory = NULL;
    char bytes[64] = "over there", back[64] = "";
    start(world, 0);
    start(world, 1);
    for (int i = 0; i < 20; i++) {
        gyre_transfer_desc upload = {.size = sizeof upload, .kind = GYRE_TRANSFER_UPLOAD, .byte_count = 64};
        gyre_transfer_desc download = {
            .size = sizeof upload, .kind = GYRE_TRANSFER_DOWNLOAD, .byte_count = 64};
        ck_assert_int_eq(cuda_memory_alloc(&world->device, 64, &memory), GYRE_OK);
        upload.memory = download.memory = memory;
        upload.source = bytes;
        download.target = back;
        ck_assert_int_eq(cuda_transfer(&world->device, &upload), GYRE_OK);
        ck_assert_int_eq(cuda_transfer(&world->device, &download), GYRE_OK);
        ck_assert_str_eq(back, bytes);
        cuda_memory_release(memory);
    }
    start(world, 2);
    for (int i = 0; i < KERNELS; i++)
        await_acknowledged(world, i, 1 << 8);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < KERNELS; i++) {
            uint64_t before = handled(world, i);
            for (uint64_t turn = 0; turn < patiently(2000) && handled(world, i) == before; turn++)
                rest_ms(1);
            ck_assert(handled(world, i) > before); /* each has its turn */
        }
    ck_assert_uint_eq(gpu_most, 1);
    for (int i = 0; i < KERNELS; i++) {
        ck_assert(__atomic_load_n(&world->controls[i]->absences.count, __ATOMIC_RELAXED) > 0);
        stop(world, i);
    }
}

START_TEST(launches_that_block_are_expected_from_the_environment)
{
    struct world world;
    gpu_blocks = true;
    gpu_most = 0;
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    open_world(&world, 0);
    work_in_turns(&world);
    close_world(&world);
    ck_assert_ptr_nonnull(strstr(world.log, "CUDA_LAUNCH_BLOCKING is set"));
}
END_TEST

START_TEST(launches_that_block_are_found_out)
{
    struct world world;
    gpu_blocks = true;
    gpu_most = 0;
    unsetenv("CUDA_LAUNCH_BLOCKING");
    open_world(&world, 0);
    work_in_turns(&world);
    close_world(&world);
    ck_assert_ptr_nonnull(strstr(world.log, "makes each launch wait for its kernel"));
}
END_TEST

START_TEST(zero_does_not_ask_for_launches_that_block)
{
    struct world world;
    setenv("CUDA_LAUNCH_BLOCKING", "0", 1);
    gpu_blocks = false;
    open_world(&world, 0);
    start(&world, 0);
    start(&world, 1);
    await_acknowledged(&world, 0, 1 << 8);
    await_acknowledged(&world, 1, 1 << 8);
    rest_ms(100);
    ck_assert_uint_eq(world.controls[0]->absences.count + world.controls[1]->absences.count, 0);
    stop(&world, 0);
    stop(&world, 1);
    close_world(&world);
    ck_assert_str_eq(world.log, "");
}
END_TEST

static void transfer(struct world *world, gyre_transfer_desc desc)
{
    desc.size = sizeof desc;
    ck_assert_msg(cuda_transfer(&world->device, &desc) == GYRE_OK, "%s", gyre_error_text());
}

/* Sizes around what is staged, what one thread carries, and whole pieces; each byte is right afterwards. */
START_TEST(large_transfers_go_through_pinned_pieces)
{
    static const uint64_t sizes[] = {1, 1 << 20, (4 << 20) - 1, 4 << 20, (5 << 20) + 3, (33 << 20) + 12345};
    struct world world;
    open_world(&world, 0);
    start(&world, 0);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const uint64_t size = sizes[s], offset = 77;
        unsigned char *there = malloc(size), *back = calloc(1, size);
        gyre_memory *memory = NULL;
        ck_assert_int_eq(cuda_memory_alloc(&world.device, size + offset, &memory), GYRE_OK);
        for (uint64_t i = 0; i < size; i++)
            there[i] = (unsigned char)(i * 31 + (i >> 12));
        gpu_forget_copies();
        transfer(&world, (gyre_transfer_desc){.kind = GYRE_TRANSFER_UPLOAD,
                                              .memory = memory,
                                              .offset = offset,
                                              .byte_count = size,
                                              .source = there});
        transfer(&world, (gyre_transfer_desc){.kind = GYRE_TRANSFER_DOWNLOAD,
                                              .memory = memory,
                                              .offset = offset,
                                              .byte_count = size,
                                              .target = back});
        ck_assert(memcmp(there, back, size) == 0);
        if (size > 1) /* the device's log is copied now and then too */
            ck_assert_uint_eq(gpu_copied_at_most(), size < 4 << 20 ? size : 1 << 20);
        cuda_memory_release(memory);
        free(there);
        free(back);
    }
    ck_assert_uint_eq(world.controls[0]->absences.count, 0); /* no kernel had to leave for any of it */
    stop(&world, 0);
    close_world(&world);
}
END_TEST

static void *symbol_of(struct world *world, const char *name)
{
    void *library = NULL, *address = NULL;
    ck_assert_int_eq(world->host.table.library_open(TOOL, &library), GYRE_OK);
    ck_assert_int_eq(world->host.table.library_symbol(library, name, &address), GYRE_OK);
    return address;
}

START_TEST(a_profiler_is_told_what_happens)
{
    struct world world;
    gyre_memory *memory = NULL;
    setenv("NVTX_INJECTION64_PATH", TOOL, 1);
    open_world(&world, 0);
    start(&world, 0);
    const int *depth = symbol_of(&world, "tool_depth"), *ranges = symbol_of(&world, "tool_open");
    const char *notes = symbol_of(&world, "tool_notes");
    ck_assert_int_eq(*ranges, 1); /* the stay */
    ck_assert_int_eq(cuda_memory_alloc(&world.device, 8, &memory), GYRE_OK);
    transfer(&world, (gyre_transfer_desc){.kind = GYRE_TRANSFER_FILL, .memory = memory, .byte_count = 8});
    cuda_memory_release(memory);
    ck_assert_int_eq(cuda_quiet_begin(&world.device), GYRE_OK);
    ck_assert_int_eq(*depth, 1);
    ck_assert_int_eq(*ranges, 0);
    ck_assert_int_eq(cuda_quiet_end(&world.device), GYRE_OK);
    ck_assert_int_eq(*depth, 0);
    stop(&world, 0);
    close_world(&world);
    ck_assert_int_eq(*depth, 0);
    ck_assert_int_eq(*ranges, 0);
    static const char *const told[] = {"gyre: launch\n", "gyre: k resident\n", "gyre: fill\n",
                                       "gyre: kernels away\n"};
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
        ck_assert_msg(strstr(notes, told[i]) != NULL, "'%s' is not in: %s", told[i], notes);
}
END_TEST

START_TEST(no_profilers_library_is_a_line_in_the_log)
{
    struct world world;
    setenv("NVTX_INJECTION64_PATH", "/no/such/tool.so", 1);
    open_world(&world, 0);
    start(&world, 0);
    stop(&world, 0);
    close_world(&world);
    ck_assert_ptr_nonnull(strstr(world.log, "'/no/such/tool.so', which is no profiler's library"));
}
END_TEST

START_TEST(kernels_share_the_multiprocessors_that_gyre_may_use)
{
    struct world world;
    open_world(&world, 0);
    world.device.sm_count = 2 * BLOCKS + 1;
    start(&world, 0);
    start(&world, 1);
    gyre_control_region *control = calloc(1, GYRE_CONTROL_SIZE(BLOCKS));
    gyre_resident *third = NULL;
    gyre_resident_desc desc = {
        .size = sizeof desc, .control = control, .kernel_name = "k", .lanes = 32, .blocks = BLOCKS};
    ck_assert_int_eq(cuda_launch(&world.module, &desc, &third), GYRE_INVALID);
    ck_assert_ptr_null(third);
    ck_assert_ptr_nonnull(
        strstr(gyre_error_text(), "other kernels hold 4, and Gyre may use 5; launch at most 1"));
    world.device.sm_count = 2 * BLOCKS;
    ck_assert_int_eq(cuda_launch(&world.module, &desc, &third), GYRE_INVALID);
    ck_assert_ptr_nonnull(
        strstr(gyre_error_text(), "other kernels hold all 4 that Gyre may use; release one"));
    free(control);
    stop(&world, 0);
    start(&world, 2); /* what another gave back can be had */
    stop(&world, 1);
    stop(&world, 2);
    close_world(&world);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda_residents");
    TCase *cases = tcase_create("residents");
    tcase_set_timeout(cases, 30);
    tcase_add_test(cases, a_kernel_stays_until_it_is_stopped);
    tcase_add_test(cases, stays_are_measured_where_that_is_asked_for);
    tcase_add_test(cases, a_quiet_moment_is_an_absence_of_every_kernel);
    tcase_add_test(cases, a_bounded_stay_ends_and_begins_again);
    tcase_add_test(cases, launches_that_block_are_expected_from_the_environment);
    tcase_add_test(cases, launches_that_block_are_found_out);
    tcase_add_test(cases, zero_does_not_ask_for_launches_that_block);
    tcase_add_test(cases, large_transfers_go_through_pinned_pieces);
    tcase_add_test(cases, a_profiler_is_told_what_happens);
    tcase_add_test(cases, no_profilers_library_is_a_line_in_the_log);
    tcase_add_test(cases, kernels_share_the_multiprocessors_that_gyre_may_use);
    suite_add_tcase(suite, cases);
    suite_add_tcase(suite, failure_cases());
    suite_add_tcase(suite, peer_cases());
    return unit_run(suite);
}
