/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user would write today without Gyre: plain OpenCL, one in-order queue, the benchmark's handler (each
 * word * 3 + its place) over messages of 48 and 4096 bytes. Every reply is checked. The rows:
 *
 *   per_message           a write, an enqueue and a read for each message
 *   hand_batched          batches made by hand, two in flight, at the best batch size of a sweep; messages
 * are made and checked where they lie, as a client of gyre_reserve and gyre_peek does hand_batched/.../copied
 * the same, with messages copied from and to the user's own structs, as a client of gyre_send_batch and
 * gyre_receive_batch has them hand_batched/.../window  copied, and no more under way than `gyre bench` has in
 * the stream of that size
 *
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

enum {
    PLATFORMS_MAX = 16,
    NOT_HERE = 77,
    IN_FLIGHT = 2,
    BATCH_BYTES_MAX = 16 << 20,
    BURST_BYTES = 65536, /* of the user's structs that are copied at once */
    SAMPLES_MAX = 1 << 20
};

/* The sizes, and how many messages `gyre bench` has under way in stream/48 and stream/4096. */
static const struct {
    cl_uint words;
    size_t window;
} sizes[] = {{48 / sizeof(uint64_t), 1024}, {4096 / sizeof(uint64_t), 128}};

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
    uint64_t *own; /* the user's structs, when messages are copied */
    bool copied;
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
    peer->own = aligned_alloc(4096, BURST_BYTES);
    if (!peer->own)
        must(CL_OUT_OF_HOST_MEMORY, "aligned_alloc");
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

/* The user's structs lie elsewhere in a program: the compiler may not merge the copy with what fills them. */
__attribute__((noinline)) static void copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

/* Makes the batch's messages, in place or by way of the user's structs. */
static void make(const struct peer *peer, struct batch *batch, cl_uint words, size_t count)
{
    const size_t burst = peer->copied ? BURST_BYTES / (words * sizeof(uint64_t)) : count;
    for (size_t done = 0; done < count; done += burst) {
        const size_t now = count - done < burst ? count - done : burst;
        uint64_t *place = batch->requests + done * words, *made = peer->copied ? peer->own : place;
        for (size_t i = 0; i < now; i++)
            fill(made + i * words, words, batch->first + done + i);
        if (peer->copied)
            copy(place, made, now * words * sizeof(uint64_t));
    }
}

static uint64_t count_wrong(const struct peer *peer, const struct batch *batch, cl_uint words, size_t count)
{
    const size_t burst = peer->copied ? BURST_BYTES / (words * sizeof(uint64_t)) : count;
    uint64_t wrong = 0;
    for (size_t done = 0; done < count; done += burst) {
        const size_t now = count - done < burst ? count - done : burst;
        const uint64_t *place = batch->replies + done * words, *got = peer->copied ? peer->own : place;
        if (peer->copied)
            copy(peer->own, place, now * words * sizeof(uint64_t));
        for (size_t i = 0; i < now; i++)
            wrong += !is_right(got + i * words, words, batch->first + done + i);
    }
    return wrong;
}

/* Fills and enqueues one batch: write, kernel, read; returns at once. */
static void start(struct peer *peer, struct batch *batch, cl_uint words, size_t count, uint64_t first)
{
    const size_t bytes = count * words * sizeof(uint64_t);
    batch->first = first;
    make(peer, batch, words, count);
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

static void finish(const struct peer *peer, struct batch *batch, cl_uint words, size_t count, struct row *row)
{
    if (!batch->done)
        return;
    must(clWaitForEvents(1, &batch->done), "clWaitForEvents");
    must(clReleaseEvent(batch->done), "clReleaseEvent");
    batch->done = NULL;
    row->errors += count_wrong(peer, batch, words, count);
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
        finish(peer, &peer->batches[0], words, 1, &row);
    }
    row = (struct row){.errors = row.errors};
    const uint64_t begin = now_ns(), end = begin + (uint64_t)(peer->seconds * 1e9);
    while (taken < SAMPLES_MAX && now_ns() < end) {
        const uint64_t sent = now_ns();
        start(peer, &peer->batches[0], words, 1, taken);
        finish(peer, &peer->batches[0], words, 1, &row);
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
        finish(peer, batch, words, count, &row);
        start(peer, batch, words, count, sent);
        sent += count;
    }
    for (int i = 0; i < IN_FLIGHT; i++)
        finish(peer, &peer->batches[i], words, count, &row);
    row.rate = (double)row.messages * 1e9 / (double)(now_ns() - begin);
    return row;
}

/* The best batch of at most `most` messages. */
static size_t best_batch(struct peer *peer, cl_uint words, size_t most)
{
    size_t best = 16;
    double best_rate = 0;
    for (size_t count = 16; count <= most; count *= 2) {
        const double rate = measure_batches(peer, words, count, peer->seconds / 8).rate;
        if (rate > best_rate) {
            best_rate = rate;
            best = count;
        }
    }
    return best;
}

static void print_row(const struct peer *peer, const char *name, const char *variant, cl_uint words,
                      size_t count, const struct row *row, const char *end)
{
    printf("    {\"case\": \"%s/%zu%s\", \"backend\": \"plain OpenCL\", \"device\": \"%s\", "
           "\"message_bytes\": %zu, \"batch\": %zu, \"messages\": %llu, \"errors\": %llu, "
           "\"msgs_per_s\": %.0f, \"rtt_ns\": {\"p50\": %llu, \"p99\": %llu, \"max\": %llu}}%s\n",
           name, words * sizeof(uint64_t), variant, peer->device_name, words * sizeof(uint64_t), count,
           (unsigned long long)row->messages, (unsigned long long)row->errors, row->rate,
           (unsigned long long)row->p50, (unsigned long long)row->p99, (unsigned long long)row->max, end);
}

/* The best batches of at most `most` messages; returns how many replies were wrong. */
static uint64_t run_batches(struct peer *peer, const char *variant, cl_uint words, size_t most,
                            const char *end)
{
    const size_t count = best_batch(peer, words, most);
    const struct row row = measure_batches(peer, words, count, peer->seconds);
    print_row(peer, "hand_batched", variant, words, count, &row, end);
    return row.errors;
}

/* All rows of one size of messages; returns how many replies were wrong. */
static uint64_t run_size(struct peer *peer, cl_uint words, size_t window, const char *end)
{
    const size_t most = BATCH_BYTES_MAX / (words * sizeof(uint64_t));
    peer->copied = false;
    const struct row row = measure_per_message(peer, words);
    print_row(peer, "per_message", "", words, 1, &row, ",");
    uint64_t errors = row.errors + run_batches(peer, "", words, most, ",");
    peer->copied = true;
    errors += run_batches(peer, "/copied", words, most, ",");
    return errors + run_batches(peer, "/window", words, window / IN_FLIGHT, end);
}

int main(int argc, char **argv)
{
    static struct peer peer;
    const size_t count = sizeof sizes / sizeof sizes[0];
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
    for (size_t i = 0; i < count; i++)
        errors += run_size(&peer, sizes[i].words, sizes[i].window, i + 1 < count ? "," : "");
    printf("  ]}\n");
    return errors > 0;
}
