-- What a session's delegate may have.

local options = require "http.options"

local delegate = {}

local HANDLERS = {}
for name in ([[
  session_did_receive_challenge did_become_invalid did_finish_events_for_background_session did_create_task
  task_is_waiting_for_connectivity will_perform_redirection did_receive_challenge need_new_body_stream
  did_send_body_data did_receive_informational_response did_receive_response did_become_download_task
  did_become_stream_task did_open did_close did_receive_data read_closed write_closed better_route_discovered
  did_become_streams did_resume_at_offset will_cache_response did_write_data did_finish_downloading
  did_finish_collecting_metrics did_complete
]]):gmatch "%S+" do HANDLERS[name] = true end

-- A slip of so many letters is none of the script's own names.
local SLIP = 2

-- Raises for a handler that cannot be called, and for a function whose name is nearly a handler's: neither would ever
-- be heard of. What a delegate has besides is the script's own.
function delegate.check(given)
  if type(given) ~= "table" then return end
  for name, value in next, given do
    if HANDLERS[name] then
      if value and not options.is_callable(value) then
        options.misuse("the delegate's '%s' must be a function, not %s", name, type(value))
      end
    elseif type(name) == "string" and type(value) == "function" then
      local near = options.nearest(name, HANDLERS, SLIP)
      if near then options.misuse("a delegate has no handler '%s' (did you mean '%s'?)", name, near) end
    end
  end
end

return delegate
