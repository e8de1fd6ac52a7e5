import LoadingKitPrimitives

/// Easily Parsed LIST Format (D. J. Bernstein, cr.yp.to/ftp/list/eplf.html): `+facts,` with commas, a tab, and the name.
enum EPLFLine {
    static func read(_ line: ListingLine) -> FTPEntry? {
        guard line.bytes.first == UInt8(ascii: "+"), let tab = line.bytes.firstIndex(of: ASCII.tab) else { return nil }
        var entry = FTPEntry(name: Array(line.bytes[(tab + 1)...]), kind: .other)
        var size: UInt64?
        for fact in line.bytes[1..<tab].split(separator: ASCII.comma) {
            let value = fact.dropFirst()
            switch fact.first {
            case UInt8(ascii: "/"): entry.kind = .directory
            case UInt8(ascii: "r"): if entry.kind == .other { entry.kind = .file }
            case UInt8(ascii: "s"): size = value.decimal
            case UInt8(ascii: "m"):
                entry.modification = value.decimal.flatMap(Int64.init(exactly:)).flatMap {
                    FTPTimestamp(secondsSince1970: $0)
                }
            case UInt8(ascii: "u") where value.first == UInt8(ascii: "p"):
                entry.permissions = String(decoding: value.dropFirst(), as: UTF8.self)
            default: break
            }
            let length = fact.starts(with: "up".utf8) ? 2 : 1
            let name = String(decoding: fact.prefix(length), as: UTF8.self)
            if entry.facts[name] == nil {
                entry.facts[name] = String(decoding: fact.dropFirst(length), as: UTF8.self)
            }
        }
        if entry.kind == .file { entry.size = size }
        return entry
    }
}
