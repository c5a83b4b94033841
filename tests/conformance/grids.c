/* SPDX-License-Identifier: Apache-2.0 */
/* Grid kernels: all blocks of a kernel work on one message, and meet at barriers. */
#include "conformance.h"
#include "kernels/grid.h"

#include <gyre/pipeline.h>
#include <gyre/ring_layout.h>
#include <string.h>

enum { LANES = 32 };

/* Launches with so many blocks, or with one, where the backend gives grid kernels one. */
static gyre_kernel *launch_grid(struct conformance *test, gyre_launch_desc desc, uint32_t blocks)
{
    gyre_kernel *kernel = NULL;
    desc.lanes = desc.lanes ? desc.lanes : LANES;
    desc.blocks = blocks;
    if (gyre_launch(test->runtime, &desc, &kernel) == GYRE_OK)
        return kernel;
    require_sentence("is a grid kernel, which has at most 1 block on backend");
    desc.blocks = 1;
    must(gyre_launch(test->runtime, &desc, &kernel));
    return kernel;
}

static gyre_kernel *launch_sum(struct conformance *test, uint32_t blocks)
{
    return launch_grid(test, launch_desc(test, "grid.gyre.c", "grid_sum"), blocks);
}

static gyre_completion call_grid(gyre_queue *queue, grid_ask request, grid_answer *reply)
{
    gyre_completion completion = {0};
    must(gyre_call(queue, &request, sizeof request, reply, sizeof *reply, &completion, soon()));
    return completion;
}

static uint64_t sum_below(uint64_t count)
{
    return count * (count - (count > 0)) / 2;
}

static void require_sum(gyre_queue *queue, uint32_t count, uint32_t blocks)
{
    grid_answer reply = {0};
    const gyre_completion completion = call_grid(queue, (grid_ask){.count = count}, &reply);
    require(completion.outcome == GYRE_REPLIED && reply.sum == sum_below(count));
    require(reply.again == reply.sum * blocks && reply.blocks == blocks && reply.lanes == LANES);
}

static void all_blocks_of_a_grid_share_a_message(struct conformance *test)
{
    for (uint32_t blocks = 1; blocks <= 4; blocks++) {
        gyre_kernel *kernel = launch_sum(test, blocks);
        for (uint32_t count = 0; count < 40; count++)
            require_sum(gyre_kernel_queue(kernel), count * 37, info_of(kernel).blocks);
        must(gyre_kernel_terminate(kernel, soon(), NULL));
        require(info_of(kernel).handled == 40 && info_of(kernel).failed == 0);
        gyre_kernel_release(kernel);
    }
}

static void a_grid_has_its_blocks_by_itself(struct conformance *test)
{
    gyre_launch_desc desc = launch_desc(test, "grid.gyre.c", "grid_sum");
    gyre_kernel *kernel = NULL;
    desc.lanes = LANES;
    must(gyre_launch(test->runtime, &desc, &kernel));
    require_sum(gyre_kernel_queue(kernel), 1000, info_of(kernel).blocks);
    require(info_of(kernel).blocks <= GRID_BLOCKS_MOST);
}

/* ---- buffers and replies ---- */

enum { CELLS = 301, STEPS = 25 };

static void step(const uint32_t *from, uint32_t *to)
{
    for (uint32_t i = 0; i < CELLS; i++)
        to[i] = from[(i + CELLS - 1) % CELLS] * 3 + from[i] + from[(i + 1) % CELLS] * 5;
}

static void a_grid_takes_steps_over_a_buffer(struct conformance *test)
{
    static uint32_t cells[2][CELLS], found[CELLS];
    gyre_buffer *buffers[2];
    gyre_binding_name bindings[2] = {{"even", NULL}, {"odd", NULL}};
    gyre_launch_desc desc = launch_desc(test, "grid.gyre.c", "grid_stencil");
    for (int i = 0; i < 2; i++) {
        must(gyre_buffer_alloc(test->runtime, desc.backend, desc.device, sizeof found, &buffers[i]));
        bindings[i].buffer = buffers[i];
    }
    desc.bindings = bindings;
    desc.binding_count = 2;
    gyre_kernel *kernel = launch_grid(test, desc, 3);
    for (uint32_t i = 0; i < CELLS; i++)
        cells[0][i] = i * i;
    must(gyre_buffer_upload(buffers[0], 0, cells[0], sizeof cells[0]));
    grid_steps request = {.steps = STEPS}, reply = {0};
    must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    for (uint32_t i = 0; i < STEPS; i++)
        step(cells[i % 2], cells[(i + 1) % 2]);
    must(gyre_buffer_download(buffers[STEPS % 2], 0, found, sizeof found));
    require(reply.steps == STEPS && memcmp(found, cells[STEPS % 2], sizeof found) == 0);
}

static bool find_text(const unsigned char *bytes, size_t size, const char *text)
{
    for (size_t i = 0; i + strlen(text) <= size; i++)
        if (memcmp(bytes + i, text, strlen(text)) == 0)
            return true;
    return false;
}

static void a_grid_replies_with_a_text(struct conformance *test)
{
    gyre_kernel *kernel = launch_grid(test, launch_desc(test, "grid.gyre.c", "grid_says"), 3);
    for (int i = 0; i < 20; i++) {
        unsigned char reply[sizeof(grid_text)] = {0};
        const grid_steps request = {0};
        gyre_completion completion = {0};
        must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, reply, sizeof reply, &completion,
                       soon()));
        require(completion.outcome == GYRE_REPLIED && completion.length < sizeof reply);
        require(find_text(reply, completion.length, "all blocks met"));
    }
}

static void each_block_writes_its_share_of_a_reply(struct conformance *test)
{
    static grid_large request, reply;
    gyre_kernel *kernel = launch_grid(test, launch_desc(test, "grid.gyre.c", "grid_turn"), 3);
    const uint32_t blocks = info_of(kernel).blocks;
    for (uint32_t turn = 0; turn < 10; turn++) {
        for (uint32_t i = 0; i < 2048; i++)
            request.words[i] = i * 7 + turn;
        must(gyre_call(gyre_kernel_queue(kernel), &request, sizeof request, &reply, sizeof reply, NULL,
                       soon()));
        for (uint32_t i = 0; i < 2048; i++)
            require(reply.words[2047 - i] == ((i * 7 + turn) ^ blocks));
    }
}

/* ---- failures ---- */

static void require_failure(gyre_queue *queue, uint32_t what, uint32_t block, int32_t code, const char *text)
{
    grid_answer reply;
    const gyre_completion completion =
        call_grid(queue, (grid_ask){.count = 9, .what = what, .block = block}, &reply);
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == code);
    require(!text || strstr(completion.failure_text, text) != NULL);
}

static void a_grid_fails_when_one_block_fails(struct conformance *test)
{
    gyre_kernel *kernel = launch_sum(test, 3);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const uint32_t blocks = info_of(kernel).blocks;
    for (uint32_t block = 0; block < blocks; block++) {
        require_failure(queue, GRID_FAIL, block, 7, "this block does not want");
        require_sum(queue, 100, blocks);
        require_failure(queue, GRID_LATE, block, 8, "too late");
        require_sum(queue, 100, blocks);
    }
    require_failure(queue, GRID_ALL_FAIL, 0, 10, "each block"); /* the lowest block's */
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    require(info_of(kernel).failed == 2 * blocks + 1); /* a message counts once */
}

static void a_block_that_misses_a_barrier_fails_the_message(struct conformance *test)
{
    gyre_kernel *kernel = launch_sum(test, 3);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const uint32_t blocks = info_of(kernel).blocks;
    for (uint32_t block = 0; block < blocks && blocks > 1; block++) {
        require_failure(queue, GRID_LEAVE, block, GYRE_FAILURE_BARRIER, NULL);
        require_sum(queue, 100, blocks);
        require_failure(queue, GRID_STRAY, block, GYRE_FAILURE_BARRIER, NULL);
        require_sum(queue, 100, blocks);
    }
}

/* ---- commands ---- */

static void send_grid(gyre_queue *queue, uint32_t count, uint32_t microseconds)
{
    const grid_ask request = {.count = count, .microseconds = microseconds};
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
}

static void receive_grid(gyre_queue *queue, uint32_t count)
{
    grid_answer reply = {0};
    must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
    require(reply.sum == sum_below(count));
}

static void a_grid_obeys_between_messages(struct conformance *test)
{
    enum { TURNS = 8, EACH = 6 };
    gyre_kernel *kernel = launch_sum(test, 3);
    gyre_queue *queue = gyre_kernel_queue(kernel);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        for (uint32_t i = 0; i < EACH; i++)
            send_grid(queue, turn * EACH + i, 300);
        must(gyre_kernel_deactivate(kernel, soon()));
        require(info_of(kernel).state == GYRE_KERNEL_INACTIVE);
        const uint64_t handled = info_of(kernel).handled;
        sleep_ms(2);
        require(info_of(kernel).handled == handled);
        must(gyre_kernel_activate(kernel, soon()));
        for (uint32_t i = 0; i < EACH; i++)
            receive_grid(queue, turn * EACH + i);
    }
    for (uint32_t i = 0; i < EACH; i++)
        send_grid(queue, i, 300);
    must(gyre_kernel_terminate(kernel, soon(), NULL));
    for (uint32_t i = 0; i < EACH; i++)
        receive_grid(queue, i);
    must(gyre_kernel_relaunch(kernel));
    require_sum(gyre_kernel_queue(kernel), 77, info_of(kernel).blocks);
}

static void queues_of_a_grid_come_and_go(struct conformance *test)
{
    enum { QUEUES = 3, EACH = 10 };
    gyre_kernel *kernel = launch_sum(test, 3);
    for (uint32_t turn = 0; turn < 3; turn++) {
        gyre_queue *queues[QUEUES] = {gyre_kernel_queue(kernel)};
        for (uint32_t q = 0; q < QUEUES; q++) {
            const gyre_queue_desc desc = {.size = sizeof desc, .name = q == 1 ? "second" : "third"};
            if (q > 0)
                must(gyre_queue_open(kernel, &desc, &queues[q]));
            for (uint32_t i = 0; i < EACH; i++)
                send_grid(queues[q], 100 * q + i, 100);
        }
        for (uint32_t q = 0; q < QUEUES; q++)
            for (uint32_t i = 0; i < EACH; i++)
                receive_grid(queues[q], 100 * q + i);
        for (uint32_t q = 1; q < QUEUES; q++)
            gyre_queue_close(queues[q]);
    }
}

/* ---- pipelines ---- */

static gyre_pipeline *open_grids(struct conformance *test, bool tight, uint32_t lanes, uint32_t *blocks)
{
    static const char *const entry = "grid_begin", *const answer = "grid_answers";
    const gyre_link_desc link = {.size = sizeof link, .from = "grid_begin.parts", .to = "grid_answers"};
    gyre_pipeline *pipeline = NULL;
    gyre_launch_desc desc = launch_desc(test, "grid_ports.gyre.c", "grid_begin");
    desc.name = "grid_begin";
    *blocks = info_of(launch_grid(test, desc, 3)).blocks;
    desc = launch_desc(test, "grid_ports.gyre.c", "grid_answers");
    desc.name = "grid_answers";
    desc.lanes = lanes;
    launch_grid(test, desc, 2);
    const gyre_pipeline_desc wanted = {.size = sizeof wanted,
                                       .name = "tested",
                                       .entries = &entry,
                                       .entry_count = 1,
                                       .answers = &answer,
                                       .answer_count = 1,
                                       .links = &link,
                                       .link_count = 1,
                                       .links_tight = tight};
    must(gyre_pipeline_open(test->runtime, &wanted, &pipeline));
    return pipeline;
}

static void run_grids(struct conformance *test, bool tight, uint32_t lanes)
{
    enum { MESSAGES = 60, AHEAD = 16 };
    uint32_t blocks;
    gyre_pipeline *pipeline = open_grids(test, tight, lanes, &blocks);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    for (uint32_t sent = 0, received = 0; received < MESSAGES; received++) {
        grid_answer reply = {0};
        for (; sent < MESSAGES && sent < received + AHEAD; sent++)
            send_grid(queue, sent * 11, 0);
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        require(reply.sum == sum_below(received * 11) && reply.again == reply.sum);
        require(reply.blocks == blocks && reply.lanes == 1);
    }
    if (blocks > 1) /* another block emits */
        require_failure(queue, GRID_FAIL, 1, GYRE_FAILURE_PORT, "lane 0 of block 0 emits");
    must(gyre_pipeline_close(pipeline, soon()));
}

static void grids_are_stages_of_a_pipeline(struct conformance *test)
{
    run_grids(test, false, LANES);
}

static void grids_are_stages_of_a_tight_pipeline(struct conformance *test)
{
    run_grids(test, true, LANES);
}

/* A run of messages has more of them than a block has lanes. */
static void grids_are_stages_of_few_lanes(struct conformance *test)
{
    run_grids(test, false, 2);
}

const struct conformance_case grid_cases[] = {
    {"all_blocks_of_a_grid_share_a_message", all_blocks_of_a_grid_share_a_message},
    {"a_grid_has_its_blocks_by_itself", a_grid_has_its_blocks_by_itself},
    {"a_grid_takes_steps_over_a_buffer", a_grid_takes_steps_over_a_buffer},
    {"a_grid_replies_with_a_text", a_grid_replies_with_a_text},
    {"each_block_writes_its_share_of_a_reply", each_block_writes_its_share_of_a_reply},
    {"a_grid_fails_when_one_block_fails", a_grid_fails_when_one_block_fails},
    {"a_block_that_misses_a_barrier_fails_the_message", a_block_that_misses_a_barrier_fails_the_message},
    {"a_grid_obeys_between_messages", a_grid_obeys_between_messages},
    {"queues_of_a_grid_come_and_go", queues_of_a_grid_come_and_go},
    {"grids_are_stages_of_a_pipeline", grids_are_stages_of_a_pipeline},
    {"grids_are_stages_of_a_tight_pipeline", grids_are_stages_of_a_tight_pipeline},
    {"grids_are_stages_of_few_lanes", grids_are_stages_of_few_lanes},
    {NULL, NULL},
};
