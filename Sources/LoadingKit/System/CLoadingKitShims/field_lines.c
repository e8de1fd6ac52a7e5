#include "field_lines.h"
#include "byte_classes.h"

// The masks of a section's blocks, of which a line may begin in an earlier one than it ends in.
enum { lk_most_blocks = 64 };

typedef struct {
    const uint8_t *bytes;
    size_t start;
    uint64_t unusual[lk_most_blocks + 1];
} lk_section;

static inline int lk_is_space(uint8_t byte) { return byte == ' ' || byte == '\t'; }

// The first place from `line` on that is in no token; a place that ends no name if there is none near.
static inline size_t lk_name_end(const lk_section *section, size_t line) {
    size_t place = line;
    for (;;) {
        const size_t offset = place - section->start, shift = offset % 64;
        const uint64_t *unusual = &section->unusual[offset / 64];
        // The mask of the 64 bytes from `place` on. Their last bit stands in where no other is set.
        const uint64_t mask = unusual[0] >> shift | (unusual[1] << 1) << (63 - shift) | UINT64_C(1) << 63;
        place += (size_t)__builtin_ctzll(mask);
        if (section->bytes[place] == ':' || !lk_is_token_byte(section->bytes[place])) return place;
        place++;
    }
}

// Reads the line that ends with the LF at `feed`. False when it is not plain.
static inline int lk_read_line(
    const lk_section *section, size_t line, size_t feed, size_t shift, const lk_known_name *names, lk_field *field) {
    const uint8_t *bytes = section->bytes;
    const size_t colon = lk_name_end(section, line);
    if (colon == line || bytes[colon] != ':') return 0;
    size_t value = colon + 1, value_end = feed - 1;
    if (bytes[value_end] != '\r') return 0;
    while (lk_is_space(bytes[value])) value++;
    while (value_end > value && lk_is_space(bytes[value_end - 1])) value_end--;
    field->name_offset = (uint32_t)(line + shift);
    field->name_length = (uint32_t)(colon - line);
    field->value_offset = (uint32_t)(value + shift);
    field->value_length = (uint32_t)(value_end - value);
    field->known = lk_known_name_number(names, bytes + line, colon - line);
    return 1;
}

// The controls of a block that neither are a line feed nor come right before one. Whether the block's last byte does is
// for the next block to see: `is_cut` says that the last byte of the block before is such a control.
static inline uint64_t lk_misplaced_controls(lk_block block, int is_cut) {
    const uint64_t last = UINT64_C(1) << 63;
    uint64_t misplaced = block.control & ~(block.line_feed | block.line_feed >> 1 | last);
    if (is_cut && !(block.line_feed & 1)) misplaced |= 1;
    return misplaced;
}

size_t lk_read_field_lines(
    const uint8_t *bytes, size_t *index, size_t end, size_t shift, lk_field *fields, size_t capacity,
    const lk_known_name *names) {
    lk_section section;
    section.bytes = bytes;
    section.start = *index;
    size_t line = *index, count = 0;
    int is_cut = 0, is_plain = 1;
    for (size_t k = 0; is_plain && k < lk_most_blocks && section.start + 64 * k < end; k++) {
        const size_t base = section.start + 64 * k;
        const lk_block block = lk_block_at(bytes, base, end);
        section.unusual[k] = block.unusual;
        section.unusual[k + 1] = 0;
        const uint64_t misplaced = lk_misplaced_controls(block, is_cut);
        uint64_t feeds = block.line_feed;
        if (misplaced != 0) feeds &= (misplaced & -misplaced) - 1;
        is_plain = misplaced == 0;
        is_cut = (int)((block.control & ~block.line_feed) >> 63);
        for (; feeds != 0; feeds &= feeds - 1) {
            const size_t feed = base + (size_t)__builtin_ctzll(feeds);
            if (count == capacity || !lk_read_line(&section, line, feed, shift, names, &fields[count])) goto done;
            count++;
            line = feed + 1;
        }
    }
done:
    *index = line;
    return count;
}
