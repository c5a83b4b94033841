/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline with checkpoints whose entry has a journal, across the deaths of the program: one case a run, `test_stages CASE`. left passes on
 * to tally, which ends the flow of each third request and passes the others on to ledger. Both keep what depends on the order of all that came,
 * so replies and states say whether a request was lost, handled twice, or handled in another order.
 */
#include "faults.h"
#include "lives.h"
#include "pipelines.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gyre/pipeline.h>

#include "tests/random.h"

enum { REQUESTS_MAX = 1 << 16, SETTINGS_MAX = 8 };

/* What the stages keep behind each request, computed here. */
struct model {
    crash_state tally, ledger;
    bool replies;
};

static const struct model *model_of(uint64_t index)
{
    static struct model models[REQUESTS_MAX];
    static uint64_t known;
    require(index < REQUESTS_MAX);
    for (; known <= index; known++) {
        struct model model = known ? models[known - 1] : (struct model){.replies = false};
        const uint64_t number = number_of(known);
        model.tally.count++;
        model.tally.hash = mixed(model.tally.hash ^ number);
        model.replies = number % 3 != 0;
        if (model.replies) {
            model.ledger.count++;
            model.ledger.hash = mixed(model.ledger.hash ^ number);
        }
        models[known] = model;
    }
    return &models[index];
}

/* ---- the pipeline ---- */

static const char *const *extra;
static const char *const never[] = {"kernel.default.checkpoint_ms=0", NULL}; /* a checkpoint by age */

static gyre_runtime *open_kept(void)
{
    char journals[128];
    const char *settings[SETTINGS_MAX + 9] = {journals,
                                              "queue.counting.durability=journal",
                                              "kernel.tally.checkpoints=true",
                                              "kernel.ledger.checkpoints=true",
                                              "kernel.keep.checkpoints=true",
                                              "backend.cpu.restart_limit=1000",
                                              "kernel.default.poison_limit=1000",
                                              "kernel.default.stop_timeout_ms=30000"}; /* a slow machine */
    snprintf(journals, sizeof journals, "gyre.journal_dir=%s", journal_folder());
    for (size_t i = 0; extra && extra[i] && i < SETTINGS_MAX; i++)
        settings[8 + i] = extra[i];
    return open_isolated(settings);
}

static void launch(gyre_runtime *runtime, const char *name)
{
    gyre_kernel *kernel = NULL;
    const gyre_launch_desc desc = {
        .size = sizeof desc, .source = PIPELINE_KERNELS, .kernel = name, .blocks = 1, .stage = 1};
    must(gyre_launch(runtime, &desc, &kernel));
}

/* left leads to tally and ledger, or `is_short` to keep alone; they were launched. */
static gyre_status open_wired(gyre_runtime *runtime, const char *name, bool is_short, gyre_pipeline **out)
{
    static const char *const entries[] = {"left"};
    const char *const answers[] = {is_short ? "keep" : "ledger"};
    const gyre_link_desc links[] = {
        {.size = sizeof links[0], .name = "counted", .from = "left.on", .to = is_short ? "keep" : "tally"},
        {.size = sizeof links[0], .name = "kept", .from = "tally.on", .to = "ledger"}};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = name,
                                     .entries = entries,
                                     .entry_count = 1,
                                     .answers = answers,
                                     .answer_count = 1,
                                     .links = links,
                                     .link_count = is_short ? 1 : 2};
    return gyre_pipeline_open(runtime, &desc, out);
}

static gyre_status open_pipeline(gyre_runtime *runtime, const char *name, bool is_short, gyre_pipeline **out)
{
    launch(runtime, "left");
    if (is_short) {
        launch(runtime, "keep");
    } else {
        launch(runtime, "tally");
        launch(runtime, "ledger");
    }
    return open_wired(runtime, name, is_short, out);
}

static gyre_pipeline *open_counting(gyre_runtime *runtime)
{
    gyre_pipeline *pipeline = NULL;
    must(open_pipeline(runtime, "counting", false, &pipeline));
    return pipeline;
}

static void stages_path(const char *pipeline, char path[128])
{
    snprintf(path, 128, "%s/left.%s.journal", journal_folder(), pipeline);
}

/* ---- requests ---- */

static void send_step(gyre_queue *queue, uint64_t index, uint32_t at)
{
    const crash_step step = {.number = number_of(index), .at = at, .fault = CRASH_SEGFAULT};
    uint64_t sent = 0;
    must(gyre_send(queue, &step, sizeof step, &sent, soon()));
    require(sent == index);
}

/* The next completion must be that of a run in which nobody died. */
static void receive_step(gyre_queue *queue, uint64_t index)
{
    crash_reply reply = {0};
    gyre_completion completion;
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    const struct model *model = model_of(index);
    require(completion.index == index);
    require(completion.outcome == (model->replies ? GYRE_REPLIED : GYRE_NOT_REPLIED));
    require(!model->replies || (reply.number == model->ledger.count && reply.check == model->ledger.hash));
}

/* Both stages keep what they do behind so many requests, each of which came once. */
static void check_states(gyre_runtime *runtime, uint64_t count)
{
    const struct model none = {.replies = false}, *model = count ? model_of(count - 1) : &none;
    crash_state state;
    must(gyre_kernel_state_read(gyre_kernel_find(runtime, "tally"), &state, sizeof state));
    require(memcmp(&state, &model->tally, sizeof state) == 0);
    must(gyre_kernel_state_read(gyre_kernel_find(runtime, "ledger"), &state, sizeof state));
    require(memcmp(&state, &model->ledger, sizeof state) == 0);
}

static uint64_t draw(uint64_t below)
{
    return random_below(&ledger->seed, below);
}

/* What an earlier life left must be all that was durable, and nothing before what it received. */
static uint64_t take_over(gyre_queue *queue)
{
    const gyre_recovered recovered = recovered_of(queue);
    require(recovered.lost_first == recovered.lost_end); /* a last group may be torn, which was not durable */
    require(recovered.first <= ledger->received + 1); /* it may have died before it could note the last one */
    require(recovered.first + recovered.offered >= ledger->durable);
    ledger->received = recovered.first;
    for (uint64_t i = 0; i < recovered.offered; i++)
        receive_step(queue, ledger->received++);
    ledger->offered += recovered.offered;
    ledger->sent = ledger->received;
    ledger->at_work = true;
    return ledger->received;
}

/* ---- orderly lives ---- */

static void fifty_requests(void)
{
    gyre_runtime *runtime = open_kept();
    gyre_pipeline *pipeline = open_counting(runtime);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    gyre_kernel_info info = {.size = sizeof info};
    const uint64_t first = 50 * (ledger->lives - 1);
    check_states(runtime, first);
    must(gyre_kernel_info_get(gyre_kernel_find(runtime, "tally"), &info));
    require(info.replayed == 0 && take_over(queue) == first);
    for (uint64_t i = first; i < first + 50; i++) {
        send_step(queue, i, 0);
        receive_step(queue, i);
    }
    check_states(runtime, first + 50);
    ledger->received = first + 50;
    if (ledger->lives % 2) { /* also in the same run */
        must(gyre_pipeline_close(pipeline, soon()));
        must(open_wired(runtime, "counting", false, &pipeline));
        check_states(runtime, first + 50);
    }
    gyre_close(runtime);
}

static void stages_go_on_in_the_next_run(void)
{
    for (int round = 0; round < 4; round++)
        live(fifty_requests, 0);
    require(ledger->offered == 0);
}

/* `seed` 0: killed without a checkpoint since the beginning; 1: closed; 2: killed behind a checkpoint. */
static void leave_without_receiving(void)
{
    gyre_runtime *runtime = open_kept();
    gyre_pipeline *pipeline = open_counting(runtime);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    for (uint64_t i = 0; i < 100; i++)
        send_step(queue, i, 0);
    for (uint64_t i = 0; i < 40; i++)
        receive_step(queue, i);
    must(gyre_await(queue, 99, GYRE_DURABLE, soon()));
    must(gyre_await(queue, 99, GYRE_PROCESSED, soon()));
    if (ledger->seed == 2)
        must(gyre_kernel_checkpoint(gyre_kernel_find(runtime, "ledger"), soon()));
    if (ledger->seed == 1)
        gyre_close(runtime);
    else
        kill(getpid(), SIGKILL);
}

static void receive_the_rest(void)
{
    gyre_runtime *runtime = open_kept();
    gyre_pipeline *pipeline = open_counting(runtime);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    const gyre_recovered recovered = recovered_of(queue);
    require(recovered.first <= 40 && recovered.first + recovered.offered == 100);
    for (uint64_t i = recovered.first; i < 100; i++)
        receive_step(queue, i);
    send_step(queue, 100, 0);
    receive_step(queue, 100);
    check_states(runtime, 101);
    gyre_close(runtime);
}

static void replies_that_nobody_took_are_offered(void)
{
    extra = never;
    for (uint64_t round = 0; round < 3; round++) {
        begin_lives();
        ledger->seed = round;
        live(leave_without_receiving, round == 1 ? 0 : 60000000);
        live(receive_the_rest, 0);
    }
}

/* tally has handled requests that ledger, which is paused, has not. */
static void stop_between(gyre_runtime *runtime, gyre_queue *queue)
{
    enum { STEPS = 40, AHEAD = 3 };
    crash_state state = {.count = 0};
    must(gyre_kernel_deactivate(gyre_kernel_find(runtime, "ledger"), soon()));
    for (uint32_t i = 0; i < STEPS; i++)
        send_step(queue, ledger->sent++, 0);
    while (state.count < ledger->received + AHEAD) {
        must(gyre_kernel_state_read(gyre_kernel_find(runtime, "tally"), &state, sizeof state));
        usleep(1000);
    }
}

static void close_beside_flows(void)
{
    gyre_runtime *runtime = open_kept();
    gyre_pipeline *pipeline = open_counting(runtime);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    const gyre_recovered recovered = recovered_of(queue);
    require(recovered.first == ledger->received && recovered.first + recovered.offered == ledger->sent);
    while (ledger->received < ledger->sent)
        receive_step(queue, ledger->received++);
    check_states(runtime, ledger->received);
    stop_between(runtime, queue);
    gyre_close(runtime);
}

static void a_close_in_the_midst_of_flows_loses_nothing(void)
{
    enum { LIVES = 4 };
    extra = never;
    for (int round = 0; round < LIVES; round++)
        live(close_beside_flows, 0);
}

/* ---- lives that end at any moment ---- */

static bool workers_die;

/* Sends and receives until the program is killed; workers die of requests, and at any moment. */
static void busy_life(void)
{
    static const uint32_t at[] = {STEP_LEFT, STEP_DEAL, STEP_KEEP};
    gyre_runtime *runtime = open_kept();
    gyre_queue *queue = gyre_pipeline_queue(open_counting(runtime));
    uint64_t next = take_over(queue);
    while (next < REQUESTS_MAX - 1000) {
        for (uint64_t count = draw(60); count > 0 && next - ledger->received < 500; count--) {
            send_step(queue, next, workers_die && draw(300) == 0 ? at[draw(3)] : 0);
            ledger->sent = ++next;
        }
        if (workers_die && draw(30) == 0)
            kill_worker();
        if (draw(3) == 0 && next) {
            must(gyre_await(queue, next - 1, GYRE_DURABLE, soon()));
            ledger->durable = next;
        }
        for (uint64_t count = draw(70); count > 0 && ledger->received < next; count--) {
            receive_step(queue, ledger->received);
            ledger->received++;
        }
    }
}

static void last_life(void)
{
    gyre_runtime *runtime = open_kept();
    gyre_pipeline *pipeline = open_counting(runtime);
    const uint64_t count = take_over(gyre_pipeline_queue(pipeline));
    require(count >= ledger->durable);
    check_states(runtime, count);
    must(gyre_pipeline_close(pipeline, soon()));
    check_states(runtime, count);
    gyre_close(runtime);
}

static void begin_by_chance(const char *const *settings)
{
    extra = settings;
    ledger->seed = random_begin(gyre_now_ns());
    live(last_life, 0); /* also compiles the handlers, for which a life may be too short */
}

static void nothing_durable_is_lost_when_the_program_is_killed(void)
{
    enum { LIVES = 10 };
    static const char *const often[] = {"kernel.default.checkpoint_ms=5", NULL};
    begin_by_chance(often);
    for (int round = 0; round < LIVES || ledger->durable == 0; round++) {
        const unsigned longer = round < LIVES ? 0 : 20000 * (unsigned)(round - LIVES); /* a slow disk */
        workers_die = round % 2 != 0;
        live_at_work(busy_life, 20000 + longer + (unsigned)draw(60000));
    }
    live(last_life, 0);
    live(last_life, 0); /* behind an orderly end */
}

static struct chosen_fault fatal;

static void fated_life(void)
{
    need_fault_board();
    if (fatal.point == GYRE_FAULT_JOURNAL_WROTE) { /* torn: half of it is there */
        const struct chosen_fault half = {GYRE_FAULT_JOURNAL_WRITE, GYRE_FAULT_SHORT, 0};
        arm_fault(&half, 1, UINT64_MAX / 2);
    }
    arm_fault(&fatal, 1 + draw(fatal.point >= GYRE_FAULT_JOURNAL_RENEW ? 4 : 40), 1);
    busy_life();
}

static void nothing_durable_is_lost_when_the_program_dies_at_a_fault_point(void)
{
    static const enum gyre_fault_point points[] = {GYRE_FAULT_CHECKPOINT_COPY, GYRE_FAULT_CHECKPOINT_COMMIT,
                                                   GYRE_FAULT_JOURNAL_WRITE,   GYRE_FAULT_JOURNAL_WROTE,
                                                   GYRE_FAULT_JOURNAL_SYNC,    GYRE_FAULT_JOURNAL_RENEW,
                                                   GYRE_FAULT_JOURNAL_RENAME};
    static const char *const small[] = {"kernel.default.checkpoint_ms=3", "queue.counting.journal_size=65536",
                                        NULL};
    enum { POINTS = sizeof points / sizeof points[0], LIVES = 2 * POINTS };
    need_fault_board();
    begin_by_chance(small);
    for (int round = 0; round < LIVES || ledger->durable == 0; round++) {
        fatal = (struct chosen_fault){points[round % POINTS], GYRE_FAULT_DIE, 0};
        live_at_work(fated_life, 1000000);
    }
    live(last_life, 0);
}

/* ---- journals that are damaged, or of something else ---- */

static void sixty_durable(void)
{
    gyre_runtime *runtime = open_kept();
    gyre_queue *queue = gyre_pipeline_queue(open_counting(runtime));
    for (uint64_t i = 0; i < 60; i++) {
        send_step(queue, i, 0);
        receive_step(queue, i);
        must(gyre_await(queue, i, GYRE_DURABLE, soon()));
    }
    kill(getpid(), SIGKILL);
}

static void meet_torn(void)
{
    gyre_runtime *runtime = open_kept();
    gyre_queue *queue = gyre_pipeline_queue(open_counting(runtime));
    const gyre_recovered recovered = recovered_of(queue);
    const uint64_t end = recovered.first + recovered.offered;
    require(recovered.lost_bytes > 0 && recovered.lost_first == end && end <= 60);
    for (uint64_t i = recovered.first; i < end; i++)
        receive_step(queue, i);
    check_states(runtime, end);
    send_step(queue, end, 0);
    receive_step(queue, end);
    check_states(runtime, end + 1);
    gyre_close(runtime);
}

static void a_journal_that_ends_in_a_record_is_used_up_to_it(void)
{
    char path[128];
    struct stat now;
    extra = never;
    live(sixty_durable, 60000000);
    stages_path("counting", path);
    require(stat(path, &now) == 0 && truncate(path, now.st_size - 5) == 0);
    live(meet_torn, 0);
}

static const struct {
    const char *name; /* under which it is opened behind counting */
    bool was_short, is_short;
    const char *words;
} strangers[] = {
    {.name = "other", .words = "is of queue 'counting' of kernel 'left', not of 'other' of 'left'"},
    {.name = "counting", .was_short = true, .words = "it holds nothing of what is kept by stage ledger"},
    {.name = "counting", .is_short = true, .words = "it holds nothing of what is kept by stage keep"},
};
static size_t stranger;

static void write_a_journal(void)
{
    gyre_runtime *runtime = open_kept();
    gyre_pipeline *pipeline = NULL;
    must(open_pipeline(runtime, "counting", strangers[stranger].was_short, &pipeline));
    send_step(gyre_pipeline_queue(pipeline), 0, 0);
    must(gyre_await(gyre_pipeline_queue(pipeline), 0, GYRE_DURABLE, soon()));
    gyre_close(runtime);
}

static void meet_a_strangers(void)
{
    static const char *const kept[] = {"queue.other.durability=journal", NULL};
    extra = kept;
    gyre_runtime *runtime = open_kept();
    gyre_pipeline *pipeline = NULL;
    require(open_pipeline(runtime, strangers[stranger].name, strangers[stranger].is_short, &pipeline) ==
            GYRE_INCOMPATIBLE);
    require(strstr(gyre_error_text(), strangers[stranger].words));
    gyre_close(runtime);
}

/* Refused with what differs, and left as it is. */
static void a_journal_of_another_pipeline_is_refused(void)
{
    char path[128], other[128];
    struct stat before = {0}, after = {0};
    for (stranger = 0; stranger < sizeof strangers / sizeof strangers[0]; stranger++) {
        live(write_a_journal, 0);
        stages_path("counting", path);
        stages_path(strangers[stranger].name, other);
        require(rename(path, other) == 0 && stat(other, &before) == 0);
        live(meet_a_strangers, 0);
        require(stat(other, &after) == 0 && before.st_ino == after.st_ino && before.st_size == after.st_size);
        require(unlink(other) == 0);
    }
}

/* ---- other links ---- */

/* left tells ledger and keep: one of both for each message, or both of each. */
static const struct {
    bool is_pool, waits, answers;
    uint32_t level;
} wirings[] = {
    {.level = 0}, {.is_pool = true}, {.waits = true}, {.answers = true}, {.level = 1},
};
static size_t wiring;
static bool turned; /* the links are named the other way round */

static gyre_status open_told(gyre_runtime *runtime, gyre_pipeline **out)
{
    static const char *const entries[] = {"left"}, *const answers[] = {"ledger", "keep"};
    const bool is_pool = wirings[wiring].is_pool;
    const char *const topic = is_pool ? NULL : "told", *const pool = is_pool ? "told" : NULL;
    const gyre_link_desc first = {.size = sizeof first,
                                  .name = "first",
                                  .from = "left.on",
                                  .to = "ledger",
                                  .topic = topic,
                                  .pool = pool,
                                  .level = wirings[wiring].level};
    gyre_link_desc second = first;
    second.name = "second";
    second.to = "keep";
    second.level = 0;
    second.slow = is_pool || wirings[wiring].waits ? 0 : GYRE_SLOW_TAP;
    const gyre_link_desc links[] = {turned ? second : first, turned ? first : second};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "counting",
                                     .entries = entries,
                                     .entry_count = 1,
                                     .answers = answers,
                                     .answer_count = wirings[wiring].answers ? 2 : 1,
                                     .links = links,
                                     .link_count = 2};
    launch(runtime, "left");
    launch(runtime, "ledger");
    launch(runtime, "keep");
    return gyre_pipeline_open(runtime, &desc, out);
}

static void ten_told(void)
{
    gyre_runtime *runtime = open_kept();
    gyre_pipeline *pipeline = NULL;
    must(open_told(runtime, &pipeline));
    for (uint64_t i = 0; i < 10; i++)
        send_step(gyre_pipeline_queue(pipeline), i, 0);
    must(gyre_await(gyre_pipeline_queue(pipeline), 9, GYRE_DURABLE, soon()));
    kill(getpid(), SIGKILL);
}

static void meet_other_links(void)
{
    gyre_runtime *runtime = open_kept();
    gyre_pipeline *pipeline = NULL;
    require(open_told(runtime, &pipeline) == GYRE_INCOMPATIBLE);
    require(strstr(gyre_error_text(), "a stage of pipeline 'counting'"));
    gyre_close(runtime);
}

static void meet_the_same_links(void)
{
    gyre_runtime *runtime = open_kept();
    gyre_pipeline *pipeline = NULL;
    crash_state state;
    crash_reply reply;
    gyre_completion completion;
    must(open_told(runtime, &pipeline));
    for (uint64_t left = recovered_of(gyre_pipeline_queue(pipeline)).offered; left > 0; left--)
        must(gyre_receive(gyre_pipeline_queue(pipeline), &reply, sizeof reply, &completion, soon()));
    must(gyre_kernel_state_read(gyre_kernel_find(runtime, "ledger"), &state, sizeof state));
    require(state.count == 10);
    gyre_close(runtime);
}

/* Requests without a checkpoint would go other ways. In which order links are named changes nothing. */
static void other_links_are_seen_behind_a_crash(void)
{
    extra = never;
    live(ten_told, 60000000);
    for (wiring = 1; wiring < sizeof wirings / sizeof wirings[0]; wiring++)
        live(meet_other_links, 0);
    wiring = 0;
    turned = true;
    live(meet_the_same_links, 0);
    turned = false;
    live(meet_the_same_links, 0); /* behind an orderly end */
}

static void ask_for_too_much(void)
{
    static const char *const without[] = {"kernel.tally.checkpoints=false", "kernel.ledger.checkpoints=false",
                                          NULL};
    static const char *const of_both[] = {"queue.tally.durability=journal", NULL};
    gyre_runtime *runtime = open_kept();
    gyre_pipeline *pipeline = open_counting(runtime);
    gyre_queue *queue = NULL;
    require(gyre_pipeline_queue_open(pipeline, NULL, NULL, &queue) == GYRE_INVALID);
    require(strstr(gyre_error_text(), "has a journal, and one queue"));
    require(gyre_link_retarget(pipeline, "kept", "nowhere", soon()) == GYRE_INVALID);
    require(strstr(gyre_error_text(), "open it with other links"));
    gyre_close(runtime);
    extra = without;
    runtime = open_kept();
    require(open_pipeline(runtime, "counting", false, &pipeline) == GYRE_CONFIG);
    require(strstr(gyre_error_text(), "such a queue cannot have durability"));
    gyre_close(runtime);
    extra = of_both;
    runtime = open_kept();
    require(open_pipeline(runtime, "tally", false, &pipeline) == GYRE_INVALID);
    require(strstr(gyre_error_text(), "give the pipeline another name"));
    gyre_close(runtime);
}

static void lose_stages(void)
{
    enum { STEPS = 20 };
    gyre_runtime *runtime = open_kept();
    gyre_pipeline *pipeline = open_counting(runtime);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    gyre_kernel_info info = {.size = sizeof info};
    const uint64_t deadline_ns = soon();
    for (uint64_t i = 0; i < STEPS; i++) {
        send_step(queue, i, 0);
        receive_step(queue, i);
    }
    require(kill_worker());
    while (info.state != GYRE_KERNEL_LOST) {
        require(gyre_now_ns() < deadline_ns);
        usleep(1000);
        must(gyre_kernel_info_get(gyre_kernel_find(runtime, "tally"), &info));
    }
    require(gyre_kernel_relaunch(gyre_kernel_find(runtime, "tally")) == GYRE_INVALID);
    require(strstr(gyre_error_text(), "whose journal holds what it kept"));
    must(gyre_pipeline_close(pipeline, soon()));
    gyre_close(runtime);
    ledger->received = ledger->durable = STEPS;
}

/* No stage of it begins anew with something else meanwhile. */
static void a_pipeline_that_was_lost_goes_on_with_its_journal(void)
{
    static const char *const once[] = {"backend.cpu.restart_limit=0", "kernel.default.checkpoint_ms=0", NULL};
    extra = once;
    live(lose_stages, 0);
    live(last_life, 0);
}

static void what_a_journal_of_stages_cannot_be_with_is_said(void)
{
    live(ask_for_too_much, 0);
}

static const named_case cases[] = {
    {"stages_go_on_in_the_next_run", stages_go_on_in_the_next_run},
    {"replies_that_nobody_took_are_offered", replies_that_nobody_took_are_offered},
    {"a_close_in_the_midst_of_flows_loses_nothing", a_close_in_the_midst_of_flows_loses_nothing},
    {"nothing_durable_is_lost_when_the_program_is_killed",
     nothing_durable_is_lost_when_the_program_is_killed},
    {"nothing_durable_is_lost_when_the_program_dies_at_a_fault_point",
     nothing_durable_is_lost_when_the_program_dies_at_a_fault_point},
    {"a_journal_that_ends_in_a_record_is_used_up_to_it", a_journal_that_ends_in_a_record_is_used_up_to_it},
    {"a_journal_of_another_pipeline_is_refused", a_journal_of_another_pipeline_is_refused},
    {"other_links_are_seen_behind_a_crash", other_links_are_seen_behind_a_crash},
    {"a_pipeline_that_was_lost_goes_on_with_its_journal", a_pipeline_that_was_lost_goes_on_with_its_journal},
    {"what_a_journal_of_stages_cannot_be_with_is_said", what_a_journal_of_stages_cannot_be_with_is_said},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, begin_lives, cases);
}
