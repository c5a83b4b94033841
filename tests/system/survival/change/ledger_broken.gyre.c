/* SPDX-License-Identifier: Apache-2.0 */
/* Refused: it does not compile. */
#include <gyre/kernel.h>
#include "ledger.h"

GYRE_ACTOR(ledger, entry, receipt, gyre_none)
{
    reply->count = no_such_name;
    return GYRE_REPLY;
}
