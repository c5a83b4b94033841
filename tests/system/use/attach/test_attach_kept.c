/* SPDX-License-Identifier: Apache-2.0 */
/* Other programs' queues into kernels that keep what was sent. One case a run, named in the table at the end. */
#include <grp.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tellers.h"

#include "core/queue/queue.h"
#include "core/ring/ring.h"

static void clients_share_a_kernel_with_state(void)
{
    begin_lives();
    gyre_runtime *runtime = open_keeping();
    gyre_kernel *kernel = launch_teller(runtime, "teller");
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *one = attach_as("teller", NULL), *other = attach_as("teller", NULL);
    for (uint64_t i = 1; i <= 400; i++) {
        require_account(ask(one, (teller_request){.client = 1, .number = i, .fault = i % 100 == 50}), i);
        require_account(ask(other, (teller_request){.client = 2, .number = i}), i);
        if (i % 50 == 0) /* the serving program's own requests go beside them */
            require_account(ask(gyre_kernel_queue(kernel), (teller_request){.client = 3, .number = i / 50}),
                            i / 50);
    }
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(kernel, &info));
    require(info.restarts == 4 && info.queued == 0);
    gyre_queue_close(one);
    gyre_queue_close(other);
    require(attached_now(server) <= 2);
    gyre_server_close(server);
    require_account(ask(gyre_kernel_queue(kernel), (teller_request){.client = 1}), 400);
    gyre_close(runtime);
}

static long sleeps_so_far(void)
{
    struct rusage usage;
    require(getrusage(RUSAGE_SELF, &usage) == 0);
    return usage.ru_nvcsw;
}

/* Whoever carries between clients and kernels is woken when there is something to carry. */
static void a_server_without_work_sleeps(void)
{
    enum { MOST_PER_SECOND = 500 }; /* of all threads, those of the checkpoints among them */
    begin_lives();
    gyre_runtime *runtime = open_keeping();
    launch_teller(runtime, "teller");
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *queue = attach_as("teller", NULL);
    for (uint64_t i = 1; i <= 10; i++)
        require_account(ask(queue, (teller_request){.client = 1, .number = i}), i);
    usleep(300000); /* whatever was under way has ended */
    const long before = sleeps_so_far();
    sleep(1);
    const long sleeps = sleeps_so_far() - before;
    fprintf(stderr, "%ld sleeps in an idle second\n", sleeps);
    require(sleeps < MOST_PER_SECOND);
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void clients_wait_for_each_acknowledgement(void)
{
    begin_lives();
    gyre_runtime *runtime = open_keeping();
    launch_teller(runtime, "teller");
    launch_teller(runtime, "clerk");
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *queue = attach_as("teller", NULL), *clerk = attach_as("clerk", NULL);
    const gyre_acknowledgement levels[] = {GYRE_ACCEPTED, GYRE_PROCESSED, GYRE_DURABLE, GYRE_CHECKPOINTED};
    for (uint64_t i = 1; i <= 40; i++) {
        teller_request request = {.client = 1, .number = i};
        teller_reply reply = {0};
        must(gyre_send_until(queue, &request, sizeof request, NULL, levels[i % 4], soon()));
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        require_account(reply, i);
        if (i % 4 == 3)
            continue;
        must(gyre_send_until(clerk, &request, sizeof request, NULL, levels[i % 3], soon()));
        must(gyre_receive(clerk, &reply, sizeof reply, NULL, soon()));
        require(reply.number == i && reply.hash == mixed(i));
    }
    require(gyre_await(clerk, 0, GYRE_CHECKPOINTED, GYRE_NO_WAIT) == GYRE_INVALID);
    require(strstr(gyre_error_text(), "no checkpoints"));
    require(gyre_await(queue, 4000, GYRE_DURABLE, GYRE_NO_WAIT) == GYRE_INVALID);
    gyre_queue_close(clerk);
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* Checkpoints come when they are needed alone. */
static void a_full_replay_log_holds_no_client_up_for_ever(void)
{
    begin_lives();
    gyre_runtime *runtime = open_isolated(
        (const char *const[]){"kernel.teller.checkpoints=true", "kernel.teller.checkpoint_ms=0",
                              "kernel.teller.replay_log=1 KiB", "queue.teller.capacity=16", NULL});
    launch_teller(runtime, "teller");
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *queue = attach_as("teller", NULL);
    for (uint64_t i = 1, received = 0; received < 2000; i++) {
        teller_request request = {.client = 1, .number = i};
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
        for (; i - received > 40 || (i >= 2000 && received < i); received++) {
            teller_reply reply = {0};
            must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
            require_account(reply, received + 1);
        }
    }
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* The room that a client's request waits for is made by the program that serves: it receives what is its own. */
static void the_programs_own_requests_hold_no_client_up_for_ever(void)
{
    enum { ROUNDS = 20, CAPACITY = 8 };
    begin_lives();
    gyre_runtime *runtime = open_isolated((const char *const[]){
        "kernel.teller.checkpoints=true", "kernel.teller.checkpoint_ms=0", "queue.teller.capacity=8", NULL});
    gyre_kernel *kernel = launch_teller(runtime, "teller");
    gyre_queue *own = gyre_kernel_queue(kernel);
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *queue = attach_as("teller", NULL);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        teller_request request = {.client = 1, .number = round + 1};
        teller_reply reply = {0};
        for (uint64_t i = 1; i <= CAPACITY; i++) {
            const teller_request mine = {.client = 2, .number = round * CAPACITY + i};
            must(gyre_send(own, &mine, sizeof mine, NULL, soon()));
        }
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
        usleep(round % 2 ? 0 : 5000); /* whoever passes it on sleeps by then */
        for (uint64_t i = 1; i <= CAPACITY; i++) {
            must(gyre_receive(own, &reply, sizeof reply, NULL, soon()));
            require_account(reply, round * CAPACITY + i);
        }
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        require_account(reply, round + 1);
    }
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* A device in the serving program itself, which dies as one of a GPU would: it says so, and rings. */
static void clients_of_a_kept_kernel_learn_that_its_device_died(void)
{
    begin_lives();
    gyre_runtime *runtime = open_isolated(
        (const char *const[]){"kernel.teller.checkpoints=true", "backend.cpu.isolation=none", NULL});
    gyre_kernel *kernel = launch_teller(runtime, "teller");
    const gyre_queue *own = gyre_kernel_queue(kernel);
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *queue = attach_as("teller", NULL);
    const teller_request request = {.client = 1, .number = 1};
    teller_reply reply = {0};
    must(gyre_kernel_deactivate(kernel, soon()));
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    usleep(20000); /* it is passed on by then */
    __atomic_store_n(&gyre_ring_of(own)->control->device.lost, 1, __ATOMIC_RELEASE);
    gyre_bell_ring(&gyre_ring_of(own)->shared->device.bell, INT_MAX);
    require(gyre_receive(queue, &reply, sizeof reply, NULL, soon()) == GYRE_LOST);
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void accepted_requests_are_completed_when_a_kept_kernel_ends(void)
{
    begin_lives();
    gyre_runtime *runtime = open_keeping();
    gyre_kernel *kernel = launch_teller(runtime, "teller");
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *queue = attach_as("teller", NULL);
    uint64_t sent = 0, replied = 0, unhandled = 0, left = 0;
    for (; sent < 60; sent++) {
        teller_request request = {.client = 1, .number = sent + 1};
        must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    }
    must(gyre_kernel_terminate(kernel, soon(), &left));
    for (uint64_t i = 0; i < sent; i++) {
        teller_reply reply = {0};
        gyre_completion completion = {0};
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        replied += completion.outcome == GYRE_REPLIED;
        unhandled += completion.outcome == GYRE_WAS_UNHANDLED;
        require(completion.outcome != GYRE_REPLIED || reply.number == i + 1);
    }
    require(replied + unhandled == sent);
    teller_request request = {.client = 1, .number = 1};
    gyre_status status = GYRE_OK;
    for (uint64_t limit = soon(); status == GYRE_OK && gyre_now_ns() < limit;) { /* until it was told */
        status = gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT);
        status = status == GYRE_AGAIN ? GYRE_OK : status;
    }
    require(status == GYRE_CLOSED);
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* Sends ever more for three seconds, four under way; returns how many expired, and no other may fail. */
static uint64_t count_expired(gyre_queue *queue)
{
    enum { UNDER_WAY = 4 };
    const uint64_t end_ns = gyre_in_ms(3000);
    uint64_t sent = 0, received = 0, expired = 0;
    while (received < sent || gyre_clock_ns() < end_ns) {
        const teller_request request = {.client = 1, .number = sent + 1};
        if (sent - received < UNDER_WAY && gyre_clock_ns() < end_ns) {
            must(gyre_send(queue, &request, sizeof request, NULL, soon()));
            sent++;
            continue;
        }
        teller_reply reply;
        gyre_completion completion;
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
        received++;
        expired += completion.outcome == GYRE_HANDLER_FAILED;
        require(completion.outcome == GYRE_REPLIED || completion.failure_code == GYRE_FAILURE_EXPIRED);
    }
    return expired;
}

/* Whichever of the two programs takes it back. */
static void what_expires_at_a_kept_kernel_is_told_as_that(void)
{
    char journals[128];
    begin_lives();
    snprintf(journals, sizeof journals, "gyre.journal_dir=%s", journal_folder());
    gyre_runtime *runtime = open_isolated((const char *const[]){
        journals, "kernel.teller.checkpoints=true", "kernel.teller.checkpoint_ms=1",
        "queue.teller.durability=journal", "queue.teller.capacity=4", "queue.teller.ttl_ms=1", NULL});
    launch_teller(runtime, "teller");
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *queue = attach_as("teller", NULL);
    fprintf(stderr, "%llu requests expired\n", (unsigned long long)count_expired(queue));
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void a_name_is_one_clients_at_a_time(void)
{
    begin_lives();
    gyre_runtime *runtime = open_keeping();
    launch_teller(runtime, "teller");
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *queue = attach_as("teller", "till"), *again = NULL;
    gyre_recovered left = {.size = sizeof left};
    must(gyre_queue_recovered(queue, &left));
    require(left.offered == 0);
    require(try_attach("teller", "till", &again) == GYRE_INVALID && !again);
    require(strstr(gyre_error_text(), "a client of this name is attached to kernel 'teller' already"));
    require(strstr(gyre_error_text(), "client 'till'"));
    char name[80];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    require(try_attach("teller", name, &again) == GYRE_INVALID && !again);
    require(strstr(gyre_error_text(), "at most 63 characters, found 79"));
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* Of a server that begins once more with its journal; returns what the client's name is told. */
static gyre_recovered ask_in_the_next_life(uint64_t first, uint64_t count)
{
    gyre_runtime *runtime = open_keeping();
    launch_teller(runtime, "teller");
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *queue = attach_as("teller", "till");
    gyre_recovered left = {.size = sizeof left};
    must(gyre_queue_recovered(queue, &left));
    for (uint64_t i = 0; i < count; i++) {
        const teller_request request = {.client = 1, .number = first + i + 1};
        uint64_t index = 0;
        teller_reply reply;
        must(gyre_send_until(queue, &request, sizeof request, &index, GYRE_DURABLE, soon()));
        require(index == first + i);
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
    }
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
    return left;
}

/* Also where all was taken, and the journal holds none of its requests any more. */
static void a_names_numbers_go_on_in_the_servers_next_life(void)
{
    enum { LIVES = 4, EACH = 5 };
    begin_lives();
    for (uint64_t life = 0; life < LIVES; life++) {
        const gyre_recovered left = ask_in_the_next_life(life * EACH, life == 2 ? 0 : EACH);
        require(left.offered == 0 && left.first == life * EACH);
        if (life == 2) /* one that sends nothing */
            require(ask_in_the_next_life(life * EACH, EACH).first == life * EACH);
    }
}

/* It says that it sent `index`, longer than a request may be; whether the server looked at it. */
static bool forge(gyre_queue *queue, uint64_t index)
{
    gyre_slot *request = gyre_request_slot(gyre_ring_of(queue), index);
    const gyre_slot *reply = gyre_reply_slot(gyre_ring_of(queue), index);
    request->length = UINT32_MAX;
    __atomic_store_n(&request->sequence, index + 1, __ATOMIC_RELEASE);
    for (uint64_t limit = gyre_in_ms(patiently(300)); gyre_now_ns() < limit; usleep(100))
        if (__atomic_load_n(&reply->sequence, __ATOMIC_ACQUIRE) == index + 1)
            return true;
    return false;
}

/* The next client of the name would get a ring for all numbers from the one that is under way on. */
static void a_client_that_invents_requests_gets_no_further_than_its_ring(void)
{
    begin_lives();
    gyre_runtime *runtime = open_keeping();
    gyre_kernel *kernel = launch_teller(runtime, "teller");
    gyre_server *server = serve_at_place(runtime);
    gyre_queue *queue = attach_as("teller", "till");
    const teller_request request = {.client = 1, .number = 1};
    uint64_t index = 1;
    must(gyre_kernel_deactivate(kernel, soon()));
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
    while (index < 1000 && forge(queue, index))
        index++;
    require(index == gyre_ring_of(queue)->capacity);
    must(gyre_kernel_activate(kernel, soon()));
    require(forge(queue, index)); /* the first one was answered */
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

struct comer {
    pthread_t thread;
    uint32_t stop; /* atomic */
    uint64_t answered;
};

static void *come_and_go(void *argument)
{
    struct comer *comer = argument;
    while (!__atomic_load_n(&comer->stop, __ATOMIC_ACQUIRE)) {
        gyre_queue *queue = NULL;
        teller_request request = {.client = 1, .number = 7};
        teller_reply reply = {0};
        gyre_status status = try_attach("clerk", NULL, &queue);
        require(status == GYRE_OK || status == GYRE_CLOSED || status == GYRE_AGAIN); /* being closed */
        if (status == GYRE_OK)
            status = gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon());
        require(status == GYRE_OK || status == GYRE_CLOSED || status == GYRE_AGAIN);
        require(status != GYRE_OK || (reply.number == 7 && reply.hash == mixed(7)));
        comer->answered += status == GYRE_OK;
        gyre_queue_close(queue);
    }
    return NULL;
}

/* Whether a request of a client is in the queue. */
static bool has_request(gyre_queue *queue)
{
    gyre_queue_stats stats = {.size = sizeof stats};
    must(gyre_queue_stats_get(queue, &stats));
    return stats.sent > 0;
}

/* Each client that comes has the queue opened that the serving program closes `closes` times; those of a kernel that is
 * inactive once a request waits in them. */
static void close_while_clients_come(uint64_t closes, bool inactive)
{
    enum { COMERS = 2 };
    struct comer comers[COMERS] = {0};
    begin_lives();
    gyre_runtime *runtime = open_keeping();
    gyre_kernel *kernel = launch_teller(runtime, "clerk");
    gyre_server *server = serve_at_place(runtime);
    if (inactive)
        must(gyre_kernel_deactivate(kernel, soon()));
    for (int i = 0; i < COMERS; i++)
        require(pthread_create(&comers[i].thread, NULL, come_and_go, &comers[i]) == 0);
    for (uint64_t closed = 0, limit = soon(); closed < closes && gyre_now_ns() < limit;) {
        gyre_queue *queue = gyre_queue_find(kernel, "clerk");
        if (queue && inactive && !has_request(queue))
            continue;
        closed += queue != NULL;
        gyre_queue_close(queue);
    }
    if (inactive)
        must(gyre_kernel_activate(kernel, soon()));
    for (int i = 0; i < COMERS; i++) {
        __atomic_store_n(&comers[i].stop, 1, __ATOMIC_RELEASE);
        require(pthread_join(comers[i].thread, NULL) == 0);
    }
    gyre_queue *queue = attach_as("clerk", NULL);
    require(ask(queue, (teller_request){.client = 2, .number = 9}).hash == mixed(9));
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void the_program_closes_its_queue_while_clients_come(void)
{
    close_while_clients_come(200, false);
}

/* A request that the closed queue completed since the relay looked is no lost one. Fault points make the relay late. */
static void the_program_closes_its_queue_under_a_relay_that_is_late(void)
{
    require(setenv("GYRE_FAULTS", "relay.end=delay:2@1+", 1) == 0);
    close_while_clients_come(20, true);
}

enum { NOBODY = 65534, SKIP = 77 };

/* Numbers of the same name as the server's own user has; the name is in use until the parent says so. */
static void take_the_name_as_nobody(const party *self)
{
    gyre_recovered left = {.size = sizeof left};
    party_wait(self);
    require(setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    gyre_queue *queue = attach_as("teller", "till");
    must(gyre_queue_recovered(queue, &left));
    require(left.first == 0 && left.offered == 0);
    for (uint64_t i = 1; i <= 5; i++)
        require_account(ask(queue, (teller_request){.client = 2, .number = i}), i);
    party_say(self, 'd');
    party_wait(self);
    gyre_queue_close(queue);
}

/* Else another user's client takes completions that are not its own, and its numbers are those of requests to come. */
static void users_share_no_names(void)
{
    char path[128];
    gyre_server *server = NULL;
    gyre_recovered left = {.size = sizeof left};
    if (geteuid() != 0)
        _Exit(SKIP);
    snprintf(path, sizeof path, "%s", meeting_place());
    require(chmod(dirname(path), 0755) == 0);
    party nobody = party_start(take_the_name_as_nobody);
    begin_lives();
    gyre_runtime *runtime = open_keeping();
    launch_teller(runtime, "teller");
    must(gyre_serve(
        runtime, &(gyre_serve_desc){.size = sizeof(gyre_serve_desc), .path = meeting_place(), .mode = 0666},
        &server));
    gyre_queue *queue = attach_as("teller", "till");
    for (uint64_t i = 1; i <= 2; i++)
        require_account(ask(queue, (teller_request){.client = 1, .number = i}), i);
    gyre_queue_close(queue);
    party_tell(&nobody, 'g');
    require(party_hear(&nobody) == 'd');
    queue = attach_as("teller", "till"); /* which another user's client has, too */
    must(gyre_queue_recovered(queue, &left));
    require(left.first == 2 && left.offered == 0);
    require_account(ask(queue, (teller_request){.client = 1, .number = 3}), 3);
    party_tell(&nobody, 'e');
    require(party_end(&nobody) == EXIT_SUCCESS);
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

static const named_case cases[] = {
    {"clients_share_a_kernel_with_state", clients_share_a_kernel_with_state},
    {"a_server_without_work_sleeps", a_server_without_work_sleeps},
    {"clients_wait_for_each_acknowledgement", clients_wait_for_each_acknowledgement},
    {"a_full_replay_log_holds_no_client_up_for_ever", a_full_replay_log_holds_no_client_up_for_ever},
    {"the_programs_own_requests_hold_no_client_up_for_ever",
     the_programs_own_requests_hold_no_client_up_for_ever},
    {"clients_of_a_kept_kernel_learn_that_its_device_died",
     clients_of_a_kept_kernel_learn_that_its_device_died},
    {"accepted_requests_are_completed_when_a_kept_kernel_ends",
     accepted_requests_are_completed_when_a_kept_kernel_ends},
    {"what_expires_at_a_kept_kernel_is_told_as_that", what_expires_at_a_kept_kernel_is_told_as_that},
    {"a_name_is_one_clients_at_a_time", a_name_is_one_clients_at_a_time},
    {"users_share_no_names", users_share_no_names},
    {"a_names_numbers_go_on_in_the_servers_next_life", a_names_numbers_go_on_in_the_servers_next_life},
    {"a_client_that_invents_requests_gets_no_further_than_its_ring",
     a_client_that_invents_requests_gets_no_further_than_its_ring},
    {"the_program_closes_its_queue_while_clients_come", the_program_closes_its_queue_while_clients_come},
    {"the_program_closes_its_queue_under_a_relay_that_is_late",
     the_program_closes_its_queue_under_a_relay_that_is_late},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
