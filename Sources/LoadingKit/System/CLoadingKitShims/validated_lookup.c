#include "validated_lookup.h"

#include <arpa/nameser.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <string.h>
#include <sys/socket.h>

// glibc's RES_TRUSTAD, since version 2.31. Without it the resolver removes the name server's AD flag from answers.
#define LK_RES_TRUSTAD 0x04000000

static enum lk_validated_lookup_result failure(int code) {
    return code == HOST_NOT_FOUND || code == NO_DATA ? lk_lookup_not_found : lk_lookup_failed;
}

// Reads the addresses in an answer.
static enum lk_validated_lookup_result read_answer(
    const uint8_t *bytes, int length, ns_type type, size_t size, uint8_t *addresses, size_t capacity, size_t *count) {
    ns_msg message;
    if (ns_initparse(bytes, length, &message) != 0) return lk_lookup_failed;
    if (!ns_msg_getflag(message, ns_f_ad)) return lk_lookup_not_validated;
    for (int index = 0; index < ns_msg_count(message, ns_s_an) && *count < capacity; index++) {
        ns_rr record;
        if (ns_parserr(&message, ns_s_an, index, &record) != 0) return lk_lookup_failed;
        if (ns_rr_type(record) != type || ns_rr_class(record) != ns_c_in || ns_rr_rdlen(record) != size) continue;
        memcpy(addresses + *count * size, ns_rr_rdata(record), size);
        *count += 1;
    }
    return *count > 0 ? lk_lookup_found : lk_lookup_not_found;
}

enum lk_validated_lookup_result lk_look_up_validated(
    const char *name, int family, uint8_t *addresses, size_t capacity, size_t *count) {
    *count = 0;
    struct __res_state state;
    memset(&state, 0, sizeof state);
    if (res_ninit(&state) != 0) return lk_lookup_failed;
    enum lk_validated_lookup_result result = lk_lookup_not_trusted;
    if (state.options & LK_RES_TRUSTAD) {
        const ns_type type = family == AF_INET6 ? ns_t_aaaa : ns_t_a;
        const size_t size = family == AF_INET6 ? 16 : 4;
        uint8_t answer[NS_MAXMSG];
        const int length = res_nquery(&state, name, ns_c_in, type, answer, sizeof answer);
        if (length < 0) {
            result = failure(state.res_h_errno);
        } else if (length > (int)sizeof answer) {
            result = lk_lookup_failed;
        } else {
            result = read_answer(answer, length, type, size, addresses, capacity, count);
        }
    }
    res_nclose(&state);
    return result;
}
