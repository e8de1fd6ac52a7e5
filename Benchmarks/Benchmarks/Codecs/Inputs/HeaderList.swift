import LoadingKitHPACK

/// The fields of a message over HTTP/2, pseudo-header fields among them.
struct HeaderList {
    let lines: [FieldLine]

    /// What LoadingKit's encoder takes.
    var pseudoFields: HPACKPseudoFields {
        if let status = self[":status"].flatMap({ Int($0) }) { return .response(status: status) }
        guard let method = self[":method"], let scheme = self[":scheme"], let path = self[":path"] else { return .none }
        return .request(method: method, scheme: scheme, authority: self[":authority"], path: path)
    }

    var fields: HTTPFields { HTTPFields(lines.filter { !$0.name.hasPrefix(":") }) }

    private subscript(name: String) -> String? { lines.first { $0.name == name }?.value }
}

extension HeaderList: Equatable {
    /// The order of pseudo-header fields means nothing, and LoadingKit gives them by name.
    static func == (a: HeaderList, b: HeaderList) -> Bool {
        a.fields == b.fields && a.pseudoFields == b.pseudoFields
    }
}

extension HeaderList {
    /// What LoadingKit has decoded.
    init(_ list: HPACKHeaderList) {
        let pseudo = HPACKPseudoFieldName.allCases.compactMap { name in list[name].map { FieldLine(name.name, $0) } }
        lines = pseudo + list.fields.map { FieldLine($0.name, $0.value) }
    }
}
