/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the names in a gyre_pipeline_desc to nodes and links, and the checks of the whole graph: ports and targets exist,
 * types are equal, every port leads somewhere, every node is reached, answers agree. Cycles are for cycles.c. Pure: changes the
 * pipeline's own lists only.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/visit.h"
#include "core/links/asks.h"
#include "core/links/cycles.h"
#include "core/links/homes.h"
#include "core/links/link_choice.h"
#include "core/links/link_level.h"
#include "core/links/pipeline.h"
#include "core/links/rounds.h"
#include "core/links/work_pool.h"
#include "core/types/compare.h"
#include "core/types/types.h"

/* ---- nodes ---- */

static int find_node(const gyre_pipeline *pipeline, const char *name)
{
    for (int i = 0; i < pipeline->node_count; i++)
        if (strcmp(pipeline->nodes[i].facts.name, name) == 0)
            return i;
    return GYRE_NODE_NOWHERE;
}

static gyre_status no_such_kernel(const gyre_pipeline *pipeline, const char *name)
{
    size_t count;
    char hint[GYRE_TEXT_HINT_SIZE];
    const char *const *names = gyre_config_names(pipeline->runtime->config, GYRE_SECTION_KERNEL, &count);
    return gyre_error_set(GYRE_NOT_FOUND,
                          "there is no kernel '%s': launch it before, or name its file in [kernel.%s]%s",
                          name, name, gyre_text_hint(name, names, count, hint));
}

/* Finds the node of that name, or adds it. */
static gyre_status add_node(gyre_pipeline *pipeline, const char *name, int *out)
{
    *out = find_node(pipeline, name);
    if (*out != GYRE_NODE_NOWHERE)
        return GYRE_OK;
    gyre_kernel *kernel = gyre_kernel_visit(pipeline->runtime, name);
    if (!kernel)
        return no_such_kernel(pipeline, name);
    if (pipeline->node_count == GYRE_NODES_MAX) {
        gyre_kernel_leave(kernel);
        return gyre_error_set(GYRE_INVALID, "a pipeline has at most %d kernels", GYRE_NODES_MAX);
    }
    *out = pipeline->node_count++;
    pipeline->nodes[*out] = (struct gyre_node){.kernel = kernel, .facts = gyre_node_facts_of(kernel)};
    pipeline->nodes[*out].home = pipeline->nodes[*out].facts.device;
    gyre_node_find(kernel, &pipeline->nodes[*out].facts);
    return GYRE_OK;
}

static gyre_status add_entries(gyre_pipeline *pipeline, const gyre_pipeline_desc *desc)
{
    gyre_status status = GYRE_OK;
    for (size_t i = 0; i < desc->entry_count && status == GYRE_OK; i++) {
        int node;
        status = add_node(pipeline, desc->entries[i], &node);
        if (status == GYRE_OK && pipeline->nodes[node].enters)
            status = gyre_error_set(GYRE_INVALID, "kernel '%s' is named twice", desc->entries[i]);
        if (status == GYRE_OK)
            pipeline->nodes[node].enters = true;
    }
    return status == GYRE_OK ? status : gyre_error_add(status, "the entry");
}

/* ---- links ---- */

static const char *list_ports(const gyre_kernel_record *record, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < record->port_count && length < size; i++)
        length +=
            (size_t)snprintf(text + length, size - length, "%s'%s'", i ? ", " : "", record->ports[i].name);
    return text;
}

static gyre_status no_such_port(const struct gyre_node_facts *from, const char *port)
{
    const char *names[GYRE_PORTS_MAX];
    char hint[GYRE_TEXT_HINT_SIZE], ports[512];
    for (uint32_t i = 0; i < from->record->port_count; i++)
        names[i] = from->record->ports[i].name;
    if (from->record->port_count == 0)
        return gyre_error_set(GYRE_INVALID, "kernel '%s' has no ports: declare them with GYRE_PORTS",
                              from->name);
    return gyre_error_set(GYRE_INVALID, "kernel '%s' has no port '%s'; it has %s%s", from->name, port,
                          list_ports(from->record, ports, sizeof ports),
                          gyre_text_hint(port, names, from->record->port_count, hint));
}

static gyre_status find_port(const struct gyre_node_facts *from, const char *name, uint32_t *out)
{
    for (*out = 0; *out < from->record->port_count; ++*out)
        if (strcmp(from->record->ports[*out].name, name) == 0)
            return GYRE_OK;
    return no_such_port(from, name);
}

static bool of_one_topic(const struct gyre_link *one, const struct gyre_link *other)
{
    return one->topic[0] && strcmp(one->topic, other->topic) == 0;
}

static bool of_one_pool(const struct gyre_link *one, const struct gyre_link *other)
{
    return one->pool[0] && strcmp(one->pool, other->pool) == 0 && one->order == other->order;
}

static gyre_status check_new(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    for (int i = 0; i < pipeline->link_count; i++) {
        const struct gyre_link *other = &pipeline->links[i];
        if (!other->retired && other->from == link->from && other->port == link->port &&
            !of_one_topic(link, other) && !of_one_pool(link, other))
            return gyre_error_set(GYRE_INVALID,
                                  "port '%s.%s' has a link already, '%s': a port leads to one kernel, or to "
                                  "one topic or pool with several",
                                  pipeline->nodes[link->from].facts.name,
                                  pipeline->nodes[link->from].facts.record->ports[link->port].name,
                                  other->name);
    }
    return GYRE_OK;
}

static gyre_status resolve_source(gyre_pipeline *pipeline, const gyre_link_desc *desc, struct gyre_link *link)
{
    char kernel[GYRE_NAME_MAX];
    const char *dot = desc->from ? strrchr(desc->from, '.') : NULL;
    if (!dot || dot == desc->from || !dot[1] || (size_t)(dot - desc->from) >= sizeof kernel)
        return gyre_error_set(GYRE_INVALID, "from: expected KERNEL.PORT, found '%s'",
                              desc->from ? desc->from : "");
    snprintf(kernel, sizeof kernel, "%.*s", (int)(dot - desc->from), desc->from);
    gyre_status status = add_node(pipeline, kernel, &link->from);
    if (status == GYRE_OK)
        status = find_port(&pipeline->nodes[link->from].facts, dot + 1, &link->port);
    if (status != GYRE_OK)
        return status;
    const gyre_kernel_record *record = pipeline->nodes[link->from].facts.record;
    link->sends = record->ports[link->port];
    link->answer = gyre_asks_reply(record, link->port);
    return check_new(pipeline, link);
}

static gyre_status check_types(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    gyre_layout *sent = NULL, *taken = NULL;
    char from[GYRE_NAME_MAX * 2 + 16], to[GYRE_NAME_MAX + 16];
    const struct gyre_node_facts *const source = &pipeline->nodes[link->from].facts;
    if (link->to == GYRE_NODE_NOWHERE)
        return GYRE_OK;
    const struct gyre_node_facts *const target = &pipeline->nodes[link->to].facts;
    snprintf(from, sizeof from, "port '%s.%s'", source->name, source->record->ports[link->port].name);
    snprintf(to, sizeof to, "kernel '%s'", target->name);
    gyre_status status = gyre_layout_create(source->record->ports[link->port].type, GYRE_MESSAGE_MAX, &sent);
    if (status == GYRE_OK)
        status = gyre_layout_create(target->record->request, GYRE_MESSAGE_MAX, &taken);
    if (status == GYRE_OK && taken->shape == GYRE_SHAPE_CHOICE && taken->hash != sent->hash)
        status = gyre_error_set(
            GYRE_INCOMPATIBLE,
            "%s takes messages of several types: let %s lead to one of them, as in to = %s:%s, or to a kernel of one "
            "type",
            to, from, target->name, taken->choices[0]->name);
    else if (status == GYRE_OK)
        status = gyre_layout_compare(taken, to, sent, from);
    gyre_layout_destroy(sent);
    gyre_layout_destroy(taken);
    return status;
}

/* An outlet is a topic that has the name of its link, and no kernels. */
static gyre_status make_outlet(struct gyre_link *link)
{
    if (link->topic[0])
        return gyre_error_set(GYRE_INVALID, "the subscribers of a topic are kernels, found " GYRE_WIRING_HOST
                                            ": programs subscribe to it by themselves");
    if (strlen(link->name) >= sizeof link->topic)
        return gyre_error_set(GYRE_INVALID,
                              "to = " GYRE_WIRING_HOST
                              ": programs subscribe by the link's name, which has at most %zu characters",
                              sizeof link->topic - 1);
    snprintf(link->topic, sizeof link->topic, "%s", link->name);
    link->is_outlet = true;
    return GYRE_OK;
}

static gyre_status resolve_target(gyre_pipeline *pipeline, const gyre_link_desc *desc, struct gyre_link *link)
{
    link->to = GYRE_NODE_NOWHERE;
    if (strcmp(desc->to, GYRE_WIRING_NOWHERE) == 0)
        return GYRE_OK;
    if (strcmp(desc->to, GYRE_WIRING_HOST) == 0)
        return make_outlet(link);
    char kernel[GYRE_NAME_MAX];
    const size_t length = gyre_wiring_target_length(desc->to);
    const char *const type = desc->to[length] ? desc->to + length + 1 : NULL;
    if (type && (length == 0 || length >= sizeof kernel || !type[0]))
        return gyre_error_set(GYRE_INVALID, "to: expected KERNEL or KERNEL:TYPE, found '%s'", desc->to);
    snprintf(kernel, sizeof kernel, "%.*s", (int)length, desc->to);
    gyre_status status = add_node(pipeline, type ? kernel : desc->to, &link->to);
    if (status != GYRE_OK)
        return status;
    return type ? gyre_link_choice_resolve(pipeline, type, link) : check_types(pipeline, link);
}

/* Takes over the secret of another link to the same kernel, so that equal keys go to one block, whichever link they come by. */
static void agree_on_blocks(const gyre_pipeline *pipeline, struct gyre_link *link)
{
    for (int i = 0; link->key.share == GYRE_LINK_SHARE_KEY && i < pipeline->link_count; i++) {
        const struct gyre_link *other = &pipeline->links[i];
        if (other->to == link->to && other->key.share == link->key.share && !other->retired &&
            other->key.offset == link->key.offset && other->key.size == link->key.size)
            memcpy(link->key.seed, other->key.seed, sizeof link->key.seed);
    }
}

/* Decides which blocks of the target get which messages. Blames the setting that cannot be. */
static gyre_status resolve_share(const gyre_pipeline *pipeline, const gyre_link_desc *desc,
                                 struct gyre_link *link, const char **blamed)
{
    const struct gyre_link_key_wish wish = {.share = desc->share, .path = desc->key};
    if (link->choice && desc->share == GYRE_SHARE_KEY) {
        *blamed = link->place.share;
        return gyre_error_set(
            GYRE_INVALID,
            "share = key: the link leads to one of the types that kernel '%s' takes, and is by no "
            "key: leave `share` and `key` out, or let it lead to a kernel of one type",
            pipeline->nodes[link->to].facts.name);
    }
    const gyre_status status = gyre_link_key_resolve(
        link->to == GYRE_NODE_NOWHERE ? NULL : &pipeline->nodes[link->to].facts, &wish, &link->key);
    if (status != GYRE_OK)
        *blamed = desc->key ? link->place.key : link->place.share;
    else
        agree_on_blocks(pipeline, link);
    return status;
}

/* Whether the link's target empties it also while it has no room itself. */
static bool is_drained(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    struct gyre_dispatch *device = pipeline->nodes[link->to].facts.device;
    return gyre_dispatch_device_info(device)->knows_links & GYRE_LINKING_KEY_CYCLES;
}

static gyre_status check_keys_of_cycles(const gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->link_count; i++) {
        const struct gyre_link *link = &pipeline->links[i];
        if (link->is_in_cycle && link->key.share != GYRE_LINK_SHARE_ANY && !is_drained(pipeline, link)) {
            const struct gyre_node_facts *to = &pipeline->nodes[link->to].facts;
            gyre_error_set(
                GYRE_UNIMPLEMENTED,
                "link '%s' is part of a cycle, and shares its messages by key among the %u blocks of "
                "kernel '%s', which backend '%s' does not have yet: give the kernel one block%s",
                link->name, to->blocks, to->name, gyre_dispatch_backend(to->device),
                link->key.share == GYRE_LINK_SHARE_KEY ? ", or leave `share` out" : "");
            return gyre_wiring_blame(link->place.share, GYRE_UNIMPLEMENTED);
        }
    }
    return GYRE_OK;
}

/* ---- topics ---- */

static gyre_status check_subscriber(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    if (link->to == GYRE_NODE_NOWHERE)
        return gyre_error_set(GYRE_INVALID,
                              "the subscribers of a topic are kernels, found " GYRE_WIRING_NOWHERE
                              ": a port that leads nowhere has a link of its own");
    for (int i = 0; i < pipeline->link_count; i++) {
        const struct gyre_link *other = &pipeline->links[i];
        if (!of_one_topic(link, other) || other->to != link->to || other->retired)
            continue;
        if (other->from == link->from && other->port == link->port)
            return gyre_error_set(GYRE_INVALID, "kernel '%s' subscribes twice",
                                  pipeline->nodes[link->to].facts.name);
        if (other->slow != link->slow)
            return gyre_error_set(GYRE_INVALID, "kernel '%s' subscribes in two ways: slow differs",
                                  pipeline->nodes[link->to].facts.name);
    }
    return GYRE_OK;
}

static bool has_topics(const gyre_pipeline *pipeline, int node)
{
    for (int i = 0; i < pipeline->link_count; i++)
        if (pipeline->links[i].from == node && pipeline->links[i].topic[0])
            return true;
    return false;
}

static gyre_status check_topics(const gyre_pipeline *pipeline)
{
    for (int node = 0; node < pipeline->node_count; node++) {
        const struct gyre_node_facts *const facts = &pipeline->nodes[node].facts;
        int branches = 0;
        for (int i = 0; i < pipeline->link_count; i++)
            branches += pipeline->links[i].from == node &&
                        (pipeline->links[i].topic[0] || pipeline->links[i].pool[0]);
        if (branches > GYRE_BRANCHES_MAX)
            return gyre_error_set(
                GYRE_INVALID,
                "the topics and pools of kernel '%s' have %d subscribers and members; %d is the most for the ports of one "
                "kernel",
                facts->name, branches, GYRE_BRANCHES_MAX);
        if (has_topics(pipeline, node) &&
            !(gyre_dispatch_device_info(facts->device)->knows_links & GYRE_LINKING_TOPICS))
            return gyre_error_set(
                GYRE_UNIMPLEMENTED,
                "kernel '%s' sends to a topic, and backend '%s' has links to one kernel only: run "
                "the pipeline on backend 'cpu', or on another one that has topics",
                facts->name, gyre_dispatch_backend(facts->device));
    }
    return GYRE_OK;
}

static bool is_waited_for(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    for (int i = 0; i < pipeline->link_count; i++) {
        const struct gyre_link *other = &pipeline->links[i];
        if (other->from == link->from && other->port == link->port && other->slow == GYRE_SLOW_WAIT &&
            !other->retired)
            return true;
    }
    return false;
}

bool gyre_wiring_add_rings(gyre_pipeline *pipeline, const struct gyre_link *link)
{
    if (is_waited_for(pipeline, link))
        return false;
    struct gyre_link *own = &pipeline->links[pipeline->link_count++];
    *own = (struct gyre_link){.from = link->from,
                              .to = GYRE_NODE_NOWHERE,
                              .port = link->port,
                              .sends = link->sends,
                              .place = link->place,
                              .is_own = true};
    snprintf(own->name, sizeof own->name, "%s", link->name);
    snprintf(own->topic, sizeof own->topic, "%s", link->topic);
    return true;
}

static void add_rings_of_topics(gyre_pipeline *pipeline)
{
    const int count = pipeline->link_count;
    for (int i = 0; i < count; i++)
        gyre_wiring_add_rings(pipeline, &pipeline->links[i]);
}

gyre_status gyre_wiring_add(gyre_pipeline *pipeline, const gyre_link_desc *given,
                            const struct gyre_wiring_place *place)
{
    struct gyre_link answers,
        link = {.place = *place, .capacity = given->capacity, .slow = given->slow, .level = given->level};
    const char *blamed = link.place.from;
    snprintf(link.name, sizeof link.name, "%s", given->name);
    snprintf(link.topic, sizeof link.topic, "%s", given->topic ? given->topic : "");
    snprintf(link.pool, sizeof link.pool, "%s", given->pool ? given->pool : "");
    link.order = given->order;
    if (pipeline->link_count >= GYRE_WIRING_LINKS_MAX)
        return gyre_error_set(GYRE_INVALID, "a pipeline has at most %d links", GYRE_WIRING_LINKS_MAX);
    gyre_status status = resolve_source(pipeline, given, &link);
    if (status == GYRE_OK) {
        blamed = link.place.to;
        status = resolve_target(pipeline, given, &link);
    }
    if (status == GYRE_OK)
        status = resolve_share(pipeline, given, &link, &blamed);
    if (status == GYRE_OK) {
        status = gyre_link_level_check(pipeline, &link);
        blamed = status == GYRE_OK ? blamed : link.place.level;
    }
    if (status == GYRE_OK && link.pool[0])
        status = gyre_work_pool_check(pipeline, &link);
    const bool asks = status == GYRE_OK && link.answer;
    if (asks)
        status = gyre_asks_resolve(pipeline, &link, &answers);
    else if (status == GYRE_OK && link.topic[0] && !link.is_outlet)
        status = check_subscriber(pipeline, &link);
    if (asks && status == GYRE_OK)
        status = resolve_share(pipeline, &(gyre_link_desc){.share = GYRE_SHARE_ANY}, &answers, &blamed);
    if (status != GYRE_OK)
        return gyre_wiring_blame(blamed, gyre_error_add(status, "link '%s'", link.name));
    pipeline->links[pipeline->link_count++] = link;
    if (asks)
        pipeline->links[pipeline->link_count++] = answers;
    return GYRE_OK;
}

static gyre_status add_links(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring)
{
    gyre_status status = GYRE_OK;
    for (size_t i = 0; i < wiring->desc.link_count && status == GYRE_OK; i++)
        status = gyre_wiring_add(pipeline, &wiring->desc.links[i], &wiring->links[i]);
    return status;
}

/* ---- the graph ---- */

static bool is_linked(const gyre_pipeline *pipeline, int node, uint32_t port)
{
    for (int i = 0; i < pipeline->link_count; i++)
        if (pipeline->links[i].from == node && pipeline->links[i].port == port)
            return true;
    return false;
}

static gyre_status check_ports(const gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->node_count; i++) {
        const struct gyre_node_facts *const facts = &pipeline->nodes[i].facts;
        for (uint32_t port = 0; port < facts->record->port_count; port++)
            if (!is_linked(pipeline, i, port))
                return gyre_error_set(GYRE_INVALID, "port '%s.%s' %s", facts->name,
                                      facts->record->ports[port].name,
                                      gyre_asks_reply(facts->record, port)
                                          ? "asks nobody: link it to the kernel that answers"
                                          : "leads nowhere: link it to a kernel, or say so (to = nowhere)");
    }
    return GYRE_OK;
}

static gyre_status check_reached(const gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->node_count; i++) {
        bool reached = pipeline->nodes[i].enters;
        for (int entry = 0; entry < pipeline->node_count && !reached; entry++)
            reached = pipeline->nodes[entry].enters && gyre_links_lead(pipeline, entry, i);
        if (!reached)
            return gyre_error_set(GYRE_INVALID, "no entry leads to kernel '%s'",
                                  pipeline->nodes[i].facts.name);
    }
    return GYRE_OK;
}

/* ---- answers ---- */

static const char *protocol_word(const gyre_layout *layout)
{
    return layout->shape == GYRE_SHAPE_CHOICE ? "the types of protocol " : "";
}

/* Replies of one of several types, and those of another kernel: a header in common does not make them one. */
static bool are_other_protocols(const gyre_layout *first, const gyre_layout *second)
{
    return (first->shape == GYRE_SHAPE_CHOICE || second->shape == GYRE_SHAPE_CHOICE) &&
           strcmp(first->name, second->name) != 0;
}

static gyre_status check_same_reply(const struct gyre_node_facts *one, const struct gyre_node_facts *other)
{
    gyre_layout *first = NULL, *second = NULL;
    gyre_status status = gyre_layout_create_message(one->record->reply, GYRE_MESSAGE_MAX, &first);
    if (status == GYRE_OK)
        status = gyre_layout_create_message(other->record->reply, GYRE_MESSAGE_MAX, &second);
    if (status == GYRE_OK)
        status = gyre_layout_compare(first, one->name, second, other->name);
    if (status == GYRE_INCOMPATIBLE && are_other_protocols(first, second))
        status = gyre_error_set(
            GYRE_INCOMPATIBLE,
            "kernel '%s' replies with %s'%s', kernel '%s' with %s'%s': name one answer, or kernels of one protocol",
            one->name, protocol_word(first), first->name, other->name, protocol_word(second), second->name);
    gyre_layout_destroy(first);
    gyre_layout_destroy(second);
    return status == GYRE_OK ? status : gyre_error_add(status, "answers have replies of one type");
}

static gyre_status no_such_answer(const gyre_pipeline *pipeline, const char *name)
{
    const char *names[GYRE_NODES_MAX];
    char hint[GYRE_TEXT_HINT_SIZE];
    for (int i = 0; i < pipeline->node_count; i++)
        names[i] = pipeline->nodes[i].facts.name;
    return gyre_error_set(GYRE_INVALID, "the answer '%s' is no kernel of the pipeline: link one to it%s",
                          name, gyre_text_hint(name, names, (size_t)pipeline->node_count, hint));
}

/* Marks the nodes that may answer, and gives every entry the type of their replies. */
static gyre_status add_answers(gyre_pipeline *pipeline, const gyre_pipeline_desc *desc)
{
    const gyre_type *reply = GYRE_TYPE(gyre_none);
    int first = GYRE_NODE_NOWHERE;
    for (size_t i = 0; i < desc->answer_count; i++) {
        const int node = find_node(pipeline, desc->answers[i]);
        if (node == GYRE_NODE_NOWHERE)
            return no_such_answer(pipeline, desc->answers[i]);
        const struct gyre_node_facts *const facts = &pipeline->nodes[node].facts;
        if (pipeline->nodes[node].answers)
            return gyre_error_set(GYRE_INVALID, "the answer '%s' is named twice", facts->name);
        if (facts->record->reply->size == 0)
            return gyre_error_set(GYRE_INVALID, "the answer '%s' has no reply (its type is gyre_none)",
                                  facts->name);
        const gyre_status status =
            first == GYRE_NODE_NOWHERE ? GYRE_OK : check_same_reply(&pipeline->nodes[first].facts, facts);
        if (status != GYRE_OK)
            return status;
        first = first == GYRE_NODE_NOWHERE ? node : first;
        pipeline->nodes[node].answers = true;
        reply = facts->record->reply;
    }
    for (int i = 0; i < pipeline->node_count; i++) {
        pipeline->records[i] = *pipeline->nodes[i].facts.record;
        pipeline->records[i].reply = reply;
    }
    return GYRE_OK;
}

/* [pipeline.NAME] isolation = process, which all kernels have to have. */
static gyre_status check_isolation(const gyre_pipeline *pipeline)
{
    const struct gyre_config *config = pipeline->runtime->config;
    if (gyre_config_int(config, GYRE_SECTION_PIPELINE, pipeline->name, "isolation") == 0)
        return GYRE_OK;
    for (int i = 0; i < pipeline->node_count; i++) {
        const struct gyre_node_facts *facts = &pipeline->nodes[i].facts;
        if (facts->in_worker)
            continue;
        gyre_error_set(GYRE_INVALID,
                       "expected kernel '%s' in a worker process, and backend '%s' runs in this program: set "
                       "backend.%s.isolation to process, or leave isolation out here",
                       facts->name, gyre_dispatch_backend(facts->device),
                       gyre_dispatch_backend(facts->device));
        return gyre_config_blame(config, GYRE_SECTION_PIPELINE, pipeline->name, "isolation", GYRE_INVALID);
    }
    return GYRE_OK;
}

/* Whether the node gets messages as a tap only, whose replies nobody misses. */
static bool only_taps(const gyre_pipeline *pipeline, int node)
{
    bool taps = !pipeline->nodes[node].enters;
    for (int i = 0; i < pipeline->link_count; i++)
        taps = taps && (pipeline->links[i].to != node || pipeline->links[i].slow == GYRE_SLOW_TAP);
    return taps;
}

/* A kernel may be written for other uses as well, so a reply that nobody can get is no error. */
static void tell_useless_replies(const gyre_pipeline *pipeline)
{
    for (int i = 0; i < pipeline->node_count; i++) {
        const struct gyre_node *node = &pipeline->nodes[i];
        if (!node->answers && !only_taps(pipeline, i) && !gyre_asks_lead_to(pipeline, i) &&
            node->facts.record->reply->size != 0 && node->facts.record->port_count == 0)
            gyre_runtime_log(
                pipeline->runtime, GYRE_LOG_WARNING,
                "pipeline '%s': kernel '%s' has no ports and is no answer: each of its replies fails "
                "its request; name it in `answer`, or let it reply nothing",
                pipeline->name, node->facts.name);
    }
}

gyre_status gyre_wiring_resolve(gyre_pipeline *pipeline, const struct gyre_wiring_config *wiring)
{
    gyre_status status = gyre_wiring_blame(wiring->entry, add_entries(pipeline, &wiring->desc));
    if (status == GYRE_OK)
        status = add_links(pipeline, wiring);
    if (status == GYRE_OK) /* before the answers, of which a port without a link may be the cause */
        status = gyre_wiring_blame(wiring->entry, check_ports(pipeline));
    if (status == GYRE_OK)
        status = gyre_wiring_blame(wiring->answer, add_answers(pipeline, &wiring->desc));
    if (status == GYRE_OK)
        status = gyre_wiring_blame(wiring->entry, check_reached(pipeline));
    if (status == GYRE_OK)
        status = gyre_work_pools_check_device(pipeline);
    if (status == GYRE_OK)
        status = gyre_link_levels_check(pipeline);
    if (status == GYRE_OK)
        status = gyre_rounds_add(pipeline, wiring);
    if (status == GYRE_OK)
        status = gyre_cycles_find(pipeline, wiring);
    if (status == GYRE_OK)
        status = check_keys_of_cycles(pipeline);
    if (status == GYRE_OK)
        status = check_topics(pipeline);
    if (status != GYRE_OK)
        return status;
    gyre_homes_find(pipeline);
    status = check_isolation(pipeline);
    if (status != GYRE_OK)
        return status;
    if (!pipeline->whole)
        tell_useless_replies(pipeline);
    add_rings_of_topics(pipeline);
    pipeline->device = pipeline->nodes[0].facts.device;
    return GYRE_OK;
}
