-- Metrics of a task, unpacked from the core's record when a script first looks at them.

local metrics = {}

local TRANSACTION = "=ddddddddddd" .. "i8i8i8i8i8i8i8i8" .. "s4s4s4s4s4s4s4"

-- Bytes sent, received, expected to be sent and received come first.
local COUNTS, COUNTS_SIZE = "=i8i8i8i8", 32

function metrics.counts(record)
  local sent, received, to_send, to_receive = string.unpack(COUNTS, record)
  return sent, received, to_send, to_receive
end

-- Times that did not occur are NaN in the record and absent here.
local function time(value)
  if value == value then return value end
end

local FETCH_TYPES = { [0] = "network_load", "local_cache", "unknown" }

local function read_transaction(record, position)
  local one = {}
  local flags, status, name, tls, cipher
  local times = { string.unpack(TRANSACTION, record, position) }
  one.fetch_start = time(times[1])
  one.domain_lookup_start, one.domain_lookup_end = time(times[2]), time(times[3])
  one.connect_start, one.connect_end = time(times[4]), time(times[5])
  one.secure_connection_start, one.secure_connection_end = time(times[6]), time(times[7])
  one.request_start, one.request_end = time(times[8]), time(times[9])
  one.response_start, one.response_end = time(times[10]), time(times[11])
  status, flags = times[12], times[13]
  one.is_proxy_connection, one.is_reused_connection = flags & 1 ~= 0, flags & 2 ~= 0
  one.count_of_request_header_bytes_sent, one.count_of_request_body_bytes_sent = times[14], times[15]
  one.count_of_response_header_bytes_received, one.count_of_response_body_bytes_received = times[16], times[17]
  one.local_port, one.remote_port = times[18], times[19]
  one.request = { method = times[20], url = times[21] }
  if status ~= 0 then one.response = { status = status, url = times[21] } end
  name, one.local_address, one.remote_address, tls, cipher = times[22], times[23], times[24], times[25], times[26]
  one.network_protocol_name = name ~= "" and name or nil
  one.negotiated_tls_protocol_version = tls ~= "" and tls or nil
  one.negotiated_tls_cipher_suite = cipher ~= "" and cipher or nil
  one.resource_fetch_type = FETCH_TYPES[flags >> 2 & 3]
  return one, times[27]
end

-- Record -> { task_interval = { start, duration }, redirect_count, transaction_metrics }.
function metrics.unpack(record)
  local start, duration, redirects, count, position = string.unpack("=ddi8i8", record, COUNTS_SIZE + 1)
  local transactions = {}
  for i = 1, count do transactions[i], position = read_transaction(record, position) end
  return {
    task_interval = { start = start, duration = duration },
    redirect_count = redirects,
    transaction_metrics = transactions,
  }
end

return metrics
