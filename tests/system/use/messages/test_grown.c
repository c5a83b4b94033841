/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types that grew at their end work in both directions: a field that the kernel does not know is left out of
 * the request, one that the caller does not know is zero there. Any other difference is refused with its
 * reason.
 */
#include <gyre/gyre.h>
#include <stdio.h>
#include <string.h>

#include "grown.h"
#include "../../../patience.h"

static int failures;

#define REQUIRE(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, gyre_error_text());          \
            failures++;                                                                                      \
        }                                                                                                    \
    } while (0)

static gyre_status launch(gyre_runtime *runtime, const char *name, const gyre_type *type,
                          gyre_kernel **kernel)
{
    return gyre_launch(runtime,
                       &(gyre_launch_desc){.size = sizeof(gyre_launch_desc),
                                           .source = GROWN_KERNELS,
                                           .kernel = name,
                                           .request = type,
                                           .reply = type},
                       kernel);
}

/* The caller has a field more than the kernel. */
static void newer_caller(gyre_runtime *runtime)
{
    gyre_kernel *kernel = NULL;
    REQUIRE(launch(runtime, "old_handler", GYRE_TYPE(reading_new), &kernel) == GYRE_OK);
    if (!kernel)
        return;
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const reading_new requests[2] = {{1, 2, 3}, {4, 5, 6}};
    reading_new reply = {0, 0, 77};
    size_t sent = 0, stride, count = 1;
    void *slots;
    REQUIRE(gyre_send_batch(queue, requests, sizeof requests[0], 2, &sent, gyre_in_ms(patiently(5000))) ==
                GYRE_OK &&
            sent == 2);
    for (uint32_t i = 0; i < 2; i++) {
        REQUIRE(gyre_receive(queue, &reply, sizeof reply, NULL, gyre_in_ms(patiently(5000))) == GYRE_OK);
        REQUIRE(reply.a == requests[i].a + 1 && reply.b == requests[i].b + 1 && reply.c == 77);
    }
    REQUIRE(gyre_call(queue, &requests[1], sizeof requests[1], &reply, sizeof reply, NULL,
                      gyre_in_ms(patiently(5000))) == GYRE_OK);
    REQUIRE(reply.a == 5 && reply.c == 77);
    REQUIRE(gyre_reserve(queue, &slots, &stride, &count, gyre_in_ms(patiently(5000))) == GYRE_INVALID);
    gyre_kernel_release(kernel);
}

/* The kernel has a field more than the caller. */
static void newer_kernel(gyre_runtime *runtime)
{
    gyre_kernel *kernel = NULL;
    REQUIRE(launch(runtime, "new_handler", GYRE_TYPE(reading_old), &kernel) == GYRE_OK);
    if (!kernel)
        return;
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const reading_old request = {1, 2};
    reading_old reply = {0, 0};
    gyre_completion completion;
    gyre_view view;
    size_t stride, count = 1, found;
    void *slot;
    REQUIRE(gyre_send(queue, &request, sizeof request, NULL, gyre_in_ms(patiently(5000))) == GYRE_OK);
    REQUIRE(gyre_receive(queue, &reply, sizeof reply, &completion, gyre_in_ms(patiently(5000))) == GYRE_OK);
    REQUIRE(reply.a == 2 && reply.b == 3 && completion.length == sizeof reply);
    REQUIRE(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL,
                      gyre_in_ms(patiently(5000))) == GYRE_OK);
    REQUIRE(gyre_reserve(queue, &slot, &stride, &count, gyre_in_ms(patiently(5000))) == GYRE_OK);
    memset(slot, 0xff, sizeof(reading_new)); /* what an earlier message left there */
    memcpy(slot, &request, sizeof request);
    REQUIRE(gyre_commit(queue, 1) == GYRE_OK);
    REQUIRE(gyre_peek(queue, &view, 1, &found, gyre_in_ms(patiently(5000))) == GYRE_OK);
    REQUIRE(view.length == sizeof(reading_new) && ((const reading_new *)view.reply)->c == 1);
    REQUIRE(gyre_release_views(queue, 1) == GYRE_OK);
    REQUIRE(gyre_send(queue, &request, sizeof request - 1, NULL, GYRE_NO_WAIT) == GYRE_INVALID);
    gyre_kernel_release(kernel);
}

/* The kernel has a field more, behind a text: a slot holds the kernel's type, which the caller cannot build. */
static void not_in_place(gyre_runtime *runtime)
{
    gyre_kernel *kernel = NULL;
    REQUIRE(gyre_launch(runtime,
                        &(gyre_launch_desc){.size = sizeof(gyre_launch_desc),
                                            .source = GROWN_KERNELS,
                                            .kernel = "letter_handler",
                                            .request = GYRE_TYPE(letter_old)},
                        &kernel) == GYRE_OK);
    if (!kernel)
        return;
    gyre_queue *queue = gyre_kernel_queue(kernel);
    letter_old request;
    reading_old reply = {0, 77};
    size_t stride, count = 1;
    void *slot;
    gyre_begin(&request);
    request.a = 5;
    REQUIRE(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL,
                      gyre_in_ms(patiently(5000))) == GYRE_OK);
    REQUIRE(reply.a == 5 && reply.b == 0);
    REQUIRE(gyre_reserve(queue, &slot, &stride, &count, gyre_in_ms(patiently(5000))) == GYRE_INVALID);
    REQUIRE(gyre_reserve_sized(queue, sizeof request, &slot, gyre_in_ms(patiently(5000))) == GYRE_INVALID);
    REQUIRE(strstr(gyre_error_text(), "differs from the caller's type 'letter_old'"));
    gyre_kernel_release(kernel);
}

static void others(gyre_runtime *runtime)
{
    gyre_kernel *kernel = NULL;
    REQUIRE(launch(runtime, "old_handler", GYRE_TYPE(reading_other), &kernel) == GYRE_INCOMPATIBLE);
    REQUIRE(strstr(gyre_error_text(), "'reading_old' of the kernel has field 'b' of type u32 at offset 4, "
                                      "'reading_other' of the caller has field 'c'"));
    REQUIRE(strstr(gyre_error_text(), "(layout hashes "));
}

int main(void)
{
    gyre_runtime *runtime = NULL;
    REQUIRE(gyre_open(&(gyre_open_desc){.size = sizeof(gyre_open_desc), .backend = "cpu"}, &runtime) ==
            GYRE_OK);
    if (runtime) {
        newer_caller(runtime);
        newer_kernel(runtime);
        not_in_place(runtime);
        others(runtime);
    }
    gyre_close(runtime);
    return failures != 0;
}
