/* SPDX-License-Identifier: Apache-2.0 */
/* gyre.hpp: what it throws, what lives how long, and what happens to reservations and batches that fail. usage: test_cpp FILE.gyre.c */
#include <gyre/gyre.hpp>

#include <array>
#include <cstdio>
#include <poll.h>
#include <string>
#include <thread>
#include <vector>

#include "tally.h"

static int wrong;

static void expect(bool holds, const char *what)
{
    if (holds)
        return;
    std::fprintf(stderr, "not so: %s\n", what);
    wrong++;
}

/* The status that the action throws; GYRE_OK when it throws nothing. */
template <class Action> static gyre_status status_of(Action action)
{
    try {
        action();
    } catch (const gyre::error &failure) {
        expect(failure.what()[0] != '\0', "an error has a sentence");
        return failure.status();
    }
    return GYRE_OK;
}

static gyre::runtime open_cpu()
{
    gyre::options how;
    how.backend = "cpu";
    how.settings = {"queue.default.capacity=64"};
    return gyre::runtime(how);
}

using scale_kernel = gyre::kernel<scale_request, scale_reply>;
using tally_kernel = gyre::kernel<tally_request, tally_reply>;

static tally_kernel launch_tally(const std::string &file)
{
    return open_cpu().launch(file + ":tally", GYRE_MESSAGES(tally_request, tally_reply));
}

static void errors_are_thrown(const std::string &file)
{
    gyre::options bad;
    bad.settings = {"queue.default.capacity=63"};
    expect(status_of([&] { gyre::runtime runtime(bad); }) == GYRE_CONFIG, "a wrong setting is told as such");
    const gyre::runtime runtime = open_cpu();
    expect(status_of([&] { runtime.launch("no.gyre.c", GYRE_MESSAGES(scale_request, scale_reply)); }) ==
               GYRE_NOT_FOUND,
           "a file that is not there is told as such");
    expect(status_of([&] { runtime.launch(file + ":tally", GYRE_MESSAGES(scale_request, scale_reply)); }) ==
               GYRE_INCOMPATIBLE,
           "a kernel of other types is told as such");
    expect(status_of([&] {
               gyre::attach("tally", GYRE_MESSAGES(tally_request, tally_reply), "/no/socket");
           }) == GYRE_UNAVAILABLE,
           "a server that is not there is told as such");
}

/* Each owner goes before what it owns; a queue is the last that is left. */
static void queues_keep_what_they_need(const std::string &file)
{
    auto queue = [&] {
        const tally_kernel tally = launch_tally(file);
        return tally.open_queue("side");
    }();
    expect(queue.call({5}).sum == 5, "a queue outlives the names of its kernel and runtime");
    const auto copy = queue;
    expect(copy.call({1}).sum == 6, "a copy is the same queue");
}

static void failures_are_told(const std::string &file)
{
    const tally_kernel tally = launch_tally(file);
    tally.send({-1});
    const auto done = tally.receive();
    expect(!done.replied() && done.failure_code == 7 && done.failure_text == "the sum would be negative" &&
               done.reply.sum == 0,
           "a completion tells the failure");
    expect(status_of([&] { done.value(); }) == GYRE_FAILED, "its value is thrown");
    tally.send({-2});
    {
        const auto views = tally.peek(1);
        expect(status_of([&] { views.reply(0); }) == GYRE_FAILED, "so is that of a view");
        expect(status_of([&] { views.reply(1); }) == GYRE_INVALID, "a view that is not there is told");
    }
    expect(status_of([&] { tally.receive(gyre::no_wait); }) == GYRE_AGAIN,
           "views are given back at their end");
}

static void a_map_ends_whole(const std::string &file)
{
    const tally_kernel tally = launch_tally(file);
    std::vector<tally_request> requests(1000, tally_request{1});
    requests[500].add = -100000;
    std::vector<tally_reply> replies(1000);
    int code = 0;
    try {
        tally.map(requests, replies);
    } catch (const gyre::handler_failed &failure) {
        code = failure.code();
    }
    expect(code == 7, "the first failure of a batch is thrown");
    expect(replies[499].sum == 500 && replies[999].sum == 999, "the requests around it are answered");
    expect(tally.call({0}).sum == 999, "nothing of the batch is left in the queue");
    std::array<tally_reply, 10> few{};
    expect(status_of([&] { tally.map(requests, few); }) == GYRE_INVALID, "too few places are refused");
    expect(tally.map(std::vector<tally_request>()).empty(), "no requests have no replies");
}

static void a_reservation_that_is_left_sends_nothing(const std::string &file)
{
    const tally_kernel tally = launch_tally(file);
    {
        auto slots = tally.reserve(4);
        slots[0].add = 1;
    }
    auto slots = tally.reserve(2);
    slots[0].add = 40;
    slots.commit(1);
    const auto moved = std::move(slots);
    expect(tally.receive().value().sum == 40, "only what was committed is sent");
    expect(tally.call({2}).sum == 42, "and the queue goes on");
}

static void an_event_loop_sees_replies(const std::string &file)
{
    const tally_kernel tally = launch_tally(file);
    pollfd waits = {tally.descriptor(), POLLIN, 0};
    expect(poll(&waits, 1, 0) == 0, "nothing is readable before a request");
    std::thread sender([&] { tally.send({1}); });
    expect(poll(&waits, 1, -1) == 1, "a reply makes the descriptor readable");
    sender.join();
    expect(tally.receive(gyre::no_wait).value().sum == 1, "and is there then");
    expect(tally.terminate(std::chrono::minutes(10)) == 0, "nothing is left at the end");
    expect(status_of([&] { tally.call({1}); }) == GYRE_CLOSED, "a kernel that ended takes nothing");
}

int main(int argc, char **argv)
{
    const std::string file = argc > 1 ? argv[1] : "tally.gyre.c";
    try {
        errors_are_thrown(file);
        queues_keep_what_they_need(file);
        failures_are_told(file);
        a_map_ends_whole(file);
        a_reservation_that_is_left_sends_nothing(file);
        an_event_loop_sees_replies(file);
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "unexpected: %s\n", failure.what());
        return 1;
    }
    return wrong != 0;
}
