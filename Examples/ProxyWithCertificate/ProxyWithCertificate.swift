import Foundation
import LoadingKit

/// Loads through a proxy that is reached over TLS, and that admits clients by their certificates.
///
///     swift run ProxyWithCertificateExample https://swift.org/ https://proxy.example:8443 client.pem
///
/// `client.pem` has the client's certificate and its private key.
@main
enum ProxyWithCertificate {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let url = URL(string: arguments[1]) else {
            print("usage: ProxyWithCertificateExample URL PROXY FILE")
            exit(2)
        }
        do {
            let pem = try String(contentsOf: URL(fileURLWithPath: arguments[3]), encoding: .utf8)
            let identity = try ClientIdentity(pemRepresentation: pem)
            let configuration = URLSessionConfiguration.ephemeral
            // A complete URL says that the proxy itself is reached over TLS.
            configuration.connectionProxyDictionary = [
                kCFNetworkProxiesHTTPEnable: true, kCFNetworkProxiesHTTPProxy: arguments[2],
                kCFNetworkProxiesHTTPSEnable: true, kCFNetworkProxiesHTTPSProxy: arguments[2],
            ]
            let client = ProxyClient(identity: identity)
            let session = URLSession(configuration: configuration, delegate: client, delegateQueue: nil)
            let (data, response) = try await session.data(from: url)
            print("\((response as? HTTPURLResponse)?.statusCode ?? 0), \(data.count) bytes")
        } catch let error as URLError
            where [.clientCertificateRequired, .clientCertificateRejected].contains(error.code)
        {
            print("refused: the proxy does not accept the certificate")
            exit(1)
        } catch {
            print("failed: \(error.localizedDescription)")
            exit(1)
        }
    }
}

/// Gives the certificate to the proxy alone. A server behind the proxy that asks for one gets none.
final class ProxyClient: NSObject, URLSessionDelegate {
    private let identity: ClientIdentity

    init(identity: ClientIdentity) { self.identity = identity }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let space = challenge.protectionSpace
        guard space.authenticationMethod == NSURLAuthenticationMethodClientCertificate, space.isProxy() else {
            return (.performDefaultHandling, nil)
        }
        return (.useCredential, URLCredential(identity: identity, certificates: nil, persistence: .forSession))
    }
}
