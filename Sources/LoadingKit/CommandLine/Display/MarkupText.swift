/// XML or HTML, divided at its tags, for a coloured display.
struct MarkupText {
    enum Kind { case text, open, close, empty, comment, declaration, data }

    private struct Token {
        let kind: Kind
        let range: Range<Int>
    }

    private enum Placement: Equatable {
        case dropped
        case inline
        /// On a line of its own, with its level.
        case line(Int)
    }

    private let bytes: [UInt8]
    private var tokens: [Token] = []

    init(_ bytes: [UInt8], isHTML: Bool) {
        self.bytes = bytes
        var position = 0
        while position < bytes.count {
            let (kind, end) = markup(at: position) ?? (.text, index(of: "<", from: position + 1) ?? bytes.count)
            tokens.append(Token(kind: kind, range: position..<end))
            position = end
            // The content of these elements has no markup.
            if isHTML, kind == .open, let token = tokens.last,
                ["script", "style"].contains(name(of: token).lowercased())
            {
                let end = endOfScript(from: position, name(of: token).lowercased())
                if end > position { tokens.append(Token(kind: .text, range: position..<end)) }
                position = end
            }
        }
    }

    /// The text as it is, in colours.
    func painted(usesColour: Bool) -> [UInt8] {
        var output = ScreenText(usesColour: usesColour)
        for token in tokens { paint(token, &output) }
        return output.bytes
    }

    /// The text with a line for each element. Nil where that would change its meaning, because an element has text beside
    /// elements or keeps its spaces; where the tags do not match; or where the display would be too large.
    func laidOut(usesColour: Bool) -> [UInt8]? {
        guard let placements else { return nil }
        var output = ScreenText(usesColour: usesColour)
        for (token, placement) in zip(tokens, placements) where placement != .dropped {
            if case .line(let level) = placement, !output.bytes.isEmpty { output.beginLine(level) }
            paint(token, &output)
            if output.isTooLarge { return nil }
        }
        return output.bytes + "\n".utf8
    }

    private struct Element {
        var name = ""
        var hasText = false
        var hasMarkup = false
        /// The indices of texts that are only spaces.
        var spaces: [Int] = []
    }

    private var placements: [Placement]? {
        guard index(of: "xml:space", from: 0) == nil else { return nil }
        var placements: [Placement] = []
        // The document itself, and its open elements.
        var open = [Element()]
        for (index, token) in tokens.enumerated() {
            let level = open.count - 1
            switch token.kind {
            case .text where bytes[token.range].allSatisfy({ $0 <= 0x20 }):
                open[level].spaces.append(index)
                placements.append(.dropped)
            case .text, .data:
                open[level].hasText = true
                placements.append(.inline)
            case .open, .empty, .comment, .declaration:
                open[level].hasMarkup = true
                placements.append(.line(level))
                if token.kind == .open { open.append(Element(name: name(of: token))) }
            case .close:
                guard let element = open.popLast(), !open.isEmpty, element.name == name(of: token) else { return nil }
                placements.append(element.hasMarkup ? .line(level - 1) : .inline)
                if !element.hasMarkup { for space in element.spaces { placements[space] = .inline } }
                if element.hasText && element.hasMarkup { return nil }
            }
        }
        return open.count == 1 && !open[0].hasText && open[0].hasMarkup ? placements : nil
    }

    // MARK: Painting

    private func paint(_ token: Token, _ output: inout ScreenText) {
        switch token.kind {
        case .text, .data: output.add(bytes[token.range])
        case .comment: output.add(bytes[token.range], .dim)
        case .declaration: output.add(bytes[token.range], .magenta)
        case .open, .close, .empty: paintTag(bytes[token.range], &output)
        }
    }

    /// Paints the name, then names and values of attributes.
    private func paintTag(_ tag: ArraySlice<UInt8>, _ output: inout ScreenText) {
        var rest = tag
        func isName(_ byte: UInt8) -> Bool { byte > 0x20 && !"=/>\"'".utf8.contains(byte) }
        func take(_ count: Int, _ style: Terminal.Style?) {
            output.add(rest.prefix(count), style)
            rest = rest.dropFirst(count)
        }
        let mark = rest.dropFirst().first == UInt8(ascii: "/") ? 2 : 1
        take(mark + rest.dropFirst(mark).prefix(while: isName).count, .cyan)
        var isValue = false
        while let byte = rest.first {
            var followsEqualsSign = false
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                take(rest.dropFirst().firstIndex(of: byte).map { $0 + 1 - rest.startIndex } ?? rest.count, .green)
            case UInt8(ascii: ">"): take(rest.count, .cyan)
            case UInt8(ascii: "/"): if rest.count == 2 { take(2, .cyan) } else { take(1, nil) }
            case _ where isName(byte): take(rest.prefix(while: isName).count, isValue ? .green : .yellow)
            case _:
                let space = rest.prefix { $0 <= 0x20 || $0 == UInt8(ascii: "=") }
                followsEqualsSign = space.contains(UInt8(ascii: "="))
                take(space.count, nil)
            }
            isValue = followsEqualsSign
        }
    }

    // MARK: Dividing

    /// The markup that begins here, and its end; nil for text. Markup without an end is text, too.
    private func markup(at start: Int) -> (Kind, Int)? {
        func found(_ kind: Kind, _ end: String, from: Int) -> (Kind, Int) {
            index(of: end, from: from).map { (kind, $0 + end.utf8.count) } ?? (.text, bytes.count)
        }
        if has("<!--", at: start) { return found(.comment, "-->", from: start + 4) }
        if has("<![CDATA[", at: start) { return found(.data, "]]>", from: start + 9) }
        if has("<?", at: start) { return found(.declaration, "?>", from: start + 2) }
        if has("<!", at: start) {
            // A document type may have declarations between brackets.
            let (kind, end) = found(.declaration, ">", from: start + 2)
            return bytes[start..<end].contains(UInt8(ascii: "["))
                ? found(.declaration, "]>", from: start + 2) : (kind, end)
        }
        let isClose = has("</", at: start)
        let name = start + (isClose ? 2 : 1)
        guard has("<", at: start), name < bytes.count, Self.mayBeginName(bytes[name]) else { return nil }
        var quote: UInt8?
        for position in name..<bytes.count {
            switch bytes[position] {
            case UInt8(ascii: ">") where quote == nil:
                let kind: Kind = isClose ? .close : bytes[position - 1] == UInt8(ascii: "/") ? .empty : .open
                return (kind, position + 1)
            case let byte where byte == quote: quote = nil
            case UInt8(ascii: "\""), UInt8(ascii: "'"): if quote == nil { quote = bytes[position] }
            case _: break
            }
        }
        return (.text, bytes.count)
    }

    private static func mayBeginName(_ byte: UInt8) -> Bool {
        byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":") || (0x41...0x5a).contains(byte & ~0x20)
    }

    private func name(of token: Token) -> String {
        let start = bytes[token.range].drop { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "/") }
        return String(decoding: start.prefix { $0 > 0x20 && !"/>".utf8.contains($0) }, as: UTF8.self)
    }

    private func endOfScript(from start: Int, _ name: String) -> Int {
        var position = start
        while let end = index(of: "</", from: position) {
            let found = bytes[(end + 2)...].prefix(name.utf8.count)
            if String(decoding: found, as: UTF8.self).lowercased() == name { return end }
            position = end + 2
        }
        return bytes.count
    }

    private func has(_ text: String, at position: Int) -> Bool { bytes[position...].starts(with: text.utf8) }

    private func index(of text: String, from start: Int) -> Int? {
        guard let first = text.utf8.first, start < bytes.count else { return nil }
        return bytes[start...].indices.first { bytes[$0] == first && has(text, at: $0) }
    }
}
