/* SPDX-License-Identifier: Apache-2.0 */
/* The server of `gyre web` with clients that do not take their answers: its texts have a bound, and others are answered. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/web/listen.h"
#include "cli/web/server.h"
#include "unit/unit.h"

enum { TEXT = 1 << 20, TEXTS = 4, SLOW_CLIENTS = 16, PATIENCE_S = 60 };
static const char ASK[] = "GET /large HTTP/1.0\r\n\r\n", SMALL[] = "GET /small HTTP/1.0\r\n\r\n";

static char path[64];
static volatile sig_atomic_t ended;
static size_t most_bytes; /* of texts, as the server's thread saw them */

/* Each answer is a text of its own, as where figures change from one request to the next. */
static void answer(void *context, const web_request *request, web_answer *out)
{
    (void)context;
    const size_t size = strcmp(request->path, "/large") == 0 ? TEXT : 5;
    out->body = web_text_own(calloc(1, size), size);
    if (web_text_bytes() > most_bytes)
        most_bytes = web_text_bytes();
}

static bool step(void *context, web_server *server, size_t waiting)
{
    (void)context, (void)server, (void)waiting;
    return false;
}

static void *serve(void *server)
{
    sigset_t waiting;
    sigemptyset(&waiting);
    web_server_run(server, &ended, &waiting);
    return NULL;
}

static int ask(const char *request)
{
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    ck_assert(client >= 0 && setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    ck_assert_int_eq(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(send(client, request, strlen(request), MSG_NOSIGNAL), (ssize_t)strlen(request));
    return client;
}

/* The status of the answer, of which no more is read than its first line. */
static int status_of(int client)
{
    char line[13] = "";
    int status = 0;
    ck_assert_int_eq(recv(client, line, sizeof line - 1, MSG_WAITALL), sizeof line - 1);
    ck_assert_int_eq(sscanf(line, "HTTP/1.1 %d", &status), 1);
    return status;
}

/* How much more comes until the end. */
static size_t rest_of(int client)
{
    static char bytes[65536];
    size_t size = 0;
    for (ssize_t got; (got = recv(client, bytes, sizeof bytes, 0)) > 0;)
        size += (size_t)got;
    close(client);
    return size;
}

START_TEST(clients_that_take_nothing_make_no_room_of_their_own)
{
    int slow[SLOW_CLIENTS], served = 0;
    pthread_t thread;
    snprintf(path, sizeof path, "/tmp/gyre-web-%d", (int)getpid());
    web_server_desc desc = {.listeners = {web_listen_path(path)},
                            .local = {true},
                            .listener_count = 1,
                            .text_bytes = TEXTS * TEXT,
                            .tick_ns = 1000000000,
                            .answer = answer,
                            .step = step};
    web_server *server = web_server_open(&desc);
    ck_assert_ptr_nonnull(server);
    ck_assert_int_eq(pthread_create(&thread, NULL, serve, server), 0);
    for (int i = 0; i < SLOW_CLIENTS; i++) {
        slow[i] = ask(ASK);
        const int status = status_of(slow[i]);
        ck_assert_msg(status == WEB_OK || status == WEB_UNAVAILABLE, "status %d", status);
        served += status == WEB_OK;
        close(ask(SMALL));
    }
    ck_assert_int_ge(served, TEXTS);
    const int health = ask(SMALL); /* what is small is always answered */
    ck_assert_int_eq(status_of(health), WEB_OK);
    close(health);
    int status = WEB_UNAVAILABLE; /* room comes when the slow ones have taken nothing for a second */
    size_t got = 0;
    for (int i = 0; i < PATIENCE_S * 20 && status != WEB_OK; i++) {
        usleep(50000);
        const int client = ask(ASK);
        status = status_of(client);
        got = rest_of(client);
    }
    ck_assert_int_eq(status, WEB_OK);
    ck_assert_uint_gt(got, TEXT);
    ck_assert_uint_le(rest_of(slow[0]), TEXT - 1); /* it came first, so its answer was cut off */
    ck_assert_uint_gt(most_bytes, (TEXTS - 1) * TEXT);
    ck_assert_uint_le(most_bytes, (TEXTS + 1) * TEXT + SLOW_CLIENTS * 4096);
    for (int i = 1; i < SLOW_CLIENTS; i++)
        close(slow[i]);
    __atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    web_server_close(server);
    ck_assert_uint_eq(web_text_bytes(), 0);
    unlink(path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("web_server");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 2 * PATIENCE_S);
    tcase_add_test(all, clients_that_take_nothing_make_no_room_of_their_own);
    suite_add_tcase(suite, all);
    return unit_run(suite);
}
