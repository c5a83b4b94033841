/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the kernels of crash.gyre.c one by one, and their replies, which have to be right. */
#ifndef GYRE_TESTS_CRASH_REQUESTS_H
#define GYRE_TESTS_CRASH_REQUESTS_H

#include "workers.h"

static inline void send_one(gyre_queue *queue, uint32_t fault, uint32_t always, uint64_t number)
{
    crash_request request = {.fault = fault, .always = always, .number = number};
    must(gyre_send(queue, &request, sizeof request, NULL, soon()));
}

static inline gyre_completion receive_one(gyre_queue *queue, uint64_t index, uint64_t number)
{
    crash_reply reply = {0};
    gyre_completion completion;
    must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    require(completion.index == index);
    if (completion.outcome == GYRE_REPLIED)
        require(reply.number == number && reply.check == mixed(number));
    return completion;
}

static inline void receive_reply(gyre_queue *queue, uint64_t index, uint64_t number)
{
    require(receive_one(queue, index, number).outcome == GYRE_REPLIED);
}

static inline void call_number(gyre_queue *queue, uint64_t number)
{
    crash_request request = {.number = number};
    crash_reply reply = {0};
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(reply.number == number && reply.check == mixed(number));
}

static inline gyre_kernel_info info_of(gyre_kernel *kernel)
{
    gyre_kernel_info info = {.size = sizeof info};
    must(gyre_kernel_info_get(kernel, &info));
    return info;
}

#endif
