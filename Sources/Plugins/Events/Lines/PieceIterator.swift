import Foundation
import LoadingKit

/// Divides the pieces of a body into elements. Pure.
protocol Splitter: Sendable {
    associatedtype Element
    /// Appends the elements that these bytes complete, including those before an error.
    mutating func receive(_ bytes: Data, into elements: inout [Element]) throws
    /// The element that the end of the bytes completes.
    mutating func finish() throws -> Element?
}

/// Returns the elements of a body one by one, and reads the next piece when none are left.
struct PieceIterator<Base: Splitter> {
    private var body: LoadedBody.Iterator
    private var splitter: Base
    private var elements: [Base.Element] = []
    private var given = 0
    private var isOver = false
    /// Thrown after the remaining elements.
    private var failure: (any Error)?

    init(_ body: LoadedBody.Iterator, _ splitter: Base) {
        self.body = body
        self.splitter = splitter
    }

    mutating func next(isolation actor: isolated (any Actor)?) async throws -> Base.Element? {
        while true {
            if given < elements.count {
                given += 1
                return elements[given - 1]
            }
            if isOver {
                if let failure = failure.take() { throw failure }
                return nil
            }
            elements.removeAll(keepingCapacity: elements.count <= 1024)
            given = 0
            await receive(isolation: actor)
        }
    }

    private mutating func receive(isolation actor: isolated (any Actor)?) async {
        do {
            if let piece = try await body.next(isolation: actor) { return try splitter.receive(piece, into: &elements) }
            isOver = true
            if let last = try splitter.finish() { elements.append(last) }
        } catch {
            isOver = true
            failure = error
        }
    }
}
