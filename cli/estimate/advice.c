/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at each line of the handler for each thing that may be wrong with it, and keeps what would save most (advice.h). */
#include "cli/estimate/advice.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "gyre/backend.h"

enum { GROUP = 32, SLOT_PAYLOAD = 48 };

/* Advice that saves less than this part of a message's time is no help. */
#define WORTH 0.02

struct making {
    const model_handler *handler;
    const model_result *result;
    advice *out;
    size_t count;
};

static void add(struct making *making, const code_line *line, model_part part, double saved_ns,
                const char *format, ...) __attribute__((format(printf, 5, 6)));
static void add(struct making *making, const code_line *line, model_part part, double saved_ns,
                const char *format, ...)
{
    const double whole = making->result->message_ns * making->handler->blocks;
    size_t at = making->count;
    if (!(saved_ns > WORTH * whole))
        return;
    while (at > 0 && making->out[at - 1].saved_ns < saved_ns)
        at--;
    if (at == ADVICE_MOST)
        return;
    const size_t last = making->count < ADVICE_MOST ? making->count++ : ADVICE_MOST - 1;
    for (size_t i = last; i > at; i--)
        making->out[i] = making->out[i - 1];
    making->out[at] = (advice){.line = line, .kind = model_part_word(part), .saved_ns = saved_ns};
    va_list args;
    va_start(args, format);
    vsnprintf(making->out[at].text, sizeof making->out[at].text, format, args);
    va_end(args);
}

/* The share of a part that a line has, when the line's share of the counts is `own` of `all`. */
static double share(const struct making *making, model_part part, double own, double all)
{
    return all > 0 ? making->result->part_ns[part] * own / all : 0;
}

static void advise_memory(struct making *making, const code_line *line)
{
    const code_line *const all = &making->handler->code->all;
    const uint64_t more = line->sectors - line->needed;
    if (line->sectors > line->needed)
        add(making, line, MODEL_MEMORY, share(making, MODEL_MEMORY, (double)more, (double)all->sectors),
            "a group of lanes moves %.1f sectors of 32 bytes an access where %.1f would do: let neighbouring lanes touch "
            "neighbouring addresses",
            (double)line->sectors / (double)line->touches, (double)line->needed / (double)line->touches);
}

static void advise_lanes(struct making *making, const code_line *line)
{
    const code_line *const all = &making->handler->code->all;
    const double idle = line->issued - line->executed / model_group_lanes(making->handler);
    const double all_idle = all->issued - all->executed / model_group_lanes(making->handler);
    const double working = line->issued > 0 ? line->executed / line->issued : 0;
    if (making->result->part_ns[MODEL_SERIAL] > 0)
        add(making, line, MODEL_SERIAL, share(making, MODEL_SERIAL, idle, all_idle),
            "%.1f of 32 lanes work here, and the others of the block wait: spread it over the lanes",
            working);
    else
        add(making, line, MODEL_DIVERGENCE, share(making, MODEL_DIVERGENCE, idle, all_idle),
            "%.1f of 32 lanes work here, because lanes of a group go different ways: let neighbouring %s do the same, or "
            "choose values in place of branches",
            working, making->handler->traffic->form == GYRE_FORM_LANE ? "messages" : "lanes");
}

static void advise_instructions(struct making *making, const code_line *line)
{
    const code_line *const all = &making->handler->code->all;
    const double part = making->result->part_ns[MODEL_INSTRUCTIONS] +
                        making->result->part_ns[MODEL_DIVERGENCE] + making->result->part_ns[MODEL_SERIAL] +
                        making->result->part_ns[MODEL_CHECKS];
    if (all->issued <= 0)
        return;
    add(making, line, MODEL_INSTRUCTIONS, part * line->divisions / all->issued,
        "%.0f %% of the instructions are for divisions here: multiply by a reciprocal, shift, or divide by a constant",
        100 * line->divisions / all->issued);
    add(making, line, MODEL_INSTRUCTIONS, part * line->doubles / all->issued / 2,
        "f64 has half as many units as f32: %.0f %% of the instructions are f64 here",
        100 * line->doubles / all->issued);
    add(making, line, MODEL_INSTRUCTIONS, part * (line->issued - line->divisions) / all->issued / 4,
        "%.0f %% of the handler's instructions are here: a quarter less would save this much",
        100 * line->issued / all->issued);
}

static void advise_block(struct making *making, const code_line *line)
{
    const code_line *const all = &making->handler->code->all;
    add(making, line, MODEL_LOCAL, share(making, MODEL_LOCAL, line->local, all->local) * 0.9,
        "an array with indices that are not constant lies in local memory (%u bytes a lane), where each lane touches "
        "another line: keep it in scratch memory, or index it by constants",
        making->handler->spill_bytes);
    if (line->conflicts)
        add(making, line, MODEL_SCRATCH,
            share(making, MODEL_SCRATCH, (double)line->conflicts, (double)all->conflicts),
            "%.1f turns an access, because lanes touch different words of one bank: let rows have one item more",
            1 + (double)line->conflicts / (double)line->scratch);
    if (line->barriers)
        add(making, line, MODEL_BARRIERS,
            share(making, MODEL_BARRIERS, (double)line->barriers, (double)all->barriers) / 2,
            "%.1f barriers a message: half of them would save this much; let lanes do more between two",
            (double)line->barriers / (double)making->handler->traffic->messages /
                (double)((making->handler->lanes + GROUP - 1) / GROUP));
    add(making, line, MODEL_ATOMICS,
        share(making, MODEL_ATOMICS, (double)line->atomics, (double)all->atomics) * 0.9,
        "%.1f atomic operations a message: add up in the handler first, and change the shared word once",
        (double)line->atomics / (double)making->handler->traffic->messages);
}

static void advise_launch(struct making *making)
{
    const model_handler *const handler = making->handler;
    const uint64_t most =
        handler->request_size > handler->reply_size ? handler->request_size : handler->reply_size;
    const machine_ring *const rings = handler->traffic->form == GYRE_FORM_LANE    ? handler->machine->lane
                                      : handler->traffic->form == GYRE_FORM_BLOCK ? handler->machine->block
                                                                                  : handler->machine->actor;
    const double small = machine_ring_at(rings, 2 * SLOT_PAYLOAD).message_ns;
    if (most > SLOT_PAYLOAD)
        add(making, NULL, MODEL_RING, making->result->part_ns[MODEL_RING] - small,
            "requests of %" PRIu64 " and replies of %" PRIu64
            " bytes: with at most 48 each a message takes one line of the ring each way",
            handler->request_size, handler->reply_size);
    if (handler->traffic->form <= GYRE_FORM_BLOCK && handler->blocks == 1 && !making->result->by_bus)
        add(making, NULL, making->result->bound, 0.7 * making->result->message_ns,
            "one block and one queue are at work: four blocks with a queue each take up to four times as much");
}

size_t advice_make(const model_handler *handler, const model_result *result, advice *out)
{
    struct making making = {.handler = handler, .result = result, .out = out};
    for (size_t i = 0; i < handler->code->count; i++) {
        const code_line *const line = &handler->code->lines[i];
        if (line->declares) /* nobody can change what is Gyre's there */
            continue;
        advise_memory(&making, line);
        advise_lanes(&making, line);
        advise_instructions(&making, line);
        advise_block(&making, line);
    }
    if (making.count < ADVICE_MOST) /* what is about lines goes first */
        advise_launch(&making);
    return making.count;
}
