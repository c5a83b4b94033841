/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What checkpoints and journals cost on the CPU backend: the pause of a checkpoint by the size of the state,
 * a stream without, with checkpoints and with a journal, and how long a request takes to be durable, beside
 * what the disk takes for the same bytes.
 *
 *     figures_durable FOLDER [SECONDS]
 *
 * FOLDER is where the journals go. Every reply is checked. Kernels: those of the bench beside the library.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gyre/gyre.h>

#include "crash.h"

enum { BATCH = 64, SAMPLES_MAX = 4096 };

static uint64_t samples[SAMPLES_MAX];

static void must_(gyre_status status, const char *what, int line)
{
    if (status == GYRE_OK)
        return;
    fprintf(stderr, "line %d: %s: %s\n", line, what, gyre_error_text());
    exit(EXIT_FAILURE);
}
#define must(call) must_(call, #call, __LINE__)

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void print_samples(const char *name, size_t count)
{
    qsort(samples, count, sizeof samples[0], by_size);
    printf("%-36s p50 %9.1f us, p99 %9.1f us, %zu times\n", name, (double)samples[count / 2] / 1e3,
           (double)samples[count - 1 - count / 100] / 1e3, count);
}

static gyre_runtime *open_with(const char *folder, const char *fsync, bool checkpoints, bool isolated)
{
    char directory[512], sync[64];
    const char *settings[] = {"gyre.check=off",
                              directory,
                              sync,
                              fsync ? "queue.default.durability=journal" : "queue.default.durability=none",
                              checkpoints ? "kernel.default.checkpoints=true"
                                          : "kernel.default.checkpoints=false",
                              isolated ? "backend.cpu.isolation=process" : "backend.cpu.isolation=none",
                              NULL};
    char path[512];
    gyre_runtime *runtime = NULL;
    snprintf(path, sizeof path, "%s/fragile_actor.fragile_actor.journal", folder);
    unlink(path); /* nothing of a run before */
    gyre_open_desc open = {.size = sizeof open, .settings = settings, .backend = "cpu"};
    snprintf(directory, sizeof directory, "gyre.journal_dir=%s", folder);
    snprintf(sync, sizeof sync, "queue.default.fsync=%s", fsync ? fsync : "never");
    must(gyre_open(&open, &runtime));
    return runtime;
}

static gyre_kernel *launch(gyre_runtime *runtime, const char *name, const gyre_binding_name *binding)
{
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = {.size = sizeof desc,
                             .source = CRASH_KERNELS,
                             .kernel = name,
                             .bindings = binding,
                             .binding_count = binding != NULL};
    must(gyre_launch(runtime, &desc, &kernel));
    return kernel;
}

/* ---- a stream ---- */

static void stream(const char *folder, const char *name, const char *fsync, bool checkpoints, double seconds)
{
    static crash_request requests[BATCH];
    static crash_reply replies[BATCH];
    gyre_runtime *runtime = open_with(folder, fsync, checkpoints, false);
    gyre_queue *queue = gyre_kernel_queue(launch(runtime, "fragile_actor", NULL));
    uint64_t begun = gyre_now_ns(), sent = 0, received = 0, first = 0;
    while ((double)(gyre_now_ns() - begun) < seconds * 1e9) {
        size_t count = 0;
        for (int i = 0; i < BATCH; i++)
            requests[i].number = sent + (uint64_t)i;
        gyre_send_batch(queue, requests, sizeof requests[0], BATCH, &count, GYRE_NO_WAIT);
        sent += count;
        count = 0;
        gyre_receive_batch(queue, replies, sizeof replies[0], BATCH, NULL, &count, GYRE_NO_WAIT);
        for (size_t i = 0; i < count; i++, received++) {
            if (received == 0)
                first = replies[i].number;
            if (replies[i].number != first + received) /* the actor counts */
                must(GYRE_FAILED);
        }
    }
    printf("%-36s %8.2f M messages/s, every reply checked\n", name, (double)received / seconds / 1e6);
    gyre_close(runtime);
}

/* ---- until it is durable ---- */

static void durable(const char *folder, const char *fsync, double seconds)
{
    char name[64];
    gyre_runtime *runtime = open_with(folder, fsync, true, false);
    gyre_queue *queue = gyre_kernel_queue(launch(runtime, "fragile_actor", NULL));
    crash_request request = {.number = 1};
    crash_reply reply;
    uint64_t end = gyre_now_ns() + (uint64_t)(seconds * 1e9);
    size_t count = 0;
    for (; count < SAMPLES_MAX && gyre_now_ns() < end; count++) {
        uint64_t begun = gyre_now_ns();
        must(gyre_send_until(queue, &request, sizeof request, NULL, GYRE_DURABLE, gyre_in_ms(10000)));
        samples[count] = gyre_now_ns() - begun;
        must(gyre_receive(queue, &reply, sizeof reply, NULL, gyre_in_ms(10000)));
    }
    snprintf(name, sizeof name, "durable, fsync = %s", fsync);
    print_samples(name, count);
    gyre_close(runtime);
}

static void disk_floor(const char *folder, bool sync, double seconds)
{
    char path[512];
    unsigned char record[88] = {0}; /* of one request of 16 bytes */
    snprintf(path, sizeof path, "%s/floor", folder);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    uint64_t end = gyre_now_ns() + (uint64_t)(seconds * 1e9);
    size_t count = 0;
    for (; file >= 0 && count < SAMPLES_MAX && gyre_now_ns() < end; count++) {
        uint64_t begun = gyre_now_ns();
        if (pwrite(file, record, sizeof record, (off_t)(count * sizeof record)) < 0 ||
            (sync && fdatasync(file) != 0))
            break;
        samples[count] = gyre_now_ns() - begun;
    }
    close(file);
    unlink(path);
    print_samples(sync ? "the disk: write and fdatasync" : "the disk: write", count);
}

/* ---- the pause of a checkpoint ---- */

static void pauses(const char *folder, uint64_t size, bool isolated)
{
    char name[64];
    gyre_buffer *sums = NULL;
    gyre_runtime *runtime = open_with(folder, NULL, true, isolated);
    must(gyre_buffer_alloc(runtime, NULL, 0, size, &sums));
    gyre_binding_name binding = {"sums", sums};
    gyre_kernel *kernel = launch(runtime, "fragile_sums", &binding);
    size_t count = 0;
    for (; count < 9; count++) {
        gyre_kernel_info info = {.size = sizeof info};
        must(gyre_kernel_checkpoint(kernel, gyre_in_ms(60000)));
        must(gyre_kernel_info_get(kernel, &info));
        samples[count] = info.checkpoint_ns;
    }
    snprintf(name, sizeof name, "pause, %llu KiB, isolation = %s", (unsigned long long)(size / 1024),
             isolated ? "process" : "none");
    print_samples(name, count);
    gyre_close(runtime);
}

int main(int argc, char **argv)
{
    double seconds = argc > 2 ? strtod(argv[2], NULL) : 1;
    if (argc < 2) {
        fprintf(stderr, "usage: figures_durable FOLDER [SECONDS]\n");
        return 2;
    }
    stream(argv[1], "stream, an actor", NULL, false, seconds);
    stream(argv[1], "stream, checkpoints", NULL, true, seconds);
    stream(argv[1], "stream, journal, fsync = never", "never", true, seconds);
    stream(argv[1], "stream, journal, fsync = group", "group", true, seconds);
    disk_floor(argv[1], false, seconds);
    durable(argv[1], "never", seconds);
    disk_floor(argv[1], true, seconds);
    durable(argv[1], "group", seconds);
    for (uint64_t size = 64 << 10; size <= 256 << 20; size *= 64) {
        pauses(argv[1], size, false);
        pauses(argv[1], size, true);
    }
    return EXIT_SUCCESS;
}
