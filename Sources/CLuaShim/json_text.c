// JSON's strings and integers as text.
#include "json.h"

/// What a byte means at a place where a character begins.
enum byte_kind { PLAIN, ESCAPED, LEAD };

static const unsigned char kinds[256] = {
    [0x00 ... 0x1F] = ESCAPED, ['"'] = ESCAPED, ['\\'] = ESCAPED, [0x80 ... 0xFF] = LEAD,
};

// The character at `at`, and its length; 0 when it is no UTF-8 (RFC 3629: no overlong forms, no surrogates).
static size_t read_character(const unsigned char *at, size_t available, uint32_t *character) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    if (at[0] < 0xC2 || at[0] > 0xF4 || length > available) return 0;
    uint32_t value = at[0] & (0x7F >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) return 0;
        value = value << 6 | (at[i] & 0x3F);
    }
    if (value < smallest[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return 0;
    *character = value;
    return length;
}

static void put_unit(clua_outbox *out, uint32_t unit) {
    static const char digits[] = "0123456789abcdef";
    char text[6] = {'\\', 'u', digits[unit >> 12 & 15], digits[unit >> 8 & 15], digits[unit >> 4 & 15],
                    digits[unit & 15]};
    json_put(out, text, sizeof text);
}

static void put_escaped(clua_outbox *out, unsigned char byte) {
    static const char letters[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    char letter = byte == '"' || byte == '\\' ? (char)byte : byte < sizeof letters ? letters[byte] : 0;
    if (letter == 0) {
        put_unit(out, byte);
        return;
    }
    char text[2] = {'\\', letter};
    json_put(out, text, sizeof text);
}

static void put_beyond_ascii(clua_outbox *out, uint32_t character) {
    if (character < 0x10000) {
        put_unit(out, character);
        return;
    }
    character -= 0x10000;
    put_unit(out, 0xD800 + (character >> 10));
    put_unit(out, 0xDC00 + (character & 0x3FF));
}

bool json_put_string(clua_outbox *out, const char *text, size_t length, bool ascii) {
    const unsigned char *at = (const unsigned char *)text;
    const unsigned char *end = at + length;
    const unsigned char *run = at;
    json_put_byte(out, '"');
    while (at < end) {
        if (kinds[*at] == PLAIN) {
            at++;
            continue;
        }
        uint32_t character = 0;
        size_t size = kinds[*at] == LEAD ? read_character(at, (size_t)(end - at), &character) : 1;
        if (size == 0) return false;
        if (kinds[*at] == ESCAPED || ascii) {
            json_put(out, run, (size_t)(at - run));
            if (kinds[*at] == ESCAPED) put_escaped(out, *at);
            else put_beyond_ascii(out, character);
            run = at + size;
        }
        at += size;
    }
    json_put(out, run, (size_t)(at - run));
    json_put_byte(out, '"');
    return true;
}

void json_put_integer(clua_outbox *out, int64_t value) {
    char text[20];
    char *at = text + sizeof text;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do *--at = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (value < 0) *--at = '-';
    json_put(out, at, (size_t)(text + sizeof text - at));
}
