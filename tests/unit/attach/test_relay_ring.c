/* SPDX-License-Identifier: Apache-2.0 */
/* What an earlier client of a name left, as a journal says it. */
#include <stdlib.h>
#include <string.h>

#include "core/attach/relay.h"
#include "core/attach/relay_ring.h"
#include "core/base/error.h"
#include "core/queue/life.h"
#include "core/queue/names.h"
#include "core/queue/origin.h"
#include "core/queue/queue.h"
#include "core/stages/make.h"
#include "unit/unit.h"

enum { SLOTS = 8 };

static const uint64_t client = GYRE_ORIGIN_NAMED | 7;
static struct gyre_relay relay;

static struct gyre_queue_options options_of(void)
{
    return (struct gyre_queue_options){.name = "kept",
                                       .capacity = SLOTS,
                                       .request_size = 8,
                                       .reply_size = 8,
                                       .policy = GYRE_FULL_BLOCK,
                                       .idle = GYRE_WAIT_PARK,
                                       .many_threads = true,
                                       .device_wakes = true,
                                       .control = relay.control};
}

/* Its first request is in the queue, and its numbers go on at `next`. */
static void begin(uint64_t next)
{
    const uint64_t request = 1;
    memset(&relay, 0, sizeof relay);
    relay.control = aligned_alloc(GYRE_LINE_SIZE, sizeof *relay.control);
    memset(relay.control, 0, sizeof *relay.control);
    const struct gyre_queue_options options = options_of();
    ck_assert_int_eq(gyre_queue_create(&options, &relay.target), GYRE_OK);
    ck_assert_int_eq(gyre_send(relay.target, &request, sizeof request, NULL, GYRE_NO_WAIT), GYRE_OK);
    relay.places = calloc(SLOTS, sizeof *relay.places);
    relay.places[0] = (struct gyre_relay_place){.request = 1, .origin = {client, 0}};
    relay.absent = 1;
    ck_assert(gyre_names_note(&gyre_foreign_for(relay.target)->names, client, next));
}

static void finish(struct gyre_relay_ring *ring)
{
    if (ring)
        gyre_queue_destroy(ring->queue);
    free(ring);
    gyre_queue_destroy(relay.target);
    free(relay.names);
    free(relay.places);
    free(relay.control);
}

static gyre_status come_back(uint64_t next, struct gyre_relay_ring **ring)
{
    *ring = NULL;
    begin(next);
    struct gyre_queue_options options = options_of();
    options.lent = true;
    return gyre_relay_ring_create(&relay, &options, client, 0, ring);
}

START_TEST(a_client_is_offered_what_one_of_its_name_left)
{
    struct gyre_relay_ring *ring;
    ck_assert_int_eq(come_back(20, &ring), GYRE_OK);
    ck_assert(gyre_ring_of(ring->queue)->first_sequence == 0 && gyre_foreign_of(ring->queue)->left == 20 &&
              gyre_ring_of(ring->queue)->capacity == 32);
    ck_assert_uint_eq(ring->under_way, 1);
    finish(ring);
}
END_TEST

/* No ring is so large: to look for one went on for ever, with the lock of all clients. */
START_TEST(numbers_that_lie_too_far_apart_are_refused)
{
    static const uint64_t far[] = {UINT64_C(0xB000000000000000), UINT64_C(0x100000001)};
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        struct gyre_relay_ring *ring;
        ck_assert_int_eq(come_back(far[i], &ring), GYRE_INVALID);
        ck_assert_ptr_nonnull(strstr(gyre_error_text(), "which none can: it is damaged"));
        finish(ring);
    }
}
END_TEST

static size_t count_names(void)
{
    size_t count = 0;
    for (const struct gyre_relay_name *name = relay.names; name; name = name->next)
        count++;
    return count;
}

/* A client of another user, who invents a name for each `number`. */
static uint64_t strangers(uint64_t number)
{
    return GYRE_ORIGIN_NAMED | UINT64_C(65534) << GYRE_ORIGIN_USER_AT | number;
}

/* A client of the server's own user: its number is a hash. */
static uint64_t own(uint64_t number)
{
    return GYRE_ORIGIN_NAMED | (number + 1) * UINT64_C(0x9E3779B97F4A7C15);
}

START_TEST(a_user_who_invents_names_drives_no_other_out_of_a_journal)
{
    enum { OWN = GYRE_NAMES_MAX - GYRE_NAMES_SHARE };
    struct gyre_names names = {0};
    for (uint64_t i = 0; i < OWN; i++)
        ck_assert(gyre_names_note(&names, own(i), i + 1));
    for (uint64_t i = 0; i < 3 * GYRE_NAMES_MAX; i++)
        ck_assert(gyre_names_note(&names, strangers(i), 1));
    for (uint64_t i = 0; i < OWN; i++)
        ck_assert_uint_eq(gyre_names_next(&names, own(i)), i + 1);
    ck_assert_uint_eq(gyre_names_next(&names, strangers(3 * GYRE_NAMES_MAX - 1)), 1);
    /* names of the server's own user displace the first of all */
    for (uint64_t i = OWN; i <= GYRE_NAMES_MAX; i++)
        ck_assert(gyre_names_note(&names, own(i), i + 1));
    ck_assert_uint_eq(gyre_names_next(&names, own(0)), 0);
    gyre_names_release(&names);
}
END_TEST

static void come_and_go(uint64_t its)
{
    struct gyre_queue_options options = options_of();
    struct gyre_relay_ring *ring = NULL;
    options.lent = true;
    ck_assert_int_eq(gyre_relay_ring_create(&relay, &options, its, 0, &ring), GYRE_OK);
    gyre_relay_ring_note_leave(&relay, ring);
    relay.rings = NULL;
    gyre_queue_destroy(ring->queue);
    free(ring);
}

static bool is_known(uint64_t its)
{
    const struct gyre_relay_name *name = relay.names;
    while (name && name->client != its)
        name = name->next;
    return name != NULL;
}

static void free_names(void)
{
    while (relay.names) {
        struct gyre_relay_name *name = relay.names;
        relay.names = name->next;
        free(name);
    }
}

/* A client whose ring could not be made left its name for good, as if it were attached. */
START_TEST(names_of_clients_that_were_not_let_in_are_forgotten)
{
    struct gyre_relay_ring *ring = NULL;
    begin(1);
    for (uint64_t i = 0; i < GYRE_NAMES_MAX + 100; i++) {
        struct gyre_queue_options options = options_of();
        options.lent = true;
        options.capacity = UINT64_C(1) << 40; /* no machine has room for it */
        ck_assert_int_eq(gyre_relay_ring_create(&relay, &options, client + 1 + i, 0, &ring), GYRE_EXHAUSTED);
    }
    ck_assert_uint_le(count_names(), GYRE_NAMES_MAX + 1);
    free_names();
    finish(NULL);
}
END_TEST

START_TEST(a_user_who_invents_names_drives_no_other_out_of_a_server)
{
    begin(1);
    come_and_go(own(0));
    for (uint64_t i = 0; i < GYRE_NAMES_MAX + 100; i++)
        come_and_go(strangers(i));
    ck_assert(is_known(own(0)) && !is_known(strangers(0)) && is_known(strangers(GYRE_NAMES_MAX)));
    free_names();
    finish(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("attach_relay_ring");
    TCase *tcase = tcase_create("attach_relay_ring");
    tcase_add_test(tcase, a_client_is_offered_what_one_of_its_name_left);
    tcase_add_test(tcase, numbers_that_lie_too_far_apart_are_refused);
    tcase_add_test(tcase, names_of_clients_that_were_not_let_in_are_forgotten);
    tcase_add_test(tcase, a_user_who_invents_names_drives_no_other_out_of_a_journal);
    tcase_add_test(tcase, a_user_who_invents_names_drives_no_other_out_of_a_server);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
