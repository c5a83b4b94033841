/* SPDX-License-Identifier: Apache-2.0 */
/* A server that tells a kernel's state in a way that makes no sense: whoever asked is told, and believes none of it. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/attach/meeting.h"
#include "core/base/error.h"
#include "gyre/message.h"
#include "unit/unit.h"
#include "../../patience.h"

#define KEPT(FIELD) FIELD(u64, words[10000]) FIELD(u32, last) FIELD(u32, more)
GYRE_MESSAGE(kept, KEPT)

enum { SIZE = sizeof(kept), LAST = SIZE - GYRE_STATE_PIECE };

/* What the server says: its type, then pieces of so many bytes until a 0. */
struct tale {
    const gyre_type *type; /* NULL: a refusal */
    uint64_t size;         /* as told of it; 0: as it is */
    size_t pieces[4];
    enum gyre_parcel_operation operation;
    const char *expected;
    gyre_status status;
};

static char place[GYRE_PLACE_MAX];
static int listener;

static void tell(struct gyre_parcel *parcel, int client, const struct tale *tale)
{
    static const unsigned char bytes[GYRE_PARCEL_MAX];
    if (!tale->type) {
        gyre_parcel_begin(parcel, GYRE_PARCEL_STATE, GYRE_FAILED);
        gyre_parcel_send(parcel, client, gyre_in_ms(patiently(5000)));
        return;
    }
    gyre_type lie = *tale->type;
    lie.size = tale->size ? tale->size : lie.size;
    gyre_state_answer_put(parcel, &lie);
    gyre_parcel_send(parcel, client, gyre_in_ms(patiently(5000)));
    for (int i = 0; i < 4 && tale->pieces[i]; i++) {
        gyre_parcel_begin(parcel, tale->operation, GYRE_OK);
        gyre_parcel_put(parcel, bytes, tale->pieces[i]);
        gyre_parcel_send(parcel, client, gyre_in_ms(patiently(5000)));
    }
}

static void *serve_once(void *argument)
{
    struct gyre_parcel parcel;
    struct gyre_state_request request;
    const int client = accept(listener, NULL, NULL);
    if (client < 0 || gyre_parcel_init(&parcel) != GYRE_OK)
        return NULL;
    if (gyre_parcel_receive(&parcel, client, gyre_in_ms(patiently(5000))) == GYRE_OK &&
        gyre_state_request_get(&parcel, &request) == GYRE_OK)
        tell(&parcel, client, argument);
    gyre_parcel_finish(&parcel);
    close(client);
    return argument;
}

static const struct tale tales[] = {
    {GYRE_TYPE(kept), 0, {GYRE_STATE_PIECE, LAST}, GYRE_PARCEL_STATE, NULL, GYRE_OK},
    {NULL, 0, {0}, GYRE_PARCEL_STATE, "the server gave no reason", GYRE_FAILED},
    {GYRE_TYPE(kept), 0, {GYRE_STATE_PIECE}, GYRE_PARCEL_STATE, "hung up", GYRE_LOST},
    {GYRE_TYPE(kept), 0, {GYRE_STATE_PIECE, LAST - 1}, GYRE_PARCEL_STATE, "make no sense", GYRE_INTERNAL},
    {GYRE_TYPE(kept), 0, {GYRE_STATE_PIECE, LAST + 1}, GYRE_PARCEL_STATE, "make no sense", GYRE_INTERNAL},
    {GYRE_TYPE(kept), 0, {GYRE_STATE_PIECE + 8}, GYRE_PARCEL_STATE, "make no sense", GYRE_INTERNAL},
    {GYRE_TYPE(kept), 0, {GYRE_STATE_PIECE, LAST}, GYRE_PARCEL_SHUT, "make no sense", GYRE_INTERNAL},
    {GYRE_TYPE(kept), SIZE + 8, {0}, GYRE_PARCEL_STATE, "the type of the kernel's state", GYRE_INCOMPATIBLE},
    {GYRE_TYPE(kept), UINT64_MAX, {0}, GYRE_PARCEL_STATE, "makes no sense", GYRE_INTERNAL},
    {GYRE_TYPE(gyre_none), 0, {0}, GYRE_PARCEL_STATE, "makes no sense", GYRE_INTERNAL},
};

START_TEST(what_makes_no_sense_is_told)
{
    struct tale tale = tales[_i];
    pthread_t thread;
    gyre_state_copy *copy = NULL;
    void *served = NULL;
    snprintf(place, sizeof place, "/tmp/gyre-test-%ld.sock", (long)getpid());
    ck_assert_int_eq(gyre_place_listen(place, 0600, &listener), GYRE_OK);
    unit_start(&thread, serve_once, &tale);
    const gyre_attach_desc desc = {
        .size = sizeof desc, .path = place, .deadline_ns = gyre_in_ms(patiently(60000))};
    const gyre_status status = gyre_state_copy_get("any", &desc, &copy);
    shutdown(listener, SHUT_RDWR); /* the server waits no longer for a client that failed before it came */
    pthread_join(thread, &served);
    close(listener);
    unlink(place);
    ck_assert_msg(served != NULL, "the server told nothing, and its client: %s", gyre_error_text());
    ck_assert_int_eq(status, tale.status);
    ck_assert_int_eq(copy != NULL, tale.status == GYRE_OK);
    if (tale.expected)
        ck_assert_ptr_nonnull(strstr(gyre_error_text(), tale.expected));
    gyre_state_copy_release(copy);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("attach_state_copy");
    TCase *tcase = tcase_create("attach_state_copy");
    tcase_add_loop_test(tcase, what_makes_no_sense_is_told, 0, (int)(sizeof tales / sizeof tales[0]));
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
