/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes a client of a cluster (client.h). */
#include "core/cluster/client.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "core/base/error.h"
#include "gyre/waiting.h"

static void free_cluster(struct gyre_cluster *cluster)
{
    while (cluster->kept) {
        struct gyre_client_reply *reply = cluster->kept;
        cluster->kept = reply->next;
        free(reply);
    }
    gyre_client_drop(cluster);
    for (uint32_t i = 0; cluster->shards && i < cluster->app.shards; i++)
        free(cluster->shards[i].indices);
    gyre_transport_close(cluster->transport);
    pthread_mutex_destroy(&cluster->lock);
    free(cluster->shards);
    free(cluster->unsettled);
    free(cluster->blocks);
    free(cluster->replies);
    free(cluster);
}

/* Waits for the first member, which writes the record. */
static gyre_status await_app(struct gyre_cluster *cluster, uint64_t deadline_ns)
{
    for (;;) {
        const gyre_status status = gyre_cluster_app_read(cluster->transport, &cluster->app);
        if (status != GYRE_NOT_FOUND)
            return status;
        if (gyre_clock_ns() >= deadline_ns)
            return gyre_error_set(
                GYRE_TIMEOUT,
                "no member of the cluster '%s' was ever there: start one, with the same [cluster]",
                gyre_config_text(cluster->runtime->config, GYRE_SECTION_CLUSTER, NULL, "app"));
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

static gyre_status compare_types(const struct gyre_cluster *cluster, const gyre_cluster_desc *desc)
{
    uint64_t request, reply;
    gyre_status status = gyre_cluster_type_hash(desc->request, &request);
    if (status == GYRE_OK)
        status = gyre_cluster_type_hash(desc->reply, &reply);
    if (status != GYRE_OK)
        return status;
    const bool same_request = request == cluster->app.request,
               same_reply = !desc->reply || reply == cluster->app.reply;
    return same_request && same_reply
               ? GYRE_OK
               : gyre_error_set(
                     GYRE_INCOMPATIBLE,
                     "the cluster's kernel '%s' has another %s than '%s': build the client with the header of the "
                     "members",
                     cluster->app.kernel, same_request ? "reply" : "request",
                     same_request ? desc->reply->name : desc->request->name);
}

static gyre_status make_room(struct gyre_cluster *cluster)
{
    cluster->shards = calloc(cluster->app.shards, sizeof *cluster->shards);
    cluster->unsettled = calloc(cluster->app.shards, sizeof *cluster->unsettled);
    cluster->blocks = malloc(GYRE_CLIENT_ROUND_BYTES);
    cluster->replies = malloc(GYRE_TRANSPORT_BLOCK_MAX);
    cluster->kept_end = &cluster->kept;
    if (!cluster->shards || !cluster->unsettled || !cluster->blocks || !cluster->replies)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a client of a cluster");
    for (uint32_t i = 0; i < cluster->app.shards; i++)
        cluster->shards[i].next = 1;
    if (getrandom(cluster->id, sizeof cluster->id, 0) != sizeof cluster->id)
        return gyre_error_set(GYRE_UNAVAILABLE, "the system has no random numbers for a client");
    gyre_cluster_client_name(cluster->log, cluster->id);
    return GYRE_OK;
}

static gyre_status begin(struct gyre_cluster *cluster, const gyre_cluster_desc *desc)
{
    const gyre_runtime *runtime = cluster->runtime;
    const uint64_t deadline_ns =
        desc->deadline_ns
            ? desc->deadline_ns
            : gyre_clock_ns() + gyre_config_ns(runtime->config, GYRE_SECTION_CLUSTER, NULL, "reach_ms");
    gyre_status status = gyre_transport_open(runtime->config, runtime->log, runtime->log_context, deadline_ns,
                                             &cluster->transport);
    if (status == GYRE_OK)
        status = await_app(cluster, deadline_ns);
    if (status == GYRE_OK)
        status = compare_types(cluster, desc);
    if (status == GYRE_OK)
        status = gyre_message_key_find(desc->request, cluster->app.key, &cluster->key);
    cluster->request_size = desc->request->size;
    cluster->goes_ahead =
        status == GYRE_OK && desc->goes_ahead && gyre_transport_can_begin(cluster->transport);
    cluster->least = cluster->key.offset + cluster->key.size;
    return status == GYRE_OK ? make_room(cluster) : status;
}

gyre_status gyre_cluster_open(gyre_runtime *runtime, const gyre_cluster_desc *desc, gyre_cluster **out)
{
    gyre_cluster_desc given = {.size = sizeof given};
    if (!runtime || !desc || !out || desc->size < sizeof desc->size)
        return GYRE_ARGUMENTS("gyre_cluster_open", {"runtime", runtime}, GYRE_SIZED(desc), {"out", out});
    *out = NULL;
    memcpy(&given, desc, desc->size < sizeof given ? desc->size : sizeof given);
    if (!given.request)
        return gyre_error_set(GYRE_INVALID, "gyre_cluster_open needs `request`, the type that has the key");
    gyre_status status = gyre_runtime_check_own(runtime, "gyre_cluster_open");
    if (status != GYRE_OK)
        return status;
    struct gyre_cluster *cluster = calloc(1, sizeof *cluster);
    if (!cluster)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a client of a cluster");
    cluster->runtime = runtime;
    pthread_mutex_init(&cluster->lock, NULL);
    status = begin(cluster, &given);
    if (status == GYRE_OK) {
        *out = cluster;
        return GYRE_OK;
    }
    gyre_error_hold();
    free_cluster(cluster);
    gyre_error_let_go();
    return status;
}

void gyre_cluster_close(gyre_cluster *cluster)
{
    if (!cluster)
        return;
    gyre_transport_purge(cluster->transport, cluster->log, cluster->position + 1);
    free_cluster(cluster);
}
