@_spi(LoadingKitPlugins) import LoadingKitPrimitives

/// Relative references (RFC 3986 §4.2) to entries of a directory.
enum FTPListingLink {
    /// A name as one segment of a path: all but letters, digits, `-`, `.`, `_` and `~` is percent-encoded, so that no name can be
    /// a scheme, a host, a path of several segments, a query, a fragment or FTP's `;type=`. Nil for the names `.` and `..`, which
    /// browsers take for steps of a path in any encoding, and for an empty one.
    static func segment(_ name: [UInt8]) -> [UInt8]? {
        if name.isEmpty || name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { return nil }
        return encoded(name)
    }

    static func encoded(_ bytes: some Sequence<UInt8>) -> [UInt8] { Array(PercentCoding.encoded(bytes).utf8) }
}
