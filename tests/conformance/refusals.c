/* SPDX-License-Identifier: Apache-2.0 */
/* Every "no" has a sentence: what a user can do wrong, and what the answer names. */
#include "conformance.h"

#include <gyre/pipeline.h>
#include <limits.h>
#include <string.h>

static gyre_status try_launch(struct conformance *test, const gyre_launch_desc *desc)
{
    gyre_kernel *kernel = (gyre_kernel *)test; /* anything but NULL */
    gyre_status status = gyre_launch(test->runtime, desc, &kernel);
    require(status == GYRE_OK || kernel == NULL);
    return status;
}

static void require_stages_are_refused(struct conformance *test)
{
    static const int wrong[] = {INT_MIN, -1, 34, 35, INT_MAX};
    gyre_launch_desc desc = launch_desc(test, "words.gyre.c", "words_of_1");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        desc.stage = wrong[i];
        require(try_launch(test, &desc) == GYRE_INVALID);
        require_sentence("expected 0 to 33 (gyre_launch_desc)");
    }
}

static void a_missing_file_is_named(struct conformance *test)
{
    gyre_launch_desc desc = launch_desc(test, "nowhere.gyre.c", NULL);
    require(try_launch(test, &desc) == GYRE_NOT_FOUND);
    require_sentence("nowhere.gyre.c");
    desc.source = "";
    require(try_launch(test, &desc) == GYRE_INVALID);
    require_sentence("no kernel was named; expected a source");
    desc.source = NULL;
    desc.name = "a_name_that_is_longer_than_what_a_name_may_be_and_has_64_letters";
    require(try_launch(test, &desc) == GYRE_INVALID);
    require_sentence("a kernel's name has 1 to 63 characters, found 64: 'a_name_that_is_longe...'");
    desc.name = "two\nlines";
    require(try_launch(test, &desc) == GYRE_INVALID);
    require_sentence("a kernel's name: expected UTF-8 without control characters");
    require_stages_are_refused(test);
}

static void a_mistyped_kernel_gets_the_nearest_name(struct conformance *test)
{
    gyre_launch_desc desc = launch_desc(test, "words.gyre.c", "words_of_12");
    require(try_launch(test, &desc) == GYRE_NOT_FOUND);
    require_sentence("words_of_1");
}

static void a_file_of_several_kernels_wants_a_name(struct conformance *test)
{
    gyre_launch_desc desc = launch_desc(test, "words.gyre.c", NULL);
    require(try_launch(test, &desc) == GYRE_INVALID);
    require_sentence("words_of_128");
}

static void a_compile_error_names_file_and_line(struct conformance *test)
{
    gyre_launch_desc desc = launch_desc(test, "broken.gyre.c", NULL);
    require(try_launch(test, &desc) == GYRE_FAILED);
    require_sentence("broken.gyre.c:7");
    require_sentence("undeclared_thing");
}

static void shapes_beyond_the_device_are_refused(struct conformance *test)
{
    gyre_launch_desc desc = launch_desc(test, "blocks.gyre.c", "neighbours");
    desc.lanes = 1u << 20;
    require(try_launch(test, &desc) == GYRE_INVALID);
    require_sentence("1048576 lanes");
    desc.lanes = 1; /* every device has it */
    desc.blocks = 1u << 30;
    require(try_launch(test, &desc) != GYRE_OK);
    require_sentence("1073741824 blocks");
}

static void an_actor_has_one_lane_and_one_block(struct conformance *test)
{
    gyre_launch_desc desc = launch_desc(test, "state.gyre.c", "tally_actor");
    desc.blocks = 2;
    require(try_launch(test, &desc) == GYRE_INVALID);
    require_sentence("actor");
}

static void wrong_message_types_are_told_apart(struct conformance *test)
{
    gyre_launch_desc desc = launch_desc(test, "words.gyre.c", "words_of_1");
    desc.request = GYRE_TYPE(tally);
    require(try_launch(test, &desc) == GYRE_INCOMPATIBLE);
    require_sentence("tally");
    require_sentence("words_1");
    desc.request = GYRE_TYPE(words_1);
    desc.reply = GYRE_TYPE(words_6);
    require(try_launch(test, &desc) == GYRE_INCOMPATIBLE);
    desc.reply = GYRE_TYPE(words_1);
    must(try_launch(test, &desc));
}

static void wrong_message_sizes_are_refused(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "words.gyre.c", "words_of_6"));
    words_128 large = {{0}};
    words_6 request = {{0}}, reply;
    uint64_t small;
    require(gyre_send(queue, &large, sizeof large, NULL, soon()) == GYRE_INVALID);
    require_sentence("48 bytes");
    require(gyre_call(queue, &request, sizeof request, &small, sizeof small, NULL, soon()) == GYRE_INVALID);
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    require(gyre_receive(queue, &small, sizeof small, NULL, soon()) == GYRE_INVALID);
    require_sentence("larger");
    must(gyre_receive(queue, &reply, sizeof reply, NULL, soon())); /* it was not consumed */
}

/* One kernel after the other: where they stay on the device, there may be room for one. */
static void require_no_size_is_refused(gyre_runtime *runtime, const char *file, const char *name)
{
    gyre_kernel *kernel = launch_in(runtime, file, name);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    words_6 request = {{0}}, reply;
    size_t sent = 0;
    require(gyre_send(queue, &request, 0, NULL, soon()) == GYRE_INVALID);
    require(gyre_send_batch(queue, &request, 0, 2, &sent, soon()) == GYRE_INVALID && sent == 0);
    require(gyre_call(queue, &request, 0, &reply, sizeof reply, NULL, soon()) == GYRE_INVALID);
    require(gyre_send(queue, &request, SIZE_MAX, NULL, soon()) ==
            GYRE_INVALID); /* as of an encoder that failed */
    require(gyre_call(queue, &request, SIZE_MAX, &reply, sizeof reply, NULL, soon()) == GYRE_INVALID);
    require(stats_of(queue).sent == 0);
    must(gyre_kernel_terminate(kernel, soon(), NULL));
}

/* Of messages of one size, of lengths of their own, and of those that wait in front of the ring. */
static void messages_of_impossible_sizes_are_refused(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.levels=3", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    require_no_size_is_refused(test->runtime, "words.gyre.c", "words_of_6");
    require_no_size_is_refused(test->runtime, "calls.gyre.c", "words_back");
    require_no_size_is_refused(runtime, "words.gyre.c", "words_of_6");
    gyre_close(runtime);
}

static void wrong_state_sizes_are_refused(struct conformance *test)
{
    gyre_launch_desc desc = launch_desc(test, "state.gyre.c", "tally_actor");
    desc.state = &desc;
    desc.state_size = 5;
    require(try_launch(test, &desc) == GYRE_INVALID);
    require_sentence("16 bytes");
}

static void bindings_are_checked(struct conformance *test)
{
    gyre_buffer *odd = NULL, *fine = NULL;
    gyre_launch_desc desc = launch_desc(test, "buffers.gyre.c", "scale");
    gyre_binding_name bindings[3];
    must(gyre_buffer_alloc(test->runtime, test->backend, 0, 7, &odd));
    must(gyre_buffer_alloc(test->runtime, test->backend, 0, 8, &fine));
    require(try_launch(test, &desc) == GYRE_INVALID);
    require_sentence("nothing is bound");
    bindings[0] = (gyre_binding_name){"weights", fine};
    bindings[1] = (gyre_binding_name){"hits", odd};
    bindings[2] = (gyre_binding_name){"wieghts", fine};
    desc.bindings = bindings;
    desc.binding_count = 2;
    require(try_launch(test, &desc) == GYRE_INVALID);
    require_sentence("7 bytes");
    bindings[1].buffer = fine;
    desc.binding_count = 3;
    require(try_launch(test, &desc) == GYRE_INVALID);
    require_sentence("no buffer 'wieghts'; it declares weights, hits; did you mean 'weights'?");
    bindings[2] = (gyre_binding_name){"weights", odd};
    require(try_launch(test, &desc) == GYRE_INVALID);
    require_sentence("buffer 'weights' of kernel 'scale' is bound twice: bind one buffer to each name");
    desc.bindings = NULL;
    require(try_launch(test, &desc) == GYRE_INVALID);
    require_sentence("binding_count is 3, and bindings is NULL");
}

static void buffer_bounds_are_checked(struct conformance *test)
{
    gyre_buffer *buffer = NULL;
    char bytes[16] = {0};
    must(gyre_buffer_alloc(test->runtime, test->backend, 0, 16, &buffer));
    require(gyre_buffer_upload(buffer, 1, bytes, 16) == GYRE_INVALID);
    require(gyre_buffer_download(buffer, 17, bytes, 0) == GYRE_INVALID);
    require(gyre_buffer_fill(buffer, UINT64_MAX, 0, 2) == GYRE_INVALID);
    require_sentence("buffer of 16 bytes");
    require(gyre_buffer_alloc(test->runtime, test->backend, 0, 0, &buffer) == GYRE_INVALID);
    require(gyre_buffer_alloc(test->runtime, test->backend, 0, UINT64_C(1) << 60, &buffer) == GYRE_EXHAUSTED);
}

static void wrong_copies_are_told(struct conformance *test)
{
    gyre_buffer *small = NULL, *large = NULL;
    must(gyre_buffer_alloc(test->runtime, test->backend, 0, 16, &small));
    must(gyre_buffer_alloc(test->runtime, test->backend, 0, 64, &large));
    must(gyre_buffer_fill(small, 0, 0x5a, 16));
    require(gyre_buffer_copy(small, 0, large, 0, 17) == GYRE_INVALID);
    require_sentence("17 bytes from 0 on of a target of 16 bytes");
    require(gyre_buffer_copy(large, 0, small, 9, 8) == GYRE_INVALID);
    require_sentence("8 bytes from 9 on of a source of 16 bytes");
    require(gyre_buffer_copy(large, UINT64_MAX, small, 0, 2) == GYRE_INVALID);
    require(gyre_buffer_copy(small, 17, large, 0, 0) == GYRE_INVALID);
    require(gyre_buffer_copy(large, 1, large, 32, 8) == GYRE_INVALID);
    require_sentence("target and source are the same buffer");
    require(gyre_buffer_copy(large, 0, NULL, 0, 1) == GYRE_INVALID);
    unsigned char bytes[64], none[64] = {0};
    must(gyre_buffer_download(large, 0, bytes, sizeof bytes));
    require(memcmp(bytes, none, sizeof none) == 0);
    must(gyre_buffer_free(small));
    must(gyre_buffer_free(large));
}

static void queue_shapes_are_checked(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_8192");
    gyre_queue *queue = NULL;
    gyre_queue_desc desc = {.size = sizeof desc, .capacity = 1000};
    require(gyre_queue_open(kernel, &desc, &queue) == GYRE_INVALID);
    require_sentence("the queue: capacity must be a power of two");
    desc.capacity = UINT64_C(1) << 40;
    require(gyre_queue_open(kernel, &desc, &queue) == GYRE_EXHAUSTED);
    desc.capacity = 2;
    desc.policy = (gyre_full_policy)5;
    require(gyre_queue_open(kernel, &desc, &queue) == GYRE_INVALID);
    require_sentence(
        "a queue of kernel 'words_of_8192': policy: expected 0 (as configured), 1 (block), 2 (reject), "
        "3 (drop_oldest) or 4 (drop_newest) of gyre_full_policy, found 5");
    desc.policy = GYRE_FULL_DEFAULT;
    desc.first_sequence = UINT64_C(1) << 63;
    require(gyre_queue_open(kernel, &desc, &queue) == GYRE_INVALID);
    require_sentence("first_sequence: expected 0 to 9223372036854775807, found 9223372036854775808");
    desc.first_sequence = 0;
    desc.request = GYRE_TYPE(words_1);
    require(gyre_queue_open(kernel, &desc, &queue) == GYRE_INCOMPATIBLE);
}

static void a_mistyped_backend_gets_the_nearest_name(struct conformance *test)
{
    gyre_launch_desc desc = launch_desc(test, "words.gyre.c", "words_of_1");
    desc.backend = "cqu";
    require(try_launch(test, &desc) == GYRE_NOT_FOUND);
    require_sentence("cqu");
}

static void a_device_that_does_not_exist_is_refused(struct conformance *test)
{
    gyre_launch_desc desc = launch_desc(test, "words.gyre.c", "words_of_1");
    desc.device = 4000;
    require(try_launch(test, &desc) == GYRE_INVALID);
    require_sentence("4000");
}

static void the_argument_that_is_missing_is_named(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "words.gyre.c", "words_of_1");
    gyre_launch_desc launched = {.source = "words.gyre.c"};
    gyre_queue_desc opened = {.capacity = 16};
    gyre_queue *queue;
    words_1 request = {{1}}, reply;
    gyre_kernel *other;
    require(gyre_launch(test->runtime, &launched, &other) == GYRE_INVALID);
    require_sentence("gyre_launch: the size of 'desc' is not set");
    require(gyre_launch(NULL, &launched, &other) == GYRE_INVALID);
    require_sentence("gyre_launch: 'runtime' is NULL");
    require(gyre_queue_open(kernel, &opened, &queue) == GYRE_INVALID);
    require_sentence("gyre_queue_open: the size of 'desc' is not set");
    opened.size = sizeof opened;
    opened.name = "\x1b[31m";
    require(gyre_queue_open(kernel, &opened, &queue) == GYRE_INVALID);
    require_sentence("the name of a queue of kernel 'words_of_1': expected UTF-8 without control characters");
    require(gyre_send(NULL, &request, sizeof request, NULL, soon()) == GYRE_INVALID);
    require_sentence("gyre_send: 'queue' is NULL");
    require(gyre_call(NULL, &request, sizeof request, &reply, sizeof reply, NULL, soon()) == GYRE_INVALID);
    require_sentence("gyre_call: 'queue' is NULL");
    require(gyre_receive(NULL, &reply, sizeof reply, NULL, soon()) == GYRE_INVALID);
    require_sentence("gyre_receive: 'queue' is NULL");
}

/* A request that was sent and then refused would be handled, and sent again by who reads the status. */
static void what_no_request_reaches_is_refused_before_it_is_sent(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "words.gyre.c", "words_of_1"));
    const words_1 request = {{1}};
    gyre_queue_stats stats = {.size = sizeof stats};
    uint64_t index = 77;
    require(gyre_send_until(queue, &request, sizeof request, &index, GYRE_DURABLE, soon()) == GYRE_INVALID);
    require_sentence("has no journal (durability = journal)");
    require(gyre_send_until(queue, &request, sizeof request, &index, GYRE_CHECKPOINTED, soon()) ==
            GYRE_INVALID);
    require_sentence("has no checkpoints");
    must(gyre_queue_stats_get(queue, &stats));
    require(stats.sent == 0 && index == 77);
}

static void keyed_actors_are_there_or_refused(struct conformance *test)
{
    gyre_kernel *kernel = NULL;
    const gyre_launch_desc desc = launch_desc(test, "keyed.gyre.c", "keyed_marks");
    const gyre_status status = gyre_launch(test->runtime, &desc, &kernel);
    if (status == GYRE_OK)
        return;
    require(status == GYRE_UNIMPLEMENTED && kernel == NULL);
    require_sentence("keeps no states by key yet: launch it on backend 'cpu'");
}

/* The compiler tells: it has nothing that could send for the blocks that own keys. */
static void keyed_actors_with_ports_are_there_or_refused(struct conformance *test)
{
    gyre_kernel *kernel = NULL;
    const gyre_launch_desc desc = launch_desc(test, "keyed_ports.gyre.c", "trips");
    if (gyre_launch(test->runtime, &desc, &kernel) == GYRE_OK)
        return;
    require(kernel == NULL);
    if (strcmp(test->backend, "cuda") == 0)
        require_sentence(
            "has ports, which keyed actors do not have on CUDA yet: run it on backend 'cpu' or 'opencl'");
}

static void keyed_actors_are_linked_or_refused(struct conformance *test)
{
    static const char *const name = "keyed_marks";
    gyre_kernel *kernel = NULL;
    gyre_pipeline *pipeline = NULL;
    gyre_launch_desc desc = launch_desc(test, "keyed.gyre.c", name);
    const gyre_pipeline_desc pipeline_desc = {.size = sizeof pipeline_desc,
                                              .name = "alone",
                                              .entries = &name,
                                              .entry_count = 1,
                                              .answers = &name,
                                              .answer_count = 1};
    desc.stage = 1;
    if (gyre_launch(test->runtime, &desc, &kernel) != GYRE_OK)
        return;
    const gyre_status status = gyre_pipeline_open(test->runtime, &pipeline_desc, &pipeline);
    if (status == GYRE_OK) {
        must(gyre_pipeline_close(pipeline, soon()));
        return;
    }
    require(status == GYRE_UNIMPLEMENTED && pipeline == NULL);
    require_sentence("link");
}

/* On a device that reminds nobody, the launch says so. */
static void reminders_are_there_or_refused(struct conformance *test)
{
    gyre_kernel *kernel = NULL;
    const gyre_launch_desc desc = launch_desc(test, "keyed.gyre.c", "keyed_alarms");
    const gyre_status status = gyre_launch(test->runtime, &desc, &kernel);
    if (status == GYRE_OK)
        return;
    require(status == GYRE_UNIMPLEMENTED && kernel == NULL);
    require_sentence("yet: launch it on backend 'cpu'");
}

const struct conformance_case refusal_cases[] = {
    {"a_missing_file_is_named", a_missing_file_is_named},
    {"a_mistyped_kernel_gets_the_nearest_name", a_mistyped_kernel_gets_the_nearest_name},
    {"a_file_of_several_kernels_wants_a_name", a_file_of_several_kernels_wants_a_name},
    {"a_compile_error_names_file_and_line", a_compile_error_names_file_and_line},
    {"shapes_beyond_the_device_are_refused", shapes_beyond_the_device_are_refused},
    {"an_actor_has_one_lane_and_one_block", an_actor_has_one_lane_and_one_block},
    {"keyed_actors_are_there_or_refused", keyed_actors_are_there_or_refused},
    {"keyed_actors_with_ports_are_there_or_refused", keyed_actors_with_ports_are_there_or_refused},
    {"keyed_actors_are_linked_or_refused", keyed_actors_are_linked_or_refused},
    {"reminders_are_there_or_refused", reminders_are_there_or_refused},
    {"wrong_message_types_are_told_apart", wrong_message_types_are_told_apart},
    {"wrong_message_sizes_are_refused", wrong_message_sizes_are_refused},
    {"messages_of_impossible_sizes_are_refused", messages_of_impossible_sizes_are_refused},
    {"wrong_state_sizes_are_refused", wrong_state_sizes_are_refused},
    {"bindings_are_checked", bindings_are_checked},
    {"buffer_bounds_are_checked", buffer_bounds_are_checked},
    {"wrong_copies_are_told", wrong_copies_are_told},
    {"queue_shapes_are_checked", queue_shapes_are_checked},
    {"a_mistyped_backend_gets_the_nearest_name", a_mistyped_backend_gets_the_nearest_name},
    {"a_device_that_does_not_exist_is_refused", a_device_that_does_not_exist_is_refused},
    {"the_argument_that_is_missing_is_named", the_argument_that_is_missing_is_named},
    {"what_no_request_reaches_is_refused_before_it_is_sent",
     what_no_request_reaches_is_refused_before_it_is_sent},
    {NULL, NULL},
};
