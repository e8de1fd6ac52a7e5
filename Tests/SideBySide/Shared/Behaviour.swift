import Testing

enum Implementation: Sendable { case foundationNetworking, loadingKit }

/// One thing that a program can see of both implementations, as text.
struct Behaviour: Sendable, CustomTestStringConvertible {
    /// Begins with the type that it is about.
    let name: String
    /// What a program shall see.
    let expected: String
    let observe: @Sendable (Site) async throws -> String

    var testDescription: String { name }

    /// Of values alone.
    init(_ name: String, _ expected: String, _ observe: @escaping @Sendable () throws -> String) {
        self.name = name
        self.expected = expected
        self.observe = { _ in try observe() }
    }

    /// Of a load from a server.
    init(
        load name: String, _ expected: String, _ observe: @escaping @Sendable (Site) async throws -> String
    ) {
        self.name = name
        self.expected = expected
        self.observe = observe
    }

    static let all =
        requests + responses + cookies + cookieStorage + credentials + caches + configurations + protocols + loads
        + delegates + transfers + edges

    private static let edges =
        requestEdges + responseEdges + cookieEdges + cookieStorageEdges + credentialEdges + cacheEdges + protocolEdges
        + loadEdges + moreMembers
}
