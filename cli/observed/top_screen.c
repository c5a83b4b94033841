/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws rates as lines for people, and as JSON (top_screen.h). A screen that is too narrow shows fewer columns, each of them
 * whole.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <string.h>

#include "cli/json/json.h"
#include "cli/base/table.h"
#include "cli/observed/times.h"
#include "cli/observed/top_screen.h"

enum {
    BAR = 10,
    SHARES_A_LINE = 10,
    SHARES_HEAD = 11, /* letters before the first share of a line */
    SHARE_LETTERS = 6,
    CELLS_MOST = 16,
    NAME_LETTERS = 18,
    NAME_NARROW = 16, /* on screens where columns are left out */
    NARROW = 80
};

typedef struct top_drawing {
    const top_screen *screen;
    size_t lines; /* written so far */
} top_drawing;

/* The bytes of the first `letters` letters of a text. */
static size_t bytes_of(const char *text, size_t letters)
{
    size_t at = 0;
    for (; text[at]; at++)
        if (((unsigned char)text[at] & 0xc0) != 0x80 && letters-- == 0)
            break;
    return at;
}

static bool has_room(const top_drawing *drawing)
{
    return !drawing->screen->height || drawing->lines < drawing->screen->height;
}

__attribute__((format(printf, 2, 3))) static void draw_line(top_drawing *drawing, const char *format, ...)
{
    char text[TOP_LINE_MAX];
    va_list arguments;
    const top_screen *screen = drawing->screen;
    if (!has_room(drawing))
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const bool last = drawing->lines + 1 == screen->height;
    const bool bold = screen->terminal && drawing->lines == 0;
    fprintf(screen->out, "%s%.*s%s%s%s", bold ? "\033[1m" : "", (int)bytes_of(text, screen->width), text,
            bold ? "\033[0m" : "", screen->terminal ? "\033[K" : "", last ? "" : "\n");
    drawing->lines++;
}

/* Appends to the end of a line. */
__attribute__((format(printf, 3, 4))) static void append(char *tail, size_t size, const char *format, ...)
{
    const size_t used = strlen(tail);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tail + used, size - used, format, arguments);
    va_end(arguments);
}

/* ---- lines of cells: one that has no room is left out, so that no figure is cut ---- */

typedef struct top_cell {
    int rank; /* those of a lower rank get room first */
    char text[96];
} top_cell;

typedef struct top_cells {
    size_t count;
    top_cell items[CELLS_MOST];
} top_cells;

__attribute__((format(printf, 3, 4))) static void add(top_cells *cells, int rank, const char *format, ...)
{
    va_list arguments;
    if (cells->count == CELLS_MOST)
        return;
    top_cell *cell = &cells->items[cells->count++];
    cell->rank = rank;
    va_start(arguments, format);
    vsnprintf(cell->text, sizeof cell->text, format, arguments);
    va_end(arguments);
}

static size_t letters_of(const char *text)
{
    size_t letters = 0;
    for (; *text; text++)
        letters += ((unsigned char)*text & 0xc0) != 0x80;
    return letters;
}

/* The cell that gets room next: the first of the lowest rank from `rank` on. NULL: there is none. */
static const top_cell *next_cell(const top_cells *cells, int rank, const top_cell *before)
{
    const top_cell *best = NULL;
    for (const top_cell *cell = cells->items; cell < cells->items + cells->count; cell++)
        if ((cell->rank > rank || (cell->rank == rank && cell > before)) &&
            (!best || cell->rank < best->rank))
            best = cell;
    return best;
}

static void choose_cells(const top_drawing *drawing, const top_cells *cells, bool shown[CELLS_MOST])
{
    size_t left = drawing->screen->width;
    for (const top_cell *cell = next_cell(cells, 0, NULL); cell; cell = next_cell(cells, cell->rank, cell)) {
        const size_t letters = letters_of(cell->text);
        shown[cell - cells->items] = letters <= left;
        left -= letters <= left ? letters : 0;
    }
}

static void draw_chosen(top_drawing *drawing, const top_cells *cells, const bool shown[CELLS_MOST])
{
    char line[TOP_LINE_MAX] = "";
    for (size_t i = 0; i < cells->count; i++)
        if (shown[i])
            append(line, sizeof line, "%s", cells->items[i].text);
    draw_line(drawing, "%s", line);
}

static void draw_cells(top_drawing *drawing, const top_cells *cells)
{
    bool shown[CELLS_MOST] = {false};
    choose_cells(drawing, cells, shown);
    draw_chosen(drawing, cells, shown);
}

static int name_letters(const top_drawing *drawing)
{
    return drawing->screen->width < NARROW ? NAME_NARROW : NAME_LETTERS;
}

/* The first cell of a line: the name of something, which is cut where it is longer than its column. */
static void add_name(const top_drawing *drawing, top_cells *cells, const char *indent, const char *name)
{
    const int letters = name_letters(drawing) - (int)strlen(indent);
    add(cells, 0, "%s%-*.*s", indent, letters, letters, name);
}

/* `share`: from 0 to 1. */
static const char *bar_of_share(double share, char bar[BAR + 1])
{
    const int filled = (int)(share * BAR + 0.5);
    for (int i = 0; i < BAR; i++)
        bar[i] = i < filled ? '#' : '-';
    bar[BAR] = '\0';
    return bar;
}

static const char *bar_of(const rates_row *row, char bar[BAR + 1])
{
    const uint64_t most = row->capacity ? row->capacity : 1, length = row->length < most ? row->length : most;
    return bar_of_share((double)length / (double)most, bar);
}

static const char *rate_of(const rates_row *row, rates_count count, char text[16])
{
    if (row->has_rates)
        return rates_text(row->rates[count], text);
    return "-";
}

/* In which share of the last second the blocks of a kernel were at messages, in the mean. */
static const char *busy_of(const rates_row *row, char text[16])
{
    if (!row->busy.known)
        return "-";
    snprintf(text, 16, "%.0f %%", 100 * row->busy.mean);
    return text;
}

/* The share of each block. */
static void draw_shares(top_drawing *drawing, const rates_row *row)
{
    char line[96] = "";
    gyre_observe_block block;
    uint32_t count = 0, a_line = SHARES_A_LINE;
    const size_t width = drawing->screen->width;
    while (a_line > 1 && SHARES_HEAD + SHARE_LETTERS * a_line > width)
        a_line--;
    for (uint32_t place = 0; gyre_observed_block(&row->of->seen, row->record, &place, &block); count++) {
        if (count % a_line == 0 && count) {
            draw_line(drawing, "%s", line);
            line[0] = '\0';
        }
        if (count % a_line == 0)
            append(line, sizeof line, "    %6" PRIu32 ":", count);
        if (block.known)
            append(line, sizeof line, " %5.0f", 100.0 * block.share / GYRE_OBSERVE_WHOLE);
        else
            append(line, sizeof line, "     -");
    }
    if (count)
        draw_line(drawing, "%s", line);
}

/* How far the blocks of a kernel differ. One block is in the kernel's line. */
static void draw_blocks(top_drawing *drawing, const rates_row *row)
{
    char bar[BAR + 1];
    top_cells cells = {.count = 0};
    const busy_kernel *busy = &row->busy;
    if (busy->known < 2)
        return;
    add_name(drawing, &cells, "  ", "blocks");
    add(&cells, 4, " [%s]", bar_of_share(busy->mean, bar));
    add(&cells, 0, " of %" PRIu64 ":", row->blocks);
    add(&cells, 3, " least %.0f %%,", 100 * busy->least);
    add(&cells, 2, " mean %.0f %%,", 100 * busy->mean);
    add(&cells, 1, " most %.0f %% busy", 100 * busy->most);
    draw_cells(drawing, &cells);
    if (drawing->screen->blocks)
        draw_shares(drawing, row);
}

/* The names of what draw_kernel shows. */
static void add_head(const top_drawing *drawing, top_cells *cells)
{
    add_name(drawing, cells, "", "KERNEL");
    add(cells, 7, " %7s", "PROCESS");
    add(cells, 6, " %-8s", "STATE");
    add(cells, 2, " %-7s", "HEALTH");
    add(cells, 1, " %8s", "MSG/S");
    add(cells, 5, " %8s", "FAILED/S");
    add(cells, 4, " %6s", "QUEUED");
    add(cells, 3, " %5s", "BUSY");
    add(cells, 8, " %4s", "DIED");
    add(cells, 8, " %4s", "HUNG");
    add(cells, 9, " %6s", "SEEN");
}

static void draw_kernel(top_drawing *drawing, const rates_row *row)
{
    char text[24];
    bool shown[CELLS_MOST] = {false};
    top_cells cells = {.count = 0}, head = {.count = 0};
    const bool lives = strcmp(row->life, "lives") == 0;
    add_name(drawing, &cells, "", row->kernel);
    add(&cells, 7, " %7" PRIu32, row->pid);
    add(&cells, 6, " %-8.8s",
        row->has_canary ? "canary" : gyre_kernel_state_word((gyre_kernel_state)row->state));
    add(&cells, 2, " %-7s", lives ? gyre_kernel_health_word((gyre_kernel_health)row->health) : row->life);
    add(&cells, 1, " %8s", rate_of(row, RATES_HANDLED, text));
    add(&cells, 5, " %8s", rate_of(row, RATES_FAILED, text));
    add(&cells, 4, " %6" PRIu64, row->queued);
    add(&cells, 3, " %5s", busy_of(row, text));
    add(&cells, 8, " %4" PRIu64, row->restarts);
    add(&cells, 8, " %4" PRIu64, row->stalls);
    add(&cells, 9, " %6s", observed_seconds_text(row->age, text));
    add_head(drawing, &head);
    choose_cells(drawing, &head, shown); /* a wide figure moves no column */
    draw_chosen(drawing, &cells, shown);
    draw_blocks(drawing, row);
}

static void draw_queue(top_drawing *drawing, const rates_row *row)
{
    char text[24], p99[16], bar[BAR + 1];
    top_cells cells = {.count = 0};
    add_name(drawing, &cells, "  ", row->queue);
    add(&cells, 3, " [%s]", bar_of(row, bar));
    add(&cells, 2, " %6" PRIu64 "/%-6" PRIu64, row->length, row->capacity);
    add(&cells, 1, " in %7s", rate_of(row, RATES_SENT, text));
    add(&cells, 1, " out %7s", rate_of(row, RATES_RECEIVED, text));
    if (row->p99 > 0)
        add(&cells, 4, "  p50 %s p99 %s", times_text(row->p50, text), times_text(row->p99, p99));
    if (row->full > 0)
        add(&cells, 5, "  full %s", observed_seconds_text(row->full, text));
    if (row->rates[RATES_REFUSED] > 0)
        add(&cells, 6, "  refused %s", rates_text(row->rates[RATES_REFUSED], text));
    if (row->rates[RATES_LOST] > 0)
        add(&cells, 7, "  lost %s", rates_text(row->rates[RATES_LOST], text));
    if (row->oldest > 0)
        add(&cells, 8, "  oldest %s", observed_seconds_text(row->oldest, text));
    draw_cells(drawing, &cells);
}

/* How long messages of a link wait, or how long flows of a pipeline take, where that is timed. */
static const char *waits_of(const link_row *row, const char *what, char text[64])
{
    char p50[16], p99[16];
    text[0] = '\0';
    if (row->p99 > 0)
        snprintf(text, 64, "  %s p50 %s p99 %s", what, times_text(row->p50, p50), times_text(row->p99, p99));
    return text;
}

static void draw_link(top_drawing *drawing, const link_row *row)
{
    char rate[16] = "-", waits[64], name[GYRE_OBSERVE_NAME_MAX * 2 + 4], bar[BAR + 1];
    const rates_row fill = {.length = row->waiting, .capacity = row->capacity};
    top_cells cells = {.count = 0};
    if (row->kind == GYRE_OBSERVE_PIPELINE) {
        add_name(drawing, &cells, "", row->pipeline);
        add(&cells, 3, " %7" PRIu32, row->pid);
        add(&cells, 2, " pipeline");
        add(&cells, 1, "%s", waits_of(row, "flows", waits));
        draw_cells(drawing, &cells);
        return;
    }
    snprintf(name, sizeof name, "%s > %s", row->from, row->to);
    add_name(drawing, &cells, "  ", name);
    add(&cells, 3, " [%s]", bar_of(&fill, bar));
    add(&cells, 2, " %6" PRIu64 "/%-6" PRIu64, row->waiting, row->capacity);
    if (row->has_rates)
        rates_text(row->sent_rate, rate);
    add(&cells, 1, " in %7s", rate);
    add(&cells, 4, "%s", waits_of(row, "waits", waits));
    if (row->missed_rate > 0)
        add(&cells, 5, "  missed %s", rates_text(row->missed_rate, rate));
    draw_cells(drawing, &cells);
}

static size_t count_lives(const observed_processes *processes)
{
    size_t count = 0;
    for (size_t i = 0; i < processes->count; i++)
        count += strcmp(observed_life_word(&processes->items[i]), "lives") == 0;
    return count;
}

void top_draw(const top_screen *screen, const rates_table *table, const observed_processes *processes,
              const char *about)
{
    top_drawing drawing = {.screen = screen};
    draw_line(&drawing, "gyre top: %zu processes, %zu of them live%s", processes->count,
              count_lives(processes), about);
    top_cells head = {.count = 0};
    add_head(&drawing, &head);
    draw_cells(&drawing, &head);
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].kind == GYRE_OBSERVE_KERNEL)
            draw_kernel(&drawing, &table->rows[i]);
        else
            draw_queue(&drawing, &table->rows[i]);
    for (size_t i = 0; i < table->links.count; i++)
        draw_link(&drawing, &table->links.rows[i]);
    if (screen->terminal)
        fputs("\033[J", screen->out);
}

static json_t *links_json(const link_table *table)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < table->count; i++) {
        const link_row *row = &table->rows[i];
        const bool link = row->kind == GYRE_OBSERVE_LINK;
        json_t *object = cli_json_object("IIsssss", "pid", (json_int_t)row->pid, "record",
                                         (json_int_t)row->record, "state", observed_life_word(row->of),
                                         "pipeline", row->pipeline, "link", link ? row->link : NULL, "from",
                                         link ? row->from : NULL, "to", link ? row->to : NULL);
        if (link)
            json_object_set_new(
                object, "per_second",
                cli_json_object("oo", "sent", row->has_rates ? json_real(row->sent_rate) : json_null(),
                                "missed", row->has_rates ? json_real(row->missed_rate) : json_null()));
        if (row->p99 > 0) {
            json_object_set_new(object, "p50_seconds", json_real(row->p50));
            json_object_set_new(object, "p99_seconds", json_real(row->p99));
        }
        json_array_append_new(rows, object);
    }
    return rows;
}

json_t *top_json(const rates_table *table)
{
    static const char *const of_kernel[] = {"handled", "failed", "restarts", NULL}, *const of_queue[] = {
                                                                                        "sent", "received",
                                                                                        "refused", "lost"};
    json_t *rows = json_array();
    for (size_t i = 0; i < table->count; i++) {
        const rates_row *row = &table->rows[i];
        const bool kernel = row->kind == GYRE_OBSERVE_KERNEL;
        json_t *rates = json_object();
        for (int k = 0; k < RATES_COUNTS; k++) {
            const char *name = kernel ? of_kernel[k] : of_queue[k];
            if (name)
                json_object_set_new(rates, name, row->has_rates ? json_real(row->rates[k]) : json_null());
        }
        json_t *object = cli_json_object("IIssssfo", "pid", (json_int_t)row->pid, "record",
                                         (json_int_t)row->record, "program", row->process, "kernel",
                                         row->kernel, "queue", kernel ? NULL : row->queue, "state",
                                         kernel && strcmp(row->life, "lives") == 0
                                             ? gyre_kernel_health_word((gyre_kernel_health)row->health)
                                             : row->life,
                                         "age_seconds", row->age, "per_second", rates);
        if (row->has_rates) {
            json_object_set_new(object, "from_ns", json_integer((json_int_t)row->from_ns));
            json_object_set_new(object, "to_ns", json_integer((json_int_t)row->looked_ns));
        }
        if (kernel)
            json_object_set_new(object, "busy", busy_json(&row->of->seen, row->record));
        if (!kernel && row->p99 > 0) {
            json_object_set_new(object, "p50_seconds", json_real(row->p50));
            json_object_set_new(object, "p99_seconds", json_real(row->p99));
        }
        json_array_append_new(rows, object);
    }
    return cli_json_object("oo", "rows", rows, "links", links_json(&table->links));
}
