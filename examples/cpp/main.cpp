// SPDX-License-Identifier: Apache-2.0
// Gyre from C++: one message, a batch, messages in place, an actor that refuses. docs/applications.md explains it.
#include <gyre/gyre.hpp>

#include <cstdio>
#include <string>
#include <vector>

#include "tally.h"

using namespace std::chrono_literals;

static double sum_of(const std::vector<scale_reply> &replies)
{
    double sum = 0;
    for (const scale_reply &reply : replies)
        sum += reply.result;
    return sum;
}

// Requests are written, and replies read, where they lie in the ring.
static double in_place(const gyre::queue<scale_request, scale_reply> &scale)
{
    double sum = 0;
    auto slots = scale.reserve(8);
    const std::size_t count = slots.size();
    for (std::size_t i = 0; i < count; i++)
        slots[i] = {static_cast<double>(i), 2};
    slots.commit(count);
    for (std::size_t read = 0; read < count;) {
        const auto views = scale.peek(count - read);
        for (std::size_t i = 0; i < views.size(); i++)
            sum += views.reply(i).result;
        read += views.size();
    }
    return count == 8 ? sum : -1;
}

static int run(const std::string &handlers)
{
    gyre::runtime runtime;
    auto scale = runtime.launch(handlers + ":scale", GYRE_MESSAGES(scale_request, scale_reply));
    auto tally = runtime.launch(handlers + ":tally", GYRE_MESSAGES(tally_request, tally_reply));

    std::printf("one: %g\n", scale.call({20.5, 2}, 10min).result);

    std::vector<scale_request> requests;
    for (int i = 0; i < 100000; i++)
        requests.push_back({static_cast<double>(i), 0.5});
    std::printf("batch: %g\n", sum_of(scale.map(requests)));
    std::printf("in place: %g\n", in_place(scale));

    const auto second = tally.open_queue();
    tally({30});
    std::printf("two queues: %lld\n", static_cast<long long>(second({12}).sum));
    try {
        tally({-100});
    } catch (const gyre::handler_failed &failure) {
        std::printf("code %d: %s\n", failure.code(), failure.what());
    }
    return 0;
}

int main(int argc, char **argv)
{
    try {
        return run(argc > 1 ? argv[1] : "tally.gyre.c");
    } catch (const gyre::error &failure) {
        std::fprintf(stderr, "%s: %s\n", gyre_status_word(failure.status()), failure.what());
        return 1;
    }
}
