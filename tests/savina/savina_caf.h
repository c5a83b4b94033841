/* SPDX-License-Identifier: Apache-2.0 */
/* Benchmarks of savina_caf_more.cpp for the table of savina_caf.cpp: each begins, and tells `client` a number when it has ended. */
#ifndef SAVINA_CAF_H
#define SAVINA_CAF_H

#include <cstdint>

#include <caf/all.hpp>

void begin_bounded_buffer(caf::actor_system &system, const caf::actor &client, std::uint64_t size);
void begin_barber(caf::actor_system &system, const caf::actor &client, std::uint64_t size);
void begin_smokers(caf::actor_system &system, const caf::actor &client, std::uint64_t size);
void begin_filter_bank(caf::actor_system &system, const caf::actor &client, std::uint64_t size);
void begin_quicksort(caf::actor_system &system, const caf::actor &client, std::uint64_t size);

#endif
