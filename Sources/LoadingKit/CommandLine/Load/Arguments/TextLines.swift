extension String {
    /// The lines, which LF or CR LF ends. They are split by bytes, as CR LF is one `Character`, which is not equal to LF.
    var lines: [Substring] {
        utf8.split(separator: 0x0a, omittingEmptySubsequences: false).map { line in
            Substring(line.last == 0x0d ? line.dropLast() : line)
        }
    }
}

extension String {
    /// The text before the first of the separators, and the text behind it; nil where there is none.
    ///
    /// Scalars are compared, as a separator may form one `Character` with a mark beside it.
    func cut(at separators: Unicode.Scalar...) -> (head: String, separator: Unicode.Scalar, tail: String)? {
        let scalars = unicodeScalars
        guard let place = scalars.firstIndex(where: { separators.contains($0) }) else { return nil }
        return (String(self[..<place]), scalars[place], String(self[scalars.index(after: place)...]))
    }
}
