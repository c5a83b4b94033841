/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the candidates (backends), makes their verdicts, and chooses among them (registry.h). Each candidate has a
 * lock, held while its verdict is made; no thread holds two of these locks. Must not load a plugin: only the probe's
 * child process and core/dispatch do.
 */
#include "core/registry/registry.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/registry/manifest.h"
#include "core/registry/held.h"
#include "core/registry/memory.h"
#include "core/registry/probe.h"
#include "core/registry/unknown.h"
#include "gyre/lack.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry {
    struct gyre_candidate candidate; /* points into the manifest and the verdict */
    struct gyre_manifest *manifest;
    pthread_mutex_t lock; /* held while the verdict is made */
    struct gyre_verdict verdict;
    bool run_again; /* the next verdict must come from a probe, not from memory */
    bool passing;   /* the helper could not be run, so the next caller makes the verdict again */
};

struct gyre_registry {
    const struct gyre_config *config;
    struct gyre_manifest *manifests;
    struct entry *entries;
    size_t count;
};

/* ---- verdicts ---- */

static void publish(struct entry *entry, bool remembered)
{
    struct gyre_candidate *candidate = &entry->candidate;
    const struct gyre_verdict *verdict = &entry->verdict;
    candidate->judged = true;
    candidate->remembered = remembered;
    candidate->status = (gyre_status)verdict->status;
    candidate->abi_major = (uint16_t)verdict->abi_major;
    candidate->abi_minor = (uint16_t)verdict->abi_minor;
    candidate->score = (int)verdict->score;
    candidate->device_count = (uint32_t)verdict->device_count;
    candidate->probe_ns = (uint64_t)verdict->probe_ns;
    candidate->expires = verdict->expires;
}

/* A plugin that is not there: names what led to its path, which is the folder where somebody set one. */
static void tell_missing(struct entry *entry, const struct gyre_config *config)
{
    const struct gyre_manifest *manifest = entry->manifest;
    const struct gyre_config_value *folder = gyre_config_find(config, GYRE_SECTION_GYRE, NULL, "plugin_dir");
    const bool is_set = folder && strcmp(folder->origin, "default") != 0;
    snprintf(entry->verdict.reason, sizeof entry->verdict.reason,
             "plugin '%s' does not exist; it is named by %s: install it or correct `library`%s%s%s%s%s",
             manifest->library, manifest->origin, is_set ? ", or `plugin_dir` = " : "",
             is_set ? folder->text : "", is_set ? " (" : "", is_set ? folder->origin : "", is_set ? ")" : "");
}

/* Makes the verdict if it needs no look at the plugin (for example a disabled backend). False: it needs one. */
static bool judge_outside(const struct gyre_registry *registry, struct entry *entry)
{
    const struct gyre_manifest *manifest = entry->manifest;
    struct gyre_verdict *verdict = &entry->verdict;
    memset(verdict, 0, sizeof *verdict);
    if (manifest->disabled_by)
        snprintf(verdict->reason, sizeof verdict->reason,
                 "it is disabled: its drop-in '%s' is a link to the null device", manifest->disabled_by);
    else if (!manifest->enabled)
        snprintf(verdict->reason, sizeof verdict->reason, "it is disabled by %s (enabled = false)",
                 manifest->enabled_origin);
    else if (!entry->candidate.built)
        snprintf(verdict->reason, sizeof verdict->reason, "it was not built: %s", manifest->not_built);
    else if (access(manifest->library, F_OK) != 0)
        tell_missing(entry, registry->config);
    else
        return false;
    verdict->status = manifest->enabled ? GYRE_NOT_FOUND : GYRE_UNAVAILABLE;
    return true;
}

static void judge_plugin(struct gyre_registry *registry, struct entry *entry)
{
    const struct gyre_config *config = registry->config;
    const struct gyre_manifest *manifest = entry->manifest;
    bool remembers = gyre_config_bool(config, GYRE_SECTION_GYRE, NULL, "remember_probes");
    const char *folder = remembers ? gyre_config_text(config, GYRE_SECTION_GYRE, NULL, "cache_dir") : "";
    bool remembered =
        !entry->run_again && (gyre_held_find(manifest->library, manifest->parameters,
                                             manifest->parameter_count, &entry->verdict) ||
                              gyre_memory_recall(folder, manifest->library, manifest->parameters,
                                                 manifest->parameter_count, &entry->verdict));
    entry->passing =
        !remembered &&
        !gyre_probe_run(manifest->library, manifest->parameters, manifest->parameter_count,
                        gyre_config_ns(config, GYRE_SECTION_GYRE, NULL, "probe_timeout_ms"), &entry->verdict);
    const bool own_limit = entry->verdict.status == GYRE_EXHAUSTED && gyre_lack_addresses_limited();
    if (!remembered && !entry->passing && !own_limit) /* other processes may have other limits */
        gyre_memory_keep(folder, manifest->library, manifest->parameters, manifest->parameter_count,
                         &entry->verdict);
    publish(entry, remembered);
}

/*
 * Makes the verdict if there is none yet, and returns its status. Reads the status under the lock, because another
 * thread may make a bad verdict once more.
 */
static gyre_status judge(struct gyre_registry *registry, struct entry *entry)
{
    pthread_mutex_lock(&entry->lock);
    if (!entry->candidate.judged || entry->passing) {
        if (judge_outside(registry, entry))
            publish(entry, false);
        else
            judge_plugin(registry, entry);
    }
    const gyre_status status = entry->candidate.status;
    pthread_mutex_unlock(&entry->lock);
    return status;
}

gyre_status gyre_registry_judge(struct gyre_registry *registry, size_t index)
{
    struct entry *entry = &registry->entries[index];
    const gyre_status status = judge(registry, entry);
    if (status == GYRE_OK)
        return GYRE_OK;
    pthread_mutex_lock(&entry->lock);
    gyre_error_set(status, "%s", entry->candidate.reason);
    pthread_mutex_unlock(&entry->lock);
    return status;
}

void gyre_registry_forget(struct gyre_registry *registry, size_t index)
{
    struct entry *entry = &registry->entries[index];
    pthread_mutex_lock(&entry->lock);
    entry->run_again = true;
    entry->candidate.judged = false;
    pthread_mutex_unlock(&entry->lock);
}

/* ---- choosing ---- */

struct sentence {
    char *text;
    size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void say(struct sentence *sentence, const char *format, ...)
{
    va_list args;
    if (sentence->length + 1 >= sentence->size)
        return;
    va_start(args, format);
    int length =
        vsnprintf(sentence->text + sentence->length, sentence->size - sentence->length, format, args);
    va_end(args);
    sentence->length += length > 0 ? (size_t)length : 0;
    if (sentence->length >= sentence->size)
        sentence->length = sentence->size - 1;
}

/* Why there is no backend at all. */
static void say_none_is_there(const struct gyre_registry *registry, struct sentence *why)
{
    say(why,
        "no section [backend.<name>] is configured, and the plugin folder '%s' holds no gyre-<name>.so: set "
        "GYRE_PLUGIN_DIR to the folder of the backends, or GYRE_DROPIN_DIR to that of their sections",
        gyre_config_text(registry->config, GYRE_SECTION_GYRE, NULL, "plugin_dir"));
}

static gyre_status explain_unknown(const struct gyre_registry *registry, const char *name)
{
    char text[1024] = "";
    struct sentence why = {text, sizeof text, 0};
    if (registry->count == 0) {
        say_none_is_there(registry, &why);
        return gyre_error_set(GYRE_NOT_FOUND, "there is no backend '%s', nor any other: %s", name, text);
    }
    const char **names = calloc(registry->count + 1, sizeof *names);
    if (!names)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to choose a backend");
    for (size_t i = 0; i < registry->count; i++)
        names[i] = registry->entries[i].candidate.name;
    const gyre_status status = gyre_backend_unknown(registry->config, name, names, registry->count);
    free(names);
    return status;
}

gyre_status gyre_registry_check_name(const struct gyre_registry *registry, const char *name_or_auto)
{
    bool known = strcmp(name_or_auto, "auto") == 0;
    for (size_t i = 0; i < registry->count && !known; i++)
        known = strcmp(registry->entries[i].candidate.name, name_or_auto) == 0;
    return known ? GYRE_OK : explain_unknown(registry, name_or_auto);
}

static gyre_status choose_named(struct gyre_registry *registry, const char *name,
                                const struct gyre_candidate **out, struct sentence *why)
{
    struct entry *entry = NULL;
    for (size_t i = 0; i < registry->count && !entry; i++)
        if (strcmp(registry->entries[i].candidate.name, name) == 0)
            entry = &registry->entries[i];
    if (!entry)
        return explain_unknown(registry, name);
    const struct gyre_candidate *candidate = &entry->candidate;
    const gyre_status status = judge(registry, entry);
    if (status == GYRE_OK) {
        say(why, "%s was chosen by name", name);
        *out = candidate;
        return GYRE_OK;
    }
    pthread_mutex_lock(&entry->lock);
    say(why, "%s was chosen by name, but cannot start: %s", name, candidate->reason);
    const bool is_kept = status == GYRE_EXHAUSTED || status == GYRE_CONFIG;
    const gyre_status told = gyre_error_set(is_kept ? status : GYRE_UNAVAILABLE,
                                            "backend '%s' cannot start: %s", name, candidate->reason);
    pthread_mutex_unlock(&entry->lock);
    return told;
}

static bool is_better(const struct gyre_candidate *a, const struct gyre_candidate *b)
{
    return !b || a->priority > b->priority || (a->priority == b->priority && a->score > b->score);
}

/*
 * Tells why a candidate cannot start. `briefly`: another candidate was chosen, so the advice behind the first
 * semicolon is left out.
 */
static void tell_failed(const struct gyre_candidate *candidate, bool briefly, struct sentence *why)
{
    size_t length = briefly ? strcspn(candidate->reason, ";") : strlen(candidate->reason);
    say(why, "%s cannot start: %.*s", candidate->name, (int)length, candidate->reason);
}

/* Tells for each candidate that was not chosen why, each in its own clause. */
static void tell_others(struct gyre_registry *registry, const struct gyre_candidate *best,
                        struct sentence *why)
{
    for (size_t i = 0; i < registry->count; i++) {
        struct entry *entry = &registry->entries[i];
        const struct gyre_candidate *candidate = &entry->candidate;
        const char *separator = why->length > 0 ? "; " : "";
        if (candidate == best)
            continue;
        pthread_mutex_lock(&entry->lock);
        say(why, "%s", separator);
        if (candidate->origin[0] == '\0')
            say(why, "%s lies in the plugin folder, but no drop-in names it", candidate->name);
        else if (candidate->status != GYRE_OK)
            tell_failed(candidate, best != NULL, why);
        else
            say(why, "%s has priority %d, score %d", candidate->name, candidate->priority, candidate->score);
        pthread_mutex_unlock(&entry->lock);
    }
}

static gyre_status choose_best(struct gyre_registry *registry, const struct gyre_candidate **out,
                               struct sentence *why)
{
    const struct gyre_candidate *best = NULL;
    for (size_t i = 0; i < registry->count; i++) {
        struct entry *entry = &registry->entries[i];
        if (entry->candidate.origin[0] == '\0')
            continue;
        if (judge(registry, entry) == GYRE_OK && is_better(&entry->candidate, best))
            best = &entry->candidate;
    }
    if (best)
        say(why, "%s: priority %d, score %d", best->name, best->priority, best->score);
    tell_others(registry, best, why);
    if (registry->count == 0)
        say_none_is_there(registry, why);
    *out = best;
    return best ? GYRE_OK : gyre_error_set(GYRE_UNAVAILABLE, "no backend can start: %s", why->text);
}

gyre_status gyre_registry_choose(struct gyre_registry *registry, const char *name_or_auto,
                                 const struct gyre_candidate **out, char *why, size_t why_size)
{
    char unwanted[1024];
    struct sentence sentence = {unwanted, sizeof unwanted, 0};
    if (why && why_size > 0) {
        sentence.text = why;
        sentence.size = why_size;
    }
    sentence.text[0] = '\0';
    *out = NULL;
    if (!name_or_auto || strcmp(name_or_auto, "auto") == 0)
        return choose_best(registry, out, &sentence);
    return choose_named(registry, name_or_auto, out, &sentence);
}

void gyre_registry_hold(struct gyre_registry *registry, const struct gyre_candidate *candidate)
{
    for (size_t i = 0; i < registry->count; i++)
        if (&registry->entries[i].candidate == candidate)
            gyre_held_add(candidate->library, candidate->parameters, candidate->parameter_count,
                          &registry->entries[i].verdict);
}

/* ---- the list ---- */

static void present(struct entry *entry, struct gyre_manifest *manifest)
{
    entry->manifest = manifest;
    pthread_mutex_init(&entry->lock, NULL);
    entry->candidate = (struct gyre_candidate){
        .name = manifest->name,
        .library = manifest->library,
        .origin = manifest->origin,
        .enabled = manifest->enabled,
        .priority = manifest->priority,
        .isolated = manifest->isolated,
        .standby = manifest->standby,
        .replaced = manifest->replaced,
        .worker_timeout_ns = manifest->worker_timeout_ns,
        .built = manifest->not_built[0] == '\0' || access(manifest->library, F_OK) == 0,
        .parameters = manifest->parameters,
        .parameter_count = manifest->parameter_count,
        .reason = entry->verdict.reason,
        .plugin_name = entry->verdict.plugin_name,
        .build = entry->verdict.build,
        .vendor_library = entry->verdict.vendor_library,
        .summary = entry->verdict.summary,
        .fingerprint = entry->verdict.fingerprint,
        .notes = entry->verdict.notes,
    };
}

gyre_status gyre_registry_create(const struct gyre_config *config, struct gyre_registry **out)
{
    *out = NULL;
    struct gyre_registry *registry = calloc(1, sizeof *registry);
    if (!registry)
        return gyre_error_set(GYRE_EXHAUSTED, "no memory to list the backends");
    registry->config = config;
    gyre_status status = gyre_manifests_list(config, &registry->manifests, &registry->count);
    if (status == GYRE_OK) {
        registry->entries = calloc(registry->count + 1, sizeof *registry->entries);
        if (!registry->entries)
            status = gyre_error_set(GYRE_EXHAUSTED, "no memory to list the backends");
    }
    if (status != GYRE_OK) {
        gyre_registry_destroy(registry);
        return status;
    }
    for (size_t i = 0; i < registry->count; i++)
        present(&registry->entries[i], &registry->manifests[i]);
    *out = registry;
    return GYRE_OK;
}

void gyre_registry_destroy(struct gyre_registry *registry)
{
    if (!registry)
        return;
    gyre_manifests_release(registry->manifests, registry->count);
    for (size_t i = 0; registry->entries && i < registry->count; i++)
        pthread_mutex_destroy(&registry->entries[i].lock);
    free(registry->entries);
    free(registry);
}

size_t gyre_registry_count(const struct gyre_registry *registry)
{
    return registry->count;
}

const struct gyre_candidate *gyre_registry_at(const struct gyre_registry *registry, size_t index)
{
    return &registry->entries[index].candidate;
}
