/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that subscribe to topics and outlets of an open pipeline: they come and go, and each gets what its way of being slow
 * says.
 */
#include "conformance.h"
#include "kernels/topics.h"

#include <gyre/subscribe.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* ---- making pipelines ---- */

static void launch_stage(struct conformance *test, const char *kernel, const char *name, uint32_t blocks,
                         int stage)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, "topics.gyre.c", kernel);
    desc.name = name;
    desc.blocks = blocks;
    desc.stage = stage;
    must(gyre_launch(test->runtime, &desc, &launched));
}

static void launch_as(struct conformance *test, const char *kernel, const char *name, uint32_t blocks)
{
    /* 2: on a GPU what sends to programs is compiled in */
    launch_stage(test, kernel, name, blocks, strcmp(test->backend, "cuda") ? 1 : 2);
}

static const char *const sources[] = {"source", "other"};

static gyre_pipeline *open_with_links(struct conformance *test, const gyre_link_desc *links, size_t count,
                                      size_t entries)
{
    gyre_pipeline *pipeline = NULL;
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "market",
                                     .entries = sources,
                                     .entry_count = entries,
                                     .links = links,
                                     .link_count = count};
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    return pipeline;
}

static gyre_link_desc join(const char *from, const char *to, const char *name, const char *topic)
{
    return (gyre_link_desc){
        .size = sizeof(gyre_link_desc), .from = from, .to = to, .name = name, .topic = topic};
}

/* source.ticks -> the topic "prices" with the kernel `one`; source.first -> the outlet "firsts". */
static gyre_pipeline *open_market(struct conformance *test, uint32_t blocks)
{
    const gyre_link_desc links[] = {join("source.ticks", "one", NULL, "prices"),
                                    join("source.first", "host", "firsts", NULL)};
    launch_as(test, "publish", "source", blocks);
    launch_as(test, "listen", "one", 1);
    return open_with_links(test, links, 2, 1);
}

static gyre_subscription *subscribe(gyre_pipeline *pipeline, const char *topic, gyre_slow slow,
                                    uint64_t capacity)
{
    gyre_subscription *subscription = NULL;
    const gyre_subscribe_desc desc = {
        .size = sizeof desc, .type = GYRE_TYPE(job), .slow = slow, .capacity = capacity};
    must(gyre_subscribe(pipeline, topic, &desc, &subscription));
    return subscription;
}

static gyre_subscription_info about(gyre_subscription *subscription)
{
    gyre_subscription_info info = {.size = sizeof info};
    must(gyre_subscription_info_get(subscription, &info));
    return info;
}

/* ---- talking ---- */

static heard ask_one(struct conformance *test)
{
    const job request = {.what = JOB_TELL};
    heard reply = {0};
    must(gyre_call(gyre_kernel_queue(gyre_kernel_find(test->runtime, "one")), &request, sizeof request,
                   &reply, sizeof reply, NULL, soon()));
    return reply;
}

static void call_tick(gyre_queue *queue, uint64_t number)
{
    const job request = {.number = number, .hops = 1};
    job reply;
    gyre_completion completion;
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, &completion, soon()));
    require(completion.outcome == GYRE_NOT_REPLIED);
}

/* Flows of one tick each, with the numbers from `first` on. */
static void call_ticks(gyre_pipeline *pipeline, uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        call_tick(gyre_pipeline_queue(pipeline), first + i);
}

static uint64_t receive_number(gyre_subscription *subscription)
{
    job tick = {0};
    gyre_publication told = {.size = sizeof told};
    must(gyre_subscription_receive(subscription, &tick, sizeof tick, &told, soon()));
    require(told.length == sizeof tick);
    return tick.number;
}

static void require_none(gyre_subscription *subscription)
{
    job tick;
    require(gyre_subscription_receive(subscription, &tick, sizeof tick, NULL, GYRE_NO_WAIT) == GYRE_AGAIN);
}

/* ---- what is heard ---- */

static void a_subscription_gets_every_message(struct conformance *test)
{
    enum { FLOWS = 300 };
    gyre_pipeline *pipeline = open_market(test, 1);
    call_ticks(pipeline, 1000, 5); /* nobody has subscribed yet */
    gyre_subscription *prices = subscribe(pipeline, "prices", GYRE_SLOW_WAIT, 0),
                      *again = subscribe(pipeline, "prices", GYRE_SLOW_DROP, 512);
    require_none(prices);
    call_ticks(pipeline, 1, FLOWS);
    for (uint64_t i = 1; i <= FLOWS; i++)
        require(receive_number(prices) == i && receive_number(again) == i);
    require_none(prices);
    const gyre_subscription_info info = about(prices);
    require(info.received == FLOWS && info.missed == 0 && !info.is_cut && info.slow == GYRE_SLOW_WAIT);
    require(!strcmp(info.name, "market/prices") && !strcmp(info.type->name, "job"));
    gyre_unsubscribe(prices);
    call_ticks(pipeline, FLOWS + 1, 1);
    require(receive_number(again) == FLOWS + 1);
    gyre_unsubscribe(again);
    require(ask_one(test).count == FLOWS + 6);
}

static void an_outlet_has_programs_alone(struct conformance *test)
{
    gyre_pipeline *pipeline = open_market(test, 1);
    gyre_link_info info = {.size = sizeof info};
    call_ticks(pipeline, 1, 100); /* thrown away */
    gyre_subscription *firsts = subscribe(pipeline, "firsts", GYRE_SLOW_WAIT, 0);
    call_ticks(pipeline, 101, 100);
    for (uint64_t i = 101; i <= 200; i++)
        require(receive_number(firsts) == i);
    gyre_unsubscribe(firsts);
    must(gyre_pipeline_link(pipeline, 1, &info));
    require(!strcmp(info.to, "host") && !strcmp(info.name, "firsts") && info.sent == 200);
}

/* Two kernels of two blocks each, five messages a flow: all of them, whatever ring they come by. */
static void a_subscription_hears_all_senders(struct conformance *test)
{
    enum { FLOWS = 400 };
    const gyre_link_desc links[] = {
        join("source.ticks", "one", NULL, "prices"), join("other.ticks", "one", NULL, "prices"),
        join("source.first", "nowhere", NULL, NULL), join("other.first", "nowhere", NULL, NULL)};
    gyre_queue *queues[2];
    launch_as(test, "listen", "one", 1);
    for (int i = 0; i < 2; i++)
        launch_as(test, "publish", sources[i], 2);
    gyre_pipeline *pipeline = open_with_links(test, links, 4, 2);
    gyre_subscription *prices = subscribe(pipeline, "prices", GYRE_SLOW_WAIT, 16);
    uint64_t sum = 0, count = 0;
    for (int i = 0; i < 2; i++)
        must(gyre_pipeline_queue_open(pipeline, sources[i], NULL, &queues[i]));
    for (uint64_t i = 0; i < FLOWS; i++) {
        const job request = {.number = i * TICKS_MOST, .hops = TICKS_MOST};
        gyre_completion completion;
        job reply;
        must(gyre_send(queues[i % 2], &request, sizeof request, NULL, soon()));
        for (int j = 0; j < TICKS_MOST; j++, count++)
            sum += receive_number(prices);
        must(gyre_receive(queues[i % 2], &reply, sizeof reply, &completion, soon()));
    }
    require(count == FLOWS * TICKS_MOST && sum == count * (count - 1) / 2);
    require_none(prices);
    gyre_unsubscribe(prices);
}

static void a_message_with_a_tail_is_heard_whole(struct conformance *test)
{
    static const char *const source[] = {"source"};
    const gyre_link_desc link = join("source.out", "host", "memos", NULL);
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "notes",
                                     .entries = source,
                                     .entry_count = 1,
                                     .links = &link,
                                     .link_count = 1};
    gyre_pipeline *pipeline = NULL;
    gyre_subscription *memos = NULL;
    launch_as(test, "publish_memo", "source", 1);
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    must(gyre_subscribe(pipeline, "memos", NULL, &memos));
    for (uint64_t i = 0; i < 64; i++) {
        char text[80];
        memo request, copy;
        gyre_completion completion;
        gyre_publication told = {.size = sizeof told};
        memset(text, 'a' + (int)(i % 26), sizeof text);
        gyre_begin(&request);
        request.number = i;
        text[i] = '\0';
        must(gyre_put_text(&request, &request.text, text));
        must(
            gyre_call(gyre_pipeline_queue(pipeline), &request, sizeof request, NULL, 0, &completion, soon()));
        memset(&copy, 0xff, sizeof copy);
        must(gyre_subscription_receive(memos, &copy, sizeof copy, &told, soon()));
        require(copy.number == i && copy.text.count == i && told.length < sizeof copy);
        require(i == 0 || !memcmp(gyre_items(char, &copy, copy.text), text, i));
        require(((const unsigned char *)&copy)[sizeof copy - 1] == 0); /* what it does not say is zero */
    }
    gyre_unsubscribe(memos);
}

/* A place that the handler does not fill holds an earlier message, perhaps one that another user's program sent. */
static void what_a_sender_leaves_out_is_zero(struct conformance *test)
{
    const job full = {.number = 1, .sum = 0x5ec7e7, .hops = TICKS_MOST, .what = JOB_SPIN},
              bare = {.number = 7, .hops = TICKS_MOST, .what = JOB_BARE};
    gyre_link_desc links[] = {join("source.ticks", "one", NULL, "prices"),
                              join("source.first", "host", "firsts", NULL)};
    job tick;
    gyre_completion done;
    links[0].capacity = links[1].capacity = 16;
    launch_as(test, "publish", "source", 1);
    launch_as(test, "listen", "one", 1);
    gyre_pipeline *pipeline = open_with_links(test, links, 2, 1);
    for (int i = 0; i < 32; i++)
        must(gyre_call(gyre_pipeline_queue(pipeline), &full, sizeof full, &tick, sizeof tick, &done, soon()));
    gyre_subscription *all[] = {subscribe(pipeline, "prices", GYRE_SLOW_WAIT, 0),
                                subscribe(pipeline, "firsts", GYRE_SLOW_WAIT, 0)};
    must(gyre_call(gyre_pipeline_queue(pipeline), &bare, sizeof bare, &tick, sizeof tick, &done, soon()));
    for (int i = 0; i < 2; i++) {
        must(gyre_subscription_receive(all[i], &tick, sizeof tick, NULL, soon()));
        require(tick.number == 7 && tick.sum == 0 && tick.hops == 0 && tick.what == 0);
        gyre_unsubscribe(all[i]);
    }
}

/* ---- coming and going ---- */

struct load {
    gyre_pipeline *pipeline;
    uint64_t sent;
    bool over; /* atomic */
};

static void *send_ticks(void *argument)
{
    struct load *load = argument;
    while (!__atomic_load_n(&load->over, __ATOMIC_RELAXED))
        call_tick(gyre_pipeline_queue(load->pipeline), ++load->sent);
    return NULL;
}

/* What a subscription hears has no gap but what it was told to have missed. */
static void hear_some(gyre_subscription *subscription, uint64_t count)
{
    uint64_t last = 0;
    for (uint64_t i = 0; i < count; i++) {
        job tick;
        gyre_publication told = {.size = sizeof told};
        must(gyre_subscription_receive(subscription, &tick, sizeof tick, &told, soon()));
        require(last == 0 || tick.number > last);
        require(last == 0 || tick.number - last - 1 <= about(subscription).missed);
        last = tick.number;
    }
    const gyre_subscription_info info = about(subscription);
    require(info.received == count && (info.slow != GYRE_SLOW_WAIT || info.missed == 0));
}

static void subscriptions_come_and_go_under_load(struct conformance *test)
{
    enum { ROUNDS = 60, KEPT = 3 };
    struct load load = {.pipeline = open_market(test, 1)};
    gyre_subscription *kept[KEPT] = {NULL};
    pthread_t sender;
    require(pthread_create(&sender, NULL, send_ticks, &load) == 0);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const char *topic = round % 2 ? "prices" : "firsts";
        gyre_subscription **place = &kept[round % KEPT];
        gyre_unsubscribe(*place);
        *place = subscribe(load.pipeline, topic, GYRE_SLOW_DROP, 16);
        gyre_subscription *waited = subscribe(load.pipeline, topic, GYRE_SLOW_WAIT, 16);
        hear_some(waited, round % 40);
        sleep_ms(1);
        gyre_unsubscribe(waited); /* most often while the sender waits for it */
        hear_some(*place, round % 40);
    }
    for (int i = 0; i < KEPT; i++)
        gyre_unsubscribe(kept[i]);
    __atomic_store_n(&load.over, true, __ATOMIC_RELAXED);
    pthread_join(sender, NULL);
    const heard told = ask_one(test); /* the kernel that subscribes missed nothing meanwhile */
    require(told.count == load.sent && told.sum == load.sent * (load.sent + 1) / 2 && told.disorder == 0);
}

/* The rings go when the last message was taken, not with the pipeline. */
static void a_subscription_outlives_its_pipeline(struct conformance *test)
{
    gyre_pipeline *pipeline = open_market(test, 1);
    gyre_subscription *prices = subscribe(pipeline, "prices", GYRE_SLOW_WAIT, 0),
                      *firsts = subscribe(pipeline, "firsts", GYRE_SLOW_WAIT, 0);
    job tick;
    call_ticks(pipeline, 1, 10);
    must(gyre_pipeline_close(pipeline, soon()));
    gyre_unsubscribe(firsts); /* with messages that nobody took */
    for (uint64_t i = 1; i <= 10; i++)
        require(receive_number(prices) == i);
    require(gyre_subscription_receive(prices, &tick, sizeof tick, NULL, soon()) == GYRE_CLOSED);
    require_sentence("the pipeline of 'market/prices' was closed");
    gyre_unsubscribe(prices);
}

static void *wait_for_end(void *argument)
{
    job tick;
    require(gyre_subscription_receive(argument, &tick, sizeof tick, NULL, soon()) == GYRE_CLOSED);
    return NULL;
}

static void who_waits_hears_the_end(struct conformance *test)
{
    gyre_pipeline *pipeline = open_market(test, 1);
    gyre_subscription *one = subscribe(pipeline, "prices", GYRE_SLOW_WAIT, 0),
                      *two = subscribe(pipeline, "prices", GYRE_SLOW_WAIT, 0);
    pthread_t waiters[2];
    require(pthread_create(&waiters[0], NULL, wait_for_end, one) == 0);
    require(pthread_create(&waiters[1], NULL, wait_for_end, two) == 0);
    sleep_ms(20);
    gyre_unsubscribe(one);
    must(gyre_pipeline_close(pipeline, soon()));
    pthread_join(waiters[0], NULL);
    pthread_join(waiters[1], NULL);
    gyre_unsubscribe(two);
}

/* ---- slow ones ---- */

/* Sends until nothing goes in any more. Returns how many flows were accepted. */
static uint64_t fill_up(gyre_queue *queue)
{
    uint64_t sent = 0;
    for (int quiet = 0; quiet < 20;) {
        const job request = {.number = sent + 1, .hops = 1};
        const gyre_status status = gyre_send(queue, &request, sizeof request, NULL, gyre_in_ms(5));
        sent += status == GYRE_OK;
        quiet = status == GYRE_OK ? 0 : quiet + 1;
    }
    return sent;
}

static void a_slow_subscription_is_waited_for(struct conformance *test)
{
    gyre_pipeline *pipeline = open_market(test, 1);
    gyre_subscription *prices = subscribe(pipeline, "prices", GYRE_SLOW_WAIT, 16);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    const uint64_t sent = fill_up(queue);
    require(ask_one(test).count <= 16 && sent > 16); /* the other subscriber waits as well */
    for (uint64_t i = 1; i <= sent; i++)
        require(receive_number(prices) == i);
    for (uint64_t i = 0; i < sent; i++) {
        job reply;
        gyre_completion completion;
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    }
    fill_up(queue);
    gyre_unsubscribe(prices); /* it holds the pipeline up no longer */
    must(gyre_pipeline_drain(pipeline, soon(), NULL));
    require(ask_one(test).count > sent);
}

static void a_slow_subscription_may_miss_messages(struct conformance *test)
{
    enum { FLOWS = 100 };
    gyre_pipeline *pipeline = open_market(test, 1);
    gyre_subscription *prices = subscribe(pipeline, "prices", GYRE_SLOW_DROP, 16);
    job tick;
    gyre_publication told = {.size = sizeof told};
    uint64_t count = 0, missed = 0;
    call_ticks(pipeline, 1, FLOWS); /* nobody is held up */
    require(ask_one(test).count == FLOWS);
    while (gyre_subscription_receive(prices, &tick, sizeof tick, &told, GYRE_NO_WAIT) == GYRE_OK) {
        require(tick.number == ++count);
        missed += told.missed;
    }
    require(count == 16 && missed == FLOWS - 16 && about(prices).missed == missed);
    call_tick(gyre_pipeline_queue(pipeline), FLOWS + 1);
    require(receive_number(prices) == FLOWS + 1 && about(prices).missed == missed);
    gyre_unsubscribe(prices);
    require(has_logged(test, "topic 'prices': a subscription received 17 messages and missed 84"));
}

static void a_slow_subscription_may_be_cut_off(struct conformance *test)
{
    gyre_pipeline *pipeline = open_market(test, 1);
    gyre_subscription *prices = subscribe(pipeline, "prices", GYRE_SLOW_CUT, 16);
    job tick;
    call_ticks(pipeline, 1, 20);
    for (uint64_t i = 1; i <= 16; i++)
        require(receive_number(prices) == i);
    require(gyre_subscription_receive(prices, &tick, sizeof tick, NULL, soon()) == GYRE_CLOSED);
    require_sentence("was too slow and was cut off: it missed 4 messages so far");
    call_ticks(pipeline, 21, 1); /* there is room, and it gets nothing */
    require(gyre_subscription_receive(prices, &tick, sizeof tick, NULL, soon()) == GYRE_CLOSED);
    require(about(prices).is_cut && about(prices).missed == 5);
    gyre_subscription *again = subscribe(pipeline, "prices", GYRE_SLOW_CUT, 16);
    call_ticks(pipeline, 22, 1);
    require(receive_number(again) == 22 && !about(again).is_cut);
    gyre_unsubscribe(again);
    gyre_unsubscribe(prices);
}

/* ---- mistakes ---- */

static void wrong_subscriptions_are_told(struct conformance *test)
{
    gyre_pipeline *pipeline = open_market(test, 1);
    gyre_subscription *none = NULL;
    job tick;
    const struct {
        const char *topic;
        gyre_subscribe_desc desc;
        gyre_status status;
        const char *sentence;
    } wrong[] = {
        {"price", {.slow = GYRE_SLOW_WAIT}, GYRE_NOT_FOUND, "has no topic and no outlet 'price'; it has: "},
        {"price", {.slow = GYRE_SLOW_WAIT}, GYRE_NOT_FOUND, "did you mean 'prices'?"},
        {"", {.slow = GYRE_SLOW_WAIT}, GYRE_NOT_FOUND, "has no topic and no outlet ''"},
        {"prices",
         {.slow = GYRE_SLOW_TAP},
         GYRE_INVALID,
         "slow: expected GYRE_SLOW_WAIT, _DROP or _CUT, found 3"},
        {"prices", {.capacity = 24}, GYRE_INVALID, "expected a power of two, or 0, found 24"},
        {"prices", {.capacity = 8}, GYRE_INVALID, "expected a power of two from 16"},
        {"prices", {.type = GYRE_TYPE(memo)}, GYRE_INCOMPATIBLE, "the subscriber"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        gyre_subscribe_desc desc = wrong[i].desc;
        desc.size = sizeof desc;
        require(gyre_subscribe(pipeline, wrong[i].topic, &desc, &none) == wrong[i].status && !none);
        require_sentence(wrong[i].sentence);
    }
    gyre_subscription *prices = subscribe(pipeline, "prices", GYRE_SLOW_WAIT, 0);
    require(gyre_subscription_receive(prices, &tick, sizeof tick - 1, NULL, 0) == GYRE_INVALID);
    require(gyre_subscription_receive(prices, &tick, sizeof tick, NULL, gyre_in_ms(5)) == GYRE_TIMEOUT);
    gyre_unsubscribe(prices);
    gyre_unsubscribe(NULL);
}

/* Kernels that hold no trace of programs send to none. */
static void a_sender_serves_programs_or_says_so(struct conformance *test)
{
    const gyre_link_desc links[] = {join("source.ticks", "one", NULL, "prices"),
                                    join("source.first", "host", "firsts", NULL)};
    const gyre_subscribe_desc desc = {.size = sizeof desc, .slow = GYRE_SLOW_DROP};
    gyre_subscription *prices = NULL;
    launch_stage(test, "publish", "source", 1, 1);
    launch_stage(test, "listen", "one", 1, 1);
    gyre_pipeline *pipeline = open_with_links(test, links, 2, 1);
    if (gyre_subscribe(pipeline, "prices", &desc, &prices) != GYRE_OK) {
        require(!prices && !strcmp(test->backend, "cuda"));
        require_sentence("kernel 'source' was compiled without what sends to programs: launch it with "
                         "gyre_launch_desc.stage = GYRE_STAGE_COUNTED");
    }
    call_ticks(pipeline, 1, 3);
    require(ask_one(test).count == 3 && (!prices || receive_number(prices) == 1));
    gyre_unsubscribe(prices);
}

/* A kernel sends to so many at once, and says so; one that leaves makes room. */
static void a_sender_has_many_subscribers_at_most(struct conformance *test)
{
    enum { MOST = 64 };
    gyre_pipeline *pipeline = open_market(test, 1);
    gyre_subscription *all[MOST], *more = NULL;
    int count = 0;
    while (gyre_subscribe(pipeline, "prices", NULL, &more) == GYRE_OK) {
        require(count < MOST);
        all[count++] = more;
    }
    require(count == MOST - 1 && more == NULL); /* with the kernel */
    require_sentence("have 64 subscribers, which is the most");
    call_tick(gyre_pipeline_queue(pipeline), 7);
    for (int i = 0; i < count; i++)
        require(receive_number(all[i]) == 7);
    gyre_unsubscribe(all[0]);
    all[0] = subscribe(pipeline, "prices", GYRE_SLOW_WAIT, 0);
    while (count)
        gyre_unsubscribe(all[--count]);
}

const struct conformance_case subscriber_cases[] = {
    {"a_subscription_gets_every_message", a_subscription_gets_every_message},
    {"an_outlet_has_programs_alone", an_outlet_has_programs_alone},
    {"a_subscription_hears_all_senders", a_subscription_hears_all_senders},
    {"a_message_with_a_tail_is_heard_whole", a_message_with_a_tail_is_heard_whole},
    {"what_a_sender_leaves_out_is_zero", what_a_sender_leaves_out_is_zero},
    {"subscriptions_come_and_go_under_load", subscriptions_come_and_go_under_load},
    {"a_subscription_outlives_its_pipeline", a_subscription_outlives_its_pipeline},
    {"who_waits_hears_the_end", who_waits_hears_the_end},
    {"a_slow_subscription_is_waited_for", a_slow_subscription_is_waited_for},
    {"a_slow_subscription_may_miss_messages", a_slow_subscription_may_miss_messages},
    {"a_slow_subscription_may_be_cut_off", a_slow_subscription_may_be_cut_off},
    {"wrong_subscriptions_are_told", wrong_subscriptions_are_told},
    {"a_sender_serves_programs_or_says_so", a_sender_serves_programs_or_says_so},
    {"a_sender_has_many_subscribers_at_most", a_sender_has_many_subscribers_at_most},
    {NULL, NULL},
};
