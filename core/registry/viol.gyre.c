#include <gyre/kernel.h>
#include <stdio.h>
#include <cuda_runtime.h>
