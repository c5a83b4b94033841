/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that use another program's kernels: what they can rely on when kernels end, and when either side
 * dies, lies or floods. One case a run: `test_attach CASE`.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/parcel/parcel.h"
#include "parties.h"
#include "../../../patience.h"

enum { REGIONS_MAX = 16 };

#define OTHER_REQUEST(FIELD) FIELD(u32, fault) FIELD(u32, always) FIELD(f64, number)
GYRE_MESSAGE(other_request, OTHER_REQUEST)

/* ---- what works ---- */

static void stream_and_leave(const party *self)
{
    gyre_queue *queue = attach_fragile();
    stream_right(queue, (uint64_t)getpid() << 32, 20000);
    call_right(queue, 7);
    party_say(self, 'd');
    party_wait(self);
    stream_right(queue, 5, 100);
    gyre_queue_close(queue);
}

static void several_programs_share_a_kernel(void)
{
    party clients[3];
    /* before the runtime, whose threads a fork would not copy */
    int gate[2];
    require(pipe(gate) == 0);
    meeting_place();
    gyre_runtime *runtime = open_plain(NULL);
    launch_fragile(runtime, "fragile", 2);
    gyre_server *server = serve_at_place(runtime);
    for (int i = 0; i < 3; i++)
        clients[i] = party_start(stream_and_leave);
    stream_right(gyre_kernel_queue(gyre_kernel_find(runtime, "fragile")), 99, 5000);
    for (int i = 0; i < 3; i++)
        require(party_hear(&clients[i]) == 'd');
    require(attached_now(server) == 3);
    for (int i = 0; i < 3; i++)
        party_tell(&clients[i], 'g');
    for (int i = 0; i < 3; i++)
        require(party_end(&clients[i]) == 0);
    for (uint64_t i = 0; attached_now(server) && i < patiently(2000); i++)
        usleep(1000);
    require(attached_now(server) == 0);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* The same program may attach to itself: as a client like any other. */
static void every_way_of_sending_works(void)
{
    gyre_runtime *runtime = open_plain((const char *const[]){"queue.narrow.capacity=4", NULL});
    launch_fragile(runtime, "fragile", 1);
    gyre_server *server = serve_at_place(runtime);
    gyre_attach_desc desc = {.size = sizeof desc, .path = meeting_place(), .idle = GYRE_WAIT_PARK};
    gyre_queue *queue = NULL;
    gyre_queue_stats stats = {.size = sizeof stats};
    must(gyre_attach("fragile/narrow", &desc, &queue));
    must(gyre_queue_stats_get(queue, &stats));
    require(stats.capacity == 4);
    for (uint64_t i = 0; i < 50; i++) {
        void *place;
        size_t stride, count = 3, found = 0;
        gyre_view views[4];
        must(gyre_reserve(queue, &place, &stride, &count, soon()));
        for (size_t j = 0; j < count; j++)
            *(crash_request *)(void *)((char *)place + j * stride) = (crash_request){.number = i + j};
        must(gyre_commit(queue, count));
        for (size_t done = 0; done < count; done += found) {
            must(gyre_peek(queue, views, 4, &found, soon()));
            for (size_t j = 0; j < found; j++)
                require(((const crash_reply *)views[j].reply)->number == i + done + j);
            must(gyre_release_views(queue, found));
        }
        usleep(i % 10 == 0 ? 3000 : 0); /* the worker parks in between */
    }
    crash_request request = {.number = 1};
    for (int i = 0; i < 4; i++)
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    require(gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) == GYRE_AGAIN);
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void what_cannot_be_is_refused_with_a_reason(void)
{
    gyre_queue *queue = NULL;
    gyre_attach_desc desc = {.size = sizeof desc, .path = meeting_place()};
    require(gyre_attach("fragile", &desc, &queue) == GYRE_UNAVAILABLE &&
            strstr(gyre_error_text(), "nobody serves at"));
    gyre_runtime *runtime =
        open_plain((const char *const[]){"gyre.clients_max=2", "queue.narrow.capacity=4",
                                         "queue.urgent.levels=3", "queue.urgent.header=64", NULL});
    launch_fragile(runtime, "fragile", 1);
    gyre_server *server = serve_at_place(runtime), *second = NULL;
    gyre_serve_desc again = {.size = sizeof again, .path = meeting_place()};
    require(gyre_serve(runtime, &again, &second) == GYRE_INVALID &&
            strstr(gyre_error_text(), "a server is there"));
    again.mode = 07777;
    require(gyre_serve(runtime, &again, &second) == GYRE_INVALID &&
            strstr(gyre_error_text(), "gyre_serve: mode: expected ") &&
            strstr(gyre_error_text(), "found 07777"));
    require(gyre_attach("fragil", &desc, &queue) == GYRE_NOT_FOUND);
    require(strstr(gyre_error_text(), "no kernel 'fragil'; it has: ") != NULL);
    require(strstr(gyre_error_text(), "; did you mean 'fragile'?") != NULL);
    require(gyre_attach("fragile/narow", &desc, &queue) == GYRE_NOT_FOUND);
    require(strstr(gyre_error_text(),
                   "no section [queue.narow]; it has: narrow, urgent; 'fragile' alone takes the "
                   "kernel's own settings; did you mean 'narrow'?") != NULL);
    require(gyre_attach("fragile/", &desc, &queue) == GYRE_NOT_FOUND);
    require(strstr(gyre_error_text(), "'fragile/' is no name: expected that of a kernel, or KERNEL/QUEUE"));
    require(gyre_attach("", &desc, &queue) == GYRE_INVALID);
    require(strstr(gyre_error_text(), "'' is no name: expected that of a kernel, or KERNEL/QUEUE"));
    desc.policy = (gyre_full_policy)9;
    require(gyre_attach("fragile", &desc, &queue) == GYRE_INVALID);
    require(strstr(gyre_error_text(),
                   "gyre_attach to 'fragile': policy: expected 0 (as configured), 1 (block), "));
    require(strstr(gyre_error_text(), "found 9") != NULL);
    desc.policy = GYRE_FULL_DROP_OLDEST;
    require(gyre_attach("fragile/urgent", &desc, &queue) == GYRE_INVALID);
    require(strstr(gyre_error_text(),
                   "policy: drop_oldest was asked for, which is not for queues with levels, "
                   "and section 'urgent' has 3; ask for 0 "));
    desc.policy = GYRE_FULL_DEFAULT;
    desc.idle = (gyre_idle_strategy)-1;
    require(gyre_attach("fragile", &desc, &queue) == GYRE_INVALID);
    require(strstr(gyre_error_text(), "idle: expected 0 ") && strstr(gyre_error_text(), "found -1"));
    desc.idle = GYRE_WAIT_DEFAULT;
    desc.capacity = 3;
    require(gyre_attach("fragile", &desc, &queue) == GYRE_INVALID &&
            strstr(gyre_error_text(), "power of two"));
    desc.reconnect = true; /* is refused at once, too */
    desc.client = "a";
    require(gyre_attach("fragile", &desc, &queue) == GYRE_INVALID &&
            strstr(gyre_error_text(), "power of two") && strstr(gyre_error_text(), "found 3"));
    desc.reconnect = false;
    desc.capacity = 0;
    desc.client = "";
    require(gyre_attach("fragile", &desc, &queue) == GYRE_INVALID &&
            strstr(gyre_error_text(), "client is \"\": expected a name, or NULL"));
    desc.client = NULL;
    desc.capacity = 1 << 20;
    require(gyre_attach("fragile", &desc, &queue) == GYRE_INVALID);
    require(strstr(gyre_error_text(),
                   "at most 65536 slots here (gyre.client_capacity_max of the server), found 1048576: ask"));
    desc.capacity = 0;
    desc.request = GYRE_TYPE(other_request);
    require(gyre_attach("fragile", &desc, &queue) == GYRE_INCOMPATIBLE);
    require(strstr(gyre_error_text(), "number") != NULL &&
            strstr(gyre_error_text(), "crash_request") != NULL);
    require(!queue);
    desc.request = NULL;
    gyre_queue *held[2] = {attach_fragile(), NULL};
    must(gyre_attach("fragile/fragile", &desc, &held[1])); /* its own settings, which need no section */
    desc.deadline_ns = gyre_in_ms(patiently(100));         /* until then somebody may leave */
    require(gyre_attach("fragile", &desc, &queue) == GYRE_EXHAUSTED &&
            strstr(gyre_error_text(), "clients_max"));
    gyre_queue_close(held[0]);
    gyre_queue_close(held[1]);
    gyre_close(runtime); /* which ends the server, too */
    gyre_server_close(server);
}

/* A socket at the meeting place; the caller closes it. */
static int listen_at_place(int kind)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, kind, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", meeting_place());
    require(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 0) == 0);
    return listener;
}

/* Connects as often as is accepted without anybody who takes the clients in. */
static size_t fill_backlog(int *clients, size_t most)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t count = 0;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", meeting_place());
    for (; count < most; count++) {
        clients[count] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
        if (connect(clients[count], (struct sockaddr *)&address, sizeof address) != 0)
            break;
    }
    require(count < most);
    close(clients[count]);
    return count;
}

static void a_server_that_takes_nobody_in_is_waited_for_until_the_deadline(void)
{
    int clients[16], listener = listen_at_place(SOCK_SEQPACKET);
    size_t count = fill_backlog(clients, 16);
    gyre_queue *queue = NULL;
    gyre_server *server = NULL;
    gyre_attach_desc desc = {.size = sizeof desc, .path = meeting_place(), .deadline_ns = gyre_in_ms(200)};
    gyre_serve_desc serve = {.size = sizeof serve, .path = meeting_place()};
    require(gyre_attach("fragile", &desc, &queue) == GYRE_TIMEOUT && !queue &&
            strstr(gyre_error_text(), "takes nobody in"));
    desc.deadline_ns = 500; /* meant as milliseconds */
    require(gyre_attach("fragile", &desc, &queue) == GYRE_TIMEOUT && !queue &&
            strstr(gyre_error_text(), "a deadline is a time, as gyre_in_ms(5000) gives"));
    gyre_runtime *runtime = open_plain(NULL);
    require(gyre_serve(runtime, &serve, &server) == GYRE_INVALID &&
            strstr(gyre_error_text(), "a server is there"));
    gyre_close(runtime);
    while (count > 0)
        close(clients[--count]);
    close(listener);
    unlink(meeting_place());
}

static void a_socket_of_another_kind_is_nobodys_leftover(void)
{
    int listener = listen_at_place(SOCK_STREAM);
    gyre_server *server = NULL;
    gyre_serve_desc serve = {.size = sizeof serve, .path = meeting_place()};
    gyre_runtime *runtime = open_plain(NULL);
    require(gyre_serve(runtime, &serve, &server) == GYRE_UNAVAILABLE &&
            strstr(gyre_error_text(), "cannot be seen"));
    require(access(meeting_place(), F_OK) == 0);
    close(listener); /* now it is dead, but still of another kind */
    require(gyre_serve(runtime, &serve, &server) == GYRE_OK);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* Only root can become somebody else to try it. */
static void be_somebody_else(const party *self)
{
    gyre_queue *queue = NULL;
    gyre_attach_desc attach = {.size = sizeof attach, .path = meeting_place()};
    party_wait(self);
    if (geteuid() != 0)
        return;
    require(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
    require(gyre_attach("fragile", &attach, &queue) == GYRE_UNAVAILABLE && !queue);
    require(strstr(gyre_error_text(), "this user may not attach at") != NULL);
}

static void only_those_with_permission_get_in(void)
{
    struct stat about;
    char folder[64];
    party other = party_start(be_somebody_else);
    gyre_runtime *runtime = open_plain(NULL);
    launch_fragile(runtime, "fragile", 1);
    gyre_serve_desc desc = {.size = sizeof desc, .path = meeting_place(), .mode = 0620};
    gyre_server *server = NULL;
    must(gyre_serve(runtime, &desc, &server));
    require(stat(meeting_place(), &about) == 0 && (about.st_mode & 07777) == 0620);
    gyre_server_close(server);
    require(stat(meeting_place(), &about) != 0);
    server = serve_at_place(runtime);
    require(stat(meeting_place(), &about) == 0 && (about.st_mode & 07777) == 0600);
    snprintf(folder, sizeof folder, "%s", meeting_place());
    *strrchr(folder, '/') = '\0';
    require(chmod(folder, 0755) == 0); /* the socket alone keeps them out */
    party_tell(&other, 'g');
    require(party_end(&other) == 0);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* ---- ends ---- */

/* Sends until that is refused; every accepted request must then be completed, in order. */
static void send_until_refused(gyre_queue *queue, gyre_status refusal)
{
    uint64_t sent = 0, received = 0, first = 0, index = 0;
    gyre_status status = GYRE_OK;
    for (;;) {
        crash_reply reply = {0};
        crash_request request = {.number = sent};
        gyre_completion completion;
        if (status == GYRE_OK) {
            status = gyre_send(queue, &request, sizeof request, &index, GYRE_NO_WAIT);
            first = sent == 0 ? index : first;
            sent += status == GYRE_OK;
            if (status == GYRE_AGAIN)
                status = GYRE_OK;
        }
        if (status != GYRE_OK && received == sent)
            break;
        gyre_status got =
            gyre_receive(queue, &reply, sizeof reply, &completion, status == GYRE_OK ? GYRE_NO_WAIT : soon());
        if (got == GYRE_AGAIN || got == GYRE_TIMEOUT || (status == GYRE_OK && got == GYRE_CLOSED))
            continue;
        require(got == GYRE_OK && completion.index == first + received);
        require(completion.outcome == GYRE_REPLIED || completion.outcome == GYRE_WAS_UNHANDLED);
        if (completion.outcome == GYRE_REPLIED)
            require(reply.number == received && reply.check == mixed(received));
        received++;
    }
    require(status == refusal);
}

static void load_until_closed(const party *self)
{
    gyre_queue *queue = attach_fragile();
    call_right(queue, 3);
    party_say(self, 'r');
    send_until_refused(queue, GYRE_CLOSED);
    const crash_request request = {.number = 1};
    require(gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) == GYRE_CLOSED);
    require(strstr(gyre_error_text(), "its kernel was terminated; attach again when it is back") != NULL);
    gyre_queue_close(queue);
}

static void accepted_requests_are_completed_when_the_kernel_ends(void)
{
    gyre_runtime *runtime = open_plain(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 2);
    gyre_server *server = serve_at_place(runtime);
    for (int round = 0; round < 4; round++) {
        party clients[2] = {party_start(load_until_closed), party_start(load_until_closed)};
        require(party_hear(&clients[0]) == 'r' && party_hear(&clients[1]) == 'r');
        usleep(5000);
        must(gyre_kernel_terminate(kernel, round % 2 ? gyre_in_ms(500) : GYRE_NO_WAIT, NULL));
        require(party_end(&clients[0]) == 0 && party_end(&clients[1]) == 0);
        must(gyre_kernel_relaunch(kernel));
    }
    gyre_kernel_release(kernel);
    require(attached_now(server) == 0);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void accepted_requests_are_completed_when_the_server_ends(void)
{
    gyre_runtime *runtime = open_plain(NULL);
    launch_fragile(runtime, "fragile", 1);
    gyre_server *server = serve_at_place(runtime);
    party client = party_start(load_until_closed);
    require(party_hear(&client) == 'r');
    usleep(5000);
    gyre_server_close(server);
    require(party_end(&client) == 0);
    server = serve_at_place(runtime);
    client = party_start(load_until_closed);
    require(party_hear(&client) == 'r');
    usleep(5000);
    gyre_close(runtime);
    gyre_server_close(server);
    require(party_end(&client) == 0);
}

static void serve_for_ever(const party *self)
{
    gyre_runtime *runtime = open_plain(NULL);
    launch_fragile(runtime, "fragile", 1);
    serve_at_place(runtime);
    party_say(self, 'r');
    for (;;)
        pause();
}

static void a_dead_server_is_told_as_lost(void)
{
    party server = party_start(serve_for_ever);
    require(party_hear(&server) == 'r');
    gyre_queue *queue = attach_fragile();
    stream_right(queue, 0, 1000);
    crash_request request = {.number = 1};
    crash_reply reply;
    party_stop(&server); /* so that a request is on its way */
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    kill(server.process, SIGKILL);
    require(party_end(&server) == 128 + SIGKILL);
    uint64_t before = gyre_now_ns();
    gyre_status status = gyre_receive(queue, &reply, sizeof reply, NULL, soon());
    require(status == GYRE_LOST && strstr(gyre_error_text(), "the program that served the queue ended"));
    require(gyre_now_ns() - before < patiently(UINT64_C(5000000000)));
    status = gyre_send(queue, &request, sizeof request, NULL, soon());
    require(status == GYRE_LOST && strstr(gyre_error_text(), "attach again"));
    status = gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon());
    require(status == GYRE_LOST);
    gyre_queue_close(queue);
    server = party_start(serve_for_ever); /* in place of the socket that was left */
    require(party_hear(&server) == 'r');
    queue = attach_fragile();
    call_right(queue, 9);
    gyre_queue_close(queue);
    kill(server.process, SIGKILL);
    party_end(&server);
}

/* ---- clients that die, lie and flood ---- */

static void die_in_the_middle(const party *self)
{
    void *place;
    size_t stride, count = 8;
    gyre_queue *queue = attach_fragile();
    stream_right(queue, 0, 50);
    must(gyre_reserve(queue, &place, &stride, &count, soon()));
    party_say(self, 'r');
    for (;;)
        pause();
}

static void a_client_that_dies_leaves_nothing(void)
{
    gyre_runtime *runtime = open_plain(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *own = attach_fragile();
    gyre_kernel_info info = {.size = sizeof info};
    size_t before = open_descriptors();
    for (int i = 0; i < 40; i++) {
        party client = party_start(die_in_the_middle);
        require(party_hear(&client) == 'r');
        kill(client.process, SIGKILL);
        require(party_end(&client) == 128 + SIGKILL);
        close(client.said);
        close(client.told);
        stream_right(own, 0, 100); /* it blocks nobody */
    }
    for (uint64_t i = 0; attached_now(server) > 1 && i < patiently(2000); i++)
        usleep(1000);
    must(gyre_kernel_info_get(kernel, &info));
    require(attached_now(server) == 1 && info.queues == 2 && info.queued == 0);
    for (uint64_t i = 0; open_descriptors() > before && i < patiently(2000); i++)
        usleep(1000);
    require(open_descriptors() <= before);
    gyre_queue_close(own);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* Overwrites all that it can, headers, sequences and payloads, with the worst it can think of. */
static void scribble(const party *self)
{
    static const uint64_t nasty[] = {0, 1, UINT64_MAX, 1u << 31, UINT64_C(1) << 63, 4096, 0xffffffff, 65536};
    struct iovec regions[REGIONS_MAX];
    uint64_t seed = (uint64_t)getpid();
    size_t before = writable_regions(regions, REGIONS_MAX);
    for (size_t i = 0; i < before; i++)
        require(munmap(regions[i].iov_base, regions[i].iov_len) == 0); /* the server's, by the fork */
    gyre_queue *queue = attach_fragile();
    require(writable_regions(regions, REGIONS_MAX) == 1);
    party_say(self, 'r');
    for (uint64_t i = 0;; i++) {
        seed = mixed(seed + i);
        uint64_t *words = regions[0].iov_base;
        uint64_t word = seed % (regions[0].iov_len / 8), value = nasty[seed >> 40 & 7];
        if (seed >> 60 < 8) /* a slot that looks published, with any length */
            value = (seed >> 20 & 0xff) + 1;
        __atomic_store_n(&words[i % 3 ? word : word % 1024], value, __ATOMIC_RELEASE);
        if (i % 50000 == 0) {
            crash_request request = {.number = i};
            gyre_send(queue, &request, sizeof request, NULL,
                      GYRE_NO_WAIT); /* rings the doorbell now and then */
        }
    }
}

/* What a scribbler happens to publish would tell the fragile kernel to crash, and does now and then. */
static gyre_kernel *launch_sturdy(gyre_runtime *runtime, const char *source)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = {
        .size = sizeof desc, .source = source, .kernel = "sturdy", .name = "fragile", .blocks = 2};
    must(gyre_launch(runtime, &desc, &launched));
    return launched;
}

static void stream_beside_scribblers(const char *source, const char *const *settings)
{
    gyre_runtime *runtime = open_plain(settings);
    gyre_kernel *kernel = launch_sturdy(runtime, source);
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *own = attach_fragile();
    for (int i = 0; i < 6; i++) {
        gyre_kernel_info info = {.size = sizeof info};
        party client = party_start(scribble);
        require(party_hear(&client) == 'r');
        uint64_t end = gyre_in_ms(400);
        for (uint64_t first = 0; gyre_now_ns() < end; first += 300) {
            stream_right(own, first, 300);
            must(gyre_kernel_info_get(kernel, &info));
        }
        if (i == 3) { /* its queue is drained and ended like any other */
            must(gyre_kernel_deactivate(kernel, soon()));
            must(gyre_kernel_activate(kernel, soon()));
        }
        kill(client.process, SIGKILL);
        require(party_end(&client) == 128 + SIGKILL);
    }
    party client = party_start(scribble);
    require(party_hear(&client) == 'r');
    must(gyre_kernel_terminate(kernel, gyre_in_ms(200), NULL));
    kill(client.process, SIGKILL);
    party_end(&client);
    gyre_queue_close(own);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void a_client_that_scribbles_harms_nobody_else(void)
{
    stream_beside_scribblers(CRASH_KERNELS, NULL);
}

static void a_client_that_scribbles_harms_no_keys(void)
{
    stream_beside_scribblers(KEYED_KERNELS, NULL);
}

static void a_client_that_scribbles_where_requests_are_kept_harms_nobody_else(void)
{
    char journals[128];
    snprintf(journals, sizeof journals, "gyre.journal_dir=%s", getenv("CRASH_FOLDER"));
    stream_beside_scribblers(CRASH_KERNELS,
                             (const char *const[]){"queue.fragile.durability=journal", journals, NULL});
}

static bool is_busy(const gyre_kernel *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(kernel, &info));
    return info.health == GYRE_HEALTH_BUSY;
}

/* The completion behind one that is missing goes out all the same. */
static void a_slow_handler_holds_up_no_other_clients_reply(void)
{
    char journals[128];
    snprintf(journals, sizeof journals, "gyre.journal_dir=%s", getenv("CRASH_FOLDER"));
    gyre_runtime *runtime =
        open_plain((const char *const[]){"queue.fragile.durability=journal", journals, NULL});
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 2);
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *slow = attach_fragile(), *quick = attach_fragile();
    const crash_request request = {.fault = CRASH_SLOW, .always = 1, .number = 7}; /* 60 ms */
    const uint64_t limit = soon();
    gyre_status other = GYRE_OK;
    for (uint64_t number = 0; other != GYRE_AGAIN; number++) { /* this machine may be slower */
        crash_reply reply = {0};
        require(gyre_now_ns() < limit);
        must(gyre_send(slow, &request, sizeof request, NULL, soon()));
        for (uint64_t i = 0; i < patiently(2000) && !is_busy(kernel); i++)
            usleep(100); /* then it is the first one of the two */
        call_right(quick, number);
        other = gyre_receive(slow, &reply, sizeof reply, NULL, GYRE_NO_WAIT);
        if (other == GYRE_AGAIN)
            must(gyre_receive(slow, &reply, sizeof reply, NULL, soon()));
        require(reply.number == 7 && reply.check == mixed(7));
    }
    gyre_queue_close(slow);
    gyre_queue_close(quick);
    gyre_server_close(server);
    gyre_close(runtime);
}

static int connect_raw(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int raw = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", meeting_place());
    require(raw >= 0 && connect(raw, (struct sockaddr *)&address, sizeof address) == 0);
    return raw;
}

/* Who knocks and says nothing takes up a place, until somebody else comes: the oldest one makes room, and the log says so. */
static void a_full_server_says_so(void)
{
    enum { MANY = 40 };
    gyre_runtime *runtime = open_plain((const char *const[]){"gyre.clients_max=1", NULL});
    int silent[MANY];
    launch_fragile(runtime, "fragile", 1);
    gyre_server *server = serve_at_place(runtime);
    for (size_t i = 0; i < MANY; i++)
        silent[i] = connect_raw();
    gyre_queue *queue = attach_fragile();
    call_right(queue, 1);
    require(log_lines_with("those that say nothing are hung up") == 1);
    for (size_t i = 0; i < MANY; i++)
        close(silent[i]);
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* Without a descriptor for looking, nothing is known of whoever listens there. */
static void a_socket_that_cannot_be_looked_at_stays(void)
{
    gyre_runtime *runtime = open_plain(NULL);
    gyre_server *server = NULL;
    gyre_serve_desc desc = {.size = sizeof desc, .path = meeting_place()};
    struct rlimit before, few;
    const int other = listen_at_place(SOCK_SEQPACKET), next = dup(other);
    close(next);
    require(getrlimit(RLIMIT_NOFILE, &before) == 0);
    few = (struct rlimit){(rlim_t)next + 1, before.rlim_max};
    require(setrlimit(RLIMIT_NOFILE, &few) == 0); /* one more, which is none for that */
    gyre_status status = gyre_serve(runtime, &desc, &server);
    require(setrlimit(RLIMIT_NOFILE, &before) == 0);
    require(status == GYRE_UNAVAILABLE && access(meeting_place(), F_OK) == 0);
    close(other);
    gyre_server_close(serve_at_place(runtime));
    gyre_close(runtime);
}

static void packets_of_nonsense_are_turned_away(void)
{
    gyre_runtime *runtime = open_plain(NULL);
    launch_fragile(runtime, "fragile", 1);
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *own = attach_fragile();
    uint64_t packet[64];
    for (uint64_t i = 0; i < 300; i++) {
        int raw = connect_raw();
        for (size_t j = 0; j < 64; j++)
            packet[j] = mixed(i * 64 + j) >> (i % 7 * 8);
        const unsigned char front[6] = {'W', 'Y', 'R', 'G', GYRE_PARCEL_VERSION, 0};
        memcpy(packet, front, i % 3 ? sizeof front : 0); /* as far as it may look right */
        send(raw, packet, i % sizeof packet, MSG_NOSIGNAL);
        if (i % 5 == 0)
            shutdown(raw, SHUT_WR);
        close(raw);
        if (i % 50 == 0)
            call_right(own, i);
    }
    stream_right(own, 0, 1000);
    gyre_queue_close(own);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* What a client sees of the kernel's orders it cannot change, and what it shares it cannot cut. */
static void a_client_can_write_its_own_queue_only(void)
{
    char line[512];
    party server = party_start(serve_for_ever);
    require(party_hear(&server) == 'r');
    gyre_queue *queue = attach_fragile();
    struct iovec regions[REGIONS_MAX];
    require(writable_regions(regions, REGIONS_MAX) == 1);
    FILE *maps = fopen("/proc/self/maps", "re");
    bool control = false;
    while (maps && fgets(line, sizeof line, maps))
        control = control || (strstr(line, "memfd:gyre") && strstr(line, " r--s "));
    fclose(maps);
    require(control);
    size_t memory_files = 0;
    for (int descriptor = 3; descriptor < 64; descriptor++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
        ssize_t length = readlink(path, line, sizeof line - 1);
        line[length > 0 ? length : 0] = '\0';
        if (strncmp(line, "/memfd:gyre", 11) != 0)
            continue;
        require(ftruncate(descriptor, 0) != 0 && ftruncate(descriptor, 1 << 30) != 0);
        memory_files++;
    }
    require(memory_files >= 1);
    call_right(queue, 1);
    gyre_queue_close(queue);
    kill(server.process, SIGKILL);
    party_end(&server);
}

/* ---- together with what else there is ---- */

static void attached_queues_survive_a_crash_of_the_worker(void)
{
    gyre_runtime *runtime = open_isolated(NULL);
    gyre_kernel *kernel = launch_fragile(runtime, "fragile", 1);
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *queue = attach_fragile();
    gyre_kernel_info info = {.size = sizeof info};
    for (uint64_t i = 0; i < 900; i++) {
        crash_request request = {.fault = i % 300 == 150 ? CRASH_SEGFAULT : CRASH_NOT, .number = i};
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    }
    for (uint64_t i = 0; i < 900; i++) {
        crash_reply reply = {0};
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        require(reply.number == i && reply.check == mixed(i));
    }
    must(gyre_kernel_info_get(kernel, &info));
    require(info.restarts == 3 && info.queued == 0);
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void a_forked_child_leaves_the_attachment_alone(void)
{
    gyre_runtime *runtime = open_plain(NULL);
    launch_fragile(runtime, "fragile", 1);
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *queue = attach_fragile();
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        crash_request request = {.number = 1};
        bool closed = gyre_send(queue, &request, sizeof request, NULL, soon()) == GYRE_CLOSED;
        gyre_queue_close(queue);
        _Exit(closed ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    require(party_end(&(party){.process = child}) == 0);
    stream_right(queue, 0, 500);
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

static uint32_t signals_taken;

static void take_signal(int number)
{
    (void)number;
    __atomic_fetch_add(&signals_taken, 1, __ATOMIC_RELAXED);
}

/* Also of threads that were there before the program blocked the signal, to wait for it. */
static void the_programs_signals_are_left_to_its_threads(void)
{
    const struct sigaction action = {.sa_handler = take_signal};
    int descriptor = -1;
    sigset_t blocked, pending;
    gyre_runtime *runtime = open_plain(
        (const char *const[]){"kernel.default.stall_told_ms=1000", "queue.default.ttl_ms=60000", NULL});
    gyre_runtime *isolated = open_isolated(NULL);
    launch_fragile(runtime, "fragile", 2);
    launch_fragile(isolated, "fragile", 1);
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *queue = attach_fragile();
    must(gyre_queue_descriptor(queue, &descriptor));
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    require(sigaction(SIGUSR1, &action, NULL) == 0);
    require(pthread_sigmask(SIG_BLOCK, &blocked, NULL) == 0);
    require(kill(getpid(), SIGUSR1) == 0);
    stream_right(queue, 0, 500);
    require(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 1);
    require(__atomic_load_n(&signals_taken, __ATOMIC_RELAXED) == 0);
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(isolated);
    gyre_close(runtime);
}

static const named_case cases[] = {
    {"the_programs_signals_are_left_to_its_threads", the_programs_signals_are_left_to_its_threads},
    {"several_programs_share_a_kernel", several_programs_share_a_kernel},
    {"every_way_of_sending_works", every_way_of_sending_works},
    {"what_cannot_be_is_refused_with_a_reason", what_cannot_be_is_refused_with_a_reason},
    {"a_server_that_takes_nobody_in_is_waited_for_until_the_deadline",
     a_server_that_takes_nobody_in_is_waited_for_until_the_deadline},
    {"a_socket_of_another_kind_is_nobodys_leftover", a_socket_of_another_kind_is_nobodys_leftover},
    {"only_those_with_permission_get_in", only_those_with_permission_get_in},
    {"accepted_requests_are_completed_when_the_kernel_ends",
     accepted_requests_are_completed_when_the_kernel_ends},
    {"accepted_requests_are_completed_when_the_server_ends",
     accepted_requests_are_completed_when_the_server_ends},
    {"a_dead_server_is_told_as_lost", a_dead_server_is_told_as_lost},
    {"a_client_that_dies_leaves_nothing", a_client_that_dies_leaves_nothing},
    {"a_client_that_scribbles_harms_nobody_else", a_client_that_scribbles_harms_nobody_else},
    {"a_client_that_scribbles_harms_no_keys", a_client_that_scribbles_harms_no_keys},
    {"a_client_that_scribbles_where_requests_are_kept_harms_nobody_else",
     a_client_that_scribbles_where_requests_are_kept_harms_nobody_else},
    {"a_slow_handler_holds_up_no_other_clients_reply", a_slow_handler_holds_up_no_other_clients_reply},
    {"a_full_server_says_so", a_full_server_says_so},
    {"a_socket_that_cannot_be_looked_at_stays", a_socket_that_cannot_be_looked_at_stays},
    {"packets_of_nonsense_are_turned_away", packets_of_nonsense_are_turned_away},
    {"a_client_can_write_its_own_queue_only", a_client_can_write_its_own_queue_only},
    {"attached_queues_survive_a_crash_of_the_worker", attached_queues_survive_a_crash_of_the_worker},
    {"a_forked_child_leaves_the_attachment_alone", a_forked_child_leaves_the_attachment_alone},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
