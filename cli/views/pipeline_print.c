/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a view of a pipeline: as a picture for people, as JSON, for Graphviz, and its links as a table. No state. */
#include "cli/views/pipeline_view.h"

#include <inttypes.h>
#include <string.h>

#include "cli/json/json.h"
#include "cli/base/table.h"
#include "core/base/text.h"
#include "core/links/wiring_config.h"
#include "core/pipeline/build.h"
#include "gyre/link_layout.h"

enum { WORDS_SIZE = 256, SIZE_SIZE = 32, TO_SIZE = 2 * GYRE_PIPELINE_NAME_MAX };

static bool is_nowhere(const gyre_link_info *link)
{
    return strcmp(link->to, GYRE_WIRING_NOWHERE) == 0;
}

/* ---- words ---- */

/* Writes "lane form, 2 blocks of 64 lanes, cpu". Returns `text`. */
static const char *node_words(const pipeline_node *node, char text[WORDS_SIZE])
{
    const gyre_kernel_info *info = &node->info;
    snprintf(text, WORDS_SIZE, "%s form, %" PRIu32 " block%s of %" PRIu32 " lane%s, %s",
             gyre_form_word(node->form), info->blocks, gyre_text_plural(info->blocks), info->lanes,
             gyre_text_plural(info->lanes), info->backend);
    return text;
}

static const char *role_words(const pipeline_node *node)
{
    return node->enters && node->answers ? "entry, answer"
           : node->enters                ? "entry"
           : node->answers               ? "answer"
                                         : "";
}

/* Writes where the link leads: "KERNEL", or "KERNEL:TYPE". Returns `text`. */
static const char *to_word(const gyre_link_info *link, char text[TO_SIZE])
{
    snprintf(text, TO_SIZE, "%s%s%s", link->to, link->as[0] ? ":" : "", link->as);
    return text;
}

/* How a topic treats a subscriber that is slow; "" for a link that is of no topic. */
static const char *slow_word(const gyre_link_info *link)
{
    static const char *const words[] = {[GYRE_SLOW_WAIT] = "wait",
                                        [GYRE_SLOW_DROP] = "drop",
                                        [GYRE_SLOW_CUT] = "cut",
                                        [GYRE_SLOW_TAP] = "tap"};
    return link->topic[0] && link->slow <= GYRE_SLOW_TAP ? words[link->slow] : "";
}

static const char *order_word(const gyre_link_info *link)
{
    return !link->pool[0] ? "" : link->order == GYRE_POOL_OLDEST_FIRST ? "oldest" : "newest";
}

/* ---- the picture ---- */

struct widths {
    size_t kernel, role, port, to, type;
};

static void widen(size_t *width, const char *text)
{
    const size_t letters = cli_letters(text);
    *width = letters > *width ? letters : *width;
}

static struct widths measure(const pipeline_view *view)
{
    struct widths widths = {0};
    char to[TO_SIZE];
    for (size_t i = 0; i < view->node_count; i++) {
        widen(&widths.kernel, view->nodes[i].info.name);
        widen(&widths.role, role_words(&view->nodes[i]));
    }
    for (size_t i = 0; i < view->link_count; i++) {
        widen(&widths.port, view->links[i].port);
        widen(&widths.to, to_word(&view->links[i], to));
        widen(&widths.type, view->links[i].type);
    }
    return widths;
}

static void print_padded(const char *text, size_t width)
{
    printf("%s%*s", text, (int)(width - cli_letters(text)), "");
}

static void print_link(const gyre_link_info *link, const struct widths *widths)
{
    char size[SIZE_SIZE], to[TO_SIZE];
    fputs("  ", stdout);
    print_padded(link->port, widths->port);
    fputs("  ->  ", stdout);
    print_padded(to_word(link, to), widths->to);
    fputs("  ", stdout);
    print_padded(link->type, widths->type);
    printf("  %" PRIu32 " a call, %" PRIu32 " ring%s of %" PRIu64 ", %s", link->most, link->rings,
           gyre_text_plural(link->rings), link->capacity,
           pipeline_size_words(link->bytes, size, sizeof size));
    if (link->topic[0])
        printf(", topic %s: %s", link->topic, slow_word(link));
    if (link->pool[0])
        printf(", pool %s: %s first, %" PRIu32 " block%s", link->pool, order_word(link), link->takers,
               gyre_text_plural(link->takers));
    if (link->talk == GYRE_TALK_ASKS)
        printf(", asks for %s", link->answer);
    if (link->talk == GYRE_TALK_ANSWERS)
        fputs(", answers", stdout);
    if (link->talk == GYRE_TALK_ROUNDS)
        fputs(", begins rounds", stdout);
    if (link->key[0])
        printf(", by %s", link->key);
    if (link->level)
        printf(", level %" PRIu32, link->level);
    if (link->through_host)
        fputs(", through the host", stdout);
    putchar('\n');
}

static const gyre_link_info *find_narrowest(const pipeline_view *view)
{
    const gyre_link_info *link = view->links;
    while (strcmp(link->name, view->narrowest) != 0 || !link->room)
        link++;
    return link;
}

/* How many requests may be under way, and why not more. */
static void print_limits(const pipeline_view *view)
{
    const gyre_pipeline_info *info = &view->info;
    if (info->window || info->quota)
        putchar('\n');
    if (info->window)
        printf("window %" PRIu32 ": requests under way at once\n", info->window);
    if (info->quota)
        printf("quota %" PRIu32 ": messages of one request that may be alive\n", info->quota);
    if (!info->window_most)
        return;
    const gyre_link_info *link = find_narrowest(view);
    printf("cycle: link '%s' has room for %" PRIu64 " = %" PRIu64 " (capacity) - %" PRIu64
           " (a section) - %" PRIu64 " (taken at once) - %" PRIu32 " (a call); / quota %" PRIu32 " = %" PRIu32
           " requests\n",
           link->name, link->room, link->capacity, link->section, link->held, link->most, info->quota,
           info->window_most);
}

int pipeline_print(const pipeline_view *view)
{
    char words[WORDS_SIZE], size[SIZE_SIZE];
    const struct widths widths = measure(view);
    printf("%s: %zu kernel%s, %zu link%s of %s\n", view->name, view->node_count,
           gyre_text_plural(view->node_count), view->link_count, gyre_text_plural(view->link_count),
           pipeline_size_words(view->bytes, size, sizeof size));
    for (size_t i = 0; i < view->node_count; i++) {
        const pipeline_node *node = &view->nodes[i];
        putchar('\n');
        print_padded(node->info.name, widths.kernel);
        fputs("  ", stdout);
        print_padded(role_words(node), widths.role);
        printf("  %s\n", node_words(node, words));
        for (size_t n = 0; n < view->link_count; n++)
            if (strcmp(view->links[n].from, node->info.name) == 0)
                print_link(&view->links[n], &widths);
    }
    print_limits(view);
    return CLI_OK;
}

/* ---- JSON ---- */

static void add_topic(json_t *object, const gyre_link_info *link)
{
    json_object_set_new(object, "topic", cli_json_text(link->topic));
    json_object_set_new(object, "slow", cli_json_text(slow_word(link)));
    json_object_set_new(object, "missed", json_integer((json_int_t)link->missed));
    json_object_set_new(object, "cut", json_boolean(link->is_cut));
}

static void add_pool(json_t *object, const gyre_link_info *link)
{
    json_object_set_new(object, "pool", cli_json_text(link->pool));
    json_object_set_new(object, "order", cli_json_text(order_word(link)));
    json_object_set_new(object, "takers", json_integer((json_int_t)link->takers));
    json_object_set_new(object, "stolen", json_integer((json_int_t)link->stolen));
}

static json_t *json_of_links(const pipeline_view *view)
{
    json_t *links = json_array();
    for (size_t i = 0; i < view->link_count; i++) {
        const gyre_link_info *link = &view->links[i];
        char hash[32];
        snprintf(hash, sizeof hash, "%016" PRIx64, link->type_hash);
        json_t *object = cli_json_object(
            "ssssssIIIIII", "name", link->name, "from", link->from, "port", link->port, "to", link->to,
            "type", link->type, "type_hash", hash, "most", (json_int_t)link->most, "rings",
            (json_int_t)link->rings, "capacity", (json_int_t)link->capacity, "bytes", (json_int_t)link->bytes,
            "sent", (json_int_t)link->sent, "waiting", (json_int_t)link->waiting);
        if (link->topic[0])
            add_topic(object, link);
        if (link->pool[0])
            add_pool(object, link);
        if (link->talk == GYRE_TALK_ASKS)
            json_object_set_new(object, "asks_for", cli_json_text(link->answer));
        if (link->talk == GYRE_TALK_ANSWERS)
            json_object_set_new(object, "answers", json_true());
        if (link->talk == GYRE_TALK_ROUNDS)
            json_object_set_new(object, "begins_rounds", json_true());
        if (link->key[0])
            json_object_set_new(object, "key", cli_json_text(link->key));
        if (link->room)
            json_object_set_new(object, "room", json_integer((json_int_t)link->room));
        if (link->as[0])
            json_object_set_new(object, "as", cli_json_text(link->as));
        if (link->level)
            json_object_set_new(object, "level", json_integer((json_int_t)link->level));
        if (link->through_host)
            json_object_set_new(object, "through_host", json_true());
        json_array_append_new(links, object);
    }
    return links;
}

/* The name of a type; NULL for the type of no message. */
static const char *type_name(const gyre_type *type)
{
    return type->size ? type->name : NULL;
}

static json_t *json_of_nodes(const pipeline_view *view)
{
    json_t *nodes = json_array();
    for (size_t i = 0; i < view->node_count; i++) {
        const pipeline_node *node = &view->nodes[i];
        const gyre_kernel_info *info = &node->info;
        json_array_append_new(
            nodes, cli_json_object("sssIIssbbss", "name", info->name, "kernel", info->kernel, "form",
                                   gyre_form_word(node->form), "blocks", (json_int_t)info->blocks, "lanes",
                                   (json_int_t)info->lanes, "backend", info->backend, "device", info->device,
                                   "entry", node->enters, "answer", node->answers, "request",
                                   type_name(info->request), "reply", type_name(info->reply)));
    }
    return nodes;
}

int pipeline_print_json(const pipeline_view *view)
{
    return cli_print_json(cli_json_object(
        "sooIIII", "name", view->name, "kernels", json_of_nodes(view), "links", json_of_links(view), "bytes",
        (json_int_t)view->bytes, "window", (json_int_t)view->info.window, "quota",
        (json_int_t)view->info.quota, "window_most", (json_int_t)view->info.window_most));
}

int pipeline_print_links_json(const pipeline_view *view)
{
    return cli_print_json(json_of_links(view));
}

/* ---- Graphviz ---- */

/* Writes a text inside a quoted string of Graphviz, where a backslash and a quote have a meaning, and a control character has
 * no place. Names are UTF-8, as configurations and C are. */
static void write_escaped(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', out);
        putc((unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text, out);
    }
}

/* Writes two lines of a label, and the rest of its attributes. */
static void write_label(const char *first, const char *second, FILE *out)
{
    fputs("label=\"", out);
    write_escaped(first, out);
    if (second)
        fputs("\\n", out);
    write_escaped(second ? second : "", out);
    fputs("\"];\n", out);
}

static size_t node_number(const pipeline_view *view, const char *kernel)
{
    size_t number = 0;
    while (number < view->node_count && strcmp(view->nodes[number].info.name, kernel) != 0)
        number++;
    return number;
}

static void write_node(const pipeline_view *view, size_t number, FILE *out)
{
    char words[WORDS_SIZE];
    const pipeline_node *node = &view->nodes[number];
    fprintf(out, "  k%zu [shape=box, ", number);
    write_label(node->info.name, node_words(node, words), out);
    if (node->enters) {
        fprintf(out, "  clients -> k%zu [", number);
        write_label(node->info.request->name, NULL, out);
    }
    if (node->answers) {
        fprintf(out, "  k%zu -> clients [constraint=false, style=dashed, ", number);
        write_label(node->info.reply->name, NULL, out);
    }
}

static void write_link(const pipeline_view *view, size_t number, FILE *out)
{
    char words[WORDS_SIZE];
    const gyre_link_info *link = &view->links[number];
    const size_t from = node_number(view, link->from);
    if (is_nowhere(link))
        fprintf(out, "  nowhere%zu [shape=point];\n  k%zu -> nowhere%zu [", number, from, number);
    else
        fprintf(out, "  k%zu -> k%zu [%s", from, node_number(view, link->to),
                link->topic[0] && link->slow == GYRE_SLOW_TAP ? "style=dotted, "
                : link->talk >= GYRE_TALK_ANSWERS             ? "constraint=false, style=dashed, "
                : link->through_host                          ? "style=bold, "
                                                              : "");
    if (link->topic[0])
        snprintf(words, sizeof words, "%s x %" PRIu64 ", topic %s: %s", link->type, link->capacity,
                 link->topic, slow_word(link));
    else if (link->pool[0])
        snprintf(words, sizeof words, "%s x %" PRIu64 ", pool %s: %s first", link->type, link->capacity,
                 link->pool, order_word(link));
    else
        snprintf(words, sizeof words, "%s x %" PRIu64, link->type, link->capacity);
    write_label(link->port, words, out);
}

int pipeline_write_dot(const pipeline_view *view, FILE *out)
{
    fputs("digraph \"", out);
    write_escaped(view->name, out);
    fputs("\" {\n  rankdir=LR;\n  clients [shape=ellipse];\n", out);
    for (size_t i = 0; i < view->node_count; i++)
        write_node(view, i, out);
    for (size_t i = 0; i < view->link_count; i++)
        write_link(view, i, out);
    fputs("}\n", out);
    return CLI_OK;
}

/* ---- the table of links ---- */

/* The columns that a view has besides those of every view. */
struct columns {
    bool topics, pools, levels;
};

enum { COLUMNS_MOST = 15 };

static void add_link(cli_table *table, const gyre_link_info *link, struct columns columns)
{
    char most[SIZE_SIZE], rings[SIZE_SIZE], capacity[SIZE_SIZE], bytes[SIZE_SIZE], missed[SIZE_SIZE];
    char stolen[SIZE_SIZE], level[SIZE_SIZE], to[TO_SIZE];
    snprintf(most, sizeof most, "%" PRIu32, link->most);
    snprintf(rings, sizeof rings, "%" PRIu32, link->rings);
    snprintf(capacity, sizeof capacity, "%" PRIu64, link->capacity);
    snprintf(bytes, sizeof bytes, "%" PRIu64, link->bytes);
    snprintf(missed, sizeof missed, "%" PRIu64, link->missed);
    snprintf(stolen, sizeof stolen, "%" PRIu64, link->stolen);
    snprintf(level, sizeof level, "%" PRIu32, link->level);
    const char *cells[COLUMNS_MOST] = {link->name,        link->from, link->port, link->type, most,
                                       to_word(link, to), rings,      capacity,   bytes};
    size_t count = 9;
    if (columns.topics) {
        cells[count++] = slow_word(link);
        cells[count++] = missed;
    }
    if (columns.pools) {
        cells[count++] = order_word(link);
        cells[count++] = stolen;
    }
    if (columns.levels)
        cells[count++] = level;
    cli_table_add(table, cells);
}

static cli_table *create_table(struct columns columns)
{
    const char *headers[COLUMNS_MOST] = {"LINK", "FROM",   "PORT",      "TYPE",  ">MOST",
                                         "TO",   ">RINGS", ">CAPACITY", ">BYTES"};
    size_t count = 9;
    if (columns.topics) {
        headers[count++] = "SLOW";
        headers[count++] = ">MISSED";
    }
    if (columns.pools) {
        headers[count++] = "ORDER";
        headers[count++] = ">STOLEN";
    }
    if (columns.levels)
        headers[count++] = ">LEVEL";
    return cli_table_create(headers);
}

int pipeline_print_links(const pipeline_view *view)
{
    struct columns columns = {false, false, false};
    for (size_t i = 0; i < view->link_count; i++) {
        columns.topics |= view->links[i].topic[0] != '\0';
        columns.pools |= view->links[i].pool[0] != '\0';
        columns.levels |= view->links[i].level != 0;
    }
    cli_table *table = create_table(columns);
    for (size_t i = 0; i < view->link_count; i++)
        add_link(table, &view->links[i], columns);
    return cli_table_print(table);
}
