/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies from memory to shared memory that no thread waits for. Included by cuda_fetch.h, which runs once a run of messages, and by
 * cuda_link_drain.h.
 */
#ifndef GYRE_DIALECT_CUDA_BULK_H
#define GYRE_DIALECT_CUDA_BULK_H

/*
 * Accesses shared memory by its own addresses. The compiler does not know where a pointer leads that was itself loaded
 * from memory: it makes generic accesses, each with a branch around it, and the extra instructions cost time.
 */
GYRE_HELPER gyre_u32 gyre_shared_address_(const void *pointer)
{
    gyre_u64 address;
    asm("cvta.to.shared.u64 %0,%1;" : "=l"(address) : "l"(pointer));
    return (gyre_u32)address;
}

/*
 * Bulk copies: a device that has them copies a message by one instruction of one thread, in larger reads than threads
 * make and with more of them under way. To the memory order, the copies are another "proxy" than the threads' own
 * accesses: a fence orders them after the earlier use of the shared memory that they go to. No thread of the device
 * ever writes the memory that they read. They are started once the look that found the messages has returned. (A fence
 * for all memory waits for everything that is under way, a microsecond.)
 */
#ifndef GYRE_MOVE_BULK
#define GYRE_MOVE_BULK 1
#endif
#if __CUDA_ARCH__ >= 900 && GYRE_MOVE_BULK
#define GYRE_MOVE_BULK_ 1

/* Starts a bulk copy. Called by one thread. */
GYRE_HELPER void gyre_bulk_copy_(const gyre_worker *worker, gyre_chunk *to, const gyre_slot *from,
                                 gyre_u32 size)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1],%2,[%3];" ::"r"(
                     gyre_shared_address_(to)),
                 "l"(from), "r"(size), "r"(gyre_shared_address_(&worker->barrier))
                 : "memory");
}

/* Waits until the started bulk copies have arrived. Called by all threads of the worker. */
GYRE_HELPER void gyre_await_copy_(const gyre_worker *worker)
{
    const gyre_u32 barrier = gyre_shared_address_(&worker->barrier), parity = worker->parity;
    gyre_u32 arrived = 0;
    while (!arrived)
        asm volatile("{ .reg .pred done; mbarrier.try_wait.parity.shared::cta.b64 done,[%1],%2;"
                     " selp.u32 %0,1,0,done; }"
                     : "=r"(arrived)
                     : "r"(barrier), "r"(parity)
                     : "memory");
}
#else
#define GYRE_MOVE_BULK_ 0

GYRE_HELPER void gyre_await_copy_(const gyre_worker *)
{
}
#endif

#endif
