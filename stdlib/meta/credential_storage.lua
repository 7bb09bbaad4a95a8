---@meta http.credential_storage

---What a credential is for: a challenge's `protection_space`, or a table (or `http.protection_space`) of these. A part
---that is not named is any.
---@class http.protection_space.fields
---@field host string
---@field port? integer
---@field protocol? "http"|"https"|"socks4"|"socks4a"|"socks5"|"socks5h" The last four of proxies.
---@field realm? string
---@field authentication_method? string A scheme's name in lower case: "basic", "digest", "bearer", …
---@field is_proxy? boolean Default false.

---A program that is asked for credentials that are not stored: a text for the shell, or a list of words, beside which
---may stand `user`, whose password it is where the program says no other, and `timeout` in seconds (default 30; then the
---program and what it has started are killed).
---
---On its standard input it is told what is asked for, as git tells its credential helpers: lines `protocol=`, `host=`
---(with the port where that is not the usual one), `realm=`, `authentication_method=`, `username=` and an empty line. It
---answers with lines `username=` and `password=`, or `token=`; or, as for restic and rclone, with the password alone. A
---status other than 0 means that it has none; one that writes more than 64 KiB is ended, with a warning. What it gives is kept for the session. Its standard error is the script's.
---@class http.credential_command
---@field [integer] string
---@field user? string
---@field timeout? number

---Where credentials are kept. A challenge is answered with what is stored for its space, or, where there is a handler,
---the handler is told of it as `proposed_credential`. What a handler answers is stored when the server has accepted it,
---unless its persistence is "none".
---
---Credentials of persistence "permanent" are in a file (an SQLite database, mode 0600, for several processes at once);
---a file that others can read, or that holds something else, is refused. The netrc file is asked where nothing is stored: it is read as curl reads it,
---for schemes that take user and password, and must be mode 0600 too. Where a URL names a user and no password, only that
---user's credentials are used, of the file as well.
---
---With `keyring`, and in the storage of default sessions, they are in the user's keyring instead where
---`DBUS_SESSION_BUS_ADDRESS` names a session bus, a Secret Service answers there (GNOME Keyring, KWallet, KeePassXC) and
---libsecret is installed; where not, or where it would not keep them, in the file (or, without one, in memory), and no
---word is said about it. What is in the file is found in either case. An item has the schema `org.httpscript.Credential`
---and the attributes `host`, `port`, `protocol`, `realm`, `authentication_method`, `is_proxy` and `user`. A challenge for
---which nothing else is stored waits for the keyring, and so for a user whom it asks to unlock it, a minute at most; the
---methods of such a storage *yield*, and all storages share one keyring.
---@class http.credential_storage
local credential_storage = {}

---Stores a credential in a space, in the place of one of the same user. One of persistence "none" only removes that.
---@param credential http.credential
---@param space http.protection_space|http.protection_space.fields
function credential_storage:set(credential, space) end

---The same, and the credential is the one that is proposed in the space. Otherwise that is the one stored last.
---@param credential http.credential
---@param space http.protection_space|http.protection_space.fields
function credential_storage:set_default(credential, space) end

---What is stored for a space, where its parts are named most precisely first; the netrc file's last.
---@param space http.protection_space|http.protection_space.fields
---@return http.credential[]
function credential_storage:credentials(space) end

---What is proposed in a space.
---@param space http.protection_space|http.protection_space.fields
---@return http.credential|nil
function credential_storage:default(space) end

---Removes the credential of the same user from just that space, whatever its secret.
---@param credential http.credential
---@param space http.protection_space|http.protection_space.fields
---@return boolean existed
function credential_storage:remove(credential, space) end

---Removes everything, from the file too.
function credential_storage:clear() end
