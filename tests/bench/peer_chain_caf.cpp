/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows `call` and `stream` of peer_chain.c with five actors of CAF, the C++ Actor Framework, with its own settings: its
 * scheduler has a thread for each processor. The client is a scoped actor. Every reply is checked.
 *
 * Prints one JSON document; exits 1 when a reply is wrong.
 *
 * usage: peer_chain_caf [SECONDS]      for each row
 */
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <caf/all.hpp>

namespace
{

constexpr std::uint64_t words = 6, stages = 5, window = 1024;

struct message {
    std::array<std::uint64_t, words> word;
};

template <class Inspector> typename Inspector::result_type inspect(Inspector &f, message &x)
{
    return f(x.word);
}

message make(std::uint64_t number)
{
    message made;
    for (std::uint64_t i = 0; i < words; i++)
        made.word[i] = number * words + i;
    return made;
}

std::uint64_t wrong; /* replies */

void check(const message &reply, std::uint64_t number)
{
    bool right = true;
    for (std::uint64_t i = 0; i < words; i++)
        right &= reply.word[i] == (number * words + i) * 3 + i;
    wrong += !right;
}

caf::behavior pass(caf::event_based_actor *self, caf::actor next)
{
    return {[=](const message &request) { self->send(next, request); }};
}

caf::behavior finish(caf::event_based_actor *self, caf::actor client)
{
    return {[=](message &request) {
        for (std::uint64_t i = 0; i < words; i++)
            request.word[i] = request.word[i] * 3 + i;
        self->send(client, request);
    }};
}

double now_ns()
{
    using clock = std::chrono::steady_clock;
    return std::chrono::duration<double, std::nano>(clock::now().time_since_epoch()).count();
}

void receive_one(caf::scoped_actor &client, std::uint64_t number)
{
    client->receive([=](const message &reply) { check(reply, number); });
}

void call_one_by_one(caf::scoped_actor &client, const caf::actor &first, double duration_ns)
{
    std::vector<double> samples;
    const double start = now_ns();
    for (double before = start; before - start < duration_ns;) {
        client->send(first, make(samples.size()));
        receive_one(client, samples.size());
        const double now = now_ns();
        samples.push_back(now - before);
        before = now;
    }
    std::sort(samples.begin(), samples.end());
    std::printf("{\"row\": \"call\", \"messages\": %zu, \"p50_ns\": %.0f, \"p99_ns\": %.0f},\n",
                samples.size(), samples[samples.size() / 2],
                samples[samples.size() - 1 - samples.size() / 100]);
}

void stream(caf::scoped_actor &client, const caf::actor &first, double duration_ns)
{
    std::uint64_t sent = 0, received = 0;
    const double start = now_ns();
    while (now_ns() - start < duration_ns) {
        for (; sent - received < window; sent++)
            client->send(first, make(sent));
        for (std::uint64_t half = window / 2; half > 0; half--)
            receive_one(client, received++);
    }
    while (received != sent)
        receive_one(client, received++);
    std::printf("{\"row\": \"stream\", \"messages\": %llu, \"per_second\": %.0f}\n",
                static_cast<unsigned long long>(received),
                static_cast<double>(received) * 1e9 / (now_ns() - start));
}

} // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(message)

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 1;
    if (!(seconds > 0 && seconds < 3600)) {
        std::fprintf(stderr, "usage: peer_chain_caf [SECONDS]: a number above 0 is expected, found '%s'\n",
                     argv[1]);
        return 2;
    }
    caf::actor_system_config settings;
    caf::actor_system system{settings};
    caf::scoped_actor client{system};
    caf::actor first = system.spawn(finish, caf::actor{client});
    for (std::uint64_t i = 1; i < stages; i++)
        first = system.spawn(pass, first);
    std::printf("{\"peer\": \"five actors of CAF %d.%d.%d\", \"rows\": [\n", CAF_MAJOR_VERSION,
                CAF_MINOR_VERSION, CAF_PATCH_VERSION);
    call_one_by_one(client, first, seconds * 1e9);
    stream(client, first, seconds * 1e9);
    std::printf("]}\n");
    client->send_exit(first, caf::exit_reason::user_shutdown);
    if (wrong)
        std::fprintf(stderr, "peer_chain_caf: %llu replies were wrong\n",
                     static_cast<unsigned long long>(wrong));
    return wrong != 0; /* each actor ends when the one before it has let it go */
}
