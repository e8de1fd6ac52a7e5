import Foundation

/// A body on its way to a terminal: escaped, and laid out and coloured where its type is known. A binary one is refused.
struct ScreenBody {
    enum Format: Sendable {
        case json, xml, html

        /// Nil for other types.
        init?(type: String?) {
            switch type?.lowercased() ?? "" {
            case "application/json", "text/json": self = .json
            case "application/xml", "text/xml": self = .xml
            case "text/html", "application/xhtml+xml": self = .html
            case let type where type.hasSuffix("+json"): self = .json
            case let type where type.hasSuffix("+xml"): self = .xml
            case _: return nil
            }
        }

        func display(_ bytes: [UInt8], usesColour: Bool) -> [UInt8] {
            let shown: [UInt8]? =
                switch self {
                case .json: JSONLayout.text(bytes, usesColour: usesColour)
                case .xml: MarkupText(bytes, isHTML: false).laidOut(usesColour: usesColour)
                case .html: nil
                }
            if let shown { return shown }
            if self == .json { return VisibleText.escaped(bytes[...]) }
            return MarkupText(bytes, isHTML: self == .html).painted(usesColour: usesColour)
        }
    }

    private enum State {
        case beginning
        /// Text that is displayed as it comes.
        case text(VisibleText)
        /// A document that is displayed when it is complete.
        case document(Format, [UInt8])
        /// Bytes that are not for a terminal.
        case untouched
    }

    /// A longer document is displayed as it comes, as other text.
    private static let longestDocument = 1 << 22

    private let type: String?
    private let length: Int64
    private let laysOut: Bool
    private let terminal: Terminal
    private var state = State.beginning
    private var count = 0

    /// - Parameters:
    ///   - type: the response's type; nil for none.
    ///   - length: bytes; negative where it is not known.
    ///   - laysOut: whether documents are displayed when they are complete; otherwise they are like other text.
    init(type: String?, length: Int64, laysOut: Bool = true, _ terminal: Terminal) {
        (self.type, self.length, self.laysOut, self.terminal) = (type, length, laysOut, terminal)
    }

    /// The bytes for the terminal.
    mutating func receive(_ data: Data) throws(ToolFailure) -> Data {
        let bytes = [UInt8](data)
        if case .beginning = state { try begin(bytes) }
        defer { count += bytes.count }
        switch state {
        case .beginning, .untouched: return data
        case .text(var text):
            if count < BinaryBody.searched { try refuse(bytes, type: "text/plain") }
            defer { state = .text(text) }
            return Data(text.receive(bytes))
        case .document(let format, var document):
            // The array is not shared, and grows in its place.
            state = .untouched
            document += bytes
            state = .document(format, document)
            guard document.count > Self.longestDocument else { return Data() }
            var text = VisibleText()
            defer { state = .text(text) }
            return Data(text.receive(document))
        }
    }

    /// The rest of the body's display.
    mutating func finish() -> Data {
        defer { state = .beginning }
        switch state {
        case .beginning, .untouched: return Data()
        case .text(var text): return Data(text.finish())
        case .document(let format, let bytes): return Data(format.display(bytes, usesColour: terminal.usesColour))
        }
    }

    private mutating func begin(_ bytes: [UInt8]) throws(ToolFailure) {
        guard !bytes.isEmpty else { return }
        try refuse(bytes, type: type)
        let isBinary = BinaryBody.isBinary(bytes, type: type)
        let format = Format(type: type)
        if isBinary {
            state = .untouched
        } else if laysOut, let format, format != .html || terminal.usesColour {
            state = .document(format, [])
        } else {
            state = .text(VisibleText())
        }
    }

    private func refuse(_ bytes: [UInt8], type: String?) throws(ToolFailure) {
        guard terminal.isTerminal, BinaryBody.isBinary(bytes, type: type) else { return }
        let name = BinaryBody.name(bytes, type: self.type, length: length)
        throw ToolFailure(
            .writeError,
            "the body is \(name), which could confuse the terminal: -o FILE saves it, -o - writes it all the same")
    }
}
