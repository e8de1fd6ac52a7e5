/// What is loaded, and how many at a time.
struct Load: Sendable {
    /// How the server is reached.
    enum Connection: Sendable {
        case http, https, http2
        /// A TLS handshake for each request.
        case full, resumed
        /// Not over the network: the URL.
        case none(String)
    }

    let connection: Connection
    let length: Int
    var atATime = 1

    static let kilobyte = 1 << 10
    static let hundredMegabytes = 100 << 20

    var isSecure: Bool {
        switch connection {
        case .http, .none: false
        case .https, .http2, .full, .resumed: true
        }
    }

    func url(_ ports: NginxPorts) -> String {
        let file = length == Self.kilobyte ? "1k" : "100m"
        switch connection {
        case .http: return "http://127.0.0.1:\(ports.http)/\(file)"
        case .https: return "https://127.0.0.1:\(ports.https)/\(file)"
        case .http2: return "https://127.0.0.1:\(ports.http2)/\(file)"
        case .full: return "https://127.0.0.1:\(ports.full)/\(file)"
        case .resumed: return "https://127.0.0.1:\(ports.resumed)/\(file)"
        case .none(let url): return url
        }
    }
}
