// What a test does to the interfaces of a network namespace of its own.
#pragma once

// Each gives 0, or an errno.
int lk_test_bring_up(const char *interface);
// An alias, such as `lo:1`, is removed with its address.
int lk_test_bring_down(const char *interface);
// The address is in network byte order.
int lk_test_set_address(const char *interface, unsigned address);
// The same for a TUN device, which needs a mask, of 8 bits, for its network's route.
int lk_test_set_wire_address(const char *interface, unsigned address);
int lk_test_rename(const char *interface, const char *name);
// An address as text; the prefix has 64 bits.
int lk_test_add_ipv6(const char *interface, const char *address);
// The route to a network with a mask of 8 bits, in network byte order.
int lk_test_add_route(const char *interface, unsigned network);
int lk_test_remove_route(const char *interface, unsigned network);
// The calling thread, and threads that it starts, get a network namespace of their own.
int lk_test_leave_network(void);
// A new interface whose packets the descriptor reads and writes, or a negative errno.
int lk_test_open_tun(const char *interface);
