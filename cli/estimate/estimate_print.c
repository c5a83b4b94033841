/* SPDX-License-Identifier: Apache-2.0 */
/* Prints estimates (estimate_print.h). */
#include "cli/estimate/estimate_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/json/json.h"
#include "cli/base/table.h"
#include "core/pipeline/build.h"

enum { NUMBER_SIZE = 32, LINES_SHOWN = 5 };

/* "19.6 M", "850 k", "12". */
static const char *write_rate(double rate, char text[NUMBER_SIZE])
{
    if (rate >= 1e6)
        snprintf(text, NUMBER_SIZE, "%.3g M", rate / 1e6);
    else if (rate >= 1e3)
        snprintf(text, NUMBER_SIZE, "%.3g k", rate / 1e3);
    else
        snprintf(text, NUMBER_SIZE, "%.3g", rate);
    return text;
}

static double rate_of(const estimate_report *estimate)
{
    return 1e9 / estimate->result.message_ns;
}

static double gain_of(const estimate_report *estimate, const advice *piece)
{
    const double whole = estimate->result.message_ns * estimate->handler.blocks;
    const double left = whole - piece->saved_ns;
    return left > 0 ? whole / left : 1;
}

static void print_handler(const estimate_report *estimate)
{
    const model_handler *const handler = &estimate->handler;
    const traffic_file *const traffic = handler->traffic;
    printf("kernel %s, %s form, on %s: %u block%s of %u lanes\n", estimate->trial->kernel,
           gyre_form_word((gyre_form)traffic->form), handler->machine->title, handler->blocks,
           handler->blocks == 1 ? "" : "s", handler->lanes);
    printf("counted: %" PRIu64 " messages%s, %" PRIu64
           " failed; a message executes %.0f instructions a lane\n",
           traffic->messages, estimate->made ? " of random fields" : "", estimate->trial->failed,
           handler->code->all.executed / (double)traffic->messages /
               (traffic->form == GYRE_FORM_BLOCK ? (double)traffic->lanes : 1));
    if (estimate->trial->emitted)
        printf("%" PRIu64 " messages emitted to ports: what their links take is not counted\n",
               estimate->trial->emitted);
    if (estimate->code->known)
        printf("compiled for %s: %u registers, %u bytes of local memory, %u bytes of block memory\n",
               handler->machine->architecture, estimate->code->registers, estimate->code->spill_bytes,
               estimate->code->shared_bytes);
    else
        printf("not compiled for %s: %s\n", handler->machine->architecture, estimate->code->why);
}

static int print_parts(const estimate_report *estimate)
{
    static const char *const headers[] = {"PART", ">NS A MESSAGE", ">SHARE", "WHAT IT IS", NULL};
    cli_table *const table = cli_table_create(headers);
    double whole = 0;
    for (model_part i = MODEL_RING; i < MODEL_PARTS; i++)
        whole += estimate->result.part_ns[i];
    for (model_part i = MODEL_RING; i < MODEL_PARTS; i++) {
        char ns[NUMBER_SIZE], share[NUMBER_SIZE];
        if (estimate->result.part_ns[i] <= 0.001 * whole)
            continue;
        snprintf(ns, sizeof ns, "%.1f", estimate->result.part_ns[i]);
        snprintf(share, sizeof share, "%.0f %%", 100 * estimate->result.part_ns[i] / whole);
        const char *const cells[] = {model_part_word(i), ns, share, model_part_meaning(i)};
        cli_table_add(table, cells);
    }
    return cli_table_print(table);
}

static void print_advice(const estimate_report *estimate)
{
    if (!estimate->advice_count)
        printf("\nnothing in the handler would help much\n");
    else
        printf("\nwhat would help most:\n");
    for (size_t i = 0; i < estimate->advice_count; i++) {
        const advice *const piece = &estimate->advice[i];
        printf("  %zu. ", i + 1);
        if (piece->line)
            printf("%s:%u: ", piece->line->file, piece->line->line);
        printf("%s: %s (%.3g times the rate)\n", piece->kind, piece->text, gain_of(estimate, piece));
    }
}

static void print_unseen(const estimate_report *estimate)
{
    printf(
        "\nnot seen: what the compiler folds or moves out of loops, orders of memory between blocks, other programs on the "
        "bus, a host that is slower than two threads a queue\n");
    if (estimate->made)
        printf("the messages are of random fields from 0 to 99: --messages FILE counts your own\n");
    if (estimate->handler.traffic->cut)
        printf("%" PRIu64 " accesses were counted alone, because there was no room for their groups\n",
               estimate->handler.traffic->cut);
}

int estimate_print_text(const estimate_report *estimate)
{
    char rate[NUMBER_SIZE], low[NUMBER_SIZE], high[NUMBER_SIZE];
    const model_result *const result = &estimate->result;
    print_handler(estimate);
    printf("\nrate      %s messages/s (%s to %s)\n", write_rate(rate_of(estimate), rate),
           write_rate(rate_of(estimate) / result->error, low),
           write_rate(rate_of(estimate) * result->error, high));
    printf("latency   %.1f us of a call alone (%.1f to %.1f)\n", result->call_ns / 1e3,
           result->call_ns / 1e3 / result->error, result->call_ns / 1e3 * result->error);
    printf("bound by  %s: %s\n\n", result->by_bus ? "bus" : model_part_word(result->bound),
           model_part_meaning(result->bound));
    const int code = print_parts(estimate);
    print_advice(estimate);
    print_unseen(estimate);
    return code;
}

static json_t *parts_json(const estimate_report *estimate)
{
    json_t *const parts = json_object();
    for (model_part i = MODEL_RING; i < MODEL_PARTS; i++)
        json_object_set_new(parts, model_part_word(i), json_real(estimate->result.part_ns[i]));
    return parts;
}

static json_t *advice_json(const estimate_report *estimate)
{
    json_t *const rows = json_array();
    for (size_t i = 0; i < estimate->advice_count; i++) {
        const advice *const piece = &estimate->advice[i];
        json_array_append_new(rows, cli_json_object("sIssf", "file", piece->line ? piece->line->path : NULL,
                                                    "line", (json_int_t)(piece->line ? piece->line->line : 0),
                                                    "kind", piece->kind, "text", piece->text, "times",
                                                    gain_of(estimate, piece)));
    }
    return rows;
}

static json_t *lines_json(const estimate_report *estimate)
{
    json_t *const rows = json_array();
    for (size_t i = 0; i < estimate->handler.code->count; i++) {
        const code_line *const line = &estimate->handler.code->lines[i];
        if (line->issued <= 0 && !line->touches && !line->scratch)
            continue;
        json_array_append_new(
            rows,
            cli_json_object("sIfffIIIIIIIIff", "file", line->file, "line", (json_int_t)line->line, "issued",
                            line->issued, "executed", line->executed, "local", line->local, "touches",
                            (json_int_t)line->touches, "sectors", (json_int_t)line->sectors, "needed",
                            (json_int_t)line->needed, "fresh", (json_int_t)line->fresh, "scratch",
                            (json_int_t)line->scratch, "barriers", (json_int_t)line->barriers, "conflicts",
                            (json_int_t)line->conflicts, "atomics", (json_int_t)line->atomics, "turns",
                            line->turns, "waits", line->waits + line->scratch_waits));
    }
    return rows;
}

int estimate_print_json(const estimate_report *estimate)
{
    const model_result *const result = &estimate->result;
    json_t *const code = estimate->code->known
                             ? cli_json_object("III", "registers", (json_int_t)estimate->code->registers,
                                               "local_bytes", (json_int_t)estimate->code->spill_bytes,
                                               "block_bytes", (json_int_t)estimate->code->shared_bytes)
                             : json_null();
    return cli_print_json(cli_json_object(
        "ssssIIIIIbfffsoooo", "kernel", estimate->trial->kernel, "form",
        gyre_form_word((gyre_form)estimate->handler.traffic->form), "device", estimate->handler.machine->name,
        "architecture", estimate->handler.machine->architecture, "lanes", (json_int_t)estimate->handler.lanes,
        "blocks", (json_int_t)estimate->handler.blocks, "messages",
        (json_int_t)estimate->handler.traffic->messages, "failed", (json_int_t)estimate->trial->failed,
        "emitted", (json_int_t)estimate->trial->emitted, "random", estimate->made, "rate", rate_of(estimate),
        "latency_ns", result->call_ns, "error", result->error, "bound",
        result->by_bus ? "bus" : model_part_word(result->bound), "parts_ns", parts_json(estimate), "compiled",
        code, "advice", advice_json(estimate), "lines", lines_json(estimate)));
}
