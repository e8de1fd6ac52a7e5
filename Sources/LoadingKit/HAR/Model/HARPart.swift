/// A type of object in a HAR file: a table of its members, from which it is read and written.
///
/// Reading is lenient. `null` counts as absent, numbers may be strings, and a missing member keeps its value of
/// ``blank`` where the recording can be used without it. A member of the wrong kind is an error that names its place.
/// Members that are not in the table are kept in ``others``.
protocol HARPart: HARValue, Codable {
    /// The object before its members are read.
    static var blank: Self { get }
    /// The members that HAR defines, in the order in which they are read, without `comment`, which all objects have.
    static var members: [HARMember<Self>] { get }
    var comment: String? { get set }
    var others: [String: JSONValue] { get set }
}

extension HARPart {
    private static var allMembers: [HARMember<Self>] { members + [HARMember<Self>("comment", \.comment)] }

    init(_ json: JSONValue, at place: String) throws(HARError) {
        guard case .object(var rest) = json else {
            throw HARError("\(place): an object is expected, not \(json.kind)")
        }
        self = .blank
        for member in Self.allMembers { try member.read(&self, &rest, place) }
        others = rest
    }

    var json: JSONValue? {
        var object = others
        for member in Self.allMembers { member.write(self, &object) }
        return .object(object)
    }

    /// Reads the object, with the leniency that the module's page describes.
    public init(from decoder: any Decoder) throws { try self.init(JSONValue(from: decoder), at: "\(Self.self)") }

    /// Writes the object with its unknown members.
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}

/// A member of a type of object.
struct HARMember<Part: Sendable>: Sendable {
    /// Moves the member, if it is there, from the object's unread members to the part.
    let read:
        @Sendable (_ part: inout Part, _ rest: inout [String: JSONValue], _ place: String) throws(HARError) -> Void
    let write: @Sendable (_ part: Part, _ object: inout [String: JSONValue]) -> Void

    /// - Parameters:
    ///   - isRequired: whether a missing member is an error.
    ///   - isWritten: whether the member is also written, or only read.
    ///   - missing: the value for a missing member, from those that were read before it; by default that of `blank`.
    init<Value: HARValue>(
        _ name: String, _ path: any WritableKeyPath<Part, Value> & Sendable, isRequired: Bool = false,
        isWritten: Bool = true, missing: (@Sendable (Part) -> Value)? = nil
    ) {
        read = { (part, rest, place) throws(HARError) in
            if let json = rest.removeValue(forKey: name), json != .null {
                part[keyPath: path] = try Value(json, at: "\(place).\(name)")
            } else if isRequired {
                throw HARError("\(place).\(name): is missing")
            } else if let missing {
                part[keyPath: path] = missing(part)
            }
        }
        write = { part, object in
            if isWritten, let json = part[keyPath: path].json { object[name] = json }
        }
    }
}

/// A value in a HAR file.
protocol HARValue: Sendable {
    /// - Parameter place: the place of the value in the file, for errors.
    init(_ json: JSONValue, at place: String) throws(HARError)
    /// Nil for a value that is not written.
    var json: JSONValue? { get }
}

extension Optional: HARValue where Wrapped: HARValue {
    init(_ json: JSONValue, at place: String) throws(HARError) { self = try Wrapped(json, at: place) }
    var json: JSONValue? { flatMap(\.json) }
}

extension Array: HARValue where Element: HARValue {
    init(_ json: JSONValue, at place: String) throws(HARError) {
        guard let elements = json.array else { throw HARError("\(place): a list is expected, not \(json.kind)") }
        self = []
        for (index, element) in elements.enumerated() { append(try Element(element, at: "\(place)[\(index)]")) }
    }

    var json: JSONValue? { .array(compactMap(\.json)) }
}

extension String: HARValue {
    init(_ json: JSONValue, at place: String) throws(HARError) {
        if let text = json.string {
            self = text
        } else if json.double != nil || json.bool != nil {
            self = json.text()
        } else {
            throw HARError("\(place): text is expected, not \(json.kind)")
        }
    }

    var json: JSONValue? { .string(self) }
}

extension Double: HARValue {
    init(_ json: JSONValue, at place: String) throws(HARError) {
        guard let number = json.double ?? json.string.flatMap({ Double($0) }), number.isFinite else {
            throw HARError("\(place): a number is expected, not \(json.kind)")
        }
        self = number
    }

    var json: JSONValue? { .number(self) }
}

extension Int: HARValue {
    init(_ json: JSONValue, at place: String) throws(HARError) {
        guard let whole = Int(exactly: try Double(json, at: place).rounded(.towardZero)) else {
            throw HARError("\(place): the number is too large")
        }
        self = whole
    }

    var json: JSONValue? { .integer(Int64(self)) }
}

extension Bool: HARValue {
    init(_ json: JSONValue, at place: String) throws(HARError) {
        guard let value = json.bool else { throw HARError("\(place): true or false is expected, not \(json.kind)") }
        self = value
    }

    var json: JSONValue? { .bool(self) }
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
