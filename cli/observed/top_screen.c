/* SPDX-License-Identifier: Apache-2.0 */
/* Draws rates as lines for people, and as JSON (top_screen.h). Every line is cut to the screen's width. */
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <string.h>

#include "cli/json/json.h"
#include "cli/base/table.h"
#include "cli/observed/times.h"
#include "cli/observed/top_screen.h"

enum { BAR = 10, SHARES_A_LINE = 10 };

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
    uint32_t count = 0;
    for (uint32_t place = 0; gyre_observed_block(&row->of->seen, row->record, &place, &block); count++) {
        if (count % SHARES_A_LINE == 0 && count) {
            draw_line(drawing, "%s", line);
            line[0] = '\0';
        }
        if (count % SHARES_A_LINE == 0)
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
    const busy_kernel *busy = &row->busy;
    if (busy->known < 2)
        return;
    draw_line(drawing, "  %-16.16s [%s] of %" PRIu64 ": least %.0f %%, mean %.0f %%, most %.0f %% busy",
              "blocks", bar_of_share(busy->mean, bar), row->blocks, 100 * busy->least, 100 * busy->mean,
              100 * busy->most);
    if (drawing->screen->blocks)
        draw_shares(drawing, row);
}

static void draw_kernel(top_drawing *drawing, const rates_row *row)
{
    char handled[16], failed[16], busy[16], age[24];
    const bool lives = strcmp(row->life, "lives") == 0;
    draw_line(drawing,
              "%-18.18s %7" PRIu32 " %-8.8s %-7s %8s %8s %6" PRIu64 " %5s %4" PRIu64 " %4" PRIu64 " %6s",
              row->kernel, row->pid,
              row->has_canary ? "canary" : gyre_kernel_state_word((gyre_kernel_state)row->state),
              lives ? gyre_kernel_health_word((gyre_kernel_health)row->health) : row->life,
              rate_of(row, RATES_HANDLED, handled), rate_of(row, RATES_FAILED, failed), row->queued,
              busy_of(row, busy), row->restarts, row->stalls, observed_seconds_text(row->age, age));
    draw_blocks(drawing, row);
}

static void draw_queue(top_drawing *drawing, const rates_row *row)
{
    char sent[16], received[16], rate[16], bar[BAR + 1], seconds[24], tail[160] = "";
    if (row->p99 > 0)
        append(tail, sizeof tail, "  p50 %s p99 %s", times_text(row->p50, sent),
               times_text(row->p99, received));
    if (row->full > 0)
        append(tail, sizeof tail, "  full %s", observed_seconds_text(row->full, seconds));
    if (row->rates[RATES_REFUSED] > 0)
        append(tail, sizeof tail, "  refused %s", rates_text(row->rates[RATES_REFUSED], rate));
    if (row->rates[RATES_LOST] > 0)
        append(tail, sizeof tail, "  lost %s", rates_text(row->rates[RATES_LOST], rate));
    if (row->oldest > 0)
        append(tail, sizeof tail, "  oldest %s", observed_seconds_text(row->oldest, seconds));
    draw_line(drawing, "  %-16.16s [%s] %6" PRIu64 "/%-6" PRIu64 " in %7s out %7s%s", row->queue,
              bar_of(row, bar), row->length, row->capacity, rate_of(row, RATES_SENT, sent),
              rate_of(row, RATES_RECEIVED, received), tail);
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
    char sent[16] = "-", missed[16], waits[64], name[GYRE_OBSERVE_NAME_MAX * 2 + 4], bar[BAR + 1],
         tail[64] = "";
    const rates_row fill = {.length = row->waiting, .capacity = row->capacity};
    if (row->kind == GYRE_OBSERVE_PIPELINE) {
        draw_line(drawing, "%-18.18s %7" PRIu32 " pipeline%s", row->pipeline, row->pid,
                  waits_of(row, "flows", waits));
        return;
    }
    snprintf(name, sizeof name, "%s > %s", row->from, row->to);
    if (row->has_rates)
        rates_text(row->sent_rate, sent);
    if (row->missed_rate > 0)
        append(tail, sizeof tail, "  missed %s", rates_text(row->missed_rate, missed));
    draw_line(drawing, "  %-16.16s [%s] %6" PRIu64 "/%-6" PRIu64 " in %7s%s%s", name, bar_of(&fill, bar),
              row->waiting, row->capacity, sent, waits_of(row, "waits", waits), tail);
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
    draw_line(&drawing, "%-18s %7s %-8s %-7s %8s %8s %6s %5s %4s %4s %6s", "KERNEL", "PROCESS", "STATE",
              "HEALTH", "MSG/S", "FAILED/S", "QUEUED", "BUSY", "DIED", "HUNG", "SEEN");
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
