/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client with a name that puts and asks (GYRE_QUERY), and a server with a journal that dies: of what was put every
 * completion comes, and those of queries come in their turn, with a reply or "unhandled". `test_attach_queries CASE`.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/system/survival/durable/till.h"
#include "tellers.h"

enum { LIVES = 10, LIVES_MOST = 200 /* until one left something */, MOST = 1 << 15 };

static till_sum behind[MOST]; /* what the till has behind request `index` of the only client */

static bool is_query(uint64_t index)
{
    return mixed(index) % 3 != 0;
}

static void make_model(void)
{
    till_sum now = {0};
    for (uint64_t i = 0; i < MOST; i++) {
        if (!is_query(i)) {
            now.sum = now.sum * 31 + i;
            now.puts++;
        }
        behind[i] = now;
    }
}

static void serve_till(void)
{
    char journals[128];
    const char *const settings[] = {journals,
                                    "kernel.till.checkpoints=true",
                                    "kernel.till.checkpoint_ms=5",
                                    "queue.till.durability=journal",
                                    "gyre.client_return_ms=20000",
                                    NULL};
    const gyre_launch_desc desc = {.size = sizeof desc, .source = TILL_KERNEL};
    gyre_kernel *kernel = NULL;
    snprintf(journals, sizeof journals, "gyre.journal_dir=%s", journal_folder());
    gyre_runtime *runtime = open_isolated(settings);
    must(gyre_launch(runtime, &desc, &kernel));
    serve_at_place(runtime);
    for (;;)
        pause();
}

static pid_t start_server(void)
{
    const pid_t parent = getpid(), server = fork();
    require(server >= 0);
    if (server > 0)
        return server;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent)
        serve_till();
    _exit(1);
}

static gyre_queue *attach_asker(void)
{
    const gyre_attach_desc desc = {.size = sizeof desc,
                                   .path = meeting_place(),
                                   .capacity = 64,
                                   .client = "asker",
                                   .deadline_ns = soon()};
    gyre_queue *queue = NULL;
    gyre_status status = GYRE_UNAVAILABLE;
    for (const uint64_t limit = soon(); status == GYRE_UNAVAILABLE || status == GYRE_LOST; usleep(2000)) {
        require(gyre_now_ns() < limit);
        status = gyre_attach("till", &desc, &queue);
    }
    must(status);
    return queue;
}

static gyre_status send_one(gyre_queue *queue, uint64_t index)
{
    const till_put put = {index, 0};
    const till_ask ask = {{0}};
    uint64_t given = 0;
    const gyre_status status =
        is_query(index) ? gyre_send_as(queue, GYRE_TYPE(till_ask), &ask, sizeof ask, &given, soon())
                        : gyre_send_as(queue, GYRE_TYPE(till_put), &put, sizeof put, &given, soon());
    require(status != GYRE_OK || given == index);
    return status;
}

static gyre_status receive_one(gyre_queue *queue, uint64_t index, bool of_earlier_life)
{
    till_reply reply;
    gyre_completion completion;
    const gyre_status status = gyre_receive(queue, &reply, sizeof reply, &completion, soon());
    if (status != GYRE_OK)
        return status;
    require(completion.index == index);
    if (of_earlier_life && is_query(index) && completion.outcome == GYRE_WAS_UNHANDLED)
        return GYRE_OK;
    require(completion.outcome == GYRE_REPLIED);
    const till_sum *sum =
        is_query(index) ? &reply.gyre_one.gyre_of_till_ask : &reply.gyre_one.gyre_of_till_put;
    require(sum->sum == behind[index].sum && sum->puts == behind[index].puts);
    return GYRE_OK;
}

/* Until the server dies, which it does at about `rounds`; returns how far the client came. */
static void stream(gyre_queue *queue, pid_t server, uint64_t next, uint64_t rounds)
{
    uint64_t received = next;
    gyre_status status = GYRE_OK;
    for (uint64_t round = 0; status == GYRE_OK && next < MOST; round++) {
        if (round == rounds)
            kill(server, SIGKILL);
        for (int i = 0; i < 20 && status == GYRE_OK && next - received < 40; i++) {
            status = send_one(queue, next);
            next += status == GYRE_OK;
        }
        while (status == GYRE_OK && next - received > 20) {
            status = receive_one(queue, received, false);
            received += status == GYRE_OK;
        }
    }
    require(status == GYRE_LOST || status == GYRE_CLOSED);
}

static void a_named_client_asks_across_the_deaths_of_its_server(void)
{
    uint64_t offered = 0, next = 0;
    begin_lives();
    meeting_place(); /* it is this program's, and not each server's */
    make_model();
    for (uint64_t life = 0; life < LIVES || (offered == 0 && life < LIVES_MOST); life++) {
        int status = 0;
        gyre_recovered left = {.size = sizeof left};
        const pid_t server = start_server();
        gyre_queue *queue = attach_asker();
        must(gyre_queue_recovered(queue, &left));
        for (next = left.first; next < left.first + left.offered; next++)
            must(receive_one(queue, next, true));
        offered += left.offered;
        stream(queue, server, next, 10 + 7 * (life % LIVES));
        gyre_queue_close(queue);
        require(waitpid(server, &status, 0) == server && WIFSIGNALED(status));
    }
    require(offered > 0 && next > 0);
}

static const named_case cases[] = {
    {"a_named_client_asks_across_the_deaths_of_its_server",
     a_named_client_asks_across_the_deaths_of_its_server},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
