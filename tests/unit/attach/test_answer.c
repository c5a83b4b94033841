/* SPDX-License-Identifier: Apache-2.0 */
/* A server whose answer is not what it should be: the client is told, and follows no pointer that came in. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/attach/meeting.h"
#include "core/base/error.h"
#include "gyre/message.h"
#include "unit/unit.h"
#include "../../patience.h"

#define NUMBER(FIELD) FIELD(u32, value)
GYRE_MESSAGE(number, NUMBER)
/* The client's idea of a line, and what its server says that it became. */
#define OLD_LINE(FIELD) FIELD(u64, since) FIELD(utf8, text)
#define NEW_LINE(FIELD) OLD_LINE(FIELD) FIELD(u64, until[512])
GYRE_MESSAGE_TAIL(old_line, OLD_LINE, 64)
GYRE_MESSAGE_TAIL(new_line, NEW_LINE, 64)

enum {
    CONTROL_SIZE = 1 << 20,
    ANSWER_MS = 5000, /* of each side for the other */
    LIMIT_S = 20      /* of a case: each side says earlier what it waited for in vain */
};

static char place[GYRE_PLACE_MAX];
static struct {
    int listener;
    struct gyre_queue_options options; /* that it answers with */
    const gyre_type *request;          /* alike; NULL: of the size that the options say */
    off_t file_size;                   /* of the memory that it gives */
    bool may_shrink;                   /* that memory, under its client */
    bool forks;       /* while its client waits for the answer, with a child that outlives the meeting */
    bool has_pipe;    /* for a doorbell, which nobody reads: a write is a SIGPIPE */
    bool sees_end;    /* of its client */
    char failed[256]; /* why it did not answer; empty: it did */
} server;

/* Some message of that size. */
static const gyre_type *type_of(uint32_t size)
{
    static gyre_type types[2];
    static const gyre_type byte = {"u8", "", 1, 1, NULL};
    static const gyre_type *const fields[] = {&byte, NULL};
    static char texts[2][32];
    static unsigned next;
    const unsigned at = next++ % 2;
    if (size == 0)
        return GYRE_TYPE(gyre_none);
    snprintf(texts[at], sizeof texts[at], "u8 bytes[%u];", size);
    types[at] = (gyre_type){"bytes", texts[at], size, 1, fields};
    return &types[at];
}

/* As gyre_attach_answer_put writes it, but for pointers of the server's own. */
static void put_answer(struct gyre_parcel *parcel)
{
    struct gyre_queue_options options = server.options;
    memset(&options.request_growth, 1, sizeof options.request_growth);
    memset(&options.reply_growth, 1, sizeof options.reply_growth);
    gyre_parcel_begin(parcel, GYRE_PARCEL_ATTACH, GYRE_OK);
    gyre_parcel_put_text(parcel, gyre_version());
    gyre_parcel_put_u64(parcel, GYRE_MEETING_FEATURES);
    gyre_parcel_put_u64(parcel, sizeof options);
    gyre_parcel_put(parcel, &options, sizeof options);
    gyre_parcel_put_u64(parcel, CONTROL_SIZE);
    gyre_type_put(parcel, server.request ? server.request : type_of(options.request_size));
    gyre_type_put(parcel, type_of(options.reply_size));
}

static int make_doorbell(void)
{
    int ends[2] = {-1, -1};
    if (!server.has_pipe)
        return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    return ends[1];
}

/* Sends the answer, and waits until the client has hung up. */
static gyre_status answer(struct gyre_parcel *parcel, int client, int memory)
{
    const int doorbell = make_doorbell();
    put_answer(parcel);
    gyre_parcel_put_descriptor(parcel, memory);
    gyre_parcel_put_descriptor(parcel, memory);
    gyre_parcel_put_descriptor(parcel, doorbell);
    const gyre_status status = gyre_parcel_send(parcel, client, gyre_in_ms(patiently(ANSWER_MS)));
    struct pollfd end = {.fd = client, .events = POLLRDHUP};
    server.sees_end = poll(&end, 1, (int)patiently(ANSWER_MS)) == 1;
    close(doorbell);
    return status;
}

static int make_memory(void)
{
    const int memory = memfd_create("lent", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const int seal = server.may_shrink ? F_SEAL_GROW : F_SEAL_SHRINK;
    ck_assert_int_eq(ftruncate(memory, server.file_size), 0);
    ck_assert_int_eq(fcntl(memory, F_ADD_SEALS, seal), 0);
    return memory;
}

static pid_t fork_sleeper(void)
{
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    return child;
}

static gyre_status serve(int client)
{
    struct gyre_parcel parcel;
    pid_t child = -1;
    const int memory = make_memory();
    ck_assert_int_eq(gyre_parcel_init(&parcel), GYRE_OK);
    gyre_status status = gyre_parcel_receive(&parcel, client, gyre_in_ms(patiently(ANSWER_MS)));
    if (status == GYRE_OK) {
        child = server.forks ? fork_sleeper() : -1;
        status = answer(&parcel, client, memory);
    }
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    parcel.descriptor_count = 0; /* they were lent */
    gyre_parcel_finish(&parcel);
    close(memory);
    return status;
}

static void *answer_wrongly(void *unused)
{
    const int client = accept(server.listener, NULL, NULL);
    (void)unused;
    if (client < 0)
        snprintf(server.failed, sizeof server.failed, "no client came: %s", strerror(errno));
    else if (serve(client) != GYRE_OK)
        snprintf(server.failed, sizeof server.failed, "no answer was sent: %s", gyre_error_text());
    shutdown(server.listener, SHUT_RDWR); /* a client that tries again is refused at once */
    if (client >= 0)
        close(client);
    return NULL;
}

static void start_server(pthread_t *thread)
{
    server.failed[0] = '\0';
    snprintf(place, sizeof place, "/tmp/gyre-test-%ld.sock", (long)getpid());
    ck_assert_int_eq(gyre_place_listen(place, 0600, &server.listener), GYRE_OK);
    unit_start(thread, answer_wrongly, NULL);
}

/* The server waits no longer for a client that failed before it came. */
static void end_server(pthread_t thread)
{
    shutdown(server.listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(server.listener);
    unlink(place);
    ck_assert_msg(!server.failed[0], "the server: %s; the client: %s", server.failed, gyre_error_text());
}

/* As its client; what it sends it sends as its own type. */
static gyre_status meet_as(const gyre_type *request, const void *message, size_t size)
{
    pthread_t thread;
    gyre_queue *queue = NULL;
    start_server(&thread);
    const gyre_attach_desc desc = {.size = sizeof desc,
                                   .path = place,
                                   .request = request,
                                   .deadline_ns = gyre_in_ms(patiently(ANSWER_MS))};
    const gyre_status status = gyre_attach("any", &desc, &queue);
    if (status == GYRE_OK && message)
        gyre_send(queue, message, size, NULL, GYRE_NO_WAIT);
    if (status == GYRE_OK)
        gyre_queue_close(queue);
    end_server(thread);
    return status;
}

static gyre_status meet(void)
{
    return meet_as(NULL, NULL, 0);
}

static void be_short(void)
{
    server.options = (struct gyre_queue_options){.capacity = 16};
    server.file_size = 4096;
}

START_TEST(a_control_region_that_is_too_small_is_told)
{
    be_short();
    ck_assert_int_eq(meet(), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "expected 1048576 bytes of shared memory, found 4096"));
    ck_assert(server.sees_end);
}
END_TEST

/* The client would end by SIGBUS where it reads what is gone. */
START_TEST(memory_that_its_server_can_shrink_is_refused)
{
    server.options = (struct gyre_queue_options){.capacity = 16};
    server.file_size = 4 << 20;
    server.may_shrink = true;
    ck_assert_int_eq(meet(), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "expected shared memory that cannot shrink"));
    server.may_shrink = false;
    ck_assert_int_eq(meet(), GYRE_OK);
}
END_TEST

START_TEST(a_doorbell_that_is_no_eventfd_is_refused)
{
    static const unsigned char packet[4];
    server.options = (struct gyre_queue_options){.capacity = 16, .request_size = sizeof packet};
    server.file_size = 4 << 20;
    server.has_pipe = true;
    ck_assert_int_eq(meet_as(NULL, packet, sizeof packet), GYRE_INVALID);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "expected an eventfd"));
    server.has_pipe = false;
    ck_assert_int_eq(meet_as(NULL, packet, sizeof packet), GYRE_OK);
}
END_TEST

/* Or the server would keep a place for a program that is gone. */
START_TEST(a_child_forked_while_its_parent_attaches_keeps_no_socket)
{
    be_short();
    server.forks = true;
    ck_assert_int_eq(meet(), GYRE_INVALID);
    ck_assert(server.sees_end);
}
END_TEST

/* Most of them made the client a queue all the same, and one kept it for ever. */
static const struct gyre_queue_options lies[] = {
    {.capacity = 16, .bridged_replies = true},
    {.capacity = 16, .bridged_requests = true, .request_size = 64, .bytes = UINT64_MAX},
    {.capacity = 16, .header_size = 4096},
    {.capacity = 16, .header_size = 24},
    {.capacity = 16, .header_size = 16, .levels = GYRE_LEVELS_MAX + 1, .window = 1, .age_ns = 1},
    {.capacity = 16, .header_size = 16, .levels = 2, .window = 1},
    {.capacity = 16, .header_size = 16, .levels = 2, .age_ns = 1},
    {.capacity = 16, .header_size = 16, .dedup = UINT32_MAX},
    {.capacity = 16, .left = 17},
    {.capacity = 16, .request_size = GYRE_EXPRESS_MOST + 1, .express = true},
    {.capacity = 16, .request_size = 64, .reply_size = 65536, .express = true, .express_replies = true},
    {.capacity = 16, .request_size = 64, .reply_size = 64, .express_replies = true},
    {.capacity = 16, .policy = GYRE_FULL_DROP_NEWEST + 1},
    {.capacity = 16, .idle = GYRE_WAIT_PARK + 1},
};

START_TEST(numbers_that_make_no_sense_are_told)
{
    server.options = lies[_i];
    server.file_size = 4 << 20;
    ck_assert_int_eq(meet(), GYRE_INTERNAL);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "described the queue in a way that makes no sense"));
    server.options = (struct gyre_queue_options){
        .capacity = 16, .header_size = 64, .levels = GYRE_LEVELS_MAX, .window = 1, .age_ns = 1};
    ck_assert_int_eq(meet(), GYRE_OK);
}
END_TEST

/* Most of them made the client write behind the room that it had for a message. */
static const struct {
    const gyre_type *request;
    struct gyre_queue_options options;
} mismatches[] = {
    {GYRE_TYPE(number), {.capacity = 16, .request_size = 8}},
    {GYRE_TYPE(number), {.capacity = 16, .request_size = 2, .wire = 1}},
    {GYRE_TYPE(number), {.capacity = 16, .request_size = sizeof(number), .request_least = 4}},
    {GYRE_TYPE(new_line), {.capacity = 16, .request_size = 32, .request_least = 32}},
    {GYRE_TYPE(new_line), {.capacity = 16, .request_size = sizeof(new_line), .request_least = 32}},
    {GYRE_TYPE(new_line), {.capacity = 16, .request_size = sizeof(new_line)}},
};

START_TEST(sizes_that_are_not_those_of_the_types_are_told)
{
    static const unsigned char packet[256];
    static old_line line;
    const bool is_line = mismatches[_i].request == GYRE_TYPE(new_line);
    gyre_begin(&line);
    server.file_size = 4 << 20;
    server.request = mismatches[_i].request;
    server.options = mismatches[_i].options;
    ck_assert_int_eq(is_line ? meet_as(GYRE_TYPE(old_line), &line, sizeof line)
                             : meet_as(NULL, packet, sizeof packet),
                     GYRE_INTERNAL);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "other sizes than their type"));
    server.options.request_size = (uint32_t)server.request->size;
    server.options.request_least = is_line ? gyre_least_new_line : 0;
    server.options.wire = 0;
    ck_assert_int_eq(is_line ? meet_as(GYRE_TYPE(old_line), &line, sizeof line)
                             : meet_as(GYRE_TYPE(number), packet, sizeof(number)),
                     GYRE_OK);
}
END_TEST

/* A later version's client, whose request says more behind that: it is not called nonsense. */
START_TEST(a_wanted_feature_that_is_not_there_is_told)
{
    struct gyre_parcel parcel;
    struct gyre_attach_request request;
    ck_assert_int_eq(gyre_parcel_init(&parcel), GYRE_OK);
    gyre_parcel_begin(&parcel, GYRE_PARCEL_ATTACH, GYRE_OK);
    gyre_parcel_put_u64(&parcel, UINT64_C(1) << 40);
    gyre_parcel_put_text(&parcel, "topic");
    ck_assert_int_eq(gyre_attach_request_get(&parcel, &request), GYRE_UNIMPLEMENTED);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "does not have (features 0x10000000000)"));
    gyre_kept_release(&request.types);
    gyre_parcel_finish(&parcel);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("attach_answer");
    TCase *tcase = tcase_create("attach_answer");
    tcase_set_timeout(tcase, LIMIT_S);
    tcase_add_test(tcase, a_control_region_that_is_too_small_is_told);
    tcase_add_loop_test(tcase, numbers_that_make_no_sense_are_told, 0, (int)(sizeof lies / sizeof lies[0]));
    tcase_add_loop_test(tcase, sizes_that_are_not_those_of_the_types_are_told, 0,
                        (int)(sizeof mismatches / sizeof mismatches[0]));
    tcase_add_test(tcase, memory_that_its_server_can_shrink_is_refused);
    tcase_add_test(tcase, a_doorbell_that_is_no_eventfd_is_refused);
    tcase_add_test(tcase, a_wanted_feature_that_is_not_there_is_told);
    tcase_add_test(tcase, a_child_forked_while_its_parent_attaches_keeps_no_socket);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
