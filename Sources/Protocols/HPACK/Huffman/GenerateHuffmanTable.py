#!/usr/bin/env python3
"""Writes HuffmanTable.generated.swift beside this file: python3 GenerateHuffmanTable.py

The code of RFC 7541, appendix B, is canonical: codes of the same length follow each other in the order of their
symbols, and longer ones follow shorter ones. So its lengths say all of it.
"""

import pathlib

# The lengths in bits of the codes for the bytes 0 to 255 and for EOS (256), from RFC 7541, appendix B.
LENGTHS = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
]
EOS = 256
LONGEST = 30
# The number of bits that the decoder looks up: two of the codes of 5 and 6 bits, which most symbols have.
PAIR_BITS = 12


def canonical_codes():
    codes, code, length = {}, 0, 0
    for symbol in sorted(range(len(LENGTHS)), key=lambda symbol: (LENGTHS[symbol], symbol)):
        code <<= LENGTHS[symbol] - length
        length = LENGTHS[symbol]
        codes[symbol] = code
        code += 1
    assert code == 1 << LONGEST, "the code is not complete"
    assert codes[EOS] == (1 << LONGEST) - 1
    return codes


def pair_table(codes):
    """For each value of the next bits: one or two symbols, and how many bits and symbols these are."""
    table = [0] * (1 << PAIR_BITS)
    short = [(symbol, code) for symbol, code in codes.items() if LENGTHS[symbol] <= PAIR_BITS]
    for first, code in short:
        spare = PAIR_BITS - LENGTHS[first]
        for rest in range(1 << spare):
            table[code << spare | rest] = first << 16 | 1 << 8 | LENGTHS[first]
        for second, next_code in short:
            spare_after = spare - LENGTHS[second]
            if spare_after >= 0:
                for rest in range(1 << spare_after):
                    index = code << spare | next_code << spare_after | rest
                    table[index] = (second << 8 | first) << 16 | 2 << 8 | PAIR_BITS - spare_after
    return table


def long_codes(codes):
    """For each length above PAIR_BITS: its first code, the end of its codes at 32 bits, its first symbol's place."""
    symbols, rows = [], []
    for length in sorted({length for length in LENGTHS if length > PAIR_BITS}):
        of_length = [symbol for symbol in range(len(LENGTHS)) if LENGTHS[symbol] == length]
        first = codes[of_length[0]]
        rows.append((length, first, ((first + len(of_length)) << (32 - length)) - 1, len(symbols)))
        symbols += of_length
    return symbols, rows


def literal(values, text):
    lines, line = [], "       "
    for value in values:
        item = f" {text(value)},"
        if len(line) + len(item) > 120:
            lines.append(line)
            line = "       "
        line += item
    return "\n".join(lines + [line])


def main():
    codes = canonical_codes()
    symbols, rows = long_codes(codes)
    packed = [codes[symbol] << 8 | LENGTHS[symbol] for symbol in range(EOS)]
    hexadecimal = lambda value: f"0x{value:x}"
    text = f"""// Written by GenerateHuffmanTable.py; do not edit.

/// The Huffman code of RFC 7541, appendix B.
enum HuffmanTable {{
    /// The symbol EOS.
    static let endOfString: UInt16 = {EOS}

    /// For each byte: its code << 8 | the code's length in bits.
    static let codes: [UInt64] = [
{literal(packed, hexadecimal)}
    ]

    /// The number of bits that form an index of ``pairs``.
    static let pairBits = {PAIR_BITS}

    /// For each value of the next bits: the second symbol in them << 24 | the first one << 16 | the number of symbols
    /// (1 or 2) << 8 | the number of their bits; 0 if the code is longer.
    static let pairs: [UInt32] = [
{literal(pair_table(codes), hexadecimal)}
    ]

    /// For each length of the longer codes, in order: the length in bits.
    static let longLengths: [UInt8] = [
{literal([row[0] for row in rows], str)}
    ]

    /// For each of these lengths: the first code.
    static let longFirstCodes: [UInt32] = [
{literal([row[1] for row in rows], hexadecimal)}
    ]

    /// For each of these lengths: the last code, followed by ones to 32 bits.
    static let longLastBits: [UInt32] = [
{literal([row[2] for row in rows], hexadecimal)}
    ]

    /// For each of these lengths: the index of the first symbol in ``longSymbols``.
    static let longFirstSymbols: [UInt16] = [
{literal([row[3] for row in rows], str)}
    ]

    /// The symbols of the longer codes, in the order of their codes.
    static let longSymbols: [UInt16] = [
{literal(symbols, str)}
    ]
}}
"""
    pathlib.Path(__file__).with_name("HuffmanTable.generated.swift").write_text(text)


main()
