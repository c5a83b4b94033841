/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipelines whose worker process dies: one case a run, `test_pipelines CASE`. Nothing accepted is lost, doubled or wrong, whichever
 * stage's handler it was and whoever killed the worker.
 */
#include "pipelines.h"
#include "scribble.h"
#include "workers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <gyre/pipeline.h>

#include "tests/random.h"

enum { CODE_CRASH = -10, CODE_OUTCOME = -14, STEPS = 64, KILLS = 24 };

static gyre_pipeline *open_joining(gyre_runtime *runtime)
{
    static const char *const names[] = {"deal", "left", "right", "gather"};
    static const char *const entries[] = {"deal"}, *const answers[] = {"gather"};
    static const gyre_link_desc links[] = {
        {.size = sizeof links[0], .name = "lefts", .from = "deal.left", .to = "left"},
        {.size = sizeof links[0], .name = "rights", .from = "deal.right", .to = "right"},
        {.size = sizeof links[0], .name = "from_left", .from = "left.on", .to = "gather"},
        {.size = sizeof links[0], .name = "from_right", .from = "right.on", .to = "gather"}};
    gyre_pipeline *pipeline = NULL;
    for (size_t i = 0; i < 4; i++) {
        gyre_kernel *kernel = NULL;
        const gyre_launch_desc desc = {.size = sizeof desc,
                                       .source = PIPELINE_KERNELS,
                                       .kernel = names[i],
                                       .blocks = i == 3 ? 1 : 2,
                                       .stage = 1};
        must(gyre_launch(runtime, &desc, &kernel));
    }
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "joining",
                                     .entries = entries,
                                     .entry_count = 1,
                                     .answers = answers,
                                     .answer_count = 1,
                                     .links = links,
                                     .link_count = 4};
    must(gyre_pipeline_open(runtime, &desc, &pipeline));
    return pipeline;
}

static crash_step step_of(uint64_t number)
{
    return (crash_step){.number = number, .parts = (uint32_t)(number % 5)};
}

static void send_step(gyre_queue *queue, const crash_step *step)
{
    must(gyre_send(queue, step, sizeof *step, NULL, soon()));
}

/* What the graph makes of a request, computed here. */
static void check_step(const crash_step *step, const crash_reply *reply, const gyre_completion *completion)
{
    if (step->parts == 0) {
        require(completion->outcome == GYRE_NOT_REPLIED);
        return;
    }
    if (completion->outcome != GYRE_REPLIED)
        fprintf(stderr, "request %llu: outcome %d, %s\n", (unsigned long long)step->number,
                (int)completion->outcome, completion->failure_text);
    require(completion->outcome == GYRE_REPLIED);
    require(reply->number == step->parts);
    require(reply->check == step->parts * (mixed(step->number) + mixed(mixed(step->number))));
}

static void receive_step(gyre_queue *queue, const crash_step *step)
{
    crash_reply reply = {0};
    gyre_completion completion;
    must(gyre_receive(queue, &reply, sizeof reply, &completion, gyre_in_ms(patiently(60000))));
    check_step(step, &reply, &completion);
}

/* Each stage crashes once, at the eleventh of many requests. */
static void a_death_at_each_stage_loses_no_flow(void)
{
    static const uint32_t faults[] = {CRASH_SEGFAULT, CRASH_ABORT, CRASH_EXIT, CRASH_SEGFAULT};
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_queue *queue = gyre_pipeline_queue(open_joining(runtime));
    for (uint32_t at = STEP_DEAL; at <= STEP_GATHER; at++) {
        crash_step steps[STEPS];
        for (uint32_t i = 0; i < STEPS; i++) {
            steps[i] = step_of(at * 1000 + i);
            if (i == 11) {
                steps[i].parts = 3;
                steps[i].at = at;
                steps[i].fault = faults[at - STEP_DEAL];
            }
            send_step(queue, &steps[i]);
        }
        for (uint32_t i = 0; i < STEPS; i++)
            receive_step(queue, &steps[i]);
    }
    require(log_lines_with("died") >= 4);
    gyre_close(runtime);
}

/* The others are answered; the sentence names the stage. */
static void a_flow_that_kills_every_worker_names_its_stage(void)
{
    static const char *const stages[] = {"'deal'", "'left'", "'right'", "'gather'"};
    const char *const backend = getenv("CRASH_BACKEND");
    const bool tells_stages = !backend || strcmp(backend, "cuda") != 0; /* a GPU does not tell where it is */
    gyre_runtime *runtime = open_isolated((const char *const[]){"backend.default.restart_limit=1000", NULL});
    gyre_queue *queue = gyre_pipeline_queue(open_joining(runtime));
    for (uint32_t at = STEP_DEAL; at <= STEP_GATHER; at++) {
        crash_step steps[8];
        for (uint32_t i = 0; i < 8; i++) {
            steps[i] = step_of(at * 1000 + i);
            if (i == 3) {
                steps[i].parts = 2;
                steps[i].at = at;
                steps[i].fault = CRASH_SEGFAULT;
                steps[i].always = 1;
            }
            send_step(queue, &steps[i]);
        }
        for (uint32_t i = 0; i < 8; i++) {
            crash_reply reply = {0};
            gyre_completion completion;
            must(gyre_receive(queue, &reply, sizeof reply, &completion, gyre_in_ms(patiently(60000))));
            if (i != 3) {
                check_step(&steps[i], &reply, &completion);
                continue;
            }
            require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == CODE_CRASH);
            if (tells_stages)
                require(strstr(completion.failure_text, stages[at - STEP_DEAL]) != NULL);
        }
    }
    gyre_close(runtime);
}

/* kill -9 from outside at any moment, with two queues under load. */
static void kills_from_outside_lose_and_double_nothing(void)
{
    gyre_runtime *runtime = open_isolated((const char *const[]){
        "backend.default.restart_limit=1000", "kernel.default.poison_limit=1000", "log_level=warning", NULL});
    gyre_pipeline *pipeline = open_joining(runtime);
    gyre_queue *queues[2] = {gyre_pipeline_queue(pipeline), NULL};
    uint64_t random = random_begin(gyre_now_ns()), sent[2] = {0, 0}, received[2] = {0, 0}, kills = 0;
    must(gyre_pipeline_queue_open(pipeline, NULL, NULL, &queues[1]));
    while (kills < KILLS || received[0] < sent[0] || received[1] < sent[1]) {
        const uint64_t which = random_below(&random, 2);
        for (uint64_t i = random_below(&random, 40);
             i > 0 && kills < KILLS && sent[which] - received[which] < 200; i--) {
            const crash_step step = step_of(++sent[which] * 2 + which);
            send_step(queues[which], &step);
        }
        if (kills < KILLS && random_below(&random, 6) == 0)
            kills += kill_worker();
        for (uint64_t i = random_below(&random, 60); i > 0 && received[which] < sent[which]; i--) {
            const crash_step step = step_of(++received[which] * 2 + which);
            receive_step(queues[which], &step);
        }
    }
    must(gyre_pipeline_close(pipeline, soon()));
    gyre_close(runtime);
    require(worker_of(getpid()) == 0);
}

/* ---- calls of other threads ---- */

static void nap(void)
{
    nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* Kills one worker after the other, as soon as there is one, until *until_ns. */
static void *kill_workers(void *until_ns)
{
    while (gyre_now_ns() < *(const uint64_t *)until_ns) {
        kill_worker();
        nap();
    }
    return NULL;
}

static void *open_and_use(void *pipeline)
{
    gyre_queue *queue = NULL;
    const crash_step step = step_of(3);
    must(gyre_pipeline_queue_open(pipeline, NULL, NULL, &queue));
    send_step(queue, &step);
    receive_step(queue, &step);
    return NULL;
}

/* Kills the worker, and the next one soon: while it launches the kernels, while they get their links, or later. */
static void kill_two_workers(uint64_t *random)
{
    const pid_t first = worker_of(getpid());
    pid_t next;
    kill_worker();
    while ((next = worker_of(getpid())) == 0 || next == first)
        nap();
    for (uint64_t i = random_below(random, 30); i > 0; i--)
        nap();
    kill_worker();
}

/* Who waits for the next worker under the pipeline's lock, and the keeper, which makes it, do not wait for each other. */
static void queues_are_opened_while_workers_die(void)
{
    enum { ROUNDS = 5, OPENERS = 4 };
    gyre_runtime *runtime = open_isolated((const char *const[]){
        "backend.default.restart_limit=1000", "kernel.default.poison_limit=1000", "log_level=warning", NULL});
    gyre_pipeline *pipeline = open_joining(runtime);
    uint64_t random = random_begin(gyre_now_ns());
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[OPENERS];
        for (int i = 0; i < OPENERS; i++)
            require(pthread_create(&threads[i], NULL, open_and_use, pipeline) == 0);
        kill_two_workers(&random);
        for (int i = 0; i < OPENERS; i++)
            pthread_join(threads[i], NULL);
    }
    must(gyre_pipeline_close(pipeline, soon()));
    gyre_close(runtime);
}

/* Blocks that are gone with their worker are not waited for. */
static void a_pipeline_between_two_workers_is_closed(void)
{
    pthread_t thread;
    gyre_runtime *runtime = open_isolated((const char *const[]){"backend.default.restart_limit=1000",
                                                                "kernel.default.stop_timeout_ms=1000", NULL});
    gyre_pipeline *pipeline = open_joining(runtime);
    uint64_t until_ns = gyre_in_ms(1300); /* longer than stop_timeout_ms */
    require(pthread_create(&thread, NULL, kill_workers, &until_ns) == 0);
    while (!log_lines_with("died"))
        nap();
    must(gyre_pipeline_close(pipeline, soon()));
    pthread_join(thread, NULL);
    gyre_close(runtime);
}

/* ---- a stage that keeps a state ---- */

static gyre_pipeline *open_keeping(gyre_runtime *runtime)
{
    static const char *const names[] = {"left", "keep"};
    static const char *const entries[] = {"left"}, *const answers[] = {"keep"};
    static const gyre_link_desc link = {.size = sizeof link, .name = "kept", .from = "left.on", .to = "keep"};
    gyre_pipeline *pipeline = NULL;
    for (size_t i = 0; i < 2; i++) {
        gyre_kernel *kernel = NULL;
        const gyre_launch_desc desc = {
            .size = sizeof desc, .source = PIPELINE_KERNELS, .kernel = names[i], .stage = 1};
        must(gyre_launch(runtime, &desc, &kernel));
    }
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "keeping",
                                     .entries = entries,
                                     .entry_count = 1,
                                     .answers = answers,
                                     .answer_count = 1,
                                     .links = &link,
                                     .link_count = 1};
    must(gyre_pipeline_open(runtime, &desc, &pipeline));
    return pipeline;
}

/* Two requests, of which the second takes the worker down. Returns what becomes of it. */
static gyre_completion crash_keeper(gyre_queue *queue, crash_reply *reply)
{
    const crash_step first = {.number = 501},
                     second = {.number = 502, .at = STEP_KEEP, .fault = CRASH_SEGFAULT};
    gyre_completion completion;
    must(gyre_call(queue, &first, sizeof first, reply, sizeof *reply, &completion, soon()));
    require(completion.outcome == GYRE_REPLIED && reply->number == 1);
    send_step(queue, &second);
    must(gyre_receive(queue, reply, sizeof *reply, &completion, soon()));
    return completion;
}

/*
 * Without on_loss a state is not begun anew behind anybody's back: the pipeline is lost, and says why. When the application has
 * launched all its kernels again, it goes on.
 */
static void a_state_is_lost_with_its_worker_and_told(void)
{
    crash_reply reply;
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_pipeline *pipeline = open_keeping(runtime);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    require(crash_keeper(queue, &reply).outcome == GYRE_WAS_UNHANDLED);
    require(log_lines_with("what its handler keeps between messages with it"));
    const crash_step step = {.number = 503};
    require(gyre_send(queue, &step, sizeof step, NULL, GYRE_NO_WAIT) != GYRE_OK);
    must(gyre_kernel_relaunch(gyre_kernel_find(runtime, "left")));
    must(gyre_kernel_relaunch(gyre_kernel_find(runtime, "keep")));
    must(gyre_call(queue, &step, sizeof step, &reply, sizeof reply, NULL, soon()));
    require(reply.number == 1 && reply.check == mixed(503));
    gyre_close(runtime);
}

static void a_pipeline_that_is_lost_can_be_closed(void)
{
    crash_reply reply;
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_pipeline *pipeline = open_keeping(runtime);
    require(crash_keeper(gyre_pipeline_queue(pipeline), &reply).outcome == GYRE_WAS_UNHANDLED);
    must(gyre_pipeline_close(pipeline, soon()));
    gyre_close(runtime);
}

/* With it the flow is handled again, and the state begins anew. */
static void a_state_begins_anew_where_on_loss_says_so(void)
{
    crash_reply reply;
    gyre_runtime *runtime = open_isolated((const char *const[]){"kernel.keep.on_loss=one", NULL});
    gyre_queue *queue = gyre_pipeline_queue(open_keeping(runtime));
    const gyre_completion completion = crash_keeper(queue, &reply);
    require(completion.outcome == GYRE_REPLIED && reply.number == 1 && reply.check == mixed(502));
    require(log_lines_with("begins anew"));
    gyre_close(runtime);
}

/* ---- a stage's handler_budget_ms ---- */

static gyre_kernel_info info_of(gyre_runtime *runtime, const char *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(gyre_kernel_find(runtime, kernel), &info));
    return info;
}

/* The entry's handler came back at once: for how long its request is at another stage counts for no budget of the entry. */
static void a_slow_stage_costs_no_budget_of_the_entry(void)
{
    enum { BUDGET_MS = 500 };
    const crash_step step = {.number = 601, .at = STEP_KEEP, .fault = CRASH_WAIT};
    crash_reply reply;
    gyre_runtime *runtime = open_isolated((const char *const[]){
        "kernel.left.handler_budget_ms=500", "kernel.keep.stall_told_ms=0", "kernel.keep.on_loss=one", NULL});
    gyre_queue *queue = gyre_pipeline_queue(open_keeping(runtime));
    send_step(queue, &step);
    usleep(3 * BUDGET_MS * 1000);
    let_handlers_go_on();
    must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
    require(reply.number == 1 && reply.check == mixed(601));
    require(info_of(runtime, "left").stalls == 0 && info_of(runtime, "left").restarts == 0);
    require(info_of(runtime, "keep").stalls == 0 && log_lines_with("is stalled") == 0);
    gyre_close(runtime);
}

/* No request enters at it, and the entry has no budget. */
static void an_endless_loop_in_an_inner_stage_is_ended(void)
{
    const crash_step step = {.number = 602, .at = STEP_KEEP, .fault = CRASH_LOOP};
    crash_reply reply;
    gyre_runtime *runtime = open_isolated((const char *const[]){
        "kernel.keep.handler_budget_ms=300", "kernel.left.stall_told_ms=0", "kernel.keep.on_loss=one", NULL});
    gyre_queue *queue = gyre_pipeline_queue(open_keeping(runtime));
    send_step(queue, &step);
    must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
    require(reply.number == 1 && reply.check == mixed(602));
    require(info_of(runtime, "keep").stalls > 0 && info_of(runtime, "keep").restarts > 0);
    require(
        log_lines_with("kernel 'keep' is stalled: a handler runs for longer than handler_budget_ms = 300; "
                       "its worker process is ended") > 0);
    gyre_close(runtime);
}

/* ---- kernels of the program beside some in a worker process ---- */

static gyre_pipeline *open_beside(gyre_runtime *runtime)
{
    static const char *const names[] = {"enter", "deal", "left", "right", "gather"},
                             *const kernels[] = {"left", "deal", "left", "right", "gather"},
                             *const backends[] = {"cpu", "worker", "cpu", "worker", "cpu"};
    static const char *const entries[] = {"enter"}, *const answers[] = {"gather"};
    static const gyre_link_desc links[] = {
        {.size = sizeof links[0], .name = "entered", .from = "enter.on", .to = "deal"},
        {.size = sizeof links[0], .name = "lefts", .from = "deal.left", .to = "left"},
        {.size = sizeof links[0], .name = "rights", .from = "deal.right", .to = "right"},
        {.size = sizeof links[0], .name = "from_left", .from = "left.on", .to = "gather"},
        {.size = sizeof links[0], .name = "from_right", .from = "right.on", .to = "gather"}};
    gyre_pipeline *pipeline = NULL;
    for (size_t i = 0; i < 5; i++) {
        gyre_kernel *kernel = NULL;
        const gyre_launch_desc desc = {.size = sizeof desc,
                                       .source = PIPELINE_KERNELS,
                                       .kernel = kernels[i],
                                       .name = names[i],
                                       .backend = backends[i],
                                       .blocks = 1,
                                       .stage = 1};
        must(gyre_launch(runtime, &desc, &kernel));
    }
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "beside",
                                     .entries = entries,
                                     .entry_count = 1,
                                     .answers = answers,
                                     .answer_count = 1,
                                     .links = links,
                                     .link_count = 5};
    must(gyre_pipeline_open(runtime, &desc, &pipeline));
    return pipeline;
}

/* What deal had sent to left, in the program, before right took the worker down is sent once more: left gets it once. */
static void what_a_dead_worker_sent_to_the_program_comes_once(void)
{
    gyre_runtime *runtime = open_isolated((const char *const[]){"backend.cpu.isolation=none",
                                                                "backend.worker.library=" COLLECT_LIBRARY,
                                                                "backend.worker.isolation=process", NULL});
    gyre_queue *queue = gyre_pipeline_queue(open_beside(runtime));
    crash_step steps[STEPS];
    for (uint32_t i = 0; i < STEPS; i++) {
        steps[i] = step_of(7000 + i);
        if (i % 24 == 11) {
            steps[i].parts = 4;
            steps[i].at = STEP_RIGHT;
            steps[i].fault = CRASH_SEGFAULT;
        }
        send_step(queue, &steps[i]);
    }
    for (uint32_t i = 0; i < STEPS; i++)
        receive_step(queue, &steps[i]);
    require(log_lines_with("died") >= 3);
    gyre_close(runtime);
}

/* "passes" in the program, and behind it "scribbler" in a worker process. */
static gyre_queue *open_scribbling(gyre_runtime *runtime)
{
    static const char *const names[] = {"passes", "scribbler"}, *const backends[] = {"cpu", "worker"};
    static const char *const entries[] = {"passes"}, *const answers[] = {"scribbler"};
    static const gyre_link_desc link = {
        .size = sizeof link, .name = "passed", .from = "passes.on", .to = "scribbler"};
    gyre_pipeline *pipeline = NULL;
    for (size_t i = 0; i < 2; i++) {
        gyre_kernel *kernel = NULL;
        const gyre_launch_desc desc = {.size = sizeof desc,
                                       .source = SCRIBBLE_KERNELS,
                                       .kernel = names[i],
                                       .backend = backends[i],
                                       .blocks = 1,
                                       .stage = 1};
        must(gyre_launch(runtime, &desc, &kernel));
    }
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "scribbling",
                                     .entries = entries,
                                     .entry_count = 1,
                                     .answers = answers,
                                     .answer_count = 1,
                                     .links = &link,
                                     .link_count = 1};
    must(gyre_pipeline_open(runtime, &desc, &pipeline));
    return gyre_pipeline_queue(pipeline);
}

/* A handler in the worker process wrote it: the request fails, the log says what was found, and later ones are answered. */
static void a_completion_that_is_none_fails_alone(void)
{
    gyre_runtime *runtime = open_isolated((const char *const[]){"backend.cpu.isolation=none",
                                                                "backend.worker.library=" COLLECT_LIBRARY,
                                                                "backend.worker.isolation=process", NULL});
    gyre_queue *queue = open_scribbling(runtime);
    for (uint64_t number = 1; number <= 6; number++) {
        const bool is_wrong = number == 3;
        const scribble_request request = {.number = number, .how = is_wrong ? SCRIBBLE_LENGTH : SCRIBBLE_NOT};
        scribble_reply reply = {0};
        gyre_completion completion;
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == (is_wrong ? GYRE_HANDLER_FAILED : GYRE_REPLIED));
        require(is_wrong ? completion.failure_code == CODE_OUTCOME : reply.number == number);
        if (is_wrong)
            let_handlers_go_on();
    }
    require(
        log_lines_with(
            "a request of kernel 'scribbler' on backend 'worker', which is of pipeline 'scribbling', fails") ==
        1);
    require(log_lines_with("reply 2 says that it has 1048576 bytes in a slot for 16") == 1);
    gyre_close(runtime);
}

/*
 * Stage "gather" moves messages of the links to it only while it sees its own queue, and the entry's flows need it. That queue answered
 * nothing yet, so its first request, which kills workers, has index 0.
 */
static void a_first_request_of_a_stage_is_tested(void)
{
    gyre_runtime *runtime = open_isolated((const char *const[]){"backend.default.restart_limit=1000", NULL});
    gyre_queue *queue = gyre_pipeline_queue(open_joining(runtime));
    gyre_kernel *stage = gyre_kernel_find(runtime, "gather");
    const crash_step bad = {.fault = CRASH_SEGFAULT, .always = 1, .at = STEP_GATHER, .parts = 1, .number = 7};
    crash_step steps[8];
    crash_reply reply;
    gyre_completion completion;
    gyre_queue *own = gyre_kernel_queue(stage);
    must(gyre_kernel_deactivate(stage, soon()));
    send_step(own, &bad);
    for (uint32_t i = 0; i < 8; i++) {
        steps[i] = step_of(1000 + i);
        send_step(queue, &steps[i]);
    }
    must(gyre_kernel_activate(stage, soon()));
    for (uint32_t i = 0; i < 8; i++)
        receive_step(queue, &steps[i]);
    must(gyre_receive(own, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == CODE_CRASH);
    gyre_close(runtime);
}

static const named_case cases[] = {
    {"a_completion_that_is_none_fails_alone", a_completion_that_is_none_fails_alone},
    {"what_a_dead_worker_sent_to_the_program_comes_once", what_a_dead_worker_sent_to_the_program_comes_once},
    {"a_death_at_each_stage_loses_no_flow", a_death_at_each_stage_loses_no_flow},
    {"a_flow_that_kills_every_worker_names_its_stage", a_flow_that_kills_every_worker_names_its_stage},
    {"a_first_request_of_a_stage_is_tested", a_first_request_of_a_stage_is_tested},
    {"kills_from_outside_lose_and_double_nothing", kills_from_outside_lose_and_double_nothing},
    {"queues_are_opened_while_workers_die", queues_are_opened_while_workers_die},
    {"a_pipeline_between_two_workers_is_closed", a_pipeline_between_two_workers_is_closed},
    {"a_state_is_lost_with_its_worker_and_told", a_state_is_lost_with_its_worker_and_told},
    {"a_pipeline_that_is_lost_can_be_closed", a_pipeline_that_is_lost_can_be_closed},
    {"a_state_begins_anew_where_on_loss_says_so", a_state_begins_anew_where_on_loss_says_so},
    {"a_slow_stage_costs_no_budget_of_the_entry", a_slow_stage_costs_no_budget_of_the_entry},
    {"an_endless_loop_in_an_inner_stage_is_ended", an_endless_loop_in_an_inner_stage_is_ended},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
