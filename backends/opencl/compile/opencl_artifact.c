/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes and reads the compiled kernel file of the OpenCL backend: a head with the sizes of the parts, then
 * the parts one after the other. opencl_artifact.h says what each part is. No state.
 */
#include "backends/opencl/compile/opencl_artifact.h"

#include "gyre/lack.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char magic[8] = "GYREOCL";

struct head {
    char magic[8];
    uint32_t version, reserved;
    uint64_t sizes[OPENCL_PARTS];
};

static bool write_parts(const struct opencl_artifact *artifact, FILE *file)
{
    struct head head = {.version = GYRE_OPENCL_MODULE_VERSION};
    memcpy(head.magic, magic, sizeof head.magic);
    for (int i = 0; i < OPENCL_PARTS; i++)
        head.sizes[i] = artifact->parts[i].size;
    bool fine = fwrite(&head, sizeof head, 1, file) == 1;
    for (int i = 0; i < OPENCL_PARTS && fine; i++)
        fine = fwrite(artifact->parts[i].bytes, 1, artifact->parts[i].size, file) == artifact->parts[i].size;
    return fine;
}

gyre_status opencl_artifact_write(const gyre_host *host, const char *path,
                                  const struct opencl_artifact *artifact)
{
    char new_path[PATH_MAX];
    int length = snprintf(new_path, sizeof new_path, "%s.new", path);
    if (length < 0 || (size_t)length >= sizeof new_path)
        return host->error(GYRE_INVALID, "the path '%s' is too long", path);
    FILE *file = fopen(new_path, "we");
    bool fine = file && write_parts(artifact, file);
    if (file && fclose(file) != 0)
        fine = false;
    if (fine && rename(new_path, path) == 0)
        return GYRE_OK;
    const int error = errno;
    unlink(new_path);
    return host->error(gyre_lack_status(error, GYRE_FAILED),
                       "the compiled kernel cannot be written to '%s': %s%s", path, strerror(error),
                       gyre_lack_remedy(error));
}

static bool ends_with_nul(const struct opencl_part *part)
{
    return part->size > 0 && ((const char *)part->bytes)[part->size - 1] == '\0';
}

static bool find_parts(const void *bytes, size_t size, struct opencl_artifact *artifact, uint32_t *version)
{
    struct head head;
    size_t at = sizeof head;
    if (size < sizeof head)
        return false;
    memcpy(&head, bytes, sizeof head);
    *version = head.version;
    if (memcmp(head.magic, magic, sizeof magic) != 0)
        return false;
    for (int i = 0; i < OPENCL_PARTS; i++) {
        if (head.sizes[i] > size - at)
            return false;
        artifact->parts[i] = (struct opencl_part){(const char *)bytes + at, head.sizes[i]};
        at += head.sizes[i];
    }
    return ends_with_nul(&artifact->parts[OPENCL_PART_OPTIONS]) &&
           ends_with_nul(&artifact->parts[OPENCL_PART_SOURCE]);
}

gyre_status opencl_artifact_read(const gyre_host *host, const char *path, const void *bytes, size_t size,
                                 struct opencl_artifact *artifact)
{
    uint32_t version = 0;
    if (!bytes || !find_parts(bytes, size, artifact, &version))
        return host->error(GYRE_INCOMPATIBLE,
                           "'%s' is no compiled OpenCL kernel file, or is damaged: compile it again", path);
    if (version != GYRE_OPENCL_MODULE_VERSION)
        return host->error(
            GYRE_INCOMPATIBLE,
            "'%s' was compiled with the kernel headers of another Gyre (module version %u, this "
            "one needs %u): compile it again",
            path, version, GYRE_OPENCL_MODULE_VERSION);
    return GYRE_OK;
}
