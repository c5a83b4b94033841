/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the C compiler of this device, and writes its identity: the text that distinguishes this compiler and
 * its options from any other, for the keys of compiled kernels. Runs nothing: asking a compiler for its
 * version would cost more than a cached compile. No state.
 */
#include "backends/cpu/compile/cpu_compiler.h"
#include "backends/cpu/cpu_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The options of every compile. Warnings go to the compiler's messages; the few warnings that are errors here
 * are always defects, and errors in other dialects. No contraction: a * b + c rounds twice, so that replies
 * are equal on all machines and backends; a handler that wants one rounding calls fmaf. Stack probes: a lane
 * whose locals do not fit hits the guard below its stack.
 */
const char cpu_compiler_fixed_options[] =
    "-std=gnu11 -ffp-contract=off -fstack-clash-protection -shared -fPIC "
    "-fvisibility=hidden -fdiagnostics-color=never -Wall -Wno-unknown-pragmas "
    "-Wno-unused-function -Werror=implicit-function-declaration "
    "-Werror=incompatible-pointer-types -Werror=int-conversion -Werror=return-type";

static bool is_program(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 && S_ISREG(file.st_mode) && access(path, X_OK) == 0;
}

bool cpu_compiler_find(const char *program, char path[PATH_MAX])
{
    const char *folder = getenv("PATH");
    int length;
    if (strchr(program, '/')) {
        length = snprintf(path, PATH_MAX, "%s", program);
        if (length > 0 && length < PATH_MAX && is_program(path))
            return true;
        folder = "";
    }
    for (folder = folder ? folder : "/usr/local/bin:/usr/bin:/bin"; program[0] && *folder;) {
        size_t part = strcspn(folder, ":");
        length = snprintf(path, PATH_MAX, "%.*s/%s", (int)part, folder, program);
        if (part && length > 0 && length < PATH_MAX && is_program(path))
            return true;
        folder += part + (folder[part] == ':');
    }
    path[0] = '\0';
    return false;
}

bool cpu_compiler_is_gcc(const char *path)
{
    char real[PATH_MAX];
    return realpath(path, real) && strstr(strrchr(real, '/'), "gcc");
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash * UINT64_C(0x100000001b3);
}

/*
 * Writes the identity from the resolved path, so that switching an alternative (a link to another compiler)
 * changes it. A compile calls the compiler by the configured name all the same, because wrappers behave
 * according to their name. The number at the end is a hash of the text that is cut off.
 */
void cpu_compiler_identity(const struct gyre_device *device, char *text, size_t size)
{
    const struct cpu_settings *settings = &device->settings;
    char path[PATH_MAX], real[PATH_MAX], exact[PATH_MAX + 64];
    struct stat file;
    text[0] = '\0';
    if (!cpu_compiler_find(settings->compiler, path) || !realpath(path, real) || stat(real, &file) != 0)
        return;
    snprintf(exact, sizeof exact, "%s %lld %lld.%09ld", real, (long long)file.st_size,
             (long long)file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
    uint64_t hash = hash_text(UINT64_C(0xcbf29ce484222325), exact);
    hash = hash_text(hash, cpu_compiler_fixed_options);
    hash = hash_text(hash, settings->compiler_options);
    hash = hash_text(hash, settings->sanitize);
    hash = hash_text(hash, settings->checks & CPU_CHECK_TRAFFIC ? "traced"
                           : settings->checks                   ? "watched"
                           : settings->checked                  ? "checked"
                                                                : "");
    snprintf(text, size, "%.96s %.80s%s%.32s%s [%016llx]", real, settings->compiler_options,
             settings->sanitize[0] ? " -fsanitize=" : "", settings->sanitize,
             settings->checks & CPU_CHECK_TRAFFIC ? " traced"
             : settings->checks                   ? " watched"
             : settings->checked                  ? " checked"
                                                  : "",
             (unsigned long long)hash);
}
