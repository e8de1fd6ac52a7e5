/// Why a name could not be resolved.
package enum ResolverFailure: Error, Sendable, Hashable {
    /// The name does not exist, or has no address of the family; the resolver's text.
    case notFound(String)
    /// The resolver could not say; its text.
    case failed(String)
}
