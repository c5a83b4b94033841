/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of control groups as Linux shows them: both versions, groups above, containers, and files that say nothing. */
#include "core/base/cgroup.h"
#include "unit/unit.h"

#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#define MIB ((uint64_t)1 << 20)

static char root[64];

static void make_root(void)
{
    snprintf(root, sizeof root, "/tmp/gyre-cgroup-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void remove_root(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

/* A file below the root, with its folders. */
__attribute__((format(printf, 2, 3))) static void put(const char *path, const char *format, ...)
{
    char full[512];
    va_list arguments;
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *stream = fopen(full, "w");
    ck_assert_ptr_nonnull(stream);
    va_start(arguments, format);
    vfprintf(stream, format, arguments);
    va_end(arguments);
    ck_assert_int_eq(fclose(stream), 0);
}

static void put_v2(const char *group, const char *limit, uint64_t used, uint64_t cache)
{
    char path[256];
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
    put(path, "%s\n", limit);
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.current", group);
    put(path, "%llu\n", (unsigned long long)used);
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.stat", group);
    put(path, "anon 1\ninactive_file %llu\nactive_file %llu\n", (unsigned long long)cache / 2,
        (unsigned long long)(cache - cache / 2));
}

static struct gyre_cgroup_room look(void)
{
    struct gyre_cgroup_room room;
    gyre_cgroup_look(root, &room);
    return room;
}

static void expect(uint64_t left, const char *file)
{
    const struct gyre_cgroup_room room = look();
    ck_assert_uint_eq(room.left, left);
    ck_assert_str_eq(room.file + strlen(root), file);
}

#define V2_MOUNTS                                                                                            \
    "24 30 0:22 / /proc rw - proc proc rw\n30 23 0:26 %s /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup rw\n"

START_TEST(the_group_with_the_least_room_counts)
{
    put("/proc/self/cgroup", "0::/user.slice/mine.scope\n");
    put("/proc/self/mountinfo", V2_MOUNTS, "/");
    put_v2("/user.slice/mine.scope", "25165824", 4 * MIB, 0);
    put_v2("/user.slice", "max", 100 * MIB, 0);
    expect(20 * MIB, "/sys/fs/cgroup/user.slice/mine.scope/memory.max");
    put_v2("/user.slice", "104857600", 90 * MIB, 0);
    expect(10 * MIB, "/sys/fs/cgroup/user.slice/memory.max");
    put_v2("/user.slice", "104857600", 90 * MIB, 5 * MIB); /* the page cache goes when memory is wanted */
    expect(15 * MIB, "/sys/fs/cgroup/user.slice/memory.max");
    put_v2("/user.slice", "104857600", 190 * MIB, 0); /* a limit that was lowered */
    expect(0, "/sys/fs/cgroup/user.slice/memory.max");
}
END_TEST

START_TEST(a_container_sees_its_group_as_the_top)
{
    put("/proc/self/cgroup", "0::/\n");
    put("/proc/self/mountinfo", V2_MOUNTS, "/");
    put_v2("", "25165824", 4 * MIB, 0);
    ck_assert_uint_eq(look().left, 20 * MIB);
    put("/proc/self/cgroup", "0::/docker/4711/inner\n"); /* and without a namespace of its own */
    put("/proc/self/mountinfo", V2_MOUNTS, "/docker/4711");
    put_v2("/inner", "8388608", MIB, 0);
    expect(7 * MIB, "/sys/fs/cgroup/inner/memory.max");
    put("/proc/self/cgroup", "0::/../elsewhere\n");
    ck_assert_uint_eq(look().left, 20 * MIB);
}
END_TEST

START_TEST(version_1_counts_as_well)
{
    put("/proc/self/cgroup", "5:cpuset:/other\n4:hugetlb,memory:/mine\n0::/\n");
    put("/proc/self/mountinfo",
        "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,hugetlb,memory\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    put("/sys/fs/cgroup/memory/mine/memory.limit_in_bytes", "25165824\n");
    put("/sys/fs/cgroup/memory/mine/memory.usage_in_bytes", "10485760\n");
    put("/sys/fs/cgroup/memory/mine/memory.stat",
        "cache 9\ninactive_file 1\ntotal_inactive_file 1048576\ntotal_active_file 1048576\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "99\n");
    expect(16 * MIB, "/sys/fs/cgroup/memory/mine/memory.limit_in_bytes");
}
END_TEST

START_TEST(what_says_nothing_limits_nothing)
{
    ck_assert_uint_eq(look().left, UINT64_MAX);
    put("/proc/self/cgroup", "garbage\n::\n0::/x\n");
    ck_assert_uint_eq(look().left, UINT64_MAX);
    put("/proc/self/mountinfo", "no - mount\n" V2_MOUNTS, "/");
    ck_assert_uint_eq(look().left, UINT64_MAX);
    put_v2("/x", "max", 1, 0);
    ck_assert_uint_eq(look().left, UINT64_MAX);
    put("/sys/fs/cgroup/x/memory.max", "lots\n");
    ck_assert_uint_eq(look().left, UINT64_MAX);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cgroup");
    TCase *tcase = tcase_create("cgroup");
    tcase_add_checked_fixture(tcase, make_root, remove_root);
    tcase_add_test(tcase, the_group_with_the_least_room_counts);
    tcase_add_test(tcase, a_container_sees_its_group_as_the_top);
    tcase_add_test(tcase, version_1_counts_as_well);
    tcase_add_test(tcase, what_says_nothing_limits_nothing);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
