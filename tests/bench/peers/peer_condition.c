/* SPDX-License-Identifier: Apache-2.0 */
/* Two queues with a mutex and a condition each: what most programs have between two threads. */
#include "peer.h"

#include <pthread.h>
#include <stdbool.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct peer_message messages[PEER_WINDOW];
    uint64_t head, tail;
    bool ended;
};

static struct queue requests = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static struct queue replies = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static pthread_t server;

static void put(struct queue *queue, const struct peer_message *message)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->head - queue->tail == PEER_WINDOW)
        pthread_cond_wait(&queue->changed, &queue->lock);
    queue->messages[queue->head++ % PEER_WINDOW] = *message;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

static bool take(struct queue *queue, struct peer_message *message)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->head == queue->tail && !queue->ended)
        pthread_cond_wait(&queue->changed, &queue->lock);
    const bool there = queue->head != queue->tail;
    if (there)
        *message = queue->messages[queue->tail++ % PEER_WINDOW];
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    return there;
}

static void *serve(void *unused)
{
    struct peer_message message;
    (void)unused;
    while (take(&requests, &message)) {
        peer_handle(&message);
        put(&replies, &message);
    }
    return NULL;
}

static void open_server(void)
{
    if (pthread_create(&server, NULL, serve, NULL) != 0)
        peer_fail("pthread_create", NULL);
}

static void send_request(const struct peer_message *message)
{
    put(&requests, message);
}

static void receive_reply(struct peer_message *message)
{
    take(&replies, message);
}

static void close_server(void)
{
    pthread_mutex_lock(&requests.lock);
    requests.ended = true;
    pthread_cond_broadcast(&requests.changed);
    pthread_mutex_unlock(&requests.lock);
    pthread_join(server, NULL);
}

const struct peer peer = {.name = "queues with mutex and condition",
                          .open = open_server,
                          .send = send_request,
                          .receive = receive_reply,
                          .close = close_server,
                          .window = PEER_WINDOW};
