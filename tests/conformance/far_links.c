/* SPDX-License-Identifier: Apache-2.0 */
/* Pipelines whose kernels are on two devices that use each other's memory: their links go straight, unless `peers` is off. */
#include "conformance.h"
#include "kernels/counted.h"
#include "kernels/links.h"
#include "kernels/pools.h"

#include <gyre/pipeline.h>
#include <sched.h>
#include <string.h>

enum { KERNELS = 5, LINKS = KERNELS - 1, JOBS = 3000, BURSTS = 500, WINDOW = 512 };

static const char *const names[KERNELS] = {"a", "b", "c", "d", "e"};
static const char *const ports[LINKS] = {"a.out", "b.out", "c.out", "d.out"};

/* ---- chains over both devices ---- */

static gyre_status launch_at(gyre_runtime *runtime, const char *backend, uint32_t device, const char *kernel,
                             const char *name)
{
    gyre_kernel *launched = NULL;
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = kernel_path("links.gyre.c"),
                                   .kernel = kernel,
                                   .name = name,
                                   .backend = backend,
                                   .device = device,
                                   .blocks = 1};
    return gyre_launch(runtime, &desc, &launched);
}

/* a -> b -> c -> d -> e: the first one on `first`, the others on the devices 1, 0, 1, 0 of the case's backend. */
static gyre_pipeline *open_chain(const struct conformance *test, gyre_runtime *runtime, const char *first)
{
    gyre_link_desc links[LINKS];
    gyre_pipeline *pipeline = NULL;
    for (uint32_t i = 0; i < KERNELS; i++) {
        const gyre_status status =
            launch_at(runtime, i ? test->backend : first, i % 2, i < LINKS ? "pass" : "finish", names[i]);
        if (status != GYRE_OK && i == 1)
            not_on_this_machine("a second device");
        must(status);
    }
    for (int i = 0; i < LINKS; i++)
        links[i] = (gyre_link_desc){.size = sizeof links[i], .from = ports[i], .to = names[i + 1]};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "far",
                                     .entries = names,
                                     .entry_count = 1,
                                     .answers = names + LINKS,
                                     .answer_count = 1,
                                     .links = links,
                                     .link_count = LINKS};
    must(gyre_pipeline_open(runtime, &desc, &pipeline));
    return pipeline;
}

/*
 * Each job passes all kernels, and its reply is the one of its request. `before`: jobs that the queue had earlier.
 */
static void stream_jobs(gyre_queue *queue, uint64_t before, uint64_t count)
{
    uint64_t sent = 0;
    for (uint64_t received = 0; received < count; received++) {
        job reply;
        gyre_completion completion;
        for (; sent < count && sent < received + WINDOW; sent++) {
            const job request = {.number = sent};
            must(gyre_send(queue, &request, sizeof request, NULL, soon()));
        }
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && completion.index == before + received);
        require(reply.number == received && reply.hops == KERNELS && reply.sum == received * LINKS);
    }
}

static gyre_link_info link_of(const gyre_pipeline *pipeline, size_t index)
{
    gyre_link_info info = {.size = sizeof info};
    must(gyre_pipeline_link(pipeline, index, &info));
    return info;
}

/* Waits until no message stands in a link and `sent` were sent, or any number: a block counts a message behind passing it on. */
enum { ANY_NUMBER = -1 };
static void await_counts(const gyre_pipeline *pipeline, size_t index, int64_t sent)
{
    for (const uint64_t deadline = soon();;) {
        const gyre_link_info info = link_of(pipeline, index);
        if (info.waiting == 0 && (sent == ANY_NUMBER || info.sent == (uint64_t)sent))
            return;
        require(gyre_in_ms(0) < deadline);
        sched_yield();
    }
}

/* ---- cases ---- */

static void links_of_two_devices_go_straight(struct conformance *test)
{
    gyre_pipeline *pipeline = open_chain(test, test->runtime, test->backend);
    stream_jobs(gyre_pipeline_queue(pipeline), 0, JOBS);
    for (size_t i = 0; i < LINKS; i++) {
        require(!link_of(pipeline, i).through_host);
        await_counts(pipeline, i, JOBS);
    }
    require(!has_logged(test, "through the host"));
    must(gyre_pipeline_close(pipeline, soon()));
}

/* The kernels of both devices are one part: only the link from the processor leads through the host. */
static void kernels_of_two_devices_are_one_part(struct conformance *test)
{
    gyre_pipeline *pipeline = open_chain(test, test->runtime, "cpu");
    stream_jobs(gyre_pipeline_queue(pipeline), 0, JOBS);
    for (size_t i = 0; i < LINKS; i++)
        require(link_of(pipeline, i).through_host == (i == 0));
    must(gyre_pipeline_close(pipeline, soon()));
}

/* Counts lines that say why links go through the host. */
static void count_told(void *told, int level, const char *text)
{
    (void)level;
    if (strstr(text, "pipeline 'far': links between devices 0 and 1 of") &&
        strstr(text, "go through the host: gyre.peers is false"))
        ++*(int *)told;
}

static void links_go_through_the_host_without_peers(struct conformance *test)
{
    static const char *const settings[] = {"peers=false", "log_level=info", NULL};
    int told = 0;
    const gyre_open_desc desc = {.size = sizeof desc,
                                 .settings = settings,
                                 .backend = test->backend,
                                 .log = count_told,
                                 .log_context = &told};
    gyre_runtime *runtime = NULL;
    must(gyre_open(&desc, &runtime));
    gyre_pipeline *pipeline = open_chain(test, runtime, "cpu");
    stream_jobs(gyre_pipeline_queue(pipeline), 0, JOBS / 4);
    for (size_t i = 0; i < LINKS; i++)
        require(link_of(pipeline, i).through_host);
    gyre_close(runtime);
    require(told == 1);
}

/* A link that led to a kernel of its own device leads to one of the other device. */
static void a_link_leads_to_the_other_device(struct conformance *test)
{
    gyre_pipeline *pipeline = open_chain(test, test->runtime, test->backend);
    must(launch_at(test->runtime, test->backend, 1, "finish", "f"));
    stream_jobs(gyre_pipeline_queue(pipeline), 0, JOBS / 4);
    must(gyre_link_retarget(pipeline, "d.out", "f", soon()));
    stream_jobs(gyre_pipeline_queue(pipeline), JOBS / 4, JOBS / 4);
    must(gyre_pipeline_close(pipeline, soon()));
}

/* front -> deal -> a pool of w0 and w1: `front` on the first device, which the pipeline's memory lies on, the others on the second one. */
static gyre_pipeline *open_far_pool(const struct conformance *test)
{
    static const char *const kernels[] = {"deal", "deal", "work", "work"}, *const called[] = {"front", "deal",
                                                                                              "w0", "w1"};
    const gyre_link_desc links[] = {
        {.size = sizeof links[0], .from = "front.jobs", .to = "deal"},
        {.size = sizeof links[0], .from = "deal.jobs", .to = "w0", .pool = "work"},
        {.size = sizeof links[0], .from = "deal.jobs", .to = "w1", .pool = "work"},
    };
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "far",
                                     .entries = called,
                                     .entry_count = 1,
                                     .answers = called + 2,
                                     .answer_count = 2,
                                     .links = links,
                                     .link_count = 3};
    gyre_pipeline *pipeline = NULL;
    for (uint32_t i = 0; i < 4; i++) {
        gyre_kernel *kernel = NULL;
        const gyre_launch_desc launch = {.size = sizeof launch,
                                         .source = kernel_path("pools.gyre.c"),
                                         .kernel = kernels[i],
                                         .name = called[i],
                                         .backend = test->backend,
                                         .device = i > 0,
                                         .blocks = 1,
                                         .stage = 4};
        const gyre_status status = gyre_launch(test->runtime, &launch, &kernel);
        if (status != GYRE_OK && i == 1)
            not_on_this_machine("a second device");
        must(status);
    }
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    return pipeline;
}

/* Either member takes all jobs from the rings that lie in the memory of the first one, while the other one is paused. */
static void a_pool_lies_on_the_second_device(struct conformance *test)
{
    enum { CALLS = 20 };
    gyre_pipeline *pipeline = open_far_pool(test);
    gyre_kernel *const members[] = {gyre_kernel_find(test->runtime, "w0"),
                                    gyre_kernel_find(test->runtime, "w1")};
    for (size_t awake = 0; awake < 2; awake++) {
        must(gyre_kernel_activate(members[awake], soon()));
        must(gyre_kernel_deactivate(members[!awake], soon()));
        for (uint64_t i = 0; i < CALLS; i++) {
            const prey request = {.number = i, .wide = 1};
            prey reply;
            gyre_completion completion;
            must(gyre_call(gyre_pipeline_queue(pipeline), &request, sizeof request, &reply, sizeof reply,
                           &completion, soon()));
            require(completion.outcome == GYRE_REPLIED && reply.leaves == 3 * i);
        }
        await_counts(pipeline, 1 + awake, CALLS);
        await_counts(pipeline, 2 - awake, awake ? CALLS : 0);
    }
    must(gyre_pipeline_close(pipeline, soon()));
}

/* ---- bursts ---- */

/* Two blocks split requests on the first device, two blocks of lanes judge the words on the second one. */
static gyre_pipeline *open_bursts(const struct conformance *test)
{
    static const char *const kernels[] = {"split", "judge"};
    const gyre_link_desc link = {.size = sizeof link, .from = "split.words", .to = "judge"};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "far",
                                     .entries = kernels,
                                     .entry_count = 1,
                                     .answers = kernels + 1,
                                     .answer_count = 1,
                                     .links = &link,
                                     .link_count = 1};
    gyre_pipeline *pipeline = NULL;
    for (uint32_t device = 0; device < 2; device++) {
        gyre_kernel *kernel = NULL;
        const gyre_launch_desc launch = {.size = sizeof launch,
                                         .source = kernel_path("links.gyre.c"),
                                         .kernel = kernels[device],
                                         .backend = test->backend,
                                         .device = device,
                                         .blocks = 2};
        const gyre_status status = gyre_launch(test->runtime, &launch, &kernel);
        if (status != GYRE_OK && device)
            not_on_this_machine("a second device");
        must(status);
    }
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    return pipeline;
}

/* Request `number`: 0 to 64 words, of which one may be answered and one may fail, the first, the last or one in the middle. */
static burst burst_of(uint64_t number)
{
    const uint32_t count = (uint32_t)(number * 7 % (BURST_MOST + 1)), fails = (uint32_t)(number / 5 % 97);
    return (burst){.count = count,
                   .answered = (uint32_t)(number * 31 % 80),
                   .first = number % 5 ? (uint32_t)number : (uint32_t)(WORD_FAILS - fails)};
}

static void check_burst(uint64_t number, const gyre_completion *completion, const word *reply)
{
    const burst request = burst_of(number);
    const bool fails = request.first <= WORD_FAILS && WORD_FAILS - request.first < request.count;
    const bool answers = request.answered < request.count;
    if (fails)
        require(completion->outcome == GYRE_HANDLER_FAILED && completion->failure_code == 7);
    else
        require(completion->outcome == (answers ? GYRE_REPLIED : GYRE_NOT_REPLIED));
    if (!fails && answers)
        require(reply->number == request.first + request.answered && reply->answered == 1);
}

/*
 * The words of a request are handled by many lanes at once, and each request ends once, as its words say. The first half of the words waits
 * for its receiver, which works it off by windows.
 */
static void words_on_the_other_device_end_their_flows(struct conformance *test)
{
    gyre_pipeline *pipeline = open_bursts(test);
    gyre_kernel *const judge = gyre_kernel_find(test->runtime, "judge");
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    uint64_t words = 0;
    must(gyre_kernel_deactivate(judge, soon()));
    for (uint64_t sent = 0; sent < BURSTS; sent++) {
        const burst request = burst_of(sent);
        words += request.count;
        if (sent == BURSTS / 2)
            must(gyre_kernel_activate(judge, soon()));
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    }
    for (uint64_t received = 0; received < BURSTS; received++) {
        word reply = {0};
        gyre_completion completion;
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        check_burst(received, &completion, &reply);
    }
    require(!link_of(pipeline, 0).through_host);
    await_counts(pipeline, 0, (int64_t)words);
    must(gyre_pipeline_close(pipeline, soon()));
}

/* ---- what is only counted ---- */

/* One block makes many messages of each request on the first device, and `blocks` blocks on `device` count them off. */
static gyre_pipeline *open_count(const struct conformance *test, uint32_t device, uint32_t blocks)
{
    static const char *const kernels[] = {"drive", "count_off"};
    const gyre_link_desc link = {.size = sizeof link, .from = "drive.heads", .to = "count_off"};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "count",
                                     .entries = kernels,
                                     .entry_count = 1,
                                     .links = &link,
                                     .link_count = 1};
    gyre_pipeline *pipeline = NULL;
    for (uint32_t i = 0; i < 2; i++) {
        gyre_kernel *kernel = NULL;
        const gyre_launch_desc launch = {.size = sizeof launch,
                                         .source = kernel_path("counted.gyre.c"),
                                         .kernel = kernels[i],
                                         .backend = test->backend,
                                         .device = i ? device : 0,
                                         .blocks = i ? blocks : 1,
                                         .stage = 1};
        const gyre_status status = gyre_launch(test->runtime, &launch, &kernel);
        if (status != GYRE_OK && i && device)
            not_on_this_machine("a second device");
        must(status);
    }
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    return pipeline;
}

/* Request `number`: 0 to 64 heads; of every fifth one may fail, the first, the last or one in the middle. */
static herd herd_of(uint64_t number)
{
    const uint64_t fails = number / 5 % 97;
    return (herd){.count = (uint32_t)(number * 7 % (HERD_MOST + 1)),
                  .first = number % 5 ? number : HEAD_FAILS - fails};
}

/* The first half of the heads waits for its receiver, which works it off by windows; the rest comes while it does. */
static void count_off(const struct conformance *test, uint32_t device, uint32_t blocks)
{
    gyre_pipeline *pipeline = open_count(test, device, blocks);
    gyre_kernel *const counter = gyre_kernel_find(test->runtime, "count_off");
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    must(gyre_kernel_deactivate(counter, soon()));
    for (uint64_t sent = 0; sent < BURSTS; sent++) {
        const herd request = herd_of(sent);
        if (sent == BURSTS / 2)
            must(gyre_kernel_activate(counter, soon()));
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    }
    for (uint64_t received = 0; received < BURSTS; received++) {
        const herd request = herd_of(received);
        const bool fails = request.first <= HEAD_FAILS && HEAD_FAILS - request.first < request.count;
        gyre_completion completion;
        must(gyre_receive(queue, NULL, 0, &completion, soon()));
        require(completion.index == received);
        require(completion.outcome == (fails ? GYRE_HANDLER_FAILED : GYRE_NOT_REPLIED));
        require(!fails || completion.failure_code == 7);
    }
    await_counts(pipeline, 0, ANY_NUMBER);
    must(gyre_pipeline_close(pipeline, soon()));
}

static void messages_that_are_only_counted_end_their_flows(struct conformance *test)
{
    count_off(test, 0, 2);
}

static void messages_that_are_only_counted_afar_end_their_flows(struct conformance *test)
{
    count_off(test, 1, 1);
}

/* Who has the completion of a request finds in the buffer what all handlers of its messages wrote. */
static void what_was_written_is_there_when_a_flow_ends(struct conformance *test)
{
    enum { ROUNDS = 60 };
    static uint64_t words[HERD_MOST];
    gyre_buffer *buffer = NULL;
    gyre_handle handle;
    gyre_pipeline *pipeline = open_count(test, 0, 1);
    must(gyre_buffer_alloc(test->runtime, test->backend, 0, sizeof words, &buffer));
    must(gyre_buffer_handle(buffer, 0, 0, &handle));
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        const herd request = {.words = handle, .first = round * 1000, .count = HERD_MOST};
        gyre_completion completion;
        must(
            gyre_call(gyre_pipeline_queue(pipeline), &request, sizeof request, NULL, 0, &completion, soon()));
        require(completion.outcome == GYRE_NOT_REPLIED);
        must(gyre_buffer_download(buffer, 0, words, sizeof words));
        for (uint64_t place = 0; place < HERD_MOST; place++)
            require(words[place] == request.first + place);
    }
    must(gyre_pipeline_close(pipeline, soon()));
    must(gyre_buffer_free(buffer));
}

/* Requests end whose messages are on the other device when that dies: a fault ends the use of all GPUs in the process. */
static void a_device_that_dies_takes_its_requests_along(struct conformance *test)
{
    static const char *const entry = "far_pass";
    const gyre_link_desc link = {.size = sizeof link, .from = "far_pass.out", .to = "far_die"};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "far",
                                     .entries = &entry,
                                     .entry_count = 1,
                                     .links = &link,
                                     .link_count = 1};
    gyre_pipeline *pipeline = NULL;
    gyre_completion completion;
    uint64_t number = 0;
    for (uint32_t device = 0; device < 2; device++) {
        gyre_kernel *kernel = NULL;
        const gyre_launch_desc launch = {.size = sizeof launch,
                                         .source = kernel_path("far.gyre.c"),
                                         .kernel = device ? "far_die" : entry,
                                         .backend = test->backend,
                                         .device = device};
        if (gyre_launch(test->runtime, &launch, &kernel) != GYRE_OK && device)
            not_on_this_machine("a second device");
        require(kernel);
    }
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    must(gyre_send(queue, &number, sizeof number, NULL, soon()));
    must(gyre_receive(queue, NULL, 0, &completion, soon()));
    require(completion.outcome == GYRE_NOT_REPLIED);
    number = 1; /* which far_die does not survive */
    must(gyre_send(queue, &number, sizeof number, NULL, soon()));
    require(gyre_receive(queue, NULL, 0, &completion, soon()) == GYRE_LOST);
    require_sentence("died");
}

const struct conformance_case far_link_cases[] = {
    {"links_of_two_devices_go_straight", links_of_two_devices_go_straight},
    {"kernels_of_two_devices_are_one_part", kernels_of_two_devices_are_one_part},
    {"links_go_through_the_host_without_peers", links_go_through_the_host_without_peers},
    {"a_link_leads_to_the_other_device", a_link_leads_to_the_other_device},
    {"a_pool_lies_on_the_second_device", a_pool_lies_on_the_second_device},
    {"messages_that_are_only_counted_end_their_flows", messages_that_are_only_counted_end_their_flows},
    {"messages_that_are_only_counted_afar_end_their_flows",
     messages_that_are_only_counted_afar_end_their_flows},
    {"what_was_written_is_there_when_a_flow_ends", what_was_written_is_there_when_a_flow_ends},
    {"words_on_the_other_device_end_their_flows", words_on_the_other_device_end_their_flows},
    {"a_device_that_dies_takes_its_requests_along", a_device_that_dies_takes_its_requests_along},
    {NULL, NULL},
};
