#if CommandLineTool
    import Foundation
    import LoadingKit
    @_spi(LoadingKitPlugins) import LoadingKitCore
    import LoadingKitPrimitives

    /// Answers the challenges of a session's servers. The session's delegate does so, and not each transfer: transfers
    /// whose delegates may decide about a server do not share connections.
    final class ChallengeAnswers: NSObject, URLSessionTaskDelegate {
        private let plan: LoginPlan
        private let identity: URLCredential?
        private let pins: Set<Data>
        private let logins: [URL: Login]
        /// Whether a server had none of the keys of `--pinnedpubkey`.
        let didRefuseKey = Guarded(false)

        init(_ plan: LoadPlan) {
            self.plan = plan.login
            identity = plan.session.identity.map {
                URLCredential(identity: $0, certificates: nil, persistence: .forSession)
            }
            pins = plan.session.pins
            let pairs = plan.loads.compactMap { load in load.request.url.flatMap { url in load.login.map { (url, $0) } }
            }
            logins = Dictionary(pairs) { first, _ in first }
        }

        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let space = challenge.protectionSpace
            switch space.authenticationMethod {
            case NSURLAuthenticationMethodClientCertificate where identity != nil && !space.isProxy():
                completionHandler(.useCredential, identity)
            case NSURLAuthenticationMethodServerTrust where !pins.isEmpty && !space.isProxy():
                let key = space.serverTrust?.certificates.first?.publicKeySHA256
                let isPinned = key.map(pins.contains) ?? false
                if !isPinned { didRefuseKey.withLock { $0 = true } }
                completionHandler(isPinned ? .performDefaultHandling : .cancelAuthenticationChallenge, nil)
            case _:
                completionHandler(.performDefaultHandling, nil)
            }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let space = challenge.protectionSpace
            guard !space.isProxy(), let url = task.originalRequest?.url, let login = logins[url] else {
                return completionHandler(.performDefaultHandling, nil)
            }
            guard plan.permits(space.authenticationMethod) else {
                return completionHandler(.rejectProtectionSpace, nil)
            }
            // A redirect may have led to another server, and a refused password is not sent again. The first URL is the
            // one that is loaded in place of the given one: with `https` by HSTS, or of a Unix-domain socket.
            let isForServer = space.isServer(of: task.firstURL ?? url) && challenge.previousFailureCount == 0
            guard isForServer else { return completionHandler(.performDefaultHandling, nil) }
            completionHandler(.useCredential, login.credential(url.user == nil ? .forSession : .none))
        }
    }

    extension URLProtectionSpace {
        fileprivate func isServer(of url: URL) -> Bool {
            let usual = [
                "http": (NSURLProtectionSpaceHTTP, 80), "https": (NSURLProtectionSpaceHTTPS, 443),
                "ws": (NSURLProtectionSpaceHTTP, 80), "wss": (NSURLProtectionSpaceHTTPS, 443),
                "ftp": (NSURLProtectionSpaceFTP, 21), "ftps": (NSURLProtectionSpaceFTP, 990),
            ]
            // Without TLS the same port is another server: the password would be sent in cleartext.
            guard let (kind, usualPort) = usual[url.scheme?.lowercased() ?? ""], self.protocol == kind else {
                return false
            }
            let name = url.canonicalHost?.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
            return host.lowercased() == name && port == url.port ?? usualPort
        }
    }
#endif
