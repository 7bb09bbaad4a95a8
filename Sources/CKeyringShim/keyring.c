#include "CKeyringShim.h"

#include <libsecret/secret.h>

static const SecretSchema schema = {
    .name = "org.httpscript.Credential",
    .flags = SECRET_SCHEMA_NONE,
    .attributes =
        {
            {"host", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"port", SECRET_SCHEMA_ATTRIBUTE_INTEGER},
            {"protocol", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"realm", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"authentication_method", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"is_proxy", SECRET_SCHEMA_ATTRIBUTE_BOOLEAN},
            {"kind", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"user", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"key", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"is_default", SECRET_SCHEMA_ATTRIBUTE_BOOLEAN},
            {"stored", SECRET_SCHEMA_ATTRIBUTE_INTEGER},
            {NULL, 0},
        },
};

/* One call of the service, in a main context of its own, so that a limit can be set to it. */
typedef struct {
    GMainContext *context;
    GMainLoop *loop;
    GCancellable *cancellable;
    GAsyncResult *result;
} operation;

static gboolean expire(gpointer cancellable) {
    g_cancellable_cancel(cancellable);
    return G_SOURCE_REMOVE;
}

static void begin(operation *one, double seconds) {
    one->context = g_main_context_new();
    g_main_context_push_thread_default(one->context);
    one->loop = g_main_loop_new(one->context, FALSE);
    one->cancellable = g_cancellable_new();
    one->result = NULL;
    GSource *limit = g_timeout_source_new((guint)(seconds * 1000));
    g_source_set_callback(limit, expire, one->cancellable, NULL);
    g_source_attach(limit, one->context);
    g_source_unref(limit);
}

static void finished(GObject *source, GAsyncResult *result, gpointer data) {
    (void)source;
    operation *one = data;
    one->result = g_object_ref(result);
    g_main_loop_quit(one->loop);
}

static void end(operation *one) {
    g_object_unref(one->result);
    g_object_unref(one->cancellable);
    g_main_loop_unref(one->loop);
    g_main_context_pop_thread_default(one->context);
    g_main_context_unref(one->context);
}

/* False for an error, which goes. */
static bool succeeded(GError *error) {
    if (error == NULL) return true;
    g_error_free(error);
    return false;
}

/* The texts stay the caller's. */
static GHashTable *table(const char *const *attributes) {
    GHashTable *made = g_hash_table_new(g_str_hash, g_str_equal);
    for (; attributes[0] != NULL; attributes += 2)
        g_hash_table_insert(made, (gpointer)attributes[0], (gpointer)attributes[1]);
    return made;
}

static void show(SecretRetrievable *found, operation *one, hkeyring_item item, void *context) {
    SecretValue *value = secret_retrievable_retrieve_secret_sync(found, one->cancellable, NULL);
    if (value == NULL) return;
    GHashTable *attributes = secret_retrievable_get_attributes(found);
    const char *texts[64];
    size_t count = 0;
    GHashTableIter place;
    gpointer name, text;
    g_hash_table_iter_init(&place, attributes);
    while (g_hash_table_iter_next(&place, &name, &text) && count + 2 < sizeof texts / sizeof texts[0]) {
        texts[count++] = name;
        texts[count++] = text;
    }
    texts[count] = NULL;
    gsize length = 0;
    const char *secret = secret_value_get(value, &length);
    item(texts, secret, length, context);
    g_hash_table_unref(attributes);
    secret_value_unref(value);
}

bool hkeyring_search(const char *const *attributes, double seconds, hkeyring_item item, void *context) {
    operation one;
    begin(&one, seconds);
    GHashTable *wanted = table(attributes);
    secret_password_searchv(&schema, wanted, SECRET_SEARCH_ALL | SECRET_SEARCH_UNLOCK | SECRET_SEARCH_LOAD_SECRETS,
                            one.cancellable, finished, &one);
    g_main_loop_run(one.loop);
    GError *error = NULL;
    GList *list = secret_password_search_finish(one.result, &error);
    for (GList *place = list; place != NULL; place = place->next) show(place->data, &one, item, context);
    g_list_free_full(list, g_object_unref);
    g_hash_table_unref(wanted);
    end(&one);
    return succeeded(error);
}

bool hkeyring_store(const char *const *attributes, const char *label, const void *secret, size_t length,
                    double seconds) {
    operation one;
    begin(&one, seconds);
    GHashTable *wanted = table(attributes);
    SecretValue *value = secret_value_new(secret, (gssize)length, "text/plain");
    secret_password_storev_binary(&schema, wanted, SECRET_COLLECTION_DEFAULT, label, value, one.cancellable, finished,
                                  &one);
    g_main_loop_run(one.loop);
    GError *error = NULL;
    bool stored = secret_password_store_finish(one.result, &error);
    secret_value_unref(value);
    g_hash_table_unref(wanted);
    end(&one);
    return succeeded(error) && stored;
}

bool hkeyring_clear(const char *const *attributes, double seconds) {
    operation one;
    begin(&one, seconds);
    GHashTable *wanted = table(attributes);
    secret_password_clearv(&schema, wanted, one.cancellable, finished, &one);
    g_main_loop_run(one.loop);
    GError *error = NULL;
    // What it says besides is whether there was anything.
    secret_password_clear_finish(one.result, &error);
    g_hash_table_unref(wanted);
    end(&one);
    return succeeded(error);
}
