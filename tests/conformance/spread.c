/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel on several devices behind one name. Where a backend has one device here, most cases say so by name. */
#include "conformance.h"

#include "kernels/keyed.h"

#include <gyre/spread.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { KEYS = 29, EACH = 150, SENDERS = 2, MOST_SETTINGS = 8 };

static void need_two_devices(const struct conformance *test)
{
    gyre_buffer *buffer = NULL;
    if (gyre_buffer_alloc(test->runtime, test->backend, 1, 64, &buffer) != GYRE_OK)
        not_on_this_machine("a second device");
    must(gyre_buffer_free(buffer));
}

static gyre_launch_desc orders_launch(const struct conformance *test)
{
    gyre_launch_desc launch = launch_desc(test, "shards.gyre.c", "orders");
    launch.name = "trade";
    launch.request = GYRE_TYPE(order);
    launch.reply = GYRE_TYPE(order_reply);
    return launch;
}

static gyre_spread *open_spread(gyre_runtime *runtime, const gyre_launch_desc *launch, gyre_spread_desc desc)
{
    gyre_spread *spread = NULL;
    desc.size = sizeof desc;
    desc.launch = launch;
    must(gyre_spread_launch(runtime, &desc, &spread));
    return spread;
}

static bool answers(const order_reply *reply, const order *request)
{
    return reply->who.account == request->who.account && reply->who.desk == request->who.desk &&
           reply->number == request->number && reply->total == request->number * 3 + request->who.account;
}

/* ---- by key ---- */

struct sender {
    pthread_t thread;
    gyre_shards *shards;
    uint32_t desk;
};

static void *send_orders(void *argument)
{
    const struct sender *sender = argument;
    for (uint64_t i = 0; i < KEYS * EACH; i++) {
        const order request = {.number = i / KEYS, .who = {.account = (i * 11) % KEYS, .desk = sender->desk}};
        must(gyre_shards_send(sender->shards, &request, sizeof request, NULL, soon()));
    }
    return NULL;
}

/* Takes all replies: each is right, in the order of its key and sender, and comes from the device of its key. */
static void receive_orders(gyre_shards *shards, uint64_t of_device[2])
{
    static uint64_t next[SENDERS][KEYS];
    static uint32_t device_of[KEYS]; /* + 1 */
    for (uint64_t i = 0; i < SENDERS * KEYS * EACH; i++) {
        order_reply reply;
        uint32_t device = 7;
        must(gyre_shards_receive(shards, &reply, sizeof reply, &device, NULL, soon()));
        const uint64_t key = reply.who.account;
        const order request = {.number = reply.number, .who = reply.who};
        require(key < KEYS && reply.who.desk < SENDERS && device < 2 && answers(&reply, &request));
        require(reply.number == next[reply.who.desk][key]++);
        require(device_of[key] == 0 || device_of[key] == device + 1);
        device_of[key] = device + 1;
        of_device[device]++;
    }
}

static void keys_stay_on_their_device(struct conformance *test)
{
    static const char *const settings[] = {"kernel.trade.device=0,1", "kernel.trade.shard=key",
                                           "kernel.trade.key=who.account", NULL};
    struct sender senders[SENDERS];
    uint64_t of_device[2] = {0};
    need_two_devices(test);
    gyre_runtime *runtime = open_with(test, settings);
    const gyre_launch_desc launch = orders_launch(test);
    gyre_spread *spread = open_spread(runtime, &launch, (gyre_spread_desc){0});
    gyre_shards *shards = gyre_spread_shards(spread);
    require(gyre_spread_count(spread) == 2 && gyre_shards_count(shards) == 2);
    for (uint32_t i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){.shards = shards, .desk = i};
        require(pthread_create(&senders[i].thread, NULL, send_orders, &senders[i]) == 0);
    }
    receive_orders(shards, of_device);
    for (uint32_t i = 0; i < SENDERS; i++)
        pthread_join(senders[i].thread, NULL);
    require(of_device[0] > 0 && of_device[1] > 0);
    for (uint32_t i = 0; i < 2; i++) {
        const gyre_kernel_info info = info_of(gyre_spread_part(spread, i));
        char name[32];
        snprintf(name, sizeof name, "trade#%u", i);
        require(strcmp(info.name, name) == 0 &&
                gyre_kernel_find(runtime, name) == gyre_spread_part(spread, i));
        require(stats_of(gyre_shards_queue(shards, i)).received == of_device[i]);
    }
    must(gyre_spread_terminate(spread, soon(), NULL));
    gyre_spread_release(spread);
    require(gyre_kernels(runtime, NULL, 0) == 0);
    gyre_close(runtime);
}

/* An actor for each key: its state is on the one device that its messages go to. */
static void keys_of_actors_have_one_state(struct conformance *test)
{
    static const char *const settings[] = {"kernel.marked.device=1,0", "kernel.marked.shard=key",
                                           "kernel.marked.keys=64", NULL};
    need_two_devices(test);
    gyre_runtime *runtime = open_with(test, settings);
    gyre_launch_desc launch = launch_desc(test, "keyed.gyre.c", "keyed_marks");
    launch.name = "marked";
    gyre_spread *spread = open_spread(runtime, &launch, (gyre_spread_desc){0});
    for (uint32_t round = 1; round <= 3; round++)
        for (uint64_t key = 0; key < KEYS; key++) {
            mark request = {.number = round};
            marks reply;
            request.key = key;
            must(gyre_shards_call(gyre_spread_shards(spread), &request, sizeof request, &reply, sizeof reply,
                                  NULL, soon()));
            require(reply.count == round);
        }
    require(info_of(gyre_spread_part(spread, 0)).handled > 0 &&
            info_of(gyre_spread_part(spread, 1)).handled > 0);
    gyre_close(runtime); /* with the spread open */
}

/* ---- the other rules ---- */

static void devices_take_turns(struct conformance *test)
{
    const uint32_t devices[] = {1, 0};
    need_two_devices(test);
    const gyre_launch_desc launch = orders_launch(test);
    gyre_spread *spread = open_spread(
        test->runtime, &launch,
        (gyre_spread_desc){.devices = devices, .device_count = 2, .rule = GYRE_SHARD_ROUND_ROBIN});
    gyre_shards *shards = gyre_spread_shards(spread);
    for (uint64_t i = 0; i < 40; i++) {
        const order request = {.number = i, .who = {.account = 5}};
        gyre_shard_ticket ticket = {.ring = 9};
        order_reply reply;
        must(gyre_shards_send(shards, &request, sizeof request, &ticket, soon()));
        must(gyre_shards_receive(shards, &reply, sizeof reply, NULL, NULL, soon()));
        require(ticket.ring == i % 2 && ticket.index == i / 2 && answers(&reply, &request));
    }
    require(strcmp(info_of(gyre_spread_part(spread, 0)).name, "trade#1") == 0);
    gyre_shards_close(shards); /* the spread's: nothing happens */
    require(gyre_shards_count(gyre_spread_shards(spread)) == 2);
    gyre_spread_release(spread);
}

static void a_thread_stays_on_one_device(struct conformance *test)
{
    const uint32_t devices[] = {0, 1};
    uint32_t first = 9, ring = 9;
    need_two_devices(test);
    const gyre_launch_desc launch = orders_launch(test);
    gyre_spread *spread =
        open_spread(test->runtime, &launch,
                    (gyre_spread_desc){.devices = devices, .device_count = 2, .rule = GYRE_SHARD_PRODUCER});
    must(gyre_shards_pick(gyre_spread_shards(spread), NULL, 0, &first));
    for (uint64_t i = 0; i < 20; i++) {
        const order request = {.number = i, .who = {.account = i}};
        order_reply reply;
        must(gyre_shards_send(gyre_spread_shards(spread), &request, sizeof request, NULL, soon()));
        must(gyre_shards_receive(gyre_spread_shards(spread), &reply, sizeof reply, &ring, NULL, soon()));
        require(ring == first && reply.number == i && answers(&reply, &request));
    }
    gyre_spread_release(spread);
}

/* ---- other programs ---- */

static const char *place(char path[108])
{
    snprintf(path, 108, "/tmp/gyre-spread-%d.sock", (int)getpid());
    return path;
}

static gyre_server *serve(gyre_runtime *runtime, const char *path)
{
    gyre_server *server = NULL;
    const gyre_serve_desc desc = {.size = sizeof desc, .path = path};
    must(gyre_serve(runtime, &desc, &server));
    return server;
}

static gyre_attach_desc attach_desc(const char *path)
{
    return (gyre_attach_desc){.size = sizeof(gyre_attach_desc),
                              .path = path,
                              .request = GYRE_TYPE(order),
                              .reply = GYRE_TYPE(order_reply),
                              .deadline_ns = soon()};
}

static gyre_spread *open_on_both(struct conformance *test, gyre_shard_rule rule)
{
    static const uint32_t devices[] = {0, 1};
    const gyre_launch_desc launch = orders_launch(test);
    return open_spread(test->runtime, &launch,
                       (gyre_spread_desc){.devices = devices,
                                          .device_count = 2,
                                          .rule = rule,
                                          .key = rule == GYRE_SHARD_KEY ? "who.account" : NULL});
}

static void call_each_key(gyre_shards *shards)
{
    for (uint64_t i = 0; i < KEYS; i++) {
        const order request = {.number = i, .who = {.account = i, .desk = 3}};
        order_reply reply;
        must(gyre_shards_call(shards, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
        require(answers(&reply, &request));
    }
}

/* A client sends each key to the device to which the server's own program sends it. */
static void clients_reach_all_devices(struct conformance *test)
{
    char path[108];
    gyre_shards *shards = NULL;
    gyre_queue *queue = NULL;
    need_two_devices(test);
    gyre_spread *spread = open_on_both(test, GYRE_SHARD_KEY);
    gyre_server *server = serve(test->runtime, place(path));
    gyre_attach_desc desc = attach_desc(path);
    require(gyre_attach("trade", &desc, &queue) == GYRE_INVALID);
    require_sentence("gyre_attach_shards");
    must(gyre_attach_shards("trade", &desc, &shards));
    require(gyre_shards_count(shards) == 2);
    for (uint64_t i = 0; i < KEYS; i++) {
        const order request = {.who = {.account = i}};
        uint32_t own = 8, served = 9;
        must(gyre_shards_pick(shards, &request, sizeof request, &own));
        must(gyre_shards_pick(gyre_spread_shards(spread), &request, sizeof request, &served));
        require(own == served);
    }
    call_each_key(shards);
    require(info_of(gyre_spread_part(spread, 0)).handled > 0 &&
            info_of(gyre_spread_part(spread, 1)).handled > 0);
    gyre_shards_close(shards);
    require(gyre_attach_shards("trades", &desc, &shards) == GYRE_NOT_FOUND && !shards);
    require_sentence("no kernel 'trades' on several devices");
    desc.reconnect = true;
    require(gyre_attach_shards("trade", &desc, &shards) == GYRE_INVALID);
    gyre_server_close(server);
    gyre_spread_release(spread);
}

static void clients_take_turns(struct conformance *test)
{
    char path[108];
    gyre_shards *shards = NULL;
    gyre_queue *queues[2] = {NULL};
    need_two_devices(test);
    gyre_spread *spread = open_on_both(test, GYRE_SHARD_PRODUCER);
    gyre_server *server = serve(test->runtime, place(path));
    const gyre_attach_desc desc = attach_desc(path);
    for (uint64_t i = 0; i < 2; i++) {
        const order request = {.number = i, .who = {.account = i}};
        order_reply reply;
        must(gyre_attach("trade", &desc, &queues[i]));
        must(gyre_call(queues[i], &request, sizeof request, &reply, sizeof reply, NULL, soon()));
        require(answers(&reply, &request));
    }
    const uint64_t deadline_ns = soon();
    for (uint32_t i = 0; i < 2; i++) /* counts may come a little after the replies */
        while (info_of(gyre_spread_part(spread, i)).handled != 1)
            require(gyre_now_ns() < deadline_ns);
    must(gyre_attach_shards("trade", &desc, &shards)); /* this thread is one producer of it */
    call_each_key(shards);
    gyre_shards_close(shards);
    gyre_queue_close(queues[0]);
    gyre_queue_close(queues[1]);
    gyre_server_close(server);
    gyre_spread_release(spread);
}

/* Attaches a client of a name, and calls once. Returns the part that handled the request. */
static uint32_t part_of_client(const char *path, const char *client, gyre_spread *spread)
{
    gyre_attach_desc desc = attach_desc(path);
    const uint64_t before = info_of(gyre_spread_part(spread, 0)).handled +
                            info_of(gyre_spread_part(spread, 1)).handled,
                   first = info_of(gyre_spread_part(spread, 0)).handled, deadline_ns = soon();
    const order request = {.number = 1, .who = {.account = 5}};
    order_reply reply;
    gyre_queue *queue = NULL;
    desc.client = client;
    must(gyre_attach("trade", &desc, &queue));
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    require(answers(&reply, &request));
    while (info_of(gyre_spread_part(spread, 0)).handled + info_of(gyre_spread_part(spread, 1)).handled ==
           before) /* the count may come a little after the reply */
        require(gyre_now_ns() < deadline_ns);
    gyre_queue_close(queue);
    return info_of(gyre_spread_part(spread, 0)).handled == first;
}

/* What is kept for a client of a name is kept by the part that it had: it gets that part again. */
static void a_named_client_keeps_its_device(struct conformance *test)
{
    enum { NAMES = 16 };
    char path[108];
    need_two_devices(test);
    gyre_spread *spread = open_on_both(test, GYRE_SHARD_PRODUCER);
    gyre_server *server = serve(test->runtime, place(path));
    uint32_t on_second = 0;
    for (uint32_t i = 0; i < NAMES; i++) {
        char name[16];
        snprintf(name, sizeof name, "client %u", i);
        const uint32_t part = part_of_client(path, name, spread);
        require(part_of_client(path, name, spread) == part);
        require(part_of_client(path, name, spread) == part);
        on_second += part;
    }
    require(on_second > 0 && on_second < NAMES);
    gyre_server_close(server);
    gyre_spread_release(spread);
}

/* ---- ends ---- */

static void a_part_that_ended_is_named(struct conformance *test)
{
    const uint32_t devices[] = {0, 1};
    uint64_t unhandled = 9;
    need_two_devices(test);
    const gyre_launch_desc launch = orders_launch(test);
    gyre_spread *spread = open_spread(
        test->runtime, &launch,
        (gyre_spread_desc){.devices = devices, .device_count = 2, .rule = GYRE_SHARD_ROUND_ROBIN});
    gyre_shards *shards = gyre_spread_shards(spread);
    must(gyre_kernel_terminate(gyre_spread_part(spread, 1), GYRE_NO_WAIT, NULL));
    for (uint64_t i = 0; i < 10; i++) {
        const order request = {.number = i, .who = {.account = i}};
        order_reply reply;
        gyre_shard_ticket ticket;
        const gyre_status status = gyre_shards_send(shards, &request, sizeof request, &ticket, soon());
        require(status == (i % 2 ? GYRE_CLOSED : GYRE_OK));
        if (status != GYRE_OK) {
            require_sentence("trade#1");
            continue;
        }
        must(gyre_shards_receive(shards, &reply, sizeof reply, NULL, NULL, soon()));
        require(ticket.ring == 0 && answers(&reply, &request));
    }
    must(gyre_spread_terminate(spread, soon(), &unhandled));
    require(unhandled == 0);
    gyre_spread_release(spread);
}

/* ---- what is refused ---- */

static void require_refused(const struct conformance *test, const char *const *settings,
                            gyre_launch_desc launch, gyre_status expected, const char *sentence)
{
    gyre_spread *spread = NULL;
    gyre_runtime *runtime = open_with(test, settings);
    const gyre_spread_desc desc = {.size = sizeof desc, .launch = &launch};
    const gyre_status status = gyre_spread_launch(runtime, &desc, &spread);
    if (status != expected)
        fprintf(stderr, "expected status %d, found %d\n", (int)expected, (int)status);
    require(status == expected && !spread && gyre_kernels(runtime, NULL, 0) == 0);
    require_sentence(sentence);
    gyre_close(runtime);
}

/* Each is told before a second device is opened, so any machine will do. */
static void wrong_spreads_are_told(struct conformance *test)
{
    static const struct {
        const char *settings[MOST_SETTINGS];
        const char *sentence;
    } wrong[] = {
        {{"kernel.trade.device=0,0"}, "device 0 is named twice"},
        {{"kernel.trade.device=0,one"}, "expected 1 to 16 device numbers"},
        {{"kernel.trade.device=0,123456"}, "expected 1 to 16 device numbers"},
        {{"kernel.trade.device=0,1", "kernel.trade.shard=key"}, "no key is named"},
        {{"kernel.trade.device=0,1", "kernel.trade.shard=key", "kernel.trade.key=who.acount"}, "acount"},
        {{"kernel.trade.device=0,1", "queue.trade.durability=journal"}, "cannot have a journal"},
        {{"kernel.trade.device=0,1", "queue.trade.rings=2"}, "one ring on each"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        require_refused(test, wrong[i].settings, orders_launch(test), GYRE_CONFIG, wrong[i].sentence);
    static const char *const none[] = {NULL};
    require_refused(test, none, orders_launch(test), GYRE_INVALID, "has no devices");
}

static void a_device_that_is_not_there_is_named(struct conformance *test)
{
    static const char *const settings[] = {"kernel.trade.device=0,77", NULL};
    gyre_spread *spread = NULL;
    gyre_runtime *runtime = open_with(test, settings);
    const gyre_launch_desc launch = orders_launch(test);
    const gyre_spread_desc desc = {.size = sizeof desc, .launch = &launch};
    const gyre_status status = gyre_spread_launch(runtime, &desc, &spread);
    require((status == GYRE_INVALID || status == GYRE_UNAVAILABLE) && !spread);
    require_sentence("kernel 'trade' on device 77");
    require(gyre_kernels(runtime, NULL, 0) == 0); /* the part on device 0 was taken back */
    gyre_close(runtime);
}

static void one_launch_is_for_one_device(struct conformance *test)
{
    static const char *const several[] = {"kernel.trade.device=0,1", NULL};
    static const char *const single[] = {"kernel.trade.device=0", NULL};
    gyre_kernel *kernel = NULL;
    const gyre_launch_desc launch = orders_launch(test);
    gyre_runtime *runtime = open_with(test, several);
    require(gyre_launch(runtime, &launch, &kernel) == GYRE_INVALID && !kernel);
    require_sentence("is configured for 2 devices (0, 1)");
    require_sentence("gyre_spread_launch");
    gyre_close(runtime);
    runtime = open_with(test, single);
    must(gyre_launch(runtime, &launch, &kernel));
    gyre_spread *spread =
        open_spread(runtime, &launch, (gyre_spread_desc){0}); /* of one device, beside it: trade#0 */
    require(gyre_spread_count(spread) == 1 && gyre_shards_count(gyre_spread_shards(spread)) == 1);
    gyre_close(runtime);
}

const struct conformance_case spread_cases[] = {
    {"keys_stay_on_their_device", keys_stay_on_their_device},
    {"keys_of_actors_have_one_state", keys_of_actors_have_one_state},
    {"devices_take_turns", devices_take_turns},
    {"a_thread_stays_on_one_device", a_thread_stays_on_one_device},
    {"clients_reach_all_devices", clients_reach_all_devices},
    {"clients_take_turns", clients_take_turns},
    {"a_named_client_keeps_its_device", a_named_client_keeps_its_device},
    {"a_part_that_ended_is_named", a_part_that_ended_is_named},
    {"wrong_spreads_are_told", wrong_spreads_are_told},
    {"a_device_that_is_not_there_is_named", a_device_that_is_not_there_is_named},
    {"one_launch_is_for_one_device", one_launch_is_for_one_device},
    {NULL, NULL},
};
