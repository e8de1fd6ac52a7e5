import LoadingKitPrimitives

/// The reasons why a listing cannot be parsed.
public enum FTPListingError: Error, Sendable, Hashable {
    /// A line has more bytes than ``FTPListingLimits/lineLength``.
    case lineTooLong(limit: Int)
}

extension FTPListingError: CustomStringConvertible {
    /// A description in plain words.
    public var description: String {
        switch self {
        case .lineTooLong(let limit): "a line of the directory's listing has more than \(limit) bytes"
        }
    }
}

extension FTPListingError: LayerError {
    package var category: LayerErrorCategory {
        switch self {
        case .lineTooLong: .tooLong
        }
    }
}

/// Limits on the memory that a listing may require.
public struct FTPListingLimits: Sendable, Hashable {
    /// The maximum number of bytes in one line, without its line end. Default 16 KiB: enough for a name and a link's
    /// target of 4,096 bytes each (Linux's longest path), and more. The number of lines has no limit, as a file's
    /// length has none: entries are returned as they arrive.
    public var lineLength = 16_384

    /// The defaults.
    public init() {}
}
