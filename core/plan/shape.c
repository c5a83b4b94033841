/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the lanes and blocks of a kernel (shape.h): the program's numbers come first, then the configured ones, then the
 * device's. Checks them against the limits of the kernel and the device. */
#include "core/plan/shape.h"

#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/pipeline/canary_unit.h"

static int64_t shape_setting(const struct gyre_shape_site *site, const char *key)
{
    return gyre_config_int(site->config, GYRE_SECTION_KERNEL, site->name, key);
}

/* What a canary counts in its state is no loss. */
static bool keeps_state(const gyre_kernel_record *record)
{
    return record->state->size > 0 && strcmp(record->state->name, GYRE_CANARY_STATE) != 0;
}

bool gyre_record_keeps_something(const gyre_kernel_record *record)
{
    return keeps_state(record) || record->form == GYRE_FORM_KEYED ||
           strstr(record->buffers, "inout ") != NULL;
}

/* Whether the kernel can be resumed only with one block: it has checkpoints, and the device cannot skip requests. Several blocks
 * that share a queue answer out of order, and after a death the next device would have to skip the answered requests. */
static bool resumes_one_block(const struct gyre_shape_site *site)
{
    return shape_setting(site, "checkpoints") && !gyre_dispatch_device_info(site->device)->can_skip;
}

static uint32_t first_of(uint32_t given, int64_t configured, uint32_t preset)
{
    return given ? given : configured ? (uint32_t)configured : preset;
}

static gyre_status refuse_configured(const struct gyre_shape_site *site, const char *key)
{
    const struct gyre_config_value *own =
        gyre_config_find(site->config, GYRE_SECTION_KERNEL, site->name, key);
    const struct gyre_config_value *all = gyre_config_find(site->config, GYRE_SECTION_KERNEL, NULL, key);
    bool inherited = strcmp(own->origin, all->origin) == 0;
    return gyre_error_set(
        GYRE_CONFIG,
        "%s: %s = %s of [kernel.%s] does not fit kernel '%s', %s; set %s = 1 in [kernel.%s], or "
        "declare it as GYRE_KERNEL",
        own->origin, key, own->text, inherited ? "default" : site->name, site->name,
        site->record->form == GYRE_FORM_KEYED ? "a keyed actor, whose blocks have 1 lane"
                                              : "an actor, which has 1 lane and 1 block",
        key, site->name);
}

static gyre_status refuse_keyed_lanes(const struct gyre_shape_site *site, uint32_t lanes)
{
    return gyre_error_set(
        GYRE_INVALID,
        "kernel '%s' is a keyed actor, whose blocks have 1 lane, found %u lanes; leave them out", site->name,
        lanes);
}

/* Refuses lanes or blocks other than 1 for an actor. The sentence blames the configuration or the program, whichever set
 * the number. */
static gyre_status check_actor(const struct gyre_shape_site *site, uint32_t lanes, const char *lanes_key,
                               uint32_t blocks, const char *blocks_key)
{
    if (lanes == 1 && blocks == 1)
        return GYRE_OK;
    if (lanes != 1 && lanes_key)
        return refuse_configured(site, lanes_key);
    if (blocks != 1 && blocks_key)
        return refuse_configured(site, blocks_key);
    return gyre_error_set(
        GYRE_INVALID,
        "kernel '%s' is an actor, which has 1 lane and 1 block, found %u lane%s and %u block%s; "
        "leave both out, or declare it as GYRE_KERNEL",
        site->name, lanes, gyre_text_plural(lanes), blocks, gyre_text_plural(blocks));
}

static gyre_status check_lanes(const struct gyre_shape_site *site, uint32_t lanes)
{
    const gyre_device_info *device = gyre_dispatch_device_info(site->device);
    if (lanes <= device->lanes_max)
        return GYRE_OK;
    return gyre_error_set(GYRE_INVALID, "kernel '%s': %u lanes, and '%s' allows at most %u in a block",
                          site->name, lanes, device->name, device->lanes_max);
}

static gyre_status check_blocks(const struct gyre_shape_site *site, uint32_t blocks)
{
    const gyre_device_info *device = gyre_dispatch_device_info(site->device);
    if (blocks > device->blocks_max)
        return gyre_error_set(GYRE_INVALID, "kernel '%s': %u blocks, and '%s' allows at most %u", site->name,
                              blocks, device->name, device->blocks_max);
    if (site->record->grid_blocks_most && blocks > site->record->grid_blocks_most)
        return gyre_error_set(GYRE_INVALID,
                              "kernel '%s' is a grid kernel, which has at most %u block%s on backend '%s', "
                              "found %u blocks; leave them out",
                              site->name, site->record->grid_blocks_most,
                              gyre_text_plural(site->record->grid_blocks_most),
                              gyre_dispatch_backend(site->device), blocks);
    if (blocks == 1 || !resumes_one_block(site) || !gyre_record_keeps_something(site->record))
        return GYRE_OK;
    return gyre_error_set(GYRE_INVALID,
                          "kernel '%s' has checkpoints and %u blocks, "
                          "which backend '%s' cannot resume: use blocks = 1",
                          site->name, blocks, gyre_dispatch_backend(site->device));
}

/* Refuses `keys` in the section of a kernel that keeps no states by key. In [kernel.default] it is for those that do. */
static gyre_status check_keys(const struct gyre_shape_site *site)
{
    const struct gyre_config_value *own =
        gyre_config_find(site->config, GYRE_SECTION_KERNEL, site->name, "keys");
    const struct gyre_config_value *all = gyre_config_find(site->config, GYRE_SECTION_KERNEL, NULL, "keys");
    if (site->record->form == GYRE_FORM_KEYED || strcmp(own->origin, all->origin) == 0)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_CONFIG,
        "%s: keys = %s of [kernel.%s] does not fit kernel '%s', which keeps no states by key: "
        "leave it out, or declare the kernel as GYRE_KEYED_ACTOR",
        own->origin, own->text, site->name, site->name);
}

/* Puts the place of the setting `key` in front of a failure. NULL `key`: the program gave the number, so no setting is to
 * blame. */
static gyre_status blame_setting(const struct gyre_shape_site *site, const char *key, gyre_status status)
{
    if (!key || status == GYRE_OK)
        return status;
    if (shape_setting(site, key)) /* else it was left to the device */
        status = GYRE_CONFIG;
    return gyre_config_blame(site->config, GYRE_SECTION_KERNEL, site->name, key, status);
}

gyre_status gyre_shape_choose(const struct gyre_shape_site *site, uint32_t *lanes, uint32_t *blocks)
{
    const gyre_device_info *device = gyre_dispatch_device_info(site->device);
    const bool actor = site->record->form == GYRE_FORM_ACTOR, keyed = site->record->form == GYRE_FORM_KEYED;
    const char *const lanes_key = *lanes ? NULL : "lanes", *const blocks_key = *blocks ? NULL : "blocks";
    *lanes = first_of(*lanes, shape_setting(site, "lanes"),
                      actor || keyed ? 1
                                     : gyre_lanes_default(site->record, device->lanes_default_least,
                                                          device->lanes_default));
    *blocks = first_of(
        *blocks, shape_setting(site, "blocks"),
        resumes_one_block(site) ? 1 : gyre_dispatch_blocks_default(site->device, site->record, site->held));
    gyre_status status = check_keys(site);
    if (status == GYRE_OK && actor)
        status = check_actor(site, *lanes, lanes_key, *blocks, blocks_key);
    if (status == GYRE_OK && keyed && *lanes != 1)
        status = lanes_key ? refuse_configured(site, lanes_key) : refuse_keyed_lanes(site, *lanes);
    if (status == GYRE_OK)
        status = blame_setting(site, lanes_key, check_lanes(site, *lanes));
    return status == GYRE_OK ? blame_setting(site, blocks_key, check_blocks(site, *blocks)) : status;
}
