// The addresses of names that the system's name server has validated by DNSSEC. Swift cannot import the resolver's
// structures.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum lk_validated_lookup_result {
    lk_lookup_found,
    // The name does not exist, or has no address of the family.
    lk_lookup_not_found,
    // The name server has not validated its answer.
    lk_lookup_not_validated,
    // The system's settings do not state that the name server's validation is trusted (resolv.conf(5), trust-ad).
    lk_lookup_not_trusted,
    // The name server does not answer, or reports a failure, also if the validation of its answer has failed.
    lk_lookup_failed,
};

// Queries the system's name servers for the addresses of a name. The name is not completed with the system's domains.
// `family` is AF_INET or AF_INET6. Returns `count` addresses of 4 or 16 bytes each, at most `capacity`. Blocks.
enum lk_validated_lookup_result lk_look_up_validated(
    const char *name, int family, uint8_t *addresses, size_t capacity, size_t *count);
