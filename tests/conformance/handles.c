/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers that messages name: reached in every form, and every wrong name is a failed message. */
#include "conformance.h"

#include <gyre/place.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 1000 };

static void put_words(gyre_buffer *buffer, uint64_t add)
{
    static uint64_t words[WORDS];
    for (uint64_t i = 0; i < WORDS; i++)
        words[i] = i + add;
    must(gyre_buffer_upload(buffer, 0, words, sizeof words));
}

static gyre_buffer *make_words(gyre_runtime *runtime, const char *backend, uint64_t add)
{
    gyre_buffer *buffer = NULL;
    must(gyre_buffer_alloc(runtime, backend, 0, WORDS * sizeof(uint64_t), &buffer));
    put_words(buffer, add);
    return buffer;
}

static uint64_t sum_of(uint64_t first, uint64_t count, uint64_t add)
{
    return count * add + count * first + count * (count - 1) / 2;
}

static gyre_handle name(gyre_buffer *buffer, uint64_t offset, uint64_t size)
{
    gyre_handle handle;
    must(gyre_buffer_handle(buffer, offset, size, &handle));
    return handle;
}

static tally ask(gyre_kernel *kernel, gyre_handle handle)
{
    named_words request = {.words = handle};
    tally reply;
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    return reply;
}

static void refused(gyre_kernel *kernel, gyre_handle handle, const char *why)
{
    named_words request = {.words = handle, .writes = 1};
    gyre_completion completion;
    tally reply;
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, &completion,
                   soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == -7);
    require(strstr(completion.failure_text, why) != NULL);
}

static void messages_name_buffers(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "handles.gyre.c", "lane_words");
    gyre_buffer *one = make_words(test->runtime, test->backend, 7);
    gyre_buffer *two = make_words(test->runtime, test->backend, 100);
    for (uint64_t i = 0; i < 200; i++) {
        const uint64_t add = i % 2 ? 100 : 7, first = i % 5, count = WORDS - i;
        tally reply = ask(
            kernel, name(i % 2 ? two : one, first * sizeof(uint64_t), (count - first) * sizeof(uint64_t)));
        require(reply.count == count - first && reply.sum == sum_of(first, count - first, add));
    }
    require(ask(kernel, name(one, 8, 0)).count == WORDS - 1); /* size 0: to its end */
    for (uint64_t add = 1; add <= 50; add++) { /* what was read before may be in the device's caches */
        put_words(one, add);
        require(ask(kernel, name(one, 0, 0)).sum == sum_of(0, WORDS, add));
    }
    must(gyre_buffer_free(one));
    must(gyre_buffer_free(two));
}

static void handlers_write_named_buffers(struct conformance *test)
{
    static uint64_t back[WORDS];
    static const char *const forms[] = {"lane_words", "block_words"};
    for (size_t f = 0; f < 2; f++) {
        gyre_kernel *kernel = launch(test, "handles.gyre.c", forms[f]);
        gyre_buffer *buffer = make_words(test->runtime, test->backend, 0);
        named_words request = {.words = name(buffer, 0, 0), .writes = 1, .add = 5000 + f};
        tally reply;
        must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL,
                       soon()));
        require(reply.count == WORDS && reply.sum == sum_of(0, WORDS, 5000 + f));
        must(gyre_buffer_download(buffer, 0, back, sizeof back));
        for (uint64_t i = 0; i < WORDS; i++)
            require(back[i] == i + 5000 + f);
        must(gyre_buffer_free(buffer));
        gyre_kernel_release(kernel);
    }
}

/* What one kernel wrote before it replied, another one reads: the buffer goes back and forth between the two. */
static void a_buffer_passes_from_kernel_to_kernel(struct conformance *test)
{
    gyre_kernel *kernels[] = {launch(test, "handles.gyre.c", "block_words"),
                              launch(test, "handles.gyre.c", "lane_words")};
    gyre_buffer *buffer = make_words(test->runtime, test->backend, 0);
    const gyre_handle handle = name(buffer, 0, 0);
    for (uint64_t add = 1; add <= 100; add++) {
        const named_words request = {.words = handle, .writes = 1, .add = add};
        tally reply;
        must(gyre_call(gyre_kernel_queue(kernels[add % 2]), &request, sizeof request, &reply, sizeof reply,
                       NULL, soon()));
        require(ask(kernels[1 - add % 2], handle).sum == sum_of(0, WORDS, add));
    }
    must(gyre_buffer_free(buffer));
}

static void an_actor_keeps_a_name(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "handles.gyre.c", "actor_words");
    gyre_buffer *buffer = make_words(test->runtime, test->backend, 3);
    gyre_handle handle = name(buffer, 0, 0), none = {.id = 0};
    require(ask(kernel, handle).sum == sum_of(0, WORDS, 3));
    require(ask(kernel, none).sum == sum_of(0, WORDS, 3)); /* from its state */
    must(gyre_buffer_free(buffer));
    refused(kernel, none, "was freed");
}

static void wrong_names_fail_their_message(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "handles.gyre.c", "lane_words");
    gyre_buffer *buffer = make_words(test->runtime, test->backend, 1);
    const gyre_handle good = name(buffer, 0, 0);
    gyre_handle bad = good;
    refused(kernel, (gyre_handle){.id = 0}, "names no buffer");
    for (uint64_t i = 1; i < 64; i++) {
        bad.id = good.id ^ (UINT64_C(1) << i);
        refused(kernel, bad, "freed or lies elsewhere");
    }
    bad = good;
    bad.size += 8;
    refused(kernel, bad, "beyond its buffer");
    bad.offset = UINT64_MAX - 7;
    bad.size = 16;
    refused(kernel, bad, "beyond its buffer");
    bad = good;
    bad.offset = 4;
    bad.size = 8;
    refused(kernel, bad, "no whole elements");
    bad.offset = 0;
    bad.size = 12;
    refused(kernel, bad, "no whole elements");
    require(ask(kernel, good).sum == sum_of(0, WORDS, 1)); /* and it goes on */
    require(gyre_buffer_handle(buffer, WORDS * 8, 0, &bad) == GYRE_INVALID);
    require(gyre_buffer_handle(buffer, 8, WORDS * 8, &bad) == GYRE_INVALID);
    require_sentence("of a buffer of 8000 bytes");
}

static void elements_need_no_power_of_two(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "handles.gyre.c", "triples");
    uint32_t words[30];
    gyre_buffer *buffer = NULL;
    for (uint32_t i = 0; i < 30; i++)
        words[i] = i;
    must(gyre_buffer_alloc(test->runtime, test->backend, 0, sizeof words, &buffer));
    must(gyre_buffer_upload(buffer, 0, words, sizeof words));
    tally reply = ask(kernel, name(buffer, 12, 24));
    require(reply.count == 2 && reply.sum == 5 + 8);
    refused(kernel, name(buffer, 0, 16), "no whole elements");
}

static void a_freed_buffer_is_not_found(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "handles.gyre.c", "lane_words");
    gyre_handle stale[40];
    for (int i = 0; i < 40; i++) {
        gyre_buffer *buffer = make_words(test->runtime, test->backend, (uint64_t)i);
        stale[i] = name(buffer, 0, 0);
        require(ask(kernel, stale[i]).sum == sum_of(0, WORDS, (uint64_t)i));
        must(gyre_buffer_free(buffer));
        refused(kernel, stale[i], "freed or lies elsewhere");
    }
    gyre_buffer *last = make_words(test->runtime, test->backend, 9); /* takes a place that others had */
    require(ask(kernel, name(last, 0, 0)).sum == sum_of(0, WORDS, 9));
    for (int i = 0; i < 40; i++)
        refused(kernel, stale[i], "freed or lies elsewhere");
}

static void freeing_waits_for_the_handlers(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "handles.gyre.c", "lane_words");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    gyre_buffer *buffer = make_words(test->runtime, test->backend, 1);
    named_words request = {.words = name(buffer, 0, 0), .microseconds = 100000};
    tally reply;
    gyre_completion completion;
    ask(kernel, request.words);
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    for (uint64_t until = gyre_in_ms(20); gyre_now_ns() < until;)
        ;
    must(gyre_buffer_free(buffer)); /* the handler has it in its hands, unless it did not begin yet */
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    if (completion.outcome == GYRE_REPLIED)
        require(reply.count == WORDS && reply.sum == sum_of(0, WORDS, 1));
    else
        require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == -7);
}

static gyre_kernel *launch_scale(const struct conformance *test, gyre_runtime *runtime, gyre_buffer *buffer)
{
    gyre_binding_name bindings[] = {{"hits", buffer}, {"weights", buffer}};
    gyre_launch_desc desc = launch_desc(test, "buffers.gyre.c", "scale");
    gyre_kernel *kernel = NULL;
    desc.bindings = bindings;
    desc.binding_count = 2;
    must(gyre_launch(runtime, &desc, &kernel));
    return kernel;
}

/* False: the handler had not begun, or was through, and the buffer could be freed. */
static bool frees_in_vain(const struct conformance *test, gyre_runtime *runtime, gyre_kernel *slow)
{
    gyre_buffer *held = make_words(runtime, test->backend, 1),
                *buffer = make_words(runtime, test->backend, 2);
    gyre_kernel *scale = launch_scale(test, runtime, buffer);
    const named_words request = {.words = name(held, 0, 0), .microseconds = 500000};
    tally reply;
    name(buffer, 0, 0);
    must(gyre_kernel_terminate(scale, soon(), NULL));
    must(gyre_send(gyre_kernel_queue(slow), &request, sizeof request, NULL, soon()));
    sleep_ms(20);
    const gyre_status status = gyre_buffer_free(buffer);
    require(status == GYRE_OK || status == GYRE_TIMEOUT);
    require(gyre_kernel_relaunch(scale) == (status == GYRE_OK ? GYRE_NOT_FOUND : GYRE_OK));
    must(gyre_receive(gyre_kernel_queue(slow), &reply, sizeof reply, NULL, soon()));
    require(status == GYRE_OK || gyre_buffer_free(buffer) == GYRE_INVALID);
    gyre_kernel_release(scale);
    require(status == GYRE_OK || gyre_buffer_free(buffer) == GYRE_OK);
    return status == GYRE_TIMEOUT;
}

static void a_buffer_that_is_not_freed_stays_bound(struct conformance *test)
{
    enum { TRIES = 20 }; /* a busy machine may begin late */
    static const char *const settings[] = {"kernel.lane_words.stop_timeout_ms=100", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *slow = launch_in(runtime, "handles.gyre.c", "lane_words");
    int tries = 0;
    while (!frees_in_vain(test, runtime, slow))
        require(++tries < TRIES);
    gyre_close(runtime);
}

static void another_runtimes_buffer_is_not_found(struct conformance *test)
{
    gyre_runtime *other = NULL;
    gyre_open_desc open = {.size = sizeof open, .backend = test->backend};
    gyre_kernel *kernel = launch(test, "handles.gyre.c", "lane_words");
    gyre_buffer *mine = make_words(test->runtime, test->backend, 1), *theirs;
    must(gyre_open(&open, &other));
    theirs = make_words(other, test->backend, 2);
    refused(kernel, name(theirs, 0, 0), "freed or lies elsewhere");
    require(ask(kernel, name(mine, 0, 0)).sum == sum_of(0, WORDS, 1));
    gyre_close(other);
}

/* Where there is one device, a second is refused;
 * where there are two, they do not see each other's buffers. */
static void a_second_device_has_buffers_of_its_own(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "handles.gyre.c", "lane_words"), *second = NULL;
    gyre_buffer *mine = make_words(test->runtime, test->backend, 1), *theirs = NULL;
    gyre_launch_desc desc = launch_desc(test, "handles.gyre.c", "lane_words");
    uint64_t words[WORDS];
    gyre_status status = gyre_buffer_alloc(test->runtime, test->backend, 1, sizeof words, &theirs);
    require(status == GYRE_OK || status == GYRE_INVALID || status == GYRE_UNAVAILABLE);
    require(status == GYRE_OK || gyre_error_text()[0]);
    if (status == GYRE_OK) {
        desc.device = 1;
        desc.name = "second";
        for (uint64_t i = 0; i < WORDS; i++)
            words[i] = i + 2;
        must(gyre_buffer_upload(theirs, 0, words, sizeof words));
        must(gyre_launch(test->runtime, &desc, &second));
        require(ask(second, name(theirs, 0, 0)).sum == sum_of(0, WORDS, 2));
        refused(second, name(mine, 0, 0), "freed or lies elsewhere");
        refused(kernel, name(theirs, 0, 0), "freed or lies elsewhere");
    }
    require(ask(kernel, name(mine, 0, 0)).sum == sum_of(0, WORDS, 1));
}

static void names_reach_kernels_that_were_there_before(struct conformance *test)
{
    gyre_buffer *early = make_words(test->runtime, test->backend, 4);
    gyre_handle handle = name(early, 0, 0);
    gyre_kernel *kernel = launch(test, "handles.gyre.c", "lane_words");
    require(ask(kernel, handle).sum == sum_of(0, WORDS, 4)); /* named before the launch */
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    gyre_buffer *late = make_words(test->runtime, test->backend, 6);
    gyre_handle other = name(late, 0, 0);
    must(gyre_kernel_relaunch(kernel));
    require(ask(kernel, handle).sum == sum_of(0, WORDS, 4));
    require(ask(kernel, other).sum == sum_of(0, WORDS, 6));
    must(gyre_kernel_deactivate(kernel, soon()));
    must(gyre_buffer_free(early));
    must(gyre_kernel_activate(kernel, soon()));
    refused(kernel, handle, "freed or lies elsewhere");
}

static void a_thousand_buffers_have_names(struct conformance *test)
{
    enum { MOST = 1024 };
    static gyre_buffer *buffers[MOST + 1];
    gyre_handle handle;
    gyre_kernel *kernel = launch(test, "handles.gyre.c", "lane_words");
    for (uint64_t i = 0; i <= MOST; i++)
        must(gyre_buffer_alloc(test->runtime, test->backend, 0, 8, &buffers[i]));
    for (uint64_t i = 0; i < MOST; i++) {
        must(gyre_buffer_upload(buffers[i], 0, &i, sizeof i));
        must(gyre_buffer_handle(buffers[i], 0, 0, &handle));
        require(ask(kernel, handle).sum == i);
    }
    require(gyre_buffer_handle(buffers[MOST], 0, 0, &handle) == GYRE_EXHAUSTED);
    must(gyre_buffer_free(buffers[17]));
    require(ask(kernel, name(buffers[MOST], 0, 0)).count == 1);
}

/* What is stored in place reaches handlers, and what they store is there. Where the device has memory of its own, no place is told. */
static void use_in_place(gyre_kernel *kernel, gyre_buffer *buffer, const gyre_buffer_place *place)
{
    uint64_t *words = place->host;
    for (uint64_t add = 20; words && add < 40; add++) {
        for (uint64_t i = 0; i < WORDS; i++)
            words[i] = i + add;
        require(ask(kernel, name(buffer, 0, 0)).sum == sum_of(0, WORDS, add));
    }
}

static void a_held_buffer_stays_where_it_is(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "handles.gyre.c", "lane_words");
    gyre_buffer *buffer = make_words(test->runtime, test->backend, 7);
    gyre_buffer_place place = {.size = sizeof place}, again = {.size = sizeof again};
    const gyre_status status = gyre_buffer_hold(buffer, &place);
    if (status == GYRE_UNIMPLEMENTED) { /* its device is in another process */
        require_sentence("worker process");
        must(gyre_buffer_free(buffer));
        return;
    }
    must(status);
    require(place.bytes == WORDS * sizeof(uint64_t) && place.device == 0 && place.backend[0]);
    must(gyre_buffer_hold(buffer, &again));
    require(memcmp(&place, &again, sizeof place) == 0);
    use_in_place(kernel, buffer, &place);
    gyre_buffer_let_go(buffer);
    require(gyre_buffer_free(buffer) == GYRE_INVALID);
    require_sentence("held in place 1 time");
    gyre_buffer_let_go(buffer);
    must(gyre_buffer_free(buffer));
    require(gyre_buffer_hold(NULL, &place) == GYRE_INVALID);
}

static gyre_status try_scale(const struct conformance *test, gyre_runtime *runtime, gyre_buffer *buffer,
                             gyre_kernel **kernel)
{
    gyre_binding_name bindings[] = {{"weights", buffer}, {"hits", buffer}};
    gyre_launch_desc desc = launch_desc(test, "buffers.gyre.c", "scale");
    desc.bindings = bindings;
    desc.binding_count = 2;
    return gyre_launch(runtime, &desc, kernel);
}

/* They would not see what the program stores there. */
static void a_held_buffer_enters_no_checkpoints(struct conformance *test)
{
    const char *const settings[] = {"kernel.scale.checkpoints=true", "kernel.scale.checkpoint_buffers=true",
                                    NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_buffer *buffer = make_words(runtime, test->backend, 7);
    gyre_buffer_place place = {.size = sizeof place};
    gyre_kernel *kernel = NULL;
    if (gyre_buffer_hold(buffer, &place) == GYRE_OK) { /* else its device is in another process */
        require(try_scale(test, runtime, buffer, &kernel) == GYRE_INVALID);
        require_sentence("the program holds a buffer of the kernel in place");
        must(gyre_buffer_hold(buffer, &place)); /* nothing is left of the launch */
        gyre_buffer_let_go(buffer);
        gyre_buffer_let_go(buffer);
        must(try_scale(test, runtime, buffer, &kernel));
        require(gyre_buffer_hold(buffer, &place) == GYRE_INVALID);
        require_sentence("the buffer is, or was, in the checkpoints of a kernel");
        must(gyre_kernel_terminate(kernel, soon(), NULL));
        require(gyre_buffer_hold(buffer, &place) == GYRE_INVALID); /* the kernel may be launched again */
        must(gyre_kernel_relaunch(kernel));
    }
    gyre_close(runtime);
}

const struct conformance_case handle_cases[] = {
    {"messages_name_buffers", messages_name_buffers},
    {"handlers_write_named_buffers", handlers_write_named_buffers},
    {"a_buffer_passes_from_kernel_to_kernel", a_buffer_passes_from_kernel_to_kernel},
    {"an_actor_keeps_a_name", an_actor_keeps_a_name},
    {"wrong_names_fail_their_message", wrong_names_fail_their_message},
    {"elements_need_no_power_of_two", elements_need_no_power_of_two},
    {"a_freed_buffer_is_not_found", a_freed_buffer_is_not_found},
    {"freeing_waits_for_the_handlers", freeing_waits_for_the_handlers},
    {"a_buffer_that_is_not_freed_stays_bound", a_buffer_that_is_not_freed_stays_bound},
    {"another_runtimes_buffer_is_not_found", another_runtimes_buffer_is_not_found},
    {"a_second_device_has_buffers_of_its_own", a_second_device_has_buffers_of_its_own},
    {"names_reach_kernels_that_were_there_before", names_reach_kernels_that_were_there_before},
    {"a_thousand_buffers_have_names", a_thousand_buffers_have_names},
    {"a_held_buffer_stays_where_it_is", a_held_buffer_stays_where_it_is},
    {"a_held_buffer_enters_no_checkpoints", a_held_buffer_enters_no_checkpoints},
    {NULL, NULL},
};
