/* SPDX-License-Identifier: Apache-2.0 */
/* Aeron over shared memory (aeron:ipc), with its media driver in this program. Client and server look without a pause. */
#include "peer.h"

#include <aeron/aeronc.h>
#include <aeronmd/aeronmd.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REQUESTS = 1001, REPLIES = 1002 /* streams */, AT_ONCE = 64 /* messages of a look, at most */ };

static const char channel[] = "aeron:ipc";
static char folder[64];
static aeron_driver_context_t *driver_context;
static aeron_driver_t *driver;
static aeron_context_t *context;
static aeron_t *client;
static aeron_exclusive_publication_t *to_server, *to_client;
static aeron_subscription_t *at_server, *at_client;
static pthread_t server;
static struct peer_message taken[AT_ONCE]; /* replies that one look gave */
static size_t taken_count, given;
static int stop;

static void check(const char *what, int failed)
{
    if (failed)
        peer_fail(what, aeron_errmsg());
}

static void offer(aeron_exclusive_publication_t *publication, const struct peer_message *message)
{
    int64_t position;
    do
        position = aeron_exclusive_publication_offer(publication, (const uint8_t *)message, sizeof *message,
                                                     NULL, NULL);
    while (position == AERON_PUBLICATION_BACK_PRESSURED || position == AERON_PUBLICATION_ADMIN_ACTION);
    check("offer", position < 0);
}

static void answer(void *unused, const uint8_t *bytes, size_t size, aeron_header_t *header)
{
    struct peer_message message;
    (void)unused;
    (void)header;
    if (size != sizeof message)
        peer_fail("a request of another size", NULL);
    memcpy(&message, bytes, sizeof message);
    peer_handle(&message);
    offer(to_client, &message);
}

static void *serve(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        check("poll", aeron_subscription_poll(at_server, answer, NULL, AT_ONCE) < 0);
    return NULL;
}

static void open_driver(void)
{
    snprintf(folder, sizeof folder, "/dev/shm/gyre-peer-aeron-%d", (int)getpid());
    check("driver",
          aeron_driver_context_init(&driver_context) < 0 ||
              aeron_driver_context_set_dir(driver_context, folder) < 0 ||
              aeron_driver_context_set_dir_delete_on_start(driver_context, true) < 0 ||
              aeron_driver_context_set_dir_delete_on_shutdown(driver_context, true) < 0 ||
              aeron_driver_context_set_threading_mode(driver_context, AERON_THREADING_MODE_SHARED) < 0 ||
              aeron_driver_init(&driver, driver_context) < 0 || aeron_driver_start(driver, false) < 0);
    check("client", aeron_context_init(&context) < 0 || aeron_context_set_dir(context, folder) < 0 ||
                        aeron_init(&client, context) < 0 || aeron_start(client) < 0);
}

static void open_stream(int32_t stream, aeron_exclusive_publication_t **publication,
                        aeron_subscription_t **subscription)
{
    aeron_async_add_exclusive_publication_t *sending;
    aeron_async_add_subscription_t *receiving;
    check("stream",
          aeron_async_add_exclusive_publication(&sending, client, channel, stream) < 0 ||
              aeron_async_add_subscription(&receiving, client, channel, stream, NULL, NULL, NULL, NULL) < 0);
    while (!*publication) {
        check("publication", aeron_async_add_exclusive_publication_poll(publication, sending) < 0);
        sched_yield();
    }
    while (!*subscription) {
        check("subscription", aeron_async_add_subscription_poll(subscription, receiving) < 0);
        sched_yield();
    }
    while (!aeron_exclusive_publication_is_connected(*publication) ||
           !aeron_subscription_is_connected(*subscription))
        sched_yield();
}

static void open_server(void)
{
    open_driver();
    open_stream(REQUESTS, &to_server, &at_server);
    open_stream(REPLIES, &to_client, &at_client);
    if (pthread_create(&server, NULL, serve, NULL) != 0)
        peer_fail("pthread_create", NULL);
}

static void send_request(const struct peer_message *message)
{
    offer(to_server, message);
}

static void take(void *unused, const uint8_t *bytes, size_t size, aeron_header_t *header)
{
    (void)unused;
    (void)header;
    if (size != sizeof taken[0])
        peer_fail("a reply of another size", NULL);
    memcpy(&taken[taken_count++], bytes, size);
}

static void receive_reply(struct peer_message *message)
{
    while (given == taken_count) {
        given = taken_count = 0;
        check("poll", aeron_subscription_poll(at_client, take, NULL, AT_ONCE) < 0);
    }
    *message = taken[given++];
}

static void close_server(void)
{
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(server, NULL);
    aeron_close(client);
    aeron_context_close(context);
    aeron_driver_close(driver);
    aeron_driver_context_close(driver_context);
}

const struct peer peer = {.name = "Aeron, ipc, nobody sleeps",
                          .open = open_server,
                          .send = send_request,
                          .receive = receive_reply,
                          .close = close_server,
                          .window = PEER_WINDOW};
