import Foundation
import LoadingKit

/// Loads from a server only where one of its certificates has a public key that the program knows.
///
///     swift run CertificatePinningExample https://swift.org/ BASE64
///
/// `BASE64` is the SHA-256 of a public key, as this prints it:
///
///     openssl x509 -in certificate.pem -pubkey -noout | openssl pkey -pubin -outform der \
///         | openssl dgst -sha256 -binary | base64
@main
enum CertificatePinning {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count > 2, let url = URL(string: arguments[1]) else {
            print("usage: CertificatePinningExample URL BASE64 ...")
            exit(2)
        }
        let pins = Set(arguments.dropFirst(2).compactMap { Data(base64Encoded: $0) })
        let session = URLSession(configuration: .ephemeral, delegate: Pinning(pins: pins), delegateQueue: nil)
        do {
            let (data, _) = try await session.data(from: url)
            print("pinned: \(data.count) bytes")
        } catch let error as URLError where error.code == .cancelled {
            print("refused: no key of the server's certificates is pinned")
            exit(1)
        } catch {
            print("failed: \(error.localizedDescription)")
            exit(1)
        }
    }
}

/// A pin is required in addition to the usual verification, and replaces no part of it.
final class Pinning: NSObject, URLSessionDelegate {
    private let pins: Set<Data>

    init(pins: Set<Data>) { self.pins = pins }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        guard let trust = challenge.protectionSpace.serverTrust else { return (.performDefaultHandling, nil) }
        // The verified chain. Certificates that the server sends and that do not belong to it prove nothing.
        guard let chain = try? trust.evaluate() else { return (.performDefaultHandling, nil) }
        let isPinned = chain.contains { pins.contains($0.publicKeySHA256) }
        return (isPinned ? .performDefaultHandling : .cancelAuthenticationChallenge, nil)
    }
}
