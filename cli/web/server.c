/* SPDX-License-Identifier: Apache-2.0 */
/* The server of `gyre web` (server.h). */
#include "cli/web/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gyre/waiting.h"

#define SECOND_NS UINT64_C(1000000000)
#define READ_NS   (10 * SECOND_NS) /* for a whole request */
#define STUCK_NS  (10 * SECOND_NS) /* a client that takes nothing for so long is cut off */
#define WRITE_NS  (60 * SECOND_NS) /* for a whole answer */
#define LINGER_NS SECOND_NS        /* for what a client still sends when it has its answer */
#define YOUNG_NS  (SECOND_NS / 10) /* a connection of this age is not closed to make room */
#define SLOW_NS   SECOND_NS        /* one that took nothing for so long may be */
#define ROUND_NS  (SECOND_NS / 20) /* how often deadlines are looked at while there are connections */
#define STEP_NS   (SECOND_NS / 100)
#define REST_NS   (SECOND_NS / 20) /* after a client that could not be taken */
enum { HEAD_MAX = 640, SMALL_TEXT = 4096 /* is always sent: whether processes are well, say */ };

struct web_text {
    size_t holders, size;
    char *owned; /* NULL: borrowed */
    const char *bytes;
};

typedef enum web_stage {
    WEB_FREE,
    WEB_READING,
    WEB_WAITING,   /* for an answer; a client that ends its side is gone, as one that follows */
    WEB_WRITING,   /* the head, then a text; then it lingers, or follows */
    WEB_FOLLOWING, /* it waits for the next text */
    WEB_LINGERING  /* it has its answer, and the client's end is awaited, so that the answer is not lost */
} web_stage;

typedef struct web_connection {
    web_stage stage;
    int socket;
    bool local, follows;
    uint64_t begun_ns;    /* when it came, or the text on its way began */
    uint64_t progress_ns; /* when the client last took or sent something */
    char input[WEB_REQUEST_MAX];
    size_t input_size;
    char head[HEAD_MAX];
    size_t head_size, sent; /* sent: of the head and the text together */
    web_text *text, *next;  /* next: what follows the text; a later one replaces it */
} web_connection;

struct web_server {
    web_server_desc desc;
    web_connection connections[WEB_CONNECTIONS];
    uint64_t tick_ns; /* the next one */
    uint64_t step_ns; /* the next one */
    bool steps;       /* the last one has not finished its work */
    uint64_t rest_ns; /* no client is taken before: one could not be, for want of descriptors or memory */
};

/* ---- texts ---- */

static size_t owned_bytes; /* of all texts */

static web_text *make_text(char *owned, const char *bytes, size_t size)
{
    web_text *text = malloc(sizeof *text);
    if (!text) {
        free(owned);
        return NULL;
    }
    *text = (web_text){.holders = 1, .size = size, .owned = owned, .bytes = bytes};
    owned_bytes += owned ? size : 0;
    return text;
}

web_text *web_text_own(char *bytes, size_t size)
{
    return make_text(bytes, bytes, size);
}

web_text *web_text_borrow(const void *bytes, size_t size)
{
    return make_text(NULL, bytes, size);
}

web_text *web_text_hold(web_text *text)
{
    if (text)
        text->holders++;
    return text;
}

void web_text_release(web_text *text)
{
    if (!text || --text->holders > 0)
        return;
    owned_bytes -= text->owned ? text->size : 0;
    free(text->owned);
    free(text);
}

bool web_text_is_shared(const web_text *text)
{
    return text && text->holders > 1;
}

size_t web_text_size(const web_text *text)
{
    return text ? text->size : 0;
}

size_t web_text_bytes(void)
{
    return owned_bytes;
}

/* ---- connections ---- */

static void close_connection(web_connection *connection)
{
    if (connection->stage == WEB_FREE)
        return;
    close(connection->socket);
    web_text_release(connection->text);
    web_text_release(connection->next);
    connection->text = connection->next = NULL;
    connection->stage = WEB_FREE;
}

static const char *status_word(web_status status)
{
    switch (status) {
    case WEB_OK:
        return "OK";
    case WEB_BAD_REQUEST:
        return "Bad Request";
    case WEB_FORBIDDEN:
        return "Forbidden";
    case WEB_NOT_FOUND:
        return "Not Found";
    case WEB_NOT_ALLOWED:
        return "Method Not Allowed";
    case WEB_URI_TOO_LONG:
        return "URI Too Long";
    case WEB_MISDIRECTED:
        return "Misdirected Request";
    case WEB_HEADERS_TOO_LARGE:
        return "Request Header Fields Too Large";
    case WEB_UNAVAILABLE:
        return "Service Unavailable";
    case WEB_VERSION:
        return "HTTP Version Not Supported";
    case WEB_NO_MEMORY:
        break;
    }
    return "Internal Server Error";
}

/* Begins to send an answer, whose body the connection takes over. */
static void begin_answer(web_connection *connection, const web_answer *answer, bool head_only)
{
    char length[48] = "";
    if (!answer->follows)
        snprintf(length, sizeof length, "Content-Length: %zu\r\n", web_text_size(answer->body));
    const int size = snprintf(
        connection->head, sizeof connection->head,
        "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n%s%sCache-Control: no-store\r\nConnection: close\r\n"
        "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
        "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
        "Cross-Origin-Resource-Policy: same-origin\r\n\r\n",
        (int)answer->status, status_word(answer->status), answer->type, length,
        answer->status == WEB_NOT_ALLOWED ? "Allow: GET, HEAD\r\n" : "");
    connection->head_size =
        (size_t)size < sizeof connection->head ? (size_t)size : sizeof connection->head - 1;
    connection->sent = 0;
    connection->begun_ns = connection->progress_ns = gyre_clock_ns();
    connection->follows = answer->follows && !head_only;
    connection->stage = WEB_WRITING;
    connection->text = answer->body;
    if (!head_only)
        return;
    web_text_release(connection->text);
    connection->text = NULL;
}

static void begin_sentence(web_connection *connection, web_status status, const char *sentence)
{
    char line[256];
    const int size = snprintf(line, sizeof line, "%s\n", sentence);
    char *copy = strndup(line, sizeof line);
    const web_answer answer = {
        status, "text/plain; charset=utf-8",
        copy ? web_text_own(copy, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1) : NULL, false,
        false};
    begin_answer(connection, &answer, false);
}

/* ---- texts of slow clients ---- */

/* For how long the client has taken nothing of its text; 0: it has none, or may go on. */
static uint64_t slow_ns(const web_connection *connection, uint64_t now)
{
    const uint64_t slow = now - connection->progress_ns;
    return connection->stage == WEB_WRITING && slow >= SLOW_NS ? slow : 0;
}

/* Whether the texts have their room. Else the clients that are slow for the longest time are closed, until it is there. */
static bool texts_have_room(web_server *server)
{
    const uint64_t now = gyre_clock_ns();
    while (owned_bytes > server->desc.text_bytes) {
        web_connection *slowest = NULL;
        for (size_t i = 0; i < WEB_CONNECTIONS; i++)
            if (slow_ns(&server->connections[i], now) > (slowest ? slow_ns(slowest, now) : 0))
                slowest = &server->connections[i];
        if (!slowest)
            return false;
        close_connection(slowest);
    }
    return true;
}

/* ---- answering ---- */

/*
 * A page of another site can make a browser send requests here under a name that leads here (DNS rebinding), and read the
 * answers. It cannot make one send an address, or a name that was not given to this server.
 */
static bool may_be_for(const web_server *server, const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];
    char inner[WEB_HOST_MAX];
    if (!host[0] || strcmp(host, "localhost") == 0 || inet_pton(AF_INET, host, address) == 1)
        return true;
    for (const char *const *name = server->desc.hosts; name && *name; name++)
        if (strcasecmp(host, *name) == 0)
            return true;
    snprintf(inner, sizeof inner, "%s", host[0] == '[' ? host + 1 : "");
    inner[strcspn(inner, "]")] = '\0';
    return inet_pton(AF_INET6, inner, address) == 1;
}

static size_t count_followers(const web_server *server)
{
    size_t count = 0;
    for (size_t i = 0; i < WEB_CONNECTIONS; i++)
        count += server->connections[i].stage > WEB_READING && server->connections[i].follows;
    return count;
}

static size_t count_waiting(const web_server *server)
{
    size_t count = 0;
    for (size_t i = 0; i < WEB_CONNECTIONS; i++)
        count += server->connections[i].stage == WEB_WAITING;
    return count;
}

static void answer_request(web_server *server, web_connection *connection, const web_request *request)
{
    web_answer answer = {.status = WEB_OK, .type = "text/plain; charset=utf-8"};
    if (!connection->local && !may_be_for(server, request->host)) {
        begin_sentence(
            connection, WEB_MISDIRECTED,
            "this host is not served here: use an address or localhost, or start with --name HOST");
        return;
    }
    server->desc.answer(server->desc.context, request, &answer);
    if (answer.waits)
        connection->stage = WEB_WAITING;
    else if (!answer.body)
        begin_sentence(connection, WEB_NO_MEMORY, "out of memory or descriptors");
    else if (answer.follows && count_followers(server) >= WEB_FOLLOWERS) {
        web_text_release(answer.body);
        begin_sentence(connection, WEB_UNAVAILABLE, "too many follow already: close a page");
    } else if (web_text_size(answer.body) > SMALL_TEXT && !texts_have_room(server)) {
        web_text_release(answer.body);
        begin_sentence(connection, WEB_UNAVAILABLE,
                       "other clients are slow to take their answers: ask again");
    } else
        begin_answer(connection, &answer, request->head_only);
}

static void read_some(web_server *server, web_connection *connection)
{
    web_request request;
    const char *complaint = "";
    const ssize_t got = recv(connection->socket, connection->input + connection->input_size,
                             sizeof connection->input - connection->input_size, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        close_connection(connection);
        return;
    }
    connection->input_size += (size_t)got;
    connection->progress_ns = gyre_clock_ns();
    const web_status status =
        web_request_read(connection->input, connection->input_size, &request, &complaint);
    if (status == WEB_OK)
        answer_request(server, connection, &request);
    else if (status != 0)
        begin_sentence(connection, status, complaint);
}

/* The text is sent: the next one, or the end. */
static void end_text(web_connection *connection)
{
    web_text_release(connection->text);
    connection->text = connection->next;
    connection->next = NULL;
    connection->head_size = connection->sent = 0;
    connection->begun_ns = connection->progress_ns = gyre_clock_ns();
    connection->stage = !connection->follows ? WEB_LINGERING : connection->text ? WEB_WRITING : WEB_FOLLOWING;
    if (connection->stage == WEB_LINGERING)
        shutdown(connection->socket, SHUT_WR);
}

static void write_some(web_connection *connection)
{
    const bool in_head = connection->sent < connection->head_size;
    const size_t whole = connection->head_size + web_text_size(connection->text);
    const size_t left = (in_head ? connection->head_size : whole) - connection->sent;
    const char *from = in_head ? connection->head + connection->sent
                       : left  ? connection->text->bytes + (connection->sent - connection->head_size)
                               : "";
    const ssize_t sent = send(connection->socket, from, left,
                              MSG_DONTWAIT | MSG_NOSIGNAL | (in_head && connection->text ? MSG_MORE : 0));
    if (sent < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (sent < 0) {
        close_connection(connection);
        return;
    }
    connection->sent += (size_t)sent;
    connection->progress_ns = gyre_clock_ns();
    if (connection->sent == whole)
        end_text(connection);
}

/* What a client sends that has its answer, or follows, is thrown away. */
static void discard_some(web_connection *connection)
{
    const ssize_t got = recv(connection->socket, connection->input, sizeof connection->input, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        close_connection(connection);
}

/* ---- room ---- */

static bool is_over(const web_connection *connection, uint64_t now)
{
    const uint64_t since_begun = now - connection->begun_ns, since_progress = now - connection->progress_ns;
    switch (connection->stage) {
    case WEB_READING:
        return since_begun > READ_NS;
    case WEB_WRITING:
        return since_progress > STUCK_NS || since_begun > WRITE_NS;
    case WEB_LINGERING:
        return since_begun > LINGER_NS;
    case WEB_FOLLOWING:
    case WEB_WAITING:
    case WEB_FREE:
        break;
    }
    return false;
}

/* For how long a connection keeps a place for nothing; 0: it may stay. */
static uint64_t idle_ns(const web_connection *connection, uint64_t now)
{
    const uint64_t age = now - connection->begun_ns;
    if (connection->stage == WEB_FREE || connection->stage == WEB_WAITING || connection->follows)
        return 0;
    return connection->stage == WEB_WRITING ? slow_ns(connection, now) : age < YOUNG_NS ? 0 : age;
}

/* Finds a place: a free one, else that of the connection that does nothing for the longest time, so that clients that come and say
 * nothing keep nobody out. NULL: all are young, or follow. */
static web_connection *find_place(web_server *server, uint64_t now)
{
    web_connection *idlest = NULL;
    for (size_t i = 0; i < WEB_CONNECTIONS; i++) {
        web_connection *connection = &server->connections[i];
        if (connection->stage == WEB_FREE)
            return connection;
        if (idle_ns(connection, now) > (idlest ? idle_ns(idlest, now) : 0))
            idlest = connection;
    }
    return idlest;
}

static bool take_client(web_server *server, size_t listener, uint64_t now)
{
    web_connection *place = find_place(server, now);
    const int client =
        place ? accept4(server->desc.listeners[listener], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC) : -1;
    if (client < 0) {
        if (place && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
            server->rest_ns = now + REST_NS;
        return false;
    }
    close_connection(place);
    place->stage = WEB_READING;
    place->socket = client;
    place->local = server->desc.local[listener];
    place->follows = false;
    place->begun_ns = place->progress_ns = now;
    place->input_size = 0;
    return true;
}

/* ---- the loop ---- */

/*
 * What is waited for. A client that follows and sends its end is gone; another one may have no more to say, and wait for its
 * answer.
 */
static short events_of(const web_connection *connection)
{
    const bool writes = connection->stage == WEB_WRITING;
    return (short)((writes ? POLLOUT : 0) | (!writes || connection->follows ? POLLIN : 0));
}

static void serve_connection(web_server *server, web_connection *connection, short events)
{
    if (events == 0)
        return;
    if (connection->stage == WEB_READING)
        read_some(server, connection);
    else if (connection->stage != WEB_WRITING || events & POLLIN)
        discard_some(connection);
    if (connection->stage == WEB_WRITING)
        write_some(connection);
}

static void close_overdue(web_server *server)
{
    const uint64_t now = gyre_clock_ns();
    for (size_t i = 0; i < WEB_CONNECTIONS; i++)
        if (is_over(&server->connections[i], now))
            close_connection(&server->connections[i]);
}

/* Waits until something happens on a socket: the listeners first, then the connections. */
static size_t wait_for_clients(web_server *server, struct pollfd polls[WEB_LISTENERS + WEB_CONNECTIONS],
                               const sigset_t *waiting)
{
    const uint64_t now = gyre_clock_ns();
    const bool room = find_place(server, now) != NULL && now >= server->rest_ns;
    size_t count = 0, busy = 0;
    for (size_t i = 0; i < WEB_LISTENERS; i++)
        polls[count++] = (struct pollfd){
            room && i < server->desc.listener_count ? server->desc.listeners[i] : -1, POLLIN, 0};
    for (size_t i = 0; i < WEB_CONNECTIONS; i++) {
        const web_connection *connection = &server->connections[i];
        const bool free = connection->stage == WEB_FREE;
        busy += !free && connection->stage != WEB_FOLLOWING;
        polls[count++] = (struct pollfd){free ? -1 : connection->socket, events_of(connection), 0};
    }
    uint64_t wait = server->steps || count_waiting(server) ? STEP_NS
                    : busy || now < server->rest_ns        ? ROUND_NS
                                                           : SECOND_NS;
    if (count_followers(server) > 0)
        wait = server->tick_ns <= now ? 0 : server->tick_ns - now < wait ? server->tick_ns - now : wait;
    const struct timespec time = {(time_t)(wait / SECOND_NS), (long)(wait % SECOND_NS)};
    return ppoll(polls, count, &time, waiting) > 0 ? count : 0;
}

static void run_tick(web_server *server)
{
    const uint64_t now = gyre_clock_ns();
    if (count_followers(server) == 0 || now < server->tick_ns)
        return;
    server->tick_ns = now + server->desc.tick_ns;
    server->desc.tick(server->desc.context, server);
}

static void run_step(web_server *server)
{
    const uint64_t now = gyre_clock_ns();
    const size_t waiting = count_waiting(server);
    if ((!waiting && !server->steps) || now < server->step_ns)
        return;
    server->step_ns = now + STEP_NS;
    server->steps = server->desc.step(server->desc.context, server, waiting);
}

/* ppoll delivers no signal while a socket is ready, and there may always be one. */
static void let_signals_in(const sigset_t *waiting)
{
    sigset_t before;
    pthread_sigmask(SIG_SETMASK, waiting, &before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void web_server_run(web_server *server, const volatile sig_atomic_t *ended, const sigset_t *waiting)
{
    struct pollfd polls[WEB_LISTENERS + WEB_CONNECTIONS];
    for (; !__atomic_load_n(ended, __ATOMIC_RELAXED); let_signals_in(waiting)) {
        if (wait_for_clients(server, polls, waiting) > 0) {
            for (size_t i = 0; i < WEB_CONNECTIONS; i++)
                serve_connection(server, &server->connections[i], polls[WEB_LISTENERS + i].revents);
            for (size_t i = 0; i < server->desc.listener_count; i++)
                for (size_t taken = 0; polls[i].revents && taken < WEB_CONNECTIONS; taken++)
                    if (!take_client(server, i, gyre_clock_ns()))
                        break;
        }
        close_overdue(server);
        run_tick(server);
        run_step(server);
    }
}

void web_server_publish(web_server *server, web_text *text)
{
    if (!texts_have_room(server))
        return;
    for (size_t i = 0; i < WEB_CONNECTIONS; i++) {
        web_connection *connection = &server->connections[i];
        if (!connection->follows || (connection->stage != WEB_FOLLOWING && connection->stage != WEB_WRITING))
            continue;
        web_text_release(connection->next);
        connection->next = web_text_hold(text);
        if (connection->stage == WEB_FOLLOWING)
            end_text(connection);
    }
}

void web_server_answer(web_server *server, const web_answer *answer)
{
    for (size_t i = 0; i < WEB_CONNECTIONS; i++) {
        web_connection *connection = &server->connections[i];
        web_answer own = *answer;
        if (connection->stage != WEB_WAITING)
            continue;
        own.body = web_text_hold(answer->body);
        if (own.body)
            begin_answer(connection, &own, false);
        else
            begin_sentence(connection, WEB_NO_MEMORY, "out of memory");
    }
    web_text_release(answer->body);
}

web_server *web_server_open(const web_server_desc *desc)
{
    web_server *server = calloc(1, sizeof *server);
    if (server)
        server->desc = *desc;
    for (size_t i = 0; !server && i < desc->listener_count; i++)
        close(desc->listeners[i]);
    return server;
}

void web_server_close(web_server *server)
{
    if (!server)
        return;
    for (size_t i = 0; i < WEB_CONNECTIONS; i++)
        close_connection(&server->connections[i]);
    for (size_t i = 0; i < server->desc.listener_count; i++)
        close(server->desc.listeners[i]);
    free(server);
}
