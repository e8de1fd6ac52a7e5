import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import LoadingKitTransport
@testable import loadkit

/// Errors of the library in the words of the tool.
@Suite struct ToolWordsTests {
    /// The library's text of an error, and a part of the tool's.
    static let texts: [(String, String)] = [
        (
            "cleartext http to a is not allowed by App Transport Security: use https, or allow it with "
                + "configuration.appTransportSecurity (exceptionDomains or allowsArbitraryLoads)",
            "cleartext http to a is not allowed by App Transport Security: use https"
        ),
        (
            "use ftps, or the field FTP-TLS: required, or allow it with configuration.appTransportSecurity "
                + "(exceptionDomains or allowsArbitraryLoads)",
            "use ftps, or -H 'FTP-TLS: required'"
        ),
        (
            "no byte was sent or received for 300.0 seconds (timeoutIntervalForRequest)",
            "no byte was sent or received for 300.0 seconds"
        ),
        (
            "the load took more than 2.0 seconds (timeoutIntervalForResource)",
            "the load took more than 2.0 seconds (--max-time)"
        ),
        (
            "it has to ask in the handshake; with configuration.allowsHTTP2 = false it may ask at any time",
            "it has to ask in the handshake; with --http1.1 it may ask at any time"
        ),
        (
            "the server wants the user's password, and the URL, the credential storage and the task's delegate have none",
            "the server wants the user's password, and neither the URL nor -u, --netrc-file or -n gives it"
        ),
        (
            "it wants another user name and password: from its settings, the credential storage, or the task's delegate",
            "it wants another user name and password: with -U"
        ),
        (
            "the server asks for credentials, and the delegate gave no new body stream to send with them",
            "the server asks for credentials, and what -T reads was already sent"
        ),
        (
            "the redirect needs the request's body again, and the delegate gave no new body stream",
            "the redirect needs the request's body again, and what -T reads was already sent"
        ),
        (
            "x expands, more than configuration.maximumDecompressionRatio allows: raise that where the server is trusted",
            "x expands, more than is allowed: -H 'Accept-Encoding: identity' asks for the body without a coding"
        ),
        (
            "more than configuration.maximumDecompressionRatio allows: raise that where the archive is trusted",
            "more than is allowed"
        ),
    ]

    @Test(arguments: texts) func text(_ library: String, _ tool: String) {
        #expect(ToolWords.text(library) == tool)
    }

    /// Each problem of a certificate, and the advice of the tool.
    static let certificates: [(CertificateFailure.Reason, String)] = [
        (.expired, "it must be renewed on the server"), (.notYetValid, "check this machine's clock"),
        (.selfSigned, "give it with --cacert (-k trusts every server)"),
        (.unknownAuthority, "give it with --cacert (-k trusts every server)"),
        (.hostMismatch, "use a name that the certificate has"), (.revoked, "the server needs a new certificate"),
        (.unknownStatus, "must staple its authority's OCSP response if its certificate requires one"),
        (.pinMismatch, "give the new ones with --pinnedpubkey"), (.weak, "-k where OpenSSL's security level"),
        (.refused, "the certificate was refused"), (.other, "the server needs another certificate"),
    ]

    @Test(arguments: certificates) func certificate(_ reason: CertificateFailure.Reason, _ advice: String) {
        let failure = CertificateFailure(code: 1, subject: "CN=a", depth: 0, text: "why", reason: reason)
        let text = ToolWords.text(failure.description)
        #expect(text.contains(advice), "\(text)")
        #expect(!Self.namesMembers(text), "\(text)")
    }

    /// Other failures of connections, whose texts have no advice for programs, or one that the tool has, too.
    static let causes: [(TransportError.Cause, String)] = [
        (.nameNotFound("no such host"), "the name was not found (no such host)"),
        (.resolverFailed("x"), "the name could not be looked up"), (.noAddresses, "no address"),
        (.refused, "connection refused"), (.timedOut, "timed out"), (.plainTextPeer, "plain text, not TLS"),
        (.alert(TLSAlert(code: 116), .notSent), "give one with --cert"),
        (.alert(TLSAlert(code: 42), .sent), "does not accept the client certificate"),
        (.alert(TLSAlert(code: 40), .notAsked), "without forward secrecy are not offered here"),
    ]

    @Test(arguments: causes) func cause(_ cause: TransportError.Cause, _ part: String) {
        let text = ToolWords.text(cause.description)
        #expect(text.contains(part) && !Self.namesMembers(text), "\(text)")
    }

    /// Runs that fail, and a part of the reported line, which names no member of the interface.
    @Test func runs() async throws {
        let authority = try CertificateAuthority()
        let secure = try LoopbackServer(tls: try authority.issue()) { _ in .text("hello\n") }
        let plain = try LoopbackServer { request in
            request.path == "/never"
                ? .stream { body in try body.waitUntilClientCloses() }
                : .text("wants a password\n", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        }
        defer {
            secure.stop()
            plain.stop()
        }
        let folder = try TemporaryFolder()
        try folder.write(authority.certificatePEM, to: "ca.pem")
        let cases: [([String], Int32, String)] = [
            ([secure.url("/", host: "localhost")], 60, "give it with --cacert (-k trusts every server)"),
            (
                ["--cacert", "ca.pem", "--resolve", "a.example:*:127.0.0.1", secure.url("/", host: "a.example")], 60,
                "use a name that the certificate has"
            ),
            (["-m", "0.2", plain.url("/never")], 28, "(--max-time)"),
            (["--connect-to", "::127.0.0.1:1", plain.url("/")], 7, "connection refused"),
            ([plain.url("/").replacing("http:", with: "https:")], 35, "plain text, not TLS"),
            (["foo:bar"], 1, "no handler is registered that loads foo: URLs"),
            (["-u", "a:b", "-T", "-", plain.url("/")], 65, "what -T reads was already sent"),
        ]
        for (arguments, status, part) in cases {
            let run = try await ToolRun(arguments, input: "typed", folder: folder)
            #expect(run.status == status && run.errors.contains(part), "\(arguments): \(run.errors)")
            #expect(!Self.namesMembers(run.errors), "\(run.errors)")
        }
    }

    /// A member of the library's interface, such as `configuration.tlsTrustRoots` or `needNewBodyStream`.
    static func namesMembers(_ text: String) -> Bool {
        text.contains(/configuration\.|delegate|URLSession|NSURL|Info\.plist|\([a-z]+[A-Z][A-Za-z]+( = |\)|\()/)
    }
}
