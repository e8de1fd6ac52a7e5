// A table of well-known names. A look-up compares all bytes of a name.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { lk_longest_known_name = 32 };

// A name of up to 32 bytes in a form that does not depend on the case of its letters. A colon follows it, unless it has
// all 32 bytes, and zeros follow the colon, so that names differ even if one is a prefix of the other.
typedef struct {
    uint64_t words[lk_longest_known_name / 8];
} lk_folded_name;

// The meaning of a field with a well-known name for its message.
typedef enum { lk_role_none, lk_role_content_length, lk_role_transfer_encoding, lk_role_connection } lk_role;
enum { lk_roles = 4 };

// A place in the table, with the size of a cache line. The name of a free place is all zeros.
typedef struct {
    lk_folded_name name;
    uint8_t number;
    // A lk_role.
    uint8_t role;
    uint8_t unused[30];
} lk_known_name;

// The number of places in a table: about five times the number of names, so that a free place is always near.
enum { lk_known_name_slots = 512 };

// Of the bytes that a name may contain, bit 6 is set in the letters and in some that no well-known name contains. In
// these bytes, bit 5 is the case of the letter. All other bytes are unchanged, so names with the same form differ only
// in case.
#define LK_LETTERS UINT64_C(0x4040404040404040)

static inline uint64_t lk_fold(uint64_t word) { return word | (word & LK_LETTERS) >> 1; }

static inline uint64_t lk_load64(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline uint64_t lk_load32(const uint8_t *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    return word;
}

// Loads 1 to 16 bytes into two words, without reading other bytes. The loads overlap if the length is not a power of
// two.
static inline void lk_fold_part(const uint8_t *bytes, size_t length, uint64_t *words) {
    uint64_t first, second = 0;
    if (length > 8) {
        first = lk_load64(bytes);
        second = lk_load64(bytes + length - 8) >> 8 * (16 - length);
    } else if (length == 8) {
        first = lk_load64(bytes);
    } else if (length >= 4) {
        first = lk_load32(bytes) | lk_load32(bytes + length - 4) << 8 * (length - 4);
    } else {
        first = bytes[0] | (uint64_t)bytes[length / 2] << 8 * (length / 2) | (uint64_t)bytes[length - 1] << 8 * (length - 1);
    }
    words[0] = lk_fold(first);
    words[1] = lk_fold(second);
}

// Folds a name of 1 to 32 bytes.
static inline lk_folded_name lk_fold_name(const uint8_t *name, size_t length) {
    lk_folded_name folded = {{0, 0, 0, 0}};
    lk_fold_part(name, length > 16 ? 16 : length, folded.words);
    if (length > 16) lk_fold_part(name + 16, length - 16, folded.words + 2);
    if (length < lk_longest_known_name) folded.words[length / 8] |= (uint64_t)':' << 8 * (length % 8);
    return folded;
}

static inline size_t lk_known_name_slot(const lk_folded_name *name) {
    const uint64_t *w = name->words;
    const uint64_t sum = w[0] + w[1] + (w[2] << 11 | w[2] >> 53) + (w[3] << 17 | w[3] >> 47);
    // Found by trial: with this factor, each well-known name has its first place for itself.
    return (size_t)(sum * UINT64_C(0x39F4E3AFF7A920F7) >> 55);
}

static inline int lk_is_same_name(const lk_folded_name *a, const lk_folded_name *b) {
    return ((a->words[0] ^ b->words[0]) | (a->words[1] ^ b->words[1]) | (a->words[2] ^ b->words[2])
            | (a->words[3] ^ b->words[3])) == 0;
}

// Whether two names are the same. One of them ends with a colon within its first 16 bytes, so a longer name differs
// there.
static inline int lk_has_same_beginning(const lk_folded_name *a, const lk_folded_name *b) {
    return a->words[0] == b->words[0] && a->words[1] == b->words[1];
}

// The first place of a name. Another name may be in it.
static inline __attribute__((always_inline)) const lk_known_name *
lk_first_place(const lk_known_name *table, const lk_folded_name *name) {
    return &table[lk_known_name_slot(name)];
}

// The place of a name; null if it is not in the table.
static inline const lk_known_name *
lk_find_known_name(const lk_known_name *table, const lk_folded_name *name) {
    size_t slot = lk_known_name_slot(name);
    while (!lk_is_same_name(&table[slot].name, name)) {
        if (table[slot].number == 0) return NULL;
        slot = (slot + 1) % lk_known_name_slots;
    }
    return &table[slot];
}

// The number of a name in a table; 0 if it is not there.
static inline uint8_t lk_known_name_number(const lk_known_name *table, const uint8_t *name, size_t length) {
    if (length == 0 || length > lk_longest_known_name) return 0;
    const lk_folded_name folded = lk_fold_name(name, length);
    const lk_known_name *known = lk_find_known_name(table, &folded);
    return known != NULL ? known->number : 0;
}

// Adds a name of 1 to 32 bytes to a table with room for it. `number` must not be 0.
static inline void lk_add_known_name(
    lk_known_name *table, const uint8_t *name, size_t length, uint8_t number, lk_role role) {
    const lk_known_name known = {lk_fold_name(name, length), number, (uint8_t)role, {0}};
    size_t slot = lk_known_name_slot(&known.name);
    while (table[slot].number != 0) slot = (slot + 1) % lk_known_name_slots;
    table[slot] = known;
}
