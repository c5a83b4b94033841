/* SPDX-License-Identifier: Apache-2.0 */
/* One actor of CAF, the C++ Actor Framework, with its own settings; the client is a scoped actor. */
#include <array>
#include <cstring>
#include <memory>

#include <caf/all.hpp>

extern "C" {
#define _Noreturn [[noreturn]]
#include "peer.h"
#undef _Noreturn
}

using words = std::array<std::uint64_t, PEER_WORDS>;

struct message {
    words word;
};

template <class Inspector> typename Inspector::result_type inspect(Inspector &f, message &x)
{
    return f(x.word);
}

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(message)

namespace
{

std::unique_ptr<caf::actor_system_config> settings;
std::unique_ptr<caf::actor_system> actors;
std::unique_ptr<caf::scoped_actor> client;
caf::actor server;

caf::behavior serve(caf::event_based_actor *self, caf::actor asker)
{
    return {[=](message &request) {
        peer_handle(reinterpret_cast<peer_message *>(&request));
        self->send(asker, request);
    }};
}

void open_server()
{
    settings = std::make_unique<caf::actor_system_config>();
    actors = std::make_unique<caf::actor_system>(*settings);
    client = std::make_unique<caf::scoped_actor>(*actors);
    server = actors->spawn(serve, caf::actor{*client});
}

void send_request(const peer_message *request)
{
    message copy;
    std::memcpy(&copy, request, sizeof copy);
    (*client)->send(server, copy);
}

void receive_reply(peer_message *reply)
{
    (*client)->receive([=](const message &found) { std::memcpy(reply, &found, sizeof found); });
}

void close_server()
{
    (*client)->send_exit(server, caf::exit_reason::user_shutdown);
    server = nullptr;
    client.reset();
    actors.reset();
}

} // namespace

extern "C" const struct peer peer = {"an actor of CAF", open_server,  send_request,
                                     receive_reply,     close_server, PEER_WINDOW};
