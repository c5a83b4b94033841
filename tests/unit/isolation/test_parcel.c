/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the worker protocol: what goes in comes out, and what is cut or made up is refused. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/attach/meeting.h"
#include "core/base/error.h"
#include "core/parcel/records.h"
#include "gyre/waiting.h"
#include "unit/unit.h"

enum { LINGER_S = 3 };

#define PAIR(FIELD) FIELD(u32, first) FIELD(f32, rest[3])
GYRE_MESSAGE(pair, PAIR)

/* From the nth call on there is no memory; 0: there is. */
static int calls_left;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
    if (calls_left > 1)
        calls_left--;
    return calls_left == 1 ? NULL : __real_calloc(count, size);
}

/* So many calls of a socket find no memory in the kernel. */
static int starved_calls;
ssize_t __real_sendmsg(int file, const struct msghdr *message, int flags);
ssize_t __real_recvmsg(int file, struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int file, const struct msghdr *message, int flags);
ssize_t __wrap_recvmsg(int file, struct msghdr *message, int flags);

static bool is_starved(int code)
{
    if (starved_calls == 0)
        return false;
    starved_calls--;
    errno = code;
    return true;
}

ssize_t __wrap_sendmsg(int file, const struct msghdr *message, int flags)
{
    return is_starved(ENOBUFS) ? -1 : __real_sendmsg(file, message, flags);
}

ssize_t __wrap_recvmsg(int file, struct msghdr *message, int flags)
{
    return is_starved(ENOMEM) ? -1 : __real_recvmsg(file, message, flags);
}

static struct gyre_parcel sent, received;
static int ends[2];

static void open_ends(void)
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    ck_assert(gyre_parcel_init(&sent) == GYRE_OK && gyre_parcel_init(&received) == GYRE_OK);
    gyre_parcel_begin(&sent, GYRE_PARCEL_WAIT, GYRE_TIMEOUT);
}

static void close_ends(void)
{
    gyre_parcel_finish(&sent);
    gyre_parcel_finish(&received);
    close(ends[0]);
    close(ends[1]);
}

static void pass_on(void)
{
    ck_assert(gyre_parcel_send(&sent, ends[0], UINT64_MAX) == GYRE_OK);
    ck_assert(gyre_parcel_receive(&received, ends[1], UINT64_MAX) == GYRE_OK);
}

START_TEST(values_and_descriptors_arrive)
{
    struct stat one, other;
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    gyre_parcel_put_u64(&sent, 7);
    gyre_parcel_put_text(&sent, "seven");
    gyre_parcel_put_text(&sent, NULL);
    gyre_parcel_put_text(&sent, "");
    gyre_parcel_put_descriptor(&sent, file);
    pass_on();
    ck_assert(gyre_parcel_operation(&received) == GYRE_PARCEL_WAIT &&
              gyre_parcel_status(&received) == GYRE_TIMEOUT);
    ck_assert_uint_eq(gyre_parcel_get_u64(&received), 7);
    ck_assert_str_eq(gyre_parcel_get_text(&received), "seven");
    ck_assert(gyre_parcel_get_text(&received) == NULL);
    ck_assert(!gyre_parcel_whole(&received));
    ck_assert_str_eq(gyre_parcel_get_text(&received), "");
    ck_assert(gyre_parcel_whole(&received));
    int arrived = gyre_parcel_take_descriptor(&received);
    ck_assert(fstat(file, &one) == 0 && fstat(arrived, &other) == 0 && one.st_ino == other.st_ino);
    ck_assert(fcntl(arrived, F_GETFD) & FD_CLOEXEC);
    close(arrived);
    close(file);
    ck_assert_int_eq(gyre_parcel_take_descriptor(&received), -1);
    ck_assert(!gyre_parcel_whole(&received));
}
END_TEST

START_TEST(descriptors_that_nobody_takes_are_closed)
{
    int first = dup(0);
    close(first); /* the lowest free number */
    for (int round = 0; round < 3; round++) {
        gyre_parcel_begin(&sent, GYRE_PARCEL_WAIT, GYRE_OK);
        gyre_parcel_put_descriptor(&sent, ends[0]);
        pass_on();
    }
    gyre_parcel_begin(&received, GYRE_PARCEL_WAIT, GYRE_OK);
    int next = dup(0);
    close(next);
    ck_assert_int_eq(first, next);
}
END_TEST

/* Not a message that was cut: the limit is this process's own. */
START_TEST(descriptors_beyond_the_limit_are_told_as_such)
{
    struct rlimit before;
    const int next = dup(ends[0]);
    close(next);
    gyre_parcel_put_descriptor(&sent, ends[0]);
    ck_assert(gyre_parcel_send(&sent, ends[0], UINT64_MAX) == GYRE_OK);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    const struct rlimit few = {(rlim_t)next, before.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    gyre_status status = gyre_parcel_receive(&received, ends[1], UINT64_MAX);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert_int_eq(status, GYRE_EXHAUSTED);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "ulimit -n"));
}
END_TEST

static int lowest_free(void)
{
    int lowest = dup(ends[0]);
    close(lowest);
    return lowest;
}

/* A packet of the peer's own making: `count` descriptors in `headers` headers. */
static void send_raw(const void *bytes, size_t length, int count, int headers)
{
    _Alignas(struct cmsghdr) char control[8 * CMSG_SPACE(sizeof(int) * 64)];
    struct iovec part = {(void *)(uintptr_t)bytes, length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control};
    size_t at = 0;
    memset(control, 0, sizeof control);
    for (int i = 0; i < headers; i++) {
        struct cmsghdr *header = (struct cmsghdr *)(void *)(control + at);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len =
            (socklen_t)CMSG_LEN(sizeof(int) * (size_t)count); /* the type that POSIX gives it */
        for (int k = 0; k < count; k++)
            memcpy(CMSG_DATA(header) + sizeof(int) * (size_t)k, &ends[0], sizeof(int));
        at += CMSG_SPACE(sizeof(int) * (size_t)count);
    }
    message.msg_controllen = (socklen_t)at;
    ck_assert_int_eq(sendmsg(ends[0], &message, 0), (ssize_t)length);
}

/* The room that three need is padded to that of four, which the kernel fills. */
START_TEST(more_descriptors_than_a_message_may_bring_are_closed_and_refused)
{
    const int first = lowest_free();
    for (int count = 4; count <= 64; count += count < 8 ? 1 : 8) {
        uint32_t length = (uint32_t)sent.length;
        memcpy(sent.bytes + 8, &length, sizeof length);
        send_raw(sent.bytes, sent.length, count, 1);
        ck_assert_int_eq(gyre_parcel_receive(&received, ends[1], UINT64_MAX), GYRE_INTERNAL);
        ck_assert_ptr_nonnull(strstr(gyre_error_text(), "more open files than the 3"));
        ck_assert_uint_eq(received.descriptor_count, 0);
        ck_assert_int_eq(lowest_free(), first);
    }
}
END_TEST

START_TEST(descriptors_beside_what_is_no_message_are_closed)
{
    const int first = lowest_free();
    for (int count = 1; count <= 6; count++)
        for (int headers = 1; headers <= 3; headers++)
            for (size_t length = 0; length <= 48; length += 12) {
                static const char noise[48] = "noise";
                send_raw(noise, length, count, headers);
                ck_assert_int_eq(gyre_parcel_receive(&received, ends[1], UINT64_MAX),
                                 length ? GYRE_INTERNAL : GYRE_LOST);
                ck_assert_uint_eq(received.descriptor_count, 0);
                ck_assert_int_eq(lowest_free(), first);
            }
}
END_TEST

/* A TCP socket that nobody reads at its other end, and whose last close waits (SO_LINGER) for its bytes to be read. */
static int make_lingering_socket(int *other_end)
{
    static const char bytes[65536];
    const struct linger wait = {.l_onoff = 1, .l_linger = LINGER_S};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0), made = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(listener, 1), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    ck_assert_int_eq(connect(made, (struct sockaddr *)&address, size), 0);
    *other_end = accept(listener, NULL, NULL);
    while (send(made, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
    }
    ck_assert_int_eq(setsockopt(made, SOL_SOCKET, SO_LINGER, &wait, sizeof wait), 0);
    close(listener);
    return made;
}

/* Also where there are more than a message may bring, which Linux must not close by itself. */
START_TEST(sockets_whose_closing_waits_are_closed_at_once)
{
    enum { SOCKETS = 9 };
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * SOCKETS)];
    struct iovec part = {(void *)(uintptr_t) "noise", 5};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int sockets[SOCKETS], others[SOCKETS];
    for (size_t i = 0; i < SOCKETS; i++)
        sockets[i] = make_lingering_socket(&others[i]);
    memset(control, 0, sizeof control);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof sockets);
    memcpy(CMSG_DATA(header), sockets, sizeof sockets);
    ck_assert_int_eq(sendmsg(ends[0], &message, 0), 5);
    for (size_t i = 0; i < SOCKETS; i++)
        close(sockets[i]);
    const uint64_t start = gyre_clock_ns();
    ck_assert_int_eq(gyre_parcel_receive(&received, ends[1], UINT64_MAX), GYRE_INTERNAL);
    ck_assert_uint_lt(gyre_clock_ns() - start, LINGER_S * UINT64_C(1000000000) / 2);
    for (size_t i = 0; i < SOCKETS; i++)
        close(others[i]);
}
END_TEST

START_TEST(what_is_cut_or_too_large_is_broken)
{
    gyre_parcel_put_u64(&sent, 3); /* a text of three bytes, of which there is one */
    gyre_parcel_put(&sent, "a", 1);
    pass_on();
    ck_assert_str_eq(gyre_parcel_get_text(&received), "");
    ck_assert(received.broken && gyre_parcel_get_u64(&received) == 0);
    gyre_parcel_begin(&sent, GYRE_PARCEL_WAIT, GYRE_OK);
    gyre_parcel_put_u64(&sent, 3); /* a text with an end inside */
    gyre_parcel_put(&sent, "a\0", 3);
    pass_on();
    gyre_parcel_get_text(&received);
    ck_assert(received.broken);
    gyre_parcel_begin(&sent, GYRE_PARCEL_WAIT, GYRE_OK);
    gyre_parcel_put_u64(&sent, 9);
    pass_on();
    ck_assert_uint_eq(gyre_parcel_get_u32(&received, 8), 0);
    ck_assert(received.broken);
    static char large[GYRE_PARCEL_MAX];
    gyre_parcel_put(&sent, large, sizeof large);
    ck_assert(gyre_parcel_send(&sent, ends[0], UINT64_MAX) == GYRE_INVALID);
}
END_TEST

START_TEST(what_is_no_message_is_refused)
{
    char noise[64];
    memset(noise, 'x', sizeof noise);
    ck_assert(send(ends[0], noise, sizeof noise, 0) == sizeof noise);
    ck_assert(gyre_parcel_receive(&received, ends[1], UINT64_MAX) == GYRE_INTERNAL);
    ck_assert(send(ends[0], noise, 3, 0) == 3);
    ck_assert(gyre_parcel_receive(&received, ends[1], UINT64_MAX) == GYRE_INTERNAL);
    uint16_t version = GYRE_PARCEL_VERSION + 1;
    memcpy(sent.bytes + 4, &version, sizeof version);
    uint32_t length = (uint32_t)sent.length;
    memcpy(sent.bytes + 8, &length, sizeof length);
    ck_assert(send(ends[0], sent.bytes, sent.length, 0) == (ssize_t)sent.length);
    ck_assert(gyre_parcel_receive(&received, ends[1], UINT64_MAX) == GYRE_INCOMPATIBLE);
    ck_assert_ptr_nonnull(strstr(gyre_error_text(), "version"));
}
END_TEST

START_TEST(deadlines_and_ends_are_told_apart)
{
    uint64_t start = gyre_clock_ns();
    ck_assert(gyre_parcel_receive(&received, ends[1], start + 20000000) == GYRE_TIMEOUT);
    ck_assert_uint_ge(gyre_clock_ns() - start, 20000000);
    shutdown(ends[0], SHUT_RDWR);
    ck_assert(gyre_parcel_receive(&received, ends[1], UINT64_MAX) == GYRE_LOST);
    ck_assert(gyre_parcel_send(&sent, ends[1], UINT64_MAX) == GYRE_LOST);
}
END_TEST

START_TEST(a_want_of_memory_is_no_end)
{
    starved_calls = 3;
    ck_assert(gyre_parcel_send(&sent, ends[0], UINT64_MAX) == GYRE_OK);
    starved_calls = 3;
    ck_assert(gyre_parcel_receive(&received, ends[1], UINT64_MAX) == GYRE_OK);
    ck_assert_int_eq(starved_calls, 0);
    starved_calls = INT32_MAX;
    ck_assert(gyre_parcel_send(&sent, ends[0], gyre_in_ms(3)) == GYRE_TIMEOUT);
    ck_assert(gyre_parcel_receive(&received, ends[1], gyre_in_ms(3)) == GYRE_TIMEOUT);
    starved_calls = 0;
}
END_TEST

/* Or a server would take a client that it answers without waiting for one that does not listen. */
START_TEST(a_call_that_may_not_wait_waits_for_memory)
{
    starved_calls = 3;
    ck_assert_int_eq(gyre_parcel_send(&sent, ends[0], GYRE_NO_WAIT), GYRE_OK);
    starved_calls = 3;
    ck_assert_int_eq(gyre_parcel_receive(&received, ends[1], GYRE_NO_WAIT), GYRE_OK);
    ck_assert_int_eq(starved_calls, 0);
    starved_calls = INT32_MAX;
    ck_assert_int_eq(gyre_parcel_send(&sent, ends[0], GYRE_NO_WAIT), GYRE_TIMEOUT);
    starved_calls = 0;
}
END_TEST

static const gyre_port_record some_ports[] = {{.name = "pairs", .type = GYRE_TYPE(pair), .most = 8},
                                              {.name = "words", .type = GYRE_TYPE(u64), .most = 1}};

static const gyre_kernel_record some_kernel = {.size = sizeof(gyre_kernel_record),
                                               .name = "some",
                                               .form = GYRE_FORM_BLOCK,
                                               .request = GYRE_TYPE(pair),
                                               .reply = GYRE_TYPE(u64),
                                               .state = GYRE_TYPE(gyre_none),
                                               .scratch_size = 99,
                                               .buffers = "in pair pairs;",
                                               .buffer_types = gyre_fields_pair,
                                               .registers = 5,
                                               .ports = some_ports,
                                               .port_count = 2};

START_TEST(a_kernel_record_arrives_with_its_types)
{
    struct gyre_kept_record kept;
    gyre_record_put(&sent, &some_kernel);
    pass_on();
    ck_assert(gyre_record_get(&received, &kept) == GYRE_OK);
    ck_assert_str_eq(kept.record.name, "some");
    ck_assert(kept.record.form == GYRE_FORM_BLOCK && kept.record.scratch_size == 99);
    ck_assert_str_eq(kept.record.request->fields, some_kernel.request->fields);
    ck_assert_str_eq(kept.record.request->field_types[1]->name, "f32");
    ck_assert_ptr_null(kept.record.request->field_types[2]);
    ck_assert_str_eq(kept.record.buffer_types[0]->name, "u32");
    ck_assert_uint_eq(kept.record.registers, 5);
    ck_assert_uint_eq(kept.record.port_count, 2);
    ck_assert_str_eq(kept.record.ports[0].name, "pairs");
    ck_assert_str_eq(kept.record.ports[0].type->field_types[1]->name, "f32");
    ck_assert_uint_eq(kept.record.ports[0].most, 8);
    ck_assert_str_eq(kept.record.ports[1].type->name, "u64");
    gyre_record_release(&kept);
}
END_TEST

START_TEST(a_kernel_record_of_too_many_ports_is_refused)
{
    struct gyre_kept_record kept;
    gyre_port_record ports[GYRE_PORTS_MAX + 1];
    gyre_kernel_record many = some_kernel;
    for (size_t i = 0; i <= GYRE_PORTS_MAX; i++)
        ports[i] = some_ports[1];
    many.ports = ports;
    many.port_count = GYRE_PORTS_MAX + 1;
    gyre_record_put(&sent, &many);
    pass_on();
    ck_assert(gyre_record_get(&received, &kept) == GYRE_INTERNAL);
}
END_TEST

START_TEST(a_cut_kernel_record_is_refused_wherever_it_is_cut)
{
    struct gyre_kept_record kept;
    gyre_record_put(&sent, &some_kernel);
    pass_on();
    size_t whole = received.length, start = received.at;
    for (size_t length = start; length < whole; length++) {
        received.length = length;
        received.at = start;
        received.broken = false;
        ck_assert(gyre_record_get(&received, &kept) == GYRE_INTERNAL);
        ck_assert_ptr_null(kept.blocks);
    }
}
END_TEST

static gyre_status get_record(void)
{
    struct gyre_kept_record kept;
    const gyre_status status = gyre_record_get(&received, &kept);
    gyre_record_release(&kept);
    return status;
}

static gyre_status get_request(void)
{
    struct gyre_attach_request request;
    const gyre_status status = gyre_attach_request_get(&received, &request);
    gyre_kept_release(&request.types);
    return status;
}

static gyre_status get_answer(void)
{
    struct gyre_attach_answer answer;
    const gyre_status status = gyre_attach_answer_get(&received, &answer);
    gyre_kept_release(&answer.types);
    return status;
}

/* Reads what came while memory runs out a call later each time: that is told, and the message is not blamed. */
static void read_without_memory(gyre_status (*get)(void))
{
    const size_t start = received.at;
    gyre_status status = GYRE_EXHAUSTED;
    int nth = 0;
    while (status != GYRE_OK) {
        received.at = start;
        received.broken = received.starved = false;
        calls_left = ++nth;
        status = get();
        calls_left = 0;
        ck_assert_msg(status == GYRE_OK || status == GYRE_EXHAUSTED, "%d: %s", nth, gyre_error_text());
        if (status != GYRE_OK)
            ck_assert_msg(strstr(gyre_error_text(), "out of memory") != NULL, "%s", gyre_error_text());
    }
    ck_assert_int_gt(nth, 5);
}

START_TEST(no_memory_for_a_kernel_record_is_told)
{
    gyre_record_put(&sent, &some_kernel);
    pass_on();
    read_without_memory(get_record);
}
END_TEST

START_TEST(no_memory_for_the_types_of_a_meeting_is_told)
{
    const gyre_attach_desc desc = {.size = sizeof desc, .request = GYRE_TYPE(pair), .reply = GYRE_TYPE(pair)};
    struct gyre_attach_answer answer = {.options.capacity = 64,
                                        .options.request_size = sizeof(pair),
                                        .options.reply_size = sizeof(uint64_t),
                                        .control_size = sizeof(gyre_control_region),
                                        .request = GYRE_TYPE(pair),
                                        .reply = GYRE_TYPE(u64)};
    gyre_attach_request_put(&sent, "kernel", &desc, 0);
    pass_on();
    read_without_memory(get_request);
    gyre_parcel_begin(&sent, GYRE_PARCEL_ATTACH, GYRE_OK);
    gyre_attach_answer_put(&sent, &answer);
    pass_on();
    read_without_memory(get_answer);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parcel");
    TCase *tcase = tcase_create("parcel");
    tcase_add_checked_fixture(tcase, open_ends, close_ends);
    tcase_add_test(tcase, values_and_descriptors_arrive);
    tcase_add_test(tcase, descriptors_that_nobody_takes_are_closed);
    tcase_add_test(tcase, descriptors_beyond_the_limit_are_told_as_such);
    tcase_add_test(tcase, more_descriptors_than_a_message_may_bring_are_closed_and_refused);
    tcase_add_test(tcase, descriptors_beside_what_is_no_message_are_closed);
    tcase_add_test(tcase, sockets_whose_closing_waits_are_closed_at_once);
    tcase_add_test(tcase, what_is_cut_or_too_large_is_broken);
    tcase_add_test(tcase, what_is_no_message_is_refused);
    tcase_add_test(tcase, deadlines_and_ends_are_told_apart);
    tcase_add_test(tcase, a_want_of_memory_is_no_end);
    tcase_add_test(tcase, a_call_that_may_not_wait_waits_for_memory);
    tcase_add_test(tcase, a_kernel_record_arrives_with_its_types);
    tcase_add_test(tcase, a_cut_kernel_record_is_refused_wherever_it_is_cut);
    tcase_add_test(tcase, a_kernel_record_of_too_many_ports_is_refused);
    tcase_add_test(tcase, no_memory_for_a_kernel_record_is_told);
    tcase_add_test(tcase, no_memory_for_the_types_of_a_meeting_is_told);
    suite_add_tcase(suite, tcase);
    return unit_run(suite);
}
