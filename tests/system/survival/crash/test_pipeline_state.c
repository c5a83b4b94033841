/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stages of a pipeline keep, with checkpoints, when their worker process dies: one case a run, `test_pipeline_state CASE`. left passes on to
 * tally, which ends the flow of each third request and passes the others on to ledger. Both keep what depends on the order of all that came.
 * So replies and states at the end say whether a message was lost, handled twice, or handled in another order.
 */
#include "pipelines.h"
#include "workers.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <gyre/pipeline.h>

#include "core/links/pipeline.h"
#include "core/queue/queue.h"
#include "core/ring/ring.h"
#include "tests/random.h"

enum { CODE_CRASH = -10, STEP_TALLY = STEP_DEAL, QUEUES = 3, REQUESTS_MAX = 8192 };

/* What the two stages keep, computed here. */
static crash_state tally, ledger;

/* What becomes of a request of this number, and the reply; false: none. */
static bool expect(uint64_t number, crash_reply *reply)
{
    tally.count++;
    tally.hash = mixed(tally.hash ^ number);
    if (number % 3 == 0)
        return false;
    ledger.count++;
    ledger.hash = mixed(ledger.hash ^ number);
    *reply = (crash_reply){.number = ledger.count, .check = ledger.hash};
    return true;
}

/* `tapped`: "watch" is a tap of what left sends. The first `entry_count` of left and tally are entries. */
static gyre_pipeline *open_entered(gyre_runtime *runtime, bool tapped, uint32_t entry_count)
{
    static const char *const names[] = {"left", "tally", "ledger", "watch"};
    static const char *const entries[] = {"left", "tally"}, *const answers[] = {"ledger"};
    const char *topic = tapped ? "steps" : NULL;
    const gyre_link_desc links[] = {
        {.size = sizeof links[0], .name = "counted", .from = "left.on", .to = "tally", .topic = topic},
        {.size = sizeof links[0], .name = "kept", .from = "tally.on", .to = "ledger"},
        {.size = sizeof links[0],
         .name = "seen",
         .from = "left.on",
         .to = "watch",
         .topic = topic,
         .slow = GYRE_SLOW_TAP}};
    gyre_pipeline *pipeline = NULL;
    for (size_t i = 0; i < (tapped ? 4 : 3); i++) {
        gyre_kernel *kernel = NULL;
        const gyre_launch_desc desc = {
            .size = sizeof desc, .source = PIPELINE_KERNELS, .kernel = names[i], .blocks = 1, .stage = 1};
        must(gyre_launch(runtime, &desc, &kernel));
    }
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "counting",
                                     .entries = entries,
                                     .entry_count = entry_count,
                                     .answers = answers,
                                     .answer_count = 1,
                                     .links = links,
                                     .link_count = tapped ? 3 : 2};
    must(gyre_pipeline_open(runtime, &desc, &pipeline));
    return pipeline;
}

static gyre_pipeline *open_tapped(gyre_runtime *runtime, bool tapped)
{
    return open_entered(runtime, tapped, 1);
}

static gyre_pipeline *open_counting(gyre_runtime *runtime)
{
    return open_tapped(runtime, false);
}

static void launch_kept(gyre_runtime *runtime)
{
    static const char *const names[] = {"tally", "ledger"};
    for (size_t i = 0; i < 2; i++) {
        gyre_kernel *kernel = NULL;
        const gyre_launch_desc desc = {
            .size = sizeof desc, .source = PIPELINE_KERNELS, .kernel = names[i], .stage = 1};
        must(gyre_launch(runtime, &desc, &kernel));
    }
}

/* Of the two that keep something, which were launched. */
static gyre_status open_kept_alone(gyre_runtime *runtime, gyre_pipeline **out)
{
    static const char *const entries[] = {"tally"}, *const answers[] = {"ledger"};
    static const gyre_link_desc link = {
        .size = sizeof link, .name = "kept", .from = "tally.on", .to = "ledger"};
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "counting",
                                     .entries = entries,
                                     .entry_count = 1,
                                     .answers = answers,
                                     .answer_count = 1,
                                     .links = &link,
                                     .link_count = 1};
    return gyre_pipeline_open(runtime, &desc, out);
}

static void refuse_counting(gyre_runtime *runtime, const char *text)
{
    gyre_pipeline *pipeline = NULL;
    launch_kept(runtime);
    require(open_kept_alone(runtime, &pipeline) == GYRE_INVALID);
    require(strstr(gyre_error_text(), text) != NULL);
}

static gyre_runtime *open_kept(const char *checkpoint_ms)
{
    char every[64];
    snprintf(every, sizeof every, "kernel.default.checkpoint_ms=%s", checkpoint_ms);
    return open_isolated(
        (const char *const[]){"kernel.tally.checkpoints=true", "kernel.ledger.checkpoints=true", every,
                              "backend.default.restart_limit=1000", "log_level=warning", NULL});
}

static void send_step(gyre_queue *queue, const crash_step *step)
{
    must(gyre_send(queue, step, sizeof *step, NULL, gyre_in_ms(patiently(60000))));
}

static void receive_step(gyre_queue *queue, uint64_t number)
{
    crash_reply reply = {0}, expected;
    gyre_completion completion;
    must(gyre_receive(queue, &reply, sizeof reply, &completion, gyre_in_ms(patiently(60000))));
    const bool replies = expect(number, &expected);
    if (completion.outcome != (replies ? GYRE_REPLIED : GYRE_NOT_REPLIED) ||
        (replies && memcmp(&reply, &expected, sizeof reply) != 0))
        fprintf(stderr, "request %llu: outcome %d %s, %llu/%llx for %llu/%llx\n", (unsigned long long)number,
                (int)completion.outcome, completion.failure_text, (unsigned long long)reply.number,
                (unsigned long long)reply.check, (unsigned long long)expected.number,
                (unsigned long long)expected.check);
    require(completion.outcome == (replies ? GYRE_REPLIED : GYRE_NOT_REPLIED));
    require(!replies || memcmp(&reply, &expected, sizeof reply) == 0);
}

static void check_states(gyre_runtime *runtime)
{
    crash_state state;
    must(gyre_kernel_state_read(gyre_kernel_find(runtime, "tally"), &state, sizeof state));
    require(memcmp(&state, &tally, sizeof state) == 0);
    must(gyre_kernel_state_read(gyre_kernel_find(runtime, "ledger"), &state, sizeof state));
    require(memcmp(&state, &ledger, sizeof state) == 0);
}

static gyre_kernel_info info_of(gyre_runtime *runtime, const char *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(gyre_kernel_find(runtime, kernel), &info));
    return info;
}

/* Kills from outside at any moment: of the run, of a checkpoint, of a recovery. */
static void kills_at_any_moment_leave_no_trace(void)
{
    enum { KILLS = 24 };
    gyre_runtime *runtime = open_kept("3");
    gyre_pipeline *pipeline = open_counting(runtime);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    uint64_t random = random_begin(gyre_now_ns()), sent = 0, received = 0, kills = 0;
    while (kills < KILLS || received < sent) {
        for (uint64_t i = random_below(&random, 80); i > 0 && kills < KILLS && sent - received < 200; i--)
            send_step(queue, &(crash_step){.number = ++sent});
        if (kills < KILLS && random_below(&random, 8) == 0)
            kills += kill_worker();
        for (uint64_t i = random_below(&random, 90); i > 0 && received < sent; i--)
            receive_step(queue, ++received);
    }
    check_states(runtime);
    require(info_of(runtime, "tally").checkpoints > 0 && info_of(runtime, "ledger").checkpoints > 0);
    must(gyre_pipeline_close(pipeline, soon()));
    check_states(runtime);
    gyre_close(runtime);
}

/* Each stage crashes in the midst of its change, behind requests that have a completion and flows of later ones that have. */
static void a_death_in_the_midst_of_a_change_is_not_seen(void)
{
    enum { STEPS = 40 };
    static const uint32_t at[] = {STEP_LEFT, STEP_TALLY, STEP_KEEP};
    gyre_runtime *runtime = open_kept("0"); /* everything is handled again */
    gyre_queue *queue = gyre_pipeline_queue(open_counting(runtime));
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < STEPS; i++)
            send_step(queue, &(crash_step){.number = round * 1000 + i,
                                           .at = i == 26 ? at[round] : 0,
                                           .fault = CRASH_SEGFAULT});
        for (uint32_t i = 0; i < STEPS; i++)
            receive_step(queue, round * 1000 + i);
    }
    check_states(runtime);
    require(info_of(runtime, "tally").restarts >= 3 && info_of(runtime, "tally").replayed >= STEPS);
    gyre_close(runtime);
}

/* It is failed with its stage's name, and leaves no trace; requests behind it that had a completion are not handled twice. */
static void a_poisoned_flow_leaves_no_trace(void)
{
    enum { STEPS = 30, POISON = 10 };
    gyre_runtime *runtime = open_kept("0");
    gyre_queue *queue = gyre_pipeline_queue(open_counting(runtime));
    for (uint32_t i = 0; i < STEPS; i++)
        send_step(queue,
                  &(crash_step){
                      .number = i, .at = i == POISON ? STEP_KEEP : 0, .always = 1, .fault = CRASH_SEGFAULT});
    for (uint32_t i = 0; i < STEPS; i++) {
        gyre_completion completion;
        if (i != POISON) {
            receive_step(queue, i);
            continue;
        }
        must(gyre_receive(queue, NULL, 0, &completion, gyre_in_ms(patiently(60000))));
        require(completion.outcome == GYRE_HANDLER_FAILED && completion.failure_code == CODE_CRASH);
        require(strstr(completion.failure_text, "'ledger'") != NULL);
    }
    check_states(runtime);
    gyre_close(runtime);
}

/*
 * What it covers is not handled again. A paused tap with messages does not hold it up, and a completion that a worker forged for a request
 * which nobody has sent yet is not believed.
 */
static void a_checkpoint_on_request_spares_the_replay(void)
{
    enum { STEPS = 50 };
    gyre_runtime *runtime = open_kept("0");
    gyre_queue *queue = gyre_pipeline_queue(open_tapped(runtime, true));
    must(gyre_kernel_deactivate(gyre_kernel_find(runtime, "watch"), soon()));
    for (uint32_t i = 0; i < STEPS; i++)
        send_step(queue, &(crash_step){.number = i});
    must(gyre_kernel_checkpoint(gyre_kernel_find(runtime, "ledger"), soon()));
    require(info_of(runtime, "tally").checkpoints == 1);
    for (uint32_t i = 0; i < STEPS; i++)
        receive_step(queue, i);
    gyre_slot *forged = gyre_reply_slot(gyre_ring_of(queue), STEPS + 5);
    const uint64_t was = __atomic_exchange_n(&forged->sequence, STEPS + 6, __ATOMIC_ACQ_REL);
    require(kill_worker());
    send_step(queue, &(crash_step){.number = STEPS});
    receive_step(queue, STEPS);
    __atomic_store_n(&forged->sequence, was, __ATOMIC_RELEASE);
    check_states(runtime);
    require(info_of(runtime, "tally").replayed == 0 && info_of(runtime, "tally").restarts == 1);
    gyre_close(runtime);
}

/* What was under way waits for the application; what had a completion is handled again all the same. */
static void a_stage_that_is_paused_is_paused_again(void)
{
    enum { STEPS = 20 };
    gyre_runtime *runtime = open_kept("0");
    gyre_queue *queue = gyre_pipeline_queue(open_counting(runtime));
    gyre_kernel *kernel = gyre_kernel_find(runtime, "ledger");
    for (uint32_t i = 0; i < STEPS; i++) {
        send_step(queue, &(crash_step){.number = i});
        receive_step(queue, i);
    }
    must(gyre_kernel_deactivate(kernel, soon()));
    require(kill_worker());
    send_step(queue, &(crash_step){.number = STEPS});
    crash_reply reply;
    require(gyre_receive(queue, &reply, sizeof reply, NULL, gyre_in_ms(300)) == GYRE_TIMEOUT);
    must(gyre_kernel_activate(kernel, soon()));
    receive_step(queue, STEPS);
    check_states(runtime);
    gyre_close(runtime);
}

/* Its own thread looks at its queues meanwhile, whether a checkpoint is due. */
static void an_entry_that_keeps_something_is_closed(void)
{
    enum { TIMES = 60, STEPS = 4 };
    gyre_runtime *runtime = open_kept("1");
    uint64_t number = 0;
    launch_kept(runtime);
    for (uint32_t i = 0; i < TIMES; i++) {
        gyre_pipeline *pipeline = NULL;
        must(open_kept_alone(runtime, &pipeline));
        for (uint32_t step = 0; step < STEPS; step++) {
            send_step(gyre_pipeline_queue(pipeline), &(crash_step){.number = number});
            receive_step(gyre_pipeline_queue(pipeline), number++);
        }
        must(gyre_pipeline_close(pipeline, soon()));
    }
    check_states(runtime);
    gyre_close(runtime);
}

static void *close_patiently(void *pipeline)
{
    must(gyre_pipeline_close(pipeline, gyre_in_ms(patiently(20000))));
    return NULL;
}

/* What was under way, and what stages kept since the last checkpoint, is handled again before the pipeline is closed. */
static void a_death_while_a_pipeline_is_closed_loses_nothing(void)
{
    enum { STEPS = 40, ANSWERED = 10 };
    gyre_runtime *runtime = open_kept("0");
    gyre_pipeline *pipeline = open_counting(runtime);
    pthread_t closer;
    crash_reply reply;
    for (uint32_t i = 0; i < STEPS; i++) {
        send_step(gyre_pipeline_queue(pipeline),
                  &(crash_step){.number = i, .at = i == ANSWERED ? STEP_LEFT : 0, .fault = CRASH_WAIT});
        if (i < ANSWERED)
            receive_step(gyre_pipeline_queue(pipeline), i);
        else
            (void)expect(i, &reply);
    }
    require(pthread_create(&closer, NULL, close_patiently, pipeline) == 0);
    while (gyre_pipeline_find(runtime, "counting"))
        usleep(1000);
    require(kill_worker());
    let_handlers_go_on();
    pthread_join(closer, NULL);
    check_states(runtime);
    gyre_close(runtime);
}

/* At any moment of it: also when all is answered, and nothing of it is in a checkpoint yet. */
static void kills_while_pipelines_are_closed_leave_no_trace(void)
{
    enum { PIPELINES = 20, STEPS = 100, KILLED_WITHIN_US = 600 };
    gyre_runtime *runtime = open_kept("0");
    uint64_t random = random_begin(gyre_now_ns()), number = 0;
    launch_kept(runtime);
    for (uint32_t i = 0; i < PIPELINES; i++) {
        const uint64_t deadline_ns = soon();
        gyre_pipeline *pipeline = NULL;
        pthread_t closer;
        crash_reply reply;
        while (open_kept_alone(runtime, &pipeline) != GYRE_OK) { /* the worker died just now */
            require(gyre_now_ns() < deadline_ns);
            usleep(1000);
        }
        for (uint32_t step = 0; step < STEPS; step++, number++) {
            send_step(gyre_pipeline_queue(pipeline), &(crash_step){.number = number});
            (void)expect(number, &reply);
        }
        require(pthread_create(&closer, NULL, close_patiently, pipeline) == 0);
        usleep((unsigned)random_below(&random, KILLED_WITHIN_US));
        kill_worker();
        pthread_join(closer, NULL);
        check_states(runtime);
    }
    gyre_close(runtime);
}

/* ---- several queues ---- */

/* Requests that all come to ledger, and what replies say of the places at which they came there. */
static struct {
    gyre_queue *queues[QUEUES];
    bool one_way; /* so those of a queue come there in its order */
    uint64_t sent[QUEUES], received[QUEUES], last_place[QUEUES];
    uint64_t numbers[QUEUES][REQUESTS_MAX], last_number, count;
    struct {
        uint64_t number, check;
    } places[REQUESTS_MAX];
} several;

static gyre_runtime *open_timed(const char *checkpoint_ms)
{
    char every[64];
    snprintf(every, sizeof every, "kernel.default.checkpoint_ms=%s", checkpoint_ms);
    return open_isolated(
        (const char *const[]){"kernel.tally.checkpoints=true", "kernel.ledger.checkpoints=true", every,
                              "kernel.default.timing=true", "kernel.default.poison_limit=1000",
                              "backend.default.restart_limit=1000", "log_level=warning", NULL});
}

/* `last_entry`: of the last queue. */
static gyre_pipeline *open_several(gyre_runtime *runtime, uint32_t entry_count, const char *last_entry)
{
    gyre_pipeline *pipeline = open_entered(runtime, false, entry_count);
    several.one_way = entry_count == 1;
    several.queues[0] = gyre_pipeline_queue(pipeline);
    for (uint32_t queue = 1; queue < QUEUES; queue++)
        must(gyre_pipeline_queue_open(pipeline, queue == QUEUES - 1 ? last_entry : NULL, NULL,
                                      &several.queues[queue]));
    return pipeline;
}

/* tally passes on what is no multiple of three. */
static void send_to(uint32_t queue, uint32_t at)
{
    several.last_number += several.last_number % 3 == 2 ? 2 : 1;
    require(several.sent[queue] < REQUESTS_MAX);
    several.numbers[queue][several.sent[queue]++] = several.last_number;
    send_step(several.queues[queue],
              &(crash_step){.number = several.last_number, .at = at, .fault = CRASH_SEGFAULT});
}

static void receive_from(uint32_t queue)
{
    crash_reply reply = {0};
    gyre_completion completion;
    must(
        gyre_receive(several.queues[queue], &reply, sizeof reply, &completion, gyre_in_ms(patiently(60000))));
    const uint64_t index = several.received[queue]++;
    require(completion.outcome == GYRE_REPLIED && completion.index == index);
    require(!several.one_way || reply.number > several.last_place[queue]);
    require(reply.number < REQUESTS_MAX);
    several.last_place[queue] = reply.number;
    several.places[reply.number].number = several.numbers[queue][index];
    several.places[reply.number].check = reply.check;
    several.count++;
}

static void receive_all(void)
{
    for (uint32_t queue = 0; queue < QUEUES; queue++)
        while (several.received[queue] < several.sent[queue])
            receive_from(queue);
}

/*
 * Workers are killed from outside, and by handlers of each stage, until requests were handled again: on a busy machine a checkpoint may
 * always come before. At least `kills` times.
 */
static void kill_beside_requests(gyre_runtime *runtime, uint64_t kills)
{
    enum { KILLS_MOST = 160 };
    static const uint32_t at[] = {STEP_LEFT, STEP_TALLY, STEP_KEEP};
    uint64_t random = random_begin(gyre_now_ns()), killed = 0, faults = 0;
    must(gyre_kernel_checkpoint(gyre_kernel_find(runtime, "ledger"), soon()));
    while (killed < kills || (killed < KILLS_MOST && info_of(runtime, "tally").replayed == 0)) {
        for (uint64_t i = random_below(&random, 40); i > 0; i--) {
            const uint32_t queue = (uint32_t)random_below(&random, QUEUES);
            if (several.sent[queue] - several.received[queue] < 100)
                send_to(queue, random_below(&random, 100) == 0 ? at[faults++ % 3] : 0);
        }
        if (random_below(&random, 5) == 0)
            killed += kill_worker();
        for (uint64_t i = random_below(&random, 45); i > 0; i--) {
            const uint32_t queue = (uint32_t)random_below(&random, QUEUES);
            if (several.received[queue] < several.sent[queue])
                receive_from(queue);
        }
    }
    receive_all();
    require(info_of(runtime, "tally").checkpoints > 0 && info_of(runtime, "tally").replayed > 0);
}

static crash_state state_of(gyre_runtime *runtime, const char *kernel)
{
    crash_state state;
    must(gyre_kernel_state_read(gyre_kernel_find(runtime, kernel), &state, sizeof state));
    return state;
}

/* The replies are those of one order of all requests, which no death has changed: requests are repeated in the order of the first time. */
static void check_one_order(gyre_runtime *runtime)
{
    uint64_t hash = 0;
    for (uint64_t place = 1; place <= several.count; place++) {
        hash = mixed(hash ^ several.places[place].number);
        require(several.places[place].number != 0 && several.places[place].check == hash);
    }
    const crash_state last = {.count = several.count, .hash = hash}, seen = state_of(runtime, "tally"),
                      kept = state_of(runtime, "ledger");
    require(memcmp(&seen, &last, sizeof last) == 0 && memcmp(&kept, &last, sizeof last) == 0);
}

static void several_queues_are_repeated_in_one_order(void)
{
    gyre_runtime *runtime = open_timed("3");
    gyre_pipeline *pipeline = open_several(runtime, 1, NULL);
    kill_beside_requests(runtime, 16);
    check_one_order(runtime);
    must(gyre_pipeline_close(pipeline, soon()));
    gyre_close(runtime);
}

/* Writes over the times at which requests of the queue were taken, as a worker process may. */
static void forge_times(const gyre_pipeline *pipeline, const gyre_queue *queue, uint64_t time_ns)
{
    const struct gyre_pipeline_entry *entry = pipeline->entries;
    while (entry->queue != queue)
        entry++;
    gyre_flow *flows = (gyre_flow *)(void *)((unsigned char *)entry->flows.host + sizeof(gyre_flow_head));
    for (uint64_t i = 0; i < gyre_ring_of(queue)->capacity; i++)
        __atomic_store_n(&flows[i].started_ns, time_ns, __ATOMIC_RELAXED);
}

/* A time that has not come yet is not believed: nothing is left out, nor handled behind all others. */
static void times_that_a_worker_forged_lose_nothing(void)
{
    enum { ROUNDS = 2, STEPS = 20 };
    static const uint64_t forged[ROUNDS] = {UINT64_MAX, (uint64_t)1 << 63};
    gyre_runtime *runtime = open_timed("0");
    gyre_pipeline *pipeline = open_several(runtime, 1, NULL);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < QUEUES * STEPS; i++) {
            send_to(i / STEPS, 0);
            receive_from(i / STEPS);
        }
        forge_times(pipeline, several.queues[0], forged[round]);
        require(kill_worker());
        send_to(QUEUES - 1, 0);
        receive_all();
        check_one_order(runtime);
        must(gyre_kernel_checkpoint(gyre_kernel_find(runtime, "ledger"), soon()));
    }
    require(info_of(runtime, "tally").replayed == (uint64_t)ROUNDS * QUEUES * STEPS);
    must(gyre_pipeline_close(pipeline, soon()));
    gyre_close(runtime);
}

/* Two ways lead to tally, so that nobody promises which message comes first: what is promised is that each comes once. */
static void several_entries_lose_and_double_nothing(void)
{
    gyre_runtime *runtime = open_timed("3");
    gyre_pipeline *pipeline = open_several(runtime, 2, "tally");
    kill_beside_requests(runtime, 12);
    require(state_of(runtime, "tally").count == several.count);
    require(state_of(runtime, "ledger").count == several.count);
    must(gyre_pipeline_close(pipeline, soon()));
    gyre_close(runtime);
}

/* What it cannot have is said. */
static void what_checkpoints_of_stages_need_is_said(void)
{
    gyre_queue *queue = NULL;
    gyre_runtime *runtime = open_kept("0");
    gyre_pipeline *pipeline = open_counting(runtime);
    require(gyre_pipeline_queue_open(pipeline, NULL, NULL, &queue) == GYRE_INVALID);
    require(strstr(gyre_error_text(), "set timing = true for kernel 'left'"));
    gyre_close(runtime);
    runtime = open_isolated((const char *const[]){"kernel.ledger.checkpoints=true", NULL});
    refuse_counting(runtime, "kernel 'ledger' has checkpoints and kernel 'tally' of the same pipeline keeps "
                             "something without");
    gyre_close(runtime);
}

static const named_case cases[] = {
    {"kills_at_any_moment_leave_no_trace", kills_at_any_moment_leave_no_trace},
    {"a_death_in_the_midst_of_a_change_is_not_seen", a_death_in_the_midst_of_a_change_is_not_seen},
    {"a_poisoned_flow_leaves_no_trace", a_poisoned_flow_leaves_no_trace},
    {"a_checkpoint_on_request_spares_the_replay", a_checkpoint_on_request_spares_the_replay},
    {"a_stage_that_is_paused_is_paused_again", a_stage_that_is_paused_is_paused_again},
    {"an_entry_that_keeps_something_is_closed", an_entry_that_keeps_something_is_closed},
    {"a_death_while_a_pipeline_is_closed_loses_nothing", a_death_while_a_pipeline_is_closed_loses_nothing},
    {"kills_while_pipelines_are_closed_leave_no_trace", kills_while_pipelines_are_closed_leave_no_trace},
    {"several_queues_are_repeated_in_one_order", several_queues_are_repeated_in_one_order},
    {"times_that_a_worker_forged_lose_nothing", times_that_a_worker_forged_lose_nothing},
    {"several_entries_lose_and_double_nothing", several_entries_lose_and_double_nothing},
    {"what_checkpoints_of_stages_need_is_said", what_checkpoints_of_stages_need_is_said},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
