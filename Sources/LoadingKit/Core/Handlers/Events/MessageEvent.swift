import Foundation

/// The head of an HTTP message of a task, for a program of this package that displays the messages as they are sent and
/// received. The delegate sees neither the fields that the session adds nor the responses that the session answers.
package enum MessageEvent: Sendable {
    /// A request's head is about to be sent: its lines, which are HTTP/2's fields where the connection has that version,
    /// and the connection.
    case willSend([String], URLSessionTaskTransactionMetrics)
    /// A response's head was received, with its reason phrase: an interim one, a final one, or one that the session
    /// answers itself.
    case didReceive(HTTPURLResponse, reason: String)
}
