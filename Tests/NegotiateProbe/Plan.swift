/// What is to be loaded, and how.
struct Plan: Decodable {
    struct Request: Decodable {
        let method: String
        let url: String
        /// The body's size in bytes; nil for none.
        let bodySize: Int?
        let isStreamed: Bool
    }

    let requests: [Request]
    /// Whether all are begun at once.
    let isParallel: Bool
    /// Certificates in PEM.
    let authority: String?
    /// Of an HTTP proxy.
    let proxyPort: Int?
    /// What challenges of Negotiate, and of others, are answered with; nil to leave that to the session.
    let negotiateUser: String?
    let otherUser: String?
    let password: String?
    let cleartextHosts: [String]
    let delegationHosts: [String]
    let requiresMutualAuthentication: Bool
    /// In seconds.
    let timeout: Double
}

/// What has come of it.
struct Report: Encodable {
    struct Response: Encodable {
        var url = ""
        /// Zero where there was none.
        var status = 0
        var body = ""
        /// The error's code; zero where there was none.
        var error = 0
        /// How many requests were sent for it.
        var sent = 0
        /// How many bytes of bodies were sent for it.
        var bodyBytes = 0
        /// How many connections were made for it.
        var connections = 0
    }

    /// In the order of the requests.
    var responses: [Response] = []
    /// Their indices, in the order in which they ended.
    var order: [Int] = []
    /// The challenges, in order: method, previous failures.
    var challenges: [String] = []
    /// Why there was no token.
    var failures: [String] = []
}
