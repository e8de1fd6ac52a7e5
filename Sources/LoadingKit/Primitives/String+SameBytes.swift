/// Texts as servers compare them. By `==` two texts are equal if they differ only in their form of Unicode, such as a
/// letter with an accent as one code point and as two.
extension String {
    /// Whether both strings have the same bytes.
    package func hasSameBytes(as other: String) -> Bool {
        // Fast for ASCII, and most strings differ here.
        guard self == other else { return false }
        var (one, two) = (self, other)
        return one.withUTF8 { bytes in two.withUTF8 { bytes.elementsEqual($0) } }
    }
}

extension String? {
    /// Whether both strings have the same bytes, or both are nil.
    package func hasSameBytes(as other: String?) -> Bool {
        guard let one = self, let two = other else { return self == nil && other == nil }
        return one.hasSameBytes(as: two)
    }
}
