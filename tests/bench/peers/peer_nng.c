/* SPDX-License-Identifier: Apache-2.0 */
/* NNG, the successor of nanomsg, between two threads (pair0, inproc). */
#include "peer.h"

#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>
#include <pthread.h>

enum { WINDOW = 256 };

static nng_socket client, other;
static pthread_t server;

static void must(int code, const char *what)
{
    if (code != 0)
        peer_fail(what, nng_strerror(code));
}

static void *serve(void *unused)
{
    struct peer_message message;
    size_t size = sizeof message;
    (void)unused;
    while (nng_recv(other, &message, &size, 0) == 0 && size == sizeof message) { /* one byte ends it */
        peer_handle(&message);
        if (nng_send(other, &message, sizeof message, 0) != 0)
            break;
    }
    return NULL;
}

static void open_socket(nng_socket *socket)
{
    must(nng_pair0_open(socket), "nng_pair0_open");
    must(nng_socket_set_int(*socket, NNG_OPT_SENDBUF, WINDOW), "NNG_OPT_SENDBUF");
    must(nng_socket_set_int(*socket, NNG_OPT_RECVBUF, WINDOW), "NNG_OPT_RECVBUF");
}

static void open_server(void)
{
    open_socket(&other);
    open_socket(&client);
    must(nng_listen(other, "inproc://peer", NULL, 0), "nng_listen");
    must(nng_dial(client, "inproc://peer", NULL, 0), "nng_dial");
    if (pthread_create(&server, NULL, serve, NULL) != 0)
        peer_fail("pthread_create", NULL);
}

static void send_request(const struct peer_message *message)
{
    must(nng_send(client, (void *)(uintptr_t)message, sizeof *message, 0), "nng_send");
}

static void receive_reply(struct peer_message *message)
{
    size_t size = sizeof *message;
    must(nng_recv(client, message, &size, 0), "nng_recv");
}

static void close_server(void)
{
    nng_send(client, "", 1, 0);
    pthread_join(server, NULL);
    nng_close(client);
    nng_close(other);
}

const struct peer peer = {.name = "NNG, inproc",
                          .open = open_server,
                          .send = send_request,
                          .receive = receive_reply,
                          .close = close_server,
                          .window = WINDOW};
