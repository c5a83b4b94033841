/* SPDX-License-Identifier: Apache-2.0 */
/* bank, sieve: kernels/asks.gyre.c and streams.gyre.c. */
#include "runs.h"

/* Whether each transfer was of two halves, and took as much from one account as it gave to another one. */
static bool accounts_agree(gyre_kernel *account, uint32_t accounts, uint64_t transfers)
{
    uint64_t uses = 0, cents = 0;
    for (uint32_t i = 0; i < accounts; i++) {
        total state;
        if (gyre_kernel_key_read(account, &i, sizeof i, &state, sizeof state) != GYRE_OK)
            continue;
        uses += state.count;
        cents += state.sum;
    }
    return uses == 2 * transfers && cents == 0;
}

void run_bank(struct run *run)
{
    enum { ACCOUNTS = 1000, AT_ONCE = 100 };
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    wiring_stage(wiring, "asks.gyre.c", "teller", "teller", -1);
    wiring_answers(wiring);
    gyre_kernel *account = wiring_stage(wiring, "asks.gyre.c", "account", "account", -1);
    wiring_link(wiring, "teller.accounts", "account");
    wiring_open(wiring, AT_ONCE + 2);
    const total told = run_measure(run, (task){.left = run->size, .size = ACCOUNTS}, NULL);
    run_found(run, told.count, run->size);
    run->right = run->right && accounts_agree(account, ACCOUNTS, run->size);
    wiring_end(wiring);
}

/* Primes below `end`, by trial. */
static uint64_t count_primes(uint64_t end)
{
    uint64_t count = end > 2;
    for (uint64_t number = 3; number < end; number += 2) {
        uint64_t divisor = 3;
        while (divisor * divisor <= number && number % divisor)
            divisor += 2;
        count += divisor * divisor > number;
    }
    return count;
}

void run_sieve(struct run *run)
{
    enum { FILTERS = 10 };
    struct wiring *wiring = &run->wiring;
    wiring_begin(wiring, run->backend, NULL);
    wiring_stage(wiring, "streams.gyre.c", "sieve_source", "source", -1);
    for (int i = 0; i < FILTERS; i++)
        wiring_stage(wiring, "streams.gyre.c", "filter", "filter", i);
    wiring_stage(wiring, "streams.gyre.c", "sieve_end", "end", -1);
    wiring_answers(wiring);
    wiring_link(wiring, "source.batch", "filter0");
    for (int i = 0; i < FILTERS; i++)
        wiring_link_between(wiring, "filter", i, "next", i + 1 < FILTERS ? "filter" : "end",
                            i + 1 < FILTERS ? i + 1 : -1);
    wiring_open(wiring, 0);
    const total told = run_feed(run, (task){.left = run->size}, (run->size - 2) / 2 + 1);
    run_found(run, told.count, count_primes(run->size));
    wiring_end(wiring);
}
