// Addresses of names that the system's name server has validated by DNSSEC. Swift does not see the resolver's structures.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum lk_validated_lookup_result {
    lk_lookup_found,
    // The name, or an address of the family, does not exist.
    lk_lookup_not_found,
    // The name server has not validated its answer.
    lk_lookup_not_validated,
    // The system's settings do not say that what the name server says of validation is to be trusted (resolv.conf(5), trust-ad).
    lk_lookup_not_trusted,
    // The name server does not answer, or fails: also where what it has found is not valid.
    lk_lookup_failed,
};

// Asks the system's name servers for the addresses of a name, which is not completed by the system's domains; `family` is
// AF_INET or AF_INET6. Gives `count` addresses of 4 or 16 bytes each, at most `capacity`. Blocks.
enum lk_validated_lookup_result lk_look_up_validated(
    const char *name, int family, uint8_t *addresses, size_t capacity, size_t *count);
