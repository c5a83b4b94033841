/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Journals that are gone on with by another handler than the one that wrote them: one case a run,
 * `test_change CASE`. Its clients were told what it had then.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sums.h"

static const char plain[] = "state->sum += request->add;";
static const char thousandfold[] = "state->sum += 1000 * request->add;";

/* `statement` changes its state. */
static void write_handler(const char *statement)
{
    char text[1024];
    snprintf(text, sizeof text,
             SUM_REPLY_FRONT "GYRE_ACTOR(sum, add_request, sum_reply, sum_reply)\n"
                             "{\n    %s\n    reply->sum = state->sum;\n    return GYRE_REPLY;\n}\n",
             statement);
    write_sum(text);
}

/* Replies that it is not known to have received; how many. */
static uint64_t receive_offered(gyre_queue *queue)
{
    const gyre_recovered recovered = recovered_of(queue);
    gyre_completion completion;
    sum_reply reply = {0};
    require(recovered.first + recovered.offered == next.first);
    for (uint64_t i = 0; i < recovered.offered; i++)
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    return recovered.offered;
}

static void go_on_adding(void)
{
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    must(launch_sum(&runtime, &kernel));
    gyre_queue *queue = gyre_kernel_queue(kernel);
    const uint64_t offered = receive_offered(queue);
    if (next.on_change && !strcmp(next.on_change, "discard"))
        next.sum += 1000 * offered; /* nobody had these, so they are this handler's */
    require(log_lines_with("is another one than that which wrote the journal") == next.changed);
    for (uint64_t i = 0; i < next.count; i++)
        add_and_expect(queue, next.add, next.sum + i * next.add);
    must(gyre_await(queue, next.first + next.count - 1, GYRE_DURABLE, soon()));
    if (next.end == IS_KILLED)
        kill(getpid(), SIGKILL);
    if (next.end == TERMINATES)
        must(gyre_kernel_terminate(kernel, soon(), NULL));
    gyre_close(runtime);
}

/* `count` requests that add `add` each, of which the first gives `sum`. */
static void live_on(const char *handler, uint64_t add, uint64_t sum, uint64_t count)
{
    next.add = add;
    next.sum = sum;
    next.count = count;
    write_handler(handler);
    live(go_on_adding, next.end == IS_KILLED ? 60000000 : 0);
    next.first += count;
}

static void an_orderly_end_leaves_nothing_to_another_handler(void)
{
    for (int round = 0; round < 4; round++) {
        begin_sums();
        next.isolated = round % 2 != 0;
        next.end = round < 2 ? CLOSES : TERMINATES;
        live_on(plain, 1, 1, 3);
        next.changed = true;
        live_on(thousandfold, 1, 1003, 1);
    }
}

static void refuse_to_go_on(void)
{
    gyre_runtime *runtime = NULL;
    gyre_kernel *kernel = NULL;
    require(launch_sum(&runtime, &kernel) == GYRE_INCOMPATIBLE);
    require(strstr(gyre_error_text(), "is not the one that wrote the journal"));
    require(strstr(gyre_error_text(), "holds 3 requests behind its last checkpoint, from 0 on"));
    require(strstr(gyre_error_text(), "set on_change of [kernel.sum] to replay"));
    gyre_close(runtime);
}

/* Told what it said, so nothing is lost: the one that wrote it goes on, and after its orderly end the other one. */
static void another_handler_replays_nothing_of_one_that_was_killed(void)
{
    next.end = IS_KILLED;
    live_on(plain, 1, 1, 3);
    for (int round = 0; round < 2; round++) {
        write_handler(thousandfold);
        live(refuse_to_go_on, 0);
    }
    next.end = CLOSES;
    live_on(plain, 1, 4, 1);
    next.changed = true;
    live_on("state->sum = state->sum + request->add;", 1, 5, 1);
}

/* The same tokens are the same handler. */
static void a_comment_makes_no_other_handler(void)
{
    next.end = IS_KILLED;
    live_on(plain, 1, 1, 3);
    live_on("/* adds up */ state->sum  +=\n        request->add; // as before", 1, 4, 1);
}

static void another_handler_replays_when_told_so(void)
{
    next.end = IS_KILLED;
    live_on(plain, 1, 1, 3);
    next.on_change = "replay";
    live_on(thousandfold, 1, 4000, 1);
    next.on_change = NULL; /* it is this handler's journal now */
    live_on(thousandfold, 1, 5000, 1);
}

static void another_handler_discards_when_told_so(void)
{
    next.end = CLOSES;
    live_on(plain, 1, 1, 7);
    next.end = IS_KILLED;
    live_on(plain, 1, 8, 3);
    next.on_change = "discard";
    live_on(thousandfold, 1, 1007, 1);
}

/* The same handler there handles again what it handled here. */
static void a_kernel_moves_to_another_backend(void)
{
    need_backend("opencl");
    next.end = IS_KILLED;
    live_on(plain, 1, 1, 3);
    next.backend = "opencl";
    live_on(plain, 1, 4, 3);
    next.backend = NULL;
    live_on(plain, 1, 7, 1);
}

static const named_case cases[] = {
    {"an_orderly_end_leaves_nothing_to_another_handler", an_orderly_end_leaves_nothing_to_another_handler},
    {"another_handler_replays_nothing_of_one_that_was_killed",
     another_handler_replays_nothing_of_one_that_was_killed},
    {"a_comment_makes_no_other_handler", a_comment_makes_no_other_handler},
    {"another_handler_replays_when_told_so", another_handler_replays_when_told_so},
    {"another_handler_discards_when_told_so", another_handler_discards_when_told_so},
    {"a_kernel_moves_to_another_backend", a_kernel_moves_to_another_backend},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, begin_sums, cases);
}
