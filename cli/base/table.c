/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints tables for people. Keeps all cells until the widths are known. Reports a lack of memory once, at the end.
 */
#include "cli/base/table.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct table_cell {
    char *text;
    size_t width; /* letters, not bytes */
} table_cell;

struct cli_table {
    size_t columns, cell_count, capacity;
    table_cell *cells; /* row by row, the headers first */
    bool *right;
    bool failed;
};

size_t cli_letters(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

static void add_cell(cli_table *table, const char *text)
{
    if (table->cell_count == table->capacity) {
        size_t capacity = table->capacity ? 2 * table->capacity : 64;
        table_cell *cells = realloc(table->cells, capacity * sizeof *cells);
        if (!cells) {
            table->failed = true;
            return;
        }
        table->cells = cells;
        table->capacity = capacity;
    }
    char *copy = strdup(text && *text ? text : "-");
    if (!copy) {
        table->failed = true;
        return;
    }
    table->cells[table->cell_count++] = (table_cell){copy, cli_letters(copy)};
}

cli_table *cli_table_create(const char *const *headers)
{
    cli_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    while (headers[table->columns])
        table->columns++;
    table->right = calloc(table->columns + 1, sizeof *table->right);
    table->failed = !table->right;
    for (size_t i = 0; i < table->columns && !table->failed; i++) {
        table->right[i] = headers[i][0] == '>';
        add_cell(table, headers[i] + table->right[i]);
    }
    return table;
}

void cli_table_add(cli_table *table, const char *const *cells)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->columns && !table->failed; i++)
        add_cell(table, cells[i]);
}

static void table_destroy(cli_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i].text);
    free(table->cells);
    free(table->right);
    free(table);
}

static size_t column_width(const cli_table *table, size_t column)
{
    size_t width = 0;
    for (size_t i = column; i < table->cell_count; i += table->columns)
        width = table->cells[i].width > width ? table->cells[i].width : width;
    return width;
}

static void print_cell(const cli_table *table, const table_cell *cell, size_t column)
{
    int padding = (int)(column_width(table, column) - cell->width);
    bool last = column + 1 == table->columns;
    if (table->right[column])
        printf("%*s%s", padding, "", cell->text);
    else
        printf("%s%*s", cell->text, last ? 0 : padding, "");
    fputs(last ? "\n" : "  ", stdout);
}

int cli_table_print(cli_table *table)
{
    bool failed = !table || table->failed;
    for (size_t i = 0; !failed && i < table->cell_count; i++)
        print_cell(table, &table->cells[i], i % table->columns);
    table_destroy(table);
    return failed ? cli_error(CLI_FAILED, "out of memory") : CLI_OK;
}

int cli_table_end(cli_table *table, bool shown)
{
    if (shown || !table)
        return cli_table_print(table);
    table_destroy(table);
    return CLI_OK;
}
