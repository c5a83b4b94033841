/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user would write today without Gyre: plain OpenCL, one in-order queue, the benchmark's handler (each
 * word * 3 + its place) over messages of 48 and 4096 bytes. Either a write, an enqueue and a read for each
 * message, or batches made by hand, two in flight, at the best batch size of a sweep. Every reply is checked.
 * Prints one JSON document; exits 77 where there is no device.
 *
 * usage: peer_opencl [PLATFORM] [SECONDS]      PLATFORM: a part of its name; SECONDS for each row
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PLATFORMS_MAX = 16, NOT_HERE = 77, IN_FLIGHT = 2, BATCH_BYTES_MAX = 16 << 20, SAMPLES_MAX = 1 << 20 };

static const char source[] =
    "__kernel void words(__global const ulong *in, __global ulong *out, uint words)\n"
    "{\n"
    "    const size_t first = get_global_id(0) * words;\n"
    "    for (uint i = 0; i < words; i++)\n"
    "        out[first + i] = in[first + i] * 3 + i;\n"
    "}\n";

/* One batch under way: its own buffers on both sides. */
struct batch {
    cl_mem in, out;
    uint64_t *requests, *replies;
    uint64_t first; /* number of its first message */
    cl_event done;  /* of the read; NULL when idle */
};

struct peer {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_kernel kernel;
    struct batch batches[IN_FLIGHT];
    char platform_name[256], device_name[256];
    double seconds;
};

struct row {
    uint64_t messages, errors;
    double rate;
    uint64_t p50, p99, max;
};

static void must(cl_int code, const char *what)
{
    if (code == CL_SUCCESS)
        return;
    fprintf(stderr, "peer_opencl: %s failed with %d\n", what, code);
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void open_device(struct peer *peer, const char *wanted)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint count = 0;
    cl_int code = clGetPlatformIDs(PLATFORMS_MAX, platforms, &count);
    for (cl_uint i = 0; code == CL_SUCCESS && i < count && i < PLATFORMS_MAX && !peer->device; i++) {
        must(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof peer->platform_name,
                               peer->platform_name, NULL),
             "clGetPlatformInfo");
        if (strstr(peer->platform_name, wanted) &&
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &peer->device, NULL) != CL_SUCCESS)
            peer->device = NULL;
    }
    if (!peer->device) {
        fprintf(stderr, "peer_opencl: no OpenCL device on a platform with '%s' in its name\n", wanted);
        exit(NOT_HERE);
    }
    must(clGetDeviceInfo(peer->device, CL_DEVICE_NAME, sizeof peer->device_name, peer->device_name, NULL),
         "clGetDeviceInfo");
}

static void open_peer(struct peer *peer, const char *wanted)
{
    const char *text = source;
    cl_int code;
    open_device(peer, wanted);
    peer->context = clCreateContext(NULL, 1, &peer->device, NULL, NULL, &code);
    must(code, "clCreateContext");
    peer->queue = clCreateCommandQueue(peer->context, peer->device, 0, &code);
    must(code, "clCreateCommandQueue");
    cl_program program = clCreateProgramWithSource(peer->context, 1, &text, NULL, &code);
    must(code, "clCreateProgramWithSource");
    must(clBuildProgram(program, 1, &peer->device, "-cl-std=CL1.2", NULL, NULL), "clBuildProgram");
    peer->kernel = clCreateKernel(program, "words", &code);
    must(code, "clCreateKernel");
    for (int i = 0; i < IN_FLIGHT; i++) {
        struct batch *batch = &peer->batches[i];
        batch->in = clCreateBuffer(peer->context, CL_MEM_READ_ONLY, BATCH_BYTES_MAX, NULL, &code);
        must(code, "clCreateBuffer");
        batch->out = clCreateBuffer(peer->context, CL_MEM_WRITE_ONLY, BATCH_BYTES_MAX, NULL, &code);
        must(code, "clCreateBuffer");
        batch->requests = aligned_alloc(4096, BATCH_BYTES_MAX);
        batch->replies = aligned_alloc(4096, BATCH_BYTES_MAX);
        if (!batch->requests || !batch->replies)
            must(CL_OUT_OF_HOST_MEMORY, "aligned_alloc");
    }
}

static void fill(uint64_t *message, cl_uint words, uint64_t number)
{
    for (cl_uint i = 0; i < words; i++)
        message[i] = number * 0x9e3779b97f4a7c15u + i;
}

static bool is_right(const uint64_t *reply, cl_uint words, uint64_t number)
{
    uint64_t wrong = 0;
    for (cl_uint i = 0; i < words; i++)
        wrong |= reply[i] ^ ((number * 0x9e3779b97f4a7c15u + i) * 3 + i);
    return wrong == 0;
}

/* Fills and enqueues one batch: write, kernel, read; returns at once. */
static void start(struct peer *peer, struct batch *batch, cl_uint words, size_t count, uint64_t first)
{
    const size_t bytes = count * words * sizeof(uint64_t);
    batch->first = first;
    for (size_t i = 0; i < count; i++)
        fill(batch->requests + i * words, words, first + i);
    must(clEnqueueWriteBuffer(peer->queue, batch->in, CL_FALSE, 0, bytes, batch->requests, 0, NULL, NULL),
         "clEnqueueWriteBuffer");
    must(clSetKernelArg(peer->kernel, 0, sizeof batch->in, &batch->in), "clSetKernelArg");
    must(clSetKernelArg(peer->kernel, 1, sizeof batch->out, &batch->out), "clSetKernelArg");
    must(clSetKernelArg(peer->kernel, 2, sizeof words, &words), "clSetKernelArg");
    must(clEnqueueNDRangeKernel(peer->queue, peer->kernel, 1, NULL, &count, NULL, 0, NULL, NULL),
         "clEnqueueNDRangeKernel");
    must(clEnqueueReadBuffer(peer->queue, batch->out, CL_FALSE, 0, bytes, batch->replies, 0, NULL,
                             &batch->done),
         "clEnqueueReadBuffer");
    must(clFlush(peer->queue), "clFlush");
}

static void finish(struct batch *batch, cl_uint words, size_t count, struct row *row)
{
    if (!batch->done)
        return;
    must(clWaitForEvents(1, &batch->done), "clWaitForEvents");
    must(clReleaseEvent(batch->done), "clReleaseEvent");
    batch->done = NULL;
    for (size_t i = 0; i < count; i++)
        row->errors += !is_right(batch->replies + i * words, words, batch->first + i);
    row->messages += count;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static struct row measure_per_message(struct peer *peer, cl_uint words)
{
    static uint64_t samples[SAMPLES_MAX];
    struct row row = {0};
    size_t taken = 0;
    for (int i = 0; i < 200; i++) { /* the first ones warm the queue up */
        start(peer, &peer->batches[0], words, 1, (uint64_t)i);
        finish(&peer->batches[0], words, 1, &row);
    }
    row = (struct row){.errors = row.errors};
    const uint64_t begin = now_ns(), end = begin + (uint64_t)(peer->seconds * 1e9);
    while (taken < SAMPLES_MAX && now_ns() < end) {
        const uint64_t sent = now_ns();
        start(peer, &peer->batches[0], words, 1, taken);
        finish(&peer->batches[0], words, 1, &row);
        samples[taken++] = now_ns() - sent;
    }
    row.rate = (double)row.messages * 1e9 / (double)(now_ns() - begin);
    qsort(samples, taken, sizeof samples[0], compare);
    row.p50 = samples[taken / 2];
    row.p99 = samples[taken * 99 / 100];
    row.max = samples[taken - 1];
    return row;
}

static struct row measure_batches(struct peer *peer, cl_uint words, size_t count, double seconds)
{
    struct row row = {0};
    uint64_t sent = 0;
    const uint64_t begin = now_ns(), end = begin + (uint64_t)(seconds * 1e9);
    for (unsigned turn = 0; now_ns() < end; turn++) {
        struct batch *batch = &peer->batches[turn % IN_FLIGHT];
        finish(batch, words, count, &row);
        start(peer, batch, words, count, sent);
        sent += count;
    }
    for (int i = 0; i < IN_FLIGHT; i++)
        finish(&peer->batches[i], words, count, &row);
    row.rate = (double)row.messages * 1e9 / (double)(now_ns() - begin);
    return row;
}

static size_t best_batch(struct peer *peer, cl_uint words)
{
    size_t best = 0;
    double best_rate = 0;
    for (size_t count = 16; count * words * sizeof(uint64_t) <= BATCH_BYTES_MAX; count *= 2) {
        const double rate = measure_batches(peer, words, count, peer->seconds / 4).rate;
        if (rate > best_rate) {
            best_rate = rate;
            best = count;
        }
    }
    return best;
}

static void print_row(const struct peer *peer, const char *name, cl_uint words, size_t count,
                      const struct row *row, const char *end)
{
    printf("    {\"case\": \"%s/%zu\", \"backend\": \"plain OpenCL\", \"device\": \"%s\", \"message_bytes\": "
           "%zu,"
           " \"batch\": %zu, \"messages\": %llu, \"errors\": %llu, \"msgs_per_s\": %.0f,"
           " \"rtt_ns\": {\"p50\": %llu, \"p99\": %llu, \"max\": %llu}}%s\n",
           name, words * sizeof(uint64_t), peer->device_name, words * sizeof(uint64_t), count,
           (unsigned long long)row->messages, (unsigned long long)row->errors, row->rate,
           (unsigned long long)row->p50, (unsigned long long)row->p99, (unsigned long long)row->max, end);
}

int main(int argc, char **argv)
{
    static const cl_uint sizes[] = {48 / sizeof(uint64_t), 4096 / sizeof(uint64_t)};
    static struct peer peer;
    uint64_t errors = 0;
    peer.seconds = argc > 2 ? atof(argv[2]) : 1.0;
    if (peer.seconds <= 0) {
        fprintf(stderr, "usage: peer_opencl [PLATFORM] [SECONDS]; SECONDS is a number above 0, found '%s'\n",
                argv[2]);
        return 2;
    }
    open_peer(&peer, argc > 1 ? argv[1] : "");
    printf("{\"platform\": \"%s\", \"device\": \"%s\",\n  \"rows\": [\n", peer.platform_name,
           peer.device_name);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct row row = measure_per_message(&peer, sizes[i]);
        print_row(&peer, "per_message", sizes[i], 1, &row, ",");
        errors += row.errors;
        const size_t count = best_batch(&peer, sizes[i]);
        row = measure_batches(&peer, sizes[i], count, peer.seconds);
        print_row(&peer, "hand_batched", sizes[i], count, &row,
                  i + 1 < sizeof sizes / sizeof sizes[0] ? "," : "");
        errors += row.errors;
    }
    printf("  ]}\n");
    return errors > 0;
}
