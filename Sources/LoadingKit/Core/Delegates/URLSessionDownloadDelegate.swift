import Foundation

/// Receives the events of downloads.
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    /// The download is complete, in a file that is deleted when this method returns: open it or move it. Called before
    /// `didCompleteWithError`.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

    /// Bytes were written to the file. The expected total is -1 (`NSURLSessionTransferSizeUnknown`) when it is not
    /// known. A busy delegate is later told in one call of all bytes that were written meanwhile.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)

    /// A resumed download continues at `fileOffset`. This is 0 when the download has to start from the beginning: the
    /// resource has changed, the server does not send the rest, or the earlier bytes are no longer there.
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64)
}

extension URLSessionDownloadDelegate {
    /// Calls the session's delegate.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        (session.delegate(after: self) as? any URLSessionDownloadDelegate)?
            .urlSession(
                session, downloadTask: downloadTask, didWriteData: bytesWritten, totalBytesWritten: totalBytesWritten,
                totalBytesExpectedToWrite: totalBytesExpectedToWrite)
    }

    /// Calls the session's delegate.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        (session.delegate(after: self) as? any URLSessionDownloadDelegate)?
            .urlSession(
                session, downloadTask: downloadTask, didResumeAtOffset: fileOffset,
                expectedTotalBytes: expectedTotalBytes)
    }
}
