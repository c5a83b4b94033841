/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small server of HTTP for `gyre web`: one thread, one request for each connection, a fixed number of connections. Nothing that a
 * client does makes it wait or grow: each connection has a buffer of a fixed size and a deadline for each of its steps, what is sent to
 * several clients is one text, which they share, and all texts together have a bound.
 */
#ifndef GYRE_CLI_WEB_SERVER_H
#define GYRE_CLI_WEB_SERVER_H

#include <signal.h>
#include <stdint.h>

#include "cli/web/request.h"

enum {
    WEB_CONNECTIONS = 64,
    WEB_FOLLOWERS = 32, /* connections among them that get events */
    WEB_LISTENERS = 2,
    WEB_TEXT_BYTES = 80 << 20 /* of all texts at a time: a trace of 64 MiB, and what else is on its way */
};

/** Bytes that belong to all who hold them. */
typedef struct web_text web_text;
/** Takes over `bytes`, which came from malloc; NULL without memory, and `bytes` are freed. */
web_text *web_text_own(char *bytes, size_t size);
/** Borrows bytes that stay as long as the program. NULL without memory. */
web_text *web_text_borrow(const void *bytes, size_t size);
web_text *web_text_hold(web_text *text);
/** Frees the text with its last holder. Accepts NULL. */
void web_text_release(web_text *text);
/** Whether somebody else holds it too: it is on its way to a client. */
bool web_text_is_shared(const web_text *text);
size_t web_text_size(const web_text *text);
/** The bytes of all texts that are owned. */
size_t web_text_bytes(void);

/** An answer to a request. */
typedef struct web_answer {
    web_status status;
    const char *type; /* of the body, as MIME names it */
    web_text *body;   /* is released by the server. NULL: there is no memory for it */
    bool follows;     /* the connection stays, and gets what web_server_publish has */
    bool waits;       /* there is no answer yet: the connection waits for web_server_answer */
} web_answer;

typedef struct web_server web_server;

typedef struct web_server_desc {
    int listeners[WEB_LISTENERS]; /* sockets that listen and do not block; the server closes them */
    bool local[WEB_LISTENERS];    /* a socket of a path, whose clients may name any host */
    size_t listener_count;
    const char *const
        *hosts; /* names besides localhost and addresses that a request may be for; NULL ends the list */
    /**
     * The bytes of all texts that are owned, those of one more aside. Where clients are too slow to take theirs, those that took nothing for
     * the longest time, a second at least, are closed. If there is none, an answer of more than 4 KiB is refused, and an event left out.
     */
    size_t text_bytes;
    uint64_t tick_ns; /* how often `tick` is called */
    void (*answer)(void *context, const web_request *request, web_answer *out);
    void (*tick)(void *context,
                 web_server *server); /* publishes what is new; only called while somebody follows */
    /** Works on what `waiting` connections wait for. Called every 10 ms while there are such, and as long as it returns true. */
    bool (*step)(void *context, web_server *server, size_t waiting);
    void *context;
} web_server_desc;

/** Opens a server. NULL without memory: the listeners are closed. */
web_server *web_server_open(const web_server_desc *desc);
/** Serves until *ended is not 0. `waiting` is the mask of signals while it waits for clients. */
void web_server_run(web_server *server, const volatile sig_atomic_t *ended, const sigset_t *waiting);
/** Sends `text` to everyone who follows, in place of an earlier one that is not on its way yet; to nobody where texts have no room. */
void web_server_publish(web_server *server, web_text *text);
/** Sends an answer, whose body the server releases, to all who wait for one. */
void web_server_answer(web_server *server, const web_answer *answer);
void web_server_close(web_server *server);

#endif
