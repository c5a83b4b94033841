/* SPDX-License-Identifier: Apache-2.0 */
/* What one user may have of a server that is open to others. */
#include <pthread.h>
#include <string.h>

#include "core/attach/arrivals.h"
#include "core/base/error.h"
#include "unit/unit.h"

enum { OWN = 1000, FOREIGN = 65534, ANOTHER = 65533, SHARE = GYRE_READERS_MAX - GYRE_READERS_MAX / 4 };

static struct gyre_server server;
static struct gyre_session sessions[3 * GYRE_READERS_MAX];
static size_t count;

static void open_server(bool open_to_others)
{
    server = (struct gyre_server){.clients_max = 32, .user = OWN, .open_to_others = open_to_others};
    memset(sessions, 0, sizeof sessions);
    count = 0;
    ck_assert_int_eq(pthread_mutex_init(&server.lock, NULL), 0);
}

static struct gyre_session *come(uint32_t user)
{
    struct gyre_session *session = &sessions[count++];
    *session = (struct gyre_session){.server = &server, .socket = -1, .user = user};
    ck_assert_int_eq(gyre_arrivals_enter(&server, session), GYRE_ARRIVAL_IN);
    return session;
}

static void close_server(void)
{
    while (count)
        gyre_arrivals_leave(&sessions[--count]);
    ck_assert_ptr_null(server.users);
    pthread_mutex_destroy(&server.lock);
}

/* One that asks again and again, and reads slowly, kept everybody else out. */
START_TEST(a_user_who_reads_states_leaves_a_place_for_others)
{
    open_server(true);
    for (int i = 0; i < SHARE; i++)
        ck_assert_int_eq(gyre_arrivals_begin_reading(come(FOREIGN)), GYRE_OK);
    ck_assert_int_eq(gyre_arrivals_begin_reading(come(FOREIGN)), GYRE_EXHAUSTED);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "3 programs of user 65534 read states there"));
    struct gyre_session *another = come(ANOTHER);
    ck_assert_int_eq(gyre_arrivals_begin_reading(another), GYRE_OK);
    ck_assert_int_eq(gyre_arrivals_begin_reading(come(OWN)), GYRE_EXHAUSTED);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "4 programs read states there at this moment"));
    gyre_arrivals_end_reading(another);
    ck_assert_int_eq(gyre_arrivals_begin_reading(come(OWN)), GYRE_OK);
    close_server();
}
END_TEST

START_TEST(the_servers_own_user_may_have_all)
{
    for (int open_to_others = 0; open_to_others < 2; open_to_others++) {
        open_server(open_to_others != 0);
        for (int i = 0; i < GYRE_READERS_MAX; i++)
            ck_assert_int_eq(gyre_arrivals_begin_reading(come(OWN)), GYRE_OK);
        ck_assert_int_eq(gyre_arrivals_begin_reading(come(OWN)), GYRE_EXHAUSTED);
        close_server();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("attach_arrivals");
    TCase *tcase = tcase_create("attach_arrivals");
    tcase_add_test(tcase, a_user_who_reads_states_leaves_a_place_for_others);
    tcase_add_test(tcase, the_servers_own_user_may_have_all);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
