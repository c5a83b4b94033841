/* SPDX-License-Identifier: Apache-2.0 */
/* Links whose messages are shared by key, to kernels that keep no states of keys. */
#include "link_keys.h"
#include "kernels/keyed.h"

#include <gyre/pipeline.h>
#include <string.h>

enum { ORDER_KEYS = 64, ORDER_MESSAGES = 16384 };

gyre_kernel *link_keys_launch(struct conformance *test, const char *kernel, const char *name, uint32_t blocks)
{
    gyre_kernel *launched = NULL;
    gyre_launch_desc desc = launch_desc(test, "keyed_links.gyre.c", kernel);
    desc.name = name;
    desc.blocks = blocks;
    must(gyre_launch(test->runtime, &desc, &launched));
    return launched;
}

gyre_pipeline *link_keys_join(struct conformance *test, const char *const *entries, const char *answer,
                              const gyre_link_desc *links, size_t count)
{
    gyre_pipeline *pipeline = NULL;
    const gyre_pipeline_desc desc = {.size = sizeof desc,
                                     .name = "joined",
                                     .entries = entries,
                                     .entry_count = count,
                                     .answers = &answer,
                                     .answer_count = 1,
                                     .links = links,
                                     .link_count = count,
                                     .links_tight = 1};
    must(gyre_pipeline_open(test->runtime, &desc, &pipeline));
    return pipeline;
}

void link_keys_require(const gyre_pipeline *pipeline, const char *key)
{
    gyre_link_info info = {.size = sizeof info};
    must(gyre_pipeline_link(pipeline, 0, &info));
    require(strcmp(info.key, key) == 0);
}

static gyre_buffer *make_zeros(struct conformance *test, uint64_t count)
{
    gyre_buffer *buffer = NULL;
    must(gyre_buffer_alloc(test->runtime, test->backend, 0, count * sizeof(uint64_t), &buffer));
    must(gyre_buffer_fill(buffer, 0, 0, count * sizeof(uint64_t)));
    return buffer;
}

static void launch_order(struct conformance *test, const char *name, uint32_t blocks)
{
    const gyre_binding_name bindings[] = {{"last", make_zeros(test, ORDER_KEYS * MARK_SENDERS)},
                                          {"owner", make_zeros(test, ORDER_KEYS)}};
    gyre_launch_desc desc = launch_desc(test, "keyed_links.gyre.c", "keyed_order");
    gyre_kernel *kernel = NULL;
    desc.name = name;
    desc.blocks = blocks;
    desc.stage = 1;
    desc.bindings = bindings;
    desc.binding_count = 2;
    must(gyre_launch(test->runtime, &desc, &kernel));
}

/* Sends marks of all keys with growing numbers. Returns a bit for each block that handled one. */
static uint64_t stream_in_order(gyre_queue *queue)
{
    uint64_t sent = 0, blocks = 0;
    for (uint64_t received = 0; received < ORDER_MESSAGES; received++) {
        marks reply;
        for (; sent < ORDER_MESSAGES; sent++) {
            const mark request = {.key = sent * 7 % ORDER_KEYS, .number = sent + 1};
            if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        blocks |= UINT64_C(1) << reply.block;
    }
    return blocks;
}

static const gyre_link_desc marked = {.size = sizeof marked,
                                      .name = "marked",
                                      .from = "source.out",
                                      .to = "order",
                                      .share = GYRE_SHARE_KEY,
                                      .key = "key"};

static gyre_pipeline *open_order(struct conformance *test)
{
    static const char *const entry = "source";
    link_keys_launch(test, "keyed_source", entry, 3);
    launch_order(test, "order", 3);
    return link_keys_join(test, &entry, "order", &marked, 1);
}

static void links_by_key_keep_the_order_of_each_key(struct conformance *test)
{
    gyre_pipeline *pipeline = open_order(test);
    require(stream_in_order(gyre_pipeline_queue(pipeline)) == 7);
    link_keys_require(pipeline, "key");
    must(gyre_pipeline_close(pipeline, soon()));
}

static void a_link_that_leads_elsewhere_keeps_the_order_of_each_key(struct conformance *test)
{
    gyre_pipeline *pipeline = open_order(test);
    launch_order(test, "order_again", 2);
    launch_order(test, "order_last", 3);
    require(stream_in_order(gyre_pipeline_queue(pipeline)) == 7);
    must(gyre_link_retarget(pipeline, "marked", "order_again", soon()));
    link_keys_require(pipeline, "key");
    require(stream_in_order(gyre_pipeline_queue(pipeline)) == 3);
    must(gyre_link_retarget(pipeline, "marked", "nowhere", soon()));
    link_keys_require(pipeline, "");
    must(gyre_link_retarget(pipeline, "marked", "order_last", soon()));
    link_keys_require(pipeline, "key"); /* it is no answer, since the link led nowhere */
    must(gyre_pipeline_close(pipeline, soon()));
}

enum { FEW = 3, COUNTED = 2048 };

/* A kernel that counts its messages of each key, which goes wrong when two of them are handled at the same time. */
static gyre_pipeline *open_count(struct conformance *test)
{
    static const char *const entry = "feed";
    const gyre_link_desc link = {
        .size = sizeof link, .from = "feed.out", .to = "count", .share = GYRE_SHARE_KEY, .key = "key"};
    const gyre_binding_name counts = {"counts", make_zeros(test, FEW)};
    gyre_launch_desc desc = launch_desc(test, "keyed_links.gyre.c", "keyed_count");
    gyre_kernel *kernel = NULL;
    desc.name = "count";
    desc.blocks = 2;
    desc.stage = 1;
    desc.bindings = &counts;
    desc.binding_count = 1;
    must(gyre_launch(test->runtime, &desc, &kernel));
    link_keys_launch(test, "keyed_feed", entry, 1);
    return link_keys_join(test, &entry, "count", &link, 1);
}

static void messages_of_a_key_are_handled_one_after_the_other(struct conformance *test)
{
    gyre_pipeline *pipeline = open_count(test);
    gyre_queue *queue = gyre_pipeline_queue(pipeline);
    uint64_t sent = 0, counts[FEW] = {0};
    for (uint64_t received = 0; received < COUNTED; received++) {
        marks reply;
        for (; sent < COUNTED; sent++) {
            const mark request = {.key = sent * sent % FEW, .number = sent};
            if (gyre_send(queue, &request, sizeof request, NULL, GYRE_NO_WAIT) != GYRE_OK)
                break;
        }
        must(gyre_receive(queue, &reply, sizeof reply, NULL, soon()));
        require(reply.count == ++counts[received * received % FEW]);
    }
    must(gyre_pipeline_close(pipeline, soon()));
}

static marks call_lag(gyre_queue *queue, uint64_t key, uint32_t what)
{
    const mark request = {.key = key, .what = what};
    marks reply;
    must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
    return reply;
}

/* A key that this block owns, by whichever link it comes. */
static uint64_t key_of(gyre_queue *queue, uint64_t block)
{
    uint64_t key = 0;
    while (call_lag(queue, key, MARK_ADDS).block != block)
        key++;
    return key;
}

static gyre_pipeline *open_lag(struct conformance *test)
{
    static const char *const entries[] = {"one", "other"};
    const gyre_link_desc links[] = {
        {.size = sizeof *links, .from = "one.out", .to = "lag", .share = GYRE_SHARE_KEY, .key = "key"},
        {.size = sizeof *links, .from = "other.out", .to = "lag", .share = GYRE_SHARE_KEY, .key = "key"}};
    const gyre_binding_name words = {"words", make_zeros(test, 1)};
    gyre_launch_desc desc = launch_desc(test, "keyed_links.gyre.c", "keyed_lag");
    gyre_kernel *kernel = NULL;
    desc.name = "lag";
    desc.blocks = 2;
    desc.stage = 1;
    desc.bindings = &words;
    desc.binding_count = 1;
    must(gyre_launch(test->runtime, &desc, &kernel));
    link_keys_launch(test, "keyed_feed", entries[0], 1);
    link_keys_launch(test, "keyed_feed", entries[1], 1);
    return link_keys_join(test, entries, "lag", links, 2);
}

/* Equal keys meet, whichever way they come, and blocks share the keys. */
static void equal_keys_of_two_links_meet_in_a_block(struct conformance *test)
{
    uint64_t blocks = 0;
    gyre_pipeline *pipeline = open_lag(test);
    gyre_queue *one = gyre_pipeline_queue(pipeline), *other = NULL;
    gyre_queue_desc desc = {.size = sizeof desc};
    must(gyre_pipeline_queue_open(pipeline, "other", &desc, &other));
    for (uint64_t key = 0; key < 64; key++) {
        const uint64_t block = call_lag(one, key, MARK_ADDS).block;
        require(block == call_lag(other, key, MARK_ADDS).block);
        blocks |= UINT64_C(1) << block;
    }
    require(blocks == 3);
    must(gyre_pipeline_close(pipeline, soon()));
}

/* A block is busy with a message of one link, while another link goes round several times without it. */
static void a_block_that_was_busy_catches_up_with_a_link(struct conformance *test)
{
    enum { ROUNDS = 5 * 16 };
    gyre_pipeline *pipeline = open_lag(test);
    gyre_queue *one = gyre_pipeline_queue(pipeline), *other = NULL;
    gyre_queue_desc desc = {.size = sizeof desc};
    marks reply;
    must(gyre_pipeline_queue_open(pipeline, "other", &desc, &other));
    const uint64_t busy = key_of(other, 0), idle = key_of(other, 1);
    const mark waits = {.key = key_of(one, 0), .what = MARK_WAITS};
    must(gyre_send(one, &waits, sizeof waits, NULL, soon()));
    while (call_lag(other, idle, MARK_ADDS).count == 0)
        ;
    for (int i = 0; i < ROUNDS; i++)
        require(call_lag(other, idle, MARK_ADDS).block == 1);
    call_lag(other, idle, MARK_RELEASES);
    must(gyre_receive(one, &reply, sizeof reply, NULL, soon()));
    require(reply.block == 0);
    require(call_lag(other, busy, MARK_ADDS).block == 0);
    must(gyre_pipeline_close(pipeline, soon()));
}

const struct conformance_case link_key_cases[] = {
    {"links_by_key_keep_the_order_of_each_key", links_by_key_keep_the_order_of_each_key},
    {"messages_of_a_key_are_handled_one_after_the_other", messages_of_a_key_are_handled_one_after_the_other},
    {"equal_keys_of_two_links_meet_in_a_block", equal_keys_of_two_links_meet_in_a_block},
    {"a_block_that_was_busy_catches_up_with_a_link", a_block_that_was_busy_catches_up_with_a_link},
    {"a_link_that_leads_elsewhere_keeps_the_order_of_each_key",
     a_link_that_leads_elsewhere_keeps_the_order_of_each_key},
    {NULL, NULL},
};
