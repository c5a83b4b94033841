/* SPDX-License-Identifier: Apache-2.0 */
/* What handlers can do: state, lanes and barriers, blocks, buffers. */
#include "conformance.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void an_actor_sees_messages_in_order(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "state.gyre.c", "tally_actor"));
    uint64_t sum = 0;
    tally reply;
    for (uint64_t i = 0; i < 500; i++) {
        words_1 request = {{i * i}};
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    }
    for (uint64_t i = 0; i < 500; i++) {
        sum = sum * 31 + i * i;
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        require(reply.count == i + 1 && reply.sum == sum);
    }
}

static void state_can_be_read_at_any_time(struct conformance *test)
{
    gyre_kernel *kernel = launch(test, "state.gyre.c", "tally_actor");
    words_1 request = {{7}};
    tally reply, state;
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(gyre_kernel_state_read(kernel, &state, 3) == GYRE_INVALID);
    require_sentence("16 bytes");
    must(gyre_kernel_state_read(kernel, &state, sizeof state));
    require(state.count == 1 && state.sum == 7 && info_of(kernel).state == GYRE_KERNEL_ACTIVE);
    must(gyre_kernel_deactivate(kernel, soon()));
    must(gyre_kernel_state_read(kernel, &state, sizeof state));
    require(state.count == 1 && state.sum == 7 && info_of(kernel).state == GYRE_KERNEL_INACTIVE);
    must(gyre_kernel_activate(kernel, soon()));
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    must(gyre_kernel_terminate(kernel, GYRE_NO_WAIT, NULL));
    must(gyre_kernel_state_read(kernel, &state, sizeof state));
    require(state.count == 2 && state.sum == 7 * 31 + 7);
    gyre_kernel *without = launch(test, "words.gyre.c", "words_of_1");
    require(gyre_kernel_state_read(without, &state, sizeof state) == GYRE_INVALID);
    require_sentence("no state");
}

/* Reads what a kernel keeps while messages stream through it. */
typedef struct onlooker {
    gyre_kernel *kernel;
    const uint64_t *sums; /* by count */
    uint64_t answered;    /* atomic: messages */
    uint32_t over;        /* atomic */
    uint32_t reads;
} onlooker;

static void *look_on(void *argument)
{
    onlooker *look = argument;
    do {
        tally state;
        const uint64_t least = __atomic_load_n(&look->answered, __ATOMIC_ACQUIRE);
        must(gyre_kernel_state_read(look->kernel, &state, sizeof state));
        require(state.count >= least && state.sum == look->sums[state.count]);
        look->reads++;
    } while (!__atomic_load_n(&look->over, __ATOMIC_ACQUIRE));
    return NULL;
}

static void stream_ones(gyre_kernel *kernel, bool in_order, uint64_t messages, onlooker looks[2])
{
    gyre_queue *queue = gyre_kernel_queue(kernel);
    tally reply;
    for (uint64_t sent = 0, received = 0; received < messages;) {
        words_1 request = {{1}};
        if (sent < messages && gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) == GYRE_OK) {
            sent++;
            continue;
        }
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        require(!in_order || reply.count == received + 1);
        received++;
        for (int i = 0; i < 2; i++)
            __atomic_store_n(&looks[i].answered, received, __ATOMIC_RELEASE);
    }
}

/* Two at a time, which come in each other's way, and read without a break. */
static void stream_before_onlookers(const struct conformance *test, const char *name, uint32_t blocks,
                                    const uint64_t *sums, uint64_t messages)
{
    static const char *const patient[] = {"kernel.default.stop_timeout_ms=60000", NULL};
    gyre_runtime *runtime = open_with(test, patient);
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(test, "state.gyre.c", name);
    pthread_t threads[2];
    tally state;
    desc.blocks = blocks;
    must(gyre_launch(runtime, &desc, &kernel));
    onlooker looks[2] = {{.kernel = kernel, .sums = sums}, {.kernel = kernel, .sums = sums}};
    for (int i = 0; i < 2; i++)
        require(pthread_create(&threads[i], NULL, look_on, &looks[i]) == 0);
    stream_ones(kernel, blocks == 1, messages, looks);
    for (int i = 0; i < 2; i++)
        __atomic_store_n(&looks[i].over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    must(gyre_kernel_state_read(kernel, &state, sizeof state));
    require(state.count == messages && state.sum == sums[messages]);
    require(looks[0].reads > 0 && looks[1].reads > 0);
    gyre_close(runtime);
}

enum { SHOWN = 3000 };

static void a_running_actor_shows_the_work_of_whole_messages(struct conformance *test)
{
    static uint64_t sums[SHOWN + 1];
    for (uint64_t i = 0; i < SHOWN; i++)
        sums[i + 1] = sums[i] * 31 + 1;
    stream_before_onlookers(test, "tally_actor", 1, sums, SHOWN);
}

static void running_blocks_show_the_work_of_whole_messages(struct conformance *test)
{
    static uint64_t sums[SHOWN + 1];
    for (uint64_t i = 0; i < SHOWN; i++)
        sums[i + 1] = i + 1;
    stream_before_onlookers(test, "tally_lanes", 3, sums, SHOWN);
}

/* Every ticket of a shared counter is given out exactly once, whatever the lanes and blocks. */
static void lanes_share_state_with_atomics(struct conformance *test)
{
    enum { MESSAGES = 20000 };
    static uint8_t seen[MESSAGES];
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(test, "state.gyre.c", "tally_lanes");
    uint64_t sent = 0, received = 0;
    tally state;
    desc.blocks = 3;
    must(gyre_launch(test->runtime, &desc, &kernel));
    gyre_queue *queue = gyre_kernel_queue(kernel);
    while (received < MESSAGES) {
        words_1 request = {{sent}}, reply;
        if (sent < MESSAGES && gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) == GYRE_OK) {
            sent++;
            continue;
        }
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        require(reply.w[0] < MESSAGES && !seen[reply.w[0]]);
        seen[reply.w[0]] = 1;
        received++;
    }
    must(gyre_kernel_deactivate(kernel, soon()));
    must(gyre_kernel_state_read(kernel, &state, sizeof state));
    require(state.count == MESSAGES && state.sum == (uint64_t)MESSAGES * (MESSAGES - 1) / 2);
}

/* Some after the other, with pauses of the kernel, then as many as fit: what was handled twice gives no wrong
 * reply, but the state counts it. */
static void count_handled(struct conformance *test, const char *name, size_t size)
{
    enum { CALLS = 600, STREAMED = 4000 };
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(test, "state.gyre.c", name);
    bool seen[CALLS + STREAMED] = {false};
    words_7 request = {{1}}, reply = {{0}};
    tally state;
    desc.blocks = 1;
    must(gyre_launch(test->runtime, &desc, &kernel));
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint64_t i = 0; i < CALLS; i++) {
        must(gyre_call(queue, &request, size, &reply, size, NULL, soon()));
        require(reply.w[0] == i);
        if (i % 50 == 0) {
            must(gyre_kernel_deactivate(kernel, soon()));
            must(gyre_kernel_activate(kernel, soon()));
        }
    }
    for (uint64_t sent = 0, received = 0; received < STREAMED;) {
        if (sent < STREAMED && gyre_send(queue, &request, size, NULL, GYRE_NO_WAIT) == GYRE_OK) {
            sent++;
            continue;
        }
        must(gyre_receive(queue, &reply, size, NULL, soon()));
        require(reply.w[0] >= CALLS && reply.w[0] < CALLS + STREAMED && !seen[reply.w[0]]);
        seen[reply.w[0]] = true;
        received++;
    }
    must(gyre_kernel_deactivate(kernel, soon()));
    must(gyre_kernel_state_read(kernel, &state, sizeof state));
    require(state.count == CALLS + STREAMED && state.sum == state.count);
    gyre_kernel_release(kernel);
}

static void each_message_is_handled_once(struct conformance *test)
{
    count_handled(test, "tally_lanes", sizeof(words_1));
    count_handled(test, "tally_wide", sizeof(words_7));
}

static void blocks_reply_in_the_order_of_requests(struct conformance *test)
{
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(test, "words.gyre.c", "words_of_6");
    desc.blocks = 4;
    must(gyre_launch(test->runtime, &desc, &kernel));
    gyre_queue *queue = gyre_kernel_queue(kernel);
    uint64_t sent = 0, received = 0;
    while (received < 50000) {
        words_6 request = {{sent, sent + 1, 2, 3, 4, 5}}, reply;
        if (sent < 50000 && gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) == GYRE_OK) {
            sent++;
            continue;
        }
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        require(reply.w[0] == received * 3 && reply.w[1] == (received + 1) * 3 + 1);
        received++;
    }
}

static void check_lanes(struct conformance *test, uint32_t lanes)
{
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(test, "blocks.gyre.c", "neighbours");
    lane_report reply;
    desc.lanes = lanes;
    desc.blocks = 2;
    must(gyre_launch(test->runtime, &desc, &kernel));
    for (uint64_t i = 0; i < 20; i++) {
        words_1 request = {{i}};
        must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL,
                       soon()));
        /* each cell counts twice: its own and its neighbour's */
        require(reply.sum == 2 * (i * lanes + (uint64_t)lanes * (lanes - 1) / 2));
        require(reply.lanes == lanes && reply.highest == lanes - 1 && reply.first == 7 && reply.blocks == 2);
    }
    gyre_kernel_release(kernel);
}

static void lanes_meet_at_barriers(struct conformance *test)
{
    static const uint32_t lanes[] = {1, 2, 3, 31, 32, 33, 256, 1000};
    for (size_t i = 0; i < sizeof lanes / sizeof lanes[0]; i++)
        check_lanes(test, lanes[i]);
}

static void a_block_fails_when_one_lane_fails(struct conformance *test)
{
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = launch_desc(test, "blocks.gyre.c", "odd_fail");
    gyre_completion completion;
    words_1 request = {{1}}, reply;
    desc.lanes = 8;
    must(gyre_launch(test->runtime, &desc, &kernel));
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, &completion,
                   soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == 1);
    require(!strcmp(completion.failure_text, "odd lane"));
}

static gyre_buffer *make_buffer(struct conformance *test, uint64_t size)
{
    gyre_buffer *buffer = NULL;
    must(gyre_buffer_alloc(test->runtime, test->backend, 0, size, &buffer));
    return buffer;
}

static void a_buffer_under_two_names_has_one_kernel(struct conformance *test)
{
    gyre_buffer *buffer = make_buffer(test, 400);
    gyre_binding_name bindings[] = {{"hits", buffer}, {"weights", buffer}};
    gyre_launch_desc desc = launch_desc(test, "buffers.gyre.c", "scale");
    gyre_kernel *kernel = NULL;
    desc.bindings = bindings;
    desc.binding_count = 2;
    must(gyre_launch(test->runtime, &desc, &kernel));
    require(gyre_buffer_free(buffer) == GYRE_INVALID);
    require_sentence("bound to 1 running kernel; terminate it first");
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    gyre_kernel_release(kernel);
    must(gyre_buffer_free(buffer));
}

static void a_kernel_whose_buffer_was_freed_is_not_relaunched(struct conformance *test)
{
    gyre_buffer *weights = make_buffer(test, 400), *hits = make_buffer(test, 400);
    gyre_binding_name bindings[] = {{"hits", hits}, {"weights", weights}};
    gyre_launch_desc desc = launch_desc(test, "buffers.gyre.c", "scale");
    gyre_kernel *kernel = NULL;
    desc.bindings = bindings;
    desc.binding_count = 2;
    must(gyre_launch(test->runtime, &desc, &kernel));
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    must(gyre_kernel_relaunch(kernel));
    require(gyre_buffer_free(weights) == GYRE_INVALID);
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    must(gyre_buffer_free(weights));
    for (int i = 0; i < 2; i++) {
        require(gyre_kernel_relaunch(kernel) == GYRE_NOT_FOUND);
        require_sentence("a buffer that is bound to kernel 'scale' was freed since it ended");
        require(info_of(kernel).state == GYRE_KERNEL_TERMINATED);
    }
    must(gyre_buffer_free(hits)); /* nothing holds it */
    gyre_kernel_release(kernel);
}

static void handlers_use_bound_buffers(struct conformance *test)
{
    enum { COUNT = 100 };
    float weights[COUNT];
    uint32_t hits[COUNT];
    gyre_buffer *in = make_buffer(test, sizeof weights), *out = make_buffer(test, sizeof hits);
    gyre_binding_name bindings[] = {{"hits", out}, {"weights", in}}; /* any order */
    gyre_launch_desc desc = launch_desc(test, "buffers.gyre.c", "scale");
    gyre_kernel *kernel = NULL;
    gyre_completion completion;
    words_1 request, reply;
    for (int i = 0; i < COUNT; i++)
        weights[i] = (float)i * 1.5f;
    must(gyre_buffer_upload(in, 0, weights, sizeof weights));
    desc.bindings = bindings;
    desc.binding_count = 2;
    must(gyre_launch(test->runtime, &desc, &kernel));
    for (uint64_t i = 0; i < 300; i++)
        require(call_word(gyre_kernel_queue(kernel), i % COUNT) == 3 * (i % COUNT));
    request.w[0] = COUNT;
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, &completion,
                   soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED); /* its own bounds check */
    require(gyre_buffer_free(in) == GYRE_INVALID);
    require_sentence("bound to 1 running kernel; terminate it first");
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    must(gyre_buffer_download(out, 0, hits, sizeof hits));
    for (int i = 0; i < COUNT; i++)
        require(hits[i] == 3);
    gyre_kernel_release(kernel);
    must(gyre_buffer_free(in));
    must(gyre_buffer_free(out));
}

/* A device that stays may hold old contents in its caches, and a small table for ever. */
static void see_new_weights(struct conformance *test, bool copied)
{
    float weights[100];
    gyre_buffer *in = make_buffer(test, sizeof weights), *out = make_buffer(test, sizeof weights);
    gyre_buffer *aside = make_buffer(test, sizeof weights);
    gyre_binding_name bindings[] = {{"weights", in}, {"hits", out}};
    gyre_launch_desc desc = launch_desc(test, "buffers.gyre.c", "scale");
    gyre_kernel *kernel = NULL;
    desc.bindings = bindings;
    desc.binding_count = 2;
    must(gyre_launch(test->runtime, &desc, &kernel));
    for (uint64_t round = 1; round <= 50; round++) {
        for (uint64_t i = 0; i < 100; i++)
            weights[i] = (float)(i + round);
        must(gyre_buffer_upload(copied ? aside : in, 0, weights, sizeof weights));
        if (copied)
            must(gyre_buffer_copy(in, 0, aside, 0, sizeof weights));
        for (uint64_t i = 0; i < 100; i += 7)
            require(call_word(gyre_kernel_queue(kernel), i) == 2 * (i + round));
    }
}

static void uploads_are_seen_by_what_is_sent_behind_them(struct conformance *test)
{
    see_new_weights(test, false);
}

static void copies_are_seen_by_what_is_sent_behind_them(struct conformance *test)
{
    see_new_weights(test, true);
}

static void buffers_transfer_every_byte(struct conformance *test)
{
    static uint8_t there[100000], back[100000];
    gyre_buffer *buffer = make_buffer(test, sizeof there);
    require(gyre_buffer_size(buffer) == sizeof there);
    must(gyre_buffer_download(buffer, 0, back, sizeof back));
    for (size_t i = 0; i < sizeof there; i++) {
        require(back[i] == 0); /* new memory is zero */
        there[i] = (uint8_t)(i * 7 + i / 251);
    }
    must(gyre_buffer_upload(buffer, 0, there, sizeof there));
    must(gyre_buffer_fill(buffer, 1001, 0xab, 499));
    memset(there + 1001, 0xab, 499);
    must(gyre_buffer_upload(buffer, 99999, there, 1));
    there[99999] = there[0];
    must(gyre_buffer_download(buffer, 3, back + 3, sizeof back - 3));
    require(!memcmp(there + 3, back + 3, sizeof there - 3));
    must(gyre_buffer_upload(buffer, 100000, there, 0)); /* nothing, at the end */
    must(gyre_buffer_free(buffer));
}

/* Large memory is filled piece by piece. malloc of the backends of this process hands out no zeros here. */
static void large_buffers_are_zero_to_their_last_byte(struct conformance *test)
{
    const uint64_t size = (20u << 20) + 5; /* more than a piece */
    unsigned char *bytes = malloc(size);
    require(bytes != NULL);
#ifdef M_PERTURB /* musl has no such switch */
    mallopt(M_PERTURB, 0x55);
#endif
    gyre_buffer *buffer = make_buffer(test, size);
    must(gyre_buffer_download(buffer, 0, bytes, size));
    require(bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
    must(gyre_buffer_free(buffer));
    free(bytes);
}

/* Every alignment of both sides, and sizes around words, lines and pages; what lies beside stays. */
static void buffers_are_copied_within_the_device(struct conformance *test)
{
    static const uint64_t sizes[] = {1, 3, 8, 63, 64, 65, 4095, 4097, 60001};
    static unsigned char there[65536], expected[65536], back[65536];
    gyre_buffer *source = make_buffer(test, sizeof there), *target = make_buffer(test, sizeof there);
    for (size_t i = 0; i < sizeof there; i++)
        there[i] = (unsigned char)(i * 7 + i / 251);
    must(gyre_buffer_upload(source, 0, there, sizeof there));
    for (size_t i = 0; i < 5 * sizeof sizes / sizeof sizes[0]; i++) {
        const uint64_t size = sizes[i / 5], from = i * 13 + i % 5, to = i * 29 + i % 3;
        must(gyre_buffer_copy(target, to, source, from, size));
        memcpy(expected + to, there + from, size);
        must(gyre_buffer_download(target, 0, back, sizeof back));
        require(memcmp(back, expected, sizeof back) == 0);
    }
    must(gyre_buffer_download(source, 0, back, sizeof back));
    require(memcmp(back, there, sizeof back) == 0);
    must(gyre_buffer_copy(target, 0, source, 0, sizeof there)); /* all of it, and nothing at the end */
    must(gyre_buffer_copy(target, sizeof there, source, sizeof there, 0));
    must(gyre_buffer_download(target, 0, back, sizeof back));
    require(memcmp(back, there, sizeof back) == 0);
    must(gyre_buffer_free(source));
    must(gyre_buffer_free(target));
}

const struct conformance_case kernel_cases[] = {
    {"an_actor_sees_messages_in_order", an_actor_sees_messages_in_order},
    {"state_can_be_read_at_any_time", state_can_be_read_at_any_time},
    {"a_running_actor_shows_the_work_of_whole_messages", a_running_actor_shows_the_work_of_whole_messages},
    {"running_blocks_show_the_work_of_whole_messages", running_blocks_show_the_work_of_whole_messages},
    {"lanes_share_state_with_atomics", lanes_share_state_with_atomics},
    {"each_message_is_handled_once", each_message_is_handled_once},
    {"blocks_reply_in_the_order_of_requests", blocks_reply_in_the_order_of_requests},
    {"lanes_meet_at_barriers", lanes_meet_at_barriers},
    {"a_block_fails_when_one_lane_fails", a_block_fails_when_one_lane_fails},
    {"handlers_use_bound_buffers", handlers_use_bound_buffers},
    {"a_buffer_under_two_names_has_one_kernel", a_buffer_under_two_names_has_one_kernel},
    {"a_kernel_whose_buffer_was_freed_is_not_relaunched", a_kernel_whose_buffer_was_freed_is_not_relaunched},
    {"uploads_are_seen_by_what_is_sent_behind_them", uploads_are_seen_by_what_is_sent_behind_them},
    {"copies_are_seen_by_what_is_sent_behind_them", copies_are_seen_by_what_is_sent_behind_them},
    {"buffers_transfer_every_byte", buffers_transfer_every_byte},
    {"large_buffers_are_zero_to_their_last_byte", large_buffers_are_zero_to_their_last_byte},
    {"buffers_are_copied_within_the_device", buffers_are_copied_within_the_device},
    {NULL, NULL},
};
