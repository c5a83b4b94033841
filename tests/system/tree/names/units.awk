# SPDX-License-Identifier: Apache-2.0
# Writes a kernel file that has each name (a line each) as what `what` says: fields and local variables, types, functions or
# tables. Each name stands in lines of its own, from which test_names.sh tells what was refused.
BEGIN {
    print "#include <gyre/kernel.h>"
    print "#define LIST_MINE(FIELD) FIELD(u32, value_mine)"
    print "GYRE_MESSAGE(message_mine, LIST_MINE)"
}
{ name[NR] = $1 }
what == "types" { print "typedef struct " $1 " { u32 value_mine; } " $1 ";" }
what == "functions" { print "GYRE_HELPER u32 " $1 "(u32 value_mine) { return value_mine; }" }
what == "tables" { print "GYRE_CONSTANT u32 " $1 "[2] = {1, 2};" }
END {
    for (i = 1; what == "fields" && i <= NR; i++)
        print "struct struct_" i "_mine { u8 " name[i] "; };"
    print "GYRE_KERNEL(kernel_mine, message_mine, message_mine)\n{\n    reply->value_mine = request->value_mine;"
    for (i = 1; what == "fields" && i <= NR; i++)
        print "    { u32 " name[i] " = 1; reply->value_mine += " name[i] "; }"
    print "    return GYRE_REPLY;\n}"
}
