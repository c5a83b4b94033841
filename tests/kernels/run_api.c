/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a case as an application would: opens a runtime, launches the kernel from its source, sends all
 * requests, compares all completions, then state and buffers.
 *
 * usage: run_api BACKEND KERNEL.so FOLDER NAME
 */
#include "kernel_case.h"

#include "gyre/backend.h"
#include "gyre/gyre.h"
#include "../patience.h"
#include "core/types/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE_MS = 60000, NOT_HERE = 77 };

static void must(gyre_status status, const char *what)
{
    if (status == GYRE_UNAVAILABLE) {
        fprintf(stderr, "skipped: %s\n", gyre_error_text());
        exit(NOT_HERE);
    }
    if (status != GYRE_OK)
        case_die("%s: %s: %s", what, gyre_status_word(status), gyre_error_text());
}

static void print_log(void *context, int level, const char *text)
{
    (void)context;
    fprintf(stderr, "log %d: %s\n", level, text);
}

static void bind_buffers(gyre_runtime *runtime, const char *backend, const struct kernel_case *test,
                         gyre_binding_name *bindings)
{
    for (uint32_t i = 0; i < test->buffer_count; i++) {
        const struct case_memory *memory = &test->buffers[i];
        bindings[i].name = memory->name;
        must(gyre_buffer_alloc(runtime, backend, 0, memory->layout->size, &bindings[i].buffer), memory->name);
        must(gyre_buffer_upload(bindings[i].buffer, 0, memory->bytes, memory->layout->size), memory->name);
    }
}

static void send_all(gyre_queue *queue, const struct kernel_case *test)
{
    for (size_t i = 0; i < test->count; i++) {
        const unsigned char *request = test->requests[i];
        size_t size = test->request->size;
        if (test->request->shape == GYRE_SHAPE_PACKET) { /* such a queue takes the bytes alone */
            size = gyre_layout_length(test->request, request) - GYRE_PACKET_FRONT;
            request += GYRE_PACKET_FRONT;
        }
        must(gyre_send(queue, request, size, NULL, gyre_in_ms(patiently(PATIENCE_MS))), "send");
    }
}

static int receive_all(gyre_queue *queue, const struct kernel_case *test)
{
    int good = 1;
    const uint32_t front = test->reply->shape == GYRE_SHAPE_PACKET ? GYRE_PACKET_FRONT : 0;
    unsigned char *reply = calloc(1, test->reply->size + 1);
    for (size_t i = 0; reply && i < test->count; i++) {
        gyre_completion completion;
        must(gyre_receive(queue, reply + front, test->reply->size - front, &completion,
                          gyre_in_ms(patiently(PATIENCE_MS))),
             "receive");
        const uint32_t used = completion.length + front;
        if (front)
            memcpy(reply, &used, sizeof used);
        good = case_check(test, i, completion.outcome, completion.failure_code, completion.failure_text,
                          reply) &&
               good;
    }
    free(reply);
    return good;
}

/* Grid kernels have as many blocks as the backend gives them. */
static bool is_grid(const struct kernel_case *test)
{
    return test->kernel->form == GYRE_FORM_GRID;
}

static int check_memory(gyre_kernel *kernel, struct kernel_case *test, const gyre_binding_name *bindings)
{
    must(gyre_kernel_terminate(kernel, gyre_in_ms(patiently(PATIENCE_MS)), NULL), "terminate");
    if (test->state.bytes)
        must(gyre_kernel_state_read(kernel, test->state.bytes, test->state.layout->size), "state");
    for (uint32_t i = 0; i < test->buffer_count; i++)
        must(gyre_buffer_download(bindings[i].buffer, 0, test->buffers[i].bytes,
                                  test->buffers[i].layout->size),
             test->buffers[i].name);
    return case_check_memory(test);
}

int main(int count, char **arguments)
{
    char source[4096];
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    gyre_binding_name bindings[CASE_BUFFERS_MAX];
    if (count != 5)
        case_die("usage: run_api BACKEND KERNEL.so FOLDER NAME");
    const char *backend = arguments[1];
    struct kernel_case *test = case_load(arguments[2], arguments[3], arguments[4]);
    snprintf(source, sizeof source, "%s/%s.gyre.c", arguments[3], test->name);
    must(gyre_open(&(gyre_open_desc){.size = sizeof(gyre_open_desc), .backend = backend, .log = print_log},
                   &runtime),
         "open");
    bind_buffers(runtime, backend, test, bindings);
    must(gyre_launch(runtime,
                     &(gyre_launch_desc){.size = sizeof(gyre_launch_desc),
                                         .source = source,
                                         .backend = backend,
                                         .lanes = test->lanes,
                                         .blocks = is_grid(test) ? 0 : test->blocks,
                                         .state = test->state.bytes,
                                         .state_size = test->state.bytes ? test->state.layout->size : 0,
                                         .bindings = bindings,
                                         .binding_count = test->buffer_count},
                     &kernel),
         "launch");
    send_all(gyre_kernel_queue(kernel), test);
    int good = receive_all(gyre_kernel_queue(kernel), test);
    good = check_memory(kernel, test, bindings) && good;
    gyre_close(runtime);
    printf("%s on %s: %zu requests, %s\n", test->name, backend, test->count, good ? "all right" : "WRONG");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
