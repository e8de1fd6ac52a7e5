import LoadingKitPrimitives

extension TransactionTimings {
    package var traffic: Traffic {
        var traffic = Traffic()
        traffic.headBytesSent = requestHeaderBytesSent
        traffic.bodyBytesSent = requestBodyBytesSent
        traffic.headBytesReceived = responseHeaderBytesReceived
        traffic.bodyBytesReceived = responseBodyBytesReceived
        traffic.decodedBytes = responseBodyBytesAfterDecoding
        if let start = requestStart, let first = responseStart {
            traffic.timeToFirstByte = first.nanoseconds(since: start)
        }
        return traffic
    }
}
