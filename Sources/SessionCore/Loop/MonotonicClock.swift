import Glibc

/// Seconds that only go forward; the time base of every deadline in the process.
public enum MonotonicClock {
  public static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}
