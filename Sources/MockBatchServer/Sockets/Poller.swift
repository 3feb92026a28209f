#if os(Linux)
  import CEpoll
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What to be told about a descriptor. The peer's end of file and broken connections are always
/// reported, unless the interest is `nothing`.
struct Interest: OptionSet {
  let rawValue: UInt8
  static let read = Interest(rawValue: 1)
  static let write = Interest(rawValue: 2)
  /// The peer's end of file, without reading.
  static let hangup = Interest(rawValue: 4)
}

/// What a descriptor is ready for.
struct Readiness: OptionSet {
  let rawValue: UInt8
  static let read = Readiness(rawValue: 1)
  static let write = Readiness(rawValue: 2)
  /// The peer will send no more.
  static let peerClosed = Readiness(rawValue: 4)
  /// The connection is broken in both directions.
  static let broken = Readiness(rawValue: 8)
}

#if os(Linux)
  /// Readiness of many descriptors, by epoll, level triggered.
  final class Poller {
    private let epoll: Socket
    private let wakeUp: Socket
    private var events: [epoll_event]

    private static let maxEventsPerWait = 256
    private static let wakeToken = UInt64.max

    init() throws {
      let made = epoll_create1(Int32(EPOLL_CLOEXEC))
      guard made >= 0 else {
        throw SocketError(operation: "epoll_create1", code: errno, subject: "event loop")
      }
      epoll = Socket(descriptor: made)
      let event = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
      guard event >= 0 else {
        throw SocketError(operation: "eventfd", code: errno, subject: "event loop")
      }
      wakeUp = Socket(descriptor: event)
      events = Array(repeating: epoll_event(), count: Poller.maxEventsPerWait)
      _ = control(EPOLL_CTL_ADD, wakeUp.descriptor, Poller.wakeToken, .read)
    }

    func add(_ descriptor: Int32, token: UInt64, _ interest: Interest) -> Bool {
      control(EPOLL_CTL_ADD, descriptor, token, interest)
    }

    func change(_ descriptor: Int32, token: UInt64, _ interest: Interest) -> Bool {
      control(EPOLL_CTL_MOD, descriptor, token, interest)
    }

    func remove(_ descriptor: Int32) {
      _ = control(EPOLL_CTL_DEL, descriptor, 0, [])
    }

    private func control(
      _ operation: Int32, _ descriptor: Int32, _ token: UInt64, _ interest: Interest
    ) -> Bool {
      var event = epoll_event()
      event.data.u64 = token
      if interest.contains(.read) { event.events |= EPOLLIN.rawValue }
      if interest.contains(.write) { event.events |= EPOLLOUT.rawValue }
      if interest.contains(.hangup) { event.events |= EPOLLRDHUP.rawValue }
      return epoll_ctl(epoll.descriptor, operation, descriptor, &event) == 0
    }

    /// Waits until something is ready or `wake` was called, and reports each descriptor by token.
    func wait(_ body: (UInt64, Readiness) -> Void) {
      let count = epoll_wait(epoll.descriptor, &events, Int32(events.count), -1)
      guard count > 0 else { return }
      for index in 0..<Int(count) {
        let event = events[index]
        if event.data.u64 == Poller.wakeToken {
          var value: UInt64 = 0
          // EAGAIN only says that another wake-up was read along with this one.
          _ = read(wakeUp.descriptor, &value, 8)
          continue
        }
        var readiness: Readiness = []
        if event.events & EPOLLIN.rawValue != 0 { readiness.insert(.read) }
        if event.events & EPOLLOUT.rawValue != 0 { readiness.insert(.write) }
        if event.events & EPOLLRDHUP.rawValue != 0 { readiness.insert(.peerClosed) }
        if event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 {
          readiness.insert(.broken)
        }
        body(event.data.u64, readiness)
      }
    }

    /// Gives the descriptors back; nothing may be called after it.
    func close() {
      epoll.close()
      wakeUp.close()
    }

    /// Ends the present or next `wait`. Any thread.
    func wake() {
      var one: UInt64 = 1
      // The counter can only be full when a wake-up is pending already.
      _ = write(wakeUp.descriptor, &one, 8)
    }
  }
#else
  /// Readiness of many descriptors, by poll.
  final class Poller {
    private var entries: [Int32: (token: UInt64, interest: Interest)] = [:]
    private let reading: Socket
    private let writing: Socket

    init() throws {
      var ends: [Int32] = [0, 0]
      guard pipe(&ends) == 0 else {
        throw SocketError(operation: "pipe", code: errno, subject: "event loop")
      }
      for end in ends {
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
      }
      reading = Socket(descriptor: ends[0])
      writing = Socket(descriptor: ends[1])
    }

    func add(_ descriptor: Int32, token: UInt64, _ interest: Interest) -> Bool {
      entries[descriptor] = (token, interest)
      return true
    }

    func change(_ descriptor: Int32, token: UInt64, _ interest: Interest) -> Bool {
      add(descriptor, token: token, interest)
    }

    func remove(_ descriptor: Int32) { entries[descriptor] = nil }

    /// Waits until something is ready or `wake` was called, and reports each descriptor by token.
    func wait(_ body: (UInt64, Readiness) -> Void) {
      var polled = [pollfd(fd: reading.descriptor, events: Int16(POLLIN), revents: 0)]
      for (descriptor, entry) in entries {
        var events: Int16 = 0
        if entry.interest.contains(.read) { events |= Int16(POLLIN) }
        if entry.interest.contains(.write) { events |= Int16(POLLOUT) }
        polled.append(pollfd(fd: descriptor, events: events, revents: 0))
      }
      guard poll(&polled, nfds_t(polled.count), -1) > 0 else { return }
      if polled[0].revents != 0 {
        var drain = [UInt8](repeating: 0, count: 256)
        // The bytes carry nothing; an error only means that they are gone already.
        _ = read(reading.descriptor, &drain, drain.count)
      }
      for entry in polled.dropFirst() where entry.revents != 0 {
        guard let token = entries[entry.fd]?.token else { continue }
        var readiness: Readiness = []
        if entry.revents & Int16(POLLIN) != 0 { readiness.insert(.read) }
        if entry.revents & Int16(POLLOUT) != 0 { readiness.insert(.write) }
        if entry.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0 { readiness.insert(.broken) }
        body(token, readiness)
      }
    }

    /// Gives the descriptors back; nothing may be called after it.
    func close() {
      reading.close()
      writing.close()
    }

    /// Ends the present or next `wait`. Any thread.
    func wake() {
      var one: UInt8 = 1
      // A full pipe means that a wake-up is pending already.
      _ = write(writing.descriptor, &one, 1)
    }
  }
#endif
