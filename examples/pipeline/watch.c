/* SPDX-License-Identifier: Apache-2.0 */
/* Watches the prices of a market that another program serves, and tells of high ones: docs/pipelines.md explains it. */
#include <gyre/subscribe.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "market.h"

/* Returns how receiving ended. */
static gyre_status watch(gyre_subscription *prices, uint64_t limit)
{
    for (;;) {
        price now;
        gyre_publication about = {.size = sizeof about};
        const gyre_status status = gyre_subscription_receive(prices, &now, sizeof now, &about, GYRE_FOREVER);
        if (status != GYRE_OK)
            return status;
        if (about.missed)
            printf("missed %" PRIu64 " prices\n", about.missed);
        if (now.cents > limit)
            printf("item %" PRIu32 " costs %" PRIu64 " cents\n", now.item, now.cents);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    gyre_subscription *prices;
    const gyre_subscribe_desc desc = {.size = sizeof desc, .type = GYRE_TYPE(price), .slow = GYRE_SLOW_DROP};
    gyre_status status = gyre_subscribe_attached("market/prices", &desc, &prices);
    if (status == GYRE_OK)
        status = watch(prices, argc > 1 ? strtoull(argv[1], NULL, 10) : 0);
    if (status != GYRE_CLOSED) /* the market closed: nothing more comes */
        fprintf(stderr, "watch: %s: %s\n", gyre_status_word(status), gyre_error_text());
    gyre_unsubscribe(prices);
    return status == GYRE_CLOSED ? 0 : 1;
}
