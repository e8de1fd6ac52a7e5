import Foundation
import LoadingKit
import LoadingKitTesting
import TestSupport

/// A handler of a resource with parts, and what a broken one does instead.
struct RangedResource: Sendable {
    enum Defect: Sendable {
        case noValidator, weakTag, noAcceptRanges, newTag, neverParts, offByOne, noContentRange, wrongSize, partAs200
        case ignoresIfRange, partBehindEnd, suffixFromStart, failsBehindEnd, sameTag
    }

    var defect: Defect?
    var usesDates = false
    private let loads = Box(0)

    init(_ defect: Defect? = nil, usesDates: Bool = false) { (self.defect, self.usesDates) = (defect, usesDates) }

    private var fields: [String: String] {
        var fields = ["Accept-Ranges": "bytes"]
        if usesDates { fields["Last-Modified"] = "Fri, 01 Jan 2021 00:00:00 GMT" } else { fields["ETag"] = "\"1\"" }
        switch defect {
        case .noValidator: fields["ETag"] = nil
        case .weakTag: fields["ETag"] = "W/\"1\""
        case .noAcceptRanges: fields["Accept-Ranges"] = nil
        case .newTag: fields["ETag"] = "\"\(UUID())\""
        default: break
        }
        return fields
    }

    func load(_ load: LoadContext) async throws {
        let whole =
            defect == .sameTag
                && loads.update {
                    $0 += 1; return $0
                } % 2 == 0 ? Right.other : Right.whole
        let ifRange = load.request.value(forHTTPHeaderField: "If-Range")
        let isCurrent = ifRange == nil || ifRange == fields["ETag"] ?? fields["Last-Modified"]
        guard let range = load.request.value(forHTTPHeaderField: "Range"), isCurrent || defect == .ignoresIfRange,
            defect != .neverParts
        else { return try await answer(load, 200, [:], whole) }
        guard let place = place(range, whole.count) else {
            return try await answer(load, defect == .failsBehindEnd ? 404 : 416, [:], Data())
        }
        var contentRange = "bytes \(place.lowerBound)-\(place.upperBound - 1)/\(whole.count)"
        if defect == .wrongSize { contentRange = "bytes \(place.lowerBound)-\(place.upperBound)/\(whole.count)" }
        let field = defect == .noContentRange || defect == .partAs200 ? [:] : ["Content-Range": contentRange]
        let part = defect == .offByOne ? Data(whole[place].dropFirst()) : whole[place]
        try await answer(load, defect == .partAs200 ? 200 : 206, field, part)
    }

    private func place(_ range: String, _ count: Int) -> Range<Int>? {
        let ends = range.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false).map {
            Int($0)
        }
        switch (ends.first ?? nil, ends.last ?? nil) {
        case (let first?, let last?) where first < count: return first..<min(last, count - 1) + 1
        case (let first?, nil) where first < count: return first..<count
        case (nil, let last?): return defect == .suffixFromStart ? 0..<min(last, count) : max(0, count - last)..<count
        default: return defect == .partBehindEnd ? count..<count : nil
        }
    }

    private func answer(_ load: LoadContext, _ status: Int, _ more: [String: String], _ body: Data) async throws {
        let length = ["Content-Length": "\(body.count)"]
        try await Right.respond(load, status, fields.merging(more) { $1 }.merging(length) { $1 })
        try await Right.give(body, to: load)
    }
}

extension Breach {
    private static func ranged(_ defect: RangedResource.Defect, _ words: String) -> Breach {
        .load("\(defect)", 21, words, [.ranged(.a)], RangedResource(defect).load)
    }

    static let ranges: [Breach] = [
        ranged(.noValidator, "no strong ETag"), ranged(.weakTag, "no strong ETag"),
        ranged(.noAcceptRanges, "no field Accept-Ranges"), ranged(.newTag, "validator changed"),
        ranged(.sameTag, "same validator"), ranged(.neverParts, "no range was answered"),
        ranged(.offByOne, "not those of the range"), ranged(.noContentRange, "Content-Range nil"),
        ranged(.wrongSize, "instead of bytes"), ranged(.partAs200, "and not the whole"),
        ranged(.ignoresIfRange, "another version"), ranged(.partBehindEnd, "416"), ranged(.failsBehindEnd, "416"),
        ranged(.suffixFromStart, "instead of bytes"),
        .load("a whole without a status", 21, "no HTTPURLResponse", [.ranged(.a)]) { load in
            try await load.receive(
                URLResponse(url: load.url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil))
            try await load.receive(Right.whole)
        },
    ]
}
