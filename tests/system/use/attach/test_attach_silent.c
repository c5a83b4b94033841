/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections that say nothing, and users who take all they can get, keep nobody else out. One case a run:
 * `test_attach_silent CASE`. Cases with several users need to be root, and exit with 77 otherwise.
 */
#include <errno.h>
#include <grp.h>
#include <libgen.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "parties.h"
#include "../../../patience.h"

enum { CLIENTS_MAX = 32, MANY = 200, NOBODY = 65534, ANOTHER = 65533, SKIP = 77 };

/* -1: the server takes nobody in at this moment. */
static int connect_silently(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int raw = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", meeting_place());
    require(raw >= 0);
    if (connect(raw, (struct sockaddr *)&address, sizeof address) == 0)
        return raw;
    close(raw);
    return -1;
}

/* Many silent connections, each replaced as soon as the server has hung it up, until the process is ended. */
static void keep_silent_ones(const party *self)
{
    int silent[MANY];
    party_wait(self);
    for (size_t i = 0; i < MANY; i++)
        silent[i] = connect_silently();
    party_say(self, 'f');
    for (;;) {
        char byte;
        for (size_t i = 0; i < MANY; i++) {
            if (silent[i] >= 0 && recv(silent[i], &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN)
                continue;
            if (silent[i] >= 0)
                close(silent[i]);
            silent[i] = connect_silently();
        }
        usleep(2000);
    }
}

static void become(uid_t user)
{
    require(setgroups(0, NULL) == 0 && setgid(user) == 0 && setuid(user) == 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* which another user's process has lost */
}

static void keep_silent_ones_as_nobody(const party *self)
{
    become(NOBODY);
    keep_silent_ones(self);
}

static gyre_queue *attach_soon(void)
{
    gyre_attach_desc desc = {.size = sizeof desc, .path = meeting_place(), .deadline_ns = soon()};
    gyre_queue *queue = NULL;
    must(gyre_attach("fragile", &desc, &queue));
    return queue;
}

static void call_as(uid_t user)
{
    become(user);
    for (uint64_t i = 1; i <= 10; i++) {
        gyre_queue *queue = attach_soon();
        call_right(queue, i);
        gyre_queue_close(queue);
    }
}

static void call_as_another(const party *self)
{
    party_wait(self);
    call_as(ANOTHER);
}

struct host {
    gyre_runtime *runtime;
    gyre_server *server;
};

static struct host open_host(const char *access, const char *clients)
{
    struct host host = {.runtime = open_plain((const char *const[]){access, clients, NULL})};
    launch_fragile(host.runtime, "fragile", 1);
    host.server = serve_at_place(host.runtime);
    return host;
}

static void close_host(const struct host *host)
{
    gyre_server_close(host->server);
    gyre_close(host->runtime);
}

static void end_other(const party *other)
{
    kill(other->process, SIGKILL);
    party_end(other);
}

static void silent_connections_make_room(void)
{
    party silent = party_start(keep_silent_ones);
    struct host host = open_host("gyre.socket_access=owner", "gyre.clients_max=32");
    party_tell(&silent, 'g');
    require(party_hear(&silent) == 'f');
    for (uint64_t i = 1; i <= 20; i++) {
        gyre_queue *queue = attach_soon();
        call_right(queue, i);
        gyre_queue_close(queue);
    }
    require(log_lines_with("those that say nothing are hung up") > 0);
    end_other(&silent);
    close_host(&host);
}

/* Other users have to reach the socket: its folder is the test's own. */
static void let_others_pass(void)
{
    char path[128];
    if (geteuid() != 0)
        _Exit(SKIP);
    snprintf(path, sizeof path, "%s", meeting_place());
    require(chmod(dirname(path), 0755) == 0);
}

static void silent_connections_of_one_user_keep_no_other_out(void)
{
    let_others_pass();
    party silent = party_start(keep_silent_ones_as_nobody), another = party_start(call_as_another);
    struct host host = open_host("gyre.socket_access=everyone", "gyre.clients_max=32");
    party_tell(&silent, 'g');
    require(party_hear(&silent) == 'f');
    party_tell(&another, 'g');
    gyre_queue *queue = attach_soon();
    call_right(queue, 1);
    gyre_queue_close(queue);
    require(party_end(&another) == EXIT_SUCCESS);
    end_other(&silent);
    close_host(&host);
}

static void attach_all_as_nobody(const party *self)
{
    gyre_queue *queues[CLIENTS_MAX] = {NULL};
    size_t count = 0;
    party_wait(self);
    become(NOBODY);
    gyre_attach_desc desc = {
        .size = sizeof desc, .path = meeting_place(), .deadline_ns = gyre_in_ms(patiently(20000))};
    gyre_status status = GYRE_OK;
    while (count < CLIENTS_MAX && status == GYRE_OK) {
        if (count == CLIENTS_MAX * 3 / 4)
            desc.deadline_ns = gyre_in_ms(patiently(100));
        status = gyre_attach("fragile", &desc, &queues[count]);
        count += status == GYRE_OK;
    }
    require(status == GYRE_EXHAUSTED && strstr(gyre_error_text(), "the most that one user may have"));
    require(count == CLIENTS_MAX * 3 / 4);
    party_say(self, 'f');
    party_wait(self);
}

static void a_user_has_a_share_of_the_places(void)
{
    let_others_pass();
    party greedy = party_start(attach_all_as_nobody), another = party_start(call_as_another);
    struct host host = open_host("gyre.socket_access=everyone", "gyre.clients_max=32");
    party_tell(&greedy, 'g');
    require(party_hear(&greedy) == 'f');
    party_tell(&another, 'g');
    require(party_end(&another) == EXIT_SUCCESS);
    party_tell(&greedy, 'e');
    require(party_end(&greedy) == EXIT_SUCCESS);
    close_host(&host);
}

static void *close_later(void *argument)
{
    usleep(300000);
    gyre_queue_close(argument);
    return NULL;
}

static void a_refused_client_tries_until_its_deadline(void)
{
    struct host host = open_host("gyre.socket_access=owner", "gyre.clients_max=1");
    gyre_attach_desc desc = {.size = sizeof desc, .path = meeting_place()};
    gyre_queue *first = attach_soon(), *queue = NULL;
    const uint64_t begun = gyre_now_ns();
    pthread_t closer;
    desc.deadline_ns = gyre_in_ms(patiently(150));
    require(gyre_attach("fragile", &desc, &queue) == GYRE_EXHAUSTED &&
            strstr(gyre_error_text(), "clients_max"));
    require(gyre_now_ns() - begun >= UINT64_C(150000000));
    require(pthread_create(&closer, NULL, close_later, first) == 0);
    queue = attach_soon();
    call_right(queue, 1);
    pthread_join(closer, NULL);
    gyre_queue_close(queue);
    close_host(&host);
}

static const named_case cases[] = {
    {"silent_connections_make_room", silent_connections_make_room},
    {"silent_connections_of_one_user_keep_no_other_out", silent_connections_of_one_user_keep_no_other_out},
    {"a_user_has_a_share_of_the_places", a_user_has_a_share_of_the_places},
    {"a_refused_client_tries_until_its_deadline", a_refused_client_tries_until_its_deadline},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
