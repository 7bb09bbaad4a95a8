--- Media types by file name extension, and back.

local mime = {}

local TYPES = [[
  text/html html htm
  text/plain txt text log conf ini
  text/css css
  text/csv csv
  text/tab-separated-values tsv
  text/markdown md markdown
  text/calendar ics
  text/vcard vcf
  text/javascript js mjs
  text/x-lua lua
  text/x-python py
  text/x-c c h
  application/json json map
  application/x-ndjson jsonl ndjson
  application/ld+json jsonld
  application/geo+json geojson
  application/manifest+json webmanifest
  application/xml xml xsd xsl
  application/xhtml+xml xhtml
  application/rss+xml rss
  application/atom+xml atom
  application/yaml yaml yml
  application/toml toml
  application/sql sql
  application/pdf pdf
  application/rtf rtf
  application/postscript ps eps
  application/epub+zip epub
  application/msword doc
  application/vnd.ms-excel xls
  application/vnd.ms-powerpoint ppt
  application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
  application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
  application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
  application/vnd.oasis.opendocument.text odt
  application/vnd.oasis.opendocument.spreadsheet ods
  application/vnd.oasis.opendocument.presentation odp
  application/zip zip
  application/gzip gz tgz
  application/x-bzip2 bz2
  application/x-xz xz
  application/zstd zst
  application/x-7z-compressed 7z
  application/vnd.rar rar
  application/x-tar tar
  application/java-archive jar
  application/wasm wasm
  application/x-sh sh
  application/vnd.sqlite3 sqlite db
  application/vnd.debian.binary-package deb
  application/x-rpm rpm
  application/x-iso9660-image iso
  application/octet-stream bin exe dll so
  image/png png
  image/jpeg jpg jpeg
  image/gif gif
  image/webp webp
  image/avif avif
  image/svg+xml svg
  image/x-icon ico
  image/bmp bmp
  image/tiff tiff tif
  image/heic heic
  audio/mpeg mp3
  audio/mp4 m4a
  audio/ogg ogg oga opus
  audio/flac flac
  audio/wav wav
  audio/aac aac
  audio/midi mid midi
  video/mp4 mp4 m4v
  video/mpeg mpeg mpg
  video/webm webm
  video/ogg ogv
  video/quicktime mov
  video/x-msvideo avi
  video/x-matroska mkv
  video/mp2t ts
  font/woff woff
  font/woff2 woff2
  font/ttf ttf
  font/otf otf
]]

local TYPE_OF, EXTENSION_OF = {}, {}
for line in TYPES:gmatch("[^\n]+") do
  local type, extensions = line:match("^%s*(%S+) (.+)$")
  if type then
    for extension in extensions:gmatch("%S+") do
      TYPE_OF[extension] = type
      EXTENSION_OF[type] = EXTENSION_OF[type] or extension
    end
  end
end

--- What nothing more is known about.
mime.default = "application/octet-stream"

--- The media type that a file's name or path promises; `mime.default` when it promises none.
function mime.type_of(name)
  local extension = name:match("%.([%w]+)$")
  return extension and TYPE_OF[extension:lower()] or mime.default
end

--- The usual extension for a media type, parameters ignored; nil for unknown types and for octet streams.
function mime.extension_of(type)
  type = type:match("^%s*([^;%s]+)")
  type = type and type:lower()
  if type == mime.default then return nil end
  return type and EXTENSION_OF[type]
end

return mime
