/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that subscribe to a topic of another program's pipeline: each hears what its way of being slow says, and none
 * disturbs the pipeline, by its death or by what it sends. One case a run: `test_attach_subscribers CASE`.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gyre/subscribe.h>

#include "core/attach/meeting.h"
#include "parties.h"
#include "tests/conformance/kernels/topics.h"
#include "../../../patience.h"

enum { FLOWS = 600, SMALL = 16 };

/* ---- the server ---- */

static void launch_stage(gyre_runtime *runtime, const char *kernel, const char *name)
{
    gyre_kernel *launched = NULL;
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = KERNELS "/conformance/kernels/topics.gyre.c",
                                   .kernel = kernel,
                                   .name = name,
                                   .stage = 1};
    must(gyre_launch(runtime, &desc, &launched));
}

/* source.ticks -> the topic "prices", with a kernel; source.first -> the outlet "firsts". */
static gyre_pipeline *open_market(gyre_runtime *runtime, const char *name)
{
    static const char *const entry = "source";
    static const gyre_link_desc links[] = {
        {.size = sizeof *links, .from = "source.ticks", .to = "one", .topic = "prices"},
        {.size = sizeof *links, .from = "source.first", .to = "host", .name = "firsts"}};
    gyre_pipeline *pipeline = NULL;
    launch_stage(runtime, "publish", "source");
    launch_stage(runtime, "listen", "one");
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = name,
                                     .entries = &entry,
                                     .entry_count = 1,
                                     .links = links,
                                     .link_count = 2};
    must(gyre_pipeline_open(runtime, &desc, &pipeline));
    return pipeline;
}

struct scene {
    gyre_runtime *runtime;
    gyre_pipeline *pipeline;
    gyre_server *server;
};

static struct scene open_scene(void)
{
    struct scene scene = {.runtime = open_plain(NULL)};
    scene.pipeline = open_market(scene.runtime, "market");
    scene.server = serve_at_place(scene.runtime);
    return scene;
}

static void close_scene(const struct scene *scene)
{
    gyre_server_close(scene->server);
    gyre_close(scene->runtime);
}

static void wait_until_attached(const struct scene *scene, uint32_t count)
{
    for (uint64_t i = 0; attached_now(scene->server) != count && i < patiently(5000); i++)
        usleep(1000);
    require(attached_now(scene->server) == count);
}

static void call_ticks(gyre_pipeline *pipeline, uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const job request = {.number = first + i, .hops = 1};
        gyre_completion completion;
        job reply;
        must(gyre_call(gyre_pipeline_queue(pipeline), &request, sizeof request, &reply, sizeof reply,
                       &completion, soon()));
    }
}

/* ---- programs that subscribe ---- */

static gyre_status try_subscribe(const char *name, gyre_slow slow, uint64_t capacity, gyre_subscription **out)
{
    const gyre_subscribe_desc desc = {.size = sizeof desc,
                                      .type = GYRE_TYPE(job),
                                      .slow = slow,
                                      .capacity = capacity,
                                      .path = meeting_place(),
                                      .deadline_ns = soon()};
    return gyre_subscribe_attached(name, &desc, out);
}

static gyre_subscription *subscribe(const char *name, gyre_slow slow, uint64_t capacity)
{
    gyre_subscription *subscription = NULL;
    must(try_subscribe(name, slow, capacity, &subscription));
    return subscription;
}

static gyre_subscription_info about(gyre_subscription *subscription)
{
    gyre_subscription_info info = {.size = sizeof info};
    must(gyre_subscription_info_get(subscription, &info));
    return info;
}

/* Numbers follow each other, but for what was missed. Returns how receiving ended. */
static gyre_status hear(gyre_subscription *subscription, uint64_t count, uint64_t *heard_last)
{
    for (uint64_t i = 0; i < count; i++) {
        job tick = {0};
        gyre_publication told = {.size = sizeof told};
        const gyre_status status = gyre_subscription_receive(subscription, &tick, sizeof tick, &told, soon());
        if (status != GYRE_OK)
            return status;
        require(tick.number > *heard_last && told.length == sizeof tick);
        *heard_last = tick.number;
    }
    return GYRE_OK;
}

static void hear_all(const party *self)
{
    uint64_t last = 0;
    gyre_subscription *prices = subscribe("market/prices", GYRE_SLOW_WAIT, SMALL);
    party_say(self, 'r');
    require(hear(prices, FLOWS, &last) == GYRE_OK && last == FLOWS);
    require(about(prices).missed == 0 && !strcmp(about(prices).name, "market/prices"));
    gyre_unsubscribe(prices);
}

static void several_programs_hear_a_topic(void)
{
    party clients[3];
    struct scene scene = open_scene();
    for (int i = 0; i < 3; i++)
        clients[i] = party_start(hear_all);
    for (int i = 0; i < 3; i++)
        require(party_hear(&clients[i]) == 'r');
    call_ticks(scene.pipeline, 1, FLOWS);
    for (int i = 0; i < 3; i++)
        require(party_end(&clients[i]) == 0);
    wait_until_attached(&scene, 0);
    close_scene(&scene);
}

/* ---- slow ones ---- */

static void sleep_through(gyre_slow slow, const party *self)
{
    uint64_t last = 0;
    gyre_subscription *prices = subscribe("prices", slow, SMALL);
    party_say(self, 'r');
    require(party_wait(self) == 'g'); /* all is published by now */
    require(hear(prices, UINT64_MAX, &last) == GYRE_CLOSED);
    require(!strstr(gyre_error_text(), "was cut off") == (slow != GYRE_SLOW_CUT));
    const gyre_subscription_info info = about(prices);
    require(info.missed > 0 && info.received > 0 && !info.is_cut == (slow != GYRE_SLOW_CUT));
    require(slow == GYRE_SLOW_CUT /* may be told before the last message was published */
                ? info.received + info.missed <= 20 * FLOWS
                : info.received + info.missed == 20 * FLOWS);
    gyre_unsubscribe(prices);
}

static void sleep_and_miss(const party *self)
{
    sleep_through(GYRE_SLOW_DROP, self);
}

static void sleep_and_be_cut(const party *self)
{
    sleep_through(GYRE_SLOW_CUT, self);
}

/* What they missed is counted to the last message, and the pipeline did not wait for them. */
static void slow_programs_are_told_what_they_missed(void)
{
    party clients[2];
    struct scene scene = open_scene();
    clients[0] = party_start(sleep_and_miss);
    clients[1] = party_start(sleep_and_be_cut);
    for (int i = 0; i < 2; i++)
        require(party_hear(&clients[i]) == 'r');
    call_ticks(scene.pipeline, 1, 20 * FLOWS);
    must(gyre_pipeline_close(scene.pipeline, soon()));
    for (int i = 0; i < 2; i++)
        party_tell(&clients[i], 'g');
    for (int i = 0; i < 2; i++)
        require(party_end(&clients[i]) == 0);
    close_scene(&scene);
}

static void subscribe_and_sleep(const party *self)
{
    subscribe("market/prices", GYRE_SLOW_WAIT, SMALL);
    party_say(self, 'r');
    for (;;)
        pause();
}

/* It is waited for until it dies, and no longer. */
static void a_program_that_dies_holds_nobody_up(void)
{
    uint64_t sent = 0, completed = 0;
    struct scene scene = open_scene();
    gyre_queue *queue = gyre_pipeline_queue(scene.pipeline);
    const party client = party_start(subscribe_and_sleep);
    require(party_hear(&client) == 'r');
    for (int quiet = 0; quiet < 20;) {
        const job request = {.number = sent + 1, .hops = 1};
        job reply;
        gyre_completion completion;
        const gyre_status status = gyre_send(queue, &request, sizeof request, NULL, gyre_in_ms(5));
        sent += status == GYRE_OK;
        quiet = status == GYRE_OK ? 0 : quiet + 1;
        completed += gyre_receive(queue, &reply, sizeof reply, &completion, GYRE_NO_WAIT) == GYRE_OK;
    }
    kill(client.process, SIGKILL);
    require(party_end(&client) == 128 + SIGKILL);
    for (; completed < sent; completed++) {
        job reply;
        gyre_completion completion;
        must(gyre_receive(queue, &reply, sizeof reply, &completion, soon()));
    }
    wait_until_attached(&scene, 0);
    close_scene(&scene);
}

/* ---- what is not believed ---- */

static int knock(void)
{
    int socket;
    char path[GYRE_PLACE_MAX];
    must(gyre_place_find(meeting_place(), false, path));
    must(gyre_place_socket(&socket));
    must(gyre_place_connect(path, soon(), socket));
    return socket;
}

static void put_request(struct gyre_parcel *parcel, const char *name, uint64_t slow, uint64_t capacity,
                        size_t more)
{
    gyre_parcel_begin(parcel, GYRE_PARCEL_SUBSCRIBE, GYRE_OK);
    gyre_parcel_put_text(parcel, name);
    gyre_parcel_put_u64(parcel, slow);
    gyre_parcel_put_u64(parcel, capacity);
    for (size_t i = 0; i < more; i++)
        gyre_parcel_put_u64(parcel, i);
}

/* A request that makes no sense is refused; a subscriber that sends anything is hung up; the server goes on. */
static void programs_that_send_rubbish_are_hung_up(void)
{
    static char long_name[4096];
    const struct {
        const char *name;
        uint64_t slow, capacity;
        size_t more;
    } wrong[] = {{NULL, 0, 0, 0},       {"", 0, 0, 0},        {long_name, 0, 0, 0}, {"prices", 3, 0, 0},
                 {"prices", ~0u, 0, 0}, {"prices", 0, 24, 0}, {"prices", 0, 0, 1}};
    struct scene scene = open_scene();
    struct gyre_parcel parcel;
    uint64_t last = 0;
    memset(long_name, 'p', sizeof long_name - 1);
    must(gyre_parcel_init(&parcel));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const int socket = knock();
        put_request(&parcel, wrong[i].name, wrong[i].slow, wrong[i].capacity, wrong[i].more);
        must(gyre_parcel_send(&parcel, socket, soon()));
        must(gyre_parcel_receive(&parcel, socket, soon()));
        require(gyre_parcel_status(&parcel) == GYRE_INVALID);
        require(strstr(gyre_parcel_get_text(&parcel), "makes no sense"));
        close(socket);
    }
    gyre_subscription *prices = subscribe("prices", GYRE_SLOW_WAIT, 0);
    const int socket = knock();
    put_request(&parcel, "prices", GYRE_SLOW_WAIT, SMALL, 0);
    must(gyre_parcel_send(&parcel, socket, soon()));
    must(gyre_parcel_receive(&parcel, socket, soon()));
    require(gyre_parcel_status(&parcel) == GYRE_OK);
    gyre_parcel_begin(&parcel, GYRE_PARCEL_PUBLISHED, GYRE_OK);
    must(gyre_parcel_send(&parcel, socket, soon()));
    wait_until_attached(&scene, 1);
    call_ticks(scene.pipeline, 1, 500); /* the other one has room for them */
    require(hear(prices, 500, &last) == GYRE_OK && last == 500);
    close(socket);
    gyre_unsubscribe(prices);
    gyre_parcel_finish(&parcel);
    close_scene(&scene);
}

/* ---- what the log says ---- */

static char told[256];
static int is_told; /* atomic */

static void hear_who_left(void *context, int level, const char *text)
{
    (void)context;
    (void)level;
    if (!strstr(text, " left 'market/firsts'"))
        return;
    snprintf(told, sizeof told, "%s", text);
    __atomic_store_n(&is_told, 1, __ATOMIC_RELEASE);
}

static uint64_t count_messages(struct gyre_parcel *parcel)
{
    uint64_t count = 0;
    while (parcel->at < parcel->length) {
        struct gyre_published published;
        require(gyre_published_get(parcel, sizeof(job), &published));
        parcel->at += published.length;
        count++;
    }
    return count;
}

/* A program that leaves may have left a packet unsent: what the log calls sent is what can be read from the socket. */
static void who_leaves_was_sent_what_it_can_read(void)
{
    enum { MANY = 3000 };
    static const char *const settings[] = {"gyre.check=off", "log_level=info", "backend.cpu.isolation=none",
                                           NULL};
    const gyre_open_desc desc = {
        .size = sizeof desc, .backend = "cpu", .settings = settings, .log = hear_who_left};
    unsigned long long sent = 0, missed = 0, read = 0;
    struct gyre_parcel parcel;
    struct scene scene;
    must(gyre_open(&desc, &scene.runtime));
    scene.pipeline = open_market(scene.runtime, "market");
    scene.server = serve_at_place(scene.runtime);
    must(gyre_parcel_init(&parcel));
    const int socket = knock();
    put_request(&parcel, "firsts", GYRE_SLOW_DROP, SMALL, 0);
    must(gyre_parcel_send(&parcel, socket, soon()));
    must(gyre_parcel_receive(&parcel, socket, soon()));
    call_ticks(scene.pipeline, 1, MANY); /* fills the socket, then the ring */
    require(shutdown(socket, SHUT_WR) == 0);
    for (uint64_t i = 0; !__atomic_load_n(&is_told, __ATOMIC_ACQUIRE) && i < patiently(10000); i++)
        usleep(1000);
    while (gyre_parcel_receive(&parcel, socket, soon()) == GYRE_OK)
        read += count_messages(&parcel);
    require(sscanf(strstr(told, "it was sent"), "it was sent %llu messages and missed %llu", &sent,
                   &missed) == 2);
    require(sent == read);
    require(sent + missed <= MANY && sent + missed + SMALL >= MANY); /* the rest was in its ring */
    close(socket);
    gyre_parcel_finish(&parcel);
    close_scene(&scene);
}

/* ---- names, and ends ---- */

static void refuse(const char *name, gyre_slow slow, uint64_t capacity, gyre_status status, const char *why)
{
    gyre_subscription *none = NULL;
    require(try_subscribe(name, slow, capacity, &none) == status && !none);
    require(strstr(gyre_error_text(), why));
}

static void a_topic_is_found_by_its_name(void)
{
    gyre_subscription *none = NULL;
    uint64_t last = 0;
    struct scene scene = open_scene();
    const gyre_subscribe_desc other = {
        .size = sizeof other, .type = GYRE_TYPE(memo), .path = meeting_place(), .deadline_ns = soon()};
    refuse("market/price", 0, 0, GYRE_NOT_FOUND, "has no topic and no outlet 'price'; it has: ");
    refuse("price", 0, 0, GYRE_NOT_FOUND, "did you mean 'prices'?");
    refuse("markt/prices", 0, 0, GYRE_NOT_FOUND, "the server has no pipeline 'markt'; it has: market");
    refuse("prices", GYRE_SLOW_TAP, 0, GYRE_INVALID, "slow: expected");
    refuse("prices", 0, UINT64_C(1) << 60, GYRE_INVALID, "gyre.client_capacity_max of the server");
    require(gyre_subscribe_attached("prices", &other, &none) == GYRE_INCOMPATIBLE && !none);
    gyre_subscription *prices = subscribe("prices", GYRE_SLOW_DROP, 0),
                      *firsts = subscribe("market/firsts", GYRE_SLOW_CUT, 0);
    call_ticks(scene.pipeline, 1, 10);
    require(hear(prices, 10, &last) == GYRE_OK && last == 10);
    must(gyre_pipeline_close(scene.pipeline, soon()));
    last = 0;
    require(hear(firsts, 11, &last) == GYRE_CLOSED && last == 10); /* what was there is sent before the end */
    require(strstr(gyre_error_text(), "the pipeline of 'market/firsts' was closed"));
    require(hear(firsts, 1, &last) == GYRE_CLOSED);
    gyre_unsubscribe(prices);
    gyre_unsubscribe(firsts);
    close_scene(&scene);
    refuse("prices", 0, 0, GYRE_UNAVAILABLE, "");
}

static void serve_and_die(const party *self)
{
    struct scene scene = open_scene();
    party_say(self, 'r');
    require(party_wait(self) == 'g');
    call_ticks(scene.pipeline, 1, 5);
    kill(getpid(), SIGKILL);
}

static void a_dead_server_is_told_as_lost(void)
{
    uint64_t last = 0;
    const party server = party_start(serve_and_die);
    require(party_hear(&server) == 'r');
    gyre_subscription *prices = subscribe("prices", GYRE_SLOW_WAIT, 0);
    party_tell(&server, 'g');
    require(hear(prices, 6, &last) == GYRE_LOST && last <= 5);
    require(strstr(gyre_error_text(), "is gone, and with it the subscription to 'market/prices'"));
    require(party_end(&server) == 128 + SIGKILL);
    gyre_unsubscribe(prices);
}

static const named_case cases[] = {
    {"several_programs_hear_a_topic", several_programs_hear_a_topic},
    {"slow_programs_are_told_what_they_missed", slow_programs_are_told_what_they_missed},
    {"a_program_that_dies_holds_nobody_up", a_program_that_dies_holds_nobody_up},
    {"programs_that_send_rubbish_are_hung_up", programs_that_send_rubbish_are_hung_up},
    {"who_leaves_was_sent_what_it_can_read", who_leaves_was_sent_what_it_can_read},
    {"a_topic_is_found_by_its_name", a_topic_is_found_by_its_name},
    {"a_dead_server_is_told_as_lost", a_dead_server_is_told_as_lost},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
