import Foundation

// Trust settings in the form in which they are stored in the journal of background sessions, and sent to another
// process. A value of another version that cannot be decoded here is an error: it may be a rule.

/// An absolute path, which names the same file in a process with another current folder.
private func wholePath(_ path: String) -> String { URL(fileURLWithPath: path).path }

/// The coded form of ``URLSessionConfiguration/TrustRoots``.
enum CodedTrustRoots: Codable {
    case system
    case file(String)
    case pem(String)

    init(_ roots: URLSessionConfiguration.TrustRoots) {
        switch roots {
        case .system: self = .system
        case .file(let path): self = .file(wholePath(path))
        case .pem(let text): self = .pem(text)
        }
    }

    var roots: URLSessionConfiguration.TrustRoots {
        switch self {
        case .system: .system
        case .file(let path): .file(path: path)
        case .pem(let text): .pem(text)
        }
    }
}

/// The coded form of ``TLSRevocationList``.
enum CodedRevocationList: Codable {
    case file(String)
    case pem(String)
    case der(Data)

    init(_ list: TLSRevocationList) {
        switch list {
        case .file(let path): self = .file(wholePath(path))
        case .pem(let text): self = .pem(text)
        case .der(let bytes): self = .der(bytes)
        }
    }

    var list: TLSRevocationList {
        switch self {
        case .file(let path): .file(path: path)
        case .pem(let text): .pem(text)
        case .der(let bytes): .der(bytes)
        }
    }
}

/// The coded form of ``AppTransportSecurity``.
struct CodedTransportSecurity: Codable {
    struct Exception: Codable {
        var includesSubdomains: Bool
        var allowsInsecureHTTPLoads: Bool
        var minimumTLSVersion: UInt16?
        var requiresForwardSecrecy: Bool
        var requiresStrongCertificates: Bool
    }

    struct Pins: Codable {
        var includesSubdomains: Bool
        var authorities: Set<Data>
        var leaves: Set<Data>
    }

    var allowsArbitraryLoads: Bool
    var allowsLocalNetworking: Bool
    var exceptions: [String: Exception]
    /// Nil: none.
    var pins: [String: Pins]?

    init(_ policy: AppTransportSecurity) {
        allowsArbitraryLoads = policy.allowsArbitraryLoads
        allowsLocalNetworking = policy.allowsLocalNetworking
        exceptions = policy.exceptionDomains.mapValues { domain in
            Exception(
                includesSubdomains: domain.includesSubdomains, allowsInsecureHTTPLoads: domain.allowsInsecureHTTPLoads,
                minimumTLSVersion: domain.minimumTLSVersion?.rawValue,
                requiresForwardSecrecy: domain.requiresForwardSecrecy,
                requiresStrongCertificates: domain.requiresStrongCertificates)
        }
        guard !policy.pinnedDomains.isEmpty else { return }
        pins = policy.pinnedDomains.mapValues { domain in
            Pins(
                includesSubdomains: domain.includesSubdomains, authorities: domain.authorities, leaves: domain.leaves)
        }
    }

    var policy: AppTransportSecurity {
        get throws {
            var policy = AppTransportSecurity(
                allowsArbitraryLoads: allowsArbitraryLoads,
                exceptionDomains: try exceptions.mapValues { exception in
                    AppTransportSecurity.ExceptionDomain(
                        includesSubdomains: exception.includesSubdomains,
                        allowsInsecureHTTPLoads: exception.allowsInsecureHTTPLoads,
                        minimumTLSVersion: try exception.minimumTLSVersion.map { number in
                            guard let version = tls_protocol_version_t(rawValue: number) else {
                                throw SettingProblem("the TLS version \(number) is not known")
                            }
                            return version
                        },
                        requiresForwardSecrecy: exception.requiresForwardSecrecy,
                        requiresStrongCertificates: exception.requiresStrongCertificates)
                })
            policy.allowsLocalNetworking = allowsLocalNetworking
            policy.pinnedDomains = (pins ?? [:]).mapValues { pins in
                AppTransportSecurity.PinnedDomain(
                    includesSubdomains: pins.includesSubdomains, authorities: pins.authorities, leaves: pins.leaves)
            }
            return policy
        }
    }
}
