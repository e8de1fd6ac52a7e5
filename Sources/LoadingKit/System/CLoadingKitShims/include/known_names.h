// A table of well-known names, in which a name is looked up by all of its bytes.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { lk_longest_known_name = 32 };

// A name of up to 32 bytes in a form that is alike for all cases of its letters: a colon behind it, unless it has all 32,
// and zeros behind that. So names of which one is the beginning of the other differ.
typedef struct {
    uint64_t words[lk_longest_known_name / 8];
} lk_folded_name;

// What a field of a well-known name says about its message.
typedef enum { lk_role_none, lk_role_content_length, lk_role_transfer_encoding, lk_role_connection } lk_role;
enum { lk_roles = 4 };

// A place in the table, as long as a line of the processor's cache; its name is all zeros where it is free.
typedef struct {
    lk_folded_name name;
    uint8_t number;
    // A lk_role.
    uint8_t role;
    uint8_t unused[30];
} lk_known_name;

// Places in a table, which has about five times as many as there are names: a free one is always near.
enum { lk_known_name_slots = 512 };

// Of the bytes that a name may have, the letters and some that no well-known name has are those with bit 6; there, bit 5
// is the letter's case. All other bytes stay as they are, so that names alike in this form are alike but for case.
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

// Puts 1 to 16 bytes, and no others, in two words. Loads overlap where the length is no power of two.
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

// A name of 1 to 32 bytes.
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
    // Found by trying: with it each name that is known today has its first place for itself.
    return (size_t)(sum * UINT64_C(0x39F4E3AFF7A920F7) >> 55);
}

static inline int lk_is_same_name(const lk_folded_name *a, const lk_folded_name *b) {
    return ((a->words[0] ^ b->words[0]) | (a->words[1] ^ b->words[1]) | (a->words[2] ^ b->words[2])
            | (a->words[3] ^ b->words[3])) == 0;
}

// Whether two names are the same, one of which ends in its first 16 bytes with a colon, as no longer one can.
static inline int lk_has_same_beginning(const lk_folded_name *a, const lk_folded_name *b) {
    return a->words[0] == b->words[0] && a->words[1] == b->words[1];
}

// Where the name is, unless another has its place.
static inline __attribute__((always_inline)) const lk_known_name *
lk_first_place(const lk_known_name *table, const lk_folded_name *name) {
    return &table[lk_known_name_slot(name)];
}

// The place of a name, or null.
static inline const lk_known_name *
lk_find_known_name(const lk_known_name *table, const lk_folded_name *name) {
    size_t slot = lk_known_name_slot(name);
    while (!lk_is_same_name(&table[slot].name, name)) {
        if (table[slot].number == 0) return NULL;
        slot = (slot + 1) % lk_known_name_slots;
    }
    return &table[slot];
}

// The number of the name in a table, or 0.
static inline uint8_t lk_known_name_number(const lk_known_name *table, const uint8_t *name, size_t length) {
    if (length == 0 || length > lk_longest_known_name) return 0;
    const lk_folded_name folded = lk_fold_name(name, length);
    const lk_known_name *known = lk_find_known_name(table, &folded);
    return known != NULL ? known->number : 0;
}

// Puts a name of 1 to 32 bytes into a table that has room. `number` is not 0.
static inline void lk_add_known_name(
    lk_known_name *table, const uint8_t *name, size_t length, uint8_t number, lk_role role) {
    const lk_known_name known = {lk_fold_name(name, length), number, (uint8_t)role, {0}};
    size_t slot = lk_known_name_slot(&known.name);
    while (table[slot].number != 0) slot = (slot + 1) % lk_known_name_slots;
    table[slot] = known;
}
