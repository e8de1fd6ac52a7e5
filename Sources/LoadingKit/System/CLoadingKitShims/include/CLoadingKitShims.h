// The few C functions that Swift cannot express: epoll, which Glibc's module does not export, and SIMD move-masks.
#pragma once
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "http_scan.h"
