/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes remembered verdicts (memory.h). A file is a line with a checksum of the rest, a line with the
 * identity of everything that the verdict depends on, and the verdict. Takes no lock, because files appear by rename.
 * Must not fail the caller: a verdict that cannot be read is made again, and a verdict that cannot be written is not
 * remembered.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/registry/memory.h"
#include "core/base/file_write.h"
#include "core/base/places.h"
#include "core/registry/probe.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MAX = GYRE_VERDICT_TEXT_MAX + 128 };

/* ---- what a verdict depends on ---- */

static void mix_text(XXH64_state_t *hash, const char *text)
{
    XXH64_update(hash, text, strlen(text) + 1);
}

/*
 * Mixes a file's existence, place and time of change into the hash. For files of /proc and /sys, whose times tell
 * nothing, it mixes their text.
 */
static void mix_file(XXH64_state_t *hash, const char *path)
{
    struct stat info;
    int64_t facts[6] = {0};
    char text[512];
    if (stat(path, &info) != 0) {
        facts[0] = -1;
        XXH64_update(hash, facts, sizeof facts);
        return;
    }
    if (strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0) {
        int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        ssize_t got = descriptor < 0 ? -1 : read(descriptor, text, sizeof text);
        if (got > 0)
            XXH64_update(hash, text, (size_t)got);
        if (descriptor >= 0)
            close(descriptor);
        return;
    }
    facts[0] = (int64_t)info.st_dev;
    facts[1] = (int64_t)info.st_ino;
    facts[2] = (int64_t)info.st_size;
    facts[3] = (int64_t)info.st_mtim.tv_sec;
    facts[4] = (int64_t)info.st_mtim.tv_nsec;
    facts[5] = (int64_t)info.st_mode;
    XXH64_update(hash, facts, sizeof facts);
}

static void mix_variable(XXH64_state_t *hash, const char *name)
{
    const char *value = getenv(name);
    mix_text(hash, value ? value : "\1");
}

/* Mixes in what the probe asked to watch: paths of files and "$NAME" of variables, separated by ':'. */
static void mix_watched(XXH64_state_t *hash, const char *watch)
{
    char list[sizeof((struct gyre_verdict *)0)->watch];
    char *next = NULL;
    snprintf(list, sizeof list, "%s", watch);
    for (char *word = strtok_r(list, ":", &next); word; word = strtok_r(NULL, ":", &next)) {
        mix_text(hash, word);
        if (word[0] == '$')
            mix_variable(hash, word + 1);
        else
            mix_file(hash, word);
    }
}

/*
 * Mixes in the folders of LD_LIBRARY_PATH, whose times change when a library appears there. At most 64 folders, more
 * than people write by hand, so that an excessive path costs no time.
 */
static void mix_library_folders(XXH64_state_t *hash)
{
    enum { FOLDERS_MAX = 64 };
    const char *rest = getenv("LD_LIBRARY_PATH");
    for (int i = 0; rest && rest[0] && i < FOLDERS_MAX; i++) {
        char folder[PATH_MAX];
        size_t length = strcspn(rest, ":;");
        if (length < sizeof folder) {
            memcpy(folder, rest, length);
            folder[length] = '\0';
            /* the loader takes an empty name for the current folder, too */
            mix_file(hash, length > 0 ? folder : ".");
        }
        rest += length + (rest[length] != '\0');
    }
}

/* Mixes in the files that parameters name: another version of a compiler or library may lie at the same path. */
static void mix_named_files(XXH64_state_t *hash, const gyre_parameter *parameters, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strchr(parameters[i].value, '/'))
            mix_file(hash, parameters[i].value);
}

/*
 * The identity of everything that a verdict depends on. The folders of LD_LIBRARY_PATH count only for a backend that
 * cannot start: else a program whose working folder is one of them would probe a working driver again and again.
 */
static uint64_t identity(const char *library, const gyre_parameter *parameters, size_t parameter_count,
                         const struct gyre_verdict *verdict)
{
    XXH64_state_t hash;
    char helper[PATH_MAX];
    snprintf(helper, sizeof helper, "%s/%s", gyre_place_helpers(), GYRE_PROBE_PROGRAM);
    XXH64_reset(&hash, 0);
    mix_file(&hash, library);
    mix_file(&hash, helper);
    mix_file(&hash, "/proc/sys/kernel/random/boot_id");
    mix_file(&hash, "/etc/ld.so.cache");
    mix_variable(&hash, "LD_LIBRARY_PATH");
    if (verdict->status != GYRE_OK)
        mix_library_folders(&hash);
    mix_named_files(&hash, parameters, parameter_count);
    mix_watched(&hash, verdict->watch);
    return XXH64_digest(&hash);
}

/* ---- the file ---- */

/* Mixes in the limits of this process: a driver may fail under them, and work under the limits of another program. */
static void mix_limits(XXH64_state_t *hash)
{
    struct rlimit limits[5] = {{0}};
    getrlimit(RLIMIT_AS, &limits[0]);
    getrlimit(RLIMIT_DATA, &limits[1]);
    getrlimit(RLIMIT_MEMLOCK, &limits[2]);
    getrlimit(RLIMIT_NOFILE, &limits[3]);
    getrlimit(RLIMIT_NPROC, &limits[4]);
    XXH64_update(hash, limits, sizeof limits);
}

static bool file_path(const char *folder, const char *library, const gyre_parameter *parameters, size_t count,
                      char path[PATH_MAX])
{
    XXH64_state_t hash;
    XXH64_reset(&hash, 0);
    mix_text(&hash, library);
    for (size_t i = 0; i < count; i++) {
        mix_text(&hash, parameters[i].key);
        mix_text(&hash, parameters[i].value);
        mix_text(&hash, parameters[i].origin); /* a remembered reason may name it */
    }
    mix_limits(&hash);
    int length = snprintf(path, PATH_MAX, "%s/verdicts/%016" PRIx64, folder, (uint64_t)XXH64_digest(&hash));
    return folder[0] == '/' && length > 0 && length < PATH_MAX;
}

static bool read_file(const char *path, char text[FILE_MAX])
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0)
        return false;
    ssize_t got = read(descriptor, text, FILE_MAX - 1);
    close(descriptor);
    if (got < 0)
        return false;
    text[got] = '\0';
    return strlen(text) == (size_t)got;
}

/* Makes the folder of the file `path`, and the folders above it. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

static void replace_file(const char *path, const char *text)
{
    char temporary[PATH_MAX];
    int length = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (length < 0 || (size_t)length >= sizeof temporary)
        return;
    make_folders(temporary);
    int descriptor = mkostemp(temporary, O_CLOEXEC);
    if (descriptor < 0)
        return;
    size_t size = strlen(text);
    bool whole = gyre_file_write(descriptor, text, size) == (ssize_t)size;
    whole = close(descriptor) == 0 && whole;
    if (!whole || rename(temporary, path) != 0)
        unlink(temporary);
}

/* Returns the text behind the first line if its checksum is right, else NULL. */
static const char *check_sum(const char *text)
{
    char expected[32];
    const char *rest = strchr(text, '\n');
    if (!rest)
        return NULL;
    rest++;
    snprintf(expected, sizeof expected, "%016" PRIx64 "\n", (uint64_t)XXH64(rest, strlen(rest), 0));
    return strncmp(text, expected, strlen(expected)) == 0 ? rest : NULL;
}

/*
 * Whether a verdict has not expired. A verdict that would last longer than allowed was made before the clock was set
 * back.
 */
static bool holds_still(const struct gyre_verdict *verdict)
{
    const int64_t now = time(NULL);
    return verdict->expires == 0 ||
           (verdict->expires > now && verdict->expires <= now + GYRE_VERDICT_BRIEFLY_S);
}

bool gyre_memory_recall(const char *folder, const char *library, const gyre_parameter *parameters,
                        size_t parameter_count, struct gyre_verdict *verdict)
{
    char path[PATH_MAX], text[FILE_MAX], expected[32];
    if (!file_path(folder, library, parameters, parameter_count, path) || !read_file(path, text))
        return false;
    const char *rest = check_sum(text), *body = rest ? strchr(rest, '\n') : NULL;
    if (!body || !gyre_verdict_read(body + 1, verdict))
        return false;
    snprintf(expected, sizeof expected, "%016" PRIx64 "\n",
             identity(library, parameters, parameter_count, verdict));
    if (strncmp(rest, expected, strlen(expected)) != 0)
        return false;
    return holds_still(verdict);
}

void gyre_memory_keep(const char *folder, const char *library, const gyre_parameter *parameters,
                      size_t parameter_count, const struct gyre_verdict *verdict)
{
    char path[PATH_MAX], body[FILE_MAX], text[FILE_MAX + 32];
    if (!file_path(folder, library, parameters, parameter_count, path))
        return;
    int used = snprintf(body, sizeof body, "%016" PRIx64 "\n",
                        identity(library, parameters, parameter_count, verdict));
    if (gyre_verdict_write(verdict, body + used, sizeof body - (size_t)used) == 0)
        return;
    snprintf(text, sizeof text, "%016" PRIx64 "\n%s", (uint64_t)XXH64(body, strlen(body), 0), body);
    replace_file(path, text);
}
