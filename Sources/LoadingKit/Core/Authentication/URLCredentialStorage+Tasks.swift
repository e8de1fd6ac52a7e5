extension URLCredentialStorage {
    /// Gives the credentials of a protection space, by user; nil when there are none. Calls back before it returns.
    public func getCredentials(
        for protectionSpace: URLProtectionSpace, task: URLSessionTask,
        completionHandler: ([String: URLCredential]?) -> Void
    ) {
        completionHandler(credentials(for: protectionSpace))
    }

    /// The credentials of a protection space, by user; nil when there are none.
    public func credentials(
        for protectionSpace: URLProtectionSpace, task: URLSessionTask
    ) async -> [String: URLCredential]? { credentials(for: protectionSpace) }

    /// Keeps a credential that a server or proxy has accepted from a task.
    public func set(_ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask) {
        set(credential, for: protectionSpace)
    }

    /// Forgets a credential: the one for the same user.
    public func remove(
        _ credential: URLCredential, for protectionSpace: URLProtectionSpace, options: [String: AnyObject]? = [:],
        task: URLSessionTask
    ) {
        remove(credential, for: protectionSpace, options: options)
    }

    /// Gives the credential to propose for a protection space, or nil. Calls back before it returns.
    public func getDefaultCredential(
        for space: URLProtectionSpace, task: URLSessionTask, completionHandler: (URLCredential?) -> Void
    ) {
        completionHandler(defaultCredential(for: space))
    }

    /// The credential to propose for a protection space, or nil.
    public func defaultCredential(for space: URLProtectionSpace, task: URLSessionTask) async -> URLCredential? {
        defaultCredential(for: space)
    }

    /// Keeps a credential, and proposes it for the protection space from now on.
    public func setDefaultCredential(
        _ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask
    ) {
        setDefaultCredential(credential, for: protectionSpace)
    }
}
