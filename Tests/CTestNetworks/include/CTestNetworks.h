// What a test does to the interfaces of a network namespace of its own.
#pragma once

// Each gives 0, or an errno.
int lk_test_bring_up(const char *interface);
// An alias, such as `lo:1`, is removed with its address.
int lk_test_bring_down(const char *interface);
// The address is in network byte order.
int lk_test_set_address(const char *interface, unsigned address);
int lk_test_rename(const char *interface, const char *name);
