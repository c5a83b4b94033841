/* SPDX-License-Identifier: Apache-2.0 */
/* Layers, drop-ins, sections by name, environment and settings,
 * warnings: what takes effect and where from. */
#include "core/base/error.h"
#include "sandbox.h"
#include "unit/unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *text_of(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                           const char *key)
{
    return gyre_config_text(config, kind, name, key);
}

static const char *origin_of(const struct gyre_config *config, enum gyre_section_kind kind, const char *name,
                             const char *key)
{
    const struct gyre_config_value *value = gyre_config_find(config, kind, name, key);
    ck_assert_ptr_nonnull(value);
    return value->origin;
}

static const char *backend(const struct gyre_config *config)
{
    return text_of(config, GYRE_SECTION_GYRE, NULL, "backend");
}

static const char *backend_origin(const struct gyre_config *config)
{
    return origin_of(config, GYRE_SECTION_GYRE, NULL, "backend");
}

static const char *only_warning(const struct gyre_config *config)
{
    size_t count;
    const char *const *warnings = gyre_config_warnings(config, &count);
    ck_assert_uint_eq(count, 1);
    return warnings[0];
}

static void no_warning(const struct gyre_config *config)
{
    size_t count;
    const char *const *warnings = gyre_config_warnings(config, &count);
    ck_assert_msg(count == 0, "%s", count ? warnings[0] : "");
}

static void load_refused(const char *config_path, const char *const *command_line, const char *sentence)
{
    const struct gyre_config *config;
    ck_assert_int_eq(sandbox_load(config_path, command_line, NULL, &config), GYRE_CONFIG);
    ck_assert_str_eq(gyre_error_text(), sandbox_text(sentence));
}

START_TEST(without_files_everything_is_a_default)
{
    const struct gyre_config *config = sandbox_config();
    size_t count;
    const struct gyre_config_value *values = gyre_config_values(config, &count);
    for (size_t i = 0; i < count; i++)
        ck_assert_str_eq(values[i].origin, "default");
    ck_assert_str_eq(backend(config), "auto");
    ck_assert_int_eq(gyre_config_int(config, GYRE_SECTION_GYRE, NULL, "cache_size"), 256 << 20);
    ck_assert(gyre_config_ns(config, GYRE_SECTION_KERNEL, "any", "stop_timeout_ms") == 1000000000);
    ck_assert(gyre_config_bool(config, GYRE_SECTION_KERNEL, "any", "active"));
    ck_assert_str_eq(text_of(config, GYRE_SECTION_GYRE, NULL, "cache_dir"),
                     sandbox_text("$/home/.cache/gyre"));
    ck_assert_str_eq(text_of(config, GYRE_SECTION_GYRE, NULL, "plugin_dir"), sandbox_text("$/lib/plugins"));
    ck_assert_str_eq(text_of(config, GYRE_SECTION_GYRE, NULL, "dropin_dir"),
                     sandbox_text("$/lib/plugins.d:$/etc/plugins.d:$/home/.config/gyre/plugins.d"));
    no_warning(config);
}
END_TEST

/* Daemons call clearenv(), which leaves no list at all. */
START_TEST(a_program_without_an_environment_gets_defaults)
{
    const struct gyre_config_desc desc = {.system_folder = sandbox_text("$/etc"),
                                          .home = sandbox_text("$/lib")};
    struct gyre_config *config = NULL;
    ck_assert_int_eq(clearenv(), 0);
    ck_assert_int_eq(gyre_config_load(&desc, &config), GYRE_OK);
    ck_assert_str_eq(backend(config), "auto");
    gyre_config_destroy(config);
}
END_TEST

START_TEST(each_layer_beats_the_ones_below_it)
{
    const struct gyre_config *config;
    const char *command_line[] = {"backend=line", NULL}, *api[] = {"gyre.backend=api", NULL};
    sandbox_write("lib/gyre.ini", "[gyre]\nbackend = vendor\n");
    ck_assert_str_eq(backend(sandbox_config()), "vendor");
    sandbox_write("xdg2/gyre/gyre.ini", "[gyre]\nbackend = xdg2\n");
    ck_assert_str_eq(backend(sandbox_config()), "xdg2");
    sandbox_write("xdg/gyre/gyre.ini", "[gyre]\nbackend = xdg\n");
    ck_assert_str_eq(backend(sandbox_config()), "xdg");
    sandbox_write("etc/gyre.ini", "[gyre]\nbackend = system\n");
    ck_assert_str_eq(backend(sandbox_config()), "system");
    sandbox_write("lib/plugins.d/a.ini", "[gyre]\nbackend = dropin-a\n");
    ck_assert_str_eq(backend(sandbox_config()), "dropin-a");
    sandbox_write("lib/plugins.d/b.ini", "[gyre]\nbackend = dropin-b\n");
    ck_assert_str_eq(backend(sandbox_config()), "dropin-b");
    sandbox_write("home/.config/gyre/gyre.ini", "[gyre]\nbackend = user\n");
    ck_assert_str_eq(backend_origin(sandbox_config()), sandbox_text("$/home/.config/gyre/gyre.ini:2"));
    sandbox_write("named.ini", "\n[gyre]\nbackend = named\n");
    ck_assert_int_eq(sandbox_load("$/named.ini", NULL, NULL, &config), GYRE_OK);
    ck_assert_str_eq(backend_origin(config), sandbox_text("$/named.ini:3"));
    sandbox_setenv("GYRE_BACKEND=environment");
    ck_assert_int_eq(sandbox_load("$/named.ini", NULL, NULL, &config), GYRE_OK);
    ck_assert_str_eq(backend_origin(config), "environment GYRE_BACKEND");
    ck_assert_int_eq(sandbox_load("$/named.ini", command_line, NULL, &config), GYRE_OK);
    ck_assert_str_eq(backend(config), "line");
    ck_assert_str_eq(backend_origin(config), "command line");
    ck_assert_int_eq(sandbox_load("$/named.ini", command_line, api, &config), GYRE_OK);
    ck_assert_str_eq(backend(config), "api");
    ck_assert_str_eq(backend_origin(config), "api");
}
END_TEST

START_TEST(gyre_config_names_a_file_that_the_option_beats)
{
    const struct gyre_config *config;
    sandbox_write("a.ini", "[gyre]\nbackend = a\n");
    sandbox_write("b.ini", "[gyre]\nstrict = true\n");
    sandbox_setenv("GYRE_CONFIG=$/a.ini");
    ck_assert_str_eq(backend(sandbox_config()), "a");
    ck_assert_int_eq(sandbox_load("$/b.ini", NULL, NULL, &config), GYRE_OK);
    ck_assert_str_eq(backend(config), "auto");
}
END_TEST

START_TEST(a_named_file_must_exist)
{
    const struct gyre_config *config;
    const char *api[] = {"strict=true", NULL};
    ck_assert_int_eq(sandbox_load("$/no.ini", NULL, api, &config), GYRE_CONFIG);
    ck_assert_str_eq(
        gyre_error_text(),
        sandbox_text("$/no.ini: there is no such file; it was named by config_path of gyre_open"));
    load_refused("$/no.ini", NULL, "$/no.ini: there is no such file; it was named by --config");
    sandbox_setenv("GYRE_CONFIG=$/none.ini");
    load_refused(NULL, NULL,
                 "$/none.ini: there is no such file; it was named by the environment's GYRE_CONFIG");
}
END_TEST

START_TEST(a_file_with_an_error_stops_the_load)
{
    sandbox_write("etc/gyre.ini", "[gyre]\nbackend = cpu\n oops\n");
    load_refused(NULL, NULL,
                 "$/etc/gyre.ini:3: the line is indented; start it in the first column (a value cannot "
                 "continue on a second line)");
}
END_TEST

START_TEST(a_directory_in_a_files_place_stops_the_load)
{
    sandbox_write("etc/gyre.ini/x", "");
    load_refused(NULL, NULL, "$/etc/gyre.ini: is a directory; expected a configuration file");
}
END_TEST

START_TEST(a_wrong_value_names_place_key_and_expectation)
{
    const char *size[] = {"gyre.cache_size=9999999999999999999", NULL};
    const char *lanes[] = {"kernel.add.lanes=-1", NULL};
    load_refused(
        NULL, size,
        "command line: cache_size = '9999999999999999999' in [gyre] does not fit into 64 bits; expected a "
        "size such as 65536, 64 KiB or 1 GiB, from 0 to 70368744177664");
    load_refused(NULL, lanes,
                 "command line: lanes = '-1' in [kernel.add] is out of range; "
                 "expected a whole number from 0 to 1048576");
    sandbox_write("etc/gyre.ini", "[queue.orders]\ncapacity = 1000\n");
    load_refused(NULL, NULL,
                 "$/etc/gyre.ini:2: capacity = '1000' in [queue.orders] is not a power of two; expected "
                 "0 or a power of two from 1 to 1073741824");
    sandbox_write("etc/gyre.ini", "[queue.default]\npolicy = blok\n");
    load_refused(NULL, NULL,
                 "$/etc/gyre.ini:2: policy = 'blok' in [queue.default] is no choice; expected one of "
                 "block, reject, drop_oldest, drop_newest");
    sandbox_write("etc/gyre.ini", "[backend.cpu]\nthreads = many\n");
    load_refused(NULL, NULL,
                 "$/etc/gyre.ini:2: threads = 'many' in [backend.cpu] is not a whole number; expected a "
                 "whole number from 0 to 1024");
}
END_TEST

/* The whole path counts, also of one that is relative to its file. */
START_TEST(a_socket_whose_path_is_too_long_is_refused_where_it_is_configured)
{
    char text[256], path[108] = "/";
    memset(path + 1, 's', sizeof path - 2);
    snprintf(text, sizeof text, "[gyre]\nsocket = %s\n", path);
    sandbox_write("etc/gyre.ini", text);
    ck_assert_str_eq(text_of(sandbox_config(), GYRE_SECTION_GYRE, NULL, "socket"), path);
    snprintf(text, sizeof text, "[gyre]\nsocket = %s\n", path + 1);
    sandbox_write("etc/gyre.ini", text);
    snprintf(
        text, sizeof text,
        "$/etc/gyre.ini:2: socket = '%s' in [gyre] is a path that is too long; expected a path of at most "
        "107 bytes from / on",
        path + 1);
    load_refused(NULL, NULL, text);
}
END_TEST

START_TEST(a_wrong_value_in_the_environment_names_the_variable)
{
    sandbox_setenv("GYRE_STRICT=perhaps");
    load_refused(NULL, NULL,
                 "environment GYRE_STRICT: strict = 'perhaps' in [gyre] is neither true nor false; "
                 "expected true, yes, on, 1, false, no, off or 0");
}
END_TEST

START_TEST(a_wrong_value_is_refused_even_when_it_is_overridden)
{
    const char *line[] = {"strict=false", NULL};
    sandbox_write("etc/gyre.ini", "[gyre]\nstrict = perhaps\n");
    load_refused(NULL, line,
                 "$/etc/gyre.ini:2: strict = 'perhaps' in [gyre] is neither true nor false; expected "
                 "true, yes, on, 1, false, no, off or 0");
}
END_TEST

/* ---- drop-ins ---- */

START_TEST(a_dropin_of_a_later_folder_masks_its_namesake)
{
    sandbox_write("lib/plugins.d/x.ini", "[backend.x]\nlibrary = gyre-x.so\npriority = 1\n");
    sandbox_write("etc/plugins.d/x.ini", "[backend.x]\nlibrary = /opt/x.so\n");
    const struct gyre_config *config = sandbox_config();
    size_t count;
    const struct gyre_config_manifest *manifests = gyre_config_manifests(config, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(manifests[0].state, GYRE_MANIFEST_MASKED);
    ck_assert_str_eq(manifests[0].path, sandbox_text("$/lib/plugins.d/x.ini"));
    ck_assert_str_eq(manifests[0].by, sandbox_text("$/etc/plugins.d/x.ini"));
    ck_assert_int_eq(manifests[1].state, GYRE_MANIFEST_READ);
    ck_assert_str_eq(manifests[1].folder, sandbox_text("$/etc/plugins.d"));
    ck_assert_str_eq(text_of(config, GYRE_SECTION_BACKEND, "x", "library"), "/opt/x.so");
    ck_assert_int_eq(gyre_config_int(config, GYRE_SECTION_BACKEND, "x", "priority"), 0);
}
END_TEST

START_TEST(a_link_to_the_null_device_disables_a_dropin)
{
    sandbox_write("lib/plugins.d/x.ini", "[backend.x]\nlibrary = gyre-x.so\n");
    sandbox_link("/dev/null", "home/.config/gyre/plugins.d/x.ini");
    const struct gyre_config *config = sandbox_config();
    size_t count;
    const struct gyre_config_manifest *manifests = gyre_config_manifests(config, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(manifests[0].state, GYRE_MANIFEST_MASKED);
    ck_assert_int_eq(manifests[1].state, GYRE_MANIFEST_DISABLED);
    const char *const *names = gyre_config_names(config, GYRE_SECTION_BACKEND, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(names[0], "cpu");
}
END_TEST

START_TEST(only_ini_files_are_dropins)
{
    sandbox_write("lib/plugins.d/README", "not an ini file\n");
    sandbox_write("lib/plugins.d/.hidden.ini", "not read\n");
    sandbox_write("lib/plugins.d/x.ini.bak", "not read\n");
    size_t count;
    gyre_config_manifests(sandbox_config(), &count);
    ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(a_dangling_dropin_stops_the_load)
{
    sandbox_link("/nowhere/x.ini", "lib/plugins.d/x.ini");
    load_refused(NULL, NULL, "$/lib/plugins.d/x.ini: this drop-in leads to no file; remove the link");
}
END_TEST

START_TEST(dropin_dir_replaces_the_usual_folders)
{
    sandbox_write("lib/plugins.d/x.ini", "[backend.x]\nlibrary = gyre-x.so\n");
    sandbox_write("mine/y.ini", "[backend.y]\nlibrary = gyre-y.so\n");
    sandbox_setenv("GYRE_DROPIN_DIR=$/mine");
    const struct gyre_config *config = sandbox_config();
    size_t count;
    const char *const *names = gyre_config_names(config, GYRE_SECTION_BACKEND, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(names[1], "y");
}
END_TEST

START_TEST(a_named_dropin_folder_must_exist)
{
    sandbox_setenv("GYRE_DROPIN_DIR=$/mine");
    load_refused(NULL, NULL,
                 "environment GYRE_DROPIN_DIR: the drop-in folder "
                 "$/mine cannot be read: No such file or directory");
}
END_TEST

/* A daemon that left root behind, and kept its HOME. */
static void become_somebody_else(const char *closed)
{
    char command[4096];
    snprintf(command, sizeof command, "chmod -R a+rX '%s'", sandbox_text("$"));
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(chmod(sandbox_text(closed), 0), 0);
    if (geteuid() == 0)
        ck_assert_int_eq(seteuid(65534), 0);
}

static void be_oneself(const char *closed)
{
    if (getuid() == 0)
        ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(chmod(sandbox_text(closed), 0755), 0);
}

START_TEST(the_home_of_another_user_is_passed_over)
{
    size_t count;
    const struct gyre_config *config;
    const char *strict[] = {"strict=true", NULL};
    sandbox_write("etc/gyre.ini", "[gyre]\nbackend = system\n");
    sandbox_write("home/.config/gyre/gyre.ini", "[gyre]\nbackend = user\n");
    sandbox_write("home/.config/gyre/plugins.d/x.ini", "[gyre]\nbackend = drop-in\n");
    become_somebody_else("$/home");
    const gyre_status status = sandbox_load(NULL, NULL, NULL, &config);
    be_oneself("$/home");
    ck_assert_msg(status == GYRE_OK, "%s", gyre_error_text());
    ck_assert_str_eq(backend(config), "system");
    const char *const *warnings = gyre_config_warnings(config, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_ptr_nonnull(
        strstr(warnings[0], sandbox_text("$/home/.config/gyre/gyre.ini: cannot be read by user ")));
    ck_assert_ptr_nonnull(
        strstr(warnings[1], sandbox_text("$/home/.config/gyre/plugins.d: cannot be read by user ")));
    become_somebody_else("$/home");
    ck_assert_int_eq(sandbox_load(NULL, strict, NULL, &config), GYRE_CONFIG);
    be_oneself("$/home");
}
END_TEST

START_TEST(a_named_file_of_another_user_stops_the_load)
{
    const struct gyre_config *config;
    sandbox_write("home/named.ini", "[gyre]\nbackend = user\n");
    sandbox_setenv("GYRE_CONFIG=$/home/named.ini");
    become_somebody_else("$/home");
    const gyre_status status = sandbox_load(NULL, NULL, NULL, &config);
    be_oneself("$/home");
    ck_assert_int_eq(status, GYRE_CONFIG);
    ck_assert_str_eq(gyre_error_text(), sandbox_text("$/home/named.ini: cannot be read: Permission denied"));
}
END_TEST

START_TEST(an_unreadable_dropin_masks_none)
{
    sandbox_write("lib/plugins.d/x.ini", "[gyre]\nbackend = vendor\n");
    sandbox_write("etc/plugins.d/x.ini", "[gyre]\nbackend = system\n");
    become_somebody_else("$/etc/plugins.d/x.ini");
    const struct gyre_config *config = sandbox_config();
    be_oneself("$/etc/plugins.d/x.ini");
    ck_assert_str_eq(backend(config), "vendor");
    ck_assert_ptr_nonnull(
        strstr(only_warning(config), sandbox_text("$/etc/plugins.d/x.ini: cannot be read by user ")));
}
END_TEST

START_TEST(dropin_dir_inside_a_dropin_is_a_warning)
{
    sandbox_write("lib/plugins.d/x.ini", "[gyre]\ndropin_dir = /elsewhere\n");
    const struct gyre_config *config = sandbox_config();
    ck_assert_str_eq(only_warning(config),
                     sandbox_text("$/lib/plugins.d/x.ini:2: "
                                  "dropin_dir has no effect inside a drop-in, ignored"));
    ck_assert_str_eq(origin_of(config, GYRE_SECTION_GYRE, NULL, "dropin_dir"), "default");
}
END_TEST

/* ---- sections ---- */

START_TEST(a_named_section_beats_default_from_any_layer)
{
    const struct gyre_config *config;
    const char *line[] = {"queue.default.capacity=8", "queue.default.policy=reject", NULL};
    sandbox_write("lib/gyre.ini", "[queue.orders]\ncapacity = 64\n");
    ck_assert_int_eq(sandbox_load(NULL, line, NULL, &config), GYRE_OK);
    ck_assert_int_eq(gyre_config_int(config, GYRE_SECTION_QUEUE, "orders", "capacity"), 64);
    ck_assert_str_eq(text_of(config, GYRE_SECTION_QUEUE, "orders", "policy"), "reject");
    ck_assert_int_eq(gyre_config_int(config, GYRE_SECTION_QUEUE, "other", "capacity"), 8);
    ck_assert_int_eq(gyre_config_int(config, GYRE_SECTION_QUEUE, NULL, "capacity"), 8);
    ck_assert_str_eq(text_of(config, GYRE_SECTION_QUEUE, "orders", "idle"), "adaptive");
}
END_TEST

START_TEST(values_come_in_a_stable_order)
{
    sandbox_write("etc/gyre.ini", "[queue.z]\n[queue.a]\n[kernel.k]\nlanes = 2\n");
    size_t count, row_count;
    const struct gyre_config_value *values = gyre_config_values(sandbox_config(), &count);
    const struct gyre_config_row *rows = gyre_config_rows(&row_count);
    const char *expected[] = {
        "gyre",          "backend.default", "backend.cpu", "kernel.default",   "kernel.k",
        "queue.default", "queue.a",         "queue.z",     "pipeline.default", "link.default",
        "topic.default", "pool.default",    "observe",     "cluster"};
    size_t at = 0;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const char *dot = strchr(expected[i], '.'), *name = dot ? dot + 1 : "";
        enum gyre_section_kind kind = values[at].kind;
        for (size_t r = 0; r < row_count; r++) {
            if (!gyre_config_row_fits(&rows[r], kind, name))
                continue;
            ck_assert_str_eq(values[at].section, expected[i]);
            ck_assert_str_eq(values[at].key, rows[r].key);
            at++;
        }
    }
    ck_assert_uint_eq(at, count);
}
END_TEST

START_TEST(an_unknown_key_warns_with_the_nearest_name)
{
    sandbox_write("etc/gyre.ini", "[queue.orders]\n\ncapasity = 8\n");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     sandbox_text("$/etc/gyre.ini:3: unknown key 'capasity' in [queue.orders], "
                                  "ignored; did you mean 'capacity'?"));
    sandbox_write("etc/gyre.ini", "[gyre]\nzzzzzz = 8\n");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     sandbox_text("$/etc/gyre.ini:2: unknown key 'zzzzzz' in [gyre], ignored"));
    sandbox_write("etc/gyre.ini", "[gyre]\ncapacity = 8\n");
    ck_assert_str_eq(
        only_warning(sandbox_config()),
        sandbox_text("$/etc/gyre.ini:2: unknown key 'capacity' in [gyre], ignored; it is of [queue.NAME], "
                     "[link.NAME], [topic.NAME] and [pool.NAME]"));
    sandbox_write("etc/gyre.ini", "[pool.desks]\nto = desk\n");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     sandbox_text("$/etc/gyre.ini:2: unknown key 'to' in [pool.desks], ignored; it is of "
                                  "[link.NAME] and [topic.NAME]"));
    sandbox_write("etc/gyre.ini", "[queue.orders]\nstrict = yes\n");
    ck_assert_str_eq(
        only_warning(sandbox_config()),
        sandbox_text("$/etc/gyre.ini:2: unknown key 'strict' in [queue.orders], ignored; it is of [gyre]"));
}
END_TEST

START_TEST(an_unknown_section_warns_once)
{
    sandbox_write("etc/gyre.ini", "[gyer]\nbackend = cpu\nstrict = false\n");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     sandbox_text("$/etc/gyre.ini:1: unknown section [gyer], ignored; did you mean [gyre]?"));
    sandbox_write("etc/gyre.ini", "[qeue.a]\n");
    ck_assert_str_eq(
        only_warning(sandbox_config()),
        sandbox_text("$/etc/gyre.ini:1: unknown section [qeue.a], ignored; did you mean [queue.a]?"));
    sandbox_write("etc/gyre.ini", "[queue]\n");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     sandbox_text("$/etc/gyre.ini:1: unknown section [queue], "
                                  "ignored; did you mean [queue.default]?"));
    sandbox_write("etc/gyre.ini", "[zebras]\n");
    ck_assert_str_eq(
        only_warning(sandbox_config()),
        sandbox_text(
            "$/etc/gyre.ini:1: unknown section [zebras], ignored; expected [gyre], "
            "[observe], [backend.NAME], [kernel.NAME], [queue.NAME], [pipeline.NAME], [link.NAME], [topic.NAME] "
            "or [pool.NAME]"));
}
END_TEST

START_TEST(strict_makes_warnings_errors)
{
    sandbox_write("etc/gyre.ini", "[gyre]\nstrict = true\nbakend = cpu\n");
    load_refused(NULL, NULL,
                 "$/etc/gyre.ini:3: unknown key 'bakend' in [gyre], ignored; did you mean 'backend'? "
                 "(strict = true, from $/etc/gyre.ini:2, makes this an error)");
    sandbox_write("etc/gyre.ini", "[gyre]\nbakend = cpu\nstrct = yes\n");
    sandbox_setenv("GYRE_STRICT=1");
    load_refused(NULL, NULL,
                 "$/etc/gyre.ini:2: unknown key 'bakend' in [gyre], ignored; did you mean 'backend'?, and "
                 "1 more (strict = true, from environment GYRE_STRICT, makes them errors)");
}
END_TEST

START_TEST(a_default_in_another_case_is_told)
{
    sandbox_write("etc/gyre.ini", "[gyre]\nstrict = true\n[queue.Default]\ncapacity = 32\n");
    ck_assert_str_eq(
        only_warning(sandbox_config()),
        sandbox_text("$/etc/gyre.ini:4: [queue.Default] is for a queue of that very name; did you "
                     "mean [queue.default], which is for all?"));
    sandbox_write("etc/gyre.ini", "[kernel.DEFAULT]\nlanes = 4\n[queue.defaults]\ncapacity = 32\n");
    ck_assert_str_eq(
        only_warning(sandbox_config()),
        sandbox_text("$/etc/gyre.ini:2: [kernel.DEFAULT] is for a kernel of that very name; did you "
                     "mean [kernel.default], which is for all?"));
    sandbox_write("etc/gyre.ini", "[queue.default]\ncapacity = 32\n");
    no_warning(sandbox_config());
}
END_TEST

/* A setting that needs another one of its section, which nobody made. */
START_TEST(what_needs_another_setting_is_told)
{
    sandbox_write("etc/gyre.ini", "[queue.default]\nfsync = never\n[queue.a]\ncapacity = 8\n");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     sandbox_text("$/etc/gyre.ini:2: fsync = never of [queue.default] has no effect without "
                                  "durability = journal"));
    sandbox_write("etc/gyre.ini", "[queue.default]\nfsync = never\n[queue.a]\ndurability = journal\n");
    no_warning(sandbox_config());
    sandbox_write("etc/gyre.ini", "[queue.a]\nlevels = 1\nage_ms = 5\n[queue.b]\nlevels = 2\nage_ms = 5\n");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     sandbox_text("$/etc/gyre.ini:3: age_ms = 5 of [queue.a] has no effect without levels"));
    sandbox_write("etc/gyre.ini", "[kernel.a]\nreplay_log = 16 MiB\ncheckpoint_buffers = true\n");
    no_warning(sandbox_config()); /* they say what holds anyway */
}
END_TEST

START_TEST(what_needs_a_recording_or_a_check_is_told)
{
    sandbox_write("etc/gyre.ini",
                  "[queue.a]\nrecord_failures = 5\n[queue.b]\nrecord = b\nrecord_failures = 5\n");
    ck_assert_str_eq(
        only_warning(sandbox_config()),
        sandbox_text("$/etc/gyre.ini:2: record_failures = 5 of [queue.a] has no effect without record"));
    sandbox_write("etc/gyre.ini", "[backend.cpu]\nswitches = 2\n");
    ck_assert_str_eq(
        only_warning(sandbox_config()),
        sandbox_text("$/etc/gyre.ini:2: switches = 2 of [backend.cpu] has no effect without check"));
    sandbox_write("etc/gyre.ini", "[backend.cpu]\ncrash_step = 3\n");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     sandbox_text("$/etc/gyre.ini:2: crash_step = 3 of [backend.cpu] has no effect without "
                                  "check = crash"));
    sandbox_write("etc/gyre.ini", "[backend.cpu]\ntraffic_file = t\n");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     sandbox_text("$/etc/gyre.ini:2: traffic_file = t of [backend.cpu] has no effect without "
                                  "check = traffic"));
    sandbox_write("etc/gyre.ini", "[backend.cpu]\nseed = 7\n");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     sandbox_text("$/etc/gyre.ini:2: seed = 7 of [backend.cpu] has no effect without check"));
    sandbox_write("etc/gyre.ini", "[backend.cpu]\nseeds = 9\n");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     sandbox_text("$/etc/gyre.ini:2: seeds = 9 of [backend.cpu] has no effect without "
                                  "check = schedule"));
    sandbox_write("etc/gyre.ini", "[backend.cpu]\ncheck = order\nswitches = 2\nturns_file = t\n");
    no_warning(sandbox_config());
    sandbox_write("etc/gyre.ini", "[backend.cpu]\ncheck = crash\ncrash_file = c\ncrash_message = 1\n");
    no_warning(sandbox_config());
}
END_TEST

START_TEST(what_has_no_effect_is_told)
{
    sandbox_write("etc/gyre.ini", "[gyre]\nstrict = true\n[backend.x]\nstandby = true\n");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     sandbox_text("$/etc/gyre.ini:4: standby = true of [backend.x] has no effect "
                                  "without isolation = process"));
    sandbox_write("etc/gyre.ini", "[kernel.sum]\ncheckpoints = true\n");
    const struct gyre_config *config = sandbox_config();
    ck_assert(!gyre_config_may_put_back(config));
    ck_assert_str_eq(
        only_warning(config),
        sandbox_text("$/etc/gyre.ini:2: checkpoints = true of [kernel.sum] has no effect: nothing "
                     "puts them back without isolation = process for its backend, or durability "
                     "= journal for its queue"));
    sandbox_write("etc/gyre.ini", "[kernel.sum]\ncheckpoints = true\n[queue.sum]\ndurability = journal\n");
    no_warning(sandbox_config());
    sandbox_write("etc/gyre.ini", "[kernel.sum]\ncheckpoints = true\n[backend.default]\nisolation = process\n"
                                  "standby = true\n");
    no_warning(sandbox_config());
}
END_TEST

/* ---- keys of a backend ---- */

START_TEST(who_names_the_library_may_introduce_keys)
{
    sandbox_write("lib/plugins.d/x.ini", "[backend.x]\nlibrary = gyre-x.so\nzeal = 3\nspeed = 1\n");
    sandbox_write("etc/gyre.ini", "[backend.x]\nspeed = 2\n");
    const struct gyre_config *config = sandbox_config();
    no_warning(config);
    ck_assert_str_eq(text_of(config, GYRE_SECTION_BACKEND, "x", "speed"), "1");
    sandbox_write("home/.config/gyre/gyre.ini", "[backend.x]\nspeed = 5\n");
    config = sandbox_config();
    ck_assert_str_eq(text_of(config, GYRE_SECTION_BACKEND, "x", "speed"), "5");
    size_t count;
    const struct gyre_config_value *values = gyre_config_section(config, GYRE_SECTION_BACKEND, "x", &count);
    ck_assert_str_eq(values[count - 2].key, "speed");
    ck_assert_str_eq(values[count - 1].key, "zeal");
    ck_assert_ptr_null(values[count - 1].row);
}
END_TEST

START_TEST(a_key_that_nobody_introduced_is_unknown)
{
    sandbox_write("lib/plugins.d/x.ini", "[backend.x]\nlibrary = gyre-x.so\nspeed = 1\n");
    sandbox_write("etc/gyre.ini", "[backend.x]\nsped = 2\n[backend.cpu]\nthread = 2\n"
                                  "[backend.gpu]\nspeed = 3\nthreads = 2\n");
    const struct gyre_config *config = sandbox_config();
    size_t count;
    const char *const *warnings = gyre_config_warnings(config, &count);
    ck_assert_uint_eq(count, 4);
    ck_assert_str_eq(warnings[0], sandbox_text("$/etc/gyre.ini:2: unknown key 'sped' in [backend.x], "
                                               "ignored; did you mean 'speed'?"));
    ck_assert_str_eq(warnings[1], sandbox_text("$/etc/gyre.ini:4: unknown key 'thread' in [backend.cpu], "
                                               "ignored; did you mean 'threads'?"));
    ck_assert_str_eq(warnings[2], sandbox_text("$/etc/gyre.ini:6: unknown key 'speed' in [backend.gpu], "
                                               "ignored; it is of [backend.x]"));
    ck_assert_str_eq(warnings[3], sandbox_text("$/etc/gyre.ini:7: unknown key 'threads' in [backend.gpu], "
                                               "ignored; it is of [backend.cpu]"));
    ck_assert_ptr_null(gyre_config_find(config, GYRE_SECTION_BACKEND, "x", "sped"));
}
END_TEST

/* ---- environment and settings ---- */

START_TEST(variables_name_sections_with_two_underscores)
{
    sandbox_setenv("GYRE_BACKEND__CPU__COMPILER_OPTIONS=-O1");
    sandbox_setenv("GYRE_KERNEL__vecAdd__LANES=7");
    sandbox_setenv("GYRE_QUEUE__DEFAULT__IDLE=park");
    const struct gyre_config *config = sandbox_config();
    no_warning(config);
    ck_assert_str_eq(text_of(config, GYRE_SECTION_BACKEND, "cpu", "compiler_options"), "-O1");
    ck_assert_str_eq(origin_of(config, GYRE_SECTION_BACKEND, "cpu", "compiler_options"),
                     "environment GYRE_BACKEND__CPU__COMPILER_OPTIONS");
    ck_assert_int_eq(gyre_config_int(config, GYRE_SECTION_KERNEL, "vecAdd", "lanes"), 7);
    ck_assert_int_eq(gyre_config_int(config, GYRE_SECTION_QUEUE, "x", "idle"), 3);
}
END_TEST

START_TEST(variables_that_are_no_settings_are_left_alone)
{
    sandbox_setenv("GYRE_BACKEND=");
    sandbox_setenv("GYRE_TEST_LONG=1");
    sandbox_setenv("GYRE_REQUIRE=1");
    sandbox_setenv("GYRES=1");
    sandbox_setenv("GYRE_=1");
    const struct gyre_config *config = sandbox_config();
    no_warning(config);
    ck_assert_str_eq(backend_origin(config), "default");
}
END_TEST

START_TEST(a_mistyped_variable_warns)
{
    sandbox_setenv("GYRE_BAKEND=cpu");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     "environment GYRE_BAKEND: unknown key 'bakend' in [gyre], "
                     "ignored; did you mean 'backend'?");
}
END_TEST

START_TEST(a_variable_that_is_no_text_is_refused)
{
    sandbox_setenv("GYRE_CACHE_DIR=/tmp/\xFF");
    load_refused(NULL, NULL,
                 "environment GYRE_CACHE_DIR: the value of 'cache_dir' in [gyre] is not UTF-8 text "
                 "without control characters");
}
END_TEST

START_TEST(a_setting_without_key_is_refused)
{
    const char *bare[] = {"backend", NULL}, *none[] = {"=cpu", NULL}, *odd[] = {"gy re.backend=cpu", NULL};
    load_refused(NULL, bare,
                 "command line: 'backend' is no setting; "
                 "expected section.key=value, such as backend.cpu.threads=2");
    load_refused(NULL, none,
                 "command line: '=cpu' is no setting; "
                 "expected section.key=value, such as backend.cpu.threads=2");
    load_refused(NULL, odd,
                 "command line: 'gy re' and 'backend' are no section and key; "
                 "expected letters, digits, '_', '-' and '.'");
}
END_TEST

START_TEST(the_later_of_two_settings_wins)
{
    const struct gyre_config *config;
    const char *line[] = {"backend=a", "backend=b", "backend.x.y.library=lib=1", NULL};
    ck_assert_int_eq(sandbox_load(NULL, line, NULL, &config), GYRE_OK);
    ck_assert_str_eq(backend(config), "b");
    ck_assert_str_eq(text_of(config, GYRE_SECTION_BACKEND, "x.y", "library"), "lib=1");
}
END_TEST

START_TEST(a_relative_path_is_relative_to_its_file)
{
    sandbox_write("etc/gyre.ini", "[gyre]\ncache_dir = ../cache\nplugin_dir = more:~/mine\n");
    const struct gyre_config *config = sandbox_config();
    ck_assert_str_eq(text_of(config, GYRE_SECTION_GYRE, NULL, "cache_dir"), sandbox_text("$/etc/../cache"));
    ck_assert_str_eq(text_of(config, GYRE_SECTION_GYRE, NULL, "plugin_dir"),
                     sandbox_text("$/etc/more:$/home/mine"));
}
END_TEST

START_TEST(a_relative_config_file_says_where_its_paths_lead)
{
    const struct gyre_config *config;
    sandbox_write("here/sub/named.ini", "[gyre]\ncache_dir = cache\n");
    int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(chdir(sandbox_text("$/here")), 0);
    gyre_status status = sandbox_load("sub/named.ini", NULL, NULL, &config);
    ck_assert_int_eq(fchdir(before), 0);
    close(before);
    ck_assert_int_eq(status, GYRE_OK);
    ck_assert_str_eq(text_of(config, GYRE_SECTION_GYRE, NULL, "cache_dir"), sandbox_text("$/here/sub/cache"));
    ck_assert_str_eq(origin_of(config, GYRE_SECTION_GYRE, NULL, "cache_dir"), "sub/named.ini:2");
}
END_TEST

START_TEST(relative_xdg_folders_are_ignored)
{
    sandbox_setenv("XDG_CONFIG_HOME=here");
    sandbox_setenv("XDG_CACHE_HOME=$/cache");
    sandbox_write("home/.config/gyre/gyre.ini", "[gyre]\nbackend = user\n");
    const struct gyre_config *config = sandbox_config();
    ck_assert_str_eq(backend(config), "user");
    ck_assert_str_eq(text_of(config, GYRE_SECTION_GYRE, NULL, "cache_dir"), sandbox_text("$/cache/gyre"));
}
END_TEST

START_TEST(unknown_keys_read_as_nothing)
{
    const struct gyre_config *config = sandbox_config();
    ck_assert_ptr_null(gyre_config_find(config, GYRE_SECTION_QUEUE, "a", "threds"));
    ck_assert_str_eq(text_of(config, GYRE_SECTION_QUEUE, "a", "threds"), "");
    ck_assert_int_eq(gyre_config_int(config, GYRE_SECTION_QUEUE, "a", "threds"), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        without_files_everything_is_a_default,
        a_program_without_an_environment_gets_defaults,
        each_layer_beats_the_ones_below_it,
        gyre_config_names_a_file_that_the_option_beats,
        a_named_file_must_exist,
        a_file_with_an_error_stops_the_load,
        a_directory_in_a_files_place_stops_the_load,
        a_wrong_value_names_place_key_and_expectation,
        a_socket_whose_path_is_too_long_is_refused_where_it_is_configured,
        a_wrong_value_in_the_environment_names_the_variable,
        a_wrong_value_is_refused_even_when_it_is_overridden,
        a_dropin_of_a_later_folder_masks_its_namesake,
        a_link_to_the_null_device_disables_a_dropin,
        only_ini_files_are_dropins,
        a_dangling_dropin_stops_the_load,
        dropin_dir_replaces_the_usual_folders,
        a_named_dropin_folder_must_exist,
        the_home_of_another_user_is_passed_over,
        a_named_file_of_another_user_stops_the_load,
        an_unreadable_dropin_masks_none,
        dropin_dir_inside_a_dropin_is_a_warning,
        a_named_section_beats_default_from_any_layer,
        values_come_in_a_stable_order,
        an_unknown_key_warns_with_the_nearest_name,
        an_unknown_section_warns_once,
        strict_makes_warnings_errors,
        a_default_in_another_case_is_told,
        what_has_no_effect_is_told,
        what_needs_another_setting_is_told,
        what_needs_a_recording_or_a_check_is_told,
        who_names_the_library_may_introduce_keys,
        a_key_that_nobody_introduced_is_unknown,
        variables_name_sections_with_two_underscores,
        variables_that_are_no_settings_are_left_alone,
        a_mistyped_variable_warns,
        a_variable_that_is_no_text_is_refused,
        a_setting_without_key_is_refused,
        the_later_of_two_settings_wins,
        a_relative_path_is_relative_to_its_file,
        a_relative_config_file_says_where_its_paths_lead,
        relative_xdg_folders_are_ignored,
        unknown_keys_read_as_nothing,
    };
    Suite *suite = suite_create("config_load");
    TCase *tcase = tcase_create("load");
    tcase_add_checked_fixture(tcase, sandbox_make, sandbox_remove);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
