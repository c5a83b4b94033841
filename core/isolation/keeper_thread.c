/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper's thread, and the functions that other threads call (keeper_thread.h). Lock: keeper->lock, for the
 * process and its descriptors; not held while the thread waits, starts a process, or calls its user. Only the thread
 * reaps the worker, so a kill under the lock never hits another process with the same number.
 */
#include "core/isolation/keeper_thread.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/threads.h"
#include "core/isolation/guard.h"
#include "core/isolation/spare.h"
#include "core/isolation/worker_process.h"
#include "gyre/lack.h"
#include "gyre/waiting.h"

/* The time between two looks for the end of a process, on a system without pidfd. */
#define LOOK_NS UINT64_C(5000000)

static void close_descriptor(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
    *descriptor = -1;
}

/* ---- starting ---- */

/* Makes a started process the worker. Under the lock. */
static void take_on(struct gyre_keeper *keeper, const struct gyre_worker_process *process)
{
    keeper->pid = process->pid;
    keeper->pidfd = process->pidfd;
    keeper->socket = process->socket;
    keeper->number = process->number;
    keeper->incarnation++;
    keeper->reason[0] = '\0';
    keeper->alive = true;
}

gyre_status gyre_keeper_start(struct gyre_keeper *keeper)
{
    struct gyre_worker_process process;
    gyre_status status = gyre_worker_start(false, keeper->program, &process);
    if (status != GYRE_OK)
        return status;
    pthread_mutex_lock(&keeper->lock);
    take_on(keeper, &process);
    pthread_mutex_unlock(&keeper->lock);
    return GYRE_OK;
}

bool gyre_keeper_adopt(struct gyre_keeper *keeper)
{
    struct pollfd end = {.fd = keeper->spare.pidfd, .events = POLLIN};
    pthread_mutex_lock(&keeper->lock);
    bool lives = keeper->spare.pid && poll(&end, 1, 0) == 0;
    if (lives) {
        take_on(keeper, &keeper->spare);
        keeper->spare = (struct gyre_worker_process){.pidfd = -1, .socket = -1};
    }
    pthread_mutex_unlock(&keeper->lock);
    return lives;
}

gyre_status gyre_keeper_connect(struct gyre_keeper *keeper, int *socket, uint64_t *incarnation)
{
    pthread_mutex_lock(&keeper->lock);
    *incarnation = keeper->incarnation;
    gyre_status status = keeper->alive ? gyre_worker_connect(keeper->socket, socket)
                                       : gyre_error_set(GYRE_LOST, "the worker process is gone");
    pthread_mutex_unlock(&keeper->lock);
    return status;
}

/* ---- ending ---- */

void gyre_keeper_kill(struct gyre_keeper *keeper, uint64_t incarnation, const char *reason)
{
    pthread_mutex_lock(&keeper->lock);
    if (keeper->alive && (incarnation == 0 || incarnation == keeper->incarnation)) {
        if (reason && !keeper->reason[0])
            snprintf(keeper->reason, sizeof keeper->reason, "%s", reason);
        kill(keeper->pid, SIGKILL);
    }
    pthread_mutex_unlock(&keeper->lock);
}

void gyre_keeper_reason(struct gyre_keeper *keeper, char *text, size_t size)
{
    pthread_mutex_lock(&keeper->lock);
    snprintf(text, size, "%s", keeper->reason[0] ? keeper->reason : "it ended");
    pthread_mutex_unlock(&keeper->lock);
}

bool gyre_keeper_is_self(const struct gyre_keeper *keeper)
{
    return pthread_equal(pthread_self(), keeper->thread) != 0;
}

/* Ends and reaps the worker, and what its handlers started, after its socket closed or its pidfd fired. */
static void reap_worker(struct gyre_keeper *keeper)
{
    int wait_status = 0;
    pthread_mutex_lock(&keeper->lock);
    pid_t pid = keeper->pid;
    kill(pid, SIGKILL); /* it may have closed its socket and live on */
    kill(-pid,
         SIGKILL); /* and what its handlers started: until it is reaped the number is its group's alone */
    pthread_mutex_unlock(&keeper->lock);
    pid_t reaped;
    while ((reaped = waitpid(pid, &wait_status, 0)) < 0 && errno == EINTR)
        ;
    pthread_mutex_lock(&keeper->lock);
    if (!keeper->reason[0]) /* else the thread that killed it set the reason */
        gyre_worker_explain(wait_status, reaped == pid, keeper->reason, sizeof keeper->reason);
    gyre_guard_purge(keeper->number);
    keeper->alive = false;
    close_descriptor(&keeper->pidfd);
    close_descriptor(&keeper->socket);
    pthread_mutex_unlock(&keeper->lock);
}

/* ---- watching ---- */

bool gyre_keeper_quits(struct gyre_keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    bool quit = keeper->quit;
    pthread_mutex_unlock(&keeper->lock);
    return quit;
}

static bool hear_worker(struct gyre_keeper *keeper)
{
    return gyre_worker_hear(keeper->socket, &keeper->parcel, keeper->desc.heard, keeper->desc.context);
}

enum { OF_PROCESS, OF_SOCKET, OF_BELL, OF_SPARE, NEWS = OF_SPARE + 2 };

static void sleep_until_news(const struct gyre_keeper *keeper, uint64_t deadline_ns, struct pollfd *news)
{
    uint64_t now = gyre_clock_ns();
    uint64_t left = deadline_ns <= now ? 0 : deadline_ns - now;
    bool blind = keeper->pidfd < 0 || (keeper->spare.pid && keeper->spare.pidfd < 0);
    if (blind && left > LOOK_NS)
        left = LOOK_NS;
    struct timespec wait = gyre_clock_timespec(left);
    news[OF_PROCESS] = (struct pollfd){.fd = keeper->pidfd, .events = POLLIN};
    news[OF_SOCKET] = (struct pollfd){.fd = keeper->socket, .events = POLLIN};
    news[OF_BELL] = (struct pollfd){.fd = keeper->bell, .events = POLLIN};
    news[OF_SPARE] = (struct pollfd){.fd = keeper->spare.pidfd, .events = POLLIN};
    news[OF_SPARE + 1] = (struct pollfd){.fd = keeper->spare.socket, .events = POLLIN};
    ppoll(news, NEWS, deadline_ns == UINT64_MAX && !blind ? NULL : &wait, NULL);
}

/* Empties the bell. The caller then looks at everything that another thread may want. False: the bell is broken. */
static bool hear_bell(const struct gyre_keeper *keeper)
{
    uint64_t rings;
    return read(keeper->bell, &rings, sizeof rings) >= 0 || errno == EAGAIN;
}

bool gyre_keeper_watch(struct gyre_keeper *keeper, uint64_t deadline_ns)
{
    static const struct pollfd nothing[2];
    struct pollfd news[NEWS];
    gyre_spare_tend(keeper, nothing); /* one may have been wanted since the last watch */
    for (;;) {
        sleep_until_news(keeper, deadline_ns, news);
        if (news[OF_BELL].revents && !hear_bell(keeper))
            return false;
        bool open = !news[OF_SOCKET].revents || hear_worker(keeper);
        if (news[OF_PROCESS].revents || !open) {
            hear_worker(keeper); /* its last words */
            reap_worker(keeper);
            return false;
        }
        gyre_spare_tend(keeper, news + OF_SPARE);
        if (gyre_keeper_quits(keeper))
            return false;
        if (gyre_clock_ns() >= deadline_ns)
            return true;
    }
}

bool gyre_keeper_pause(struct gyre_keeper *keeper, uint64_t length_ns)
{
    uint64_t now = gyre_clock_ns(), end = now + length_ns;
    for (; now < end && !gyre_keeper_quits(keeper); now = gyre_clock_ns()) {
        struct pollfd bell = {.fd = keeper->bell, .events = POLLIN};
        const struct timespec left = gyre_clock_timespec(end - now);
        if (ppoll(&bell, 1, &left, NULL) > 0 && !hear_bell(keeper))
            break;
    }
    return !gyre_keeper_quits(keeper);
}

void gyre_keeper_end(struct gyre_keeper *keeper)
{
    if (keeper->alive)
        reap_worker(keeper);
}

/* ---- the thread ---- */

static void tell_first_start(struct gyre_keeper *keeper, gyre_status status)
{
    pthread_mutex_lock(&keeper->lock);
    keeper->start_status = status;
    snprintf(keeper->start_words, sizeof keeper->start_words, "%s",
             status == GYRE_OK ? "" : gyre_error_cause());
    keeper->tried = true;
    pthread_cond_broadcast(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
}

static void await_quit(struct gyre_keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->quit)
        pthread_cond_wait(&keeper->changed, &keeper->lock);
    pthread_mutex_unlock(&keeper->lock);
}

static void *keep_worker(void *argument)
{
    struct gyre_keeper *keeper = argument;
    tell_first_start(keeper, gyre_keeper_start(keeper));
    while (keeper->alive && !gyre_keeper_quits(keeper))
        if (!gyre_keeper_watch(keeper, UINT64_MAX) && !keeper->alive && !gyre_keeper_quits(keeper))
            keeper->desc.lost(keeper->desc.context);
    gyre_spare_end(keeper);
    await_quit(keeper);
    gyre_keeper_end(keeper);
    return NULL;
}

gyre_status gyre_keeper_init(struct gyre_keeper *keeper, const struct gyre_keeper_desc *desc)
{
    memset(keeper, 0, sizeof *keeper);
    keeper->desc = *desc;
    keeper->pidfd = keeper->socket = -1;
    keeper->program = gyre_worker_hold_program();
    keeper->spare = (struct gyre_worker_process){.pidfd = -1, .socket = -1};
    gyre_status status = gyre_parcel_init(&keeper->parcel);
    keeper->bell = status == GYRE_OK ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    if (status == GYRE_OK && keeper->bell < 0)
        status = gyre_error_set(GYRE_EXHAUSTED, "no descriptor to keep a worker process: %s%s",
                                strerror(errno), gyre_lack_remedy(errno));
    pthread_mutex_init(&keeper->lock, NULL);
    pthread_cond_init(&keeper->changed, NULL);
    if (status == GYRE_OK)
        status = gyre_thread_need(&keeper->thread, keep_worker, keeper, "to keep a worker process");
    if (status != GYRE_OK) {
        close_descriptor(&keeper->bell);
        close_descriptor(&keeper->program);
        gyre_parcel_finish(&keeper->parcel);
        return status;
    }
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->tried)
        pthread_cond_wait(&keeper->changed, &keeper->lock);
    pthread_mutex_unlock(&keeper->lock);
    status = keeper->start_status;
    keeper->guarded = status == GYRE_OK;
    if (keeper->guarded)
        gyre_guard_join();
    if (status == GYRE_OK)
        return GYRE_OK;
    gyre_error_set(status, "%s", keeper->start_words);
    gyre_keeper_finish(keeper);
    return status;
}

void gyre_keeper_finish(struct gyre_keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    keeper->quit = true;
    pthread_cond_broadcast(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
    gyre_keeper_kill(keeper, 0, "the program has no more need of it");
    eventfd_write(keeper->bell, 1);
    pthread_join(keeper->thread, NULL);
    if (keeper->guarded)
        gyre_guard_leave();
    close_descriptor(&keeper->bell);
    close_descriptor(&keeper->program);
    gyre_parcel_finish(&keeper->parcel);
    pthread_cond_destroy(&keeper->changed);
    pthread_mutex_destroy(&keeper->lock);
}
