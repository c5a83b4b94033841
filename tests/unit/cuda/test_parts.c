/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that are linked with parts, and those that are compiled whole because nothing fits. */
#include "world.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "backends/cuda/compile/cuda_elf.h"
#include "backends/cuda/compile/cuda_parts.h"

static const char vector_add[] = SOURCE_FOLDER "/tests/kernels/vector_add.gyre.c";
static const char *const headers[] = {SOURCE_FOLDER "/include", NULL};

/* A linked kernel has the parts as functions of their own. */
static bool is_linked(const struct world *world)
{
    struct cuda_elf elf;
    struct cuda_elf_symbol symbol;
    ck_assert(cuda_elf_open(&elf, world->image, world->image_size));
    return cuda_elf_find(&elf, "gyre_next_run_", &symbol) && symbol.is_function;
}

static void compile(struct world *world, const char *options)
{
    ck_assert_msg(world_compile(world, vector_add, options) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_msg(world_load(world) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_uint_eq(world->module->kernel_count, 1);
}

/* Machines without parts or without the vendor's linker compile whole: nothing to compare with there. */
static bool can_link(void)
{
    char name[96], path[512];
    const bool named = cuda_parts_name("sm_90", headers, name, sizeof name);
    snprintf(path, sizeof path, "%s/%s", PARTS_FOLDER, named ? name : "");
    void *library = dlopen("libnvJitLink.so.13", RTLD_NOW);
    if (!library)
        library = dlopen("/usr/local/cuda/lib64/libnvJitLink.so", RTLD_NOW);
    return named && library && access(path, R_OK) == 0;
}

START_TEST(a_linked_kernel_is_described_as_a_whole_one)
{
    struct world linked, whole;
    world_open(&linked, "sm_90");
    world_open_parts(&whole, "sm_90", "/no/such/folder");
    compile(&linked, "");
    compile(&whole, QUICKLY);
    ck_assert(is_linked(&linked) && !is_linked(&whole));
    const struct cuda_kernel *one = &linked.module->kernels[0], *other = &whole.module->kernels[0];
    ck_assert_str_eq(one->record.name, other->record.name);
    ck_assert_str_eq(one->record.request->fields, other->record.request->fields);
    ck_assert_uint_eq(one->record.reply->size, other->record.reply->size);
    ck_assert_uint_gt(one->record.registers, 0);
    ck_assert_uint_le(one->record.registers, 128);
    ck_assert_uint_eq(one->record.spill_bytes, 0);
    ck_assert_uint_le(one->shared_size, other->shared_size + 64);
    world_close(&linked);
    world_close(&whole);
}
END_TEST

/* A variable in parts and in a kernel would be two, and the linker says so on stderr. */
START_TEST(parts_bring_functions_and_no_variables)
{
    struct cuda_elf elf;
    struct cuda_elf_symbol symbol;
    char name[96], path[512];
    size_t size, functions = 0;
    ck_assert(cuda_parts_name("sm_90", headers, name, sizeof name));
    snprintf(path, sizeof path, "%s/%s", PARTS_FOLDER, name);
    char *bytes = world_read(path, &size);
    ck_assert(bytes && cuda_elf_open(&elf, bytes, size));
    for (size_t i = 0; i < elf.symbol_count; i++) {
        if (!cuda_elf_symbol(&elf, i, &symbol) || strncmp(symbol.name, "gyre_", strlen("gyre_")) != 0)
            continue;
        ck_assert_msg(symbol.is_function, "%s", symbol.name);
        functions++;
    }
    ck_assert_uint_ge(functions, 5);
    free(bytes);
}
END_TEST

/* So it is something else that makes a kernel whole in the tests below. */
START_TEST(a_kernel_that_is_compiled_quickly_is_linked)
{
    struct world world;
    world_open(&world, "sm_90");
    compile(&world, QUICKLY);
    ck_assert(is_linked(&world));
    world_close(&world);
}
END_TEST

START_TEST(options_that_change_the_headers_make_a_kernel_whole)
{
    struct world world;
    world_open(&world, "sm_90");
    compile(&world, QUICKLY " -DGYRE_CUDA_POLL_SLOTS=4");
    ck_assert(!is_linked(&world));
    world_close(&world);
}
END_TEST

START_TEST(damaged_parts_make_a_kernel_whole)
{
    struct world world;
    char name[96], path[256];
    ck_assert(cuda_parts_name("sm_90", headers, name, sizeof name));
    world_open(&world, "sm_90");
    snprintf(path, sizeof path, "%s/%s", world.folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("\177ELF and nothing behind it", file);
    fclose(file);
    snprintf(world.device->settings.parts, sizeof world.device->settings.parts, "%s", world.folder);
    compile(&world, QUICKLY);
    ck_assert(!is_linked(&world));
    unlink(path);
    world_close(&world);
}
END_TEST

START_TEST(parts_of_other_headers_are_not_taken)
{
    char ours[96], others[96];
    const char *const folders[] = {SOURCE_FOLDER "/tests/kernels", NULL}; /* where there are none */
    ck_assert(cuda_parts_name("sm_90", headers, ours, sizeof ours));
    ck_assert(!cuda_parts_name("sm_90", folders, others, sizeof others));
    ck_assert(cuda_parts_name("sm_80", headers, others, sizeof others));
    ck_assert_str_ne(ours, others);
    ck_assert_str_eq(strchr(ours, '-'), strchr(others, '-'));
}
END_TEST

TCase *parts_cases(void)
{
    TCase *cases = tcase_create("parts");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, parts_of_other_headers_are_not_taken);
    tcase_add_test(cases, options_that_change_the_headers_make_a_kernel_whole);
    if (!can_link()) {
        fprintf(stderr, "skipped: no parts in %s, or no nvJitLink: kernels are compiled whole here\n",
                PARTS_FOLDER);
        return cases;
    }
    tcase_add_test(cases, a_linked_kernel_is_described_as_a_whole_one);
    tcase_add_test(cases, a_kernel_that_is_compiled_quickly_is_linked);
    tcase_add_test(cases, parts_bring_functions_and_no_variables);
    tcase_add_test(cases, damaged_parts_make_a_kernel_whole);
    return cases;
}
