/// The limit of a coded body's expansion.
///
/// Coded bytes count in blocks, and the next block is read when the decoder has given all that is in those before. Whether a
/// body expands too far then depends on the body alone, not on how it is cut, nor on how far the decoder reads ahead of its
/// output.
@_spi(LoadingKitPlugins) public struct ExpansionLimit: Sendable {
    /// The size of a block in bytes.
    private static let block = 16 * 1024

    private let ratio: Int
    private let minimumSize: Int
    /// The number of coded bytes consumed so far.
    public private(set) var consumed = 0
    /// The number of coded bytes that may be consumed now, whole blocks.
    private var readable = block

    /// - Parameters:
    ///   - ratio: the largest number of decoded bytes for each coded byte, at least 1.
    ///   - minimumSize: the number of decoded bytes up to which any expansion is allowed.
    public init(ratio: Int, minimumSize: Int) {
        self.ratio = max(1, ratio)
        self.minimumSize = minimumSize
    }

    /// The number of coded bytes that the decoder may have now.
    public var room: Int { readable - consumed }

    public mutating func consume(_ count: Int) { consumed += count }

    /// The decoder has given all that is in the bytes that it had. Gives it room for the next block if it has used the last one.
    ///
    /// - Returns: Whether it did.
    public mutating func advance() -> Bool {
        guard room == 0 else { return false }
        readable += Self.block
        return true
    }

    /// Whether a number of decoded bytes is within the limit.
    public func allows(_ produced: Int) -> Bool { produced <= minimumSize || produced / ratio <= readable }
}
