/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device that dies in the program itself: who asks its queues without waiting is told so, as who waits is.
 *
 *     driver_lost
 *
 * Exit code 0 when every way of receiving says LOST.
 */
#include <stdio.h>
#include <stdlib.h>

#include <gyre/gyre.h>
#include <gyre/shards.h>

#include "driver.h"
#include "../../../patience.h"

enum { PATIENCE_MS = 30000 };

static void expect(gyre_status expected, gyre_status found, const char *what)
{
    if (found == expected)
        return;
    printf("%s: expected %s, found %s: %s\n", what, gyre_status_word(expected), gyre_status_word(found),
           gyre_error_text());
    exit(1);
}

int main(void)
{
    const gyre_open_desc open = {.size = sizeof open, .backend = "cuda"};
    const gyre_launch_desc launch = {.size = sizeof launch, .source = LOST_KERNEL};
    const gyre_shards_desc rings = {.size = sizeof rings, .name = "rings", .rings = 2};
    const word nowhere = {8};
    gyre_runtime *runtime;
    gyre_kernel *kernel;
    gyre_shards *shards;
    gyre_view view;
    word reply;
    size_t found;
    expect(GYRE_OK, gyre_open(&open, &runtime), "open");
    expect(GYRE_OK, gyre_launch(runtime, &launch, &kernel), "launch");
    expect(GYRE_OK, gyre_shards_open(kernel, &rings, &shards), "shards");
    gyre_queue *queue = gyre_kernel_queue(kernel);
    expect(GYRE_AGAIN, gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT), "receive before");
    expect(GYRE_AGAIN, gyre_shards_receive(shards, &reply, sizeof reply, NULL, NULL, GYRE_NO_WAIT),
           "shards before");
    expect(GYRE_OK, gyre_send(queue, &nowhere, sizeof nowhere, NULL, GYRE_NO_WAIT), "send");
    expect(GYRE_LOST, gyre_receive(queue, &reply, sizeof reply, NULL, gyre_in_ms(patiently(PATIENCE_MS))),
           "receive and wait");
    expect(GYRE_LOST, gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT), "receive");
    expect(GYRE_LOST, gyre_peek(queue, &view, 1, &found, GYRE_NO_WAIT), "peek");
    expect(GYRE_LOST, gyre_shards_receive(shards, &reply, sizeof reply, NULL, NULL, GYRE_NO_WAIT), "shards");
    gyre_close(runtime);
    return 0;
}
