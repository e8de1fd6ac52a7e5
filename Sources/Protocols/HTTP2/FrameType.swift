/// The types of frames (RFC 9113 §6).
enum FrameType: UInt8 {
    case data, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation
}
