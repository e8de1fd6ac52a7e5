import TestSupport
import Testing

@testable import LoadingKitHTTP2

/// The table of streams against a dictionary, and the memory of resets.
@Suite struct StreamTableTests {
    @Test(arguments: [UInt64(1), 2, 3])
    func tableIsADictionary(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = StreamTable(vacant: Stream())
        var model: [UInt32: Int] = [:]
        for step in 0..<20000 {
            // Numbers that collide: neighbours, and those a table's size apart.
            let id = UInt32.random(in: 0..<40, using: &random) * 2 + 1 + UInt32.random(in: 0..<4, using: &random) * 512
            let place = table.find(HTTP2StreamID(rawValue: id))
            #expect((place == nil) == (model[id] == nil))
            if let place {
                #expect(table[place].sendWindow.available == model[id])
                if Bool.random(using: &random) {
                    table.remove(at: place)
                    model[id] = nil
                }
            } else if model.count < Int.random(in: 0..<100, using: &random) {
                var stream = Stream()
                stream.sendWindow = SendWindow(step)
                table.insert(stream, for: HTTP2StreamID(rawValue: id))
                model[id] = step
            }
        }
        #expect(table.count == model.count)
        #expect(table.ids.map(\.rawValue) == model.keys.sorted())
        #expect(table.find(.connection) == nil)
    }

    @Test func resetsAreRemembered() {
        var memory = ResetMemory(capacity: 3)
        for id: UInt32 in [1, 3, 5] { memory.add(HTTP2StreamID(rawValue: id), id == 3 ? .peer : .local) }
        #expect(memory.origin(of: 1) == .local)
        #expect(memory.origin(of: 3) == .peer)
        #expect(memory.origin(of: 7) == nil)
        memory.add(9, .peer)
        memory.add(11, .peer)
        #expect(memory.origin(of: 1) == .local, "forgotten, and taken as reset by this side")
        #expect(memory.origin(of: 3) == nil)
        #expect(memory.origin(of: 5) == .local)
    }

    /// Streams far apart do not make the table grow.
    @Test func memoryFollowsTheOpenStreams() {
        var table = StreamTable(vacant: Stream())
        for id in stride(from: UInt32(1), to: 100_001, by: 2) {
            table.insert(Stream(), for: HTTP2StreamID(rawValue: id))
            if id > 1, let place = table.find(HTTP2StreamID(rawValue: id)) { table.remove(at: place) }
        }
        #expect(table.count == 1)
        #expect(table.places.count == 16)
        #expect(MemoryLayout<StreamTable<Stream>.Place>.stride <= 64)
    }

    @Test func streamNumbersEnd() throws {
        var client = Peer.connected(.client)
        client.machine.nextStream = HTTP2StreamID.last.rawValue
        #expect(client.machine.availableStreams > 0)
        #expect(try client.request() == .last)
        #expect(client.machine.availableStreams == 0)
        #expect(throws: HTTP2Error(.streamIDsExhausted, .call)) { try client.request() }
    }
}
