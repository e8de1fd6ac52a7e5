#if CommandLineTool
    import Foundation
    import LoadingKit
    @_spi(LoadingKitPlugins) import LoadingKitCore

    /// A user's name and password.
    struct Login: Sendable, Hashable {
        var user: String
        var password: String

        /// The value of a Basic credential (RFC 7617).
        var basic: String { "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())" }

        /// - Parameter persistence: none for a user in the URL, who makes no other load.
        func credential(_ persistence: URLCredential.Persistence) -> URLCredential {
            URLCredential(user: user, password: password, persistence: persistence)
        }
    }

    /// The credentials of a run, and the authentication schemes that may get them.
    struct LoginPlan: Sendable {
        /// The one of `-u`; nil where there is none.
        private let login: Login?
        private let netrc: NetrcFile?
        private let schemes: Set<LoginScheme>

        /// - Parameter askPassword: returns the password of a user, whom the terminal asks.
        init(
            _ options: LoginOptions, readFile: (String) throws -> Data, askPassword: (String) throws -> String
        ) throws {
            schemes = Set(options.scheme)
            #if !Negotiate
                if schemes == [.negotiate] {
                    throw ToolFailure(
                        .notBuiltIn, "--negotiate: this build has no Kerberos (the package trait Negotiate)")
                }
            #endif
            login = try options.user.map { user in
                guard let (name, _, password) = user.cut(at: ":") else {
                    return Login(user: user, password: try askPassword(user))
                }
                return Login(user: name, password: password)
            }
            netrc = try NetrcFile(options, readFile: readFile)
        }

        /// `--basic` alone: the server gets the password at once.
        var isBasicAtOnce: Bool { schemes == [.basic] }

        /// The credential for a URL's server; nil where there is none.
        func login(for url: URL) -> Login? {
            if let login { return login }
            if let user = url.user(percentEncoded: false) {
                return Login(
                    user: user, password: url.password(percentEncoded: false) ?? netrc?.login(for: url)?.password ?? "")
            }
            return netrc?.login(for: url)
        }

        /// Whether the user's ticket may be sent to the servers of the given URLs.
        var usesTicket: Bool { schemes.contains(.negotiate) || schemes.contains(.anyauth) }

        /// Whether the password may be sent by a scheme, by its ``URLProtectionSpace/authenticationMethod``.
        func permits(_ method: String) -> Bool {
            let scheme: LoginScheme? =
                switch method {
                case NSURLAuthenticationMethodHTTPBasic: .basic
                case NSURLAuthenticationMethodHTTPDigest: .digest
                case NSURLAuthenticationMethodNTLM: .ntlm
                case NSURLAuthenticationMethodNegotiate: .negotiate
                case _: nil
                }
            return schemes.isEmpty || schemes.contains(.anyauth) || scheme.map(schemes.contains) ?? true
        }
    }

    /// A file of names and passwords by hosts (`~/.netrc`).
    struct NetrcFile: Sendable {
        private struct Entry {
            /// Nil for every host.
            var host: String?
            var user: String?
            var password: String?
        }

        private var entries: [Entry] = []

        /// Nil where no option names a file.
        init?(_ options: LoginOptions, readFile: (String) throws -> Data) throws {
            guard options.netrc || options.netrcOptional || options.netrcFile != nil else { return nil }
            let path = options.netrcFile ?? "\(HomeFolder.path())/.netrc"
            guard let content = try? readFile(path) else {
                if options.netrcOptional { return }
                throw ToolFailure(.readError, "the passwords of \(path) cannot be read")
            }
            try parse(String(decoding: content, as: UTF8.self), of: path)
        }

        private mutating func parse(_ text: String, of path: String) throws {
            // The keyword whose value is the next word; empty where a keyword is next.
            var keyword = ""
            // A macro ends with an empty line.
            var isInMacro = false
            for line in text.lines {
                var rest = Array(line.utf8)[...].drop { $0 <= 0x20 }
                if rest.isEmpty { isInMacro = false }
                if rest.first == UInt8(ascii: "#") { continue }
                while !isInMacro, !rest.isEmpty {
                    guard let word = Self.takeWord(from: &rest) else {
                        throw ToolFailure(.readError, "\(path): a quotation mark is not closed")
                    }
                    rest = rest.drop { $0 <= 0x20 }
                    switch keyword {
                    case "machine": entries.append(Entry(host: URLHost.canonical(word)))
                    case "login": entries[entries.count - 1].user = word
                    case "password": entries[entries.count - 1].password = word
                    case _:
                        switch word {
                        case "machine": keyword = word
                        case "login", "password": keyword = entries.isEmpty ? "" : word
                        case "default": entries.append(Entry())
                        case "macdef": isInMacro = true
                        case _: break
                        }
                        continue
                    }
                    keyword = ""
                }
            }
        }

        /// Takes a line's next word, by curl's rules: up to white space, or between quotation marks, with escapes. Nil
        /// where the second mark lacks.
        private static func takeWord(from rest: inout ArraySlice<UInt8>) -> String? {
            guard rest.first == UInt8(ascii: "\"") else {
                let word = rest.prefix { $0 > 0x20 }
                rest = rest.dropFirst(word.count)
                return String(decoding: word, as: UTF8.self)
            }
            rest.removeFirst()
            var word: [UInt8] = []
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "\""): return String(decoding: word, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard let escaped = rest.popFirst() else { return nil }
                    word.append(escapes[escaped] ?? escaped)
                case _: word.append(byte)
                }
            }
            return nil
        }

        private static let escapes: [UInt8: UInt8] = [
            UInt8(ascii: "n"): 0x0a, UInt8(ascii: "r"): 0x0d, UInt8(ascii: "t"): 0x09,
        ]

        func login(for url: URL) -> Login? {
            let host = url.canonicalHost
            let user = url.user(percentEncoded: false)
            let entry = entries.first { ($0.host == nil || $0.host == host) && (user == nil || $0.user == user) }
            return entry.flatMap { entry in entry.user.map { Login(user: $0, password: entry.password ?? "") } }
        }
    }
#endif
