import LoadingKitCore
import LoadingKitHAR

/// A load that waits for the page: before its request is sent, or before the program gets its response.
final class HeldLoad: Sendable {
    /// The decision of the page.
    enum Decision: Sendable {
        /// The load goes on, with a request or a response in place of its own; nil where nothing was changed.
        case proceed(EditedMessage?)
        /// A held request is not sent, and has this response.
        case answer(EditedMessage)
        case fail
    }

    let number: Int
    let session: SessionIdentity
    let task: Int
    /// The request or the response as the page shows it: without secrets.
    let request: ShownMessage
    let response: ShownMessage?
    /// Tells the load, on any thread.
    let decide: @Sendable (Decision) -> Void

    init(
        number: Int, session: SessionIdentity, task: Int, request: ShownMessage, response: ShownMessage?,
        decide: @escaping @Sendable (Decision) -> Void
    ) {
        (self.number, self.session, self.task) = (number, session, task)
        (self.request, self.response, self.decide) = (request, response, decide)
    }

    /// - Parameter entry: the identifier of the load's entry.
    func message(entry: String) -> JSONValue {
        var members: [String: JSONValue] = [
            "id": .string(String(number)), "entry": .string(entry),
            "stage": response == nil ? "request" : "response", "request": request.value,
        ]
        members["response"] = response?.value
        return ["type": "held", "hold": .object(members)]
    }
}
