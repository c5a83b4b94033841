/* SPDX-License-Identifier: Apache-2.0 */
/* Which backends there are, what a probe in a child makes of each, what is remembered, and what is chosen. */
#include "core/base/error.h"
#include "core/base/places.h"
#include "core/config/config.h"
#include "core/registry/memory.h"
#include "core/registry/probe.h"
#include "core/registry/registry.h"
#include "core/registry/verdict.h"
#include "gyre/waiting.h"
#include "tests/sanitizers.h"
#include "unit/unit.h"
#include "../../patience.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SETTINGS_MAX = 24 };

/* A configuration of settings alone, its cache in a folder of its own, and the registry made from it. */
struct fixture {
    char folder[64];
    char *settings[SETTINGS_MAX + 1];
    size_t count;
    struct gyre_config *config;
    struct gyre_registry *registry;
};

static struct fixture fixture;

__attribute__((format(printf, 1, 2))) static void set(const char *format, ...)
{
    va_list args;
    ck_assert_uint_lt(fixture.count, SETTINGS_MAX);
    va_start(args, format);
    ck_assert_int_gt(vasprintf(&fixture.settings[fixture.count++], format, args), 0);
    va_end(args);
}

static void close_registry(void)
{
    gyre_registry_destroy(fixture.registry);
    gyre_config_destroy(fixture.config);
    fixture.registry = NULL;
    fixture.config = NULL;
}

static void open_registry(void)
{
    static const char *const no_environment[] = {NULL};
    const struct gyre_config_desc desc = {.api = (const char *const *)fixture.settings,
                                          .environment = no_environment,
                                          .system_folder = "/nonexistent",
                                          .home = fixture.folder};
    close_registry();
    ck_assert_msg(gyre_config_load(&desc, &fixture.config) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_msg(gyre_registry_create(fixture.config, &fixture.registry) == GYRE_OK, "%s",
                  gyre_error_text());
}

static void setup(void)
{
    memset(&fixture, 0, sizeof fixture);
    snprintf(fixture.folder, sizeof fixture.folder, "/tmp/gyre-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(fixture.folder));
    set("plugin_dir=%s", fixture.folder);
    set("cache_dir=%s/cache", fixture.folder);
}

static void teardown(void)
{
    char command[256];
    close_registry();
    for (size_t i = 0; i < fixture.count; i++)
        free(fixture.settings[i]);
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", fixture.folder, fixture.folder);
    ck_assert_int_eq(system(command), 0);
}

/* A backend that is the moody test plugin; each probe of it leaves a byte in a file of its name. */
static void set_moody(const char *name, const char *mood)
{
    set("backend.%s.library=" GYRE_TEST_PLUGINS "moody.so", name);
    set("backend.%s.mood=%s", name, mood);
    set("backend.%s.count=%s/%s.count", name, fixture.folder, name);
}

static int probes(const char *name)
{
    char path[256];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s.count", fixture.folder, name);
    return stat(path, &info) == 0 ? (int)info.st_size : 0;
}

static size_t find(const char *name)
{
    for (size_t i = 0; i < gyre_registry_count(fixture.registry); i++)
        if (strcmp(gyre_registry_at(fixture.registry, i)->name, name) == 0)
            return i;
    ck_abort_msg("there is no candidate '%s'", name);
    return 0;
}

/* Judges anew, as a new process would: with a registry of its own. */
static const struct gyre_candidate *judge(const char *name)
{
    open_registry();
    size_t index = find(name);
    gyre_status status = gyre_registry_judge(fixture.registry, index);
    const struct gyre_candidate *candidate = gyre_registry_at(fixture.registry, index);
    ck_assert_int_eq(status, candidate->status);
    ck_assert(candidate->judged);
    return candidate;
}

#define ck_assert_says(text_, words_)                                                                        \
    ck_assert_msg(strstr(text_, words_) != NULL, "'%s' is not in: %s", words_, text_)

/* ---- verdicts ---- */

START_TEST(working_plugin_is_described)
{
    set_moody("m", "works");
    const struct gyre_candidate *candidate = judge("m");
    ck_assert_msg(candidate->status == GYRE_OK, "%s", candidate->reason);
    ck_assert_str_eq(candidate->plugin_name, "moody");
    ck_assert_str_eq(candidate->build, "test 1");
    ck_assert_int_eq(candidate->score, 7);
    ck_assert_uint_eq(candidate->device_count, 1);
    ck_assert_uint_eq(candidate->abi_major, GYRE_ABI_MAJOR);
    ck_assert_str_eq(candidate->vendor_library, "libmoody.so.1 1.2.3");
    ck_assert_str_eq(candidate->summary, "in the mood for two lines");
    ck_assert_str_eq(candidate->fingerprint, "moody 1.2.3");
    ck_assert_str_eq(candidate->origin, "api");
    ck_assert_uint_gt(candidate->probe_ns, 0);
    ck_assert(!candidate->remembered);
}
END_TEST

static const struct bad_mood {
    const char *mood;
    gyre_status status;
    const char *words[2];
} bad_moods[] = {
    {"refuses", GYRE_UNAVAILABLE, {"no moody device: looked for /dev/moody; plug one in"}},
    {"silent", GYRE_UNAVAILABLE, {"cannot start and does not say why"}},
    {"strange", GYRE_INTERNAL, {"answered its probe with 1234, which is no status"}},
    {"deviceless", GYRE_INTERNAL, {"says that it can start, but with no device"}},
    {"crashes", GYRE_UNAVAILABLE, {"crashed while it was probed (signal 6, Aborted)"}},
    {"hangs", GYRE_UNAVAILABLE, {"did not answer within 1000 ms while it was probed", "probe_timeout_ms"}},
    {"leaves", GYRE_UNAVAILABLE, {"ended its process with exit code 3", "last words: \"fatal: no license\""}},
};

START_TEST(bad_probe_costs_one_sentence)
{
    const struct bad_mood *bad = &bad_moods[_i];
    set("probe_timeout_ms=%d", strcmp(bad->mood, "hangs") == 0 ? 1000 : (int)patiently(9000));
    set_moody("m", bad->mood);
    const struct gyre_candidate *candidate = judge("m");
    ck_assert_int_eq(candidate->status, bad->status);
    for (int i = 0; i < 2 && bad->words[i]; i++)
        ck_assert_says(candidate->reason, bad->words[i]);
    ck_assert_str_eq(gyre_error_text(), candidate->reason);
    ck_assert_uint_eq(candidate->abi_major, GYRE_ABI_MAJOR); /* told also of those that cannot start */
    ck_assert_int_eq(probes("m"), 1);
}
END_TEST

START_TEST(talkative_plugin_does_not_spoil_the_answer)
{
    set_moody("m", "babbles");
    ck_assert_int_eq(judge("m")->status, GYRE_OK);
}
END_TEST

START_TEST(misfit_has_its_sentence_and_its_abi)
{
    set("backend.n.library=" GYRE_TEST_PLUGINS "newer-minor.so");
    const struct gyre_candidate *candidate = judge("n");
    ck_assert_int_eq(candidate->status, GYRE_INCOMPATIBLE);
    ck_assert_says(candidate->reason, "speaks backend ABI 2.999");
    ck_assert_uint_eq(candidate->abi_minor, 999);
}
END_TEST

START_TEST(missing_plugin_names_path_and_origin)
{
    char expected[256];
    set("backend.n.library=gyre-none.so");
    snprintf(
        expected, sizeof expected,
        "plugin '%s/gyre-none.so' does not exist; it is named by api: install it or correct `library`, or "
        "`plugin_dir` = %s (api)",
        fixture.folder, fixture.folder);
    const struct gyre_candidate *candidate = judge("n");
    ck_assert_int_eq(candidate->status, GYRE_NOT_FOUND);
    ck_assert_str_eq(candidate->reason, expected);
}
END_TEST

START_TEST(disabled_backend_is_listed_and_never_probed)
{
    set_moody("m", "works");
    set("backend.m.enabled=false");
    const struct gyre_candidate *candidate = judge("m");
    ck_assert_int_eq(candidate->status, GYRE_UNAVAILABLE);
    ck_assert_str_eq(candidate->reason, "it is disabled by api (enabled = false)");
    ck_assert(!candidate->enabled);
    ck_assert_int_eq(probes("m"), 0);
}
END_TEST

START_TEST(listing_probes_nothing)
{
    set_moody("m", "works");
    open_registry();
    ck_assert_uint_eq(gyre_registry_count(fixture.registry), 1);
    ck_assert(!gyre_registry_at(fixture.registry, 0)->judged);
    ck_assert_int_eq(probes("m"), 0);
}
END_TEST

/* ---- remembering ---- */

START_TEST(verdict_is_remembered_until_a_parameter_changes)
{
    set_moody("m", "works");
    judge("m");
    const struct gyre_candidate *candidate = judge("m");
    ck_assert(candidate->remembered);
    ck_assert_int_eq(candidate->score, 7);
    ck_assert_str_eq(candidate->build, "test 1");
    ck_assert_int_eq(probes("m"), 1);
    set("backend.m.other=changed");
    ck_assert(!judge("m")->remembered);
    ck_assert_int_eq(probes("m"), 2);
}
END_TEST

/* PoCL, say, aborts where a limit leaves no threads: neither that nor its good days are true for other programs. */
START_TEST(verdict_is_remembered_for_the_limits_it_was_made_under)
{
    struct rlimit before, lower;
    set("backend.m.library=" GYRE_TEST_PLUGINS
        "moody.so"); /* it counts nothing: a file that it wrote has changed */
    set("backend.m.mood=works");
    judge("m");
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    lower = (struct rlimit){before.rlim_cur - 1, before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &lower), 0);
    ck_assert(!judge("m")->remembered);
    ck_assert(judge("m")->remembered);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert(judge("m")->remembered);
}
END_TEST

START_TEST(verdict_by_crash_expires)
{
    const gyre_parameter crashes = {.key = "mood", .value = "crashes", .origin = "test"};
    struct gyre_verdict verdict;
    gyre_probe_run(GYRE_TEST_PLUGINS "moody.so", &crashes, 1, patiently(UINT64_C(20000000000)), &verdict);
    ck_assert_says(verdict.reason, "crashed while it was probed");
    ck_assert_int_gt(verdict.expires, (int64_t)time(NULL));
}
END_TEST

static const struct once {
    gyre_status status;
    bool expires;
} onces[] = {{GYRE_EXHAUSTED, true}, {GYRE_AGAIN, true},        {GYRE_TIMEOUT, true},
             {GYRE_LOST, true},      {GYRE_UNAVAILABLE, false}, {GYRE_CONFIG, false}};

START_TEST(verdict_whose_cause_may_pass_expires)
{
    const struct once *once = &onces[_i];
    char number[16], count[256];
    snprintf(number, sizeof number, "%d", (int)once->status);
    snprintf(count, sizeof count, "%s/m.count", fixture.folder);
    const gyre_parameter parameters[] = {{.key = "once", .value = number, .origin = "test"},
                                         {.key = "count", .value = count, .origin = "test"}};
    struct gyre_verdict verdict, recalled;
    ck_assert(gyre_probe_run(GYRE_TEST_PLUGINS "moody.so", parameters, 2, patiently(UINT64_C(20000000000)),
                             &verdict));
    ck_assert_int_eq(verdict.status, once->status);
    ck_assert_int_eq(verdict.expires > (int64_t)time(NULL), once->expires);
    gyre_memory_keep(fixture.folder, GYRE_TEST_PLUGINS "moody.so", parameters, 2, &verdict);
    ck_assert(gyre_memory_recall(fixture.folder, GYRE_TEST_PLUGINS "moody.so", parameters, 2, &recalled));
    ck_assert_int_eq(recalled.expires, verdict.expires);
    const int64_t others[] = {-1, 86400}; /* later; and when the clock was set back a day */
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        verdict.expires = (int64_t)time(NULL) + others[i];
        gyre_memory_keep(fixture.folder, GYRE_TEST_PLUGINS "moody.so", parameters, 2, &verdict);
        ck_assert(
            !gyre_memory_recall(fixture.folder, GYRE_TEST_PLUGINS "moody.so", parameters, 2, &recalled));
    }
    ck_assert(gyre_probe_run(GYRE_TEST_PLUGINS "moody.so", parameters, 2, patiently(UINT64_C(20000000000)),
                             &verdict));
    ck_assert_msg(verdict.status == GYRE_OK && verdict.expires == 0, "%s", verdict.reason);
}
END_TEST

#if !UNDER_ADDRESS_SANITIZER && !UNDER_THREAD_SANITIZER /* which reserve terabytes of addresses */
/* Runs the helper with many parameters and so many bytes of addresses; false when it did not come to an answer. */
static bool probe_within(rlim_t limit, char answer[GYRE_VERDICT_TEXT_MAX])
{
    enum { MANY = 10000 };
    static char *words[3 + 3 * MANY];
    char helper[PATH_MAX];
    int pipes[2], state;
    size_t used = 0;
    snprintf(helper, sizeof helper, "%s/%s", gyre_place_helpers(), GYRE_PROBE_PROGRAM);
    for (size_t i = 2; i + 1 < sizeof words / sizeof words[0]; i++)
        words[i] = "k";
    words[0] = helper;
    words[1] = GYRE_TEST_PLUGINS "moody.so";
    ck_assert_int_eq(pipe(pipes), 0);
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit limits = {limit, RLIM_INFINITY};
        dup2(pipes[1], STDOUT_FILENO);
        if (setrlimit(RLIMIT_AS, &limits) == 0)
            execv(helper, words);
        _exit(127);
    }
    close(pipes[1]);
    for (ssize_t got = 1; got > 0; used += (size_t)got)
        got = read(pipes[0], answer + used, GYRE_VERDICT_TEXT_MAX - 1 - used);
    answer[used] = '\0';
    close(pipes[0]);
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

START_TEST(helper_without_memory_says_so)
{
    int exhausted = 0;
    for (rlim_t kib = 1024; kib < 65536 && exhausted < 3; kib += 64) {
        char answer[GYRE_VERDICT_TEXT_MAX];
        struct gyre_verdict verdict;
        if (!probe_within(kib * 1024, answer))
            continue;
        ck_assert_msg(gyre_verdict_read(answer, &verdict), "with %llu KiB: %s", (unsigned long long)kib,
                      answer);
        if (verdict.status != GYRE_EXHAUSTED)
            break;
        exhausted += strstr(verdict.reason, "no memory to probe a plugin") != NULL;
    }
    ck_assert_int_gt(exhausted, 0);
}
END_TEST
#endif

START_TEST(verdict_of_no_is_remembered_too)
{
    set_moody("m", "crashes");
    judge("m");
    const struct gyre_candidate *candidate = judge("m");
    ck_assert(candidate->remembered);
    ck_assert_says(candidate->reason, "crashed while it was probed");
    ck_assert_int_eq(probes("m"), 1);
}
END_TEST

START_TEST(verdict_is_forgotten_when_the_plugin_changes)
{
    char command[512];
    set("backend.m.library=copy.so");
    set("backend.m.count=%s/m.count", fixture.folder);
    snprintf(command, sizeof command, "cp %smoody.so %s/copy.so", GYRE_TEST_PLUGINS, fixture.folder);
    ck_assert_int_eq(system(command), 0);
    judge("m");
    ck_assert(judge("m")->remembered);
    snprintf(command, sizeof command, "touch -d @1000000000 %s/copy.so", fixture.folder);
    ck_assert_int_eq(system(command), 0);
    ck_assert(!judge("m")->remembered);
    ck_assert_int_eq(probes("m"), 2);
}
END_TEST

START_TEST(verdict_is_forgotten_when_what_it_watches_changes)
{
    char command[256];
    set_moody("m", "refuses");
    set("backend.m.watches=%s/driver:$GYRE_TEST_DRIVER", fixture.folder);
    judge("m");
    ck_assert(judge("m")->remembered);
    snprintf(command, sizeof command, "touch %s/driver", fixture.folder);
    ck_assert_int_eq(system(command), 0);
    ck_assert(!judge("m")->remembered);
    ck_assert(judge("m")->remembered);
    setenv("GYRE_TEST_DRIVER", "2", 1);
    ck_assert(!judge("m")->remembered);
    unsetenv("GYRE_TEST_DRIVER");
    ck_assert_int_eq(probes("m"), 3);
}
END_TEST

/* As a compiler in a folder of its own, of which another version is installed there. */
START_TEST(verdict_is_forgotten_when_a_file_that_a_parameter_names_changes)
{
    char command[256];
    set_moody("m", "refuses");
    set("backend.m.other=%s/compiler.so", fixture.folder);
    judge("m");
    ck_assert(judge("m")->remembered);
    snprintf(command, sizeof command, "echo 1 >%s/compiler.so", fixture.folder);
    ck_assert_int_eq(system(command), 0);
    ck_assert(!judge("m")->remembered);
    ck_assert(judge("m")->remembered);
    snprintf(command, sizeof command, "touch -d @1000000000 %s/compiler.so", fixture.folder);
    ck_assert_int_eq(system(command), 0);
    ck_assert(!judge("m")->remembered);
    ck_assert_int_eq(probes("m"), 3);
}
END_TEST

/* The loader reads the variable when a program starts, so that this one is not touched by the change. */
START_TEST(refusal_is_forgotten_when_a_library_appears)
{
    char path[256], library[128];
    const char *before = getenv("LD_LIBRARY_PATH");
    char *saved = before ? strdup(before) : NULL;
    set_moody("m", "refuses");
    set_moody("w", "works");
    snprintf(path, sizeof path, "/nonexistent:%s/later", fixture.folder);
    snprintf(library, sizeof library, "%s/later", fixture.folder);
    setenv("LD_LIBRARY_PATH", path, 1);
    judge("m");
    ck_assert(judge("m")->remembered);
    ck_assert_int_eq(mkdir(library, 0700), 0); /* the folder itself, too, may come later */
    ck_assert(!judge("m")->remembered);
    ck_assert(judge("m")->remembered);
    judge("w");
    snprintf(library, sizeof library, "%s/later/libvendor.so.1", fixture.folder);
    usleep(20000); /* times of files are those of the last tick */
    ck_assert_int_eq(symlink("elsewhere", library), 0);
    ck_assert(!judge("m")->remembered);
    ck_assert(judge("m")->remembered);
    ck_assert(judge("w")->remembered);
    if (saved)
        setenv("LD_LIBRARY_PATH", saved, 1);
    else
        unsetenv("LD_LIBRARY_PATH");
    free(saved);
    ck_assert_int_eq(probes("m"), 3);
}
END_TEST

/* A driver that this process uses is not asked again by a child, which might see it otherwise. */
START_TEST(verdict_of_a_backend_in_use_is_held)
{
    set_moody("m", "works");
    set("remember_probes=false");
    set("backend.m.watches=$GYRE_TEST_DRIVER");
    const struct gyre_candidate *candidate = judge("m"); /* which makes the registry */
    gyre_registry_hold(fixture.registry, candidate);
    setenv("GYRE_TEST_DRIVER", "3", 1);
    ck_assert(judge("m")->remembered);
    ck_assert_str_eq(judge("m")->fingerprint, "moody 1.2.3");
    ck_assert_int_eq(probes("m"), 1);
    gyre_registry_forget(fixture.registry, 0);
    ck_assert_int_eq(gyre_registry_judge(fixture.registry, 0), GYRE_OK);
    ck_assert_int_eq(probes("m"), 2);
    unsetenv("GYRE_TEST_DRIVER");
}
END_TEST

START_TEST(forgetting_probes_again)
{
    set_moody("m", "works");
    judge("m");
    ck_assert(judge("m")->remembered);
    gyre_registry_forget(fixture.registry, 0);
    ck_assert_int_eq(gyre_registry_judge(fixture.registry, 0), GYRE_OK);
    ck_assert(!gyre_registry_at(fixture.registry, 0)->remembered);
    ck_assert_int_eq(probes("m"), 2);
}
END_TEST

START_TEST(switched_off_memory_remembers_nothing)
{
    set_moody("m", "works");
    set("remember_probes=false");
    judge("m");
    ck_assert(!judge("m")->remembered);
    ck_assert_int_eq(probes("m"), 2);
}
END_TEST

/* The one file of remembered verdicts. */
static void verdict_file(char path[PATH_MAX])
{
    char folder[256];
    int files = 0;
    snprintf(folder, sizeof folder, "%s/cache/verdicts", fixture.folder);
    DIR *stream = opendir(folder);
    ck_assert_ptr_nonnull(stream);
    for (struct dirent *entry; (entry = readdir(stream));)
        if (entry->d_name[0] != '.') {
            snprintf(path, PATH_MAX, "%s/%s", folder, entry->d_name);
            files++;
        }
    closedir(stream);
    ck_assert_int_eq(files, 1);
}

static void overwrite(const char *path, size_t offset, int byte, size_t length)
{
    FILE *file = fopen(path, "r+b");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, (long)offset, SEEK_SET), 0);
    ck_assert_int_eq(fputc(byte, file), byte);
    fclose(file);
    ck_assert_int_eq(truncate(path, (off_t)length), 0);
}

START_TEST(damaged_memory_is_rebuilt)
{
    char path[PATH_MAX];
    struct stat info;
    set_moody("m", "works");
    judge("m");
    verdict_file(path);
    ck_assert_int_eq(stat(path, &info), 0);
    size_t size = (size_t)info.st_size;
    const struct {
        size_t offset, length;
        int byte;
    } damages[] = {{0, size, 'z'}, {20, size, 'z'}, {size / 2, size, '!'}, {size - 2, size, '\0'},
                   {5, 0, 'x'},    {5, 40, 'x'},    {5, size - 1, 'x'}};
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        overwrite(path, damages[i].offset, damages[i].byte, damages[i].length);
        ck_assert_msg(!judge("m")->remembered, "damage %zu went unseen", i);
        ck_assert_msg(judge("m")->remembered, "damage %zu was not repaired", i);
    }
}
END_TEST

START_TEST(memory_that_cannot_be_written_is_fine)
{
    char path[256];
    set_moody("m", "works");
    snprintf(path, sizeof path, "%s/cache", fixture.folder);
    FILE *file = fopen(path, "w"); /* a file where the folder should be: holds also for root */
    ck_assert_ptr_nonnull(file);
    fclose(file);
    ck_assert_int_eq(judge("m")->status, GYRE_OK);
    ck_assert_int_eq(judge("m")->status, GYRE_OK);
    ck_assert_int_eq(probes("m"), 2);
}
END_TEST

START_TEST(remembered_verdict_costs_less_than_a_millisecond)
{
    uint64_t best = UINT64_MAX;
    set_moody("m", "works");
    judge("m");
    for (int i = 0; i < 20; i++) {
        open_registry();
        uint64_t start = gyre_clock_ns();
        ck_assert_int_eq(gyre_registry_judge(fixture.registry, 0), GYRE_OK);
        uint64_t took = gyre_clock_ns() - start;
        best = took < best ? took : best;
    }
    ck_assert_uint_lt(best, patiently(500000));
}
END_TEST

START_TEST(verdict_text_survives_a_round_trip_and_nothing_else_is_one)
{
    struct gyre_verdict verdict = {.status = GYRE_LOST, .score = -5, .device_count = 3, .expires = 9}, read;
    char text[GYRE_VERDICT_TEXT_MAX], small[64];
    gyre_verdict_refuse(&verdict, GYRE_LOST, "two\nlines");
    ck_assert_uint_gt(gyre_verdict_write(&verdict, text, sizeof text), 0);
    ck_assert(gyre_verdict_read(text, &read));
    ck_assert_str_eq(read.reason, "two lines");
    ck_assert_int_eq(read.score, -5);
    ck_assert_uint_eq(gyre_verdict_write(&verdict, small, sizeof small), 0);
    size_t length = strlen(text);
    memcpy(text + length, "more\n", sizeof "more\n");
    ck_assert(!gyre_verdict_read(text, &read));
    ck_assert(!gyre_verdict_read("", &read));
    verdict.status = GYRE_OK; /* and no device */
    verdict.device_count = 0;
    ck_assert_uint_gt(gyre_verdict_write(&verdict, text, sizeof text), 0);
    ck_assert(!gyre_verdict_read(text, &read));
}
END_TEST

/* ---- choosing ---- */

static const struct gyre_candidate *choose(const char *name, gyre_status expected, char why[1024])
{
    const struct gyre_candidate *candidate = (const struct gyre_candidate *)1;
    open_registry();
    ck_assert_msg(gyre_registry_choose(fixture.registry, name, &candidate, why, 1024) == expected, "%s",
                  gyre_error_text());
    return candidate;
}

START_TEST(auto_takes_the_best_that_can_start_and_says_why)
{
    char why[1024];
    set_moody("a", "refuses");
    set("backend.a.priority=100");
    set_moody("b", "works");
    set("backend.c.library=" GYRE_TEST_PLUGINS "fake.so");
    ck_assert_str_eq(choose("auto", GYRE_OK, why)->name, "b");
    ck_assert_str_eq(why, "b: priority 0, score 7; a cannot start: no moody device: looked for /dev/moody; "
                          "c has priority 0, score 5");
    set("backend.c.priority=1");
    ck_assert_str_eq(choose(NULL, GYRE_OK, why)->name, "c");
}
END_TEST

START_TEST(auto_without_any_that_can_start_lists_the_reasons)
{
    char why[1024];
    set_moody("a", "refuses");
    set_moody("b", "works");
    set("backend.b.enabled=no");
    ck_assert_ptr_null(choose("auto", GYRE_UNAVAILABLE, why));
    ck_assert_says(
        gyre_error_text(),
        "no backend can start: a cannot start: no moody device: looked for /dev/moody; plug one in");
    ck_assert_says(gyre_error_text(), "b cannot start: it is disabled by api");
}
END_TEST

START_TEST(auto_without_any_backend_says_where_it_looked)
{
    char why[1024];
    ck_assert_ptr_null(choose("auto", GYRE_UNAVAILABLE, why));
    ck_assert_says(gyre_error_text(),
                   "no section [backend.<name>] is configured, and the plugin folder '/tmp/gyre");
    ck_assert_says(gyre_error_text(),
                   "set GYRE_PLUGIN_DIR to the folder of the backends, or GYRE_DROPIN_DIR");
    ck_assert_ptr_null(choose("cpu", GYRE_NOT_FOUND, why));
    ck_assert_says(gyre_error_text(),
                   "there is no backend 'cpu', nor any other: no section [backend.<name>]");
}
END_TEST

START_TEST(explicit_choice_that_cannot_start_is_an_error)
{
    char why[1024];
    set_moody("a", "refuses");
    set_moody("b", "works");
    ck_assert_ptr_null(choose("a", GYRE_UNAVAILABLE, why));
    ck_assert_str_eq(gyre_error_text(),
                     "backend 'a' cannot start: no moody device: looked for /dev/moody; plug one in");
    ck_assert_int_eq(probes("b"), 0);
    ck_assert_str_eq(choose("b", GYRE_OK, why)->name, "b");
    ck_assert_str_eq(why, "b was chosen by name");
}
END_TEST

START_TEST(unknown_backend_gets_the_nearest_name)
{
    char why[1024];
    set_moody("gamma", "works");
    ck_assert_ptr_null(choose("gama", GYRE_NOT_FOUND, why));
    ck_assert_str_eq(gyre_error_text(), "there is no backend 'gama'; did you mean 'gamma'?; known: gamma");
    ck_assert_ptr_null(choose("zzzzzz", GYRE_NOT_FOUND, why));
    ck_assert_str_eq(gyre_error_text(), "there is no backend 'zzzzzz'; known: gamma");
}
END_TEST

START_TEST(who_names_a_kind_of_device_hears_what_drives_it)
{
    char why[1024];
    set_moody("cpu", "works");
    ck_assert_ptr_null(choose("gpu", GYRE_NOT_FOUND, why));
    ck_assert_str_eq(gyre_error_text(), "there is no backend 'gpu'; known: cpu");
    set_moody("a", "works");
    set_moody("b", "works");
    set("backend.a.drives=gpu wide");
    set("backend.b.drives=other gpu");
    ck_assert_ptr_null(choose("GPU", GYRE_NOT_FOUND, why));
    ck_assert_str_eq(
        gyre_error_text(),
        "there is no backend 'GPU': that is a word for devices, which a, b drive, and backend = auto takes the best that can start; known: a, b, cpu");
    ck_assert_ptr_null(choose("wide", GYRE_NOT_FOUND, why));
    ck_assert_says(gyre_error_text(), "'wide': that is a word for devices, which a drives, and");
    ck_assert_ptr_null(choose("wid", GYRE_NOT_FOUND, why));
    ck_assert_says(gyre_error_text(), "'wid'; known");
    ck_assert_ptr_null(choose("cpus", GYRE_NOT_FOUND, why));
    ck_assert_says(gyre_error_text(), "did you mean 'cpu'?");
}
END_TEST

START_TEST(backend_that_was_not_built_says_why)
{
    char why[1024], link[256];
    set("backend.lame.library=gyre-lame.so");
    set("backend.lame.not_built=lame.h was not found; install lame-dev");
    set_moody("m", "works");
    ck_assert_int_eq(judge("lame")->status, GYRE_NOT_FOUND);
    ck_assert(!judge("lame")->built && judge("m")->built);
    ck_assert_str_eq(judge("lame")->reason, "it was not built: lame.h was not found; install lame-dev");
    ck_assert_ptr_null(choose("lame", GYRE_UNAVAILABLE, why));
    ck_assert_str_eq(gyre_error_text(),
                     "backend 'lame' cannot start: it was not built: lame.h was not found; install lame-dev");
    ck_assert_str_eq(choose("auto", GYRE_OK, why)->name, "m");
    ck_assert_says(why, "lame cannot start: it was not built: lame.h was not found");
    snprintf(link, sizeof link, "%s/gyre-lame.so", fixture.folder); /* another package has it */
    ck_assert_int_eq(symlink(GYRE_TEST_PLUGINS "fake.so", link), 0);
    ck_assert(judge("lame")->built && judge("lame")->status == GYRE_OK);
}
END_TEST

START_TEST(plugin_that_no_drop_in_names_is_listed_and_chosen_only_by_name)
{
    char why[1024], link[256];
    snprintf(link, sizeof link, "%s/gyre-lone.so", fixture.folder);
    ck_assert_int_eq(symlink(GYRE_TEST_PLUGINS "fake.so", link), 0);
    ck_assert_ptr_null(choose("auto", GYRE_UNAVAILABLE, why));
    ck_assert_says(gyre_error_text(), "lone lies in the plugin folder, but no drop-in names it");
    ck_assert_str_eq(choose("lone", GYRE_OK, why)->plugin_name, "fake");
}
END_TEST

START_TEST(relative_library_is_never_looked_for_in_the_current_directory)
{
    ck_assert_int_eq(chdir(fixture.folder), 0);
    ck_assert_int_eq(mkdir("plugins-elsewhere", 0700), 0);
    ck_assert_int_eq(symlink(GYRE_TEST_PLUGINS "fake.so", "gyre-here.so"), 0);
    set("plugin_dir=%s/plugins-elsewhere", fixture.folder);
    set("backend.h.library=gyre-here.so");
    ck_assert_int_eq(judge("h")->status, GYRE_NOT_FOUND);
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("registry");
    TCase *tcase = tcase_create("registry");
    tcase_set_timeout(tcase, 40);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, working_plugin_is_described);
    tcase_add_loop_test(tcase, bad_probe_costs_one_sentence, 0, sizeof bad_moods / sizeof bad_moods[0]);
    tcase_add_test(tcase, talkative_plugin_does_not_spoil_the_answer);
    tcase_add_test(tcase, misfit_has_its_sentence_and_its_abi);
    tcase_add_test(tcase, missing_plugin_names_path_and_origin);
    tcase_add_test(tcase, disabled_backend_is_listed_and_never_probed);
    tcase_add_test(tcase, listing_probes_nothing);
    tcase_add_test(tcase, verdict_is_remembered_until_a_parameter_changes);
    tcase_add_test(tcase, verdict_is_remembered_for_the_limits_it_was_made_under);
    tcase_add_test(tcase, verdict_by_crash_expires);
    tcase_add_loop_test(tcase, verdict_whose_cause_may_pass_expires, 0, sizeof onces / sizeof onces[0]);
#if !UNDER_ADDRESS_SANITIZER && !UNDER_THREAD_SANITIZER
    tcase_add_test(tcase, helper_without_memory_says_so);
#endif
    tcase_add_test(tcase, verdict_of_no_is_remembered_too);
    tcase_add_test(tcase, verdict_is_forgotten_when_the_plugin_changes);
    tcase_add_test(tcase, verdict_is_forgotten_when_what_it_watches_changes);
    tcase_add_test(tcase, verdict_is_forgotten_when_a_file_that_a_parameter_names_changes);
    tcase_add_test(tcase, refusal_is_forgotten_when_a_library_appears);
    tcase_add_test(tcase, verdict_of_a_backend_in_use_is_held);
    tcase_add_test(tcase, forgetting_probes_again);
    tcase_add_test(tcase, switched_off_memory_remembers_nothing);
    tcase_add_test(tcase, damaged_memory_is_rebuilt);
    tcase_add_test(tcase, memory_that_cannot_be_written_is_fine);
    tcase_add_test(tcase, remembered_verdict_costs_less_than_a_millisecond);
    tcase_add_test(tcase, verdict_text_survives_a_round_trip_and_nothing_else_is_one);
    tcase_add_test(tcase, auto_takes_the_best_that_can_start_and_says_why);
    tcase_add_test(tcase, auto_without_any_that_can_start_lists_the_reasons);
    tcase_add_test(tcase, auto_without_any_backend_says_where_it_looked);
    tcase_add_test(tcase, explicit_choice_that_cannot_start_is_an_error);
    tcase_add_test(tcase, unknown_backend_gets_the_nearest_name);
    tcase_add_test(tcase, who_names_a_kind_of_device_hears_what_drives_it);
    tcase_add_test(tcase, backend_that_was_not_built_says_why);
    tcase_add_test(tcase, plugin_that_no_drop_in_names_is_listed_and_chosen_only_by_name);
    tcase_add_test(tcase, relative_library_is_never_looked_for_in_the_current_directory);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
