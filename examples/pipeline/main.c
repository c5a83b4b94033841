/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline of three kernels, used from a program: docs/pipelines.md explains it. */
#include <gyre/pipeline.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "orders.h"

/* Every call that can fail says why. */
static void must(gyre_status status)
{
    if (status == GYRE_OK)
        return;
    fprintf(stderr, "orders: %s: %s\n", gyre_status_word(status), gyre_error_text());
    exit(1);
}

static void buy(gyre_queue *queue, order what)
{
    receipt got;
    gyre_completion done;
    must(gyre_call(queue, &what, sizeof what, &got, sizeof got, &done, gyre_in_ms(10000)));
    if (done.outcome == GYRE_HANDLER_FAILED)
        printf("item %" PRIu32 ": %s\n", what.item, done.failure_text);
    else
        printf("item %" PRIu32 ": receipt %" PRIu64 ", %" PRIu64 " cents\n", what.item, got.number,
               got.cents);
}

int main(int argc, char **argv)
{
    gyre_runtime *runtime;
    gyre_pipeline *orders;
    const gyre_open_desc open = {.size = sizeof open, .config_path = argc > 1 ? argv[1] : "gyre.ini"};
    const gyre_pipeline_desc desc = {.size = sizeof desc, .name = "orders"};
    must(gyre_open(&open, &runtime));
    must(gyre_pipeline_open(runtime, &desc, &orders));
    gyre_queue *queue = gyre_pipeline_queue(orders);
    buy(queue, (order){.item = 2, .count = 3});
    buy(queue, (order){.item = 9, .count = 1});
    buy(queue, (order){.item = 0, .count = 200});
    must(gyre_pipeline_close(orders, gyre_in_ms(10000)));
    gyre_close(runtime);
    return 0;
}
