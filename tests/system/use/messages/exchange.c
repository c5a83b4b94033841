/* SPDX-License-Identifier: Apache-2.0 */
/* See exchange.h. No state of its own. */
#include "exchange.h"
#include "../../../patience.h"
#include "core/types/message.h"

#include <gyre/ring_layout.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool exchange_tell(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, gyre_error_text());
    return false;
}

/* Changes a few bytes behind the first word, most of them where the parts are said to be. */
static void corrupt(struct exchange *run, unsigned char *request, uint64_t length)
{
    uint64_t fixed = run->layout->least;
    for (uint64_t i = random_next(&run->random) % 3 + 1; i > 0 && run->layout->tail; i--) {
        uint64_t roll = random_next(&run->random), range = roll % 4 ? fixed : length;
        if (range > 4)
            request[4 + (roll >> 8) % (range - 4)] = (unsigned char)(roll >> 40 & (roll & 64 ? 0xff : 0x0f));
    }
}

static void make_one(struct exchange *run, uint64_t number)
{
    unsigned char *request = run->requests + number % IN_FLIGHT * run->layout->size;
    uint64_t length = random_message(run->layout, &run->random, request);
    if (run->corrupt)
        corrupt(run, request, length);
    run->verdicts[number % IN_FLIGHT] = gyre_layout_check_message(run->layout, request, length);
}

/* AGAIN: there is no room for it yet; in a ring of bytes also while few are under way. */
static gyre_status send_one(struct exchange *run, uint64_t number)
{
    return gyre_send(run->queue, run->requests + number % IN_FLIGHT * run->layout->size, run->layout->size,
                     NULL, GYRE_NO_WAIT);
}

static int is_right(const struct exchange *run, uint64_t number, const gyre_completion *completion)
{
    const unsigned char *request = run->requests + number % IN_FLIGHT * run->layout->size;
    if (run->verdicts[number % IN_FLIGHT] != GYRE_OK)
        return completion->outcome == GYRE_HANDLER_FAILED &&
               (completion->failure_code == GYRE_FAILURE_PART ||
                (run->corrupt && completion->failure_code == GYRE_FAILURE_BUFFER)); /* names one by chance */
    if (run->corrupt) /* still well formed, but not as this program builds them */
        return completion->outcome == GYRE_REPLIED || completion->failure_code == GYRE_FAILURE_TAIL;
    return completion->outcome == GYRE_REPLIED &&
           completion->length == gyre_layout_length(run->layout, request) &&
           memcmp(run->reply, request, completion->length) == 0;
}

static gyre_status receive_one(struct exchange *run, uint64_t number)
{
    gyre_completion completion = {0};
    gyre_status status = gyre_receive(run->queue, run->reply, run->layout->size, &completion,
                                      gyre_in_ms(patiently(PATIENCE_MS)));
    if (status != GYRE_OK)
        return status;
    run->refused += run->verdicts[number % IN_FLIGHT] != GYRE_OK;
    if (!is_right(run, number, &completion) && run->wrong++ == 0)
        fprintf(stderr, "%s: message %llu: outcome %d, failure %d '%s', %u bytes%s\n", run->name,
                (unsigned long long)number, completion.outcome, completion.failure_code,
                completion.failure_text, completion.length,
                run->verdicts[number % IN_FLIGHT] == GYRE_OK ? "" : "; the host's check had refused it");
    return GYRE_OK;
}

/* False: it was told. */
static bool exchange_all(struct exchange *run)
{
    gyre_status status = GYRE_OK;
    run->wrong = run->refused = 0;
    for (uint64_t made = 0, sent = 0, received = 0; status == GYRE_OK && received < run->count;) {
        const bool room = sent < run->count && sent - received < IN_FLIGHT;
        if (room && made == sent)
            make_one(run, made++);
        if (room)
            status = send_one(run, sent);
        sent += room && status == GYRE_OK;
        if (!room || (status == GYRE_AGAIN && sent > received))
            status = receive_one(run, received++);
    }
    if (status != GYRE_OK)
        return exchange_tell(run->name);
    if (!run->quiet)
        printf("%-10s %8llu messages%s, %llu refused, %llu wrong\n", run->name,
               (unsigned long long)run->count, run->corrupt ? " with changed bytes" : "",
               (unsigned long long)run->refused, (unsigned long long)run->wrong);
    return run->wrong == 0;
}

bool exchange_run(struct exchange *run)
{
    run->corrupt = false;
    if (!exchange_all(run))
        return false;
    run->corrupt = true;
    return run->layout->tail == 0 || exchange_all(run);
}

bool exchange_begin(struct exchange *run, const char *name, const gyre_type *type, gyre_queue *queue)
{
    run->name = name;
    run->queue = queue;
    run->random = 88172645463325252u;
    if (gyre_layout_create_message(type, GYRE_MESSAGE_MAX, &run->layout) != GYRE_OK)
        return exchange_tell(name);
    run->requests = calloc(IN_FLIGHT, run->layout->size);
    run->reply = calloc(1, run->layout->size);
    return run->requests && run->reply;
}

void exchange_end(struct exchange *run)
{
    free(run->requests);
    free(run->reply);
    gyre_layout_destroy(run->layout);
}
