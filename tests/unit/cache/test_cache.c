/* SPDX-License-Identifier: Apache-2.0 */
/* The disk cache: hits, misses, damage, eviction, and everything that may be wrong with its folder. */
#include "core/base/error.h"
#include "core/cache/cache.h"
#include "suites.h"
#include "unit/unit.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char temporary[] = "/tmp/gyre-test-cache-XXXXXX";

const char *fresh_folder(void)
{
    static _Thread_local char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/XXXXXX", temporary);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    return folder;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    ck_assert_int_eq(fclose(file), 0);
}

/* A cache, a header that was compiled in, and the list that a compiler would write. */
struct world {
    char folder[PATH_MAX], header[PATH_MAX + 16], list[PATH_MAX + 16];
    struct gyre_cache cache;
};

static void set_up(struct world *world, uint64_t size_max)
{
    char lines[PATH_MAX + 64];
    snprintf(world->folder, sizeof world->folder, "%s", fresh_folder());
    snprintf(world->header, sizeof world->header, "%s/x.h", world->folder);
    snprintf(world->list, sizeof world->list, "%s/list", world->folder);
    write_file(world->header, "one");
    snprintf(lines, sizeof lines, "/unit.c\n%s\n", world->header);
    write_file(world->list, lines);
    gyre_cache_open(&world->cache, world->folder, size_max);
    ck_assert_str_eq(world->cache.trouble, "");
    ck_assert(world->cache.usable);
}

static bool store(struct world *world, const char *key, const void *image, size_t size, char path[PATH_MAX])
{
    struct gyre_cache_item item = {.key = key,
                                   .image = image,
                                   .image_size = size,
                                   .note = "source /s.gyre.c\nbackend cpu\n",
                                   .dependencies = world->list,
                                   .unit = "/unit.c"};
    clock_gettime(CLOCK_REALTIME, &item.started);
    item.started.tv_sec++; /* the header was written in this very tick */
    return gyre_cache_store(&world->cache, &item, path);
}

static bool find(struct world *world, const char *key)
{
    char path[PATH_MAX];
    struct gyre_artifact artifact;
    bool found = gyre_cache_find(&world->cache, key, path, &artifact);
    gyre_artifact_close(&artifact);
    return found;
}

START_TEST(what_was_stored_is_found)
{
    struct world world;
    char stored[PATH_MAX], path[PATH_MAX];
    struct gyre_artifact artifact;
    set_up(&world, 1 << 20);
    ck_assert(!find(&world, "k1"));
    ck_assert(store(&world, "k1", "code", 4, stored));
    ck_assert(gyre_cache_find(&world.cache, "k1", path, &artifact));
    ck_assert_str_eq(path, stored);
    ck_assert_uint_eq(artifact.image_size, 4);
    ck_assert_mem_eq(artifact.map, "code", 4);
    gyre_artifact_close(&artifact);
    ck_assert(!find(&world, "k2"));
}
END_TEST

START_TEST(a_changed_header_is_a_miss_and_its_old_text_a_hit_again)
{
    struct world world;
    char first[PATH_MAX], second[PATH_MAX];
    set_up(&world, 1 << 20);
    ck_assert(store(&world, "k", "code 1", 6, first));
    write_file(world.header, "two"); /* the same size */
    ck_assert(!find(&world, "k"));
    ck_assert(store(&world, "k", "code 2", 6, second));
    ck_assert_str_ne(first, second); /* a loader must not take one for the other */
    ck_assert(find(&world, "k"));
    write_file(world.header, "one");
    ck_assert(find(&world, "k"));
    unlink(world.header);
    ck_assert(!find(&world, "k"));
}
END_TEST

START_TEST(a_header_that_was_only_touched_is_a_hit)
{
    struct world world;
    char path[PATH_MAX];
    set_up(&world, 1 << 20);
    ck_assert(store(&world, "k", "code", 4, path));
    write_file(world.header, "one");
    ck_assert(find(&world, "k"));
}
END_TEST

START_TEST(a_header_that_changed_while_compiling_spoils_the_entry)
{
    struct world world;
    char path[PATH_MAX];
    set_up(&world, 1 << 20);
    struct gyre_cache_item item = {
        .key = "k", .image = "c", .image_size = 1, .note = "", .dependencies = world.list, .unit = "/unit.c"};
    ck_assert(!gyre_cache_store(&world.cache, &item, path)); /* started in 1970 */
    ck_assert_ptr_nonnull(strstr(world.cache.trouble, "changed while it was compiled"));
    ck_assert(!find(&world, "k"));
}
END_TEST

START_TEST(a_damaged_entry_is_removed_and_rebuilt)
{
    struct world world;
    char path[PATH_MAX];
    set_up(&world, 1 << 20);
    for (int damage = 0; damage < 3; damage++) {
        ck_assert(store(&world, "k", "code", 4, path));
        if (damage == 0)
            ck_assert_int_eq(truncate(path, 20), 0);
        else if (damage == 1)
            ck_assert_int_eq(truncate(path, 0), 0);
        else
            write_file(path, "garbage of about the same length as an entry has, or so");
        ck_assert(!find(&world, "k"));
        ck_assert_int_ne(access(path, F_OK), 0);
    }
    ck_assert(store(&world, "k", "code", 4, path));
    ck_assert(find(&world, "k"));
}
END_TEST

/* Who copies another file over it cuts it first: a page of it that is mapped is a signal then. */
START_TEST(what_was_found_stays_readable_when_its_file_is_cut)
{
    struct world world;
    char path[PATH_MAX], source[32], image[3 * 4096];
    struct gyre_artifact artifact;
    memset(image, 7, sizeof image);
    set_up(&world, 1 << 20);
    ck_assert(store(&world, "k", image, sizeof image, path));
    ck_assert(gyre_cache_find(&world.cache, "k", path, &artifact));
    ck_assert_int_eq(truncate(path, 0), 0);
    ck_assert_mem_eq(artifact.map, image, sizeof image);
    ck_assert(gyre_artifact_note(&artifact, "source", source, sizeof source));
    ck_assert_str_eq(source, "/s.gyre.c");
    gyre_artifact_close(&artifact);
}
END_TEST

/* It is not read to its end to see that. */
START_TEST(a_huge_file_is_no_entry)
{
    struct world world;
    char path[PATH_MAX];
    set_up(&world, 1 << 20);
    ck_assert(store(&world, "k", "code", 4, path));
    ck_assert_int_eq(truncate(path, (off_t)1 << 40), 0);
    ck_assert(!find(&world, "k"));
    ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

static void set_age(const char *path, time_t seconds)
{
    struct timespec times[2] = {{time(NULL) - seconds, 0}, {time(NULL) - seconds, 0}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

START_TEST(an_entry_that_cannot_be_opened_for_want_of_descriptors_stays)
{
    struct world world;
    struct rlimit before;
    char path[PATH_MAX];
    set_up(&world, 1 << 20);
    ck_assert(store(&world, "k", "image", 5, path));
    const int free_one = dup(STDERR_FILENO); /* for the folder alone */
    close(free_one);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit few = {(rlim_t)free_one + 1, before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    const bool found = find(&world, "k");
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert(!found);
    ck_assert(find(&world, "k"));
}
END_TEST

START_TEST(what_was_used_longest_ago_leaves_first)
{
    struct world world;
    static char image[40000];
    char path[4][PATH_MAX];
    set_up(&world, 130000);
    for (int i = 0; i < 3; i++) {
        char key[8];
        snprintf(key, sizeof key, "k%d", i);
        ck_assert(store(&world, key, image, sizeof image, path[i]));
        set_age(path[i], 100 - 10 * i);
    }
    ck_assert(find(&world, "k0")); /* used again: k1 is the oldest now */
    ck_assert(store(&world, "k3", image, sizeof image, path[3]));
    ck_assert(find(&world, "k0"));
    ck_assert(!find(&world, "k1"));
    ck_assert(find(&world, "k3"));
}
END_TEST

START_TEST(an_entry_larger_than_the_cache_stays_until_the_next)
{
    struct world world;
    static char image[40000];
    char path[PATH_MAX];
    set_up(&world, 1000);
    ck_assert(store(&world, "k0", image, sizeof image, path));
    ck_assert_int_eq(access(path, F_OK), 0); /* it is about to be loaded */
    char old[PATH_MAX];
    memcpy(old, path, sizeof old);
    ck_assert(store(&world, "k1", "code", 4, path));
    ck_assert_int_ne(access(old, F_OK), 0);
}
END_TEST

START_TEST(listing_tells_what_is_there_and_clearing_removes_it)
{
    struct world world;
    struct gyre_cache_entry *entries;
    size_t count;
    uint64_t size;
    char path[PATH_MAX], other[PATH_MAX];
    set_up(&world, 1 << 20);
    ck_assert(store(&world, "k0", "code", 4, path));
    ck_assert(store(&world, "k1", "code", 4, other));
    set_age(path, 50);
    ck_assert_int_eq(truncate(other, 10), 0);
    ck_assert_int_eq(gyre_cache_list(&world.cache, &entries, &count), GYRE_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert(entries[0].damaged);
    ck_assert_str_eq(entries[1].source, "/s.gyre.c");
    ck_assert_str_eq(entries[1].backend, "cpu");
    ck_assert_str_eq(entries[1].path, path);
    free(entries);
    ck_assert_int_eq(gyre_cache_clear(&world.cache, &count, &size), GYRE_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(gyre_cache_list(&world.cache, &entries, &count), GYRE_OK);
    ck_assert_uint_eq(count, 0);
    free(entries);
}
END_TEST

START_TEST(a_folder_that_cannot_be_read_is_not_empty)
{
    struct world world;
    struct gyre_cache_entry *entries;
    size_t count;
    uint64_t size;
    set_up(&world, 1 << 20);
    snprintf(world.cache.folder, sizeof world.cache.folder, "%s", world.header); /* it is none any more */
    ck_assert_int_eq(gyre_cache_list(&world.cache, &entries, &count), GYRE_FAILED);
    ck_assert_ptr_null(entries);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "/x.h' cannot be read: Not a directory"));
    ck_assert_int_eq(gyre_cache_clear(&world.cache, &count, &size), GYRE_FAILED);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "/x.h' cannot be read: Not a directory"));
}
END_TEST

START_TEST(size_zero_and_no_folder_turn_it_off)
{
    struct gyre_cache cache;
    gyre_cache_open(&cache, fresh_folder(), 0);
    ck_assert(!cache.usable);
    gyre_cache_open(&cache, "", 100);
    ck_assert(!cache.usable);
    ck_assert_str_eq(cache.trouble, "");
}
END_TEST

START_TEST(a_folder_that_cannot_be_made_is_named)
{
    struct gyre_cache cache;
    gyre_cache_open(&cache, "/dev/null/below", 100);
    ck_assert(!cache.usable);
    ck_assert_str_eq(cache.trouble,
                     "the cache folder '/dev/null/below/kernels' cannot be made: Not a directory");
}
END_TEST

START_TEST(a_folder_that_others_can_write_is_refused)
{
    struct gyre_cache cache;
    char folder[PATH_MAX], kernels[PATH_MAX + 16];
    snprintf(folder, sizeof folder, "%s", fresh_folder());
    snprintf(kernels, sizeof kernels, "%s/kernels", folder);
    ck_assert_int_eq(mkdir(kernels, 0700), 0);
    ck_assert_int_eq(chmod(kernels, 0777), 0);
    gyre_cache_open(&cache, folder, 100);
    ck_assert(!cache.usable);
    ck_assert_ptr_nonnull(strstr(cache.trouble, "can be written by other users"));
}
END_TEST

START_TEST(a_read_only_folder_still_gives_what_it_has)
{
    struct world world;
    char path[PATH_MAX], kernels[PATH_MAX + 16];
    if (geteuid() == 0) /* root writes everywhere; the full disk below stands for it */
        return;
    set_up(&world, 1 << 20);
    ck_assert(store(&world, "k", "code", 4, path));
    snprintf(kernels, sizeof kernels, "%s/kernels", world.folder);
    chmod(kernels, 0500);
    ck_assert(find(&world, "k"));
    ck_assert(!store(&world, "k2", "code", 4, path));
    ck_assert_ptr_nonnull(strstr(world.cache.trouble, "cannot be written"));
    chmod(kernels, 0700);
}
END_TEST

START_TEST(a_full_disk_is_a_sentence_and_no_entry)
{
    struct world world;
    struct rlimit before, none;
    char path[PATH_MAX];
    set_up(&world, 1 << 20);
    getrlimit(RLIMIT_FSIZE, &before);
    none = (struct rlimit){0, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &none);
    bool stored = store(&world, "k", "code", 4, path);
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert(!stored);
    ck_assert_ptr_nonnull(strstr(world.cache.trouble, "cannot be written"));
    ck_assert(!find(&world, "k"));
}
END_TEST

static void *store_and_find(void *argument)
{
    struct world *shared = argument;
    struct world mine = *shared;
    static char image[20000];
    char key[8], path[PATH_MAX];
    size_t failures = 0;
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "k%d", i % 7);
        failures += !store(&mine, key, image, sizeof image, path);
        find(&mine, key);
    }
    return (void *)failures;
}

START_TEST(many_at_once_never_see_half_an_entry)
{
    struct world world;
    pthread_t threads[4];
    void *failures;
    struct gyre_cache_entry *entries;
    size_t count;
    set_up(&world, 60000); /* too small for all: eviction runs beside */
    for (int i = 0; i < 4; i++)
        unit_start(&threads[i], store_and_find, &world);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failures);
        ck_assert_ptr_null(failures);
    }
    ck_assert_int_eq(gyre_cache_list(&world.cache, &entries, &count), GYRE_OK);
    ck_assert_uint_ge(count, 1);
    for (size_t i = 0; i < count; i++)
        ck_assert(!entries[i].damaged);
    free(entries);
}
END_TEST

START_TEST(keys_tell_parts_apart)
{
    char a[GYRE_CACHE_KEY_SIZE], b[GYRE_CACHE_KEY_SIZE];
    gyre_cache_key((struct gyre_cache_part[]){{"ab", 2}, {"c", 1}}, 2, a);
    gyre_cache_key((struct gyre_cache_part[]){{"a", 1}, {"bc", 2}}, 2, b);
    ck_assert_uint_eq(strlen(a), 32);
    ck_assert_str_ne(a, b);
}
END_TEST

static TCase *cache_cases(void)
{
    TCase *tcase = tcase_create("cache");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, what_was_stored_is_found);
    tcase_add_test(tcase, a_changed_header_is_a_miss_and_its_old_text_a_hit_again);
    tcase_add_test(tcase, a_header_that_was_only_touched_is_a_hit);
    tcase_add_test(tcase, a_header_that_changed_while_compiling_spoils_the_entry);
    tcase_add_test(tcase, a_damaged_entry_is_removed_and_rebuilt);
    tcase_add_test(tcase, what_was_found_stays_readable_when_its_file_is_cut);
    tcase_add_test(tcase, a_huge_file_is_no_entry);
    tcase_add_test(tcase, an_entry_that_cannot_be_opened_for_want_of_descriptors_stays);
    tcase_add_test(tcase, what_was_used_longest_ago_leaves_first);
    tcase_add_test(tcase, an_entry_larger_than_the_cache_stays_until_the_next);
    tcase_add_test(tcase, listing_tells_what_is_there_and_clearing_removes_it);
    tcase_add_test(tcase, a_folder_that_cannot_be_read_is_not_empty);
    tcase_add_test(tcase, size_zero_and_no_folder_turn_it_off);
    tcase_add_test(tcase, a_folder_that_cannot_be_made_is_named);
    tcase_add_test(tcase, a_folder_that_others_can_write_is_refused);
    tcase_add_test(tcase, a_read_only_folder_still_gives_what_it_has);
    tcase_add_test(tcase, a_full_disk_is_a_sentence_and_no_entry);
    tcase_add_test(tcase, many_at_once_never_see_half_an_entry);
    tcase_add_test(tcase, keys_tell_parts_apart);
    return tcase;
}

int main(void)
{
    char command[64];
    Suite *suite = suite_create("cache");
    if (!mkdtemp(temporary))
        return EXIT_FAILURE;
    suite_add_tcase(suite, artifact_cases());
    suite_add_tcase(suite, cache_cases());
    int result = unit_run(suite);
    snprintf(command, sizeof command, "rm -rf %s", temporary);
    return system(command) == 0 ? result : EXIT_FAILURE;
}
