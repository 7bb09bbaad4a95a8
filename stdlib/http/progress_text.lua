-- The words of http.progress: sizes, times, and one bar as a line of a given width.

local text = {}

local UNITS = { "B", "kB", "MB", "GB", "TB", "PB" }

-- A size in three figures: "999 B", "1.25 MB" (decimal units). A rate need not be a whole number.
function text.size(bytes)
  local unit = 1
  while bytes >= 999.5 and unit < #UNITS do
    bytes, unit = bytes / 1000, unit + 1
  end
  local digits = (unit == 1 or bytes >= 99.95) and 0 or bytes >= 9.995 and 1 or 2
  return ("%." .. digits .. "f %s"):format(bytes, UNITS[unit])
end

-- Seconds as "0:07", "12:34" or "3:00:00".
function text.duration(seconds)
  local whole = math.floor(seconds + 0.5)
  if whole < 3600 then return ("%d:%02d"):format(whole // 60, whole % 60) end
  return ("%d:%02d:%02d"):format(whole // 3600, whole // 60 % 60, whole % 60)
end

-- Without what would move the cursor.
function text.printable(label)
  return (label:gsub("[%c\127]", "?"))
end

-- How many columns a text takes, about: one for each character.
local function width_of(piece) return utf8.len(piece) or #piece end

-- At most `width` columns of a text; "…" stands for what is left out.
function text.cut(piece, width)
  if width_of(piece) <= width then return piece end
  if width < 1 then return "" end
  local stop = utf8.len(piece) and utf8.offset(piece, width) or width
  return piece:sub(1, stop - 1) .. "…"
end

-- What is done, from 0 to 1; nil where the whole is not known.
local function fraction(bar)
  if not bar.total then return nil end
  if bar.total == 0 then return 1 end
  return math.min(bar.received / bar.total, 1)
end

local function average(bar, now)
  local seconds = now - bar.started
  return seconds > 0 and bar.received / seconds or nil
end

-- Seconds until it is done, as far as can be said: not where next to nothing comes.
local function left(bar)
  if not bar.total or not bar.rate or bar.rate < 1 then return nil end
  return (bar.total - bar.received) / bar.rate
end

-- A bar as a plain line, for a log.
function text.plain(bar, now)
  local head = bar.label == "" and "" or bar.label .. ": "
  if bar.failed then return head .. "failed: " .. text.printable(bar.note or "") end
  if bar.done then
    local rate = average(bar, now)
    return ("%s%s in %s%s%s"):format(head, text.size(bar.received), text.duration(now - bar.started),
      rate and (", " .. text.size(rate) .. "/s") or "", bar.note and (" (" .. text.printable(bar.note) .. ")") or "")
  end
  local parts = { text.size(bar.received) }
  local part = fraction(bar)
  if part then parts[1] = ("%d %%, %s of %s"):format(part * 100 // 1 | 0, parts[1], text.size(bar.total)) end
  if bar.rate then parts[#parts + 1] = text.size(bar.rate) .. "/s" end
  local rest = left(bar)
  if rest then parts[#parts + 1] = text.duration(rest) .. " left" end
  return head .. table.concat(parts, ", ")
end

-- The figures behind the bar, most important first; later ones are left out where the line is short.
local function figures(bar, now)
  if bar.done then
    local list = { text.size(bar.received), text.duration(now - bar.started) }
    local rate = average(bar, now)
    if rate then list[#list + 1] = text.size(rate) .. "/s" end
    if bar.note then list[#list + 1] = text.printable(bar.note) end
    return list
  end
  local list, part, rest = {}, fraction(bar), left(bar)
  if part then list[1] = ("%3d %%"):format(part * 100 // 1 | 0) end
  list[#list + 1] = part and (text.size(bar.received) .. " of " .. text.size(bar.total)) or text.size(bar.received)
  if bar.rate then list[#list + 1] = text.size(bar.rate) .. "/s" end
  list[#list + 1] = rest and ("ETA " .. text.duration(rest)) or text.duration(now - bar.started)
  return list
end

local MIN_GAUGE, MAX_GAUGE = 10, 30

-- "[=====>    ]" in so many columns.
local function gauge(part, width)
  local inside = width - 2
  local filled = math.floor(part * inside)
  local head = filled > 0 and filled < inside and ("="):rep(filled - 1) .. ">" or ("="):rep(filled)
  return "[" .. head .. (" "):rep(inside - filled) .. "]"
end

-- A bar as a line of at most `width` columns.
function text.bar(bar, now, width)
  if bar.failed then return text.cut(text.plain(bar, now), width) end
  local list = figures(bar, now)
  local label_width = math.min(width_of(bar.label), math.max(width // 3, 8))
  local tail = ""
  for index, one in ipairs(list) do
    local longer = index == 1 and one or tail .. "  " .. one
    if label_width + 2 + width_of(longer) > width then break end
    tail = longer
  end
  local label = text.cut(bar.label, label_width)
  local room = width - width_of(label) - width_of(tail) - 4
  local part = fraction(bar)
  if part and not bar.done and room >= MIN_GAUGE then
    tail = gauge(part, math.min(room, MAX_GAUGE)) .. "  " .. tail
  end
  local line = label == "" and tail or label .. "  " .. tail
  return text.cut(line, width)
end

return text
