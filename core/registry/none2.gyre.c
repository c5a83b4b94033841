#include <gyre/kernel.h>
