/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gyre backends: lists every backend that is configured or lies in a plugin folder, whether it can start here, and why not.
 * `--why NAME` tells everything about one backend, and opens its devices for that.
 */
#include "cli/views/backends_peers.h"
#include "cli/cli.h"
#include "cli/json/json.h"
#include "cli/open.h"
#include "cli/base/table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/dispatch/dispatch.h"
#include "core/registry/registry.h"

static const char HELP[] =
    "usage: gyre backends [--json] [--again]\n"
    "       gyre backends --why NAME [--json] [--again]\n"
    "       gyre backends --peers [--json] [--again]\n"
    "\n"
    "Lists the backends that the configuration names and the plugin folders hold, also those that cannot\n"
    "start or were not built, with the reason. The last line says which one the configuration chooses, and why.\n"
    "\n"
    "  --why NAME  all that is known of one backend: where it comes from, its parameters, its verdict,\n"
    "              its devices\n"
    "  --peers     how bytes get from each device to each other one (same: within it; link: by a link of their own,\n"
    "              bus: by the machine's bus; host: through the host), with the time of 64 bytes and the rate of\n"
    "              16 MiB; opens all devices, measures once and remembers that\n"
    "  --again     probe anew, whatever is remembered; with --why, that one backend;\n"
    "              with --peers, measure anew\n"
    "\n"
    "Exit codes: 0 also when no backend can start; 1 when there is no backend NAME; 2 usage; 4 configuration.\n";

struct listing {
    struct gyre_config *config;
    struct gyre_registry *registry;
    const struct gyre_candidate *choice; /* NULL: none can start, or not the one that was chosen by name */
    char why[2048];
};

static gyre_status listing_load(const cli_context *cli, struct listing *listing)
{
    gyre_status status = cli_load(cli, &listing->config);
    if (status != GYRE_OK)
        return status;
    cli_warn(listing->config);
    return gyre_registry_create(listing->config, &listing->registry);
}

/* Judges every backend. `again`: probes all backends anew, or only the backend `only` when that is not NULL. */
static void judge_all(struct listing *listing, bool again, const char *only)
{
    const char *name = gyre_config_text(listing->config, GYRE_SECTION_GYRE, NULL, "backend");
    for (size_t i = 0; i < gyre_registry_count(listing->registry); i++) {
        if (again && (!only || strcmp(gyre_registry_at(listing->registry, i)->name, only) == 0))
            gyre_registry_forget(listing->registry, i);
        gyre_registry_judge(listing->registry, i); /* the candidate keeps its own failure */
    }
    gyre_status status =
        gyre_registry_choose(listing->registry, name, &listing->choice, listing->why, sizeof listing->why);
    if (status != GYRE_OK)
        snprintf(listing->why, sizeof listing->why, "%s", gyre_error_text());
}

static void listing_finish(struct listing *listing)
{
    gyre_registry_destroy(listing->registry);
    gyre_config_destroy(listing->config);
}

static const char *verdict_word(const struct gyre_candidate *candidate)
{
    if (!candidate->built)
        return "not built";
    return candidate->status == GYRE_OK ? "can start" : gyre_status_word(candidate->status);
}

static void abi_text(const struct gyre_candidate *candidate, char text[16])
{
    text[0] = '\0';
    if (candidate->abi_major != 0 || candidate->abi_minor != 0)
        snprintf(text, 16, "%u.%u", candidate->abi_major, candidate->abi_minor);
}

/* ---- the list ---- */

static int print_list(const struct listing *listing)
{
    static const char *const headers[] = {"BACKEND", "VERDICT", ">PRIORITY", ">SCORE", ">DEVICES",
                                          "VERSION", "ABI",     "LIBRARY",   "ABOUT",  NULL};
    cli_table *table = cli_table_create(headers);
    for (size_t i = 0; i < gyre_registry_count(listing->registry); i++) {
        const struct gyre_candidate *candidate = gyre_registry_at(listing->registry, i);
        bool starts = candidate->status == GYRE_OK;
        char priority[16], score[16] = "", devices[16] = "", abi[16];
        snprintf(priority, sizeof priority, "%d", candidate->priority);
        if (starts) {
            snprintf(score, sizeof score, "%d", candidate->score);
            snprintf(devices, sizeof devices, "%u", candidate->device_count);
        }
        abi_text(candidate, abi);
        const char *const cells[] = {candidate->name,
                                     verdict_word(candidate),
                                     priority,
                                     score,
                                     devices,
                                     candidate->build,
                                     abi,
                                     candidate->library,
                                     starts ? candidate->summary : candidate->reason};
        cli_table_add(table, cells);
    }
    int code = cli_table_print(table);
    for (size_t i = 0; i < gyre_registry_count(listing->registry); i++) {
        const struct gyre_candidate *candidate = gyre_registry_at(listing->registry, i);
        if (candidate->notes[0])
            printf("\n%s: %s\n", candidate->name, candidate->notes);
    }
    printf("\n%s: %s\n", listing->choice ? "chosen" : "none chosen", listing->why);
    return code;
}

static json_t *candidate_json(const struct gyre_candidate *candidate)
{
    char abi[16];
    abi_text(candidate, abi);
    json_t *row = cli_json_object(
        "sssbbibsssss", "name", candidate->name, "library", candidate->library, "origin", candidate->origin,
        "enabled", candidate->enabled, "built", candidate->built, "priority", candidate->priority,
        "can_start", candidate->status == GYRE_OK, "status", gyre_status_word(candidate->status), "reason",
        candidate->reason, "plugin", candidate->plugin_name, "version", candidate->build, "abi", abi);
    json_t *verdict = cli_json_object(
        "iIssssbII", "score", candidate->score, "device_count", (json_int_t)candidate->device_count,
        "vendor_library", candidate->vendor_library, "summary", candidate->summary, "fingerprint",
        candidate->fingerprint, "notes", candidate->notes, "remembered", candidate->remembered, "probe_ns",
        (json_int_t)candidate->probe_ns, "expires", (json_int_t)candidate->expires);
    if (row)
        json_object_update_missing(row, verdict);
    json_decref(verdict);
    return row;
}

static json_t *choice_json(const struct listing *listing)
{
    return cli_json_object("sss", "setting",
                           gyre_config_text(listing->config, GYRE_SECTION_GYRE, NULL, "backend"), "backend",
                           listing->choice ? listing->choice->name : NULL, "why", listing->why);
}

static int print_list_json(const struct listing *listing)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < gyre_registry_count(listing->registry); i++)
        json_array_append_new(rows, candidate_json(gyre_registry_at(listing->registry, i)));
    return cli_print_json(cli_json_object("oo", "backends", rows, "choice", choice_json(listing)));
}

/* ---- the story of one ---- */

static void tell_field(const char *what, const char *text)
{
    if (text[0] != '\0')
        printf("%-14s %s\n", what, text);
}

__attribute__((format(printf, 2, 3))) static void tell_of(const char *what, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tell_field(what, text);
}

/* Drop-ins of this name that have no effect: masked, or disabled by a link to the null device. */
static void tell_drop_ins(const struct gyre_config *config, const char *name)
{
    size_t count;
    const struct gyre_config_manifest *manifests = gyre_config_manifests(config, &count);
    for (size_t i = 0; i < count; i++) {
        const struct gyre_config_manifest *manifest = &manifests[i];
        size_t length = strcspn(manifest->file, ".");
        if (strncmp(manifest->file, name, length) != 0 || name[length] != '\0')
            continue;
        if (manifest->state == GYRE_MANIFEST_MASKED)
            tell_of("drop-in", "%s (masked by %s)", manifest->path, manifest->by);
        else
            tell_of("drop-in", "%s%s", manifest->path,
                    manifest->state == GYRE_MANIFEST_DISABLED ? " (disabled: a link to the null device)"
                                                              : "");
    }
}

static void tell_device(const struct gyre_candidate *candidate, uint32_t ordinal)
{
    struct gyre_dispatch *dispatch;
    if (gyre_dispatch_open(candidate, ordinal, NULL, NULL, &dispatch) != GYRE_OK) {
        tell_of("device", "%u: cannot be opened: %s", ordinal, gyre_error_text());
        return;
    }
    const gyre_device_info *info = gyre_dispatch_device_info(dispatch);
    tell_of("device", "%u: %s, %u unit%s, %" PRIu64 " MiB, up to %u lane%s and %u block%s", ordinal,
            info->name, info->unit_count, gyre_text_plural(info->unit_count), info->memory_size >> 20,
            info->lanes_max, gyre_text_plural(info->lanes_max), info->blocks_max,
            gyre_text_plural(info->blocks_max));
    tell_of("  compiles for", "%s with %s", info->architecture,
            info->compiler[0] ? info->compiler : "nothing: there is no compiler");
    tell_field("  details", info->details);
    tell_field("  limits", info->limits);
    gyre_dispatch_close(dispatch);
}

static void tell_judged(const struct gyre_candidate *candidate)
{
    const char *changes = "until the plugin, its parameters or the driver change (--again)";
    const int64_t left = candidate->expires - (int64_t)time(NULL);
    if (!candidate->remembered && candidate->probe_ns > 0)
        tell_of("judged", "now, by a probe of %.1f ms in a process of its own",
                (double)candidate->probe_ns / 1e6);
    else if (candidate->remembered && candidate->expires != 0)
        tell_of("judged", "earlier; remembered for %" PRId64 " s more, or %s", left > 0 ? left : 0, changes);
    else if (candidate->remembered)
        tell_of("judged", "earlier; remembered %s", changes);
}

static void tell_verdict(const struct gyre_candidate *candidate)
{
    char abi[16];
    abi_text(candidate, abi);
    tell_of("version", "%s%s%s", candidate->build, candidate->plugin_name[0] ? " of plugin " : "",
            candidate->plugin_name);
    if (abi[0])
        tell_of("backend ABI", "%s; this Gyre runs %d.0 to %d.%d", abi, GYRE_ABI_MAJOR, GYRE_ABI_MAJOR,
                GYRE_ABI_MINOR);
    tell_field("verdict", verdict_word(candidate));
    tell_field("reason", candidate->reason);
    tell_judged(candidate);
    tell_field("vendor library", candidate->vendor_library);
    tell_field("driver", candidate->fingerprint);
    tell_field("summary", candidate->summary);
    tell_field("notes", candidate->notes);
}

static int print_story(const struct listing *listing, const struct gyre_candidate *candidate)
{
    tell_field("backend", candidate->name);
    tell_field("named by", candidate->origin[0] ? candidate->origin : "nothing: it lies in a plugin folder");
    tell_drop_ins(listing->config, candidate->name);
    tell_field("library", candidate->library);
    tell_of("priority", "%d%s", candidate->priority, candidate->enabled ? "" : ", disabled");
    for (size_t i = 0; i < candidate->parameter_count; i++) {
        const gyre_parameter *parameter = &candidate->parameters[i];
        tell_of("parameter", "%s = %s (%s)", parameter->key, parameter->value, parameter->origin);
    }
    tell_verdict(candidate);
    if (candidate->status == GYRE_OK) {
        tell_of("score", "%d", candidate->score);
        for (uint32_t ordinal = 0; ordinal < candidate->device_count; ordinal++)
            tell_device(candidate, ordinal);
    }
    tell_field(listing->choice == candidate ? "chosen" : "not chosen", listing->why);
    return CLI_OK;
}

static json_t *device_json(const struct gyre_candidate *candidate, uint32_t ordinal)
{
    struct gyre_dispatch *dispatch;
    if (gyre_dispatch_open(candidate, ordinal, NULL, NULL, &dispatch) != GYRE_OK)
        return cli_json_object("Is", "ordinal", (json_int_t)ordinal, "reason", gyre_error_text());
    const gyre_device_info *info = gyre_dispatch_device_info(dispatch);
    json_t *row = cli_json_object(
        "IsssIIIIss", "ordinal", (json_int_t)ordinal, "name", info->name, "architecture", info->architecture,
        "compiler", info->compiler, "units", (json_int_t)info->unit_count, "memory",
        (json_int_t)info->memory_size, "lanes_max", (json_int_t)info->lanes_max, "blocks_max",
        (json_int_t)info->blocks_max, "details", info->details, "limits", info->limits);
    gyre_dispatch_close(dispatch);
    return row;
}

static json_t *devices_json(const struct gyre_candidate *candidate)
{
    json_t *devices = json_array();
    for (uint32_t i = 0; candidate->status == GYRE_OK && i < candidate->device_count; i++)
        json_array_append_new(devices, device_json(candidate, i));
    return devices;
}

static int print_story_json(const struct listing *listing, const struct gyre_candidate *candidate)
{
    json_t *row = candidate_json(candidate), *parameters = json_array();
    for (size_t i = 0; i < candidate->parameter_count; i++) {
        const gyre_parameter *parameter = &candidate->parameters[i];
        json_array_append_new(parameters, cli_json_object("sss", "key", parameter->key, "value",
                                                          parameter->value, "origin", parameter->origin));
    }
    if (row) {
        json_object_set_new(row, "parameters", parameters);
        json_object_set_new(row, "devices", devices_json(candidate));
        json_object_set_new(row, "choice", choice_json(listing));
    }
    return cli_print_json(row);
}

/* Explains why a backend is missing: its drop-in (configuration file) may be disabled. */
static int explain_absence(const struct listing *listing, const char *name)
{
    const struct gyre_candidate *candidate;
    tell_drop_ins(listing->config, name);
    return cli_fail(gyre_registry_choose(listing->registry, name, &candidate, NULL, 0));
}

static int print_why(const cli_context *cli, const struct listing *listing, const char *name)
{
    for (size_t i = 0; i < gyre_registry_count(listing->registry); i++) {
        const struct gyre_candidate *candidate = gyre_registry_at(listing->registry, i);
        if (strcmp(candidate->name, name) == 0)
            return cli->json ? print_story_json(listing, candidate) : print_story(listing, candidate);
    }
    return explain_absence(listing, name);
}

static int run(cli_context *cli)
{
    const char *name = NULL;
    bool again = false, peers = false;
    struct listing listing = {0};
    const cli_option options[] = {
        {"--why", .text = &name}, {"--again", .flag = &again}, {"--peers", .flag = &peers}, {0}};
    if (!cli_parse(cli, options))
        return cli->exit_code;
    if (cli->operands.count > 0)
        return cli_usage_error(cli, "expected no argument, found '%s'; did you mean '--why %s'?",
                               cli->operands.items[0], cli->operands.items[0]);
    if (peers && name)
        return cli_usage_error(cli, "--peers is of all backends, and --why of one: expected one of them");
    if (peers)
        return backends_peers_print(cli, again);
    gyre_status status = listing_load(cli, &listing);
    int code = CLI_OK;
    if (status == GYRE_OK) {
        judge_all(&listing, again, name);
        if (name)
            code = print_why(cli, &listing, name);
        else
            code = cli->json ? print_list_json(&listing) : print_list(&listing);
    } else {
        code = cli_fail(status);
    }
    listing_finish(&listing);
    return code;
}

const cli_command cli_command_backends = {"backends", "list the backends and say which can start", HELP, run};
