/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the rates of processes for `gyre top`, as lines of a width. No state. */
#ifndef GYRE_CLI_OBSERVED_TOP_SCREEN_H
#define GYRE_CLI_OBSERVED_TOP_SCREEN_H

#include <jansson.h>

#include "cli/observed/rates.h"

enum { TOP_LINE_MAX = 512 };

typedef struct top_screen {
    FILE *out;
    size_t width, height; /* in letters and lines; height 0: no limit */
    bool blocks;          /* the share of each block is shown */
    bool terminal;        /* lines end by clearing what was behind them, and the first line is in bold */
} top_screen;

/** Writes one picture. `about` ends the first line, for example how to quit. */
void top_draw(const top_screen *screen, const rates_table *table, const observed_processes *processes,
              const char *about);
/** The same rows as JSON. */
json_t *top_json(const rates_table *table);

#endif
