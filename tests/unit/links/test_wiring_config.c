/* SPDX-License-Identifier: Apache-2.0 */
/* From sections [pipeline.NAME] and [link.NAME] to the descriptor of a pipeline: what is taken, from where, what is refused. */
#include "core/api/tools.h"
#include "core/base/error.h"
#include "core/links/wiring_config.h"
#include "unit/config/sandbox.h"
#include "unit/unit.h"

#include <string.h>

static struct gyre_wiring_config *wiring;

static gyre_status create(const gyre_pipeline_desc *given)
{
    gyre_wiring_config_destroy(wiring);
    return gyre_wiring_config_create(sandbox_config(), NULL, given, &wiring);
}

static gyre_status create_named(const char *name)
{
    return create(&(gyre_pipeline_desc){.size = sizeof(gyre_pipeline_desc), .name = name});
}

static void created(const char *name)
{
    ck_assert_msg(create_named(name) == GYRE_OK, "%s", gyre_error_text());
}

static void refused(const char *name, gyre_status status, const char *sentence)
{
    ck_assert_int_eq(create_named(name), status);
    ck_assert_ptr_null(wiring);
    ck_assert_str_eq(gyre_error_text(), sandbox_text(sentence));
}

static void has_link(size_t index, const char *name, const char *from, const char *to, uint64_t capacity)
{
    ck_assert_uint_lt(index, wiring->desc.link_count);
    const gyre_link_desc *link = &wiring->desc.links[index];
    ck_assert_str_eq(link->name, name);
    ck_assert_str_eq(link->from, from);
    ck_assert_str_eq(link->to, to);
    ck_assert_uint_eq(link->capacity, capacity);
    ck_assert_uint_eq(link->size, sizeof *link);
}

/* Of a link the configuration keeps the place of its level, and a type of its target leads to the links behind it. */
START_TEST(a_link_has_a_level_and_may_lead_to_a_type)
{
    sandbox_write("etc/gyre.ini",
                  "[pipeline.p]\nentry = split\n[link.a]\nfrom = split.words\nto = desk:word\nlevel = 3\n"
                  "[link.b]\nfrom = desk.told\nto = book\n"
                  "[topic.t]\nfrom = split.all\nto = book\ntaps = audit\nlevel = 2\n");
    ck_assert_msg(create_named("p") == GYRE_OK, "%s", gyre_error_text());
    ck_assert_uint_eq(wiring->desc.link_count, 4);
    ck_assert_str_eq(wiring->desc.links[0].to, "desk:word");
    ck_assert_uint_eq(wiring->desc.links[0].level, 3);
    ck_assert_str_eq(wiring->links[0].level, sandbox_text("$/etc/gyre.ini:6"));
    ck_assert_str_eq(wiring->desc.links[1].from, "desk.told");
    ck_assert(wiring->desc.links[1].level == 0 && !wiring->links[1].level);
    ck_assert(wiring->desc.links[2].level == 2 && wiring->desc.links[2].slow == GYRE_SLOW_WAIT);
    ck_assert(wiring->desc.links[3].level == 0 && wiring->desc.links[3].slow == GYRE_SLOW_TAP);
}
END_TEST

static void destroy_wiring(void)
{
    gyre_wiring_config_destroy(wiring);
    wiring = NULL;
}

START_TEST(a_pipeline_has_the_links_that_its_entries_lead_to)
{
    sandbox_write("etc/gyre.ini", "[pipeline.words]\nentry = split\nanswer = count, log\nlinks_tight = yes\n"
                                  "[link.words]\nfrom = split.words\nto = sort\ncapacity = 64\n"
                                  "[link.other]\nfrom = price.ticks\nto = book\n"
                                  "[link.errors]\nfrom = split.errors\nto = nowhere\n"
                                  "[link.back]\nfrom = sort.sorted\nto = count\n");
    created("words");
    ck_assert_uint_eq(wiring->desc.entry_count, 1);
    ck_assert_str_eq(wiring->desc.entries[0], "split");
    ck_assert_uint_eq(wiring->desc.answer_count, 2);
    ck_assert_str_eq(wiring->desc.answers[0], "count");
    ck_assert_str_eq(wiring->desc.answers[1], "log");
    ck_assert_uint_eq(wiring->desc.links_tight, 1);
    ck_assert_uint_eq(wiring->desc.link_count, 3);
    has_link(0, "back", "sort.sorted", "count", 0);
    has_link(1, "errors", "split.errors", "nowhere", 0);
    has_link(2, "words", "split.words", "sort", 64);
}
END_TEST

static void has_subscriber(size_t index, const char *from, const char *to, gyre_slow slow)
{
    has_link(index, "prices", from, to, 32);
    ck_assert_str_eq(wiring->desc.links[index].topic, "prices");
    ck_assert_int_eq(wiring->desc.links[index].slow, slow);
}

/* A link for each port and subscriber; of several ports, those of kernels that an entry or a link leads to. */
START_TEST(a_topic_has_a_link_for_each_subscriber)
{
    sandbox_write("etc/gyre.ini",
                  "[pipeline.p]\nentry = feed\n[topic.prices]\nfrom = feed.ticks, risk.more, lost.x\n"
                  "to = risk, book\ntaps = audit\nslow = wait, cut\ncapacity = 32\n"
                  "[link.a]\nfrom = audit.all\nto = nowhere\n");
    created("p");
    ck_assert_uint_eq(wiring->desc.link_count, 7);
    has_link(0, "a", "audit.all", "nowhere", 0);
    ck_assert_ptr_null(wiring->desc.links[0].topic);
    for (size_t i = 0; i < 2; i++) {
        const char *from = i ? "risk.more" : "feed.ticks";
        has_subscriber(1 + i * 3, from, "risk", GYRE_SLOW_WAIT);
        has_subscriber(2 + i * 3, from, "book", GYRE_SLOW_CUT);
        has_subscriber(3 + i * 3, from, "audit", GYRE_SLOW_TAP);
    }
    ck_assert_str_eq(wiring->links[1].from, sandbox_text("$/etc/gyre.ini:4"));
    ck_assert_str_eq(wiring->links[1].to, sandbox_text("$/etc/gyre.ini:5"));
    ck_assert_str_eq(wiring->links[3].to, sandbox_text("$/etc/gyre.ini:6"));
    ck_assert_str_eq(wiring->links[3].capacity, sandbox_text("$/etc/gyre.ini:8"));
}
END_TEST

START_TEST(a_topic_that_is_none_is_refused_at_its_line)
{
    static const char *const wrong[][2] = {
        {"to = b\n",
         "$/etc/gyre.ini:4: [topic.t] has no from; expected KERNEL.PORT, ...: the ports whose messages the topic has"},
        {"from = a.x\n",
         "$/etc/gyre.ini:4: [topic.t] has no subscribers; expected kernels in to, or in taps (for programs alone: a link with to = host)"},
        {"from = a.x, b\nto = c\n",
         "$/etc/gyre.ini:4: from = 'b' in [topic.t] names no port; expected KERNEL.PORT"},
        {"from = a.x\nto = b, c\nslow = drop, keep\n",
         "$/etc/gyre.ini:6: slow in [topic.t]: expected wait, drop or cut, found 'keep'"},
        {"from = a.x\nto = b\nslow = drop, cut\n",
         "$/etc/gyre.ini:6: slow in [topic.t]: expected one word, or one for each of the 1 kernels of to; found 2"},
        {"from = a.x\nto = b\n[topic.u]\nfrom = a.x\nto = c\n",
         "$/etc/gyre.ini:7: link 'u': port a.x has a link already, 't' ($/etc/gyre.ini:4); a port leads to one "
         "kernel, or to one topic or pool with several"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "[pipeline.p]\nentry = a\n[topic.t]\n%s", wrong[i][0]);
        sandbox_write("etc/gyre.ini", text);
        refused("p", GYRE_CONFIG, wrong[i][1]);
    }
}
END_TEST

static void has_member(size_t index, const char *from, const char *to, gyre_pool_order which)
{
    has_link(index, "work", from, to, 32);
    const gyre_link_desc *link = &wiring->desc.links[index];
    ck_assert_ptr_null(link->topic);
    ck_assert_str_eq(link->pool, "work");
    ck_assert_int_eq(link->order, which);
}

START_TEST(a_pool_has_a_link_for_each_member_and_port)
{
    for (int oldest = 0; oldest < 2; oldest++) {
        const gyre_pool_order which = oldest ? GYRE_POOL_OLDEST_FIRST : GYRE_POOL_NEWEST_FIRST;
        char text[256];
        snprintf(text, sizeof text,
                 "[pipeline.p]\nentry = deal\n[pool.work]\nfrom = deal.jobs, b.more, lost.x\n"
                 "members = a, b\ncapacity = 32\n%s",
                 oldest ? "order = oldest\n" : "");
        sandbox_write("etc/gyre.ini", text);
        created("p");
        ck_assert_uint_eq(wiring->desc.link_count, 4);
        for (size_t i = 0; i < 2; i++) {
            has_member(2 * i, i ? "b.more" : "deal.jobs", "a", which);
            has_member(2 * i + 1, i ? "b.more" : "deal.jobs", "b", which);
        }
        ck_assert_str_eq(wiring->links[1].from, sandbox_text("$/etc/gyre.ini:4"));
        ck_assert_str_eq(wiring->links[1].to, sandbox_text("$/etc/gyre.ini:5"));
        ck_assert_str_eq(wiring->links[3].capacity, sandbox_text("$/etc/gyre.ini:6"));
    }
}
END_TEST

START_TEST(a_pool_that_is_none_is_refused_at_its_line)
{
    static const char *const wrong[][2] = {
        {"members = b\n",
         "$/etc/gyre.ini:4: [pool.t] has no from; expected KERNEL.PORT, ...: the ports whose messages are the work"},
        {"from = a.x\n", "$/etc/gyre.ini:4: [pool.t] has no members; expected the kernels that take from it"},
        {"from = a.x, b\nmembers = c\n",
         "$/etc/gyre.ini:4: from = 'b' in [pool.t] names no port; expected KERNEL.PORT"},
        {"from = a.x\nmembers = b\n[link.u]\nfrom = a.x\nto = c\n",
         "$/etc/gyre.ini:4: link 't': port a.x has a link already, 'u' ($/etc/gyre.ini:7); a port leads to one "
         "kernel, or to one topic or pool with several"},
        {"from = a.x\nmembers = b\n[pool.u]\nfrom = a.x\nmembers = c\n",
         "$/etc/gyre.ini:7: link 'u': port a.x has a link already, 't' ($/etc/gyre.ini:4); a port leads to one "
         "kernel, or to one topic or pool with several"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "[pipeline.p]\nentry = a\n[pool.t]\n%s", wrong[i][0]);
        sandbox_write("etc/gyre.ini", text);
        refused("p", GYRE_CONFIG, wrong[i][1]);
    }
}
END_TEST

START_TEST(each_setting_has_its_place)
{
    sandbox_write("etc/gyre.ini", "[pipeline.words]\nentry = split\n"
                                  "[link.words]\nfrom = split.words\nto = count\n");
    sandbox_setenv("GYRE_LINK__WORDS__CAPACITY=128");
    created("words");
    ck_assert_str_eq(wiring->entry, sandbox_text("$/etc/gyre.ini:2"));
    ck_assert_ptr_null(wiring->answer);
    ck_assert_str_eq(wiring->links[0].from, sandbox_text("$/etc/gyre.ini:4"));
    ck_assert_str_eq(wiring->links[0].to, sandbox_text("$/etc/gyre.ini:5"));
    ck_assert_str_eq(wiring->links[0].capacity, "environment GYRE_LINK__WORDS__CAPACITY");
    has_link(0, "words", "split.words", "count", 128);
}
END_TEST

START_TEST(links_in_a_circle_are_read_to_their_end)
{
    sandbox_write("etc/gyre.ini", "[pipeline.p]\nentry = a\n"
                                  "[link.1]\nfrom = a.x\nto = b\n[link.2]\nfrom = b.x\nto = a\n");
    created("p");
    ck_assert_uint_eq(wiring->desc.link_count, 2);
}
END_TEST

START_TEST(names_of_kernels_may_have_dots)
{
    sandbox_write("etc/gyre.ini",
                  "[pipeline.p]\nentry = my.split\n[link.l]\nfrom = my.split.words\nto = my\n");
    created("p");
    has_link(0, "l", "my.split.words", "my", 0);
    ck_assert_uint_eq(gyre_wiring_kernel_length("my.split.words"), strlen("my.split"));
}
END_TEST

START_TEST(a_pipeline_without_a_section_is_refused_with_those_there_are)
{
    refused("words", GYRE_NOT_FOUND,
            "no pipeline is configured; this one needs a section [pipeline.words] with its entry");
    sandbox_write("etc/gyre.ini", "[pipeline.words]\nentry = a\n[pipeline.prices]\nentry = b\n");
    refused("wrds", GYRE_NOT_FOUND,
            "there is no section [pipeline.wrds] with its entry; configured: prices, words; did "
            "you mean 'words'?");
    refused("zebra", GYRE_NOT_FOUND,
            "there is no section [pipeline.zebra] with its entry; configured: prices, words");
    refused("", GYRE_INVALID, "a pipeline has no name; expected the NAME of [pipeline.NAME]");
    refused(NULL, GYRE_INVALID, "a pipeline has no name; expected the NAME of [pipeline.NAME]");
}
END_TEST

START_TEST(a_pipeline_without_an_entry_is_refused)
{
    sandbox_write("etc/gyre.ini", "[pipeline.words]\nanswer = count\n");
    refused(
        "words", GYRE_CONFIG,
        "$/etc/gyre.ini:2: [pipeline.words] has no entry: set entry to the kernel that clients send their "
        "requests to");
    sandbox_write("etc/gyre.ini", "[pipeline.words]\n");
    refused("words", GYRE_CONFIG,
            "[pipeline.words] has no entry: set entry to the kernel that clients send their requests to");
}
END_TEST

START_TEST(a_link_that_is_none_is_refused_at_its_line)
{
    sandbox_write("etc/gyre.ini", "[pipeline.p]\nentry = a\n[link.l]\nto = b\n");
    refused("p", GYRE_CONFIG,
            "$/etc/gyre.ini:4: [link.l] has no from; expected KERNEL.PORT, the port that it begins at");
    sandbox_write("etc/gyre.ini", "[pipeline.p]\nentry = a\n[link.l]\nfrom = a.x\n");
    refused("p", GYRE_CONFIG, "$/etc/gyre.ini:4: [link.l] has no to; expected a kernel, host, or nowhere");
    const char *froms[] = {"a", "a.", ".x"};
    for (size_t i = 0; i < sizeof froms / sizeof froms[0]; i++) {
        char text[128], sentence[256];
        snprintf(text, sizeof text, "[pipeline.p]\nentry = a\n[link.l]\nto = b\nfrom = %s\n", froms[i]);
        snprintf(sentence, sizeof sentence,
                 "$/etc/gyre.ini:5: from = '%s' in [link.l] names no port; expected KERNEL.PORT", froms[i]);
        sandbox_write("etc/gyre.ini", text);
        refused("p", GYRE_CONFIG, sentence);
    }
}
END_TEST

START_TEST(two_links_of_one_port_are_refused_with_both_places)
{
    sandbox_write("etc/gyre.ini", "[pipeline.p]\nentry = a\n[link.one]\nfrom = a.x\nto = b\n"
                                  "[link.two]\nfrom = a.x\nto = c\n");
    refused(
        "p", GYRE_CONFIG,
        "$/etc/gyre.ini:7: link 'two': port a.x has a link already, 'one' ($/etc/gyre.ini:4); a port leads to one kernel, or to one topic or pool with several");
    ck_assert_int_eq(gyre_wiring_config_check(sandbox_config()), GYRE_CONFIG);
}
END_TEST

START_TEST(a_link_from_a_kernel_that_is_unknown_is_refused)
{
    gyre_runtime *runtime;
    const gyre_pipeline_desc desc = {.size = sizeof desc, .name = "p"};
    sandbox_write("p.ini", "[gyre]\nbackend = cpu\n[pipeline.p]\nentry = split\n[kernel.split]\n"
                           "[link.l]\nfrom = splt.x\nto = count\n");
    const gyre_open_desc open = {.size = sizeof open, .config_path = sandbox_text("$/p.ini")};
    ck_assert_msg(gyre_open(&open, &runtime) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_int_eq(gyre_wiring_config_create(gyre_runtime_config(runtime), runtime, &desc, &wiring),
                     GYRE_CONFIG);
    ck_assert_str_eq(gyre_error_text(),
                     sandbox_text("$/p.ini:7: [link.l] begins at kernel 'splt', which has no section "
                                  "[kernel.splt] and is not launched; did you mean 'split'?"));
    gyre_close(runtime);
}
END_TEST

START_TEST(what_the_application_gives_beats_the_configuration)
{
    const char *entries[] = {"feed"}, *answers[] = {"book"};
    const gyre_link_desc link = {.size = sizeof link, .from = "feed.ticks", .to = "book", .capacity = 32};
    sandbox_write("etc/gyre.ini", "[pipeline.p]\nentry = a\nanswer = b\n[link.l]\nfrom = feed.x\nto = b\n");
    gyre_pipeline_desc desc = {.size = sizeof desc, .name = "p", .entries = entries, .entry_count = 1};
    ck_assert_int_eq(create(&desc), GYRE_OK);
    ck_assert_str_eq(wiring->desc.entries[0], "feed");
    ck_assert_ptr_null(wiring->entry);
    ck_assert_str_eq(wiring->desc.answers[0], "b");
    has_link(0, "l", "feed.x", "b", 0);
    desc.answers = answers;
    desc.answer_count = 1;
    desc.links = &link;
    desc.link_count = 1;
    ck_assert_int_eq(create(&desc), GYRE_OK);
    ck_assert_str_eq(wiring->desc.answers[0], "book");
    ck_assert_uint_eq(wiring->desc.link_count, 1);
    has_link(0, "feed.ticks", "feed.ticks", "book", 32);
    ck_assert_ptr_null(wiring->links[0].from);
    desc.name = "unconfigured";
    ck_assert_int_eq(create(&desc), GYRE_OK);
}
END_TEST

static void link_refused(const gyre_link_desc *links, size_t count, const char *sentence)
{
    const char *entries[] = {"a"};
    ck_assert_int_eq(create(&(gyre_pipeline_desc){.size = sizeof(gyre_pipeline_desc),
                                                  .name = "p",
                                                  .entries = entries,
                                                  .entry_count = 1,
                                                  .links = links,
                                                  .link_count = count}),
                     GYRE_INVALID);
    ck_assert_str_eq(gyre_error_text(), sentence);
}

START_TEST(links_of_the_application_are_checked_as_well)
{
    gyre_link_desc links[2] = {{.size = sizeof links[0], .from = "a", .to = "b"},
                               {.size = sizeof links[0], .from = "a.x", .to = "c"}};
    link_refused(links, 2, "link 0: from: expected KERNEL.PORT, found 'a'");
    links[0].from = NULL;
    link_refused(links, 2, "link 0: from: expected KERNEL.PORT, found ''");
    links[0] = (gyre_link_desc){.size = sizeof links[0], .name = "first", .from = "a.x"};
    link_refused(links, 2, "link 0, from a.x: to: expected a kernel, host, or nowhere; found nothing");
    links[0].to = "b";
    link_refused(
        links, 2,
        "link 'a.x': port a.x has a link already, 'first'; a port leads to one kernel, or to one topic or pool with several");
    links[1].topic = "prices";
    links[1].from = "b.x";
    links[1].slow = (gyre_slow)9;
    link_refused(links, 2, "link 1, from b.x: slow: expected a gyre_slow, found 9");
    links[1].slow = GYRE_SLOW_TAP;
    links[1].topic = "";
    link_refused(links, 2, "link 1, from b.x: topic: expected 1 to 63 characters");
    links[1].topic = NULL;
    link_refused(links, 2, "link 1, from b.x: slow: expected 0, because it names no topic, found 3");
    links[1].size = 0;
    link_refused(links, 2, "link 1: its size is 0 bytes");
    link_refused(NULL, 2, "a count of the descriptor is not 0, and its list is NULL");
}
END_TEST

/* A later version's application has larger descriptors: the links lie that far from each other. */
START_TEST(links_of_a_later_version_are_read)
{
    struct later {
        gyre_link_desc link;
        uint64_t more[2];
    } links[2] = {{{.size = sizeof links[0], .from = "a.x", .to = "b"}, {7, 7}},
                  {{.size = sizeof links[0], .from = "b.y", .to = "c", .capacity = 16}, {7, 7}}};
    const char *entries[] = {"a"};
    ck_assert_int_eq(create(&(gyre_pipeline_desc){.size = sizeof(gyre_pipeline_desc),
                                                  .name = "p",
                                                  .entries = entries,
                                                  .entry_count = 1,
                                                  .links = &links[0].link,
                                                  .link_count = 2}),
                     GYRE_OK);
    has_link(0, "a.x", "a.x", "b", 0);
    has_link(1, "b.y", "b.y", "c", 16);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wiring_config");
    TCase *tcase = tcase_create("wiring_config");
    tcase_add_checked_fixture(tcase, sandbox_make, sandbox_remove);
    tcase_add_checked_fixture(tcase, NULL, destroy_wiring);
    tcase_add_test(tcase, a_link_has_a_level_and_may_lead_to_a_type);
    tcase_add_test(tcase, a_pipeline_has_the_links_that_its_entries_lead_to);
    tcase_add_test(tcase, a_topic_has_a_link_for_each_subscriber);
    tcase_add_test(tcase, a_topic_that_is_none_is_refused_at_its_line);
    tcase_add_test(tcase, a_pool_has_a_link_for_each_member_and_port);
    tcase_add_test(tcase, a_pool_that_is_none_is_refused_at_its_line);
    tcase_add_test(tcase, each_setting_has_its_place);
    tcase_add_test(tcase, links_in_a_circle_are_read_to_their_end);
    tcase_add_test(tcase, names_of_kernels_may_have_dots);
    tcase_add_test(tcase, a_pipeline_without_a_section_is_refused_with_those_there_are);
    tcase_add_test(tcase, a_pipeline_without_an_entry_is_refused);
    tcase_add_test(tcase, a_link_that_is_none_is_refused_at_its_line);
    tcase_add_test(tcase, two_links_of_one_port_are_refused_with_both_places);
    tcase_add_test(tcase, a_link_from_a_kernel_that_is_unknown_is_refused);
    tcase_add_test(tcase, what_the_application_gives_beats_the_configuration);
    tcase_add_test(tcase, links_of_the_application_are_checked_as_well);
    tcase_add_test(tcase, links_of_a_later_version_are_read);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
