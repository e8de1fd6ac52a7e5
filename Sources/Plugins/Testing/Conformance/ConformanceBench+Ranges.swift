import Foundation
import LoadingKit

/// Checks of a resource that is loaded in parts (RFC 9110 §14).
extension ConformanceBench {
    private struct Ranged: Sendable {
        let request: URLRequest
        /// One for all loads: a test may give each session data of its own.
        let session: URLSession
        let whole: Data
        let validator: String

        func asking(_ range: String, ifRange: String? = nil) -> URLRequest {
            var request = request
            request.cachePolicy = .reloadIgnoringLocalCacheData
            request.setValue(range, forHTTPHeaderField: "Range")
            request.setValue(ifRange, forHTTPHeaderField: "If-Range")
            return request
        }
    }

    func checkRanges(_ request: URLRequest) async {
        await ConformanceCheck(self, "loaded in parts", request).withSession { await checkRanges(request, in: $0) }
    }

    private func checkRanges(_ request: URLRequest, in session: URLSession) async {
        guard let ranged = await checkRangedWhole(request, in: session) else { return }
        let count = ranged.whole.count
        guard count > 1 else { return }
        let middle = count / 2
        var parts = 0
        for (range, place) in [
            ("bytes=0-0", 0..<1), ("bytes=0-\(middle)", 0..<middle + 1), ("bytes=\(middle)-", middle..<count),
            ("bytes=-1", count - 1..<count), ("bytes=\(middle)-\(count + 9)", middle..<count),
            ("bytes=-\(count + 9)", 0..<count),
        ] where await isPart(ranged, range, place) { parts += 1 }
        let check = ConformanceCheck(self, "loaded in parts", request)
        check.expect(
            21, parts > 0,
            "Accept-Ranges: bytes is announced, and no range was answered with 206: answer ranges, or announce none")
        await checkOutside(ranged)
        await checkIfRange(ranged)
        if parts > 0 { await checkResumption(ranged) }
    }

    private func checkRangedWhole(_ request: URLRequest, in session: URLSession) async -> Ranged? {
        let check = ConformanceCheck(self, "loaded twice, before its parts", request)
        var loads: [(Data, HTTPURLResponse)] = []
        for _ in 0..<2 {
            let result = await check.result(10, in: session) { try await $0.data(for: request) }
            guard let (data, response) = check.value(12, of: result) else { return nil }
            let http = response as? HTTPURLResponse
            guard let http, http.statusCode == 200 else {
                let status = http.map { "the status \($0.statusCode)" } ?? "no HTTPURLResponse"
                check.expect(21, false, "the whole has \(status): parts need one of status 200")
                return nil
            }
            loads.append((data, http))
        }
        let fields = loads.map { Self.validator(of: $0.1) }
        check.expect(
            21, loads[0].1.value(forHTTPHeaderField: "Accept-Ranges")?.lowercased() == "bytes",
            "the response has no field Accept-Ranges: bytes, without which no download goes on")
        check.expect(
            21, fields[0] != nil,
            "the response has no strong ETag and no Last-Modified, without which no download goes on")
        check.expect(
            21, fields[0] == fields[1] || loads[0].0 != loads[1].0,
            "the validator changed from \(fields[0] ?? "") to \(fields[1] ?? "") for the same bytes: make it of "
                + "the content"
        )
        check.expect(
            21, fields[0] != fields[1] || loads[0].0 == loads[1].0,
            "other bytes have the same validator \(fields[0] ?? "")")
        return fields[0].map { Ranged(request: request, session: session, whole: loads[0].0, validator: $0) }
    }

    private static func validator(of response: HTTPURLResponse) -> String? {
        let tag = response.value(forHTTPHeaderField: "ETag")
        return tag.flatMap { $0.hasPrefix("W/") ? nil : $0 } ?? response.value(forHTTPHeaderField: "Last-Modified")
    }

    private func load(_ request: URLRequest, in session: URLSession, _ check: ConformanceCheck) async -> (
        data: Data, response: HTTPURLResponse
    )? {
        let result = await check.result(10, in: session) { try await $0.data(for: request) }
        guard let (data, response) = check.value(12, of: result) else { return nil }
        let http = response as? HTTPURLResponse
        check.expect(21, http != nil, "the response is no HTTPURLResponse")
        return http.map { (data, $0) }
    }

    /// Whether the answer is the part: the whole is allowed, too.
    private func isPart(_ ranged: Ranged, _ range: String, _ place: Range<Int>, ifRange: String? = nil) async -> Bool {
        let name = "Range: \(range)" + (ifRange == nil ? "" : ", If-Range with its validator")
        let check = ConformanceCheck(self, name, ranged.request)
        guard let (data, response) = await load(ranged.asking(range, ifRange: ifRange), in: ranged.session, check)
        else { return false }
        guard response.statusCode == 206 else {
            check.expect(21, response.statusCode == 200, "the status is \(response.statusCode) instead of 206")
            check.expect(
                21, response.statusCode != 200 || data == ranged.whole,
                "a 200 has \(data.count) bytes, and not the whole")
            return false
        }
        let expected = "bytes \(place.lowerBound)-\(place.upperBound - 1)/"
        let field = response.value(forHTTPHeaderField: "Content-Range")
        check.expect(
            21, field == "\(expected)\(ranged.whole.count)" || field == "\(expected)*",
            "a 206 has Content-Range \(field ?? "nil") instead of \(expected)\(ranged.whole.count)")
        check.expect(
            21, data == ranged.whole[place],
            "a 206 has \(data.count) bytes that are not those of the range, which has \(place.count)")
        return true
    }

    private func checkOutside(_ ranged: Ranged) async {
        let check = ConformanceCheck(self, "Range behind the end", ranged.request)
        guard
            let (data, response) = await load(ranged.asking("bytes=\(ranged.whole.count)-"), in: ranged.session, check)
        else { return }
        check.expect(
            21, response.statusCode == 416 || response.statusCode == 200 && data == ranged.whole,
            "the status is \(response.statusCode): answer 416 with Content-Range: bytes */\(ranged.whole.count)")
    }

    private func checkIfRange(_ ranged: Ranged) async {
        _ = await isPart(ranged, "bytes=1-1", 1..<2, ifRange: ranged.validator)
        let check = ConformanceCheck(self, "Range, If-Range with another validator", ranged.request)
        for stale in ["\"loadingkit-stale\"", "Mon, 01 Jan 1990 00:00:00 GMT"] {
            guard
                let (data, response) = await load(ranged.asking("bytes=1-1", ifRange: stale), in: ranged.session, check)
            else { continue }
            check.expect(
                21, response.statusCode == 200 && data == ranged.whole,
                "If-Range names another version, and the answer is \(response.statusCode) with \(data.count) bytes: "
                    + "give 200 and the whole where it is not the current validator")
        }
    }

    /// A download breaks in the middle, and goes on.
    private func checkResumption(_ ranged: Ranged) async {
        let check = ConformanceCheck(self, "download broken in the middle, and resumed", ranged.request)
        let request = ranged.request
        let result = await check.result(21, behind: .breakingOnce(after: ranged.whole.count / 2)) { session in
            do {
                return try Self.content(await session.download(for: request).0)
            } catch let error as URLError {
                guard let rest = error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data else { throw error }
                return try Self.content(await session.download(resumeFrom: rest).0)
            }
        }
        switch result {
        case .success(let data)?:
            check.expect(21, data == ranged.whole, "\(data.count) bytes came that differ from the whole")
        case .failure(let error)?: check.expect(21, false, "it did not go on: \(error)")
        case nil: break
        }
    }

    private static func content(_ file: URL) throws -> Data {
        defer { try? FileManager.default.removeItem(at: file) }
        return try Data(contentsOf: file)
    }
}
