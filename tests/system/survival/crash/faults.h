/* SPDX-License-Identifier: Apache-2.0 */
/* Fault points as the crash tests arm them, while the program and its workers run. */
#ifndef GYRE_TESTS_CRASH_FAULTS_H
#define GYRE_TESTS_CRASH_FAULTS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/fault.h"

/** What a campaign may let happen at a point. */
struct chosen_fault {
    enum gyre_fault_point point;
    enum gyre_fault_action action;
    uint32_t value;
};

/** Makes the board that this program and its workers share; before a runtime is opened. False: this build has
 * no fault points. */
bool make_fault_board(void);
/** The same, for tests of these alone: exits with 77 where there are none. */
void need_fault_board(void);
/** The point does so at its `after`th hit from now, and at `times` hits in a row. */
void arm_fault(const struct chosen_fault *fault, uint64_t after, uint64_t times);
/** Nothing happens at any point any more. */
void disarm_faults(void);
/** How often points did what they were armed for. */
uint64_t faults_fired(void);

#endif
