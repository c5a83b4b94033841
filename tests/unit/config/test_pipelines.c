/* SPDX-License-Identifier: Apache-2.0 */
/* Sections of pipelines and links: their keys, the places of their values, what is unknown or wrong. */
#include "core/base/error.h"
#include "sandbox.h"
#include "unit/unit.h"

#include <string.h>

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

START_TEST(an_unknown_key_of_a_link_or_pipeline_warns)
{
    sandbox_write("etc/gyre.ini", "[link.words]\nfrm = split.words\n");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     sandbox_text("$/etc/gyre.ini:2: unknown key 'frm' in [link.words], ignored; did you "
                                  "mean 'from'?"));
    sandbox_write("etc/gyre.ini", "[link.words]\ncolour = red\n");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     sandbox_text("$/etc/gyre.ini:2: unknown key 'colour' in [link.words], ignored"));
    sandbox_write("etc/gyre.ini", "[pipeline.words]\ncapacity = 64\n");
    ck_assert_str_eq(
        only_warning(sandbox_config()),
        sandbox_text("$/etc/gyre.ini:2: unknown key 'capacity' in [pipeline.words], ignored; it is "
                     "of [link.NAME], [queue.NAME], [topic.NAME] and [pool.NAME]"));
    sandbox_write("etc/gyre.ini", "[pipelin.words]\nentry = split\n");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     sandbox_text("$/etc/gyre.ini:1: unknown section [pipelin.words], ignored; did you mean "
                                  "[pipeline.words]?"));
    sandbox_write("etc/gyre.ini", "[link.Default]\ncapacity = 64\n");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     sandbox_text("$/etc/gyre.ini:2: [link.Default] is for a link of that very name; did you "
                                  "mean [link.default], which is for all?"));
}
END_TEST

START_TEST(pipelines_and_links_are_configured_by_files_and_the_environment)
{
    sandbox_write("etc/gyre.ini", "[pipeline.words]\nentry = split , tidy\n[link.default]\ncapacity = 64\n"
                                  "[link.words]\nfrom = split.words\nto = count\n");
    sandbox_setenv("GYRE_PIPELINE__WORDS__ANSWER=count");
    const struct gyre_config *config = sandbox_config();
    no_warning(config);
    ck_assert_str_eq(text_of(config, GYRE_SECTION_PIPELINE, "words", "entry"), "split, tidy");
    ck_assert_str_eq(text_of(config, GYRE_SECTION_PIPELINE, "words", "answer"), "count");
    ck_assert_str_eq(origin_of(config, GYRE_SECTION_PIPELINE, "words", "answer"),
                     "environment GYRE_PIPELINE__WORDS__ANSWER");
    ck_assert(!gyre_config_bool(config, GYRE_SECTION_PIPELINE, "words", "links_tight"));
    ck_assert_str_eq(origin_of(config, GYRE_SECTION_LINK, "words", "from"), sandbox_text("$/etc/gyre.ini:6"));
    ck_assert_int_eq(gyre_config_int(config, GYRE_SECTION_LINK, "words", "capacity"), 64);
}
END_TEST

START_TEST(a_pipeline_isolates_the_backends_of_its_entries)
{
    sandbox_write("etc/gyre.ini",
                  "[gyre]\nbackend = cpu\n[pipeline.words]\nentry = split, tidy\nisolation = process\n"
                  "[backend.cpu]\nrestart_limit = 1000\n[pipeline.other]\nentry = deal\n"
                  "[kernel.deal]\nbackend = opencl\n");
    const struct gyre_config *config = sandbox_config();
    no_warning(config); /* restart_limit has an effect */
    ck_assert(gyre_config_isolates(config, "cpu"));
    ck_assert(!gyre_config_isolates(config, "opencl"));
    sandbox_write("etc/gyre.ini",
                  "[gyre]\nbackend = cpu\n[pipeline.words]\nentry = split, tidy\nisolation = process\n"
                  "[kernel.tidy]\nbackend = opencl\n[backend.cpu]\nisolation = none\n");
    config = sandbox_config();
    ck_assert(!gyre_config_isolates(config, "cpu")); /* its own section decides */
    ck_assert(gyre_config_isolates(config, "opencl"));
    sandbox_write("etc/gyre.ini", "[pipeline.words]\nentry = split\nisolation = process\n");
    ck_assert(gyre_config_isolates(sandbox_config(), "opencl")); /* backend = auto */
    sandbox_write("etc/gyre.ini",
                  "[gyre]\nbackend = cpu\n[pipeline.words]\nentry = split\nisolation = process\n"
                  "[backend.opencl]\nrestart_limit = 1000\n");
    ck_assert_str_eq(only_warning(sandbox_config()),
                     sandbox_text("$/etc/gyre.ini:7: restart_limit = 1000 of [backend.opencl] has no effect "
                                  "without isolation = process"));
}
END_TEST

START_TEST(wrong_values_of_pipelines_and_links_name_their_line)
{
    sandbox_write("etc/gyre.ini", "[link.words]\ncapacity = 48\n");
    load_refused(
        NULL, NULL,
        "$/etc/gyre.ini:2: capacity = '48' in [link.words] is not a power of two; expected 0 or a power of "
        "two from 1 to 16777216");
    sandbox_write("etc/gyre.ini", "[pipeline.words]\nentry = split;tidy\n");
    load_refused(
        NULL, NULL,
        "$/etc/gyre.ini:2: entry = 'split;tidy' in [pipeline.words] is not a list of names; expected "
        "names of letters, digits, '_', '-' and '.', separated by commas");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config_pipelines");
    TCase *tcase = tcase_create("pipelines");
    tcase_add_checked_fixture(tcase, sandbox_make, sandbox_remove);
    tcase_add_test(tcase, an_unknown_key_of_a_link_or_pipeline_warns);
    tcase_add_test(tcase, pipelines_and_links_are_configured_by_files_and_the_environment);
    tcase_add_test(tcase, a_pipeline_isolates_the_backends_of_its_entries);
    tcase_add_test(tcase, wrong_values_of_pipelines_and_links_name_their_line);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
