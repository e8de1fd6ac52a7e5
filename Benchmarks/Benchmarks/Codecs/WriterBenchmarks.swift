import LoadingKitHTTP1

/// Writing the head of a request, against interpolated strings, which check nothing.
enum WriterBenchmarks {
    static func register() {
        let list = Heads.requestFields.map(FieldLine.init(line:))
        let fields = HTTPFields(list)
        compare("request head, a browser's", list) { _ in fields }
        compare("request head, a browser's, its fields made", list) { HTTPFields($0) }
    }

    private static func compare(_ name: String, _ list: [FieldLine], fields: @escaping ([FieldLine]) -> HTTPFields) {
        let (ours, peer) = (OutputBuffer(), OutputBuffer())
        Comparison(
            subject: .writer, name: name,
            contenders: [
                .ours { try ours.fill { try write(fields(list), into: &$0) } },
                Contender("string interpolation") { peer.fill { interpolate(list, into: &$0) } },
            ],
            verify: { try Disagreement.check("LoadingKit's head, and the strings'", ours.bytes, peer.bytes) }
        ).register()
    }

    private static func write(_ fields: HTTPFields, into output: inout [UInt8]) throws {
        try RequestWriter().writeHead(method: "GET", target: Heads.requestTarget, fields: fields, into: &output)
    }

    private static func interpolate(_ list: [FieldLine], into output: inout [UInt8]) {
        var text = "GET \(Heads.requestTarget) HTTP/1.1\r\n"
        for field in list { text += "\(field.name): \(field.value)\r\n" }
        text += "\r\n"
        output.append(contentsOf: text.utf8)
    }
}
