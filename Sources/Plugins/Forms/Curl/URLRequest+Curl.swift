import Foundation
import LoadingKit

extension URLRequest {
    /// The request as a command line that sends the same request with curl from a POSIX shell.
    ///
    ///     curl --compressed -H 'Authorization: HIDDEN' --data-raw '{"a":1}' https://h.example/
    ///
    /// Secrets are hidden unless ``CurlOptions/showsSecrets`` is set: credential fields, user and password in the URL,
    /// and named values in the query. Fields that cannot be sent, which LoadingKit refuses, too, are left out, and
    /// named in a comment at the end. A body stream is not read: the command reads it from the standard input.
    public func curlDescription(_ options: CurlOptions = CurlOptions()) -> String {
        CurlCommand(self, options).text
    }
}

private struct CurlCommand {
    private var groups: [[String]] = []
    private var comments: [String] = []
    private let options: CurlOptions
    private let secrets: SecretHiding

    init(_ request: URLRequest, _ options: CurlOptions) {
        self.options = options
        secrets = SecretHiding(options)
        let body = BodyArgument(request, options, secrets)
        addMethod(request.httpMethod ?? "GET", hasBody: body != nil)
        if options.followsRedirects { groups.append(["--location", "--max-redirs", "20"]) }
        let fields = Self.fields(request, options)
        if options.isCompressed, !fields.contains(where: { $0.name.lowercased() == "accept-encoding" }) {
            groups.append(["--compressed"])
        }
        for (name, value) in fields { add(name, value) }
        addCookies(request, fields)
        if let body { groups.append([body.option, body.value]) }
        addURL(request.url)
    }

    var text: String {
        let separator = options.isMultiline ? " \\\n  " : " "
        let command = (["curl"] + groups.map { $0.map(ShellQuoting.word).joined(separator: " ") })
        let comment = comments.isEmpty ? "" : " # left out: " + comments.joined(separator: ", ")
        return command.joined(separator: separator) + comment
    }

    private mutating func addMethod(_ method: String, hasBody: Bool) {
        switch method {
        case "GET" where !hasBody, "POST" where hasBody: break
        case "HEAD" where !hasBody: groups.append(["--head"])
        case _ where !method.isEmpty && method.utf8.allSatisfy(PartHead.isTokenCharacter):
            groups.append(["-X", method])
        default: comments.append("a method that is not valid")
        }
    }

    /// The request's own fields, followed by the session's.
    private static func fields(_ request: URLRequest, _ options: CurlOptions) -> [(name: String, value: String)] {
        var fields = (request.allHTTPHeaderFields ?? [:]).map { (name: $0.key, value: $0.value) }
        var names = Set(fields.map { $0.name.lowercased() })
        for (name, value) in options.configuration?.httpAdditionalHeaders ?? [:] {
            let name = String(describing: name.base)
            if names.insert(name.lowercased()).inserted { fields.append((name, String(describing: value))) }
        }
        // curl sends the length itself.
        return fields.filter { $0.name.lowercased() != "content-length" }.sorted { $0.name < $1.name }
    }

    private mutating func add(_ name: String, _ value: String) {
        guard !name.isEmpty, name.utf8.allSatisfy(PartHead.isTokenCharacter) else {
            return comments.append("a field whose name is not valid")
        }
        guard !value.utf8.contains(where: { $0 == 0 || $0 == 0x0a || $0 == 0x0d }) else { return comments.append(name) }
        let shown = secrets.field(name, value)
        // curl requires a semicolon for a field without a value: a colon removes the field.
        groups.append(["-H", shown.allSatisfy { $0 == " " || $0 == "\t" } ? "\(name);" : "\(name): \(shown)"])
    }

    private mutating func addCookies(_ request: URLRequest, _ fields: [(name: String, value: String)]) {
        guard let configuration = options.configuration, configuration.httpShouldSetCookies,
            request.httpShouldHandleCookies, let url = request.url,
            !fields.contains(where: { $0.name.lowercased() == "cookie" })
        else { return }
        let cookies = configuration.httpCookieStorage?.cookies(for: url) ?? []
        let text = cookies.map { "\($0.name)=\(options.showsSecrets ? $0.value : options.placeholder)" }
            .joined(separator: "; ")
        guard !text.isEmpty, !text.utf8.contains(where: { $0 < 0x20 }) else { return }
        groups.append(["-b", text])
    }

    private mutating func addURL(_ url: URL?) {
        guard let url else { return comments.append("the URL, which the request does not have") }
        let text = secrets.url(url)
        guard !text.utf8.contains(0) else { return comments.append("the URL, which is not valid") }
        // curl would interpret these characters as patterns.
        if text.contains(where: { "[]{}".contains($0) }) { groups.append(["--globoff"]) }
        let path = url.path(percentEncoded: true)
        if path.contains("/./") || path.contains("/../") || path.hasSuffix("/.") || path.hasSuffix("/..") {
            groups.append(["--path-as-is"])
        }
        let startsAsOption = text.utf8.first.map { !PartHead.isTokenCharacter($0) || $0 == 0x2d } ?? true
        groups.append(startsAsOption ? ["--url", text] : [text])
    }
}

/// The body's argument for curl.
private struct BodyArgument {
    let option: String
    let value: String

    /// Nil where there is no body.
    init?(_ request: URLRequest, _ options: CurlOptions, _ secrets: SecretHiding) {
        guard request.httpBody != nil || request.httpBodyStream != nil else { return nil }
        switch options.body {
        case .none: return nil
        case .standardInput: (option, value) = ("--data-binary", "@-")
        case .file(let path): (option, value) = ("--data-binary", "@" + (path == "-" ? "./-" : path))
        case .automatic:
            if let data = request.httpBody, let text = Self.text(data) {
                let isForm = request.value(forHTTPHeaderField: "Content-Type").map {
                    $0.lowercased().hasPrefix(FormURLEncoded.contentType)
                }
                // `--data` interprets a body that begins with @ as a file name.
                (option, value) = ("--data-raw", isForm == true ? secrets.pairs(text) : text)
            } else {
                (option, value) = ("--data-binary", "@-")
            }
        }
    }

    /// The body in a form that is possible for an argument: Linux limits an argument to 128 KiB.
    private static func text(_ data: Data) -> String? {
        guard data.count <= 64 << 10, !data.contains(0) else { return nil }
        return String(validating: data, as: UTF8.self)
    }
}

/// Quotes words for a POSIX shell's command line.
@_spi(LoadingKitPlugins)
public enum ShellQuoting {
    /// The text as one word, which the shell does not interpret. It must not contain NUL, which no argument can have.
    static func word(_ text: String) -> String {
        !text.isEmpty && text.utf8.allSatisfy(isPlain) ? text : quoted(text)
    }

    /// The text between apostrophes. There only the apostrophe is special, also where it is one character with a
    /// combining mark: the shell reads bytes.
    ///
    /// - Parameter escapes: The replacements of the scalars that are special in the shell.
    public static func quoted(_ text: String, _ escapes: [Unicode.Scalar: String] = ["'": "'\\''"]) -> String {
        "'" + text.unicodeScalars.map { escapes[$0] ?? String($0) }.joined() + "'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "-._/:@%+,=".utf8.contains(byte)
        }
    }
}
