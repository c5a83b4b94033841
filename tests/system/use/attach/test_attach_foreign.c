/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients that write into what they share with a server while it is handled: parts of requests and replies that are
 * turned, between a look and the next, into parts that lie at an address of the client's choice; lengths, headers,
 * seals, sequences. The server's memory stays as it is, nothing of it reaches a client, and a neighbour is served.
 *
 * One case a run: `test_attach_foreign CASE`.
 */
#include "foreign_clients.h"
#include "foreign_scene.h"

static void play_in(const char *file, const char *kernel)
{
    scene.file = file;
    scene.kernel = kernel;
    begin_attack();
    party server = start_server();
    party neighbour = party_start(call_honestly);
    require(party_hear(&neighbour) == 'r');
    party first = party_start(attack), second = party_start(attack_thoroughly);
    require(party_hear(&first) == 'r' && party_hear(&second) == 'r');
    wait_for_the_attack();
    end_attacker(&first);
    end_attacker(&second);
    party_tell(&neighbour, 'e');
    require(party_end(&neighbour) == 0);
    end_server(&server);
}

static void play_lane(void)
{
    play_in(ATTACH_KERNELS "foreign.gyre.c", "foreign_lane");
}

static void play_form(const char *kernel)
{
    play_in(ATTACH_KERNELS "foreign_forms.gyre.c", kernel);
}

static void clients_write_into_what_a_lane_handles(void)
{
    play_lane();
}

static void clients_write_into_what_a_block_handles(void)
{
    play_form("foreign_block");
}

static void clients_write_into_what_an_actor_handles(void)
{
    play_form("foreign_actor");
}

static void clients_write_into_what_a_line_holds(void)
{
    scene.kind = LITTLES;
    play_form("foreign_line");
}

static void clients_write_into_messages_of_a_protocol(void)
{
    scene.kind = BOTHS;
    play_form("foreign_both");
}

static void clients_write_into_headers(void)
{
    scene.header = 16;
    scene.settings[0] = "queue.default.header=16";
    play_lane();
}

static void clients_write_into_headers_and_seals(void)
{
    scene.header = 64;
    scene.settings[0] = "queue.default.header=64";
    scene.settings[1] = "queue.default.seal=crc32c";
    play_lane();
}

static void clients_write_into_what_a_worker_handles(void)
{
    scene.isolated = true;
    play_lane();
}

static void clients_write_into_what_is_relayed(void)
{
    keep_in_a_journal();
    play_form("foreign_actor");
}

static void play_stages(void)
{
    scene.pipeline = true;
    play_in(ATTACH_KERNELS "foreign_stages.gyre.c", "stages");
}

static void clients_write_into_what_stages_handle(void)
{
    play_stages();
}

static void clients_write_into_headers_of_flows(void)
{
    scene.header = 16;
    scene.settings[0] = "queue.default.header=16";
    play_stages();
}

static void clients_write_into_headers_and_seals_of_flows(void)
{
    scene.header = 64;
    scene.settings[0] = "queue.default.header=64";
    scene.settings[1] = "queue.stages.seal=crc32c";
    play_stages();
}

static const named_case cases[] = {
    {"clients_write_into_what_a_lane_handles", clients_write_into_what_a_lane_handles},
    {"clients_write_into_what_a_block_handles", clients_write_into_what_a_block_handles},
    {"clients_write_into_what_an_actor_handles", clients_write_into_what_an_actor_handles},
    {"clients_write_into_what_a_line_holds", clients_write_into_what_a_line_holds},
    {"clients_write_into_messages_of_a_protocol", clients_write_into_messages_of_a_protocol},
    {"clients_write_into_headers", clients_write_into_headers},
    {"clients_write_into_headers_and_seals", clients_write_into_headers_and_seals},
    {"clients_write_into_what_a_worker_handles", clients_write_into_what_a_worker_handles},
    {"clients_write_into_what_is_relayed", clients_write_into_what_is_relayed},
    {"clients_write_into_what_stages_handle", clients_write_into_what_stages_handle},
    {"clients_write_into_headers_of_flows", clients_write_into_headers_of_flows},
    {"clients_write_into_headers_and_seals_of_flows", clients_write_into_headers_and_seals_of_flows},
};

int main(int argc, char **argv)
{
    return RUN_NAMED(argc, argv, make_fault_folder, cases);
}
