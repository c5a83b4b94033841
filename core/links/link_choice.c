/* SPDX-License-Identifier: Apache-2.0 */
/* Links to one of the types that a kernel takes (link_choice.h). No locks, no state. */
#include "core/links/link_choice.h"

#include <stdio.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/dispatch/dispatch.h"
#include "core/types/compare.h"
#include "core/types/types.h"

enum { NAMES_TOLD = 16, LIST_SIZE = 256 };

static gyre_status no_such_type(const struct gyre_node_facts *to, const gyre_layout *taken, const char *type)
{
    const char *names[NAMES_TOLD];
    char list[LIST_SIZE], hint[GYRE_TEXT_HINT_SIZE];
    size_t count = 0;
    for (uint32_t i = 0; i < taken->choice_count && count < NAMES_TOLD; i++)
        names[count++] = taken->choices[i]->name;
    gyre_text_list(names, count, list, sizeof list);
    return gyre_error_set(GYRE_INVALID, "kernel '%s' takes no messages '%s'; it takes %s%s", to->name, type,
                          list, gyre_text_hint(type, names, count, hint));
}

/* What leads to one type is a link: rings of a topic and of a pool are read by other kernels as well, and an answer has types of its own. */
static gyre_status check_kind(const struct gyre_link *link, const struct gyre_node_facts *to)
{
    const char *const kind = link->topic[0]  ? "a topic"
                             : link->pool[0] ? "a pool"
                             : link->answer  ? "a port that asks"
                                             : NULL;
    if (kind)
        return gyre_error_set(
            GYRE_INVALID,
            "%s leads to kernels of one type, and '%s' takes several: expected a link of its own, from a "
            "port that is declared with PORT",
            kind, to->name);
    const struct gyre_node_need need = {.before = "",
                                        .linking = GYRE_LINKING_CHOICES,
                                        .device_lacks = "sends nothing to one of the types of a kernel yet",
                                        .is_left_out = to->record->is_choiceless,
                                        .build_lacks = "what takes messages of a port as one of its types",
                                        .stage = "GYRE_STAGE_WITH_CHOICES",
                                        .instead = "name it in the `to` of a section [link.NAME]"};
    return gyre_node_check_need(to, &need);
}

static gyre_status check_type(const gyre_pipeline *pipeline, const gyre_layout *chosen,
                              const struct gyre_link *link)
{
    gyre_layout *sent = NULL;
    char from[2 * GYRE_NAME_MAX + 16], to[2 * GYRE_NAME_MAX + 32];
    const struct gyre_node_facts *const source = &pipeline->nodes[link->from].facts;
    snprintf(from, sizeof from, "port '%s.%s'", source->name, link->sends.name);
    snprintf(to, sizeof to, "the type '%s' of kernel '%s'", chosen->name,
             pipeline->nodes[link->to].facts.name);
    gyre_status status = gyre_layout_create(link->sends.type, GYRE_MESSAGE_MAX, &sent);
    if (status == GYRE_OK)
        status = gyre_layout_compare(chosen, to, sent, from);
    gyre_layout_destroy(sent);
    return status;
}

gyre_status gyre_link_choice_resolve(const gyre_pipeline *pipeline, const char *type, struct gyre_link *link)
{
    gyre_layout *taken = NULL;
    const struct gyre_node_facts *const to = &pipeline->nodes[link->to].facts;
    gyre_status status = gyre_layout_create(to->record->request, GYRE_MESSAGE_MAX, &taken);
    if (status == GYRE_OK && taken->shape != GYRE_SHAPE_CHOICE)
        status = gyre_error_set(GYRE_INVALID,
                                "to: kernel '%s' takes messages '%s' alone, found '%s:%s': leave ':%s' out",
                                to->name, to->record->request->name, to->name, type, type);
    else if (status == GYRE_OK) {
        link->choice = gyre_layout_choice(taken, type);
        status = link->choice ? check_kind(link, to) : no_such_type(to, taken, type);
        if (status == GYRE_OK)
            status = check_type(pipeline, taken->choices[link->choice - 1], link);
    }
    gyre_layout_destroy(taken);
    return status;
}
