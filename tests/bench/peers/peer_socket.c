/* SPDX-License-Identifier: Apache-2.0 */
/* A pair of Unix sockets that keeps messages apart (SOCK_SEQPACKET). */
#include "peer.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WINDOW = 128 /* what the sockets' buffers hold by their usual size */ };

static int ends[2]; /* the client's, the server's */
static pthread_t server;

static void *serve(void *unused)
{
    struct peer_message message;
    (void)unused;
    while (recv(ends[1], &message, sizeof message, 0) == sizeof message) {
        peer_handle(&message);
        if (send(ends[1], &message, sizeof message, MSG_NOSIGNAL) != sizeof message)
            break;
    }
    return NULL;
}

static void open_server(void)
{
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        peer_fail("socketpair", NULL);
    if (pthread_create(&server, NULL, serve, NULL) != 0)
        peer_fail("pthread_create", NULL);
}

static void send_request(const struct peer_message *message)
{
    if (send(ends[0], message, sizeof *message, MSG_NOSIGNAL) != sizeof *message)
        peer_fail("send", NULL);
}

static void receive_reply(struct peer_message *message)
{
    if (recv(ends[0], message, sizeof *message, 0) != sizeof *message)
        peer_fail("recv", NULL);
}

static void close_server(void)
{
    shutdown(ends[0], SHUT_RDWR);
    pthread_join(server, NULL);
    close(ends[0]);
    close(ends[1]);
}

const struct peer peer = {.name = "Unix sockets",
                          .open = open_server,
                          .send = send_request,
                          .receive = receive_reply,
                          .close = close_server,
                          .window = WINDOW};
