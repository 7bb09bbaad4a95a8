-- The dialogue: what `httpscript` without a script does on a terminal.
--
-- It asks for lines until they make a chunk, runs the chunk as a job (so that it may wait, and Ctrl-C can cancel it
-- with all it began), shows what it returns, and asks again. Jobs and tasks that a chunk left behind go on meanwhile.

local core = require "httpscript.core"
local errors = require "http.errors"
local fibers = require "http.fibers"
local inspect = require "http.inspect"
local native = require "httpscript.fiber"
local prompt = require "httpscript.prompt"
local terminal = require "http.terminal"

-- Chunks may put something else in their places.
local debug, io, table, load, select, tostring, xpcall = debug, io, table, load, select, tostring, xpcall
local getmetatable, pcall, print, require, type = getmetatable, pcall, print, require, type

local FIRST, FURTHER = "> ", ">> "

-- The environment of chunks: _G, and what would be tedious to require by hand. Nothing of that is put into _G. --------

local preloaded = { http = "http", json = "json" }

-- As print, without running into the line that is being typed.
local extras = {
  print = function(...)
    prompt.make_way()
    local ok, message = pcall(print, ...)
    prompt.take_up()
    if not ok then error(message, 0) end
  end,
}

local environment = setmetatable({}, {
  __index = function(_, name)
    local value = extras[name]
    if value == nil then value = _G[name] end
    if value == nil and preloaded[name] then return require(preloaded[name]) end
    return value
  end,
  __newindex = function(_, name, value)
    extras[name], preloaded[name] = nil, nil
    _G[name] = value
  end,
})

-- Reading -----------------------------------------------------------------------------------------------------------

-- Waits for what is typed: "line" and the text, "interrupt" or "end".
local function ask(text)
  io.stdout:flush()
  prompt.ask(text)
  while true do
    native.park()
    local event, line = prompt.event()
    if event then return event, line end
  end
end

local function is_incomplete(message) return message:sub(-5) == "<eof>" end

-- The text as a function: first as an expression, then as statements. Otherwise nil, and the message or, where more
-- lines may complete it, nothing.
local function compile(text)
  local expression, wish = load("return " .. text:gsub("^%s*=", "", 1), "=stdin", "t", environment)
  if expression then return expression end
  local chunk, message = load(text, "=stdin", "t", environment)
  if chunk then return chunk end
  if is_incomplete(message) or is_incomplete(wish) then return nil end
  return nil, text:find("^%s*=") and wish or message
end

-- Running -----------------------------------------------------------------------------------------------------------

local function describe(value)
  local metatable = getmetatable(value)
  if type(value) ~= "string" and not (type(metatable) == "table" and metatable.__tostring) then
    return ("(error object is a %s value)"):format(type(value))
  end
  local ok, text = pcall(tostring, value)
  return ok and text or "(error object whose __tostring failed)"
end

local function with_traceback(value)
  local trace = debug.traceback("", 2)
  -- What called the chunk is of no interest.
  local below = trace:find("\n\t[C]: in function 'xpcall'\n\t[httpscript]http.dialogue", 1, true)
  return { value = value, text = describe(value) .. trace:sub(1, below and below - 1) }
end

local function show(...)
  local count = select("#", ...)
  if count == 0 then return end
  local texts, width = {}, terminal.columns(1)
  for i = 1, count do texts[i] = inspect((select(i, ...)), width) end
  local text = table.concat(texts, "\t")
  if count > 1 and text:find("\n", 1, true) then text = table.concat(texts, "\n") end
  io.stdout:write(text, "\n")
end

local function complain(text)
  io.stdout:flush()
  io.stderr:write(text, "\n")
end

-- What is raised in a chunk that does not heed being cancelled.
local STOPPED = setmetatable({}, { __tostring = function() return "interrupted" end })

local function report(run, ok, ...)
  if ok then return show(...) end
  local raised = ...
  if type(raised) ~= "table" then return complain(tostring(raised)) end
  local value = raised.value
  local is_cancelled = value == STOPPED or errors.is(value) and value.code == "cancelled"
  -- The terminal has echoed ^C.
  if run.interrupts > 0 or value == "interrupted" then complain("") end
  complain(run.interrupts > 0 and is_cancelled and "interrupted" or raised.text)
end

-- The chunk in its job: its values or its error, shown. Never raises.
local function perform(run, chunk)
  run.coroutine = coroutine.running()
  report(run, xpcall(chunk, with_traceback))
end

-- A hook that raises until the chunk's functions have all been left.
local function raise_out()
  if debug.getinfo(2, "S").short_src == "[httpscript]http.dialogue" then return debug.sethook() end
  error(STOPPED, 0)
end

-- Ctrl-C: first the chunk is cancelled as a job is; pressed again, it is raised out of, whatever it catches.
local function interrupt(run)
  run.interrupts = run.interrupts + 1
  if run.interrupts == 1 or not run.coroutine then return run.job:cancel() end
  debug.sethook(run.coroutine, raise_out, "", 1)
  core.cancel_call(run.job.fiber)
  core.wake(run.job.fiber)
end

-- Runs a chunk, and returns when it has ended.
local function run_chunk(chunk)
  local main, run = native.current(), { interrupts = 0, done = false }
  run.job = fibers.spawn(function()
    perform(run, chunk)
    run.done = true
    core.wake(main)
  end)
  while not run.done do
    native.park()
    if not run.done and prompt.event() == "interrupt" then
      interrupt(run)
      -- Cancelled before its first turn, it will not have one.
      if not run.coroutine then return end
    end
  end
end

-- The dialogue ------------------------------------------------------------------------------------------------------

-- Asks for lines until they make a chunk. False: the dialogue is over.
local function read_chunk()
  local text
  while true do
    local event, line = ask(text and FURTHER or FIRST)
    if event == "end" then return false end
    if event == "interrupt" then return nil end
    text = text and text .. "\n" .. line or line
    local chunk, message = compile(text)
    if chunk then return chunk end
    if message then return nil, complain(message) end
  end
end

return function()
  while true do
    local chunk = read_chunk()
    if chunk == false then break end
    if chunk then run_chunk(chunk) end
  end
  fibers.report_ended()
  prompt.quit()
end
