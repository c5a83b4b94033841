/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells the service manager that started the command how it fares, by the protocol of sd_notify: datagrams of lines NAME=VALUE to
 * the socket that NOTIFY_SOCKET names. Without one every call does nothing. No call waits; one thread.
 */
#ifndef GYRE_CLI_BASE_NOTIFY_H
#define GYRE_CLI_BASE_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

typedef struct notify {
    int socket; /* -1: nobody listens */
    struct sockaddr_un to;
    socklen_t to_size;
    uint64_t
        watchdog_ns;  /* the manager ends a service that sends no WATCHDOG=1 for so long; 0: it does not */
    bool failed;      /* a datagram could not be sent, and a sentence on stderr said so */
    char status[256]; /* as the manager knows it */
} notify;

/**
 * Takes the socket and the watchdog's time out of the environment, so that no process that the command starts speaks for it. To be
 * called before there are other threads. What cannot be understood there is told on stderr, and ignored.
 */
void notify_begin(notify *manager);
void notify_end(notify *manager);
/** Whether anybody listens. */
static inline bool notify_is_heard(const notify *manager)
{
    return manager->socket >= 0;
}
/** Sends one state, for example "READY=1". */
void notify_state(notify *manager, const char *state);
/** Sends a sentence about the service, unless it is the one that was sent last. */
void notify_status(notify *manager, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
