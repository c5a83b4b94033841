/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every call into the driver fails once, with an answer of each class: what passes by itself is tried again,
 * what lacks is given back first where that helps, and what cannot work is told and never repeated.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../patience.h"
#include "core/base/error.h"
#include "backends/cuda/cuda_failure.h"
#include "backends/cuda/residents/cuda_launch.h"
#include "backends/cuda/memory/cuda_memory.h"
#include "backends/cuda/residents/cuda_residents.h"
#include "backends/cuda/memory/cuda_transfer.h"
#include "world.h"

enum { EPOCH_STOP = 2, REGION_SIZE = 4096 };

static gyre_status transfer(struct world *world, gyre_memory *memory)
{
    char there[64] = "over there", back[64] = "";
    gyre_transfer_desc desc = {.size = sizeof desc,
                               .kind = GYRE_TRANSFER_UPLOAD,
                               .byte_count = sizeof there,
                               .memory = memory,
                               .source = there};
    gyre_status status = cuda_transfer(&world->device, &desc);
    if (status != GYRE_OK)
        return status;
    desc.kind = GYRE_TRANSFER_DOWNLOAD;
    desc.target = back;
    status = cuda_transfer(&world->device, &desc);
    ck_assert(status != GYRE_OK || memcmp(there, back, sizeof back) == 0);
    return status;
}

static gyre_status use_memory(struct world *world)
{
    gyre_memory *memory = NULL;
    gyre_status status = cuda_memory_alloc(&world->device, 64, &memory);
    ck_assert((status == GYRE_OK) == (memory != NULL));
    if (status == GYRE_OK)
        status = transfer(world, memory);
    cuda_memory_release(memory);
    return status;
}

static gyre_status use_queue(struct world *world)
{
    static unsigned char region[REGION_SIZE];
    gyre_queue_memory_desc desc = {.size = sizeof desc, .address = region, .region_size = sizeof region};
    gyre_queue_memory *memory = NULL;
    uint64_t address = 0;
    gyre_status status = cuda_queue_alloc(&world->device, &desc, &memory, &address);
    ck_assert((status == GYRE_OK) == (memory != NULL));
    cuda_queue_release(memory);
    return status;
}

/* The kernel is told to stop whatever happened before. */
static gyre_status end_kernel(struct world *world)
{
    order(world, 0, EPOCH_STOP, GYRE_VERB_STOP);
    gyre_status status = cuda_wait(world->residents[0], in_ms(world, patiently(5000)));
    ck_assert_int_ne(status, GYRE_TIMEOUT);
    cuda_release(world->residents[0]);
    return status;
}

static gyre_status live(struct world *world)
{
    gyre_status status = cuda_residents_open(&world->device);
    if (status == GYRE_OK)
        status = try_start(world, 0);
    if (status == GYRE_OK) {
        status = use_memory(world);
        if (status == GYRE_OK)
            status = use_queue(world);
        gyre_status end = end_kernel(world);
        status = status == GYRE_OK ? end : status;
    }
    return status;
}

/* One life in which the call number `call` fails; the sentence is kept. */
static gyre_status live_with(uint32_t call, CUresult answer, uint32_t times, char *sentence, size_t size)
{
    struct world world;
    make_world(&world, 0);
    gpu_fail(call, answer, times);
    gyre_status status = live(&world);
    snprintf(sentence, size, "%s", status == GYRE_OK ? "" : gyre_error_text());
    gpu_fail(0, answer, 0);
    close_world(&world);
    free(world.controls[0]);
    return status;
}

static bool named(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static void expect_code(const char *sentence, CUresult answer)
{
    char code[32];
    snprintf(code, sizeof code, "failed with %d (", (int)answer);
    ck_assert_msg(strstr(sentence, code) != NULL, "'%s' is not in '%s'", code, sentence);
}

/* Runs a life for each call of an undisturbed one. */
static void for_each_call(CUresult answer,
                          void (*judge)(const char *call, gyre_status status, const char *sentence))
{
    char sentence[512];
    ck_assert_int_eq(live_with(0, CUDA_SUCCESS, 0, sentence, sizeof sentence), GYRE_OK);
    struct world world;
    make_world(&world, 0);
    gpu_fail(0, CUDA_SUCCESS, 0);
    ck_assert_int_eq(live(&world), GYRE_OK);
    const uint32_t calls = gpu_calls();
    close_world(&world);
    free(world.controls[0]);
    ck_assert_uint_gt(calls, 20);
    for (uint32_t call = 1; call <= calls; call++) {
        gyre_status status = live_with(call, answer, 1, sentence, sizeof sentence);
        if (gpu_failed_call())
            judge(gpu_failed_call(), status, sentence);
    }
}

/* ---- the classes ---- */

static const char *const patient[] = {"stream_create", "memory_new", "host_register", "launch", NULL};

static void judge_transient(const char *call, gyre_status status, const char *sentence)
{
    if (named(patient, call))
        ck_assert_msg(status == GYRE_OK, "%s: %s", call, sentence);
    ck_assert(status == GYRE_OK || status == GYRE_EXHAUSTED);
}

START_TEST(what_passes_by_itself_is_tried_again)
{
    for_each_call(CUDA_ERROR_SYSTEM_NOT_READY, judge_transient);
}
END_TEST

static void judge_programmer(const char *call, gyre_status status, const char *sentence)
{
    if (named(patient, call)) {
        ck_assert_msg(status == GYRE_INTERNAL, "%s: %d", call, (int)status);
        ck_assert_ptr_nonnull(strstr(sentence, "please report it"));
    }
    ck_assert(status == GYRE_OK || status == GYRE_INTERNAL);
    if (status != GYRE_OK)
        expect_code(sentence, CUDA_ERROR_INVALID_VALUE);
}

START_TEST(what_cannot_work_is_told_and_not_repeated)
{
    for_each_call(CUDA_ERROR_INVALID_VALUE, judge_programmer);
}
END_TEST

static void judge_resource(const char *call, gyre_status status, const char *sentence)
{
    /* a launch that failed gives its own memory back to the pool and is tried again without it there */
    ck_assert_msg(status == GYRE_OK || (status == GYRE_EXHAUSTED && strstr(sentence, "nvidia-smi")), "%s: %s",
                  call, sentence);
}

START_TEST(what_lacks_is_told_with_what_to_do)
{
    for_each_call(CUDA_ERROR_OUT_OF_MEMORY, judge_resource);
}
END_TEST

/* A failure after the last call that matters is nobody's; every other one is the device's end. */
static void judge_fatal(const char *call, gyre_status status, const char *sentence)
{
    ck_assert_msg(status == GYRE_LOST || status == GYRE_OK, "%s: %d %s", call, (int)status, sentence);
    if (named(patient, call))
        ck_assert_int_eq(status, GYRE_LOST);
    if (status == GYRE_LOST) {
        expect_code(sentence, CUDA_ERROR_LAUNCH_FAILED);
        ck_assert_ptr_nonnull(strstr(sentence, "does not work any more in this process"));
    }
}

START_TEST(what_is_fatal_is_the_devices_end_and_nothing_hangs)
{
    for_each_call(CUDA_ERROR_LAUNCH_FAILED, judge_fatal);
}
END_TEST

static uint64_t absences_of(const struct world *world)
{
    return __atomic_load_n(&world->controls[0]->absences.count, __ATOMIC_RELAXED);
}

/* Also an answer that no table knows: newer drivers have newer faults. */
START_TEST(what_a_kernel_ends_with_is_the_devices_end)
{
    static const CUresult answers[] = {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_INVALID_VALUE, (CUresult)12345};
    char code[32];
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        struct world world;
        open_world(&world, 0);
        start(&world, 0);
        gpu_fail_query(CUDA_ERROR_SYSTEM_NOT_READY); /* says nothing of the kernel */
        ck_assert_int_eq(cuda_wait(world.residents[0], in_ms(&world, 1)), GYRE_TIMEOUT);
        order(&world, 0, EPOCH_STOP, GYRE_VERB_STOP);
        gpu_fail_query(answers[i]);
        ck_assert_int_eq(cuda_wait(world.residents[0], in_ms(&world, patiently(5000))), GYRE_LOST);
        snprintf(code, sizeof code, "failed with %d (", (int)answers[i]);
        ck_assert_ptr_nonnull(strstr(gyre_error_text(), code));
        ck_assert_uint_eq(__atomic_load_n(&world.controls[0]->device.lost, __ATOMIC_ACQUIRE),
                          1);                                   /* who waits for replies gives up */
        while (__atomic_load_n(&gpu_present, __ATOMIC_SEQ_CST)) /* it stops all the same */
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        cuda_release(world.residents[0]);
        close_world(&world);
        free(world.controls[0]);
    }
}
END_TEST

/* Launches are said to wait, and do not: the thread that would sit in them asks how the kernel ended. */
START_TEST(so_it_is_where_launches_are_said_to_wait)
{
    struct world world;
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    open_world(&world, 0);
    gpu_fail_query(CUDA_ERROR_SYSTEM_NOT_READY); /* says nothing of the kernel */
    start(&world, 0);
    ck_assert_int_eq(cuda_wait(world.residents[0], in_ms(&world, 400)), GYRE_TIMEOUT);
    ck_assert_uint_gt(absences_of(&world), 0);
    gpu_fail_query(CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(cuda_wait(world.residents[0], in_ms(&world, patiently(5000))), GYRE_LOST);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "cuStreamSynchronize failed with 1 ("));
    order(&world, 0, EPOCH_STOP, GYRE_VERB_STOP);
    while (__atomic_load_n(&gpu_present, __ATOMIC_SEQ_CST)) /* it stops all the same */
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    cuda_release(world.residents[0]);
    close_world(&world);
    free(world.controls[0]);
}
END_TEST

START_TEST(patience_ends)
{
    enum { TRIES = 9 };
    struct cuda_retry retry = {0};
    struct timespec begun, ended;
    int tries = 1;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    while (cuda_again(&retry, CUDA_ERROR_DEVICE_UNAVAILABLE))
        tries++;
    clock_gettime(CLOCK_MONOTONIC, &ended);
    const double spent_ms =
        (double)(ended.tv_sec - begun.tv_sec) * 1e3 + (double)(ended.tv_nsec - begun.tv_nsec) / 1e6;
    ck_assert_int_eq(tries, TRIES);
    ck_assert(spent_ms >= 255 && spent_ms < (double)patiently(5000));
    retry = (struct cuda_retry){0};
    ck_assert(!cuda_again(&retry, CUDA_SUCCESS) && !cuda_again(&retry, CUDA_ERROR_OUT_OF_MEMORY));
    ck_assert(!cuda_again(&retry, CUDA_ERROR_INVALID_VALUE) && !cuda_again(&retry, CUDA_ERROR_LAUNCH_FAILED));
    ck_assert(!cuda_again(&retry, (CUresult)12345) && retry.tries == 0);
    ck_assert_int_eq(cuda_status_of((CUresult)12345), GYRE_INTERNAL);
}
END_TEST

/* ---- memory that the pool keeps ---- */

START_TEST(memory_that_the_pool_keeps_is_given_back_when_it_lacks)
{
    enum { LARGE = 64 << 20 };
    struct world world;
    gyre_memory *first = NULL, *second = NULL;
    open_world(&world, 0);
    gpu_memory = (size_t)LARGE + (LARGE >> 1);
    start(&world, 0);
    ck_assert_int_eq(cuda_memory_alloc(&world.device, LARGE, &first), GYRE_OK);
    ck_assert_int_eq(cuda_memory_alloc(&world.device, LARGE, &second), GYRE_EXHAUSTED);
    ck_assert_ptr_null(second);
    cuda_memory_release(first); /* the pool keeps it */
    const uint64_t before = absences_of(&world);
    ck_assert_msg(cuda_memory_alloc(&world.device, LARGE, &second) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_uint_eq(absences_of(&world), before + 1); /* the kernel made room for that */
    cuda_memory_release(second);
    end_kernel(&world);
    gpu_memory = SIZE_MAX / 2;
    close_world(&world);
    free(world.controls[0]);
}
END_TEST

TCase *failure_cases(void)
{
    TCase *cases = tcase_create("failures");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, what_passes_by_itself_is_tried_again);
    tcase_add_test(cases, what_cannot_work_is_told_and_not_repeated);
    tcase_add_test(cases, what_lacks_is_told_with_what_to_do);
    tcase_add_test(cases, what_is_fatal_is_the_devices_end_and_nothing_hangs);
    tcase_add_test(cases, what_a_kernel_ends_with_is_the_devices_end);
    tcase_add_test(cases, so_it_is_where_launches_are_said_to_wait);
    tcase_add_test(cases, patience_ends);
    tcase_add_test(cases, memory_that_the_pool_keeps_is_given_back_when_it_lacks);
    return cases;
}
