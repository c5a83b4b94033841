/* SPDX-License-Identifier: Apache-2.0 */
/* The case's world, and the part of the backend that needs a GPU: here nothing is ever resident. */
#include "world.h"
#include "backends/cuda/compile/cuda_compile.h"
#include "backends/cuda/compile/cuda_module.h"
#include "backends/cuda/presence/cuda_quiet.h"
#include "backends/cuda/residents/cuda_residents.h"
#include "backends/cuda/memory/cuda_combine.h"
#include "backends/cuda/memory/cuda_transfer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"

int quiet_begun, quiet_ended;

gyre_status cuda_quiet_begin(gyre_device *device)
{
    (void)device;
    quiet_begun++;
    return GYRE_OK;
}

gyre_status cuda_quiet_end(gyre_device *device)
{
    (void)device;
    quiet_ended++;
    return GYRE_OK;
}

gyre_status cuda_residents_open(gyre_device *device)
{
    (void)device;
    return GYRE_OK;
}

void cuda_residents_close(gyre_device *device)
{
    (void)device;
}

void cuda_carriers_destroy(gyre_device *device)
{
    (void)device;
}

void cuda_combiners_destroy(gyre_device *device)
{
    (void)device;
}

void world_open(struct world *world, const char *architecture)
{
    world_open_parts(world, architecture, PARTS_FOLDER);
}

void world_open_parts(struct world *world, const char *architecture, const char *parts)
{
    memset(world, 0, sizeof *world);
    gyre_host_init(&world->host, NULL, NULL);
    const gyre_parameter parameters[] = {{"compile_for", architecture, "test"}, {"parts", parts, "test"}};
    const gyre_device_desc desc = {
        .size = sizeof desc, .host = &world->host.table, .parameters = parameters, .parameter_count = 2};
    ck_assert_msg(cuda_device_open(&desc, &world->device) == GYRE_OK, "%s", gyre_error_text());
    strcpy(world->folder, "/tmp/gyre-cuda-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(world->folder));
    snprintf(world->artifact, sizeof world->artifact, "%s/kernel", world->folder);
    snprintf(world->dependencies, sizeof world->dependencies, "%s/files", world->folder);
    snprintf(world->unit, sizeof world->unit, "%s/unit.c", world->folder);
}

void world_close(struct world *world)
{
    cuda_module_release(world->module);
    free(world->image);
    cuda_device_close(world->device);
    unlink(world->artifact);
    unlink(world->dependencies);
    unlink(world->unit);
    ck_assert_int_eq(rmdir(world->folder), 0); /* nothing else was left there */
}

char *world_read(const char *path, size_t *size)
{
    struct stat file;
    FILE *in = fopen(path, "rb");
    if (!in || fstat(fileno(in), &file) != 0)
        return NULL;
    char *text = calloc(1, (size_t)file.st_size + 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, (size_t)file.st_size, in), (size_t)file.st_size);
    fclose(in);
    if (size)
        *size = (size_t)file.st_size;
    return text;
}

static gyre_status compile_unit(struct world *world, const char *user_folder, const char *options)
{
    const char *folders[] = {user_folder, SOURCE_FOLDER "/include", NULL};
    const gyre_compile_desc desc = {.size = sizeof desc,
                                    .unit_path = world->unit,
                                    .include_directories = folders,
                                    .options = options,
                                    .artifact_path = world->artifact,
                                    .dependency_path = world->dependencies,
                                    .deadline_ns = UINT64_MAX,
                                    .messages = world->messages,
                                    .messages_size = sizeof world->messages};
    gyre_status status = cuda_compile(world->device, &desc);
    free(world->image);
    world->image = world_read(world->artifact, &world->image_size);
    return status;
}

/* The unit as stage generate writes it. */
static void write_unit(const struct world *world, const char *path, const char *text)
{
    FILE *unit = fopen(world->unit, "w");
    ck_assert_ptr_nonnull(unit);
    fprintf(unit, "#line 1 \"%s\"\n%s\n#line 1 \"<gyre>\"\nGYRE_EXPORT_KERNELS_\n", path, text);
    fclose(unit);
}

gyre_status world_compile(struct world *world, const char *source, const char *options)
{
    char folder[512];
    char *text = world_read(source, NULL);
    ck_assert_msg(text != NULL, "%s cannot be read", source);
    write_unit(world, source, text);
    free(text);
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(source, '/') - source), source);
    return compile_unit(world, folder, options);
}

gyre_status world_compile_text(struct world *world, const char *text)
{
    write_unit(world, "/somewhere/k.gyre.c", text);
    return compile_unit(world, world->folder, "");
}

gyre_status world_load(struct world *world)
{
    const gyre_module_desc desc = {.size = sizeof desc,
                                   .artifact_path = world->artifact,
                                   .artifact = world->image,
                                   .artifact_size = world->image_size};
    cuda_module_release(world->module);
    return cuda_module_load(world->device, &desc, &world->module);
}

void expect_text(const char *part)
{
    ck_assert_msg(strstr(gyre_error_text(), part) != NULL, "expected '%s' in '%s'", part, gyre_error_text());
}
