/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver made of software: that it is as awkward as the real one. Each case that ends in a fault has a process
 * of its own, since nothing works behind a fault.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuda.h>

#include "machine.h"

#include "unit/unit.h"

/* `stay` ends when the word is not 0; `stray` stores to an address; `odd` where it is not aligned; `give_up` traps. */
static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                          ".visible .entry stay(.param .u64 word)\n{\n"
                          ".reg .pred %p<2>;\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n"
                          "ld.param.u64 %rd1, [word];\n"
                          "again:\nld.volatile.global.u32 %r1, [%rd1];\n"
                          "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra again;\nret;\n}\n"
                          ".visible .entry stray(.param .u64 word)\n{\n"
                          ".reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n"
                          "ld.param.u64 %rd1, [word];\nmov.u32 %r1, 1;\n"
                          "st.global.u32 [%rd1], %r1;\nret;\n}\n"
                          ".visible .entry deep(.param .u64 word)\n{\n"
                          ".local .align 4 .b8 depot[2000];\nret;\n}\n"
                          ".visible .entry shallow(.param .u64 word)\n{\n"
                          ".local .align 4 .b8 depot[1000];\nret;\n}\n"
                          ".visible .entry give_up(.param .u64 word)\n{\ntrap;\nret;\n}\n";

static struct {
    CUcontext context;
    CUstream stream, other;
    CUmodule module;
    uint32_t *word; /* pinned, and seen by kernels */
} here;

static void works(CUresult result)
{
    const char *name = "unknown";
    cuGetErrorName(result, &name);
    ck_assert_msg(result == CUDA_SUCCESS, "%s", name);
}

static void open_device(void)
{
    CUdevice device;
    void *word;
    works(cuInit(0));
    works(cuDeviceGet(&device, 0));
    works(cuDevicePrimaryCtxRetain(&here.context, device));
    works(cuCtxSetCurrent(here.context));
    works(cuStreamCreate(&here.stream, CU_STREAM_NON_BLOCKING));
    works(cuStreamCreate(&here.other, CU_STREAM_NON_BLOCKING));
    works(cuModuleLoadData(&here.module, ptx));
    works(cuMemHostAlloc(&word, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    here.word = word;
    *here.word = 0;
}

static CUfunction function(const char *name)
{
    CUfunction found;
    works(cuModuleGetFunction(&found, here.module, name));
    works(cuFuncLoad(found));
    return found;
}

static CUresult launch(CUfunction code, uint64_t argument, uint32_t blocks)
{
    void *arguments[] = {&argument};
    return cuLaunchCooperativeKernel(code, blocks, 1, 1, 32, 1, 1, 0, here.stream, arguments);
}

static void stay(void)
{
    works(launch(function("stay"), (uint64_t)(uintptr_t)here.word, 1));
    ck_assert_int_eq(cuStreamQuery(here.stream), CUDA_ERROR_NOT_READY);
}

static void leave(void)
{
    __atomic_store_n(here.word, 1, __ATOMIC_RELEASE);
    works(cuStreamSynchronize(here.stream));
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* ---- calls that wait for kernels ---- */

static struct {
    CUresult (*call)(void);
    bool returned;
} waiting;

static void *make_call(void *argument)
{
    (void)argument;
    works(cuCtxSetCurrent(here.context));
    works(waiting.call());
    __atomic_store_n(&waiting.returned, true, __ATOMIC_RELEASE);
    return NULL;
}

static CUresult load_module(void)
{
    CUmodule module;
    return cuModuleLoadData(&module, ptx);
}

static CUresult unload_module(void)
{
    return cuModuleUnload(here.module);
}

static CUresult use_another(void)
{
    CUfunction another;
    works(cuModuleGetFunction(&another, here.module, "stray"));
    return cuFuncLoad(another);
}

static unsigned char mine[4096];

static CUresult take_back(void)
{
    return cuMemHostUnregister(mine);
}

static CUfunction deep; /* loaded before */

static CUresult launch_beside(CUfunction code)
{
    uint64_t argument = 0;
    void *arguments[] = {&argument};
    return cuLaunchCooperativeKernel(code, 1, 1, 1, 32, 1, 1, 0, here.other, arguments);
}

static CUresult launch_deep(void)
{
    return launch_beside(deep);
}

static void *pinned;

static CUresult free_pinned(void)
{
    return cuMemFreeHost(pinned);
}

static CUresult (*const waits[])(void) = {load_module, use_another,   take_back,
                                          free_pinned, unload_module, launch_deep};

START_TEST(blocks_while_a_kernel_stays)
{
    pthread_t thread;
    open_device();
    works(cuMemHostRegister(mine, sizeof mine, CU_MEMHOSTREGISTER_DEVICEMAP));
    works(cuMemHostAlloc(&pinned, 64, 0));
    deep = function("deep");
    stay();
    waiting.call = waits[_i];
    ck_assert_int_eq(pthread_create(&thread, NULL, make_call, NULL), 0);
    pause_ms(100);
    ck_assert(!__atomic_load_n(&waiting.returned, __ATOMIC_ACQUIRE));
    leave();
    pthread_join(thread, NULL);
    ck_assert(waiting.returned);
}
END_TEST

START_TEST(memory_and_copies_do_not_wait)
{
    CUdeviceptr memory;
    uint32_t in = 7, out = 0;
    open_device();
    stay();
    works(cuMemAllocAsync(&memory, sizeof in, here.other));
    works(cuMemcpyHtoDAsync(memory, &in, sizeof in, here.other));
    in = 8; /* memory that the driver does not know was copied at the call */
    works(cuMemcpyDtoHAsync(&out, memory, sizeof out, here.other));
    works(cuMemFreeAsync(memory, here.other));
    works(cuStreamSynchronize(here.other));
    ck_assert_uint_eq(out, 7);
    ck_assert_int_eq(cuMemFreeAsync(memory, here.other), CUDA_ERROR_INVALID_VALUE);
    leave();
}
END_TEST

static size_t stack_size(void)
{
    size_t size = 0;
    works(cuCtxGetLimit(&size, CU_LIMIT_STACK_SIZE));
    return size;
}

/* A kernel that needs no more local memory than others had before it. */
START_TEST(a_shallow_kernel_does_not_wait)
{
    open_device();
    deep = function("deep");
    const CUfunction shallow = function("shallow");
    ck_assert_uint_eq(stack_size(), 1024);
    stay();
    works(launch_beside(shallow));
    works(cuStreamSynchronize(here.other));
    leave();
    works(launch_beside(deep));
    works(cuStreamSynchronize(here.other));
    ck_assert_uint_ge(stack_size(), 2000);
    *here.word = 0;
    stay();
    works(launch_beside(deep));
    works(cuStreamSynchronize(here.other));
    leave();
}
END_TEST

START_TEST(fresh_memory_is_garbage)
{
    CUdeviceptr memory;
    unsigned char out[2] = {0};
    open_device();
    works(cuMemAllocAsync(&memory, 5 << 20, here.stream));
    works(cuMemcpyDtoHAsync(out, memory, 1, here.stream));
    works(cuMemcpyDtoHAsync(out + 1, memory + (5 << 20) - 1, 1, here.stream));
    works(cuStreamSynchronize(here.stream));
    ck_assert(out[0] == 0xa5 && out[1] == 0xa5);
}
END_TEST

START_TEST(freed_memory_comes_back_by_trimming)
{
    CUdeviceptr memory;
    CUmemoryPool pool;
    cuuint64_t all = UINT64_MAX;
    const size_t half = (size_t)1 << 30;
    open_device();
    works(cuDeviceGetDefaultMemPool(&pool, 0));
    works(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
    works(cuMemAllocAsync(&memory, half + 1, here.stream));
    ck_assert_int_eq(cuMemAllocAsync(&memory, half, here.stream), CUDA_ERROR_OUT_OF_MEMORY);
    works(cuMemFreeAsync(memory, here.stream));
    works(cuStreamSynchronize(here.stream));
    ck_assert_int_eq(cuMemAllocAsync(&memory, half, here.stream), CUDA_ERROR_OUT_OF_MEMORY);
    works(cuMemPoolTrimTo(pool, 0));
    works(cuMemAllocAsync(&memory, half, here.stream));
}
END_TEST

START_TEST(too_many_blocks_are_refused)
{
    open_device();
    const CUfunction code = function("stay");
    int each = 0;
    works(cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, code, 32, 0));
    ck_assert_int_gt(each, 0);
    ck_assert_int_eq(launch(code, 0, (uint32_t)each * MACHINE_UNITS + 1),
                     CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}
END_TEST

START_TEST(other_images_are_refused)
{
    CUmodule module;
    open_device();
    ck_assert_int_eq(cuModuleLoadData(&module, "\177ELF\2\1\1"), CUDA_ERROR_NO_BINARY_FOR_GPU);
    ck_assert_int_eq(cuModuleLoadData(&module, "what is this"), CUDA_ERROR_INVALID_IMAGE);
    ck_assert_int_eq(cuModuleLoadData(&module, ".version 8.0\n.target sm_90\nnonsense\n"),
                     CUDA_ERROR_INVALID_PTX);
}
END_TEST

/* ---- faults ---- */

static uint64_t freed_memory(void)
{
    CUdeviceptr memory;
    works(cuMemAllocAsync(&memory, 64, here.stream));
    works(cuMemFreeAsync(memory, here.stream));
    return memory;
}

static uint64_t odd_address(void)
{
    return (uint64_t)(uintptr_t)here.word + 2;
}

static const struct {
    const char *kernel;
    uint64_t (*argument)(void);
    CUresult expected;
} faults[] = {
    {"stray", freed_memory, CUDA_ERROR_ILLEGAL_ADDRESS},
    {"stray", odd_address, CUDA_ERROR_MISALIGNED_ADDRESS},
    {"give_up", odd_address, CUDA_ERROR_LAUNCH_FAILED},
};

START_TEST(a_fault_stays)
{
    void *more;
    CUcontext context;
    open_device();
    works(launch(function(faults[_i].kernel), faults[_i].argument(), 1));
    ck_assert_int_eq(cuStreamSynchronize(here.stream), faults[_i].expected);
    ck_assert_int_eq(cuStreamQuery(here.other), faults[_i].expected);
    ck_assert_int_eq(cuMemHostAlloc(&more, 64, 0), faults[_i].expected);
    ck_assert_int_eq(cuDevicePrimaryCtxRetain(&context, 0), faults[_i].expected);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emulator_driver");
    TCase *tcase = tcase_create("driver");
    suite_add_tcase(suite, tcase);
    tcase_set_timeout(tcase, 30);
    tcase_add_loop_test(tcase, blocks_while_a_kernel_stays, 0, sizeof waits / sizeof waits[0]);
    tcase_add_test(tcase, memory_and_copies_do_not_wait);
    tcase_add_test(tcase, a_shallow_kernel_does_not_wait);
    tcase_add_test(tcase, fresh_memory_is_garbage);
    tcase_add_test(tcase, freed_memory_comes_back_by_trimming);
    tcase_add_test(tcase, too_many_blocks_are_refused);
    tcase_add_test(tcase, other_images_are_refused);
    tcase_add_loop_test(tcase, a_fault_stays, 0, sizeof faults / sizeof faults[0]);
    return unit_run(suite);
}
