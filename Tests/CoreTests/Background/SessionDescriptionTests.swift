import Foundation
import Testing

@testable import LoadingKitCore

/// What a background session's settings are in the process that performs its transfers.
@Suite struct SessionDescriptionTests {
    /// Described, sent, and given to another configuration.
    private func passedOn(_ configuration: URLSessionConfiguration) throws -> URLSessionConfiguration {
        let description = SessionDescription(
            configuration.settings, identifier: "test", program: "test", storeFolder: nil)
        let sent = try JSONDecoder().decode(SessionDescription.self, from: JSONEncoder().encode(description))
        let other = URLSessionConfiguration()
        sent.configure(other)
        return other
    }

    /// The other process has another current folder.
    @Test func pathsMeanTheSameFiles() throws {
        let configuration = URLSessionConfiguration()
        configuration.tlsTrustRoots = .file(path: "roots.pem")
        configuration.tlsRevocationLists = [.file(path: "lists/one.crl"), .file(path: "/etc/two.crl")]
        let other = try passedOn(configuration)
        let folder = FileManager.default.currentDirectoryPath
        guard case .file(let roots) = other.tlsTrustRoots else {
            Issue.record("no file: \(other.tlsTrustRoots)")
            return
        }
        #expect(roots == "\(folder)/roots.pem")
        let lists = other.tlsRevocationLists.map { if case .file(let path) = $0 { path } else { "" } }
        #expect(lists == ["\(folder)/lists/one.crl", "/etc/two.crl"])
    }

    @Test func rulesOfTrustAndOfNetworksAreTheSame() throws {
        let configuration = URLSessionConfiguration()
        configuration.requiresDNSSECValidation = true
        configuration.multipathServiceType = .handover
        configuration.appTransportSecurity.pinnedDomains = [
            "h.example": .init(includesSubdomains: true, leaves: [Data(repeating: 1, count: 32)])
        ]
        let other = try passedOn(configuration)
        #expect(other.requiresDNSSECValidation && other.multipathServiceType == .handover)
        #expect(other.appTransportSecurity.pinnedDomains == configuration.appTransportSecurity.pinnedDomains)
        let plain = try passedOn(URLSessionConfiguration())
        #expect(!plain.requiresDNSSECValidation && plain.multipathServiceType == .none)
        #expect(plain.appTransportSecurity.pinnedDomains.isEmpty && plain.tlsRevocationLists.isEmpty)
    }
}
