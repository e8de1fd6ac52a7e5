import Foundation
import Testing

@testable import LoadingKitCore

@Suite struct BodyCollectorTests {
    private enum Step {
        case bytes([UInt8])
        case data([UInt8])
        case buffer([UInt8])
    }

    /// Of a block that its pages are asked for ahead.
    private static let long = (0..<1_300_007).map { UInt8(truncatingIfNeeded: $0 >> 3) }

    private static let cases: [(Int64, [Step], [UInt8])] = [
        (4 << 20, [.buffer(long), .bytes(long), .data(long)], long + long + long),
        (-1, [.bytes(long), .buffer(long)], long + long),
        (-1, [], []),
        (5, [.bytes([1, 2]), .bytes([3])], [1, 2, 3]),
        (0, [.data([1, 2, 3])], [1, 2, 3]),
        (-1, [.data([1]), .data([2]), .bytes([3]), .buffer([4, 5])], [1, 2, 3, 4, 5]),
        (Int64.max, [.buffer([9]), .data([8])], [9, 8]),
        (1, [.buffer(Array(repeating: 7, count: 50_000)), .bytes([1])], Array(repeating: 7, count: 50_000) + [1]),
        (3, [.data([]), .bytes([]), .bytes([1])], [1]),
    ]

    @Test func collectsInOrderWhateverTheShape() {
        for (expected, steps, result) in Self.cases {
            var collector = BodyCollector()
            collector.expect(expected)
            for step in steps { #expect(Self.apply(step, &collector)) }
            let isRight = Array(collector.take()) == result
            #expect(isRight)
            #expect(collector.take().isEmpty)
        }
    }

    /// Otherwise a server that sends fast would have its bytes written to pages that are not there, one fault for each.
    @Test func givesNoMoreSpaceThanItHasAskedPagesFor() throws {
        var collector = BodyCollector()
        collector.expect(20 << 20)
        var count = 0
        while count < 20 << 20 {
            let space = try #require(collector.space(atMost: (20 << 20) - count)?.count)
            #expect((1...(1 << 20)).contains(space))
            collector.filled(space)
            count += space
        }
    }

    private static func apply(_ step: Step, _ collector: inout BodyCollector) -> Bool {
        switch step {
        case .bytes(let bytes): return bytes.withUnsafeBytes { collector.append($0) }
        case .data(let bytes): return collector.append(Data(bytes))
        case .buffer(let bytes):
            var rest = bytes[...]
            while !rest.isEmpty {
                guard let space = collector.space(atMost: rest.count) else { return false }
                let count = min(space.count, rest.count)
                space.copyBytes(from: rest.prefix(count))
                collector.filled(count)
                rest = rest.dropFirst(count)
            }
            return true
        }
    }
}
