import LoadingKitHTTP1

/// Looking fields up, against a dictionary by names in small letters, which has to be given those.
enum FieldBenchmarks {
    /// Early, late and absent ones.
    private static let known: [(field: KnownField, name: String)] = [
        (.age, "age"), (.contentType, "content-type"), (.contentLength, "content-length"), (.etag, "etag"),
        (.vary, "vary"), (.setCookie, "set-cookie"),
    ]

    static func register() {
        let list = Heads.networkFields.map(FieldLine.init(line:))
        let fields = HTTPFields(list)
        let dictionary = Dictionary(
            list.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { "\($0), \($1)" })
        let known = known
        let others = ["Timing-Allow-Origin", "X-Cache", "X-Served-By", "X-Absent"]

        compare(
            "well-known names, values as bytes", of: fields, lookups: known.count,
            { known.reduce(0) { $0 + bytes(of: $1.field, in: fields) } },
            { known.reduce(0) { $0 + (dictionary[$1.name]?.utf8.count ?? 0) } })
        compare(
            "well-known names, values as strings", of: fields, lookups: known.count,
            { known.reduce(0) { $0 + (fields[$1.field]?.utf8.count ?? 0) } },
            { known.reduce(0) { $0 + (dictionary[$1.name]?.utf8.count ?? 0) } })
        compare(
            "other names, values as strings", of: fields, lookups: others.count,
            { others.reduce(0) { $0 + (fields[name: $1]?.utf8.count ?? 0) } },
            { others.reduce(0) { $0 + (dictionary[$1.lowercased()]?.utf8.count ?? 0) } })
    }

    private static func bytes(of field: KnownField, in fields: HTTPFields) -> Int {
        var count = 0
        fields.forEachValue(of: field) { count += $0.count }
        return count
    }

    private static func compare(
        _ name: String, of fields: HTTPFields, lookups: Int, _ ours: @escaping () -> Int, _ peer: @escaping () -> Int
    ) {
        Comparison(
            subject: .fields, name: "\(name), of \(fields.count) fields", unit: "ns a lookup", amount: Double(lookups),
            contenders: [.ours(ours), Contender("Dictionary", peer)]
        ).register()
    }
}
