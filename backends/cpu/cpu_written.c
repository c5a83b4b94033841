/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes of the reply and the scratch were written for a message (cpu_written.h). */
#include "cpu_written.h"

#include <stdlib.h>
#include <string.h>

#include "cpu_finding.h"
#include "cpu_resident.h"
#include "cpu_watched.h"

bool cpu_written_prepare(struct cpu_watched *watched, const gyre_cpu_kernel *kernel, uint32_t blocks)
{
    watched->scratch_first = kernel->sizes.reply;
    watched->written_size =
        watched->scratch_first + (gyre_form_shares(kernel->form) ? blocks * kernel->scratch_size : 0);
    watched->written = calloc(1, watched->written_size + 1);
    return watched->written != NULL;
}

void cpu_written_begin(struct cpu_worker *worker)
{
    struct cpu_watched *const watched = worker->watched;
    if (watched->written)
        memset(watched->written, 0, watched->written_size);
    if (watched->latest)
        memset(watched->latest, 0,
               (size_t)worker->resident->lanes * worker->resident->together * sizeof *watched->latest);
}

/* Whether any of the bytes is not 0. Accesses are of 1, 2, 4 or 8 bytes, nearly always. */
static bool any_set(const unsigned char *bytes, uint64_t count)
{
    uint64_t word = 0;
    while (count > sizeof word) {
        if (bytes[--count])
            return true;
    }
    for (uint64_t i = 0; i < count; i++)
        word |= bytes[i];
    return word != 0;
}

/*
 * Bytes that were never written are told only where none of the read bytes was: a struct that is copied as one has bytes
 * between its members that nobody writes.
 */
void cpu_written_check(gyre_context *context, const struct cpu_touch *touch)
{
    const struct cpu_worker *const worker = context->owner;
    const struct cpu_watched *const watched = worker->watched;
    const gyre_cpu_range *const range = touch->range;
    const gyre_cpu_sizes *const sizes = &worker->resident->kernel->sizes;
    const bool scratch = range->sort == GYRE_SORT_SCRATCH;
    const uint64_t block = worker->resident->together > 1 ? context->block : 0;
    if (!scratch && (range->sort != GYRE_SORT_REPLY || sizes->reply != sizes->reply_least))
        return;
    const uint64_t first =
        (scratch ? watched->scratch_first + block * worker->resident->kernel->scratch_size : 0) +
        (uint64_t)((const gyre_u8 *)touch->at - range->from);
    if (first + touch->size > watched->written_size)
        return;
    if (touch->how & GYRE_TOUCH_READS && !any_set(watched->written + first, touch->size))
        cpu_finding_unwritten(context, touch);
    memset(watched->written + first, 1, touch->size); /* a second read tells nothing new */
}
