/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes to files without raising SIGXFSZ (file_write.h). Linux sends the signal to the thread that writes, so the thread
 * blocks it and afterwards takes the pending signal. Must not change the process's handlers, nor take a signal that was
 * pending before.
 */
#include "core/base/file_write.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

void gyre_file_hush_begin(struct gyre_file_hush *hush)
{
    sigset_t pending;
    sigemptyset(&hush->signal);
    sigaddset(&hush->signal, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &hush->signal, &hush->before);
    hush->pending = sigismember(&hush->before, SIGXFSZ) == 1 && sigpending(&pending) == 0 &&
                    sigismember(&pending, SIGXFSZ) == 1;
}

static void end(const struct gyre_file_hush *hush, bool beyond)
{
    static const struct timespec at_once = {0, 0};
    int error = errno;
    if (beyond && !hush->pending)
        while (sigtimedwait(&hush->signal, NULL, &at_once) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &hush->before, NULL);
    errno = error;
}

void gyre_file_hush_end(const struct gyre_file_hush *hush)
{
    end(hush, true);
}

ssize_t gyre_file_write(int file, const void *bytes, size_t size)
{
    struct gyre_file_hush hush;
    gyre_file_hush_begin(&hush);
    ssize_t wrote = write(file, bytes, size);
    end(&hush, wrote < 0 && errno == EFBIG);
    return wrote;
}

ssize_t gyre_file_write_at(int file, const void *bytes, size_t size, off_t offset)
{
    struct gyre_file_hush hush;
    gyre_file_hush_begin(&hush);
    ssize_t wrote = pwrite(file, bytes, size, offset);
    end(&hush, wrote < 0 && errno == EFBIG);
    return wrote;
}
