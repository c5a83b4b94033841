/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients that mend themselves (gyre_attach_desc.reconnect): one queue, whatever becomes of its servers. The campaigns
 * kill servers at random; the seed is printed, and LASTING_SEED repeats what is drawn, LASTING_GOAL numbers for each thread.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tellers.h"
#include "till.h"
#include "../../../patience.h"

enum { CALLERS = 4, WINDOW = 24, PATIENCE_MS = 60000 };

static uint64_t lasting(void)
{
    return gyre_in_ms(patiently(PATIENCE_MS));
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* ---- servers ---- */

static void serve_until_told(const party *self, gyre_runtime *runtime)
{
    gyre_server *server = serve_at_place(runtime);
    party_say(self, 'r');
    party_wait(self);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void serve_plain(const party *self)
{
    gyre_runtime *runtime = open_plain(NULL);
    launch_fragile(runtime, "fragile", 1);
    serve_until_told(self, runtime);
}

static void serve_tellers(const party *self)
{
    gyre_runtime *runtime = open_keeping();
    launch_teller(runtime, "teller");
    serve_until_told(self, runtime);
}

/* As `gyre serve` ends: its kernels first, while its door is open. */
static void serve_and_drain(const party *self)
{
    gyre_runtime *runtime = open_keeping();
    gyre_kernel *kernel = launch_teller(runtime, "teller");
    gyre_server *server = serve_at_place(runtime);
    party_say(self, 'r');
    party_wait(self);
    gyre_kernel_terminate(kernel, gyre_in_ms(1000), NULL);
    pause_ms(20);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void serve_another(const party *self)
{
    gyre_runtime *runtime = open_plain(NULL);
    launch_as(runtime, "other", "fragile");
    serve_until_told(self, runtime);
}

/* A kernel of that name, whose messages are others. */
static void serve_other_types(const party *self)
{
    gyre_runtime *runtime = open_plain(NULL);
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = {.size = sizeof desc, .source = TELLER, .kernel = "clerk", .name = "fragile"};
    must(gyre_launch(runtime, &desc, &kernel));
    serve_until_told(self, runtime);
}

static party start_server(void (*serve)(const party *self))
{
    party server = party_start(serve);
    require(party_hear(&server) == 'r');
    return server;
}

static void kill_server(const party *server)
{
    kill(server->process, SIGKILL);
    require(party_end(server) == 128 + SIGKILL);
    close(server->said);
    close(server->told);
}

static void end_server(const party *server)
{
    party_tell(server, 'e');
    require(party_end(server) == 0);
    close(server->said);
    close(server->told);
}

/* ---- clients ---- */

static gyre_queue *attach_lasting(const char *kernel, const char *name, const gyre_type *request,
                                  const gyre_type *reply)
{
    gyre_queue *queue = NULL;
    gyre_attach_desc desc = {.size = sizeof desc,
                             .path = meeting_place(),
                             .capacity = 256,
                             .client = name,
                             .request = request,
                             .reply = reply,
                             .deadline_ns = lasting(),
                             .reconnect = true};
    must(gyre_attach(kernel, &desc, &queue));
    return queue;
}

static gyre_queue *attach_lasting_teller(const char *name)
{
    return attach_lasting("teller", name, GYRE_TYPE(teller_request), GYRE_TYPE(teller_reply));
}

static gyre_queue *attach_lasting_fragile(void)
{
    return attach_lasting("fragile", NULL, GYRE_TYPE(crash_request), GYRE_TYPE(crash_reply));
}

static gyre_status call_until(gyre_queue *queue, uint64_t number, uint64_t deadline)
{
    crash_request request = {.number = number};
    crash_reply reply = {0};
    gyre_status status = gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, deadline);
    require(status != GYRE_OK || (reply.number == number && reply.check == mixed(number)));
    return status;
}

static void a_lasting_queue_goes_on_at_the_next_server(void)
{
    party server = start_server(serve_plain);
    gyre_queue *queue = attach_lasting_fragile();
    for (uint64_t life = 0; life < 5; life++) {
        require(call_until(queue, life, lasting()) == GYRE_OK);
        stream_right(queue, life * 1000, 1000);
        if (life % 2)
            end_server(&server);
        else
            kill_server(&server);
        server = start_server(serve_plain);
    }
    require(call_until(queue, 99, lasting()) == GYRE_OK);
    gyre_queue_close(queue);
    end_server(&server);
}

/* TIMEOUT, and not LOST, is what a call gets; the queue is as good as before when a server is there. */
static void calls_without_a_server_get_their_deadline(void)
{
    party server = start_server(serve_plain);
    gyre_queue *queue = attach_lasting_fragile();
    require(call_until(queue, 1, lasting()) == GYRE_OK);
    kill_server(&server);
    while (call_until(queue, 2, gyre_in_ms(50)) == GYRE_OK)
        ;                              /* what died is not seen at once */
    for (uint64_t i = 0; i < 400; i++) /* more than there are places: who gave up keeps none for ever */
        require(call_until(queue, i, gyre_in_ms(i < 10 ? 50 : 5)) == GYRE_TIMEOUT);
    require(strstr(gyre_error_text(), "whose server is gone: it waits for the next server") ||
            strstr(gyre_error_text(), "is full"));
    server = start_server(serve_plain);
    require(call_until(queue, 3, lasting()) == GYRE_OK);
    stream_right(queue, 0, 1000);
    gyre_queue_close(queue);
    end_server(&server);
}

static void *attach_early(void *out)
{
    *(gyre_queue **)out = attach_lasting_fragile();
    return NULL;
}

static void the_first_server_is_waited_for(void)
{
    pthread_t thread;
    gyre_queue *queue = NULL;
    gyre_attach_desc desc = {
        .size = sizeof desc, .path = meeting_place(), .deadline_ns = gyre_in_ms(50), .reconnect = true};
    require(gyre_attach("fragile", &desc, &queue) == GYRE_UNAVAILABLE && !queue);
    require(strstr(gyre_error_text(), "nobody serves at"));
    require(pthread_create(&thread, NULL, attach_early, &queue) == 0);
    pause_ms(200);
    party server = start_server(serve_plain); /* ends with the thread that forks it */
    pthread_join(thread, NULL);
    require(call_until(queue, 1, lasting()) == GYRE_OK);
    gyre_queue_close(queue);
    end_server(&server);
}

static void expect_end(void (*next)(const party *self), const char *sentence)
{
    party server = start_server(serve_plain);
    gyre_queue *queue = attach_lasting_fragile();
    require(call_until(queue, 1, lasting()) == GYRE_OK);
    kill_server(&server);
    server = start_server(next);
    require(call_until(queue, 2, lasting()) == GYRE_LOST);
    require(strstr(gyre_error_text(), sentence));
    require(call_until(queue, 3, lasting()) == GYRE_LOST);
    require(strstr(gyre_error_text(), sentence));
    gyre_queue_close(queue);
    end_server(&server);
}

static void a_server_that_will_never_do_ends_a_lasting_queue(void)
{
    expect_end(serve_another, "the server has no kernel 'fragile'; it has: other");
    expect_end(serve_other_types, "the kernel");
}

static void a_lasting_queue_is_closed_without_its_server(void)
{
    party server = start_server(serve_plain);
    gyre_queue *queue = attach_lasting_fragile();
    const uint64_t began = gyre_now_ns();
    crash_request request = {.number = 1};
    kill_server(&server);
    while (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) == GYRE_OK)
        ;
    const pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        const bool refused = gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) == GYRE_CLOSED;
        gyre_queue_close(queue);
        _Exit(refused ? 0 : 1);
    }
    int status = 1;
    require(waitpid(child, &status, 0) == child && status == 0);
    gyre_queue_close(queue);
    require(gyre_now_ns() - began < patiently(UINT64_C(30000000000)));
}

/* ---- the next server is a later version ---- */

#define GROWING(FIELD) FIELD(u64, number) FIELD(u32, weight)
GYRE_MESSAGE(growing, GROWING)

static uint32_t appended; /* fields that the next server's messages have more */

/* Says which fields it got, where the client knows none of the later ones. */
static void write_growing(char *path, size_t size)
{
    snprintf(path, size, "%s/growing-%u.gyre.c", getenv("CRASH_FOLDER"), appended);
    FILE *file = fopen(path, "we");
    require(file);
    fputs("#include <gyre/kernel.h>\n#define GROWING(FIELD) FIELD(u64, number) FIELD(u32, weight)", file);
    for (uint32_t i = 0; i < appended; i++)
        fprintf(file, " FIELD(u64, later_%u)", i);
    fputs(
        "\nGYRE_MESSAGE(growing, GROWING)\nGYRE_KERNEL(grow, growing, growing)\n{\n    *reply = *request;\n",
        file);
    fprintf(file, "    reply->weight += %u;\n", appended);
    for (uint32_t i = 0; i < appended; i++)
        fprintf(file, "    if (request->later_%u) return gyre_fail(gyre, 1, \"not zero\");\n", i);
    fputs("    return GYRE_REPLY;\n}\n", file);
    fclose(file);
}

static void serve_growing(const party *self)
{
    char path[512];
    gyre_kernel *kernel = NULL;
    write_growing(path, sizeof path);
    gyre_runtime *runtime = open_plain(NULL);
    gyre_launch_desc desc = {.size = sizeof desc, .source = path, .kernel = "grow"};
    must(gyre_launch(runtime, &desc, &kernel));
    serve_until_told(self, runtime);
}

static void a_lasting_queue_goes_on_at_a_later_version(void)
{
    const gyre_type *const told[] = {GYRE_TYPE(growing), NULL};
    for (size_t i = 0; i < 2; i++) { /* the second client takes the types that it finds */
        appended = (uint32_t)i;
        party server = start_server(serve_growing);
        gyre_queue *queue = attach_lasting("grow", NULL, told[i], told[i]);
        const gyre_type *type = NULL;
        gyre_queue_types(queue, &type, NULL);
        for (uint64_t number = 0; number < 3; number++, appended++) {
            struct {
                growing known;
                uint64_t later[4];
            } request = {.known = {number, 7}}, reply = {0};
            const size_t size = i ? type->size : sizeof(growing);
            must(gyre_call(queue, &request, size, &reply, size, NULL, lasting()));
            require(reply.known.number == number && reply.known.weight == 7 + appended);
            kill_server(&server);
            appended++;
            server = start_server(serve_growing);
            appended--;
        }
        gyre_queue_close(queue);
        end_server(&server);
    }
}

/* ---- under load ---- */

static struct shared {
    uint32_t goal, done; /* atomic */
    uint64_t progress;
} * shared;

static void note_progress(void)
{
    __atomic_fetch_add(&shared->progress, 1, __ATOMIC_RELAXED);
}

struct caller {
    pthread_t thread;
    gyre_queue *queue;
    uint32_t number;
};

/* An account that took each number once and in order says so; a call is sent once, however many servers die. */
static void *call_on_and_on(void *argument)
{
    const struct caller *self = argument;
    for (uint64_t number = 1; number <= shared->goal; number++) {
        teller_request request = {.client = self->number, .number = number, .fault = number % 1500 == 700};
        teller_reply reply = {0};
        must(gyre_call(self->queue, &request, sizeof request, &reply, sizeof reply, NULL, lasting()));
        require_account(reply, number);
        note_progress();
    }
    return NULL;
}

static void fill(teller_request *request, uint32_t client, uint64_t number)
{
    *request = (teller_request){.client = client, .number = number};
}

/* Copied and in place by turns. */
static void send_next(gyre_queue *queue, uint32_t client, uint64_t number)
{
    teller_request request;
    if (number % 3) {
        fill(&request, client, number);
        must(gyre_send(queue, &request, sizeof request, NULL, lasting()));
        return;
    }
    void *place = NULL;
    size_t stride, count = 1;
    must(gyre_reserve(queue, &place, &stride, &count, lasting()));
    require(count == 1);
    fill(place, client, number);
    must(gyre_commit(queue, 1));
}

static void receive_next(gyre_queue *queue, uint64_t number)
{
    teller_reply reply = {0};
    gyre_view view;
    size_t found = 0;
    if (number % 3) {
        must(gyre_receive(queue, &reply, sizeof reply, NULL, lasting()));
    } else {
        must(gyre_peek(queue, &view, 1, &found, lasting()));
        require(found == 1 && view.outcome == GYRE_REPLIED && view.length == sizeof reply);
        memcpy(&reply, view.reply, sizeof reply);
        must(gyre_release_views(queue, 1));
    }
    require_account(reply, number);
    note_progress();
}

static void wait_at(int descriptor)
{
    struct pollfd ready = {.fd = descriptor, .events = POLLIN};
    while (poll(&ready, 1, (int)patiently(PATIENCE_MS)) < 0)
        require(errno == EINTR);
    require(ready.revents & POLLIN);
}

static void wait_among(gyre_queue *queue)
{
    gyre_wish wish = {.queue = queue, .wants = GYRE_WISH_COMPLETION};
    size_t ready = 0;
    must(gyre_wait_any(&wish, 1, &ready, lasting()));
    require(ready == 1 && wish.ready == GYRE_WISH_COMPLETION);
}

/* In a window; its receiver waits in each of the ways that there are. */
static void *stream_on_and_on(void *argument)
{
    const struct caller *self = argument;
    int descriptor = -1;
    uint64_t sent = 0;
    must(gyre_queue_descriptor(self->queue, &descriptor));
    for (uint64_t received = 1; received <= shared->goal; received++) {
        for (; sent < shared->goal && sent - received + 1 < WINDOW; sent++)
            send_next(self->queue, self->number, sent + 1);
        if (received % 5 == 0)
            wait_at(descriptor);
        if (received % 5 == 1)
            wait_among(self->queue);
        receive_next(self->queue, received);
    }
    return NULL;
}

static bool orderly; /* servers end by themselves, and the clients have no names */

static void be_a_client(const party *self)
{
    struct caller callers[CALLERS + 1];
    gyre_queue *called = attach_lasting_teller(orderly ? NULL : "callers"),
               *streamed = attach_lasting_teller(orderly ? NULL : "streamer");
    party_say(self, 'r');
    for (uint32_t i = 0; i <= CALLERS; i++) {
        callers[i] = (struct caller){.queue = i < CALLERS ? called : streamed, .number = i};
        require(pthread_create(&callers[i].thread, NULL, i < CALLERS ? call_on_and_on : stream_on_and_on,
                               &callers[i]) == 0);
    }
    for (uint32_t i = 0; i <= CALLERS; i++)
        pthread_join(callers[i].thread, NULL);
    gyre_queue_close(called);
    gyre_queue_close(streamed);
    __atomic_store_n(&shared->done, 1, __ATOMIC_RELEASE);
}

static uint64_t seed;

static uint64_t drawn(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed * UINT64_C(0x2545f4914f6cdd1d);
}

static void begin_campaign(uint32_t goal)
{
    const char *given = getenv("LASTING_SEED"), *numbers = getenv("LASTING_GOAL");
    begin_lives();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(shared != MAP_FAILED);
    shared->goal = numbers ? (uint32_t)strtoul(numbers, NULL, 10) : goal;
    seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
    printf("LASTING_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
}

static bool is_done(const party *client)
{
    int status;
    require(waitpid(client->process, &status, WNOHANG) == 0 ||
            __atomic_load_n(&shared->done, __ATOMIC_ACQUIRE));
    return __atomic_load_n(&shared->done, __ATOMIC_ACQUIRE) != 0;
}

/*
 * A server is killed, or ended, once enough went on since the one before: a busy machine takes seconds to start one.
 * `serves`: what the next one is, by turns.
 */
static void end_servers_until_done(party *server, const party *client, void (*const serves[2])(const party *))
{
    uint64_t before = 0;
    unsigned killed = 0, ended = 0;
    while (!is_done(client)) {
        pause_ms((long)(drawn() % 100) + 5);
        const uint64_t now = __atomic_load_n(&shared->progress, __ATOMIC_RELAXED);
        if (now - before <= shared->goal / 40 || is_done(client))
            continue;
        before = now;
        const bool kills = !orderly && drawn() % 4 != 0;
        if (kills)
            kill_server(server);
        else
            end_server(server);
        killed += kills;
        ended += !kills;
        pause_ms((long)(drawn() % 30));
        *server = start_server(serves[drawn() % 2]);
    }
    end_server(server);
    printf("servers: %u killed, %u ended\n", killed, ended);
    require(killed + ended > 0);
}

static void numbers_reach_a_journal_once_whatever_dies(void)
{
    begin_campaign(1200);
    party server = start_server(serve_tellers), client = party_start(be_a_client);
    require(party_hear(&client) == 'r');
    end_servers_until_done(&server, &client,
                           (void (*const[])(const party *)){serve_tellers, serve_and_drain});
    gyre_runtime *runtime = open_keeping(); /* the next life has it all */
    gyre_kernel *kernel = launch_teller(runtime, "teller");
    for (uint32_t i = 0; i <= CALLERS; i++)
        require_account(ask(gyre_kernel_queue(kernel), (teller_request){.client = i}), shared->goal);
    gyre_close(runtime);
}

/* Who cannot ask what the next server knows sends nothing again that was answered. */
static void servers_that_end_in_order_double_nothing(void)
{
    orderly = true;
    numbers_reach_a_journal_once_whatever_dies();
}

/* ---- queries, of which a journal knows that they were there ---- */

static void serve_till(const party *self)
{
    char journals[128];
    const char *settings[] = {journals, "kernel.till.checkpoints=true", "kernel.till.checkpoint_ms=20",
                              "queue.till.durability=journal", NULL};
    gyre_kernel *kernel = NULL;
    gyre_launch_desc desc = {.size = sizeof desc, .source = TILL_KERNEL, .kernel = "till"};
    snprintf(journals, sizeof journals, "gyre.journal_dir=%s", journal_folder());
    gyre_runtime *runtime = open_isolated(settings);
    must(gyre_launch(runtime, &desc, &kernel));
    serve_until_told(self, runtime);
}

/* A sum is told behind each amount; asking is no amount. */
static void put_and_ask(const party *self)
{
    gyre_queue *queue = attach_lasting("till", "customer", GYRE_TYPE(till_request), GYRE_TYPE(till_reply));
    uint64_t sum = 0;
    party_say(self, 'r');
    for (uint64_t number = 1; number <= shared->goal; number++) {
        const till_put put = {.amount = number};
        const till_ask question = {{0}};
        till_sum got = {0};
        sum = sum * 31 + number;
        must(gyre_call_as(queue, GYRE_TYPE(till_put), &put, GYRE_TYPE(till_sum), &got, NULL, lasting()));
        require(got.puts == number && got.sum == sum);
        for (int i = 0; i < 3; i++) {
            must(gyre_call_as(queue, GYRE_TYPE(till_ask), &question, GYRE_TYPE(till_sum), &got, NULL,
                              lasting()));
            require(got.puts == number && got.sum == sum);
        }
        note_progress();
    }
    gyre_queue_close(queue);
    __atomic_store_n(&shared->done, 1, __ATOMIC_RELEASE);
}

/* ---- a journal that is not the one that was served with ---- */

static void in_journal_folder(const char *command)
{
    char line[512];
    snprintf(line, sizeof line, "cd '%s' && %s", journal_folder(), command);
    require(system(line) == 0); /* NOLINT(cert-env33-c): the folder is this test's own */
}

static gyre_status tell_number(gyre_queue *queue, uint64_t number, teller_reply *reply)
{
    const teller_request request = {.client = 1, .number = number};
    return gyre_call(queue, &request, sizeof request, reply, sizeof *reply, NULL, lasting());
}

/* `change`: of the journals between two servers. NULL: the client goes on. */
static void expect_history(const char *change, const char *sentence)
{
    teller_reply reply = {0};
    begin_lives();
    party server = start_server(serve_tellers);
    gyre_queue *queue = attach_lasting_teller("till-1");
    for (uint64_t number = 1; number <= 60; number++) {
        if (number == 21) {
            kill_server(&server);
            in_journal_folder("mkdir older && cp *.journal older");
            server = start_server(serve_tellers);
        }
        must(tell_number(queue, number, &reply));
    }
    kill_server(&server);
    if (change)
        in_journal_folder(change);
    server = start_server(serve_tellers);
    require(tell_number(queue, 61, &reply) == (change ? GYRE_LOST : GYRE_OK));
    if (change) {
        require(strstr(gyre_error_text(), sentence) && strstr(gyre_error_text(), "client 'till-1'"));
        gyre_queue_close(queue);
        queue = attach_lasting_teller("till-1"); /* anew: as if it had been told nothing */
        must(tell_number(queue, 61, &reply));
    } else {
        require_account(reply, 61);
    }
    gyre_queue_close(queue);
    end_server(&server);
}

static void a_journal_without_what_was_answered_is_refused(void)
{
    expect_history(NULL, NULL);
    expect_history("rm -f *.journal",
                   "was answered 60 requests, and the journal of kernel 'teller' knows 0 of them");
    expect_history("cp older/*.journal .",
                   "was answered 60 requests, and the journal of kernel 'teller' knows 20 of them");
}

static void queries_are_asked_again_at_the_next_server(void)
{
    begin_campaign(800);
    party server = start_server(serve_till), client = party_start(put_and_ask);
    require(party_hear(&client) == 'r');
    end_servers_until_done(&server, &client, (void (*const[])(const party *)){serve_till, serve_till});
}

/* ---- without a journal: nothing is lost, replies are right and in order ---- */

static void *call_plainly(void *argument)
{
    const struct caller *self = argument;
    for (uint64_t number = 1; number <= shared->goal; number++) {
        require(call_until(self->queue, number, lasting()) == GYRE_OK);
        note_progress();
    }
    return NULL;
}

/*
 * False: the queue has no room. A sender with replies to receive may not wait for room: the callers beside it may have filled the
 * queue with replies that keep their places until this sender has received its own.
 */
static bool sent_plainly(gyre_queue *queue, uint64_t number, bool may_wait)
{
    const crash_request request = {.number = number};
    const gyre_status status =
        gyre_send(queue, &request, sizeof request, NULL, may_wait ? lasting() : GYRE_NO_WAIT);
    require(status == GYRE_OK || (status == GYRE_AGAIN && !may_wait));
    return status == GYRE_OK;
}

static void *stream_plainly(void *argument)
{
    const struct caller *self = argument;
    for (uint64_t number = 0; number < shared->goal; number += 100) {
        uint64_t sent = 0;
        for (uint64_t received = 0; received < 100; received++) {
            crash_reply reply = {0};
            while (sent < 100 && sent - received < WINDOW &&
                   sent_plainly(self->queue, number + sent, sent == received))
                sent++;
            must(gyre_receive(self->queue, &reply, sizeof reply, NULL, lasting()));
            require(reply.number == number + received && reply.check == mixed(number + received));
            note_progress();
        }
    }
    return NULL;
}

static void be_a_plain_client(const party *self)
{
    struct caller callers[CALLERS];
    gyre_queue *queue = attach_lasting_fragile();
    party_say(self, 'r');
    for (uint32_t i = 0; i < CALLERS; i++) { /* callers beside one who streams, all in one queue */
        callers[i] = (struct caller){.queue = queue, .number = i};
        require(pthread_create(&callers[i].thread, NULL, i ? call_plainly : stream_plainly, &callers[i]) ==
                0);
    }
    for (uint32_t i = 0; i < CALLERS; i++)
        pthread_join(callers[i].thread, NULL);
    gyre_queue_close(queue);
    __atomic_store_n(&shared->done, 1, __ATOMIC_RELEASE);
}

static void nothing_is_lost_with_a_plain_server(void)
{
    begin_campaign(20000);
    party server = start_server(serve_plain), client = party_start(be_a_plain_client);
    require(party_hear(&client) == 'r');
    end_servers_until_done(&server, &client, (void (*const[])(const party *)){serve_plain, serve_plain});
}

static const named_case cases[] = {
    {"a_lasting_queue_goes_on_at_the_next_server", a_lasting_queue_goes_on_at_the_next_server},
    {"a_lasting_queue_goes_on_at_a_later_version", a_lasting_queue_goes_on_at_a_later_version},
    {"calls_without_a_server_get_their_deadline", calls_without_a_server_get_their_deadline},
    {"the_first_server_is_waited_for", the_first_server_is_waited_for},
    {"a_server_that_will_never_do_ends_a_lasting_queue", a_server_that_will_never_do_ends_a_lasting_queue},
    {"a_lasting_queue_is_closed_without_its_server", a_lasting_queue_is_closed_without_its_server},
    {"numbers_reach_a_journal_once_whatever_dies", numbers_reach_a_journal_once_whatever_dies},
    {"servers_that_end_in_order_double_nothing", servers_that_end_in_order_double_nothing},
    {"a_journal_without_what_was_answered_is_refused", a_journal_without_what_was_answered_is_refused},
    {"queries_are_asked_again_at_the_next_server", queries_are_asked_again_at_the_next_server},
    {"nothing_is_lost_with_a_plain_server", nothing_is_lost_with_a_plain_server},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
