/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See cpu_link_key.h.
 *
 * A block may be far behind: a message that it has not looked at was handled by its owner, and its place may hold another one by
 * now. The sender moves the ring's `tail` before it writes into a place again, and `tail` passes no message that was not handled.
 * So whoever looks reads the key first and `tail` afterwards: while `tail` has not passed the message, the key is the
 * message's, and what `tail` has passed was handled by others. `tail` has 64 bits, so no lag is too long.
 */
#include "backends/cpu/links/cpu_link_key.h"

#include "backends/cpu/links/cpu_key_copy.h"
#include "backends/cpu/links/cpu_link_ring.h"
#include "gyre/keyed_layout.h"

enum { LOOKS_MAX = 1024 }; /* messages of others that a block passes before it looks at its command */

/* Pairs with the fence of make_room (cpu_ports.c). */
static gyre_u64 tail_of(const gyre_link_ring *ring)
{
    return __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
}

static gyre_u64 next_of(const gyre_link_ring *ring, const gyre_link_window *window)
{
    const gyre_u64 tail = tail_of(ring);
    return window->next < tail ? tail : window->next;
}

/* Whether the place holds the message of `index`, or a later one. */
static bool has_come(const gyre_link_ring *ring, gyre_u64 index)
{
    const gyre_u32 sequence = __atomic_load_n(&slot_of(ring, index)->sequence, __ATOMIC_ACQUIRE);
    return (gyre_i32)(sequence - (gyre_u32)(index + 1)) >= 0;
}

bool cpu_link_key_can_go_on(const gyre_link_ring *ring, const gyre_link_window *window)
{
    return has_come(ring, next_of(ring, window));
}

static bool owns(const struct cpu_worker *worker, const gyre_link_ring *ring, const unsigned char *message)
{
    const struct gyre_resident *resident = worker->resident;
    unsigned char key[GYRE_KEYED_KEY_MAX];
    if (ring->share == GYRE_LINK_SHARE_TABLE) {
        const gyre_keyed_table *table = resident->state;
        cpu_key_copy(key, message + resident->kernel->key_offset, resident->kernel->key_size);
        return gyre_keyed_owner(table, gyre_keyed_hash(table, key), resident->blocks) == worker->block;
    }
    cpu_key_copy(key, message + ring->key_offset, ring->key_size);
    const gyre_u64 hash = gyre_keyed_hash_bytes(ring->key_seed, key, ring->key_size);
    return gyre_link_owner(hash, resident->blocks) == worker->block;
}

bool cpu_link_key_find(const struct cpu_worker *worker, const gyre_link_ring *ring, gyre_link_window *window)
{
    for (int looks = 0; looks < LOOKS_MAX; looks++) {
        window->next = next_of(ring, window);
        if (!is_filled(ring, window->next))
            return false; /* or a later message is there: the next look sees where `tail` is */
        const bool own = owns(worker, ring, payload_of(ring, slot_of(ring, window->next)));
        __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the look at `tail` comes after the key was read */
        if (tail_of(ring) > window->next)
            continue;
        if (own)
            return true;
        window->next++;
    }
    return false;
}
