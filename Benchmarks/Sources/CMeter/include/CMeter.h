#ifndef CMETER_H
#define CMETER_H

#include <stdbool.h>

/// What a client is told to do: the same arguments for each, so that they are compared at the same work.
typedef struct {
    /// How loads are made: "memory", "file", "delegate" and what else the client knows.
    const char *mode;
    const char *url;
    long requests;
    /// How many loads run at a time.
    long at_a_time;
    /// What each body must be long.
    long length;
    /// The certificate to trust, in PEM; null without TLS.
    const char *certificate;
    /// Where bodies are written in the mode "file".
    const char *file;
} client_arguments;

/// `CLIENT MODE URL REQUESTS AT-A-TIME LENGTH [CERTIFICATE|- [FILE]]`. Other arguments end the process.
client_arguments client_arguments_read(int count, char *const *arguments);

/// Ends the process: only runs whose every load succeeded count.
void client_fail(const char *message) __attribute__((noreturn));

/// Begins the measuring, once the client has warmed up: connections are open, first uses are over.
void meter_begin(const client_arguments *arguments);

/// Whether there is one more load to make. From any thread.
bool meter_take(void);

/// Nanoseconds since some moment.
long meter_now(void);

/// Counts a load that began at `start` and gave a body of `length`; another length than expected ends the process.
/// Before `meter_begin`, the length is checked alone. From any thread.
void meter_loaded(const client_arguments *arguments, long start, long length);

/// Ends the measuring and prints what was measured, as a line of JSON: processor time, time, latencies and
/// allocations since `meter_begin`; and the largest resident memory of the process.
void meter_finish(void);

/// How often the process has allocated memory, on all threads.
long allocations_count(void);

#endif
