/* SPDX-License-Identifier: Apache-2.0 */
/* Each plugin that must be refused, with its sentence; and those that must not. */
#include "core/base/error.h"
#include "core/loader/shared_object.h"
#include "core/loader/host.h"
#include "core/loader/loader.h"
#include "tests/sanitizers.h"
#include "unit/unit.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct refusal {
    const char *plugin;
    gyre_status status;
    const char *words[3];
} refusals[] = {
    {"no-such", GYRE_NOT_FOUND, {"gyre-test-no-such.so' does not exist"}},
    {"wrong-magic", GYRE_INCOMPATIBLE, {"wrong magic number", "expected 0x45525947", "found 0x12345678"}},
    {"wrong-major", GYRE_INCOMPATIBLE, {"speaks backend ABI 9.0", "too new", "update Gyre"}},
    {"older-major", GYRE_INCOMPATIBLE, {"speaks backend ABI 0.0", "too old", "build the plugin again"}},
    {"newer-minor", GYRE_INCOMPATIBLE, {"speaks backend ABI 2.999", "too new", "update Gyre"}},
    {"too-small", GYRE_INCOMPATIBLE, {"too small", "expected at least 40 bytes", "found 24"}},
    {"missing-slot", GYRE_INCOMPATIBLE, {"lacks the required operation 'probe'"}},
    {"short-table",
     GYRE_INCOMPATIBLE,
     {"lacks the required operation 'module_release'", "table of 64 bytes"}},
    {"no-name", GYRE_INCOMPATIBLE, {"has no usable name"}},
    {"odd-name", GYRE_INCOMPATIBLE, {"has no usable name", "a-z, 0-9"}},
    {"stranger", GYRE_INCOMPATIBLE, {"is not a Gyre plugin", "exports no symbol 'gyre_plugin'"}},
    {"unresolved", GYRE_UNAVAILABLE, {"gyre-test-unresolved.so", "symbol", "nobody_provides_this"}},
};

START_TEST(misfit_is_refused_with_its_sentence)
{
    const struct refusal *refusal = &refusals[_i];
    struct gyre_plugin *plugin = (struct gyre_plugin *)1;
    char path[512];
    snprintf(path, sizeof path, "%s%s.so", GYRE_TEST_PLUGINS, refusal->plugin);
    ck_assert_int_eq(gyre_plugin_load(path, &plugin), refusal->status);
    ck_assert_ptr_null(plugin);
    for (size_t i = 0; i < 3 && refusal->words[i]; i++)
        ck_assert_msg(strstr(gyre_error_text(), refusal->words[i]) != NULL, "'%s' is not in: %s",
                      refusal->words[i], gyre_error_text());
}
END_TEST

/* ---- files that are no plugin ---- */

static void write_file(char path[32], const void *bytes, size_t size)
{
    snprintf(path, 32, "/tmp/gyre-test-XXXXXX");
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, bytes, size), (ssize_t)size);
    close(descriptor);
}

static void load_bytes(const void *bytes, size_t size, const char *words)
{
    char path[32];
    struct gyre_plugin *plugin;
    write_file(path, bytes, size);
    gyre_status status = gyre_plugin_load(path, &plugin);
    unlink(path);
    ck_assert_int_eq(status, GYRE_INCOMPATIBLE);
    ck_assert_msg(strstr(gyre_error_text(), words) != NULL, "'%s' is not in: %s", words, gyre_error_text());
}

static size_t read_plugin(const char *name, void *bytes, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s.so", GYRE_TEST_PLUGINS, name);
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    size_t got = fread(bytes, 1, size, file);
    fclose(file);
    return got;
}

START_TEST(text_file_is_not_an_elf_file)
{
    char text[200];
    memset(text, '#', sizeof text);
    load_bytes(text, sizeof text, "is not an ELF file: expected a shared object");
    load_bytes("", 0, "is not an ELF file: it is only 0 bytes long");
}
END_TEST

START_TEST(folder_is_not_a_plugin)
{
    struct gyre_plugin *plugin;
    ck_assert_int_eq(gyre_plugin_load("/tmp", &plugin), GYRE_INCOMPATIBLE);
    ck_assert_str_eq(gyre_error_text(),
                     "plugin '/tmp' is not a file: expected a shared object, found a folder");
}
END_TEST

START_TEST(wrong_machine_is_named)
{
    Elf64_Ehdr header;
    ck_assert_uint_eq(read_plugin("fake", &header, sizeof header), sizeof header);
    header.e_machine = header.e_machine == EM_S390 ? EM_PPC64 : EM_S390;
    load_bytes(&header, sizeof header, "is built for another machine: expected ");
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "found s390x"));
    header.e_machine = EM_386;
    header.e_ident[EI_CLASS] = ELFCLASS32;
    load_bytes(&header, sizeof header, "found x86, 32 bits");
}
END_TEST

START_TEST(program_is_not_a_shared_object)
{
    Elf64_Ehdr header;
    ck_assert_uint_eq(read_plugin("fake", &header, sizeof header), sizeof header);
    header.e_type = ET_EXEC;
    load_bytes(&header, sizeof header, "is an ELF file of type 2: expected a shared object");
}
END_TEST

START_TEST(a_pipe_is_refused_without_waiting)
{
    char path[32], head[16];
    enum gyre_elf_finding found;
    write_file(path, "", 0);
    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    gyre_status status = gyre_elf_read_object(path, GYRE_BACKEND_SYMBOL, head, sizeof head, &found);
    unlink(path);
    ck_assert_int_eq(status, GYRE_INCOMPATIBLE);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "expected a shared object, found a device or pipe"));
}
END_TEST

static unsigned char plugin_bytes[1 << 20];

START_TEST(truncated_plugin_is_refused)
{
    size_t size = read_plugin("wrong-magic", plugin_bytes, sizeof plugin_bytes);
    ck_assert_uint_lt(size, sizeof plugin_bytes);
    for (size_t cut = 1; cut < size; cut += cut < 600 ? 7 : size / 40) {
        char path[32], head[16];
        enum gyre_elf_finding found;
        write_file(path, plugin_bytes, cut);
        gyre_status status = gyre_elf_read_object(path, GYRE_BACKEND_SYMBOL, head, sizeof head, &found);
        unlink(path);
        ck_assert(status == GYRE_INCOMPATIBLE || (status == GYRE_OK && found != GYRE_ELF_FOUND));
    }
}
END_TEST

/* Damage in the file header and in the section table, which is at the end. */
START_TEST(damaged_plugin_never_crashes_the_reader)
{
    static unsigned char damaged[sizeof plugin_bytes];
    size_t size = read_plugin("wrong-magic", plugin_bytes, sizeof plugin_bytes);
    unsigned random = 12345;
    for (int round = 0; round < 400; round++) {
        char path[32], head[16];
        enum gyre_elf_finding found;
        memcpy(damaged, plugin_bytes, size);
        for (int i = 0; i < 8; i++) {
            random = random * 1103515245u + 12345u;
            size_t place = i < 2 ? 20 + (random >> 8) % 44 : size - 1 - (random >> 8) % 2000;
            damaged[place] = (unsigned char)(random >> 16);
        }
        write_file(path, damaged, size);
        gyre_status status = gyre_elf_read_object(path, GYRE_BACKEND_SYMBOL, head, sizeof head, &found);
        unlink(path);
        ck_assert(status == GYRE_OK || (status == GYRE_INCOMPATIBLE && gyre_error_text()[0]));
    }
}
END_TEST

/* ---- what this process lacks ---- */

/* Sets a limit to `value`, and says what it was. */
static rlim_t limit(unsigned which, rlim_t value)
{
    struct rlimit now;
    ck_assert_int_eq(getrlimit(which, &now), 0);
    const rlim_t before = now.rlim_cur;
    now.rlim_cur = value;
    ck_assert_int_eq(setrlimit(which, &now), 0);
    return before;
}

START_TEST(no_descriptor_is_no_verdict_about_the_file)
{
    char said[128]; /* in the words of this C library */
    snprintf(said, sizeof said, "%s; raise the limit of open files (ulimit -n)", strerror(EMFILE));
    struct gyre_plugin *plugin;
    void *library;
    const int free_one = dup(STDERR_FILENO);
    close(free_one);
    const rlim_t before = limit(RLIMIT_NOFILE, (rlim_t)free_one);
    const gyre_status plugin_status = gyre_plugin_load(GYRE_TEST_PLUGINS "fake.so", &plugin);
    const bool plugin_said = strstr(gyre_error_text(), said) != NULL;
    const gyre_status library_status = gyre_library_open(GYRE_TEST_PLUGINS "fake.so", &library);
    const bool library_said = strstr(gyre_error_text(), said) != NULL;
    limit(RLIMIT_NOFILE, before);
    ck_assert_int_eq(plugin_status, GYRE_EXHAUSTED);
    ck_assert(plugin_said);
    ck_assert_int_eq(library_status, GYRE_EXHAUSTED);
    ck_assert_msg(library_said, "%s", gyre_error_text());
    ck_assert_int_eq(gyre_plugin_load(GYRE_TEST_PLUGINS "fake.so", &plugin), GYRE_OK);
}
END_TEST

#if !UNDER_ADDRESS_SANITIZER && !UNDER_THREAD_SANITIZER /* which reserve terabytes of addresses */
/* The addresses that this process may take beside those that it has. */
static rlim_t limit_more(size_t more)
{
    unsigned long pages;
    FILE *file = fopen("/proc/self/statm", "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return limit(RLIMIT_AS, pages * (unsigned long)sysconf(_SC_PAGESIZE) + more);
}

START_TEST(no_memory_to_load_is_no_verdict_about_the_file)
{
    void *library;
    const rlim_t before = limit_more(0);
    const gyre_status status = gyre_library_open(GYRE_TEST_PLUGINS "fake.so", &library);
    limit(RLIMIT_AS, before);
    ck_assert_msg(status == GYRE_EXHAUSTED, "%s", gyre_error_text());
    ck_assert_int_eq(gyre_library_open(GYRE_TEST_PLUGINS "fake.so", &library), GYRE_OK);
    gyre_library_close(library);
}
END_TEST

/* A large symbol table in a file with holes. */
START_TEST(no_memory_to_read_is_no_verdict_about_the_file)
{
    enum { TABLE_SIZE = 48 << 20, FILE_SIZE = 64 << 20 };
    const size_t size = read_plugin("fake", plugin_bytes, sizeof plugin_bytes);
    char path[32], head[16];
    enum gyre_elf_finding found;
    Elf64_Ehdr header;
    memcpy(&header, plugin_bytes, sizeof header);
    for (unsigned i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        unsigned char *place = plugin_bytes + header.e_shoff + i * sizeof section;
        memcpy(&section, place, sizeof section);
        if (section.sh_type == SHT_DYNSYM)
            section.sh_size = TABLE_SIZE;
        memcpy(place, &section, sizeof section);
    }
    write_file(path, plugin_bytes, size);
    ck_assert_int_eq(truncate(path, FILE_SIZE), 0);
    const rlim_t before = limit_more(8 << 20);
    const gyre_status status = gyre_elf_read_object(path, GYRE_BACKEND_SYMBOL, head, sizeof head, &found);
    limit(RLIMIT_AS, before);
    unlink(path);
    ck_assert_int_eq(status, GYRE_EXHAUSTED);
    ck_assert_int_eq(found, GYRE_ELF_UNKNOWN);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "cannot be read: "));
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), strerror(ENOMEM)));
}
END_TEST
#endif

/* ---- plugins that fit ---- */

START_TEST(plugin_of_an_older_minor_version_loads)
{
    struct gyre_plugin *plugin;
    ck_assert_int_eq(gyre_plugin_load(GYRE_TEST_PLUGINS "older-minor.so", &plugin), GYRE_OK);
    ck_assert_uint_lt(gyre_plugin_table(plugin)->ops->size, sizeof(gyre_backend_ops));
}
END_TEST

START_TEST(version_rule_is_same_major_and_no_newer_minor)
{
    ck_assert_int_eq(gyre_plugin_judge_version("p", 1, 0, 1, 3), GYRE_OK);
    ck_assert_int_eq(gyre_plugin_judge_version("p", 1, 3, 1, 3), GYRE_OK);
    ck_assert_int_eq(gyre_plugin_judge_version("p", 1, 4, 1, 3), GYRE_INCOMPATIBLE);
    ck_assert_str_eq(gyre_error_text(),
                     "plugin 'p' speaks backend ABI 1.4, which is too new: this Gyre runs 1.0 "
                     "to 1.3: update Gyre, or build the plugin for this one");
    ck_assert_int_eq(gyre_plugin_judge_version("p", 1, 9, 2, 0), GYRE_INCOMPATIBLE);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "too old"));
}
END_TEST

START_TEST(plugin_loaded_twice_is_one_plugin)
{
    struct gyre_plugin *first, *second;
    ck_assert_int_eq(gyre_plugin_load(GYRE_TEST_PLUGINS "fake.so", &first), GYRE_OK);
    ck_assert_int_eq(gyre_plugin_load(GYRE_TEST_PLUGINS "fake.so", &second), GYRE_OK);
    ck_assert_ptr_eq(first, second);
    ck_assert_str_eq(gyre_plugin_table(first)->name, "fake");
}
END_TEST

START_TEST(abi_is_read_without_loading)
{
    uint16_t major, minor;
    ck_assert(gyre_plugin_read_abi(GYRE_TEST_PLUGINS "newer-minor.so", &major, &minor));
    ck_assert_uint_eq(major, GYRE_ABI_MAJOR);
    ck_assert_uint_eq(minor, 999);
    ck_assert(!gyre_plugin_read_abi(GYRE_TEST_PLUGINS "stranger.so", &major, &minor));
}
END_TEST

/* ---- services ---- */

START_TEST(host_offers_libraries_with_the_loaders_words)
{
    struct gyre_host_services services;
    void *library, *symbol;
    gyre_host_init(&services, NULL, NULL);
    const gyre_host *host = &services.table;
    ck_assert_int_eq(host->library_open("libgyre-no-such.so.1", &library), GYRE_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "libgyre-no-such.so.1"));
    ck_assert_ptr_null(library);
    ck_assert_int_eq(host->library_open(GYRE_TEST_PLUGINS "stranger.so", &library), GYRE_OK);
    ck_assert_int_eq(host->library_symbol(library, "stranger_answer", &symbol), GYRE_OK);
    ck_assert_int_eq(host->library_symbol(library, "no_answer", &symbol), GYRE_NOT_FOUND);
    ck_assert_ptr_null(symbol);
    host->library_close(library);
    host->library_close(NULL);
    host->log(host->context, GYRE_LOG_ERROR, "nobody listens");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("loader");
    TCase *tcase = tcase_create("loader");
    tcase_add_loop_test(tcase, misfit_is_refused_with_its_sentence, 0, sizeof refusals / sizeof refusals[0]);
    tcase_add_test(tcase, text_file_is_not_an_elf_file);
    tcase_add_test(tcase, folder_is_not_a_plugin);
    tcase_add_test(tcase, wrong_machine_is_named);
    tcase_add_test(tcase, program_is_not_a_shared_object);
    tcase_add_test(tcase, a_pipe_is_refused_without_waiting);
    tcase_add_test(tcase, truncated_plugin_is_refused);
    tcase_add_test(tcase, damaged_plugin_never_crashes_the_reader);
    tcase_add_test(tcase, no_descriptor_is_no_verdict_about_the_file);
#if !UNDER_ADDRESS_SANITIZER && !UNDER_THREAD_SANITIZER
    tcase_add_test(tcase, no_memory_to_load_is_no_verdict_about_the_file);
    tcase_add_test(tcase, no_memory_to_read_is_no_verdict_about_the_file);
#endif
    tcase_add_test(tcase, plugin_of_an_older_minor_version_loads);
    tcase_add_test(tcase, version_rule_is_same_major_and_no_newer_minor);
    tcase_add_test(tcase, plugin_loaded_twice_is_one_plugin);
    tcase_add_test(tcase, abi_is_read_without_loading);
    tcase_add_test(tcase, host_offers_libraries_with_the_loaders_words);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
