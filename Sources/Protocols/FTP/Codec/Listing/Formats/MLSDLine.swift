import LoadingKitPrimitives

/// A line of an MLSD listing (RFC 3659 §7.2), `type=file;size=12;modify=20260131230509; name`: facts, one space, and
/// the name.
enum MLSDLine {
    static func read(_ line: ListingLine) -> FTPListingParser.Line {
        guard let space = line.bytes.firstIndex(of: ASCII.space), line.bytes.count > space + 1 else {
            return .unreadable
        }
        let name = Array(line.bytes[(space + 1)...])
        guard let facts = facts(line.bytes[..<space]) else { return .unreadable }
        var entry = FTPEntry(name: name, kind: .other, facts: facts)
        switch facts["type"].map(TypeFact.init) {
        case .directoryItself: return .remark
        case .known(let kind)?: entry.kind = kind
        case .link(let target)?:
            entry.kind = .link
            entry.target = target
        case nil: break
        }
        if entry.kind == .file { entry.size = facts["size"]?.utf8.decimal }
        entry.modification = facts["modify"].flatMap { FTPTimestamp(digits: Array($0.utf8)) }
        entry.permissions = facts["unix.mode"] ?? facts["perm"]
        return .entry(entry)
    }

    /// Parses the facts. Nil if one of them is not a valid fact. There may be no facts.
    private static func facts(_ bytes: ArraySlice<UInt8>) -> [String: String]? {
        var facts: [String: String] = [:]
        for fact in bytes.split(separator: ASCII.semicolon) {
            guard let equals = fact.firstIndex(of: UInt8(ascii: "=")), equals > fact.startIndex else { return nil }
            let name = String(decoding: fact[..<equals], as: UTF8.self).lowercased()
            let value = String(decoding: fact[(equals + 1)...], as: UTF8.self)
            if facts[name] == nil { facts[name] = value }
        }
        return facts
    }

    /// The fact `type` (§7.5.1). Its value is not case-sensitive.
    private enum TypeFact {
        case known(FTPEntry.Kind)
        case link(target: [UInt8]?)
        /// The listed directory itself, or its parent directory.
        case directoryItself

        init(_ value: String) {
            // No RFC defines these values, but servers send them: `OS.unix=slink:/target`, `OS.unix=symlink`.
            for prefix in ["os.unix=slink", "os.unix=symlink"] where value.lowercased().hasPrefix(prefix) {
                let target = Array(value.utf8.dropFirst(prefix.utf8.count))
                self = .link(target: target.count > 1 && target[0] == ASCII.colon ? Array(target[1...]) : nil)
                return
            }
            switch value.lowercased() {
            case "file": self = .known(.file)
            case "dir": self = .known(.directory)
            case "cdir", "pdir": self = .directoryItself
            default: self = .known(.other)
            }
        }
    }
}
