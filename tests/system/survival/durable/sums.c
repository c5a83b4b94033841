/* SPDX-License-Identifier: Apache-2.0 */
/* See sums.h. */
#include "sums.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sums next;

void begin_sums(void)
{
    begin_lives();
    memset(&next, 0, sizeof next);
}

void write_sum(const char *text)
{
    char path[160];
    snprintf(path, sizeof path, "%s/sum.gyre.c", journal_folder());
    FILE *file = fopen(path, "we");
    require(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

gyre_status launch_sum(gyre_runtime **runtime, gyre_kernel **kernel)
{
    char path[160], setting[64] = "log_level=info";
    const char *often = next.end == IS_KILLED ? "kernel.sum.checkpoint_ms=0" : NULL;
    snprintf(path, sizeof path, "%s/sum.gyre.c", journal_folder());
    if (next.on_change)
        snprintf(setting, sizeof setting, "kernel.sum.on_change=%s", next.on_change);
    *runtime = open_durable(next.isolated, (const char *const[]){setting, often, NULL});
    gyre_launch_desc desc = {.size = sizeof desc, .source = path, .backend = next.backend};
    return gyre_launch(*runtime, &desc, kernel);
}

void add_and_expect(gyre_queue *queue, uint64_t add, uint64_t sum)
{
    const add_request request = {add};
    sum_reply reply = {0};
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.sum == sum);
}
