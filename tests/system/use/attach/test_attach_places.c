/* SPDX-License-Identifier: Apache-2.0 */
/* Places at a server, of which there is one, are free once their clients left. One case a run: `test_attach_places CASE`. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "parties.h"

/* A handler is at its last message still, so the server needs a while to take the queue off its kernel. */
static void a_place_is_free_once_its_queue_is_closed(void)
{
    gyre_runtime *runtime = open_plain((const char *const[]){"gyre.clients_max=1", NULL});
    launch_fragile(runtime, "fragile", 1);
    gyre_server *server = serve_at_place(runtime);
    for (uint64_t i = 0; i < 5; i++) {
        const crash_request request = {.fault = CRASH_SLOW, .always = 1, .number = i};
        gyre_queue *queue = attach_fragile();
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
        usleep(10000);
        gyre_queue_close(queue);
    }
    gyre_queue_close(attach_fragile());
    gyre_server_close(server);
    gyre_close(runtime);
}

/* Its one handler is at a slow message whenever it says so. */
static void serve_one_slowly(const party *self)
{
    gyre_runtime *runtime = open_plain((const char *const[]){"gyre.clients_max=1", NULL});
    gyre_queue *queue = gyre_kernel_queue(launch_fragile(runtime, "fragile", 1));
    (void)serve_at_place(runtime);
    for (uint64_t i = 0; i < 5; i++) {
        const crash_request request = {.fault = CRASH_SLOW, .always = 1, .number = i};
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
        usleep(10000);
        party_say(self, 's');
        party_wait(self);
    }
}

/* The server has made a queue, and the client has no descriptors for it. */
static void a_place_is_free_once_its_client_could_not_take_it(void)
{
    party server = party_start(serve_one_slowly);
    gyre_attach_desc desc = {.size = sizeof desc, .path = meeting_place()};
    for (uint64_t i = 0; i < 5; i++) {
        gyre_queue *queue = NULL;
        struct rlimit before;
        party_hear(&server);
        const int next = dup(STDERR_FILENO);
        close(next);
        require(getrlimit(RLIMIT_NOFILE, &before) == 0);
        const struct rlimit few = {(rlim_t)next + 2, before.rlim_max}; /* a socket, and one of three */
        require(setrlimit(RLIMIT_NOFILE, &few) == 0);
        gyre_status status = gyre_attach("fragile", &desc, &queue);
        require(setrlimit(RLIMIT_NOFILE, &before) == 0);
        require(status == GYRE_EXHAUSTED && strstr(gyre_error_text(), "ulimit -n"));
        gyre_queue_close(attach_fragile());
        party_tell(&server, 'g');
    }
    require(party_end(&server) == EXIT_SUCCESS);
}

static const named_case cases[] = {
    {"a_place_is_free_once_its_queue_is_closed", a_place_is_free_once_its_queue_is_closed},
    {"a_place_is_free_once_its_client_could_not_take_it", a_place_is_free_once_its_client_could_not_take_it},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
