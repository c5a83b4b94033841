/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures a peer (peer.h): calls one at a time, a stream with a window under way, and what processors do while nobody
 * sends. Every reply is checked. Prints one line of JSON; exits 1 when a reply is wrong.
 *
 * usage: PROGRAM [SECONDS]      for each of the three
 */
#include "peer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { CALLS_MOST = 4000000 };

static uint64_t wrong; /* replies */

_Noreturn void peer_fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", peer.name, what, why ? why : strerror(errno));
    exit(1);
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double processor_s(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

static void send_one(uint64_t number)
{
    struct peer_message message;
    for (uint64_t i = 0; i < PEER_WORDS; i++)
        message.word[i] = number * PEER_WORDS + i;
    peer.send(&message);
}

static void receive_one(uint64_t number)
{
    struct peer_message message;
    bool right = true;
    peer.receive(&message);
    for (uint64_t i = 0; i < PEER_WORDS; i++)
        right &= message.word[i] == (number * PEER_WORDS + i) * 3 + i;
    wrong += !right;
}

static int compare(const void *left, const void *right)
{
    const float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

static void measure_calls(double duration_ns, double *p50, double *p99)
{
    float *samples = malloc(CALLS_MOST * sizeof *samples);
    uint64_t count = 0;
    if (!samples)
        peer_fail("memory for the samples", NULL);
    const double start = now_ns();
    for (double before = start; before - start < duration_ns && count < CALLS_MOST;) {
        send_one(count);
        receive_one(count);
        const double now = now_ns();
        samples[count++] = (float)(now - before);
        before = now;
    }
    qsort(samples, count, sizeof *samples, compare);
    *p50 = samples[count / 2];
    *p99 = samples[count - 1 - count / 100];
    free(samples);
}

static double measure_stream(double duration_ns)
{
    uint64_t sent = 0, received = 0;
    const double start = now_ns();
    while (now_ns() - start < duration_ns) {
        for (; sent - received < peer.window; sent++)
            send_one(sent);
        for (uint32_t half = peer.window / 2; half > 0; half--)
            receive_one(received++);
    }
    while (received != sent)
        receive_one(received++);
    return (double)received * 1e9 / (now_ns() - start);
}

/* Processors in use while nobody sends. */
static double measure_idle(double duration_ns)
{
    const struct timespec pause = {(time_t)(duration_ns / 1e9), (long)duration_ns % 1000000000};
    const double before = processor_s();
    nanosleep(&pause, NULL);
    return (processor_s() - before) / (duration_ns / 1e9);
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
    double p50 = 0, p99 = 0;
    if (!(seconds > 0 && seconds < 3600)) {
        fprintf(stderr, "usage: %s [SECONDS]: a number above 0 is expected, found '%s'\n", argv[0], argv[1]);
        return 2;
    }
    peer.open();
    measure_calls(seconds * 1e9 / 4, &p50, &p99); /* warm */
    measure_calls(seconds * 1e9, &p50, &p99);
    const double rate = measure_stream(seconds * 1e9);
    const double idle = measure_idle(seconds * 1e9);
    peer.close();
    printf(
        "{\"peer\": \"%s\", \"call_p50_ns\": %.0f, \"call_p99_ns\": %.0f, \"stream_per_s\": %.0f, \"idle_processors\": "
        "%.3f}\n",
        peer.name, p50, p99, rate, idle);
    if (wrong)
        fprintf(stderr, "%s: %llu replies were wrong\n", peer.name, (unsigned long long)wrong);
    return wrong != 0;
}
