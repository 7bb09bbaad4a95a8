---@meta http.metalink

---Metalink documents (RFC 5854): files with their sizes, digests and mirrors; and downloads by them.
local metalink = {}

---Reads a document.
---@param text string
---@param options? { base?: string } `base`: its URL, for relative references.
---@return http.metalink.document|nil document
---@return http.error? err
function metalink.parse(text, options) end

---Downloads the files of a document, from several mirrors at once, and checks them with the document's digests. Each has
---the name that the document gives it, without any directory part. *Yields.*
---@async
---@param source string|http.metalink.document The document's URL, or what `parse` gave.
---@param options? { session?: http.session, segments?: integer, name?: string, directory?: string } `name`: only that file; `directory`: where to (default: here).
---@return string[]|nil paths
---@return http.error? err
function metalink.download(source, options) end

---What a document says.
---@class http.metalink.document
---@field files http.metalink.file[]

---One file of a document.
---@class http.metalink.file
---@field name string Safe: without a directory part.
---@field size integer|nil
---@field hashes table<string, string> By "sha512", "sha256", "sha1", "md5": hexadecimal.
---@field urls { url: string, priority: integer, location: string|nil }[] With http and https, the preferred one first.
---@field pieces { algorithm: string, length: integer, digests: string[] }|nil
---@field description string|nil
---@field version string|nil
