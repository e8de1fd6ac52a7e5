/// The events that an exchange waits for, for the error of its timeout.
extension HTTPExchange {
    var stall: String? {
        switch state {
        case .new, .suspended, .redirecting, .challenged, .renewingBody, .ended, .over: nil
        case .findingRoute: "the proxies to the server were not found"
        case .gettingCookies: "the cookie storage did not answer"
        case .authorizing: "the authentication scheme made no value for the request"
        case .queued: connectionStall
        case .restarting: "the rest of the previous response did not arrive"
        case .active(let stream): transaction.response == nil ? responseStall(stream) : bodyStall
        }
    }

    private var connectionStall: String {
        guard let route else { return "no connection was made" }
        let proxy = route.proxy.map { " through \($0.description)" } ?? ""
        return "no connection to \(route.origin.hostAndPort) was made\(proxy)"
    }

    private func responseStall(_ stream: any HTTPStream) -> String {
        if !isRequestSent { return "the server took no part of the request's body and has not answered," }
        let part = transaction.timings.responseHeaderBytesReceived + Int64(stream.pendingBytes)
        return part > 0
            ? "the response's head did not come to its end (\(part) bytes have come)" : "no response came"
    }

    private var bodyStall: String {
        transaction.codedBytesWithoutOutput > 0
            ? "nothing came of the response's body that decodes to anything "
                + "(\(transaction.codedBytesWithoutOutput) bytes have come)"
            : "nothing came of the response's body"
    }
}
