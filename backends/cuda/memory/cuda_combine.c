/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Combines elements of memories of several GPUs in two steps. First each memory that gets the result has its share of the elements computed by
 * its own GPU, which reads the other GPUs' memory. Then it takes the other shares from those that have them. So a GPU writes its own memory
 * alone, and has aside what was there: the end of another GPU leaves both as they are. Where each memory is on a GPU of its own and all get the
 * result, a kernel on each does both steps (cuda_meet.h); else the host waits between them.
 *
 * The kernel is compiled for the type, the rule and the number of memories at the first use (cuda_combine_text.h), and runs in the service stream beside resident
 * kernels, on multiprocessors that none of them takes.
 *
 * Locks: residents->lock of each GPU while its kernel runs, in the order of the driver's numbers.
 */
#include "backends/cuda/memory/cuda_combine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/cuda_check.h"
#include "backends/cuda/memory/cuda_combine_text.h"
#include "backends/cuda/compile/cuda_compile.h"
#include "backends/cuda/driver/cuda_context.h"
#include "backends/cuda/cuda_failure.h"
#include "backends/cuda/memory/cuda_held.h"
#include "backends/cuda/memory/cuda_let_in.h"
#include "backends/cuda/memory/cuda_meet.h"
#include "backends/cuda/memory/cuda_nccl_combine.h"
#include "backends/cuda/presence/cuda_quiet.h"
#include "backends/cuda/cuda_resident.h"
#include "backends/cuda/memory/cuda_transfer.h"
#include "gyre/waiting.h"

enum {
    PARTS = GYRE_COMBINE_PARTS_MAX,
    THREADS = 512,   /* as the kernel has it, ... */
    PACK_BYTES = 16, /* ... and what a thread reads at once, ... */
    EACH = 4,        /* ... so many times */
    SHARE_STEP = 256 /* bytes: shares begin at lines of the memory */
};

/* ---- the kernel for a type and a rule ---- */

enum { COMBINERS_MAX = 128 };
/* The compiler cannot be interrupted: it is not begun with less time left. */
#define COMPILE_NS UINT64_C(500000000)

/* What a kernel is compiled for. */
struct kind {
    gyre_combine_element element;
    gyre_combine_rule rule;
    uint32_t parts;
};
static const struct kind taking = {GYRE_COMBINE_BYTE, GYRE_COMBINE_TAKE, 2};

struct cuda_combiner {
    struct kind kind;
    CUmodule module;
    CUfunction function, at_once; /* of `taking` there is no second one */
};

struct cuda_combiners {
    struct cuda_meeting_place place;
    uint32_t count;
    struct cuda_combiner all[COMBINERS_MAX];
};

/* Integers of both signs have one sum. */
static const struct element {
    const char *number, *sum; /* its type, and that for sums */
    const char *options;      /* of floats */
    uint32_t size;
} elements[] = {
    [GYRE_COMBINE_BYTE] = {"char", "char", "", 1},
    [GYRE_COMBINE_U32] = {"u32", "u32", "", 4},
    [GYRE_COMBINE_I32] = {"int", "u32", "", 4},
    [GYRE_COMBINE_U64] = {"u64", "u64", "", 8},
    [GYRE_COMBINE_I64] = {"i64", "u64", "", 8},
    [GYRE_COMBINE_F32] = {"float", "float", " -DFLOAT=32", 4},
    [GYRE_COMBINE_F64] = {"double", "double", " -DFLOAT=64", 8},
};

static struct kind kind_of(const gyre_combine_desc *desc)
{
    return desc->rule == GYRE_COMBINE_TAKE ? taking
                                           : (struct kind){desc->element, desc->rule, desc->part_count};
}

static struct cuda_combiner *find_combiner(const gyre_device *device, const struct kind *kind)
{
    for (uint32_t i = 0; device->combiners && i < device->combiners->count; i++) {
        struct cuda_combiner *combiner = &device->combiners->all[i];
        if (combiner->kind.element == kind->element && combiner->kind.rule == kind->rule &&
            combiner->kind.parts == kind->parts)
            return combiner;
    }
    return NULL;
}

static gyre_status find_function(gyre_device *device, CUmodule module, const char *name, CUfunction *out)
{
    const struct cuda_driver *driver = device->driver;
    gyre_status status =
        cuda_check(device, driver->cuModuleGetFunction(out, module, name), "cuModuleGetFunction");
    if (status == GYRE_OK && driver->cuFuncLoad)
        status = cuda_check(device, driver->cuFuncLoad(*out), "cuFuncLoad");
    return status;
}

static gyre_status find_functions(gyre_device *device, struct cuda_combiner *combiner)
{
    gyre_status status = find_function(device, combiner->module, "gyre_combine", &combiner->function);
    if (status == GYRE_OK && combiner->kind.rule != GYRE_COMBINE_TAKE)
        status = find_function(device, combiner->module, "gyre_combine_at_once", &combiner->at_once);
    return status;
}

static gyre_status load(gyre_device *device, const void *image, uint64_t deadline_ns,
                        struct cuda_combiner *combiner)
{
    CUresult result;
    gyre_status status = cuda_quiet_begin_until(device, deadline_ns);
    if (status != GYRE_OK)
        return status;
    CUDA_PATIENTLY(result, device->driver->cuModuleLoadData(&combiner->module, image))
    status = cuda_check(device, result, "cuModuleLoadData");
    if (status == GYRE_OK) {
        status = find_functions(device, combiner);
        if (status != GYRE_OK)
            cuda_note(device, device->driver->cuModuleUnload(combiner->module), "cuModuleUnload");
    }
    const gyre_status ended = cuda_quiet_end(device);
    return status == GYRE_OK ? ended : status;
}

static gyre_status compile(const gyre_device *device, const struct kind *kind, uint64_t deadline_ns,
                           struct cuda_image *out)
{
    const struct element *type = &elements[kind->element];
    char options[256], text[sizeof cuda_combine_text + sizeof cuda_combine_at_once_text];
    if (deadline_ns < COMPILE_NS || gyre_clock_ns() > deadline_ns - COMPILE_NS)
        return device->host->error(GYRE_TIMEOUT, "less time is left than a compile may take");
    snprintf(options, sizeof options, "-DNUMBER=%s -DRULE=%d -DPARTS=%u%s",
             kind->rule == GYRE_COMBINE_SUM ? type->sum : type->number, (int)kind->rule, kind->parts,
             type->options);
    snprintf(text, sizeof text, "%s%s", cuda_combine_text,
             kind->rule == GYRE_COMBINE_TAKE ? "" : cuda_combine_at_once_text);
    return cuda_compile_text(device, text, options, out);
}

/* Has the device ready for a kind. `image`: what was compiled for another device of the call; made, if none was. */
static gyre_status need_combiner(gyre_device *device, const struct kind *kind, uint64_t deadline_ns,
                                 struct cuda_image *image)
{
    struct cuda_combiner made = {.kind = *kind};
    if (find_combiner(device, kind))
        return GYRE_OK;
    if (!device->combiners)
        device->combiners = calloc(1, sizeof *device->combiners);
    if (!device->combiners || device->combiners->count == COMBINERS_MAX)
        return device->host->error(GYRE_EXHAUSTED, "no memory for another kernel that combines");
    gyre_status status = cuda_meeting_place_make(device, &device->combiners->place);
    if (status == GYRE_OK && !image->bytes)
        status = compile(device, kind, deadline_ns, image);
    if (status == GYRE_OK)
        status = load(device, image->bytes, deadline_ns, &made);
    if (status == GYRE_OK)
        device->combiners->all[device->combiners->count++] = made;
    return status;
}

void cuda_combiners_destroy(gyre_device *device)
{
    CUresult result;
    cuda_nccl_leave(device);
    if (!device->combiners)
        return;
    if (!atomic_load(&device->lost) && cuda_quiet_begin(device) == GYRE_OK) {
        for (uint32_t i = 0; i < device->combiners->count; i++) {
            CUDA_PATIENTLY(result, device->driver->cuModuleUnload(device->combiners->all[i].module))
            cuda_check_gone(device, result, "cuModuleUnload");
        }
        cuda_meeting_place_destroy(device, &device->combiners->place);
        cuda_quiet_end(device);
    }
    free(device->combiners);
    device->combiners = NULL;
}

static gyre_status check_desc(const gyre_combine_desc *desc)
{
    if (desc->part_count >= 2 && desc->part_count <= PARTS && (unsigned)desc->element <= GYRE_COMBINE_F64 &&
        desc->rule >= GYRE_COMBINE_SUM && desc->rule <= GYRE_COMBINE_TAKE &&
        (desc->rule == GYRE_COMBINE_TAKE) == (desc->element == GYRE_COMBINE_BYTE) &&
        desc->root < desc->part_count)
        return GYRE_OK;
    return desc->parts[0].device->host->error(GYRE_UNIMPLEMENTED,
                                              "%u memories are not combined by rule %d with elements %d",
                                              desc->part_count, (int)desc->rule, (int)desc->element);
}

/* All devices of the call: those of one architecture share what is compiled. */
static gyre_status need_combiners(const gyre_combine_desc *desc, const struct kind *kind)
{
    struct cuda_image image = {0};
    const char *architecture = desc->parts[0].device->architecture;
    gyre_status status = GYRE_OK;
    for (uint32_t i = 0; status == GYRE_OK && i < desc->part_count; i++) {
        gyre_device *device = desc->parts[i].device;
        if (strcmp(device->architecture, architecture) != 0) {
            free(image.bytes);
            image = (struct cuda_image){0};
            architecture = device->architecture;
        }
        status = need_combiner(device, kind, desc->deadline_ns, &image);
    }
    free(image.bytes);
    return status;
}

/* By kernels of this file. */
static gyre_status prepare_directly(const gyre_combine_desc *desc)
{
    const struct kind kind = kind_of(desc);
    gyre_status status = need_combiners(desc, &kind);
    if (status == GYRE_OK)
        status = need_combiners(desc, &taking);
    return status == GYRE_OK ? cuda_let_in_all(desc) : status;
}

gyre_status cuda_combine_prepare(const gyre_combine_desc *desc)
{
    gyre_status status = check_desc(desc);
    for (uint32_t i = 0; status == GYRE_OK && i < desc->part_count; i++)
        status = cuda_lost(desc->parts[i].device);
    if (status != GYRE_OK)
        return status;
    if (desc->parts[0].device->settings.collectives == CUDA_COLLECTIVES_HOST)
        return desc->parts[0].device->host->error(GYRE_UNIMPLEMENTED, "backend.cuda.collectives is `host`");
    return cuda_nccl_prepare(desc) ? GYRE_OK : prepare_directly(desc);
}

static bool is_quiet(const struct cuda_held *held, const gyre_device *device)
{
    return held->quiet[cuda_held_place(held, device)];
}

/* ---- one kernel ---- */

/* As the kernel has it. */
struct operands {
    CUdeviceptr parts[PARTS], own, before;
    uint64_t head, packs, tail;
};

struct share {
    uint64_t from, size; /* bytes of the elements */
};

/* What was launched, and so may be written. */
struct written {
    uint32_t part;
    struct share share;
};

/* Elements up to the first whole pack, packs, and elements behind them. */
static void count_packs(struct operands *operands, const struct share *share, uint32_t size)
{
    uint64_t head = (PACK_BYTES - operands->own % PACK_BYTES) % PACK_BYTES;
    head = head < share->size ? head : share->size;
    operands->head = head / size;
    operands->packs = (share->size - head) / PACK_BYTES;
    operands->tail = (share->size - head) % PACK_BYTES / size;
}

static uint32_t blocks_for(const struct cuda_held *held, const gyre_device *device, uint64_t packs)
{
    const uint64_t wanted = packs / (THREADS * EACH) + 1;
    const uint64_t room = cuda_free_sms(device, is_quiet(held, device));
    return (uint32_t)(wanted < room ? wanted : room);
}

static gyre_status launch(const struct cuda_held *held, gyre_device *device,
                          const struct cuda_combiner *combiner, struct operands *operands)
{
    void *parameters[] = {operands};
    const uint32_t blocks = blocks_for(held, device, operands->packs);
    CUresult result;
    gyre_status status = cuda_enter(device);
    if (status != GYRE_OK)
        return status;
    CUDA_PATIENTLY(result,
                   device->driver->cuLaunchCooperativeKernel(combiner->function, blocks, 1, 1, THREADS, 1, 1,
                                                             0, device->residents->service, parameters))
    return cuda_check(device, result, "cuLaunchCooperativeKernel");
}

/* Part `part` computes a share from all parts. */
static gyre_status compute(const struct cuda_held *held, const gyre_combine_desc *desc, uint32_t part,
                           const struct share *share)
{
    gyre_device *device = desc->parts[part].device;
    const struct kind kind = kind_of(desc);
    struct operands operands = {.own = cuda_part_place(desc, part, share->from),
                                .before = cuda_part_before(desc, part, share->from)};
    for (uint32_t i = 0; i < desc->part_count; i++)
        operands.parts[i] = cuda_part_place(desc, i, share->from);
    count_packs(&operands, share, elements[desc->element].size);
    return launch(held, device, find_combiner(device, &kind), &operands);
}

/* Part `part` takes a share from part `from`. */
static gyre_status take(const struct cuda_held *held, const gyre_combine_desc *desc, uint32_t part,
                        uint32_t from, const struct share *share)
{
    gyre_device *device = desc->parts[part].device;
    struct operands operands = {.own = cuda_part_place(desc, part, share->from),
                                .before = cuda_part_before(desc, part, share->from)};
    operands.parts[0] = operands.own;
    operands.parts[1] = cuda_part_place(desc, from, share->from);
    count_packs(&operands, share, 1);
    return launch(held, device, find_combiner(device, &taking), &operands);
}

/* ---- all ---- */

struct plan {
    uint32_t owners[PARTS]; /* the parts that have a share */
    struct share shares[PARTS];
    uint32_t count;
    struct written written[PARTS * PARTS];
    uint32_t written_count;
};

static void make_plan(const gyre_combine_desc *desc, struct plan *plan)
{
    plan->count = plan->written_count = 0;
    for (uint32_t i = 0; i < desc->part_count; i++)
        if (desc->rule == GYRE_COMBINE_TAKE ? i == desc->root : desc->parts[i].gets != 0)
            plan->owners[plan->count++] = i;
    const uint64_t each = (desc->byte_count / (plan->count ? plan->count : 1) + SHARE_STEP) / SHARE_STEP *
                          SHARE_STEP; /* of whole lines */
    for (uint32_t i = 0; i < plan->count; i++) {
        const uint64_t from = i * each < desc->byte_count ? i * each : desc->byte_count;
        const uint64_t left = desc->byte_count - from;
        plan->shares[i] = (struct share){from, left < each || i + 1 == plan->count ? left : each};
    }
}

static void note(struct plan *plan, uint32_t part, const struct share *share)
{
    plan->written[plan->written_count++] = (struct written){part, *share};
}

static gyre_status compute_all(const struct cuda_held *held, const gyre_combine_desc *desc, struct plan *plan)
{
    gyre_status status = GYRE_OK;
    if (desc->rule == GYRE_COMBINE_TAKE)
        return GYRE_OK;
    for (uint32_t i = 0; status == GYRE_OK && i < plan->count; i++)
        if (plan->shares[i].size) {
            status = compute(held, desc, plan->owners[i], &plan->shares[i]);
            if (status == GYRE_OK)
                note(plan, plan->owners[i], &plan->shares[i]);
        }
    return cuda_held_await(held, status);
}

static gyre_status take_all(const struct cuda_held *held, const gyre_combine_desc *desc, struct plan *plan)
{
    gyre_status status = GYRE_OK;
    const uint32_t computed = plan->written_count;
    for (uint32_t i = 0; i < plan->count; i++)
        for (uint32_t part = 0; status == GYRE_OK && part < desc->part_count; part++)
            if (desc->parts[part].gets && part != plan->owners[i] && plan->shares[i].size) {
                status = take(held, desc, part, plan->owners[i], &plan->shares[i]);
                if (status == GYRE_OK)
                    note(plan, part, &plan->shares[i]);
            }
    return plan->written_count > computed ? cuda_held_await(held, status) : status;
}

/* ---- at once ---- */

/* A launch that waits for its kernel would wait for another one that is not launched yet. */
static bool can_meet(const struct cuda_held *held, const gyre_combine_desc *desc, const struct plan *plan)
{
    bool can =
        desc->rule != GYRE_COMBINE_TAKE && plan->count == desc->part_count && held->count == desc->part_count;
    for (uint32_t i = 0; can && i < held->count; i++)
        can = !held->devices[i]->residents->serial;
    return can;
}

/* The blocks of all GPUs have the same numbers, and each waits for those of its own number. */
static uint32_t blocks_of_all(const struct cuda_held *held, uint64_t packs)
{
    uint32_t blocks = CUDA_MEET_BLOCKS_MAX;
    for (uint32_t i = 0; i < held->count; i++) {
        const uint32_t one = blocks_for(held, held->devices[i], packs);
        blocks = one < blocks ? one : blocks;
    }
    return blocks;
}

static gyre_status meet(const struct cuda_held *held, const gyre_combine_desc *desc, struct plan *plan)
{
    struct cuda_meeting_part parts[PARTS];
    const struct kind kind = kind_of(desc);
    const struct share whole = {0, desc->byte_count};
    uint64_t from[PARTS + 1];
    for (uint32_t i = 0; i < desc->part_count; i++) {
        gyre_device *device = desc->parts[i].device;
        from[i] = plan->shares[i].from;
        parts[i] = (struct cuda_meeting_part){.device = device,
                                              .place = &device->combiners->place,
                                              .function = find_combiner(device, &kind)->at_once,
                                              .own = cuda_part_place(desc, i, whole.from),
                                              .before = cuda_part_before(desc, i, whole.from)};
    }
    from[desc->part_count] = desc->byte_count;
    const gyre_status status =
        cuda_meet(parts, desc->part_count, from, blocks_of_all(held, plan->shares[0].size / PACK_BYTES),
                  desc->deadline_ns);
    for (uint32_t i = 0; i < desc->part_count; i++)
        if (parts[i].launched)
            note(plan, i, &whole);
    return status;
}

/* Brings back what was before, on each device that still works. */
static void put_back(const struct cuda_held *held, const gyre_combine_desc *desc, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->written_count; i++) {
        const struct written *written = &plan->written[i];
        cuda_part_put_back(desc, written->part, written->share.from, written->share.size);
    }
    (void)cuda_held_await(held, GYRE_OK);
}

/* A device that was not made ready has no kernel for this, and must not read what it is not let into. */
static gyre_status check_ready(const gyre_combine_desc *desc)
{
    const struct kind kind = kind_of(desc);
    for (uint32_t i = 0; i < desc->part_count; i++) {
        gyre_device *device = desc->parts[i].device;
        bool ready = find_combiner(device, &kind) && find_combiner(device, &taking);
        for (uint32_t k = 0; k < desc->part_count; k++)
            ready = ready && cuda_is_let_in(device, desc->parts[k].device);
        if (!ready)
            return device->host->error(GYRE_FAILED, "GPU %d was not made ready to combine these memories",
                                       device->handle);
    }
    return GYRE_OK;
}

gyre_status cuda_combine(const gyre_combine_desc *desc)
{
    struct cuda_held held = cuda_held_of(desc);
    struct plan plan;
    if (cuda_nccl_is_ready(desc))
        return cuda_nccl_combine(desc);
    make_plan(desc, &plan);
    gyre_status status = check_ready(desc);
    if (status == GYRE_OK)
        status = cuda_held_begin(&held);
    if (status != GYRE_OK)
        return status;
    const bool at_once = can_meet(&held, desc, &plan);
    status = at_once ? meet(&held, desc, &plan) : compute_all(&held, desc, &plan);
    if (status == GYRE_OK && !at_once)
        status = take_all(&held, desc, &plan);
    if (status != GYRE_OK)
        put_back(&held, desc, &plan);
    cuda_held_end(&held);
    return status;
}
