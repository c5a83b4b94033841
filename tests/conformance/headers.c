/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of messages: what is given is what handlers and
 * receivers see, in every form; and what is refused. */
#include "conformance.h"

#include <string.h>

gyre_runtime *open_with(const struct conformance *test, const char *const *settings)
{
    gyre_open_desc open = {.size = sizeof open, .settings = settings, .backend = test->backend};
    gyre_runtime *runtime = NULL;
    must(gyre_open(&open, &runtime));
    return runtime;
}

gyre_kernel *launch_in(gyre_runtime *runtime, const char *file, const char *kernel)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = {.size = sizeof desc, .source = kernel_path(file), .kernel = kernel};
    must(gyre_launch(runtime, &desc, &launched));
    return launched;
}

/* Every byte of it differs from its neighbours; the deadline is far away. */
static gyre_header full_header(uint64_t number)
{
    return (gyre_header){.type = 0x11223344u + (uint32_t)number,
                         .priority = 7,
                         .id = UINT64_C(0x0102030405060708) + number,
                         .correlation = UINT64_C(0x1112131415161718) + number,
                         .deadline_ns = gyre_in_ms(3600000),
                         .sender = 0x21222324,
                         .receiver = 0x31323334,
                         .trace = {UINT64_C(0x4142434445464748), UINT64_C(0x5152535455565758) + number}};
}

static void check_seen(const header_seen *seen, const gyre_header *sent, uint64_t before)
{
    require(seen->size == 64 && seen->type == sent->type && seen->priority == sent->priority);
    require(seen->id == sent->id && seen->correlation == sent->correlation);
    require(seen->deadline_ns == sent->deadline_ns);
    require(seen->sent_ns >= before && seen->sent_ns <= gyre_now_ns());
    require(seen->sender == sent->sender && seen->receiver == sent->receiver);
    require(seen->trace[0] == sent->trace[0] && seen->trace[1] == sent->trace[1]);
}

static void check_info(const gyre_message_info *info, const gyre_header *sent, uint64_t before)
{
    gyre_header expected = *sent;
    require(info->header_size == 64);
    require(info->header.sent_ns >= before && info->header.sent_ns <= gyre_now_ns());
    expected.sent_ns = info->header.sent_ns;
    require(memcmp(&info->header, &expected, sizeof expected) == 0);
}

static void handlers_of_every_form_see_headers(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.header=64", NULL};
    static const char *const kernels[] = {"header_lane", "header_block", "header_actor"};
    gyre_runtime *runtime = open_with(test, settings);
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        gyre_queue *queue = gyre_kernel_queue(launch_in(runtime, "headers.gyre.c", kernels[k]));
        for (uint64_t i = 0; i < 300; i++) {
            const gyre_header header = full_header(i);
            const words_1 request = {{i}};
            const uint64_t before = gyre_now_ns();
            gyre_message_info info = {.size = sizeof info};
            header_seen seen;
            must(gyre_call_with(queue, &request, sizeof request, &header, &seen, sizeof seen, NULL, &info,
                                soon()));
            require(seen.word == i);
            check_seen(&seen, &header, before);
            check_info(&info, &header, before);
        }
    }
    gyre_close(runtime);
}

static void streams_keep_each_header_with_its_message(struct conformance *test)
{
    enum { BATCH = 96, BATCHES = 100 };
    static const char *const settings[] = {"queue.default.header=64", "queue.default.capacity=256", NULL};
    static words_1 requests[BATCH];
    static gyre_header headers[BATCH];
    gyre_runtime *runtime = open_with(test, settings);
    gyre_queue *queue = gyre_kernel_queue(launch_in(runtime, "headers.gyre.c", "header_brief"));
    uint64_t sent = 0, received = 0;
    while (received < BATCH * BATCHES) {
        const size_t left = BATCH * BATCHES - sent < BATCH ? (size_t)(BATCH * BATCHES - sent) : BATCH;
        size_t moved = 0;
        for (size_t i = 0; i < left; i++) {
            requests[i].w[0] = sent + i;
            headers[i] = full_header(sent + i);
        }
        gyre_status status =
            gyre_send_batch_with(queue, requests, sizeof requests[0], headers, left, &moved, GYRE_NO_WAIT);
        require(status == GYRE_OK || status == GYRE_AGAIN);
        sent += moved;
        for (bool more = true; more && received < sent; received++) {
            header_short seen;
            gyre_message_info info = {.size = sizeof info};
            must(gyre_receive_with(queue, &seen, sizeof seen, NULL, &info, soon()));
            const gyre_header header = full_header(received);
            require(seen.word == received && seen.id == header.id && seen.type == header.type);
            require(seen.trace == header.trace[1] && seen.size == 64);
            require(info.header.id == header.id && info.header.trace[1] == header.trace[1]);
            more = sent - received > 32;
        }
    }
    gyre_close(runtime);
}

/* What a header says of a message whose sender names no type. */
static uint32_t type_of(const gyre_type *type)
{
    gyre_type_info info = {.size = sizeof info};
    must(gyre_type_info_get(type, &info));
    return (uint32_t)info.id;
}

static void reserved_requests_have_headers(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.header=type id correlation", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_queue *queue = gyre_kernel_queue(launch_in(runtime, "headers.gyre.c", "header_lane"));
    const gyre_header header = {.type = 5, .id = 77, .correlation = 99}, wrong = {.sender = 1};
    void *requests;
    size_t stride, count = 2;
    must(gyre_reserve(queue, &requests, &stride, &count, soon()));
    require(count == 2);
    for (size_t i = 0; i < count; i++)
        ((words_1 *)(void *)((char *)requests + i * stride))->w[0] = i;
    must(gyre_reserve_header(queue, 1, &header));
    require(gyre_reserve_header(queue, 2, &header) == GYRE_INVALID);
    require_sentence("2 reserved requests");
    require(gyre_reserve_header(queue, 0, &wrong) == GYRE_INVALID);
    must(gyre_commit(queue, count));
    header_seen seen;
    gyre_message_info info = {.size = sizeof info};
    must(gyre_receive_with(queue, &seen, sizeof seen, NULL, &info, soon()));
    require(seen.size == 32 && seen.type == type_of(GYRE_TYPE(words_1)) && seen.id == 1 &&
            info.header.id == 1 && seen.correlation == 0);
    must(gyre_receive_with(queue, &seen, sizeof seen, NULL, &info, soon()));
    require(seen.type == 5 && seen.id == 77 && seen.correlation == 99 && info.header_size == 32);
    gyre_close(runtime);
}

static void a_short_header_holds_its_first_fields(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.header=16", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_queue *queue = gyre_kernel_queue(launch_in(runtime, "headers.gyre.c", "header_lane"));
    const gyre_header header = {.type = 3, .priority = 2, .id = 1234}, longer = {.correlation = 1};
    const words_1 request = {{9}};
    header_seen seen;
    must(gyre_call_with(queue, &request, sizeof request, &header, &seen, sizeof seen, NULL, NULL, soon()));
    require(seen.size == 16 && seen.type == 3 && seen.priority == 2 && seen.id == 1234);
    require(seen.correlation == 0 && seen.sent_ns == 0 && seen.trace[0] == 0 && seen.trace[1] == 0);
    require(gyre_send_with(queue, &request, sizeof request, &longer, NULL, soon()) == GYRE_INVALID);
    require_sentence("'correlation' lies behind them; set header = 32");
    gyre_close(runtime);
}

static void a_queue_without_headers_says_so(struct conformance *test)
{
    gyre_queue *queue = gyre_kernel_queue(launch(test, "headers.gyre.c", "header_lane"));
    const gyre_header header = {.id = 5}, nothing = {0};
    const words_1 request = {{3}};
    gyre_message_info info = {.size = sizeof info, .header_size = 1};
    header_seen seen;
    require(gyre_call_with(queue, &request, sizeof request, &header, &seen, sizeof seen, NULL, NULL,
                           soon()) == GYRE_INVALID);
    require_sentence("have no header");
    must(gyre_call_with(queue, &request, sizeof request, &nothing, &seen, sizeof seen, NULL, &info, soon()));
    require(seen.size == 0 && seen.id == 0 && seen.sent_ns == 0 && info.header_size == 0);
    require(info.header.id == 0);
}

static void queues_of_one_kernel_have_headers_of_their_own(struct conformance *test)
{
    static const char *const settings[] = {"queue.long.header=64", "queue.short.header=id", NULL};
    static const struct {
        const char *name;
        uint32_t size;
    } queues[] = {{"long", 64}, {"short", 16}, {"plain", 0}};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *kernel = launch_in(runtime, "headers.gyre.c", "header_lane");
    for (size_t q = 0; q < sizeof queues / sizeof queues[0]; q++) {
        gyre_queue *queue = NULL;
        const words_1 request = {{q}};
        header_seen seen;
        must(gyre_queue_open(
            kernel, &(gyre_queue_desc){.size = sizeof(gyre_queue_desc), .name = queues[q].name}, &queue));
        must(gyre_call(queue, &request, sizeof request, &seen, sizeof seen, NULL, soon()));
        require(seen.size == queues[q].size && seen.word == q);
        require(seen.id == (queues[q].size ? 1u : 0u));
    }
    gyre_close(runtime);
}

static void a_wrong_header_setting_is_told(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.header=type prority", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = {
        .size = sizeof desc, .source = kernel_path("headers.gyre.c"), .kernel = "header_lane"};
    require(gyre_launch(runtime, &desc, &kernel) == GYRE_CONFIG);
    require_sentence("did you mean 'priority'");
    gyre_close(runtime);
}

static void headers_tell_when_a_handler_ran(struct conformance *test)
{
    static const char *const settings[] = {"queue.default.header=sent started finished", NULL};
    gyre_runtime *runtime = open_with(test, settings);
    gyre_queue *queue = gyre_kernel_queue(launch_in(runtime, "headers.gyre.c", "header_lane"));
    for (uint64_t i = 0; i < 50; i++) {
        const words_1 request = {{i}};
        header_seen seen;
        gyre_message_info info = {.size = sizeof info};
        must(gyre_call_with(queue, &request, sizeof request, NULL, &seen, sizeof seen, NULL, &info, soon()));
        require(info.header_size == 48 && info.header.sent_ns != 0);
        require(info.header.sent_ns <= info.started_ns + info.time_error_ns + 1000000);
        require(info.started_ns <= info.finished_ns && info.finished_ns <= gyre_now_ns());
    }
    gyre_close(runtime);
}

const struct conformance_case header_cases[] = {
    {"handlers_of_every_form_see_headers", handlers_of_every_form_see_headers},
    {"streams_keep_each_header_with_its_message", streams_keep_each_header_with_its_message},
    {"reserved_requests_have_headers", reserved_requests_have_headers},
    {"a_short_header_holds_its_first_fields", a_short_header_holds_its_first_fields},
    {"a_queue_without_headers_says_so", a_queue_without_headers_says_so},
    {"queues_of_one_kernel_have_headers_of_their_own", queues_of_one_kernel_have_headers_of_their_own},
    {"a_wrong_header_setting_is_told", a_wrong_header_setting_is_told},
    {"headers_tell_when_a_handler_ran", headers_tell_when_a_handler_ran},
    {NULL, NULL},
};
