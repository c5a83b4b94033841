/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records and compares the files that a compiler read (dependencies.h): size, times, inode and the hash of the
 * content. Times do not show a change within one tick of the file system's clock. So a file that changed shortly
 * before it was recorded has no times in its line, and is read at every comparison. Has no state, takes no lock.
 */
#include "core/cache/dependencies.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* a change that comes this much later gets another time on any file system */
#define SETTLED_NS INT64_C(2000000000)

struct fingerprint {
    int64_t size, modified_ns, changed_ns; /* the times are 0 when they do not show later changes */
    uint64_t inode, hash_high, hash_low;
};

static int64_t nanoseconds(const struct timespec *time)
{
    return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

/*
 * Hashes a file. Reads it and does not map it: if another program cuts the file meanwhile, that is a short read, not
 * a signal.
 */
static bool hash_file(const char *path, struct fingerprint *fingerprint)
{
    struct stat file;
    XXH3_state_t state;
    char bytes[16384];
    ssize_t length = 0;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool fine = descriptor >= 0 && fstat(descriptor, &file) == 0 && S_ISREG(file.st_mode);
    XXH3_128bits_reset(&state);
    while (fine && (length = read(descriptor, bytes, sizeof bytes)) > 0)
        XXH3_128bits_update(&state, bytes, (size_t)length);
    if (descriptor >= 0)
        close(descriptor);
    if (!fine || length < 0)
        return false;
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
    fingerprint->hash_high = hash.high64;
    fingerprint->hash_low = hash.low64;
    return true;
}

static bool stat_file(const char *path, struct fingerprint *fingerprint)
{
    struct stat file;
    if (stat(path, &file) != 0 || !S_ISREG(file.st_mode))
        return false;
    fingerprint->size = file.st_size;
    fingerprint->modified_ns = nanoseconds(&file.st_mtim);
    fingerprint->changed_ns = nanoseconds(&file.st_ctim);
    fingerprint->inode = file.st_ino;
    return true;
}

/* ---- recording ---- */

static bool record_file(const char *path, int64_t started_ns, FILE *note)
{
    struct fingerprint is = {0};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (!stat_file(path, &is) || !hash_file(path, &is))
        return false;
    if (is.modified_ns >= started_ns || is.changed_ns >= started_ns)
        return false;
    if (is.changed_ns > nanoseconds(&now) - SETTLED_NS || is.modified_ns > nanoseconds(&now) - SETTLED_NS)
        is.changed_ns = is.modified_ns = 0;
    fprintf(note, "file %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu64 " %016" PRIx64 "%016" PRIx64 " %s\n",
            is.size, is.modified_ns, is.changed_ns, is.inode, is.hash_high, is.hash_low, path);
    return true;
}

bool gyre_dependencies_record(const char *list_path, const char *unit, const struct timespec *started,
                              FILE *note)
{
    char *line = NULL, absolute[PATH_MAX];
    size_t room = 0;
    ssize_t length;
    bool fine = true;
    FILE *list = fopen(list_path, "re");
    if (!list)
        return false;
    while (fine && (length = getline(&line, &room, list)) > 0) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        if (!line[0] || strcmp(line, unit) == 0)
            continue;
        /* the compiler's paths may be relative to its working folder, which may differ next time */
        fine = realpath(line, absolute) && record_file(absolute, nanoseconds(started), note);
    }
    free(line);
    fclose(list);
    return fine;
}

/* ---- comparing ---- */

/*
 * Parses the value of a line, "SIZE MTIME CTIME INODE HASH PATH". The text is not trusted: sscanf has widths, the
 * copy a limit.
 */
static bool parse_line(const char *value, size_t length, struct fingerprint *was, char path[PATH_MAX])
{
    char text[PATH_MAX + 256];
    int at = 0;
    if (length >= sizeof text)
        return false;
    memcpy(text, value, length);
    text[length] = '\0';
    if (sscanf(text, "%19" SCNd64 " %19" SCNd64 " %19" SCNd64 " %20" SCNu64 " %16" SCNx64 "%16" SCNx64 " %n",
               &was->size, &was->modified_ns, &was->changed_ns, &was->inode, &was->hash_high, &was->hash_low,
               &at) != 6 ||
        text[at] != '/' || strlen(text + at) >= PATH_MAX)
        return false;
    memcpy(path, text + at, strlen(text + at) + 1);
    return true;
}

static bool is_unchanged(const char *path, const struct fingerprint *was)
{
    struct fingerprint is = {0};
    if (!stat_file(path, &is) || is.size != was->size)
        return false;
    if (was->changed_ns != 0 && is.changed_ns == was->changed_ns && is.modified_ns == was->modified_ns &&
        is.inode == was->inode)
        return true;
    return hash_file(path, &is) && is.hash_high == was->hash_high && is.hash_low == was->hash_low;
}

bool gyre_dependencies_unchanged(const struct gyre_artifact *artifact)
{
    const char *value;
    size_t at = 0, length;
    while (gyre_artifact_note_next(artifact, "file", &at, &value, &length)) {
        struct fingerprint was;
        char path[PATH_MAX];
        if (!parse_line(value, length, &was, path) || !is_unchanged(path, &was))
            return false;
    }
    return true;
}
