/// A request as it came, byte for byte.
package struct RecordedRequest: Sendable, Equatable {
    /// The number of the connection it came on, from 0.
    package var connection: Int
    /// The head up to and with its empty line.
    package var head: [UInt8]
    /// The body without its chunk framing.
    package var body: [UInt8]

    package init(connection: Int, head: [UInt8], body: [UInt8] = []) {
        self.connection = connection
        self.head = head
        self.body = body
    }

    package var bodyText: String { String(decoding: body, as: UTF8.self) }

    package var requestLine: String { lines.first ?? "" }

    package var method: String { part(0) }

    package var target: String { part(1) }

    /// Each field line's name and value, in order.
    package var fields: [(name: String, value: String)] {
        lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...]
            return (String(line[..<colon]), String(value.drop { $0 == " " }))
        }
    }

    /// The values of the lines with this name, in any letter case, joined by ", "; nil when there are none.
    package subscript(field name: String) -> String? {
        let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    private var lines: [String] {
        var lines: [String] = []
        var line = String.UnicodeScalarView()
        for byte in head {
            switch byte {
            case 0x0D: continue
            case 0x0A:
                lines.append(String(line))
                line = .init()
            default: line.append(Unicode.Scalar(byte))
            }
        }
        return lines.filter { !$0.isEmpty }
    }

    private func part(_ index: Int) -> String {
        let parts = requestLine.split(separator: " ", omittingEmptySubsequences: false)
        return parts.indices.contains(index) ? String(parts[index]) : ""
    }
}
