/* SPDX-License-Identifier: Apache-2.0 */
/* The program: which modes, how long, and what they share. */
#include "stress.h"
#include "../../../patience.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SETTINGS_MAX = 16 };

static const struct stress_mode *const groups[] = {flow_modes,  life_modes, end_modes,
                                                   chaos_modes, long_modes, device_modes};
enum { GROUPS = sizeof groups / sizeof groups[0] };

_Noreturn void require_(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: required: %s\n  last error: %s\n", file, line, what, gyre_error_text());
    exit(EXIT_FAILURE);
}

uint64_t far_off(void)
{
    return gyre_in_ms(patiently(60000));
}

static void print_log(void *context, int level, const char *text)
{
    (void)context;
    (void)level; /* gyre.log_level chose */
    fprintf(stderr, "%s\n", text);
}

gyre_runtime *open_runtime(const struct stress *stress, const char *const *more)
{
    const char *settings[SETTINGS_MAX + 5] = {NULL};
    gyre_runtime *runtime = NULL;
    size_t count = 0;
    for (size_t i = 0; stress->settings[i]; i++)
        settings[count++] = stress->settings[i];
    for (size_t i = 0; more && more[i]; i++)
        settings[count++] = more[i];
    gyre_open_desc desc = {.size = sizeof desc, .settings = settings, .log = print_log};
    must(gyre_open(&desc, &runtime));
    return runtime;
}

const char *stress_kernels(void)
{
    const char *moved = getenv("GYRE_TEST_STRESS");
    return moved ? moved : STRESS_KERNELS;
}

gyre_kernel *launch(gyre_runtime *runtime, const char *kernel, uint32_t blocks)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = {
        .size = sizeof desc, .source = stress_kernels(), .kernel = kernel, .blocks = blocks};
    must(gyre_launch(runtime, &desc, &launched));
    return launched;
}

gyre_queue *open_queue(gyre_kernel *kernel, gyre_queue_desc desc)
{
    gyre_queue *queue = NULL;
    desc.size = sizeof desc;
    must(gyre_queue_open(kernel, &desc, &queue));
    return queue;
}

gyre_queue_stats stats_of(gyre_queue *queue)
{
    gyre_queue_stats stats = {.size = sizeof stats};
    must(gyre_queue_stats_get(queue, &stats));
    return stats;
}

gyre_kernel_info info_of(gyre_kernel *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(kernel, &info));
    return info;
}

/* A device that replies before it counts is given a moment. */
bool handles(gyre_kernel *kernel, uint64_t count)
{
    for (int tries = 0; tries < 1000 && info_of(kernel).handled != count; tries++)
        sleep_ms(1);
    return info_of(kernel).handled == count;
}

void start_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
    require(pthread_create(thread, NULL, run, argument) == 0);
}

void sleep_ms(uint64_t milliseconds)
{
    struct timespec pause = {.tv_sec = (time_t)(milliseconds / 1000),
                             .tv_nsec = (long)(milliseconds % 1000 * 1000000)};
    nanosleep(&pause, NULL);
}

stamp make_stamp(uint64_t producer, uint64_t number)
{
    stamp request = {.producer = producer, .number = number};
    uint64_t word = (number + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ producer;
    for (int i = 0; i < 4; i++)
        request.words[i] = word + (uint64_t)i * number;
    return request;
}

bool is_reply(const stamp *reply, uint64_t producer, uint64_t number)
{
    stamp request = make_stamp(producer, number);
    bool right = reply->producer == producer && reply->number == number;
    for (uint64_t i = 0; i < 4; i++)
        right &= reply->words[i] == request.words[i] * 3 + i;
    return right;
}

void stream(gyre_queue *queue, uint64_t producer, uint64_t first, uint64_t end)
{
    stamp requests[STREAM_BATCH], replies[STREAM_BATCH];
    uint64_t next = first, expected = first;
    while (expected < end) {
        size_t wanted = end - next < STREAM_BATCH ? (size_t)(end - next) : STREAM_BATCH;
        size_t sent = 0, received = 0;
        for (size_t i = 0; i < wanted; i++)
            requests[i] = make_stamp(producer, next + i);
        /* others may have filled the queue; with nothing under way there is nothing to receive */
        gyre_status status = gyre_send_batch(queue, requests, sizeof requests[0], wanted, &sent,
                                             next == expected ? far_off() : GYRE_NO_WAIT);
        require(status == GYRE_OK || status == GYRE_AGAIN);
        next += sent;
        must(gyre_receive_batch(queue, replies, sizeof replies[0], STREAM_BATCH, NULL, &received, far_off()));
        for (size_t i = 0; i < received; i++)
            require(is_reply(&replies[i], producer, expected + i));
        expected += received;
    }
}

/* ---- the command line ---- */

static int list_modes(void)
{
    for (size_t g = 0; g < GROUPS; g++)
        for (const struct stress_mode *mode = groups[g]; mode->name; mode++)
            printf("%-12s %s\n", mode->name, mode->what);
    return EXIT_SUCCESS;
}

static int usage(void)
{
    fprintf(stderr,
            "usage: gyre_stress [--short | --long] [--seconds N] [--count N] [--json] [--set KEY=VALUE]... "
            "[MODE...]; --list for the modes\n");
    return 2;
}

void note(struct stress *stress, const char *name, double value)
{
    require(stress->fact_count < STRESS_FACTS_MAX);
    stress->facts[stress->fact_count++] = (struct stress_fact){name, value};
}

static void print_text(const struct stress *stress, const char *name, double seconds)
{
    printf("%-12s %6.2f s  ok", name, seconds);
    for (int i = 0; i < stress->fact_count; i++)
        printf("%s %s %.7g", i ? "," : " ", stress->facts[i].name, stress->facts[i].value);
    printf("\n");
}

/* A document a line: a mode that fails takes no other one's with it. */
static void print_json(const struct stress *stress, const char *name, double seconds)
{
    printf("{\"mode\": \"%s\", \"ok\": true, \"seconds\": %.3f", name, seconds);
    for (int i = 0; i < stress->fact_count; i++)
        printf(", \"%s\": %.10g", stress->facts[i].name, stress->facts[i].value);
    printf("}\n");
}

static void run_mode(struct stress *stress, const struct stress_mode *mode)
{
    uint64_t start = gyre_now_ns();
    stress->fact_count = 0;
    stress->runtime = open_runtime(stress, NULL);
    mode->run(stress);
    gyre_close(stress->runtime);
    (stress->json ? print_json : print_text)(stress, mode->name, (double)(gyre_now_ns() - start) / 1e9);
    fflush(stdout);
}

/* Runs the modes of that name (NULL: all); returns how many. */
static int run_named(struct stress *stress, const char *name)
{
    int count = 0;
    for (size_t g = 0; g < GROUPS; g++)
        for (const struct stress_mode *mode = groups[g]; mode->name; mode++)
            if (!name || !strcmp(mode->name, name)) {
                run_mode(stress, mode);
                count++;
            }
    return count;
}

int main(int argc, char **argv)
{
    const char *settings[SETTINGS_MAX + 1] = {NULL};
    struct stress stress = {.settings = settings};
    int next = 1;
    for (size_t count = 0; next < argc && !strncmp(argv[next], "--", 2); next++) {
        if (!strcmp(argv[next], "--list"))
            return list_modes();
        if (!strcmp(argv[next], "--long") || !strcmp(argv[next], "--short"))
            stress.is_long = argv[next][2] == 'l';
        else if (!strcmp(argv[next], "--seconds") && next + 1 < argc && atoi(argv[next + 1]) > 0)
            stress.seconds = (uint64_t)atoi(argv[++next]);
        else if (!strcmp(argv[next], "--count") && next + 1 < argc && atoll(argv[next + 1]) > 0)
            stress.count = (uint64_t)atoll(argv[++next]);
        else if (!strcmp(argv[next], "--json"))
            stress.json = true;
        else if (!strcmp(argv[next], "--set") && next + 1 < argc && count < SETTINGS_MAX)
            settings[count++] = argv[++next];
        else
            return usage();
    }
    if (next == argc)
        return run_named(&stress, NULL) ? EXIT_SUCCESS : EXIT_FAILURE;
    for (; next < argc; next++)
        if (!run_named(&stress, argv[next]))
            return usage();
    return EXIT_SUCCESS;
}
