/// ALPN's lists of protocol names (RFC 7301 §3.1): each name after one byte that holds its length.
enum ALPN {
    static func encode(_ names: [String]) throws(OpenSSLError) -> [UInt8] {
        var list: [UInt8] = []
        for name in names {
            let bytes = Array(name.utf8)
            guard let count = UInt8(exactly: bytes.count), count > 0 else {
                throw OpenSSLError("setting ALPN", reason: "\"\(name)\" is not 1 to 255 bytes long")
            }
            list.append(count)
            list += bytes
        }
        return list
    }

    /// The first of the server's names that the client offers, as a part of the client's list.
    static func choose(
        _ accepted: [UInt8], from offered: UnsafeBufferPointer<UInt8>
    ) -> UnsafeBufferPointer<UInt8>? {
        accepted.withUnsafeBufferPointer { accepted in
            for candidate in names(in: accepted) {
                for offer in names(in: offered) where offer.elementsEqual(candidate) { return offer }
            }
            return nil
        }
    }

    private static func names(in list: UnsafeBufferPointer<UInt8>) -> [UnsafeBufferPointer<UInt8>] {
        var names: [UnsafeBufferPointer<UInt8>] = []
        var rest = list[...]
        while let count = rest.first {
            let name = rest.dropFirst().prefix(Int(count))
            guard name.count == Int(count) else { break }
            names.append(UnsafeBufferPointer(rebasing: name))
            rest = rest[name.endIndex...]
        }
        return names
    }
}
