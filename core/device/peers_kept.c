/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers the figures of copies between devices, in a file of the cache's folder whose name says which devices, which plugins and
 * which ways they are of. The file is a checksum and a line for each pair; what is not exactly that is measured again.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file_write.h"
#include "core/base/files.h"
#include "core/device/peers.h"
#include "core/device/runtime.h"

enum {
    LINE_MAX_SIZE = 64,
    TEXT_MAX = GYRE_PEER_DEVICES_MAX * GYRE_PEER_DEVICES_MAX * LINE_MAX_SIZE + LINE_MAX_SIZE
};

/* What the figures are of: a change of driver, device, plugin, way or boot makes other figures. */
static uint64_t identity(const struct gyre_peer_matrix *matrix)
{
    XXH64_state_t hash;
    char boot[64] = "";
    const int descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t got = descriptor < 0 ? 0 : gyre_file_read(descriptor, boot, sizeof boot - 1);
    if (descriptor >= 0)
        close(descriptor);
    XXH64_reset(&hash, 0);
    XXH64_update(&hash, boot, got > 0 ? (size_t)got : 0);
    for (uint32_t i = 0; i < matrix->count; i++) {
        const struct gyre_peer_device *device = &matrix->devices[i];
        XXH64_update(&hash, device->backend, sizeof device->backend);
        XXH64_update(&hash, &device->ordinal, sizeof device->ordinal);
        if (!device->dispatch)
            continue;
        const gyre_device_info *info = gyre_dispatch_device_info(device->dispatch);
        const char *build = gyre_dispatch_build(device->dispatch);
        XXH64_update(&hash, info->name, strlen(info->name) + 1);
        XXH64_update(&hash, info->details, strlen(info->details) + 1);
        XXH64_update(&hash, build, strlen(build) + 1);
    }
    for (uint32_t from = 0; from < matrix->count; from++)
        for (uint32_t to = 0; to < matrix->count; to++)
            XXH64_update(&hash, &matrix->figures[from][to].reach, sizeof(enum gyre_reach));
    return XXH64_digest(&hash);
}

static bool find_path(const gyre_runtime *runtime, const struct gyre_peer_matrix *matrix, char path[PATH_MAX])
{
    const char *folder = gyre_config_text(runtime->config, GYRE_SECTION_GYRE, NULL, "cache_dir");
    const int length = snprintf(path, PATH_MAX, "%s/peers/%016" PRIx64, folder, identity(matrix));
    return folder[0] == '/' && length > 0 && length < PATH_MAX;
}

/* Whether every pair of devices that are open has its figures. One whose copies failed may work the next time. */
static bool is_complete(const struct gyre_peer_matrix *matrix)
{
    for (uint32_t from = 0; from < matrix->count; from++)
        for (uint32_t to = 0; to < matrix->count; to++) {
            const struct gyre_peer_figure *figure = &matrix->figures[from][to];
            if (matrix->devices[from].dispatch && matrix->devices[to].dispatch &&
                (!figure->latency_ns || !figure->bytes_per_second))
                return false;
        }
    return true;
}

/* The figures as text; free() it. NULL without memory. */
static char *write_text(const struct gyre_peer_matrix *matrix)
{
    char *text = malloc(TEXT_MAX);
    size_t used = 17;
    if (!text)
        return NULL;
    for (uint32_t from = 0; from < matrix->count; from++)
        for (uint32_t to = 0; to < matrix->count; to++)
            used += (size_t)snprintf(text + used, TEXT_MAX - used, "%" PRIu64 " %" PRIu64 "\n",
                                     matrix->figures[from][to].latency_ns,
                                     matrix->figures[from][to].bytes_per_second);
    char sum[32];
    snprintf(sum, sizeof sum, "%016" PRIx64 "\n", (uint64_t)XXH64(text + 17, used - 17, 0));
    memcpy(text, sum, 17);
    return text;
}

static bool read_figures(const char *text, struct gyre_peer_matrix *matrix)
{
    for (uint32_t from = 0; from < matrix->count; from++)
        for (uint32_t to = 0; to < matrix->count; to++) {
            struct gyre_peer_figure *figure = &matrix->figures[from][to];
            int length = 0;
            if (sscanf(text, "%19" SCNu64 " %19" SCNu64 "%n", &figure->latency_ns, &figure->bytes_per_second,
                       &length) != 2 ||
                text[length] != '\n')
                return false;
            text += length + 1;
        }
    return *text == '\0';
}

bool gyre_peers_recall(const gyre_runtime *runtime, struct gyre_peer_matrix *matrix)
{
    char path[PATH_MAX], sum[32];
    size_t length = 0;
    if (!find_path(runtime, matrix, path))
        return false;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0)
        return false;
    char *text = gyre_file_text(descriptor, TEXT_MAX, &length);
    close(descriptor);
    bool whole = text && length > 17 && strlen(text) == length;
    if (whole) {
        snprintf(sum, sizeof sum, "%016" PRIx64 "\n", (uint64_t)XXH64(text + 17, length - 17, 0));
        whole = strncmp(text, sum, 17) == 0 && read_figures(text + 17, matrix) && is_complete(matrix);
    }
    free(text);
    matrix->remembered = whole;
    return whole;
}

static void replace_file(const char *path, const char *text)
{
    char temporary[PATH_MAX];
    const int length = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (length < 0 || (size_t)length >= sizeof temporary)
        return;
    const int descriptor = mkostemp(temporary, O_CLOEXEC);
    if (descriptor < 0)
        return;
    const size_t size = strlen(text);
    bool whole = gyre_file_write(descriptor, text, size) == (ssize_t)size;
    whole = close(descriptor) == 0 && whole;
    if (!whole || rename(temporary, path) != 0)
        unlink(temporary);
}

void gyre_peers_keep(const gyre_runtime *runtime, const struct gyre_peer_matrix *matrix)
{
    char path[PATH_MAX];
    if (!is_complete(matrix) || !find_path(runtime, matrix, path))
        return;
    char *text = write_text(matrix);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    mkdir(path, 0700); /* the folder above is the cache's, which the first verdict of a backend made */
    *slash = '/';
    if (text)
        replace_file(path, text);
    free(text);
}
