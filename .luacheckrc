std = "lua54"
max_line_length = 120
-- "not (x > y)" is how NaN is refused.
ignore = { "581" }
-- LuaCATS definitions describe globals-free modules; their parameters exist only to be named.
files["stdlib/meta"] = { unused_args = false, max_line_length = false, ignore = { "211", "212", "221", "241" } }
-- Fixtures in Lua are data, one case a line.
exclude_files = { ".build", "Tests/Fixtures/*.lua" }
