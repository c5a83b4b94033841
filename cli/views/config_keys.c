/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the table of keys as lines of at most LINE_LENGTH letters, or as JSON. No state. */
#include "cli/views/config_keys.h"

#include <string.h>

#include "cli/json/json.h"
#include "core/config/table.h"
#include "core/config/value.h"

enum { LINE_LENGTH = 76 };

/* Writes the name of the row's section: "gyre", "queue.NAME", "backend.cpu". */
static const char *section_of(const struct gyre_config_row *row, char text[64])
{
    const char *word = gyre_section_kind_word(row->kind);
    if (gyre_section_kind_is_single(row->kind))
        snprintf(text, 64, "%s", word);
    else
        snprintf(text, 64, "%s.%s", word, row->backend ? row->backend : "NAME");
    return text;
}

/* What a default that is found at run time means to a reader. */
static const char *default_of(const struct gyre_config_row *row)
{
    static const struct {
        const char *preset, *words;
    } found[] = {{"@plugins", "the folder plugins of the installed Gyre"},
                 {"@dropins", "the folder plugins.d of the installed Gyre and those of the configuration"},
                 {"@cache", "$XDG_CACHE_HOME/gyre (~/.cache/gyre)"}};
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++)
        if (strcmp(found[i].preset, row->preset) == 0)
            return found[i].words;
    return *row->preset ? row->preset : "empty";
}

/* Prints a text in lines that begin with `indent` spaces. */
static void print_filled(const char *text, int indent)
{
    int column = 0;
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (column && column + 1 + length > LINE_LENGTH) {
            putchar('\n');
            column = 0;
        }
        column += printf("%*s%.*s", column ? 1 : indent, "", length, text);
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_row(const struct gyre_config_row *row)
{
    char expected[256], text[1024];
    gyre_value_expected(row, expected, sizeof expected);
    printf("  %s\n", row->key);
    snprintf(text, sizeof text, "%s; default: %s", expected, default_of(row));
    print_filled(text, 6);
    print_filled(row->doc, 6);
}

static int print_json(const struct gyre_config_row *rows, size_t count)
{
    json_t *list = json_array();
    char expected[256], section[64];
    for (size_t i = 0; i < count; i++) {
        gyre_value_expected(&rows[i], expected, sizeof expected);
        json_array_append_new(list, cli_json_object("sssss", "section", section_of(&rows[i], section), "key",
                                                    rows[i].key, "values", expected, "default",
                                                    default_of(&rows[i]), "meaning", rows[i].doc));
    }
    return cli_print_json(list);
}

int config_keys_print(const cli_context *cli)
{
    size_t count;
    char section[64], before[64] = "";
    const struct gyre_config_row *rows = gyre_config_rows(&count);
    if (cli->json)
        return print_json(rows, count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(section_of(&rows[i], section), before) != 0)
            printf("%s[%s]\n", i ? "\n" : "", section);
        memcpy(before, section, sizeof before);
        print_row(&rows[i]);
    }
    return CLI_OK;
}
