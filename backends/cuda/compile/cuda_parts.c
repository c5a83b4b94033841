/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the files of precompiled parts (cuda_parts.h) and tells whether they fit a compile. Keeps no state:
 * headers may change between two compiles.
 */
#include "backends/cuda/compile/cuda_parts.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool name_parts(struct cuda_files *files, const char *sm, const char *const *folders, char *name,
                       size_t size)
{
    uint64_t digest;
    if (!files || !cuda_includes_digest(files, CUDA_PARTS_UNIT, folders, &digest))
        return false;
    int length = snprintf(name, size, "%s-%016llx.cubin", sm, (unsigned long long)digest);
    return length > 0 && (size_t)length < size;
}

bool cuda_parts_name(const char *sm, const char *const *folders, char *name, size_t size)
{
    struct cuda_files *files = cuda_files_create();
    bool named = name_parts(files, sm, folders, name, size);
    cuda_files_destroy(files);
    return named;
}

/* Finds the folder of the parts: the setting `parts`, or `cuda` beside the folder of this plugin. */
static bool find_folder(const gyre_device *device, char *folder, size_t size)
{
    static const char here; /* any address of this plugin, to find its file */
    Dl_info plugin;
    if (device->settings.parts[0])
        return (size_t)snprintf(folder, size, "%s", device->settings.parts) < size;
    const char *slash = dladdr(&here, &plugin) ? strrchr(plugin.dli_fname, '/') : NULL;
    return slash && (size_t)snprintf(folder, size, "%.*s/../cuda", (int)(slash - plugin.dli_fname),
                                     plugin.dli_fname) < size;
}

static bool read_file(const char *path, struct cuda_image *image)
{
    FILE *file = fopen(path, "re");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    void *bytes = size > 0 ? malloc((size_t)size) : NULL;
    bool fine = bytes && fseek(file, 0, SEEK_SET) == 0 && fread(bytes, (size_t)size, 1, file) == 1;
    if (file)
        fclose(file);
    if (!fine) {
        free(bytes);
        return false;
    }
    *image = (struct cuda_image){bytes, (size_t)size};
    return true;
}

bool cuda_parts_read(const gyre_device *device, struct cuda_files *files, const char *sm,
                     const char *const *folders, struct cuda_image *parts)
{
    char folder[PATH_MAX], name[96], path[PATH_MAX + sizeof name];
    if (!find_folder(device, folder, sizeof folder) || !name_parts(files, sm, folders, name, sizeof name))
        return false;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return read_file(path, parts);
}
