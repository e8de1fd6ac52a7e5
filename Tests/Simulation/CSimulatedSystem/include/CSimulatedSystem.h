// A system in the process, which one seed decides: threads that take turns, a clock, sockets, names, random bytes, and files
// that fail.
//
// The executable defines the C library's functions for these things, so that every call of the process comes here: those of
// LoadingKit, of Foundation, of Dispatch, of Swift's runtime, of OpenSSL and of SQLite. Before `sim_begin` they go on to the C
// library. One thread runs at a time. Where a thread calls a function of the system, another may go on in its place.
#ifndef CSimulatedSystem_h
#define CSimulatedSystem_h

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Begins the simulation, from the only thread of the process.
void sim_begin(uint64_t seed);

/// Runs the program `/proc/self/exe` anew, with the arguments `mode`, the seed, and `--trace` or `--quiet`, an environment that
/// is always the same but for the temporary folder, and addresses that are always the same. Returns the process's status: what
/// it exited with, 128 and a signal's number, or -1 where it took longer than `seconds`.
int sim_run(const char *mode, uint64_t seed, bool prints, const char *temporary_folder, int seconds);

/// Whether the system lets a process fix its addresses.
bool sim_has_fixed_addresses(void);

/// The clock's time since the beginning, in nanoseconds.
uint64_t sim_time(void);

/// A number below `bound` that the seed decides. The program has a sequence of its own.
uint64_t sim_random(uint64_t bound);

/// What happens to the connections that are opened from now on. Probabilities are in thousandths.
typedef struct {
    /// The time that a byte travels, in microseconds: a connection has one between these.
    uint32_t least_latency, greatest_latency;
    /// In kilobytes a second; a connection has one between these.
    uint32_t least_bandwidth, greatest_bandwidth;
    /// A segment is lost, and comes a round trip later.
    uint32_t loss;
    /// Connections that are reset, that end, or that fall silent after a number of bytes, in either direction.
    uint32_t resets, ends, silences;
    /// Connections that are refused, and that get no answer.
    uint32_t refusals, unanswered;
    /// Calls that transfer fewer bytes than they could.
    uint32_t short_transfers;
} sim_network;
void sim_set_network(const sim_network *network);

/// Makes all networks of the machine change: connections that are open fall silent with this probability, and sockets that
/// listen for changes get a message.
void sim_change_networks(uint32_t silenced);

/// What is sent during this time begins to travel at its end.
void sim_stop_networks(uint64_t nanoseconds);

/// Calls that fail: of files, and those for which there is no descriptor or thread; and calls of files that take up to half a
/// second. Probabilities are in ten thousandths. Only the library's own calls and SQLite's do.
typedef struct {
    uint32_t file_errors, no_descriptors, no_threads, slow_files;
} sim_faults;
void sim_set_faults(const sim_faults *faults);

/// Adds a name with its addresses, separated by commas. The name's lookup takes this time, in microseconds. Without addresses
/// the lookup fails.
void sim_add_name(const char *name, const char *addresses, uint64_t microseconds);

/// The calling thread, and the threads that it creates, belong to a server: their calls do not fail on purpose.
void sim_belong_to_server(void);

/// Makes the `number`-th call with this name from now on fail with `error`; with a number of 0, none. Calls of Dispatch and of
/// Swift's runtime are left out. Beside the names of system calls there are the allocations of C libraries: `libcrypto`,
/// `libssl`, `libz` and `libsqlite3`.
void sim_fail_call(const char *name, uint64_t number, int error);
/// How many calls with the name there were since.
uint64_t sim_call_count(const char *name);

/// What is open and alive: to compare the end with the beginning.
typedef struct {
    uint32_t threads, descriptors, connections;
    /// Bytes that are allocated.
    uint64_t memory;
} sim_usage;
sim_usage sim_current_usage(void);
/// How many times the program has closed a descriptor that was not open.
uint32_t sim_wrong_closes(void);

/// Counts the objects of Swift that the program makes from now on, and what OpenSSL, zlib and SQLite allocate.
void sim_watch_objects(void);
/// Calls `body` for each class with its metadata, and for each C library with its name.
void sim_living_objects(
    void *context, void (*body)(void *context, const void *metadata, const char *library, uint32_t count));

/// Every line of the trace is hashed. With `prints` it is written to standard error, too.
void sim_print_trace(bool prints);
uint64_t sim_trace_hash(void);
/// Adds a line of the program's.
void sim_trace(const char *line);

/// What the process does to files in this folder is lost in part where the power is, unless it was synchronized. `kept` is a
/// folder of the same file system, for files that can come back.
void sim_use_disk(const char *folder, const char *kept);
/// Ends the process, with the status 75, before it changes a file once more than this number of times, or after a time: as
/// `kill -9` does, or as a loss of power. What was not synchronized is still in the system's memory after a kill, and is lost
/// where a later process loses the power.
void sim_end_process(uint64_t file_changes, uint64_t nanoseconds, bool loses_power);
/// Ends the process, with the status 75, as was chosen. Returns where there is no disk.
void sim_leave_disk(void);
/// Goes on with the clock of an earlier process. Called before anything else happens.
void sim_set_time(uint64_t nanoseconds);
/// Writes to a file of the real system, which nothing happens to.
void sim_note(int descriptor, const char *line);
/// Opens another file than the one that is named.
void sim_replace_file(const char *path, const char *other);
/// Called where the process starts another one, with the only descriptor that this gets.
void sim_on_start_of_process(void (*function)(int descriptor));

/// Called where all threads wait, and nothing will happen any more; it must not return.
void sim_on_standstill(void (*function)(const char *threads));

#ifdef __cplusplus
}
#endif
#endif
