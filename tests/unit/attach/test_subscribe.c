/* SPDX-License-Identifier: Apache-2.0 */
/* A server that publishes in a way that makes no sense: who subscribed is told, and gets nothing of it. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/attach/meeting.h"
#include "core/base/error.h"
#include "gyre/message.h"
#include "gyre/parts.h"
#include "unit/unit.h"
#include "../../patience.h"

#define NOTED(FIELD) FIELD(u64, number) FIELD(utf8, text)
GYRE_MESSAGE_TAIL(noted, NOTED, 64)

/* What the server says: an answer, then packets of messages, then perhaps an end. */
struct tale {
    const gyre_type *type;                /* NULL: a refusal */
    enum gyre_parcel_operation operation; /* of the packet with messages */
    uint64_t length;                      /* as told of the second message; its bytes follow */
    uint32_t text;                        /* where the second message says that its text lies */
    size_t cut;                           /* bytes that the packet lacks in the end */
    bool ends;
    uint64_t received; /* messages that the subscriber gets */
    gyre_status status;
    const char *expected;
};

static char place[GYRE_PLACE_MAX];
static int listener;

static void send_messages(struct gyre_parcel *parcel, int client, const struct tale *tale)
{
    noted message;
    gyre_begin(&message);
    message.number = 7;
    gyre_put_text(&message, &message.text, "right");
    struct gyre_published published = {.missed = 3, .length = message.gyre_used};
    gyre_parcel_begin(parcel, tale->operation, GYRE_OK);
    gyre_published_put(parcel, &published, &message);
    message.text.offset = tale->text ? tale->text : message.text.offset;
    published.length = tale->length ? tale->length : published.length;
    gyre_parcel_put_u64(parcel, published.missed);
    gyre_parcel_put_u64(parcel, published.length);
    gyre_parcel_put(parcel, &message, message.gyre_used);
    parcel->length -= tale->cut;
    gyre_parcel_send(parcel, client, gyre_in_ms(patiently(5000)));
}

static void tell(struct gyre_parcel *parcel, int client, const struct tale *tale)
{
    const struct gyre_publishing_end end = {.why = "it is over", .missed = 4, .is_cut = true};
    if (!tale->type) {
        gyre_parcel_begin(parcel, GYRE_PARCEL_SUBSCRIBE, GYRE_FAILED);
        gyre_parcel_send(parcel, client, gyre_in_ms(patiently(5000)));
        return;
    }
    gyre_subscribe_answer_put(parcel, "told/notes", tale->type);
    gyre_parcel_send(parcel, client, gyre_in_ms(patiently(5000)));
    send_messages(parcel, client, tale);
    if (!tale->ends)
        return;
    gyre_publishing_end_put(parcel, &end);
    gyre_parcel_send(parcel, client, gyre_in_ms(patiently(5000)));
}

static void *serve_once(void *argument)
{
    struct gyre_parcel parcel;
    struct gyre_subscribe_request request;
    const int client = accept(listener, NULL, NULL);
    if (client < 0 || gyre_parcel_init(&parcel) != GYRE_OK)
        return NULL;
    if (gyre_parcel_receive(&parcel, client, gyre_in_ms(patiently(5000))) == GYRE_OK &&
        gyre_subscribe_request_get(&parcel, &request) == GYRE_OK)
        tell(&parcel, client, argument);
    gyre_parcel_finish(&parcel);
    close(client);
    return argument;
}

#define NONSENSE "makes no sense"
static const struct tale tales[] = {
    {GYRE_TYPE(noted), GYRE_PARCEL_PUBLISHED, 0, 0, 0, true, 2, GYRE_CLOSED, "it is over"},
    {GYRE_TYPE(noted), GYRE_PARCEL_PUBLISHED, 0, 0, 0, false, 2, GYRE_LOST, "is gone"},
    {NULL, GYRE_PARCEL_PUBLISHED, 0, 0, 0, false, 0, GYRE_FAILED, "the server gave no reason"},
    {GYRE_TYPE(gyre_none), GYRE_PARCEL_PUBLISHED, 0, 0, 0, false, 0, GYRE_INTERNAL, NONSENSE},
    {GYRE_TYPE(noted), GYRE_PARCEL_SHUT, 0, 0, 0, true, 0, GYRE_INTERNAL, NONSENSE},
    {GYRE_TYPE(noted), GYRE_PARCEL_PUBLISHED, 1, 0, 0, true, 1, GYRE_INTERNAL, NONSENSE},
    {GYRE_TYPE(noted), GYRE_PARCEL_PUBLISHED, sizeof(noted), 0, 0, true, 1, GYRE_INTERNAL, NONSENSE},
    {GYRE_TYPE(noted), GYRE_PARCEL_PUBLISHED, UINT64_MAX, 0, 0, true, 1, GYRE_INTERNAL, NONSENSE},
    {GYRE_TYPE(noted), GYRE_PARCEL_PUBLISHED, 0, 4096, 0, true, 1, GYRE_INTERNAL, NONSENSE},
    {GYRE_TYPE(noted), GYRE_PARCEL_PUBLISHED, 0, 0, 1, true, 1, GYRE_INTERNAL, NONSENSE},
    {GYRE_TYPE(noted), GYRE_PARCEL_PUBLISHED, 0, 0, 28, true, 1, GYRE_INTERNAL, NONSENSE},
};

/* Receives until it fails. Returns how it did. */
static gyre_status receive_all(gyre_subscription *subscription, uint64_t *received)
{
    for (;; ++*received) {
        noted message;
        gyre_publication told = {.size = sizeof told};
        const gyre_status status = gyre_subscription_receive(subscription, &message, sizeof message, &told,
                                                             gyre_in_ms(patiently(5000)));
        if (status != GYRE_OK)
            return status;
        ck_assert_uint_eq(message.number, 7);
        ck_assert_uint_eq(told.missed, 3);
    }
}

START_TEST(what_makes_no_sense_is_told)
{
    struct tale tale = tales[_i];
    pthread_t thread;
    gyre_subscription *subscription = NULL;
    void *served = NULL;
    uint64_t received = 0;
    snprintf(place, sizeof place, "/tmp/gyre-test-%ld.sock", (long)getpid());
    ck_assert_int_eq(gyre_place_listen(place, 0600, &listener), GYRE_OK);
    unit_start(&thread, serve_once, &tale);
    const gyre_subscribe_desc desc = {
        .size = sizeof desc, .path = place, .deadline_ns = gyre_in_ms(patiently(60000))};
    gyre_status status = gyre_subscribe_attached("notes", &desc, &subscription);
    if (status == GYRE_OK)
        status = receive_all(subscription, &received);
    ck_assert_msg(strstr(gyre_error_text(), tale.expected) != NULL, "found: %s", gyre_error_text());
    shutdown(listener, SHUT_RDWR); /* the server waits no longer for a client that failed before it came */
    pthread_join(thread, &served);
    close(listener);
    unlink(place);
    ck_assert_int_eq(status, tale.status);
    ck_assert_uint_eq(received, tale.received);
    if (subscription) { /* an end stays one, and counts */
        gyre_subscription_info info = {.size = sizeof info};
        ck_assert_int_eq(receive_all(subscription, &received), tale.status);
        ck_assert_int_eq(gyre_subscription_info_get(subscription, &info), GYRE_OK);
        const bool is_whole = tale.status == GYRE_CLOSED;
        ck_assert_uint_eq(info.missed, 3 * tale.received + (is_whole ? 4 : 0));
        ck_assert_int_eq(info.is_cut != 0, is_whole);
    }
    gyre_unsubscribe(subscription);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("attach_subscribe");
    TCase *tcase = tcase_create("attach_subscribe");
    tcase_add_loop_test(tcase, what_makes_no_sense_is_told, 0, (int)(sizeof tales / sizeof tales[0]));
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
