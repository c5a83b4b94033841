/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox of the configuration tests. One thread;
 * everything is static, since each test has its process. */
#include "sandbox.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"

enum { VARIABLES_MAX = 16 };

static char folder[64];
static char *variables[VARIABLES_MAX + 1];
static struct gyre_config *loaded;

void sandbox_make(void)
{
    strcpy(folder, "/tmp/gyre-config-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    sandbox_setenv("HOME=$/home");
    sandbox_setenv("XDG_CONFIG_DIRS=$/xdg:$/xdg2");
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

void sandbox_remove(void)
{
    gyre_config_destroy(loaded);
    loaded = NULL;
    for (int i = 0; variables[i]; i++) {
        free(variables[i]);
        variables[i] = NULL;
    }
    nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

const char *sandbox_text(const char *text)
{
    static char texts[4][4096];
    static int next;
    char *out = texts[next++ % 4];
    size_t used = 0;
    for (; *text; text++) {
        if (*text == '$')
            used += (size_t)snprintf(out + used, sizeof texts[0] - used, "%s", folder);
        else
            out[used++] = *text;
        ck_assert_uint_lt(used, sizeof texts[0]);
    }
    out[used] = '\0';
    return out;
}

static void make_folders(const char *path)
{
    char part[256];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        mkdir(part, 0700);
    }
}

static const char *full(const char *path)
{
    char relative[256];
    snprintf(relative, sizeof relative, "$/%s", path);
    const char *absolute = sandbox_text(relative);
    make_folders(absolute);
    return absolute;
}

void sandbox_write(const char *path, const char *text)
{
    FILE *stream = fopen(full(path), "w");
    ck_assert_ptr_nonnull(stream);
    fputs(sandbox_text(text), stream);
    ck_assert_int_eq(fclose(stream), 0);
}

void sandbox_link(const char *target, const char *path)
{
    ck_assert_int_eq(symlink(target, full(path)), 0);
}

void sandbox_setenv(const char *variable)
{
    int count = 0;
    while (variables[count])
        count++;
    ck_assert_int_lt(count, VARIABLES_MAX);
    variables[count] = strdup(sandbox_text(variable));
}

gyre_status sandbox_load(const char *config_path, const char *const *command_line, const char *const *api,
                         const struct gyre_config **out)
{
    struct gyre_config_desc desc = {
        .config_path = config_path ? sandbox_text(config_path) : NULL,
        .command_line = command_line,
        .api = api,
        .environment = (const char *const *)variables,
        .system_folder = sandbox_text("$/etc"),
        .home = sandbox_text("$/lib"),
    };
    gyre_config_destroy(loaded);
    gyre_error_clear();
    gyre_status status = gyre_config_load(&desc, &loaded);
    ck_assert((status == GYRE_OK) == (loaded != NULL));
    *out = loaded;
    return status;
}

const struct gyre_config *sandbox_config(void)
{
    const struct gyre_config *config;
    ck_assert_msg(sandbox_load(NULL, NULL, NULL, &config) == GYRE_OK, "%s", gyre_error_text());
    return config;
}
