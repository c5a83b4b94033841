/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL with one GPU, by the backend's own code: the library is opened, a communicator made, every type and rule goes through it, and it is ended.
 *
 *     test_emulator_nccl_alone [LIBRARY]    without one, the loader's libnccl.so.2
 *
 * Also for a machine with one GPU and the real library. What several GPUs make of it this cannot show. Prints a line; 77: there is no GPU.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/cuda_device.h"
#include "backends/cuda/driver/cuda_nccl.h"
#include "backends/cuda/memory/cuda_memory.h"
#include "backends/cuda/memory/cuda_nccl_combine.h"
#include "backends/cuda/memory/cuda_transfer.h"
#include "core/base/error.h"
#include "core/loader/host.h"

enum { BYTES = 1 << 20, OFFSET = 72, SKIPPED = 77 };
#define WITHIN_NS UINT64_C(30000000000)

static void require_all(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "FAILED: %s: %s\n", what, gyre_error_text());
    exit(EXIT_FAILURE);
}
#define require(condition) require_all(condition, #condition)

static void log_line(void *context, int level, const char *text)
{
    (void)context;
    (void)level;
    fprintf(stderr, "%s\n", text);
}

static void transfer(gyre_device *device, gyre_memory *memory, gyre_transfer_kind kind, void *bytes)
{
    const gyre_transfer_desc desc = {.size = sizeof desc,
                                     .kind = kind,
                                     .memory = memory,
                                     .source = bytes,
                                     .target = bytes,
                                     .byte_count = BYTES};
    require(cuda_transfer(device, &desc) == GYRE_OK);
}

static unsigned char content(size_t place)
{
    return (unsigned char)(place * 7 + place / 251);
}

/* One rank's sum, minimum and maximum are what it has. */
static void check(gyre_device *device, gyre_memory *memory, gyre_memory *before)
{
    static unsigned char seen[BYTES], kept[BYTES];
    transfer(device, memory, GYRE_TRANSFER_DOWNLOAD, seen);
    transfer(device, before, GYRE_TRANSFER_DOWNLOAD, kept);
    for (size_t i = 0; i < BYTES; i++)
        require(seen[i] == content(i));
    for (size_t i = 0; i < BYTES - 2 * OFFSET; i++)
        require(kept[OFFSET % GYRE_COMBINE_SKEW + i] == content(OFFSET + i));
}

static void combine(gyre_device *device, gyre_memory *memory, gyre_memory *before, gyre_combine_rule rule,
                    gyre_combine_element element)
{
    const gyre_host *host = device->host;
    const bool takes = rule == GYRE_COMBINE_TAKE; /* there is nobody who would get it */
    const gyre_combine_part part = {
        .device = device, .memory = memory, .before = takes ? NULL : before, .gets = !takes};
    const gyre_combine_desc desc = {.size = sizeof desc,
                                    .rule = rule,
                                    .element = element,
                                    .parts = &part,
                                    .part_count = 1,
                                    .offset = OFFSET,
                                    .byte_count = BYTES - 2 * OFFSET,
                                    .deadline_ns = host->now_ns() + WITHIN_NS};
    const bool is_float = element == GYRE_COMBINE_F32 || element == GYRE_COMBINE_F64;
    require(cuda_nccl_prepare(&desc) == (!is_float || rule == GYRE_COMBINE_SUM));
    if (!cuda_nccl_is_ready(&desc))
        return;
    require(cuda_nccl_combine(&desc) == GYRE_OK);
    if (!takes)
        check(device, memory, before);
}

int main(int argc, char **argv)
{
    struct gyre_host_services services;
    const gyre_parameter parameters[] = {{"collectives", "nccl", "the test"},
                                         {"nccl", argc > 1 ? argv[1] : "auto", "the test"}};
    const gyre_device_desc desc = {
        .size = sizeof desc, .host = &services.table, .parameters = parameters, .parameter_count = 2};
    static unsigned char bytes[BYTES];
    static char why[512];
    gyre_device *device;
    gyre_memory *memory, *before;
    gyre_host_init(&services, log_line, NULL);
    if (cuda_device_open(&desc, &device) != GYRE_OK) {
        printf("no GPU: %s\n", gyre_error_text());
        return SKIPPED;
    }
    const struct cuda_nccl *nccl = cuda_nccl_open(&services.table, argc > 1 ? argv[1] : "", why, sizeof why);
    if (!nccl)
        fprintf(stderr, "%s\n", why);
    require(nccl);
    require(cuda_memory_alloc(device, BYTES, &memory) == GYRE_OK);
    require(cuda_memory_alloc(device, BYTES, &before) == GYRE_OK);
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = content(i);
    transfer(device, memory, GYRE_TRANSFER_UPLOAD, bytes);
    const uint64_t begun = services.table.now_ns();
    combine(device, memory, before, GYRE_COMBINE_SUM, GYRE_COMBINE_U32);
    const uint64_t first = services.table.now_ns();
    for (gyre_combine_element element = GYRE_COMBINE_U32; element <= GYRE_COMBINE_F64; element++)
        for (gyre_combine_rule rule = GYRE_COMBINE_SUM; rule <= GYRE_COMBINE_MAX; rule++)
            combine(device, memory, before, rule, element);
    combine(device, memory, before, GYRE_COMBINE_TAKE, GYRE_COMBINE_BYTE);
    const uint64_t last = services.table.now_ns();
    cuda_memory_release(memory);
    cuda_memory_release(before);
    cuda_device_close(device);
    printf("NCCL %d, one rank: communicator and first sum %" PRIu64 " ms, the other rules and types %" PRIu64
           " ms, end %" PRIu64 " ms\n",
           nccl->version, (first - begun) / 1000000, (last - first) / 1000000,
           (services.table.now_ns() - last) / 1000000);
    return EXIT_SUCCESS;
}
