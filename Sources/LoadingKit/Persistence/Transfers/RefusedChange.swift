/// Thrown by a journal that cannot store one of the changes because of its values. A retry would fail in the same way.
package struct RefusedChange: Error {
    /// The position among the changes.
    package let index: Int
    package let error: any Error

    package init(index: Int, error: any Error) { (self.index, self.error) = (index, error) }
}
