/* SPDX-License-Identifier: Apache-2.0 */
/* Places where servers listen: one server each, and whoever leaves takes nobody else's socket along. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/attach/meeting.h"
#include "gyre/waiting.h"
#include "../../patience.h"

enum { SERVERS = 4, ROUNDS = 10 };

static char place[GYRE_PLACE_MAX];
static pthread_barrier_t start;

static void name_place(void)
{
    snprintf(place, sizeof place, "/tmp/gyre-test-%ld.sock", (long)getpid());
}

static void remove_place(void)
{
    unlink(place);
}

static bool somebody_serves(void)
{
    int client = -1;
    ck_assert_int_eq(gyre_place_socket(&client), GYRE_OK);
    const gyre_status status = gyre_place_connect(place, gyre_in_ms(patiently(1000)), client);
    close(client);
    return status == GYRE_OK;
}

/* ---- one server ---- */

static void *serve(void *listener)
{
    pthread_barrier_wait(&start);
    gyre_place_listen(place, 0600, listener);
    return NULL;
}

START_TEST(of_many_that_replace_a_dead_server_one_serves)
{
    pthread_barrier_init(&start, NULL, SERVERS);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[SERVERS];
        int listeners[SERVERS], listening = 0, dead = -1;
        ck_assert_int_eq(gyre_place_listen(place, 0600, &dead), GYRE_OK);
        close(dead);
        for (int i = 0; i < SERVERS; i++)
            unit_start(&threads[i], serve, &listeners[i]);
        for (int i = 0; i < SERVERS; i++) {
            pthread_join(threads[i], NULL);
            listening += listeners[i] >= 0;
        }
        ck_assert_msg(listening == 1, "round %d: %d servers", round, listening);
        ck_assert(somebody_serves());
        for (int i = 0; i < SERVERS; i++)
            if (listeners[i] >= 0)
                gyre_place_leave(place, listeners[i]);
    }
    pthread_barrier_destroy(&start);
}
END_TEST

/* A server that was killed, and whose socket Linux takes down a moment later. */
static void *die(void *listener)
{
    nanosleep(&(struct timespec){0, 100000000}, NULL);
    close(*(int *)listener);
    return NULL;
}

START_TEST(a_dying_server_is_outwaited)
{
    pthread_t dying;
    int first = -1, next = -1;
    ck_assert_int_eq(gyre_place_listen(place, 0600, &first), GYRE_OK);
    ck_assert_int_eq(gyre_place_listen(place, 0600, &next), GYRE_INVALID); /* it lives */
    unit_start(&dying, die, &first);
    ck_assert_int_eq(gyre_place_listen(place, 0600, &next), GYRE_OK);
    pthread_join(dying, NULL);
    gyre_place_leave(place, next);
}
END_TEST

/* ---- leaving ---- */

START_TEST(who_leaves_removes_the_socket)
{
    int listener = -1;
    ck_assert_int_eq(gyre_place_listen(place, 0600, &listener), GYRE_OK);
    ck_assert(somebody_serves());
    gyre_place_leave(place, listener);
    ck_assert_int_ne(access(place, F_OK), 0);
}
END_TEST

/* A program that serves may have forked. */
START_TEST(a_copy_of_the_listener_keeps_no_socket)
{
    int listener = -1;
    ck_assert_int_eq(gyre_place_listen(place, 0600, &listener), GYRE_OK);
    const int copy = dup(listener);
    gyre_place_leave(place, listener);
    ck_assert_int_ne(access(place, F_OK), 0);
    close(copy);
}
END_TEST

START_TEST(who_leaves_leaves_the_socket_of_another)
{
    int first = -1, second = -1;
    ck_assert_int_eq(gyre_place_listen(place, 0600, &first), GYRE_OK);
    ck_assert_int_eq(unlink(place), 0); /* somebody cleaned up */
    ck_assert_int_eq(gyre_place_listen(place, 0600, &second), GYRE_OK);
    gyre_place_leave(place, first);
    ck_assert(somebody_serves());
    gyre_place_leave(place, second);
    ck_assert_int_ne(access(place, F_OK), 0);
}
END_TEST

/* ---- locks ---- */

START_TEST(no_file_stays_beside_the_socket)
{
    char lock[sizeof place + sizeof ".lock"];
    int listener = -1;
    snprintf(lock, sizeof lock, "%s.lock", place);
    ck_assert_int_eq(gyre_place_listen(place, 0600, &listener), GYRE_OK);
    ck_assert_int_ne(access(lock, F_OK), 0);
    gyre_place_leave(place, listener);
    ck_assert_int_ne(access(lock, F_OK), 0);
}
END_TEST

/* As a compile's own folder is, in which a program's socket may be. */
START_TEST(a_lock_of_the_folder_keeps_nobody_waiting)
{
    char folder[] = "/tmp/gyre-test-XXXXXX";
    int listener = -1;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(place, sizeof place, "%s/socket", folder);
    const int locked = open(folder, O_RDONLY | O_DIRECTORY);
    ck_assert_int_eq(flock(locked, LOCK_EX), 0);
    uint64_t best_ns = UINT64_MAX;
    for (int i = 0; i < 5; i++) { /* a busy machine may keep anybody waiting once */
        const uint64_t begin_ns = gyre_clock_ns();
        ck_assert_int_eq(gyre_place_listen(place, 0600, &listener), GYRE_OK);
        gyre_place_leave(place, listener);
        const uint64_t took_ns = gyre_clock_ns() - begin_ns;
        best_ns = took_ns < best_ns ? took_ns : best_ns;
    }
    ck_assert_uint_lt(best_ns, UINT64_C(1000000000));
    close(locked);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("attach_place");
    TCase *tcase = tcase_create("attach_place");
    tcase_set_timeout(tcase, (double)patiently(60));
    tcase_add_checked_fixture(tcase, name_place, remove_place);
    tcase_add_test(tcase, of_many_that_replace_a_dead_server_one_serves);
    tcase_add_test(tcase, a_dying_server_is_outwaited);
    tcase_add_test(tcase, who_leaves_removes_the_socket);
    tcase_add_test(tcase, a_copy_of_the_listener_keeps_no_socket);
    tcase_add_test(tcase, who_leaves_leaves_the_socket_of_another);
    tcase_add_test(tcase, no_file_stays_beside_the_socket);
    tcase_add_test(tcase, a_lock_of_the_folder_keeps_nobody_waiting);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
