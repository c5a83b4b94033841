/* SPDX-License-Identifier: Apache-2.0 */
/* An account for each client: every number once and in order, or it is counted as wrong. CPU, check = off. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <gyre/kernel.h>
#include "teller.h"

/* Whether this is the first time for this request, in whatever worker. */
static int is_first(const teller_request *request)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%u.%llu", getenv("CRASH_FOLDER"), request->client,
             (unsigned long long)request->number);
    int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0)
        close(file);
    return file >= 0;
}

GYRE_HELPER u64 mixed(u64 number)
{
    number = (number ^ number >> 31) * 0x9e3779b97f4a7c15u;
    return number ^ number >> 29;
}

GYRE_ACTOR(teller, teller_request, teller_reply, teller_state)
{
    teller_reply *account = &state->accounts[request->client % TELLER_CLIENTS];
    if (request->number) {
        account->wrong += request->number != account->number + 1;
        account->number = request->number;
        if (request->fault && is_first(request))
            abort(); /* half of a change is behind it */
        account->hash = mixed(account->hash + request->number);
    }
    *reply = *account;
    return GYRE_REPLY;
}

/* The same without a state: the reply is a function of the request. */
GYRE_KERNEL(clerk, teller_request, teller_reply)
{
    if (request->fault && is_first(request))
        abort();
    reply->number = request->number;
    reply->hash = mixed(request->number);
    reply->wrong = 0;
    return GYRE_REPLY;
}
