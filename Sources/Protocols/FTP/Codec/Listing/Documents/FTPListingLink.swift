@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Relative references (RFC 3986 §4.2) to entries of a directory.
enum FTPListingLink {
    /// A name as one segment of a path. All bytes but letters, digits, `-`, `.`, `_` and `~` are percent-encoded, so
    /// that a name cannot be a scheme, a host, a path of several segments, a query, a fragment or FTP's `;type=`. Nil
    /// for an empty name, and for `.` and `..`, which browsers interpret as steps of a path in any encoding.
    static func segment(_ name: [UInt8]) -> [UInt8]? {
        if name.isEmpty || name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { return nil }
        return encoded(name)
    }

    static func encoded(_ bytes: some Sequence<UInt8>) -> [UInt8] { Array(PercentCoding.encoded(bytes).utf8) }
}
