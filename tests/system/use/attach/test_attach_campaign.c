/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients of a kernel with checkpoints and a journal, while its workers, its clients and its servers are
 * killed at random: every number reaches the state once and in order, and every reply is right. The seed is
 * printed, and ATTACH_SEED repeats what is drawn; ATTACH_GOAL numbers for each client.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tellers.h"
#include "../../../patience.h"

enum { WINDOW = 24, CLIENTS = 3 };

/* Serves until it is killed, or told to end. */
static void serve(const party *self)
{
    gyre_runtime *runtime = open_keeping();
    launch_teller(runtime, "teller");
    gyre_server *server = serve_at_place(runtime);
    party_say(self, 'r');
    party_wait(self);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* What a client knows, also of its lives before. */
static struct diary {
    uint64_t settled; /* its numbers up to here are durable, and their replies were right */
    uint64_t sent, offered, repeated, lives, losses;
    uint32_t goal, done; /* atomic */
} * diaries;

struct teller_client {
    uint32_t number;
    struct diary *diary;
    gyre_queue *queue;
    uint64_t next;                      /* number that is sent next */
    uint64_t base;                      /* request `index` carries number base + index */
    uint64_t sent, received, confirmed; /* indices */
};

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* Until a server is there, and has noticed that an earlier client of this name is gone. */
static void come_in(struct teller_client *self)
{
    char name[16];
    uint64_t limit = gyre_in_ms(patiently(60000));
    snprintf(name, sizeof name, "client-%u", self->number);
    while (try_attach("teller", name, &self->queue) != GYRE_OK) {
        require(gyre_now_ns() < limit);
        pause_ms(2);
    }
}

/* Completions of what was sent before: how far the account is known to be. LOST: again. */
static gyre_status take_offered(const struct teller_client *self, uint64_t *last)
{
    gyre_recovered left = {.size = sizeof left};
    must(gyre_queue_recovered(self->queue, &left));
    self->diary->offered += left.offered;
    for (uint64_t i = 0; i < left.offered; i++) {
        teller_reply reply = {0};
        gyre_completion completion = {0};
        gyre_status status = gyre_receive(self->queue, &reply, sizeof reply, &completion, soon());
        if (status != GYRE_OK)
            return status;
        require(completion.index == left.first + i);
        if (completion.outcome != GYRE_REPLIED)
            continue; /* the life before had its completion */
        require_account(reply, reply.number);
        *last = reply.number > *last ? reply.number : *last;
    }
    return GYRE_OK;
}

/* A client that survived knows by itself where to go on; one that died asks. */
static gyre_status go_on(struct teller_client *self, bool anew)
{
    uint64_t last = self->diary->settled;
    gyre_status status = take_offered(self, &last);
    gyre_recovered left = {.size = sizeof left};
    must(gyre_queue_recovered(self->queue, &left));
    self->sent = self->received = self->confirmed = left.first + left.offered;
    if (status == GYRE_OK && anew) {
        teller_request request = {.client = self->number};
        teller_reply reply = {0};
        status = gyre_call(self->queue, &request, sizeof request, &reply, sizeof reply, NULL, soon());
        require(status != GYRE_OK || (reply.wrong == 0 && reply.number >= last));
        last = status == GYRE_OK ? reply.number : last;
        self->sent = self->confirmed = ++self->received;
    }
    if (status == GYRE_OK && self->sent > left.first) { /* what came before it is, then, too */
        status = gyre_await(self->queue, self->sent - 1, GYRE_DURABLE, soon());
        self->diary->settled = status == GYRE_OK ? last : self->diary->settled;
    }
    self->diary->repeated += self->diary->sent > last ? self->diary->sent - last : 0;
    self->next = last + 1;
    self->base = self->next - self->sent;
    return status;
}

/* Numbers whose requests are durable, of those whose replies were received. */
static void confirm(struct teller_client *self)
{
    while (self->confirmed < self->received &&
           gyre_await(self->queue, self->confirmed, GYRE_DURABLE, GYRE_NO_WAIT) == GYRE_OK)
        self->diary->settled = self->base + self->confirmed++;
}

static gyre_status receive_one(struct teller_client *self, uint64_t deadline)
{
    teller_reply reply = {0};
    gyre_completion completion = {0};
    gyre_status status = gyre_receive(self->queue, &reply, sizeof reply, &completion, deadline);
    if (status != GYRE_OK)
        return status;
    if (completion.outcome != GYRE_REPLIED)
        return GYRE_CLOSED;
    require(completion.index == self->received);
    require_account(reply, self->base + completion.index);
    self->received++;
    return GYRE_OK;
}

/* Sends in a window until the server is lost or the goal reached. */
static gyre_status stream(struct teller_client *self)
{
    const uint64_t goal = self->diary->goal;
    gyre_status status = GYRE_OK;
    while (status == GYRE_OK && (self->next <= goal || self->received < self->sent)) {
        if (self->next <= goal && self->sent - self->received < WINDOW) {
            teller_request request = {
                .client = self->number, .number = self->next, .fault = self->next % 1500 == 700};
            status = gyre_send(self->queue, &request, sizeof request, NULL, soon());
            if (status == GYRE_OK) {
                self->diary->sent = self->next > self->diary->sent ? self->next : self->diary->sent;
                self->next++;
                self->sent++;
            }
        } else {
            status = receive_one(self, soon());
            confirm(self);
        }
    }
    return status;
}

/* What the server gave before it died counts; what it said of the journal as well. */
static void drain(struct teller_client *self)
{
    while (self->received < self->sent && receive_one(self, GYRE_NO_WAIT) == GYRE_OK)
        ;
    confirm(self);
    gyre_queue_close(self->queue);
    self->diary->losses++;
}

static void be_a_client(const party *party_self)
{
    char which = party_wait(party_self);
    struct teller_client self = {.number = (uint32_t)(which - '0'), .diary = &diaries[which - '0']};
    bool anew = true;
    gyre_status status = GYRE_LOST;
    self.diary->lives++;
    while (status != GYRE_OK) {
        come_in(&self);
        status = go_on(&self, anew);
        if (status == GYRE_OK)
            anew = false;
        if (status == GYRE_OK)
            status = stream(&self);
        if (status == GYRE_OK)
            status = self.sent ? gyre_await(self.queue, self.sent - 1, GYRE_DURABLE, soon()) : GYRE_OK;
        if (status != GYRE_OK) {
            drain(&self);
        } else {
            confirm(&self);
            gyre_queue_close(self.queue);
        }
    }
    require(self.diary->settled == self.diary->goal);
    __atomic_store_n(&self.diary->done, 1, __ATOMIC_RELEASE);
}

static party start_client(char which)
{
    party client = party_start(be_a_client);
    party_tell(&client, which);
    return client;
}

static uint64_t seed;

static uint64_t drawn(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed * UINT64_C(0x2545f4914f6cdd1d);
}

static void kill_party(const party *who)
{
    kill(who->process, SIGKILL);
    require(party_end(who) == 128 + SIGKILL);
    close(who->said);
    close(who->told);
}

static bool all_done(void)
{
    for (int i = 0; i < CLIENTS; i++)
        if (!__atomic_load_n(&diaries[i].done, __ATOMIC_ACQUIRE))
            return false;
    return true;
}

static party start_server(void)
{
    party server = party_start(serve);
    require(party_hear(&server) == 'r');
    return server;
}

/* A client that ended just before its server leaves the next one waiting for it; that is let come to an end. */
static bool got_on(void)
{
    static uint64_t before;
    uint64_t now = 0;
    for (int i = 0; i < CLIENTS; i++)
        now += __atomic_load_n(&diaries[i].settled, __ATOMIC_RELAXED);
    bool moved = now != before;
    before = now;
    return moved;
}

/*
 * Whether another death is due. Some come while the last one is still being mended; but where that takes longer than the time
 * between two deaths, as on a slow machine, nobody would ever get on, so after a few the campaign waits for somebody who does.
 */
static bool death_is_due(bool moved)
{
    enum { WITHOUT_PROGRESS = 6 };
    static unsigned deaths;
    deaths = moved ? 0 : deaths + 1;
    return deaths < WITHOUT_PROGRESS;
}

/* Kills a worker, a client or the server, whatever is drawn. */
static void kill_somebody(party *server, party clients[CLIENTS], unsigned kills[3])
{
    uint64_t what = drawn() % 8;
    unsigned which = (unsigned)(drawn() % CLIENTS);
    const bool moved = got_on();
    if (!death_is_due(moved))
        return;
    if (what < 3) {
        pid_t worker = worker_of(server->process);
        kills[0] += worker && kill(worker, SIGKILL) == 0;
    } else if (what < 5 && !__atomic_load_n(&diaries[which].done, __ATOMIC_ACQUIRE)) {
        kill_party(&clients[which]);
        clients[which] = start_client((char)('0' + which));
        kills[1]++;
    } else if (moved) {
        kill_party(server);
        *server = start_server();
        kills[2]++;
    }
}

static void workers_clients_and_servers_die(void)
{
    const char *given = getenv("ATTACH_SEED"), *goal = getenv("ATTACH_GOAL");
    unsigned kills[3] = {0};
    party clients[CLIENTS];
    begin_lives();
    diaries =
        mmap(NULL, sizeof *diaries * CLIENTS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    require(diaries != MAP_FAILED);
    seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
    printf("ATTACH_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    party server = start_server();
    for (int i = 0; i < CLIENTS; i++) {
        diaries[i].goal = goal ? (uint32_t)strtoul(goal, NULL, 10) : 30000;
        clients[i] = start_client((char)('0' + i));
    }
    while (!all_done()) {
        pause_ms((long)(drawn() % 120) + 5);
        if (!all_done())
            kill_somebody(&server, clients, kills);
    }
    for (int i = 0; i < CLIENTS; i++)
        require(party_end(&clients[i]) == 0);
    party_tell(&server, 'e');
    require(party_end(&server) == 0);
    printf("killed: %u workers, %u clients, %u servers\n", kills[0], kills[1], kills[2]);
    for (int i = 0; i < CLIENTS; i++)
        printf(
            "client %d: %llu lives, %llu servers lost, %llu completions offered, %llu requests sent again\n",
            i, (unsigned long long)diaries[i].lives, (unsigned long long)diaries[i].losses,
            (unsigned long long)diaries[i].offered, (unsigned long long)diaries[i].repeated);
    require(kills[0] + kills[1] + kills[2] > 0);

    gyre_runtime *runtime = open_keeping(); /* the next life has it all */
    gyre_kernel *kernel = launch_teller(runtime, "teller");
    for (uint32_t i = 0; i < CLIENTS; i++)
        require_account(ask(gyre_kernel_queue(kernel), (teller_request){.client = i}), diaries[i].goal);
    gyre_close(runtime);
}

static const named_case cases[] = {
    {"workers_clients_and_servers_die", workers_clients_and_servers_die},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
