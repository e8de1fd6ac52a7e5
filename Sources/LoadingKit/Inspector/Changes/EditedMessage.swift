import Foundation
import LoadingKitHAR

/// A request or a response as it is, and as the page shows it.
struct ShownMessage: Sendable {
    /// The method and URL of a request, or the status of a response.
    enum Line: Sendable {
        case request(method: String, url: String)
        case response(status: Int)
    }

    let line: Line
    let fields: [(name: String, value: String)]
    /// Nil where the page cannot change it.
    let body: [UInt8]?
    /// Why the page cannot change the body.
    let bodyNote: String
    let redactor: Redactor

    private var contentType: String? { fields.first { $0.name.lowercased() == "content-type" }?.value }

    private func shown(_ bytes: [UInt8]) -> [UInt8] { redactor.body(bytes, contentType) }

    var value: JSONValue {
        var members: [String: JSONValue] = [
            "headers": .array(
                fields.map { ["name": .string($0.name), "value": .string(redactor.field($0.name, $0.value))] })
        ]
        switch line {
        case .request(let method, let url):
            members["method"] = .string(method)
            members["url"] = .string(redactor.url(url))
        case .response(let status): members["status"] = .integer(Int64(status))
        }
        members["body"] = body.map(bodyValue) ?? .null
        if !bodyNote.isEmpty { members["bodyNote"] = .string(bodyNote) }
        return .object(members)
    }

    private func bodyValue(_ bytes: [UInt8]) -> JSONValue {
        let bytes = shown(bytes)
        if !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) { return ["text": .string(text)] }
        return ["text": .string(Data(bytes).base64EncodedString()), "encoding": "base64"]
    }

    // MARK: Changes

    /// The message with the page's changes. Values that the page shows without their secret keep it where they were not
    /// changed.
    func edited(_ value: JSONValue) throws(EditError) -> EditedMessage {
        let line = try edited(line: value)
        var rest = fields
        var fields: [(name: String, value: String)] = []
        for field in value["headers"]?.array ?? [] {
            guard let name = field["name"]?.string, let text = field["value"]?.string else {
                throw EditError("a field has no name or no value")
            }
            fields.append((name, try edited(name, text, from: &rest)))
        }
        return EditedMessage(line: line, fields: fields, body: try edited(body: value["body"]))
    }

    private func edited(line value: JSONValue) throws(EditError) -> Line {
        switch line {
        case .request(let method, let url):
            let edited = value["url"]?.string ?? url
            let isSame = edited == redactor.url(url)
            guard isSame || !Self.hasMarker(edited) else { throw EditError("the URL has redacted values") }
            guard URL(string: edited)?.scheme != nil else { throw EditError("the URL is none, or has no scheme") }
            return .request(method: value["method"]?.string ?? method, url: isSame ? url : edited)
        case .response(let status):
            let edited = value["status"]?.integer.map { Int(clamping: $0) } ?? status
            guard (200...599).contains(edited) else { throw EditError("a status is a number from 200 to 599") }
            return .response(status: edited)
        }
    }

    private func edited(
        _ name: String, _ text: String, from rest: inout [(name: String, value: String)]
    ) throws(EditError) -> String {
        let same = rest.firstIndex {
            $0.name.lowercased() == name.lowercased() && redactor.field($0.name, $0.value) == text
        }
        if let same { return rest.remove(at: same).value }
        guard !Self.hasMarker(text) else { throw EditError("the field \(name) has redacted values") }
        guard !text.contains(where: { $0 == "\r" || $0 == "\n" || $0 == "\r\n" || $0 == "\0" }) else {
            throw EditError("the field \(name) has a line break")
        }
        return text
    }

    private func edited(body value: JSONValue?) throws(EditError) -> [UInt8]? {
        guard let value, let text = value["text"]?.string else { return body }
        let isBase64 = value["encoding"]?.string == "base64"
        guard let bytes = isBase64 ? Data(base64Encoded: text).map({ [UInt8]($0) }) : Array(text.utf8) else {
            throw EditError("the body is no base64")
        }
        if let body, bytes == shown(body) { return body }
        guard body != nil || bodyNote.isEmpty else { throw EditError(bodyNote) }
        guard isBase64 || !Self.hasMarker(text) else { throw EditError("the body has redacted values") }
        return bytes
    }

    private static func hasMarker(_ text: String) -> Bool {
        text.contains(HARRedaction.marker) || text.contains("%28redacted%29")
    }
}

extension ShownMessage {
    /// A message whose body is left out where it may have secrets that are not found.
    ///
    /// - Parameter isDecoded: whether the content codings that a field names were removed from the body.
    init(
        _ line: Line, _ fields: [(name: String, value: String)], body: [UInt8]?, bodyNote: String, isDecoded: Bool,
        _ redactor: Redactor
    ) {
        let isLeftOut = body?.isEmpty == false && !isDecoded && redactor.leavesOut(bodyWith: fields)
        self.init(
            line: line, fields: fields, body: isLeftOut ? nil : body,
            bodyNote: isLeftOut ? "The body has a content coding, in which secrets are not found." : bodyNote,
            redactor: redactor)
    }
}

/// A request or a response as the page has changed it.
struct EditedMessage: Sendable {
    let line: ShownMessage.Line
    let fields: [(name: String, value: String)]
    /// Nil where the body is unchanged, and not known here.
    let body: [UInt8]?
}

/// The reason why a change cannot be made.
struct EditError: Error, Hashable {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
