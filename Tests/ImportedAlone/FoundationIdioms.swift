import Foundation
import LoadingKit

public func foundationIdioms() throws -> [String] {
    let url = try URL("https://h.example/a/b c?q=1", encodes: true)
    var parts = URLComponents()
    parts.scheme = "https"
    parts.host = "h.example"
    parts.queryItems = ["b": "2", "a": "1"].map { URLQueryItem(name: $0, value: $1) }.sorted { $0.name < $1.name }
    let query = parts.queryItems?.map { "\($0.name)=\($0.value ?? "")" }.joined(separator: "&") ?? ""
    let words = "a, b,c".components(separatedBy: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    let replaced = "a-b".replacingOccurrences(of: "-", with: "+").uppercased()
    let data = Data("text".utf8)
    let hexadecimal = data.map { String(format: "%02x", $0) }.joined()
    let piece = String(decoding: data.dropFirst().prefix(2), as: UTF8.self) + "\(data.reduce(0) { $0 + Int($1) })"
    let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(["a": [1, 2]])) as? [String: [Int]]
    let dates = [2.0, 1.0].map { Date(timeIntervalSince1970: $0) }.sorted().map { $0.timeIntervalSince1970 }
    var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 5)
    request.httpMethod = "POST"
    request.allHTTPHeaderFields = ["A": "1"].merging(["B": "2"]) { $1 }
    request.httpBody = try JSONEncoder().encode(["k": "v"])
    let fields = request.allHTTPHeaderFields?.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: ", ")
    let object = request as NSURLRequest
    let error = URLError(.cancelled) as NSError
    let sorted = ["b", "a"].sorted { $0.localizedStandardCompare($1) == .orderedAscending }.joined(separator: "<")
    return [
        url.lastPathComponent, query, "\(words)", replaced, hexadecimal, piece, "\(json ?? [:])", "\(dates)",
        fields ?? "", "\(object as URLRequest == request)", "\(error.domain) \(error.code)", sorted,
    ]
}

extension URL {
    private struct NoURL: Error {}

    fileprivate init(_ text: String, encodes: Bool) throws {
        guard let url = URL(string: text, encodingInvalidCharacters: encodes) else { throw NoURL() }
        self = url
    }
}
