import CLoadingKitGSS
import Foundation

/// The client's end of a security context: it makes a token in response to each of the server's (RFC 2743 §2.2.1).
final class SecurityContext: @unchecked Sendable {  // its scheme takes one step at a time
    /// RFC 2744 §3.9.1. Swift does not import the header's macro.
    private static let continueNeeded: UInt32 = 1

    private let target: GSSName
    private let credential: GSSCredential?
    private let flags: UInt32
    private let channelBinding: Data?
    private var handle: gss_ctx_id_t?
    private var actualFlags: UInt32 = 0
    /// Whether both sides have finished.
    private(set) var isComplete = false
    /// Whether the last token was the first of several, independent of the server's opinion.
    private(set) var needsFurtherSteps = false

    /// - Parameters:
    ///   - credential: nil for the user who runs the program.
    ///   - delegates: whether the server may act as the user.
    ///   - channelBinding: the hash of the server's certificate.
    init(_ target: GSSName, _ credential: GSSCredential?, delegates: Bool, channelBinding: Data?) {
        self.target = target
        self.credential = credential
        self.channelBinding = channelBinding
        flags = UInt32(GSS_C_MUTUAL_FLAG) | (delegates ? UInt32(GSS_C_DELEG_FLAG) : 0)
    }

    deinit {
        var minor: UInt32 = 0
        if handle != nil { _ = try? GSSLibrary.use { gss_delete_sec_context(&minor, &handle, nil) } }
    }

    /// Whether the server has authenticated itself.
    var isMutual: Bool { isComplete && actualFlags & UInt32(GSS_C_MUTUAL_FLAG) != 0 }

    /// The token to send; empty where there is none to send.
    ///
    /// - Parameter token: the server's token; nil in the first step.
    func step(_ token: [UInt8]?) throws(GSSError) -> [UInt8] {
        guard !isComplete else { throw GSSError("the server continues after the end") }
        return try GSSLibrary.use { () throws(GSSError) in try makeStep(token) }
    }

    private func makeStep(_ token: [UInt8]?) throws(GSSError) -> [UInt8] {
        var (minor, output): (UInt32, gss_buffer_desc) = (0, gss_buffer_desc())
        let major = (token ?? []).withGSSBuffer { input in
            withBindings { bindings in
                gss_init_sec_context(
                    &minor, credential?.handle, &handle, target.handle, loadingkit_gss_spnego(), flags, 0, bindings,
                    token == nil ? nil : input, nil, &output, &actualFlags, nil)
            }
        }
        let bytes = output.takeBytes()
        try GSSError.check(major, minor)
        isComplete = major & Self.continueNeeded == 0
        needsFurtherSteps = !isComplete && Self.isFirstOfNTLM(bytes)
        return bytes
    }

    private func withBindings(_ body: (gss_channel_bindings_t?) -> UInt32) -> UInt32 {
        guard let channelBinding else { return body(nil) }
        return (Array("tls-server-end-point:".utf8) + channelBinding).withGSSBuffer { data in
            // Without addresses: the types and lengths of both are zero.
            var bindings = gss_channel_bindings_struct()
            bindings.application_data = data.pointee
            return body(&bindings)
        }
    }

    /// Whether a token contains NTLM's first message (MS-NLMP §2.2.1.1).
    private static func isFirstOfNTLM(_ token: [UInt8]) -> Bool {
        Data(token).range(of: Data("NTLMSSP\0\u{1}".utf8)) != nil
    }
}
