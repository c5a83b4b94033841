/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of `gyre estimate` (model.h). A block of a lane kernel handles a window of messages, one a lane; its groups of 32
 * share four schedulers, and a group alone waits for each of its instructions. So the window takes the longer of the two, for
 * instructions and for memory each. A block of the other forms handles one message after the other.
 */
#include "cli/estimate/model.h"

#include "gyre/backend.h"
#include "gyre/dialect/cpu_watch.h"

enum { GROUP = 32, SLOT_PAYLOAD = 48, SLOT = 64 };

/* Counts of one message (of a lane kernel: of one group of 32 messages). */
struct counts {
    double issued, executed, local, spread, touches, waits, sectors, fresh, scratch, conflicts, atomics,
        barriers, functions, turns, singles, scratch_waits;
    double groups; /* that are at work at once in a block */
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

double model_group_lanes(const model_handler *handler)
{
    const traffic_file *const traffic = handler->traffic;
    const double groups =
        traffic->form == GYRE_FORM_BLOCK ? (handler->lanes + GROUP - 1) / GROUP : (double)traffic->groups;
    const double lanes = traffic->form == GYRE_FORM_BLOCK ? handler->lanes : (double)traffic->messages;
    return groups > 0 ? smaller(lanes / groups, GROUP) : GROUP;
}

static struct counts count(const model_handler *handler)
{
    const code_line *const all = &handler->code->all;
    const double messages = (double)(handler->traffic->form == GYRE_FORM_LANE ? handler->traffic->groups
                                                                              : handler->traffic->messages);
    const double groups = (handler->lanes + GROUP - 1) / GROUP;
    const double each =
        handler->traffic->form == GYRE_FORM_BLOCK ? groups : 1; /* groups that share a message */
    return (struct counts){.issued = all->issued / messages / each,
                           .executed = all->executed / messages / each,
                           .local = all->local / messages / each,
                           .spread = all->spread / messages / each,
                           .touches = (double)all->touches / messages / each,
                           .waits = all->waits / messages / each,
                           .singles = all->singles / messages / each,
                           .scratch_waits = all->scratch_waits / messages / each,
                           .functions = (double)all->functions / messages / each,
                           .turns = all->turns / messages / each,
                           .sectors = (double)all->sectors / messages / each,
                           .fresh = (double)all->fresh / messages / each,
                           .scratch = (double)all->scratch / messages / each,
                           .conflicts = (double)all->conflicts / messages / each,
                           .atomics = (double)all->atomics / messages / each,
                           .barriers = (double)all->barriers / messages / each,
                           .groups = groups};
}

/* Others may write a buffer, so what the first cache holds of any memory is forgotten before each message. */
static bool forgets(const traffic_file *traffic)
{
    for (size_t i = 0; i < traffic->touch_count; i++)
        if (traffic->touches[i].sort == GYRE_SORT_BUFFER)
            return true;
    return false;
}

/* From an access to its value. `fresh`: the part of the sectors that the first cache does not have. */
static double waits(const model_handler *handler, double near, double fresh)
{
    const machine *const gpu = handler->machine;
    const double span = (double)handler->code->all.span;
    const double away = span > gpu->second_cache                               ? gpu->far
                        : span > gpu->first_cache || forgets(handler->traffic) ? gpu->middle
                                                                               : near;
    return near + (away - near) * fresh;
}

/* Clocks of a multiprocessor that the sectors of a group take. */
static double sector_clocks(const model_handler *handler, const struct counts *counts)
{
    const machine *const gpu = handler->machine;
    const bool far = (double)handler->code->all.span > gpu->second_cache;
    return counts->sectors * gpu->sector + counts->fresh * (far ? gpu->far_sector : 0);
}

static double chain_of(const model_handler *handler)
{
    return handler->traffic->form == GYRE_FORM_ACTOR || handler->traffic->form == GYRE_FORM_KEYED
               ? handler->machine->actor_chain
               : handler->machine->chain;
}

/* The clocks of one instruction of each of a block's groups. Additions and multiplications of f32 take half as long as others. */
static double instruction_of_all(const model_handler *handler, const struct counts *counts, double groups)
{
    const double singles = counts->issued > 0 ? counts->singles / counts->issued : 0;
    return larger(groups * handler->machine->issue / handler->machine->schedulers * (1 - singles / 2),
                  chain_of(handler));
}

/* Which part of the arrays lies in local memory. The compiler keeps the others in registers. */
static double local_share(const model_handler *handler)
{
    const double arrays = (double)handler->code->frame;
    return handler->compiled && arrays > 0 ? smaller(1, (double)handler->spill_bytes / arrays) : 1;
}

/* Takes the instructions that check messages out of the handler's. Lanes wait for each other in both alike. */
static void separate_checks(const model_handler *handler, double *parts)
{
    static const model_part from[] = {MODEL_INSTRUCTIONS, MODEL_DIVERGENCE, MODEL_SERIAL};
    const double issued = handler->code->all.issued;
    const double share = issued > 0 ? handler->code->checks / issued : 0;
    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
        parts[MODEL_CHECKS] += parts[from[i]] * share;
        parts[from[i]] *= 1 - share;
    }
}

/* Clocks of a window of `groups` groups, by parts; without the ring. `parts` are 0. */
static void window(const model_handler *handler, const struct counts *counts, double groups, double *parts)
{
    const machine *const gpu = handler->machine;
    const double fresh = counts->sectors > 0 ? counts->fresh / counts->sectors : 0;
    const double each = instruction_of_all(handler, counts, groups);
    const double dense = smaller(counts->executed / model_group_lanes(handler), counts->issued);
    const bool lane = handler->traffic->form == GYRE_FORM_LANE,
               block = handler->traffic->form == GYRE_FORM_BLOCK;
    const double idle = lane || block ? counts->issued - dense : 0;
    const bool serial = block && counts->issued > 0 && dense < 0.25 * counts->issued;
    parts[MODEL_INSTRUCTIONS] = (counts->issued - idle + counts->turns * gpu->turn) * each;
    parts[serial ? MODEL_SERIAL : MODEL_DIVERGENCE] = idle * each;
    separate_checks(handler, parts);
    parts[MODEL_MEMORY] =
        larger(lane || block ? counts->touches * waits(handler, gpu->near, fresh) / gpu->several_touches
                             : counts->waits * waits(handler, gpu->actor_near, fresh),
               groups * sector_clocks(handler, counts));
    parts[MODEL_LOCAL] =
        handler->compiled && !handler->spill_bytes
            ? 0
            : local_share(handler) * larger(counts->local * gpu->near / 2,
                                            groups * (counts->spread * gpu->local +
                                                      (counts->local - counts->spread) * gpu->even));
    parts[MODEL_SCRATCH] = groups * counts->conflicts * gpu->conflict + counts->scratch_waits * gpu->near +
                           (counts->scratch - counts->scratch_waits) * gpu->further_read;
    parts[MODEL_BARRIERS] =
        (counts->barriers + counts->functions * (groups > 1 ? gpu->function_barriers : gpu->function_alone)) *
        gpu->barrier;
    parts[MODEL_ATOMICS] = groups * counts->atomics * gpu->atomic;
}

static const machine_ring *rings_of(const model_handler *handler)
{
    return handler->traffic->form == GYRE_FORM_LANE    ? handler->machine->lane
           : handler->traffic->form == GYRE_FORM_BLOCK ? handler->machine->block
                                                       : handler->machine->actor;
}

/* Bytes that a message moves over the bus, the way that has more of them. */
static double bus_bytes(const model_handler *handler)
{
    const double most = larger((double)handler->request_size, (double)handler->reply_size);
    return most <= SLOT_PAYLOAD ? SLOT : most + 16;
}

/* A group waits for those of its lanes that fail, which write their texts alone. Larger messages have other memory for that. */
static double failures_ns(const model_handler *handler)
{
    const double share =
        model_group_lanes(handler) * (double)handler->failed / (double)handler->traffic->messages;
    if (handler->traffic->form != GYRE_FORM_LANE)
        return (handler->traffic->form == GYRE_FORM_BLOCK ? handler->machine->failing_block_ns
                                                          : handler->machine->failing_actor_ns) *
               (double)handler->failed / (double)handler->traffic->messages;
    if (bus_bytes(handler) > SLOT)
        return 0;
    return handler->machine->failing_group_ns * smaller(share, 1);
}

/*
 * The factor within which four of five measured kernels were that have this bound: those of tests/estimate and of tests/kernels
 * together (docs/simulator.md).
 */
static double error_of(model_part bound)
{
    static const double errors[MODEL_PARTS] = {
        [MODEL_RING] = 1.3,   [MODEL_INSTRUCTIONS] = 1.4, [MODEL_DIVERGENCE] = 1.4, [MODEL_SERIAL] = 1.8,
        [MODEL_MEMORY] = 1.6, [MODEL_LOCAL] = 1.5,        [MODEL_SCRATCH] = 1.5,    [MODEL_BARRIERS] = 1.3,
        [MODEL_ATOMICS] = 2,  [MODEL_FAILURES] = 1.3,     [MODEL_CHECKS] = 1.5};
    return errors[bound];
}

static model_part largest(const double *parts)
{
    model_part bound = MODEL_RING;
    for (model_part i = MODEL_RING; i < MODEL_PARTS; i++)
        if (parts[i] > parts[bound])
            bound = i;
    return bound;
}

void model_compute(const model_handler *handler, model_result *result)
{
    const machine *const gpu = handler->machine;
    const struct counts counts = count(handler);
    const machine_ring ring =
        machine_ring_at(rings_of(handler), (double)(handler->request_size + handler->reply_size));
    const bool lane = handler->traffic->form == GYRE_FORM_LANE;
    const double busy = counts.groups, share = lane ? counts.groups * GROUP : 1;
    const double ring_ns = ring.message_ns * (1 + gpu->more_blocks * (handler->blocks - 1));
    double alone[MODEL_PARTS] = {0}, together[MODEL_PARTS] = {0}, block_ns = ring_ns;
    *result = (model_result){.part_ns = {[MODEL_RING] = ring_ns}, .call_ns = ring.call_ns};
    window(handler, &counts, lane ? 1 : busy, alone);
    window(handler, &counts, busy, together);
    for (model_part i = MODEL_RING + 1; i < MODEL_PARTS; i++) {
        result->part_ns[i] = together[i] / gpu->clock_ghz / share;
        result->call_ns += alone[i] / gpu->clock_ghz;
        block_ns += result->part_ns[i];
    }
    result->part_ns[MODEL_FAILURES] = failures_ns(handler);
    block_ns += result->part_ns[MODEL_FAILURES];
    const double bus_ns = bus_bytes(handler) / gpu->bus_gbytes;
    if (lane && handler->blocks > 1 && bus_bytes(handler) <= SLOT)
        result->call_ns += gpu->blocks_call_ns;
    result->message_ns = block_ns / handler->blocks;
    result->by_bus = bus_ns > result->message_ns;
    if (result->by_bus)
        result->message_ns = bus_ns;
    result->bound = result->by_bus ? MODEL_RING : largest(result->part_ns);
    result->error = error_of(result->bound);
}

const char *model_part_word(model_part part)
{
    static const char *const words[] = {"ring",    "instructions", "divergence", "serial lane",
                                        "memory",  "local memory", "scratch",    "barriers",
                                        "atomics", "failures",     "checks"};
    return words[part];
}

const char *model_part_meaning(model_part part)
{
    static const char *const meanings[] = {
        "the ring's words, the host's threads and the bus",
        "instructions of groups whose lanes all work",
        "instructions while other lanes of the group wait, because they go another way or have ended",
        "instructions of a few lanes while the others of the block wait",
        "state and buffers",
        "arrays of the handler's own that registers cannot hold, because their indices are not constant",
        "accesses to the scratch, and lanes that meet in one bank of it",
        "lanes that wait for each other at barriers",
        "atomic operations, one lane after the other where they change one word",
        "the texts of messages that fail, for which their groups wait",
        "Gyre looks whether the parts of each message lie in it, before the handler begins"};
    return meanings[part];
}
