/* SPDX-License-Identifier: Apache-2.0 */
/* Prints tables for people. */
#ifndef GYRE_CLI_BASE_TABLE_H
#define GYRE_CLI_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/** A table for people: aligned columns, two spaces apart, the same on a terminal and in a pipe. */
typedef struct cli_table cli_table;

/** `headers` end with NULL; a header that starts with '>' names a column that is aligned to the right. */
cli_table *cli_table_create(const char *const *headers);
/** Adds a row with a cell for each header. Copies the cells; NULL prints as "-". */
void cli_table_add(cli_table *table, const char *const *cells);
/** Counts the letters of a UTF-8 text: every byte that does not continue a letter. */
size_t cli_letters(const char *text);
/** Prints the table and frees it. Returns an exit code; a table of NULL (no memory) is an error. */
int cli_table_print(cli_table *table);

/** Prints the table as cli_table_print does, if `shown`, else only frees it. */
int cli_table_end(cli_table *table, bool shown);

#endif
