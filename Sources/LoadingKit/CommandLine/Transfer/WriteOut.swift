#if CommandLineTool
    import Foundation
    @_spi(LoadingKitPlugins) import LoadingKit

    /// The text of `-w`: variables of curl's, with the values of a load.
    struct WriteOut {
        private let response: URLResponse?
        private let transactions: [URLSessionTaskTransactionMetrics]
        private let values: [String: String]

        /// - Parameter failure: nil for success.
        init(_ transfer: Transfer, _ failure: ToolFailure?, _ task: URLSessionTask) {
            transactions = transfer.metrics?.transactionMetrics ?? []
            response = transfer.response ?? Self.lastRedirect(transactions)
            var values = Self.times(transfer.metrics)
            values.merge(Self.connection(transactions)) { $1 }
            values.merge(Self.sizes(transactions, transfer)) { $1 }
            let (http, url) = (response as? HTTPURLResponse, task.currentRequest?.url)
            let effective = response?.url ?? url
            let isFollowed = transfer.plan.rules.followsRedirects && transfer.response != nil
            let facts: [String: String?] = [
                "http_code": String(format: "%03d", http?.statusCode ?? 0),
                "response_code": String(format: "%03d", http?.statusCode ?? 0),
                "content_type": http?.value(forHTTPHeaderField: "Content-Type") ?? response?.mimeType,
                "exitcode": "\(failure?.status.rawValue ?? 0)", "errormsg": failure?.reason,
                "filename_effective": transfer.writer.path, "method": transfer.load.request.httpMethod,
                "num_redirects": "\(transfer.redirectCount)", "num_retries": "\(transfer.attempt)",
                "redirect_url": Self.redirect(http, isFollowed),
                "referer": transfer.load.request.value(forHTTPHeaderField: "Referer"),
                "scheme": effective?.scheme?.lowercased(), "url": transfer.load.label,
                "url_effective": effective?.withoutPassword, "urlnum": "\(transfer.index)",
                "xfer_id": "\(transfer.index)",
            ]
            values.merge(facts.compactMapValues { $0 ?? "" }) { $1 }
            self.values = values
        }

        /// Replaces the variables, and `\n`, `\r` and `\t`. What follows `%{stderr}` goes to standard error. Values have
        /// escapes where they go to a terminal; the user's own text stays.
        func text(_ format: String, _ outlets: Outlets) -> (output: String, errors: String) {
            var texts = (output: "", errors: "")
            var goesToErrors = false
            func add(_ text: String) { if goesToErrors { texts.errors += text } else { texts.output += text } }
            func addValue(_ value: String) {
                let isForTerminal = goesToErrors ? outlets.errors.isTerminal : outlets.screen != nil
                add(isForTerminal ? PlainText.line(value) : value)
            }
            var rest = format[...]
            while let character = rest.popFirst() {
                switch (character, rest.first) {
                case ("\\", "n"?), ("\\", "r"?), ("\\", "t"?):
                    add(["n": "\n", "r": "\r", "t": "\t"][rest.removeFirst()] ?? "")
                case ("%", "%"?): add(String(rest.removeFirst()))
                case ("%", "{"?):
                    guard let end = rest.firstIndex(of: "}") else { return texts }
                    let name = String(rest[..<end].dropFirst())
                    rest = rest[rest.index(after: end)...]
                    if name == "stderr" || name == "stdout" {
                        goesToErrors = name == "stderr"
                    } else {
                        addValue(value(name))
                    }
                case ("%", _) where rest.hasPrefix("header{"):
                    guard let end = rest.firstIndex(of: "}") else { return texts }
                    addValue(field(String(rest[..<end].dropFirst(7))))
                    rest = rest[rest.index(after: end)...]
                case _: add(String(character))
                }
            }
            return texts
        }

        private func field(_ name: String) -> String {
            (response as? HTTPURLResponse)?.value(forHTTPHeaderField: name) ?? ""
        }

        /// Empty where curl has no such variable.
        private func value(_ name: String) -> String {
            switch name {
            case "json": Self.json(values)
            case "header_json":
                Self.json(
                    Dictionary(grouping: (response as? HTTPURLResponse)?.headerFields ?? []) { $0.name.lowercased() }
                        .mapValues { $0.map(\.value) })
            case _: values[name] ?? ""
            }
        }

        private static func json(_ value: some Encodable) -> String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }

        /// The response of a load that fails at a redirect.
        private static func lastRedirect(_ transactions: [URLSessionTaskTransactionMetrics]) -> URLResponse? {
            guard let last = transactions.last?.response as? HTTPURLResponse, (300..<400).contains(last.statusCode)
            else { return nil }
            return last
        }

        /// The URL to which the response redirects, where that is not followed.
        private static func redirect(_ response: HTTPURLResponse?, _ follows: Bool) -> String {
            guard let response, !follows, (300..<400).contains(response.statusCode),
                let location = response.value(forHTTPHeaderField: "Location")
            else { return "" }
            return response.redirectURL?.absoluteString ?? location
        }

        private static func connection(_ transactions: [URLSessionTaskTransactionMetrics]) -> [String: String] {
            let last = transactions.last
            let version = last?.networkProtocolName ?? ""
            return [
                "remote_ip": last?.remoteAddress ?? "", "remote_port": last?.remotePort ?? "",
                "local_ip": last?.localAddress ?? "", "local_port": last?.localPort ?? "",
                "http_version": version == "h2" ? "2" : version.hasPrefix("http/") ? String(version.dropFirst(5)) : "0",
                "num_connects": "\(transactions.count { $0.connectStartDate != nil && !$0.isReusedConnection })",
                "proxy_used": last?.isProxyConnection == true ? "1" : "0",
            ]
        }

        private static func sizes(
            _ transactions: [URLSessionTaskTransactionMetrics], _ transfer: Transfer
        ) -> [String: String] {
            let seconds = max(transfer.metrics?.taskInterval.duration ?? 0, 1e-6)
            let sent = transactions.reduce(0) { $0 + $1.countOfRequestBodyBytesBeforeEncoding }
            let received = downloadedBytes(transactions.last, transfer)
            func speed(_ count: Int64) -> String { "\(Int64(min(Double(count) / seconds, 1e18)))" }
            return [
                "size_download": "\(received)", "size_upload": "\(sent)",
                "size_header": "\(transactions.reduce(0) { $0 + $1.countOfResponseHeaderBytesReceived })",
                "size_request": "\(transactions.reduce(0) { $0 + $1.countOfRequestHeaderBytesSent })",
                "speed_download": speed(received), "speed_upload": speed(sent),
            ]
        }

        /// The bytes of the body before content decoding; those that were written where no server sent this response.
        private static func downloadedBytes(
            _ last: URLSessionTaskTransactionMetrics?, _ transfer: Transfer
        ) -> Int64 {
            guard let last, last.resourceFetchType == .networkLoad, let response = last.response as? HTTPURLResponse,
                response.url == transfer.response?.url
            else { return transfer.writer.count }
            return last.countOfResponseContentBytesReceived
        }

        /// Seconds since the start; 0 for a step that did not take place.
        private static func times(_ metrics: URLSessionTaskMetrics?) -> [String: String] {
            let last = metrics?.transactionMetrics.last
            let start = metrics?.taskInterval.start ?? Date()
            func seconds(_ date: Date?) -> String {
                String(format: "%.6f", date.map { max($0.timeIntervalSince(start), 0) } ?? 0)
            }
            let hasRedirects = (metrics?.redirectCount ?? 0) > 0
            return [
                "time_namelookup": seconds(last?.domainLookupEndDate),
                "time_connect": seconds(last?.secureConnectionStartDate ?? last?.connectEndDate),
                "time_appconnect": seconds(last?.secureConnectionEndDate),
                "time_pretransfer": seconds(last?.requestStartDate),
                "time_posttransfer": seconds(last?.requestEndDate),
                "time_starttransfer": seconds(last?.responseStartDate),
                "time_redirect": seconds(hasRedirects ? last?.fetchStartDate : nil),
                "time_total": String(format: "%.6f", metrics?.taskInterval.duration ?? 0),
            ]
        }
    }
#endif
