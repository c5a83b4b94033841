/* SPDX-License-Identifier: Apache-2.0 */
/* See app.h. No state. */
#include "core/cluster/app.h"

#include <string.h>

#include "core/base/error.h"
#include "core/types/types.h"

static const char NAME[] = "app";

gyre_status gyre_cluster_type_hash(const gyre_type *type, uint64_t *hash)
{
    gyre_layout *layout = NULL;
    *hash = 0;
    if (!type || type->size == 0)
        return GYRE_OK;
    const gyre_status status = gyre_layout_create_message(type, GYRE_STATE_MAX, &layout);
    if (status == GYRE_OK)
        *hash = layout->hash;
    gyre_layout_destroy(layout);
    return status;
}

gyre_status gyre_cluster_app_read(struct gyre_transport *transport, struct gyre_cluster_app *out)
{
    unsigned char bytes[GYRE_TRANSPORT_RECORD_MAX];
    size_t size;
    uint64_t revision;
    gyre_status status = gyre_transport_record_get(transport, NAME, bytes, sizeof bytes, &size, &revision);
    if (status == GYRE_OK)
        status =
            gyre_block_check(bytes, size, GYRE_BLOCK_APP, sizeof *out, "the cluster's record 'app'", NULL);
    if (status != GYRE_OK)
        return status;
    memcpy(out, bytes, sizeof *out);
    if (out->shards < 1 || out->shards > GYRE_SHARDS_MAX || !memchr(out->kernel, 0, sizeof out->kernel) ||
        !memchr(out->key, 0, sizeof out->key))
        return gyre_error_set(GYRE_INCOMPATIBLE,
                              "the cluster's record 'app': expected 1 to %d shards, found %u, and "
                              "texts that end",
                              GYRE_SHARDS_MAX, out->shards);
    return GYRE_OK;
}

static gyre_status compare_settings(const struct gyre_cluster_app *mine, const struct gyre_cluster_app *its)
{
    if (mine->lease_ns != its->lease_ns)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "the cluster has leases of %llu ms, and lease_ms = %llu here: set lease_ms = %llu in [cluster], or "
            "begin another app",
            (unsigned long long)(its->lease_ns / 1000000), (unsigned long long)(mine->lease_ns / 1000000),
            (unsigned long long)(its->lease_ns / 1000000));
    if (mine->table_size != its->table_size)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "the cluster's shards have tables of %llu bytes, and of %llu here: set `keys` in "
            "[kernel.%s] as the other members have it, or begin another app",
            (unsigned long long)its->table_size, (unsigned long long)mine->table_size, its->kernel);
    return GYRE_OK;
}

static gyre_status compare(const struct gyre_cluster_app *mine, const struct gyre_cluster_app *its)
{
    if (mine->shards != its->shards)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "the cluster has %u shards, and shards = %u here: set shards = %u in [cluster], or begin "
            "another app",
            its->shards, mine->shards, its->shards);
    if (strcmp(mine->kernel, its->kernel) != 0 || strcmp(mine->key, its->key) != 0)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "the cluster is of kernel '%s' with the key '%s', not of '%s' with '%s': name another "
            "`app` in [cluster]",
            its->kernel, its->key, mine->kernel, mine->key);
    if (mine->request != its->request || mine->reply != its->reply || mine->state != its->state)
        return gyre_error_set(
            GYRE_INCOMPATIBLE,
            "the cluster's kernel '%s' has another %s: all members need the same types; begin another "
            "`app` in [cluster] with these",
            its->kernel,
            mine->request != its->request ? "request"
            : mine->reply != its->reply   ? "reply"
                                          : "state");
    return compare_settings(mine, its);
}

gyre_status gyre_cluster_app_agree(struct gyre_transport *transport, const struct gyre_cluster_app *mine)
{
    struct gyre_cluster_app its, written = *mine;
    uint64_t revision;
    gyre_status status = gyre_cluster_app_read(transport, &its);
    if (status == GYRE_NOT_FOUND) {
        gyre_block_seal(&written, sizeof written, GYRE_BLOCK_APP);
        status = gyre_transport_record_put(transport, NAME, &written, sizeof written, 0, &revision);
        if (status == GYRE_OK)
            return GYRE_OK;
        if (status == GYRE_AGAIN || status == GYRE_TIMEOUT)
            status = gyre_cluster_app_read(transport, &its);
    }
    return status == GYRE_OK ? compare(mine, &its) : status;
}
