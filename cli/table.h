/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for people. */
#ifndef GYRE_CLI_TABLE_H
#define GYRE_CLI_TABLE_H

/** A table for people: aligned columns, two spaces apart, the same on a terminal and in a pipe. */
typedef struct cli_table cli_table;

/** `headers` end with NULL; a header that starts with '>' names a column that is aligned to the right. */
cli_table *cli_table_create(const char *const *headers);
/** As many cells as there are headers; they are copied. NULL prints as "-". */
void cli_table_add(cli_table *table, const char *const *cells);
/** Prints and frees. A table of NULL (no memory) is an error: returns the exit code. */
int cli_table_print(cli_table *table);

#endif
