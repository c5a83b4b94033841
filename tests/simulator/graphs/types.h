/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of the graphs in this folder. */
#ifndef GYRE_TESTS_SIMULATOR_GRAPHS_TYPES_H
#define GYRE_TESTS_SIMULATOR_GRAPHS_TYPES_H

#define TASK(FIELD) FIELD(u32, number) FIELD(u32, value)
GYRE_MESSAGE(task, TASK)
#define PART(FIELD) FIELD(u32, which) FIELD(u32, value)
GYRE_MESSAGE(part, PART)
#define ANSWER(FIELD) FIELD(u32, number) FIELD(u32, value)
GYRE_MESSAGE(answer, ANSWER)

#define PARTS(PORT) PORT(part, parts, 4)
GYRE_PORTS(parts_ports, PARTS)
#define ROADS(PORT) PORT(part, left, 2) PORT(part, right, 2)
GYRE_PORTS(roads_ports, ROADS)
#define TASKS(PORT) PORT(task, tasks, 1)
GYRE_PORTS(tasks_ports, TASKS)
#define ONWARD(PORT) PORT(part, onward, 1)
GYRE_PORTS(onward_ports, ONWARD)

#endif
