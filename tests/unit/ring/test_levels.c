/* SPDX-License-Identifier: Apache-2.0 */
/* Queues with priorities: messages are found wherever they are, in front of the ring or in it. */
#include <pthread.h>
#include <stdio.h>

#include "core/ring/queue_inside.h"
#include "ring_device.h"
#include "test_ring.h"

enum { ASKERS = 4, QUESTIONS = 25000 };

static struct ring_device device;

static struct gyre_queue_options level_options(void)
{
    struct gyre_queue_options options = ring_options();
    options.levels = 2;
    options.header_size = 32; /* it holds a correlation */
    options.age_ns = 1000000;
    options.window = 4;
    return options;
}

/* Sends, and asks for the reply to this very message, which some other thread moves into the ring meanwhile. */
static void *ask(void *argument)
{
    const uint64_t base = (uint64_t)(uintptr_t)argument << 32;
    for (uint64_t i = 0; i < QUESTIONS; i++) {
        const uint64_t request = base + i;
        const gyre_header header = {.correlation = request, .priority = (uint16_t)(i % 2)};
        uint64_t reply = 0;
        ck_assert_int_eq(gyre_send_with(device.queue, &request, 8, &header, NULL, gyre_in_ms(20000)), GYRE_OK);
        gyre_status status = gyre_receive_for(device.queue, request, &reply, 8, NULL, NULL, gyre_in_ms(20000));
        ck_assert_msg(status == GYRE_OK, "message %llu: %s", (unsigned long long)i, gyre_error_text());
        ck_assert_uint_eq(reply, request + 1);
    }
    return NULL;
}

START_TEST(who_asks_for_a_reply_finds_it_while_its_message_moves)
{
    pthread_t askers[ASKERS];
    ring_device_start(&device, level_options(), 1);
    for (uintptr_t i = 0; i < ASKERS; i++)
        pthread_create(&askers[i], NULL, ask, (void *)(i + 1));
    for (int i = 0; i < ASKERS; i++)
        pthread_join(askers[i], NULL);
    ring_device_finish(&device);
}
END_TEST

TCase *ring_level_cases(void)
{
    TCase *tcase = tcase_create("levels");
    tcase_set_timeout(tcase, 50);
    tcase_add_test(tcase, who_asks_for_a_reply_finds_it_while_its_message_moves);
    return tcase;
}
