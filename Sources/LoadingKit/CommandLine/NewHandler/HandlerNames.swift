import LoadingKitPrimitives

/// The names in the package of a new handler, all derived from a name that the user types.
struct HandlerNames: Hashable, Sendable {
    /// The largest length of a name and a scheme. Longer ones would make lines of code that are too wide.
    private static let maximumLength = 32

    /// The schemes that LoadingKit loads itself.
    static let builtInSchemes: Set<String> = ["http", "https", "ws", "wss", "file", "data", "ftp", "ftps"]

    /// The classes of LoadingKit and of LoadingKitTesting with which a new one could be confused.
    private static let takenClasses: Set<String> = [
        "DataURLHandler", "FileHandler", "HTTPProtocolHandler", "StubHandler", "URLProtocolHandler", "WebSocketHandler",
    ]

    /// The beginning of the types' names, such as `MyNotes`.
    let stem: String
    /// The URL scheme (RFC 3986 §3.1), in lower case.
    let scheme: String

    var handler: String { "\(stem)Handler" }
    var resource: String { "\(stem)Resource" }
    /// Also the name of the package. No type has this name: a module with a type of its own name cannot be named in
    /// code.
    var module: String { stem.hasSuffix("Scheme") ? stem : "\(stem)Scheme" }
    var error: String { "\(module)Error" }
    var tests: String { "\(module)Tests" }

    /// - Parameters:
    ///   - name: a name such as `Mem`, `my-scheme` or `MemHandler`.
    ///   - scheme: nil for the name in lower case.
    init(_ name: String, scheme: String? = nil) throws(ToolFailure) {
        guard Self.isScheme(name.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }) else {
            throw ToolFailure(
                .usage,
                "\"\(name)\" is no name for a handler: it begins with a letter, and has letters, digits, -, +, . and _ (of ASCII)"
            )
        }
        let base = Self.withoutSuffix(name)
        stem = base.split { !$0.isLetter && !$0.isNumber }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        self.scheme = try Self.checkedScheme(scheme ?? String(base.map { $0 == "_" ? "-" : $0 }))
        guard stem.utf8.count <= Self.maximumLength else {
            throw ToolFailure(.usage, "the name has more than \(Self.maximumLength) letters and digits: \(stem)")
        }
        guard !Self.takenClasses.contains(handler) else {
            throw ToolFailure(.usage, "LoadingKit has a \(handler) already; choose another name")
        }
    }

    /// `MemHandler` and `mem-handler` denote a handler named `Mem`, unless nothing remains.
    private static func withoutSuffix(_ name: String) -> String {
        guard name.lowercased().hasSuffix("handler") else { return name }
        let rest = name.dropLast("handler".count)
        guard let end = rest.lastIndex(where: { $0.isLetter || $0.isNumber }) else { return name }
        return String(rest[...end])
    }

    /// Whether the bytes are a URL scheme (RFC 3986 §3.1).
    static func isScheme(_ bytes: some Collection<UInt8>) -> Bool {
        guard let first = bytes.first, ASCII.isLetter(first) else { return false }
        return bytes.allSatisfy { ASCII.isLetterOrDigit($0) || "+-.".utf8.contains($0) }
    }

    /// The scheme in lower case, its standard form: schemes are compared regardless of case.
    private static func checkedScheme(_ scheme: String) throws(ToolFailure) -> String {
        guard isScheme(scheme.utf8) else {
            throw ToolFailure(
                .usage,
                "\"\(scheme)\" is no URL scheme: one begins with a letter, and has letters, digits, +, - and . (RFC 3986 §3.1)"
            )
        }
        guard scheme.utf8.count <= maximumLength else {
            throw ToolFailure(.usage, "the scheme has more than \(maximumLength) characters: \(scheme)")
        }
        let lowercased = scheme.lowercased()
        guard !builtInSchemes.contains(lowercased) else {
            throw ToolFailure(
                .usage,
                "LoadingKit loads \(lowercased): itself; give another --scheme, or write an interceptor to change its loads"
            )
        }
        return lowercased
    }
}
