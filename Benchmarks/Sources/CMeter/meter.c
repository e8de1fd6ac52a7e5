#include "CMeter.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/// What the process had used when the measuring began.
static struct {
    long time, allocations;
    double processor;
} before;
static long requests;
static atomic_long taken, loaded, bytes;
/// When the first load ended, and when the first load of each task had (`meter_begin`): nanoseconds of `CLOCK_MONOTONIC`.
static atomic_long first_load;
static long began;
/// Microseconds of each load. Null until the measuring begins.
static float *latencies;

long meter_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

/// Microseconds of the user's and the system's processor time.
static double processor_time(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/// The largest resident memory, in KiB. Not `ru_maxrss`, which begins with what the parent had before the exec.
static long peak_memory(void) {
    FILE *status = fopen("/proc/self/status", "r");
    long peak = 0;
    char line[256];
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %ld", &peak) == 1) break;
    if (status) fclose(status);
    return peak;
}

void meter_begin(const client_arguments *arguments) {
    requests = arguments->requests;
    latencies = malloc((size_t)requests * sizeof *latencies);
    if (!latencies) client_fail("no memory for the latencies");
    memset(latencies, 0, (size_t)requests * sizeof *latencies);
    before.allocations = allocations_count();
    before.processor = processor_time();
    before.time = began = meter_now();
}

bool meter_take(void) { return atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed) < requests; }

void meter_loaded(const client_arguments *arguments, long start, long length) {
    if (length != arguments->length) client_fail("a body of another length than expected");
    long none = 0;
    if (!atomic_load_explicit(&first_load, memory_order_relaxed))
        atomic_compare_exchange_strong(&first_load, &none, meter_now());
    if (!latencies) return;
    long index = atomic_fetch_add_explicit(&loaded, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bytes, length, memory_order_relaxed);
    if (index < requests) latencies[index] = (float)(meter_now() - start) / 1000;
}

static int compare(const void *left, const void *right) {
    float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

/// The latency that so many of a hundred loads are not above.
static double latency(int percent) { return latencies[(requests * percent + 99) / 100 - 1]; }

void meter_finish(void) {
    long time = meter_now() - before.time;
    double processor = processor_time() - before.processor;
    long allocations = allocations_count() - before.allocations;
    long peak = peak_memory();
    if (atomic_load(&loaded) != requests) client_fail("not as many loads as were asked for");
    qsort(latencies, (size_t)requests, sizeof *latencies, compare);
    printf("{\"requests\": %ld, \"bytes\": %ld, \"processorTime\": %.0f, \"time\": %.1f, \"latencyMedian\": %.1f, "
           "\"latency99th\": %.1f, \"allocations\": %ld, \"peakMemory\": %ld, \"firstLoad\": %ld, \"began\": %ld}\n",
        requests, atomic_load(&bytes), processor, (double)time / 1000, latency(50), latency(99), allocations, peak,
        atomic_load(&first_load), began);
    fflush(stdout);
}
