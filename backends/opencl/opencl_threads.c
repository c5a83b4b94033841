/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether there are threads for PoCL, which starts one for each processor when it is first asked for its devices, and
 * aborts the process where it does not get them. Who else takes threads at that moment is not foreseen. No state.
 */
#include "opencl_platforms.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gyre/thread.h"

static long count_wanted(void)
{
    const char *chosen = getenv("POCL_MAX_PTHREAD_COUNT");
    const long count = chosen ? strtol(chosen, NULL, 10) : 0;
    return count > 0 ? count : sysconf(_SC_NPROCESSORS_ONLN);
}

static void *pass(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/* How many of `count` can be there at once; with the error that kept the next one away, or 0. */
static long try_threads(pthread_t *threads, long count, int *error)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    long started = 0;
    *error = 0;
    pthread_mutex_lock(&gate);
    while (started < count && *error == 0) {
        *error = gyre_thread_start(&threads[started], NULL, pass, &gate);
        started += *error == 0;
    }
    pthread_mutex_unlock(&gate);
    for (long i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&gate);
    return started;
}

gyre_status opencl_threads_foresee(const gyre_host *host)
{
    const long wanted = count_wanted();
    pthread_t *threads = wanted > 0 ? calloc((size_t)wanted, sizeof *threads) : NULL;
    int error;
    if (!threads)
        return GYRE_OK;
    const long started = try_threads(threads, wanted, &error);
    free(threads);
    if (error == 0)
        return GYRE_OK;
    return host->error(GYRE_UNAVAILABLE,
                       "PoCL starts %ld threads, without which it ends the process, and there are %ld: %s%s",
                       wanted, started, strerror(error), gyre_thread_remedy(error));
}
