import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

extension SessionCache {
    /// A response, when its head is received.
    final class Receipt {
        let query: CacheQuery
        let request: URLRequest
        let response: HTTPURLResponse
        let user: CacheUser
        /// Whether the server's certificate was trusted. Otherwise nothing is stored.
        let isTrusted: Bool
        let requestTime: Date
        let responseTime: Date
        /// When the load began. Where responses under the response's key were removed since, it is not stored.
        var mark: CacheMark

        init(
            query: CacheQuery, request: URLRequest, response: HTTPURLResponse, user: CacheUser, isTrusted: Bool,
            requestTime: Date, responseTime: Date, mark: CacheMark
        ) {
            self.query = query
            self.request = request
            self.response = response
            self.user = user
            self.isTrusted = isTrusted
            self.requestTime = requestTime
            self.responseTime = responseTime
            self.mark = mark
        }

        /// The request that the response may answer later; nil if there is none.
        var answeredRequest: URLRequest? {
            guard query.method == "POST" else { return query.hasBody ? nil : request }
            guard
                StoragePermission.mayAnswerGET(
                    url: query.url, status: response.statusCode, fields: response.fields,
                    control: CacheControl(response.fields))
            else { return nil }
            var request = request
            request.httpMethod = "GET"
            request.httpBody = nil
            return request
        }
    }

    /// The reason why the response must not be stored after all of it is received; nil where it may be.
    func refusal(of receipt: Receipt) -> CacheDecision? {
        let fields = receipt.response.fields
        guard let request = receipt.answeredRequest else { return .notStoredMethod }
        guard receipt.isTrusted else { return .notStoredUntrusted }
        let refusal = StoragePermission.refusal(
            method: request.httpMethod ?? "GET", requestControl: receipt.query.control,
            status: receipt.response.statusCode, fields: fields, control: CacheControl(fields))
        if let refusal { return refusal }
        return receipt.response.statusCode == 206 && part(of: receipt) == nil ? .notStoredPart : nil
    }

    /// Stores a response, unless the receiver refuses. A response for a single user needs the key
    /// (``needsHash(for:)``).
    ///
    /// - Parameters:
    ///   - isCutOff: the response ended early. It is stored if the rest can be requested later.
    ///   - stored: the stored response that this one completes.
    func store(
        _ receipt: Receipt, _ data: Data, lacksContent: Bool = false, isCutOff: Bool = false,
        joining stored: StoredResponse? = nil, of load: LoadResources, proposingTo receiver: any LoadReceiver
    ) {
        let part = isCutOff ? cutOffPart(of: receipt) : part(of: receipt)
        if isCutOff, part == nil { return load.note(.notStoredIncomplete) }
        guard Self.isOfRange(data, receipt.response, isCutOff: isCutOff) else { return load.note(.notStoredPart) }
        guard let request = receipt.answeredRequest else { return }
        guard let proposed = proposal(receipt, data, part, lacksContent, stored) else {
            load.note(part == nil ? .notStoredUser : .notStoredPart)
            // The next response can be stored after the hash is loaded.
            return needsHash(for: receipt) ? withHash { _ in } : ()
        }
        proposed.isIncomplete = isCutOff || lacksContent
        let refusal: CacheDecision = proposed.isIncomplete ? .notStoredIncomplete : .notStoredProgram
        let (date, metadata, mark) = (receipt.responseTime, proposed.metadata, receipt.mark)
        if let metadata { didUpdate(StoredResponse.Identity(key: CacheKey(request), variant: metadata.variant)) }
        let (events, task) = (LoopTransfer(load.core.events), load.task.identifier)
        receiver.willCache(proposed) { [cache, loop] decided in
            guard let decided else {
                return loop.execute { events.value.note(.cache(refusal), task: task) }
            }
            let kept =
                decided.metadata != nil
                ? decided
                : CachedURLResponse(
                    response: decided.parts.response, data: decided.parts.data, userInfo: decided.parts.userInfo,
                    storagePolicy: decided.parts.storagePolicy, metadata: metadata)
            let isStored = cache.store(kept, for: request, date: date, since: mark)
            loop.execute { events.value.note(.cache(isStored ? .stored : .notStoredRemoved), task: task) }
        }
    }

    private func proposal(
        _ receipt: Receipt, _ data: Data, _ part: CacheMetadata.Part?, _ lacksContent: Bool, _ stored: StoredResponse?
    ) -> CachedURLResponse? {
        let fields = StoragePermission.storableFields(receipt.response.fields)
        guard let owner = owner(of: receipt, CacheControl(fields)),
            let varyKey = VaryKey.of(receipt.user, for: fields, cache.keyedHash)
        else { return nil }
        let metadata = CacheMetadata(
            requestTime: receipt.requestTime, responseTime: receipt.responseTime, varyKey: varyKey,
            owner: owner, part: part, lacksContent: lacksContent)
        let whole = CachedURLResponse(
            response: receipt.response.storable(fields: fields), data: data, userInfo: nil, storagePolicy: .allowed,
            metadata: metadata)
        guard let part else { return whole }
        return joined(whole, part, receipt, stored)
    }

    // MARK: Parts

    /// The part that a 206 contains. It answers requests for ranges within it, and with a strong tag it is joined with
    /// others (RFC 9111 §3.3, §3.4). Nil for several parts, and for encoded ones, whose bytes are not the
    /// representation's.
    private func part(of receipt: Receipt) -> CacheMetadata.Part? {
        let fields = receipt.response.fields
        guard receipt.response.statusCode == 206, !fields.contains(.contentEncoding),
            let range = fields[.contentRange].flatMap(ContentRange.init)
        else { return nil }
        return CacheMetadata.Part(start: range.range.lowerBound, total: range.total)
    }

    /// Whether a 206 has the bytes of its range: a body need not have the length of the range in its head.
    private static func isOfRange(_ data: Data, _ response: HTTPURLResponse, isCutOff: Bool) -> Bool {
        guard response.statusCode == 206, let range = response.fields[.contentRange].flatMap(ContentRange.init)?.range
        else { return true }
        return isCutOff ? data.count <= range.count : data.count == range.count
    }

    /// The part that an incomplete response contains. The beginning of a 200 is a part, too.
    private func cutOffPart(of receipt: Receipt) -> CacheMetadata.Part? {
        let response = receipt.response
        guard response.statusCode == 200 else { return part(of: receipt) }
        guard Self.canBeJoined(response.fields), response.expectedContentLength > 0 else { return nil }
        return CacheMetadata.Part(start: 0, total: response.expectedContentLength)
    }

    private static func canBeJoined(_ fields: HTTPFields) -> Bool {
        !fields.contains(.contentEncoding) && fields[.etag].map(EntityTag.isStrong) == true
    }

    /// The part joined with the stored parts of the same representation (RFC 9111 §3.4). Nil if the whole
    /// representation is already stored, or may be: only a read of the disk, or the program's own code, can tell.
    private func joined(
        _ new: CachedURLResponse, _ part: CacheMetadata.Part, _ receipt: Receipt, _ stored: StoredResponse?
    ) -> CachedURLResponse? {
        guard let head = new.parts.response as? HTTPURLResponse, var metadata = new.metadata else { return nil }
        let inMemory = cache.entriesInMemory(for: CacheKey(method: "GET", url: receipt.query.url))
        guard let entries = inMemory ?? (stored == nil ? nil : []) else { return nil }
        // A response that was read from the disk may have left memory.
        let known = (entries.compactMap { StoredResponse($0, method: "GET") } + (stored.map { [$0] } ?? []))
            .filter { $0.metadata.variant == metadata.variant }
        let others = known.filter { PartialContent.isSameRepresentation($0.fields, head.fields) }
        if others.contains(where: \.isWhole) { return nil }
        // A part without a strong tag may be older than the stored whole representation, and does not replace it.
        if !Self.canBeJoined(head.fields), known.contains(where: \.isWhole) { return nil }
        var piece = (start: part.start, data: new.parts.data)
        for other in others {
            guard let start = other.metadata.part?.start else { continue }
            piece = PartialContent.joined(piece, (start, other.data)) ?? piece
        }
        let isWhole = piece.start == 0 && part.total == Int64(piece.data.count)
        metadata.part = isWhole ? nil : CacheMetadata.Part(start: piece.start, total: part.total)
        return CachedURLResponse(
            response: isWhole ? Self.whole(head, piece.data.count) : head, data: piece.data, userInfo: nil,
            storagePolicy: .allowed, metadata: metadata)
    }

    private static func whole(_ head: HTTPURLResponse, _ count: Int) -> HTTPURLResponse {
        var fields = head.fields
        fields.remove(.contentRange)
        fields.set(.contentLength, String(count))
        return HTTPURLResponse(
            url: head.url ?? URL(fileURLWithPath: "/"), statusCode: 200, httpVersion: head.httpVersion, fields: fields,
            expectedContentLength: Int64(count))
    }

    // MARK: Updating and invalidating

    /// The stored response, updated by a 304 (RFC 9111 §4.3.4), and whether it still answers the same requests. The
    /// delegate has agreed to its storage before.
    func freshen(_ stored: StoredResponse, _ receipt: Receipt) -> (StoredResponse, answersSameRequests: Bool) {
        let update = receipt.response.fields
        // The 304 has another tag than the stored response. The stored response answers this request, and is validated
        // again for the next one.
        guard StoredUpdate.applies(update, to: stored) else { return (stored, true) }
        var varyKey: [CacheMetadata.VaryField]? = stored.metadata.varyKey
        if VaryKey.changes(stored, by: update) {
            invalidate(receipt.query.url, by: receipt, storing: stored.method)
            // Only a tag shows that the server selects the stored response for this request.
            varyKey = stored.fields.contains(.etag) ? VaryKey.of(receipt.user, for: update, cache.keyedHash) : nil
        }
        let (updated, isStored) = updated(stored, receipt, varyKey: varyKey)
        if isStored, !CacheControl(update).has(.noStore) {
            store(updated, of: stored, receipt)
        }
        // The exchanges that wait may use the stored response. The updated one may be for the validating user alone.
        let wasForAllUsers = stored.isFromProgram || stored.control.has(.isPublic)
        let isForSameUsers = !wasForAllUsers || updated.control.has(.isPublic)
        return (updated, isStored && isForSameUsers && updated.metadata.variant == stored.metadata.variant)
    }

    /// The stored response with the new fields, and whether it can be stored.
    ///
    /// - Parameter varyKey: nil if the requests that the response may answer later are unknown.
    private func updated(
        _ stored: StoredResponse, _ receipt: Receipt, varyKey: [CacheMetadata.VaryField]?
    ) -> (StoredResponse, isStored: Bool) {
        let fields = StoredUpdate.merged(stored.fields, receipt.response.fields)
        let owner = owner(of: receipt, CacheControl(fields), updating: stored)
        let updated = stored.updated(
            fields: fields, varyKey: varyKey ?? stored.metadata.varyKey, owner: owner ?? stored.metadata.owner,
            requestTime: receipt.requestTime, responseTime: receipt.responseTime)
        return (updated, varyKey != nil && owner != nil && receipt.isTrusted)
    }

    private func store(_ updated: StoredResponse, of stored: StoredResponse, _ receipt: Receipt) {
        var request = receipt.request
        request.httpMethod = stored.method
        // A public response has become a single user's, or the other way round. The old variant must not stay beside
        // the new one.
        if updated.metadata.variant != stored.metadata.variant, let key = CacheKey(request) {
            receipt.mark = cache.remove([key], by: receipt.mark, storing: key)
        }
        cache.store(updated.cached, for: request, date: receipt.responseTime, since: receipt.mark)
        didUpdate(stored.identity)
    }

    func applyEffects(of receipt: Receipt) {
        let (response, query) = (receipt.response, receipt.query)
        let changed = CacheInvalidation.urls(
            method: query.method, url: query.url, status: response.statusCode, fields: response.fields)
        // Only as a response to GET can one to an unsafe method be stored.
        for url in changed { invalidate(url, by: receipt, storing: "GET") }
        if query.method == "HEAD", response.statusCode == 200 { applyHead(receipt) }
    }

    /// Updates the stored responses after a response to HEAD (RFC 9111 §4.3.5).
    private func applyHead(_ receipt: Receipt) {
        find("GET", receipt.query.url) { [self] stored in
            for response in stored where mayAnswer(receipt.user, with: response) {
                applyHead(receipt, of: response)
            }
        }
    }

    private func applyHead(_ receipt: Receipt, of stored: StoredResponse) {
        guard StoredUpdate.headAgrees(receipt.response.fields, with: stored) else {
            return invalidate(receipt.query.url, by: receipt, storing: "HEAD")
        }
        let (updated, isStored) = updated(stored, receipt, varyKey: stored.metadata.varyKey)
        if isStored { store(updated, of: stored, receipt) }
    }

    func invalidate(_ url: URL) { for key in Self.keys(of: url) { cache.remove(key) } }

    /// - Parameter method: the method under which the receipt's response may be stored afterwards.
    private func invalidate(_ url: URL, by receipt: Receipt, storing method: String) {
        let own = CacheKey(method: method, url: receipt.query.url)
        receipt.mark = cache.remove(Self.keys(of: url), by: receipt.mark, storing: own)
    }

    private static func keys(of url: URL) -> [CacheKey] { ["GET", "HEAD"].map { CacheKey(method: $0, url: url) } }
}

extension LoadResources {
    /// Notes a decision of the cache about this load.
    func note(_ decision: CacheDecision, _ detail: @autoclosure () -> String = "") {
        core.events.note(.cache(decision), task: task.identifier, detail())
    }
}
