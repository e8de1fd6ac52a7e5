#if CommandLineTool
    /// URLs in one argument, as curl writes them: `{a,b}` stands for each of its parts, and `[1-3]`, `[01-10:2]` and `[a-z]`
    /// for each value of the range.
    struct URLPattern {
        /// One of the URLs, with the texts that its brackets stand for, in order.
        struct URL: Hashable {
            var text: String
            var parts: [String] = []

            /// A file name, in which `#1` is the text of the first brackets.
            func fileName(_ name: String) -> String {
                parts.indices.reversed().reduce(name) { $0.replacingOccurrences(of: "#\($1 + 1)", with: parts[$1]) }
            }
        }

        private static let maximumCount = 100_000

        private(set) var urls = [URL(text: "")]

        init(_ argument: String) throws {
            var rest = argument[...]
            while let character = rest.popFirst() {
                switch character {
                case "\\" where rest.first.map { "[]{}".contains($0) } == true:
                    append(rest.removeFirst())
                case "{":
                    try add(
                        try Self.content(&rest, upTo: "}", of: argument).split(
                            separator: ",", omittingEmptySubsequences: false
                        ).map(String.init), argument)
                case "[":
                    let content = try Self.content(&rest, upTo: "]", of: argument)
                    // An IPv6 address.
                    guard !content.contains(where: { $0 == "." || $0 == "%" }), content.count(where: { $0 == ":" }) < 2
                    else {
                        for character in "[\(content)]" { append(character) }
                        continue
                    }
                    try add(try Self.range(content, of: argument), argument)
                case _: append(character)
                }
            }
        }

        private mutating func append(_ character: Character) {
            for index in urls.indices { urls[index].text.append(character) }
        }

        private mutating func add(_ values: [String], _ argument: String) throws {
            guard urls.count * values.count <= Self.maximumCount else {
                throw ToolFailure(.malformedURL, "these are too many URLs: \(argument)")
            }
            urls = urls.flatMap { url in
                values.map { URL(text: url.text + $0, parts: url.parts + [$0]) }
            }
        }

        private static func content(_ rest: inout Substring, upTo end: Character, of argument: String) throws -> String
        {
            guard let index = rest.firstIndex(of: end) else {
                throw ToolFailure(
                    .malformedURL, "a bracket is not closed in \(argument); -g takes brackets as they are")
            }
            defer { rest = rest[rest.index(after: index)...] }
            return String(rest[..<index])
        }

        private static func range(_ text: String, of argument: String) throws -> [String] {
            let (range, step) =
                text.firstIndex(of: ":").map { (text[..<$0], Int(text[text.index(after: $0)...])) } ?? (text[...], 1)
            let ends = range.split(separator: "-", omittingEmptySubsequences: false)
            if ends.count == 2, let step, step > 0 {
                if let from = Int(ends[0]), let to = Int(ends[1]), from >= 0, from <= to,
                    (to - from) / step < maximumCount
                {
                    let width = ends[0].hasPrefix("0") ? ends[0].count : 0
                    return stride(from: from, through: to, by: step).map { PlainText.zeros($0, width: width) }
                }
                let letters = ends.compactMap { $0.count == 1 ? $0.first?.asciiValue : nil }
                if letters.count == 2, letters[0] <= letters[1], ends.allSatisfy({ $0.first?.isLetter == true }) {
                    return stride(from: Int(letters[0]), through: Int(letters[1]), by: step)
                        .map { String(UnicodeScalar(UInt8($0))) }
                }
            }
            throw ToolFailure(.malformedURL, "[\(text)] is not a range in \(argument); -g takes brackets as they are")
        }
    }

    extension PlainText {
        fileprivate static func zeros(_ number: Int, width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(width - digits.count, 0)) + digits
        }
    }
#endif
