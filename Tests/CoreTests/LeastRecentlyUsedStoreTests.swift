import Testing

@testable import LoadingKitCore

@Suite("LeastRecentlyUsedStore")
struct LeastRecentlyUsedStoreTests {
    @Test("agrees with a plain list, whatever is done to it")
    func model() {
        var random = SystemRandomNumberGenerator()
        var store = LeastRecentlyUsedStore<Int, Int>(capacity: 20)
        var model: [(key: Int, value: Int, cost: Int)] = []  // the oldest first
        for value in 0..<5000 {
            let key = Int.random(in: 0..<12, using: &random)
            let index = model.firstIndex { $0.key == key }
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                #expect(store.remove(key) == index.map { model.remove(at: $0).value })
            case 1:
                #expect(store.value(for: key) == index.map { model[$0].value })
                if let index { model.append(model.remove(at: index)) }
            default:
                let cost = Int.random(in: 0..<23, using: &random)
                var gone = index.map { [model.remove(at: $0).value] } ?? []
                if cost <= 20 {
                    while model.reduce(0, { $0 + $1.cost }) + cost > 20 { gone.append(model.removeFirst().value) }
                    model.append((key, value, cost))
                }
                #expect(store.insert(value, for: key, cost: cost).sorted() == gone.sorted())
            }
            guard store.count == model.count, store.totalCost == model.reduce(0, { $0 + $1.cost }) else {
                Issue.record("the store has other entries than the list after \(value) steps")
                return
            }
        }
        #expect(store.removeAll { _ in true }.sorted() == model.map(\.value).sorted())
        #expect(store.count == 0 && store.totalCost == 0)
    }

    @Test("takes no cost below zero, and no capacity")
    func bounds() {
        var store = LeastRecentlyUsedStore<Int, Int>(capacity: .max)
        #expect(store.insert(1, for: 1, cost: -5) == [] && store.totalCost == 0)
        #expect(store.insert(2, for: 2, cost: .max) == [] && store.insert(3, for: 3, cost: .max) == [1, 2])
        #expect(store.setCapacity(-1) == [3] && store.capacity == 0)
    }
}
