import Foundation

extension RequestMatcher {
    /// A header field with this value.
    ///
    /// - Parameter value: compared exactly; nil for any. Names are compared regardless of case.
    public static func field(_ name: String, _ value: String? = nil) -> RequestMatcher {
        RequestMatcher(
            .differing("field \(name)") { request in
                let actual = request.value(forField: name)
                if value.map({ $0 == actual }) ?? (actual != nil) { return nil }
                return RequestMismatch("field \(name)", expected: value ?? "(any)", actual: actual)
            })
    }

    /// A header field whose value a closure accepts; the value is nil where the field is missing.
    public static func field(
        _ name: String, where isMatch: @escaping @Sendable (String?) -> Bool
    ) -> RequestMatcher {
        RequestMatcher(
            .differing("field \(name)") { request in
                let actual = request.value(forField: name)
                return isMatch(actual)
                    ? nil
                    : RequestMismatch("field \(name)", expected: "a value that the closure accepts", actual: actual)
            })
    }

    /// No header field with this name.
    public static func noField(_ name: String) -> RequestMatcher {
        RequestMatcher(
            .differing("no field \(name)") { request in
                request.value(forField: name).map {
                    RequestMismatch("field \(name)", expected: "(absent)", actual: $0)
                }
            })
    }

    /// A body of exactly these bytes. Empty data also matches a missing body.
    public static func body(_ expected: Data) -> RequestMatcher {
        RequestMatcher(
            .differing("body") { request in
                request.body == expected
                    ? nil
                    : RequestMismatch("body", expected: expected.excerpt, actual: request.body.excerpt)
            })
    }

    /// A body of exactly this text in UTF-8.
    public static func body(text: String) -> RequestMatcher { .body(Data(text.utf8)) }

    /// A JSON body that is equal to this value, regardless of the order of members and of white space.
    public static func body(json expected: JSONValue) -> RequestMatcher {
        RequestMatcher(
            Check("JSON body") { request in
                guard !request.body.isEmpty else {
                    return Result(mismatches: [RequestMismatch("body", expected: expected.text(), actual: nil)])
                }
                do {
                    let actual = try request.json()
                    return Result(mismatches: JSONDifference.find(expected: expected, actual: actual).map(\.mismatch))
                } catch {
                    let text = "no JSON (\(error)): \(request.body.excerpt)"
                    return Result(mismatches: [RequestMismatch("body", expected: expected.text(), actual: text)])
                }
            })
    }

    /// A JSON body that is equal to this JSON text.
    ///
    /// - Throws: ``JSONSyntaxError`` where the text is not JSON.
    public static func body(jsonText text: String) throws(JSONSyntaxError) -> RequestMatcher {
        .body(json: try JSONValue(parsing: text.utf8))
    }

    /// A JSON body that is equal to a value's encoding by `JSONEncoder`.
    ///
    /// - Throws: the encoding's errors.
    public static func body(encoding value: some Encodable) throws -> RequestMatcher {
        .body(json: try JSONValue(encoding: value))
    }

    /// A form of exactly these fields, in any order: `application/x-www-form-urlencoded`, or `multipart/form-data`.
    public static func form(_ fields: KeyValuePairs<String, String>) -> RequestMatcher {
        let expected = fields.map { NamedValue(name: $0.key, value: $0.value) }
        return RequestMatcher(
            Check("form \(expected.map(\.description).joined(separator: "&"))") { request in
                Result(mismatches: NamedValue.mismatches("form field", expected: expected, actual: request.form))
            })
    }

    /// A form that has a field with this name and value, among any others.
    ///
    /// - Parameter value: decoded; nil for any.
    public static func formField(_ name: String, _ value: String? = nil) -> RequestMatcher {
        item("form field", named: name, value, shown: "form field \(name)") { $0.form }
    }

    /// A body that a closure accepts.
    public static func body(where isMatch: @escaping @Sendable (Data) -> Bool) -> RequestMatcher {
        RequestMatcher(
            .differing("body") { request in
                isMatch(request.body)
                    ? nil
                    : RequestMismatch(
                        "body", expected: "a value that the closure accepts", actual: request.body.excerpt)
            })
    }
}

extension JSONDifference {
    var mismatch: RequestMismatch {
        RequestMismatch("body at \(path)", expected: expected?.text() ?? "(absent)", actual: actual?.text())
    }
}

extension Data {
    /// The bytes for human readers: text where they are UTF-8.
    var excerpt: String {
        if isEmpty { return "(empty)" }
        if let text = String(data: prefix(4_096), encoding: .utf8) {
            return text + (count > 4_096 ? "… (\(count) bytes)" : "")
        }
        let bytes = prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
        return "\(count) bytes: \(bytes)\(count > 16 ? " …" : "")"
    }
}
