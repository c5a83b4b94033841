/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports that ask, and the links of their answers (asks.h). Whoever is asked answers: the kernel that a port leads to replies, and
 * its replies are the answers. Pure: changes the links that it is given only.
 */
#include "core/links/asks.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/types/compare.h"
#include "core/types/types.h"

#define ANSWERS " (answers)"

enum { OWNER_SIZE = 2 * GYRE_NAME_MAX + 32 };

static const gyre_kernel_record *record_of(const gyre_pipeline *pipeline, int node)
{
    return pipeline->nodes[node].facts.record;
}

static const char *name_of(const gyre_pipeline *pipeline, int node)
{
    return pipeline->nodes[node].facts.name;
}

/* ---- what links are ---- */

const gyre_type *gyre_asks_reply(const gyre_kernel_record *record, uint32_t port)
{
    return record->asks && port < record->port_count ? record->asks[port] : NULL;
}

uint64_t gyre_link_payload(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    /* an answer lies as a request of the asker, which takes other types, too */
    const uint64_t size = link->talk == GYRE_TALK_ANSWERS ? record_of(pipeline, link->to)->request->size
                                                          : link->sends.type->size;
    if (link->choice)
        return size + GYRE_CHOICE_FRONT;
    if (link->talk == GYRE_TALK_TELLS)
        return size;
    /* a slot of two lines at least: a device may store each of them at once */
    return (size < GYRE_SLOT_SMALL_PAYLOAD ? GYRE_SLOT_SMALL_PAYLOAD : size) + sizeof(gyre_link_ask);
}

uint32_t gyre_asks_port_count(const gyre_pipeline *pipeline, int node)
{
    uint32_t count = record_of(pipeline, node)->port_count;
    for (int i = 0; i < pipeline->link_count; i++)
        count += pipeline->links[i].from == node && pipeline->links[i].talk >= GYRE_TALK_ANSWERS;
    return count;
}

bool gyre_asks_lead_to(const gyre_pipeline *pipeline, int node)
{
    for (int i = 0; i < pipeline->link_count; i++)
        if (pipeline->links[i].to == node && pipeline->links[i].talk == GYRE_TALK_ASKS)
            return true;
    return false;
}

gyre_status gyre_asks_count_by(const gyre_pipeline *pipeline, int node)
{
    bool asks = false;
    for (int i = 0; i < pipeline->link_count; i++)
        asks = asks || pipeline->links[i].talk == GYRE_TALK_ASKS;
    if (!asks || !record_of(pipeline, node)->is_unasked)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID,
        "kernels of the pipeline ask, and kernel '%s' was compiled without what counts asks: launch it with "
        "gyre_launch_desc.stage = GYRE_STAGE_COUNTED + GYRE_STAGE_WITH_ASKS (and what else it needs), or set the quota in [pipeline.%s] and the source of the asking kernel in its section",
        name_of(pipeline, node), pipeline->name);
}

/* ---- types ---- */

/* How an asker that takes messages of `request` takes those of `reply`: *choice is the number of the type, or 0. */
static gyre_status find_choice(const gyre_type *request, const gyre_type *reply, uint32_t *choice)
{
    gyre_layout *taken = NULL, *given = NULL;
    *choice = 0;
    gyre_status status = gyre_layout_create(request, GYRE_MESSAGE_MAX, &taken);
    if (status == GYRE_OK)
        status = gyre_layout_create(reply, GYRE_MESSAGE_MAX, &given);
    const gyre_layout *found = taken;
    if (status == GYRE_OK && taken->shape == GYRE_SHAPE_CHOICE && given->hash != taken->hash) {
        *choice = gyre_layout_choice(taken, reply->name);
        found = *choice ? taken->choices[*choice - 1] : NULL;
    }
    if (status == GYRE_OK && (!found || found->hash != given->hash))
        status = GYRE_INCOMPATIBLE;
    gyre_layout_destroy(taken);
    gyre_layout_destroy(given);
    return status;
}

uint32_t gyre_asks_choice(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    uint32_t choice = 0;
    if (link->talk == GYRE_TALK_ANSWERS)
        find_choice(record_of(pipeline, link->to)->request, link->sends.type, &choice);
    return choice;
}

static gyre_status check_taken(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    uint32_t choice;
    const gyre_kernel_record *asker = record_of(pipeline, link->from);
    const gyre_type *reply = link->answer;
    const gyre_status status = find_choice(asker->request, reply, &choice);
    if (status != GYRE_INCOMPATIBLE)
        return status;
    return gyre_error_set(
        GYRE_INVALID,
        "the answers to port '%s.%s' are messages '%s', and kernel '%s' takes messages '%s' only: let its "
        "request be '%s', or a protocol (GYRE_PROTOCOL) that has '%s' among its types",
        name_of(pipeline, link->from), link->sends.name, reply->name, name_of(pipeline, link->from),
        asker->request->name, reply->name, reply->name);
}

static gyre_status check_reply(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    gyre_layout *wanted = NULL, *given = NULL;
    char asker[OWNER_SIZE], asked[OWNER_SIZE];
    const gyre_kernel_record *to = record_of(pipeline, link->to);
    const gyre_type *reply = link->answer;
    const char *port = link->sends.name;
    if (to->reply->size == 0)
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' never replies (its reply is gyre_none), and port '%s.%s' asks it for messages '%s': %s",
            name_of(pipeline, link->to), name_of(pipeline, link->from), port, reply->name,
            to->port_count ? "what it emits to its ports is no answer; let its handler reply"
                           : "let its handler reply, or declare the port with PORT");
    snprintf(asker, sizeof asker, "the answers to port '%s.%s'", name_of(pipeline, link->from), port);
    snprintf(asked, sizeof asked, "the replies of kernel '%s'", name_of(pipeline, link->to));
    gyre_status status = gyre_layout_create_message(reply, GYRE_MESSAGE_MAX, &wanted);
    if (status == GYRE_OK)
        status = gyre_layout_create_message(to->reply, GYRE_MESSAGE_MAX, &given);
    if (status == GYRE_OK)
        status = gyre_layout_compare(wanted, asker, given, asked);
    gyre_layout_destroy(wanted);
    gyre_layout_destroy(given);
    return status;
}

/* ---- resolving ---- */

static gyre_status check_target(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    if (link->to != GYRE_NODE_NOWHERE && !link->topic[0])
        return GYRE_OK;
    return gyre_error_set(GYRE_INVALID,
                          "port '%s.%s' asks, and one kernel answers: expected a link to a kernel, found %s",
                          name_of(pipeline, link->from), link->sends.name,
                          link->is_outlet  ? GYRE_WIRING_HOST
                          : link->topic[0] ? "a topic"
                                           : GYRE_WIRING_NOWHERE);
}

static gyre_status check_room(const gyre_pipeline *pipeline, const struct gyre_link *link)
{
    const uint32_t declared = record_of(pipeline, link->to)->port_count;
    const uint32_t count = gyre_asks_port_count(pipeline, link->to);
    if (count < GYRE_PORTS_MAX)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_INVALID,
        "kernel '%s' has %u ports, and %u ports of others ask it; %d is the most for both together: launch it under a "
        "second name, and ask that one",
        name_of(pipeline, link->to), declared, count - declared + 1, GYRE_PORTS_MAX);
}

gyre_status gyre_asks_resolve(const gyre_pipeline *pipeline, struct gyre_link *link,
                              struct gyre_link *answers)
{
    gyre_status status = check_target(pipeline, link);
    if (status == GYRE_OK)
        status = check_reply(pipeline, link);
    if (status == GYRE_OK)
        status = check_taken(pipeline, link);
    if (status == GYRE_OK)
        status = check_room(pipeline, link);
    if (status != GYRE_OK)
        return status;
    link->talk = GYRE_TALK_ASKS;
    link->back = gyre_asks_port_count(pipeline, link->to);
    *answers = (struct gyre_link){.from = link->to,
                                  .to = link->from,
                                  .port = link->back,
                                  .sends = {.name = link->sends.name, .type = link->answer, .most = 1},
                                  .talk = GYRE_TALK_ANSWERS,
                                  .back = link->port,
                                  .capacity = link->capacity,
                                  .place = link->place};
    snprintf(answers->name, sizeof answers->name, "%.*s" ANSWERS,
             (int)(sizeof answers->name - sizeof ANSWERS), link->name);
    return GYRE_OK;
}
