import CLoadingKitOpenSSL

/// The versions of TLS that loopback servers can be told to speak. The old two exist to be refused.
package enum TLSVersion: Sendable, CaseIterable {
    case v1_0, v1_1, v1_2, v1_3

    var number: Int {
        switch self {
        case .v1_0: Int(TLS1_VERSION)
        case .v1_1: Int(TLS1_1_VERSION)
        case .v1_2: Int(TLS1_2_VERSION)
        case .v1_3: Int(TLS1_3_VERSION)
        }
    }

    /// OpenSSL's default security level refuses what these versions sign their handshake with.
    var needsLowSecurityLevel: Bool {
        switch self {
        case .v1_0, .v1_1: true
        case .v1_2, .v1_3: false
        }
    }
}
