import Foundation

/// A JSON value: the form in which settings are stored in the journal of background sessions, and sent to another
/// process.
package indirect enum CodedValue: Hashable, Sendable {
    case null
    case flag(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([CodedValue])
    case object([String: CodedValue])

    /// Makes the value by the `Encodable` conformance of another value.
    package init(encoding value: some Encodable) throws {
        self = try JSONDecoder().decode(CodedValue.self, from: JSONEncoder().encode(value))
    }

    /// A number, which may have no JSON form. A number without a fraction is an integer, as it was before it was sent.
    package init(_ number: Double) {
        if let integer = Int64(exactly: number) {
            self = .integer(integer)
        } else if number.isFinite {
            self = .number(number)
        } else {
            self = .text(number.isNaN ? "nan" : number < 0 ? "-inf" : "inf")
        }
    }

    package var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
    package var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
    package var text: String? { if case .text(let text) = self { text } else { nil } }
    package var list: [CodedValue]? { if case .list(let list) = self { list } else { nil } }

    package var double: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        case .text("inf"): .infinity
        case .text("-inf"): -.infinity
        case .text("nan"): .nan
        case .null, .flag, .text, .list, .object: nil
        }
    }

    /// Decodes a value by its type's `Decodable` conformance.
    package func decoded<Value: Decodable>(as type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: JSONEncoder().encode(self))
    }

    /// The value at a path of names; nil where there is none. Setting nil removes the value, and objects that are then
    /// empty.
    package subscript(path path: ArraySlice<String>) -> CodedValue? {
        get {
            guard let first = path.first else { return self }
            guard case .object(let members) = self else { return nil }
            return members[first]?[path: path.dropFirst()]
        }
        set {
            guard let first = path.first else {
                self = newValue ?? .object([:])
                return
            }
            var members: [String: CodedValue] = [:]
            if case .object(let known) = self { members = known }
            var member = members[first] ?? .object([:])
            member[path: path.dropFirst()] = newValue
            members[first] = newValue == nil && member == .object([:]) ? nil : member
            self = .object(members)
        }
    }
}

extension CodedValue: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let integer = try? container.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let list = try? container.decode([CodedValue].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: CodedValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .flag(let flag): try container.encode(flag)
        case .integer(let integer): try container.encode(integer)
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .list(let list): try container.encode(list)
        case .object(let members): try container.encode(members)
        }
    }
}

extension CodedValue: CustomStringConvertible {
    /// The text is the same for equal values.
    package var description: String {
        switch self {
        case .null: "null"
        case .flag(let flag): "\(flag)"
        case .integer(let integer): "\(integer)"
        case .number(let number): "\(number)"
        case .text(let text): "\"\(text)\""
        case .list(let list): "\(list)"
        case .object(let members):
            "{" + members.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: ", ") + "}"
        }
    }
}
