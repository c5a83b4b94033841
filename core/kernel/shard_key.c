/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the key of shards (shard_key.h). No state, no locks. */
#include "core/kernel/shard_key.h"

#include "core/base/error.h"
#include "core/plan/queue_plan.h"
#include "gyre/shards.h"

static gyre_status no_key(const gyre_kernel *kernel, const struct gyre_shard_key_wish *wish)
{
    const gyre_status status =
        gyre_error_set(wish->rule_is_given ? GYRE_INVALID : GYRE_CONFIG,
                       "shards '%s' of kernel '%s' are chosen by key and no key is named: set "
                       "queue.%s.key to a field of the request, or `key` of the descriptor",
                       wish->name, kernel->name, wish->name[0] ? wish->name : "default");
    return wish->rule_is_given
               ? status
               : gyre_config_blame(kernel->runtime->config, GYRE_SECTION_QUEUE, wish->name, "shard", status);
}

gyre_status gyre_kernel_shard_key(const gyre_kernel *kernel, const struct gyre_shard_key_wish *wish,
                                  struct gyre_message_key *out)
{
    const struct gyre_config *config = kernel->runtime->config;
    const char *path =
        wish->key ? wish->key : gyre_config_text(config, GYRE_SECTION_QUEUE, wish->name, "key");
    if (!path[0])
        return no_key(kernel, wish);
    const gyre_status status = gyre_message_key_find(kernel->record->request, path, out);
    if (status == GYRE_OK)
        return status;
    gyre_error_add(status, "shards '%s' of kernel '%s'", wish->name, kernel->name);
    return wish->key ? status : gyre_config_blame(config, GYRE_SECTION_QUEUE, wish->name, "key", GYRE_CONFIG);
}

gyre_status gyre_kernel_check_shard_key(const gyre_kernel *kernel)
{
    struct gyre_message_key key;
    const struct gyre_config *config = kernel->runtime->config;
    const char *name = kernel->name;
    if (!gyre_config_has_section(config, GYRE_SECTION_QUEUE, name) ||
        gyre_queue_plan_word(config, name, "shard") != GYRE_SHARD_KEY ||
        !gyre_config_text(config, GYRE_SECTION_QUEUE, name,
                          "key")[0]) /* the program may name it in gyre_shards_open */
        return GYRE_OK;
    return gyre_kernel_shard_key(kernel, &(struct gyre_shard_key_wish){.name = kernel->name}, &key);
}

const char *gyre_kernel_actor_key(const gyre_kernel *kernel)
{
    return kernel->record->form == GYRE_FORM_KEYED ? kernel->record->key : NULL;
}

gyre_status gyre_kernel_find_key(const gyre_kernel *kernel, const char *path, struct gyre_message_key *out)
{
    const gyre_status status = gyre_message_key_find(kernel->record->request, path, out);
    return status == GYRE_OK ? status : gyre_error_add(status, "kernel '%s'", kernel->name);
}
