import LoadingKitHTTP2

/// A frame with the bytes that its ranges stood for, so that frames of different inputs can be compared.
enum WholeFrame: Equatable {
    case data(stream: HTTP2StreamID, [UInt8], flowControlled: Int, frameLength: Int, endStream: Bool)
    case block(HTTP2StreamID, promised: HTTP2StreamID?, endStream: Bool, HTTP2Priority?, [UInt8])
    case other(HTTP2Frame)
    case failure(HTTP2Error)
}
