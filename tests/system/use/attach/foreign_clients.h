/* SPDX-License-Identifier: Apache-2.0 */
/* Clients of foreign_scene.h: one that is honest, and those that write into what is handled. */
#ifndef GYRE_TESTS_FOREIGN_CLIENTS_H
#define GYRE_TESTS_FOREIGN_CLIENTS_H

#include "parties.h"

/** Honest: each reply is what was asked. */
void call_honestly(const party *self);
/** Turns parts of requests and replies into parts that lie elsewhere, until it is killed. */
void attack(const party *self);
/** Writes anything anywhere as well. */
void attack_thoroughly(const party *self);
/** Called before the first attacker is started, in whose process the requests that were handled are counted, too. */
void begin_attack(void);
/** Until enough of them were handled. */
void wait_for_the_attack(void);
/** Kills an attacker, which must be alive: or it has read what it should not, or was told nonsense. */
void end_attacker(const party *attacker);

#endif
