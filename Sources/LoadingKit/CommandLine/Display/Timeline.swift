/// When what happened in one transaction: plain values, so that they can be drawn whatever they come from.
struct Timeline: Sendable, Hashable {
    /// What a transaction spends its time with, in order.
    enum Phase: String, CaseIterable, Sendable {
        case resolve
        case connect
        case tls = "TLS"
        case request
        case wait
        case receive
        /// All of it: without a network, and where it failed before there was anything to tell apart.
        case load
    }

    struct Span: Sendable, Hashable {
        var phase: Phase
        /// Seconds since the load began.
        var start: Double
        var end: Double
    }

    /// Such as `GET https://localhost:8080/`.
    var title: String
    /// Such as `200 OK`.
    var outcome: String
    /// Such as `http/1.1 over TLSv1.3 to 127.0.0.1:8080, new connection`; empty where there was none.
    var connection: String
    var spans: [Span]
    /// Seconds since the load began.
    var start: Double
    var end: Double
}
