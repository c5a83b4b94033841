/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a served kernel keeps, read by other programs: whole, bounded, and by whoever asks properly. One case a run:
 * `test_attach_state CASE`. Linked with the core, whose packets it writes.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/attach/meeting.h"
#include "keeper.h"
#include "parties.h"

enum { REQUESTS = 300 };

static gyre_kernel *serve_keeper(const char *const *settings, gyre_runtime **runtime, gyre_server **server)
{
    const gyre_launch_desc desc = {.size = sizeof desc, .source = KEEPER, .kernel = "keeper"};
    const gyre_launch_desc other = {.size = sizeof other, .source = KEEPER, .kernel = "forgetful"};
    gyre_kernel *kernel = NULL, *forgetful = NULL;
    *runtime = open_plain(settings);
    must(gyre_launch(*runtime, &desc, &kernel));
    must(gyre_launch(*runtime, &other, &forgetful));
    *server = serve_at_place(*runtime);
    return kernel;
}

static gyre_status copy_state_until(const char *kernel, uint64_t deadline_ns, gyre_state_copy **copy)
{
    const gyre_attach_desc desc = {.size = sizeof desc, .path = meeting_place(), .deadline_ns = deadline_ns};
    return gyre_state_copy_get(kernel, &desc, copy);
}

static gyre_status copy_state(const char *kernel, gyre_state_copy **copy)
{
    return copy_state_until(kernel, soon(), copy);
}

/* The number in all of its words. */
static uint64_t number_in(const gyre_state_copy *copy)
{
    const keeper_state *state = gyre_state_copy_bytes(copy);
    require(gyre_state_copy_type(copy)->size == sizeof *state);
    require(strcmp(gyre_state_copy_type(copy)->name, "keeper_state") == 0);
    for (uint32_t i = 0; i < KEEPER_WORDS; i++)
        require(state->words[i] == state->last);
    return state->last;
}

static uint32_t over; /* atomic */

static void *read_on(void *unused)
{
    uint64_t before = 0;
    (void)unused;
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        gyre_state_copy *copy = NULL;
        must(copy_state("keeper", &copy));
        const uint64_t now = number_in(copy);
        require(now >= before && now <= REQUESTS);
        before = now;
        gyre_state_copy_release(copy);
    }
    return NULL;
}

static void a_state_is_read_while_clients_change_it(void)
{
    gyre_runtime *runtime;
    gyre_server *server;
    gyre_state_copy *copy = NULL;
    gyre_queue *queue = NULL;
    pthread_t readers[2];
    gyre_attach_desc desc = {.size = sizeof desc, .path = meeting_place()};
    serve_keeper((const char *const[]){"kernel.default.stop_timeout_ms=60000", NULL}, &runtime, &server);
    must(gyre_attach("keeper", &desc, &queue));
    for (int i = 0; i < 2; i++)
        require(pthread_create(&readers[i], NULL, read_on, NULL) == 0);
    for (uint64_t i = 1; i <= REQUESTS; i++) {
        const keeper_request request = {i};
        keeper_request reply = {0};
        must(gyre_call(queue, &request, sizeof request, &reply, sizeof reply, NULL, soon()));
        require(reply.number == i);
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; i++)
        pthread_join(readers[i], NULL);
    must(copy_state("keeper", &copy));
    require(number_in(copy) == REQUESTS);
    gyre_state_copy_release(copy);
    gyre_queue_close(queue);
    gyre_server_close(server);
    gyre_close(runtime);
}

static void what_cannot_be_read_is_told(void)
{
    gyre_runtime *runtime;
    gyre_server *server;
    gyre_state_copy *copy = NULL;
    gyre_kernel *kernel = serve_keeper(NULL, &runtime, &server);
    require(copy_state("forgetful", &copy) == GYRE_INVALID && !copy);
    require(strstr(gyre_error_text(), "keeps no state"));
    require(copy_state("keepr", &copy) == GYRE_NOT_FOUND && !copy);
    require(strstr(gyre_error_text(), "did you mean 'keeper'?"));
    require(gyre_state_copy_get("", NULL, &copy) == GYRE_INVALID);
    must(gyre_kernel_terminate(kernel, GYRE_NO_WAIT, NULL));
    must(copy_state("keeper", &copy)); /* what it kept is there until it is released */
    gyre_state_copy_release(copy);
    gyre_server_close(server);
    require(copy_state("keeper", &copy) == GYRE_UNAVAILABLE);
    gyre_close(runtime);
}

static int knock(void)
{
    int socket = -1;
    must(gyre_place_socket(&socket));
    must(gyre_place_connect(meeting_place(), soon(), socket));
    return socket;
}

static void ask(int socket, const char *kernel)
{
    struct gyre_parcel parcel;
    must(gyre_parcel_init(&parcel));
    gyre_state_request_put(&parcel, kernel, NULL);
    must(gyre_parcel_send(&parcel, socket, soon()));
    gyre_parcel_finish(&parcel);
}

/* They take the places of those that may read at a time, until the server gives them up. */
static void who_asks_and_does_not_listen_holds_up_nobody_for_long(void)
{
    enum { SILENT = 8 };
    gyre_runtime *runtime;
    gyre_server *server;
    gyre_state_copy *copy = NULL;
    int sockets[SILENT];
    gyre_kernel *kernel = serve_keeper(NULL, &runtime, &server);
    for (int i = 0; i < SILENT; i++)
        ask(sockets[i] = knock(), "keeper");
    for (int i = 0; i < SILENT; i++)
        require(poll(&(struct pollfd){.fd = sockets[i], .events = POLLIN}, 1, 60000) == 1);
    const gyre_status status = copy_state_until("forgetful", gyre_in_ms(300), &copy);
    require(status == GYRE_EXHAUSTED || status == GYRE_TIMEOUT); /* the machine may be slow */
    require(status == GYRE_TIMEOUT || strstr(gyre_error_text(), "programs read states there"));
    gyre_kernel_release(kernel);                             /* which none of them keeps */
    require(copy_state("forgetful", &copy) == GYRE_INVALID); /* once there is room */
    require(strstr(gyre_error_text(), "keeps no state"));
    for (int i = 0; i < SILENT; i++)
        close(sockets[i]);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* As many as may read have their copies told, and listen to none: the next one gets its copy once they are given up. */
static void a_reader_waits_for_its_turn(void)
{
    enum { SILENT = 8 };
    gyre_runtime *runtime;
    gyre_server *server;
    gyre_state_copy *copy = NULL;
    int sockets[SILENT];
    serve_keeper(NULL, &runtime, &server);
    for (int i = 0; i < SILENT; i++)
        ask(sockets[i] = knock(), "keeper");
    for (int i = 0; i < SILENT; i++)
        require(poll(&(struct pollfd){.fd = sockets[i], .events = POLLIN}, 1, 60000) == 1);
    must(copy_state("keeper", &copy));
    require(number_in(copy) == 0);
    gyre_state_copy_release(copy);
    for (int i = 0; i < SILENT; i++)
        close(sockets[i]);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* What is said to a request. */
static gyre_status answer_to(void (*put)(struct gyre_parcel *parcel), char text[256])
{
    struct gyre_parcel parcel;
    const int socket = knock();
    must(gyre_parcel_init(&parcel));
    put(&parcel);
    must(gyre_parcel_send(&parcel, socket, soon()));
    must(gyre_parcel_receive(&parcel, socket, soon()));
    const gyre_status status = gyre_parcel_status(&parcel);
    const char *why = gyre_parcel_get_text(&parcel);
    snprintf(text, 256, "%s", why ? why : "");
    gyre_parcel_finish(&parcel);
    close(socket);
    return status;
}

static void put_nothing(struct gyre_parcel *parcel)
{
    gyre_parcel_begin(parcel, GYRE_PARCEL_STATE, GYRE_OK);
}

static void put_null(struct gyre_parcel *parcel)
{
    gyre_state_request_put(parcel, NULL, NULL);
}

static void put_too_much(struct gyre_parcel *parcel)
{
    gyre_state_request_put(parcel, "keeper", NULL);
    gyre_parcel_put_u64(parcel, 1);
}

static void put_long_key(struct gyre_parcel *parcel)
{
    char key[4096];
    memset(key, '1', sizeof key);
    key[sizeof key - 1] = '\0';
    gyre_state_request_put(parcel, "keeper", key);
}

static void put_long_name(struct gyre_parcel *parcel)
{
    char name[4096];
    memset(name, 'k', sizeof name);
    name[sizeof name - 1] = '\0';
    gyre_state_request_put(parcel, name, NULL);
}

static void requests_that_make_no_sense_are_refused(void)
{
    void (*const wrong[])(struct gyre_parcel *) = {put_nothing, put_null, put_too_much, put_long_name,
                                                   put_long_key};
    gyre_runtime *runtime;
    gyre_server *server;
    gyre_state_copy *copy = NULL;
    char why[256];
    serve_keeper(NULL, &runtime, &server);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        require(answer_to(wrong[i], why) == GYRE_INVALID);
        require(strstr(why, "makes no sense"));
    }
    must(copy_state("keeper", &copy));
    gyre_state_copy_release(copy);
    gyre_server_close(server);
    gyre_close(runtime);
}

/* As a client whose deadline was over: it asks, and takes no answer. */
static void a_client_that_hung_up_is_told_as_one(void)
{
    gyre_runtime *runtime = NULL;
    gyre_server *server = NULL;
    struct gyre_parcel parcel;
    int socket = -1;
    const gyre_attach_desc desc = {.size = sizeof desc};
    serve_keeper(NULL, &runtime, &server);
    must(gyre_place_socket(&socket));
    must(gyre_place_connect(meeting_place(), soon(), socket));
    require(shutdown(socket, SHUT_RD) == 0);
    must(gyre_parcel_init(&parcel));
    gyre_attach_request_put(&parcel, "keeper", &desc, 0);
    must(gyre_parcel_send(&parcel, socket, soon()));
    while (!log_lines_with("was refused: "))
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    require(log_lines_with("was refused: it hung up before it was answered") == 1);
    gyre_parcel_finish(&parcel);
    close(socket);
    gyre_server_close(server);
    gyre_close(runtime);
}

static const named_case cases[] = {
    {"a_client_that_hung_up_is_told_as_one", a_client_that_hung_up_is_told_as_one},
    {"a_state_is_read_while_clients_change_it", a_state_is_read_while_clients_change_it},
    {"a_reader_waits_for_its_turn", a_reader_waits_for_its_turn},
    {"what_cannot_be_read_is_told", what_cannot_be_read_is_told},
    {"who_asks_and_does_not_listen_holds_up_nobody_for_long",
     who_asks_and_does_not_listen_holds_up_nobody_for_long},
    {"requests_that_make_no_sense_are_refused", requests_that_make_no_sense_are_refused},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
