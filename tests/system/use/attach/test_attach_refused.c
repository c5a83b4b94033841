/* SPDX-License-Identifier: Apache-2.0 */
/* Lasting clients (gyre_attach_desc.reconnect) of a server that refuses them: for good, or until its kernel is back. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tellers.h"
#include "../../../patience.h"

static uint64_t lasting(void)
{
    return gyre_in_ms(patiently(60000));
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void end_server(const party *server)
{
    party_tell(server, 'e');
    require(party_end(server) == 0);
}

static gyre_status attach_until(const char *kernel, const char *name, uint64_t deadline, gyre_queue **queue)
{
    const gyre_attach_desc desc = {.size = sizeof desc,
                                   .path = meeting_place(),
                                   .capacity = 16,
                                   .client = name,
                                   .request = GYRE_TYPE(crash_request),
                                   .reply = GYRE_TYPE(crash_reply),
                                   .deadline_ns = deadline,
                                   .reconnect = true};
    return gyre_attach(kernel, &desc, queue);
}

static gyre_status call_until(gyre_queue *queue, crash_request request, uint64_t deadline)
{
    crash_reply reply = {0};
    return gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, deadline);
}

static void expect_words(const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        require_(strstr(gyre_error_text(), words[i]) != NULL, words[i], gyre_error_text(), __LINE__);
}

#define EXPECT_WORDS(...)                                                                                    \
    expect_words((const char *const[]){__VA_ARGS__},                                                         \
                 sizeof(const char *const[]){__VA_ARGS__} / sizeof(char *))

/* ---- for good ---- */

enum { GONE_CLIENTS = 3 };

/* An actor whose state dies with its worker. In the end the log has a line for each client. */
static void serve_actor(const party *self)
{
    gyre_runtime *runtime = open_isolated(NULL);
    launch_fragile(runtime, "fragile_actor", 1);
    gyre_server *server = serve_at_place(runtime);
    party_say(self, 'r');
    party_wait(self);
    require(log_lines_with("was refused: kernel 'fragile_actor' is lost for good") == GONE_CLIENTS);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void expect_gone(gyre_status status)
{
    require(status == GYRE_LOST);
    EXPECT_WORDS("kernel 'fragile_actor' is lost for good, because its worker process died",
                 "start its server again, then attach anew", "checkpoints = true", "on_loss = one");
}

static void a_kernel_that_is_lost_for_good_ends_a_lasting_queue(void)
{
    party server = party_start(serve_actor);
    gyre_queue *queues[GONE_CLIENTS] = {NULL};
    require(party_hear(&server) == 'r');
    for (size_t i = 0; i < 2; i++) {
        must(attach_until("fragile_actor", i ? "till-1" : NULL, lasting(), &queues[i]));
        must(call_until(queues[i], (crash_request){.number = i}, lasting()));
    }
    expect_gone(call_until(queues[0], (crash_request){.fault = CRASH_SEGFAULT, .always = 1}, GYRE_FOREVER));
    expect_gone(call_until(queues[1], (crash_request){.number = 9}, GYRE_FOREVER));
    expect_gone(call_until(queues[1], (crash_request){.number = 10}, GYRE_FOREVER));
    expect_gone(attach_until("fragile_actor", "till-2", GYRE_FOREVER, &queues[2]));
    for (size_t i = 0; i < 3; i++) /* the log says the same of the same client once */
        expect_gone(attach_until("fragile_actor", "till-2", GYRE_FOREVER, &queues[2]));
    gyre_queue_close(queues[0]);
    gyre_queue_close(queues[1]);
    end_server(&server);
}

static void serve_actor_again(const party *self)
{
    const char *settings[] = {"kernel.fragile_actor.on_loss=one", NULL};
    gyre_runtime *runtime = open_isolated(settings);
    launch_fragile(runtime, "fragile_actor", 1);
    gyre_server *server = serve_at_place(runtime);
    party_say(self, 'r');
    party_wait(self);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void a_kernel_that_is_launched_again_is_waited_for(void)
{
    party server = party_start(serve_actor_again);
    gyre_queue *queue = NULL;
    require(party_hear(&server) == 'r');
    must(attach_until("fragile_actor", NULL, lasting(), &queue));
    for (uint64_t i = 1; i <= 3; i++)
        must(call_until(queue, (crash_request){.fault = CRASH_SEGFAULT, .number = i}, lasting()));
    gyre_queue_close(queue);
    end_server(&server);
}

/* ---- until the kernel is back ---- */

/* 't': terminates it; 'l': launches it again. Each time that it is away, the log has a line for each of two clients. */
static void serve_now_and_then(const party *self)
{
    gyre_runtime *runtime = open_plain(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    gyre_server *server = serve_at_place(runtime);
    party_say(self, 'r');
    for (char word = party_wait(self); word != 'e'; word = party_wait(self)) {
        must(word == 't' ? gyre_kernel_terminate(kernel, soon(), NULL) : gyre_kernel_relaunch(kernel));
        party_say(self, 'd');
    }
    require(log_lines_with("client 'till-1'") && log_lines_with("client 'late'"));
    require(log_lines_with("was refused: kernel 'fragile' is terminated") == 3);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void have(const party *server, char word)
{
    party_tell(server, word);
    require(party_hear(server) == 'd');
}

/* A call that ran into its deadline says what the server says, once that has answered. */
static void expect_refused(gyre_queue *queue)
{
    const uint64_t end = lasting();
    do {
        require(gyre_now_ns() < end);
        require(call_until(queue, (crash_request){.number = 2}, gyre_in_ms(100)) == GYRE_TIMEOUT);
    } while (!strstr(gyre_error_text(), "whose server refuses it: kernel 'fragile' is terminated"));
}

static void expect_no_room(gyre_queue *queue)
{
    const crash_request request = {.number = 3};
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK)
        status = gyre_send(queue, &request, sizeof request, NULL, gyre_in_ms(200));
    require(status == GYRE_TIMEOUT);
    EXPECT_WORDS("has no room, whose server refuses it: kernel 'fragile' is terminated");
}

/* What a wait at this queue says, a wait for it among others says as well. */
static void expect_refused_among_several(gyre_queue *queue)
{
    static const char words[] = "waiting for %s: the queue, whose server refuses it: kernel 'fragile' is "
                                "terminated";
    gyre_wish wish = {.queue = queue, .wants = GYRE_WISH_ROOM}, wishes[2] = {wish, wish};
    gyre_queue_set *set;
    size_t count;
    char expected[256];
    require(gyre_wait_any(wishes, 2, &count, gyre_in_ms(20)) == GYRE_TIMEOUT && count == 0);
    snprintf(expected, sizeof expected, words, "one of 2 queues");
    EXPECT_WORDS(expected);
    require(!strstr(gyre_error_text(), "; the queue")); /* once for a queue that stands there twice */
    must(gyre_queue_set_create(&set));
    must(gyre_queue_set_add(set, &wish));
    require(gyre_queue_set_wait(set, &wish, 1, &count, gyre_in_ms(20)) == GYRE_TIMEOUT && count == 0);
    snprintf(expected, sizeof expected, words, "a set of queues");
    EXPECT_WORDS(expected);
    require(gyre_queue_set_wait(set, &wish, 1, &count, 20) == GYRE_TIMEOUT);
    EXPECT_WORDS("a deadline is a time, as gyre_in_ms(5000) gives");
    gyre_queue_set_destroy(set);
}

static void a_deadline_says_what_the_server_said_last(void)
{
    party server = party_start(serve_now_and_then);
    gyre_queue *queue = NULL, *late = NULL;
    require(party_hear(&server) == 'r');
    must(attach_until("fragile", "till-1", lasting(), &queue));
    have(&server, 't');
    expect_refused(queue);
    pause_ms(500); /* attempts that the log is not to tell of */
    const gyre_status status = attach_until("fragile", "late", gyre_in_ms(500), &late);
    require((status == GYRE_CLOSED || status == GYRE_TIMEOUT) && !late);
    EXPECT_WORDS("kernel 'fragile' is terminated");
    have(&server, 'l');
    must(call_until(queue, (crash_request){.number = 4}, lasting()));
    have(&server, 't');
    expect_refused(queue);
    expect_no_room(queue);
    expect_refused_among_several(queue);
    gyre_queue_close(queue);
    end_server(&server);
}

static const named_case cases[] = {
    {"a_kernel_that_is_lost_for_good_ends_a_lasting_queue",
     a_kernel_that_is_lost_for_good_ends_a_lasting_queue},
    {"a_kernel_that_is_launched_again_is_waited_for", a_kernel_that_is_launched_again_is_waited_for},
    {"a_deadline_says_what_the_server_said_last", a_deadline_says_what_the_server_said_last},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
