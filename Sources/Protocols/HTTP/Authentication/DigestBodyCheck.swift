import LoadingKitCore

/// Checks, when all of a response's body has come, that `rspauth` proves with it that the server knows the password
/// (`qop=auth-int`, RFC 7616 §3.5). The claim may stand in the trailers.
final class DigestBodyCheck {
    private let digest: RunningDigest
    private var claimed: String?
    private let proof: (_ bodyHash: String) -> String?

    /// - Parameter proof: what is to be claimed of a body with this hash.
    init(_ digest: RunningDigest, claimed: String?, proof: @escaping (_ bodyHash: String) -> String?) {
        self.digest = digest
        self.claimed = claimed
        self.proof = proof
    }

    func update(_ bytes: UnsafeRawBufferPointer) { digest.update(bytes) }

    /// What the trailers' `Authentication-Info` says.
    func note(_ parameters: [String: String]) { claimed = parameters["rspauth"] ?? claimed }

    func finish() throws(LoadFailure) {
        guard let claimed else { return }
        guard let hash = digest.finish()?.hexadecimal, proof(hash) == claimed.lowercased() else { throw .unproven }
    }
}

extension LoadFailure {
    /// The server was to prove itself, and has not.
    static let unproven = LoadFailure(
        .badServerResponse,
        "the server's Authentication-Info does not prove that it knows the password: it may be another's")
}
