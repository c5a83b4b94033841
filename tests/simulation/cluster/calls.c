/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that the core makes to the system, as the processes of the simulation have them (fibers.h): linked in their place by --wrap. Outside
 * of a process they are the system's own.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "fibers.h"
#include "plain.h"

/* name, result, parameters: what is wrapped, and the call behind it. */
#define WRAP(result, name, ...)                                                                              \
    result __real_##name(__VA_ARGS__);                                                                       \
    result __wrap_##name(__VA_ARGS__);                                                                       \
    result __wrap_##name(__VA_ARGS__)

#define BLOCK_MAGIC UINT64_C(0x9d6779726567ab31)
enum { LOOK_NS = 2000, YIELDS = 24 };

static bool is_real(void)
{
    return !process_current();
}

/* ---- time ---- */

WRAP(int, clock_gettime, clockid_t clock, struct timespec *time)
{
    if (is_real())
        return __real_clock_gettime(clock, time);
    fibers_pass(fibers_draw(LOOK_NS));
    const uint64_t now = fibers_now_ns();
    time->tv_sec = (time_t)(now / UINT64_C(1000000000));
    time->tv_nsec = (long)(now % UINT64_C(1000000000));
    process_step(false); /* behind the look: what a process saw may be old when it goes on */
    if (fibers_draw(YIELDS) == 0)
        fiber_yield();
    return 0;
}

WRAP(int, nanosleep, const struct timespec *length, struct timespec *left)
{
    if (is_real())
        return __real_nanosleep(length, left);
    fiber_sleep(NULL, fibers_now_ns() + (uint64_t)length->tv_sec * UINT64_C(1000000000) +
                          (uint64_t)length->tv_nsec);
    return 0;
}

/* ---- threads and locks ---- */

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);

WRAP(int, pthread_mutex_lock, pthread_mutex_t *mutex)
{
    if (is_real())
        return __real_pthread_mutex_lock(mutex);
    while (pthread_mutex_trylock(mutex) == EBUSY)
        fiber_sleep(mutex, FIBERS_NEVER);
    return 0;
}

WRAP(int, pthread_mutex_unlock, pthread_mutex_t *mutex)
{
    const int error = __real_pthread_mutex_unlock(mutex);
    if (!is_real())
        fiber_wake(mutex);
    return error;
}

WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
     void *argument)
{
    if (is_real())
        return __real_pthread_create(thread, attributes, run, argument);
    struct fiber *fiber = fiber_start(run, argument);
    memcpy(thread, &fiber, sizeof *thread);
    return 0;
}

WRAP(int, pthread_join, pthread_t thread, void **result)
{
    struct fiber *fiber;
    if (is_real())
        return __real_pthread_join(thread, result);
    memcpy(&fiber, &thread, sizeof fiber);
    while (!fiber_has_ended(fiber))
        fiber_sleep(fiber, FIBERS_NEVER);
    fiber_join(fiber);
    return 0;
}

WRAP(int, pthread_detach, pthread_t thread)
{
    struct fiber *fiber;
    if (is_real())
        return __real_pthread_detach(thread);
    memcpy(&fiber, &thread, sizeof fiber);
    fiber_detach(fiber);
    return 0;
}

/* ---- chance ---- */

WRAP(ssize_t, getrandom, void *bytes, size_t size, unsigned flags)
{
    if (is_real())
        return __real_getrandom(bytes, size, flags);
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)fibers_draw(256);
    return (ssize_t)size;
}

/* ---- memory: what a process has is freed when it is killed ---- */

struct kept_block {
    struct kept_block *next, **link;
    uint64_t magic, size;
};

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

void *plain_calloc(size_t count, size_t size)
{
    return must(__real_calloc(count, size));
}

void *plain_resize(void *memory, size_t size)
{
    return must(__real_realloc(memory, size));
}

void plain_free(void *memory)
{
    __real_free(memory);
}

static void unlist(struct kept_block *block)
{
    *block->link = block->next;
    if (block->next)
        block->next->link = block->link;
    block->magic = 0;
}

void plain_free_first(struct kept_block **list)
{
    struct kept_block *block = *list;
    unlist(block);
    __real_free(block);
}

static void *list_block(struct kept_block *block, size_t size)
{
    struct process *process = process_current();
    *block = (struct kept_block){process->blocks, &process->blocks, BLOCK_MAGIC, size};
    if (block->next)
        block->next->link = &block->next;
    process->blocks = block;
    return block + 1;
}

void *process_alloc(size_t size)
{
    return list_block(must(__real_malloc(sizeof(struct kept_block) + size)), size);
}

/* The C library gives memory, too, as open_memstream does: it is freed as its own. */
void process_free(void *memory)
{
    struct kept_block *block = memory;
    if (!memory)
        return;
    block--;
    if (block->magic != BLOCK_MAGIC) {
        __real_free(memory);
        return;
    }
    unlist(block);
    __real_free(block);
}

void *process_resize(void *memory, size_t size)
{
    void *resized = process_alloc(size);
    if (memory) {
        const struct kept_block *block = (const struct kept_block *)memory - 1;
        memcpy(resized, memory, block->size < size ? block->size : size);
        process_free(memory);
    }
    return resized;
}

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t size)
{
    return is_real() ? __real_malloc(size) : process_alloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    if (is_real())
        return __real_calloc(count, size);
    /* zeros that the machine has at hand are cheaper than those that are written */
    return list_block(must(__real_calloc(1, sizeof(struct kept_block) + count * size)), count * size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return is_real() ? __real_realloc(memory, size) : process_resize(memory, size);
}

void __wrap_free(void *memory)
{
    if (is_real())
        __real_free(memory);
    else
        process_free(memory);
}

WRAP(char *, strdup, const char *text)
{
    if (is_real())
        return __real_strdup(text);
    const size_t size = strlen(text) + 1;
    return memcpy(process_alloc(size), text, size);
}
