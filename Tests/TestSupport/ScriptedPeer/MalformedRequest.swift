/// Bytes that are no request, where the script expected one.
struct MalformedRequest: Error, CustomStringConvertible {
    var line: String

    var description: String { "no HTTP request: \(line)" }
}
