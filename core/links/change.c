/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links that change while the pipeline is open. A change adds links, with memory of their own, and retires links: their ports lead
 * elsewhere, and their targets keep them as inlets until nothing is left in their rings. Then tables without them are
 * distributed, and their memory is freed when every block obeyed. Under pipeline->lock, which is given up while a target works
 * off what it has.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/dispatch/dispatch.h"
#include "core/kernel/visit.h"
#include "core/links/cycles.h"
#include "core/links/homes.h"
#include "core/links/keep_journal.h"
#include "core/links/lend.h"
#include "core/links/pipeline.h"
#include "core/links/station.h"
#include "core/links/subscriber.h"
#include "core/observation/observation.h"
#include "core/types/compare.h"
#include "core/types/types.h"
#include "gyre/waiting.h"

enum { LOOK_NS = 50000, NAMES_TOLD = 32 };

/* ---- links that are retired ---- */

/* Whether no sender fills the link's rings any more, and its target has handled all that is in them. */
static bool is_worked_off(gyre_pipeline *pipeline, const struct gyre_link *link)
{
    struct gyre_link_counts counts;
    return gyre_link_memory_let_go(pipeline, link->turn) &&
           gyre_link_memory_count(pipeline, link, &counts) == GYRE_OK && counts.waiting == 0;
}

/* Takes the links that are worked off out of the tables. */
static void drop_links(gyre_pipeline *pipeline)
{
    bool drops[GYRE_LINKS_MAX] = {false}, any = false;
    for (int i = 0; i < pipeline->link_count; i++) {
        struct gyre_link *link = &pipeline->links[i];
        drops[i] = link->retired && !link->dropped && is_worked_off(pipeline, link);
        link->dropped |= drops[i];
        any |= drops[i];
    }
    if (!any)
        return;
    const gyre_status status = gyre_link_memory_distribute(pipeline);
    for (int i = 0; i < pipeline->link_count; i++)
        if (drops[i]) {
            pipeline->links[i].turn = pipeline->turn;
            pipeline->links[i].dropped = status == GYRE_OK || status == GYRE_TIMEOUT; /* else: tried again */
        }
}

/* Frees retired links that no block knows. Returns how many are left. */
static int clear_links(gyre_pipeline *pipeline)
{
    int kept = 0, left = 0;
    gyre_error_hold();
    drop_links(pipeline);
    for (int i = 0; i < pipeline->link_count; i++) {
        struct gyre_link *link = &pipeline->links[i];
        if (link->retired && link->dropped && gyre_link_memory_let_go(pipeline, link->turn)) {
            gyre_observation_leave(gyre_runtime_observation(pipeline->runtime), link->observed);
            gyre_link_memory_release(link);
            continue;
        }
        left += link->retired;
        pipeline->links[kept++] = *link;
    }
    pipeline->link_count = kept;
    gyre_error_let_go();
    return left;
}

/* Waits until nothing of retired links is left. Gives the lock up meanwhile: the caller is a visitor. */
static gyre_status await_links(gyre_pipeline *pipeline, uint64_t deadline_ns)
{
    while (clear_links(pipeline)) {
        if (gyre_clock_ns() >= deadline_ns)
            return gyre_error_set(GYRE_TIMEOUT,
                                  "the change is made, and a kernel still has messages that it got before");
        pthread_mutex_unlock(&pipeline->lock);
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
        pthread_mutex_lock(&pipeline->lock);
        if (pipeline->shut)
            return gyre_error_set(GYRE_CLOSED, "the change is made, and the pipeline is being closed");
    }
    return GYRE_OK;
}

/* ---- checks ---- */

/* A new node answers where the one does whose place it takes (GYRE_NODE_NOWHERE: none). */
static gyre_status check_answer(gyre_pipeline *pipeline, int node, int replaced)
{
    gyre_layout *reply = NULL, *expected = NULL;
    struct gyre_node *made = &pipeline->nodes[node];
    if (replaced == GYRE_NODE_NOWHERE || !pipeline->nodes[replaced].answers)
        return GYRE_OK;
    const struct gyre_node_facts *const old = &pipeline->nodes[replaced].facts;
    gyre_status status = gyre_layout_create_message(made->facts.record->reply, GYRE_MESSAGE_MAX, &reply);
    if (status == GYRE_OK)
        status = gyre_layout_create_message(old->record->reply, GYRE_MESSAGE_MAX, &expected);
    if (status == GYRE_OK)
        status = gyre_layout_compare(expected, old->name, reply, made->facts.name);
    made->answers = status == GYRE_OK;
    gyre_layout_destroy(reply);
    gyre_layout_destroy(expected);
    return status;
}

static gyre_status check_node(gyre_pipeline *pipeline, int node, int replaced)
{
    const struct gyre_node_facts *const facts = &pipeline->nodes[node].facts;
    if (!gyre_homes_add(pipeline, node) && !pipeline->is_mixed)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "kernel '%s' is on another device than the pipeline, all of whose kernels are on one: open the "
            "pipeline with a kernel of that device",
            facts->name);
    if (pipeline->is_mixed && !facts->is_shared)
        return gyre_error_set(GYRE_UNIMPLEMENTED,
                              "kernel '%s' is on backend '%s', which has no links to other devices",
                              facts->name, gyre_dispatch_backend(facts->device));
    if (facts->record->port_count)
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' has ports, which no link of the pipeline begins at: open the pipeline "
            "with it",
            facts->name);
    if (facts->record->flow_size)
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' has memory of flows (GYRE_FLOW), which is made when a pipeline is opened: open the "
            "pipeline with it",
            facts->name);
    const gyre_status status = gyre_cycles_count_by(pipeline, node);
    return status == GYRE_OK ? check_answer(pipeline, node, replaced) : status;
}

/* ---- one change ---- */

struct change {
    gyre_pipeline *pipeline;
    int links, nodes; /* how many there were */
    int replaced;     /* the node whose place a new one takes, or GYRE_NODE_NOWHERE */
};

static struct change begin(gyre_pipeline *pipeline, int replaced)
{
    return (struct change){pipeline, pipeline->link_count, pipeline->node_count, replaced};
}

/* Makes the kernels that came with new links stages. */
static gyre_status join_nodes(const struct change *change)
{
    gyre_pipeline *pipeline = change->pipeline;
    gyre_status status = GYRE_OK;
    for (int i = change->nodes; i < pipeline->node_count && status == GYRE_OK; i++) {
        struct gyre_node *node = &pipeline->nodes[i];
        status = check_node(pipeline, i, change->replaced);
        if (status == GYRE_OK)
            status = gyre_node_join(node->kernel, &pipeline->guest, pipeline->name);
        node->joined = status == GYRE_OK;
    }
    return status;
}

static gyre_status prepare(const struct change *change)
{
    gyre_pipeline *pipeline = change->pipeline;
    gyre_status status = GYRE_OK;
    for (int i = change->links; i < pipeline->link_count && status == GYRE_OK; i++)
        status = gyre_cycles_allow(pipeline, &pipeline->links[i]);
    if (status == GYRE_OK)
        status = join_nodes(change);
    for (int i = change->links; i < pipeline->link_count && status == GYRE_OK; i++)
        status = gyre_link_memory_add(pipeline, &pipeline->links[i]);
    return status == GYRE_OK ? gyre_link_memory_distribute(pipeline) : status;
}

/* Nobody knows what was added. */
static void undo(const struct change *change)
{
    gyre_pipeline *pipeline = change->pipeline;
    gyre_error_hold();
    for (int i = change->links; i < pipeline->link_count; i++)
        gyre_link_memory_release(&pipeline->links[i]);
    pipeline->link_count = change->links;
    for (int i = change->nodes; i < pipeline->node_count; i++) {
        struct gyre_node *node = &pipeline->nodes[i];
        gyre_kernel *kernel = node->kernel;
        if (node->joined)
            gyre_node_leave(kernel);
        *node = (struct gyre_node){.kernel = NULL};
        gyre_kernel_leave(kernel);
    }
    pipeline->node_count = change->nodes;
    gyre_error_let_go();
}

/* Makes the change, or, when it cannot be, undoes what was added. TIMEOUT: it is made. */
static gyre_status make(const struct change *change, gyre_status status)
{
    gyre_pipeline *pipeline = change->pipeline;
    if (status == GYRE_OK)
        status = prepare(change);
    if (status != GYRE_OK && status != GYRE_TIMEOUT) {
        undo(change);
        return status;
    }
    for (int i = change->nodes; i < pipeline->node_count; i++) {
        gyre_node_made(pipeline->nodes[i].kernel);
        gyre_kernel_leave(pipeline->nodes[i].kernel); /* gyre_wiring_add visited it */
    }
    for (int i = 0; i < change->links; i++)
        if (pipeline->links[i].retired && pipeline->links[i].turn == 0)
            pipeline->links[i].turn = pipeline->turn;
    return status;
}

/* ---- retargeting ---- */

static gyre_status no_such_link(const gyre_pipeline *pipeline, const char *name)
{
    const char *names[NAMES_TOLD] = {NULL};
    char list[256], hint[GYRE_TEXT_HINT_SIZE];
    size_t count = 0;
    for (int i = 0; i < pipeline->link_count && count < NAMES_TOLD; i++)
        if (!pipeline->links[i].topic[0] && !pipeline->links[i].pool[0] && !pipeline->links[i].retired)
            names[count++] = pipeline->links[i].name;
    gyre_text_list(names, count, list, sizeof list);
    return gyre_error_set(GYRE_NOT_FOUND, "there is no link '%s'%s%s%s", name,
                          count ? "; there is: " : ", and no other", list,
                          gyre_text_hint(name, names, count, hint));
}

static gyre_status find_link(const gyre_pipeline *pipeline, const char *name, int *out)
{
    for (*out = 0; *out < pipeline->link_count; (*out)++) {
        const struct gyre_link *link = &pipeline->links[*out];
        if (link->retired || strcmp(link->name, name) != 0)
            continue;
        if (link->pool[0])
            return gyre_error_set(
                GYRE_INVALID, "'%s' is a pool, whose members do not change while the pipeline is open", name);
        return link->topic[0]
                   ? gyre_error_set(
                         GYRE_INVALID,
                         "'%s' is %s, which has subscribers in place of one target: gyre_link_open and "
                         "gyre_link_close change these",
                         name, link->is_outlet ? "an outlet" : "a topic")
                   : GYRE_OK;
    }
    return no_such_link(pipeline, name);
}

/* Writes "KERNEL.PORT", from which the link leads. */
static void write_from(const gyre_pipeline *pipeline, const struct gyre_link *link,
                       char text[2 * GYRE_NAME_MAX + 2])
{
    const struct gyre_node_facts *const from = &pipeline->nodes[link->from].facts;
    snprintf(text, 2 * GYRE_NAME_MAX + 2, "%s.%s", from->name, from->record->ports[link->port].name);
}

/* The new link takes the place of the old one, which goes to the end. */
static void swap_links(gyre_pipeline *pipeline, int index)
{
    const int last = pipeline->link_count - 1;
    const struct gyre_link old = pipeline->links[index];
    pipeline->links[index] = pipeline->links[last];
    pipeline->links[last] = old;
}

static gyre_status retarget(gyre_pipeline *pipeline, const char *name, const char *to)
{
    int index;
    char from[2 * GYRE_NAME_MAX + 2];
    const struct gyre_wiring_place nowhere = {.from = NULL};
    if (strcmp(to, GYRE_WIRING_HOST) == 0)
        return gyre_error_set(GYRE_INVALID, "a link of an open pipeline cannot become an outlet");
    gyre_status status = find_link(pipeline, name, &index);
    if (status != GYRE_OK)
        return status;
    struct gyre_link *old = &pipeline->links[index];
    if (old->is_in_cycle)
        return gyre_error_set(
            GYRE_INVALID,
            "link '%s' is part of a cycle, for which window and quota were reckoned: it does not change while "
            "the pipeline is open",
            name);
    const struct change change = begin(pipeline, old->to);
    const bool leads =
        strcmp(to, GYRE_WIRING_NOWHERE) != 0; /* else nobody shares its messages, until it leads again */
    write_from(pipeline, old, from);
    const gyre_link_desc desc = {.size = sizeof desc,
                                 .name = old->name,
                                 .from = from,
                                 .to = to,
                                 .capacity = old->capacity,
                                 .share = leads ? old->key.wish : GYRE_SHARE_ANY,
                                 .key = leads && old->key.wished[0] ? old->key.wished : NULL,
                                 .level = leads ? old->level : 0};
    old->retired = true;
    old->turn = 0;
    status = make(&change, gyre_wiring_add(pipeline, &desc, &nowhere));
    old->retired = status == GYRE_OK || status == GYRE_TIMEOUT;
    if (!old->retired)
        return status;
    swap_links(pipeline, index);
    const struct gyre_link_key *wished = &pipeline->links[pipeline->link_count - 1].key;
    pipeline->links[index].key.wish = wished->wish;
    memcpy(pipeline->links[index].key.wished, wished->wished, sizeof wished->wished);
    return status;
}

/* ---- subscribers of topics ---- */

static gyre_status no_such_topic(const gyre_pipeline *pipeline, const char *topic)
{
    return gyre_error_set(GYRE_NOT_FOUND, "pipeline '%s' has no topic '%s'", pipeline->name, topic);
}

/* Whether link number `index` is the first of a port that sends to the topic. */
static bool begins_port(const gyre_pipeline *pipeline, int index, const char *topic)
{
    const struct gyre_link *link = &pipeline->links[index];
    if (link->retired || link->is_outlet || strcmp(link->topic, topic) != 0)
        return false;
    for (int i = 0; i < index; i++)
        if (!pipeline->links[i].retired && pipeline->links[i].from == link->from &&
            pipeline->links[i].port == link->port)
            return false;
    return true;
}

/* Adds a link from each port of the topic. */
static gyre_status add_branches(gyre_pipeline *pipeline, const gyre_link_desc *wish)
{
    const int count = pipeline->link_count;
    const struct gyre_wiring_place nowhere = {.from = NULL};
    gyre_status status = GYRE_OK;
    bool found = false;
    for (int i = 0; i < count && status == GYRE_OK; i++) {
        char from[2 * GYRE_NAME_MAX + 2];
        gyre_link_desc desc = *wish;
        if (!begins_port(pipeline, i, wish->topic))
            continue;
        found = true;
        write_from(pipeline, &pipeline->links[i], from);
        desc.name = wish->topic;
        desc.from = from;
        status = gyre_wiring_add(pipeline, &desc, &nowhere);
        if (status == GYRE_OK && gyre_branches_count(pipeline, pipeline->links[i].from) > GYRE_BRANCHES_MAX)
            status = gyre_error_set(GYRE_EXHAUSTED,
                                    "the topics of kernel '%s' have %d subscribers, which is the most",
                                    pipeline->nodes[pipeline->links[i].from].facts.name, GYRE_BRANCHES_MAX);
    }
    return found ? status : no_such_topic(pipeline, wish->topic);
}

/* Retires the links of a subscriber, and gives their ports rings to emit into. */
static gyre_status retire_branches(gyre_pipeline *pipeline, const char *topic, const char *kernel)
{
    const int count = pipeline->link_count;
    bool found = false;
    for (int i = 0; i < count; i++) {
        struct gyre_link *link = &pipeline->links[i];
        if (link->retired || link->is_own || link->to == GYRE_NODE_NOWHERE ||
            strcmp(link->topic, topic) != 0 || strcmp(pipeline->nodes[link->to].facts.name, kernel) != 0)
            continue;
        found = link->retired = true;
        link->turn = 0;
        gyre_wiring_add_rings(pipeline, link);
    }
    return found ? GYRE_OK
                 : gyre_error_set(GYRE_NOT_FOUND, "kernel '%s' does not subscribe to topic '%s'", kernel,
                                  topic);
}

static gyre_status leave_topic(gyre_pipeline *pipeline, const char *topic, const char *kernel)
{
    const struct change change = begin(pipeline, GYRE_NODE_NOWHERE);
    const gyre_status status = make(&change, retire_branches(pipeline, topic, kernel));
    for (int i = 0; i < pipeline->link_count && status != GYRE_OK && status != GYRE_TIMEOUT; i++)
        if (pipeline->links[i].retired && pipeline->links[i].turn == 0)
            pipeline->links[i].retired = false;
    return status;
}

/* ---- the calls ---- */

static gyre_status check_device(const gyre_pipeline *pipeline, const char *call)
{
    if (pipeline->parts)
        return gyre_error_set(
            GYRE_UNIMPLEMENTED,
            "%s: links of pipeline '%s' do not change while it is open, because it has kernels on backend '%s' beside those of "
            "other devices: close it, and open another one",
            call, pipeline->name, gyre_dispatch_backend(pipeline->parts->home));
    if (gyre_dispatch_device_info(pipeline->device)->knows_links &
        (GYRE_LINKING_HOST | GYRE_LINKING_CLIENTS | GYRE_LINKING_CHANGES))
        return GYRE_OK;
    return gyre_error_set(
        GYRE_UNIMPLEMENTED,
        "%s: links of backend '%s' do not change while pipeline '%s' is open: run it on backend "
        "'cpu', or close it and open another one",
        call, gyre_dispatch_backend(pipeline->device), pipeline->name);
}

/* A kernel that came later would have no link by which a round begins. */
static gyre_status check_rounds(const gyre_pipeline *pipeline, const char *call)
{
    if (!pipeline->has_rounds)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_UNIMPLEMENTED,
        "%s: pipeline '%s' has rounds, so its links do not change while it is open: close it, and open "
        "another one",
        call, pipeline->name);
}

/* Takes the lock, and visits the pipeline. */
static gyre_status enter(gyre_pipeline *pipeline, const char *call)
{
    gyre_status status = gyre_runtime_check_own(pipeline->runtime, call);
    if (status == GYRE_OK)
        status = check_device(pipeline, call);
    if (status == GYRE_OK)
        status = check_rounds(pipeline, call);
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&pipeline->lock);
    if (pipeline->shut) {
        pthread_mutex_unlock(&pipeline->lock);
        return gyre_error_set(GYRE_CLOSED, "%s: pipeline '%s' takes no more requests", call, pipeline->name);
    }
    status = gyre_keep_check_change(pipeline, call);
    if (status != GYRE_OK) {
        pthread_mutex_unlock(&pipeline->lock);
        return status;
    }
    __atomic_fetch_add(&pipeline->visitors, 1, __ATOMIC_RELAXED); /* its end takes the lock before it waits */
    clear_links(pipeline);
    return GYRE_OK;
}

static gyre_status leave(gyre_pipeline *pipeline, gyre_status status)
{
    pthread_mutex_unlock(&pipeline->lock);
    status = status == GYRE_OK ? status : gyre_error_add(status, "pipeline '%s'", pipeline->name);
    gyre_pipeline_leave(pipeline);
    return status;
}

gyre_status gyre_link_retarget(gyre_pipeline *pipeline, const char *link, const char *to,
                               uint64_t deadline_ns)
{
    if (!pipeline || !link || !to)
        return GYRE_ARGUMENTS("gyre_link_retarget", {"pipeline", pipeline}, {"link", link}, {"to", to});
    gyre_status status = enter(pipeline, "gyre_link_retarget");
    if (status != GYRE_OK)
        return status;
    status = retarget(pipeline, link, to);
    return leave(pipeline, status == GYRE_OK ? await_links(pipeline, deadline_ns) : status);
}

gyre_status gyre_link_open(gyre_pipeline *pipeline, const gyre_link_desc *desc)
{
    gyre_link_desc given = {.size = sizeof given};
    if (!pipeline || !desc || desc->size < sizeof desc->size)
        return GYRE_ARGUMENTS("gyre_link_open", {"pipeline", pipeline}, GYRE_SIZED(desc));
    memcpy(&given, desc, desc->size < sizeof given ? desc->size : sizeof given);
    if (!given.topic || !given.topic[0] || !given.to || given.from)
        return gyre_error_set(
            GYRE_INVALID, "gyre_link_open: expected a topic and a kernel (to), and no from: a port has its "
                          "link when the pipeline is opened");
    if (given.pool)
        return gyre_error_set(
            GYRE_INVALID,
            "gyre_link_open: expected no pool, found '%s': its members do not change while the pipeline is open",
            given.pool);
    if ((unsigned)given.share > GYRE_SHARE_KEY)
        return gyre_error_set(GYRE_INVALID, "gyre_link_open: share: expected a gyre_share, found %d",
                              (int)given.share);
    if ((unsigned)given.slow > GYRE_SLOW_TAP)
        return gyre_error_set(GYRE_INVALID, "gyre_link_open: slow: expected a gyre_slow, found %d",
                              (int)given.slow);
    gyre_status status = enter(pipeline, "gyre_link_open");
    if (status != GYRE_OK)
        return status;
    const struct change change = begin(pipeline, GYRE_NODE_NOWHERE);
    return leave(pipeline, make(&change, add_branches(pipeline, &given)));
}

gyre_status gyre_link_close(gyre_pipeline *pipeline, const char *topic, const char *kernel,
                            uint64_t deadline_ns)
{
    if (!pipeline || !topic || !kernel)
        return GYRE_ARGUMENTS("gyre_link_close", {"pipeline", pipeline}, {"topic", topic},
                              {"kernel", kernel});
    gyre_status status = enter(pipeline, "gyre_link_close");
    if (status != GYRE_OK)
        return status;
    status = leave_topic(pipeline, topic, kernel);
    return leave(pipeline, status == GYRE_OK ? await_links(pipeline, deadline_ns) : status);
}
