extension HTTPCookie {
    /// Which cookies a storage accepts from servers.
    public enum AcceptPolicy: UInt, Sendable {
        /// All.
        case always
        /// None.
        case never
        /// Those of the site that the request's main document is from; all where a request has no main document.
        case onlyFromMainDocumentDomain
    }
}
