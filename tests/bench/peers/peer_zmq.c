/* SPDX-License-Identifier: Apache-2.0 */
/* ZeroMQ between two threads (PAIR, inproc), or through a socket of its own thread (PEER_ADDRESS is ipc). */
#include "peer.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include <zmq.h>

static void *context, *client;
static pthread_t server;
static char address[64];

static void *open_socket(int (*attach)(void *, const char *))
{
    void *socket = zmq_socket(context, ZMQ_PAIR);
    if (!socket || attach(socket, address) != 0)
        peer_fail(address, zmq_strerror(zmq_errno()));
    return socket;
}

static void *serve(void *socket)
{
    struct peer_message message;
    while (zmq_recv(socket, &message, sizeof message, 0) == sizeof message) { /* one byte ends it */
        peer_handle(&message);
        if (zmq_send(socket, &message, sizeof message, 0) != sizeof message)
            break;
    }
    zmq_close(socket);
    return NULL;
}

static void open_server(void)
{
    snprintf(address, sizeof address, PEER_ADDRESS, (int)getpid());
    context = zmq_ctx_new();
    void *bound = open_socket(zmq_bind);
    client = open_socket(zmq_connect);
    if (pthread_create(&server, NULL, serve, bound) != 0)
        peer_fail("pthread_create", NULL);
}

static void send_request(const struct peer_message *message)
{
    if (zmq_send(client, message, sizeof *message, 0) != sizeof *message)
        peer_fail("zmq_send", zmq_strerror(zmq_errno()));
}

static void receive_reply(struct peer_message *message)
{
    if (zmq_recv(client, message, sizeof *message, 0) != sizeof *message)
        peer_fail("zmq_recv", zmq_strerror(zmq_errno()));
}

static void close_server(void)
{
    zmq_send(client, "", 1, 0);
    pthread_join(server, NULL);
    zmq_close(client);
    zmq_ctx_term(context);
}

const struct peer peer = {.name = PEER_NAME,
                          .open = open_server,
                          .send = send_request,
                          .receive = receive_reply,
                          .close = close_server,
                          .window = PEER_WINDOW / 2};
