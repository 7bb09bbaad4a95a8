-- One GET, as a script would: one.lua URL [cache]

local http = require "http"

local session = arg[2] and http.shared or http.session { cache = false }
assert(session:get(arg[1]))
