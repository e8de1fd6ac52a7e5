/// Apple's methods that name a task. They do the same as those without it: a storage does not separate its tasks.
extension URLCredentialStorage {
    /// Passes the credentials of a protection space, by user, to `completionHandler`; nil when there are none. Calls it
    /// before this method returns.
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

    /// Stores a credential that a server or proxy has accepted from a task.
    public func set(_ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask) {
        set(credential, for: protectionSpace)
    }

    /// Removes the credential for the same user.
    public func remove(
        _ credential: URLCredential, for protectionSpace: URLProtectionSpace, options: [String: AnyObject]? = [:],
        task: URLSessionTask
    ) {
        remove(credential, for: protectionSpace, options: options)
    }

    /// Passes the credential to propose for a protection space, or nil, to `completionHandler`. Calls it before this
    /// method returns.
    public func getDefaultCredential(
        for space: URLProtectionSpace, task: URLSessionTask, completionHandler: (URLCredential?) -> Void
    ) {
        completionHandler(defaultCredential(for: space))
    }

    /// The credential to propose for a protection space, or nil.
    public func defaultCredential(for space: URLProtectionSpace, task: URLSessionTask) async -> URLCredential? {
        defaultCredential(for: space)
    }

    /// Stores a credential, and makes it the default of the protection space.
    public func setDefaultCredential(
        _ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask
    ) {
        setDefaultCredential(credential, for: protectionSpace)
    }
}
