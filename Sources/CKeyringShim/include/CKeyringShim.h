#ifndef CKEYRINGSHIM_H
#define CKEYRINGSHIM_H

#include <stdbool.h>
#include <stddef.h>

/* libsecret without GLib's types. No policy here. Attributes are names and values in turn, ended by NULL. Each function
   blocks until the service has answered, or its user a prompt, but no longer than `seconds`; false: it has not. */

/* One item that was found; what the pointers lead to goes when it returns. */
typedef void (*hkeyring_item)(const char *const *attributes, const void *secret, size_t length, void *context);

/* Shows each item with these attributes to `item`. Locked ones are unlocked; those that stay locked are left out. */
bool hkeyring_search(const char *const *attributes, double seconds, hkeyring_item item, void *context);

/* Puts an item into the default collection, in the place of the one with just these attributes. */
bool hkeyring_store(const char *const *attributes, const char *label, const void *secret, size_t length,
                    double seconds);

/* Removes the items with these attributes. */
bool hkeyring_clear(const char *const *attributes, double seconds);

#endif
