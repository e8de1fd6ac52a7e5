/// A JSON object of a HAR file that is being read: it has its place in the file, and records which members were read.
///
/// Reading is lenient. `null` counts as absent, numbers may be strings, and a missing member has a default where the
/// recording can be used without it. A member of the wrong kind is an error that names its place.
struct HARObject {
    private let path: String
    private var members: [String: JSONValue]

    init(_ value: JSONValue, _ path: String) throws(HARError) {
        guard case .object(let members) = value else {
            throw HARError("\(path): an object is expected, not \(value.kind)")
        }
        self.path = path
        self.members = members
    }

    /// The members that were not read.
    var rest: [String: JSONValue] { members }

    private mutating func take(_ name: String) -> JSONValue? {
        guard let value = members.removeValue(forKey: name), value != .null else { return nil }
        return value
    }

    private func error(_ name: String, _ text: String) -> HARError { HARError("\(path).\(name): \(text)") }

    mutating func string(_ name: String) throws(HARError) -> String? {
        switch take(name) {
        case nil: return nil
        case .string(let text): return text
        case let value?:
            guard value.double != nil || value.bool != nil else {
                throw error(name, "text is expected, not \(value.kind)")
            }
            return value.text()
        }
    }

    mutating func requiredString(_ name: String) throws(HARError) -> String {
        guard let text = try string(name) else { throw error(name, "is missing") }
        return text
    }

    mutating func number(_ name: String) throws(HARError) -> Double? {
        guard let value = take(name) else { return nil }
        if let number = value.double { return number }
        guard let text = value.string, let number = Double(text), number.isFinite else {
            throw error(name, "a number is expected, not \(value.kind)")
        }
        return number
    }

    mutating func integer(_ name: String) throws(HARError) -> Int? {
        guard let value = try number(name) else { return nil }
        guard let whole = Int(exactly: value.rounded(.towardZero)) else { throw error(name, "the number is too large") }
        return whole
    }

    mutating func requiredInteger(_ name: String) throws(HARError) -> Int {
        guard let value = try integer(name) else { throw error(name, "is missing") }
        return value
    }

    mutating func bool(_ name: String) throws(HARError) -> Bool? {
        guard let value = take(name) else { return nil }
        guard let bool = value.bool else { throw error(name, "true or false is expected, not \(value.kind)") }
        return bool
    }

    mutating func date(_ name: String) throws(HARError) -> HARDate? {
        guard let text = try string(name), !text.isEmpty else { return nil }
        guard let date = HARDate(text) else {
            throw error(name, "\"\(text.prefix(60))\" is no ISO 8601 date with a time")
        }
        return date
    }

    mutating func object<Part>(
        _ name: String, _ make: (inout HARObject) throws(HARError) -> Part
    ) throws(HARError) -> Part? {
        guard let value = take(name) else { return nil }
        var object = try HARObject(value, "\(path).\(name)")
        return try make(&object)
    }

    mutating func requiredObject<Part>(
        _ name: String, _ make: (inout HARObject) throws(HARError) -> Part
    ) throws(HARError) -> Part {
        guard let part = try object(name, make) else { throw error(name, "is missing") }
        return part
    }

    /// Nil where there is no list.
    mutating func list<Part>(
        _ name: String, _ make: (inout HARObject) throws(HARError) -> Part
    ) throws(HARError) -> [Part]? {
        guard let value = take(name) else { return nil }
        guard let elements = value.array else { throw error(name, "a list is expected, not \(value.kind)") }
        var parts: [Part] = []
        for (index, element) in elements.enumerated() {
            var object = try HARObject(element, "\(path).\(name)[\(index)]")
            parts.append(try make(&object))
        }
        return parts
    }
}

/// The members of a HAR object that is being written.
struct HARMembers {
    private(set) var members: [String: JSONValue]

    /// - Parameter others: members that the specification does not define.
    init(_ others: [String: JSONValue] = [:]) { members = others }

    var value: JSONValue { .object(members) }

    mutating func set(_ name: String, _ value: JSONValue?) { if let value { members[name] = value } }
    mutating func set(_ name: String, _ text: String?) { set(name, text.map(JSONValue.string)) }
    mutating func set(_ name: String, _ number: Double?) { set(name, number.map(JSONValue.number)) }
    mutating func set(_ name: String, _ number: Int?) { set(name, number.map { JSONValue.integer(Int64($0)) }) }
    mutating func set(_ name: String, _ bool: Bool?) { set(name, bool.map(JSONValue.bool)) }
    mutating func set(_ name: String, _ date: HARDate?) { set(name, date.map { JSONValue.string($0.description) }) }
    mutating func set(_ name: String, _ list: [some HARPart]) { set(name, .array(list.map(\.json))) }
    mutating func set(_ name: String, _ part: (some HARPart)?) { set(name, part?.json) }
}

/// A type of object in a HAR file.
protocol HARPart: Codable {
    /// The specification's name of the object, for errors.
    static var partName: String { get }
    init(_ object: inout HARObject) throws(HARError)
    var json: JSONValue { get }
}

extension HARPart {
    /// Reads the object, with the leniency that the module's page describes.
    public init(from decoder: any Decoder) throws {
        var object = try HARObject(JSONValue(from: decoder), Self.partName)
        self = try Self(&object)
    }

    /// Writes the object with its unknown members.
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}

extension JSONValue {
    /// The kind of the value, for an error's text.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .integer, .number: "a number"
        case .string: "text"
        case .array: "a list"
        case .object: "an object"
        }
    }
}
