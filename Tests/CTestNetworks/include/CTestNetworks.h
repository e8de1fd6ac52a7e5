// What a test does to the interfaces of a network namespace of its own.
#pragma once

// Both give 0, or an errno.
int lk_test_bring_up(const char *interface);
int lk_test_rename(const char *interface, const char *name);
