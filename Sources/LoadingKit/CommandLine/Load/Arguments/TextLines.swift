extension String {
    /// The lines, which LF or CR LF ends. They are split by bytes, as CR LF is one `Character`, which is not equal to LF.
    var lines: [Substring] {
        utf8.split(separator: 0x0a, omittingEmptySubsequences: false).map { line in
            Substring(line.last == 0x0d ? line.dropLast() : line)
        }
    }
}
