import LoadingKitPrimitives

/// Why a listing cannot be read.
public enum FTPListingError: Error, Sendable, Hashable {
    /// A line has more bytes than ``FTPListingLimits/lineLength``.
    case lineTooLong(limit: Int)
}

extension FTPListingError: CustomStringConvertible {
    /// The error in plain words.
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

/// What a listing may ask of memory.
public struct FTPListingLimits: Sendable, Hashable {
    /// Bytes of one line without its end: 16 KiB, which is a name and a link's target of 4,096 bytes each (Linux's longest
    /// path), and some. A listing's number of lines has no bound, as a file's length has none: entries are given as they come.
    public var lineLength = 16_384

    /// The defaults.
    public init() {}
}
