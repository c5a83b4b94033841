/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A till: several clerks (threads) pay into accounts of the ledger, all through one queue. Whatever becomes of the server
 * meanwhile, each deposit is booked once, and each clerk goes on where it was.
 *
 *     ledger_client NAME CLERKS DEPOSITS [SOCKET]      ledger_client till-1 4 1000
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <gyre/attach.h>
#include "ledger.h"

enum { CLERKS_MAX = LEDGER_ACCOUNTS, PATIENCE_MS = 600000 };

struct clerk {
    pthread_t thread;
    gyre_queue *queue;
    uint32_t account, deposits;
    ledger_balance balance;
    gyre_status status;
};

/* One cent more with each deposit. */
static void *pay_in(void *argument)
{
    struct clerk *clerk = argument;
    for (uint32_t i = 1; i <= clerk->deposits && clerk->status == GYRE_OK; i++) {
        const ledger_deposit deposit = {.account = clerk->account, .cents = i};
        clerk->status = gyre_call(clerk->queue, &deposit, sizeof deposit, &clerk->balance,
                                  sizeof clerk->balance, NULL, gyre_in_ms(PATIENCE_MS));
    }
    if (clerk->status != GYRE_OK) /* the sentence is this thread's */
        fprintf(stderr, "account %u: %s\n", clerk->account, gyre_error_text());
    return NULL;
}

static int run(gyre_queue *queue, uint32_t count, uint32_t deposits)
{
    struct clerk clerks[CLERKS_MAX] = {{0}};
    int code = EXIT_SUCCESS;
    for (uint32_t i = 0; i < count; i++) {
        clerks[i] = (struct clerk){.queue = queue, .account = i, .deposits = deposits};
        if (pthread_create(&clerks[i].thread, NULL, pay_in, &clerks[i]) != 0)
            return EXIT_FAILURE;
    }
    for (uint32_t i = 0; i < count; i++) {
        pthread_join(clerks[i].thread, NULL);
        printf("account %u: %llu deposits, %lld cents\n", i, (unsigned long long)clerks[i].balance.deposits,
               (long long)clerks[i].balance.cents);
        if (clerks[i].status != GYRE_OK)
            code = EXIT_FAILURE;
    }
    return code;
}

int main(int argc, char **argv)
{
    gyre_queue *queue = NULL;
    if (argc < 4) {
        fputs("usage: ledger_client NAME CLERKS DEPOSITS [SOCKET]\n", stderr);
        return EXIT_FAILURE;
    }
    const gyre_attach_desc desc = {.size = sizeof desc,
                                   .path = argc > 4 ? argv[4] : NULL,
                                   .client = argv[1],
                                   .request = GYRE_TYPE(ledger_deposit),
                                   .reply = GYRE_TYPE(ledger_balance),
                                   .deadline_ns = gyre_in_ms(PATIENCE_MS),
                                   .reconnect = true};
    const unsigned long clerks = strtoul(argv[2], NULL, 10), deposits = strtoul(argv[3], NULL, 10);
    if (clerks == 0 || clerks > CLERKS_MAX) {
        fprintf(stderr, "expected 1 to %d clerks, found %s\n", CLERKS_MAX, argv[2]);
        return EXIT_FAILURE;
    }
    if (gyre_attach("ledger", &desc, &queue) != GYRE_OK) {
        fprintf(stderr, "%s\n", gyre_error_text());
        return EXIT_FAILURE;
    }
    const int code = run(queue, (uint32_t)clerks, (uint32_t)deposits);
    gyre_queue_close(queue);
    return code;
}
