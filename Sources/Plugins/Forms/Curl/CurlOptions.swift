import Foundation
import LoadingKit

/// The options for a request's curl command line.
public struct CurlOptions: Sendable {
    /// The source of the body in the command.
    public enum Body: Sendable, Hashable {
        /// An argument, where the body is text without NUL of at most 64 KiB; otherwise the standard input.
        case automatic
        /// The standard input: `--data-binary @-`.
        case standardInput
        /// A file: `--data-binary @path`.
        case file(String)
        /// No body.
        case none
    }

    /// Default: an argument where that is possible.
    public var body = Body.automatic
    /// Whether secrets are visible. Default false: each is replaced by ``placeholder``.
    public var showsSecrets = false
    /// The replacement of a secret. Default `HIDDEN`.
    public var placeholder = "HIDDEN"
    /// Fields whose values are secrets, regardless of case. Default ``SecretNames/headerFields``.
    public var secretFields = SecretNames.headerFields
    /// Names in queries, and in bodies of `application/x-www-form-urlencoded`, whose values are secrets, regardless of
    /// case, `-` and `_`. Of a name such as `user[password]` each part is compared, too. Other bodies are unchanged.
    /// Default ``SecretNames/queryItems``.
    public var secretNames = SecretNames.queryItems
    /// Whether curl requests compressed responses, as LoadingKit does, and decodes them (`--compressed`). Default true.
    /// Ignored where the request has its own `Accept-Encoding`.
    public var isCompressed = true
    /// Whether curl follows redirects, as LoadingKit does, up to 20 (`--location`). Default false.
    public var followsRedirects = false
    /// Whether each argument is on a separate line. Default false.
    public var isMultiline = false
    /// The configuration of the request's session: the command includes its additional fields, and its cookies for the
    /// URL. Default nil: only the request's own fields.
    public var configuration: URLSessionConfiguration?

    /// Makes the default options.
    public init() {}
}
