import Foundation

@testable import LoadingKitCore
@testable import LoadingKitHTTP
@testable import LoadingKitTransport

/// Certificates, keys, their status, and messages of authentication.
enum SecurityTargets {
    static let all = [
        FuzzTarget("certificates", certificates), FuzzTarget("keys", keys), FuzzTarget("revocation", revocation),
        FuzzTarget("ntlm", ntlm),
    ]

    @Sendable private static func certificates(_ input: inout FuzzInput) throws {
        let bytes = input.rest()
        let text = String(decoding: bytes, as: UTF8.self)
        var all: [X509Certificate] = []
        do throws(X509CertificateError) { all.append(try X509Certificate(derRepresentation: Data(bytes))) } catch {}
        do throws(X509CertificateError) { all += try X509Certificate.certificates(pemRepresentation: text) } catch {}
        for certificate in all {
            _ = (certificate.description, certificate.notBefore, certificate.notAfter, certificate.serialNumber)
            _ = (certificate.dnsNames, certificate.ipAddresses, certificate.publicKeySHA256)
            _ = certificate.certificate.endPointHash
        }
        guard !all.isEmpty else { return }
        _ = evaluation(of: all.map(\.certificate), lists: [], response: nil).failure
    }

    @Sendable private static func keys(_ input: inout FuzzInput) throws {
        guard let leaf = Known.leaf else { return }
        let bytes = input.rest()
        let text = String(decoding: bytes, as: UTF8.self)
        let password: String? = bytes.count.isMultiple(of: 2) ? nil : "p"
        do throws(ClientIdentityError) { _ = try ClientIdentity(pemRepresentation: text, password: password) } catch {}
        do throws(ClientIdentityError) {
            _ = try ClientIdentity(certificates: [leaf], privateKeyDER: Data(bytes), password: password)
        } catch {}
        do throws(ClientIdentityError) {
            _ = try ClientIdentity(pkcs12Representation: Data(bytes), password: "p")
        } catch {}
    }

    /// A list of revoked certificates, or a stapled OCSP response, about a certificate that is valid without them.
    @Sendable private static func revocation(_ input: inout FuzzInput) throws {
        guard let leaf = Known.leaf, let authority = Known.authority else { return }
        let isList = input.flag()
        let bytes = input.rest()
        let evaluation = evaluation(
            of: [leaf.certificate, authority.certificate], lists: isList ? [.bytes(bytes)] : [],
            response: isList ? nil : bytes)
        if let chain = try? evaluation.evaluate() {
            try requireEqual(chain.count, 2, "certificates of the chain, and of both")
        }
    }

    private static func evaluation(
        of chain: [Certificate], lists: [RevocationListSource], response: [UInt8]?
    ) -> TrustEvaluation {
        var evaluation = TrustEvaluation(chain: chain, serverName: "a.test")
        evaluation.anchors = [Known.authority?.certificate].compactMap { $0 }
        evaluation.trustsSystem = false
        evaluation.requiresStrength = false
        evaluation.time = Known.time
        evaluation.lists = lists
        evaluation.status = StapledStatus(response: response, isDue: response != nil)
        return evaluation
    }

    @Sendable private static func ntlm(_ input: inout FuzzInput) throws {
        #if NTLM
            let usesNames = input.flag()
            guard let challenge = NTLMChallenge(input.rest()) else { return }
            let identity = NTLMIdentity(usesNames ? "d\\u\u{df}" : "u", "p")
            let response = NTLMResponse(
                identity, challenge, clientChallenge: [1, 2, 3, 4, 5, 6, 7, 8], now: 9,
                target: usesNames ? "HTTP/a" : nil,
                binding: NTLMChannelBinding(endPointHash: [1]))
            guard let message = response?.message(after: NTLMMessage.negotiate) else { return }
            for offset in [12, 20, 28, 36] {
                try require(NTLMMessage.field(message, at: offset) != nil, "a field of the answer is outside of it")
            }
        #endif
    }

    /// Certificates of a test authority, and a time at which they are valid.
    private enum Known {
        static let time: Int64 = 1_900_000_000
        static let leaf = certificate(leafText)
        static let authority = certificate(authorityText)

        private static func certificate(_ text: String) -> X509Certificate? {
            Data(base64Encoded: text).flatMap { try? X509Certificate(derRepresentation: $0) }
        }

        private static let leafText = """
            MIIBmzCCAUGgAwIBAgIUcB2Y6mIHisYiSIDPuqwyLpeGYeQwCgYIKoZIzj0EAwIwDzENMAsGA1UEAwwEUm9vdDAgFw0yNjExMjgw
            NjQ4NDRaGA8yMTI2MTEwNDA2NDg0NFowDzENMAsGA1UEAwwEbGVhZjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDVdGb81RD2G
            xMCs6BBZlxnFaA3hp/Iy+rJ2HU0lc7SyvtLE8snQG8HBnJ27yYDWH1Z0TKDbnajkz1y63Y8RbkmjeTB3MBcGA1UdEQQQMA6CBmEu
            dGVzdIcEfwAAATAJBgNVHRMEAjAAMBEGCCsGAQUFBwEYBAUwAwIBBTAdBgNVHQ4EFgQUPf77WGpCpa5GKSMGRm7H38XrwS0wHwYD
            VR0jBBgwFoAUxh+7xNTXLuo7AU2pYdHLOqYztk8wCgYIKoZIzj0EAwIDSAAwRQIgEyuiJ3bB4Fe2VeUsEkIZcZCPy+Zltp1IX9sL
            N7ffVV8CIQCcYD9v21k8yGtyXRntNfwBdS4Cw/QJhF3fTyKuhJbvhA==
            """.filter { !$0.isWhitespace }
        private static let authorityText = """
            MIIBdTCCARugAwIBAgIUQ73qJw4UpqczB4WuPAPxju0MirwwCgYIKoZIzj0EAwIwDzENMAsGA1UEAwwEUm9vdDAgFw0yNjExMjgw
            NjQ4NDRaGA8yMTI2MTEwNDA2NDg0NFowDzENMAsGA1UEAwwEUm9vdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABFMH+lr0XWPx
            sBp8FrMUTkgv8IdQ57Ty9z/xnKHrA0cdJohPlId1DKzXVVicsgJyWt0aOGPiy0FtnmjOLxGnbNKjUzBRMB0GA1UdDgQWBBTGH7vE
            1Ncu6jsBTalh0cs6pjO2TzAfBgNVHSMEGDAWgBTGH7vE1Ncu6jsBTalh0cs6pjO2TzAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49
            BAMCA0gAMEUCIQDfIH9UjNeKom5vKkEXT5lAatm6kpY10zH+JcrLIlW1uAIgVUjjIIbNKHFk+IF1vdEppaQCpjg8lXaFdcg2xJXZ
            bdc=
            """.filter { !$0.isWhitespace }
    }
}
