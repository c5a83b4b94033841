/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel on several devices: kernels NAME#DEVICE, and shards over their main queues. The spread is a guest of the runtime, so that
 * its shards end before the kernels do. Locks: runtime->lock for the list of guests. Everything but `turn` is constant once it is
 * listed.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/api/spread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/device/runtime.h"
#include "core/kernel/shard_key.h"
#include "core/links/shards_join.h"
#include "core/plan/build_options.h"
#include "core/plan/devices_plan.h"

struct gyre_spread {
    struct gyre_runtime_guest guest; /* must be first */
    gyre_runtime *runtime;
    char name[GYRE_KERNEL_NAME_MAX];
    struct gyre_device_list list;
    gyre_kernel *parts[GYRE_SPREAD_DEVICES_MAX];
    uint32_t launched;
    gyre_shard_rule rule;
    struct gyre_message_key key; /* with GYRE_SHARD_KEY */
    gyre_shards *shards;
    uint32_t turn; /* atomic: parts that were given to clients */
};

/* ---- what is configured ---- */

static gyre_status choose_devices(gyre_spread *spread, const gyre_spread_desc *desc)
{
    if (!desc->devices) {
        gyre_status status = gyre_devices_configured(spread->runtime->config, spread->name, &spread->list);
        if (status == GYRE_OK && spread->list.count == 0)
            status = gyre_error_set(
                GYRE_INVALID,
                "kernel '%s' has no devices: name them in kernel.%s.device, as in 0, 1, or in the "
                "descriptor",
                spread->name, spread->name);
        return status;
    }
    gyre_status status = gyre_devices_check(spread->name, desc->devices, desc->device_count);
    if (status != GYRE_OK)
        return status;
    spread->list.count = desc->device_count;
    memcpy(spread->list.devices, desc->devices, desc->device_count * sizeof desc->devices[0]);
    return GYRE_OK;
}

static gyre_status refuse_setting(const gyre_spread *spread, const char *key, const char *why)
{
    const gyre_status status =
        gyre_error_set(GYRE_CONFIG, "kernel '%s' is on several devices: %s", spread->name, why);
    return gyre_config_blame(spread->runtime->config, GYRE_SECTION_QUEUE, spread->name, key, status);
}

static gyre_status check_queue(const gyre_spread *spread)
{
    const struct gyre_config *config = spread->runtime->config;
    if (gyre_config_int(config, GYRE_SECTION_QUEUE, spread->name, "durability"))
        return refuse_setting(
            spread, "durability",
            "its queue cannot have a journal, because another list of devices would leave requests of a "
            "key at two of them; use durability = none, or one device");
    if (gyre_config_int(config, GYRE_SECTION_QUEUE, spread->name, "rings") > 1)
        return refuse_setting(spread, "rings", "its queue has one ring on each; leave `rings` out");
    return GYRE_OK;
}

/* ---- which device a message goes to ---- */

static gyre_status blame_key(const gyre_spread *spread, const gyre_spread_desc *desc, gyre_status status)
{
    return desc->key || desc->rule
               ? status
               : gyre_config_blame(spread->runtime->config, GYRE_SECTION_KERNEL, spread->name, "shard",
                                   status == GYRE_INVALID ? GYRE_CONFIG : status);
}

static gyre_status choose_key(const gyre_spread *spread, const gyre_spread_desc *desc,
                              struct gyre_message_key *key)
{
    const char *own = gyre_kernel_actor_key(spread->parts[0]);
    const char *path =
        desc->key ? desc->key
                  : gyre_config_text(spread->runtime->config, GYRE_SECTION_KERNEL, spread->name, "key");
    if (!path[0] && own)
        path = own;
    if (own && strcmp(own, path) != 0)
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' is an actor for each '%s', and its messages would go to devices by '%s': leave "
            "`key` out",
            spread->name, own, path);
    if (!path[0])
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s': messages go to devices by key, and no key is named: set kernel.%s.key to a field "
            "of the request, or `key` of the descriptor",
            spread->name, spread->name);
    return gyre_kernel_find_key(spread->parts[0], path, key);
}

static gyre_status choose_rule(gyre_spread *spread, const gyre_spread_desc *desc,
                               struct gyre_message_key *key)
{
    const char *own = gyre_kernel_actor_key(spread->parts[0]);
    spread->rule = desc->rule
                       ? desc->rule
                       : (gyre_shard_rule)(gyre_config_int(spread->runtime->config, GYRE_SECTION_KERNEL,
                                                           spread->name, "shard") +
                                           GYRE_SHARD_PRODUCER);
    if ((unsigned)spread->rule > GYRE_SHARD_ROUND_ROBIN)
        return gyre_error_set(GYRE_INVALID, "kernel '%s': expected a rule from 1 to %d, found %d",
                              spread->name, GYRE_SHARD_ROUND_ROBIN, (int)spread->rule);
    if (own && spread->rule != GYRE_SHARD_KEY)
        return gyre_error_set(
            GYRE_INVALID,
            "kernel '%s' is an actor for each '%s', whose state would be on several devices: set "
            "kernel.%s.shard = key",
            spread->name, own, spread->name);
    return spread->rule == GYRE_SHARD_KEY ? choose_key(spread, desc, key) : GYRE_OK;
}

/* ---- launching ---- */

static gyre_status name_part(const gyre_spread *spread, uint32_t part, char name[GYRE_SPREAD_PART_NAME])
{
    const int length =
        snprintf(name, GYRE_SPREAD_PART_NAME, "%s#%u", spread->name, spread->list.devices[part]);
    if (length < GYRE_SPREAD_PART_NAME)
        return GYRE_OK;
    return gyre_error_set(GYRE_INVALID,
                          "the name '%s' of a kernel on several devices is longer than %zu characters",
                          spread->name, GYRE_SPREAD_PART_NAME - sizeof "#65535");
}

static gyre_status launch_part(gyre_spread *spread, const gyre_spread_desc *desc, uint32_t part)
{
    char name[GYRE_SPREAD_PART_NAME];
    const char *source = NULL;
    gyre_launch_desc launch = {.size = sizeof launch};
    gyre_status status = name_part(spread, part, name);
    memcpy(&launch, desc->launch, desc->launch->size < sizeof launch ? desc->launch->size : sizeof launch);
    launch.size = sizeof launch;
    if (status == GYRE_OK && !launch.source)
        status = gyre_kernel_source(spread->runtime->config, spread->name, &source);
    launch.source = launch.source ? launch.source : source;
    launch.name = name;
    launch.device = spread->list.devices[part];
    launch.bindings = desc->bindings ? desc->bindings[part] : NULL;
    launch.binding_count = desc->bindings ? desc->binding_count : 0;
    if (status == GYRE_OK)
        status = gyre_launch(spread->runtime, &launch, &spread->parts[part]);
    if (status != GYRE_OK)
        return gyre_error_add(status, "kernel '%s' on device %u", spread->name, spread->list.devices[part]);
    spread->launched++;
    return GYRE_OK;
}

static gyre_status join_queues(gyre_spread *spread)
{
    gyre_queue *queues[GYRE_SPREAD_DEVICES_MAX];
    for (uint32_t i = 0; i < spread->launched; i++)
        queues[i] = gyre_kernel_queue(spread->parts[i]);
    return gyre_shards_join(&(struct gyre_shards_joined){.name = spread->name,
                                                         .queues = queues,
                                                         .count = spread->launched,
                                                         .rule = spread->rule,
                                                         .key = &spread->key},
                            &spread->shards);
}

static gyre_status launch_all(gyre_spread *spread, const gyre_spread_desc *desc)
{
    gyre_status status = choose_devices(spread, desc);
    if (status == GYRE_OK)
        status = check_queue(spread);
    for (uint32_t i = 0; status == GYRE_OK && i < spread->list.count; i++) {
        status = launch_part(spread, desc, i);
        if (status == GYRE_OK &&
            i == 0) /* before the other devices are opened: what the first part says holds for all */
            status = blame_key(spread, desc, choose_rule(spread, desc, &spread->key));
    }
    return status == GYRE_OK ? join_queues(spread) : status;
}

/* ---- the end ---- */

static void release_all(gyre_spread *spread)
{
    gyre_shards_part(spread->shards);
    for (uint32_t i = spread->launched; i-- > 0;)
        gyre_kernel_release(spread->parts[i]);
    free(spread);
}

/* The runtime is being closed, and frees the kernels itself. */
static void end_spread(struct gyre_runtime_guest *guest)
{
    gyre_spread *spread = (gyre_spread *)(void *)guest;
    gyre_shards_part(spread->shards);
    free(spread);
}

gyre_status gyre_spread_launch(gyre_runtime *runtime, const gyre_spread_desc *desc, gyre_spread **out)
{
    gyre_spread_desc given = {.size = sizeof given};
    if (!runtime || !out || !desc || desc->size < sizeof desc->size)
        return GYRE_ARGUMENTS("gyre_spread_launch", {"runtime", runtime}, GYRE_SIZED(desc), {"out", out});
    *out = NULL;
    memcpy(&given, desc, desc->size < sizeof given ? desc->size : sizeof given);
    if (!given.launch || given.launch->size < sizeof given.launch->size)
        return gyre_error_set(GYRE_INVALID, "gyre_spread_launch needs a launch with its size set");
    gyre_status status = gyre_runtime_check_own(runtime, "gyre_spread_launch");
    if (status != GYRE_OK)
        return status;
    gyre_spread *spread = calloc(1, sizeof *spread);
    if (!spread)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a kernel on several devices");
    spread->runtime = runtime;
    spread->guest.end = end_spread;
    gyre_devices_name(given.launch, spread->name);
    status = launch_all(spread, &given);
    if (status != GYRE_OK) {
        gyre_error_hold();
        release_all(spread);
        gyre_error_let_go();
        return status;
    }
    gyre_runtime_add_guest(runtime, &spread->guest);
    *out = spread;
    return GYRE_OK;
}

void gyre_spread_release(gyre_spread *spread)
{
    if (!spread || spread->runtime->foreign || !gyre_runtime_remove_guest(spread->runtime, &spread->guest))
        return;
    release_all(spread);
}

gyre_status gyre_spread_terminate(gyre_spread *spread, uint64_t drain_deadline_ns, uint64_t *unhandled)
{
    gyre_status first = GYRE_OK;
    uint64_t left = 0;
    if (!spread)
        return gyre_error_set(GYRE_INVALID, "gyre_spread_terminate needs a kernel on several devices");
    for (uint32_t i = 0; i < spread->launched; i++) {
        uint64_t of_part = 0;
        if (first != GYRE_OK)
            gyre_error_hold();
        const gyre_status status = gyre_kernel_terminate(spread->parts[i], drain_deadline_ns, &of_part);
        if (first != GYRE_OK)
            gyre_error_let_go();
        first = first == GYRE_OK ? status : first;
        left += of_part;
    }
    if (unhandled)
        *unhandled = left;
    return first;
}

/* ---- looks ---- */

uint32_t gyre_spread_count(const gyre_spread *spread)
{
    return spread ? spread->launched : 0;
}

gyre_kernel *gyre_spread_part(const gyre_spread *spread, uint32_t part)
{
    return spread && part < spread->launched ? spread->parts[part] : NULL;
}

gyre_shards *gyre_spread_shards(const gyre_spread *spread)
{
    return spread ? spread->shards : NULL;
}

/* Under runtime->lock. */
static gyre_spread *find_spread(const gyre_runtime *runtime, const char *name)
{
    for (struct gyre_runtime_guest *guest = runtime->guests; guest; guest = guest->next)
        if (guest->end == end_spread && strcmp(((gyre_spread *)(void *)guest)->name, name) == 0)
            return (gyre_spread *)(void *)guest;
    return NULL;
}

bool gyre_spread_view_get(gyre_runtime *runtime, const char *name, struct gyre_spread_view *out)
{
    pthread_mutex_lock(&runtime->lock);
    const gyre_spread *spread = find_spread(runtime, name);
    if (spread) {
        *out = (struct gyre_spread_view){.rule = spread->rule, .count = spread->launched};
        snprintf(out->key, sizeof out->key, "%s", spread->rule == GYRE_SHARD_KEY ? spread->key.path : "");
        memcpy(out->devices, spread->list.devices, sizeof out->devices);
    }
    pthread_mutex_unlock(&runtime->lock);
    return spread != NULL;
}

/* The part of the next client. A name always has the same one. */
static uint32_t part_of(gyre_spread *spread, const char *client)
{
    const uint64_t number =
        client[0] ? XXH64(client, strlen(client), 0) : __atomic_fetch_add(&spread->turn, 1, __ATOMIC_RELAXED);
    return (uint32_t)(number % spread->launched);
}

gyre_status gyre_spread_turn(gyre_runtime *runtime, const char *name, const char *client,
                             char part[GYRE_SPREAD_PART_NAME])
{
    gyre_status status = GYRE_NOT_FOUND;
    gyre_shard_rule rule = GYRE_SHARD_DEFAULT;
    pthread_mutex_lock(&runtime->lock);
    gyre_spread *spread = find_spread(runtime, name);
    if (spread) {
        rule = spread->rule;
        status = name_part(spread, part_of(spread, client), part);
    }
    pthread_mutex_unlock(&runtime->lock);
    if (status != GYRE_OK || rule != GYRE_SHARD_KEY)
        return status;
    return gyre_error_set(
        GYRE_INVALID,
        "kernel '%s' is on several devices, and its messages go to them by key, which one queue does not do: attach "
        "with gyre_attach_shards, or to one of its parts (%s and the others) for keys of your choice",
        name, part);
}
