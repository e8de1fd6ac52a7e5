#if NTLM
    /// MD4 (RFC 1320), with which NTLM hashes passwords. It is not secure, and is used for nothing else. OpenSSL 3 has it
    /// only in a provider that is not loaded by default.
    enum MD4 {
        static func hash(_ bytes: [UInt8]) -> [UInt8] {
            var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
            let message = padded(bytes)
            for start in stride(from: 0, to: message.count, by: 64) {
                let words = (0..<16).map { index in
                    (0..<4).reduce(UInt32(0)) { $0 | UInt32(message[start + 4 * index + $1]) << UInt32(8 * $1) }
                }
                mix(words, into: &state)
            }
            return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * $0)) } }
        }

        /// A one bit, zeros up to 56 bytes modulo 64, and the length in bits (§3.1, §3.2).
        private static func padded(_ bytes: [UInt8]) -> [UInt8] {
            var message = bytes + [0x80]
            message += [UInt8](repeating: 0, count: (120 - message.count % 64) % 64)
            let bits = UInt64(bytes.count) &* 8
            return message + (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
        }

        /// A round's function, constant, order of words and rotations (§3.4).
        private struct Round: Sendable {
            let function: @Sendable (UInt32, UInt32, UInt32) -> UInt32
            let constant: UInt32
            let order: [Int]
            let rotations: [UInt32]
        }

        private static let rounds = [
            Round(
                function: { ($0 & $1) | (~$0 & $2) }, constant: 0, order: Array(0..<16), rotations: [3, 7, 11, 19]),
            Round(
                function: { ($0 & $1) | ($0 & $2) | ($1 & $2) }, constant: 0x5a82_7999,
                order: [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15], rotations: [3, 5, 9, 13]),
            Round(
                function: { $0 ^ $1 ^ $2 }, constant: 0x6ed9_eba1,
                order: [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15], rotations: [3, 9, 11, 15]),
        ]

        private static func mix(_ words: [UInt32], into state: inout [UInt32]) {
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            for round in rounds {
                for (step, word) in round.order.enumerated() {
                    let sum = a &+ round.function(b, c, d) &+ words[word] &+ round.constant
                    let rotation = round.rotations[step % 4]
                    (a, b, c, d) = (d, sum << rotation | sum >> (32 - rotation), b, c)
                }
            }
            state = zip(state, [a, b, c, d]).map { $0 &+ $1 }
        }
    }
#endif
