/* SPDX-License-Identifier: Apache-2.0 */
/* See campaign_load.h. Each queue has the accounts whose number leaves its own as the rest, so that an account's messages have an order. */
#include "campaign_load.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gyre/attach.h>
#include <gyre/keyed.h>

#include "ledger.h"
#include "quote.h"
#include "tests/system/survival/crash/workers.h"

enum { NUMBERS = 1 << 21, WINDOW = 16, BREATH = 64, MISTAKEN = 2, VERSIONS = 3 };

struct sender {
    struct load *load;
    pthread_t thread;
    gyre_queue *queue;
    uint64_t number, sent, received; /* the last one is read by other threads */
};

struct load {
    enum load_kind kind;
    const char *name;
    bool is_durable;
    bool stop;                              /* atomic */
    struct sender senders[LOAD_QUEUES + 1]; /* the last one is that of load_expect_version */
    unsigned char *seen;   /* of a ledger: the version that answered the message of this number; 0: none */
    uint64_t *sums, *adds; /* and its reply and request */
    quote_given states[LOAD_ACCOUNTS]; /* of a keyed actor: as answered */
};

/* ---- messages ---- */

static uint64_t add_of(const struct sender *self, uint64_t index)
{
    return 1 + (self->number * 7919 + index * 31) % 1000;
}

static quote_asked asked_by(const struct sender *self, uint64_t index)
{
    const uint64_t own = LOAD_ACCOUNTS / (LOAD_QUEUES + 1);
    return (quote_asked){.account = index % own * (LOAD_QUEUES + 1) + self->number, .price = index % 1000};
}

static uint64_t total_of(uint64_t price)
{
    static const uint64_t rates[] = {19, 7, 0, 19};
    return price + price * rates[price % 4] / 100;
}

static void note_receipt(struct load *load, const receipt *reply, uint64_t add)
{
    require(reply->version >= 1 && reply->version <= VERSIONS && reply->add == add * reply->version);
    require(reply->count > 0 && reply->count < NUMBERS);
    require(__atomic_exchange_n(&load->seen[reply->count], (unsigned char)reply->version, __ATOMIC_RELAXED) ==
            0);
    load->sums[reply->count] = reply->sum;
    load->adds[reply->count] = add;
}

static void note_quote(struct load *load, const quote_given *reply, const quote_asked *request)
{
    quote_given *state = &load->states[request->account];
    require(reply->version >= 1 && reply->version <= VERSIONS);
    if (load->kind == LOAD_QUOTE) {
        require(reply->total == total_of(request->price) && reply->count == 0);
        return;
    }
    require(reply->total == state->total + request->price && reply->count == state->count + 1);
    *state = *reply;
}

/*
 * A kernel may be paused while it is changed, and what it is changed to is compiled meanwhile: a large file for a GPU takes half a minute of
 * a processor that others use as well.
 */
static uint64_t when_changed(void)
{
    return gyre_in_ms(patiently(180000));
}

static void send_next(struct sender *self)
{
    const entry add = {add_of(self, self->sent)};
    const quote_asked quote = asked_by(self, self->sent);
    const bool is_ledger = self->load->kind == LOAD_LEDGER;
    must(gyre_send(self->queue, is_ledger ? (const void *)&add : &quote,
                   is_ledger ? sizeof add : sizeof quote, NULL, when_changed()));
    self->sent++;
}

/* Returns the version that answered; 0: the mistake failed it, and nothing was left of it. */
static uint64_t take_next(struct sender *self)
{
    union {
        receipt ledger;
        quote_given quote;
    } reply = {0};
    gyre_completion completion = {0};
    const uint64_t index = self->received;
    const quote_asked request = asked_by(self, index);
    const gyre_status status = gyre_receive(self->queue, &reply, sizeof reply, &completion, when_changed());
    if (status != GYRE_OK)
        fprintf(stderr, "queue %llu of %s: %llu sent, %llu received\n", (unsigned long long)self->number,
                self->load->name, (unsigned long long)self->sent, (unsigned long long)index);
    require(status == GYRE_OK);
    __atomic_store_n(&self->received, index + 1, __ATOMIC_RELAXED);
    if (completion.outcome == GYRE_HANDLER_FAILED) {
        require(self->load->kind != LOAD_LEDGER && request.price % 7 == 3);
        return 0;
    }
    require(completion.outcome == GYRE_REPLIED);
    if (self->load->kind == LOAD_LEDGER)
        note_receipt(self->load, &reply.ledger, add_of(self, index));
    else
        note_quote(self->load, &reply.quote, &request);
    return self->load->kind == LOAD_LEDGER ? reply.ledger.version : reply.quote.version;
}

/* How many may be unanswered. Behind the program's own requests in the one queue of a kernel with a journal those of clients keep their
 * places: a sender that sent a second request before it received the reply to the first one could wait for itself. */
static uint64_t window_of(const struct sender *self)
{
    return self->load->is_durable && self->number == 0 ? 1 : 1 + self->sent % WINDOW;
}

/* After many messages it sends slowly: a ledger's numbers are bounded, and what others are sent fills their journals. */
static useconds_t rest_of(const struct sender *self)
{
    if (self->sent < NUMBERS / 16)
        return 1000;
    return self->load->kind == LOAD_LEDGER ? 100000 : 10000;
}

/* Sends in bursts of up to WINDOW, and rests now and then, so that the thread that changes the kernels has a processor too. */
static void *send_on(void *argument)
{
    struct sender *self = argument;
    while (!__atomic_load_n(&self->load->stop, __ATOMIC_RELAXED)) {
        send_next(self);
        if (self->sent - self->received >= window_of(self))
            take_next(self);
        if (self->sent % BREATH == 0)
            usleep(rest_of(self));
    }
    while (self->received < self->sent)
        take_next(self);
    return NULL;
}

/* ---- from the beginning to the end ---- */

/* A kernel with a journal has one queue, into which what its clients send is relayed. */
static void open_queue(struct sender *self, gyre_kernel *kernel, const struct load_desc *how)
{
    const gyre_queue_desc desc = {.size = sizeof desc, .capacity = 2 * WINDOW};
    const gyre_attach_desc attach = {.size = sizeof attach, .path = how->socket_path, .deadline_ns = soon()};
    if (self->number == 0)
        self->queue = gyre_kernel_queue(kernel);
    else if (self->number == 1 && !how->is_durable)
        must(gyre_queue_open(kernel, &desc, &self->queue));
    else
        must(gyre_attach(how->name, &attach, &self->queue));
}

struct load *load_begin(gyre_kernel *kernel, const struct load_desc *how)
{
    struct load *load = calloc(1, sizeof *load);
    require(load != NULL);
    load->kind = how->kind;
    load->name = how->name;
    load->is_durable = how->is_durable;
    load->seen = calloc(NUMBERS, 1);
    load->sums = calloc(NUMBERS, sizeof *load->sums);
    load->adds = calloc(NUMBERS, sizeof *load->adds);
    require(load->seen && load->sums && load->adds);
    for (uint64_t i = 0; i <= LOAD_QUEUES; i++) {
        struct sender *sender = &load->senders[i];
        *sender = (struct sender){.load = load, .number = i};
        open_queue(sender, kernel, how);
        if (i < LOAD_QUEUES)
            require(pthread_create(&sender->thread, NULL, send_on, sender) == 0);
    }
    return load;
}

void load_expect_version(struct load *load, uint64_t version)
{
    struct sender *self = &load->senders[LOAD_QUEUES];
    send_next(self);
    const uint64_t found = take_next(self);
    if (found != version && !(found == 0 && version == MISTAKEN))
        fprintf(stderr, "expected an answer of version %llu, found %llu\n", (unsigned long long)version,
                (unsigned long long)found);
    require(found == version || (found == 0 && version == MISTAKEN));
}

uint64_t load_answered(const struct load *load)
{
    uint64_t answered = 0;
    for (unsigned i = 0; i <= LOAD_QUEUES; i++)
        answered += __atomic_load_n(&load->senders[i].received, __ATOMIC_RELAXED);
    return answered;
}

/* Every number once, and each sum that of all before it. */
static void check_numbers(struct load *load, uint64_t count)
{
    uint64_t sum = 0;
    for (uint64_t i = 1; i <= count; i++) {
        sum += load->adds[i];
        require(load->seen[i] != 0 && load->sums[i] == sum);
    }
    require(load->seen[count + 1] == 0);
}

uint64_t load_end(struct load *load)
{
    uint64_t sent = 0;
    __atomic_store_n(&load->stop, true, __ATOMIC_RELAXED);
    for (unsigned i = 0; i <= LOAD_QUEUES; i++) {
        if (i < LOAD_QUEUES)
            require(pthread_join(load->senders[i].thread, NULL) == 0);
        sent += load->senders[i].sent;
    }
    if (load->kind == LOAD_LEDGER)
        check_numbers(load, sent);
    for (unsigned i = 2; i <= LOAD_QUEUES; i++) /* clients leave before their server */
        gyre_queue_close(load->senders[i].queue);
    if (load->is_durable)
        gyre_queue_close(load->senders[1].queue);
    return sent;
}

static uint64_t count_of(const struct load *load)
{
    uint64_t count = 0;
    for (unsigned i = 0; i <= LOAD_QUEUES; i++)
        count += load->senders[i].sent;
    return count;
}

static bool ledger_is(gyre_kernel *kernel, uint64_t count, uint64_t sum)
{
    uint64_t state[2] = {0};
    must(gyre_kernel_state_read(kernel, state, sizeof state));
    return state[0] == count && state[1] == sum;
}

static bool account_is(gyre_kernel *kernel, uint64_t account, const quote_given *expected)
{
    quote_given state = {0};
    const gyre_status status = gyre_kernel_key_read(kernel, &account, sizeof account, &state, sizeof state);
    require(status == GYRE_OK || status == GYRE_NOT_FOUND);
    return memcmp(&state, expected, sizeof state) == 0;
}

/* A journal is replayed behind the launch: what is not there yet may come. */
void load_check_kept(const struct load *load, gyre_kernel *kernel)
{
    const uint64_t limit = soon(), count = count_of(load);
    if (load->kind == LOAD_LEDGER)
        while (!ledger_is(kernel, count, load->sums[count]))
            require(gyre_now_ns() < limit);
    for (uint64_t i = 0; load->kind == LOAD_KEYED && i < LOAD_ACCOUNTS; i++)
        while (!account_is(kernel, i, &load->states[i]))
            require(gyre_now_ns() < limit);
}

void load_check_undisturbed(const struct load *load, gyre_kernel *kernel, gyre_kernel *undisturbed)
{
    const uint64_t count = count_of(load);
    uint64_t states[2][2] = {{0}};
    for (uint64_t sent = 0, received = 0; received < count;) {
        for (; sent < count && sent - received < WINDOW; sent++) {
            const entry request = {load->adds[sent + 1]};
            must(gyre_send(gyre_kernel_queue(undisturbed), &request, sizeof request, NULL, soon()));
        }
        receipt reply;
        gyre_completion completion;
        must(gyre_receive(gyre_kernel_queue(undisturbed), &reply, sizeof reply, &completion, soon()));
        require(completion.outcome == GYRE_REPLIED && reply.count == ++received &&
                reply.sum == load->sums[received]);
    }
    must(gyre_kernel_state_read(kernel, states[0], sizeof states[0]));
    must(gyre_kernel_state_read(undisturbed, states[1], sizeof states[1]));
    require(memcmp(states[0], states[1], sizeof states[0]) == 0);
}

void load_free(struct load *load)
{
    free(load->seen);
    free(load->sums);
    free(load->adds);
    free(load);
}
