/// Who logs in by NTLM: a user of a domain, and the key that follows from the password.
struct NTLMIdentity: Sendable {
    let user: String
    let domain: String
    private let password: String

    /// - Parameter name: `domain\user`, `user@domain`, which the server takes apart itself, or a name alone.
    init(_ name: String, _ password: String) {
        if let separator = name.firstIndex(of: "\\") {
            domain = String(name[..<separator])
            user = String(name[name.index(after: separator)...])
        } else {
            domain = ""
            user = name
        }
        self.password = password
    }

    /// NTOWFv2 (MS-NLMP §3.3.2).
    var key: [UInt8]? {
        MessageDigest.md5.authenticate(
            NTLMMessage.utf16(user.uppercased() + domain), key: MD4.hash(NTLMMessage.utf16(password)))
    }
}
