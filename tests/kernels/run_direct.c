/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a case on the kernel's C code and the CPU backend's lanes alone: no runtime, no ring, no threads. What
 * fails here is the dialect or the kernel; what fails only in run_api is what lies between.
 *
 * usage: run_direct KERNEL.so FOLDER NAME
 */
#include "kernel_case.h"

#include "backends/cpu/lanes/cpu_lane.h"
#include "gyre/backend.h"

#include <stdio.h>
#include <stdlib.h>

static void log_line(gyre_context *context, const char *text, gyre_i64 value)
{
    (void)context;
    fprintf(stderr, "log: %s %lld\n", text, (long long)value);
}

static gyre_u64 time_ns(void)
{
    static gyre_u64 now = 1;
    return now++;
}

/* There is one block, whose lanes have met. */
static void no_other_block(gyre_context *context, const char *place)
{
    (void)context;
    (void)place;
}

static const gyre_cpu_services block_services = {.barrier = cpu_lanes_barrier,
                                                 .grid_barrier = no_other_block,
                                                 .cells = cpu_lanes_cells,
                                                 .log = log_line,
                                                 .time_ns = time_ns};
static const gyre_cpu_services lane_services = {.barrier = cpu_lanes_refuse_barrier,
                                                .cells = cpu_lanes_refuse_cells,
                                                .log = log_line,
                                                .time_ns = time_ns};

static void *allocate(size_t size)
{
    void *memory = aligned_alloc(GYRE_LINE_SIZE, (size / GYRE_LINE_SIZE + 1) * GYRE_LINE_SIZE);
    if (!memory)
        case_die("no memory for %zu bytes", size);
    return memory;
}

/* One request on all lanes. Returns the outcome; a failure is in `context`. */
static int run_block(struct cpu_lanes *lanes, const struct cpu_lanes_message *message, gyre_context *context)
{
    *context = (gyre_context){.block_count = 1, .services = &block_services};
    return cpu_lanes_run(lanes, message, context);
}

static int run_lane(const struct cpu_lanes_message *message, gyre_context *context)
{
    *context = (gyre_context){.lane_count = 1, .block_count = 1, .services = &lane_services};
    int outcome = message->handle(message->request, message->reply, message->state, message->scratch,
                                  message->buffers, context);
    return context->failed ? GYRE_OUTCOME_FAILED : outcome;
}

static int run_all(struct kernel_case *test, struct cpu_lanes *lanes)
{
    int good = 1;
    gyre_context context;
    gyre_binding bindings[CASE_BUFFERS_MAX];
    for (uint32_t i = 0; i < test->buffer_count; i++)
        bindings[i] = (gyre_binding){test->buffers[i].bytes, test->buffers[i].count};
    struct cpu_lanes_message message = {.handle = test->kernel->handle,
                                        .reply = allocate(test->reply->size),
                                        .state = test->state.bytes,
                                        .scratch = allocate(test->kernel->scratch_size),
                                        .buffers = bindings};
    for (size_t i = 0; i < test->count; i++) {
        message.request = test->requests[i];
        int outcome = lanes ? run_block(lanes, &message, &context) : run_lane(&message, &context);
        char text[44] = "";
        if (context.failed)
            snprintf(text, sizeof text, "%s", context.fail_text);
        good = case_check(test, i, (uint32_t)outcome, context.fail_code, text, message.reply) && good;
    }
    free(message.reply);
    free(message.scratch);
    return case_check_memory(test) && good;
}

int main(int count, char **arguments)
{
    if (count != 4)
        case_die("usage: run_direct KERNEL.so FOLDER NAME");
    struct kernel_case *test = case_load(arguments[1], arguments[2], arguments[3]);
    struct cpu_lanes *lanes = NULL;
    if (gyre_form_shares((gyre_form)test->kernel->form) && !(lanes = cpu_lanes_create(test->lanes, 0)))
        case_die("no lanes");
    int good = run_all(test, lanes);
    cpu_lanes_destroy(lanes);
    printf("%s: %zu requests, %s\n", test->name, test->count, good ? "all right" : "WRONG");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
