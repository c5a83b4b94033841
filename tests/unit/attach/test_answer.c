/* SPDX-License-Identifier: Apache-2.0 */
/* A server whose answer is not what it should be: the client is told, and follows no pointer that came in. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/attach/meeting.h"
#include "core/base/error.h"
#include "gyre/message.h"
#include "unit/unit.h"

#define NUMBER(FIELD) FIELD(u32, value)
GYRE_MESSAGE(number, NUMBER)

enum { CONTROL_SIZE = 1 << 20, FILE_SIZE = 4096 };

static char place[GYRE_PLACE_MAX];

/* As gyre_attach_answer_put writes it, but for pointers of the server's own. */
static void put_answer(struct gyre_parcel *parcel)
{
    struct gyre_queue_options options = {.capacity = 16};
    memset(&options.request_growth, 1, sizeof options.request_growth);
    memset(&options.reply_growth, 1, sizeof options.reply_growth);
    gyre_parcel_begin(parcel, GYRE_PARCEL_ATTACH, GYRE_OK);
    gyre_parcel_put_text(parcel, gyre_version());
    gyre_parcel_put_u64(parcel, sizeof options);
    gyre_parcel_put(parcel, &options, sizeof options);
    gyre_parcel_put_u64(parcel, CONTROL_SIZE);
    gyre_type_put(parcel, GYRE_TYPE(number));
    gyre_type_put(parcel, GYRE_TYPE(number));
}

static struct {
    int listener;
    bool forks;    /* while its client waits for the answer, with a child that outlives the meeting */
    bool sees_end; /* of its client */
} server;

static void answer(struct gyre_parcel *parcel, int client, int memory)
{
    put_answer(parcel);
    for (int i = 0; i < 3; i++)
        gyre_parcel_put_descriptor(parcel, memory);
    gyre_parcel_send(parcel, client, gyre_in_ms(5000));
    struct pollfd end = {.fd = client, .events = POLLRDHUP};
    server.sees_end = poll(&end, 1, 2000) == 1;
}

static void *answer_wrongly(void *unused)
{
    struct gyre_parcel parcel;
    pid_t child = -1;
    int client = accept(server.listener, NULL, NULL), memory = memfd_create("short", MFD_CLOEXEC);
    (void)unused;
    if (client < 0 || memory < 0 || ftruncate(memory, FILE_SIZE) != 0 || gyre_parcel_init(&parcel) != GYRE_OK)
        return NULL;
    if (gyre_parcel_receive(&parcel, client, gyre_in_ms(5000)) == GYRE_OK) {
        child = server.forks ? fork() : -1;
        if (child == 0) {
            pause();
            _exit(0);
        }
        answer(&parcel, client, memory);
    }
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    parcel.descriptor_count = 0; /* they were lent */
    gyre_parcel_finish(&parcel);
    close(memory);
    close(client);
    return &server;
}

static void meet(bool forks)
{
    pthread_t thread;
    gyre_queue *queue = NULL;
    void *answered = NULL;
    server.forks = forks;
    snprintf(place, sizeof place, "/tmp/gyre-test-%ld.sock", (long)getpid());
    ck_assert_int_eq(gyre_place_listen(place, 0600, &server.listener), GYRE_OK);
    ck_assert_int_eq(pthread_create(&thread, NULL, answer_wrongly, NULL), 0);
    const gyre_attach_desc desc = {.size = sizeof desc, .path = place};
    ck_assert_int_eq(gyre_attach("any", &desc, &queue), GYRE_INVALID);
    ck_assert_ptr_null(queue);
    pthread_join(thread, &answered);
    ck_assert_ptr_nonnull(answered);
    close(server.listener);
    unlink(place);
}

START_TEST(a_control_region_that_is_too_small_is_told)
{
    meet(false);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "expected 1048576 bytes of shared memory, found 4096"));
    ck_assert(server.sees_end);
}
END_TEST

/* Or the server would keep a place for a program that is gone. */
START_TEST(a_child_forked_while_its_parent_attaches_keeps_no_socket)
{
    meet(true);
    ck_assert(server.sees_end);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("attach_answer");
    TCase *tcase = tcase_create("attach_answer");
    tcase_add_test(tcase, a_control_region_that_is_too_small_is_told);
    tcase_add_test(tcase, a_child_forked_while_its_parent_attaches_keeps_no_socket);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
