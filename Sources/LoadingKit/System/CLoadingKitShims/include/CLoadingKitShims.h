// The few C functions that Swift cannot express: epoll, which Glibc's module does not export, and SIMD move-masks.
#pragma once
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include "http_scan.h"

// prctl is variadic.
static inline void LK_set_thread_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
