import Foundation
import LoadingKitTransport

extension TransferChallenge {
    /// The challenge for the program's delegate. The session's settings decide about a server's certificates.
    func challenge(_ settings: SessionSettings) -> URLAuthenticationChallenge {
        URLAuthenticationChallenge(
            protectionSpace: space(settings),
            proposedCredential: proposedUser.map { URLCredential(user: $0, password: "", persistence: .none) },
            previousFailureCount: previousFailureCount, failureResponse: failureResponse?.response, error: nil)
    }

    private var proxyType: String? { isProxy ? scheme : nil }

    private func space(_ settings: SessionSettings) -> URLProtectionSpace {
        if let certificates {
            let chain = certificates.compactMap { try? X509Certificate(derRepresentation: $0) }
            var trust = ServerTrust(certificates: chain, host: host, settings)
            trust.ocspResponse = ocspResponse
            return URLProtectionSpace(tlsHost: host, port: port, proxyType: proxyType, serverTrust: trust)
        }
        if method == NSURLAuthenticationMethodClientCertificate {
            return URLProtectionSpace(
                tlsHost: host, port: port, proxyType: proxyType, distinguishedNames: distinguishedNames)
        }
        guard isProxy else {
            return URLProtectionSpace(
                host: host, port: port, protocol: scheme, realm: realm, authenticationMethod: method)
        }
        return URLProtectionSpace(
            proxyHost: host, port: port, type: scheme, realm: realm, authenticationMethod: method)
    }
}

extension ChallengeReply {
    package init(
        _ disposition: URLSessionAuthChallengeDisposition, user: String? = nil, password: String? = nil,
        persistence: URLCredential.Persistence? = nil, trustsServer: Bool = false, identity: String? = nil,
        isFromDelegate: Bool? = nil
    ) {
        (self.disposition, self.persistence) = (disposition.rawValue, persistence?.rawValue)
        (self.user, self.password, self.trustsServer, self.identity) = (user, password, trustsServer, identity)
        self.isFromDelegate = isFromDelegate
    }

    init(
        _ disposition: URLSessionAuthChallengeDisposition, _ credential: URLCredential?,
        to challenge: URLAuthenticationChallenge, isFromDelegate: Bool
    ) {
        let trust = challenge.protectionSpace.serverTrust
        self.init(
            disposition, user: credential?.user, password: credential?.password, persistence: credential?.persistence,
            // A credential accepts the server with these certificates only.
            trustsServer: trust.map { credential?.trust?.certificates == $0.certificates } ?? false,
            identity: credential?.identity?.pemRepresentation(with: credential), isFromDelegate: isFromDelegate)
        guard let paths = credential?.identity?.files?.paths, credential?.chosenCertificates == nil else { return }
        (identityFiles, password) = ([paths.certificates, paths.key], paths.password)
    }
}

extension ServerTrust {
    /// The largest file of authorities that is read, in bytes.
    private static let largestFile = 64 << 20

    /// The trust in certificates that another process has received, by a session's settings.
    fileprivate init(certificates: [X509Certificate], host: String, _ settings: SessionSettings) {
        self.init(certificates: certificates, host: host)
        requiresStrongCertificates = settings.appTransportSecurity.requiresStrongCertificate(of: host)
        revocationLists = settings.revocationLists
        let text: String? =
            switch settings.trustRoots {
            case .system: nil
            case .file(let path):
                (try? RegularFile.read(path, upTo: Self.largestFile)).map { String(decoding: $0, as: UTF8.self) } ?? ""
            case .pem(let text): text
            }
        guard let text else { return }
        anchorCertificates = (try? X509Certificate.certificates(pemRepresentation: text)) ?? []
    }
}

extension ClientIdentity {
    /// The identity in PEM, for another process of the user: its certificate, the credential's intermediates, and its key.
    fileprivate func pemRepresentation(with credential: URLCredential?) -> String? {
        let whole = credential.flatMap { with(intermediates: $0.certificates) } ?? self
        return whole.identity.pemRepresentation
    }
}
