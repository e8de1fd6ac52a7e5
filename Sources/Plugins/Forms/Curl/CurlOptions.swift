import Foundation
import LoadingKit

/// What a request's command line for curl has.
public struct CurlOptions: Sendable {
    /// How the command gets the body.
    public enum Body: Sendable, Hashable {
        /// As an argument, where it is text without NUL of at most 64 KiB; else from the standard input.
        case automatic
        /// From the standard input: `--data-binary @-`.
        case standardInput
        /// From a file: `--data-binary @path`.
        case file(String)
        /// Not at all.
        case none
    }

    /// Default: as an argument where that is possible.
    public var body = Body.automatic
    /// Whether secrets are shown. Default false: each is replaced by ``placeholder``.
    public var showsSecrets = false
    /// What stands for a secret. Default `HIDDEN`.
    public var placeholder = "HIDDEN"
    /// Fields whose values are secrets, whatever their case. Default ``SecretNames/headerFields``.
    public var secretFields = SecretNames.headerFields
    /// Names in queries, and in bodies of `application/x-www-form-urlencoded`, whose values are secrets, whatever their
    /// case. Other bodies are shown as they are. Default ``SecretNames/queryItems``.
    public var secretNames = SecretNames.queryItems
    /// Whether curl asks for compressed responses, as LoadingKit does, and decodes them (`--compressed`). Default true.
    /// Not where the request has an `Accept-Encoding` of its own.
    public var isCompressed = true
    /// Whether curl follows redirects, as LoadingKit does, up to 20 (`--location`). Default false: one command, one request.
    public var followsRedirects = false
    /// Whether each argument has a line of its own. Default false.
    public var isMultiline = false
    /// The configuration of the session that the request is for: its additional fields, and its cookies for the URL, are
    /// part of the command. Default nil: those of the request alone.
    public var configuration: URLSessionConfiguration?

    /// The default options.
    public init() {}
}
