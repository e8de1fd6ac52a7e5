/// How long messages between programs and the daemon may be, in bytes.
package enum WireLimits {
    /// Length, kind, and number of descriptors.
    package static let header = 8
    /// A greeting or a farewell. It is what an unknown peer may send first.
    package static let greeting = 64 << 10
    /// A command, or transfers as they stand: each may hold a request's body of 64 MiB, which is a third longer in base 64.
    package static let command = 88 << 20
    /// Anything else. An event may hold a response for each of 20 redirects, with heads of 256 KiB.
    package static let event = 16 << 20
    /// Messages that hold a list are ended when they are longer than this, and another one goes on.
    package static let part = 256 << 10
    /// So many descriptors go with a message at most.
    package static let descriptors = 4
}
