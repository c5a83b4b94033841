/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of a driver's answers; the driver here is a table of the test's own functions. */
#include "backends/cuda/cuda_check.h"
#include "backends/cuda/driver/cuda_context.h"
#include "backends/cuda/compile/cuda_module.h"
#include "backends/cuda/cuda_settings.h"
#include "backends/cuda/compile/cuda_shape.h"
#include "world.h"

#include <string.h>

#include "core/base/error.h"

static CUresult fake_error_name(CUresult result, const char **name)
{
    *name = result == CUDA_ERROR_LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_OTHER";
    return CUDA_SUCCESS;
}

static CUresult fake_error_string(CUresult result, const char **text)
{
    (void)result;
    *text = "the driver's words";
    return CUDA_SUCCESS;
}

static const void *loaded_image;
static int unloaded;

static CUresult fake_load(CUmodule *module, const void *image)
{
    static int any;
    loaded_image = image;
    *module = (CUmodule)(void *)&any;
    return CUDA_SUCCESS;
}

static CUresult fake_unload(CUmodule module)
{
    (void)module;
    unloaded++;
    return CUDA_SUCCESS;
}

static CUresult fake_function(CUfunction *function, CUmodule module, const char *name)
{
    (void)module;
    *function = NULL;
    return strncmp(name, "gyre_resident_", strlen("gyre_resident_")) == 0 ? CUDA_SUCCESS
                                                                          : CUDA_ERROR_NOT_FOUND;
}

static CUresult fake_attribute(int *value, CUfunction_attribute which, CUfunction function)
{
    (void)function;
    *value = which == CU_FUNC_ATTRIBUTE_NUM_REGS            ? 77
             : which == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? 4321
                                                            : 0;
    return CUDA_SUCCESS;
}

/* Three devices; the middle one is too old. */
static CUresult fake_count(int *count)
{
    *count = 3;
    return CUDA_SUCCESS;
}

static CUresult fake_device(CUdevice *device, int number)
{
    *device = number;
    return CUDA_SUCCESS;
}

static CUresult fake_name(char *name, int size, CUdevice device)
{
    snprintf(name, (size_t)size, "Fake %d", device);
    return CUDA_SUCCESS;
}

static CUresult fake_uuid(CUuuid *uuid, CUdevice device)
{
    memset(uuid, 0xa0 + device, sizeof *uuid);
    return CUDA_SUCCESS;
}

static CUresult fake_memory(size_t *size, CUdevice device)
{
    *size = (size_t)(device + 1) << 30;
    return CUDA_SUCCESS;
}

static int fake_mode = CU_COMPUTEMODE_DEFAULT;

static CUresult fake_device_attribute(int *value, CUdevice_attribute which, CUdevice device)
{
    switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = device == 1 ? 6 : 9;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = 0;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = 227 * 1024;
        break;
    case CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT: /* the last one drives a display */
        *value = device == 2;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
        *value = fake_mode;
        break;
    case CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED:
        *value = 0;
        break;
    default:
        *value = 132;
    }
    return CUDA_SUCCESS;
}

static const struct cuda_driver fake_driver = {.cuDeviceGetCount = fake_count,
                                               .cuDeviceGet = fake_device,
                                               .cuDeviceGetName = fake_name,
                                               .cuDeviceGetUuid = fake_uuid,
                                               .cuDeviceTotalMem = fake_memory,
                                               .cuDeviceGetAttribute = fake_device_attribute,
                                               .cuGetErrorName = fake_error_name,
                                               .cuGetErrorString = fake_error_string,
                                               .cuModuleLoadData = fake_load,
                                               .cuModuleUnload = fake_unload,
                                               .cuModuleGetFunction = fake_function,
                                               .cuFuncGetAttribute = fake_attribute,
                                               .version = 13000,
                                               .path = "libcuda of the test"};

START_TEST(a_failure_keeps_call_code_name_and_text)
{
    static const struct {
        CUresult result;
        gyre_status status;
    } cases[] = {{CUDA_ERROR_OUT_OF_MEMORY, GYRE_EXHAUSTED},
                 {CUDA_ERROR_INVALID_VALUE, GYRE_INTERNAL},
                 {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, GYRE_INVALID},
                 {CUDA_ERROR_NOT_SUPPORTED, GYRE_UNAVAILABLE}};
    struct world world;
    world_open(&world, "sm_90");
    world.device->driver = &fake_driver;
    ck_assert_int_eq(cuda_check(world.device, CUDA_SUCCESS, "cuInit"), GYRE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char code[64];
        snprintf(code, sizeof code, "cuMemHostRegister failed with %d (", (int)cases[i].result);
        ck_assert_int_eq(cuda_check(world.device, cases[i].result, "cuMemHostRegister"), cases[i].status);
        expect_text(code);
        expect_text("the driver's words");
    }
    ck_assert_int_eq(cuda_lost(world.device), GYRE_OK);
    world_close(&world);
}
END_TEST

START_TEST(the_first_fatal_failure_is_told_ever_after)
{
    struct world world;
    world_open(&world, "sm_90");
    world.device->driver = &fake_driver;
    ck_assert_int_eq(cuda_check(world.device, CUDA_ERROR_LAUNCH_FAILED, "cuStreamQuery"), GYRE_LOST);
    ck_assert_int_eq(cuda_check(world.device, CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc"), GYRE_LOST);
    expect_text("cuStreamQuery failed with 719 (CUDA_ERROR_LAUNCH_FAILED");
    ck_assert_int_eq(cuda_check(world.device, CUDA_ERROR_ILLEGAL_ADDRESS, "cuMemFree"), GYRE_LOST);
    expect_text("cuStreamQuery failed with 719");
    ck_assert_int_eq(cuda_lost(world.device), GYRE_LOST);
    expect_text("start the program again");
    world_close(&world);
}
END_TEST

START_TEST(a_module_is_loaded_and_unloaded_while_nothing_is_resident)
{
    struct world world;
    world_open(&world, "sm_90");
    ck_assert_int_eq(world_compile(&world, SOURCE_FOLDER "/tests/kernels/vector_add.gyre.c", ""), GYRE_OK);
    world.device->driver = &fake_driver;
    quiet_begun = quiet_ended = unloaded = 0;
    ck_assert_msg(world_load(&world) == GYRE_OK, "%s", gyre_error_text());
    ck_assert_ptr_eq(loaded_image, world.image);
    ck_assert_int_eq(quiet_begun, 1);
    ck_assert_int_eq(quiet_ended, 1);
    ck_assert_uint_eq(world.module->kernels[0].record.registers, 77); /* the driver's word counts */
    ck_assert_uint_eq(world.module->kernels[0].shared_size, 4321);
    cuda_module_release(world.module);
    world.module = NULL;
    ck_assert_int_eq(unloaded, 1);
    ck_assert_int_eq(quiet_begun, 2);
    ck_assert_int_eq(quiet_ended, 2);
    world.device->driver = NULL;
    world_close(&world);
}
END_TEST

START_TEST(a_gpu_newer_than_nvrtc_gets_ptx_and_the_same_description)
{
    struct world world;
    world_open(&world, "sm_90");
    world.device->driver = &fake_driver;
    strcpy(world.device->architecture, "sm_999");
    ck_assert_msg(world_compile(&world, SOURCE_FOLDER "/tests/kernels/vector_add.gyre.c", "") == GYRE_OK,
                  "%s", gyre_error_text());
    ck_assert_msg(world_load(&world) == GYRE_OK, "%s", gyre_error_text());
    const char *ptx = loaded_image;
    ck_assert(ptx > (const char *)world.image && ptx < (const char *)world.image + world.image_size);
    ck_assert_ptr_nonnull(strstr(ptx, ".entry gyre_resident_vector_add"));
    /* the description in front of it has none of the code, which would be a megabyte */
    ck_assert_int_lt(ptx - (const char *)world.image, 65536);
    ck_assert_uint_eq(world.module->kernels[0].record.request->size, 200);
    cuda_module_release(world.module);
    world.module = NULL;
    world.device->driver = NULL;
    world_close(&world);
}
END_TEST

/* Describes the driver's third device under the setting. */
static gyre_device describe(struct world *world, uint32_t residency_ms)
{
    gyre_device device = {.host = &world->host.table,
                          .driver = &fake_driver,
                          .ordinal = 2,
                          .settings = {.residency_ms = residency_ms}};
    pthread_mutex_init(&device.lost_lock, NULL);
    ck_assert_msg(cuda_device_describe(&device) == GYRE_OK, "%s", gyre_error_text());
    return device;
}

START_TEST(a_watchdog_bounds_stays_unless_told_otherwise)
{
    struct world world;
    char text[512];
    world_open(&world, "sm_90");
    gyre_device device = describe(&world, CUDA_RESIDENCY_AUTO);
    ck_assert(device.watchdog);
    ck_assert_uint_eq(device.residency_ms, 500);
    cuda_describe_limits(&device, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "watchdog ends kernels that stay: kernels leave in time"));
    ck_assert_ptr_nonnull(strstr(text, "every 500 ms"));
    ck_assert_ptr_nonnull(strstr(text, "no atomics on host memory"));
    device = describe(&world, 0);
    ck_assert_uint_eq(device.residency_ms, 0);
    cuda_describe_limits(&device, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "residency_ms = 0 lets it"));
    device = describe(&world, 30);
    ck_assert_uint_eq(device.residency_ms, 30);
    cuda_describe_details(&device, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "compute capability 9.0; driver "));
    ck_assert_ptr_nonnull(strstr(text, "for CUDA 13.0"));
    ck_assert_ptr_nonnull(strstr(text, "GPU-a2a2a2a2-a2a2-"));
    cuda_describe_limits(&device, text, 40); /* cut, and whole within its bounds */
    ck_assert_uint_eq(strlen(text), 39);
    world_close(&world);
}
END_TEST

START_TEST(a_device_that_may_run_nothing_is_refused)
{
    struct world world;
    world_open(&world, "sm_90");
    gyre_device device = {.host = &world.host.table, .driver = &fake_driver};
    pthread_mutex_init(&device.lost_lock, NULL);
    fake_mode = CU_COMPUTEMODE_PROHIBITED;
    ck_assert_int_eq(cuda_device_describe(&device), GYRE_UNAVAILABLE);
    expect_text("compute mode 'prohibited'");
    fake_mode = CU_COMPUTEMODE_DEFAULT;
    world_close(&world);
}
END_TEST

static gyre_status open_without_memory(const char *path, void **out)
{
    (void)path;
    *out = NULL;
    return GYRE_EXHAUSTED;
}

START_TEST(no_memory_for_the_driver_is_not_its_absence)
{
    const struct cuda_driver *driver;
    struct gyre_host_services host;
    gyre_host_init(&host, NULL, NULL);
    host.table.library_open = open_without_memory;
    ck_assert_int_eq(cuda_driver_open(&host.table, "", &driver), GYRE_EXHAUSTED);
    ck_assert_ptr_null(driver);
}
END_TEST

START_TEST(a_wrong_setting_is_refused_with_its_origin)
{
    static const gyre_parameter wrong[] = {{"sms", "-1", "gyre.ini:3"},
                                           {"sms", "many", "gyre.ini:3"},
                                           {"pause_ns", "1000001", "gyre.ini:3"},
                                           {"compile_for", "90", "gyre.ini:3"},
                                           {"compile_for", "sm_9", "gyre.ini:3"},
                                           {"compile_for", "sm_90ab", "gyre.ini:3"},
                                           {"residency_ms", "soon", "gyre.ini:3"},
                                           {"residency_ms", "-1", "gyre.ini:3"},
                                           {"residency_ms", "3600001", "gyre.ini:3"}};
    struct gyre_host_services host;
    struct cuda_settings settings;
    gyre_host_init(&host, NULL, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_int_eq(cuda_settings_read(&host.table, &wrong[i], 1, &settings), GYRE_CONFIG);
        expect_text("gyre.ini:3: backend.cuda ");
        expect_text(wrong[i].value);
    }
}
END_TEST

START_TEST(settings_are_read)
{
    static const gyre_parameter given[] = {{"library", "gyre-cuda.so", "test"},
                                           {"sms", "66", "test"},
                                           {"pause_ns", "250", "test"},
                                           {"compile_for", "sm_90a", "test"},
                                           {"device", "1,GPU-5a2b93c4", "test"},
                                           {"nvrtc", "/opt/libnvrtc.so", "test"},
                                           {"driver", "/opt/libcuda.so.1", "test"}};
    struct gyre_host_services host;
    struct cuda_settings settings;
    gyre_host_init(&host, NULL, NULL);
    ck_assert_int_eq(cuda_settings_read(&host.table, given, 7, &settings), GYRE_OK);
    ck_assert_str_eq(settings.driver, "/opt/libcuda.so.1");
    ck_assert_uint_eq(settings.sms, 66);
    ck_assert_uint_eq(settings.pause_ns, 250);
    ck_assert_str_eq(settings.compile_for, "sm_90a");
    ck_assert_str_eq(settings.nvrtc, "/opt/libnvrtc.so");
    ck_assert_str_eq(settings.devices, "1,GPU-5a2b93c4");
    const gyre_parameter plain[] = {{"compile_for", "device", "test"}, {"nvrtc", "auto", "test"}};
    ck_assert_int_eq(cuda_settings_read(&host.table, plain, 2, &settings), GYRE_OK);
    ck_assert_str_eq(settings.compile_for, "");
    ck_assert_str_eq(settings.nvrtc, "");
}
END_TEST

START_TEST(devices_are_chosen_by_number_and_by_uuid)
{
    static const struct {
        const char *setting;
        uint32_t ordinal;
        gyre_status status;
        int number;
        const char *sentence;
    } cases[] = {{"", 0, GYRE_OK, 0, ""},
                 {"", 2, GYRE_OK, 2, ""},
                 {"2,0", 0, GYRE_OK, 2, ""},
                 {"2,0", 1, GYRE_OK, 0, ""},
                 {"GPU-a2a2a2a2", 0, GYRE_OK, 2, ""},
                 {"0,GPU-A2A2A2A2-a2a2-a2a2-a2a2-a2a2a2a2a2a2", 1, GYRE_OK, 2, ""},
                 {"", 3, GYRE_INVALID, 0, "there are 3 devices, numbered from 0; found device 3"},
                 {"2", 1, GYRE_INVALID, 0, "there is 1 device with backend.cuda.device = 2"},
                 {"7", 0, GYRE_UNAVAILABLE, 0, "backend.cuda.device names '7'; the driver lists 3 devices"},
                 {"0,GPU-ffffffff", 1, GYRE_UNAVAILABLE, 0, "names 'GPU-ffffffff'"},
                 {"", 1, GYRE_UNAVAILABLE, 0, "device 1 'Fake 1' has compute capability 6.0"}};
    struct world world;
    world_open(&world, "sm_90");
    world.device->driver = &fake_driver;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        strcpy(world.device->settings.devices, cases[i].setting);
        world.device->ordinal = cases[i].ordinal;
        ck_assert_int_eq(cuda_device_describe(world.device), cases[i].status);
        if (cases[i].status == GYRE_OK)
            ck_assert_int_eq(world.device->handle, cases[i].number);
        else
            expect_text(cases[i].sentence);
    }
    ck_assert_uint_eq(cuda_devices_count(&(struct cuda_settings){.devices = "2,0"}, 3), 2);
    ck_assert_uint_eq(cuda_devices_count(&(struct cuda_settings){.devices = ""}, 3), 3);
    world_close(&world);
}
END_TEST

/* What the vendor's occupancy tables say for these. */
START_TEST(blocks_of_a_multiprocessor_are_counted_by_what_runs_out_first)
{
    static const struct {
        const char *architecture;
        uint32_t registers, threads, shared, blocks;
    } cases[] = {{"sm_90", 32, 512, 1024, 4},      /* 2,048 threads */
                 {"sm_90", 72, 512, 1024, 1},      /* 65,536 registers */
                 {"sm_90", 32, 128, 64 * 1024, 3}, /* 228 KiB, 1 KiB of each block for the system */
                 {"sm_86", 32, 512, 1024, 3},      {"sm_75", 32, 512, 1024, 2},
                 {"sm_75", 32, 512, 80 * 1024, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct world world;
        struct cuda_kernel kernel = {.record.registers = cases[i].registers};
        world_open(&world, cases[i].architecture);
        ck_assert_uint_eq(cuda_blocks_per_sm(world.device, &kernel, cases[i].threads, cases[i].shared),
                          cases[i].blocks);
        world_close(&world);
    }
}
END_TEST

START_TEST(a_device_that_only_compiles_says_so)
{
    struct world world;
    gyre_device_info info = {.size = sizeof info};
    world_open(&world, "sm_86");
    ck_assert_int_eq(cuda_enter(world.device), GYRE_UNAVAILABLE);
    expect_text("needs a GPU: this device only compiles, as backend.cuda.compile_for = sm_86 says");
    ck_assert_int_eq(cuda_device_info(world.device, &info), GYRE_OK);
    ck_assert_str_eq(info.architecture, "sm_86");
    ck_assert_uint_eq(info.scratch_max, (99 - 48) * 1024);
    ck_assert_ptr_nonnull(strstr(info.compiler, "NVRTC "));
    world_close(&world);
}
END_TEST

TCase *driver_cases(void)
{
    TCase *cases = tcase_create("driver");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, a_failure_keeps_call_code_name_and_text);
    tcase_add_test(cases, the_first_fatal_failure_is_told_ever_after);
    tcase_add_test(cases, a_module_is_loaded_and_unloaded_while_nothing_is_resident);
    tcase_add_test(cases, a_gpu_newer_than_nvrtc_gets_ptx_and_the_same_description);
    tcase_add_test(cases, no_memory_for_the_driver_is_not_its_absence);
    tcase_add_test(cases, a_wrong_setting_is_refused_with_its_origin);
    tcase_add_test(cases, settings_are_read);
    tcase_add_test(cases, devices_are_chosen_by_number_and_by_uuid);
    tcase_add_test(cases, blocks_of_a_multiprocessor_are_counted_by_what_runs_out_first);
    tcase_add_test(cases, a_watchdog_bounds_stays_unless_told_otherwise);
    tcase_add_test(cases, a_device_that_may_run_nothing_is_refused);
    tcase_add_test(cases, a_device_that_only_compiles_says_so);
    return cases;
}
