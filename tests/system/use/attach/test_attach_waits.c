/* SPDX-License-Identifier: Apache-2.0 */
/* One wait for queues of this program and of another's: while they work, and when either dies. One case a run. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parties.h"

static void serve_for_ever(const party *self)
{
    gyre_runtime *runtime = open_plain(NULL);
    launch_fragile(runtime, "fragile", 1);
    serve_at_place(runtime);
    party_say(self, 'r');
    for (;;)
        pause();
}

static void send_number(gyre_queue *queue, uint64_t number, uint32_t fault)
{
    const crash_request request = {.fault = fault, .number = number};
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
}

/* Until the set tells of this queue, and of no other. */
static uint32_t wait_for_queue(gyre_queue_set *set, int descriptor, const gyre_queue *queue)
{
    gyre_wish wish;
    size_t count = 0;
    struct pollfd entry = {.fd = descriptor, .events = POLLIN};
    while (gyre_queue_set_wait(set, &wish, 1, &count, GYRE_NO_WAIT) == GYRE_AGAIN)
        require(poll(&entry, 1, 60000) == 1);
    require(count == 1 && wish.queue == queue);
    return wish.ready;
}

static void pass_messages(gyre_queue_set *set, int descriptor, gyre_queue *const queues[2])
{
    for (uint64_t i = 0; i < 200; i++) {
        gyre_queue *queue = queues[i % 3 == 0];
        crash_reply reply;
        send_number(queue, i, 0);
        require(wait_for_queue(set, descriptor, queue) == GYRE_WISH_COMPLETION);
        must(gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT));
    }
}

/* The other program dies while this thread waits for it; then the worker of its own kernel, which keeps a state. */
static void one_wait_learns_of_either_death(void)
{
    party server = party_start(serve_for_ever);
    require(party_hear(&server) == 'r');
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile_actor", 1);
    gyre_queue *const queues[2] = {gyre_kernel_queue(kernel), attach_fragile()};
    gyre_queue_set *set;
    int descriptor;
    must(gyre_queue_set_create(&set));
    must(gyre_queue_set_descriptor(set, &descriptor));
    for (int i = 0; i < 2; i++)
        must(gyre_queue_set_add(set, &(gyre_wish){.queue = queues[i], .wants = GYRE_WISH_COMPLETION}));
    pass_messages(set, descriptor, queues);
    kill(server.process, SIGKILL);
    require(wait_for_queue(set, descriptor, queues[1]) == GYRE_WISH_ENDED);
    require(party_end(&server) == 128 + SIGKILL);
    gyre_queue_close(queues[1]); /* leaves the set */
    send_number(queues[0], 1, CRASH_SEGFAULT);
    require(wait_for_queue(set, descriptor, queues[0]) == GYRE_WISH_COMPLETION); /* of what was not handled */
    crash_reply reply;
    gyre_completion completion;
    must(gyre_receive(queues[0], &reply, sizeof reply, &completion, GYRE_NO_WAIT));
    require(completion.outcome == GYRE_WAS_UNHANDLED);
    require(wait_for_queue(set, descriptor, queues[0]) == GYRE_WISH_ENDED);
    gyre_close(runtime);
    gyre_queue_set_destroy(set);
}

static void a_forked_child_leaves_a_set_alone(void)
{
    gyre_runtime *runtime = open_plain(NULL);
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile", 1));
    gyre_wish wish = {.queue = queue, .wants = GYRE_WISH_COMPLETION};
    gyre_queue_set *set;
    size_t count;
    int descriptor;
    must(gyre_queue_set_create(&set));
    must(gyre_queue_set_add(set, &wish));
    must(gyre_queue_set_descriptor(set, &descriptor));
    const pid_t child = fork();
    if (child == 0) {
        const bool told = gyre_queue_set_wait(set, &wish, 1, &count, GYRE_NO_WAIT) == GYRE_INVALID &&
                          gyre_wait_any(&wish, 1, &count, GYRE_FOREVER) == GYRE_OK &&
                          wish.ready == GYRE_WISH_ENDED;
        gyre_queue_set_destroy(set);
        _exit(told ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    require(party_end(&(party){.process = child}) == EXIT_SUCCESS);
    send_number(queue, 1, 0);
    require(wait_for_queue(set, descriptor, queue) == GYRE_WISH_COMPLETION);
    gyre_queue_set_destroy(set);
    gyre_close(runtime);
}

/* The descriptor of this program that a server sent for its doorbell. */
static int doorbell_of_this_program(void)
{
    char path[64], target[64];
    for (int i = 3; i < 256; i++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", i);
        const ssize_t length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        if (strstr(target, "[eventfd]"))
            return i;
    }
    return -1;
}

/*
 * The client shares the doorbell's file: it may make reads wait, and read first. A server that reads it can be kept
 * in that call for ever, so the server only waits for writes.
 */
static void a_server_does_not_read_what_its_client_could_read_first(void)
{
    const uint64_t one = 1;
    party server = party_start(serve_for_ever);
    require(party_hear(&server) == 'r');
    gyre_queue *queue = attach_fragile();
    struct pollfd doorbell = {.fd = doorbell_of_this_program(), .events = POLLIN};
    require(doorbell.fd >= 0 && fcntl(doorbell.fd, F_SETFL, 0) == 0);
    for (uint64_t i = 1; i <= 20; i++) {
        require(write(doorbell.fd, &one, sizeof one) == sizeof one);
        call_right(queue, i);
        usleep(10000);
        require(poll(&doorbell, 1, 0) == 1);
    }
    kill(server.process, SIGKILL);
    party_end(&server);
    gyre_queue_close(queue);
}

static const named_case cases[] = {
    {"a_server_does_not_read_what_its_client_could_read_first",
     a_server_does_not_read_what_its_client_could_read_first},
    {"one_wait_learns_of_either_death", one_wait_learns_of_either_death},
    {"a_forked_child_leaves_a_set_alone", a_forked_child_leaves_a_set_alone},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
