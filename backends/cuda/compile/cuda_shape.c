/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the size of a kernel's blocks, and how many blocks a multiprocessor holds. Arithmetic only, no
 * state: it works for devices that only compile, too. A launch uses the driver's own figure for how many
 * blocks a multiprocessor holds (cuda_launch.c).
 */
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/compile/cuda_shape.h"
#include "gyre/dialect/cuda_module.h"

enum {
    WARP = 32,
    THREADS_MIN = 64,
    ACTOR_THREADS = 128,
    REGISTERS = 65536,   /* of a multiprocessor, for all capabilities since 7.0 */
    REGISTER_UNIT = 256, /* the registers of a warp are a multiple of this */
    SYSTEM_SHARED = 1024 /* of each block, since capability 8.0 */
};

static uint64_t align_up(uint64_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/*
 * Whether all messages of the kernel fit lines (small slots of a fixed size). Such a kernel moves them
 * through shared memory: a window of slots for each thread.
 */
static bool uses_lines(const struct cuda_kernel *kernel)
{
    return kernel->record.form == GYRE_FORM_LANE && kernel->record.request->size <= GYRE_SLOT_SMALL_PAYLOAD &&
           kernel->record.reply->size <= GYRE_SLOT_SMALL_PAYLOAD;
}

/* Bytes of one message in a stage (room in shared memory): request and reply with their headers; never 0. */
static uint64_t staged_size(const struct cuda_kernel *kernel)
{
    uint64_t reply = kernel->record.reply->size;
    reply = reply > GYRE_SLOT_SMALL_PAYLOAD ? reply : GYRE_SLOT_SMALL_PAYLOAD;
    const uint64_t size = 16 * GYRE_CUDA_CELL(kernel->record.request->size, reply);
    return size ? size : 16;
}

/* Bytes that one call of a lane kernel may emit, where a stage keeps them until they are published. */
static uint64_t emitted_size(const struct cuda_kernel *kernel)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < kernel->record.port_count; i++)
        size += (GYRE_SLOT_HEADER_SIZE + kernel->record.ports[i].type->size + 15) / 16 * 16 *
                kernel->record.ports[i].most;
    return GYRE_CUDA_EMITS(size);
}

static uint32_t choose_threads(const struct cuda_kernel *kernel, uint32_t lanes)
{
    if (gyre_form_shares(kernel->record.form))
        return lanes;
    if (kernel->record.form == GYRE_FORM_KEYED)
        return GYRE_KEYED_THREADS;
    uint32_t threads =
        kernel->record.form == GYRE_FORM_ACTOR ? ACTOR_THREADS : (uint32_t)align_up(lanes, WARP);
    return threads < THREADS_MIN           ? THREADS_MIN
           : threads > GYRE_CUDA_LANES_MAX ? GYRE_CUDA_LANES_MAX
                                           : threads;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The number of messages for which an actor has room. */
static uint64_t actor_window(uint64_t each)
{
    const uint64_t some = least_of(GYRE_ACTOR_MOST, GYRE_ACTOR_STAGE_SIZE / each);
    return some > GYRE_ACTOR_WINDOW ? some : GYRE_ACTOR_WINDOW;
}

/* The number of messages for which a keyed actor has room. */
static uint64_t keyed_window(uint64_t each)
{
    const uint64_t some = least_of(GYRE_KEYED_THREADS, GYRE_KEYED_STAGE_SIZE / each);
    return some ? some : 1;
}

/*
 * Shared memory for the messages of a kernel that stages them: room for the messages of each worker or of the
 * block, or none where not even one message fits. Kernels use as much of it as they can (gyre_stage_ in
 * cuda_stage.h). They rely only on GYRE_CUDA_ROOM.
 */
static uint64_t stage_size(const struct cuda_kernel *kernel, uint32_t threads, uint64_t limit, bool tight)
{
    const uint64_t each = staged_size(kernel), whole = threads / GYRE_CUDA_WORKER(threads);
    const uint64_t workers = whole ? whole : 1;
    const bool block = gyre_form_shares(kernel->record.form);
    const uint64_t scratch = block ? align_up(kernel->record.scratch_size, 16) : 0;
    if (kernel->record.form == GYRE_FORM_LANE && each <= limit / workers)
        return workers * least_of(threads / workers, limit / workers / each) * each;
    if (scratch + each > limit)
        return scratch;
    const uint64_t some =
        least_of(GYRE_BLOCK_WINDOW, (tight ? GYRE_BLOCK_STAGE_SIZE_TIGHT : GYRE_BLOCK_STAGE_SIZE) / each);
    const uint64_t wanted = block                                    ? some ? some : 1
                            : kernel->record.form == GYRE_FORM_ACTOR ? actor_window(each)
                            : kernel->record.form == GYRE_FORM_KEYED ? keyed_window(each)
                                                                     : threads;
    return scratch + least_of(wanted, (limit - scratch) / each) * each;
}

/*
 * Shared memory in which a lane kernel works off whole windows of a backlog (gyre_drain_places_of_ in cuda_link_drain.h): as many messages as its
 * threads have loads for. 0: its messages do not go by windows.
 */
static uint64_t windows_size(const struct cuda_kernel *kernel, uint32_t threads)
{
    if (!uses_lines(kernel))
        return 0;
    for (uint32_t i = 0; i < kernel->record.port_count; i++)
        if (kernel->record.ports[i].most != 1 || kernel->record.ports[i].type->size > GYRE_SLOT_SMALL_PAYLOAD)
            return 0;
    const uint64_t lines = 1 + kernel->record.port_count;
    return threads / 4 * GYRE_CUDA_LOADS * (lines * GYRE_LINE_SIZE + sizeof(uint64_t));
}

/*
 * Shared memory of a lane kernel that can be a stage of a pipeline: for the message of each thread and what it may emit, or for
 * a warp's at least. Without that much, cuda_link_view.h keeps them in device memory. A lone block, beside which nothing is on its
 * multiprocessor, has room for whole windows.
 */
static uint64_t linked_size(const struct cuda_kernel *kernel, uint32_t threads, uint32_t blocks,
                            uint64_t limit)
{
    const uint64_t cell = staged_size(kernel), each = cell + emitted_size(kernel);
    const uint64_t fits = least_of(threads, limit / each);
    const uint64_t size = fits >= WARP ? fits * each : least_of(threads, limit / cell) * cell;
    const uint64_t windows = blocks == 1 ? windows_size(kernel, threads) : 0;
    return windows > size && windows <= limit ? windows : size;
}

/*
 * Chooses threads and dynamic shared memory of a block. A block kernel has as many threads as lanes; other
 * kernels have helper threads in addition. Shared memory holds the scratch and, as far as it reaches, the
 * messages at work.
 */
void cuda_block_shape(const gyre_device *device, const struct cuda_kernel *kernel, uint32_t lanes,
                      uint32_t blocks, bool tight, uint32_t *threads_out, uint32_t *shared_size)
{
    uint32_t limit =
        device->shared_size_max > kernel->shared_size ? device->shared_size_max - kernel->shared_size : 0;
    uint32_t threads = choose_threads(kernel, lanes);
    const uint32_t line_window = GYRE_CUDA_LOADS * 16; /* bytes for each thread */
    if (!kernel->record.is_island && kernel->record.form == GYRE_FORM_LANE) {
        *shared_size = (uint32_t)linked_size(kernel, threads, blocks, limit);
    } else if (uses_lines(kernel)) {
        while (threads > THREADS_MIN && threads * line_window > limit)
            threads -= WARP;
        *shared_size = threads * line_window;
    } else if (!kernel->record.is_island && kernel->record.form == GYRE_FORM_KEYED &&
               limit > GYRE_KEYED_RUN_MOST) {
        *shared_size =
            (uint32_t)(GYRE_KEYED_RUN_MOST + stage_size(kernel, threads, limit - GYRE_KEYED_RUN_MOST, tight));
    } else {
        *shared_size = (uint32_t)stage_size(kernel, threads, limit, tight);
    }
    *threads_out = threads;
}

static uint32_t threads_of_unit(const gyre_device *device)
{
    if (device->major == 7 && device->minor == 5)
        return 1024;
    return device->major == 12 || (device->major == 8 && device->minor != 0) ? 1536 : 2048;
}

uint32_t cuda_blocks_per_sm(const gyre_device *device, const struct cuda_kernel *kernel, uint32_t threads,
                            uint32_t shared_size)
{
    const uint32_t warps = (threads + WARP - 1) / WARP;
    const uint64_t warp_registers = align_up((uint64_t)kernel->record.registers * WARP, REGISTER_UNIT);
    const uint64_t shared =
        (uint64_t)kernel->shared_size + shared_size + (device->major >= 8 ? SYSTEM_SHARED : 0);
    if (!warps || !warp_registers || !shared)
        return 0;
    const uint64_t by_threads = threads_of_unit(device) / (warps * WARP);
    const uint64_t by_registers = REGISTERS / warp_registers / warps;
    return (uint32_t)least_of(least_of(by_threads, by_registers), device->shared_size_unit / shared);
}
