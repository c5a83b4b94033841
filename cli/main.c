/* SPDX-License-Identifier: Apache-2.0 */
/* The program `gyre`. Everything is in the library beside it, so that tests reach it. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
    return cli_main(argv + (argc > 0), argc > 0 ? (size_t)argc - 1 : 0);
}
