/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of a pipeline for Graphviz, whatever its kernels are called. */
#include "cli/views/pipeline_view.h"
#include "gyre/message.h"
#include "unit/unit.h"

#include <string.h>

static char *text;
static size_t length;

static void write_view(const pipeline_view *view)
{
    FILE *out = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(out);
    ck_assert_int_eq(pipeline_write_dot(view, out), CLI_OK);
    ck_assert_int_eq(fclose(out), 0);
}

static pipeline_node node_named(const char *name)
{
    pipeline_node node = {
        .form = GYRE_FORM_LANE,
        .info = {.blocks = 2, .lanes = 1, .request = GYRE_TYPE(u32), .reply = GYRE_TYPE(u64)}};
    snprintf(node.info.name, sizeof node.info.name, "%s", name);
    snprintf(node.info.backend, sizeof node.info.backend, "cpu");
    return node;
}

static gyre_link_info link_named(const char *from, const char *port, const char *to)
{
    gyre_link_info link = {.size = sizeof link, .rings = 2, .capacity = 16, .most = 1, .type = "u32"};
    snprintf(link.from, sizeof link.from, "%s", from);
    snprintf(link.port, sizeof link.port, "%s", port);
    snprintf(link.to, sizeof link.to, "%s", to);
    return link;
}

START_TEST(a_graph_has_its_nodes_and_edges)
{
    pipeline_node nodes[] = {node_named("a"), node_named("b")};
    gyre_link_info links[] = {link_named("a", "x", "b"), link_named("a", "y", "nowhere")};
    nodes[0].enters = nodes[1].answers = true;
    write_view(
        &(pipeline_view){.name = "p", .nodes = nodes, .node_count = 2, .links = links, .link_count = 2});
    ck_assert_str_eq(text, "digraph \"p\" {\n"
                           "  rankdir=LR;\n"
                           "  clients [shape=ellipse];\n"
                           "  k0 [shape=box, label=\"a\\nlane form, 2 blocks of 1 lane, cpu\"];\n"
                           "  clients -> k0 [label=\"u32\"];\n"
                           "  k1 [shape=box, label=\"b\\nlane form, 2 blocks of 1 lane, cpu\"];\n"
                           "  k1 -> clients [constraint=false, style=dashed, label=\"u64\"];\n"
                           "  k0 -> k1 [label=\"x\\nu32 x 16\"];\n"
                           "  nowhere1 [shape=point];\n"
                           "  k0 -> nowhere1 [label=\"y\\nu32 x 16\"];\n"
                           "}\n");
}
END_TEST

START_TEST(subscribers_of_a_topic_say_how_slow_they_may_be)
{
    pipeline_node nodes[] = {node_named("a"), node_named("b")};
    gyre_link_info links[] = {link_named("a", "x", "b"), link_named("a", "x", "a")};
    for (size_t i = 0; i < 2; i++)
        snprintf(links[i].topic, sizeof links[i].topic, "t");
    links[0].slow = GYRE_SLOW_DROP;
    links[1].slow = GYRE_SLOW_TAP;
    write_view(
        &(pipeline_view){.name = "p", .nodes = nodes, .node_count = 2, .links = links, .link_count = 2});
    ck_assert_ptr_nonnull(strstr(text, "k0 -> k1 [label=\"x\\nu32 x 16, topic t: drop\"];\n"));
    ck_assert_ptr_nonnull(strstr(text, "k0 -> k0 [style=dotted, label=\"x\\nu32 x 16, topic t: tap\"];\n"));
}
END_TEST

/* Programs give kernels any names. */
START_TEST(names_are_quoted)
{
    pipeline_node nodes[] = {node_named("say \"hi\" \\N\n->"), node_named("digraph")};
    gyre_link_info links[] = {link_named("say \"hi\" \\N\n->", "Größe", "digraph")};
    write_view(
        &(pipeline_view){.name = "a\"b\\", .nodes = nodes, .node_count = 2, .links = links, .link_count = 1});
    ck_assert_ptr_nonnull(strstr(text, "digraph \"a\\\"b\\\\\" {\n"));
    ck_assert_ptr_nonnull(strstr(text, "k0 [shape=box, label=\"say \\\"hi\\\" \\\\N ->\\nlane form, "));
    ck_assert_ptr_nonnull(strstr(text, "k1 [shape=box, label=\"digraph\\nlane form, "));
    ck_assert_ptr_nonnull(strstr(text, "k0 -> k1 [label=\"Größe\\nu32 x 16\"];\n"));
}
END_TEST

static void free_text(void)
{
    free(text);
    text = NULL;
}

int main(void)
{
    Suite *suite = suite_create("pipeline_print");
    TCase *tcase = tcase_create("pipeline_print");
    tcase_add_checked_fixture(tcase, NULL, free_text);
    tcase_add_test(tcase, a_graph_has_its_nodes_and_edges);
    tcase_add_test(tcase, subscribers_of_a_topic_say_how_slow_they_may_be);
    tcase_add_test(tcase, names_are_quoted);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
