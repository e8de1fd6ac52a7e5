import LoadingKitPrimitives
import TestSupport
import Testing

/// A heap that stores where its elements are, against a list.
@Suite struct IndexedHeapTests {
    private final class Item {
        let key: Int
        var place = -1

        init(_ key: Int) { self.key = key }
    }

    private struct Order: IndexedHeapOrder {
        static func precedes(_ a: Item, _ b: Item) -> Bool { a.key < b.key }
        func store(_ place: Int, of item: Item) { item.place = place }
    }

    @Test(arguments: 0..<8)
    func elementsComeOutInOrderWhateverIsRemovedBetween(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var heap = IndexedHeap<Order>()
        var model: [Item] = []
        for number in 0..<2000 {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0...2:
                // Every key once, so that the order is one alone.
                let item = Item(Int.random(in: 0..<1000, using: &generator) * 2000 + number)
                heap.insert(item)
                model.append(item)
            case 3:
                let first = heap.remove(at: 0)
                let expected = model.indices.min { model[$0].key < model[$1].key }.map { model.remove(at: $0) }
                #expect(first === expected)
                #expect(first.map(\.place) ?? -1 == -1)
            default:
                guard let index = model.indices.randomElement(using: &generator) else { continue }
                let item = model.remove(at: index)
                #expect(heap.remove(at: item.place) === item)
                #expect(item.place == -1)
            }
            #expect(heap.count == model.count)
            #expect(heap.first === model.min { $0.key < $1.key })
            if number % 50 == 0 { #expect(model.allSatisfy { heap[$0.place] === $0 }) }
        }
        let rest = heap.removeAll()
        #expect(Set(rest.map(\.key)) == Set(model.map(\.key)))
        #expect(rest.allSatisfy { $0.place == -1 })
        #expect(heap.isEmpty)
    }

    @Test func theMemoryOfManyElementsIsNotKept() {
        var heap = IndexedHeap<Order>()
        for key in 0..<10_000 { heap.insert(Item(key)) }
        #expect(heap.capacity >= 10_000)
        while heap.remove(at: 0) != nil {}
        #expect(heap.capacity == 0)
    }

    @Test func aPlaceThatThereIsNotGivesNothing() {
        var heap = IndexedHeap<Order>()
        heap.insert(Item(1))
        #expect(heap.remove(at: -1) == nil)
        #expect(heap.remove(at: 1) == nil)
        #expect(heap.count == 1)
    }
}
