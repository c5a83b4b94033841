/* SPDX-License-Identifier: Apache-2.0 */
/* Frees a device buffer that no kernel uses. Lock: runtime->lock for the list of buffers, `bound` and `going` of a buffer. */
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/kernel/binding.h"
#include "core/kernel/handles.h"

/* Marks the buffer as going. A buffer that kernels use, or that the program holds, stays. */
static gyre_status begin_free(gyre_buffer *buffer)
{
    pthread_mutex_lock(&buffer->runtime->lock);
    const uint32_t bound = buffer->bound, held = buffer->held;
    buffer->going = bound == 0 && held == 0;
    pthread_mutex_unlock(&buffer->runtime->lock);
    if (bound)
        return gyre_error_set(GYRE_INVALID, "the buffer is bound to %u running kernel%s; terminate %s first",
                              bound, gyre_text_plural(bound), bound == 1 ? "it" : "them");
    if (held)
        return gyre_error_set(GYRE_INVALID,
                              "the buffer is held in place %u time%s; call gyre_buffer_let_go first", held,
                              gyre_text_plural(held));
    return GYRE_OK;
}

/* Undoes begin_free, because the buffer cannot be freed after all. */
static void keep_buffer(gyre_buffer *buffer)
{
    pthread_mutex_lock(&buffer->runtime->lock);
    buffer->going = false;
    pthread_mutex_unlock(&buffer->runtime->lock);
}

/* Takes the buffer off the list, and out of the bindings of kernels that ended. Those kernels cannot be launched again. */
static void unlist_buffer(gyre_buffer *buffer)
{
    gyre_runtime *runtime = buffer->runtime;
    pthread_mutex_lock(&runtime->lock);
    for (gyre_kernel *kernel = runtime->kernels; kernel; kernel = kernel->next)
        gyre_kernel_forget_buffer(kernel, buffer);
    struct gyre_buffer **link = &runtime->buffers;
    while (*link != buffer)
        link = &(*link)->next;
    *link = buffer->next;
    pthread_mutex_unlock(&runtime->lock);
}

gyre_status gyre_buffer_free(gyre_buffer *buffer)
{
    if (!buffer || buffer->runtime->foreign)
        return GYRE_OK;
    gyre_status status = begin_free(buffer);
    if (status != GYRE_OK)
        return status;
    status = gyre_handles_withdraw(buffer);
    if (status != GYRE_OK) {
        keep_buffer(buffer);
        return status;
    }
    unlist_buffer(buffer);
    gyre_buffer_destroy(buffer);
    return GYRE_OK;
}
