/// Finds bytes in others in linear time (Knuth, Morris and Pratt): a boundary may be long, and a body may resemble it
/// everywhere.
struct ByteSearch {
    private let needle: [UInt8]
    /// For each byte of the needle: the length of the longest proper prefix of the needle that ends with this byte.
    private let prefixes: [Int]

    /// - Parameter needle: at least one byte.
    init(for needle: [UInt8]) {
        var prefixes: [Int] = []
        prefixes.reserveCapacity(needle.count)
        var matched = 0
        for (index, byte) in needle.enumerated() {
            while matched > 0, needle[matched] != byte { matched = prefixes[matched - 1] }
            if index > 0, needle[matched] == byte { matched += 1 }
            prefixes.append(matched)
        }
        (self.needle, self.prefixes) = (needle, prefixes)
    }

    /// The position of the first occurrence from `start` on.
    func first(in bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        var matched = 0
        while index < bytes.count {
            while matched > 0, needle[matched] != bytes[index] { matched = prefixes[matched - 1] }
            if needle[matched] == bytes[index] { matched += 1 }
            index += 1
            if matched == needle.count { return index - matched }
        }
        return nil
    }
}
