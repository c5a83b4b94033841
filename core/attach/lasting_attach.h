/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches a lasting client (lasting.h) and runs its thread. */
#ifndef GYRE_CORE_ATTACH_LASTING_ATTACH_H
#define GYRE_CORE_ATTACH_LASTING_ATTACH_H

#include "core/attach/lasting.h"

/** Does what gyre_attach does for a descriptor with `reconnect`. */
gyre_status gyre_lasting_attach(const char *name, const gyre_attach_desc *desc, gyre_queue **out);

#endif
