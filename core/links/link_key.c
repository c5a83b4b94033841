/* SPDX-License-Identifier: Apache-2.0 */
/* Links whose messages are shared by key (link_key.h). */
#include "core/links/link_key.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/secret.h"
#include "core/dispatch/dispatch.h"
#include "gyre/keyed_layout.h"

static bool is_keyed(const struct gyre_node_facts *target)
{
    return target->record->form == GYRE_FORM_KEYED;
}

static gyre_status check_wish(const struct gyre_node_facts *target, const struct gyre_link_key_wish *wish)
{
    if (wish->share != GYRE_SHARE_KEY && wish->path)
        return gyre_error_set(GYRE_INVALID,
                              "key = %s decides nothing without share = key: set that, or leave the key out",
                              wish->path);
    if (wish->share == GYRE_SHARE_KEY && !target)
        return gyre_error_set(GYRE_INVALID,
                              "share = key: expected a link to a kernel, whose blocks share the messages");
    if (wish->share == GYRE_SHARE_KEY && target->record->form == GYRE_FORM_GRID)
        return gyre_error_set(GYRE_INVALID,
                              "share = key: kernel '%s' is a grid kernel, whose blocks work on each message "
                              "together: leave `share` out",
                              target->name);
    if (wish->share == GYRE_SHARE_KEY && !wish->path && !is_keyed(target))
        return gyre_error_set(
            GYRE_INVALID,
            "share = key: kernel '%s' is no keyed actor, so it has no key: name a field of '%s' "
            "with key = FIELD",
            target->name, target->record->request->name);
    if (wish->path && is_keyed(target) && strcmp(wish->path, target->record->key) != 0)
        return gyre_error_set(
            GYRE_INVALID, "key = %s: keyed actor '%s' keeps a state for each '%s': name that key, or none",
            wish->path, target->name, target->record->key);
    return GYRE_OK;
}

/* Finds the field in the messages that the target takes, which are those of the link. */
static gyre_status find_field(const struct gyre_node_facts *target, const char *path,
                              struct gyre_link_key *out)
{
    struct gyre_message_key key;
    gyre_status status = gyre_message_key_find(target->record->request, path, &key);
    if (status == GYRE_OK)
        status = gyre_message_key_check_fixed(&key, GYRE_KEYED_KEY_MAX);
    snprintf(out->path, sizeof out->path, "%s", path);
    out->offset = key.offset;
    out->size = key.size;
    return status;
}

static gyre_status check_device(const struct gyre_node_facts *target)
{
    if (gyre_dispatch_device_info(target->device)->knows_links & GYRE_LINKING_KEYS)
        return GYRE_OK;
    return gyre_error_set(
        GYRE_UNIMPLEMENTED,
        "kernel '%s' has %u blocks, which share the messages of a link by key, and backend '%s' "
        "does not have that yet: give it one block, or run the pipeline on backend 'cpu'",
        target->name, target->blocks, gyre_dispatch_backend(target->device));
}

gyre_status gyre_link_key_resolve(const struct gyre_node_facts *target, const struct gyre_link_key_wish *wish,
                                  struct gyre_link_key *out)
{
    *out = (struct gyre_link_key){.wish = wish->share, .share = GYRE_LINK_SHARE_ANY};
    snprintf(out->wished, sizeof out->wished, "%s", wish->path ? wish->path : "");
    gyre_status status = check_wish(target, wish);
    if (status != GYRE_OK || !target || (wish->share == GYRE_SHARE_ANY && !is_keyed(target)))
        return status;
    status = find_field(target, is_keyed(target) ? target->record->key : wish->path, out);
    if (status != GYRE_OK || target->blocks == 1)
        return status;
    out->share = is_keyed(target) ? GYRE_LINK_SHARE_TABLE : GYRE_LINK_SHARE_KEY;
    status = check_device(target);
    if (status == GYRE_OK && !gyre_secret_draw(out->seed, sizeof out->seed))
        status = gyre_error_set(GYRE_UNAVAILABLE, "the system has no random numbers for the keys of a link");
    return status;
}

void gyre_link_key_write(const struct gyre_link_key *key, gyre_link_ring *ring)
{
    ring->share = key->share;
    ring->key_offset = (gyre_u32)key->offset;
    ring->key_size = (gyre_u32)key->size;
    memcpy(ring->key_seed, key->seed, sizeof ring->key_seed);
}
