/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre_demo [MESSAGES [SOURCE]]: streams vector additions through the configured backend, checks every reply,
 * and prints what it saw. Exit code 0 when every reply was right.
 */
#include "demo.h"
#include "vector_add.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MESSAGES = 4000000, CALLS = 50000 };

static void show_log(void *context, int level, const char *text)
{
    (void)context;
    (void)level;
    fprintf(stderr, "gyre_demo: %s\n", text);
}

static void show_progress(uint64_t checked, uint64_t total)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\rchecked %.1f of %.1f million replies ", (double)checked / 1e6,
                (double)total / 1e6);
}

static void end_progress(uint64_t checked)
{
    fprintf(stderr, "%schecked %.1f million replies, all there were\n", isatty(STDERR_FILENO) ? "\r" : "",
            (double)checked / 1e6);
}

static void print_table(gyre_kernel *kernel, const char *why, const demo_stream_result *stream,
                        const demo_call_result *calls)
{
    gyre_kernel_info info = {.size = sizeof info};
    gyre_kernel_info_get(kernel, &info);
    double seconds = (double)stream->elapsed_ns / 1e9;
    printf("backend      %s on %s\n", info.backend, info.device);
    printf("chosen       %s\n", why);
    printf("messages     %llu additions of 25 floats, every reply checked, %llu wrong\n",
           (unsigned long long)stream->checked, (unsigned long long)(stream->wrong + calls->wrong));
    printf("throughput   %.2f million messages/s\n", (double)stream->checked / seconds / 1e6);
    printf("round trip   p50 %.2f us, p99 %.2f us (%d calls, one at a time)\n", (double)calls->p50_ns / 1e3,
           (double)calls->p99_ns / 1e3, CALLS);
}

static gyre_status run(gyre_runtime *runtime, const char *source, uint64_t messages, uint64_t *wrong)
{
    gyre_kernel *kernel;
    demo_stream_result stream;
    demo_call_result calls;
    gyre_launch_desc launch = {.size = sizeof launch,
                               .source = source,
                               .request = GYRE_TYPE(add_request),
                               .reply = GYRE_TYPE(add_reply)};
    gyre_backend_choice choice = {.size = sizeof choice};
    gyre_status status = gyre_backend_choose(runtime, NULL, &choice);
    if (status == GYRE_OK)
        status = gyre_launch(runtime, &launch, &kernel);
    if (status == GYRE_OK)
        status = demo_stream(gyre_kernel_queue(kernel), messages, show_progress, &stream);
    if (status == GYRE_OK)
        end_progress(stream.checked);
    if (status == GYRE_OK)
        status = demo_calls(gyre_kernel_queue(kernel), CALLS, &calls);
    if (status == GYRE_OK) {
        print_table(kernel, choice.why, &stream, &calls);
        *wrong = stream.wrong + calls.wrong;
    }
    return status;
}

int main(int argc, char **argv)
{
    gyre_open_desc open = {.size = sizeof open, .log = show_log};
    gyre_runtime *runtime;
    char *end = NULL;
    unsigned long long messages = argc > 1 ? strtoull(argv[1], &end, 10) : MESSAGES;
    if (messages == 0 || (end && *end)) {
        fprintf(stderr, "usage: gyre_demo [MESSAGES [SOURCE.gyre.c]]; MESSAGES is a number, 1 or more\n");
        return 2;
    }
    uint64_t wrong = 0;
    gyre_status status = gyre_open(&open, &runtime);
    if (status == GYRE_OK)
        status = run(runtime, argc > 2 ? argv[2] : DEMO_SOURCE, messages, &wrong);
    if (status != GYRE_OK)
        fprintf(stderr, "gyre_demo: %s: %s\n", gyre_status_word(status), gyre_error_text());
    gyre_close(runtime);
    return status != GYRE_OK || wrong != 0;
}
