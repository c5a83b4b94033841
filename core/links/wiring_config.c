/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completes the descriptor of a pipeline from the configuration (wiring_config.h). Looks only at the settings: whether ports,
 * types and kernels fit each other is for gyre_pipeline_open to say. No locks, no state.
 */
#include "core/links/wiring_config.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"

enum { LIST_SIZE = 256 };

struct wiring {
    const struct gyre_config *config;
    gyre_runtime *runtime;
    struct gyre_wiring_config *out;
};

/* The links of all sections, before it is known which of them the pipeline has. */
struct candidates {
    gyre_link_desc *links;
    struct gyre_wiring_place *places;
    bool *reached;
    size_t count;
};

size_t gyre_wiring_kernel_length(const char *from)
{
    const char *dot = strrchr(from, '.');
    return dot && dot[1] ? (size_t)(dot - from) : 0;
}

size_t gyre_wiring_target_length(const char *to)
{
    return strcspn(to, ":");
}

gyre_status gyre_wiring_blame(const char *place, gyre_status status)
{
    if (status == GYRE_OK || !place)
        return status;
    const bool is_mistake = status == GYRE_INVALID || status == GYRE_NOT_FOUND;
    return gyre_error_add(is_mistake ? GYRE_CONFIG : status, "%s", place);
}

/* `kernel`: perhaps with a type of it. */
static bool is_kernel_of(const char *from, const char *kernel)
{
    const size_t length = gyre_wiring_kernel_length(from);
    return gyre_wiring_target_length(kernel) == length && memcmp(from, kernel, length) == 0;
}

static const char *copy_text(struct wiring *wiring, const char *text)
{
    return gyre_pool_copy(&wiring->out->pool, text, strlen(text));
}

/* ---- lists of kernels ---- */

static gyre_status add_text(struct wiring *wiring, const char *text, const char *const **list, size_t *count)
{
    const char **grown = gyre_pool_grow(&wiring->out->pool, (void *)(uintptr_t)*list, *count, sizeof *grown);
    if (!grown || !text)
        return gyre_pool_no_memory();
    grown[(*count)++] = text;
    *list = grown;
    return GYRE_OK;
}

static gyre_status copy_list(struct wiring *wiring, const char *const *given, size_t given_count,
                             const char *const **list, size_t *count)
{
    gyre_status status = GYRE_OK;
    *list = NULL;
    *count = 0;
    for (size_t i = 0; i < given_count && status == GYRE_OK; i++) {
        if (!given[i] || !given[i][0])
            return gyre_error_set(GYRE_INVALID, "name %zu of its kernels is %s", i,
                                  given[i] ? "empty" : "NULL");
        status = add_text(wiring, copy_text(wiring, given[i]), list, count);
    }
    return status;
}

/* Splits "a, b" as the configuration keeps a list of names. */
static gyre_status split_list(struct wiring *wiring, const char *text, const char *const **list,
                              size_t *count)
{
    gyre_status status = GYRE_OK;
    while (*text && status == GYRE_OK) {
        const size_t length = strcspn(text, ",");
        status = add_text(wiring, gyre_pool_copy(&wiring->out->pool, text, length), list, count);
        text += length;
        text += strspn(text, ", ");
    }
    return status;
}

/* Reads the list of kernels of a setting of [pipeline.NAME]. *place stays NULL when the setting is a default. */
static gyre_status read_list(struct wiring *wiring, const char *key, const char *const **list, size_t *count,
                             const char **place)
{
    const struct gyre_config_value *value =
        gyre_config_find(wiring->config, GYRE_SECTION_PIPELINE, wiring->out->desc.name, key);
    if (strcmp(value->origin, "default") != 0)
        *place = value->origin;
    return split_list(wiring, value->text, list, count);
}

/* ---- the pipeline's own section ---- */

static gyre_status tell_no_section(const struct wiring *wiring)
{
    size_t count;
    char hint[GYRE_TEXT_HINT_SIZE], list[LIST_SIZE];
    const char *name = wiring->out->desc.name;
    const char *const *names = gyre_config_names(wiring->config, GYRE_SECTION_PIPELINE, &count);
    if (count == 0)
        return gyre_error_set(
            GYRE_NOT_FOUND,
            "no pipeline is configured; this one needs a section [pipeline.%s] with its entry", name);
    return gyre_error_set(
        GYRE_NOT_FOUND, "there is no section [pipeline.%s] with its entry; configured: %s%s", name,
        gyre_text_list(names, count, list, sizeof list), gyre_text_hint(name, names, count, hint));
}

static gyre_status tell_no_entry(const struct wiring *wiring)
{
    const char *name = wiring->out->desc.name;
    const char *place = gyre_config_place(wiring->config, GYRE_SECTION_PIPELINE, name);
    gyre_error_set(GYRE_CONFIG,
                   "[pipeline.%s] has no entry: set entry to the kernel that clients send their requests to",
                   name);
    return gyre_wiring_blame(place, GYRE_CONFIG);
}

static gyre_status fill_entries(struct wiring *wiring, const gyre_pipeline_desc *given)
{
    gyre_pipeline_desc *desc = &wiring->out->desc;
    if (given->entry_count)
        return copy_list(wiring, given->entries, given->entry_count, &desc->entries, &desc->entry_count);
    if (!gyre_config_has_section(wiring->config, GYRE_SECTION_PIPELINE, desc->name))
        return tell_no_section(wiring);
    gyre_status status = read_list(wiring, "entry", &desc->entries, &desc->entry_count, &wiring->out->entry);
    return status == GYRE_OK && desc->entry_count == 0 ? tell_no_entry(wiring) : status;
}

static gyre_status fill_answers(struct wiring *wiring, const gyre_pipeline_desc *given)
{
    gyre_pipeline_desc *desc = &wiring->out->desc;
    if (given->answer_count)
        return copy_list(wiring, given->answers, given->answer_count, &desc->answers, &desc->answer_count);
    return read_list(wiring, "answer", &desc->answers, &desc->answer_count, &wiring->out->answer);
}

/* ---- links of the configuration ---- */

/* A section [link.NAME], [topic.NAME] or [pool.NAME]. */
struct section {
    enum gyre_section_kind kind;
    const char *name;
};

/* Words an error about a setting of a section, or about the section when it does not set the key. */
static gyre_status blame_section(const struct wiring *wiring, const struct section *section, const char *key)
{
    const struct gyre_config_value *value =
        gyre_config_find(wiring->config, section->kind, section->name, key);
    const char *place = strcmp(value->origin, "default") != 0
                            ? value->origin
                            : gyre_config_place(wiring->config, section->kind, section->name);
    return gyre_wiring_blame(place, GYRE_CONFIG);
}

static const char *text_of(const struct wiring *wiring, const struct section *section, const char *key)
{
    return gyre_config_text(wiring->config, section->kind, section->name, key);
}

/* Refuses a link that begins at a kernel of which nothing is known: its name is most likely mistyped. */
static gyre_status check_kernel(struct wiring *wiring, const struct section *section, const char *from)
{
    size_t count;
    char hint[GYRE_TEXT_HINT_SIZE];
    const char *kernel = gyre_pool_copy(&wiring->out->pool, from, gyre_wiring_kernel_length(from));
    if (!kernel)
        return gyre_pool_no_memory();
    if (!wiring->runtime || gyre_config_has_section(wiring->config, GYRE_SECTION_KERNEL, kernel) ||
        gyre_kernel_find(wiring->runtime, kernel))
        return GYRE_OK;
    const char *const *names = gyre_config_names(wiring->config, GYRE_SECTION_KERNEL, &count);
    gyre_error_set(GYRE_CONFIG,
                   "[%s.%s] begins at kernel '%s', which has no section [kernel.%s] and is not launched%s",
                   gyre_section_kind_word(section->kind), section->name, kernel, kernel,
                   gyre_text_hint(kernel, names, count, hint));
    return blame_section(wiring, section, "from");
}

static gyre_status check_from(struct wiring *wiring, const struct section *section, const char *from)
{
    if (gyre_wiring_kernel_length(from))
        return check_kernel(wiring, section, from);
    gyre_error_set(GYRE_CONFIG, "from = '%s' in [%s.%s] names no port; expected KERNEL.PORT", from,
                   gyre_section_kind_word(section->kind), section->name);
    return blame_section(wiring, section, "from");
}

static gyre_status check_link(struct wiring *wiring, const struct section *section)
{
    const char *from = text_of(wiring, section, "from");
    if (!from[0]) {
        gyre_error_set(GYRE_CONFIG, "[link.%s] has no from; expected KERNEL.PORT, the port that it begins at",
                       section->name);
        return blame_section(wiring, section, "from");
    }
    if (gyre_wiring_kernel_length(from) && !text_of(wiring, section, "to")[0]) {
        gyre_error_set(GYRE_CONFIG,
                       "[link.%s] has no to; expected a kernel, " GYRE_WIRING_HOST
                       ", or " GYRE_WIRING_NOWHERE,
                       section->name);
        return blame_section(wiring, section, "to");
    }
    return check_from(wiring, section, from);
}

/* The origin of a setting; NULL for a default. */
static const char *place_of(const struct wiring *wiring, const struct section *section, const char *key)
{
    const char *origin = gyre_config_find(wiring->config, section->kind, section->name, key)->origin;
    return strcmp(origin, "default") == 0 ? NULL : origin;
}

static gyre_status add_candidate(struct wiring *wiring, struct candidates *all, const gyre_link_desc *link,
                                 const struct gyre_wiring_place *place)
{
    struct gyre_pool *pool = &wiring->out->pool;
    all->links = gyre_pool_grow(pool, all->links, all->count, sizeof *all->links);
    all->places = gyre_pool_grow(pool, all->places, all->count, sizeof *all->places);
    if (!all->links || !all->places || pool->exhausted)
        return gyre_pool_no_memory();
    all->links[all->count] = *link;
    all->places[all->count++] = *place;
    return GYRE_OK;
}

static uint32_t level_of(const struct wiring *wiring, const struct section *section, const char *key)
{
    return (uint32_t)gyre_config_int(wiring->config, section->kind, section->name, key);
}

/* What a link's section and a topic's have alike. */
static gyre_link_desc begin_link(struct wiring *wiring, const struct section *section)
{
    return (gyre_link_desc){
        .size = sizeof(gyre_link_desc),
        .name = copy_text(wiring, section->name),
        .capacity = (uint64_t)gyre_config_int(wiring->config, section->kind, section->name, "capacity"),
    };
}

static gyre_status read_link(struct wiring *wiring, const struct section *section, struct candidates *all)
{
    gyre_link_desc link = begin_link(wiring, section);
    const struct gyre_wiring_place place = {.from = place_of(wiring, section, "from"),
                                            .to = place_of(wiring, section, "to"),
                                            .capacity = place_of(wiring, section, "capacity"),
                                            .share = place_of(wiring, section, "share"),
                                            .key = place_of(wiring, section, "key"),
                                            .level = place_of(wiring, section, "level")};
    const char *key = text_of(wiring, section, "key");
    const gyre_status status = check_link(wiring, section);
    link.share = strcmp(text_of(wiring, section, "share"), "key") == 0 ? GYRE_SHARE_KEY : GYRE_SHARE_ANY;
    link.key = key[0] ? copy_text(wiring, key) : NULL;
    link.from = copy_text(wiring, text_of(wiring, section, "from"));
    link.to = copy_text(wiring, text_of(wiring, section, "to"));
    link.level = level_of(wiring, section, "level");
    return status == GYRE_OK ? add_candidate(wiring, all, &link, &place) : status;
}

/* ---- topics of the configuration ---- */

struct list {
    const char *const *names;
    size_t count;
};

/* A section [topic.NAME], whose `from`, `to`, `taps` and `slow` are lists. */
struct topic {
    struct section section;
    struct list from, to, taps, slow;
};

static gyre_status split_topic(struct wiring *wiring, struct topic *topic)
{
    struct {
        const char *key;
        struct list *list;
    } const lists[] = {
        {"from", &topic->from}, {"to", &topic->to}, {"taps", &topic->taps}, {"slow", &topic->slow}};
    gyre_status status = GYRE_OK;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0] && status == GYRE_OK; i++)
        status = split_list(wiring, text_of(wiring, &topic->section, lists[i].key), &lists[i].list->names,
                            &lists[i].list->count);
    return status;
}

/* Finds what happens to subscriber number `index` of `to` when it is slow. */
static gyre_status read_slow(const struct wiring *wiring, const struct topic *topic, size_t index,
                             gyre_slow *out)
{
    static const char *const words[] = {
        [GYRE_SLOW_WAIT] = "wait", [GYRE_SLOW_DROP] = "drop", [GYRE_SLOW_CUT] = "cut"};
    const char *word = topic->slow.names[topic->slow.count == 1 ? 0 : index];
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i]) == 0) {
            *out = (gyre_slow)i;
            return GYRE_OK;
        }
    gyre_error_set(GYRE_CONFIG, "slow in [topic.%s]: expected wait, drop or cut, found '%s'",
                   topic->section.name, word);
    return blame_section(wiring, &topic->section, "slow");
}

static gyre_status check_topic(struct wiring *wiring, const struct topic *topic)
{
    const char *name = topic->section.name;
    gyre_status status = GYRE_OK;
    if (topic->from.count == 0) {
        gyre_error_set(
            GYRE_CONFIG,
            "[topic.%s] has no from; expected KERNEL.PORT, ...: the ports whose messages the topic has",
            name);
        return blame_section(wiring, &topic->section, "from");
    }
    if (topic->to.count + topic->taps.count == 0) {
        gyre_error_set(
            GYRE_CONFIG,
            "[topic.%s] has no subscribers; expected kernels in to, or in taps (for programs alone: "
            "a link with to = " GYRE_WIRING_HOST ")",
            name);
        return blame_section(wiring, &topic->section, "to");
    }
    if (topic->slow.count != 1 && topic->slow.count != topic->to.count) {
        gyre_error_set(
            GYRE_CONFIG,
            "slow in [topic.%s]: expected one word, or one for each of the %zu kernels of to; found %zu",
            name, topic->to.count, topic->slow.count);
        return blame_section(wiring, &topic->section, "slow");
    }
    for (size_t i = 0; i < topic->from.count && status == GYRE_OK; i++)
        status = check_from(wiring, &topic->section, topic->from.names[i]);
    return status;
}

/* Adds a link for each subscriber of one port. */
static gyre_status add_subscribers(struct wiring *wiring, const struct topic *topic, const char *from,
                                   struct candidates *all)
{
    gyre_link_desc link = begin_link(wiring, &topic->section);
    struct gyre_wiring_place place = {.from = place_of(wiring, &topic->section, "from"),
                                      .to = place_of(wiring, &topic->section, "to"),
                                      .capacity = place_of(wiring, &topic->section, "capacity"),
                                      .level = place_of(wiring, &topic->section, "level")};
    gyre_status status = GYRE_OK;
    link.from = from;
    link.topic = link.name;
    link.level = level_of(wiring, &topic->section, "level");
    for (size_t i = 0; i < topic->to.count && status == GYRE_OK; i++) {
        link.to = topic->to.names[i];
        status = read_slow(wiring, topic, i, &link.slow);
        if (status == GYRE_OK)
            status = add_candidate(wiring, all, &link, &place);
    }
    place.to = place_of(wiring, &topic->section, "taps");
    place.level = place_of(wiring, &topic->section, "taps_level");
    link.slow = GYRE_SLOW_TAP;
    link.level = level_of(wiring, &topic->section, "taps_level");
    for (size_t i = 0; i < topic->taps.count && status == GYRE_OK; i++) {
        link.to = topic->taps.names[i];
        status = add_candidate(wiring, all, &link, &place);
    }
    return status;
}

static gyre_status read_topic(struct wiring *wiring, const struct section *section, struct candidates *all)
{
    struct topic topic = {.section = *section};
    gyre_status status = split_topic(wiring, &topic);
    if (status == GYRE_OK)
        status = check_topic(wiring, &topic);
    for (size_t i = 0; i < topic.from.count && status == GYRE_OK; i++)
        status = add_subscribers(wiring, &topic, topic.from.names[i], all);
    return status;
}

/* ---- pools of the configuration ---- */

/* A section [pool.NAME], whose `from` and `members` are lists. */
struct work {
    struct section section;
    struct list from, members;
};

static gyre_status check_work(struct wiring *wiring, const struct work *work)
{
    const char *name = work->section.name;
    gyre_status status = GYRE_OK;
    if (work->from.count == 0) {
        gyre_error_set(
            GYRE_CONFIG,
            "[pool.%s] has no from; expected KERNEL.PORT, ...: the ports whose messages are the work", name);
        return blame_section(wiring, &work->section, "from");
    }
    if (work->members.count == 0) {
        gyre_error_set(GYRE_CONFIG, "[pool.%s] has no members; expected the kernels that take from it", name);
        return blame_section(wiring, &work->section, "members");
    }
    for (size_t i = 0; i < work->from.count && status == GYRE_OK; i++)
        status = check_from(wiring, &work->section, work->from.names[i]);
    return status;
}

/* Adds a link for each member, from one port. */
static gyre_status add_members(struct wiring *wiring, const struct work *work, const char *from,
                               struct candidates *all)
{
    const struct section *section = &work->section;
    gyre_link_desc link = begin_link(wiring, section);
    const struct gyre_wiring_place place = {.from = place_of(wiring, section, "from"),
                                            .to = place_of(wiring, section, "members"),
                                            .capacity = place_of(wiring, section, "capacity"),
                                            .level = place_of(wiring, section, "level")};
    gyre_status status = GYRE_OK;
    link.from = from;
    link.pool = link.name;
    link.level = level_of(wiring, section, "level");
    link.order = strcmp(text_of(wiring, section, "order"), "oldest") == 0 ? GYRE_POOL_OLDEST_FIRST
                                                                          : GYRE_POOL_NEWEST_FIRST;
    for (size_t i = 0; i < work->members.count && status == GYRE_OK; i++) {
        link.to = work->members.names[i];
        status = add_candidate(wiring, all, &link, &place);
    }
    return status;
}

static gyre_status read_work(struct wiring *wiring, const struct section *section, struct candidates *all)
{
    struct work work = {.section = *section};
    gyre_status status =
        split_list(wiring, text_of(wiring, section, "from"), &work.from.names, &work.from.count);
    if (status == GYRE_OK)
        status =
            split_list(wiring, text_of(wiring, section, "members"), &work.members.names, &work.members.count);
    if (status == GYRE_OK)
        status = check_work(wiring, &work);
    for (size_t i = 0; i < work.from.count && status == GYRE_OK; i++)
        status = add_members(wiring, &work, work.from.names[i], all);
    return status;
}

/* ---- which of them the pipeline has ---- */

static gyre_status read_sections(struct wiring *wiring, struct candidates *all)
{
    static const struct {
        enum gyre_section_kind kind;
        gyre_status (*read)(struct wiring *wiring, const struct section *section, struct candidates *all);
    } kinds[] = {
        {GYRE_SECTION_LINK, read_link}, {GYRE_SECTION_TOPIC, read_topic}, {GYRE_SECTION_POOL, read_work}};
    gyre_status status = GYRE_OK;
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
        size_t count;
        const char *const *names = gyre_config_names(wiring->config, kinds[kind].kind, &count);
        for (size_t i = 0; i < count && status == GYRE_OK; i++) {
            const struct section section = {kinds[kind].kind, names[i]};
            status = kinds[kind].read(wiring, &section, all);
        }
    }
    if (status != GYRE_OK)
        return status;
    all->reached = (bool *)(void *)gyre_pool_take(&wiring->out->pool, all->count + 1);
    if (wiring->out->pool.exhausted)
        return gyre_pool_no_memory();
    memset(all->reached, 0, all->count + 1);
    return GYRE_OK;
}

/* True when the kernel that the link begins at is an entry, or the target of a link that is reached. */
static bool is_led_to(const struct wiring *wiring, const struct candidates *all, const char *from)
{
    bool found = false;
    for (size_t i = 0; i < wiring->out->desc.entry_count && !found; i++)
        found = is_kernel_of(from, wiring->out->desc.entries[i]);
    for (size_t i = 0; i < all->count && !found; i++)
        found = all->reached[i] && is_kernel_of(from, all->links[i].to);
    return found;
}

static void reach_links(const struct wiring *wiring, struct candidates *all)
{
    bool more = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < all->count; i++)
            if (!all->reached[i] && is_led_to(wiring, all, all->links[i].from))
                more = all->reached[i] = true;
    }
}

static gyre_status configured_links(struct wiring *wiring)
{
    struct candidates all = {.links = NULL};
    gyre_status status = read_sections(wiring, &all);
    if (status != GYRE_OK)
        return status;
    reach_links(wiring, &all);
    size_t kept = 0;
    for (size_t i = 0; i < all.count; i++) {
        if (!all.reached[i])
            continue;
        all.links[kept] = all.links[i];
        all.places[kept++] = all.places[i];
    }
    wiring->out->desc.links = all.links;
    wiring->out->desc.link_count = kept;
    wiring->out->links = all.places;
    return GYRE_OK;
}

/* ---- links of the application ---- */

static gyre_status check_given(size_t index, const gyre_link_desc *link)
{
    if (!link->from || !gyre_wiring_kernel_length(link->from))
        return gyre_error_set(GYRE_INVALID, "link %zu: from: expected KERNEL.PORT, found '%s'", index,
                              link->from ? link->from : "");
    if (!link->to || !link->to[0])
        return gyre_error_set(GYRE_INVALID,
                              "link %zu, from %s: to: expected a kernel, " GYRE_WIRING_HOST
                              ", or " GYRE_WIRING_NOWHERE "; found nothing",
                              index, link->from);
    if ((unsigned)link->slow > GYRE_SLOW_TAP || (link->slow != GYRE_SLOW_WAIT && !link->topic))
        return gyre_error_set(GYRE_INVALID, "link %zu, from %s: slow: expected %s, found %d", index,
                              link->from, link->topic ? "a gyre_slow" : "0, because it names no topic",
                              (int)link->slow);
    if ((unsigned)link->share > GYRE_SHARE_KEY)
        return gyre_error_set(GYRE_INVALID, "link %zu, from %s: share: expected a gyre_share, found %d",
                              index, link->from, (int)link->share);
    if (link->pool && (!link->pool[0] || strlen(link->pool) >= GYRE_PIPELINE_NAME_MAX))
        return gyre_error_set(GYRE_INVALID, "link %zu, from %s: pool: expected 1 to %d characters", index,
                              link->from, GYRE_PIPELINE_NAME_MAX - 1);
    if (link->pool && (link->topic || link->share != GYRE_SHARE_ANY || link->key))
        return gyre_error_set(
            GYRE_INVALID,
            "link %zu, from %s: a port leads to a pool, whose members take what they have time "
            "for, or to a topic or by a key; found both",
            index, link->from);
    if ((unsigned)link->order > GYRE_POOL_OLDEST_FIRST || (link->order && !link->pool))
        return gyre_error_set(GYRE_INVALID, "link %zu, from %s: order: expected %s, found %d", index,
                              link->from, link->pool ? "a gyre_pool_order" : "0, because it names no pool",
                              (int)link->order);
    if (link->topic && (!link->topic[0] || strlen(link->topic) >= GYRE_PIPELINE_NAME_MAX))
        return gyre_error_set(GYRE_INVALID, "link %zu, from %s: topic: expected 1 to %d characters", index,
                              link->from, GYRE_PIPELINE_NAME_MAX - 1);
    return GYRE_OK;
}

/* Copies the links of the application, whose descriptors may have another size than here. */
static gyre_status given_links(struct wiring *wiring, const gyre_pipeline_desc *given)
{
    struct gyre_pool *pool = &wiring->out->pool;
    const size_t count = given->link_count;
    if (count > GYRE_WIRING_LINKS_MAX)
        return gyre_error_set(GYRE_INVALID, "a pipeline has at most %d links, found %zu",
                              GYRE_WIRING_LINKS_MAX, count);
    gyre_link_desc *links = (gyre_link_desc *)(void *)gyre_pool_take(pool, count * sizeof *links);
    struct gyre_wiring_place *places =
        (struct gyre_wiring_place *)(void *)gyre_pool_take(pool, count * sizeof *places);
    if (!links || !places)
        return gyre_pool_no_memory();
    memset(places, 0, count * sizeof *places);
    const unsigned char *at = (const unsigned char *)given->links;
    for (size_t i = 0; i < count; i++) {
        gyre_link_desc *link = &links[i];
        size_t size;
        memcpy(&size, at, sizeof size);
        if (size < sizeof size)
            return gyre_error_set(GYRE_INVALID, "link %zu: its size is %zu bytes", i, size);
        memset(link, 0, sizeof *link);
        memcpy(link, at, size < sizeof *link ? size : sizeof *link);
        at += size;
        gyre_status status = check_given(i, link);
        if (status != GYRE_OK)
            return status;
        link->size = sizeof *link;
        link->from = copy_text(wiring, link->from);
        link->to = copy_text(wiring, link->to);
        link->topic = link->topic ? copy_text(wiring, link->topic) : NULL;
        link->pool = link->pool ? copy_text(wiring, link->pool) : NULL;
        link->key = link->key && link->key[0] ? copy_text(wiring, link->key) : NULL;
        link->name = link->name && link->name[0] ? copy_text(wiring, link->name)
                     : link->topic               ? link->topic
                     : link->pool                ? link->pool
                                                 : link->from;
    }
    wiring->out->desc.links = links;
    wiring->out->desc.link_count = count;
    wiring->out->links = places;
    return pool->exhausted ? gyre_pool_no_memory() : GYRE_OK;
}

/* ---- all of it ---- */

static gyre_status tell_twice(const struct wiring *wiring, size_t first, size_t second)
{
    const gyre_link_desc *links = wiring->out->desc.links;
    const char *before = wiring->out->links[first].from, *place = wiring->out->links[second].from;
    gyre_error_set(
        GYRE_INVALID,
        "link '%s': port %s has a link already, '%s'%s%s%s; a port leads to one kernel, or to one topic "
        "or pool with several",
        links[second].name, links[second].from, links[first].name, before ? " (" : "", before ? before : "",
        before ? ")" : "");
    return gyre_wiring_blame(place, GYRE_INVALID);
}

static bool are_equal(const char *one, const char *other)
{
    return one && other && strcmp(one, other) == 0;
}

/* Whether a port may have both. */
static bool of_one_group(const gyre_link_desc *one, const gyre_link_desc *other)
{
    return are_equal(one->topic, other->topic) ||
           (are_equal(one->pool, other->pool) && one->order == other->order);
}

static gyre_status check_ports(const struct wiring *wiring)
{
    const gyre_link_desc *links = wiring->out->desc.links;
    for (size_t i = 1; i < wiring->out->desc.link_count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(links[i].from, links[j].from) == 0 && !of_one_group(&links[i], &links[j]))
                return tell_twice(wiring, j, i);
    return GYRE_OK;
}

/* A number of [pipeline.NAME], unless the application gave it. *place stays NULL when it did, and for a default. */
static uint32_t read_number(const struct wiring *wiring, const char *key, uint32_t given, const char **place)
{
    const char *name = wiring->out->desc.name;
    if (given)
        return given;
    const char *origin = gyre_config_find(wiring->config, GYRE_SECTION_PIPELINE, name, key)->origin;
    *place = strcmp(origin, "default") == 0 ? NULL : origin;
    return (uint32_t)gyre_config_int(wiring->config, GYRE_SECTION_PIPELINE, name, key);
}

/* The kernel that begins rounds; "": none. */
static const char *read_rounds(struct wiring *wiring, const char *given)
{
    const char *name = wiring->out->desc.name;
    if (given)
        return copy_text(wiring, given);
    const char *origin = gyre_config_find(wiring->config, GYRE_SECTION_PIPELINE, name, "rounds")->origin;
    wiring->out->rounds = strcmp(origin, "default") == 0 ? NULL : origin;
    return copy_text(wiring, gyre_config_text(wiring->config, GYRE_SECTION_PIPELINE, name, "rounds"));
}

static gyre_status fill_wiring(struct wiring *wiring, const gyre_pipeline_desc *given)
{
    gyre_pipeline_desc *desc = &wiring->out->desc;
    desc->size = sizeof *desc;
    desc->name = copy_text(wiring, given->name);
    if (!desc->name)
        return gyre_pool_no_memory();
    gyre_status status = fill_entries(wiring, given);
    if (status == GYRE_OK)
        status = fill_answers(wiring, given);
    if (status == GYRE_OK)
        status = given->link_count ? given_links(wiring, given) : configured_links(wiring);
    if (status == GYRE_OK)
        status = check_ports(wiring);
    desc->links_tight = given->links_tight ||
                        gyre_config_bool(wiring->config, GYRE_SECTION_PIPELINE, desc->name, "links_tight");
    desc->window = read_number(wiring, "window", given->window, &wiring->out->window);
    desc->quota = read_number(wiring, "quota", given->quota, &wiring->out->quota);
    desc->rounds = read_rounds(wiring, given->rounds);
    return status == GYRE_OK && wiring->out->pool.exhausted ? gyre_pool_no_memory() : status;
}

gyre_status gyre_wiring_config_create(const struct gyre_config *config, gyre_runtime *runtime,
                                      const gyre_pipeline_desc *given, struct gyre_wiring_config **out)
{
    gyre_pipeline_desc known = {.size = sizeof known};
    *out = NULL;
    memcpy(&known, given, given->size < sizeof known ? given->size : sizeof known);
    if (!known.name || !known.name[0])
        return gyre_error_set(GYRE_INVALID, "a pipeline has no name; expected the NAME of [pipeline.NAME]");
    if ((known.entry_count && !known.entries) || (known.answer_count && !known.answers) ||
        (known.link_count && !known.links))
        return gyre_error_set(GYRE_INVALID, "a count of the descriptor is not 0, and its list is NULL");
    struct wiring wiring = {.config = config, .runtime = runtime, .out = calloc(1, sizeof *wiring.out)};
    if (!wiring.out)
        return gyre_pool_no_memory();
    gyre_status status = fill_wiring(&wiring, &known);
    if (status == GYRE_OK)
        *out = wiring.out;
    else
        gyre_wiring_config_destroy(wiring.out);
    return status;
}

gyre_status gyre_wiring_config_check(const struct gyre_config *config)
{
    size_t count;
    gyre_status status = GYRE_OK;
    const char *const *names = gyre_config_names(config, GYRE_SECTION_PIPELINE, &count);
    for (size_t i = 0; i < count && status == GYRE_OK; i++) {
        struct gyre_wiring_config *wiring;
        const gyre_pipeline_desc desc = {.size = sizeof desc, .name = names[i]};
        status = gyre_wiring_config_create(config, NULL, &desc, &wiring);
        gyre_wiring_config_destroy(wiring);
    }
    return status;
}

void gyre_wiring_config_destroy(struct gyre_wiring_config *wiring)
{
    if (!wiring)
        return;
    gyre_pool_finish(&wiring->pool);
    free(wiring);
}
