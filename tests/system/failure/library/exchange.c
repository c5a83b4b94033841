/* SPDX-License-Identifier: Apache-2.0 */
/* See exchange.h. */
#include "exchange.h"
#include "../../../patience.h"

#include <stdio.h>
#include <stdlib.h>

enum { MESSAGES = 40 };

_Noreturn void wrong(const char *what, uint64_t expected, uint64_t found)
{
    printf("wrong %s: expected %llu, found %llu: %s\n", what, (unsigned long long)expected,
           (unsigned long long)found, gyre_error_text());
    fflush(stdout);
    _Exit(1);
}

static void receive(gyre_queue *queue, uint64_t index, uint64_t number, failed_reply *state)
{
    failed_reply reply = {0}, expected = {1, number * 31};
    gyre_completion completion = {0};
    if (gyre_receive(queue, &reply, sizeof reply, &completion, gyre_in_ms(patiently(PATIENCE_MS))) != GYRE_OK)
        wrong("message that was accepted and nothing came of", index, index);
    if (completion.index != index || completion.outcome != GYRE_REPLIED)
        wrong("completion", index, completion.index);
    if (state)
        expected = *state = (failed_reply){state->count + 1, state->check * 31 + number};
    if (reply.count != expected.count || reply.check != expected.check)
        wrong("reply", expected.count, reply.count);
}

gyre_status exchange(gyre_queue *queue, failed_reply *state, void (*meanwhile)(void))
{
    gyre_status status = GYRE_OK;
    failed_reply reply;
    uint64_t first = 0, sent = 0;
    for (uint64_t i = 0; i < MESSAGES && status == GYRE_OK; i++) {
        const failed_request request = {i};
        uint64_t index;
        if (i == MESSAGES / 2 && meanwhile)
            meanwhile();
        status = gyre_send(queue, &request, sizeof request, &index, gyre_in_ms(patiently(PATIENCE_MS)));
        first = sent || status != GYRE_OK ? first : index;
        sent += status == GYRE_OK;
    }
    for (uint64_t i = 0; i < sent; i++)
        receive(queue, first + i, i, state);
    if (gyre_receive(queue, &reply, sizeof reply, NULL, GYRE_NO_WAIT) == GYRE_OK)
        wrong("completion of nothing", 0, reply.count);
    return status;
}

bool take_steps(const struct step *steps, size_t count)
{
    gyre_status status = GYRE_OK;
    for (size_t i = 0; i < count && status == GYRE_OK; i++) {
        status = steps[i].run();
        if (status == GYRE_OK)
            continue;
        printf("step %s: %s: %s\n", steps[i].name, gyre_status_word(status), gyre_error_text());
        status = steps[i].run();
        printf("again %s: %s: %s\n", steps[i].name, gyre_status_word(status),
               status == GYRE_OK ? "" : gyre_error_text());
    }
    return status == GYRE_OK;
}
