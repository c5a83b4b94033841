/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `gyre report` (report_parts.h). */
#include "cli/doctor/report_parts.h"

#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/doctor/doctor_json.h"
#include "cli/json/json.h"
#include "cli/observed/stat_print.h"
#include "cli/open.h"
#include "core/base/error.h"
#include "core/config/config.h"
#include "core/registry/registry.h"

enum { EVENTS_OF_A_PROCESS = 4096, VALUE_TEXT = 4096 };

static json_t *failed(void)
{
    char text[VALUE_TEXT];
    report_without_user(gyre_error_text(), text, sizeof text);
    json_t *part = cli_json_object("s", "error", text);
    gyre_error_clear();
    return part;
}

json_t *report_system(uint64_t seconds)
{
    struct utsname name;
    if (uname(&name) != 0)
        memset(&name, 0, sizeof name);
    return cli_json_object("sIssssII", "gyre", gyre_version(), "at", (json_int_t)seconds, "system",
                           name.sysname, "release", name.release, "version", name.version, "machine",
                           name.machine, "processors", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN),
                           "memory_bytes", (json_int_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
}

/* ---- the configuration ---- */

bool report_hides(const char *key)
{
    static const char *const words[] = {"password", "passphrase", "secret", "token", "credential"};
    const size_t length = strlen(key);
    if (length > strlen("_file") && strcmp(key + length - strlen("_file"), "_file") == 0)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcasestr(key, words[i]))
            return true;
    return false;
}

void report_without_user(const char *value, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    while (*value && used < size - 1) {
        const char *scheme = strstr(value, "://");
        const char *host = scheme ? scheme + strlen("://") : value + strlen(value);
        const char *at = memrchr(host, '@', strcspn(host, "/ ,;"));
        int wrote =
            snprintf(text + used, size - used, "%.*s%s", (int)(host - value), value, at ? "(hidden)" : "");
        used += wrote > 0 ? (size_t)wrote : 0;
        value = at ? at : host;
    }
}

/* Addresses of servers may have no scheme, and passwords have any letter: all before the last '@' of each. */
static void hide_servers(const char *value, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    while (*value && used < size - 1) {
        const size_t length = strcspn(value, ", \t");
        const char *scheme = memmem(value, length, "://", 3), *at = memrchr(value, '@', length);
        const char *name = scheme ? scheme + 3 : value, *server = at && at >= name ? at : name;
        const char *end = value + length + strspn(value + length, ", \t");
        const int wrote = snprintf(text + used, size - used, "%.*s%s%.*s", (int)(name - value), value,
                                   server > name ? "(hidden)" : "", (int)(end - server), server);
        used += wrote > 0 ? (size_t)wrote : 0;
        value = end;
    }
}

static json_t *values_json(const struct gyre_config *config)
{
    size_t count;
    char text[VALUE_TEXT];
    json_t *rows = json_array();
    const struct gyre_config_value *values = gyre_config_values(config, &count);
    for (size_t i = 0; i < count; i++) {
        const char *told = values[i].text ? values[i].text : "";
        if (strcmp(values[i].key, "url") == 0)
            hide_servers(told, text, sizeof text);
        else
            report_without_user(told, text, sizeof text);
        if (told[0] && report_hides(values[i].key))
            snprintf(text, sizeof text, "(hidden)");
        json_array_append_new(rows,
                              cli_json_object("ssss", "section", values[i].section, "key", values[i].key,
                                              "value", text, "origin", values[i].origin));
    }
    return rows;
}

json_t *report_config(const cli_context *cli)
{
    struct gyre_config *config = NULL;
    size_t count;
    if (cli_load(cli, &config) != GYRE_OK)
        return failed();
    json_t *warned = json_array();
    const char *const *warnings = gyre_config_warnings(config, &count);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(warned, cli_json_text(warnings[i]));
    json_t *part = cli_json_object("oo", "values", values_json(config), "warnings", warned);
    gyre_config_destroy(config);
    return part;
}

/* ---- the machine ---- */

static json_t *backends_json(struct gyre_registry *registry)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < gyre_registry_count(registry); i++) {
        const struct gyre_candidate *candidate = gyre_registry_at(registry, i);
        gyre_registry_judge(registry, i);
        json_array_append_new(rows, cli_json_object("ssssbssss", "name", candidate->name, "library",
                                                    candidate->library, "origin", candidate->origin,
                                                    "version", candidate->build, "can_start",
                                                    candidate->status == GYRE_OK, "reason", candidate->reason,
                                                    "vendor_library", candidate->vendor_library, "summary",
                                                    candidate->summary, "notes", candidate->notes));
    }
    return cli_json_object("o", "backends", rows);
}

json_t *report_backends(const cli_context *cli)
{
    struct gyre_config *config = NULL;
    struct gyre_registry *registry = NULL;
    gyre_status status = cli_load(cli, &config);
    if (status == GYRE_OK)
        status = gyre_registry_create(config, &registry);
    json_t *part = status == GYRE_OK ? backends_json(registry) : failed();
    gyre_registry_destroy(registry);
    gyre_config_destroy(config);
    return part;
}

json_t *report_doctor(const cli_context *cli)
{
    gyre_runtime *runtime = NULL;
    doctor_report report = {.clean = false};
    if (cli_open(cli, &runtime) != GYRE_OK)
        return failed();
    doctor_look_at_all(&report, runtime);
    gyre_close(runtime);
    return cli_json_object("o", "findings", doctor_json(&report));
}

/* Adds what a dump shows. One that is gone meanwhile, or is damaged, is left out. */
static void add_dump(json_t *rows, const struct gyre_observed_file *file)
{
    const observed_source source = {.file = file->path, .quiet = true};
    observed_processes processes = {0};
    struct gyre_observed seen;
    enum gyre_observed_life life;
    const bool whole = gyre_observed_read(file->path, &seen, &life) == GYRE_OK;
    const bool believed = whole && !seen.is_cut && gyre_observed_is_believed(file, &seen);
    if (whole)
        gyre_observed_finish(&seen);
    gyre_error_clear();
    if (believed && observed_open(&source, &processes) == CLI_OK)
        json_array_append_new(rows, stat_json(&processes, EVENTS_OF_A_PROCESS));
    observed_finish(&processes);
}

json_t *report_dumps(const cli_context *cli)
{
    struct gyre_config *config = NULL;
    struct gyre_observed_file *files = NULL;
    size_t count = 0;
    json_t *rows = json_array();
    if (cli_load(cli, &config) != GYRE_OK ||
        gyre_observed_find_dumps(gyre_config_text(config, GYRE_SECTION_OBSERVE, NULL, "dumps"),
                                 gyre_config_text(config, GYRE_SECTION_OBSERVE, NULL, "folder"), &files,
                                 &count) != GYRE_OK) {
        gyre_config_destroy(config);
        json_decref(rows);
        return failed();
    }
    for (size_t i = 0; i < count; i++)
        add_dump(rows, &files[i]);
    gyre_observed_files_free(files, count);
    gyre_config_destroy(config);
    return cli_json_object("o", "dumps", rows);
}

json_t *report_processes(const observed_processes *processes, int code)
{
    if (code != CLI_OK)
        return cli_json_object("s", "error", "observation files cannot be read; 'gyre stat' says why");
    json_t *part = stat_json(processes, EVENTS_OF_A_PROCESS);
    if (part)
        json_object_set_new(part, "unread", json_integer((json_int_t)processes->unread));
    return part;
}
