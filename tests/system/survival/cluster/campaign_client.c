/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of campaign.py. It may be killed at any moment, so what it sent and what came back stands in a file that outlives it.
 *
 * usage: campaign_client load FILE NUMBER SEED ahead|settled [SETTING...]   until SIGTERM
 *        campaign_client check FILE NUMBER [SETTING...]                     reads each account of a load, and compares it with the file
 *
 * The amounts of an account follow from its number, so each of its states follows from how many of them took effect: the reply to the n-th request
 * of an account has to be the n-th state. A request that waited for long is told as `waited FROM TO`, in ns of the clock, once for all of its account that waited
 * beside it.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <gyre/cluster.h>

#include "counters.h"

enum { ACCOUNTS = 64, BATCH_MAX = 512, WINDOW = 4096, WAIT_MS = 120000, LAST_AMOUNT = 77777 };
#define LONG_NS UINT64_C(200000000)

/* Of each account, in the file: how many requests were perhaps sent, were acknowledged, and were answered. */
struct book {
    uint64_t sent, kept, answered;
};

struct expected {
    uint32_t account;
    bool is_answered;
    uint64_t nth; /* of its account, from 1 on */
    uint64_t trace, sent_ns;
};

struct load {
    gyre_cluster *cluster;
    struct book *books;
    uint64_t number, random, sent, received;
    uint64_t traces[ACCOUNTS];  /* when everything that was sent has taken effect */
    uint64_t told_ns[ACCOUNTS]; /* when the last wait ended that was told */
    struct expected expected[WINDOW];
    count_request requests[BATCH_MAX];
    bool goes_ahead;
};

static volatile sig_atomic_t ended;

static void end(int number)
{
    (void)number;
    ended = 1;
}

static void stop_with(const char *what)
{
    fprintf(stderr, "campaign_client: %s\n", what);
    exit(1);
}

static void must(gyre_status status, const char *what)
{
    if (status == GYRE_OK)
        return;
    fprintf(stderr, "campaign_client: %s: %s\n", what, gyre_error_text());
    exit(1);
}

static uint64_t draw(uint64_t *random)
{
    uint64_t value = *random += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t amount_of(uint64_t number, uint32_t account, uint64_t nth)
{
    uint64_t seed = number << 40 ^ (uint64_t)account << 32 ^ nth;
    return draw(&seed) >> 8; /* none of those that have a meaning */
}

static uint64_t account_of(uint64_t number, uint32_t account)
{
    return number * ACCOUNTS + account;
}

static struct book *map_books(const char *path)
{
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, ACCOUNTS * sizeof(struct book)) != 0)
        stop_with("cannot make its file");
    void *books = mmap(NULL, ACCOUNTS * sizeof(struct book), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (books == MAP_FAILED)
        stop_with("cannot map its file");
    close(file);
    return books;
}

/* ---- load ---- */

static count_request next_request(struct load *load)
{
    const uint32_t account = draw(&load->random) % ACCOUNTS;
    const uint64_t nth = ++load->books[account].sent;
    const uint64_t amount = amount_of(load->number, account, nth);
    load->traces[account] = COUNTED(load->traces[account], amount);
    load->expected[load->sent++ % WINDOW] = (struct expected){
        .account = account, .nth = nth, .trace = load->traces[account], .sent_ns = now_ns()};
    return (count_request){account_of(load->number, account), amount};
}

/* Blocks of one request and of hundreds. */
static size_t next_batch(struct load *load)
{
    static const size_t sizes[] = {1, 1, 3, 16, 64, 64, BATCH_MAX};
    return sizes[draw(&load->random) % (sizeof sizes / sizeof sizes[0])];
}

static void note_kept(struct load *load)
{
    for (uint32_t i = 0; i < ACCOUNTS; i++)
        load->books[i].kept = load->books[i].sent;
}

static void send_some(struct load *load)
{
    const size_t count = next_batch(load);
    const uint64_t first = load->sent;
    uint64_t index;
    size_t sent = 0;
    for (size_t i = 0; i < count; i++)
        load->requests[i] = next_request(load);
    must(gyre_cluster_send_batch(load->cluster, load->requests, sizeof load->requests[0], count, &index,
                                 &sent, gyre_in_ms(WAIT_MS)),
         "sending");
    if (sent != count || index != first)
        stop_with("requests have other numbers than those that were sent");
    if (!load->goes_ahead)
        note_kept(load);
    else if (draw(&load->random) % 16 == 0) {
        must(gyre_cluster_settle(load->cluster, gyre_in_ms(WAIT_MS)), "settling");
        note_kept(load);
    }
}

static void tell_wait(struct load *load, const struct expected *expected)
{
    uint64_t *told_ns = &load->told_ns[expected->account];
    const uint64_t now = now_ns();
    if (now - expected->sent_ns < LONG_NS || expected->sent_ns < *told_ns)
        return;
    *told_ns = now;
    printf("waited %" PRIu64 " %" PRIu64 "\n", expected->sent_ns, now);
    fflush(stdout);
}

static void compare(struct load *load, const gyre_completion *completion, const count_state *reply)
{
    struct expected *expected = &load->expected[completion->index % WINDOW];
    struct book *book = &load->books[expected->account];
    if (completion->index >= load->sent || load->sent - completion->index > WINDOW || expected->is_answered)
        stop_with("a reply came twice");
    if (completion->outcome != GYRE_REPLIED)
        stop_with("a request was not answered by its handler");
    if (expected->nth != book->answered + 1)
        stop_with("replies of an account came out of order");
    if (reply->count != expected->nth || reply->trace != expected->trace) {
        fprintf(stderr,
                "campaign_client: account %u, request %" PRIu64 ": expected trace %" PRIx64
                ", found count %" PRIu64 " and trace %" PRIx64 "\n",
                expected->account, expected->nth, expected->trace, reply->count, reply->trace);
        exit(1);
    }
    tell_wait(load, expected);
    expected->is_answered = true;
    book->answered = expected->nth;
    load->received++;
}

static void receive_one(struct load *load)
{
    gyre_completion completion;
    count_state reply;
    must(gyre_cluster_receive(load->cluster, &reply, sizeof reply, &completion, gyre_in_ms(WAIT_MS)),
         "receiving");
    compare(load, &completion, &reply);
}

/* The oldest request that is unanswered has its place in the window. */
static bool has_room(const struct load *load)
{
    for (uint64_t ahead = 0; ahead < BATCH_MAX; ahead++) {
        const uint64_t index = load->sent + ahead;
        if (index >= WINDOW && !load->expected[index % WINDOW].is_answered)
            return false;
    }
    return true;
}

static void run_load(struct load *load)
{
    uint64_t turns = 0;
    while (!ended) {
        while (!has_room(load))
            receive_one(load);
        send_some(load);
        if (++turns % 4 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    while (load->received < load->sent)
        receive_one(load);
    must(gyre_cluster_settle(load->cluster, gyre_in_ms(WAIT_MS)), "settling");
    printf("%" PRIu64 "\n", load->received);
}

/* ---- check ---- */

/* Which number of requests of an account leads to this trace; UINT64_MAX: none. */
static void check_account(gyre_cluster *cluster, const struct book *book, uint64_t number, uint32_t account)
{
    const count_request request = {account_of(number, account), LAST_AMOUNT};
    gyre_completion completion;
    count_state reply;
    uint64_t trace = 0;
    const uint64_t least = book->kept > book->answered ? book->kept : book->answered;
    must(gyre_cluster_call(cluster, &request, sizeof request, &reply, sizeof reply, &completion,
                           gyre_in_ms(WAIT_MS)),
         "reading an account");
    if (completion.outcome != GYRE_REPLIED)
        stop_with("an account is not answered by its handler");
    const uint64_t count = reply.count - 1;
    for (uint64_t nth = 1; nth <= count && count <= book->sent; nth++)
        trace = COUNTED(trace, amount_of(number, account, nth));
    if (count >= least && count <= book->sent && reply.trace == COUNTED(trace, (uint64_t)LAST_AMOUNT))
        return;
    fprintf(stderr,
            "campaign_client: account %u of client %" PRIu64 ": sent %" PRIu64 ", acknowledged %" PRIu64
            ", answered %" PRIu64 ", found %" PRIu64 " and trace %" PRIx64 "\n",
            account, number, book->sent, book->kept, book->answered, count, reply.trace);
    exit(1);
}

static gyre_cluster *open_cluster(const char *const *settings, bool goes_ahead)
{
    gyre_runtime *runtime;
    gyre_cluster *cluster;
    const gyre_open_desc open_desc = {.size = sizeof open_desc, .settings = settings};
    const gyre_cluster_desc desc = {.size = sizeof desc,
                                    .request = GYRE_TYPE(count_request),
                                    .reply = GYRE_TYPE(count_state),
                                    .deadline_ns = gyre_in_ms(WAIT_MS),
                                    .goes_ahead = goes_ahead};
    must(gyre_open(&open_desc, &runtime), "opening");
    gyre_status status;
    while ((status = gyre_cluster_open(runtime, &desc, &cluster)) == GYRE_UNAVAILABLE && !ended)
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    must(status, "opening the cluster");
    return cluster;
}

int main(int argc, char **argv)
{
    static struct load load;
    signal(SIGTERM, end);
    if (argc >= 6 && strcmp(argv[1], "load") == 0) {
        load.number = load.random = strtoull(argv[3], NULL, 10);
        load.random += strtoull(argv[4], NULL, 10) << 20;
        load.goes_ahead = strcmp(argv[5], "ahead") == 0;
        load.books = map_books(argv[2]);
        load.cluster = open_cluster((const char *const *)argv + 6, load.goes_ahead);
        run_load(&load);
        gyre_cluster_close(load.cluster);
        return 0;
    }
    if (argc < 4 || strcmp(argv[1], "check") != 0)
        stop_with(
            "usage: load FILE NUMBER SEED ahead|settled [SETTING...], or check FILE NUMBER [SETTING...]");
    load.books = map_books(argv[2]);
    load.cluster = open_cluster((const char *const *)argv + 4, false);
    for (uint32_t i = 0; i < ACCOUNTS; i++)
        check_account(load.cluster, &load.books[i], strtoull(argv[3], NULL, 10), i);
    gyre_cluster_close(load.cluster);
    return 0;
}
