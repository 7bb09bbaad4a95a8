-- Who gets the scheduler's and the core's events: a table of functions by kind (Host/EventKind.swift has the numbers).
-- Each module puts its own in when it is loaded; before that there is nothing they could be about.

local events = {
  COMPLETED = 1, TIMER = 2, REDIRECT = 3, INFORMATIONAL = 4, RESPONSE = 5, DATA = 6, SENT = 7, PROGRESS = 8,
  BODY_CHUNK = 9, BODY_STREAM = 10, SESSION_INVALIDATED = 11, STOP = 12, FINISH = 13, CHALLENGE = 14,
  LOADER = 16, LOAD_DRAINED = 17, WAITING_FOR_CONNECTIVITY = 18, WILL_CACHE = 20,
  FINISHED_DOWNLOADING = 24, RESUMED = 25, RESUME_DATA = 26,
  KEYRING_USED = 27,
  STREAM_READ = 30, STREAM_WRITTEN = 31, STREAM_CLOSED = 32, STREAM_CAPTURED = 33,
  WEB_SOCKET_OPENED = 34, WEB_SOCKET_MESSAGE = 35, WEB_SOCKET_DONE = 36, WEB_SOCKET_CLOSED = 37,
}

local function ignore() end
for kind = events.COMPLETED, 63 do events[kind] = ignore end

require("httpscript.fiber").dispatcher(events)

return events
