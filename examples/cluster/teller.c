/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client that keeps a cluster of accounts (examples/command/accounts.gyre.c) busy for some seconds, and compares each reply with its own
 * books: a deposit that is lost or takes effect twice changes the number of deposits in every later reply of its account.
 *
 * usage: gyre_teller SECONDS [SETTING...], as in gyre_teller 10 cluster.app=accounts
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <gyre/cluster.h>
#include <gyre/message.h>

#define DEPOSIT(FIELD) FIELD(u64, account) FIELD(i64, cents)
GYRE_MESSAGE(deposit, DEPOSIT)
#define BALANCE(FIELD) FIELD(i64, cents) FIELD(u64, deposits)
GYRE_MESSAGE(balance, BALANCE)

enum { ACCOUNTS = 1000, BATCH = 64, WINDOW = 1024, WAIT_MS = 60000 };

struct teller {
    gyre_cluster *cluster;
    balance books[ACCOUNTS];  /* as they are when everything that was sent has taken effect */
    balance expected[WINDOW]; /* the reply to each of the last requests, by its index */
    bool is_answered[WINDOW];
    uint64_t sent, received, oldest, /* the first one that is unanswered */
        lost, doubled, wrong;
    uint64_t last_ns, pause_ns; /* the last reply; the longest time without one while some were unanswered */
    uint64_t begin_ns;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool failed(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, gyre_error_text());
    return false;
}

static deposit next_deposit(struct teller *teller, uint64_t number)
{
    const uint64_t account = number * UINT64_C(2654435761) % ACCOUNTS;
    const deposit request = {account, (int64_t)(number % 100)};
    balance *book = &teller->books[account];
    book->cents += request.cents;
    book->deposits++;
    teller->expected[number % WINDOW] = *book;
    teller->is_answered[number % WINDOW] = false;
    return request;
}

/* What a TIMEOUT left unsent goes with the next call; the requests before it are sent. */
static bool send_batch(struct teller *teller)
{
    deposit requests[BATCH];
    size_t done = 0;
    uint64_t index;
    for (uint64_t i = 0; i < BATCH; i++)
        requests[i] = next_deposit(teller, teller->sent + i);
    while (done < BATCH) {
        size_t sent = 0;
        const gyre_status status =
            gyre_cluster_send_batch(teller->cluster, requests + done, sizeof requests[0], BATCH - done,
                                    &index, &sent, gyre_in_ms(WAIT_MS));
        done += sent;
        if (status != GYRE_OK)
            return failed("sending");
    }
    if (teller->sent == teller->received)
        teller->last_ns = now_ns();
    teller->sent += BATCH;
    return true;
}

static void note_pause(struct teller *teller, uint64_t at_ns)
{
    const uint64_t pause_ns = at_ns - teller->last_ns;
    teller->last_ns = at_ns;
    if (pause_ns > teller->pause_ns)
        teller->pause_ns = pause_ns;
    if (pause_ns > 500000000)
        printf("%5.1f s: replies come again, after %.1f s\n", (double)(at_ns - teller->begin_ns) / 1e9,
               (double)pause_ns / 1e9);
    fflush(stdout);
}

static void compare(struct teller *teller, const gyre_completion *completion, const balance *reply)
{
    const uint64_t place = completion->index % WINDOW;
    const balance *expected = &teller->expected[place];
    const bool is_known = completion->index >= teller->oldest && completion->index < teller->sent;
    if (!is_known || teller->is_answered[place]) {
        teller->doubled++;
        return;
    }
    teller->received++;
    teller->is_answered[place] = true;
    while (teller->oldest < teller->sent && teller->is_answered[teller->oldest % WINDOW])
        teller->oldest++;
    if (completion->outcome != GYRE_REPLIED) {
        teller->wrong++;
        return;
    }
    teller->doubled += reply->deposits > expected->deposits;
    teller->lost += reply->deposits < expected->deposits;
    teller->wrong += reply->deposits == expected->deposits && reply->cents != expected->cents;
}

static bool receive(struct teller *teller)
{
    gyre_completion completion;
    balance reply;
    const gyre_status status =
        gyre_cluster_receive(teller->cluster, &reply, sizeof reply, &completion, gyre_in_ms(WAIT_MS));
    if (status != GYRE_OK)
        return failed("receiving");
    note_pause(teller, now_ns());
    compare(teller, &completion, &reply);
    return true;
}

/* The last requests of the time, too, are waited for; what is not answered then is lost. */
static bool work(struct teller *teller, uint64_t end_ns)
{
    bool goes_on = true;
    while (goes_on && now_ns() < end_ns) {
        goes_on = send_batch(teller);
        while (goes_on && teller->sent - teller->oldest > WINDOW - BATCH)
            goes_on = receive(teller);
    }
    while (goes_on && teller->received < teller->sent)
        goes_on = receive(teller);
    teller->lost += teller->sent - teller->received;
    return goes_on;
}

static void print(const struct teller *teller)
{
    const double seconds = (double)(now_ns() - teller->begin_ns) / 1e9;
    printf("\nrequests       %10" PRIu64 "\nreplies        %10" PRIu64 "\n", teller->sent, teller->received);
    printf("lost           %10" PRIu64 "\ndoubled        %10" PRIu64 "\nwrong          %10" PRIu64 "\n",
           teller->lost, teller->doubled, teller->wrong);
    printf("a second       %10.0f\nlongest pause  %10.1f s\n", (double)teller->received / seconds,
           (double)teller->pause_ns / 1e9);
}

int main(int argc, char **argv)
{
    static struct teller teller;
    gyre_runtime *runtime = NULL;
    const double seconds = argc > 1 ? strtod(argv[1], NULL) : 0;
    if (seconds <= 0 || seconds > 86400) {
        fprintf(stderr, "usage: gyre_teller SECONDS [SETTING...]\n");
        return 2;
    }
    const gyre_open_desc open = {.size = sizeof open, .settings = (const char *const *)argv + 2};
    const gyre_cluster_desc desc = {.size = sizeof desc,
                                    .request = GYRE_TYPE(deposit),
                                    .reply = GYRE_TYPE(balance),
                                    .deadline_ns = gyre_in_ms(WAIT_MS)};
    bool right = gyre_open(&open, &runtime) == GYRE_OK || failed("opening");
    if (right)
        right =
            gyre_cluster_open(runtime, &desc, &teller.cluster) == GYRE_OK || failed("opening the cluster");
    teller.begin_ns = now_ns();
    if (right) {
        right = work(&teller, teller.begin_ns + (uint64_t)(seconds * 1e9));
        print(&teller);
    }
    gyre_cluster_close(teller.cluster);
    gyre_close(runtime);
    return right && !teller.lost && !teller.doubled && !teller.wrong ? 0 : 1;
}
