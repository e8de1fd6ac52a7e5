#include "field_lines.h"
#include "http_scan.h"

static inline int lk_is_space(uint8_t byte) { return byte == ' ' || byte == '\t'; }

static inline int lk_is_line_end(const uint8_t *bytes) {
    uint16_t pair, end;
    memcpy(&pair, bytes, sizeof pair);
    memcpy(&end, "\r\n", sizeof end);
    return pair == end;
}

static const lk_known_name lk_unknown_name;

// The well-known name with which a line begins, and its length; NULL if there is no token followed by a colon.
typedef struct {
    const lk_known_name *known;
    size_t length;
} lk_name;

// Whether all bytes of a name are token bytes. `room` bytes may be read.
static inline int lk_is_token(const uint8_t *name, size_t length, size_t room) {
#if defined(LK_VECTORS)
    if (length > 0 && length <= 16 && room >= 16) {
        const uint64_t unusual = lk_not(lk_bits_of(lk_usual_in_names(lk_load(name))));
        if (unusual << (64 - length * lk_bits_a_byte) == 0) return 1;
    }
#endif
    return length > 0 && lk_token_end(name, length) == length;
}

// Recognises a name that is not in its first place: a well-known name in another place, or an unknown name.
static __attribute__((noinline)) lk_name lk_recognise_other(
    const lk_known_name *names, const lk_folded_name *folded, const uint8_t *name, size_t length, size_t room) {
    const lk_known_name *known = lk_find_known_name(names, folded);
    if (known == NULL && lk_is_token(name, length, room)) known = &lk_unknown_name;
    return (lk_name){known, length};
}

// The bytes of a well-known name need no further check.
static inline __attribute__((always_inline)) lk_name lk_recognise(
    const lk_known_name *names, const lk_folded_name *folded, const uint8_t *name, size_t length, size_t room) {
    const lk_known_name *place = lk_first_place(names, folded);
    if (__builtin_expect(lk_is_same_name(&place->name, folded), 1)) return (lk_name){place, length};
    const lk_folded_name other = *folded;
    return lk_recognise_other(names, &other, name, length, room);
}

// Reads any name. The steps below handle the usual ones.
static __attribute__((noinline)) lk_name
lk_read_any_name(const uint8_t *line, size_t room, const lk_known_name *names) {
    const size_t length = lk_token_end(line, room);
    if (length == 0 || length == room || line[length] != ':') return (lk_name){NULL, 0};
    if (length > lk_longest_known_name) return (lk_name){&lk_unknown_name, length};
    const lk_folded_name folded = lk_fold_name(line, length);
    return lk_recognise(names, &folded, line, length, room);
}

#if defined(LK_VECTORS)
// Folds the first `count` of 16 bytes, the last of which may be a colon, into the form of a well-known name. Of the
// bytes that no name contains, only controls can take the form of a name's byte.
static inline void lk_fold_visible(lk_vector bytes, size_t count, uint64_t *words) {
    static const uint8_t ends[32] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    const lk_vector folded = lk_and(lk_or(bytes, lk_all(0x20)), lk_load(ends + 16 - count));
    memcpy(words, &folded, sizeof folded);
}

static __attribute__((noinline)) lk_name
lk_read_long_name(const uint8_t *line, size_t room, const lk_known_name *names) {
    const lk_bits colons = room >= 32 ? lk_bits_of(lk_equal(lk_load(line + 16), ':')) : 0;
    if (colons == 0) return lk_read_any_name(line, room, names);
    const size_t end = lk_first(colons);
    lk_folded_name folded;
    lk_fold_visible(lk_load(line), 16, folded.words);
    lk_fold_visible(lk_load(line + 16), end + 1, folded.words + 2);
    return lk_recognise(names, &folded, line, 16 + end, room);
}
#endif

// Reads the name of a line. Up to the line's CR, no byte is a control except a tab.
static inline __attribute__((always_inline)) lk_name
lk_read_name(const uint8_t *line, const uint8_t *end, const lk_known_name *names) {
#if defined(LK_VECTORS)
    if (__builtin_expect(end - line >= 16, 1)) {
        const lk_vector bytes = lk_load(line);
        const lk_bits colons = lk_bits_of(lk_equal(bytes, ':'));
        if (colons == 0) return lk_read_long_name(line, (size_t)(end - line), names);
        const size_t length = lk_first(colons);
        lk_folded_name folded = {{0, 0, 0, 0}};
        lk_fold_visible(bytes, length + 1, folded.words);
        const lk_known_name *place = lk_first_place(names, &folded);
        if (__builtin_expect(lk_has_same_beginning(&place->name, &folded), 1)) return (lk_name){place, length};
        const lk_folded_name other = folded;
        return lk_recognise_other(names, &other, line, length, (size_t)(end - line));
    }
#endif
    return lk_read_any_name(line, (size_t)(end - line), names);
}

// The bytes of 64 that are not printable ASCII: bit n stands for byte n.
static inline uint64_t lk_unprintable_of_64(const uint8_t *bytes) {
#if defined(LK_VECTORS)
    lk_vector unprintable[4];
    for (int part = 0; part < 4; part++) unprintable[part] = lk_unprintable(lk_load(bytes + 16 * part));
    return lk_bits_of_4(unprintable);
#else
    uint64_t unprintable = 0;
    for (int n = 0; n < 64; n++) unprintable |= (uint64_t)(bytes[n] < 0x20 || bytes[n] >= 0x7F) << n;
    return unprintable;
#endif
}

// The same for the bytes from `base` on. Bytes from `end` on are not read; bytes from `start` on may be read.
static inline uint64_t lk_unprintable_before(const uint8_t *start, const uint8_t *base, const uint8_t *end) {
    if (end - base >= 64) return lk_unprintable_of_64(base);
    if (end - start >= 64) return lk_unprintable_of_64(end - 64) >> (64 - (end - base));
    uint8_t last[64];
    memset(last, ' ', sizeof last);
    memcpy(last, base, (size_t)(end - base));
    return lk_unprintable_of_64(last);
}

static uint64_t lk_number(const uint8_t *digits, size_t count, uint32_t *is_number) {
    uint64_t number = 0;
    *is_number = 0;
    if (count == 0 || count > 18) return 0;
    for (size_t n = 0; n < count; n++) {
        const uint8_t digit = (uint8_t)(digits[n] - '0');
        if (digit > 9) return 0;
        number = number * 10 + digit;
    }
    *is_number = 1;
    return number;
}

static int lk_is_keep_alive(const uint8_t *value, size_t length) {
    if (length != 10) return 0;
    uint64_t words[2], expected[2];
    lk_fold_part(value, length, words);
    lk_fold_part((const uint8_t *)"keep-alive", length, expected);
    return words[0] == expected[0] && words[1] == expected[1];
}

static void lk_note(lk_framing *framing, uint8_t role, const uint8_t *value, size_t length) {
    framing->counts[role]++;
    if (role == lk_role_content_length) framing->number = lk_number(value, length, &framing->is_number);
    if (role == lk_role_connection) framing->is_keep_alive = (uint32_t)lk_is_keep_alive(value, length);
}

// Reads a line with this name, from `line` to the CR at `feed`, which is behind the colon, into `field`.
static inline __attribute__((always_inline)) void lk_take_line(
    const uint8_t *line, lk_name name, const uint8_t *feed, uint32_t offset, lk_field *field, lk_framing *framing) {
    const uint8_t *value = line + name.length + 1, *value_end = feed;
    if (__builtin_expect(value[0] == ' ' && value[1] > ' ' && value_end[-1] > ' ', 1)) {
        value++;
    } else {
        // The loop ends at the CR at the latest.
        while (lk_is_space(*value)) value++;
        while (value_end > value && lk_is_space(value_end[-1])) value_end--;
    }
    const uint32_t length = (uint32_t)(value_end - value);
    field->name_offset = offset + (uint32_t)(uintptr_t)line;
    field->name_length = (uint32_t)name.length;
    field->value_offset = offset + (uint32_t)(uintptr_t)value;
    field->value_length = length;
    field->known = name.known->number;
    if (name.known->role != lk_role_none) lk_note(framing, name.known->role, value, length);
}

void lk_read_field_lines(
    const uint8_t *bytes, size_t index, size_t end_index, size_t shift, lk_field *fields, size_t capacity,
    const lk_known_name *names, lk_lines *lines) {
    memset(lines, 0, sizeof *lines);
    const uint8_t *line = bytes + index, *const end = bytes + end_index;
    // The difference between an offset in the section and an address.
    const uint32_t offset = (uint32_t)shift - (uint32_t)(uintptr_t)bytes;
    lk_field *field = fields, *const last_field = fields + capacity;
    // Each CR that is checked is followed by a readable byte.
    for (const uint8_t *base = line; end - base > 1; base += 64) {
        uint64_t unprintable = lk_unprintable_before(bytes, base, end - 1);
        for (; unprintable != 0; unprintable &= unprintable - 1) {
            const uint8_t *const feed = base + __builtin_ctzll(unprintable);
            if (!lk_is_line_end(feed)) {
                // The LF of the previous line, or a byte that a value may contain.
                if (feed < line || lk_is_value_byte(*feed)) continue;
                goto done;
            }
            if (feed == line) {
                lines->is_complete = 1;
                line += 2;
                goto done;
            }
            if (field == last_field) goto done;
            const lk_name name = lk_read_name(line, end, names);
            // The colon may be in a later line.
            if (name.known == NULL || line + name.length >= feed) goto done;
            lk_take_line(line, name, feed, offset, field, &lines->framing);
            field++;
            line = feed + 2;
            // Skips the LF, unless it is in the next block.
            unprintable &= unprintable - 1;
        }
    }
done:
    lines->index = (size_t)(line - bytes);
    lines->count = (uint32_t)(field - fields);
}
