/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between the program's memory and buffers. The GPU's copy engine reads and writes pinned memory at
 * the speed of the bus, but the program's memory is not pinned. (Pinning it for one transfer would have to be
 * undone, which waits for resident kernels.) So large transfers go through pinned pieces: a few threads
 * (carriers) copy pieces in or out while other pieces are on the bus.
 *
 * Nothing here waits for a kernel. Takes no lock: the core makes one transfer of a device at a time; the
 * carriers share a counter. A piece, its stream and its event belong to one carrier.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/cuda/cuda_check.h"
#include "backends/cuda/cuda_failure.h"
#include "backends/cuda/memory/cuda_memory.h"
#include "backends/cuda/presence/cuda_quiet.h"
#include "backends/cuda/driver/cuda_ranges.h"
#include "backends/cuda/cuda_resident.h"
#include "backends/cuda/memory/cuda_transfer.h"
#include "gyre/thread.h"

enum {
    PIECE_SIZE = 1 << 20,
    PIECES = 3,                      /* of a carrier: it copies one while others are on the bus */
    THREADS_MAX = CUDA_CARRIERS_MAX, /* including the calling thread */
    STAGED_MIN = 4 << 20,            /* below that the driver's own staging is as fast */
    ANOTHER_THREAD = 4 << 20         /* one more thread is worth its start for each of this many bytes */
};

struct piece {
    void *memory;
    CUevent event;         /* recorded after the piece's last trip on the bus */
    unsigned char *target; /* where the bytes of a running download go */
    size_t size;
};

struct cuda_carrier {
    gyre_device *device;
    const gyre_transfer_desc *desc; /* the transfer under way */
    uint64_t *next;                 /* the transfer's first byte that no carrier took; atomic */
    CUstream stream;
    struct piece pieces[PIECES];
    CUresult result;
    const char *call; /* the driver call that failed */
    pthread_t thread;
    bool started;
};

struct cuda_carriers {
    struct cuda_carrier all[THREADS_MAX];
    uint32_t count; /* the carriers that were made */
};

/* ---- making ---- */

/*
 * Returns false when a call of the carrier has failed, now or before; `result` and `call` then say how. A
 * fatal result is noted in the device at once: otherwise the monitor, which runs meanwhile, would report a
 * consequence as the cause.
 */
static bool call_works(struct cuda_carrier *carrier, CUresult result, const char *call)
{
    cuda_note(carrier->device, result, call);
    if (carrier->result == CUDA_SUCCESS && result != CUDA_SUCCESS) {
        carrier->result = result;
        carrier->call = call;
    }
    return carrier->result == CUDA_SUCCESS;
}

/* Frees a carrier. Called in a quiet moment, because freeing pinned memory waits for resident kernels. */
static void destroy_carrier(struct cuda_carrier *carrier)
{
    gyre_device *device = carrier->device;
    const struct cuda_driver *driver = device->driver;
    CUresult result;
    for (int i = 0; i < PIECES; i++) {
        if (carrier->pieces[i].event)
            cuda_check_gone(device, driver->cuEventDestroy(carrier->pieces[i].event), "cuEventDestroy");
        if (!carrier->pieces[i].memory)
            continue;
        CUDA_PATIENTLY(result, driver->cuMemFreeHost(carrier->pieces[i].memory))
        cuda_check_gone(device, result, "cuMemFreeHost");
    }
    memset(carrier, 0, sizeof *carrier);
}

static void make_piece(struct cuda_carrier *carrier, struct piece *piece)
{
    const struct cuda_driver *driver = carrier->device->driver;
    if (!piece->memory &&
        !call_works(carrier, driver->cuMemHostAlloc(&piece->memory, PIECE_SIZE, CU_MEMHOSTALLOC_PORTABLE),
                    "cuMemHostAlloc"))
        piece->memory = NULL;
    else if (!piece->event &&
             !call_works(carrier, driver->cuEventCreate(&piece->event, CU_EVENT_DISABLE_TIMING),
                         "cuEventCreate"))
        piece->event = NULL;
}

/*
 * Makes the objects that the carrier lacks. After a failure the objects made so far are kept for the next
 * time.
 */
static bool make_carrier(gyre_device *device, struct cuda_carrier *carrier)
{
    carrier->device = device;
    carrier->result = CUDA_SUCCESS;
    carrier->stream = device->residents->carriers[carrier - device->carriers->all];
    for (int i = 0; i < PIECES && carrier->result == CUDA_SUCCESS; i++)
        make_piece(carrier, &carrier->pieces[i]);
    cuda_tell(device, carrier->result, carrier->call,
              "a large transfer has to do without pinned memory, and is slower");
    return carrier->result == CUDA_SUCCESS;
}

/*
 * Returns how many carriers the transfer is worth and memory allows; 0: the transfer goes without pinned
 * pieces.
 */
static uint32_t find_carriers(gyre_device *device, uint64_t byte_count)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t wanted = byte_count / ANOTHER_THREAD;
    if (!device->carriers)
        device->carriers = calloc(1, sizeof *device->carriers);
    if (!device->carriers)
        return 0;
    wanted = wanted < THREADS_MAX ? wanted : THREADS_MAX;
    if (processors > 1 && wanted > (uint64_t)processors / 2)
        wanted = (uint64_t)processors / 2;
    wanted = wanted ? wanted : 1;
    while (device->carriers->count < wanted) {
        if (!make_carrier(device, &device->carriers->all[device->carriers->count]))
            break;
        device->carriers->count++;
    }
    return device->carriers->count < wanted ? device->carriers->count : (uint32_t)wanted;
}

void cuda_carriers_destroy(gyre_device *device)
{
    if (!device->carriers)
        return;
    if (cuda_quiet_begin(device) == GYRE_OK) {
        for (uint32_t i = 0; i < THREADS_MAX && device->carriers->all[i].device; i++)
            destroy_carrier(&device->carriers->all[i]);
        cuda_quiet_end(device);
    }
    free(device->carriers);
    device->carriers = NULL;
}

/* ---- carrying ---- */

/* Takes the next part of the transfer for a carrier. False when all parts are taken. */
static bool take_part(struct cuda_carrier *carrier, uint64_t *offset, size_t *size)
{
    /* relaxed: a plain counter; the threads are joined before the result is read */
    *offset = __atomic_fetch_add(carrier->next, PIECE_SIZE, __ATOMIC_RELAXED);
    if (*offset >= carrier->desc->byte_count)
        return false;
    const uint64_t left = carrier->desc->byte_count - *offset;
    *size = left < PIECE_SIZE ? (size_t)left : PIECE_SIZE;
    return true;
}

static bool await_piece(struct cuda_carrier *carrier, struct piece *piece)
{
    return call_works(carrier, carrier->device->driver->cuEventSynchronize(piece->event),
                      "cuEventSynchronize");
}

static void upload_parts(struct cuda_carrier *carrier)
{
    const struct cuda_driver *driver = carrier->device->driver;
    const gyre_transfer_desc *desc = carrier->desc;
    const CUdeviceptr place = cuda_memory_place(desc->memory) + desc->offset;
    uint64_t offset;
    size_t size;
    for (uint32_t turn = 0; carrier->result == CUDA_SUCCESS && take_part(carrier, &offset, &size); turn++) {
        struct piece *piece = &carrier->pieces[turn % PIECES];
        if (turn >= PIECES && !await_piece(carrier, piece))
            break;
        memcpy(piece->memory, (const unsigned char *)desc->source + offset, size);
        if (call_works(carrier,
                       driver->cuMemcpyHtoDAsync(place + offset, piece->memory, size, carrier->stream),
                       "cuMemcpyHtoDAsync"))
            call_works(carrier, driver->cuEventRecord(piece->event, carrier->stream), "cuEventRecord");
    }
}

/* Copies the bytes that arrived in a piece to the program's memory. */
static void empty_piece(struct cuda_carrier *carrier, struct piece *piece)
{
    if (piece->target && await_piece(carrier, piece))
        memcpy(piece->target, piece->memory, piece->size);
    piece->target = NULL;
}

static void download_parts(struct cuda_carrier *carrier)
{
    const struct cuda_driver *driver = carrier->device->driver;
    const gyre_transfer_desc *desc = carrier->desc;
    const CUdeviceptr place = cuda_memory_place(desc->memory) + desc->offset;
    uint64_t offset;
    uint32_t turn = 0;
    size_t size;
    for (; carrier->result == CUDA_SUCCESS && take_part(carrier, &offset, &size); turn++) {
        struct piece *piece = &carrier->pieces[turn % PIECES];
        empty_piece(carrier, piece);
        if (call_works(carrier,
                       driver->cuMemcpyDtoHAsync(piece->memory, place + offset, size, carrier->stream),
                       "cuMemcpyDtoHAsync") &&
            call_works(carrier, driver->cuEventRecord(piece->event, carrier->stream), "cuEventRecord")) {
            piece->target = (unsigned char *)desc->target + offset;
            piece->size = size;
        }
    }
    for (uint32_t i = 0; i < PIECES; i++)
        empty_piece(carrier, &carrier->pieces[(turn + i) % PIECES]);
}

static void *carry_pieces(void *argument)
{
    struct cuda_carrier *carrier = argument;
    const struct cuda_driver *driver = carrier->device->driver;
    if (!call_works(carrier, driver->cuCtxSetCurrent(carrier->device->context), "cuCtxSetCurrent"))
        return NULL;
    if (carrier->desc->kind == GYRE_TRANSFER_UPLOAD)
        upload_parts(carrier);
    else
        download_parts(carrier);
    call_works(carrier, driver->cuStreamSynchronize(carrier->stream), "cuStreamSynchronize");
    return NULL;
}

/*
 * Makes a transfer with `count` carriers; the calling thread is the first. If a thread does not start, the
 * others carry its parts.
 */
static gyre_status carry_together(gyre_device *device, const gyre_transfer_desc *desc, uint32_t count)
{
    struct cuda_carrier *all = device->carriers->all;
    gyre_status status = GYRE_OK;
    uint64_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        all[i].desc = desc;
        all[i].next = &next;
        all[i].result = CUDA_SUCCESS;
        all[i].started = i > 0 && gyre_thread_start(&all[i].thread, NULL, carry_pieces, &all[i]) == 0;
    }
    carry_pieces(&all[0]);
    for (uint32_t i = 0; i < count; i++) {
        if (all[i].started)
            pthread_join(all[i].thread, NULL);
        if (status == GYRE_OK && (i == 0 || all[i].started))
            status = cuda_check(device, all[i].result, all[i].call);
    }
    return status;
}

/* ---- the operation ---- */

/* Whether the driver knows the program's memory already: such memory needs no pinned pieces. */
static bool is_pinned(gyre_device *device, const gyre_transfer_desc *desc)
{
    CUmemorytype type;
    const void *memory = desc->kind == GYRE_TRANSFER_UPLOAD ? desc->source : desc->target;
    if (!device->driver->cuPointerGetAttribute)
        return false;
    const CUresult result = device->driver->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                                  (CUdeviceptr)(uintptr_t)memory);
    cuda_note(device, result, "cuPointerGetAttribute");
    return result == CUDA_SUCCESS;
}

/* Transfers by the driver's own copy, in the service stream. */
static gyre_status transfer_directly(gyre_device *device, const gyre_transfer_desc *desc)
{
    const struct cuda_driver *driver = device->driver;
    CUstream service = device->residents->service;
    CUdeviceptr place = cuda_memory_place(desc->memory) + desc->offset;
    gyre_status status;
    switch (desc->kind) {
    case GYRE_TRANSFER_UPLOAD:
        status = cuda_check(device, driver->cuMemcpyHtoDAsync(place, desc->source, desc->byte_count, service),
                            "cuMemcpyHtoDAsync");
        break;
    case GYRE_TRANSFER_DOWNLOAD:
        status = cuda_check(device, driver->cuMemcpyDtoHAsync(desc->target, place, desc->byte_count, service),
                            "cuMemcpyDtoHAsync");
        break;
    case GYRE_TRANSFER_FILL:
        status = cuda_check(device, driver->cuMemsetD8Async(place, desc->fill, desc->byte_count, service),
                            "cuMemsetD8Async");
        break;
    default:
        status = device->host->error(GYRE_INVALID, "no such transfer: %d", (int)desc->kind);
    }
    if (status == GYRE_OK)
        status = cuda_check(device, driver->cuStreamSynchronize(service), "cuStreamSynchronize");
    return status;
}

gyre_status cuda_transfer(gyre_device *device, const gyre_transfer_desc *desc)
{
    bool quiet = false;
    cuda_range_begin(device->host, desc->kind == GYRE_TRANSFER_UPLOAD     ? "gyre: upload"
                                   : desc->kind == GYRE_TRANSFER_DOWNLOAD ? "gyre: download"
                                                                          : "gyre: fill");
    gyre_status status = cuda_work_begin(device, &quiet);
    if (status != GYRE_OK) {
        cuda_range_end();
        return status;
    }
    const bool copies = desc->kind == GYRE_TRANSFER_UPLOAD || desc->kind == GYRE_TRANSFER_DOWNLOAD;
    uint32_t carriers = 0;
    if (copies && desc->byte_count >= STAGED_MIN && !is_pinned(device, desc))
        carriers = find_carriers(device, desc->byte_count);
    status = carriers ? carry_together(device, desc, carriers) : transfer_directly(device, desc);
    cuda_work_end(device, quiet);
    cuda_range_end();
    return status;
}

/* ---- within the device ---- */

/* Multiprocessors that kernels take. The caller holds residents->lock. */
static uint64_t taken_sms(const gyre_device *device)
{
    uint64_t taken = 0;
    for (const gyre_resident *resident = device->residents->first; resident; resident = resident->next)
        taken += resident->sms;
    return taken;
}

uint32_t cuda_free_sms(const gyre_device *device, bool quiet)
{
    const uint64_t taken = quiet ? 0 : taken_sms(device);
    const uint64_t left = taken < device->sm_total ? device->sm_total - taken : 1;
    return left < device->sm_count ? (uint32_t)left : device->sm_count;
}

/*
 * Whether kernels take more than half of the device. The driver may copy by a kernel of its own, which needs
 * free multiprocessors; without any it would wait for a kernel that does not leave. The caller holds
 * residents->lock.
 */
static bool is_crowded(const gyre_device *device)
{
    return taken_sms(device) > device->sm_total / 2;
}

/*
 * Holds residents->lock until cuda_hold_end, so that no launch takes the free multiprocessors.
 */
gyre_status cuda_copy_begin(gyre_device *device, bool *quiet)
{
    gyre_status status = cuda_hold_begin(device, quiet);
    if (status != GYRE_OK || *quiet || !is_crowded(device))
        return status;
    cuda_hold_end(device, false);
    *quiet = true;
    return cuda_quiet_begin(device);
}

gyre_status cuda_memory_copy(gyre_device *device, const gyre_copy_desc *desc)
{
    const struct cuda_driver *driver = device->driver;
    CUstream service;
    bool quiet = false;
    gyre_status status = cuda_copy_begin(device, &quiet);
    if (status != GYRE_OK)
        return status;
    service = device->residents->service;
    status = cuda_check(device,
                        driver->cuMemcpyDtoDAsync(cuda_memory_place(desc->target) + desc->target_offset,
                                                  cuda_memory_place(desc->source) + desc->source_offset,
                                                  desc->byte_count, service),
                        "cuMemcpyDtoDAsync");
    if (status == GYRE_OK)
        status = cuda_check(device, driver->cuStreamSynchronize(service), "cuStreamSynchronize");
    cuda_hold_end(device, quiet);
    return status;
}
