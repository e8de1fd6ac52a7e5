/// The client ended the connection in the middle of a request.
struct ClientClosed: Error, CustomStringConvertible {
    var description: String { "the client closed in the middle of a request" }
}
