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

// Whether all bytes of a name, of which `room` may be read, are a token's.
static inline int lk_is_token(const uint8_t *name, size_t length, size_t room) {
#if defined(LK_VECTORS)
    if (length > 0 && length <= 16 && room >= 16) {
        const uint64_t unusual = lk_not(lk_bits_of(lk_usual_in_names(lk_load(name))));
        if (unusual << (64 - length * lk_bits_a_byte) == 0) return 1;
    }
#endif
    return length > 0 && lk_token_end(name, length) == length;
}

// A name that is not where it is looked for first: a well-known one elsewhere, or an unknown one. Null if it is no token.
static __attribute__((noinline)) const lk_known_name *lk_recognise_other(
    const lk_known_name *names, const lk_folded_name *folded, const uint8_t *name, size_t length, size_t room) {
    const lk_known_name *known = lk_find_known_name(names, folded);
    if (known != NULL) return known;
    return lk_is_token(name, length, room) ? &lk_unknown_name : NULL;
}

// The well-known name that `folded` is, whose bytes need no second look, or another.
static inline __attribute__((always_inline)) const lk_known_name *lk_recognise(
    const lk_known_name *names, const lk_folded_name *folded, const uint8_t *name, size_t length, size_t room) {
    const lk_known_name *place = lk_first_place(names, folded);
    if (__builtin_expect(lk_is_same_name(&place->name, folded), 1)) {
        if (place == NULL) __builtin_unreachable();
        return place;
    }
    const lk_folded_name other = *folded;
    return lk_recognise_other(names, &other, name, length, room);
}

// Whatever the name: the steps below are for what is usual.
static __attribute__((noinline)) const lk_known_name *
lk_read_any_name(const uint8_t *line, size_t room, const lk_known_name *names, size_t *length) {
    const size_t end = lk_token_end(line, room);
    *length = end;
    if (end == 0 || end == room || line[end] != ':') return NULL;
    if (end > lk_longest_known_name) return &lk_unknown_name;
    const lk_folded_name folded = lk_fold_name(line, end);
    return lk_recognise(names, &folded, line, end, room);
}

#if defined(LK_VECTORS)
// The first `count` of 16 bytes, of which the last may be a colon, in the form of a well-known name.
static inline void lk_fold_vector(lk_vector bytes, size_t count, uint64_t *words) {
    static const uint8_t ends[32] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    const lk_vector folded = lk_and(lk_or(bytes, lk_case_bits(bytes)), lk_load(ends + 16 - count));
    memcpy(words, &folded, sizeof folded);
}

static __attribute__((noinline)) const lk_known_name *
lk_read_long_name(const uint8_t *line, size_t room, const lk_known_name *names, size_t *length) {
    const lk_bits colons = room >= 32 ? lk_bits_of(lk_equal(lk_load(line + 16), ':')) : 0;
    if (colons == 0) return lk_read_any_name(line, room, names, length);
    const size_t end = lk_first(colons);
    lk_folded_name folded;
    lk_fold_vector(lk_load(line), 16, folded.words);
    lk_fold_vector(lk_load(line + 16), end + 1, folded.words + 2);
    *length = 16 + end;
    return lk_recognise(names, &folded, line, 16 + end, room);
}
#endif

// Which name a line begins with, whose length goes to `length`. Null where no token and colon are.
static inline __attribute__((always_inline)) const lk_known_name *
lk_read_name(const uint8_t *line, const uint8_t *end, const lk_known_name *names, size_t *length) {
#if defined(LK_VECTORS)
    if (__builtin_expect(end - line >= 16, 1)) {
        const lk_vector bytes = lk_load(line);
        const lk_bits colons = lk_bits_of(lk_equal(bytes, ':'));
        if (colons == 0) return lk_read_long_name(line, (size_t)(end - line), names, length);
        lk_folded_name folded = {{0, 0, 0, 0}};
        *length = lk_first(colons);
        lk_fold_vector(bytes, *length + 1, folded.words);
        return lk_recognise(names, &folded, line, *length, (size_t)(end - line));
    }
#endif
    return lk_read_any_name(line, (size_t)(end - line), names, length);
}

// Which of 64 bytes a field value may not contain, or are tabs: bit n stands for byte n.
static inline uint64_t lk_controls_of_64(const uint8_t *bytes) {
#if defined(LK_VECTORS)
    lk_vector controls[4];
    for (int part = 0; part < 4; part++) {
        const lk_vector b = lk_load(bytes + 16 * part);
        controls[part] = lk_or(lk_at_most(b, 0x1F), lk_equal(b, 0x7F));
    }
    return lk_bits_of_4(controls);
#else
    uint64_t controls = 0;
    for (int n = 0; n < 64; n++) controls |= (uint64_t)(bytes[n] < 0x20 || bytes[n] == 0x7F) << n;
    return controls;
#endif
}

// The same for the bytes from `base` on, without those from `end` on, which are not read. There are bytes from `start` on.
static inline uint64_t lk_controls_before(const uint8_t *start, const uint8_t *base, const uint8_t *end) {
    if (end - base >= 64) return lk_controls_of_64(base);
    if (end - start >= 64) return lk_controls_of_64(end - 64) >> (64 - (end - base));
    uint8_t last[64];
    memset(last, ' ', sizeof last);
    memcpy(last, base, (size_t)(end - base));
    return lk_controls_of_64(last);
}

// The line from `line` to the CR at `feed`, as `field`. Its name, or null when the line is not plain.
static inline __attribute__((always_inline)) const lk_known_name *lk_read_line(
    const uint8_t *line, const uint8_t *feed, const uint8_t *end, uint32_t shift, const lk_known_name *names,
    lk_field *field) {
    size_t length;
    const lk_known_name *known = lk_read_name(line, end, names, &length);
    const uint8_t *const colon = line + length, *value = colon + 1, *value_end = feed;
    // The colon may be in a later line.
    if (known == NULL || colon >= feed) return NULL;
    if (colon[1] == ' ' && colon[2] > ' ') value = colon + 2;
    // The CR ends this loop.
    else while (lk_is_space(*value)) value++;
    if (value_end[-1] <= ' ') while (value_end > value && lk_is_space(value_end[-1])) value_end--;
    field->name_offset = shift + (uint32_t)(uintptr_t)line;
    field->name_length = (uint32_t)length;
    field->value_offset = shift + (uint32_t)(uintptr_t)value;
    field->value_length = (uint32_t)(value_end - value);
    field->known = known->number;
    return known;
}

static uint64_t lk_number(const uint8_t *digits, size_t count, uint32_t *is_number) {
    uint64_t number = 0;
    *is_number = count > 0 && count <= 18;
    for (size_t n = 0; n < count && *is_number; n++) {
        const uint8_t digit = (uint8_t)(digits[n] - '0');
        if (digit > 9) *is_number = 0;
        number = number * 10 + digit;
    }
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

void lk_read_field_lines(
    const uint8_t *bytes, size_t index, size_t end_index, size_t shift, lk_field *fields, size_t capacity,
    const lk_known_name *names, lk_lines *lines) {
    memset(lines, 0, sizeof *lines);
    const uint8_t *line = bytes + index, *const end = bytes + end_index;
    // Of an address, for the offset in the section.
    const uint32_t offset = (uint32_t)shift - (uint32_t)(uintptr_t)bytes;
    lk_field *field = fields, *const last_field = fields + capacity;
    // Each CR that is looked at has a byte behind it.
    for (const uint8_t *base = line; end - base > 1; base += 64) {
        uint64_t controls = lk_controls_before(bytes, base, end - 1);
        for (; controls != 0; controls &= controls - 1) {
            const uint8_t *const feed = base + __builtin_ctzll(controls);
            if (!lk_is_line_end(feed)) {
                // The LF of the line before, or a tab.
                if (feed < line || *feed == '\t') continue;
                goto done;
            }
            if (feed == line) {
                lines->is_complete = 1;
                line += 2;
                goto done;
            }
            if (field == last_field) goto done;
            const lk_known_name *known = lk_read_line(line, feed, end, offset, names, field);
            if (known == NULL) goto done;
            if (known->role != lk_role_none) {
                lk_note(&lines->framing, known->role, bytes + (field->value_offset - shift), field->value_length);
            }
            field++;
            line = feed + 2;
            // Not the LF, which may be in the next block.
            controls &= controls - 1;
        }
    }
done:
    lines->index = (size_t)(line - bytes);
    lines->count = (uint32_t)(field - fields);
}
