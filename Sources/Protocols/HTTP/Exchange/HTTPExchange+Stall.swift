import LoadingKitCore
import LoadingKitProxies

/// The event that an exchange waits for, for the error of its timeout.
extension HTTPExchange {
    var stall: String? {
        switch state {
        case .new, .redirecting, .challenged, .ended, .over: nil
        case .findingWay: "the proxies to the server were not found"
        case .gettingCookies: "the storage of cookies gave no answer"
        case .authorizing: "the way to authenticate gave no credential"
        case .queued: connectionStall
        case .restarting: "the rest of the response before did not come"
        case .active(let stream): transaction.response == nil ? responseStall(stream) : bodyStall
        }
    }

    private var connectionStall: String {
        guard let route else { return "no connection was made" }
        let proxy = route.proxy.map { " through \($0.description)" } ?? ""
        return "no connection to \(route.origin.hostAndPort) was made\(proxy)"
    }

    private func responseStall(_ stream: any HTTPStream) -> String {
        if !isRequestSent { return "nothing of the request's body was taken by the server, which has not answered," }
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
