/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every kernel file of the test suites as a cubin: described as the CPU's compiler describes it, nothing in
 * it that the dialect must not bring along; and what is no whole cubin is refused.
 */
#include "world.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/types/compare.h"
#include "core/types/types.h"
#include "backends/cuda/compile/cuda_elf.h"
#include "backends/cuda/compile/cuda_module.h"
#include "gyre/dialect/cpu_module.h"

static const char vector_add[] = SOURCE_FOLDER "/tests/kernels/vector_add.gyre.c";

static void compile_and_load(struct world *world, const char *path, const char *options)
{
    ck_assert_msg(world_compile(world, path, options) == GYRE_OK, "%s: %s", path, gyre_error_text());
    ck_assert_msg(world_load(world) == GYRE_OK, "%s: %s", path, gyre_error_text());
    ck_assert_uint_gt(world->module->kernel_count, 0);
}

/* ---- the same description as the CPU's ---- */

static gyre_layout *layout_of(const gyre_type *type)
{
    gyre_layout *layout;
    ck_assert_msg(gyre_layout_create(type, GYRE_STATE_MAX, &layout) == GYRE_OK, "%s", gyre_error_text());
    return layout;
}

static void compare_types(const gyre_type *device, const gyre_type *host)
{
    ck_assert_str_eq(device->name, host->name);
    gyre_layout *one = layout_of(device), *other = layout_of(host);
    ck_assert_msg(gyre_layout_compare(one, "the GPU", other, "the CPU") == GYRE_OK, "%s", gyre_error_text());
    ck_assert_uint_eq(one->size, other->size);
    ck_assert_uint_eq(one->alignment, other->alignment);
    gyre_layout_destroy(one);
    gyre_layout_destroy(other);
}

static void compare_kernels(const gyre_kernel_record *device, const gyre_cpu_kernel *host)
{
    ck_assert_int_eq((int)device->form, (int)host->form);
    compare_types(device->request, host->request);
    compare_types(device->reply, host->reply);
    compare_types(device->state, host->state);
    ck_assert_str_eq(device->buffers, host->buffers);
    for (size_t i = 0; host->buffer_types && host->buffer_types[i]; i++)
        compare_types(device->buffer_types[i], host->buffer_types[i]);
    if (device->scratch_size > 0) /* of gyre_none the CPU tells C's sizeof, 1 */
        ck_assert_uint_eq(device->scratch_size, host->scratch_size);
    else
        ck_assert_uint_le(host->scratch_size, 1);
}

static const gyre_cpu_module *open_cpu_module(const char *name, void **library)
{
    char path[512];
    snprintf(path, sizeof path, "%s/kernel_%s.so", CPU_KERNELS, name);
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(*library != NULL, "%s", dlerror());
    const gyre_cpu_module *(*table)(void);
    void *symbol = dlsym(*library, GYRE_CPU_MODULE_SYMBOL);
    ck_assert_ptr_nonnull(symbol);
    memcpy(&table, &symbol, sizeof table);
    return table();
}

static void compare_modules(const gyre_module *module, const char *name)
{
    void *library;
    const gyre_cpu_module *cpu = open_cpu_module(name, &library);
    ck_assert_uint_eq(module->kernel_count, (size_t)(cpu->end - cpu->first));
    for (const gyre_cpu_kernel *const *at = cpu->first; at < cpu->end; at++) {
        const struct cuda_kernel *found = cuda_module_find(module, (*at)->name);
        ck_assert_msg(found != NULL, "the cubin has no kernel %s", (*at)->name);
        compare_kernels(&found->record, *at);
    }
    dlclose(library);
}

/* ---- what must not be in a cubin ---- */

static void check_symbols(const struct world *world, const char *path)
{
    struct cuda_elf elf;
    struct cuda_elf_symbol symbol;
    ck_assert(cuda_elf_open(&elf, world->image, world->image_size));
    for (size_t i = 0; i < elf.symbol_count; i++) {
        if (!cuda_elf_symbol(&elf, i, &symbol))
            continue;
        ck_assert_msg(!strstr(symbol.name, "printf"), "%s prints: %s", path, symbol.name);
        ck_assert_msg(strncmp(symbol.name, "_ZTV", 4) != 0, "%s has a vtable: %s", path, symbol.name);
        ck_assert_msg(!strstr(symbol.name, "malloc"), "%s allocates: %s", path, symbol.name);
    }
}

/*
 * A thread has 64 registers in a block of 1,024 and 128 in one of 512. Handlers that need more by themselves
 * spill, and no loop around them can help it; all others must not, so neither does the loop.
 */
static bool may_spill(const char *kernel)
{
    return strcmp(kernel, "pagerank") == 0 || strcmp(kernel, "sha256") == 0;
}

/* "ptxas info    : Function properties for NAME\n    0 bytes stack frame, 0 bytes spill stores, ..." */
static void check_spills(const struct world *world)
{
    for (uint32_t i = 0; i < world->module->kernel_count; i++) {
        const char *name = world->module->kernels[i].record.name;
        char head[192];
        int frame = -1, stores = -1, loads = -1;
        snprintf(head, sizeof head, "Function properties for gyre_resident_%s\n", name);
        const char *line = strstr(world->messages, head);
        ck_assert_msg(line != NULL, "no '%s' in\n%s", head, world->messages);
        ck_assert_int_eq(sscanf(line + strlen(head),
                                " ptxas . %d bytes stack frame, %d bytes spill stores, %d bytes spill loads",
                                &frame, &stores, &loads),
                         3);
        ck_assert_msg(may_spill(name) || (stores == 0 && loads == 0),
                      "%s: %d bytes spill stores, %d bytes spill loads", name, stores, loads);
        ck_assert_uint_eq(world->module->kernels[i].record.spill_bytes, (uint32_t)frame);
    }
}

/* A launch has to know what a thread needs in all functions that the kernel may call, of cubins that were linked, too. */
static void check_stacks(const struct world *world, const char *path)
{
    for (uint32_t i = 0; i < world->module->kernel_count; i++) {
        const struct cuda_kernel *kernel = &world->module->kernels[i];
        ck_assert_msg(kernel->stack_size >= kernel->record.spill_bytes,
                      "%s: a stack of %u bytes for a frame of %u", path, kernel->stack_size,
                      kernel->record.spill_bytes);
        ck_assert(!strstr(path, "/deep.") || kernel->stack_size >= 3200);
    }
}

/* ---- cases ---- */

static glob_t test_kernels, conformance_kernels;

START_TEST(each_test_kernel_is_described_as_on_the_cpu_and_spills_nothing)
{
    struct world world;
    const char *path = test_kernels.gl_pathv[_i];
    char name[128];
    const char *base = strrchr(path, '/') + 1;
    snprintf(name, sizeof name, "%.*s", (int)(strlen(base) - strlen(".gyre.c")), base);
    world_open(&world, "sm_90");
    const bool is_grid = strcmp(name, "diffusion") == 0;
    compile_and_load(&world, path, is_grid ? "--ptxas-options=-v -DGYRE_GRID=1" : "--ptxas-options=-v");
    compare_modules(world.module, name);
    check_symbols(&world, path);
    if (!is_grid) /* those spill (docs/adr/grid.md) */
        check_spills(&world);
    world_close(&world);
}
END_TEST

/*
 * Quickly: what the optimizer makes of handlers is judged above, here it would take half the time. Some whole, as where there
 * are no parts: each kernel of theirs takes seconds.
 */
static const char *parts_for(const char *path)
{
    static const char *const whole[] = {"/behave.", "/blocks."};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (strstr(path, whole[i]))
            return "/no/such/folder";
    return PARTS_FOLDER;
}

START_TEST(each_conformance_kernel_compiles_unless_it_must_not)
{
    struct world world;
    const char *path = conformance_kernels.gl_pathv[_i];
    world_open_parts(&world, "sm_90", parts_for(path));
    if (strstr(path, "broken")) {
        ck_assert_int_eq(world_compile(&world, path, ""), GYRE_FAILED);
        expect_text("broken.gyre.c:");
    } else if (strstr(path, "asks.gyre.c") || strstr(path, "wonders.gyre.c") ||
               strstr(path, "pools_ask.gyre.c")) {
        ck_assert_int_eq(world_compile(&world, path, ""), GYRE_FAILED);
        expect_text("_ports' ask, and GYRE_PORTS_WITH_ASKS stands in another file");
    } else if (strstr(path, "links.gyre.c") || strstr(path, "topics.gyre.c") ||
               strstr(path, "cycles.gyre.c") || strstr(path, "pools.gyre.c") ||
               strstr(path, "pours.gyre.c") || strstr(path, "far.gyre.c") || strstr(path, "counted.gyre.c") ||
               strstr(path, "rounds.gyre.c") || strstr(path, "link_choices.gyre.c") ||
               strstr(path, "link_levels.gyre.c") || strstr(path, "grid_ports.gyre.c") ||
               strstr(path, "keyed_ports.gyre.c")) { /* the core says GYRE_STAGE in the unit */
        ck_assert_int_eq(world_compile(&world, path, ""), GYRE_FAILED);
        expect_text("has ports, and GYRE_PORTS stands in another file");
    } else if (strstr(path, "keyed.gyre.c") || strstr(path, "/grid.gyre.c")) { /* and GYRE_KEYED, GYRE_GRID */
        ck_assert_int_eq(world_compile(&world, path, ""), GYRE_FAILED);
        expect_text("is declared in a file that the kernel file includes");
    } else {
        compile_and_load(&world, path, QUICKLY);
        for (uint32_t i = 0; i < world.module->kernel_count; i++) {
            gyre_kernel_record record = {.size = sizeof record};
            ck_assert_int_eq(cuda_module_kernel(world.module, i, &record), GYRE_OK);
            gyre_layout_destroy(layout_of(record.request));
            gyre_layout_destroy(layout_of(record.reply));
            gyre_layout_destroy(layout_of(record.state));
        }
        check_symbols(&world, path);
        check_stacks(&world, path);
    }
    world_close(&world);
}
END_TEST

START_TEST(kernels_with_ports_tell_them)
{
    struct world world;
    world_open(&world, "sm_90");
    ck_assert_msg(world_compile_text(&world,
                                     "#define GYRE_STAGE 1\n"
                                     "#include <gyre/kernel.h>\n"
                                     "#define WORD(F) F(u32, number)\n"
                                     "GYRE_MESSAGE(word, WORD)\n"
                                     "enum { MOST = 7 };\n"
                                     "#define PORTS(PORT) PORT(word, words, MOST) PORT(u32, marks, 1)\n"
                                     "GYRE_PORTS(ports_of_split, PORTS)\n"
                                     "GYRE_KERNEL_TO(split, word, word, ports_of_split)\n"
                                     "{ *gyre_emit(gyre, words) = *request; return GYRE_NO_REPLY; }\n"
                                     "GYRE_KERNEL(last, word, word)\n"
                                     "{ *reply = *request; return GYRE_REPLY; }\n") == GYRE_OK,
                  "%s", gyre_error_text());
    ck_assert_msg(world_load(&world) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_uint_eq(world.module->kernel_count, 2);
    const gyre_kernel_record *split = &world.module->kernels[0].record,
                             *last = &world.module->kernels[1].record;
    ck_assert_uint_eq(split->port_count, 2);
    ck_assert_str_eq(split->ports[0].name, "words");
    ck_assert_ptr_eq(split->ports[0].type, split->request);
    ck_assert_uint_eq(split->ports[0].most, 7);
    ck_assert_str_eq(split->ports[1].name, "marks");
    ck_assert_str_eq(split->ports[1].type->name, "u32");
    ck_assert_uint_eq(split->ports[1].most, 1);
    ck_assert_uint_eq(last->port_count, 0);
    ck_assert_uint_eq(split->is_island + last->is_island, 0);
    world_close(&world);
}
END_TEST

START_TEST(types_inside_types_keep_their_own_layout)
{
    struct world world;
    world_open(&world, "sm_90");
    ck_assert_msg(world_compile_text(&world, "#include <gyre/kernel.h>\n"
                                             "#define POINT(F) F(u8, tag) F(f64, x[2])\n"
                                             "GYRE_MESSAGE(point, POINT)\n"
                                             "#define PAIR(F) F(u16, id) F(point, p[2][3])\n"
                                             "GYRE_MESSAGE(pair, PAIR)\n"
                                             "#define BUFFERS(IN, INOUT) IN(pair, pairs) INOUT(f32, out)\n"
                                             "GYRE_BUFFERS(both, BUFFERS)\n"
                                             "GYRE_KERNEL_WITH(late, pair, gyre_none, gyre_none, both)\n"
                                             "{ return GYRE_NO_REPLY; }\n"
                                             "GYRE_ACTOR(early, point, pair, pair)\n"
                                             "{ return GYRE_NO_REPLY; }\n") == GYRE_OK,
                  "%s", gyre_error_text());
    ck_assert_msg(world_load(&world) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_uint_eq(world.module->kernel_count, 2);
    const gyre_kernel_record *late = &world.module->kernels[0].record, /* in the order of the source */
        *early = &world.module->kernels[1].record;
    ck_assert_str_eq(late->name, "late");
    ck_assert_str_eq(early->name, "early");
    ck_assert_uint_eq(late->request->size, 152);
    ck_assert_uint_eq(late->request->field_types[1]->size, 24);
    ck_assert_uint_eq(late->request->field_types[1]->alignment, 8);
    ck_assert_ptr_eq(late->buffer_types[0], late->request);
    ck_assert_str_eq(late->buffer_types[1]->name, "f32");
    ck_assert_ptr_null(late->buffer_types[2]);
    ck_assert_str_eq(late->reply->name, "gyre_none");
    ck_assert_ptr_eq(early->state, late->request);
    world_close(&world);
}
END_TEST

START_TEST(past_the_last_kernel_there_is_none)
{
    struct world world;
    gyre_kernel_record record = {.size = sizeof record};
    world_open(&world, "sm_90");
    compile_and_load(&world, vector_add, "");
    ck_assert_int_eq(cuda_module_kernel(world.module, 1, &record), GYRE_NOT_FOUND);
    ck_assert_ptr_null(cuda_module_find(world.module, "vector_ad"));
    ck_assert_ptr_nonnull(cuda_module_find(world.module, "vector_add"));
    world_close(&world);
}
END_TEST

START_TEST(a_cut_cubin_is_refused_wherever_it_is_cut)
{
    struct world world;
    world_open(&world, "sm_90");
    compile_and_load(&world, vector_add, "");
    const size_t size = world.image_size;
    for (size_t cut = 0; cut < size; cut += cut < 4096 ? 61 : 509) {
        char *part = malloc(cut ? cut : 1); /* its own block, so that a reader beyond it is noticed */
        ck_assert_ptr_nonnull(part);
        memcpy(part, world.image, cut);
        char *whole = world.image;
        world.image = part;
        world.image_size = cut;
        gyre_status status = world_load(&world);
        ck_assert_msg(status == GYRE_INCOMPATIBLE, "cut to %zu of %zu bytes: %d", cut, size, (int)status);
        world.image = whole;
        free(part);
    }
    world_close(&world);
}
END_TEST

/* Any answer will do but a crash; descriptions that are taken must have whole texts. */
START_TEST(a_damaged_cubin_is_read_or_refused)
{
    struct world world;
    unsigned random = 12345;
    world_open(&world, "sm_90");
    compile_and_load(&world, SOURCE_FOLDER "/tests/kernels/pagerank.gyre.c", "");
    unsigned char *bytes = world.image;
    int refused = 0;
    for (int turn = 0; turn < 4000; turn++) {
        random = random * 1103515245u + 12345u;
        unsigned char *at = &bytes[(random >> 4) % (turn % 2 ? world.image_size : 4096)], kept = *at;
        *at ^= (unsigned char)(1u << (random >> 28) % 8);
        if (world_load(&world) == GYRE_OK)
            for (uint32_t i = 0; i < world.module->kernel_count; i++)
                ck_assert_uint_lt(strlen(world.module->kernels[i].record.request->fields), world.image_size);
        else
            refused++;
        *at = kept;
    }
    ck_assert_int_gt(refused, 0);
    world_close(&world);
}
END_TEST

START_TEST(other_files_are_refused)
{
    static const char *const texts[] = {"", "\177ELF", "#include <gyre/kernel.h>\n"};
    struct world world;
    world_open(&world, "sm_90");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        free(world.image);
        world.image = strdup(texts[i]);
        world.image_size = strlen(texts[i]);
        ck_assert_int_eq(world_load(&world), GYRE_INCOMPATIBLE);
        expect_text("is no compiled CUDA kernel file");
    }
    world_close(&world);
}
END_TEST

/* A pattern that matches nothing leaves a loop of no turns, which must not look like success. */
static int list_files(const char *pattern, glob_t *files)
{
    if (glob(pattern, 0, NULL, files) == 0)
        return (int)files->gl_pathc;
    fprintf(stderr, "no file matches '%s'\n", pattern);
    exit(EXIT_FAILURE);
}

/* In two halves, which may run side by side; the first is made first. */
TCase *kernel_cases(int half)
{
    TCase *cases = tcase_create(half == 1 ? "kernels_1" : "kernels_2");
    const int count = half == 1 ? list_files(SOURCE_FOLDER "/tests/kernels/*.gyre.c", &test_kernels)
                                : (int)test_kernels.gl_pathc;
    const int middle = count / 2;
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, each_test_kernel_is_described_as_on_the_cpu_and_spills_nothing,
                        half == 1 ? 0 : middle, half == 1 ? middle : count);
    return cases;
}

TCase *cubin_cases(void)
{
    TCase *cases = tcase_create("cubins");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(
        cases, each_conformance_kernel_compiles_unless_it_must_not, 0,
        list_files(SOURCE_FOLDER "/tests/conformance/kernels/*.gyre.c", &conformance_kernels));
    tcase_add_test(cases, kernels_with_ports_tell_them);
    tcase_add_test(cases, types_inside_types_keep_their_own_layout);
    tcase_add_test(cases, past_the_last_kernel_there_is_none);
    tcase_add_test(cases, a_cut_cubin_is_refused_wherever_it_is_cut);
    tcase_add_test(cases, a_damaged_cubin_is_read_or_refused);
    tcase_add_test(cases, other_files_are_refused);
    return cases;
}
