/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts and reaps the keeper's spare (spare.h), a second worker process, in the keeper's thread. Lock: keeper->lock,
 * as for the worker. Only standby.c uses the spare.
 */
#include "core/isolation/spare.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/isolation/guard.h"
#include "core/isolation/worker_process.h"

void gyre_keeper_want_spare(struct gyre_keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    keeper->spare_wanted = true;
    pthread_mutex_unlock(&keeper->lock);
    eventfd_write(keeper->bell, 1);
}

gyre_status gyre_keeper_connect_spare(struct gyre_keeper *keeper, int *socket)
{
    pthread_mutex_lock(&keeper->lock);
    gyre_status status = keeper->spare.pid ? gyre_worker_connect(keeper->spare.socket, socket)
                                           : gyre_error_set(GYRE_LOST, "the standby worker is gone");
    pthread_mutex_unlock(&keeper->lock);
    return status;
}

void gyre_keeper_kill_spare(struct gyre_keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    if (keeper->spare.pid)
        kill(keeper->spare.pid, SIGKILL);
    pthread_mutex_unlock(&keeper->lock);
}

/* Ends and reaps the spare. `why` receives how it ended. */
static void reap_spare(struct gyre_keeper *keeper, char *why, size_t size)
{
    int wait_status = 0;
    pid_t pid = keeper->spare.pid, reaped; /* only this thread writes it */
    kill(pid, SIGKILL);
    /* with its process group, which has further processes only if a plugin started some */
    kill(-pid, SIGKILL);
    while ((reaped = waitpid(pid, &wait_status, 0)) < 0 && errno == EINTR)
        ;
    gyre_worker_explain(wait_status, reaped == pid, why, size);
    gyre_guard_purge(keeper->spare.number);
    pthread_mutex_lock(&keeper->lock);
    if (keeper->spare.pidfd >= 0)
        close(keeper->spare.pidfd);
    close(keeper->spare.socket);
    keeper->spare = (struct gyre_worker_process){.pidfd = -1, .socket = -1};
    pthread_mutex_unlock(&keeper->lock);
}

static void start_spare(struct gyre_keeper *keeper)
{
    struct gyre_worker_process process = {.pidfd = -1, .socket = -1};
    gyre_status status = gyre_worker_start(true, keeper->program, &process);
    pthread_mutex_lock(&keeper->lock);
    keeper->spare = process;
    keeper->spare_wanted = false;
    pthread_mutex_unlock(&keeper->lock);
    keeper->desc.spare(keeper->desc.context, status == GYRE_OK, gyre_error_cause());
}

static bool is_wanted(struct gyre_keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    bool wanted = keeper->spare_wanted && !keeper->spare.pid && !keeper->quit;
    pthread_mutex_unlock(&keeper->lock);
    return wanted;
}

static bool hear_spare(struct gyre_keeper *keeper)
{
    return gyre_worker_hear(keeper->spare.socket, &keeper->parcel, keeper->desc.heard, keeper->desc.context);
}

void gyre_spare_tend(struct gyre_keeper *keeper, const struct pollfd news[2])
{
    char why[GYRE_KEEPER_REASON_SIZE];
    bool open = !news[1].revents || hear_spare(keeper);
    if (news[0].revents || !open) {
        hear_spare(keeper); /* its last words */
        reap_spare(keeper, why, sizeof why);
        keeper->desc.spare(keeper->desc.context, false, why);
    }
    if (is_wanted(keeper))
        start_spare(keeper);
}

void gyre_spare_end(struct gyre_keeper *keeper)
{
    char why[GYRE_KEEPER_REASON_SIZE];
    if (keeper->spare.pid)
        reap_spare(keeper, why, sizeof why);
}
