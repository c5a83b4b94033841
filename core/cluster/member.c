/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and stops a member (member.h). member_tick.c has what its thread does. */
#include "core/cluster/member.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/threads.h"
#include "core/kernel/keyed_table.h"
#include "gyre/waiting.h"

enum { KERNEL_NAME_MAX = 48 };

static int64_t setting(const struct gyre_config *config, const char *key)
{
    return gyre_config_int(config, GYRE_SECTION_CLUSTER, NULL, key);
}

static uint64_t setting_ns(const struct gyre_config *config, const char *key)
{
    return gyre_config_ns(config, GYRE_SECTION_CLUSTER, NULL, key);
}

/* ---- what the shards are of ---- */

static gyre_status check_sizes(const struct gyre_keyed_about *about)
{
    if (about->request->size > GYRE_CLUSTER_MESSAGE_MAX || about->reply->size > GYRE_CLUSTER_MESSAGE_MAX)
        return gyre_error_set(GYRE_CONFIG, "kernel '%s': messages of a cluster have at most %d bytes",
                              about->kernel, GYRE_CLUSTER_MESSAGE_MAX);
    if (strlen(about->kernel) > KERNEL_NAME_MAX)
        return gyre_error_set(GYRE_INVALID,
                              "kernel '%s': in a cluster a kernel's name has at most %d characters",
                              about->kernel, KERNEL_NAME_MAX);
    return GYRE_OK;
}

static gyre_status describe(struct gyre_member *member, const gyre_kernel *kernel)
{
    struct gyre_cluster_app *app = &member->site.app;
    struct gyre_keyed_about about;
    *app = (struct gyre_cluster_app){.shards = (uint32_t)setting(member->site.runtime->config, "shards"),
                                     .lease_ns = member->site.lease_ns};
    gyre_status status = gyre_keyed_about_get(kernel, &about);
    if (status == GYRE_OK)
        status = check_sizes(&about);
    if (status != GYRE_OK)
        return status;
    snprintf(app->kernel, sizeof app->kernel, "%s", about.kernel);
    snprintf(app->key, sizeof app->key, "%s", about.key);
    app->table_size = about.table_size;
    status = gyre_cluster_type_hash(about.request, &app->request);
    if (status == GYRE_OK)
        status = gyre_cluster_type_hash(about.reply, &app->reply);
    return status == GYRE_OK ? gyre_cluster_type_hash(about.state, &app->state) : status;
}

/* Launches the kernel once, to see what it is, and leaves it. */
static gyre_status look_at_kernel(struct gyre_member *member)
{
    gyre_kernel *kernel = NULL;
    const gyre_launch_desc desc = {.size = sizeof desc,
                                   .source = member->site.source,
                                   .kernel = member->site.kernel,
                                   .backend = member->site.backend,
                                   .start_inactive = 1};
    gyre_status status = gyre_launch(member->site.runtime, &desc, &kernel);
    if (status == GYRE_OK)
        status = gyre_keyed_table_check_settings(kernel);
    if (status == GYRE_OK)
        status = describe(member, kernel);
    gyre_kernel_release(kernel);
    return status;
}

/* ---- the member's name ---- */

static gyre_status choose_name(struct gyre_member *member)
{
    char host[GYRE_MEMBER_NAME_MAX / 2] = "";
    struct gyre_cluster_member *record = &member->record;
    const char *given = gyre_config_text(member->site.runtime->config, GYRE_SECTION_CLUSTER, NULL, "member");
    if (getrandom(&record->incarnation, sizeof record->incarnation, 0) != sizeof record->incarnation)
        return gyre_error_set(GYRE_UNAVAILABLE, "the system has no random numbers for a member's name");
    gethostname(host, sizeof host - 1);
    for (char *at = host; *at; at++)
        *at = *at == '.' ? '-' : *at;
    if (given[0])
        snprintf(record->name, sizeof record->name, "%s", given);
    else
        snprintf(record->name, sizeof record->name, "%s-%ld-%04x", host, (long)getpid(),
                 (unsigned)(record->incarnation & 0xffff));
    if (strlen(given) < sizeof record->name &&
        gyre_cluster_text_is_name(record->name, sizeof record->name, false))
        return GYRE_OK;
    return gyre_config_blame(
        member->site.runtime->config, GYRE_SECTION_CLUSTER, NULL, "member",
        gyre_error_set(GYRE_CONFIG,
                       "[cluster] `member`: expected 1 to %d of a-z, A-Z, 0-9, '-', '_' and '.' "
                       "inside, found '%.70s'",
                       GYRE_MEMBER_NAME_MAX - 1, given[0] ? given : record->name));
}

/* Takes the name over from an earlier process, after its lease if it did not say that it left. */
static gyre_status take_name(struct gyre_member *member)
{
    struct gyre_cluster_member its;
    uint64_t seen = 0, seen_ns = gyre_clock_ns();
    for (;;) {
        gyre_status status =
            gyre_roster_read(member->site.transport, member->record.name, &its, &member->revision);
        if (status == GYRE_NOT_FOUND || (status == GYRE_OK && its.state == GYRE_MEMBER_GONE))
            return GYRE_OK;
        if (status != GYRE_OK)
            return status;
        if (seen && member->revision != seen)
            return gyre_error_set(
                GYRE_INVALID,
                "the cluster has a member '%s' already, and it is alive: give this one another "
                "`member` in [cluster]",
                member->record.name);
        seen = member->revision;
        if (gyre_clock_ns() - seen_ns > member->site.lease_ns + member->site.lease_ns / 4)
            return GYRE_OK;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
}

/* ---- the thread ---- */

static void *run(void *argument)
{
    struct gyre_member *member = argument;
    uint64_t every_ns = member->site.lease_ns / 8;
    every_ns = every_ns < UINT64_C(500000000) ? every_ns : UINT64_C(500000000);
    while (!__atomic_load_n(&member->stop, __ATOMIC_ACQUIRE)) {
        gyre_member_tick(member);
        const uint64_t until = gyre_clock_ns() + every_ns;
        while (gyre_clock_ns() < until && !__atomic_load_n(&member->stop, __ATOMIC_ACQUIRE))
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    gyre_member_end_shards(member);
    return NULL;
}

static void free_member(struct gyre_member *member)
{
    gyre_transport_close(member->site.transport);
    pthread_mutex_destroy(&member->site.lock);
    pthread_mutex_destroy(&member->site.careful);
    free(member->site.source);
    free(member->site.kernel);
    free(member->site.backend);
    free(member->roster);
    free(member->retry_ns);
    free(member->second_ns);
    free(member->vain);
    free(member->crashed);
    free(member->unfinished);
    free(member->shards);
    free(member);
}

static char *copy_text(const char *text, bool *failed)
{
    char *copy = text ? strdup(text) : NULL;
    *failed = *failed || (text && !copy);
    return copy;
}

static gyre_status make_member(gyre_runtime *runtime, const gyre_member_desc *desc, struct gyre_member **out)
{
    struct gyre_member *member = *out = calloc(1, sizeof *member);
    const struct gyre_config *config = runtime->config;
    bool failed = false;
    if (!member)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a member of a cluster");
    pthread_mutex_init(&member->site.lock, NULL);
    pthread_mutex_init(&member->site.careful, NULL);
    member->site.runtime = runtime;
    member->site.lease_ns = setting_ns(config, "lease_ms");
    member->site.settle_ns = setting_ns(config, "settle_ms");
    member->site.checkpoint_ns = setting_ns(config, "checkpoint_ms");
    member->site.checkpoint_requests = (uint64_t)setting(config, "checkpoint_requests");
    member->site.reach_ns = setting_ns(config, "reach_ms");
    member->record.weight = (uint32_t)setting(config, "weight");
    member->site.source = copy_text(desc->source, &failed);
    member->site.kernel = copy_text(desc->kernel, &failed);
    member->site.backend = copy_text(desc->backend, &failed);
    member->roster = calloc(1, sizeof *member->roster);
    member->shards = calloc(GYRE_SHARDS_MAX, sizeof *member->shards);
    member->retry_ns = calloc(GYRE_SHARDS_MAX, sizeof *member->retry_ns);
    member->second_ns = calloc(GYRE_SHARDS_MAX, sizeof *member->second_ns);
    member->vain = calloc(GYRE_SHARDS_MAX, sizeof *member->vain);
    member->crashed = calloc(GYRE_SHARDS_MAX, sizeof *member->crashed);
    member->unfinished = calloc(GYRE_SHARDS_MAX, sizeof *member->unfinished);
    if (failed || !member->crashed || !member->unfinished || !member->roster || !member->shards ||
        !member->retry_ns || !member->second_ns || !member->vain)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory for a member of a cluster");
    member->roster->lease_ns = member->site.lease_ns;
    const gyre_status status = choose_name(member);
    memcpy(member->site.name, member->record.name, sizeof member->site.name);
    member->site.incarnation = member->record.incarnation;
    return status;
}

static gyre_status begin(struct gyre_member *member)
{
    const gyre_runtime *runtime = member->site.runtime;
    gyre_status status =
        gyre_transport_open(runtime->config, runtime->log, runtime->log_context,
                            gyre_clock_ns() + member->site.reach_ns, &member->site.transport);
    if (status == GYRE_OK)
        status = look_at_kernel(member);
    if (status == GYRE_OK)
        status = gyre_cluster_app_agree(member->site.transport, &member->site.app);
    if (status == GYRE_OK)
        status = take_name(member);
    if (status == GYRE_OK)
        status = gyre_member_beat(member, GYRE_MEMBER_HERE);
    if (status != GYRE_OK)
        return status;
    member->site.info.shards = member->site.app.shards;
    snprintf(member->site.info.name, sizeof member->site.info.name, "%s", member->record.name);
    return gyre_thread_need(&member->thread, run, member, "for a member of a cluster");
}

gyre_status gyre_member_start(gyre_runtime *runtime, const gyre_member_desc *desc, gyre_member **out)
{
    gyre_member_desc given = {.size = sizeof given};
    if (!runtime || !desc || !out || desc->size < sizeof desc->size)
        return GYRE_ARGUMENTS("gyre_member_start", {"runtime", runtime}, GYRE_SIZED(desc), {"out", out});
    *out = NULL;
    gyre_status status = gyre_runtime_check_own(runtime, "gyre_member_start");
    if (status != GYRE_OK)
        return status;
    memcpy(&given, desc, desc->size < sizeof given ? desc->size : sizeof given);
    struct gyre_member *member = NULL;
    status = make_member(runtime, &given, &member);
    if (status == GYRE_OK)
        status = begin(member);
    if (status != GYRE_OK && member) {
        gyre_error_hold();
        free_member(member);
        gyre_error_let_go();
    }
    if (status == GYRE_OK)
        *out = member;
    return status;
}

void gyre_member_stop(gyre_member *member)
{
    if (!member || gyre_runtime_check_own(member->site.runtime, "gyre_member_stop") != GYRE_OK)
        return;
    __atomic_store_n(&member->stop, 1, __ATOMIC_RELEASE);
    pthread_join(member->thread, NULL);
    free_member(member);
}

gyre_status gyre_member_info_get(gyre_member *member, gyre_member_info *info)
{
    if (!member || !info || info->size < sizeof info->size)
        return GYRE_ARGUMENTS("gyre_member_info_get", {"member", member}, GYRE_SIZED(info));
    const size_t size = info->size;
    pthread_mutex_lock(&member->site.lock);
    gyre_member_info now = member->site.info;
    for (uint32_t i = 0; i < member->site.app.shards; i++)
        now.owned += member->shards[i] && gyre_shard_step_of(member->shards[i]) == GYRE_SHARD_WORKING;
    pthread_mutex_unlock(&member->site.lock);
    memcpy(info, &now, size < sizeof now ? size : sizeof now);
    info->size = size;
    return GYRE_OK;
}
