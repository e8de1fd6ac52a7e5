/// The division of a body into the parts of a multipart upload: a value.
///
/// Source: *Amazon S3 multipart upload limits*.
struct PartPlan: Sendable, Equatable {
    static let maximumParts = 10_000

    /// The size in bytes.
    let size: Int64
    let partSize: Int

    /// The number of parts; one for an empty body.
    var count: Int {
        guard size > 0 else { return 1 }
        return Int(clamping: (size - 1) / Int64(partSize) + 1)
    }

    /// The first byte and the number of bytes of a part; nil where there is no such part.
    ///
    /// - Parameter number: from 1.
    func range(of number: Int) -> (start: Int64, length: Int)? {
        guard number >= 1, number <= count else { return nil }
        let start = Int64(number - 1) * Int64(partSize)
        return (start, Int(min(Int64(partSize), size - start)))
    }

    init(size: Int64, partSize: Int) {
        self.size = max(0, size)
        self.partSize = Self.partSize(for: size, wanted: partSize)
    }

    /// The wanted size, or the smallest size with which 10,000 parts are sufficient.
    static func partSize(for size: Int64, wanted: Int) -> Int {
        let needed = (max(1, size) - 1) / Int64(maximumParts) + 1
        return max(1, wanted, Int(clamping: needed))
    }
}
