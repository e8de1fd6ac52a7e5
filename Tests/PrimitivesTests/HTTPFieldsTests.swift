import LoadingKitPrimitives
import Testing

@Suite struct HTTPFieldsTests {
    private func fields(_ pairs: [(String, String)]) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs { fields.append(name: name, value: value) }
        return fields
    }

    private func pairs(_ fields: HTTPFields) -> [String] { fields.map { "\($0.name)=\($0.value)" } }

    @Test func reading() {
        let fields = fields([("Accept", "a"), ("X-One", "1"), ("accept", "b"), ("x-one", ""), ("Set-Cookie", "a, b")])
        #expect(fields.count == 5)
        #expect(fields.map(\.known) == [.accept, .other, .accept, .other, .setCookie])
        #expect(fields[.accept] == "a, b" && fields[name: "ACCEPT"] == "a, b")
        #expect(fields[name: "X-ONE"] == "1, " && fields.values(named: "x-One") == ["1", ""])
        #expect(fields.values(of: .setCookie) == ["a, b"])
        #expect(fields[.host] == nil && fields[name: "X-Two"] == nil && fields.values(named: "X").isEmpty)
        #expect(fields.contains(.accept) && fields.contains(name: "set-cookie") && fields.contains(name: "X-one"))
        #expect(!fields.contains(.host) && !fields.contains(name: "Host") && !fields.contains(name: "X-"))
        #expect(fields.firstIndex(of: .accept) == 0 && fields.firstIndex(named: "x-ONE") == 1)
    }

    /// `.other` names nothing, although entries have it.
    @Test func otherIsNoName() {
        var fields = fields([("X", "1")])
        #expect(!fields.contains(.other) && fields[.other] == nil && fields.values(of: .other).isEmpty)
        #expect(fields.firstIndex(of: .other) == nil)
        fields.remove(.other)
        #expect(fields.count == 1)
    }

    @Test func appendingByKnownName() {
        var fields = HTTPFields()
        fields.append(.contentLength, "5")
        #expect(pairs(fields) == ["Content-Length=5"])
    }

    @Test func setting() {
        var fields = fields([("A", "1"), ("Via", "x"), ("B", "2"), ("a", "3"), ("VIA", "y")])
        fields.set(name: "a", value: "longer than it was")
        #expect(pairs(fields) == ["A=longer than it was", "Via=x", "B=2", "VIA=y"])
        fields.set(.via, "z")
        #expect(pairs(fields) == ["A=longer than it was", "Via=z", "B=2"])
        fields.set(.host, "h")
        fields.set(name: "C", value: "")
        fields.set(name: "via", value: "")
        #expect(pairs(fields) == ["A=longer than it was", "Via=", "B=2", "Host=h", "C="])
    }

    @Test func removing() {
        var fields = fields([("A", "1"), ("Via", "x"), ("B", "2"), ("a", "3"), ("VIA", "y")])
        fields.remove(name: "A")
        #expect(pairs(fields) == ["Via=x", "B=2", "VIA=y"])
        fields.remove(.via)
        #expect(pairs(fields) == ["B=2"])
        fields.remove(name: "Host")
        fields.remove(.host)
        fields.remove(name: "b")
        #expect(fields.isEmpty)
    }

    @Test func copiesAreIndependent() {
        let first = fields([("A", "1"), ("Via", "x")])
        var second = first
        second.set(.via, "y")
        second.remove(name: "A")
        #expect(pairs(first) == ["A=1", "Via=x"] && pairs(second) == ["Via=y"])
    }

    /// Setting a field again and again does not make the store grow without end.
    @Test func theStoreStaysSmall() {
        var fields = fields([("A", "1"), ("Via", "x")])
        for number in 0..<10_000 {
            fields.set(.via, "\(number)")
            fields.append(name: "B", value: "\(number)")
            fields.remove(name: "b")
        }
        #expect(pairs(fields) == ["A=1", "Via=9999"])
        #expect(fields.byteCount < 10_000)
    }

    @Test func values() {
        let cases: [([UInt8], String)] = [
            ([], ""), (Array("plain".utf8), "plain"), (Array("caf\u{e9}".utf8), "caf\u{e9}"),
            ([0x63, 0x61, 0x66, 0xE9], "caf\u{e9}"), ([0xC3], "\u{c3}"), ([0xFF, 0x80, 0x41], "\u{ff}\u{80}A"),
            ([0xED, 0xA0, 0x80], "\u{ed}\u{a0}\u{80}"),
        ]
        for (bytes, text) in cases {
            var fields = HTTPFields()
            Array("X".utf8).withUnsafeBytes { name in
                bytes.withUnsafeBytes { fields.append(nameBytes: name, valueBytes: $0) }
            }
            #expect(fields[name: "x"] == text && fields.first?.value == text)
            #expect(fields.withBytes(at: 0) { _, value, _ in Array(value) } == bytes)
        }
    }

    @Test func bytesOfValues() {
        let fields = fields([("Via", "a"), ("X", "b"), ("via", "c")])
        var values: [[UInt8]] = []
        fields.forEachValue(of: .via) { values.append(Array($0)) }
        fields.forEachValue(of: .other) { values.append(Array($0)) }
        #expect(values == [[0x61], [0x63]])
    }

    @Test func equality() {
        let one = fields([("A", "1"), ("Via", "x")])
        #expect(one == fields([("a", "1"), ("VIA", "x")]))
        let others = [
            [("Via", "x"), ("A", "1")], [("A", "1")], [("A", "1"), ("Via", "X")], [("B", "1"), ("Via", "x")], [],
        ]
        #expect(others.allSatisfy { fields($0) != one })
        var changed = fields([("A", "0"), ("Via", "x")])
        changed.set(name: "A", value: "1")
        #expect(changed == one)
    }

    @Test func reserving() {
        var fields = HTTPFields()
        fields.reserve(fields: 10, bytes: 100)
        #expect(fields.isEmpty)
        let place = fields.withEntries { _, bytes in bytes.baseAddress }
        for number in 0..<10 { fields.append(name: "Name\(number)", value: "four+") }
        #expect(fields.byteCount == 100)
        #expect(fields.withEntries { _, bytes in bytes.baseAddress } == place)
    }

    /// A copy shares the memory of the original until one of the two changes.
    @Test func noChangeReachesACopy() {
        let original = fields([("A", "1"), ("Content-Length", "2"), ("A", " 3 ")])
        let changes: [(inout HTTPFields) -> Void] = [
            { $0.append(.via, "x") }, { $0.append(name: "B", value: "x") }, { $0.set(.contentLength, "4") },
            { $0.set(name: "A", value: "5") }, { $0.remove(.contentLength) }, { $0.remove(name: "a") },
            { $0.restart() }, { $0.giveUpRoom(aboveFields: 1, bytes: 1) }, { $0.trimValues() },
            { $0.removeAll(keepingFields: 100, bytes: 1000) }, { $0.reserve(fields: 9, bytes: 9) },
        ]
        for change in changes {
            var changed = original
            change(&changed)
            #expect(pairs(original) == ["A=1", "Content-Length=2", "A= 3 "])
            #expect(changed != original || pairs(changed) == pairs(original))
        }
    }
}
