import Foundation
import MemScheme
import Testing

@Test func entriesAreKeptUpToTheCapacity() throws {
    let store = MemStore(capacity: 8)
    #expect(try store.write(Data("one".utf8), to: "a", type: "text/plain"))
    let first = store["a"]?.tag
    #expect(try !store.write(Data(", two".utf8), to: "a", type: "text/plain", appending: true))
    #expect(store["a"]?.data == Data("one, two".utf8) && store["a"]?.tag != first)
    #expect(throws: MemError.noRoom(capacity: 8)) { try store.write(Data("!".utf8), to: "b", type: "text/plain") }
    #expect(store["b"] == nil)
}
