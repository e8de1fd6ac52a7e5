import Foundation
import LoadingKitTransport

/// One or more lists of revoked certificates (CRLs, RFC 5280 §5): see
/// ``URLSessionConfiguration/tlsRevocationLists`` and ``ServerTrust/revocationLists``.
public enum TLSRevocationList: Sendable, Hashable {
    /// A file with lists in PEM, or one in DER.
    case file(path: String)
    /// Lists in PEM.
    case pem(String)
    /// A list in DER.
    case der(Data)

    var source: RevocationListSource {
        switch self {
        case .file(let path): .file(path: path)
        case .pem(let text): .bytes(Array(text.utf8))
        case .der(let bytes): .bytes(Array(bytes))
        }
    }
}
