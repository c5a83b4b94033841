/* SPDX-License-Identifier: Apache-2.0 */
/* Two devices of one runtime, side by side. Where a backend has one device here, the cases say so by name. */
#include "conformance.h"

#include <pthread.h>
#include <string.h>

enum { WORDS = 6, WINDOW = 256, MESSAGES = 200000, BUFFER_WORDS = 1000 };

/* What one device's thread does, and what came of it: errors are a thread's own. */
struct side {
    gyre_queue *queue;
    uint64_t salt; /* of this device's messages */
    uint64_t received, wrong;
    gyre_status status;
    char story[512];
};

static void need_two_devices(const struct conformance *test)
{
    gyre_buffer *buffer = NULL;
    gyre_status status = gyre_buffer_alloc(test->runtime, test->backend, 1, 64, &buffer);
    if (status == GYRE_OK) {
        must(gyre_buffer_free(buffer));
        return;
    }
    require((status == GYRE_INVALID || status == GYRE_UNAVAILABLE) && gyre_error_text()[0]);
    not_on_this_machine("a second device");
}

static gyre_kernel *launch_on(struct conformance *test, uint32_t device, const char *file, const char *kernel)
{
    gyre_launch_desc desc = launch_desc(test, file, kernel);
    gyre_kernel *launched = NULL;
    desc.device = device;
    desc.name = device ? "on_device_1" : "on_device_0";
    must(gyre_launch(test->runtime, &desc, &launched));
    return launched;
}

static uint64_t word_of(const struct side *side, uint64_t message, uint64_t word)
{
    return (message ^ side->salt) * 1000003 + word;
}

static gyre_status send_some(struct side *side, uint64_t *sent)
{
    uint64_t requests[WINDOW][WORDS];
    size_t count = MESSAGES - *sent < WINDOW ? (size_t)(MESSAGES - *sent) : WINDOW, moved = 0;
    for (uint64_t i = 0; i < count; i++)
        for (uint64_t word = 0; word < WORDS; word++)
            requests[i][word] = word_of(side, *sent + i, word);
    gyre_status status =
        gyre_send_batch(side->queue, requests, sizeof requests[0], count, &moved, GYRE_NO_WAIT);
    *sent += moved;
    return status == GYRE_AGAIN ? GYRE_OK : status;
}

static gyre_status receive_some(struct side *side)
{
    uint64_t replies[WINDOW][WORDS];
    size_t moved = 0;
    gyre_status status =
        gyre_receive_batch(side->queue, replies, sizeof replies[0], WINDOW, NULL, &moved, soon());
    for (uint64_t i = 0; i < moved; i++)
        for (uint64_t word = 0; word < WORDS; word++)
            side->wrong += replies[i][word] != word_of(side, side->received + i, word) * 3 + word;
    side->received += moved;
    return status;
}

static void *stream(void *argument)
{
    struct side *side = argument;
    uint64_t sent = 0;
    while (side->status == GYRE_OK && side->received < MESSAGES) {
        side->status = send_some(side, &sent);
        if (side->status == GYRE_OK)
            side->status = receive_some(side);
    }
    if (side->status != GYRE_OK)
        strncat(side->story, gyre_error_text(), sizeof side->story - 1);
    return NULL;
}

static void two_devices_serve_side_by_side(struct conformance *test)
{
    struct side sides[2] = {{.salt = 0}, {.salt = 0x5555}};
    gyre_kernel *kernels[2];
    pthread_t threads[2];
    need_two_devices(test);
    for (uint32_t device = 0; device < 2; device++) {
        kernels[device] = launch_on(test, device, "words.gyre.c", "words_of_6");
        sides[device].queue = gyre_kernel_queue(kernels[device]);
    }
    for (int i = 0; i < 2; i++)
        require(pthread_create(&threads[i], NULL, stream, &sides[i]) == 0);
    for (int i = 0; i < 2; i++)
        require(pthread_join(threads[i], NULL) == 0);
    const uint64_t deadline_ns = soon();
    for (int i = 0; i < 2; i++) {
        require(sides[i].story[0] == '\0' && sides[i].status == GYRE_OK);
        require(sides[i].received == MESSAGES && sides[i].wrong == 0);
        while (info_of(kernels[i]).handled < MESSAGES) /* counts may come a little after the replies */
            require(gyre_now_ns() < deadline_ns);
        require(info_of(kernels[i]).handled == MESSAGES);
    }
}

/* A kernel goes away and comes back on one device while the other's answers. */
static void a_device_works_while_another_loads(struct conformance *test)
{
    struct side side = {.salt = 0x77};
    pthread_t thread;
    need_two_devices(test);
    side.queue = gyre_kernel_queue(launch_on(test, 0, "words.gyre.c", "words_of_6"));
    require(pthread_create(&thread, NULL, stream, &side) == 0);
    for (int i = 0; i < 5; i++) {
        gyre_kernel *other = launch_on(test, 1, "words.gyre.c", "words_of_1");
        uint64_t word = 41, reply = 0;
        must(gyre_call(gyre_kernel_queue(other), &word, sizeof word, &reply, sizeof reply, NULL, soon()));
        require(reply == 41 * 3);
        gyre_kernel_release(other);
    }
    require(pthread_join(thread, NULL) == 0);
    require(side.status == GYRE_OK && side.received == MESSAGES && side.wrong == 0);
}

static gyre_completion ask(gyre_kernel *kernel, gyre_handle handle)
{
    named_words request = {.words = handle};
    gyre_completion completion;
    tally reply;
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, &completion,
                   soon()));
    require(completion.outcome != GYRE_REPLIED || reply.count == BUFFER_WORDS);
    return completion;
}

static void a_buffer_belongs_to_its_device(struct conformance *test)
{
    gyre_kernel *kernels[2];
    gyre_buffer *buffers[2];
    gyre_handle handles[2];
    need_two_devices(test);
    for (uint32_t device = 0; device < 2; device++) {
        kernels[device] = launch_on(test, device, "handles.gyre.c", "lane_words");
        must(gyre_buffer_alloc(test->runtime, test->backend, device, BUFFER_WORDS * sizeof(uint64_t),
                               &buffers[device]));
        must(gyre_buffer_handle(buffers[device], 0, 0, &handles[device]));
    }
    for (int i = 0; i < 4; i++) {
        gyre_completion completion = ask(kernels[i / 2], handles[i % 2]);
        if (i / 2 == i % 2) {
            require(completion.outcome == GYRE_REPLIED);
            continue;
        }
        require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == -7);
        require(strstr(completion.failure_text, "freed or lies elsewhere") != NULL);
    }
}

/* ---- copies ---- */

enum { COPY_SIZE = (3 << 20) + 5, COPY_FROM = 11, COPY_TO = 4099 };

static unsigned char byte_of(size_t place)
{
    return (unsigned char)(place * 7 + place / 251);
}

/* Copies a part of a buffer of one device into a buffer of the other, and looks at every byte of it. */
static void copy_across(gyre_runtime *runtime, const char *backend, uint32_t from)
{
    static unsigned char bytes[COPY_SIZE], found[COPY_SIZE];
    const size_t part = COPY_SIZE - COPY_TO - 3;
    gyre_buffer *source = NULL, *target = NULL;
    must(gyre_buffer_alloc(runtime, backend, from, COPY_SIZE, &source));
    must(gyre_buffer_alloc(runtime, backend, 1 - from, COPY_SIZE, &target));
    for (size_t i = 0; i < COPY_SIZE; i++)
        bytes[i] = byte_of(i + from);
    must(gyre_buffer_upload(source, 0, bytes, COPY_SIZE));
    must(gyre_buffer_fill(target, 0, 0xee, COPY_SIZE));
    must(gyre_buffer_copy(target, COPY_TO, source, COPY_FROM, part));
    must(gyre_buffer_download(target, 0, found, COPY_SIZE));
    for (size_t i = 0; i < COPY_SIZE; i++)
        require(found[i] ==
                (i < COPY_TO || i >= COPY_TO + part ? 0xee : byte_of(i - COPY_TO + COPY_FROM + from)));
    require(gyre_buffer_copy(target, COPY_TO, source, COPY_FROM, COPY_SIZE) == GYRE_INVALID);
    must(gyre_buffer_free(source));
    must(gyre_buffer_free(target));
}

static void buffers_are_copied_to_other_devices(struct conformance *test)
{
    need_two_devices(test);
    copy_across(test->runtime, test->backend, 0);
    copy_across(test->runtime, test->backend, 1);
}

/* With kernels on both devices, which copies make room for and do not end. */
static void copies_and_kernels_share_two_devices(struct conformance *test)
{
    struct side sides[2] = {{.salt = 1}, {.salt = 2}};
    pthread_t threads[2];
    need_two_devices(test);
    for (uint32_t device = 0; device < 2; device++)
        sides[device].queue = gyre_kernel_queue(launch_on(test, device, "words.gyre.c", "words_of_6"));
    for (int i = 0; i < 2; i++)
        require(pthread_create(&threads[i], NULL, stream, &sides[i]) == 0);
    for (uint32_t i = 0; i < 4; i++)
        copy_across(test->runtime, test->backend, i % 2);
    for (int i = 0; i < 2; i++) {
        require(pthread_join(threads[i], NULL) == 0);
        require(sides[i].status == GYRE_OK && sides[i].received == MESSAGES && sides[i].wrong == 0);
    }
}

static void copies_without_peers_go_through_the_host(struct conformance *test)
{
    static const char *const settings[] = {"peers=false", "log_level=info", NULL};
    need_two_devices(test);
    gyre_runtime *runtime = open_with(test, settings);
    copy_across(runtime, test->backend, 0);
    copy_across(runtime, test->backend, 1);
    gyre_close(runtime);
}

const struct conformance_case device_cases[] = {
    {"two_devices_serve_side_by_side", two_devices_serve_side_by_side},
    {"a_device_works_while_another_loads", a_device_works_while_another_loads},
    {"a_buffer_belongs_to_its_device", a_buffer_belongs_to_its_device},
    {"buffers_are_copied_to_other_devices", buffers_are_copied_to_other_devices},
    {"copies_and_kernels_share_two_devices", copies_and_kernels_share_two_devices},
    {"copies_without_peers_go_through_the_host", copies_without_peers_go_through_the_host},
    {NULL, NULL},
};
