/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that use another program's pipeline: each request has its one completion, and a client leaves nothing behind, also when
 * it dies while its messages are in links. One case a run: `test_attach_pipelines CASE`.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gyre/change.h>
#include <gyre/pipeline.h>
#include <gyre/ring_layout.h>

#include "parties.h"
#include "tests/conformance/kernels/links.h"
#include "../../../patience.h"

enum { SLOTS = 16, WORDS = 40, ROUNDS = 100, REGIONS_MAX = 16, LAPS = 5 };

/* ---- the server ---- */

static gyre_kernel *launch_stage(gyre_runtime *runtime, const char *kernel, const char *name, uint32_t blocks)
{
    gyre_kernel *launched = NULL;
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = KERNELS "/conformance/kernels/links.gyre.c",
                                   .kernel = kernel,
                                   .name = name,
                                   .blocks = blocks};
    must(gyre_launch(runtime, &desc, &launched));
    return launched;
}

/* Blocks that get no processor for the stop timeout, which cases with slow handlers make short, look as if their handlers did not
 * return. */
static gyre_pipeline *open_in_the_end(gyre_runtime *runtime, const gyre_pipeline_desc *desc)
{
    gyre_pipeline *pipeline = NULL;
    gyre_status status;
    const uint64_t limit_ns = soon();
    do
        status = gyre_pipeline_open(runtime, desc, &pipeline);
    while (status == GYRE_TIMEOUT && gyre_now_ns() < limit_ns);
    must(status);
    return pipeline;
}

/* first (pass) -> second (pass) -> last (finish). */
static gyre_pipeline *open_chain(gyre_runtime *runtime)
{
    static const char *const entries[] = {"first", "second"}, *const last = "last";
    static const gyre_link_desc links[] = {{.size = sizeof *links, .from = "first.out", .to = "second"},
                                           {.size = sizeof *links, .from = "second.out", .to = "last"}};
    launch_stage(runtime, "pass", "first", 2);
    launch_stage(runtime, "pass", "second", 2);
    launch_stage(runtime, "finish", "last", 1);
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "chain",
                                     .entries = entries,
                                     .entry_count = 2,
                                     .answers = &last,
                                     .answer_count = 1,
                                     .links = links,
                                     .link_count = 2};
    return open_in_the_end(runtime, &desc);
}

/* split -> count: a request becomes many messages. */
static gyre_pipeline *open_words(gyre_runtime *runtime)
{
    static const char *const first = "source", *const last = "target";
    static const gyre_link_desc link = {.size = sizeof link, .from = "source.words", .to = "target"};
    gyre_pipeline *pipeline = NULL;
    launch_stage(runtime, "split", "source", 2);
    launch_stage(runtime, "count", "target", 1);
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "words",
                                     .entries = &first,
                                     .entry_count = 1,
                                     .answers = &last,
                                     .answer_count = 1,
                                     .links = &link,
                                     .link_count = 1};
    must(gyre_pipeline_open(runtime, &desc, &pipeline));
    return pipeline;
}

static void wait_until_attached(gyre_server *server, uint32_t count)
{
    for (uint64_t i = 0; attached_now(server) != count && i < patiently(5000); i++)
        usleep(1000);
    require(attached_now(server) == count);
}

/* ---- clients ---- */

static gyre_status try_attach(const char *name, gyre_queue **queue)
{
    const gyre_attach_desc desc = {.size = sizeof desc, .path = meeting_place(), .capacity = SLOTS};
    return gyre_attach(name, &desc, queue);
}

static gyre_queue *attach_to(const char *name)
{
    gyre_queue *queue = NULL;
    must(try_attach(name, &queue));
    return queue;
}

/* `hops`: kernels that each job passes. */
static void stream_jobs(gyre_queue *queue, uint64_t count, uint32_t hops)
{
    uint64_t sent = 0;
    for (uint64_t received = 0; received < count; received++) {
        job reply = {0};
        gyre_completion completion;
        for (; sent < count && sent - received < SLOTS; sent++) {
            const job request = {.number = sent};
            must(gyre_send(queue, &request, sizeof request, NULL, soon()));
        }
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && reply.number == received && reply.hops == hops);
    }
}

static void stream_and_leave(const party *self)
{
    gyre_queue *queue = attach_to("chain");
    party_say(self, 'r');
    stream_jobs(queue, 20000, 3);
    gyre_queue_close(queue);
}

static void several_programs_share_a_pipeline(void)
{
    party clients[3];
    gyre_runtime *runtime = open_plain(NULL);
    gyre_pipeline *pipeline = open_chain(runtime);
    gyre_server *server = serve_at_place(runtime);
    for (int i = 0; i < 3; i++)
        clients[i] = party_start(stream_and_leave);
    for (int i = 0; i < 3; i++)
        require(party_hear(&clients[i]) == 'r');
    stream_jobs(gyre_pipeline_queue(pipeline), 5000, 3);
    for (int i = 0; i < 3; i++)
        require(party_end(&clients[i]) == 0);
    wait_until_attached(server, 0);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* By its name, and by that of an entry; a kernel of it alone is in no flow. */
static void an_entry_is_found_by_its_name(void)
{
    gyre_queue *queue = NULL;
    gyre_runtime *runtime = open_plain(NULL);
    open_chain(runtime);
    gyre_server *server = serve_at_place(runtime);
    queue = attach_to("chain/second");
    stream_jobs(queue, 100, 2);
    gyre_queue_close(queue);
    queue = attach_to("chain/first");
    stream_jobs(queue, 100, 3);
    gyre_queue_close(queue);
    require(try_attach("chain/last", &queue) == GYRE_NOT_FOUND);
    require(strstr(gyre_error_text(), "kernel 'last' is no entry of pipeline 'chain'; 'first' is one"));
    require(try_attach("chian", &queue) == GYRE_NOT_FOUND);
    require(strstr(gyre_error_text(),
                   "no kernel and no pipeline 'chian'; it has: chain, first, second, last; did you "
                   "mean 'chain'?"));
    gyre_state_copy *none;
    require(gyre_state_copy_get(
                "chain", &(gyre_attach_desc){.size = sizeof(gyre_attach_desc), .path = meeting_place()},
                &none) == GYRE_NOT_FOUND);
    require(strstr(gyre_error_text(),
                   "'chain' is a pipeline of the server; expected a kernel: first, second, last"));
    const gyre_attach_desc there = {.size = sizeof there, .path = meeting_place(), .deadline_ns = soon()};
    require(gyre_served_swap("chain", "other.gyre.c", &there) == GYRE_INVALID);
    require(strstr(gyre_error_text(), "'chain' is a pipeline of the server, and kernels of a pipeline are "
                                      "not swapped: end the server and start it with the new file"));
    require(gyre_served_move("chain", "cpu", 0, &there) == GYRE_INVALID);
    require(strstr(gyre_error_text(), "not moved: end the server and start it with the other device"));
    queue = attach_to("last");
    stream_jobs(queue, 100, 1);
    gyre_queue_close(queue);
    const gyre_attach_desc grown = {
        .size = sizeof grown, .path = meeting_place(), .request = GYRE_TYPE(burst), .reply = GYRE_TYPE(job)};
    require(gyre_attach("chain", &grown, &queue) == GYRE_INCOMPATIBLE);
    require(strstr(gyre_error_text(), "burst"));
    gyre_server_close(server);
    gyre_close(runtime);
}

/* ---- deaths ---- */

static void send_bursts_and_wait(const party *self)
{
    gyre_queue *queue = attach_to("words");
    const burst request = {.count = WORDS, .answered = WORDS - 1};
    for (int i = 0; i < SLOTS; i++)
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    party_say(self, 'r');
    for (;;)
        pause();
}

static void call_once(gyre_queue *queue)
{
    const burst request = {.count = WORDS, .answered = WORDS - 1};
    gyre_completion completion;
    seen reply = {0};
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_REPLIED && reply.count > 0);
}

static void kill_client(const party *client)
{
    kill(client->process, SIGKILL);
    require(party_end(client) == 128 + SIGKILL);
    close(client->said);
    close(client->told);
}

/* How many messages the only link has, ever and now. */
static gyre_link_info look_at_link(const gyre_pipeline *pipeline)
{
    gyre_link_info info = {.size = sizeof info};
    must(gyre_pipeline_link(pipeline, 0, &info));
    return info;
}

/* More clients than a pipeline has queues: what the dead leave is used again. */
static void clients_that_die_in_the_middle_leave_nothing(void)
{
    gyre_kernel_info info = {.size = sizeof info};
    gyre_runtime *runtime = open_plain(NULL);
    gyre_pipeline *pipeline = open_words(runtime);
    gyre_kernel *source = gyre_kernel_find(runtime, "source");
    gyre_server *server = serve_at_place(runtime);
    const size_t before = open_descriptors();
    for (int i = 0; i < ROUNDS; i++) {
        party client = party_start(send_bursts_and_wait);
        require(party_hear(&client) == 'r');
        kill_client(&client);
        call_once(gyre_pipeline_queue(pipeline)); /* it blocks nobody */
    }
    wait_until_attached(server, 0);
    must(gyre_kernel_info_get(source, &info));
    require(info.queues == 2 && info.queued == 0); /* its own, and the pipeline's */
    for (uint64_t i = 0; open_descriptors() > before && i < patiently(2000); i++)
        usleep(1000);
    require(open_descriptors() <= before);
    require(look_at_link(pipeline).waiting == 0);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* While a stage is paused, a dead client's messages stay, and so does the memory in which they end. */
static void flows_of_the_dead_are_settled_first(void)
{
    gyre_runtime *runtime = open_plain(NULL);
    gyre_pipeline *pipeline = open_words(runtime);
    gyre_kernel *target = gyre_kernel_find(runtime, "target");
    gyre_server *server = serve_at_place(runtime);
    for (int i = 0; i < 5; i++) {
        must(gyre_kernel_deactivate(target, soon()));
        party client = party_start(send_bursts_and_wait);
        require(party_hear(&client) == 'r');
        while (look_at_link(pipeline).waiting < WORDS)
            usleep(1000);
        kill_client(&client);
        usleep(20000);
        require(attached_now(server) == 1); /* its place is taken until its flows are settled */
        must(gyre_kernel_activate(target, soon()));
        wait_until_attached(server, 0);
        require(look_at_link(pipeline).waiting == 0);
        call_once(gyre_pipeline_queue(pipeline));
    }
    gyre_server_close(server);
    gyre_close(runtime);
}

/* Fills its slots again while their flows are under way, which no client does that keeps to the protocol. */
static void send_too_early(const party *self)
{
    struct iovec regions[REGIONS_MAX];
    const size_t before = writable_regions(regions, REGIONS_MAX);
    for (size_t i = 0; i < before; i++)
        require(munmap(regions[i].iov_base, regions[i].iov_len) == 0); /* the server's, by the fork */
    gyre_queue *queue = attach_to("words");
    require(writable_regions(regions, REGIONS_MAX) == 1);
    const gyre_queue_shape shape = *(const gyre_queue_shape *)regions[0].iov_base;
    const burst request = {.count = 2, .answered = 1};
    for (int i = 0; i < SLOTS; i++)
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    for (uint64_t lap = 1; lap < LAPS; lap++) {
        usleep(2000); /* until the slots were taken; a client cannot know */
        for (uint64_t slot = 0; slot < SLOTS; slot++) {
            unsigned char *at =
                (unsigned char *)regions[0].iov_base + shape.request_offset + slot * shape.request_stride;
            __atomic_store_n(&((gyre_slot *)(void *)at)->sequence, lap * SLOTS + slot + 1, __ATOMIC_RELEASE);
        }
    }
    party_say(self, 'r');
    for (;;)
        pause();
}

/* Its requests are passed over, so that each flow is counted right, and its memory goes behind the last message. */
static void a_client_that_sends_too_early_harms_nobody(void)
{
    gyre_runtime *runtime =
        open_plain((const char *const[]){"kernel.source.idle=yield", NULL}) /* looks again without a bell */;
    gyre_pipeline *pipeline = open_words(runtime);
    gyre_kernel *target = gyre_kernel_find(runtime, "target");
    gyre_server *server = serve_at_place(runtime);
    for (int i = 0; i < 5; i++) {
        must(gyre_kernel_deactivate(target, soon()));
        const uint64_t sent = look_at_link(pipeline).sent;
        party client = party_start(send_too_early);
        require(party_hear(&client) == 'r');
        usleep(5000);
        require(look_at_link(pipeline).sent - sent <= SLOTS * 2);
        kill_client(&client);
        must(gyre_kernel_activate(target, soon()));
        wait_until_attached(server, 0);
        require(look_at_link(pipeline).waiting == 0);
        call_once(gyre_pipeline_queue(pipeline));
    }
    gyre_server_close(server);
    gyre_close(runtime);
}

/* ---- ends ---- */

/* Told to, sends until that is refused; every accepted request is completed, in order. */
static void load_until_closed(const party *self)
{
    party_wait(
        self); /* all parties are started before the server lets one in, which a fork must not meet (parties.c) */
    uint64_t sent = 0, received = 0;
    gyre_status status = GYRE_OK;
    gyre_queue *queue = attach_to("chain");
    party_say(self, 'r');
    while (status == GYRE_OK || received < sent) {
        job reply = {0};
        gyre_completion completion;
        if (status == GYRE_OK) {
            const job request = {.number = sent};
            status = gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT);
            sent += status == GYRE_OK;
            status = status == GYRE_AGAIN ? GYRE_OK : status;
        }
        if (status != GYRE_OK && received == sent) /* nothing is under way */
            break;
        const gyre_status got =
            gyre_receive(queue, &reply, sizeof reply, &completion, status == GYRE_OK ? GYRE_NO_WAIT : soon());
        if (got == GYRE_AGAIN || got == GYRE_TIMEOUT || (status == GYRE_OK && got == GYRE_CLOSED))
            continue;
        require(got == GYRE_OK);
        require(completion.outcome == GYRE_REPLIED || completion.outcome == GYRE_WAS_UNHANDLED);
        require(completion.outcome != GYRE_REPLIED || (reply.number == received && reply.hops == 3));
        received++;
    }
    require(status == GYRE_CLOSED);
    gyre_queue_close(queue);
}

static void a_pipeline_closes_under_its_clients(void)
{
    gyre_runtime *runtime = open_plain(NULL);
    gyre_pipeline *pipeline = open_chain(runtime);
    gyre_server *server = serve_at_place(runtime);
    static const char *const names[] = {"first", "second", "last"};
    for (int round = 0; round < 4; round++) {
        party clients[2] = {party_start(load_until_closed), party_start(load_until_closed)};
        party_tell(&clients[0], 'g');
        party_tell(&clients[1], 'g');
        require(party_hear(&clients[0]) == 'r' && party_hear(&clients[1]) == 'r');
        usleep(5000);
        if (round % 2) {
            uint64_t left = 1;
            must(gyre_pipeline_drain(pipeline, soon(), &left));
            require(left == 0);
        }
        must(gyre_pipeline_close(pipeline, GYRE_NO_WAIT));
        require(party_end(&clients[0]) == 0 && party_end(&clients[1]) == 0);
        wait_until_attached(server, 0);
        for (int i = 0; i < 3; i++)
            gyre_kernel_release(gyre_kernel_find(runtime, names[i]));
        pipeline = open_chain(runtime);
    }
    gyre_server_close(server);
    gyre_close(runtime);
}

static void clients_see_the_end_of_the_server(void)
{
    gyre_runtime *runtime = open_plain(NULL);
    open_chain(runtime);
    gyre_server *server = serve_at_place(runtime);
    party client = party_start(load_until_closed);
    party_tell(&client, 'g');
    require(party_hear(&client) == 'r');
    usleep(5000);
    gyre_server_close(server);
    require(party_end(&client) == 0);
    server = serve_at_place(runtime);
    client = party_start(load_until_closed);
    party_tell(&client, 'g');
    require(party_hear(&client) == 'r');
    usleep(5000);
    gyre_close(runtime); /* the pipeline ends before the server, which is its younger guest's turn */
    gyre_server_close(server);
    require(party_end(&client) == 0);
}

/* A stage that is paused settles nothing: the server's end waits a moment, and its client is told that nobody knows. */
static void a_paused_stage_does_not_hold_the_server_up(void)
{
    job reply;
    const job request = {.number = 1};
    gyre_runtime *runtime = open_plain(NULL);
    gyre_pipeline *pipeline = open_chain(runtime);
    gyre_server *server = serve_at_place(runtime);
    must(gyre_kernel_deactivate(gyre_kernel_find(runtime, "last"), soon()));
    gyre_queue *queue = attach_to("chain");
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    while (look_at_link(pipeline).sent == 0)
        usleep(1000);
    gyre_server_close(server);
    require(gyre_receive(queue, &reply, sizeof reply, NULL, soon()) == GYRE_LOST);
    gyre_queue_close(queue);
    must(gyre_kernel_activate(gyre_kernel_find(runtime, "last"), soon()));
    must(gyre_pipeline_close(pipeline, soon()));
    gyre_close(runtime);
}

static void serve_for_ever(const party *self)
{
    gyre_runtime *runtime = open_plain(NULL);
    open_chain(runtime);
    serve_at_place(runtime);
    party_say(self, 'r');
    for (;;)
        pause();
}

static void a_dead_server_is_told_as_lost(void)
{
    job reply;
    const job request = {.number = 1};
    party server = party_start(serve_for_ever);
    require(party_hear(&server) == 'r');
    gyre_queue *queue = attach_to("chain");
    stream_jobs(queue, 1000, 3);
    party_stop(&server); /* so that a request is on its way */
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    kill_client(&server);
    require(gyre_receive(queue, &reply, sizeof reply, NULL, soon()) == GYRE_LOST);
    require(gyre_send(queue, &request, sizeof request, NULL, soon()) == GYRE_LOST);
    gyre_queue_close(queue);
}

/* A queue that outlasts its servers sends again to the next one's pipeline. */
static void a_lasting_client_goes_on_with_the_next_pipeline(void)
{
    gyre_queue *queue = NULL;
    const gyre_attach_desc desc = {.size = sizeof desc, .path = meeting_place(), .reconnect = true};
    party server = party_start(serve_for_ever);
    require(party_hear(&server) == 'r');
    must(gyre_attach("chain", &desc, &queue));
    for (int i = 0; i < 3; i++) {
        stream_jobs(queue, 500, 3);
        kill_client(&server);
        server = party_start(serve_for_ever);
        require(party_hear(&server) == 'r');
    }
    stream_jobs(queue, 500, 3);
    gyre_queue_close(queue);
    kill_client(&server);
}

/* ---- handlers that take their time ---- */

enum { SLOW_MS = 60, SLOW_ROUNDS = 12 };
static const char *const hasty[] = {"kernel.default.stop_timeout_ms=20", NULL};

/* A request whose handler is inside for so long, and a moment for it to begin. */
static void send_slow(gyre_queue *queue)
{
    const job request = {.number = SLOW_MS, .what = JOB_SPIN};
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    usleep(SLOW_MS * 1000 / 4);
}

/* A block that gets no processor in time looks as one whose handler does not return. */
static gyre_queue *attach_in_the_end(const char *name)
{
    gyre_queue *queue = NULL;
    const uint64_t limit_ns = soon();
    while (try_attach(name, &queue) == GYRE_TIMEOUT && gyre_now_ns() < limit_ns)
        usleep(1000);
    require(queue);
    return queue;
}

static void wait_for_descriptors(size_t count)
{
    for (uint64_t i = 0; open_descriptors() > count && i < patiently(5000); i++)
        usleep(1000);
    require(open_descriptors() <= count);
}

/* A client that sends what takes long, leaves, and comes again leaves no more behind than one that waits. */
static void queues_that_slow_handlers_keep_are_freed(void)
{
    gyre_runtime *runtime = open_plain(hasty);
    launch_stage(runtime, "finish", "slow", 1);
    gyre_server *server = serve_at_place(runtime);
    const size_t before = open_descriptors();
    for (int i = 0; i < SLOW_ROUNDS; i++) {
        gyre_queue *queue = attach_in_the_end("slow");
        send_slow(queue);
        gyre_queue_close(queue);
    }
    wait_until_attached(server, 0);
    wait_for_descriptors(before);
    gyre_queue *queue = attach_in_the_end("slow");
    stream_jobs(queue, 100, 1);
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* The same of the program's own queues: the next queue that is opened or closed finds them. */
static void own_queues_that_slow_handlers_keep_are_freed(void)
{
    gyre_runtime *runtime = open_plain(hasty);
    gyre_kernel *kernel = launch_stage(runtime, "finish", "slow", 1);
    const size_t before = open_descriptors();
    for (int i = 0; i < SLOW_ROUNDS; i++) {
        gyre_queue *queue = NULL;
        must(gyre_queue_open(kernel, NULL, &queue));
        send_slow(queue);
        gyre_queue_close(queue);
    }
    stream_jobs(gyre_kernel_queue(kernel), 10, 1);
    const uint64_t limit_ns = soon();
    do { /* a block that gets no processor in time keeps this one, too */
        gyre_queue *last = NULL;
        must(gyre_queue_open(kernel, NULL, &last));
        gyre_queue_close(last);
    } while (open_descriptors() > before && gyre_now_ns() < limit_ns);
    require(open_descriptors() <= before);
    gyre_close(runtime);
}

/* What blocks knew of entries, too: tables of links are found by who looks for lost memory, queues by their descriptors. */
static void entries_that_slow_handlers_know_are_freed(void)
{
    gyre_runtime *runtime = open_plain(hasty);
    gyre_pipeline *pipeline = open_chain(runtime);
    gyre_server *server = serve_at_place(runtime);
    job reply;
    const size_t before = open_descriptors();
    int refused = 0;
    for (int i = 0; i < SLOW_ROUNDS; i++) {
        gyre_queue *queue = attach_in_the_end("chain"), *other = NULL;
        send_slow(gyre_pipeline_queue(pipeline));
        for (int again = 0; again < 3; again++) {
            if (try_attach("chain", &other) == GYRE_OK) {
                gyre_queue_close(other);
                continue;
            }
            require(strstr(gyre_error_text(), "has not returned") ||
                    strstr(gyre_error_text(), "did not come to a message boundary"));
            refused++;
        }
        gyre_queue_close(queue); /* its entry is in tables that the handler's block uses yet */
        must(gyre_receive(gyre_pipeline_queue(pipeline), &reply, sizeof reply, NULL, soon()));
        wait_until_attached(server, 0);
    }
    if (refused == 0)
        fprintf(stderr, "this machine is slower than the handler\n");
    gyre_queue *queue = attach_in_the_end("chain");
    stream_jobs(queue, 100, 3);
    gyre_queue_close(queue);
    wait_until_attached(server, 0);
    wait_for_descriptors(before);
    gyre_server_close(server);
    gyre_close(runtime);
}

static const named_case cases[] = {
    {"several_programs_share_a_pipeline", several_programs_share_a_pipeline},
    {"an_entry_is_found_by_its_name", an_entry_is_found_by_its_name},
    {"clients_that_die_in_the_middle_leave_nothing", clients_that_die_in_the_middle_leave_nothing},
    {"flows_of_the_dead_are_settled_first", flows_of_the_dead_are_settled_first},
    {"a_client_that_sends_too_early_harms_nobody", a_client_that_sends_too_early_harms_nobody},
    {"a_pipeline_closes_under_its_clients", a_pipeline_closes_under_its_clients},
    {"clients_see_the_end_of_the_server", clients_see_the_end_of_the_server},
    {"a_paused_stage_does_not_hold_the_server_up", a_paused_stage_does_not_hold_the_server_up},
    {"a_dead_server_is_told_as_lost", a_dead_server_is_told_as_lost},
    {"queues_that_slow_handlers_keep_are_freed", queues_that_slow_handlers_keep_are_freed},
    {"own_queues_that_slow_handlers_keep_are_freed", own_queues_that_slow_handlers_keep_are_freed},
    {"entries_that_slow_handlers_know_are_freed", entries_that_slow_handlers_know_are_freed},
    {"a_lasting_client_goes_on_with_the_next_pipeline", a_lasting_client_goes_on_with_the_next_pipeline},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
