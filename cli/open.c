/* SPDX-License-Identifier: Apache-2.0 */
/* Opens configurations and runtimes with the settings of the global options. */
#include "cli/open.h"
#include "cli/cli.h"
#include "cli/base/hush.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/pipeline/pipeline.h"
#include "core/device/devices.h"
#include "core/api/tools.h"
#include "gyre/backend.h"

static const char *level_word(int level)
{
    static const char *const words[] = {[GYRE_LOG_ERROR] = "error",
                                        [GYRE_LOG_WARNING] = "warning",
                                        [GYRE_LOG_INFO] = "info",
                                        [GYRE_LOG_DEBUG] = "debug"};
    return level >= GYRE_LOG_ERROR && level <= GYRE_LOG_DEBUG ? words[level] : "note";
}

/* True for a compiler's warning, which only a person at a terminal gets: a script that reads stderr did not ask for it. */
static bool is_for_persons(const char *text)
{
    return strncmp(text, GYRE_COMPILER_WARNS, sizeof GYRE_COMPILER_WARNS - 1) == 0;
}

static void print_log(void *context, int level, const char *text)
{
    (void)context;
    if (is_for_persons(text) && !cli_is_watched())
        return;
    cli_error(CLI_OK, "%s: %s", level_word(level), text);
}

static void print_timed_log(void *context, int level, const char *text)
{
    struct timespec now = {0};
    struct tm date = {0};
    char when[32];
    (void)context;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &date);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &date);
    cli_error(CLI_OK, "%s.%03ldZ %s: %s", when, now.tv_nsec / 1000000, level_word(level), text);
}

static gyre_status open_with(const cli_context *cli, void (*log)(void *context, int level, const char *text),
                             gyre_runtime **out)
{
    return gyre_runtime_open_typed(&(gyre_open_desc){.size = sizeof(gyre_open_desc),
                                                     .config_path = cli->config_path,
                                                     .settings = cli->settings.items,
                                                     .backend = cli->backend,
                                                     .log = log},
                                   out);
}

gyre_status cli_open(const cli_context *cli, gyre_runtime **out)
{
    return open_with(cli, print_log, out);
}

gyre_status cli_open_for_others(const cli_context *cli, gyre_runtime **out)
{
    return open_with(cli, print_timed_log, out);
}

/*
 * True when the operand names a configured kernel: it has no letter that only a path has, and no file has that name. A folder is
 * no file: a project has the name of its kernel (gyre new).
 */
static bool is_kernel_name(const char *operand)
{
    struct stat info;
    return !strpbrk(operand, "/.:") &&
           (lstat(operand, &info) != 0 || (stat(operand, &info) == 0 && S_ISDIR(info.st_mode)));
}

gyre_launch_desc cli_launch(const cli_context *cli, const char *operand)
{
    const bool named = is_kernel_name(operand);
    return (gyre_launch_desc){.size = sizeof(gyre_launch_desc),
                              .source = named ? NULL : operand,
                              .name = named ? operand : NULL,
                              .backend = cli->backend};
}

/* Loads the configuration. --backend becomes one more setting, which beats the others. */
gyre_status cli_load(const cli_context *cli, struct gyre_config **out)
{
    char backend[256];
    cli_list settings = {.items = NULL};
    bool complete = true;
    for (size_t i = 0; i < cli->settings.count; i++)
        complete = cli_list_add(&settings, cli->settings.items[i]) && complete;
    snprintf(backend, sizeof backend, "gyre.backend=%s", cli->backend ? cli->backend : "");
    if (cli->backend)
        complete = cli_list_add(&settings, backend) && complete;
    const struct gyre_config_desc desc = {.config_path = cli->config_path, .command_line = settings.items};
    gyre_status status =
        complete ? gyre_config_load(&desc, out) : gyre_error_set(GYRE_EXHAUSTED, "out of memory");
    cli_list_finish(&settings);
    return status;
}

void cli_warn(const struct gyre_config *config)
{
    size_t count;
    const char *const *warnings = gyre_config_warnings(config, &count);
    for (size_t i = 0; i < count; i++)
        cli_error(CLI_OK, "warning: %s", warnings[i]);
}

int cli_fail_unless_device(gyre_runtime *runtime, gyre_status status)
{
    int code = cli_fail_unless_ok(status);
    return code == CLI_FAILED && gyre_runtime_device_failed(runtime) ? CLI_UNAVAILABLE : code;
}

bool cli_is_own_place(const cli_context *cli, const char *place)
{
    const char *variable = getenv("GYRE_CONFIG"), *file = cli->config_path ? cli->config_path : variable;
    const size_t length = file ? strlen(file) : 0;
    return strcmp(place, "command line") == 0 ||
           (length && strncmp(place, file, length) == 0 && place[length] == ':');
}

bool cli_is_configured(const struct gyre_config *config, const char *name)
{
    return gyre_config_text(config, GYRE_SECTION_KERNEL, name, "source")[0] ||
           gyre_config_has_section(config, GYRE_SECTION_PIPELINE, name);
}

static void warn_of_section(const cli_context *cli, const struct gyre_config *config,
                            enum gyre_section_kind kind, const char *section, const char *kernel)
{
    const char *place = gyre_config_place(config, kind, section);
    const char *const word = gyre_section_kind_word(kind);
    const bool is_other = strcmp(section, kernel) != 0 && !gyre_text_nearest(kernel, &section, 1) &&
                          !cli_is_configured(config, section);
    if (is_other && place && cli_is_own_place(cli, place))
        cli_error(CLI_OK, "warning: %s: [%s.%s] is for no %s here; the kernel and its queue are named '%s'",
                  place, word, section, word, kernel);
}

void cli_warn_of_others(const cli_context *cli, gyre_runtime *runtime, gyre_kernel *kernel)
{
    static const enum gyre_section_kind kinds[] = {GYRE_SECTION_KERNEL, GYRE_SECTION_QUEUE};
    const struct gyre_config *config = gyre_runtime_config(runtime);
    gyre_kernel_info info = {.size = sizeof info};
    if (gyre_kernel_info_get(kernel, &info) != GYRE_OK)
        return;
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
        size_t count = 0;
        const char *const *names = gyre_config_names(config, kinds[kind], &count);
        for (size_t i = 0; i < count; i++)
            warn_of_section(cli, config, kinds[kind], names[i], info.name);
    }
}
