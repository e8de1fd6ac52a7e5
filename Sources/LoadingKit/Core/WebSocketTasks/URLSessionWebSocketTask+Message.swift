import Foundation

extension URLSessionWebSocketTask {
    /// A message that is sent or received whole.
    public enum Message: Sendable {
        /// Bytes.
        case data(Data)
        /// Text.
        case string(String)
    }
}
